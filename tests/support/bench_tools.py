"""A small MCP server over stdio for benchmarks, standard library only: add, slow, list_records; threads answer."""

import json
import sys
import threading
import time

LOCK = threading.Lock()
INT = {"type": "integer"}


def tool(name: str, description: str, properties: dict, result: dict, required: list) -> dict:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "outputSchema": {"type": "object", "properties": result, "required": list(result)},
        "annotations": {"readOnlyHint": True},
    }


RECORD = {"type": "object", "properties": {"id": INT, "name": {"type": "string"}, "amount": INT}, "required": ["id"]}
TOOLS = [
    tool("add", "Add two whole numbers.", {"a": INT, "b": INT}, {"result": INT}, ["a", "b"]),
    tool("slow", "Wait some milliseconds.", {"ms": INT}, {"result": INT}, ["ms"]),
    tool("list_records", "List n records.", {"n": INT}, {"records": {"type": "array", "items": RECORD}}, ["n"]),
]
TOOLS += [
    tool(f"get_part_{n}", f"Get part {n} of a machine.", {"key": {"type": "string"}}, {"result": INT}, ["key"])
    for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
]


def send(message: dict) -> None:
    data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    with LOCK:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def call(request: dict) -> None:
    name, given = request["params"]["name"], request["params"].get("arguments") or {}
    if name == "slow":
        time.sleep(given["ms"] / 1_000)
    value = {"result": given.get("a", 0) + given.get("b", 0)}
    if name == "list_records":
        value = {"records": [{"id": n, "name": f"item-{n:06d}", "amount": n * 7919 % 1000} for n in range(given["n"])]}
    content = [{"type": "text", "text": json.dumps(value)}]
    send({"jsonrpc": "2.0", "id": request["id"], "result": {"content": content, "structuredContent": value}})


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        if request["method"] == "tools/call":
            threading.Thread(target=call, args=(request,), daemon=True).start()
        elif request["method"] == "tools/list":
            send({"jsonrpc": "2.0", "id": request["id"], "result": {"tools": TOOLS}})
        elif request["method"] == "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "bench", "version": "1"},
            }
            send({"jsonrpc": "2.0", "id": request["id"], "result": result})
        else:
            error = {"code": -32601, "message": "no such method"}
            send({"jsonrpc": "2.0", "id": request["id"], "error": error})


if __name__ == "__main__":
    main()
