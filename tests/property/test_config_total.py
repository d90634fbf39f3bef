"""Whatever stands in a configuration file, reading it gives a configuration or one clear error."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.config.load import load_config
from codemode.errors import ConfigError

KEYS = ["command", "args", "env", "url", "headers", "type", "timeout", "cwd", "disabled", "allowedTools", "required"]
SETTINGS = ["limits", "policy", "rules", "tool", "decision", "gate", "pool", "tool_search", "enabled", "wall_s"]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["stdio", "http"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS + SETTINGS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config") / "mcp.json"


def refusal(file: Path) -> str:
    """The message the file is refused with, "" when it is read; a problem of the one server counts as read."""
    try:
        config = load_config(file)
    except ConfigError as error:
        return error.message
    for server in config.servers:
        assert server.problem == "" or server.problem.startswith(str(file))
    return ""


@given(entry=values, own=values)
def test_any_json_is_read_or_refused_with_the_name_of_the_file(file: Path, entry: Any, own: Any) -> None:
    file.write_text(json.dumps({"mcpServers": {"a": entry}, "codemode": own}))
    message = refusal(file)
    assert message == "" or message.startswith(str(file))
    assert "\n" not in message


@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    message = refusal(file)
    assert message == "" or message.startswith(str(file))
