"""What a server's process finds in its environment."""

from codemode.upstream.environment import child_environment


def test_only_what_is_on_the_list_is_inherited() -> None:
    environ = {
        "HOME": "/h",
        "PATH": "/bin",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "SSH_AUTH_SOCK": "/s",
        "DATABASE_URL": "x",
        "HTTPS_PROXY": "http://u:p@proxy",
        "PYTHONPATH": "/x",
        "LD_PRELOAD": "/x.so",
    }
    assert child_environment(environ, {}) == {"HOME": "/h", "PATH": "/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def test_own_variables_win_and_named_ones_are_added() -> None:
    environ = {"HOME": "/h", "HTTPS_PROXY": "http://proxy"}
    got = child_environment(environ, {"HOME": "/other", "KEY": "1"}, inherit=("HTTPS_PROXY", "NOT_THERE"))
    assert got == {"HOME": "/other", "KEY": "1", "HTTPS_PROXY": "http://proxy"}


def test_an_exported_shell_function_is_not_passed_on() -> None:
    assert child_environment({"TERM": "() { :; }; echo hi"}, {}) == {}
