"""One tool → the source of its binding: only our names and literals, checked before use."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from codemode.bindings import function
from codemode.bindings.function import Binding, Refused, bind
from codemode.catalog.spec import Tool
from tests.support.catalogs import catalog_of, tool

TEXT = {"type": "string"}


def tool_of(entry: Any) -> Tool:
    return catalog_of({"git-hub": [entry]}).tools[0]


def source_of(entry: Any) -> str:
    bound = bind(tool_of(entry))
    assert isinstance(bound, Binding)
    return bound.source


def test_binding_is_readable_and_holds_the_tool_id() -> None:
    properties = {"from": TEXT, "limit": {"type": ["integer", "null"], "default": 20}}
    entry = {**tool("list-issues", properties, ("from",)), "description": "Lists.\nAll of them."}

    found = tool_of(entry)

    assert (
        source_of(entry)
        == f"""\
from __future__ import annotations

from typing import Any, Literal

from tools._runtime import binding


@binding(
    id='{found.spec.id}',
    wire={{
        'from_': 'from',
    }},
    nullable=(
        'limit',
    ),
    unwraps=True,
)
def list_issues(
    from_: str,
    limit: int | None = ...,
    **_others: Any,
) -> Any:
    (
        'tools.git_hub.list_issues(from_: str, limit: int | None = 20) -> ?\\n'
        '\\n'
        'Lists.\\n'
        'All of them.\\n'
        '\\n'
        "`from_` stands for the key 'from'"
    )
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        'ends in a quote"',
        "x'''\n__import__('os').system('id')\n'''",
        'a\\"""\n__import__(\'os\')\nr"""',
        "line\r__import__('os')\r# rest",
        "{description.__class__} %s ${HOME}",
        "\\",
        "null \x00 and \ud83d half",
        "\u2028__import__('os')\u2029",
    ],
)
def test_foreign_text_stays_a_literal_wherever_it_stands(text: str) -> None:
    schema: Any = {
        "type": "object",
        "title": text,
        "properties": {
            "a": {"type": "string", "description": text, "default": text, "enum": [text, "b"]},
            "b": {"type": "object", "properties": {"k": {"const": text}}},
        },
    }
    spec = replace(
        tool_of(tool("f")).spec,
        name=f"f{text}",
        description=text,
        input_schema=schema,
        output_schema={"type": "object", "properties": {"result": {"enum": [text]}}},
    )

    bound = bind(replace(tool_of(tool("f")), spec=spec))

    assert isinstance(bound, Binding)
    names = {node.id for node in ast.walk(ast.parse(bound.source)) if isinstance(node, ast.Name)}
    assert names <= {"Any", "Literal", "binding", "str", "int", "dict", "list"}
    bound.source.encode("utf-8")


def test_name_that_is_not_ours_is_refused() -> None:
    for name in ("a; import os", "class", "_f", "f.g", "", "ｆ", "x" + "\n"):
        bound = bind(replace(tool_of(tool("f")), function=name))
        assert isinstance(bound, Refused), name
        assert "is no name" in bound.reason


def test_id_that_does_not_fit_the_wire_is_refused() -> None:
    spec = replace(tool_of(tool("f")).spec, name="名" * 200)

    bound = bind(replace(tool_of(tool("f")), spec=spec))

    assert isinstance(bound, Refused)
    assert bound.reason == "its id has more than 1000 characters"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text + "import os\n",
        lambda text: text.replace("unwraps=True", "unwraps=print()"),
        lambda text: text.replace("@binding(", "@binding(*print(),"),
        lambda text: text.replace("a: str", "a: print()"),
        lambda text: text.replace("-> Any", "-> __import__('os')"),
        lambda text: text.replace("-> Any", "-> Any[lambda: 1]"),
        lambda text: text.replace("= ...", "= print()"),
        lambda text: text.replace("import binding", "import binding, ToolError"),
        lambda text: text.replace("    (\n", "    1; (\n"),
        lambda text: text.replace("def f", "async def f"),
        lambda text: text.replace("'tools.", "f'{1}tools."),
        lambda text: text.replace("'", '"""', 1),
        lambda text: "",
    ],
)
def test_source_that_is_not_exactly_what_was_meant_is_refused(damage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = tool_of(tool("f", {"a": TEXT, "b": TEXT}, ("a",)))
    write = function._source
    monkeypatch.setattr(function, "_source", lambda *args, **more: damage(write(*args, **more)))

    bound = bind(entry)

    assert isinstance(bound, Refused)
    assert bound.reason.startswith(("its binding", "an annotation", "the result annotation"))


def test_description_and_parameter_count_are_bounded() -> None:
    properties = {f"p{i}": {**TEXT, "description": "word " * 100} for i in range(600)}
    source = source_of({**tool("f", properties), "description": "word " * 50_000})

    assert len(source) < function.MAX_SOURCE_CHARS
    assert source.count(": str = ...,") == function.MAX_PARAMETERS


def test_equal_tools_give_equal_bytes() -> None:
    entry = tool("f", {"a": TEXT, "b": {"enum": ["x", "y"]}}, ("b",))

    assert bind(tool_of(entry)) == bind(tool_of(entry))
