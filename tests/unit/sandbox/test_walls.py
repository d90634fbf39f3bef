"""What a program is told when the kernel refused what a library tried."""

import errno
import io
import socket
import urllib.error

import pytest

from sandbox.guest.names import plain_name
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
    assert "`df.to_csv(file)` writes into an open one" in explain(error, ("numpy", "pandas"))[1]


@pytest.mark.parametrize("error", [socket.gaierror(-3, "x"), urllib.error.URLError("x")])
def test_a_refused_connection_is_explained(error):
    assert explain(error, ()) == ("there is no network here: call a tool",)


@pytest.mark.parametrize(
    "error", [ValueError("x"), OSError(errno.EINVAL, "x"), OSError("x"), io.UnsupportedOperation("read")]
)
def test_other_errors_are_left_alone(error):
    assert explain(error, ("pandas",)) == ()


def test_an_error_of_our_own_files_says_it_itself():
    with pytest.raises(PermissionError) as caught:
        plain_name("/etc/passwd")
    assert explain(caught.value, ("pandas",)) == ()
