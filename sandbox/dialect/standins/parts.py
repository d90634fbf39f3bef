"""All stand-ins of this folder for one run: module → name → object.

Enters: the streams and the files of the run. Leaves: what the facades show in the place of the library's own.
"""

from __future__ import annotations

from typing import Any

from sandbox.dialect.printing import Stream
from sandbox.dialect.standins.command_line import ARGV, command_line_parts
from sandbox.dialect.standins.compressed import compressed_parts
from sandbox.dialect.standins.copying import copying_parts
from sandbox.dialect.standins.environment import environment_parts
from sandbox.dialect.standins.settings import settings_parts
from sandbox.dialect.standins.tar_archives import tar_parts
from sandbox.dialect.standins.temporary import temporary_parts
from sandbox.dialect.standins.texts import formatter, user_string
from sandbox.dialect.standins.type_hints import get_type_hints
from sandbox.dialect.standins.workspace import Workspace
from sandbox.dialect.standins.zip_archives import zip_parts


def supplied_parts(stdout: Stream, stderr: Stream, files: Workspace) -> dict[str, dict[str, object]]:
    """What stands in, for one run."""

    def open_text(
        filename: Any, mode: str = "r", encoding: Any = None, errors: str = "strict", buffering: int = -1
    ) -> Any:
        """`codecs.open`: bytes without an encoding, line ends as they are."""
        if encoding is None:
            return files.open(filename, mode)
        return files.open(filename, mode.replace("b", ""), encoding=encoding, errors=errors, newline="")

    return {
        "argparse": command_line_parts(stdout, stderr, files),
        "codecs": {"open": open_text},
        "collections": {"UserString": user_string()},
        "configparser": settings_parts(files),
        "copy": copying_parts(),
        "string": {"Formatter": formatter()},
        "sys": {"argv": list(ARGV)},
        "tarfile": tar_parts(files),
        "tempfile": temporary_parts(files),
        "typing": {"get_type_hints": get_type_hints},
        "zipfile": zip_parts(files),
        **compressed_parts(files),
        **environment_parts(),
    }
