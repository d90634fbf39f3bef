"""Server text made safe to show to a model or a terminal: bounded, and without characters that hide or reorder text.

Enters: any string a server sent. Leaves: a string that holds only visible characters, spaces and, in `clean_text`,
line breaks and tabs. Never judges what the text says. The stripped ranges are written out, because character
categories differ between Python versions and equal inputs have to give equal bytes.
"""

from __future__ import annotations

import re

MARK = "…"

# Terminal control sequences go as a whole, or their tails (`[31m`) would stay behind as noise.
_TERMINAL = re.compile("(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]|\x1b\\][^\x07\x1b]{0,256}(?:\x07|\x1b\\\\)")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_PLANE_ENDS = "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
HIDDEN_CLASS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 and C1 controls
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"  # zero width, bidi, variation selectors
    "\ufff0-\ufffb\ufdd0-\ufdef\ud800-\udfff"  # annotations, noncharacters, lone surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + _PLANE_ENDS  # shorthand, music, tags
)
_HIDDEN = re.compile(f"[{HIDDEN_CLASS}]")
_BLANK_LINES = re.compile(r"\n[ \t]*\n[ \t\n]*")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str, max_chars: int) -> str:
    """The text with uniform line ends, without hidden characters, at most `max_chars` long, cut with `…`.

    Runs of blank lines shrink to one, so that nothing can be pushed out of sight.

    Safety: the text is a server's. Work is bounded by `max_chars`, whatever its length.
    """
    if len(text) <= max_chars and text.isascii() and text.isprintable():
        return text.strip()
    visible, is_cut = _visible(text, max_chars)
    return _bounded(_BLANK_LINES.sub("\n\n", visible).strip(), max_chars, is_cut)


def clean_line(text: str, max_chars: int) -> str:
    """`clean_text` on one line: every run of white space becomes one space."""
    visible, is_cut = _visible(text, max_chars)
    return _bounded(" ".join(visible.split()), max_chars, is_cut)


def has_hidden(text: str) -> bool:
    """Whether the text holds a character that `clean_line` would strip, or a line break or tab."""
    return _HIDDEN.search(text) is not None or any(char in text for char in "\n\t\r")


def has_surrogate(text: str) -> bool:
    """Whether the text holds half of a surrogate pair: such text cannot be sent as UTF-8."""
    return not text.isascii() and _SURROGATES.search(text) is not None


def _visible(text: str, max_chars: int) -> tuple[str, bool]:
    """The text's beginning without what cannot be seen, and whether there was more of it."""
    if text.isascii() and text.isprintable():
        return text[: max_chars + 1], bool(text[max_chars + 1 :].strip())
    window = 4 * max_chars + 1024
    shown = _TERMINAL.sub("", text[:window])
    return _HIDDEN.sub("", _LINE_ENDS.sub("\n", shown)), len(text) > window


def _bounded(text: str, max_chars: int, is_cut: bool) -> str:
    if not is_cut and len(text) <= max_chars:
        return text
    return text[: max_chars - 1].rstrip() + MARK if max_chars > 0 else ""
