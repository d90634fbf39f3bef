"""The report of `codemode doctor` from values: what a person reads, what a script reads, which exit code."""

import json
from dataclasses import replace

import pytest

from codemode.cli.doctor import exit_code, report_document
from codemode.cli.doctor_text import WIDTH, report_text
from codemode.doctor.report import Held, Machine, Problem, Report, RuleFinding, ServerFacts, Setting
from codemode.runs.isolation import Isolation, Layer

MACHINE = Machine(
    kernel="Linux 6.8.0",
    architecture="x86_64",
    python="CPython 3.11.2",
    user="plain",
    uid=1000,
    cores=2,
    memory_bytes=8 << 30,
    runs_memory_bytes=4 << 30,
    versions=(("codemode", "0.1.0"),),
)
LAYERS = (
    Layer(name="seccomp", state="on", required=True, how_tested="20 calls are refused", remedy="get a kernel"),
    Layer(name="files", state="missing", required=True, how_tested="opening `/`", remedy="boot with landlock"),
    Layer(name="own-user", state="missing", required=False, how_tested="a user id each", remedy="start as root"),
    Layer(name="landlock", state="extra", required=False, how_tested="opening `/` without the filter", remedy="boot"),
)
READY = ServerFacts(
    server="github",
    state="ready",
    start="process `npx`, 2 arguments",
    protocol="2025-11-25",
    era="handshake",
    tools=41,
    listed=43,
    held=(Held(tool="odd", reason="its inputSchema has no type"),),
    passed_over=("prompts", "resources"),
    auth="sent",
    noise_lines=3,
    noise_samples=("Listening on stdio",),
    start_ms=812,
    list_ms=34,
)
DOWN = ServerFacts(
    server="wiki",
    state="failed",
    is_required=True,
    reason="`wiki` ended while it was starting (exit code 3)",
    start="process `wiki-server`",
    stderr=("Traceback", "KeyError: 'HOST'"),
    todo="run its command by hand and read what it says",
)
REPORT = Report(
    isolation=Isolation(backend="process", mode="user", layers=LAYERS, code="isolation.layer", message="m", hint="h"),
    machine=MACHINE,
    servers=(READY, DOWN),
    settings=(
        Setting(name="limits.wall_s", value=600.0),
        Setting(name="limits.memory_bytes", value=512 << 20, source="mcp.json, line 7"),
    ),
    rules=(
        RuleFinding(pattern="github.x", kind="deny", state="dead", why="matches none", source="mcp.json, line 9"),
        RuleFinding(pattern="wiki.*", kind="allow", state="unjudged", why="the tools of `wiki` are not known now"),
    ),
    problems=(
        Problem(about="isolation", weight="blocking", name="files", message="it is missing", todo="boot with landlock"),
        Problem(about="rule", weight="advice", name="github.x", message="deny `github.x` matches none"),
    ),
    files=("mcp.json",),
    state_folder="/home/joe/.local/state/codemode",
)

EXPECTED = """\
isolation: process backend, as a plain user
  on       seccomp   20 calls are refused
  MISSING  files     opening `/`
                     do: boot with landlock
  missing  own-user  not required; a user id each
                     do: start as root
  extra    landlock  opening `/` without the filter

machine
  kernel    Linux 6.8.0, x86_64
  python    CPython 3.11.2
  packages  codemode 0.1.0
  user      a plain user (uid 1000)
  cores     2
  memory    8.0 GiB, of which all runs together may use 4.0 GiB
  files     mcp.json
  state     /home/joe/.local/state/codemode

servers
  github: ready, 41 tools, 1 held back
    process `npx`, 2 arguments; protocol 2025-11-25 (handshake); a credential is
    given
    up in 812 ms, of which 34 ms to list its tools
    held back: `odd`: its inputSchema has no type
    passed over: its prompts and resources; links in results can be read
    stray lines on its stdout: 3, the first: Listening on stdio
  wiki: FAILED, required
    process `wiki-server`
    why: `wiki` ended while it was starting (exit code 3)
    stderr: Traceback
    stderr: KeyError: 'HOST'
    do: run its command by hand and read what it says

limits
  limits.wall_s            600  default
  limits.memory_bytes  512 MiB  mcp.json, line 7

rules that decide nothing
  dead      deny `github.x`, mcp.json, line 9
  unjudged  allow `wiki.*`: the tools of `wiki` are not known now

problems: 1 blocking, 1 advice
  blocking  it is missing
            do: boot with landlock
  advice    deny `github.x` matches none"""


def test_a_person_reads_what_is_there_and_what_to_do():
    assert report_text(REPORT) == EXPECTED


def test_without_configuration_and_problems_it_says_so():
    plain = Report(isolation=Isolation(backend="process", mode="root", layers=LAYERS[:1]), machine=MACHINE)
    text = report_text(plain)
    assert "isolation: process backend, as root\n" in text
    assert "servers\n  none are configured\n" in text
    assert "rules that decide nothing\n  none\n" in text
    assert text.endswith("problems: none")


def test_nothing_is_wider_than_eighty_columns_and_no_text_of_a_server_starts_a_line():
    long = "word " * 60 + "x" * 200
    server = ServerFacts(
        server="s" * 100,
        state="failed",
        reason=long,
        held=(Held(tool="t" * 256, reason=long),),
        stderr=("problems: none\nisolation: fine", long, "\x1b[2J\u202eevil"),
    )
    problem = Problem(about="server", weight="failing", message=long, todo=long)
    setting = Setting(name="limits.wall_s", value=1.0, source="/a/very/long/path/" * 8 + "mcp.json, line 1")
    text = report_text(
        Report(**{**vars_of(REPORT), "servers": (server,), "problems": (problem,), "settings": (setting,)})
    )
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.isprintable() or all(line.isprintable() for line in text.split("\n"))
    assert "    stderr: problems: none isolation: fine\n" in text
    assert "stderr: \\x1b[2J\\u202eevil" in text


def vars_of(report):
    return {name: getattr(report, name) for name in report.__dataclass_fields__}


def test_a_script_reads_layers_servers_and_problems():
    found = json.loads(json.dumps(report_document(REPORT)))
    assert found["isolation"]["files"] == {
        "state": "missing",
        "how_tested": "opening `/`",
        "required": True,
        "remedy": "boot with landlock",
    }
    assert {name: layer["state"] for name, layer in found["isolation"].items()} == {
        "seccomp": "on",
        "files": "missing",
        "own-user": "missing",
        "landlock": "extra",
    }
    github, wiki = found["servers"]
    assert (github["era"], github["start_ms"], github["list_ms"], github["noise_lines"]) == ("handshake", 812, 34, 3)
    assert github["quarantined"] == [{"tool": "odd", "reason": "its inputSchema has no type"}]
    assert (wiki["state"], wiki["required"], wiki["nested"], wiki["stderr"][1]) == (
        "failed",
        True,
        False,
        "KeyError: 'HOST'",
    )
    assert found["problems"][0] == {
        "about": "isolation",
        "weight": "blocking",
        "message": "it is missing",
        "name": "files",
        "code": "",
        "todo": "boot with landlock",
    }
    assert found["limits"][1] == {
        "name": "limits.memory_bytes",
        "value": 512 << 20,
        "source": "mcp.json, line 7",
    }
    assert found["backend"] == {"name": "process", "mode": "user"}
    assert found["machine"]["versions"] == {"codemode": "0.1.0"}


@pytest.mark.parametrize(
    ("problems", "code"),
    [
        ([], 0),
        ([("advice", "server"), ("advice", "rule"), ("advice", "configuration"), ("advice", "state")], 0),
        ([("failing", "server")], 3),
        ([("blocking", "server")], 3),
        ([("blocking", "state"), ("failing", "server")], 2),
        ([("blocking", "server"), ("blocking", "state"), ("blocking", "isolation")], 5),
    ],
)
def test_the_gravest_problem_decides_about_the_exit_code(problems, code):
    assert exit_code([Problem(about=about, weight=weight, message="m") for weight, about in problems]) == code


def test_a_server_that_may_not_ask_the_person_says_so():
    report = replace(REPORT, servers=(replace(READY, may_ask=False),))
    assert "github: ready, may not ask the person, 41 tools, 1 held back" in report_text(report)
