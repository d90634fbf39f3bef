"""The import rules of ARCHITECTURE section 3, as import-linter checks them."""

import subprocess
import sys

from tests.architecture.source import ROOT

# In a process of its own: import-linter configures logging in a way that silences every logger there is.
CHECK = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(config_filename="pyproject.toml", no_cache=True))
"""


def test_every_import_goes_the_one_allowed_way():
    done = subprocess.run([sys.executable, "-c", CHECK], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
