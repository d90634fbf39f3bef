"""The setting `packages` from a configuration file to what a server receives and a model reads."""

import json
import sys

import anyio
import pytest

from codemode import Host, load_config
from codemode.runs.isolation import examine_isolation
from tests.architecture.source import ROOT

for _name in ("numpy", "pandas"):
    pytest.importorskip(_name, reason=f"did not run: {_name} is not installed")

pytestmark = pytest.mark.anyio

ROWS = [{"city": "Rome", "day": "2024-05-01", "n": 3}, {"city": "Oslo", "day": "2024-05-02", "n": 4}]
TOOLS = [
    {"name": "list_rows", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {
        "name": "save_rows",
        "inputSchema": {
            "type": "object",
            "properties": {
                "rows": {"type": "array", "items": {"type": "object"}},
                "total": {"type": "integer"},
                "mean": {"type": "number"},
                "until": {"type": "string", "format": "date-time"},
                "ids": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["rows"],
        },
        "annotations": {"readOnlyHint": True},
    },
]
PROGRAM = """
import pandas as pd
df = pd.DataFrame(tools.shop.list_rows())
df["day"] = pd.to_datetime(df["day"])
tools.shop.save_rows(rows=df, total=df["n"].sum(), mean=df["n"].mean(), until=df["day"].max(), ids=df["n"].to_numpy())
df.groupby("city")["n"].sum()
"""


def _config(tmp_path, **settings):
    results = {"list_rows": {"content": [], "structuredContent": {"result": ROWS}}, "save_rows": {"content": []}}
    odd = {"tools": TOOLS, "results": results, "log": str(tmp_path / "server.log")}
    command = {"command": sys.executable, "args": [str(ROOT / "tests/support/odd_server.py"), json.dumps(odd)]}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"shop": command}, "codemode": {"gate": "open", **settings}}))
    return load_config(file)


async def _execute(tmp_path, config, program):
    with anyio.fail_after(90):
        async with Host.open(config, state_dir=tmp_path / "state") as host:
            await host.wait_ready(None, 30)
            return await host.session().execute(program)


async def test_a_program_reads_rows_into_a_table_and_sends_numbers_dates_and_tables(tmp_path):
    outcome = await _execute(tmp_path, _config(tmp_path, packages=["pandas"]), PROGRAM)
    assert (outcome.status, outcome.value) == ("ok", {"Oslo": 4, "Rome": 3}), outcome.error
    messages = [json.loads(line) for line in (tmp_path / "server.log").read_text().splitlines() if "save_rows" in line]
    calls = [message["params"]["arguments"] for message in messages if message.get("method") == "tools/call"]
    assert calls == [
        {
            "rows": [{**row, "day": f"{row['day']}T00:00:00"} for row in ROWS],
            "total": 7,
            "mean": 3.5,
            "until": "2024-05-02T00:00:00",
            "ids": [3, 4],
        }
    ]


async def test_without_the_setting_an_import_is_refused_with_what_there_is_and_the_setting(tmp_path):
    outcome = await _execute(tmp_path, _config(tmp_path), PROGRAM)
    assert (outcome.status, outcome.code) == ("refused", "dialect.refused")
    assert "`pandas` cannot be imported" in outcome.error.message
    assert "use lists, dicts" in outcome.error.hint
    assert "setting `packages`" in outcome.error.hint


async def test_a_package_that_is_not_installed_refuses_every_run_with_the_command_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr("sandbox.backends.zygote.importlib.util.find_spec", _without("pandas"))
    outcome = await _execute(tmp_path, _config(tmp_path, packages=["pandas"]), "1 + 1")
    assert (outcome.status, outcome.code) == ("refused", "spec.package")
    assert "'pandas' is not installed for" in outcome.error.message
    assert outcome.error.hint == f"run `{sys.executable} -m pip install pandas`"


async def test_doctor_says_which_package_is_not_installed(monkeypatch):
    monkeypatch.setattr("sandbox.backends.zygote.importlib.util.find_spec", _without("pandas"))
    found = await examine_isolation("process", ("numpy", "pandas"))
    assert (found.code, found.hint) == ("spec.package", f"run `{sys.executable} -m pip install pandas`")
    assert (await examine_isolation("process", ("numpy",))).code == ""


def _without(package):
    import importlib.util

    real = importlib.util.find_spec
    return lambda name, *more: None if name == package else real(name, *more)
