"""What a server writes to stderr: kept, bounded, private, without known secrets."""

import stat
from pathlib import Path

import pytest

from codemode.upstream.credentials import Redactor
from codemode.upstream.logfile import ServerLog, log_path, open_folder

pytestmark = pytest.mark.anyio


async def test_lines_are_kept_in_a_private_file_and_the_last_ones_in_memory(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "a.log")
    await log.write(b"one\ntw")
    await log.write(b"o\n" + b"".join(b"line %d\n" % index for index in range(30)))
    await log.write(b"unfinished")
    await log.close()
    lines = log.path.read_text().splitlines()
    assert (lines[:2], lines[-1], len(lines)) == (["one", "two"], "unfinished", 33)
    assert len(log.tail()) == 20
    assert log.last_words().endswith(" | unfinished")
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


NODE = b"""node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/x.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
"""


async def test_last_words_are_the_lines_that_tell(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "a.log")
    assert log.last_words() == ""
    await log.write(NODE)
    found = "Error: Cannot find module '/srv/x.js' | code: 'MODULE_NOT_FOUND', | requireStack: [] | Node.js v20.20.2"
    assert log.last_words() == found
    await log.write(b"x" * 290 + b"\n")
    assert log.last_words() == "x" * 290


async def test_five_megabytes_fill_two_files_of_one(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "a.log")
    for _ in range(80):
        await log.write((b"e" * 99 + b"\n") * 655)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert set(sizes) == {"a.log", "a.log.1"}
    assert all(size <= 1 << 20 for size in sizes.values())


async def test_a_line_without_end_is_cut_and_costs_no_memory(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "a.log")
    for _ in range(100):
        await log.write(b"x" * 10_000)
    await log.write(b"\nnext\n")
    assert [len(line) for line in log.path.read_text().splitlines()] == [4096, 4]


async def test_known_secrets_and_control_characters_are_masked(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "a.log", Redactor(["s3cret-canary"]))
    await log.write(b"key s3cret-\xff\nkey s3cret-")
    await log.write(b"canary \x1b[31m\n")
    assert log.path.read_text() == "key s3cret-\ufffd\nkey [secret] \ufffd[31m\n"
    assert "canary" not in "".join(log.tail())


async def test_a_link_in_the_log_folder_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "a.log").symlink_to(target)
    log = ServerLog(tmp_path / "a.log")
    await log.write(b"x\n")
    assert target.read_text() == "mine"
    assert log.tail() == ("x",)


async def test_a_folder_that_cannot_be_written_costs_the_file_only(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "not" / "there" / "a.log")
    await log.write(b"x\n")
    await log.write(b"y\n")
    assert log.tail() == ("x", "y")


def test_each_server_has_its_own_file_whatever_its_name(tmp_path: Path) -> None:
    names = ["github", "a/b", "a b", "../../etc/passwd", "\ud83d", "a.b", "", "x" * 300]
    paths = [log_path(tmp_path, name) for name in names]
    assert len(set(paths)) == len(names)
    assert all(path.parent == tmp_path and len(path.name) < 100 for path in paths)
    assert paths[0].name == "github.log"


def test_the_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir(mode=0o755)
    open_folder(tmp_path / "log")
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o700


async def test_without_a_path_only_the_last_lines_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = ServerLog(None)
    await log.write(b"one\ntwo\n")
    assert log.tail() == ("one", "two")
    assert list(tmp_path.iterdir()) == []


async def test_the_tail_is_cleaned_before_it_is_cut(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "a.log")
    await log.write(b"x" * 295 + b"s3cret-canary\n")
    shown = Redactor(["s3cret-canary"]).clean
    assert log.tail(shown) == ("x" * 295 + "[secr",)
    assert "s3" not in log.last_words(shown)
