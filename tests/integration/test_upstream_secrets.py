"""Nothing secret reaches a text, and nothing of ours reaches a server: environment, credentials, trace context."""

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from starlette.responses import JSONResponse, Response

from codemode.config.model import ServerConfig
from tests.support.hand_made import HandMade, http, on_call
from tests.support.upstream import failure, managed, odd, tool
from tests.support.web import serving

pytestmark = pytest.mark.anyio


CANARY = "s3cret-canary"


async def test_no_secret_gets_into_logs_errors_listings_or_caches(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    leaky = tool("leak", description=f"uses {CANARY}-env and {CANARY}-arg")
    entry = {"env": {"API_KEY": "${KEY}", "PLAIN_TOKEN": f"{CANARY}-literal"}}
    quirks: dict[str, Any] = {
        "tools": [leaky],
        "acts": {"leak": "refuse", "env": "env", "die": "die"},
        "last_words": f"connecting with {CANARY}-env and {CANARY}-literal",
        "before": [f"token {CANARY}-env".encode().hex()],
    }
    server = odd(entry=entry, **quirks)
    server = ServerConfig(
        name="odd",
        command=server.command,
        args=(*server.args[:1], server.args[1], "--token=${ARG_TOKEN}"),
        env=server.env,
    )
    broken = ServerConfig(name="broken", command="no-such-${KEY}", args=("${ARG_TOKEN}",))
    environ = {"PATH": os.environ["PATH"], "KEY": f"{CANARY}-env", "ARG_TOKEN": f"{CANARY}-arg", "OTHER": CANARY}
    texts: list[str] = []
    async with managed(tmp_path, server, broken, environ=environ) as manager:
        await manager.wait_ready(None, 30)
        env = json.loads((await manager.call("odd", "env", {})).structured or b"")
        assert (env["API_KEY"], env["PLAIN_TOKEN"]) == (f"{CANARY}-env", f"{CANARY}-literal")
        assert "OTHER" not in env
        for name in ("leak", "die"):
            error = await failure(manager, "odd", name)
            texts += [str(error), repr(error), str(error.details), error.hint_model, error.hint_operator]
        texts += [str(await failure(manager, "broken", "x")), repr(manager.status()), repr(manager.listings())]
    texts.append(caplog.text)
    texts += [path.read_text() for folder in ("cache", "log") for path in (tmp_path / folder).iterdir()]
    assert len(texts) > 12
    for text in texts:
        assert CANARY not in text


async def test_a_server_gets_only_what_is_on_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", CANARY)
    monkeypatch.setenv("SSH_AUTH_SOCK", CANARY)
    monkeypatch.setenv("COMPANY_PROXY", "http://proxy")
    settings = {"inherit_env": ("COMPANY_PROXY",)}
    async with managed(tmp_path, odd(acts={"env": "env"}), settings=settings) as manager:
        env = json.loads((await manager.call("odd", "env", {})).structured or b"")
    assert CANARY not in env.values()
    assert env["COMPANY_PROXY"] == "http://proxy"
    assert env["PATH"] == os.environ["PATH"]


async def test_trace_context_does_not_reach_a_server(tmp_path: Path) -> None:
    program = """
import sys, anyio
from pathlib import Path
from opentelemetry import trace
from opentelemetry.propagate import set_global_textmap
from opentelemetry.propagators.textmap import TextMapPropagator
class Loud(TextMapPropagator):
    fields = {"traceparent"}
    def extract(self, carrier, context=None, getter=None): return context
    def inject(self, carrier, context=None, setter=None): carrier.update(traceparent="00-leak", baggage="leak")
set_global_textmap(Loud())
from tests.support.upstream import managed, odd
async def main():
    folder = Path(sys.argv[1])
    async with managed(folder, odd(log=str(folder / "seen"))) as manager:
        await manager.call("odd", "t", {}, timeout_s=60)
anyio.run(main)
"""
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-c", program, str(tmp_path)]
    await anyio.run_process(command, cwd=root, env={**os.environ, "PYTHONPATH": root}, stderr=None)
    seen = (tmp_path / "seen").read_text()
    assert "tools/call" in seen
    assert "leak" not in seen
    assert "codemode/ticket" not in seen


async def test_no_secret_of_an_http_entry_gets_into_logs_errors_or_caches(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def make(message: dict[str, Any]) -> Response:
        error = {"code": -32602, "message": f"bad key {hand.headers[-1]['x-api-key']}"}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})

    hand = HandMade(on_call(make))
    texts: list[str] = []
    with serving(hand.app) as address:
        entry = http("web", f"{address}/mcp?key=${{KEY}}", headers={"X-Api-Key": "${KEY}"})
        async with managed(tmp_path, entry, environ={"KEY": "s3cret-canary"}) as manager:
            error = await failure(manager, "web", "read")
            texts += [str(error), repr(error.details), repr(manager.status()), repr(manager.listings())]
    assert hand.headers[-1]["x-api-key"] == "s3cret-canary"
    texts.append(caplog.text)
    texts += [path.read_text() for folder in ("cache", "log") for path in (tmp_path / folder).iterdir()]
    for text in texts:
        assert "canary" not in text
