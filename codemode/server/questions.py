"""Puts a run's question to a person through the client, in both protocol eras.

Enters: a run that waits for an answer, to us or to a server. Leaves: the answer. In the handshake eras the question is
sent inside the request; since 2026-07-28 there is no way back to the client, so the request ends with
`input_required` and the client sends it again with the answer. The run waits on the host meanwhile; no answer is ever
taken for a yes.

Safety: an answer is given under the key of the question that was shown, to that kind of question only: what a person
tells a server never allows anything, and an approval never reaches a server.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

import anyio
from mcp import types
from mcp.shared.exceptions import MCPError

from codemode.jsonvalue import as_object, as_text
from codemode.policy.desk import Approval, FormQuestion, LinkQuestion, Question, Reply
from codemode.policy.form import form_schema
from codemode.prose.questions import question_text
from codemode.server.ports import FrontHostSession
from codemode.server.sessions import Context
from codemode.session import Session

logger = logging.getLogger(__name__)

MAX_ROUNDS: Final = 8  # given: clients give up on a request after 10 rounds
_APPROVAL: Final = "approval"
_SERVER: Final = "server_question"
_FIELD: Final = "allow"
_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        _FIELD: {"type": "boolean", "title": "Allow", "description": "Yes: this program may do it, this once."}
    },
    "required": [_FIELD],
}


def is_showable(session: Session, question: Question) -> bool:
    """Whether the client can show it."""
    match question:
        case Approval():
            return session.can_ask
        case FormQuestion():
            return "form" in session.takes
        case LinkQuestion():
            return "url" in session.takes
        case _:
            assert_never(question)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a request that ended with `input_required` carries: the run, the key of its question, the round."""

    run: str
    question: str
    round: int

    def to_state(self) -> str:
        """The text that the client sends back."""
        return json.dumps({"run": self.run, "question": self.question, "round": self.round}, separators=(",", ":"))


def read_state(state: str) -> Waiting | None:
    """What a client sent back, or None when it is nothing of ours.

    Safety: the boundary of the protocol library has checked that we made it, for this client and these arguments.
    """
    try:
        facts = as_object(json.loads(state))
    except (ValueError, RecursionError):
        return None
    number = facts.get("round")
    run, question = as_text(facts.get("run")), as_text(facts.get("question"))
    return Waiting(run=run, question=question, round=number) if run and isinstance(number, int) else None


# -- since 2026-07-28 --------------------------------------------------------------------------------------------------


def ask_by_return(waiting: Waiting, question: Question) -> types.InputRequiredResult:
    """The result that makes the client ask and send the request again."""
    key = _APPROVAL if isinstance(question, Approval) else _SERVER
    request = types.ElicitRequest(params=_params(waiting.run, question))
    return types.InputRequiredResult(input_requests={key: request}, request_state=waiting.to_state())


def _params(run: str, question: Question) -> types.ElicitRequestFormParams | types.ElicitRequestURLParams:
    text = question_text(run, question)
    match question:
        case Approval():
            return types.ElicitRequestFormParams(message=text, requested_schema=dict(_SCHEMA))
        case FormQuestion():
            schema = form_schema(question.form, question.server)
            return types.ElicitRequestFormParams(message=text, requested_schema=schema)
        case LinkQuestion():
            return types.ElicitRequestURLParams(message=text, url=question.link.url)
        case _:
            assert_never(question)


def take_answer(session: FrontHostSession, waiting: Waiting, responses: Mapping[str, object] | None) -> None:
    """Give a run the answer that a request brought; one to a question that is not open any more counts for nothing.

    Raises:
        RunRequestError: there is no such run.
    """
    given = responses or {}
    approval, told = given.get(_APPROVAL), given.get(_SERVER)
    if isinstance(approval, types.ElicitResult):
        session.answer(waiting.run, _is_yes(approval), question=waiting.question)
    if isinstance(told, types.ElicitResult):
        session.reply(waiting.run, waiting.question, _reply(told))


# -- before ------------------------------------------------------------------------------------------------------------


async def ask_now(session: FrontHostSession, context: Context, run: str, question: Question, limit_s: float) -> bool:
    """Ask inside the request and give the run its answer; False when nobody answered.

    The client is told to take the question back when it is settled otherwise.
    """
    answers: list[types.ElicitResult] = []
    failed = False
    with anyio.move_on_after(limit_s):
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                nonlocal failed
                try:
                    answers.append(await _elicit(context, run, question))
                except MCPError as error:
                    logger.warning("the client could not ask: %s", error)
                    failed = True
                tasks.cancel_scope.cancel()

            async def follow() -> None:
                await session.settled(run, question.key)
                tasks.cancel_scope.cancel()

            tasks.start_soon(ask)
            tasks.start_soon(follow)
    if isinstance(question, Approval):
        if answers:
            session.answer(run, _is_yes(answers[0]), question=question.key)
        return bool(answers)
    if answers or failed:
        session.reply(run, question.key, _reply(answers[0]) if answers else Reply(action="cancel"))
    return True


async def _elicit(context: Context, run: str, question: Question) -> types.ElicitResult:
    params, client = _params(run, question), context.session
    if isinstance(params, types.ElicitRequestURLParams):
        return await client.elicit_url(params.message, params.url, question.key, related_request_id=context.request_id)
    return await client.elicit_form(params.message, params.requested_schema, related_request_id=context.request_id)


# -- answers -----------------------------------------------------------------------------------------------------------


def _is_yes(answer: types.ElicitResult) -> bool:
    return answer.action == "accept" and answer.content is not None and answer.content.get(_FIELD) is True


def _reply(answer: types.ElicitResult) -> Reply:
    return Reply(action=answer.action, content=answer.content or {})
