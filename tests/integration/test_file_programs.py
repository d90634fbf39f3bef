"""Files in real guests: everyday programs, what outlives a run, bounds, what a program hears of a refusal."""

from contextlib import contextmanager

import anyio
import pytest

from codemode.runs.files import RunFiles
from codemode.state.workspace import Workspace
from sandbox import Limits, RunSpec, open_sandbox
from tests.support.file_programs import PROGRAMS, plain_prints
from tests.support.running import run

pytestmark = pytest.mark.anyio

MIB = 1 << 20


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


@pytest.fixture(scope="module")
def expected():
    return plain_prints()


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "w" / "s", quota_bytes=256 * MIB, max_file_bytes=Limits().file_bytes)


async def run_in(box, workspace, source, **options):
    with anyio.fail_after(100):
        return await box.run(RunSpec(source=source, **options), files=RunFiles(workspace).answer)


async def good(box, workspace, source, **options):
    """The value of a program that ends well."""
    result = await run_in(box, workspace, source, **options)
    assert result.status == "ok", result.error
    return result.value


@pytest.mark.parametrize("name", sorted(PROGRAMS))
async def test_a_program_prints_what_it_prints_in_plain_python(box, workspace, expected, name):
    result = await run_in(box, workspace, PROGRAMS[name])
    assert (result.status, result.error, result.printed) == ("ok", None, expected[name])


# -- what outlives a run ----------------------------------------------------------------------------------------------


async def test_the_next_program_reads_what_one_has_written(box, workspace):
    await good(box, workspace, "open('a.txt', 'w').write('kept')")
    assert await good(box, workspace, "open('a.txt').read()") == "kept"
    assert (workspace.path / "a.txt").read_bytes() == b"kept"


async def test_a_file_that_is_left_open_is_saved_at_the_end(box, workspace):
    await good(box, workspace, "f = open('a.txt', 'w')\nf.write('a')\ng = open('b.bin', 'wb')\ng.write(b'b')\n1")
    assert (workspace.path / "a.txt").read_bytes() + (workspace.path / "b.bin").read_bytes() == b"ab"


@pytest.mark.parametrize("end", ["1 / 0", "import sys\nsys.exit(3)", "x = [0] * 10 ** 10"])
async def test_a_file_that_is_left_open_is_saved_when_the_program_fails(box, workspace, end):
    result = await run_in(box, workspace, f"f = open('a.txt', 'w')\nf.write('a')\n{end}")
    assert result.status != "ok"
    assert (workspace.path / "a.txt").read_bytes() == b"a"


async def test_what_was_flushed_stays_when_the_run_is_killed(box, workspace):
    source = "f = open('a.txt', 'w')\nf.write('a')\nf.flush()\nf.write('b')\nwhile True: pass"
    result = await run_in(box, workspace, source, limits=Limits(wall_s=2))
    assert result.error.code == "limit.wall"
    assert (workspace.path / "a.txt").read_bytes() == b"a"


async def test_files_in_a_reference_cycle_are_saved_too(box, workspace):
    source = """
import weakref
class Node: pass
def leave(n):
    node = Node()
    node.me, node.file = node, open(f'{n}.txt', 'w')
    node.file.write('x' * n)
for n in range(300):
    leave(n)
1"""
    await good(box, workspace, source)
    assert all((workspace.path / f"{n}.txt").stat().st_size == n for n in range(300))


async def test_fifty_megabytes_go_out_and_come_back(box, workspace):
    assert await good(box, workspace, "open('big.bin', 'wb').write(b'0123456789' * 5_000_000)") == 50_000_000
    source = "data = open('big.bin', 'rb').read()\nlen(data), data[-3:].decode(), sum(1 for _ in open('big.bin'))"
    assert await good(box, workspace, source) == [50_000_000, "789", 1]


async def test_many_flushes_send_only_what_is_new(box, tmp_path):
    sent = []

    class Counting(Workspace):
        def append(self, name, content, *, at=-1):
            sent.append(len(content))
            return super().append(name, content, at=at)

    place = Counting(tmp_path / "s", quota_bytes=MIB, max_file_bytes=MIB)
    source = "f = open('log', 'w')\nfor n in range(50):\n    print('x' * 999, file=f, flush=True)\nf.close()"
    await good(box, place, source)
    assert (sent, (place.path / "log").stat().st_size) == ([1_000] * 49, 50_000)


async def test_a_file_that_somebody_else_changed_meanwhile_is_written_whole(box, workspace):
    source = "f = open('a', 'w')\nf.write('12345')\nf.flush()\nopen('a', 'w').write('x')\nf.write('678')\nf.close()\n"
    assert await good(box, workspace, source + "open('a').read()") == "12345678"


# -- bounds and refusals ----------------------------------------------------------------------------------------------


async def test_without_a_callback_there_are_no_files(box):
    for source in (
        "open('notes.txt')",
        "from pathlib import Path\nPath('a').write_text('x')",
        "import os\nos.listdir()",
    ):
        result = await run(box, source)
        assert (result.error.type, "io.StringIO" in result.error.message) == ("PermissionError", True)


async def test_a_full_workspace_names_what_is_used_and_allowed(box, tmp_path):
    small = Workspace(tmp_path / "s", quota_bytes=100, max_file_bytes=MIB)
    source = """
open('a', 'w').write('x' * 60)
try:
    with open('b', 'w') as f:
        f.write('y' * 60)
except OSError as error:
    print(error.errno, error)
import os
os.remove('a')
open('c', 'w').write('z' * 100)
len(open('c').read())"""
    result = await run_in(box, small, source)
    assert (result.value, result.printed) == (
        100,
        "28 [Errno 28] the workspace is full: 60 of 100 bytes are used, this needs 60 more: 'b'\n",
    ), result.error


async def test_a_file_that_cannot_be_saved_at_the_end_is_noted(box, tmp_path):
    small = Workspace(tmp_path / "s", quota_bytes=10, max_file_bytes=MIB)
    result = await run_in(box, small, "f = open('a', 'w')\nf.write('x' * 60)\n1")
    assert result.status == "ok"
    assert [note for note in result.notes if "`a` was not closed, and could not be saved" in note], result.notes


async def test_a_file_longer_than_a_frame_is_refused_in_the_program(box, workspace):
    source = "try:\n    open('a', 'wb').write(b'x' * 200_000)\n    open('a')\nexcept OSError as e:\n    print(e)\n"
    source += "try:\n    with open('b', 'wb') as f: f.write(b'x' * 200_000)\nexcept OSError as e:\n    print(e.errno)\n"
    result = await run_in(box, workspace, source, limits=Limits(frame_bytes=128 * 1024))
    assert (result.status, result.printed) == ("ok", "27\n"), result.error


async def test_a_file_that_does_not_fit_into_a_frame_cannot_be_read(box, workspace):
    await good(box, workspace, "open('a', 'wb').write(b'x' * 200_000)")
    source = "try:\n    open('a')\nexcept OSError as e:\n    print(e.errno)"
    result = await run_in(box, workspace, source, limits=Limits(frame_bytes=128 * 1024))
    assert (result.status, result.printed) == ("ok", "27\n"), result.error


async def test_more_operations_than_the_limit_end_the_run(box, workspace):
    source = "import os\nfor n in range(100):\n    os.path.exists('a')"
    result = await run_in(box, workspace, source, limits=Limits(file_operations=20))
    assert (result.status, result.error.code) == ("limit", "limit.calls")
    assert "`file_operations` allows 20" in result.error.message


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../x", "a/../../x", "/workspace/../etc/passwd", "/workspacex/a", "/tmp/a", "/"]
)
async def test_names_outside_of_the_workspace_are_refused_with_what_to_write(box, workspace, name):
    for source in (f"open({name!r}, 'w')", f"import os\nos.remove({name!r})"):
        result = await run_in(box, workspace, source)
        assert result.error.type == "PermissionError"
        assert "give a relative name" in result.error.message
    assert await good(box, workspace, f"import os\nos.path.exists({name!r})") is False


async def test_the_working_folder_has_a_name_that_means_the_same(box, workspace):
    source = """
import os
from pathlib import Path
Path('a.txt').write_text('x')
full = os.path.abspath('a.txt')
assert Path('a.txt').resolve() == Path.cwd() / 'a.txt' == Path(full)
full, open(full).read(), os.path.relpath(full), os.getcwd(), os.listdir(os.getcwd()), Path('b/../a.txt').read_text()"""
    assert await good(box, workspace, source) == [
        "/workspace/a.txt",
        "x",
        "a.txt",
        "/workspace",
        ["a.txt"],
        "x",
    ]


@pytest.mark.parametrize(
    "source", ["open(0)", "open('a\\0b')", "open('a', opener=lambda *a: 1)", "open(None)", "open('x' * 2000)"]
)
async def test_what_is_no_name_is_refused_in_the_program(box, workspace, source):
    result = await run_in(box, workspace, source)
    assert (result.status, result.error.code) == ("error", "guest.raised")
    assert result.error.type in ("OSError", "ValueError", "TypeError")


async def test_a_name_that_the_host_refuses_is_an_error_with_the_programs_own_name(box, workspace):
    result = await run_in(box, workspace, "open('a\\nb', 'w')")
    assert "control characters: 'a\\nb'" in result.error.message
    result = await run_in(box, workspace, "open('/'.join('a' * 20), 'w')")
    assert "nested 8 deep" in result.error.message


async def test_no_error_names_a_place_of_the_host(box, workspace, tmp_path):
    @contextmanager
    def unusable():
        workspace.list("")
        workspace.path.rmdir()
        workspace.path.write_text("")
        yield
        workspace.path.unlink()

    with unusable():
        result = await run_in(box, workspace, "open('a', 'w')")
    assert result.error.type in ("NotADirectoryError", "FileExistsError")
    assert str(tmp_path) not in str(result.error)


async def test_a_callback_that_fails_is_an_error_of_that_operation(box, caplog):
    def broken(request):
        raise RuntimeError("secret")

    with anyio.fail_after(60):
        result = await box.run(RunSpec(source="try:\n    open('a')\nexcept OSError as e:\n    print(e)"), files=broken)
    assert result.printed == "[Errno 5] the file could not be used: 'a'\n"
    assert "a file operation failed" in caplog.text


# -- archives ---------------------------------------------------------------------------------------------------------

_BOMBS = {
    "zip": """
with zipfile.ZipFile(packed, 'w', zipfile.ZIP_DEFLATED) as archive, archive.open('big', 'w') as member:
    for _ in range(300):
        member.write(bytes(1 << 20))
len(zipfile.ZipFile(packed).read('big'))""",
    "gzip": """
with gzip.open(packed, 'wb', 1) as stream:
    for _ in range(300):
        stream.write(bytes(1 << 20))
len(gzip.open(io.BytesIO(packed.getvalue())).read())""",
}


@pytest.mark.parametrize("kind", sorted(_BOMBS))
async def test_an_archive_that_unpacks_to_more_than_the_memory_ends_the_run(box, workspace, kind):
    source = "import gzip, io, zipfile\npacked = io.BytesIO()" + _BOMBS[kind]
    result = await run_in(box, workspace, source, limits=Limits(memory_bytes=128 * MIB))
    assert (result.status, result.error.code) == ("limit", "limit.memory")


async def test_a_member_longer_than_a_file_may_be_is_not_unpacked(box, workspace):
    source = """
import zipfile
with zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
    archive.writestr('big', bytes(200_000))
try:
    zipfile.ZipFile('a.zip').extractall('out')
except OSError as error:
    print(error.errno)"""
    result = await run_in(box, workspace, source, limits=Limits(frame_bytes=128 * 1024))
    assert (result.status, result.printed) == ("ok", "27\n"), result.error


@pytest.mark.parametrize("name", ["/etc/passwd", "../a.zip"])
async def test_archives_outside_of_the_workspace_cannot_be_opened(box, workspace, name):
    for module, call in (("zipfile", "ZipFile"), ("tarfile", "open"), ("gzip", "open")):
        result = await run_in(box, workspace, f"import {module}\n{module}.{call}({name!r}, 'w')")
        assert result.error.type == "PermissionError"
        assert "give a relative name" in result.error.message
