"""What a server's process finds in its environment."""

from pathlib import Path

from codemode.upstream.environment import ABOVE, child_environment, served_above, with_own_files


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


def test_a_file_that_is_served_further_up_is_known_under_any_name(tmp_path: Path) -> None:
    one, two, three = (str(tmp_path / name) for name in ("one.json", "two.json", "three.json"))
    first = {ABOVE: with_own_files({}, [one])}
    second = {ABOVE: with_own_files(first, [two])}
    assert served_above(second, [three]) == ""
    assert served_above(second, [three, two]) == two
    Path(one).write_text("{}")
    (tmp_path / "link.json").symlink_to(one)
    assert served_above(second, [str(tmp_path / "link.json")]) == str(tmp_path / "link.json")
    assert with_own_files(second, [two]) == second[ABOVE]
    assert "one" not in second[ABOVE]
