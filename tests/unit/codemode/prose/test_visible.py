"""Nothing in an answer moves a cursor, turns the reading direction or stays unseen."""

import pytest

from codemode.prose.run_answer import run_answer
from codemode.prose.visible import visible
from codemode.runs.outcome import RunOutcome


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nÄ 日本 👩‍🔧", "plain\ttext\nÄ 日本 👩‍🔧"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b\x08c\x7f", "a\\x00b\\x08c\\x7f"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("\U000e0041", "\\U000e0041"),
        ("line\r\nnext\rover", "line\nnext\\x0dover"),
        ("\ud83d", "\\ud83d"),
        ("c1 \x9b31m", "c1 \\x9b31m"),
    ],
)
def test_what_acts_or_hides_becomes_an_escape(text, shown):
    assert visible(text) == shown


def test_an_answer_has_no_hidden_characters_whatever_was_printed():
    outcome = RunOutcome(run="r1", status="ok", printed="\x1b[2J\u202egnp", value_form="text", value_raw=b"a\x07")
    text = run_answer(outcome, lambda tool: ()).text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x07" not in text
    assert "\\x1b[2J" in text
