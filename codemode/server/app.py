"""The front itself: `tools/list` and `tools/call` for exactly two tools, whatever the protocol era.

Enters: requests. Leaves: text and image blocks, with facts for machines in `_meta`. A result is an error only when the
front itself failed: some clients stop at one. Nothing here decides what a program may do.

Safety: the client's arguments are parsed in `arguments.py`; a state that a client sends back is sealed by the protocol
library's boundary, so it cannot be forged or used for another request.
"""

from __future__ import annotations

import base64
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from mcp import types
from mcp.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from codemode.broker.record import CallRecord
from codemode.errors import CodemodeError, RunRequestError
from codemode.prose.descriptions import ToolText, execute_tool, instructions, search_tool
from codemode.prose.direct import direct_call_answer, wrong_arguments_answer
from codemode.prose.index import make_index
from codemode.prose.news import server_news
from codemode.prose.run_answer import OUR_FAULT, RunText, fault_answer, run_answer
from codemode.prose.search_answer import search_answer
from codemode.runs.outcome import RunOutcome
from codemode.server.arguments import ExecuteRequest, SearchRequest, WrongArgumentsError, parse_request
from codemode.server.ports import FrontHost, HostSlot
from codemode.server.progress import reporting
from codemode.server.questions import (
    MAX_ROUNDS,
    Waiting,
    ask_by_return,
    ask_now,
    is_showable,
    read_state,
    take_answer,
)
from codemode.server.sessions import Context, FrontSession, Sessions

logger = logging.getLogger(__name__)

NAME: Final = "codemode"
LISTING_WAIT_S: Final = 3.0  # given: ARCHITECTURE 2
RUN_WAIT_S: Final = 45.0  # given: ARCHITECTURE 4.3; clients give up on a request after 60 s
_STATE_TTL_S: Final = 3_600.0  # chosen: how long a person may take to answer
_META: Final = "codemode/run"
_MAX_FILES: Final = 100  # chosen: written files that `_meta` lists

CallResult = types.CallToolResult | types.InputRequiredResult


class Front:
    """The two tools over one host."""

    def __init__(self, slot: HostSlot, *, is_local: bool = False, run_wait_s: float = RUN_WAIT_S) -> None:
        """`is_local`: clients are programs of this machine's user, who may be told where files are."""
        self._slot = slot
        self._is_local = is_local
        self._run_wait_s = run_wait_s
        self._sessions: Sessions | None = None

    def server(self, modules: list[str]) -> Server[Any]:
        """The protocol server. `modules` are the Python names of the configured servers, for the instructions."""
        server: Server[Any] = Server(
            NAME,
            version=version("codemode"),
            title="codemode",
            instructions=instructions(modules),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        security = RequestStateSecurity.ephemeral(ttl=_STATE_TTL_S)
        server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
        return server

    async def _session(self, context: Context) -> tuple[FrontHost, FrontSession]:
        host = await self._slot.get()
        if self._sessions is None:
            self._sessions = Sessions(partial(host.session, is_local=self._is_local))
        return host, self._sessions.of(context)

    # -- tools/list ---------------------------------------------------------------------------------------------------

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        host, session = await self._session(context)
        async with session.lock:
            if session.listing is None:
                session.listing = await _first_listing(host, session)
        return session.listing

    # -- tools/call ---------------------------------------------------------------------------------------------------

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> CallResult:
        try:
            host, session = await self._session(context)
            return await self._answer(host, session, context, params)
        except CodemodeError as error:
            return _text_result(fault_answer(error), {_META: {"status": "refused", "code": error.code}})
        except MCPError:
            raise
        except Exception:
            logger.exception("a request failed")
            return _text_result(OUR_FAULT, {_META: {"status": "error", "code": "run.internal"}}, is_error=True)

    async def _answer(
        self, host: FrontHost, session: FrontSession, context: Context, params: types.CallToolRequestParams
    ) -> CallResult:
        arguments = params.arguments or {}
        try:
            request = parse_request(params.name, arguments)
        except WrongArgumentsError as error:
            text = wrong_arguments_answer(params.name, str(error))
            return _text_result(text, {_META: {"status": "refused", "code": "arguments.invalid"}})
        match request:
            case SearchRequest():
                return await _search(host, session, request)
            case ExecuteRequest():
                return await self._execute(host, session, context, params, request)
            case None:
                answer = direct_call_answer(params.name, arguments, host.catalog, session.host_session.marks)
                session.host_session.mark_shown(answer.shown)
                meta = {_META: {"status": "refused", "code": "gate.unknown_tool"}}
                return _text_result(_with_news(answer.text, host, session), meta)

    async def _execute(
        self,
        host: FrontHost,
        session: FrontSession,
        context: Context,
        params: types.CallToolRequestParams,
        request: ExecuteRequest,
    ) -> CallResult:
        waiting = read_state(params.request_state) if params.request_state else None
        use_case = session.host_session
        if waiting is None:
            outcome = await self._wait(session, context, code=request.code, resume=request.resume)
        else:
            take_answer(use_case, waiting, params.input_responses)
            outcome = await self._wait(session, context, resume=waiting.run)
        rounds = waiting.round if waiting is not None else 0
        while outcome.question is not None and is_showable(use_case.session, outcome.question):
            run, question = outcome.run, outcome.question
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                if rounds >= MAX_ROUNDS:
                    break
                return ask_by_return(Waiting(run=run, question=question.key, round=rounds + 1), question)
            if not await ask_now(use_case, context, run, question, host.config.limits.wall_s):
                break
            outcome = await self._wait(session, context, resume=run)
        answer = run_answer(outcome, use_case.marks, budget_tokens=host.config.limits.output_tokens)
        use_case.mark_shown(answer.shown)
        return _run_result(answer, outcome, _with_news(answer.text, host, session))

    async def _wait(self, session: FrontSession, context: Context, *, code: str = "", resume: str = "") -> RunOutcome:
        use_case = session.host_session

        def calls() -> Sequence[CallRecord]:
            try:
                return use_case.peek(resume or "last").calls
            except RunRequestError:  # the run is just being made, or there is none of that name
                return ()

        return await reporting(context, lambda: use_case.execute(code, resume, wait_s=self._run_wait_s), calls)


async def _search(host: FrontHost, session: FrontSession, request: SearchRequest) -> CallResult:
    use_case = session.host_session
    answer = await use_case.tool_search(request.query, request.limit, request.server, mark=False)
    text = search_answer(answer, use_case.marks)
    use_case.mark_shown(text.shown)
    facts = {"shown": [tool.short for tool in text.shown], "missed": list(answer.found.missed)}
    return _text_result(_with_news(text.text, host, session), {"codemode/search": facts})


async def _first_listing(host: FrontHost, session: FrontSession) -> types.ListToolsResult:
    """The two tools over what is known now; servers without a known listing get three seconds to come up."""
    unknown = [entry.id for entry in host.catalog.servers if entry.state == "starting" and not entry.tools]
    if unknown:
        await host.wait_ready(unknown, LISTING_WAIT_S)
    config, catalog, use_case = host.config, host.catalog, session.host_session
    pinned = frozenset(entry.name for entry in config.servers if entry.always_load)
    index = make_index(catalog, config.tool_search, use_case.marks, pinned=pinned)
    use_case.mark_shown(index.shown)
    session.known = catalog
    ours = (search_tool(index.text), execute_tool(config.limits, config.packages))
    return types.ListToolsResult(tools=[_listed(tool) for tool in ours])


def _listed(tool: ToolText) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=types.ToolAnnotations.model_validate({"title": tool.title, **tool.annotations}),
        _meta={"anthropic/alwaysLoad": True},
    )


# -- results -----------------------------------------------------------------------------------------------------------


def _with_news(text: str, host: FrontHost, session: FrontSession) -> str:
    now = host.catalog
    news = server_news(session.known, now) if session.known is not None else ()
    session.known = now
    return "\n".join([text, *news])


def _text_result(text: str, meta: Mapping[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[_block(text)], is_error=is_error, _meta=dict(meta))


def _run_result(answer: RunText, outcome: RunOutcome, text: str) -> types.CallToolResult:
    images = [
        types.ImageContent(data=base64.b64encode(image.data).decode("ascii"), mime_type=image.type)
        for image in answer.images
    ]
    calls: Counter[str] = Counter(call.status for call in outcome.calls)
    facts: dict[str, object] = {
        "run": outcome.run,
        "status": outcome.status,
        "code": outcome.code,
        "receipt": outcome.receipt,
        "calls": {"total": len(outcome.calls), **calls},
        "sent_bytes": sum(call.sent_bytes for call in outcome.calls),
        "received_bytes": sum(call.received_bytes for call in outcome.calls),
        "wall_s": round(outcome.used.wall_s, 3),
        "files": [file.to_json() for file in outcome.files[:_MAX_FILES]],
    }
    if outcome.workspace:
        facts["workspace"] = outcome.workspace
    return types.CallToolResult(content=[_block(text), *images], _meta={_META: facts})


def _block(text: str) -> types.TextContent:
    # Half of a surrogate pair cannot be sent; a guest may claim anything.
    return types.TextContent(text=text.encode("utf-8", "replace").decode("utf-8"))
