"""The three functions of `xml.sax.saxutils` say what the library's own say."""

from __future__ import annotations

from xml.sax import saxutils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.dialect import markup

TEXTS = st.text(alphabet="&<>\"' \n\t\ra;mpltg#1x")
ENTITIES = st.dictionaries(st.text(alphabet="\"'ab&", min_size=1, max_size=2), st.text(alphabet="&;ab", max_size=4))


@pytest.mark.parametrize("name", ["escape", "unescape", "quoteattr"])
@given(text=TEXTS, entities=ENTITIES)
def test_it_gives_what_the_original_gives(name: str, text: str, entities: dict[str, str]) -> None:
    assert getattr(markup, name)(text, entities) == getattr(saxutils, name)(text, entities)
    assert getattr(markup, name)(text) == getattr(saxutils, name)(text)
