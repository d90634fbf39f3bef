"""Conversations that a hostile guest leads: what each sends on its channel, and how its run must end.

A case is a program for the native dialect. It runs after `PRELUDE`, which gives it `send` (a frame), `raw` (bytes) and
`stay` (be there until the host acts). The same programs run in a guest of the sandbox and through the public path.
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """
import json, os, struct, time
def raw(data):
    view = memoryview(data)
    while view:
        view = view[os.write(3, view):]
def frame(header, payload=b""):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = head + (b"\\n" + payload if payload else b"")
    return struct.pack(">I", len(body)) + body
def send(header, payload=b""):
    raw(frame(header, payload))
def end(**fields):
    base = {"kind": "end", "status": "ok", "form": "none", "type": "", "error": None, "notes": [], "usage": {}}
    return {**base, **fields}
def call(number, target="echo"):
    return {"kind": "call", "id": number, "target": target}
def stay():
    time.sleep(600)
"""

PROTOCOL = ("guest.protocol",)
WELL = ("",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One conversation.

    Attributes:
        id: stable name.
        code: the program.
        ends: codes that the run may end with; "" is a good end.
        calls: how many calls may reach the callback.
        wall_s: how long the run may take; longer where the host waits for the guest's own end first.
    """

    id: str
    code: str
    ends: tuple[str, ...] = PROTOCOL
    calls: int = 0
    wall_s: float = 1.0


def _sent(name: str, header: str, payload: str = 'b""', **more: object) -> Case:
    return Case(id=name, code=f"send({header}, {payload})\nstay()", **more)  # type: ignore[arg-type]  # Case's fields


FRAMING = (
    Case(id="length.largest", code='raw(b"\\xff\\xff\\xff\\xff{}")\nstay()', ends=("limit.frame",)),
    Case(id="length.negative", code='raw(b"\\x80\\0\\0\\0{}")\nstay()', ends=("limit.frame",)),
    Case(id="length.zero", code="raw(bytes(4))\nstay()"),
    Case(id="length.zero-flood", code="raw(bytes(400_000))\nstay()"),
    Case(id="length.one", code='raw(b"\\0\\0\\0\\1{")\nstay()'),
    Case(
        id="length.lies-short",
        code='raw(struct.pack(">I", 5) + frame(end())[4:])\nstay()',
        ends=("guest.protocol", "limit.frame"),
    ),
    Case(id="half.prefix-then-exit", code='raw(b"\\0\\0")\nos._exit(0)', ends=("guest.died",)),
    Case(id="half.frame-then-exit", code="raw(frame(end())[:-1])\nos._exit(0)", ends=("guest.died",)),
    Case(id="half.frame-then-closed", code="raw(frame(end())[:-1])\nos.close(3)\nstay()", wall_s=30),
    Case(id="half.frame-then-silence", code="raw(frame(end())[:-1])\nstay()", ends=("limit.wall",)),
    Case(id="half.largest-then-silence", code='raw(struct.pack(">I", 64 << 20) + b"{")\nstay()', ends=("limit.wall",)),
    Case(
        id="half.largest-then-the-rest",
        code='raw(struct.pack(">I", 64 << 20) + b"{" + bytes(8 << 20))\nstay()',
        ends=("guest.protocol", "limit.wall", "limit.frame"),
    ),
    Case(
        id="slow.a-byte-now-and-then",
        code="for byte in frame(end(notes=[]))[:-1] * 9: time.sleep(0.02); os.write(3, bytes([byte]))\nstay()",
        ends=("limit.wall", "guest.protocol"),
    ),
    Case(
        id="slow.a-frame-now-and-then",
        code='while True: time.sleep(0.02); send({"kind": "print", "stream": "out"}, b"x")',
        ends=("limit.wall",),
    ),
    Case(
        id="interleaved-by-threads",
        code="""
import threading
def go(number):
    for n in range(200): os.write(3, frame(call(number * 1000 + n))[: 7 + n % 9])
for number in range(1, 7): threading.Thread(target=go, args=(number,)).start()
stay()
""",
        ends=("guest.protocol", "limit.frame", "limit.calls"),
        calls=50,
    ),
    Case(id="after-the-end.flood", code="send(end())\nwhile True: raw(bytes([0, 0, 0, 1, 65]) * 9999)", ends=WELL),
    Case(
        id="one-byte-at-a-time",
        code="for byte in frame(end()): os.write(3, bytes([byte]))\nstay()",
        ends=WELL,
    ),
)

HEADERS = (
    *(
        _sent(f"header.{name}", text)
        for name, text in {
            "empty": 'b"\\n"',
            "no-json": 'b"x" * 40',
            "null": 'b"null"',
            "list": 'b"[]"',
            "no-kind": "{}",
            "kind-list": '{"kind": []}',
            "kind-none": '{"kind": None}',
            "unknown-kind": '{"kind": "admin"}',
            "kind-of-the-hosts": '{"kind": "reply", "id": 1, "ok": True, "form": "json"}',
            "kind-module": '{"kind": "module", "id": 1, "found": True}',
            "kind-go": '{"kind": "go"}',
            "kind-long": '{"kind": "k" * 100_000}',
            "not-ascii": 'b\'{"kind":"\\xff"}\'',
            "not-a-number": 'b\'{"kind":"cancel","id":NaN}\'',
            "deep": 'b\'{"kind":"cancel","id":1,"x":\' + b"[" * 100_000 + b"]" * 100_000 + b"}"',
            "deep-objects": 'b\'{"kind":"cancel","id":1,"x":\' + b\'{"a":\' * 40_000 + b"1" + b"}" * 40_001',
            "endless": 'b\'{"kind":"cancel","id":1,"x":"\' + b"A" * 300_000 + b\'"}\'',
            "endless-digits": 'b\'{"kind":"cancel","id":\' + b"9" * 100_000 + b"}"',
        }.items()
    ),
    _sent("header.duplicate-keys", 'b\'{"kind":"admin","kind":"cancel","id":1}\'', ends=("limit.wall",)),
)

CALLS = (
    *(
        _sent(f"call.id-{name}", f'{{"kind": "call", "id": {text}, "target": "echo"}}')
        for name, text in {
            "zero": "0",
            "negative": "-1",
            "true": "True",
            "float": "1.0",
            "text": '"1"',
            "none": "None",
            "list": "[1]",
            "huge": "2**31",
            "vast": "10**4000",
        }.items()
    ),
    _sent("call.no-id", '{"kind": "call", "target": "echo"}'),
    _sent("call.no-target", '{"kind": "call", "id": 1}'),
    _sent("call.target-list", '{"kind": "call", "id": 1, "target": ["echo"]}'),
    _sent("call.target-long", 'call(1, "e" * 2_000)'),
    Case(id="call.twice-the-same-id", code="send(call(1))\nsend(call(1))\nstay()", calls=1),
    Case(id="call.replayed-after-its-answer", code="send(call(1))\nos.read(3, 4)\nsend(call(1))\nstay()", calls=1),
    Case(id="call.id-of-a-load", code='send({"kind": "load", "id": 5, "name": "x"})\nsend(call(5))\nstay()'),
    Case(id="call.after-the-end", code="raw(frame(end()) + frame(call(9)))\nstay()", ends=WELL),
    Case(id="call.ids-backwards", code="for n in range(9, 0, -1): send(call(n))\nsend(end())", ends=WELL, calls=9),
    Case(
        id="call.target-of-half-surrogates",
        code='send(call(1, "\\ud800.\\udfff"))\nos.read(3, 4)\nsend(end())',
        ends=WELL,
        calls=1,
    ),
    Case(
        id="call.flood",
        code="n = 0\nwhile True:\n    n += 1\n    send(call(n))",
        ends=("limit.calls", "limit.queued", "limit.wall"),
        calls=50,
    ),
    Case(
        id="load.flood",
        code='n = 0\nwhile True:\n    n += 1\n    send({"kind": "load", "id": n, "name": "x"})',
        ends=("limit.calls", "limit.queued", "limit.wall"),
    ),
)

OTHERS = (
    _sent("prepared.again", '{"kind": "prepared"}', 'b"{}"'),
    Case(id="prepared.twice", code='send({"kind": "prepared"}, b"{}")\nsend({"kind": "prepared"}, b"{}")\nstay()'),
    _sent("load.with-payload", '{"kind": "load", "id": 1, "name": "x"}', 'b"x"', ends=("limit.frame",)),
    _sent("load.name-long", '{"kind": "load", "id": 1, "name": "x" * 2_000}'),
    _sent("load.name-number", '{"kind": "load", "id": 1, "name": 1}'),
    _sent("cancel.with-payload", '{"kind": "cancel", "id": 1}', 'b"x"', ends=("limit.frame",)),
    _sent("cancel.id-true", '{"kind": "cancel", "id": True}'),
    Case(id="cancel.what-was-never-asked", code='send({"kind": "cancel", "id": 7})\nsend(end())', ends=WELL),
    _sent("print.no-stream", '{"kind": "print"}', 'b"x"'),
    _sent("print.stream-number", '{"kind": "print", "stream": 1}', 'b"x"'),
    _sent("print.stream-unknown", '{"kind": "print", "stream": "log"}', 'b"x"'),
    _sent("print.large", '{"kind": "print", "stream": "out"}', "bytes(3 << 20)", ends=("limit.frame",)),
    Case(
        id="print.no-text",
        code='send({"kind": "print", "stream": "out"}, b"\\xff\\xfe\\x00")\nsend(end())',
        ends=WELL,
    ),
    Case(
        id="print.flood-of-nothing",
        code='pieces = frame({"kind": "print", "stream": "out"}) * 2_000\nwhile True: raw(pieces)',
        ends=("limit.wall",),
    ),
    Case(
        id="print.flood-of-crumbs",
        code='pieces = frame({"kind": "print", "stream": "out"}, b"ab") * 2_000\nwhile True: raw(pieces)',
        ends=("limit.wall", "limit.output"),
    ),
)

ENDS = (
    Case(id="end.twice", code='raw(frame(end()) + frame(end(status="error")))\nstay()', ends=WELL),
    *(
        _sent(f"end.{name}", f"end({fields})")
        for name, fields in {
            "status-unknown": 'status="great"',
            "status-refused": 'status="refused"',
            "status-list": "status=[]",
            "form-unknown": 'form="pickle"',
            "ok-with-error": "error={}",
            "error-without-error": 'status="error"',
            "notes-none": "notes=None",
            "usage-list": "usage=[]",
            "type-list": "type=[]",
            "type-long": 'type="t" * 100_000',
        }.items()
    ),
    *(
        _sent(f"end.error-{name}", f'end(status="error", error={fields})', ends=("guest.raised", "guest.protocol"))
        for name, fields in {
            "list": "[]",
            "text": '"x"',
            "code-list": '{"code": []}',
            "code-object": '{"code": {"a": 1}}',
            "code-of-the-hosts": '{"code": "policy.denied", "message": "x"}',
            "line-huge": '{"line": 10**300, "message": [1], "notes": {"a": 1}}',
            "line-true": '{"line": True}',
            "half-surrogates": '{"type": "\\ud800", "message": "\\ud800", "notes": ["\\udfff"]}',
            "notes-many": '{"notes": ["n"] * 20_000}',
        }.items()
    ),
    *(
        _sent(f"end.{name}", f"end({fields})", ends=WELL)
        for name, fields in {
            "usage-odd": 'usage={"cpu_s": True, "memory_bytes": "many"}',
            "usage-negative": 'usage={"cpu_s": -1, "memory_bytes": -5}',
            "usage-vast": 'usage={"cpu_s": 10**400, "memory_bytes": 10**400}',
            "notes-odd": 'notes=[1, None, {"a": []}, "\\ud800"]',
        }.items()
    ),
    _sent("end.value-no-json", 'end(form="json")', 'b"{not json"', ends=WELL),
    _sent("end.value-not-a-number", 'end(form="json")', 'b"NaN"', ends=WELL),
    _sent("end.value-deep", 'end(form="json")', 'b"[" * 900 + b"]" * 900', ends=WELL),
    _sent("end.value-deeper", 'end(form="json")', 'b"[" * 200_000 + b"]" * 200_000', ends=WELL),
    _sent("end.value-vast-number", 'end(form="json")', 'b"9" * 100_000', ends=WELL),
    _sent("end.preview-odd", 'end(form="preview")', 'b"[1]"', ends=WELL),
    _sent("end.text-no-utf8", 'end(form="text")', 'b"\\xff\\xfe\\x00\\x1b]0;x\\x07"', ends=WELL),
    _sent("end.image-odd", 'end(form="image", type="text/html\\r\\nx: y")', 'b"<script>"', ends=WELL),
    _sent("end.none-with-value", 'end(form="none")', 'b"x"', ends=WELL),
    _sent("end.value-large", 'end(form="text")', "bytes(2 << 20)", ends=("limit.output",)),
)

CASES: tuple[Case, ...] = (*FRAMING, *HEADERS, *CALLS, *OTHERS, *ENDS)
