"""Finds entries that would start this program over the same configuration: each front would start the next one.

Enters: an entry and the files of its configuration. Leaves: whether it is one. What a wrapper hides is found when the
inner program starts: `upstream/environment.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from codemode.config.model import ServerConfig

CIRCULAR = "it would start this program over the same configuration, again and again"


def starts_itself(entry: ServerConfig, files: Sequence[str]) -> bool:
    """Whether the entry starts `codemode serve` over one of these files.

    Without `--config` the file it finds by itself is a `codemode.json`.
    """
    words = (entry.command, *entry.args)
    at = next((place for place, word in enumerate(words) if Path(word).name == "codemode"), None)
    if at is None or "serve" not in words[at + 1 :]:
        return False
    rest = words[at + 1 :]
    named = [word.partition("=")[2] for word in rest if word.startswith("--config=")]
    named.extend(after for before, after in pairwise(rest) if before == "--config")
    if not named:
        return any(Path(file).name == "codemode.json" for file in files)
    own = {os.path.realpath(file) for file in files}
    return any(os.path.realpath(Path(entry.cwd) / file) in own for file in named)
