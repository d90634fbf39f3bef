"""What a program is told when the kernel refused what a library tried."""

import errno
import socket
import urllib.error

import pytest

from sandbox.guest.walls import NO_FILES, explain


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EPERM, "Operation not permitted", "x"),
        OSError(errno.EACCES, "Permission denied"),
        FileNotFoundError("x.csv not found."),
    ],
)
def test_a_refused_file_is_explained(error):
    assert explain(error, ()) == (NO_FILES,)
    assert "`df.to_csv()` without a path gives text" in explain(error, ("numpy", "pandas"))[1]


@pytest.mark.parametrize("error", [socket.gaierror(-3, "x"), urllib.error.URLError("x")])
def test_a_refused_connection_is_explained(error):
    assert explain(error, ()) == ("there is no network here: call a tool",)


@pytest.mark.parametrize(
    "error", [ValueError("x"), OSError(errno.EINVAL, "x"), PermissionError(NO_FILES), OSError("x")]
)
def test_other_errors_and_those_that_say_it_themselves_are_left_alone(error):
    assert explain(error, ("pandas",)) == ()
