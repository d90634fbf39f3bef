"""The use case behind `execute`: from a program's text to its outcome, stage by stage.

Enters: a session and a program. Leaves: a `Run` that the host owns. Stages: compile in a guest (nothing has run), gate
review, policy preview, approval, then the run with the broker as its only door, then the record. Everything that can
be refused is refused before the first call, all of it at once.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from codemode.bindings.tree import BindingTree
from codemode.broker.arguments import ArgumentChecker
from codemode.broker.broker import Broker, Terms, Upstream
from codemode.broker.store import TARGET, store_door
from codemode.catalog.snapshot import Catalog
from codemode.config.model import LimitSettings
from codemode.errors import RunRequestError
from codemode.gate.gate import CallProblem, Heal, judge_program
from codemode.gate.review import CallSite, Review, Use, review
from codemode.policy.budget import Budget
from codemode.policy.decide import Ask, Deny, allow_line, decide
from codemode.runs.box import Box, sandbox_limits
from codemode.runs.outcome import Denied, ProgramError, RunOutcome, RunStatus, from_diagnostics, from_result, notes_of
from codemode.runs.receipt import begin_record, end_record, names_of
from codemode.runs.registry import Registry
from codemode.runs.run import Run
from codemode.state.receipts import Receipts
from sandbox.errors import SandboxError
from sandbox.spec import UNKNOWN, Call, CallUse, NameUse, Reply, RunSpec
from sandbox.supervisor import Prepared

logger = logging.getLogger(__name__)

PREDEFINED = {
    "tools": "tools",
    "ToolError": "tools._runtime.ToolError",
    "raw": "tools._runtime.raw",
    "help": "tools._runtime.show_help",
    "store": "tools._runtime.store",
}
_EVALUATE_TEXT: Final = frozenset(("eval", "exec"))  # as `sandbox.dialect.analysis` reports them
"""Names that a program finds defined, and what each stands for; no server of such a name hides them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one run works with from its start to its end, whatever changes meanwhile."""

    catalog: Catalog
    tree: BindingTree
    checker: ArgumentChecker


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the executor needs of the host."""

    box: Box
    upstream: Upstream
    limits: LimitSettings
    terms: Terms
    receipts: Receipts
    view: Callable[[], View]
    start: Callable[[Collection[str]], None]
    wait_ready: Callable[[Collection[str]], Awaitable[None]]


class Executor:
    """Starts runs and drives each in a task of the host's."""

    def __init__(self, parts: Parts, tasks: TaskGroup) -> None:
        self._parts = parts
        self._tasks = tasks

    def submit(self, registry: Registry, code: str) -> Run:
        """Start a program.

        Raises:
            RunRequestError: there is no program.
        """
        if not code.strip():
            raise RunRequestError(
                "there is no program",
                code="run.empty",
                hint_model='send one: execute(code="tools.server.function(...)")',
            )
        run = registry.add(code)
        self._tasks.start_soon(self._drive, run)
        return run

    def resume(self, registry: Registry, label: str) -> Run:
        """Go on with a run: one whose refusal was told and that fits now is driven again, others can be waited for.

        Raises:
            RunRequestError: there is no such run.
        """
        run = registry.find(label)
        if run.outcome is not None and run.outcome.can_resume and run.is_told:
            run.restart()
            self._tasks.start_soon(self._drive, run)
        return run

    async def _drive(self, run: Run) -> None:
        try:
            with run.scope:
                run.end(await self._stages(run))
        except SandboxError as error:
            run.end(_sandbox_failed(run, error))
        except Exception:
            logger.exception("run %s failed", run.key)
            run.end(_failed(run, "run.internal", "a fault in codemode itself; its log has the details"))
        finally:
            if run.outcome is None:
                run.end(_failed(run, "guest.cancelled", "the run was cancelled"))
            with anyio.CancelScope(shield=True):
                try:
                    await self._record_end(run)
                except Exception:  # a record that cannot be written must not end the host
                    logger.exception("the record of run %s could not be written", run.key)

    # -- stages -------------------------------------------------------------------------------------------------------

    async def _stages(self, run: Run) -> RunOutcome:
        parts, view = self._parts, self._parts.view()
        spec = RunSpec(source=run.source, limits=sandbox_limits(parts.limits), seed=int(run.key[:8], 16))
        run.record = begin_record(run, view.catalog, spec)
        await anyio.to_thread.run_sync(self._record_begin, run)
        sandbox = await parts.box.get()
        run.record["isolation"] = names_of(sandbox.isolation)
        async with await sandbox.prepare(spec) as prepared:
            if prepared.is_refused:
                return from_diagnostics(prepared.diagnostics, run=run.label)
            view = await self._with_servers(prepared, view)
            found = review(*_uses(prepared), view.catalog)
            refused = self._refuse(run, found, view)
            if refused is not None:
                return refused
            run.broker = broker = self._broker(run, view)
            refused = await self._approve(run, found, broker)
            if refused is not None:
                return refused
            parts.start({use.tool.spec.server for use in found.tools})
            result = await prepared.run(
                call=_answer_with(broker),
                load=view.tree.module,
                files=run.files.answer if run.files is not None else None,
                modules=_modules(found, view.tree),
                aliases={**found.aliases, **_predefined(prepared)},
            )
        return from_result(
            result,
            run=run.label,
            earlier=run.earlier,
            calls=broker.records,
            notes=notes_of(prepared.diagnostics),
            warnings=broker.warnings,
        )

    async def _with_servers(self, prepared: Prepared, view: View) -> View:
        """The view once the servers that the program names, and that are still starting, are up or have failed."""
        named = {item.path.split(".")[0 if item.is_free else 1] for item in prepared.names if "." in item.path}
        entries = [view.catalog.server(name) for name in named]
        starting = {entry.id for entry in entries if entry is not None and entry.state == "starting"}
        if not starting:
            return view
        await self._parts.wait_ready(starting)
        return self._parts.view()

    def _refuse(self, run: Run, found: Review, view: View) -> RunOutcome | None:
        """The policy's refusal, or the gate's, or None: what may not be called need not be shown."""
        denied = tuple(self._denied(run, found))
        if denied:
            is_rule = any(item.decision.rule is not None for item in denied)
            return RunOutcome(
                run=run.label, status="refused", code="policy.denied" if is_rule else "policy.ask", denied=denied
            )
        loaded = run.session.loaded
        judged = judge_program(found, _problems(found, view.checker), loaded, self._parts.terms.mode)
        if isinstance(judged, Heal):
            if judged.loads:
                loaded.add(use.tool for use in judged.new)
            return RunOutcome(
                run=run.label, status="refused", code=_code_of(judged), heal=judged, can_resume=judged.fits_unchanged
            )
        return None

    def _denied(self, run: Run, found: Review) -> Sequence[Denied]:
        terms, can_ask = self._parts.terms, run.session.can_ask
        out = []
        for use in found.tools:
            decided = decide(use.tool, terms.rules, terms.approve, can_ask=can_ask)
            if isinstance(decided, Deny):
                line = allow_line(use.tool) if decided.rule is None else ""
                out.append(Denied(use=use, decision=decided, allow_line=line))
        return out

    async def _approve(self, run: Run, found: Review, broker: Broker) -> RunOutcome | None:
        """Ask once for all tools that the program names and that need a yes; None when all are allowed."""
        terms = self._parts.terms
        asks = []
        for use in found.tools:
            decided = decide(use.tool, terms.rules, terms.approve, can_ask=run.session.can_ask)
            if isinstance(decided, Ask):
                asks.append((use, decided))
        if not asks:
            return None
        lines = run.source.splitlines()
        texts = []
        for use, decided in asks:
            where = "; ".join(f"line {n}: {lines[n - 1].strip()[:160]}" for n in use.lines[:3] if 0 < n <= len(lines))
            texts.append(f"{use.tool.spec.server}: {use.tool.spec.name} ({decided.reason}) — {where}")
        if await run.desk.ask(tuple(texts)):
            broker.grants.update(use.tool.spec.id for use, _ in asks)
            return None
        denied = tuple(Denied(use=use, decision=Deny(reason="the person who was asked said no")) for use, _ in asks)
        return RunOutcome(run=run.label, status="refused", code="policy.refused", denied=denied)

    def _broker(self, run: Run, view: View) -> Broker:
        limits = self._parts.limits
        return Broker(
            catalog=view.catalog,
            session=run.session,
            terms=self._parts.terms,
            desk=run.desk,
            budget=Budget(calls_allowed=limits.calls, writes_allowed=limits.writes),
            checker=view.checker,
            upstream=self._parts.upstream,
            internal={TARGET: store_door(run.session.store)},
            answer_s=limits.wall_s / 2,
        )

    # -- the record ---------------------------------------------------------------------------------------------------

    def _record_begin(self, run: Run) -> None:
        self._parts.receipts.begin(
            key=run.key,
            session=run.session.id,
            principal=run.session.principal,
            label=run.label,
            started=run.started_s,
            record=run.record,
        )

    async def _record_end(self, run: Run) -> None:
        outcome = run.outcome
        assert outcome is not None
        record = end_record(run.record, outcome, run.broker.questions if run.broker is not None else None)
        await anyio.to_thread.run_sync(
            lambda: self._parts.receipts.end(run.key, status=outcome.status, code=outcome.code, record=record)
        )


def _code_of(judged: Heal) -> str:
    if any(not item.reason for item in judged.unknown):
        return "gate.unknown_tool"
    if judged.problems:
        return "arguments.invalid"
    return "gate.not_loaded" if judged.new else "upstream.unreachable"


def _uses(prepared: Prepared) -> tuple[list[Use], list[CallSite]]:
    uses = [
        Use(path=item.path, line=item.line, is_free=item.is_free) for item in prepared.names if not _is_predefined(item)
    ]
    calls = [
        CallSite(
            path=item.path,
            line=item.line,
            positional=item.positional,
            keywords=item.keywords,
            is_open=item.is_open,
            is_free=item.is_free,
        )
        for item in prepared.calls
        if not _is_predefined(item)
    ]
    return uses, calls


def _is_predefined(item: NameUse | CallUse) -> bool:
    return item.is_free and item.path.partition(".")[0] in {*PREDEFINED, *_EVALUATE_TEXT}


def _problems(found: Review, checker: ArgumentChecker) -> list[CallProblem]:
    """Calls that would be refused for what can be read off their arguments."""
    out = []
    for tool, call in found.calls:
        problems = checker.check_literals(
            tool, positional=call.positional, keywords=call.keywords, is_open=call.is_open, unknown=UNKNOWN
        )
        if problems:
            out.append(CallProblem(tool=tool, line=call.line, texts=tuple(problem.text for problem in problems)))
    return out


def _predefined(prepared: Prepared) -> dict[str, str]:
    """The predefined names that the program uses, or may use in text that it evaluates: others would cost an import."""
    used = {item.path.partition(".")[0] for item in prepared.names}
    if used & _EVALUATE_TEXT:
        return PREDEFINED
    return {name: path for name, path in PREDEFINED.items() if name in used}


def _modules(found: Review, tree: BindingTree) -> dict[str, str]:
    """The modules that a program needs for the tools it names, so that it does not ask for them one by one."""
    names: set[str] = set()
    for use in found.tools:
        names |= {"tools", "tools._runtime", f"tools.{use.tool.module}", use.tool.path}
    sources = {name: tree.module(name) for name in sorted(names)}
    return {name: source for name, source in sources.items() if source is not None}


def _answer_with(broker: Broker) -> Callable[[Call], Awaitable[Reply]]:
    async def answer(call: Call) -> Reply:
        reply = await broker.answer(call.target, call.arguments)
        return Reply(ok=reply.ok, form=reply.form, payload=reply.payload)

    return answer


def _failed(run: Run, code: str, message: str) -> RunOutcome:
    status: RunStatus = "cancelled" if code == "guest.cancelled" else "error"
    calls = tuple(run.broker.records) if run.broker is not None else ()
    return RunOutcome(
        run=run.label, status=status, code=code, error=ProgramError(code=code, message=message), calls=calls
    )


def _sandbox_failed(run: Run, error: SandboxError) -> RunOutcome:
    problem = ProgramError(code=error.code, message=error.message, hint=error.hint_operator)
    status: RunStatus = "refused" if error.code.startswith(("isolation.", "limit.source", "spec.")) else "error"
    return RunOutcome(run=run.label, status=status, code=error.code, error=problem)
