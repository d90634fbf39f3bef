"""Identifiers split into words: `XMLExportDeals`, `list-issues`, `v1.Table_list` → lower-case words, in order.

Enters: a raw name. Leaves: words. One rule for effects (`risk.py`), close names (`snapshot.py`) and search.
"""

from __future__ import annotations

import re

# An acronym before a capitalised word, a capitalised or lower-case word, a run of capitals, digits.
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_RUNS = re.compile(r"[^\W\d_]+|\d+")
MAX_NAME_CHARS = 1_024  # chosen: longer names are quarantined; search text passes through here in pieces


def split_words(name: str) -> tuple[str, ...]:
    """The words of an identifier, lower-cased: camel humps, acronyms, digits and separators part them."""
    if name.isascii():
        return tuple(part.lower() for part in _PARTS.findall(name[:MAX_NAME_CHARS]))
    words: list[str] = []
    for run in _RUNS.findall(name[:MAX_NAME_CHARS]):
        words.extend(_humps(run))
    return tuple(words)


def _humps(run: str) -> list[str]:
    """Camel humps of letters in any script; only a capital behind a small letter starts a new word."""
    starts = [at for at in range(1, len(run)) if run[at].isupper() and run[at - 1].islower()]
    return [run[start:end].lower() for start, end in zip([0, *starts], [*starts, len(run)], strict=True)]
