"""The demo's script: it does what the main job asks for, with programs that ship."""

from mcp import types

from codemode.cli.demo import steps
from codemode.cli.demo_client import call_tokens, definition_tokens, text_of


def test_the_script_has_a_chain_a_bulk_job_a_healed_call_and_two_refusals():
    script = steps()
    assert [step.job for step in script if step.job] == ["chain", "bulk", "write"]
    assert [step.status for step in script] == ["", "ok", "refused", "ok", "", "ok", "refused", "refused"]
    assert script[3].arguments == {"resume": "last"}
    for step in script:
        if "code" in step.arguments:
            compile(str(step.arguments["code"]), step.title, "exec")


def test_tokens_are_counted_over_definitions_arguments_and_text():
    tool = types.Tool(name="t", description="d" * 440, input_schema={"type": "object"})
    assert 100 <= definition_tokens([tool]) <= 120
    assert call_tokens("t", {"a": "x" * 44}, "y" * 44) >= 20


def test_a_result_without_text_counts_its_structured_part():
    assert text_of(types.CallToolResult(content=[], structured_content={"a": 1})) == '{"a":1}'
    both = types.CallToolResult(content=[types.TextContent(text="t")], structured_content={"a": 1})
    assert text_of(both) == "t"
