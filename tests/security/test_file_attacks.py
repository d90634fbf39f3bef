"""Attacks on files: native code that speaks the wire itself, names that lead out, one session against another.

A guest with the language layer off holds its channel, so any frame may be anything. Each refusal is the host's.
"""

import json

import anyio
import pytest

from codemode import Host, load_config
from codemode.runs.files import RunFiles
from codemode.state.workspace import Workspace
from sandbox import Limits, RunSpec, open_sandbox

pytestmark = pytest.mark.anyio

SPEAK = """
import json, os
from sandbox import wire
from sandbox.guest import remote
link = remote._link
def frame(payload=b"", **header):
    return {"kind": "file", "operation": "stat", "name": "a", "to": "", "at": -1, **header}, payload
def ask(payload=b"", **header):
    answer = link.request(*frame(payload, **header))
    return [answer.header["ok"], answer.payload.decode("utf-8", "replace")]
"""


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "secret").write_text("secret")
    return Workspace(tmp_path / "s", quota_bytes=1 << 20, max_file_bytes=Limits().file_bytes)


async def native(box, workspace, source, **limits):
    spec = RunSpec(source=SPEAK + source, dialect="native", limits=Limits(wall_s=60, **limits))
    with anyio.fail_after(90):
        return await box.run(spec, files=RunFiles(workspace).answer)


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "open"},
        {"operation": ""},
        {"operation": None},
        {"operation": ["read"]},
        {"operation": "x" * 2_000},
        {"name": None},
        {"name": 5},
        {"name": ["a"]},
        {"name": "x" * 1_025},
        {"name": "x" * 200_000},
        {"to": "x" * 1_025},
        {"to": None},
        {"at": None},
        {"at": True},
        {"at": 1.5},
        {"at": "0"},
        {"id": 0},
        {"id": -1},
        {"id": 2**31},
        {"id": "1"},
    ],
)
async def test_a_frame_with_a_wrong_field_ends_the_run(box, workspace, change):
    header = {"kind": "file", "id": 7, "operation": "stat", "name": "a", "to": "", "at": -1, **change}
    result = await native(
        box, workspace, f"link.post(json.loads({json.dumps(json.dumps(header))}))\nlink.request(*frame())"
    )
    assert (result.status, result.error.code) == ("error", "guest.protocol"), result.error


@pytest.mark.parametrize("field", ["id", "operation", "name", "to", "at"])
async def test_a_frame_without_a_field_ends_the_run(box, workspace, field):
    source = f"header = {{**frame()[0], 'id': 9}}\ndel header[{field!r}]\nlink.post(header)\nlink.request(*frame())"
    assert (await native(box, workspace, source)).error.code == "guest.protocol"


async def test_an_id_acts_once(box, workspace):
    source = "for _ in range(2):\n    link.post({**frame()[0], 'id': 99})\nlink.request(*frame())"
    assert (await native(box, workspace, source)).error.code == "guest.protocol"


@pytest.mark.parametrize("operation", ["read", "stat", "create", "rename"])
async def test_content_where_none_belongs_ends_the_run(box, workspace, operation):
    result = await native(box, workspace, f"ask(b'x', operation={operation!r})")
    assert result.error.code == "guest.protocol"


async def test_a_flood_of_requests_ends_the_run_and_others_go_on(box, workspace):
    source = "for n in range(1, 10 ** 9):\n    link.post({**frame()[0], 'id': n})"
    flood = await native(box, workspace, source, file_operations=300)
    assert flood.error.code == "limit.calls"
    with anyio.fail_after(60):
        assert (await box.run(RunSpec(source="1 + 1"))).value == 2


async def test_answers_that_nobody_reads_hold_only_their_own_run_up(box, workspace):
    workspace.write("big", b"x" * 1_000_000)
    source = """
for n in range(1, 400):
    link.post({**frame()[0], 'id': n, 'operation': 'read', 'name': 'big'})
while True:
    pass"""
    spec = RunSpec(source=SPEAK + source, dialect="native", limits=Limits(wall_s=3, queued_bytes=2 << 20))
    with anyio.fail_after(60):
        result = await box.run(spec, files=RunFiles(workspace).answer)
    assert result.error.code in ("limit.wall", "limit.queued")


async def test_a_frame_that_is_too_long_ends_the_run(box, workspace):
    source = "link.post({**frame()[0], 'id': 5, 'operation': 'write'}, b'x' * 300_000)\nlink.request(*frame())"
    assert (await native(box, workspace, source, frame_bytes=128 * 1024)).error.code == "limit.frame"


NAMES = [
    "../secret",
    "..",
    "a/../../secret",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "./a",
    "a//b",
    "a/",
    "a\0b",
    "a\nb",
    "\ud800",
    "\udcff",
    "x" * 256,
    "/".join("abcdefghi"),
    "../workspace.json",
    "../new",
    "./../secret",
    "a\u2028",
]


async def test_no_operation_takes_a_name_that_leads_out(box, workspace, tmp_path):
    source = f"""
names = json.loads({json.dumps(json.dumps(NAMES))})
ask(b'mine', operation='write', name='mine')
found = []
for name in names:
    for operation in sorted(wire.FILE_OPERATIONS - {{'rename'}}):
        content = b'x' if operation in wire.FILE_CONTENT else b''
        found.append(ask(content, operation=operation, name=name))
    found.append(ask(operation='rename', name=name, to='stolen'))
    found.append(ask(operation='rename', name='mine', to=name))
print(len(found), [item for item in found if item[0]])
print([item for item in found if {str(tmp_path)!r} in item[1]])
sorted({{json.loads(text)['errno'] for ok, text in found}})"""
    result = await native(box, workspace, source)
    assert (result.status, result.printed) == ("ok", f"{len(NAMES) * 11} []\n[]\n"), result.error
    assert result.value == [13, 22, 36]
    assert [item.name for item in workspace.path.iterdir()] == ["mine"]
    assert (tmp_path / "secret").read_text() == "secret"
    assert sorted(item.name for item in workspace.path.parent.iterdir()) == ["files", "workspace.json"]


async def test_links_that_another_process_plants_lead_nowhere(box, workspace, tmp_path):
    workspace.list("")
    (workspace.path / "link").symlink_to(tmp_path / "secret")
    (workspace.path / "folder").symlink_to(tmp_path)
    source = """
found = [ask(operation=operation, name=name) for operation in ('read', 'append', 'stat', 'list', 'write')
         for name in ('link', 'folder', 'folder/secret')]
[item for item in found if item[0]], any('secret' in item[1] for item in found)"""
    result = await native(box, workspace, source)
    assert result.value == [[], False], result.error
    assert (tmp_path / "secret").read_text() == "secret"


# -- one session against another --------------------------------------------------------------------------------------


@pytest.fixture
async def host(tmp_path):
    config = tmp_path / "mcp.json"
    config.write_text('{"mcpServers": {}}')
    with anyio.fail_after(90):
        async with Host.open(load_config(config), state_dir=tmp_path / "state") as opened:
            yield opened


@pytest.mark.parametrize("principals", [("local", "local"), ("ada", "grace")])
async def test_a_session_reaches_no_file_and_no_value_of_another(host, principals):
    one, two = (host.session(principal=principal) for principal in principals)
    outcome = await one.execute("open('secret.txt', 'w').write('s')\nstore['secret'] = 1\nstore['secret']", wait_s=60)
    assert outcome.status == "ok", outcome.error
    path = f"../../{one.session.id}/files/secret.txt"
    source = f"""
import os
found = []
for name in ("secret.txt", {path!r}, "/workspace/" + {path!r}, {str(one.session.workspace.path)!r} + "/secret.txt"):
    try:
        found.append(open(name).read())
    except OSError as error:
        found.append(error.errno)
os.listdir(), dict(store), store.get('secret'), found"""
    seen = await two.execute(source, wait_s=60)
    assert seen.value == [[], {}, None, [2, 13, 13, 13]], seen.error


async def test_a_client_that_is_not_local_never_learns_a_path(host, tmp_path):
    session = host.session()
    outcome = await session.execute(
        "open('a.txt', 'w').write('s')\nimport os\nos.getcwd(), os.path.abspath('a.txt')", wait_s=60
    )
    assert ([file.name for file in outcome.files], outcome.workspace) == (["a.txt"], "")
    for source in ("open('/x')", "open('nope/x')", "import os\nos.rename('a.txt', 'nope/b')", "open('a.txt/b')"):
        failed = await session.execute(source, wait_s=60)
        assert failed.status == "error"
        assert str(tmp_path) not in json.dumps(failed.to_json())
    assert str(tmp_path) not in json.dumps(outcome.to_json())
