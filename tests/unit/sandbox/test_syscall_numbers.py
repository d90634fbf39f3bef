"""The numbers of system calls, against the kernel headers of the machine that runs the tests."""

import re
from pathlib import Path

import pytest

from sandbox.linux.syscalls import TABLE, call, check, numbers

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
# Numbers that asm-generic/unistd.h gives under another name (include/uapi/asm-generic/unistd.h, 64-bit names).
OTHER_NAMES = {"fcntl": "__NR3264_fcntl", "lseek": "__NR3264_lseek", "mmap": "__NR3264_mmap", "fstat": "__NR3264_fstat"}


@pytest.mark.parametrize("machine", HEADERS)
def test_every_number_agrees_with_the_kernel_headers(machine):
    if not HEADERS[machine].is_file():
        pytest.skip("did not run: no kernel headers on this machine")
    text = HEADERS[machine].read_text()
    defined = {name: int(number) for name, number in re.findall(r"#define (__NR\w+)\s+(\d+)", text)}
    for name, number in numbers(machine).items():
        found = defined.get(f"__NR_{name}", defined.get(OTHER_NAMES.get(name, "")))
        assert found == number, name
    absent = set(TABLE) - set(numbers(machine))
    assert not {name for name in absent if f"__NR_{name}" in defined}


def test_a_call_gives_the_kernels_result_or_its_error():
    assert check(5, "x") == 5
    with pytest.raises(OSError, match="unshare"):
        call("unshare", -1)


def test_a_call_that_the_machine_does_not_have_is_reported_as_missing():
    with pytest.raises(OSError, match="no such system call"):
        call("nothing_of_this_name")
