"""The wheel carries the example servers and finds them when it is unpacked somewhere else."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.anyio
async def test_a_server_from_the_wheel_starts_and_lists_its_tools(tmp_path: Path) -> None:
    pytest.importorskip(
        "hatchling", reason="did not run: hatchling is not installed; `python -m pip install hatchling`"
    )
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")

    code = "import json; from codemode.cli.bundled import bundled_config; print(json.dumps(bundled_config()))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True, capture_output=True
    )
    servers = json.loads(answer.stdout)["mcpServers"]

    assert Path(servers["ledger"]["args"][0]).is_relative_to(tmp_path / "site" / "codemode" / "_bundled")
    for name, count in (("helpdesk", 37), ("ledger", 35)):
        parameters = StdioServerParameters(command=servers[name]["command"], args=servers[name]["args"])
        async with Client(parameters) as client:
            assert len((await client.list_tools()).tools) == count
