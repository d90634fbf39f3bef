"""Prints on their way to the host, and exceptions as text of the model's own frames."""

import sys
import threading

import pytest

from sandbox.guest.capture import Printer, describe, remember_source

NAME = "<program>"


class Sent:
    def __init__(self):
        self.frames = []
        self.arrived = threading.Event()

    def post(self, header, payload=b""):
        self.frames.append(payload)
        self.arrived.set()

    @property
    def text(self):
        return b"".join(self.frames).decode()


def _printer(sent):
    printer = Printer()
    printer.attach(sent)
    return printer


def _run(source):
    """Run a program as the guest does and return what it raised."""
    remember_source(NAME, tuple(source.splitlines()))
    try:
        exec(compile(source, NAME, "exec"), {"__name__": "__main__"})
    except BaseException as error:
        return error
    raise AssertionError("it did not raise")


def test_a_first_print_is_on_its_way_at_once():
    sent = Sent()
    print("hello", file=_printer(sent))
    assert sent.text == "hello\n"


def test_a_burst_is_gathered_and_arrives_without_a_flush():
    sent = Sent()
    printer = _printer(sent)
    for number in range(1_000):
        print(number, file=printer)
    printer.flush()
    assert sent.text == "".join(f"{n}\n" for n in range(1_000))
    assert len(sent.frames) < 500


def test_what_was_printed_before_a_spin_is_not_lost():
    sent = Sent()
    printer = _printer(sent)
    print("a", file=printer)
    sent.arrived.clear()
    print("b", file=printer)
    assert sent.arrived.wait(5)
    assert sent.text == "a\nb\n"


def test_threads_may_print_together():
    sent = Sent()
    printer = _printer(sent)
    threads = [threading.Thread(target=lambda: [print("x" * 10, file=printer) for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    printer.flush()
    assert sent.text.count("x") == 16_000


def test_an_exception_shows_the_models_own_lines_and_nothing_of_ours():
    error = _run("def f(rows):\n    return rows['nope']\n\nf({'a': 1})\n")
    described = describe(error, NAME, code="guest.raised")
    assert (described["type"], described["message"], described["line"]) == ("KeyError", "'nope'", 2)
    assert described["source_line"] == "    return rows['nope']"
    assert described["traceback"].splitlines()[1] == '  File "<program>", line 4, in <module>'
    assert "test_capture" not in described["traceback"]


def test_the_chain_of_exceptions_keeps_only_the_models_frames():
    error = _run(
        "import json\ntry:\n    json.loads('{')\nexcept ValueError as e:\n    raise RuntimeError('bad') from e\n"
    )
    text = describe(error, NAME, code="guest.raised")["traceback"]
    assert "JSONDecodeError" in text
    assert "direct cause" in text
    assert "json/decoder" not in text


def test_notes_of_an_exception_come_along():
    error = _run("e = ValueError('x')\ne.add_note('look here')\nraise e\n")
    assert describe(error, NAME, code="guest.raised", notes=("ours",))["notes"] == ["look here", "ours"]


def test_an_exception_whose_text_raises_is_still_described():
    error = _run("class E(Exception):\n    def __str__(self):\n        raise ValueError\nraise E\n")
    assert describe(error, NAME, code="guest.raised")["message"] == "<the text of this E raised ValueError>"


def test_huge_messages_and_deep_recursion_are_bounded():
    error = _run("raise ValueError('x' * 1_000_000)\n")
    assert len(describe(error, NAME, code="guest.raised")["message"]) < 5_000
    error = _run("def f():\n    f()\nf()\n")
    assert len(describe(error, NAME, code="guest.raised")["traceback"]) < 10_000
    assert sys.getrecursionlimit() >= 1_000


def test_a_stream_is_attached_once():
    printer = _printer(Sent())
    with pytest.raises(RuntimeError, match="attached already"):
        printer.attach(Sent())


def test_the_state_of_a_stream_has_reserved_names():
    printer = _printer(Sent())
    print("a", file=printer)
    assert [name for name in vars(printer) if not name.startswith("_cm_")] == []
