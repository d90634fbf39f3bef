"""What servers ask during a run is bounded, checked, put to the person and accounted for."""

import anyio
import pytest

from codemode.broker.questions import MAX_PER_CALL, MAX_PER_RUN, Questions
from codemode.policy.desk import Desk, LinkQuestion, Reply
from codemode.session import Session
from codemode.upstream.asking import Answer, Asked, Refused

pytestmark = pytest.mark.anyio

FORM = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}, "required": ["name"]}
ASKED = Asked(server="shop", tool="buy", mode="form", message="Who?", schema=FORM)
LINK = Asked(server="shop", tool="buy", mode="url", message="Go", url="https://shop.example/pay")
BOTH = frozenset({"form", "url"})


def questions(reply=None, *, takes=BOTH, answer_s=5.0):
    """The questions of a run whose person gives one reply to everything, or none at all."""
    warned = []

    def answer():
        if reply is not None and desk.question is not None:
            shown.append(desk.question)
            desk.reply(desk.question.key, reply)

    shown = []
    desk = Desk(answer)
    return Questions(Session(takes=takes), desk, warned.append, answer_s=answer_s), shown, warned


async def ask(run, asked=ASKED):
    with anyio.fail_after(5):
        return await run.asker()(asked)


def account(run):
    return [(record.action, record.reason) for record in run.records]


async def test_an_answer_that_fits_goes_to_the_server():
    run, shown, _ = questions(Reply(action="accept", content={"name": "Joe"}))
    assert await ask(run) == Answer(action="accept", content={"name": "Joe"})
    assert (shown[0].server, shown[0].tool, shown[0].message) == ("shop", "buy", "Who?")
    assert account(run) == [("accept", "")]


async def test_an_address_is_answered_without_content():
    run, shown, _ = questions(Reply(action="accept", content={"name": "Joe"}))
    assert await ask(run, LINK) == Answer(action="accept")
    assert isinstance(shown[0], LinkQuestion)


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_who_gives_no_answer_gives_no_content_either(action):
    run, _, warned = questions(Reply(action=action, content={"name": "Joe"}))
    assert await ask(run) == Answer(action=action)
    assert (account(run), warned) == ([(action, "")], [])


async def test_an_answer_that_does_not_fit_becomes_none_and_is_said():
    run, _, warned = questions(Reply(action="accept", content={"name": "Josephine"}))
    said = await ask(run)
    reason = "the answer does not fit the form: `name` does not fit its field"
    assert said == Answer(action="cancel", reason=reason)
    assert warned == [f"shop asked the person at the client something, without an answer: {reason}"]


async def test_a_person_who_does_not_answer_in_time_counts_as_having_closed_the_question():
    run, _, _ = questions(answer_s=0.01)
    assert await ask(run) == Answer(action="cancel", reason="nobody answered in 0.01 s")


@pytest.mark.parametrize(
    ("asked", "takes", "reason"),
    [
        (ASKED, {"url"}, "the client shows no forms"),
        (LINK, {"form"}, "the client opens no addresses"),
        (Asked(server="s", tool="t", mode="form", message=""), BOTH, "it is no object with `properties`"),
        (
            Asked(server="s", tool="t", mode="url", message="", url="http://x.example"),
            BOTH,
            "no plain `https://` address",
        ),
    ],
)
async def test_what_cannot_be_shown_is_refused_without_asking(asked, takes, reason):
    run, shown, _ = questions(Reply(action="accept"), takes=frozenset(takes))
    said = await ask(run, asked)
    assert isinstance(said, Refused)
    assert said.reason.endswith(reason)
    assert (shown, run.records[0].action) == ([], "refused")


async def test_a_call_may_ask_so_often_and_a_run_so_often():
    run, shown, _ = questions(Reply(action="accept", content={"name": "Joe"}))
    asker = run.asker()
    said = [await asker(ASKED) for _ in range(MAX_PER_CALL + 1)]
    assert said[-1] == Refused(f"a call may ask {MAX_PER_CALL} times")
    while len(shown) < MAX_PER_RUN:
        assert isinstance(await ask(run), Answer)
    assert await ask(run) == Refused(f"the servers of one program may ask {MAX_PER_RUN} times")
    assert run.modes == frozenset()
    assert len(shown) == MAX_PER_RUN


async def test_the_account_stays_small_whatever_a_server_does():
    run, _, _ = questions(takes=frozenset())
    for _ in range(1_000):
        await ask(run)
    assert (run.total, len(run.records)) == (1_000, 100)


async def test_a_question_whose_call_ends_is_withdrawn():
    run, _, _ = questions()
    with anyio.move_on_after(0.01):
        await run.asker()(ASKED)
    assert account(run) == [("withdrawn", "")]
