"""Variables are expanded at connect time only, and their values do not get into any text."""

import copy
import logging
import pickle
from typing import Any

import pytest

from codemode.config.model import ServerConfig
from codemode.errors import ConfigError
from codemode.upstream.credentials import (
    Redactor,
    Secret,
    expand_endpoint,
    expand_launch,
    has_credential,
    written_values,
)

ENVIRON = {"TOKEN": "s3cret-canary", "EMPTY": "", "KIND": "postgres"}


def launch(**fields: Any) -> ServerConfig:
    return ServerConfig(name="a", source="mcp.json, line 3", **{"command": "x", **fields})


def test_every_form_is_expanded_in_every_field() -> None:
    server = launch(
        command="${KIND}-server",
        args=("--t=${TOKEN}", "${env:KIND}", "${NOPE:-fallback}", "${EMPTY:-fallback}", "${EMPTY}", "$KIND", "{KIND}"),
        cwd="/srv/${KIND}",
        env={"T": "${TOKEN}"},
    )
    got = expand_launch(server, ENVIRON)
    assert got.command.reveal() == "postgres-server"
    assert [arg.reveal() for arg in got.args] == [
        "--t=s3cret-canary",
        "postgres",
        "fallback",
        "fallback",
        "",
        "$KIND",
        "{KIND}",
    ]
    assert got.cwd is not None
    assert got.cwd.reveal() == "/srv/postgres"
    assert got.env["T"].reveal() == "s3cret-canary"


def test_an_http_entry_is_expanded_in_url_and_headers() -> None:
    server = ServerConfig(name="a", transport="http", url="https://${KIND}/mcp", headers={"A": "Bearer ${TOKEN}"})
    got = expand_endpoint(server, ENVIRON)
    assert (got.url.reveal(), got.headers["A"].reveal()) == ("https://postgres/mcp", "Bearer s3cret-canary")


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"command": "${NOPE}"}, "command"),
        ({"args": ("a", "${NOPE}")}, "args[1]"),
        ({"cwd": "${NOPE}"}, "cwd"),
        ({"env": {"A": "x${NOPE}"}}, "env.A"),
    ],
)
def test_an_unset_variable_is_named_and_nothing_is_expanded(fields: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        expand_launch(launch(**fields), ENVIRON)
    assert caught.value.code == "config.variable"
    assert caught.value.message == (
        f"mcp.json, line 3: `{key}` of the server `a` needs the variable `NOPE`, which is not set"
    )


def test_a_form_that_is_not_known_is_refused_instead_of_sent_literally() -> None:
    with pytest.raises(ConfigError) as caught:
        expand_launch(launch(env={"A": "${input:token}"}), ENVIRON)
    assert caught.value.code == "config.variable"
    assert "`${input:token}`" in caught.value.hint_operator or "${input:token}" in caught.value.message


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\ny"])
def test_a_variable_cannot_smuggle_a_header(value: str) -> None:
    server = ServerConfig(name="a", transport="http", url="http://h", headers={"A": "${V}"})
    with pytest.raises(ConfigError) as caught:
        expand_endpoint(server, {"V": value})
    assert caught.value.code == "config.server"


def test_a_variable_that_makes_no_url_is_refused_without_showing_it() -> None:
    with pytest.raises(ConfigError) as caught:
        expand_endpoint(ServerConfig(name="a", transport="http", url="${V}"), {"V": "file:///s3cret"})
    assert "s3cret" not in str(caught.value)


def test_a_secret_shows_itself_only_to_reveal(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret("s3cret-canary")
    logging.getLogger("test").warning("%s %r", secret, secret)
    assert caplog.text, "the line must be captured to be looked at"
    try:
        raise ValueError(secret)
    except ValueError as error:
        shown = [str(error), repr(error)]
    texts = [f"{secret}", f"{secret!r}", f"{secret:>40}", str([secret]), str({"a": secret}), caplog.text, *shown]
    assert all("canary" not in text for text in texts)
    assert secret.reveal() == "s3cret-canary"
    assert secret == Secret("s3cret-canary")
    assert secret != Secret("other")
    for copier in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copier(secret)


def test_an_expanded_entry_shows_nothing() -> None:
    server = launch(args=("${TOKEN}",), env={"A": "${TOKEN}"})
    endpoint = ServerConfig(name="a", transport="http", url="http://${TOKEN}", headers={"A": "${TOKEN}"})
    assert "canary" not in repr(expand_launch(server, ENVIRON)) + repr(expand_endpoint(endpoint, ENVIRON))


def test_values_are_masked_in_foreign_text_longest_first() -> None:
    redactor = expand_launch(launch(env={"A": "x-${TOKEN}", "API_KEY": "literal-key"}), ENVIRON).redactor
    assert redactor.clean("got x-s3cret-canary, s3cret-canary and literal-key") == (
        "got x-[secret], [secret] and [secret]"
    )


def test_the_token_after_the_scheme_of_a_header_is_masked() -> None:
    server = ServerConfig(name="a", transport="http", url="http://h", headers={"Authorization": "Bearer abcdefghij"})
    assert expand_endpoint(server, {}).redactor.clean("token abcdefghij") == "token [secret]"


def test_a_password_in_a_url_is_masked() -> None:
    server = launch(env={"DB": "postgres://joe:hunter2hunter2@db/x"})
    assert expand_launch(server, {}).redactor.clean_json(b'"to hunter2hunter2"') == b'"to [secret]"'


def test_a_listing_is_only_cleaned_of_what_is_a_secret_beyond_doubt() -> None:
    server = launch(env={"KIND": "${KIND}", "ACCESS_TOKEN": 'quo"te-canary'})
    redactor = expand_launch(server, ENVIRON).redactor
    raw = b'{"name":"postgres_query","description":"uses quo\\"te-canary"}'
    assert redactor.clean_json(raw) == b'{"name":"postgres_query","description":"uses [secret]"}'


def test_short_values_are_left_alone() -> None:
    assert Redactor(["abc"], sure=["abcdefg"]).clean("abc abcdefg") == "abc abcdefg"


def test_a_value_of_many_lines_is_masked_line_by_line() -> None:
    key = "-----BEGIN-----\n  first-line\nsecond-line\n"
    redactor = expand_launch(launch(env={"A": "${PEM}", "SECRET_B": key.upper()}), {"PEM": key}).redactor
    assert redactor.clean("1: first-line") == "1: [secret]"
    assert redactor.clean("2: SECOND-LINE") == "2: [secret]"


def test_what_stands_in_an_entry_as_text_is_masked_in_reports_whatever_its_name() -> None:
    server = launch(
        args=("--verbose", "yes-please", "--api-key", "canary-1", "--token=canary-2", "file.json"),
        env={"HOME_PAGE": "canary-3", "REGION": "${REGION:-canary-4}"},
    )
    said = "yes-please canary-1 canary-2 canary-3 canary-4 file.json"
    assert written_values(server).clean(said) == "yes-please [secret] [secret] [secret] [secret] file.json"


def test_headers_and_the_secret_parts_of_a_url_are_masked_in_reports() -> None:
    url = "https://joe:canary-pass@host/api/canary-in-a-long-path/mcp?key=canary-q"
    server = ServerConfig(name="a", transport="http", url=url, headers={"X-Tenant": "Basic canary-h"})
    assert written_values(server).clean("canary-pass canary-in-a-long-path canary-q canary-h host api") == (
        "[secret] [secret] [secret] [secret] host api"
    )


@pytest.mark.parametrize(
    ("fields", "has"),
    [
        ({"env": {"API_TOKEN": "x"}}, True),
        ({"env": {"REGION": "x"}}, False),
        ({"transport": "http", "headers": {"Authorization": "x"}}, True),
        ({"transport": "http", "headers": {"X-Region": "x"}}, False),
        ({"transport": "http", "url": "http://joe:pass@host"}, True),
    ],
)
def test_an_entry_has_a_credential_when_a_name_says_so(fields: dict[str, Any], has: bool) -> None:
    assert has_credential(launch(**fields)) is has
