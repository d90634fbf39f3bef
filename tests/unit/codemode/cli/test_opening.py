"""What flags do to a configuration, and what comes out of an event loop."""

import json

import pytest

from codemode.cli.opening import read_config, run_async
from codemode.errors import UpstreamError


def test_flags_win_over_the_file(tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"mcpServers": {}, "codemode": {"gate": "strict", "approve": "never"}}))
    assert (read_config([path]).gate, read_config([path]).approve) == ("strict", "never")
    changed = read_config([path], gate="open", approve="all")
    assert (changed.gate, changed.approve) == ("open", "all")


def test_warnings_are_told_unless_only_listings_are_looked_at(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    read_config(None)
    assert capsys.readouterr().err.startswith("warning: no configuration")
    read_config(None, [tmp_path])
    assert capsys.readouterr().err == ""


def test_an_error_that_task_groups_wrapped_comes_out_by_itself():
    async def fail():
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [UpstreamError("down")])])

    with pytest.raises(UpstreamError, match="down"):
        run_async(fail)


def test_several_errors_at_once_stay_together():
    async def fail():
        raise ExceptionGroup("two", [ValueError("a"), ValueError("b")])

    with pytest.raises(ExceptionGroup):
        run_async(fail)
