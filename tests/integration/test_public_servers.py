"""Public servers as their authors publish them: each starts under our own client and does one real piece of work.

Files, history, time, memory, pages; the databases are in `test_public_databases.py`.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from codemode.jsonvalue import Json
from codemode.upstream.manager import Manager
from tests.support.public_servers import (
    BOUND_S,
    CALL_S,
    ROOT,
    debian_program,
    npm_server,
    own_server,
    pypi_server,
    ready,
    structured,
)
from tests.support.upstream import managed, text_of
from tests.support.web import serving

pytestmark = [pytest.mark.anyio, pytest.mark.public]

SETUP = ROOT / "examples" / "public_servers" / "setup.py"
PAGE = """<!doctype html><html><head><title>Tide table</title></head><body><h1>High water</h1>
<table><tr><th>Port</th><th>Time</th></tr><tr><td>Husum</td><td>04:12</td></tr></table>
<button onclick="document.querySelector('h1').textContent = 'Low water'">Turn</button></body></html>"""


def names(manager: Manager) -> set[str]:
    return {tool.name for listing in manager.listings() for tool in listing.tools}


def pages() -> Starlette:
    def page(request: Request) -> HTMLResponse:
        return HTMLResponse(PAGE)

    return Starlette(routes=[Route("/tides", page)])


@pytest.mark.node
async def test_filesystem_writes_a_file_and_reads_it_back(tmp_path: Path) -> None:
    place = tmp_path / "files"
    place.mkdir()
    entry = npm_server("@modelcontextprotocol/server-filesystem", str(place))
    async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
        server = await ready(manager)
        assert {"read_text_file", "write_file", "list_allowed_directories"} <= names(manager)
        text = {"path": str(place / "a.txt"), "content": "Malmö\n"}
        written = await manager.call(server, "write_file", text, timeout_s=CALL_S)
        read = await manager.call(server, "read_text_file", {"path": str(place / "a.txt")}, timeout_s=CALL_S)
        outside = await manager.call(server, "read_text_file", {"path": "/etc/hostname"}, timeout_s=CALL_S)

    assert not written.is_error
    assert structured(read) == {"content": "Malmö\n"}
    assert (place / "a.txt").read_text(encoding="utf-8") == "Malmö\n"
    assert outside.is_error
    assert "denied" in outside.text


@pytest.mark.node
async def test_everything_adds_up_draws_and_reports_progress(tmp_path: Path) -> None:
    heard: list[float] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with managed(tmp_path, npm_server("@modelcontextprotocol/server-everything"), bound_s=BOUND_S) as manager:
        server = await ready(manager)
        total = await manager.call(server, "get-sum", {"a": 25, "b": 22}, timeout_s=CALL_S)
        picture = await manager.call(server, "get-tiny-image", {}, timeout_s=CALL_S)
        slow = {"duration": 1, "steps": 3}
        done = await manager.call(server, "trigger-long-running-operation", slow, timeout_s=CALL_S, progress=listen)

    assert text_of(total) == "The sum of 25 and 22 is 47."
    assert "image" in {block["type"] for block in json.loads(picture.content)}
    assert "completed" in text_of(done)
    assert heard == [1, 2, 3]


@pytest.mark.node
async def test_memory_finds_what_an_earlier_life_of_the_server_wrote(tmp_path: Path) -> None:
    file = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    ship = {"name": "Vasa", "entityType": "ship", "observations": ["sank in 1628"]}
    entry = npm_server("@modelcontextprotocol/server-memory", env=file)
    for life in (1, 2):
        async with managed(tmp_path, entry, bound_s=BOUND_S / 2) as manager:
            server = await ready(manager)
            if life == 1:
                await manager.call(server, "create_entities", {"entities": [ship]}, timeout_s=CALL_S)
            found = await manager.call(server, "search_nodes", {"query": "1628"}, timeout_s=CALL_S)
        assert structured(found) == {"entities": [ship], "relations": []}


@pytest.mark.node
async def test_sequential_thinking_counts_thoughts_over_several_calls(tmp_path: Path) -> None:
    entry = npm_server("@modelcontextprotocol/server-sequential-thinking")
    async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
        server = await ready(manager)
        for number in (1, 2):
            thought = {
                "thought": "x",
                "thoughtNumber": number,
                "totalThoughts": 2,
                "nextThoughtNeeded": number == 1,
            }
            result = await manager.call(server, "sequentialthinking", thought, timeout_s=CALL_S)
    answer = structured(result)
    assert isinstance(answer, dict)
    assert (answer["thoughtHistoryLength"], answer["nextThoughtNeeded"]) == (2, False)


async def test_git_reads_the_log_of_the_examples_repository(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("did not run: git is not installed")
    repository = tmp_path / "repository"
    make_repository(repository)
    where = {"repo_path": str(repository)}
    entry = own_server("mcp-server-git", "--repository", str(repository))
    async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
        server = await ready(manager)
        log = await manager.call(server, "git_log", where, timeout_s=CALL_S)
        (repository / "new.txt").write_text("x")
        status = await manager.call(server, "git_status", where, timeout_s=CALL_S)

    assert text_of(log).count("Message: ") == 5
    assert "Rhea Lund" in text_of(log)
    assert "new.txt" in text_of(status)


def make_repository(folder: Path) -> None:
    """The repository of `examples/public_servers`, made by its own set-up script."""
    code = (
        f"import runpy; runpy.run_path({str(SETUP)!r})['make_repository'](__import__('pathlib').Path({str(folder)!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_time_converts_between_zones_without_summer_time(tmp_path: Path) -> None:
    arguments = {"source_timezone": "Asia/Tokyo", "time": "17:30", "target_timezone": "Africa/Johannesburg"}
    entry = own_server("mcp-server-time", "--local-timezone", "UTC")
    async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
        server = await ready(manager)
        result = await manager.call(server, "convert_time", arguments, timeout_s=CALL_S)

    answer = structured(result)
    assert isinstance(answer, dict)
    target = answer["target"]
    assert isinstance(target, dict)
    assert str(target["datetime"])[11:16] == "10:30"
    assert answer["time_difference"] == "-7.0h"


async def test_fetch_reads_a_local_page(tmp_path: Path) -> None:
    entry = pypi_server("mcp-server-fetch", "--allow-private-ips", "--ignore-robots-txt")
    with serving(pages()) as address:
        async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
            server = await ready(manager)
            page = await manager.call(server, "fetch", {"url": f"{address}/tides"}, timeout_s=CALL_S)
            gone = await manager.call(server, "fetch", {"url": f"{address}/no-page"}, timeout_s=CALL_S)

    assert "High water" in text_of(page)
    assert "04:12" in text_of(page)
    assert "404" in (gone.text if gone.is_error else text_of(gone))


async def test_excel_writes_a_sheet_whose_formula_is_then_read_back(tmp_path: Path) -> None:
    book = {"path": str(tmp_path / "book.xlsx")}
    rows: list[Json] = [["port", "boats"], ["Husum", 12], ["Büsum", 30], ["all", "=SUM(B2:B3)"]]
    async with managed(tmp_path, pypi_server("excel-mcp-server", "stdio"), bound_s=BOUND_S) as manager:
        server = await ready(manager)
        made = await manager.call(server, "create_workbook", {**book, "sheets": ["Boats"]}, timeout_s=CALL_S)
        assert not made.is_error, made.text
        written = await manager.call(
            server, "write_range", {**book, "sheet": "Boats", "at": "A1", "rows": rows}, timeout_s=CALL_S
        )
        assert not written.is_error, written.text
        read = await manager.call(
            server, "read_range", {**book, "sheet": "Boats", "mode": "formulas"}, timeout_s=CALL_S
        )
    assert "Büsum" in json.dumps(structured(read), ensure_ascii=False)
    assert "=SUM(B2:B3)" in json.dumps(structured(read))


@pytest.mark.node
async def test_playwright_presses_a_button_on_a_local_page_and_leaves_no_browser(tmp_path: Path) -> None:
    chromium = debian_program("chromium")
    entry = npm_server(
        "@playwright/mcp",
        *("--headless", "--no-sandbox", "--isolated", "--executable-path", chromium),
        entry="cli.js",
        cwd=str(tmp_path),
    )
    with serving(pages()) as address:
        async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
            server = await ready(manager)
            page = await manager.call(server, "browser_navigate", {"url": f"{address}/tides"}, timeout_s=CALL_S)
            assert not page.is_error, page.text
            read = "() => document.querySelector('h1').textContent"
            before = await manager.call(server, "browser_evaluate", {"function": read}, timeout_s=CALL_S)
            pressed = await manager.call(server, "browser_click", {"target": "button"}, timeout_s=CALL_S)
            assert not pressed.is_error, pressed.text
            after = await manager.call(server, "browser_evaluate", {"function": read}, timeout_s=CALL_S)
            leader = manager.status()[0].pid
            browsers = browsers_of(leader)
            assert browsers
    assert "High water" in text_of(before)
    assert "Low water" in text_of(after)
    assert not [pid for pid in browsers if "chromium" in command_of(pid)]


def browsers_of(leader: int) -> list[int]:
    """Processes of Chromium whose ancestors lead to this one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    family = {leader}
    for _ in range(5):
        family |= {pid for pid, parent in parents.items() if parent in family}
    return [pid for pid in family if "chromium" in command_of(pid)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
