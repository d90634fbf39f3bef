"""What a refusal of the kernel means to a program: the error of a library says `Operation not permitted`, no more.

Enters: an exception that ended a run. Leaves: lines that say what there is instead. Nothing is decided here.
"""

from __future__ import annotations

import errno

NO_FILES = "there are no files here: keep data in variables, or in `io.StringIO` and `io.BytesIO`"
_NO_FILES_FOR_TABLES = "`pandas.read_csv(io.StringIO(text))` reads text; `df.to_csv()` without a path gives text"
_NO_NETWORK = "there is no network here: call a tool"

_REFUSED = (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOENT)
_NETWORK = ("gaierror", "herror", "URLError", "HTTPError", "ConnectionError", "timeout")


def explain(error: BaseException, packages: tuple[str, ...]) -> tuple[str, ...]:
    """Notes for an error that a wall has caused, else nothing."""
    if not isinstance(error, OSError):
        return ()
    if type(error).__name__ in _NETWORK:
        return (_NO_NETWORK,)
    if NO_FILES in str(error) or not (isinstance(error, FileNotFoundError) or error.errno in _REFUSED):
        return ()
    return (NO_FILES, _NO_FILES_FOR_TABLES) if "pandas" in packages else (NO_FILES,)
