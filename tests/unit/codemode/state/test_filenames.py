"""What a file of a workspace may be called."""

import errno

import pytest

from codemode.state.filenames import parse_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("", ()),
        ("a.txt", ("a.txt",)),
        ("a/b c/ü", ("a", "b c", "ü")),
        ("..a/...", ("..a", "...")),
        ("-rf", ("-rf",)),
        ("~", ("~",)),
        ("a\\b", ("a\\b",)),
        ("x" * 255, ("x" * 255,)),
        ("/".join("abcdefgh"), tuple("abcdefgh")),
    ],
)
def test_a_relative_name_has_parts(name, parts):
    assert parse_name(name) == parts


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("/", errno.EACCES),
        ("/etc/passwd", errno.EACCES),
        ("..", errno.EACCES),
        ("a/../b", errno.EACCES),
        ("a/..", errno.EACCES),
        (".", errno.EINVAL),
        ("a/./b", errno.EINVAL),
        ("a//b", errno.EINVAL),
        ("a/", errno.EINVAL),
        ("a\0b", errno.EINVAL),
        ("a\nb", errno.EINVAL),
        ("a\x7f", errno.EINVAL),
        ("a\x85", errno.EINVAL),
        ("a\u2028b", errno.EINVAL),
        ("a\ud800", errno.EINVAL),
        ("x" * 256, errno.ENAMETOOLONG),
        ("ü" * 128, errno.ENAMETOOLONG),
        ("/".join("abcdefghi"), errno.ENAMETOOLONG),
    ],
)
def test_other_names_are_refused(name, number):
    with pytest.raises(OSError) as caught:
        parse_name(name)
    assert caught.value.errno == number
    assert caught.value.filename is None
