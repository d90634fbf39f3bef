"""Which session a request belongs to, and whether its client can ask."""

from types import SimpleNamespace

import pytest
from mcp import types

from codemode.server.sessions import MAX_SESSIONS, Sessions, takes
from tests.support.fake_front import FakeHost

BOTH = types.ElicitationCapability(form=types.FormElicitationCapability(), url=types.UrlElicitationCapability())


def context(session_id=None, *, version="2025-11-25", elicitation=None):
    headers = {} if session_id is None else {"mcp-session-id": session_id}
    capabilities = types.ClientCapabilities(elicitation=elicitation)
    return SimpleNamespace(
        request=SimpleNamespace(headers=headers),
        protocol_version=version,
        session=SimpleNamespace(client_capabilities=capabilities),
    )


def test_a_process_on_stdio_is_one_session():
    sessions = Sessions(FakeHost().session)
    on_stdio = SimpleNamespace(request=None, protocol_version="2025-11-25", session=context().session)
    assert sessions.of(on_stdio) is sessions.of(on_stdio)


def test_a_transport_session_is_a_session_of_its_own():
    sessions = Sessions(FakeHost().session)
    assert sessions.of(context("a")) is sessions.of(context("a"))
    assert sessions.of(context("a")) is not sessions.of(context("b"))


def test_the_header_counts_for_nothing_where_nobody_checks_it():
    sessions = Sessions(FakeHost().session)
    older = sessions.of(context("a"))
    assert sessions.of(context("a", version="2026-07-28")) is not older
    assert sessions.of(context("a", version="2026-07-28")) is sessions.of(context("b", version="2026-07-28"))


def test_the_oldest_idle_session_is_forgotten():
    sessions = Sessions(FakeHost().session)
    first, second = sessions.of(context("s0")), sessions.of(context("s1"))
    for number in range(2, MAX_SESSIONS):
        sessions.of(context(f"s{number}"))
    assert sessions.of(context("s0")) is first
    sessions.of(context("one more"))
    assert sessions.of(context("s0")) is first
    assert sessions.of(context("s1")) is not second


@pytest.mark.parametrize(
    ("elicitation", "expected"),
    [
        (None, set()),
        (types.ElicitationCapability(), {"form"}),
        (types.ElicitationCapability(form=types.FormElicitationCapability()), {"form"}),
        (types.ElicitationCapability(url=types.UrlElicitationCapability()), {"url"}),
        (BOTH, {"form", "url"}),
    ],
)
def test_a_client_takes_what_it_declared(elicitation, expected):
    assert takes(context(elicitation=elicitation)) == expected


def test_a_client_without_capabilities_takes_nothing():
    nothing = SimpleNamespace(session=SimpleNamespace(client_capabilities=None))
    assert takes(nothing) == set()
