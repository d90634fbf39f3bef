"""`argparse` over a list of arguments: it prints to the run's streams and sets attributes only as the program may.

Enters: parsers of a program. Leaves: namespaces. The original sets any attribute name on any object (`dest`,
`set_defaults`, `namespace=`), opens files (`FileType`, `fromfile_prefix_chars`) and looks translations up on disk.
"""

from __future__ import annotations

import functools
import posixpath
from types import ModuleType, SimpleNamespace
from typing import Any

from sandbox.dialect.guards import read_attribute
from sandbox.dialect.printing import Stream, leave
from sandbox.dialect.rules import own_private
from sandbox.dialect.snapshots import attributes_of
from sandbox.dialect.standins.copies import private_copy
from sandbox.dialect.standins.workspace import Workspace
from sandbox.dialect.stores import delete_attribute, write_attribute

ARGV = ("program",)
"""What `sys.argv` is in a run."""

_OUT, _ERR = object(), object()  # stand for the streams of a run, which a copy cannot know
_WIDTH = 80  # shutil.get_terminal_size() without a terminal


@functools.cache
def _argparse() -> ModuleType:
    def is_kept(obj: Any, name: Any) -> bool:
        """What `argparse` keeps in its own namespace: arguments that it did not know."""
        return name == "_unrecognized_args" and isinstance(obj, made.Namespace)

    def get(obj: Any, name: Any, *default: Any) -> Any:
        if is_kept(obj, name) or (isinstance(obj, internals) and own_private(name)):
            return getattr(obj, name, *default)
        return read_attribute(obj, name, *default)

    def has(obj: Any, name: Any) -> bool:
        try:
            get(obj, name)
        except AttributeError:
            return False
        return True

    def put(obj: Any, name: Any, value: Any) -> None:
        setattr(obj, name, value) if is_kept(obj, name) else write_attribute(obj, name, value)

    def drop(obj: Any, name: Any) -> None:
        delattr(obj, name) if is_kept(obj, name) else delete_attribute(obj, name)

    def table(obj: Any) -> dict[str, Any]:
        is_ours = isinstance(obj, (made.Namespace, made.Action))
        found: dict[str, Any] = vars(obj) if is_ours else attributes_of(obj)
        return found

    def plural(one: str, many: str, count: int) -> str:
        return one if count == 1 else many

    made = private_copy(
        "argparse",
        imports={
            "os": SimpleNamespace(path=SimpleNamespace(basename=posixpath.basename)),
            "sys": SimpleNamespace(argv=list(ARGV), stdin=None, stdout=_OUT, stderr=_ERR, exit=leave),
            "gettext": SimpleNamespace(gettext=str, ngettext=plural),
            "shutil": SimpleNamespace(get_terminal_size=lambda: SimpleNamespace(columns=_WIDTH, lines=24)),
        },
        own_builtins={"getattr": get, "hasattr": has, "setattr": put, "delattr": drop, "vars": table},
    )
    internals: tuple[type, ...] = (made.HelpFormatter, made._ActionsContainer, made.Action)
    return made


_SAME = (
    "ONE_OR_MORE OPTIONAL PARSER REMAINDER SUPPRESS ZERO_OR_MORE Action ArgumentDefaultsHelpFormatter ArgumentError "
    "ArgumentTypeError BooleanOptionalAction HelpFormatter MetavarTypeHelpFormatter Namespace "
    "RawDescriptionHelpFormatter RawTextHelpFormatter"
)


def command_line_parts(stdout: Stream, stderr: Stream, files: Workspace) -> dict[str, object]:
    """`argparse` for one run."""
    library: Any = _argparse()

    class ArgumentParser(library.ArgumentParser):  # type: ignore[misc]  # a copy has no types
        """`argparse.ArgumentParser`."""

        def _print_message(self, message: str, file: Any = None) -> None:
            if message:
                stream = stdout if file is _OUT else stderr if file is _ERR or file is None else file
                stream.write(message)

    class FileType(library.FileType):  # type: ignore[misc]  # a copy has no types
        """`argparse.FileType`: files of the workspace, and the streams of the run for `-`."""

        def __init__(
            self, mode: str = "r", bufsize: int = -1, encoding: str | None = None, errors: str | None = None
        ) -> None:
            super().__init__(mode, bufsize, encoding, errors)
            self._cm_options = (mode, bufsize, encoding, errors)

        def __call__(self, string: str) -> Any:
            mode = self._cm_options[0]
            if string == "-":
                if "r" in mode:
                    raise library.ArgumentTypeError("nobody sits at a keyboard: `-` has no input")
                return stdout
            try:
                return files.open(string, *self._cm_options)
            except OSError as error:
                raise library.ArgumentTypeError(f"can't open '{string}': {error}") from None

    for made in (ArgumentParser, FileType):
        made.__module__, made.__qualname__ = "argparse", made.__name__
    same = {name: getattr(library, name) for name in _SAME.split()}
    return {**same, "ArgumentParser": ArgumentParser, "FileType": FileType}
