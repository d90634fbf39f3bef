"""Lines from a descriptor: whole, bounded, and never in the way of an end."""

import os

import anyio
import pytest

from codemode.server import stdio

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe():
    read_end, write_end = os.pipe()
    yield read_end, write_end
    for descriptor in (read_end, write_end):
        try:
            os.close(descriptor)
        except OSError:
            pass


async def lines_of(descriptor):
    return [line async for line in stdio._Lines(descriptor)]


async def test_lines_come_whole_however_they_were_written(pipe):
    read_end, write_end = pipe
    os.write(write_end, b'{"a":1}\n{"b"')
    os.write(write_end, b":2}\n\nlast without an end")
    os.close(write_end)
    assert await lines_of(read_end) == ['{"a":1}', '{"b":2}', ""]


async def test_bytes_that_are_no_text_are_replaced(pipe):
    read_end, write_end = pipe
    os.write(write_end, b"\xff\xfe\n")
    os.close(write_end)
    assert await lines_of(read_end) == ["\ufffd\ufffd"]


async def test_a_regular_file_can_be_read_too(tmp_path):
    path = tmp_path / "input"
    path.write_bytes(b"one\ntwo\n")
    with open(path, "rb") as file:
        assert await lines_of(file.fileno()) == ["one", "two"]


async def test_a_line_without_an_end_is_not_kept_for_ever(pipe, monkeypatch):
    read_end, write_end = pipe
    monkeypatch.setattr(stdio, "MAX_LINE_BYTES", 1_000)
    os.write(write_end, b"ok\n" + b"x" * 3_000)
    with anyio.fail_after(5):
        assert await lines_of(read_end) == ["ok"]


async def test_waiting_for_a_line_can_be_cancelled(pipe):
    with anyio.fail_after(5):
        with anyio.move_on_after(0.05) as scope:
            await lines_of(pipe[0])
    assert scope.cancelled_caught


async def test_a_message_is_written_whole(pipe):
    read_end, write_end = pipe
    text = "é" * 200_000 + "\n"
    got = bytearray()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stdio._Writer(write_end).write, text)
        while len(got) < len(text.encode()):
            await anyio.wait_readable(read_end)
            got += os.read(read_end, 1 << 16)
    assert got.decode() == text


async def test_descriptors_are_diverted_and_come_back(capfd):
    before = (os.fstat(0).st_ino, os.fstat(1).st_ino)
    with stdio._claimed() as (_, wire_out):
        os.write(1, b"stray\n")
        os.write(wire_out, b"protocol\n")
        assert os.read(0, 10) == b""
    assert (os.fstat(0).st_ino, os.fstat(1).st_ino) == before
    out, err = capfd.readouterr()
    assert (out, err) == ("protocol\n", "stray\n")
