"""Whether a `pattern` of a schema can be a regular expression at all: a structural check in one pass.

Enters: the text of a `pattern`. Leaves: what is wrong with it, or "". Never compiles or runs it: Python's engine
backtracks, and its syntax is not the one of JSON Schema (ECMA 262), where `\\p{L}` and `(?<name>…)` are fine. What
passes here is compiled by the broker with a linear engine; what fails here would fail there for every call.
"""

from __future__ import annotations

import re

MAX_CHARS = 2_000  # chosen: the longest pattern of 1,858 public tools has 170
MAX_GROUPS = 64
_REPEAT = re.compile(r"\{(\d*)(,?)(\d*)\}")
_GROUP_START = re.compile(r"\(\?(?:[:=!>]|<[=!]|P?<[A-Za-z_]\w*>|[a-zA-Z-]+:)")


def pattern_fault(pattern: str) -> str:
    """Why the pattern cannot be used, in a few words; "" when its structure is sound."""
    if len(pattern) > MAX_CHARS:
        return f"it has more than {MAX_CHARS} characters"
    at = 0
    depth = 0
    can_repeat = False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            if at + 1 == len(pattern):
                return "it ends in a lone backslash"
            at, can_repeat = at + 2, True
        elif char == "[":
            at = _class_end(pattern, at)
            if at < 0:
                return "a `[` is not closed"
            can_repeat = True
        elif char == "(":
            depth += 1
            start = _GROUP_START.match(pattern, at)
            if depth > MAX_GROUPS or (start is None and pattern.startswith("(?", at)):
                return "a group starts in an unknown way" if start is None else f"more than {MAX_GROUPS} nested groups"
            at, can_repeat = (start.end() if start else at + 1), False
        elif char == ")":
            depth -= 1
            if depth < 0:
                return "a `)` has no `(`"
            at, can_repeat = at + 1, True
        else:
            at, can_repeat, wrong = _plain_step(pattern, at, can_repeat)
            if wrong:
                return wrong
    return "a `(` is not closed" if depth else ""


def _plain_step(pattern: str, at: int, can_repeat: bool) -> tuple[int, bool, str]:
    char = pattern[at]
    repeat = _REPEAT.match(pattern, at) if char == "{" else None
    if char in "*+?" or (repeat and (repeat[1] or repeat[3])):
        if not can_repeat:
            return at, False, f"`{char}` repeats nothing"
        if repeat and repeat[1] and repeat[3] and int(repeat[1][:9]) > int(repeat[3][:9]):
            return at, False, "a repetition counts downwards"
        after = repeat.end() if repeat else at + 1
        if after < len(pattern) and pattern[after] in "?+":
            after += 1
        return after, False, ""
    return at + 1, char not in "|^", ""


def _class_end(pattern: str, at: int) -> int:
    """The place behind a character class, or -1. A `]` right at its start is an ordinary character only in other
    dialects: in ECMA 262 `[]` is a class that matches nothing."""
    at += 1
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
        elif pattern[at] == "]":
            return at + 1
        else:
            at += 1
    return -1
