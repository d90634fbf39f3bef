"""Public servers of databases as their authors publish them, over real databases on this machine."""

import ast
import json
from pathlib import Path

import pytest

from tests.support.public_servers import BOUND_S, CALL_S, npm_server, postgres, pypi_server, ready, redis, structured
from tests.support.upstream import managed, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.public]


async def test_sqlite_of_the_old_sdk_makes_a_table_and_sums_it_up(tmp_path: Path) -> None:
    entry = pypi_server("mcp-server-sqlite", "--db-path", str(tmp_path / "boats.db"), venv="pypi-mcp1")
    statements = (
        ("create_table", "CREATE TABLE boats (port TEXT, boats INTEGER)"),
        ("write_query", "INSERT INTO boats VALUES ('Husum', 12), ('Büsum', 30)"),
        ("read_query", "SELECT sum(boats) AS boats, max(port) AS port FROM boats"),
    )
    async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
        server = await ready(manager)
        for tool, query in statements:
            result = await manager.call(server, tool, {"query": query}, timeout_s=CALL_S)
            assert not result.is_error, result.text
    assert ast.literal_eval(text_of(result)) == [{"boats": 42, "port": "Husum"}]


async def test_duckdb_sums_up_a_file(tmp_path: Path) -> None:
    file = tmp_path / "boats.csv"
    file.write_text("port,boats\nHusum,12\nBüsum,30\n", encoding="utf-8")
    query = {"sql": f"SELECT CAST(sum(boats) AS INTEGER) AS boats, count(*) AS ports FROM read_csv('{file}')"}
    entry = pypi_server("mcp-server-motherduck", "--db-path", ":memory:", "--read-write")
    async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
        result = await manager.call(await ready(manager), "execute_query", query, timeout_s=CALL_S)
    answer = structured(result)
    assert isinstance(answer, dict)
    assert json.loads(str(answer["result"]))["rows"] == [[42, 2]]


async def test_redis_keeps_what_was_set(tmp_path: Path) -> None:
    with redis() as address:
        async with managed(
            tmp_path, pypi_server("redis-mcp-server", "--url", address, venv="pypi-mcp1"), bound_s=BOUND_S
        ) as manager:
            server = await ready(manager)
            field = {"name": "boats", "key": "Husum"}
            written = await manager.call(server, "hset", {**field, "value": 12}, timeout_s=CALL_S)
            read = await manager.call(server, "hget", field, timeout_s=CALL_S)
            size = await manager.call(server, "dbsize", {}, timeout_s=CALL_S)
    assert not written.is_error
    assert structured(read) == {"result": "12"}
    assert structured(size) == {"result": 1}


@pytest.mark.node
async def test_postgres_answers_a_query_and_refuses_to_write(tmp_path: Path) -> None:
    query = {"sql": "SELECT n, n * n AS square FROM generate_series(1, 3) AS n ORDER BY n"}
    npm_server("@modelcontextprotocol/server-postgres")  # no database is made for a server that is not there
    with postgres() as address:
        entry = npm_server("@modelcontextprotocol/server-postgres", address)
        async with managed(tmp_path, entry, bound_s=BOUND_S) as manager:
            server = await ready(manager)
            result = await manager.call(server, "query", query, timeout_s=CALL_S)
            assert json.loads(text_of(result)) == [{"n": n, "square": n * n} for n in (1, 2, 3)]
            with pytest.raises(Exception, match="read-only") as caught:
                await manager.call(server, "query", {"sql": "CREATE TABLE t (n INTEGER)"}, timeout_s=CALL_S)
    assert getattr(caught.value, "code", "") == "upstream.rpc_error"
