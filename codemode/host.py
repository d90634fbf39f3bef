"""The composition root: builds every part, opens and closes them in order, and offers the use cases to fronts.

Enters: a `Config`. Leaves: a `Host` and its `HostSession`s. Nothing here decides anything; it is the one place where
concrete parts are put together.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
import platformdirs
from anyio.abc import TaskGroup

from codemode.bindings.tree import BindingTree
from codemode.broker.arguments import ArgumentChecker
from codemode.broker.broker import Terms
from codemode.catalog.risk import EffectRule
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.catalog.spec import Tool
from codemode.config.model import Config
from codemode.discover import Answer, discover, mark_shown
from codemode.errors import RunRequestError
from codemode.policy.decide import Ask, Deny, decide
from codemode.policy.desk import Mode, Reply
from codemode.policy.rules import Rule, dead_rules
from codemode.runs.box import Box, file_bytes
from codemode.runs.execute import Executor, Parts, View
from codemode.runs.outcome import RunOutcome
from codemode.runs.registry import Registry
from codemode.search.index import SearchIndex, build_index
from codemode.session import LOCAL_PRINCIPAL, Session, new_session_id
from codemode.state.database import open_database
from codemode.state.receipts import Receipts
from codemode.state.store import Store, StoreTotal
from codemode.state.workspaces import Workspaces
from codemode.upstream.dumps import load_dumps
from codemode.upstream.manager import Manager

RUN_WAIT_S = 45.0  # given: ARCHITECTURE 4.3; clients give up on a request after 60 s
SEARCH_WAIT_S = 2.0  # chosen: a search is worth a short wait for servers that are just coming up
_CLOSE_S = 5.0


@dataclass(frozen=True, slots=True)
class Folders:
    """Where state, caches and logs of servers live."""

    state: Path
    cache: Path
    logs: Path


def folders_of(config: Config, state_dir: Path | None = None) -> Folders:
    """The folders in force: an argument, the configuration, the environment, then XDG."""
    named = state_dir or config.state_dir or os.environ.get("CODEMODE_STATE_DIR") or ""
    state = Path(named) if str(named) else platformdirs.user_state_path("codemode")
    cache = Path(config.cache_dir) if config.cache_dir else _default_cache(state, is_own=bool(str(named)))
    return Folders(state, cache, state / "logs")


def _default_cache(state: Path, *, is_own: bool) -> Path:
    return state / "cache" if is_own else platformdirs.user_cache_path("codemode")


def environment() -> dict[str, str]:
    """What `${VAR}` in server entries is looked up in: ours, and the interpreter that runs us."""
    return {"CODEMODE_PYTHON": sys.executable, **os.environ}


class Host:
    """Everything of one process: servers, catalog, sandbox, record. Made by `Host.open`."""

    def __init__(self, config: Config, manager: Manager, box: Box, receipts: Receipts, workspaces: Workspaces) -> None:
        self.config = config
        self.manager = manager
        self.receipts = receipts
        self.workspaces = workspaces
        self._store_total = StoreTotal()
        self._box = box
        self._registries: list[Registry] = []
        self._generation = -1
        self._view: View
        self._tree: BindingTree | None = None
        self._checker = ArgumentChecker()
        self._index: SearchIndex | None = None
        self._executor: Executor
        self._tasks: TaskGroup

    @classmethod
    @asynccontextmanager
    async def open(
        cls, config: Config, *, catalogs: Sequence[Path] = (), state_dir: Path | None = None
    ) -> AsyncIterator[Host]:
        """Open a host. Servers and sandbox come up in the background; nothing waits for them here.

        Args:
            catalogs: dumps of listings (files or folders) whose servers can be searched but not called.
            state_dir: where the record lives, instead of the configured place.

        Raises:
            ConfigError: a dump, the state folder or a required server's entry cannot be used.
        """
        folders = folders_of(config, state_dir)
        dumps = [listing for path in catalogs for listing in await anyio.to_thread.run_sync(load_dumps, path)]
        connection = await anyio.to_thread.run_sync(open_database, folders.state)
        receipts = Receipts(connection)
        limits = config.limits
        workspaces = Workspaces(
            folders.state / "workspaces",
            quota_bytes=limits.workspace_bytes,
            max_file_bytes=file_bytes(limits),
            total_bytes=limits.all_workspaces_bytes,
        )
        failure: Exception | None = None
        try:
            async with (
                anyio.create_task_group() as tasks,
                Manager.open(
                    config, cache_dir=folders.cache, log_dir=folders.logs, dumps=dumps, environ=environment()
                ) as manager,
            ):
                box = Box(config)
                tasks.start_soon(box.own)
                tasks.start_soon(anyio.to_thread.run_sync, workspaces.sweep, time.time())
                async with anyio.create_task_group() as run_tasks:
                    host = cls(config, manager, box, receipts, workspaces)
                    host._executor = Executor(host._parts(), run_tasks)
                    host._tasks = run_tasks
                    try:
                        yield host
                    except Exception as error:  # noqa: BLE001 - the caller's, raised again below without a group around it
                        failure = error
                    finally:
                        host._cancel_runs()
                box.close()
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(host._close_workspaces)
        finally:
            receipts.close()
        if failure is not None:
            raise failure

    def _parts(self) -> Parts:
        settings = self.config.policy
        rules = tuple(
            Rule(tool=rule.tool, decision=rule.decision, reason=rule.reason, source=rule.source)
            for rule in settings.rules
        )
        self.terms = Terms(
            rules=rules,
            approve=self.config.approve,
            mode=self.config.gate,
            nesting=self.config.limits.nesting,
            timeout_s=self._call_timeout,
        )
        return Parts(
            box=self._box,
            upstream=self.manager,
            limits=self.config.limits,
            terms=self.terms,
            receipts=self.receipts,
            view=lambda: self.view,
            start=self.manager.start,
            wait_ready=self._wait_for_start,
        )

    def _call_timeout(self, server: str) -> float:
        entry = self.config.server(server)
        own = entry.call_timeout_s if entry is not None else None
        return own if own is not None else self.config.call_timeout_s

    def _cancel_runs(self) -> None:
        for registry in self._registries:
            _cancel(registry)

    # -- the catalog in force -----------------------------------------------------------------------------------------

    @property
    def view(self) -> View:
        """Catalog, bindings and checks as they stand; a run keeps the one it started with."""
        if self._generation != self.manager.generation:
            self._generation = self.manager.generation
            effects = [EffectRule(pattern=item.tool, effect=item.effect) for item in self.config.policy.effects]
            catalog = build_catalog(self.manager.listings(), effects, frozenset(self.config.policy.untrusted_servers))
            tree = BindingTree(catalog, previous=self._tree)
            self._tree = tree
            self._view = View(catalog=catalog, tree=tree, checker=self._checker)
            self._index = None
        return self._view

    @property
    def catalog(self) -> Catalog:
        """The catalog in force."""
        return self.view.catalog

    def dead_rules(self) -> tuple[Rule, ...]:
        """Policy rules that match none of the tools there are now: usually a misspelt name."""
        return dead_rules(self.terms.rules, self.catalog.tools)

    @property
    def index(self) -> SearchIndex:
        """The search index over the catalog in force."""
        catalog = self.catalog
        if self._index is None:
            self._index = build_index(catalog)
        return self._index

    @property
    def generation(self) -> int:
        """Grows whenever a listing or a server's state changes."""
        return self.manager.generation

    @property
    def box(self) -> Box:
        """The sandbox, open or being opened."""
        return self._box

    async def wait_ready(self, servers: Collection[str] | None = None, timeout_s: float = 3.0) -> None:
        """Wait until these servers (all, when None) are up or have failed, at most `timeout_s`."""
        await self.manager.wait_ready(servers, timeout_s)

    async def _wait_for_start(self, servers: Collection[str]) -> None:
        await self.manager.wait_ready(servers, self.config.start_timeout_s)

    def session(
        self,
        *,
        principal: str = LOCAL_PRINCIPAL,
        can_ask: bool = False,
        takes: frozenset[Mode] = frozenset(),
        is_local: bool = False,
    ) -> HostSession:
        """A new client's session.

        Args:
            can_ask: the client can put an approval to a person.
            takes: what of a server's questions the client can put to a person.
            is_local: the client acts for this machine's user, and is told where the files of its programs are.
        """
        key = new_session_id()
        session = Session(
            id=key,
            principal=principal,
            can_ask=can_ask,
            takes=takes,
            is_local=is_local,
            workspace=self.workspaces.of(key),
            store=Store(quota_bytes=self.config.limits.store_bytes, total=self._store_total),
        )
        registry = Registry(session)
        self._registries.append(registry)
        return HostSession(self, session, registry, self._executor)

    def forget(self, registry: Registry) -> None:
        """A session has ended: cancel its runs and let go of it. Its files stay, for the person who wants them."""
        if registry in self._registries:
            self._registries.remove(registry)
            _cancel(registry)
            registry.session.store.clear()
            if registry.session.workspace is not None:
                self._tasks.start_soon(anyio.to_thread.run_sync, registry.session.workspace.close)

    def _close_workspaces(self) -> None:
        for registry in self._registries:
            if registry.session.workspace is not None:
                registry.session.workspace.close()
        self._registries.clear()


def _cancel(registry: Registry) -> None:
    for run in registry:
        if run.outcome is None:
            run.scope.cancel()


class HostSession:
    """The use cases of one client."""

    def __init__(self, host: Host, session: Session, registry: Registry, executor: Executor) -> None:
        self.host = host
        self.session = session
        self._registry = registry
        self._executor = executor

    async def tool_search(self, query: str, limit: int = 8, server: str = "", *, mark: bool = True) -> Answer:
        """Search. With `mark`, every hit counts as shown; a front that shows fewer marks them itself."""
        await self.host.wait_ready(None, SEARCH_WAIT_S)
        answer = discover(query, self.host.catalog, self.host.index, limit=limit, server=server)
        if mark:
            self.mark_shown([hit.tool for hit in answer.found.hits])
        return answer

    def mark_shown(self, tools: Sequence[Tool]) -> None:
        """Remember that these tools' signatures were shown to the client."""
        mark_shown(self.session, tools)

    async def execute(self, code: str = "", resume: str = "", *, wait_s: float = RUN_WAIT_S) -> RunOutcome:
        """Start a program, or go on with a run; returns its end, or how it stands after `wait_s` seconds.

        An outcome with `question` waits for `answer` (an `Approval`) or `reply` (a server's question); then call again
        with `resume`. A caller that gives up leaves the run to be collected with `resume`: its writes may have
        happened. `cancel` ends it.

        Raises:
            RunRequestError: no program, no such run, or both `code` and `resume`.
        """
        if code.strip() and resume.strip():
            raise RunRequestError(
                "`code` and `resume` exclude each other: a changed program is a new run",
                code="run.not_resumable",
                hint_model="send `code` alone to run it from its start, or `resume` alone to go on with a run",
            )
        if resume.strip():
            run = self._executor.resume(self._registry, resume)
        else:
            run = self._executor.submit(self._registry, code)
        return await run.wait(wait_s)

    def peek(self, run: str) -> RunOutcome:
        """How a run stands, without waiting.

        Raises:
            RunRequestError: there is no such run.
        """
        return self._registry.find(run).snapshot()

    def cancel(self, run: str) -> None:
        """End a run that goes on; its calls are cancelled on their servers.

        Raises:
            RunRequestError: there is no such run.
        """
        found = self._registry.find(run)
        if found.outcome is None:
            found.scope.cancel()

    def close(self) -> None:
        """The client is gone: cancel its runs and forget its marks."""
        self.host.forget(self._registry)

    def answer(self, run: str, is_yes: bool, *, question: str = "") -> bool:
        """Answer the approval that a run waits for; False when it waits for none, or for another than `question`.

        Raises:
            RunRequestError: there is no such run.
        """
        desk = self._registry.find(run).desk
        return desk.question is not None and desk.answer(question or desk.question.key, is_yes)

    def reply(self, run: str, question: str, reply: Reply) -> bool:
        """Answer the server's question of this key; False when the run does not wait for it (any more).

        Raises:
            RunRequestError: there is no such run.
        """
        return self._registry.find(run).desk.reply(question, reply)

    async def settled(self, run: str, question: str) -> None:
        """Wait until the question of this key is answered or taken back.

        Raises:
            RunRequestError: there is no such run.
        """
        await self._registry.find(run).desk.settled(question)

    def marks(self, tool: Tool) -> tuple[str, ...]:
        """What stands behind `#` in a signature: the effect, and whether calls ask or are denied."""
        terms = self.host.terms
        decided = decide(tool, terms.rules, terms.approve, can_ask=self.session.can_ask)
        if isinstance(decided, Ask):
            return (tool.effect, "asks")
        return (tool.effect, "denied") if isinstance(decided, Deny) else (tool.effect,)
