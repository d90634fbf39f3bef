"""How commands speak: exit codes by stage, plain tables, text that no terminal chokes on."""

import pytest

from codemode.cli import output
from codemode.errors import CODES, ConfigError, UpstreamError
from sandbox.errors import CODES as SANDBOX_CODES
from sandbox.errors import IsolationError


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("config.json", 2),
        ("cli.usage", 2),
        ("run.unknown", 2),
        ("upstream.not_found", 3),
        ("gate.not_loaded", 4),
        ("policy.denied", 4),
        ("arguments.invalid", 4),
        ("isolation.layer", 5),
        ("limit.wall", 124),
        ("guest.raised", 1),
        ("guest.syntax", 1),
        ("dialect.refused", 1),
    ],
)
def test_each_stage_has_its_exit_code(code, exit_code):
    assert output.exit_code_of(code) == exit_code


def test_every_code_there_is_has_a_documented_exit_code():
    assert {output.exit_code_of(code) for code in (*CODES, *SANDBOX_CODES)} <= {1, 2, 3, 4, 5, 124}


@pytest.mark.parametrize("error", [ConfigError("bad"), UpstreamError("bad"), IsolationError("bad")])
def test_errors_of_both_packages_are_reported_alike(error, capsys):
    assert isinstance(error, output.CodedError)
    assert output.fail(error, as_json=False) == output.exit_code_of(error.code)
    assert capsys.readouterr().err == f"error[{error.code}]: bad\n"


def test_with_json_an_error_is_the_document_and_is_told_too(capsys):
    output.fail(ConfigError("bad", hint_operator="mend it"), as_json=True)
    out, err = capsys.readouterr()
    assert out == ('{\n  "error": {\n    "code": "config.key",\n    "message": "bad",\n    "hint": "mend it"\n  }\n}\n')
    assert err == "error[config.key]: bad\nhint: mend it\n"


def test_a_table_is_plain_text_with_columns():
    text = output.table(("name", "count"), [("a", "1"), ("longer", "1,000")], right=frozenset({1}))
    assert text == "name    count\na           1\nlonger  1,000"


def test_half_surrogate_pairs_are_printed_as_question_marks(capsys):
    output.print_text("\ud800 half")
    output.tell("\udfff half")
    assert capsys.readouterr() == ("? half\n", "? half\n")
