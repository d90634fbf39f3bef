"""A host for tests of the front: a catalog that can change, outcomes that are scripted, questions that can be asked."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from codemode.catalog.snapshot import Catalog
from codemode.config.model import Config
from codemode.discover import discover
from codemode.errors import RunRequestError
from codemode.policy.desk import Approval, Question
from codemode.runs.outcome import RunOutcome
from codemode.search.index import build_index
from codemode.server.app import Front
from codemode.server.ports import HostSlot
from codemode.session import Session
from tests.support.small_catalog import small_catalog


class FakeSession:
    """Answers `execute` with the outcomes of the host's script, in order; a question stays until it is answered."""

    def __init__(self, host):
        self.host = host
        self.session = Session()
        self.shown = []
        self.answers = []
        self.calls = []
        self.current = None

    async def tool_search(self, query, limit, server, *, mark):
        catalog = self.host.catalog
        return discover(query, catalog, build_index(catalog), limit=limit, server=server)

    def mark_shown(self, tools):
        self.shown.extend(tool.short for tool in tools)

    async def execute(self, code="", resume="", *, wait_s):
        self.calls.append((code, resume, wait_s))
        if isinstance(self.host.failure, Exception):
            raise self.host.failure
        if resume == "r404":
            raise RunRequestError("there is no run `r404` in this session", hint_model="send `code`")
        if wait_s and self.host.blocks_s:
            await anyio.sleep(self.host.blocks_s)
        if self.current is None or not self.current.question:
            self.current = self.host.script.pop(0)
        return self.current

    def peek(self, run):
        if self.current is None:
            raise RunRequestError("there is no run")
        return self.current

    def answer(self, run, is_yes, *, question=""):
        if not isinstance(self.current.question, Approval) or self.current.question.key != question:
            return False
        self.answers.append((run, is_yes))
        self.current = None
        return True

    def reply(self, run, question, reply):
        if isinstance(self.current.question, Approval) or self.current.question.key != question:
            return False
        self.answers.append((run, reply))
        self.current = None
        return True

    async def settled(self, run, question):
        while self.current is not None and self.current.question.key == question:
            await self.host.taken_back.wait()
            self.current = None

    def close(self):
        self.is_closed = True

    def marks(self, tool):
        return (tool.effect, "asks" if self.session.can_ask else "denied") if tool.effect != "read" else (tool.effect,)


@dataclass
class FakeHost:
    """The scripted host. `script` are the outcomes to come, `waited` the servers that were waited for."""

    catalog: Catalog = field(default_factory=small_catalog)
    config: Config = field(default_factory=Config)
    script: list = field(default_factory=list)
    sessions: list = field(default_factory=list)
    waited: list = field(default_factory=list)
    failure: Exception | None = None
    blocks_s: float = 0.0
    taken_back: anyio.Event = field(default_factory=anyio.Event)
    catalog_after_wait: Catalog | None = None

    async def wait_ready(self, servers, timeout_s):
        self.waited.append((tuple(servers), timeout_s))
        self.catalog = self.catalog_after_wait or self.catalog

    def session(self, *, is_local=False):
        self.sessions.append(FakeSession(self))
        return self.sessions[-1]


@asynccontextmanager
async def fake_front(host: FakeHost) -> AsyncIterator[Any]:
    """The protocol server of a front over the host."""

    @asynccontextmanager
    async def opened():
        yield host

    slot = HostSlot(opened)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(slot.own)
        yield Front(slot).server(["github", "slack"])
        slot.close()


def ended(run="r1", *, value=b"2", **facts) -> RunOutcome:
    """A run that ended well."""
    return replace(RunOutcome(run=run, status="ok", value_form="json", value_raw=value), **facts)


def asking_for(question: Question, run="r1") -> RunOutcome:
    """A run that waits for an answer to this question."""
    return RunOutcome(run=run, status="running", question=question)


def asking(run="r1", lines: Sequence[str] = ("github: delete_repo — line 1",)) -> RunOutcome:
    """A run that waits for a person."""
    return RunOutcome(run=run, status="running", question=Approval(lines=tuple(lines)))
