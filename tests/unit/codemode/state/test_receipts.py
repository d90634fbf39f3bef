"""The durable record: written before the first call, private, and honest about runs that died."""

import os
import sqlite3
import stat
import subprocess
import sys

import pytest

from codemode.errors import ConfigError
from codemode.state.database import FILE_NAME, open_database
from codemode.state.receipts import Receipts


@pytest.fixture
def receipts(tmp_path):
    opened = Receipts(open_database(tmp_path / "state"))
    yield opened
    opened.close()


def _begin(receipts, key, *, label="r1", principal="local", started=1.0):
    receipts.begin(key=key, session="s", principal=principal, label=label, started=started, record={"program": "1 + 1"})


def test_the_folder_and_the_file_are_for_their_owner_only(tmp_path, receipts):
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "state" / FILE_NAME).stat().st_mode) == 0o600


def test_runs_are_listed_newest_first(receipts):
    for number in range(3):
        _begin(receipts, f"key{number}", label=f"r{number}", started=float(number))
    assert [row.label for row in receipts.newest("local")] == ["r2", "r1", "r0"]


def test_an_ended_run_has_its_end(receipts):
    _begin(receipts, "key1")
    receipts.end("key1", status="error", code="guest.raised", record={"program": "1/0", "calls": []})
    (row,) = receipts.newest("local")
    assert (row.status, row.code, row.record) == ("error", "guest.raised", {"program": "1/0", "calls": []})


def test_a_refused_run_that_starts_again_keeps_its_row(receipts):
    _begin(receipts, "key1")
    receipts.end("key1", status="refused", code="gate.not_loaded", record={})
    _begin(receipts, "key1")
    (row,) = receipts.newest("local")
    assert (row.status, row.code, row.record) == ("running", "", {"program": "1 + 1"})


def test_runs_of_another_principal_are_not_seen(receipts):
    _begin(receipts, "key1", principal="somebody")
    assert receipts.newest("local") == []
    assert receipts.find("local", "key1") is None


def test_a_run_is_found_by_label_by_key_and_by_the_beginning_of_its_key(receipts):
    _begin(receipts, "abcdef", label="r1", started=1.0)
    _begin(receipts, "abzzzz", label="r1", started=2.0)
    assert receipts.find("local", "r1").key == "abzzzz"
    assert receipts.find("local", "abcd").key == "abcdef"
    assert receipts.find("local", "ab") is None
    assert receipts.find("local", "nothing") is None


def test_a_run_whose_process_is_gone_is_lost_and_one_that_runs_is_not(tmp_path, receipts):
    code = (
        "import sys, pathlib\n"
        "from codemode.state.database import open_database\n"
        "from codemode.state.receipts import Receipts\n"
        "r = Receipts(open_database(pathlib.Path(sys.argv[1])))\n"
        "r.begin(key='dead', session='s', principal='local', label='r1', started=1.0, record={})\n"
        "import os; os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "state")], check=False)
    _begin(receipts, "alive", label="r2", started=2.0)
    assert {row.key: row.status for row in receipts.newest("local")} == {"alive": "running", "dead": "lost"}


def test_a_process_that_took_over_the_number_of_a_dead_one_is_not_its_owner(tmp_path, receipts):
    _begin(receipts, "key1")
    with sqlite3.connect(tmp_path / "state" / FILE_NAME) as connection:
        connection.execute("update runs set owner = ?", (f"{os.getpid()}:1:another-boot",))
    assert receipts.newest("local")[0].status == "lost"


def test_a_file_of_a_newer_version_is_refused(tmp_path):
    open_database(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(ConfigError, match="newer version"):
        open_database(tmp_path)


def test_a_state_folder_that_is_a_file_is_refused_with_its_path(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"):
        open_database(tmp_path / "x")
