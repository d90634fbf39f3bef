"""Program bytes to program text: what is wrapped around Python is taken off.

Enters: any bytes. Leaves: text, notes about what was taken off, or one error. Never raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox.dialect.wrappings import STEPS, Refused
from sandbox.spec import Diagnostic

SYNTAX = "guest.syntax"


@dataclass(slots=True)
class Text:
    """The text of a program as it will be compiled, and what was said about it on the way."""

    text: str = ""
    notes: list[Diagnostic] = field(default_factory=list)
    error: Diagnostic | None = None


_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def read_source(raw: bytes) -> Text:
    """Decodes and unwraps: BOM, line ends, and what `wrappings` knows."""
    out = Text()
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    try:
        text = raw.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        out.error = _undecodable(raw, error)
        return out
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        out.error = Diagnostic(
            code=SYNTAX,
            message="the source contains a null byte",
            line=line,
            hint="remove the byte; in a string write `\\0`",
        )
        return out
    _unwrap(text, out)
    if out.error is not None:
        return out
    hidden = None if out.text.isascii() else _BIDI.search(out.text)
    if hidden is not None:
        line = out.text.count("\n", 0, hidden.start()) + 1
        message = (
            f"line {line} holds a bidirectional control (U+{ord(hidden.group()):04X}): it may show in another order"
        )
        out.notes.append(Diagnostic(code=SYNTAX, message=message, line=line, severity="note"))
    if not _has_code(out.text):
        out.error = Diagnostic(code=SYNTAX, message="there is no program", hint="send Python source in `code`")
    return out


def _unwrap(text: str, out: Text) -> None:
    notes: list[str] = []
    for step in STEPS:
        made = step(text, notes)
        if isinstance(made, Refused):
            out.error = Diagnostic(code=SYNTAX, message=made.message, line=made.line, hint=made.hint)
            break
        text = made
    out.text = text
    out.notes += [Diagnostic(code=SYNTAX, message=note, severity="note") for note in notes]


def _has_code(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def _undecodable(raw: bytes, error: UnicodeDecodeError) -> Diagnostic:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Diagnostic(code=SYNTAX, message="the source is UTF-16", hint="send the source as UTF-8 text")
    line = raw.count(b"\n", 0, error.start) + 1
    column = error.start - (raw.rfind(b"\n", 0, error.start) + 1)
    is_surrogate = raw[error.start] == 0xED and raw[error.start + 1 : error.start + 2] >= b"\xa0"
    what = "half of a surrogate pair" if is_surrogate else f"byte 0x{raw[error.start]:02x}"
    return Diagnostic(
        code=SYNTAX,
        message=f"the source is not UTF-8: {what} at offset {error.start} (line {line}, column {column})",
        line=line,
        column=column,
        hint="send the source as UTF-8 text; write other bytes as escapes",
    )
