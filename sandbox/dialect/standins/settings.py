"""`configparser` over text, dicts, open files and files of the workspace.

Enters: settings of a program. Leaves: parsers. The original opens any path it is given.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from sandbox.dialect.standins.copies import private_copy
from sandbox.dialect.standins.workspace import Workspace, is_name


@functools.cache
def _configparser() -> ModuleType:
    return private_copy("configparser")


_SAME = (
    "BasicInterpolation ConverterMapping DEFAULTSECT DuplicateOptionError DuplicateSectionError Error "
    "ExtendedInterpolation Interpolation InterpolationDepthError InterpolationError InterpolationMissingOptionError "
    "InterpolationSyntaxError MAX_INTERPOLATION_DEPTH MissingSectionHeaderError NoOptionError NoSectionError "
    "ParsingError SectionProxy"
)


def settings_parts(files: Workspace) -> dict[str, object]:
    """`configparser` for one run."""
    library: Any = _configparser()

    def read(self: Any, filenames: Any, encoding: str | None = None) -> list[Any]:
        """`read`: files of the workspace; those that are not there are left out."""
        names: Iterable[Any] = [filenames] if is_name(filenames) else filenames
        found = []
        for name in names:
            try:
                with files.open(name, encoding=encoding) as file:
                    self.read_file(file, source=str(name))
            except OSError:
                continue
            found.append(str(name))
        return found

    made: dict[str, object] = {name: getattr(library, name) for name in _SAME.split()}
    for name in ("RawConfigParser", "ConfigParser"):
        table = {"read": read, "__module__": "configparser", "__doc__": f"`configparser.{name}`."}
        made[name] = type(name, (getattr(library, name),), table)
    return made
