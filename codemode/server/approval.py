"""Puts a run's question to a person through the client, in both protocol eras.

Enters: a run that waits for an answer. Leaves: the answer. In the handshake eras the form is sent inside the request;
since 2026-07-28 there is no way back to the client, so the request ends with `input_required` and the client sends it
again with the answer. The run waits on the host meanwhile; no answer is ever taken for a yes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcp import types

from codemode.jsonvalue import as_object, as_text
from codemode.prose.approval import question_text
from codemode.server.sessions import Context

_KEY: Final = "approval"
_FIELD: Final = "allow"
MAX_ROUNDS: Final = 8  # given: clients give up on a request after 10 rounds
_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        _FIELD: {"type": "boolean", "title": "Allow", "description": "Yes: this program may do it, this once."}
    },
    "required": [_FIELD],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a request that ended with `input_required` carries: the run, the question it asked, the round."""

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


def fingerprint(lines: Sequence[str]) -> str:
    """Which question it is: an answer counts only for the question that was shown."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


async def ask_inside(context: Context, run: str, lines: Sequence[str]) -> bool:
    """Ask inside the request (versions before 2026-07-28)."""
    answer = await context.session.elicit_form(
        question_text(run, lines), dict(_SCHEMA), related_request_id=context.request_id
    )
    return _is_yes(answer)


def ask_by_return(waiting: Waiting, lines: Sequence[str]) -> types.InputRequiredResult:
    """The result that makes the client ask and send the request again (2026-07-28)."""
    form = types.ElicitRequestFormParams(message=question_text(waiting.run, lines), requested_schema=dict(_SCHEMA))
    return types.InputRequiredResult(
        input_requests={_KEY: types.ElicitRequest(params=form)}, request_state=waiting.to_state()
    )


def answer_in(responses: Mapping[str, object] | None) -> bool | None:
    """The answer that came with a request sent again; None when there is none."""
    answer = (responses or {}).get(_KEY)
    return _is_yes(answer) if isinstance(answer, types.ElicitResult) else None


def _is_yes(answer: types.ElicitResult) -> bool:
    return answer.action == "accept" and answer.content is not None and answer.content.get(_FIELD) is True
