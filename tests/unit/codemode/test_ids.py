"""Tool ids are printed and parsed back one to one, whatever names servers choose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.ids import ToolId

NAMES = st.text(st.characters(), min_size=1, max_size=30) | st.just("a\ud83d")


@given(NAMES, NAMES)
def test_a_tool_id_is_parsed_back_as_it_was(server, name):
    wanted = ToolId(server, name, "0123456789ab")
    assert ToolId.parse(str(wanted)) == wanted


@given(NAMES, NAMES, NAMES, NAMES)
def test_different_tools_have_different_ids(server, name, other_server, other_name):
    if (server, name) != (other_server, other_name):
        assert str(ToolId(server, name, "0")) != str(ToolId(other_server, other_name, "0"))


def test_plain_names_read_as_they_are():
    assert str(ToolId("github", "list_issues", "0123456789ab")) == "github:list_issues@0123456789ab"


@pytest.mark.parametrize("text", ["", "x", "a:b", "a@b", ":b@c", "a:@c", "a:b@"])
def test_text_that_is_no_id_is_refused(text):
    with pytest.raises(ValueError, match="no tool id"):
        ToolId.parse(text)
