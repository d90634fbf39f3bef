"""What a server asks for during calls: which call a question belongs to, who is asked, and what the server is told.

Enters: requests of a server inside a call (handshake versions), or a result that wants input (2026-07-28). Leaves: the
answer for the server, or a refusal with its reason. Only elicitation is passed on; completions by the client's model
and roots never are. A question belongs to calls of one run, and is taken back when the last of them has ended.

Safety: a connection is shared by all sessions. Over stdio nothing ties a request of a handshake version to a call, so
it is passed on only while all calls under way on the connection belong to one run; over HTTP it belongs to the call
whose response carries it. Known secrets of the server's entry are masked before anything leaves here.
Source: MCP specification 2025-06-18 to 2026-07-28, elicitation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import anyio
import mcp_types as types
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from codemode.errors import UpstreamError
from codemode.jsonvalue import Json, JsonObject, as_object, as_text
from codemode.upstream.clock import Clock
from codemode.upstream.credentials import Redactor
from codemode.upstream.exchange import Ticket
from codemode.upstream.filter import Filter
from codemode.upstream.result import Outcome, call_error, quote

_MAX_BYTES = 64 * 1024  # chosen: a form that a person reads has a few hundred
_MAX_AT_ONCE = 8  # chosen: questions in one result; more are refused before the first is asked
_AGAIN_S = 0.1  # chosen: between a result that wants nothing but to be asked again, and doing so

_ASKED = "asked the person at the client something, in vain"

Action = Literal["accept", "decline", "cancel"]
Mode = Literal["form", "url"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a server asks, bounded in size and otherwise as it came.

    `tool` is the raw name of the tool that asks, "" when it is one of several; `schema` is for "form", `url` for "url".
    """

    server: str
    tool: str
    mode: Mode
    message: str
    schema: JsonObject = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server is told; `reason` says why when it was no person's own decision."""

    action: Action
    content: Mapping[str, Json] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nobody is asked; `reason` is one line of ours."""

    reason: str


class Asker(Protocol):
    """Whoever answers a server's questions during one call."""

    @property
    def run(self) -> object:
        """The same object for all calls of one run, another one for every other."""

    @property
    def modes(self) -> frozenset[Mode]:
        """What can be shown to the person at the moment."""

    async def __call__(self, asked: Asked) -> Answer | Refused:
        """Ask; keeps account of it, whatever comes of it."""


@dataclass(slots=True, eq=False)
class OpenCall:
    """One call under way: its tool, who is asked, its deadlines, its present request.

    `refused`: why a question of it was not answered by a person, "" while none was.
    """

    tool: str
    asker: Asker | None
    clock: Clock
    ticket: Ticket | None = None
    refused: str = ""

    @property
    def modes(self) -> frozenset[Mode]:
        """What the server may be told that it can ask for."""
        return self.asker.modes if self.asker is not None else frozenset()


@dataclass(slots=True, eq=False)
class _Pending:
    """A question that waits for its answer, and the calls that it may belong to and that still go on."""

    owners: set[OpenCall]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a repeated request carries back (2026-07-28, multi round trips)."""

    responses: types.InputResponses | None = None
    state: str | None = None


_Params: TypeAlias = types.ElicitRequestFormParams | types.ElicitRequestURLParams


class Asking:
    """The calls under way on one connection, and the questions of its server. `is_allowed`: the entry's own word."""

    def __init__(self, server: str, filter_: Filter, redactor: Redactor, *, is_allowed: bool = True) -> None:
        self._server = server
        self._filter = filter_
        self._redactor = redactor
        self._is_allowed = is_allowed
        self._calls: dict[OpenCall, None] = {}  # oldest first
        self._pending: list[_Pending] = []

    @contextmanager
    def call(self, tool: str, asker: Asker | None, clock: Clock) -> Iterator[OpenCall]:
        """A call, for as long as it is under way; its open questions end with it."""
        call = OpenCall(tool, asker if self._is_allowed else None, clock)
        self._calls[call] = None
        try:
            yield call
        finally:
            del self._calls[call]
            for pending in self._pending:
                pending.owners.discard(call)
                if not pending.owners:
                    pending.scope.cancel()

    # -- versions with a handshake: a request of the server --------------------------------------------------------

    async def hear(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Answer a request of the server (the SDK's callback)."""
        owners = self._owners(self._filter.asked_in(context.request_id))
        said = await self._ask(owners, params) if isinstance(owners, list) else owners
        if isinstance(said, Answer):
            return _result(said)
        return types.ErrorData(code=types.INVALID_REQUEST, message=said.reason)

    def _owners(self, ticket: Ticket | None) -> list[OpenCall] | Refused:
        """The calls that a request may belong to: all of one run."""
        tied = [call for call in self._calls if ticket is not None and call.ticket is ticket]
        calls = tied or list(self._calls)
        if not calls:
            return Refused("no call is under way that this could belong to")
        if len({id(call.asker.run) if call.asker is not None else id(call) for call in calls}) > 1:
            refused = Refused("calls of several programs are under way, and nothing says which of them this belongs to")
            for call in calls:
                call.refused = refused.reason
            return refused
        return calls

    # -- 2026-07-28: a result that wants input ---------------------------------------------------------------------

    async def answers(self, call: OpenCall, wanted: types.InputRequiredResult) -> Answers:
        """What to send the request again with.

        Raises:
            UpstreamError: something in it is not answered here (`upstream.unsupported`).
        """
        requests = wanted.input_requests or {}
        if len(requests) > _MAX_AT_ONCE:
            raise self._unsupported(call, f"asks {len(requests)} things at once; {_MAX_AT_ONCE} are allowed")
        other = next((item.method for item in requests.values() if not isinstance(item, types.ElicitRequest)), None)
        if other is not None:
            raise self._unsupported(call, f"asks for `{other}`, which is never passed on")
        responses: dict[str, types.InputResponse] = {}
        for key, request in requests.items():
            assert isinstance(request, types.ElicitRequest)
            said = await self._ask([call], request.params)
            if isinstance(said, Refused):
                raise self._unsupported(call, f"{_ASKED}: {said.reason}")
            responses[key] = _result(said)
        if not responses:
            await anyio.sleep(_AGAIN_S)
        return Answers(responses or None, wanted.request_state)

    # -- both ------------------------------------------------------------------------------------------------------

    async def _ask(self, owners: Sequence[OpenCall], params: _Params) -> Answer | Refused:
        said = await self._put(owners, params)
        for call in owners:
            call.refused = call.refused or said.reason
        return said

    async def _put(self, owners: Sequence[OpenCall], params: _Params) -> Answer | Refused:
        asker = owners[0].asker
        if asker is None:
            off = "" if self._is_allowed else f": `elicitation` of the server `{self._server}` is off"
            return Refused(f"nobody can be asked here{off}")
        asked = self._read(owners, params)
        if isinstance(asked, Refused):
            return asked
        pending = _Pending(set(owners))
        self._pending.append(pending)
        for call in owners:
            call.clock.stop()
        try:
            with pending.scope:
                return await asker(asked)
            return Refused("the call that it belongs to has ended")
        finally:
            self._pending.remove(pending)
            for call in owners:
                call.clock.go_on()

    def _read(self, owners: Sequence[OpenCall], params: _Params) -> Asked | Refused:
        """The question without secrets of the server's entry."""
        raw: dict[str, object] = {"message": params.message}
        if isinstance(params, types.ElicitRequestFormParams):
            raw["schema"] = params.requested_schema
        else:
            raw["url"] = params.url
        size, pieces = 0, []
        try:
            for piece in json.JSONEncoder(allow_nan=False).iterencode(raw):
                size += len(piece)
                if size > _MAX_BYTES:
                    return Refused(f"it is longer than {_MAX_BYTES} bytes")
                pieces.append(piece)
        except (ValueError, RecursionError):
            return Refused("it is no plain JSON")
        text = "".join(pieces).encode("ascii")
        cleaned = self._redactor.clean_json(text)
        if "url" in raw and cleaned != text:
            return Refused("it holds a secret of the server's own entry")
        facts = as_object(json.loads(cleaned))
        return Asked(
            server=self._server,
            tool=owners[0].tool if len(owners) == 1 else "",
            mode="url" if "url" in raw else "form",
            message=as_text(facts.get("message")),
            schema=as_object(facts.get("schema")),
            url=as_text(facts.get("url")),
        )

    async def explained(self, call: OpenCall, error: UpstreamError) -> UpstreamError:
        """The error of a failed call, in other words where it failed for want of a person.

        A server that wants addresses opened first (2025-11-25) has not begun: they are passed on now, and the program
        may call again later; nothing is sent a second time here.
        """
        rpc_code = error.details.get("rpc_code")
        if rpc_code == types.MISSING_REQUIRED_CLIENT_CAPABILITY:
            return self._answered(call, f"wants what this client does not offer: {error.message}")
        if rpc_code == types.URL_ELICITATION_REQUIRED:
            return await self._opened(call, error)
        if call.refused and error.code in ("upstream.rpc_error", "upstream.tool_error"):
            more = "" if call.refused in error.message else f"; then it failed: {quote(error.message)}"
            return self._answered(call, f"{_ASKED}: {call.refused}{more}")
        return error

    async def _opened(self, call: OpenCall, error: UpstreamError) -> UpstreamError:
        cause = error.__cause__
        try:
            wanted = types.ElicitationRequiredErrorData.model_validate(
                cause.data if isinstance(cause, MCPError) else None
            )
        except ValidationError:
            return error
        for params in wanted.elicitations[:_MAX_AT_ONCE]:
            said = await self._ask([call], params)
            if not isinstance(said, Answer) or said.action != "accept":
                why = said.reason or "the person did not open it"
                return self._answered(call, f"wants an address opened first: {why}")
        return call_error(
            error.code,
            error.message,
            server=self._server,
            tool=call.tool,
            outcome="answered",
            hint_model="the person has been shown the address; call again when they have finished there",
            retryable=True,
        )

    def _unsupported(self, call: OpenCall, what: str) -> UpstreamError:
        return self._error(call, what, "unknown")

    def _answered(self, call: OpenCall, what: str) -> UpstreamError:
        return self._error(call, what, "answered")

    def _error(self, call: OpenCall, what: str, outcome: Outcome) -> UpstreamError:
        text = f"`{self._server}.{call.tool}` {what}"
        return call_error("upstream.unsupported", text, server=self._server, tool=call.tool, outcome=outcome)


def _result(answer: Answer) -> types.ElicitResult:
    content = dict(answer.content) if answer.content is not None else None
    return types.ElicitResult.model_validate({"action": answer.action, "content": content})
