"""What the host makes of a guest's last frame, its death, and its prints."""

import signal
import tracemalloc

import pytest

from sandbox import outcome
from sandbox.backends.base import GuestExit
from sandbox.spec import Diagnostic, Limits, RunError, Usage


def _exit(how, code, cpu_s=0.0):
    return GuestExit(how=how, code=code, cpu_s=cpu_s, max_rss_bytes=1)


def _end(**changes):
    header = {"kind": "end", "status": "ok", "form": "json", "type": "", "error": None, "notes": [], "usage": {}}
    return {**header, **changes}


def test_prints_keep_head_and_tail_and_say_how_much_is_missing():
    prints = outcome.Prints(20)
    for number in range(100):
        prints.add(b"%03d" % number)
    text = prints.text()
    assert text.startswith("0000010020")
    assert text.endswith("7098099")
    assert "280 bytes of prints left out" in text
    assert prints.total_bytes == 300


def test_prints_that_fit_are_kept_whole():
    prints = outcome.Prints(20)
    prints.add(b"a" * 10)
    prints.add(b"b" * 10)
    assert prints.text() == "a" * 10 + "b" * 10


def test_one_huge_print_is_cut_without_being_held():
    prints = outcome.Prints(2_000)
    prints.add(b"x" * 5_000_000)
    assert len(prints.text()) < 2_100


def test_many_small_prints_are_held_in_little_more_than_their_own_bytes():
    prints = outcome.Prints(200_000)
    tracemalloc.start()
    for _ in range(200_000):
        prints.add(bytes(bytearray(b"ab")))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 600_000
    assert "200000 bytes of prints left out" in prints.text()


def test_a_last_frame_becomes_the_result():
    result = outcome.from_end(_end(usage={"cpu_s": 0.5}), b"[1]", outcome.Prints(1_024), Usage(wall_s=1.0))
    assert (result.status, result.value, result.usage.cpu_s, result.usage.value_bytes) == ("ok", [1], 0.5, 3)


def test_a_last_frame_that_contradicts_itself_is_a_protocol_error():
    for header in (_end(status="fine"), _end(form="pickle"), _end(error={"code": "x"}), _end(status="error")):
        result = outcome.from_end(header, b"", outcome.Prints(1_024), Usage())
        assert (result.status, result.error.code) == ("error", "guest.protocol")


@pytest.mark.parametrize("code", [[], {"a": 1}, 7, None, "policy.denied"])
def test_a_code_that_a_guest_cannot_know_is_that_of_its_exception(code):
    header = _end(status="error", form="none", error={"code": code, "message": "m"})
    assert outcome.from_end(header, b"", outcome.Prints(1_024), Usage()).error.code == "guest.raised"


def test_an_error_with_fields_of_wrong_types_is_read_as_far_as_it_goes():
    raw = {"code": 5, "type": None, "message": "m" * 100_000, "line": "3", "notes": {"a": 1}, "traceback": [1]}
    result = outcome.from_end(_end(status="error", form="none", error=raw), b"", outcome.Prints(1_024), Usage())
    assert result.error == RunError(code="guest.raised", message="m" * 16_000)


def test_a_guest_killed_for_its_processor_time_names_the_limit():
    for ending in (_exit("signaled", signal.SIGXCPU, 1.0), _exit("signaled", signal.SIGKILL, 2.0)):
        result = outcome.from_exit(ending, Limits(cpu_s=1), outcome.Prints(1_024), Usage())
        assert (result.status, result.error.code) == ("limit", "limit.cpu")


def test_a_guest_whose_end_nobody_can_tell_is_not_given_an_exit_status():
    result = outcome.from_exit(_exit("unknown", 0), Limits(), outcome.Prints(1_024), Usage())
    assert (result.status, result.error.code) == ("error", "guest.died")
    assert "forked from" in result.error.message
    assert "status" not in result.error.message


def test_a_guest_that_dies_is_reported_with_its_signal():
    result = outcome.from_exit(_exit("signaled", signal.SIGSEGV), Limits(), outcome.Prints(1_024), Usage())
    assert (result.status, result.error.code) == ("error", "guest.died")
    assert "SIGSEGV" in result.error.message


def test_a_refused_program_has_its_first_error_and_the_others_as_notes():
    diagnostics = (
        Diagnostic(code="x", message="a note", severity="note"),
        Diagnostic(code="dialect.refused", message="first", line=2, hint="do this"),
        Diagnostic(code="dialect.refused", message="second", line=5),
    )
    result = outcome.from_diagnostics(diagnostics)
    assert result.status == "refused"
    assert result.error == RunError(
        code="dialect.refused", message="first", line=2, notes=("do this", "line 5: second")
    )


def test_the_shape_that_a_guest_claims_is_text_and_bounded():
    def shape_of(claimed):
        error = {"code": "guest.raised", "shape": claimed}
        end = _end(status="error", form="none", error=error)
        return outcome.from_end(end, b"", outcome.Prints(100), Usage()).error.shape

    assert shape_of("x" * 5_000) == "x" * 1_200
    assert [shape_of(claimed) for claimed in (None, 7, ["x"], {})] == [""] * 4


def test_a_guest_that_the_kernel_ended_for_its_memory_reached_a_limit():
    ending = GuestExit(how="signaled", code=signal.SIGKILL, is_out_of_memory=True)
    result = outcome.from_exit(ending, Limits(memory_bytes=64 << 20), outcome.Prints(100), Usage())
    assert (result.status, result.error.code) == ("limit", "limit.memory")
    assert "`memory_bytes` allows 67108864" in result.error.message
