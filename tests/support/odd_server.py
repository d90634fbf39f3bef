"""An MCP server over stdio with every bad habit that can be asked for: standard library only, started as a program.

The first argument is a JSON object of quirks; what is not named is well-behaved.

    era               "old" (handshake), "new" (2026-07-28) or "both"
    version           the one that a handshake is answered with; without it the one that the client names
    tools             raw definitions; `pages`: a list of such lists; `loop_cursor`: the same cursor for ever
    results           tool → result object; `results_raw`: tool → JSON text; `lines`: tool → whole line, %ID% replaced
    acts              tool → what it does: die, die_after, hang, echo, env, big, progress, morph, malformed, refuse,
                      ask, ask_old, ask_forever, ask_many, ask_and_die, ask_stray, sample, wait
    wait_for          file that the act `wait` waits for
    then_tools        what `morph` switches to; `notices`: how many tools/list_changed it sends
    log               file that gets one line per message received
    gate              file that must exist before the server answers anything
    unknown           for methods it does not know: "error", "silent", "exit"
    noise, before     lines (hex) written to stdout before each answer, and before everything
    stderr_bytes      how much it writes to stderr at the start; `last_words`: a line it writes there
    deaf              ignores SIGTERM and the end of its input
    children          file that gets the ids of a child in the group and of one in its own session
    exit_after_calls  ends after so many answers
    exit_after_list   ends as soon as it has listed its tools
    offers            further capabilities it claims
    question          what the acts ask and ask_old say; "Who?" without it
    ttl_ms            how long a listing holds, by its own word
    no_listing        refuses tools/list: "always", or "morphed" (after `morph`)
    acts.hang_up      closes its input and goes on living
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

QUIRKS: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
OUT = sys.stdout.buffer
LOCK = threading.Lock()
STATE: dict[str, Any] = {"tools": None, "calls": 0, "morphed": False}


def write(data: bytes) -> None:
    with LOCK:
        OUT.write(data)
        OUT.flush()


def send(message: dict[str, Any]) -> None:
    write(json.dumps(message).encode() + b"\n")


def note(text: str) -> None:
    if QUIRKS.get("log"):
        handle = os.open(QUIRKS["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, text.encode() + b"\n")
        os.close(handle)


def answer(request: dict[str, Any], result: dict[str, Any]) -> None:
    for line in QUIRKS.get("noise", ()):
        write(bytes.fromhex(line) + b"\n")
    if QUIRKS.get("era", "both") != "old":
        result.setdefault("resultType", "complete")
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def text_result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def listing(params: dict[str, Any]) -> dict[str, Any]:
    if STATE["morphed"]:
        return {"tools": QUIRKS.get("then_tools", [])}
    pages = QUIRKS.get("pages") or [QUIRKS.get("tools") or default_tools()]
    index = int(params.get("cursor") or 0)
    ttl = QUIRKS.get("ttl_ms", 0)
    result = {"tools": pages[min(index, len(pages) - 1)], "ttlMs": ttl, "cacheScope": "private"}
    if QUIRKS.get("loop_cursor"):
        result["nextCursor"] = "7"
    elif index + 1 < len(pages):
        result["nextCursor"] = str(index + 1)
    return result


def default_tools() -> list[Any]:
    names = [name for key in ("acts", "results", "results_raw", "lines") for name in QUIRKS.get(key, {})]
    return [{"name": name, "description": "", "inputSchema": EMPTY} for name in names or ["t"]]


def call(request: dict[str, Any]) -> None:
    params = request.get("params") or {}
    name = params.get("name")
    arguments = params.get("arguments") or {}
    act = QUIRKS.get("acts", {}).get(name)
    if act is not None:
        ACTS[act](request, params, arguments)
    elif name in QUIRKS.get("lines", {}):
        line = QUIRKS["lines"][name].replace("%ID%", json.dumps(request["id"]))
        write(line.encode("utf-8", "surrogateescape") + b"\n")
    elif name in QUIRKS.get("results_raw", {}):
        raw = QUIRKS["results_raw"][name]
        write(f'{{"jsonrpc":"2.0","id":{json.dumps(request["id"])},"result":{raw}}}\n'.encode())
    else:
        answer(request, dict(QUIRKS.get("results", {}).get(name) or text_result("1")))
    STATE["calls"] += 1
    if STATE["calls"] == QUIRKS.get("exit_after_calls"):
        os._exit(0)


def act_die(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    os._exit(3)


def act_die_after(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    answer(request, text_result("done"))
    os._exit(0)


def act_hang(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    note("hanging")


def act_wait(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    note("waiting")
    while not os.access(QUIRKS["wait_for"], os.F_OK):
        time.sleep(0.01)
    answer(request, text_result("waited"))


def act_echo(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    answer(request, {**text_result(json.dumps(arguments)), "structuredContent": arguments})


def act_env(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    answer(request, {**text_result("env"), "structuredContent": dict(os.environ)})


def act_big(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    answer(request, text_result("x" * arguments["bytes"]))


def act_progress(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    token = (params.get("_meta") or {}).get("progressToken")
    for step in range(arguments.get("steps", 3)):
        send(
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": step}}
        )
        time.sleep(arguments.get("pause_s", 0))
    if not arguments.get("silent"):
        answer(request, text_result("done"))


def act_morph(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    STATE["morphed"] = True
    for _ in range(QUIRKS.get("notices", 1)):
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    answer(request, text_result("morphed"))


def act_hang_up(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    os.close(0)
    answer(request, text_result("closed"))
    time.sleep(600)


def act_malformed(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    send({"jsonrpc": "2.0", "id": request["id"], "error": "not an object"})


def act_refuse(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "bad\nparameters " + "x" * 5000}})


def act_ask(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Elicitation of 2026-07-28: the answer is a question."""
    if params.get("inputResponses"):
        answer(request, {**text_result("thanks"), "structuredContent": {"got": params["inputResponses"]}})
        return
    form = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked = {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": QUIRKS.get("question", "Who?"), "requestedSchema": form},
    }
    answer(request, {"resultType": "input_required", "inputRequests": {"q": asked}, "requestState": "s1"})


def act_ask_forever(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    """The same question again whatever was answered."""
    act_ask(request, {**params, "inputResponses": None}, arguments)


def act_ask_many(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    """A thousand questions in answer to a call."""
    form = {"mode": "form", "message": "?", "requestedSchema": EMPTY}
    asked = {str(number): {"method": "elicitation/create", "params": form} for number in range(1_000)}
    answer(request, {"resultType": "input_required", "inputRequests": asked, "requestState": "s1"})


def act_ask_and_die(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    """A question in answer to a call, and then the end."""
    act_ask(request, params, arguments)
    os._exit(3)


def act_ask_stray(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Answers the call first and asks then, when no call is under way."""
    answer(request, text_result("done"))
    act_ask_old(request, params, arguments)


def act_sample(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Asks for a completion by the client's model, each era in its own way."""
    message = {"role": "user", "content": {"type": "text", "text": "Say yes"}}
    asked = {"messages": [message], "maxTokens": 5}
    if QUIRKS.get("era") == "old":
        STATE["asking"] = request
        send({"jsonrpc": "2.0", "id": "ask-1", "method": "sampling/createMessage", "params": asked})
    else:
        wanted = {"q": {"method": "sampling/createMessage", "params": asked}}
        answer(request, {"resultType": "input_required", "inputRequests": wanted, "requestState": "s1"})


def act_ask_old(request: dict[str, Any], params: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Elicitation of 2025: a request of the server inside the call."""
    form = {"type": "object", "properties": {"name": {"type": "string"}}}
    STATE["asking"] = request
    asked = {"message": QUIRKS.get("question", "Who?"), "requestedSchema": form}
    send({"jsonrpc": "2.0", "id": "ask-1", "method": "elicitation/create", "params": asked})


ACTS = {name.removeprefix("act_"): value for name, value in list(globals().items()) if name.startswith("act_")}


def handle(message: dict[str, Any]) -> None:
    method = message.get("method")
    if method is None and message.get("id") == "ask-1":
        note("reply " + json.dumps(message))
        answer(STATE["asking"], {**text_result("asked"), "structuredContent": {"reply": message}})
        return
    if "id" not in message:
        return
    era = QUIRKS.get("era", "both")
    if method == "initialize" and era != "new":
        info = {"name": "odd", "version": "0"}
        capabilities = {"tools": {"listChanged": True}, **QUIRKS.get("offers", {})}
        version = QUIRKS.get("version", message["params"]["protocolVersion"])
        body = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
        send(
            {"jsonrpc": "2.0", "id": message["id"], "result": {**body, "instructions": QUIRKS.get("instructions", "")}}
        )
    elif method == "server/discover" and era != "old":
        body = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, **QUIRKS.get("offers", {})}}
        body |= {"ttlMs": 0, "cacheScope": "private"}
        send({"jsonrpc": "2.0", "id": message["id"], "result": {**body, "resultType": "complete"}})
    elif method == "tools/list" and QUIRKS.get("no_listing") in ("always", "morphed" if STATE["morphed"] else "always"):
        send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})
    elif method == "tools/list":
        answer(message, listing(message.get("params") or {}))
        if QUIRKS.get("exit_after_list"):
            os._exit(4)
    elif method == "tools/call" and QUIRKS.get("acts", {}).get(message["params"].get("name")) == "hang_up":
        call(message)  # here and not in a thread: nobody may be reading while the input is closed
    elif method == "tools/call":
        threading.Thread(target=call, args=(message,), daemon=True).start()
    elif method == "resources/read":
        contents = [{"uri": message["params"]["uri"], "text": "hello", "mimeType": "text/plain"}]
        answer(message, {"contents": contents, "ttlMs": 0, "cacheScope": "private"})
    else:
        unknown(message)


def unknown(message: dict[str, Any]) -> None:
    how = QUIRKS.get("unknown", "error")
    if how == "exit":
        sys.exit(1)
    if how == "error":
        send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})


def misbehave_at_start() -> None:
    if QUIRKS.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if QUIRKS.get("children"):
        program = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
        sleeper = [sys.executable, "-c", program]
        near = subprocess.Popen(sleeper, stdout=subprocess.PIPE)
        far = subprocess.Popen(sleeper, stdout=subprocess.PIPE, start_new_session=True)
        for child in (near, far):
            assert child.stdout is not None
            child.stdout.readline()
        with open(QUIRKS["children"], "w") as stream:
            stream.write(f"{near.pid} {far.pid} {os.getpid()}")
    if QUIRKS.get("last_words"):
        print(QUIRKS["last_words"], file=sys.stderr, flush=True)
    if QUIRKS.get("stderr_bytes"):
        sys.stderr.write(("e" * 99 + "\n") * (QUIRKS["stderr_bytes"] // 100))
        sys.stderr.flush()
    for line in QUIRKS.get("before", ()):
        write(bytes.fromhex(line) + b"\n")
    if QUIRKS.get("die_at_start"):
        sys.exit(3)
    while QUIRKS.get("gate") and not os.access(QUIRKS["gate"], os.F_OK):
        time.sleep(0.01)


def main() -> None:
    note(f"start {os.getpid()}")
    misbehave_at_start()
    for line in sys.stdin:
        if line.strip():
            note(line.strip())
            handle(json.loads(line))
    note("eof")
    while QUIRKS.get("deaf"):
        time.sleep(1)


if __name__ == "__main__":
    main()
