"""What would keep the state folder from being used is found by looking, and says the same as opening it."""

import sqlite3

import pytest

from codemode.errors import ConfigError
from codemode.state import database
from codemode.state.database import FILE_NAME, find_fault, open_database


def _is_a_file(folder, monkeypatch):
    folder.write_text("")


def _is_below_a_file(folder, monkeypatch):
    folder.parent.rmdir()
    folder.parent.write_text("")


def _is_on_a_network_file_system(folder, monkeypatch):
    monkeypatch.setattr(database, "_file_system_of", lambda place: "nfs4")


def _was_written_by_a_newer_version(folder, monkeypatch):
    open_database(folder).close()
    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute("pragma user_version = 99")
    connection.close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "above").mkdir()
    return tmp_path / "above" / "state"


@pytest.mark.parametrize(
    "spoil", [_is_a_file, _is_below_a_file, _is_on_a_network_file_system, _was_written_by_a_newer_version]
)
def test_a_fault_is_found_that_opening_refuses_too(folder, monkeypatch, spoil):
    spoil(folder, monkeypatch)
    fault = find_fault(folder)
    with pytest.raises(ConfigError) as refused:
        open_database(folder)
    assert fault is not None
    assert fault.code == refused.value.code
    assert fault.message.partition(": ")[0] == refused.value.message.partition(": ")[0]
    assert fault.hint_operator == refused.value.hint_operator


def test_a_file_that_is_no_database_is_named(folder):
    folder.mkdir()
    (folder / FILE_NAME).write_text("something else")
    fault = find_fault(folder)
    assert fault is not None
    assert "is no SQLite file" in fault.message


def test_a_folder_that_can_be_used_or_made_has_no_fault_and_stays_as_it_is(folder):
    assert find_fault(folder / "deep" / "below") is None
    assert list(folder.parent.iterdir()) == []
    open_database(folder).close()
    before = sorted(folder.iterdir())
    assert find_fault(folder) is None
    assert sorted(folder.iterdir()) == before
