"""What the broker gets of a call, and how foreign text is quoted."""

import json

from hypothesis import given
from hypothesis import strategies as st

from codemode.upstream.credentials import Redactor
from codemode.upstream.exchange import Payload
from codemode.upstream.result import RawResult, quote, to_result

NONE = Redactor()


def test_a_success_has_its_bytes_and_no_text() -> None:
    payload = Payload(content=b'[{"type":"text","text":"a"}]', structured=b"[1]", meta=b'{"a":1}')
    assert to_result(payload, NONE) == RawResult(content=payload.content, structured=b"[1]", meta={"a": 1})


def test_the_text_of_an_error_is_joined_bounded_and_cleaned() -> None:
    blocks = [{"type": "text", "text": "key s3cret-canary"}, {"type": "image"}, {"type": "text", "text": "x" * 30_000}]
    payload = Payload(is_error=True, content=json.dumps(blocks).encode())
    text = to_result(payload, Redactor(["s3cret-canary"])).text
    assert text.startswith("key [secret]\nxxx")
    assert len(text) <= 20_000


def test_an_error_in_no_known_form_still_has_a_text() -> None:
    assert to_result(Payload(is_error=True, content=b'[{"text":5}]'), NONE).text == '[{"text":5}]'
    huge = Payload(is_error=True, content=b'["' + b"x" * 2_000_000 + b'"]')
    assert to_result(huge, NONE).text.endswith("... (2000004 bytes)")


def test_meta_that_is_no_object_is_empty() -> None:
    assert to_result(Payload(meta=b"{"), NONE).meta == {}


def test_a_quote_is_one_printable_line_without_secrets() -> None:
    assert quote("a\n\n b\x1b[31m s3cret-canary", Redactor(["s3cret-canary"])) == "a b\ufffd[31m [secret]"


@given(st.text(), st.integers(1, 50))
def test_a_quote_is_never_longer_than_asked(text: str, limit: int) -> None:
    shown = quote(text, limit=limit)
    assert len(shown) <= limit
    assert shown.isprintable()
