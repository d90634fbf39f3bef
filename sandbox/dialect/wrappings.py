"""What is wrapped around a program, or was done to it on its way here, and is taken off again.

Enters: text. Leaves: the text of the program, with a note for each thing that was taken off; or the reason why it is
clear that there is no one program in it. Line numbers stay those of the text that was sent, if it had lines.
A text that is Python as it stands is left alone: each step either needs a sign that no program has at that place, or
a text that does not parse, and one that does afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandbox.dialect.foreign import language_of
from sandbox.dialect.lexing import LITERAL, change_code, in_code, is_broken, lines_inside_literals


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no one program here."""

    message: str
    hint: str
    line: int = 0


Step = Callable[[str, list[str]], "str | Refused"]

_FENCE = re.compile(r"\s*(?:(`{3,})[^`]*|(~{3,})[^~]*)$")
_INLINE = re.compile(r"\s*(`{1,3})(?:(?:python|py)\s)?([^`\n]+)\1\s*")
_FENCE_NOTE = "a Markdown fence around the program was taken off"
_CODE_SIGN = re.compile(r"[=(\[]")


def unfence(text: str, notes: list[str]) -> str | Refused:
    """Takes one Markdown fence off, with the prose around it."""
    if "```" not in text and "~~~" not in text and not text.lstrip().startswith("`"):
        return text
    if not is_broken(text):
        return text
    inline = _INLINE.fullmatch(text)
    if inline is not None:
        notes.append(_FENCE_NOTE)
        return inline[2]
    lines = text.rstrip().split("\n")
    # The closing fence may stand behind the last line of code.
    last = lines[-1].rstrip()
    if last.endswith(("```", "~~~")) and not _FENCE.match(last):
        body = last.rstrip(last[-1])
        lines[-1:] = [body, last[len(body) :]]
    marks = [index for index, line in enumerate(lines) if _FENCE.match(line)]
    return _unfenced(lines, marks, notes) if marks else text


def _unfenced(lines: list[str], marks: list[int], notes: list[str]) -> str | Refused:
    first, last = marks[0], marks[-1]
    if len(marks) == 1:
        first, last = (-1, first) if _has_text(lines[:first]) else (first, len(lines))
    head, tail = lines[: max(first, 0)], lines[last + 1 :]
    body = lines[first + 1 : last]
    if any(_is_code(part) for part in (head, tail)) or (len(marks) == 1 and (_has_text(tail) or _is_prose(body))):
        return Refused(
            "a Markdown fence stands inside of the program", "send the code alone, without fences", marks[0] + 1
        )
    word = lines[first].strip().lstrip("`~").strip() if first >= 0 else ""
    language = language_of(word)
    if language:
        what = f"the fence says `{word.split()[0]}`: this is {language}, not Python"
        return Refused(what, "write the program in Python", first + 1)
    if len(marks) > 2 and is_broken("\n".join(body)):
        what = f"there are {len(marks) // 2} fenced blocks, and a run takes one program"
        return Refused(what, "send one program, without fences", marks[2] + 1)
    notes.append(_FENCE_NOTE)
    if _has_text(head) or _has_text(tail):
        notes.append("the text around the fence was left out")
    # Blank lines keep the model's own line numbers.
    return "\n" * (first + 1) + "\n".join(body).rstrip() + "\n"


def _has_text(lines: Iterable[str]) -> bool:
    return any(line.strip() for line in lines)


def _is_code(lines: list[str]) -> bool:
    text = "\n".join(lines)
    return _CODE_SIGN.search(text) is not None and not is_broken(text)


def _is_prose(lines: list[str]) -> bool:
    return is_broken("\n".join(lines)) and _CODE_SIGN.search("\n".join(lines)) is None


_LANGUAGE_LINE = re.compile(r"\s*(?:python|python3|py|tool_code)[ \t]*\n(?=\s*\S)")


def without_language_line(text: str, notes: list[str]) -> str:
    """Takes off a first line that is only the word `python`: what is left of a fence."""
    found = _LANGUAGE_LINE.match(text)
    if found is None:
        return text
    notes.append(f"the first line, `{found.group().strip()}`, was taken off")
    return "\n" * found.group().count("\n") + text[found.end() :]


_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.|In \[\d+\]:|\.\.\.:)(?: (.*)|$)")
_FIRST_PROMPT = re.compile(r"\s*(?:>>>(?: |$)|In \[\d+\]: )", re.MULTILINE)


def without_prompts(text: str, notes: list[str]) -> str:
    """Takes the prompts of an interactive session off, and the output between them."""
    if _FIRST_PROMPT.match(text) is None:
        return text
    kept, is_output = [], False
    for line in text.split("\n"):
        found = _PROMPT.match(line)
        is_output = is_output or (found is None and bool(line.strip()))
        kept.append((found[1] or "") if found is not None else "")
    notes.append("the prompts of an interactive session were taken off")
    if is_output:
        notes.append("lines without a prompt were taken for output and left out")
    return "\n".join(kept)


_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "#39": "'", "#x27": "'", "#34": '"'}
_ENTITY = re.compile(f"&({'|'.join(_ENTITIES)});")


def without_entities(text: str, notes: list[str]) -> str:
    """Undoes HTML escapes of a whole text: one that has them in its code has them in its strings too."""
    if _ENTITY.search(text) is None or not in_code(_ENTITY, text):
        return text
    notes.append("HTML escapes such as `&lt;` were read as the characters that they stand for")
    return _ENTITY.sub(lambda found: _ENTITIES[found[1]], text)


def dedent(text: str, notes: list[str]) -> str:
    """Takes uniform indentation off; lines inside of string literals stay as they are."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    margin = first[: len(first) - len(first.lstrip(" \t"))]
    if not margin:
        return _dedent_after_first(text, lines, notes)
    inside = lines_inside_literals(text)
    outside = [line for index, line in enumerate(lines) if index not in inside]
    if any(line.strip() and not line.startswith(margin) and not line.lstrip().startswith("#") for line in outside):
        return text  # Python's own message about the indentation is the better answer
    notes.append("uniform indentation was taken off")
    return "\n".join(line if index in inside else _moved(line, margin) for index, line in enumerate(lines))


def _moved(line: str, margin: str) -> str:
    return line[len(margin) :] if line.startswith(margin) else line.lstrip()


def _dedent_after_first(text: str, lines: list[str], notes: list[str]) -> str:
    """A block whose first line lost its indentation, as `strip()` leaves it."""
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    # A first line that opens a block may mean either; Python's own message is the better answer.
    if lines[first].rstrip().endswith(":") or any(line[:1].strip() for line in lines[first + 1 :]):
        return text
    rest = [line for line in lines[first + 1 :] if line.strip()]
    if not rest or not is_broken(text):
        return text
    inside = lines_inside_literals(text)
    margin = min((line[: len(line) - len(line.lstrip(" \t"))] for line in rest), key=len)
    moved = [line if index in inside or index <= first else _moved(line, margin) for index, line in enumerate(lines)]
    if is_broken("\n".join(moved)):
        return text
    notes.append("uniform indentation was taken off all lines but the first")
    return "\n".join(moved)


_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_NOTHING = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_PLAIN = {
    **dict.fromkeys(map(ord, _SPACES), " "),
    **dict.fromkeys(map(ord, _NOTHING), ""),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    0x2026: "...",
}
_DOUBLE, _SINGLE = "\u201c\u201d\u201e\u201f", "\u2018\u2019\u201a\u201b"
_ODD = re.compile(f"[{''.join(map(chr, _PLAIN))}{_DOUBLE}{_SINGLE}]")
_CURLED = re.compile(
    f"{LITERAL.pattern}|[{_DOUBLE}](?P<double>[^{_DOUBLE}\n]*)[{_DOUBLE}]|[{_SINGLE}](?P<single>[^{_SINGLE}\n]*)[{_SINGLE}]",
    LITERAL.flags,
)


def plain_characters(text: str, notes: list[str]) -> str:
    """Reads typographic quotes, spaces, dashes and wide signs in code as the plain ones, where that makes it Python."""
    if _ODD.search(text) is None or not is_broken(text):
        return text
    made = change_code(_CURLED.sub(_quoted, text), lambda code: code.translate(_PLAIN))
    if is_broken(made):
        return text
    notes.append("typographic quotes, spaces or signs in the code were read as the plain ones")
    return made


def _quoted(found: re.Match[str]) -> str:
    inside = found["double"] if found["double"] is not None else found["single"]
    if inside is None:
        return found.group()
    mark = "'" if '"' in inside else '"'
    return f"{mark}{inside}{mark}"


def unescaped(text: str, notes: list[str]) -> str:
    r"""Reads a program that came in one line, with `\n` for its line ends, as the lines that it was."""
    body = text.strip()
    if "\n" in body or "\\n" not in body or not is_broken(body):
        return text
    for made in (_json_text(body), change_code(body, lambda code: code.replace("\\n", "\n").replace("\\t", "\t"))):
        if made is not None and not is_broken(made):
            notes.append("`\\n` between the statements was read as the end of a line")
            return made
    return text


def _json_text(body: str) -> str | None:
    try:
        made = json.loads(f'"{body}"')
    except ValueError:
        return None
    return made if isinstance(made, str) else None


def not_json(text: str, notes: list[str]) -> str | Refused:
    """A JSON document in the place of a program: what carries one is no program, and neither is `true`."""
    if text.lstrip()[:1] + text.rstrip()[-1:] not in ("{}", "[]", '""'):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, str) and _CODE_SIGN.search(value) is not None and "\n" in value and not is_broken(value):
        return Refused("the whole program stands inside of a string", "send it without the quotes around it", 1)
    carrier = _carrier(value[0] if isinstance(value, list) and value else value)
    if carrier:
        return Refused("this is JSON, not a program", f"send Python source alone: what stands in `{carrier}`", 1)
    if _has_json_word(value):
        return Refused("this is JSON, not Python", "write `True`, `False` and `None`, or `json.loads('''...''')`", 1)
    return text


def _carrier(call: object) -> str:
    """The key under which a call of a tool carries a program, or ""; plain data may have such keys too."""
    if not isinstance(call, dict):
        return ""
    if isinstance(call.get("arguments"), str | dict) and isinstance(call.get("name"), str):
        return "arguments"
    texts = ((key, call.get(key)) for key in ("code", "program", "script"))
    return next((key for key, text in texts if isinstance(text, str) and _CODE_SIGN.search(text)), "")


def _has_json_word(value: object) -> bool:
    todo = [value]
    while todo:
        item = todo.pop()
        if item is None or isinstance(item, bool):
            return True
        if isinstance(item, dict | list):
            todo.extend(item.values() if isinstance(item, dict) else item)
    return False


STEPS: tuple[Step, ...] = (
    unfence,
    without_language_line,
    without_prompts,
    not_json,
    without_entities,
    unescaped,
    dedent,
    plain_characters,
)
"""In this order: what is outermost first."""
