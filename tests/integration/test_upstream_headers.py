"""Headers of an HTTP entry from a variable, a file or a command; none of their values gets into a text."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.responses import Response

from codemode.upstream import headers
from tests.support.hand_made import HandMade, http
from tests.support.upstream import failure, managed, until_dead
from tests.support.web import serving

pytestmark = pytest.mark.anyio

ENVIRON = {"PATH": os.environ["PATH"], "OTHER": "s3cret-other"}


async def test_a_token_may_come_from_a_file_and_other_headers_from_a_command(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret-file\n")
    helper = """printf '{"X-Key": "%s", "x-team": "printed"}' "$OWN$OTHER" """
    hand = HandMade()
    with serving(hand.app) as address:
        entry = http(
            "web",
            f"{address}/mcp",
            headers={"Authorization": f"Bearer ${{file:{token}}}", "X-Team": "written"},
            headers_helper=helper,
            env={"OWN": "s3cret-own"},
        )
        async with managed(tmp_path, entry, environ=ENVIRON) as manager:
            await manager.call("web", "read", {})
    seen = hand.headers[-2]
    # The command gets its entry's variables and the allow-list, as a stdio server does: `OTHER` is not on it.
    assert (seen["authorization"], seen["x-key"], seen["x-team"]) == ("Bearer s3cret-file", "s3cret-own", "printed")


async def test_a_command_is_run_again_for_the_next_connection_after_a_sign_in_was_refused(tmp_path: Path) -> None:
    count = tmp_path / "count"
    helper = f"""echo x >>{count}; printf '{{"Authorization": "Bearer %s"}}' "$(wc -l <{count})" """

    def is_old(message: dict[str, Any]) -> Response | None:
        is_call = message.get("method") == "tools/call"
        return Response(status_code=401) if is_call and hand.headers[-1]["authorization"] == "Bearer 1" else None

    hand = HandMade(is_old)
    with serving(hand.app) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp", headers_helper=helper)) as manager:
            error = await failure(manager, "web", "read")
            await manager.call("web", "read", {}, timeout_s=20)
    assert error.code == "upstream.sign_in"
    assert count.read_text() == "x\nx\n"


@pytest.mark.parametrize(
    ("helper", "said"),
    [
        ("echo s3cret-canary >&2; echo s3cret-canary; exit 3", "ended with exit code 3"),
        ("echo '{\"A\": s3cret-canary}'", "printed no JSON object of strings"),
        ("echo '[\"s3cret-canary\"]'", "printed no JSON object of strings"),
        ('echo \'{"s3cret canary": "x"}\'', "printed a name that is no header name"),
        ('printf \'{"A": "s3cret-canary\\\\nX: y"}\'', "holds a line break"),
        ("head -c 9000000 /dev/zero", "printed more than 65536 bytes"),
    ],
)
async def test_a_command_that_prints_no_headers_is_named_and_not_quoted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, helper: str, said: str
) -> None:
    caplog.set_level(logging.DEBUG)
    entry = http("web", "http://127.0.0.1:9/mcp", headers_helper=helper, source="mcp.json, line 3")
    async with managed(tmp_path, entry) as manager:
        await manager.wait_ready(None, 30)
        (listing,) = manager.listings()
    assert listing.state == "failed"
    assert listing.reason.startswith("mcp.json, line 3: `headers")
    assert said in listing.reason
    assert "s3cret" not in caplog.text + listing.reason


async def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "_LIMIT_S", 1.0)
    pid = tmp_path / "pid"
    helper = f"sleep 600 & echo $! >{pid}; wait"
    async with managed(tmp_path, http("web", "http://127.0.0.1:9/mcp", headers_helper=helper)) as manager:
        await manager.wait_ready(None, 30)
        assert "printed no headers in 1 s" in manager.listings()[0].reason
        with anyio.fail_after(30):
            await until_dead([int(pid.read_text())])


async def test_a_file_that_is_not_there_is_named_with_its_key(tmp_path: Path) -> None:
    entry = http(
        "web", "http://127.0.0.1:9/mcp", headers={"A": f"${{file:{tmp_path}/none}}"}, source="mcp.json, line 3"
    )
    async with managed(tmp_path, entry) as manager:
        await manager.wait_ready(None, 30)
        (listing,) = manager.listings()
    assert listing.reason == (
        f"mcp.json, line 3: `headers.A` of the server `web` needs the file `{tmp_path}/none`, "
        "which cannot be read: no such file or directory"
    )


async def test_no_value_of_a_file_gets_into_logs_errors_or_caches(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "token").write_text("s3cret-canary\n")

    def leak(message: dict[str, Any]) -> Response | None:
        if message.get("method") != "tools/call":
            return None
        error = {"code": -32602, "message": f"bad {hand.headers[-1]['authorization']}"}
        return Response(
            json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), media_type="application/json"
        )

    hand = HandMade(leak)
    with serving(hand.app) as address:
        entry = http("web", f"{address}/mcp", headers={"Authorization": f"Bearer ${{file:{tmp_path}/token}}"})
        async with managed(tmp_path, entry) as manager:
            error = await failure(manager, "web", "read")
            texts = [str(error), repr(error.details), repr(manager.status()), repr(manager.listings())]
    texts += [path.read_text() for folder in ("cache", "log") for path in (tmp_path / folder).iterdir()]
    assert hand.headers[-2]["authorization"] == "Bearer s3cret-canary"
    assert all("s3cret-canary" not in text for text in [*texts, caplog.text])
