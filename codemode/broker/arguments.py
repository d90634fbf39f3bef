"""A call's arguments against the tool's schema: repaired where that is lossless, else refused with every reason.

Enters: a `Tool` and arguments as parsed JSON, or the literals of a call that has not run yet. Leaves: `Checked`
(the arguments to send, problems, notes) or `Problem`s. Compiled schemas are kept by the definition's digest.

Rules.
- A call is refused when its arguments do not fit the schema, never otherwise: what the schema allows is sent.
- A name that is no parameter is a problem where the schema closes the object (`additionalProperties: false`). Where
  it does not, such a call is legal: it is sent, with a note when a parameter has a similar name. When the call is
  refused for another reason, the unknown name is told too, since it is usually the cause.
- `repair.py` has the table of repairs. They are tried only on arguments that do not fit, in a call without unknown
  names (such a call is confused and refused as a whole), and noted.
- Formats are not asserted, references never fetched, patterns run by an engine that cannot backtrack.

Safety: the arguments are a hostile guest's, the schema a hostile server's; see `validators.py` and `explain.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio.to_thread
import msgspec

from codemode.bindings.schema_types import Scalar, Type, Union
from codemode.bindings.signature import Parameter, Signature, signature
from codemode.broker.explain import explain, meant_by_value
from codemode.broker.problems import MAX_PROBLEMS, Problem, not_unicode, path_text, unknown_text
from codemode.broker.repair import repaired, whole_numbers
from codemode.broker.validators import Compiled, SchemaCache, SchemaError
from codemode.catalog.spec import Tool
from codemode.jsonvalue import Json, JsonObject, compact

MAX_OUTPUT_BYTES: Final = 16 << 20  # ARCHITECTURE 4.5: above this a result is passed on without a check
_MAX_REPAIR_ROUNDS: Final = 16
_MAX_NOTES: Final = 8
_MAX_LITERAL_DEPTH: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The outcome of a check: `arguments` may be sent when there are no `problems`; `notes` say what was changed."""

    arguments: JsonObject
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether the call may go on."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class _Known:
    """What is kept of one definition."""

    signature: Signature
    labels: Mapping[str, str]
    wires: Mapping[str, str]
    integers: frozenset[str]
    required: frozenset[str]
    without_null: frozenset[str]


class ArgumentChecker:
    """Checks arguments and results of all tools; one for a process is enough. Holds no tool's values."""

    def __init__(self) -> None:
        self._inputs = SchemaCache()
        self._outputs = SchemaCache()
        self._known: dict[tuple[str, ...], _Known] = {}

    async def check(self, tool: Tool, arguments: JsonObject) -> Checked:
        """Check the arguments of one call.

        Arguments that fit a schema met before are answered at once. Compiling and explaining happen in a thread: they
        may take long when server and program want them to.
        """
        if _key(tool) in self._inputs:
            checked = self._fitting(tool, arguments)
            if checked is not None:
                return checked
        return await anyio.to_thread.run_sync(self.check_now, tool, arguments)

    def check_now(self, tool: Tool, arguments: JsonObject) -> Checked:
        """As `check`, all of it here and now."""
        checked = self._fitting(tool, arguments)
        if checked is not None:
            return checked
        known = self._facts(tool)
        try:
            compiled = self._inputs.get(_key(tool), tool.spec.input_schema)
        except SchemaError as error:
            problem = Problem(path="$", text=f"this tool cannot be called: {error}", kind="schema")
            return Checked(arguments=arguments, problems=(problem,))
        if not _is_unicode(arguments):
            return Checked(arguments=arguments, problems=(not_unicode(arguments),))
        unknown = _unknown_names(known, compiled, arguments)
        sent, notes = arguments, list[str]()
        for _ in range(_MAX_REPAIR_ROUNDS):
            problems = explain(compiled, sent, known.labels)
            sent, done = ({}, ()) if unknown else repaired(sent, problems)
            notes.extend(done)
            if not done:
                break
            if compiled.fits(sent):
                sent, done = whole_numbers(sent, known.integers)
                return Checked(arguments=sent, notes=_bounded([*notes, *done]))
        return Checked(arguments=arguments, problems=_joined(problems, unknown))

    def _fitting(self, tool: Tool, arguments: JsonObject) -> Checked | None:
        """The outcome for arguments that fit as they are, else None."""
        try:
            compiled = self._inputs.get(_key(tool), tool.spec.input_schema)
        except SchemaError:
            return None
        if not compiled.fits(arguments) or not _is_unicode(arguments):
            return None
        known = self._facts(tool)
        sent, notes = whole_numbers(arguments, known.integers)
        slips = [one.text for one in _unknown_names(known, compiled, arguments) if "did you mean" in one.text]
        return Checked(arguments=sent, notes=_bounded([*notes, *(f"{text} It was sent as it is" for text in slips)]))

    def check_literals(
        self,
        tool: Tool,
        *,
        positional: Sequence[Any] = (),
        keywords: Mapping[str, Any],
        is_open: bool = False,
        unknown: object,
    ) -> tuple[Problem, ...]:
        """What can be said against a call before it runs, from its literal arguments alone.

        `unknown` is the marker that stands for arguments which are no literals; `is_open` says that more may come
        (`*args`, `**kwargs`). A call that may still turn out right has no problem here.
        """
        known = self._facts(tool)
        if len(positional) == 1 and positional[0] is unknown and not keywords:
            return ()  # it may be a dict of all arguments
        given, problems = _by_wire(known, positional, keywords)
        if problems:
            return problems
        sent = {wire: _as_json(value, unknown) for wire, value in given.items()}
        sent = {wire: value for wire, value in sent.items() if value is not None or wire not in known.without_null}
        literal = {wire: value for wire, value in sent.items() if value is not unknown}
        refused = _refused_names(tool, known, sent.keys() - literal.keys())
        is_whole = not is_open and len(literal) == len(sent)
        checked = self.check_now(tool, literal)
        missing = frozenset[str]() if is_open else known.required - sent.keys()
        found = [one for one in checked.problems if is_whole or _is_certain(one, missing)]
        certain = _joined(found, refused)
        return certain if any(one.kind != "hint" for one in certain) else ()

    def check_output(self, tool: Tool, raw: bytes) -> str:
        """Why a structured result does not fit the tool's outputSchema, in one line; "" when it fits, when there is
        no schema, or when the result is larger than `MAX_OUTPUT_BYTES`.

        Takes about 10 ms a MiB: run it in a thread for large results.
        """
        schema = tool.spec.output_schema
        if schema is None or len(raw) > MAX_OUTPUT_BYTES:
            return ""
        try:
            compiled = self._outputs.get(_key(tool), schema)
        except SchemaError:
            return ""
        try:
            value: Json = msgspec.json.decode(raw)
        except (ValueError, RecursionError):
            return "it cannot be read as JSON"
        if compiled.fits(value) is not False:
            return ""
        problems = explain(compiled, value)
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        return f"it does not fit the tool's outputSchema: {problems[0].text}{more}"

    def _facts(self, tool: Tool) -> _Known:
        key = (tool.path, *_key(tool))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= 4_096:
                self._known.clear()
            found = _known(signature(tool))
            self._known[key] = found
        return found


def describe(tool: Tool, problems: Sequence[Problem]) -> str:
    """The problems of one call in one line, for an error message."""
    return f"{tool.path}: {'; '.join(one.text for one in problems)}"


def _key(tool: Tool) -> tuple[str, str, str, str]:
    # The cosmetic digest covers everything that was listed: patterns and limits too.
    return tool.spec.server, tool.spec.name, tool.spec.semantic_digest, tool.spec.cosmetic_digest


def _known(found: Signature) -> _Known:
    return _Known(
        signature=found,
        labels={one.wire: one.python for one in found.parameters},
        wires={one.python: one.wire for one in found.parameters},
        integers=frozenset(one.wire for one in found.parameters if _is_whole(one.kind)),
        required=frozenset(one.wire for one in found.required),
        without_null=frozenset(one.wire for one in found.parameters if not one.required and not one.nullable),
    )


def _is_whole(kind: Type) -> bool:
    names = {one.name for one in (kind.members if isinstance(kind, Union) else (kind,)) if isinstance(one, Scalar)}
    return "int" in names and "float" not in names


def _unknown_names(known: _Known, compiled: Compiled, arguments: JsonObject) -> tuple[Problem, ...]:
    """Names that are no parameter although the schema lets them through."""
    if known.signature.is_open or not known.labels or compiled.schema.get("patternProperties"):
        return ()
    free = [one.python for one in known.signature.parameters if one.wire not in arguments]
    found = []
    for name in [name for name in arguments if name not in known.labels][:MAX_PROBLEMS]:
        likely = meant_by_value(compiled, compiled.schema, arguments, name)
        text = unknown_text(name, free, (), known.labels.get(likely, likely))
        found.append(Problem(path=path_text((name,)), text=text, parts=(name,), kind="hint"))
    return tuple(found)


def _refused_names(tool: Tool, known: _Known, names: Iterable[str]) -> tuple[Problem, ...]:
    """Those of the names that the schema cannot let through, whatever their value."""
    schema = tool.spec.input_schema
    if schema.get("additionalProperties") is not False or schema.get("patternProperties"):
        return ()
    return tuple(
        Problem(path=path_text((name,)), text=unknown_text(name, known.wires), parts=(name,), kind="unknown")
        for name in sorted(names)
        if name not in known.labels
    )


def _joined(problems: Sequence[Problem], unknown: Sequence[Problem]) -> tuple[Problem, ...]:
    """Unknown names first: the required one that is missing is usually what was meant."""
    told = {one.path for one in problems if one.kind == "unknown"}
    first = [one for one in unknown if one.path not in told][: MAX_PROBLEMS // 2]
    ordered = sorted(problems, key=lambda one: one.kind != "unknown")
    return tuple([*first, *ordered][:MAX_PROBLEMS])


def _is_unicode(arguments: JsonObject) -> bool:
    """Whether every text can be sent. Servers have been seen to drop a line with half a pair and never answer."""
    try:
        compact(arguments).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _bounded(notes: Sequence[str]) -> tuple[str, ...]:
    if len(notes) <= _MAX_NOTES:
        return tuple(notes)
    return (*notes[:_MAX_NOTES], f"and {len(notes) - _MAX_NOTES} more of this kind")


# -- literals of a call that has not run ------------------------------------------------------------------------------


def _by_wire(
    known: _Known, positional: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Arguments by wire name as the binding would send them; see `guest_runtime.py` for the same rules."""
    parameters = known.signature.parameters
    if len(positional) == 1 and not keywords and _is_all_arguments(parameters, positional[0]):
        return {known.wires.get(name, name): value for name, value in positional[0].items()}, ()
    if len(positional) > len(parameters):
        text = f"at most {len(parameters)} arguments by position, {len(positional)} are given"
        return {}, (Problem(path="$", text=text),)
    given: dict[str, Any] = {one.wire: value for one, value in zip(parameters, positional, strict=False)}
    for name, value in keywords.items():
        wire = known.wires.get(name, name)
        if wire in given:
            return {}, (Problem(path=path_text((wire,)), text=f"`{name}` is given twice", parts=(wire,)),)
        given[wire] = value
    return given, ()


def _is_all_arguments(parameters: Sequence[Parameter], value: Any) -> bool:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return False
    if not parameters or not parameters[0].takes_object:
        return True
    names = {one.python: one.wire for one in parameters}
    required = {one.wire for one in parameters if one.required}
    given = {names.get(key, key) for key in value}
    return len(required) > 1 and required <= given <= set(names.values())


def _as_json(value: Any, unknown: object) -> Any:
    """A literal as the guest's runtime would send it, or `unknown` when that is not certain."""
    if value is unknown or value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else unknown
    parts: list[Any]
    if isinstance(value, (list, tuple)):
        parts = [_as_json(one, unknown) for one in value]
        return unknown if any(one is unknown for one in parts) else parts
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        parts = [_as_json(one, unknown) for one in value.values()]
        return unknown if any(one is unknown for one in parts) else dict(zip(value, parts, strict=True))
    return unknown


def _is_certain(problem: Problem, missing: frozenset[str]) -> bool:
    """Whether a problem of the literal arguments alone is one of the whole call."""
    if problem.kind == "missing" and len(problem.parts) == 1:
        return problem.parts[0] in missing
    # At the top, a choice or a count may be satisfied by what is not known yet.
    return bool(problem.parts) or problem.kind == "schema"
