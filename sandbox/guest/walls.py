"""What a refusal of the kernel means to a program: the error of a library says `Operation not permitted`, no more.

Enters: an exception that ended a run. Leaves: lines that say what there is instead. Nothing is decided here.
"""

from __future__ import annotations

import errno

NO_FILES = "libraries cannot open files here: use `open(name)` and hand them what it gives"
_NO_FILES_FOR_TABLES = "`pandas.read_csv(open(name))` reads a file, `df.to_csv(file)` writes into an open one"
_NO_NETWORK = "there is no network here: call a tool"

_REFUSED = (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOENT)
_NETWORK = ("gaierror", "herror", "URLError", "HTTPError", "ConnectionError", "timeout")


def explain(error: BaseException, packages: tuple[str, ...]) -> tuple[str, ...]:
    """Notes for an error that a wall has caused, else nothing."""
    if not isinstance(error, OSError):
        return ()
    if type(error).__name__ in _NETWORK:
        return (_NO_NETWORK,)
    if _is_own(error) or not (isinstance(error, FileNotFoundError) or error.errno in _REFUSED):
        return ()
    return (NO_FILES, _NO_FILES_FOR_TABLES) if "pandas" in packages else (NO_FILES,)


def _is_own(error: OSError) -> bool:
    """Whether our own files raised it (`files.py`), which say themselves what is wrong, and not the kernel."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step is not None and str(step.tb_frame.f_globals.get("__name__")).startswith("sandbox.guest.")
