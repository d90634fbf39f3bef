"""Configuration files: what is accepted, how files are merged, how each mistake is named with file, key and line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codemode.config.load import load_config
from codemode.config.model import RANGES, Config, LimitSettings
from codemode.errors import ConfigError

Write = Callable[..., Path]


def refusal(*paths: Path) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_config(*paths)
    return caught.value


def test_unknown_server_keys_are_reported_once_with_their_servers(write: Write) -> None:
    file = write({"mcpServers": {"a": {"command": "x", "oauth": 1}, "b": {"command": "x", "oauth": 1, "b c": 2}}})
    assert load_config(file).warnings == (
        f"{file}, line 5: `mcpServers.a.oauth` is not known and ignored; it stands in 2 servers",
        f"{file}, line 10: `mcpServers.b.b c` is not known and ignored",
    )


def test_unknown_top_keys_are_reported_and_ignored(write: Write) -> None:
    warnings = load_config(write({"mcpServers": {}, "inputs": [], "$schema": "x"})).warnings
    assert len(warnings) == 1
    assert "line 3: `inputs` is not known and ignored" in warnings[0]


def test_a_key_that_occurs_twice_is_reported(write: Write) -> None:
    warnings = load_config(write('{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "y"}}}')).warnings
    assert len(warnings) == 1
    assert "line 2: `mcpServers.a` occurs twice" in warnings[0]


def test_secrets_do_not_stand_in_the_repr_of_a_configuration(write: Write) -> None:
    entry = {"command": "s3cret-a", "args": ["s3cret-b"], "env": {"K": "s3cret-c"}}
    web = {"url": "http://u:s3cret-d@h", "headers": {"K": "s3cret-e"}}
    assert "s3cret" not in repr(load_config(write({"mcpServers": {"a": entry, "b": web}})))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path / "nope.json")
    assert error.code == "config.missing"
    assert "nope.json: cannot be read: no such file or directory" in error.message


def test_bad_json_is_named_with_line_and_column(write: Write) -> None:
    error = refusal(write('{\n "a": 1,}'))
    assert (error.code, error.details) == ("config.json", {"line": 2, "column": 9})
    assert "mcp.json, line 2, column 9: not JSON" in error.message


def test_a_comment_is_explained(write: Write) -> None:
    assert refusal(write("{\n// servers\n}")).hint_operator == "JSON has no comments"


@pytest.mark.parametrize("text", ["[]", "null", '"x"'])
def test_a_file_that_is_no_object_is_refused(write: Write, text: str) -> None:
    assert "must be a JSON object" in refusal(write(text)).message


def test_a_file_with_a_byte_order_mark_is_read(write: Write) -> None:
    assert load_config(write('\ufeff{"mcpServers": {"a": {"command": "x"}}}')).servers[0].name == "a"


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{\n"a": "\xff"}')
    assert "line 2: not UTF-8 text" in refusal(path).message


def test_nesting_that_no_parser_survives_is_refused(write: Write) -> None:
    assert refusal(write("[" * 100_000 + "]" * 100_000)).code == "config.json"


def test_servers_that_are_no_object_are_refused(write: Write) -> None:
    assert "line 1: `mcpServers` must be an object of servers" in refusal(write('{"mcpServers": []}')).message


def test_one_name_in_two_files_is_refused_and_both_are_named(write: Write) -> None:
    first = write({"mcpServers": {"a": {"command": "x"}}}, "one.json")
    second = write({"servers": {"a": {"command": "y"}}}, "two.json")
    message = refusal(first, second).message
    assert "two.json, line 3: the server `a` is already defined at" in message
    assert "one.json, line 3" in message


def test_files_are_merged(write: Write) -> None:
    first = write(
        {
            "mcpServers": {"a": {"command": "x"}},
            "codemode": {"limits": {"wall_s": 5}, "policy": {"rules": [{"tool": "a.*", "decision": "allow"}]}},
        },
        "one.json",
    )
    second = write(
        {
            "mcpServers": {"b": {"command": "y"}},
            "codemode": {"limits": {"cpu_s": 6}, "policy": {"rules": [{"tool": "b.*", "decision": "deny"}]}},
        },
        "two.json",
    )
    config = load_config(first, second)
    assert [server.name for server in config.servers] == ["a", "b"]
    assert (config.limits.wall_s, config.limits.cpu_s) == (5.0, 6.0)
    assert [(rule.tool, rule.decision) for rule in config.policy.rules] == [("a.*", "allow"), ("b.*", "deny")]
    assert "two.json, line" in config.policy.rules[1].source
    assert config.files == (str(first), str(second))


def test_a_setting_in_two_files_is_refused_and_both_are_named(write: Write) -> None:
    first = write({"codemode": {"gate": "open"}}, "one.json")
    second = write({"codemode": {"gate": "strict"}}, "two.json")
    message = refusal(first, second).message
    assert "two.json, line 3: `codemode.gate` is already set at" in message
    assert "one.json, line 3" in message


def test_a_mistake_in_a_joined_list_is_named_where_it_stands(write: Write) -> None:
    first = write({"codemode": {"policy": {"rules": [{"tool": "a.*", "decision": "allow"}]}}}, "one.json")
    second = write('{"codemode": {"policy": {"rules": [\n{"tool": "b.*",\n"decision": "perhaps"}]}}}', "two.json")
    assert "two.json, line 3: `codemode.policy.rules[1].decision`" in refusal(first, second).message


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"limits": {"wall": 30}}, "`codemode.limits.wall` is not a known key; did you mean `wall_s`?"),
        ({"limits": {"wall_s": -1}}, "`codemode.limits.wall_s` must be a number between 0.05 and 86400, got -1"),
        ({"limits": {"threads": 1.5}}, "`codemode.limits.threads` must be a whole number"),
        ({"limits": {"threads": True}}, "got true"),
        ({"limits": {"memory_bytes": "512M"}}, "got the string `512M`"),
        ({"limits": {"calls": 10, "in_flight": 11}}, "`codemode.limits.in_flight` is 11, more than `calls` (10)"),
        ({"limits": []}, "`codemode.limits` must be an object, got a list"),
        ({"limit": {}}, "did you mean `limits`?"),
        ({"gate": "closed"}, "`codemode.gate` must be one of `heal`, `open`, `strict`, got the string `closed`"),
        ({"approve": 1}, "`codemode.approve` must be one of"),
        ({"pool": 65}, "`codemode.pool` must be a whole number between 0 and 64"),
        ({"policy": {"rules": [{"decision": "allow"}]}}, "`codemode.policy.rules[0]` needs `tool`"),
        ({"policy": {"rules": [{"tool": "a.*"}]}}, "`codemode.policy.rules[0]` needs `decision`"),
        ({"policy": {"rules": [{"tool": "github", "decision": "allow"}]}}, "must be a pattern over `server.tool`"),
        ({"policy": {"rules": ["a.*"]}}, "`codemode.policy.rules[0]` must be an object, got the string `a.*`"),
        ({"policy": {"effects": [{"tool": "a.b", "effect": "none"}]}}, "`read`, `write`, `destructive`"),
        ({"policy": {"rule": []}}, "did you mean `rules`?"),
        ({"tool_search": {"enabled": "auto:200"}}, "must be `auto`, `auto:N`"),
        ({"tool_search": {"enabled": "yes"}}, "must be `auto`, `auto:N`"),
        ({"tool_search": {"context_window": 10}}, "`codemode.tool_search.context_window`"),
        ({"inherit_env": ["A B"]}, "`codemode.inherit_env[0]` must be the name of a variable"),
        ({"zzz": 1}, "`codemode.zzz` is not a known key; known keys: "),
    ],
)
def test_a_mistake_in_our_own_section_is_fatal_and_named(write: Write, own: Any, expected: str) -> None:
    error = refusal(write({"codemode": own}))
    assert error.code == "config.key"
    assert expected in error.message
    assert "mcp.json, line " in error.message


def test_every_setting_can_be_set(write: Write) -> None:
    own = {
        "limits": {name: high for name, (_, high) in RANGES.items()},
        "policy": {
            "rules": [{"tool": "a.*", "decision": "ask", "reason": "why"}],
            "effects": [{"tool": "a.b", "effect": "read"}],
            "untrusted_servers": ["a"],
        },
        "tool_search": {"enabled": "auto:5", "context_window": 1_000_000},
        "gate": "strict",
        "approve": "never",
        "start_timeout_s": 1,
        "call_timeout_s": 2,
        "idle_timeout_s": 3,
        "stop_unused_s": 4,
        "server_in_flight": 5,
        "inherit_env": ["HTTPS_PROXY"],
        "state_dir": "/s",
        "cache_dir": "/c",
        "pool": 0,
        "backend": "docker",
    }
    config = load_config(write({"mcpServers": {"a": {"command": "x"}}, "codemode": own}))
    assert all(getattr(config.limits, name) == high for name, (_, high) in RANGES.items())
    assert (config.tool_search.enabled, config.tool_search.auto_percent) == ("auto", 5.0)
    assert (config.gate, config.approve, config.backend, config.pool) == ("strict", "never", "docker", 0)
    assert (config.start_timeout_s, config.call_timeout_s, config.idle_timeout_s) == (1.0, 2.0, 3.0)
    assert (config.stop_unused_s, config.server_in_flight) == (4.0, 5)
    assert (config.inherit_env, config.state_dir, config.cache_dir) == (("HTTPS_PROXY",), "/s", "/c")
    assert config.policy.untrusted_servers == ("a",)


@pytest.mark.parametrize(("value", "enabled"), [(True, True), (False, False), ("auto", "auto"), (None, "auto")])
def test_tool_search_may_be_on_off_or_by_size(write: Write, value: Any, enabled: Any) -> None:
    assert load_config(write({"codemode": {"tool_search": {"enabled": value}}})).tool_search.enabled == enabled


def test_each_limit_holds_at_both_ends_and_not_beyond(write: Write) -> None:
    for name, (low, high) in RANGES.items():
        for value in (low, high):
            if name == "in_flight" or (name == "calls" and value == low):
                continue
            assert getattr(load_config(write({"codemode": {"limits": {name: value}}})).limits, name) == value
        for value in (low - 1, high + 1):
            assert name in refusal(write({"codemode": {"limits": {name: value}}})).message


def test_defaults_are_within_their_ranges() -> None:
    for name, (low, high) in RANGES.items():
        assert low <= getattr(LimitSettings(), name) <= high


def test_a_call_that_may_outlive_the_run_is_warned_about_with_both_numbers(write: Write) -> None:
    entry = {"command": "x", "call_timeout_s": 60}
    warnings = load_config(write({"mcpServers": {"a": entry}, "codemode": {"limits": {"wall_s": 30}}})).warnings
    assert len(warnings) == 1
    assert "a call to `a` may take 60 s (`call_timeout_s` or `timeout`), but a run ends after 30 s " in warnings[0]
    assert "(`codemode.limits.wall_s`)" in warnings[0]


def test_a_session_that_may_have_more_files_than_all_together_is_warned_about(write: Write) -> None:
    limits = {"workspace_bytes": 1 << 21, "all_workspaces_bytes": 1 << 20}
    (warning,) = load_config(write({"mcpServers": {}, "codemode": {"limits": limits}})).warnings
    assert "one session may have 2097152 bytes of files, but all together 1048576" in warning


def test_an_untrusted_server_that_does_not_exist_is_warned_about(write: Write) -> None:
    file = write({"mcpServers": {}, "codemode": {"policy": {"untrusted_servers": ["x"]}}})
    text = "`codemode.policy.untrusted_servers` names `x`, which is no configured server"
    assert load_config(file).warnings == (f"{file}, line 5: {text}",)


def test_without_a_path_the_file_in_the_folder_is_taken_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codemode.json").write_text('{"mcpServers": {"here": {"command": "x"}}}')
    folder = tmp_path / "xdg" / "codemode"
    folder.mkdir(parents=True)
    (folder / "codemode.json").write_text('{"mcpServers": {"there": {"command": "x"}}}')
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert [server.name for server in load_config(environ=environ).servers] == ["here"]
    (tmp_path / "codemode.json").unlink()
    assert [server.name for server in load_config(environ=environ).servers] == ["there"]


def test_a_project_file_is_never_taken_without_being_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "x"}}}')
    config = load_config(environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert config.servers == ()
    assert any("`.mcp.json` of this folder is not read unless it is named" in text for text in config.warnings)
    assert [server.name for server in load_config(".mcp.json").servers] == ["theirs"]


def test_an_empty_configuration_is_the_defaults(write: Write) -> None:
    path = write({"mcpServers": {}})
    assert load_config(path) == Config(files=(str(path),))


def test_a_setting_knows_where_it_is_written_and_one_with_its_default_does_not(write: Write) -> None:
    first = write('{"codemode": {\n"limits": {\n"wall_s": 600}}}', "a.json")
    second = write('{"codemode": {"limits": {"cpu_s": 5},\n"start_timeout_s": 3}}', "b.json")
    places = load_config(first, second).places
    assert places["limits.wall_s"] == f"{first}, line 3"
    assert places["limits.cpu_s"] == f"{second}, line 1"
    assert places["start_timeout_s"] == f"{second}, line 2"
    assert "limits.memory_bytes" not in places
