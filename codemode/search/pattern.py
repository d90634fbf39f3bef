"""`/regex/` of a query: a matcher that takes time linear in the text, or a reason why there is none.

Enters: a pattern from a query. Leaves: a function text → bool. Python's own engine is not used: it backtracks, and a
query may come from anyone. The engine of jsonschema-rs is linear and its memory is bounded here; it knows neither
look-around nor back references.
"""

from __future__ import annotations

from collections.abc import Callable

import jsonschema_rs

MAX_PATTERN_CHARS = 200  # chosen: a pattern for names; anything longer is a mistake
_OPTIONS = jsonschema_rs.RegexOptions(size_limit=256 * 1024, dfa_size_limit=1024 * 1024)


class PatternError(ValueError):
    """A pattern that cannot be used; the text says why, in one line."""


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a text contains a match, upper and lower case alike.

    Raises:
        PatternError: too long, or not a regular expression of the linear kind.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise PatternError(f"the pattern has {len(pattern)} characters, the limit is {MAX_PATTERN_CHARS}")
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=_OPTIONS)
        # Compiled alone first: the group below must not be closed by the pattern itself.
        validator = jsonschema_rs.Draft202012Validator({"pattern": f"(?i:{pattern})"}, pattern_options=_OPTIONS)
    except (ValueError, UnicodeEncodeError) as error:
        raise PatternError("the pattern is no regular expression without look-around and back references") from error
    return validator.is_valid
