"""One tool → the source of its binding module `tools.<module>.<function>`.

Enters: a `Tool`. Leaves: a `Binding` with Python source that carries the tool's id and nothing secret, or `Refused`
with a reason. A refused tool is left out alone.

Safety: names, descriptions, defaults and schemas are a server's and may be written to become code. Every foreign
string stands in the source as an ASCII-escaped literal; identifiers are made by `codemode/catalog/names.py`; no
comment, default or class name holds foreign text. The finished source is parsed again and must be exactly the tree
that was meant (`_expected`), with annotations of plain type names and constants; anything else is refused.
"""

from __future__ import annotations

import ast
import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Final, TypeAlias

from codemode.bindings.signature import Parameter, Signature, signature
from codemode.bindings.type_text import ANNOTATION_NAMES, annotation, is_plain_name
from codemode.catalog.spec import Tool
from codemode.catalog.text import clean_text

MAX_DESCRIPTION_CHARS: Final = 2_000  # chosen: help() of one tool stays near 1,000 tokens with its parameters
MAX_PARAMETERS: Final = 200  # measured: 53 in the largest of 1,858 public tools; further ones go by their wire names
MAX_HELP_CHARS: Final = 6_000
MAX_TARGET_CHARS: Final = 1_000  # the wire allows 1,024 and `raw` puts a prefix in front
MAX_SOURCE_CHARS: Final = 64 * 1024
_LINE_CHARS: Final = 96

_IMPORTS: Final = (
    ("__future__", ("annotations",)),
    ("typing", ("Any", "Literal")),
    ("tools._runtime", ("binding",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The generated module of one tool."""

    tool: Tool
    source: str
    signature: Signature

    @property
    def digest(self) -> str:
        """SHA-256 of the source, as hexadecimal digits."""
        return hashlib.sha256(self.source.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A tool that gets no binding, and why, in one line."""

    tool: Tool
    reason: str


Bound: TypeAlias = Binding | Refused


def bind(tool: Tool) -> Bound:
    """The binding of one tool; never raises for a tool whose schemas are JSON."""
    found = signature(tool)
    shown = found.parameters[:MAX_PARAMETERS]
    reason = _name_fault(tool, shown)
    if reason:
        return Refused(tool=tool, reason=reason)
    options = _options(tool, found, shown)
    help_text = help_of(tool, found)
    source = _source(tool, found, shown, options=options, help_text=help_text)
    if len(source) > MAX_SOURCE_CHARS:
        return Refused(tool=tool, reason=f"its binding would have {len(source)} characters")
    fault = _fault(source, _expected(tool, shown, options, help_text))
    if fault:
        return Refused(tool=tool, reason=fault)
    return Binding(tool=tool, source=source, signature=found)


def help_of(tool: Tool, found: Signature) -> str:
    """What `help` shows: signature, description, notes, what is said of parameters and of the result's keys."""
    lines = [found.text]
    description = clean_text(tool.spec.description or tool.spec.title, MAX_DESCRIPTION_CHARS)
    lines += ["", description] if description else []
    lines += ["", *found.notes] if found.notes else []
    described = [f"  {one.python}: {one.description}" for one in found.parameters if one.description]
    lines += ["", "Parameters:", *described] if described else []
    results = [f"  {name}: {text}" for name, text in found.result_notes]
    lines += ["", "Result:", *results] if results else []
    text = "\n".join(lines)
    return text if len(text) <= MAX_HELP_CHARS else f"{text[: MAX_HELP_CHARS - 4]}\n..."


def _name_fault(tool: Tool, parameters: tuple[Parameter, ...]) -> str:
    """Why the names cannot be used; they are ours, so this is a second look, not a cleaning."""
    names = [tool.module, tool.function, *(one.python for one in parameters)]
    for name in names:
        if not is_plain_name(name) or name.startswith("_") or unicodedata.normalize("NFKC", name) != name:
            return f"`{name[:80]!a}` is no name for a function or parameter"
    wires = {one.wire: one.python for one in parameters}
    if len({one.python for one in parameters}) < len(parameters):
        return "two parameters have one name"
    for one in parameters:
        if wires.get(one.python, one.python) != one.python:
            return f"the keyword `{one.python}` is another parameter's name on the wire"
    if len(str(tool.spec.id)) > MAX_TARGET_CHARS:
        return f"its id has more than {MAX_TARGET_CHARS} characters"
    return ""


_Options: TypeAlias = dict[str, "str | bool | tuple[str, ...] | dict[str, str]"]


def _options(tool: Tool, found: Signature, shown: tuple[Parameter, ...]) -> _Options:
    """What the runtime has to know of the tool beside the function's own parameters; defaults are left out."""
    wire = {one.python: one.wire for one in shown if one.python != one.wire}
    nullable = tuple(one.wire for one in found.parameters if one.nullable and not one.required)
    base64 = tuple(one.wire for one in found.parameters if one.is_base64)
    options: _Options = {"id": str(tool.spec.id)}
    if wire:
        options["wire"] = wire
    if nullable:
        options["nullable"] = nullable
    if base64:
        options["base64"] = base64
    if shown and shown[0].takes_object:
        options["first_takes_object"] = True
    if found.unwraps:
        options["unwraps"] = True
    return options


def _source(tool: Tool, found: Signature, shown: tuple[Parameter, ...], *, options: _Options, help_text: str) -> str:
    lines = [f"from {module} import {', '.join(names)}" for module, names in _IMPORTS]
    lines = [lines[0], "", lines[1], "", lines[2], "", "", "@binding("]
    for key, value in options.items():
        lines += _option_lines(key, value)
    lines += [")", f"def {tool.function}("]
    for one in shown:
        default = "" if one.required else " = ..."
        lines.append(f"    {one.python}: {annotation(one.kind)}{default},")
    lines += ["    **_others: Any,", f") -> {annotation(found.result_kind)}:", "    ("]
    lines += [f"        {piece}" for piece in _literal_lines(help_text)]
    return "\n".join([*lines, "    )", ""])


def _option_lines(key: str, value: str | bool | tuple[str, ...] | dict[str, str]) -> list[str]:
    if isinstance(value, tuple):
        return [f"    {key}=(", *(f"        {item!a}," for item in value), "    ),"]
    if isinstance(value, dict):
        return [f"    {key}={{", *(f"        {k!a}: {v!a}," for k, v in value.items()), "    },"]
    return [f"    {key}={value!a},"]


def _literal_lines(text: str) -> list[str]:
    """The text as string literals that Python joins, one for each line or less."""
    pieces = []
    for line in text.splitlines(keepends=True):
        pieces += [ascii(line[at : at + _LINE_CHARS]) for at in range(0, len(line), _LINE_CHARS)]
    return pieces or ["''"]


def _expected(tool: Tool, shown: tuple[Parameter, ...], options: _Options, help_text: str) -> str:
    """The tree that the source must have, without annotations, as text to compare."""
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=one.python) for one in shown],
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=ast.arg(arg="_others"),
        defaults=[ast.Constant(value=...) for one in shown if not one.required],
    )
    decorator = ast.Call(
        func=ast.Name(id="binding", ctx=ast.Load()),
        args=[],
        keywords=[ast.keyword(arg=key, value=_constant(value)) for key, value in options.items()],
    )
    function = ast.FunctionDef(
        name=tool.function,
        args=arguments,
        body=[ast.Expr(value=ast.Constant(value=help_text))],
        decorator_list=[decorator],
    )
    if "type_params" in ast.FunctionDef._fields:  # Python 3.12 and later
        function.type_params = []  # type: ignore[attr-defined,unused-ignore]  # not known before 3.12
    imports: list[ast.stmt] = [
        ast.ImportFrom(module=module, names=[ast.alias(name=name) for name in names], level=0)
        for module, names in _IMPORTS
    ]
    return ast.dump(ast.Module(body=[*imports, function], type_ignores=[]))


def _constant(value: str | bool | tuple[str, ...] | dict[str, str]) -> ast.expr:
    if isinstance(value, tuple):
        return ast.Tuple(elts=[ast.Constant(value=item) for item in value], ctx=ast.Load())
    if isinstance(value, dict):
        keys: list[ast.expr | None] = [ast.Constant(value=key) for key in value]
        return ast.Dict(keys=keys, values=[ast.Constant(value=item) for item in value.values()])
    return ast.Constant(value=value)


def parse(source: str) -> ast.Module:
    """`ast.parse`, once more when CPython 3.11 loses count of its own recursion during a collection.

    Source: "AST constructor recursion depth mismatch", a SystemError on valid text, seen under load.
    """
    try:
        return ast.parse(source)
    except SystemError:
        return ast.parse(source)


def _fault(source: str, expected: str) -> str:
    """Why the source is not what was meant, or ""."""
    try:
        module = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"its binding does not parse: {type(error).__name__}"
    function = module.body[-1] if module.body else None
    if not isinstance(function, ast.FunctionDef):
        return "its binding has another shape than was meant"
    for holder in (*function.args.args, function.args.kwarg):
        if holder is None or holder.annotation is None or not _is_plain_annotation(holder.annotation):
            return "an annotation of its binding holds more than type names and constants"
        holder.annotation = None
    if function.returns is None or not _is_plain_annotation(function.returns):
        return "the result annotation of its binding holds more than type names and constants"
    function.returns = None
    return "" if ast.dump(module) == expected else "its binding has another shape than was meant"


def _is_plain_annotation(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value):
            return value is None or isinstance(value, (str, int, bool))
        case ast.Name(name):
            return name in ANNOTATION_NAMES
        case ast.Subscript(ast.Name(name), inner):
            return name in ANNOTATION_NAMES and _is_plain_annotation(inner)
        case ast.Tuple(parts):
            return all(map(_is_plain_annotation, parts))
        case ast.BinOp(left, ast.BitOr(), right):
            return _is_plain_annotation(left) and _is_plain_annotation(right)
        case _:
            return False
