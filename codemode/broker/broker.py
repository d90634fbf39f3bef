"""The only door from a program to a tool: every call passes the same checks, in the same order.

Enters: a target and raw argument bytes, both the guest's claim. Leaves: a reply, and one `CallRecord`. The order is
gate, arguments, policy, budget, server: what is refused is never sent. Arguments are parsed once (duplicate keys, NaN
and deep nesting refused); that value is judged, and our own serialisation of it is sent.

Safety: the target names a definition by digest, so a call made under an older definition is refused, not sent to a
changed tool. Nothing here trusts what the guest said before the run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import anyio.to_thread

from codemode.bindings.signature import signature
from codemode.broker.arguments import ArgumentChecker
from codemode.broker.questions import Questions
from codemode.broker.record import CallRecord, CallStatus
from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import Tool
from codemode.errors import ArgumentsError, CodemodeError, GateError, PolicyError, UpstreamError
from codemode.gate.gate import Heal, Mode, judge_call
from codemode.ids import ToolId
from codemode.jsonvalue import JsonError, JsonObject, as_text, canonical_bytes, is_object, parse_strict
from codemode.jsonvalue import digest as json_digest
from codemode.policy.budget import Budget
from codemode.policy.decide import Allow, Approve, Ask, Deny, allow_line, decide
from codemode.policy.desk import Desk
from codemode.policy.rules import Rule
from codemode.session import Session
from codemode.upstream.asking import Asker
from codemode.upstream.result import RawResult

RAW = "@raw/"  # before a tool id: the whole result instead of its value
READ_RESOURCE = "@read_resource"
_INLINE_BYTES = 128 * 1024  # chosen: about a millisecond of checking; larger results are checked in a thread
_MAX_WARNINGS = 20
_MAX_RECORDS = 20_000
_SHOWS_SIGNATURE = frozenset(
    {"gate.not_loaded", "arguments.json", "arguments.invalid", "upstream.tool_error", "upstream.rpc_error"}
)


class Progress(Protocol):
    """Takes one report of a server on a call that is under way."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Take it."""


class Upstream(Protocol):
    """What the broker needs of the servers."""

    async def call(
        self,
        server: str,
        tool: str,
        arguments: JsonObject,
        *,
        timeout_s: float,
        repeatable: bool,
        progress: Progress,
        asker: Asker,
    ) -> RawResult:
        """Call a tool and hand on the reports and questions of its server; raises UpstreamError."""

    async def read_resource(self, server: str, uri: str, *, timeout_s: float, asker: Asker) -> RawResult:
        """Read a resource; raises UpstreamError."""


@dataclass(frozen=True, slots=True)
class CallReply:
    """The answer to a guest's call; see `sandbox.spec.Reply` for the fields."""

    ok: bool
    form: str
    payload: bytes


Internal = Callable[[JsonObject], Awaitable[CallReply]]
"""Answers a reserved target (`@…`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for every call of a run: rules, gate mode, time-outs. `nesting` bounds the depth of arguments."""

    rules: Sequence[Rule] = ()
    approve: Approve = "ask"
    mode: Mode = "heal"
    nesting: int = 64
    timeout_s: Callable[[str], float] = field(default=lambda server: 120.0)


class Broker:
    """The door of one run.

    Attributes:
        records: the calls so far, in order.
        warnings: one line each, for results that are kept although something is wrong with them.
        grants: tools that a person has allowed for this run.
        questions: what servers ask the person during the calls.
    """

    def __init__(
        self,
        *,
        catalog: Catalog,
        session: Session,
        terms: Terms,
        desk: Desk,
        budget: Budget,
        checker: ArgumentChecker,
        upstream: Upstream,
        internal: Mapping[str, Internal],
        answer_s: float = 300.0,
    ) -> None:
        self._catalog = catalog
        self._session = session
        self._terms = terms
        self._desk = desk
        self._budget = budget
        self._checker = checker
        self._upstream = upstream
        self._internal = internal
        self.records: list[CallRecord] = []
        self.warnings: list[str] = []
        self.grants: set[ToolId] = set()
        self.questions = Questions(session, desk, self._warn, answer_s=answer_s)

    async def answer(self, target: str, arguments: bytes) -> CallReply:
        """Answer one call. Never raises for anything a guest or a server does."""
        if target in self._internal:  # a program's talk with us: no call of a tool, so nothing to record
            try:
                return await self._internal[target](_object_of(arguments, target, self._terms.nesting))
            except CodemodeError as error:
                return _refusal(error, None)
        record = CallRecord(tool=target[:200], sent_bytes=len(arguments))
        if len(self.records) < _MAX_RECORDS:
            self.records.append(record)
        started = time.monotonic()
        tool: Tool | None = None
        try:
            is_raw = target.startswith(RAW)
            if target == READ_RESOURCE:
                reply = await self._read_resource(arguments, record)
            elif target.startswith("@") and not is_raw:
                raise GateError(f"there is no `{target[:40]}` here", code="gate.unknown_tool")
            else:
                tool = self._find(target.removeprefix(RAW))
                record.tool, record.server, record.name = tool.short, tool.spec.server, tool.spec.name
                record.effect = tool.effect
                reply = await self._call(tool, arguments, record, is_raw=is_raw)
            record.status = "ok"
            record.received_bytes = len(reply.payload)
        except CodemodeError as error:
            record.status = _status_of(error)
            record.code = error.code
            return _refusal(error, tool)
        except anyio.get_cancelled_exc_class():
            record.status = "cancelled"
            record.code = "upstream.cancelled"
            raise
        finally:
            record.ms = (time.monotonic() - started) * 1_000
        return reply

    # -- the stages ---------------------------------------------------------------------------------------------------

    def _find(self, target: str) -> Tool:
        try:
            wanted = ToolId.parse(target)
        except ValueError as error:
            raise GateError("the call names no tool", code="gate.unknown_tool") from error
        tool = self._catalog.by_id(wanted)
        if tool is not None:
            return tool
        changed = self._catalog.by_raw(wanted.server, wanted.name)
        if changed is not None:
            raise GateError(
                f"the definition of {changed.path} has changed since the program was written",
                hint_model=f'look at it again: tool_search("select:{changed.short}")',
            )
        raise GateError("there is no such tool", code="gate.unknown_tool")

    async def _call(self, tool: Tool, raw: bytes, record: CallRecord, *, is_raw: bool) -> CallReply:
        self._check_gate(tool)
        arguments = await self._checked(tool, raw)
        await self._permit(tool, arguments, record)
        self._spend(tool)
        sent = canonical_bytes(arguments)
        record.arguments_digest = json_digest(arguments)[:16]
        record.sent_bytes = len(sent)
        result = await self._upstream.call(
            tool.spec.server,
            tool.spec.name,
            arguments,
            timeout_s=self._terms.timeout_s(tool.spec.server),
            repeatable=tool.effect == "read" or tool.spec.annotations.idempotent is True,
            progress=record.hear,
            asker=self.questions.asker(),
        )
        return await self._result(tool, result, is_raw=is_raw)

    def _check_gate(self, tool: Tool) -> None:
        decision = judge_call(tool, self._session.loaded, self._terms.mode)
        if isinstance(decision, Heal):
            if decision.loads:
                self._session.loaded.add([tool])
            raise GateError(
                f"{tool.path} had not been shown to you; nothing was sent",
                hint_model="its signature is here now: send the program again"
                if decision.loads
                else f'look it up first: tool_search("select:{tool.short}")',
            )

    def _spend(self, tool: Tool) -> None:
        over = self._budget.spend(tool)
        if over:
            raise PolicyError(over, code="policy.budget", hint_operator="raise `codemode.limits` in the configuration")

    async def _checked(self, tool: Tool, raw: bytes) -> JsonObject:
        arguments = _object_of(raw, tool.path, self._terms.nesting)
        checked = await self._checker.check(tool, arguments)
        if checked.problems:
            texts = "; ".join(problem.text for problem in checked.problems)
            raise ArgumentsError(f"{tool.path}: {texts}", hint_model="nothing was sent; the signature is right")
        for note in checked.notes:
            self._warn(f"{tool.path}: {note}")
        return checked.arguments

    async def _permit(self, tool: Tool, arguments: JsonObject, record: CallRecord) -> None:
        decided = decide(tool, self._terms.rules, self._terms.approve, can_ask=self._session.can_ask)
        match decided:
            case Allow():
                record.decision = f"allow: {decided.reason}"
            case Deny():
                record.decision = f"deny: {decided.reason}"
                raise denied(tool, decided)
            case Ask() if tool.spec.id in self.grants:
                record.decision = "allow: approved for this run"
            case Ask():
                if not await self._desk.ask((_question(tool, arguments, decided.reason),)):
                    record.decision = "deny: the person said no"
                    raise PolicyError(
                        f"{tool.path}: the person who was asked said no; nothing was sent", code="policy.refused"
                    )
                self.grants.add(tool.spec.id)
                record.decision = "allow: approved for this run"

    async def _result(self, tool: Tool, result: RawResult, *, is_raw: bool) -> CallReply:
        if result.is_error:
            raise UpstreamError(
                result.text or "the tool reported an error without a text",
                code="upstream.tool_error",
                details={"server": tool.spec.server},
            )
        if result.structured is not None:
            if len(result.structured) > _INLINE_BYTES:
                wrong = await anyio.to_thread.run_sync(self._checker.check_output, tool, result.structured)
            else:
                wrong = self._checker.check_output(tool, result.structured)
            if wrong:
                self._warn(f"{tool.path}: the result is kept, but {wrong}")
        if is_raw:
            return CallReply(True, "raw", _whole(result))
        if result.structured is None:
            return CallReply(True, "content", result.content)
        return CallReply(True, "structured", result.structured)

    async def _read_resource(self, raw: bytes, record: CallRecord) -> CallReply:
        """What a link in a result points to: read from the tool's own server, under the tool's own permission."""
        wanted = _object_of(raw, READ_RESOURCE, self._terms.nesting)
        tool = self._find(as_text(wanted.get("tool")))
        uri = as_text(wanted.get("uri"))
        record.tool, record.server, record.name = f"{tool.module}.(resource)", tool.spec.server, uri[:200]
        record.effect = "read"
        self._check_gate(tool)
        await self._permit(tool, {"uri": uri}, record)
        self._spend(tool)
        result = await self._upstream.read_resource(
            tool.spec.server,
            uri,
            timeout_s=self._terms.timeout_s(tool.spec.server),
            asker=self.questions.asker(),
        )
        return CallReply(True, "content", result.content)

    def _warn(self, text: str) -> None:
        if len(self.warnings) < _MAX_WARNINGS and text not in self.warnings:
            self.warnings.append(text)


def _object_of(raw: bytes, what: str, max_depth: int) -> JsonObject:
    try:
        parsed = parse_strict(raw, max_depth=max_depth)
    except JsonError as error:
        raise ArgumentsError(f"the arguments of {what}: {error}", code="arguments.json") from error
    if not is_object(parsed):
        raise ArgumentsError(f"the arguments of {what} are no JSON object", code="arguments.json")
    return parsed


def _whole(result: RawResult) -> bytes:
    """The result as one JSON object, put together without decoding its parts."""
    structured = result.structured if result.structured is not None else b"null"
    meta = json.dumps(result.meta).encode("ascii")
    return b'{"content":' + result.content + b',"structuredContent":' + structured + b',"_meta":' + meta + b"}"


def denied(tool: Tool, decision: Deny) -> PolicyError:
    """The error for a call that the policy refuses, with the rule that would allow it when nobody denied it."""
    if decision.rule is not None:
        return PolicyError(f"{tool.path} is not allowed: {decision.reason}; nothing was sent")
    return PolicyError(
        f"{tool.path} needs an approval: {decision.reason}; nothing was sent",
        code="policy.ask",
        hint_operator=f"to allow it, add {allow_line(tool)} to `codemode.policy.rules`",
    )


def _question(tool: Tool, arguments: JsonObject, reason: str) -> str:
    shown = canonical_bytes(arguments).decode("ascii")
    shown = shown if len(shown) <= 2_000 else f"{shown[:2_000]}… ({len(shown) - 2_000} more characters)"
    return f"{tool.spec.server}: every call of {tool.spec.name} in this run ({reason}); the first with {shown}"


def _status_of(error: CodemodeError) -> CallStatus:
    if error.code == "upstream.outcome_unknown":
        return "unknown"
    return "error" if error.code.startswith("upstream.") else "refused"


def _refusal(error: CodemodeError, tool: Tool | None) -> CallReply:
    """The error as the guest's runtime reads it. `text` is the server's own words when it is the tool that failed."""
    is_tool_text = error.code == "upstream.tool_error"
    document = {
        "code": error.code,
        "message": error.message,
        "text": error.message if is_tool_text else "",
        "hint": error.hint_model or error.hint_operator,
        "tool": tool.short if tool is not None else "",
        "signature": signature(tool).text if tool is not None and error.code in _SHOWS_SIGNATURE else "",
        "retryable": error.retryable,
    }
    return CallReply(False, "error", json.dumps(document).encode("ascii"))
