"""Program bytes to program text: what models wrap around Python is taken off, what is not Python is named.

Enters: any bytes. Leaves: text, notes about what was taken off, or one error. Never raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sandbox.spec import Diagnostic

SYNTAX = "guest.syntax"


@dataclass(slots=True)
class Text:
    """The text of a program as it will be compiled, and what was said about it on the way."""

    text: str = ""
    notes: list[Diagnostic] = field(default_factory=list)
    error: Diagnostic | None = None


_LOOKED_AT = 300  # characters of a line: enough to tell a language
_LINES_LOOKED_AT = 200
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def read_source(raw: bytes) -> Text:
    """Decodes and unwraps: BOM, line ends, one Markdown fence around everything, uniform indentation."""
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
    out.text = _dedent(_unfence(text, out.notes), out.notes)
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


def _has_code(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def _undecodable(raw: bytes, error: UnicodeDecodeError) -> Diagnostic:
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


def _unfence(text: str, notes: list[Diagnostic]) -> str:
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.rstrip().split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    head, tail = lines[first].strip(), lines[-1].rstrip()
    mark = head[:3]
    word = head.lstrip(mark[:1])
    if mark not in ("```", "~~~") or not tail.endswith(mark) or first == len(lines) - 1 or mark[0] in word:
        return text
    body = lines[first + 1 : -1]
    rest = tail.rstrip(mark[0])
    if any(line.strip().startswith(mark) for line in body):
        return text
    notes.append(Diagnostic(code=SYNTAX, message="a Markdown fence around the program was taken off", severity="note"))
    # Blank lines keep the model's own line numbers.
    return "\n" * (first + 1) + "\n".join([*body, rest]).rstrip() + "\n"


def _dedent(text: str, notes: list[Diagnostic]) -> str:
    if text and text[0] not in " \t\n#":
        return text
    lines = text.split("\n")
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    margin = first[: len(first) - len(first.lstrip(" \t"))]
    if not margin:
        return text
    # Lines inside of a string may stand further left; then the text cannot be moved safely, and Python's own
    # message about the indentation is the better answer.
    if any(line.strip() and not line.startswith(margin) and not line.lstrip().startswith("#") for line in lines):
        return text
    notes.append(Diagnostic(code=SYNTAX, message="uniform indentation was taken off", severity="note"))
    return "\n".join(line[len(margin) :] if line.startswith(margin) else line.lstrip() for line in lines)


_JS = re.compile(
    r"[ \t]*(?:(?:const|let|var) +[\w{\[]|function *\w* *\(|(?:async +)?\([\w ,]*\) *=>|import [^\n]{1,200} from ['\"]"
    r"|export |console\.log\(|} *(?:else|catch|finally)? *[({]? *;?$|//)"
)
_SHELL = re.compile(
    r"^\s*(?:\$\s+\S|#!\s*/bin/|(?:pip3?|npm|npx|curl|wget|git|ls|cd|cat|echo|sudo|apt(?:-get)?|python3?|bash|grep|export|mkdir)"
    r"\s+[\w./~$-]|[%!]\s*\w)"
)
_PY2_PRINT = re.compile(r"^\s*print\s+(?!=|\()\S")
_JSON_CALL = re.compile(r"^\s*<\w+|^\s*\{\s*\"(?:name|tool|code|function|arguments)\"\s*:")


def explain_syntax(text: str, line: int, message: str) -> tuple[str, str]:
    """A better (message, hint) for a syntax error, by what the offending line looks like."""
    lines = text.split("\n")
    bad = lines[line - 1][:_LOOKED_AT] if 0 < line <= len(lines) else ""
    if _PY2_PRINT.match(bad):
        return "`print` without parentheses is Python 2", "write `print(...)`"
    if "outside async function" in message:
        return message, "write `async def`, or call the function without `await`: it blocks and gives the value"
    if "outside function" in message and "yield" in message:
        return message, "`yield` stands in a function; to end the program with a value use `return value`"
    if _SHELL.match(bad):
        return "this looks like a shell command, not Python", "there is no shell here: call a tool, or write Python"
    if bad.strip().startswith(("```", "~~~")):
        return "a Markdown fence stands inside of the program", "send the code alone, without fences"
    if _JSON_CALL.match(bad):
        return "this looks like a tool call or markup, not Python", "send Python source alone"
    foreign = sum(_JS.match(other[:_LOOKED_AT]) is not None for other in lines[:_LINES_LOOKED_AT])
    if _JS.match(bad) or (foreign >= 2 and "def " not in text):
        return "this looks like JavaScript, not Python", "write the program in Python"
    if re.match(r"(Here|Sure|This|The|I|Let|First|Now)\b[^=(]*$", bad.strip()):
        return "this looks like prose, not Python", "send the program alone; put remarks behind `#`"
    return message, ""
