"""Where the bundled servers and programs are found, in a checkout and in an installed package."""

import sys
from pathlib import Path

import pytest

from codemode.cli import bundled
from codemode.cli.bundled import bundled_config, bundled_program
from codemode.errors import ConfigError
from codemode.jsonvalue import as_object

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"


def arguments_of(config: object, server: str) -> list[str]:
    args = as_object(as_object(as_object(config)["mcpServers"])[server])["args"]
    assert isinstance(args, list)
    return args


def test_a_checkout_runs_the_servers_of_its_examples_with_this_python() -> None:
    servers = as_object(bundled_config()["mcpServers"])

    assert list(servers) == ["helpdesk", "ledger"]
    assert as_object(servers["ledger"])["command"] == sys.executable
    assert arguments_of(bundled_config(), "ledger") == [str(EXAMPLES / "servers" / "ledger.py")]


def test_a_log_folder_gives_each_server_its_own_file(tmp_path: Path) -> None:
    config = bundled_config(log_folder=tmp_path)

    assert arguments_of(config, "helpdesk")[1:] == ["--log", str(tmp_path / "helpdesk.jsonl")]
    assert arguments_of(config, "ledger")[1:] == ["--log", str(tmp_path / "ledger.jsonl")]


@pytest.mark.parametrize("name", ["chain", "bulk", "write", "denied", "wrong_argument"])
def test_the_demo_programs_are_found_by_name(name: str) -> None:
    assert bundled_program(name) == (EXAMPLES / "demo" / f"{name}.py").read_text(encoding="utf-8")


def test_an_installed_package_looks_into_itself_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "servers").mkdir()
    for server in ("helpdesk", "ledger"):
        (tmp_path / "servers" / f"{server}.py").touch()
    monkeypatch.setattr(bundled, "_PLACES", (tmp_path, *bundled._PLACES))

    assert arguments_of(bundled_config(), "ledger") == [str(tmp_path / "servers" / "ledger.py")]


def test_an_installation_without_the_servers_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_PLACES", (tmp_path,))

    with pytest.raises(ConfigError) as caught:
        bundled_config()

    assert caught.value.code == "config.missing"
    assert "`servers/helpdesk.py`" in caught.value.message


def test_an_unknown_program_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        bundled_program("nothing")

    assert caught.value.code == "config.missing"
