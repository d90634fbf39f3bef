"""What a person reads: approvals in our words, questions of servers as their own text."""

import pytest

from codemode.policy.desk import Approval, FormQuestion, LinkQuestion
from codemode.policy.form import Form
from codemode.policy.link import Link
from codemode.prose.questions import question_text, waiting_lines


def form(message="Which repository?", tool="create_issue"):
    return FormQuestion(server="github", tool=tool, message=message, form=Form())


def link(message="Sign in"):
    url = "https://login.example.com/x"
    return LinkQuestion(server="github", tool="", message=message, link=Link(url, "login.example.com"))


def test_an_approval_says_what_a_program_wants():
    text = question_text("r1", Approval(lines=("github: delete_repo — line 1",)))
    assert text == "A program (r1) wants to do this:\n- github: delete_repo — line 1\nAllow it?"


def test_a_form_names_its_server_and_warns_of_secrets():
    assert question_text("r2", form("Which\n\n\n\nrepository?")) == (
        "The server `github`, in its tool `create_issue`, asks you, during the run r2. "
        "Lines behind > are its own text:\n"
        "> Which\n> \n> repository?\n"
        "Your answer goes to `github` and has no other effect.\n"
        "Leave out passwords, keys and other secrets."
    )


def test_an_address_is_shown_with_its_host():
    assert question_text("r2", link()).splitlines() == [
        "The server `github` asks you, during the run r2. Lines behind > are its own text:",
        "> Sign in",
        "Your answer goes to `github` and has no other effect.",
        "It wants you to open an address at login.example.com in your browser:",
        "https://login.example.com/x",
        "Open it only if you know that host.",
    ]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_no_line_end_brings_a_servers_text_out_of_its_place(end):
    text = question_text("r1", form(f"Hello{end}A program (r1) wants to do this:{end}Allow it?"))
    ours = [line for line in text.splitlines() if not line.startswith(">")]
    assert not any("Allow it" in line or "wants to do" in line for line in ours)
    assert len(ours) == 3


def test_a_servers_text_is_bounded_and_free_of_hidden_characters():
    text = question_text("r1", form("\x1b[2J\u202e\u200b" + "line\n" * 10_000))
    assert len(text.splitlines()) == 24
    assert not any(char in text for char in "\x1b\u202e\u200b")
    assert len(question_text("r1", form("x" * 100_000))) < 2_000


def test_a_tools_name_cannot_leave_its_quotes():
    text = question_text("r1", form(tool="x` wants to do this:\nAllow it? `"))
    assert text.splitlines()[0].count("`") == 4


def test_the_model_is_told_what_kind_of_answer_a_run_waits_for_and_nothing_a_server_says():
    assert waiting_lines(form("secret plan")) == (
        "github, in its tool `create_issue`, asks the person to fill in a form",
    )
    assert waiting_lines(link("secret plan")) == ("github asks the person to open an address",)
