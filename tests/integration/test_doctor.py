"""`codemode doctor` over real servers with every fault there is, on machines that isolate less, as other users."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from codemode.cli.doctor import report_document
from codemode.cli.doctor_text import report_text
from codemode.config.load import load_config
from codemode.config.model import Config, ServerConfig
from codemode.doctor.examine import examine
from codemode.doctor.servers import start_all
from codemode.upstream.cache import KnownListing, ListingCache
from tests.support.front_process import environment
from tests.support.hand_made import HandMade
from tests.support.upstream import ODD_SERVER, tool
from tests.support.web import serving

ROOT = Path(__file__).resolve().parents[2]
PLAIN_USER = ROOT / "tests" / "security" / "plain_user.py"

pytestmark = [pytest.mark.timeout(180), pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


def odd(entry=None, **quirks):
    """The entry of a server with these quirks."""
    return {"command": sys.executable, "args": [str(ODD_SERVER), json.dumps(quirks)], **(entry or {})}


def configured(folder, servers=None, *, name="mcp.json", **settings):
    """A configuration file."""
    path = folder / name
    path.write_text(json.dumps({"mcpServers": servers or {}, "codemode": settings}, indent=1), encoding="utf-8")
    return path


def doctor(folder, *arguments, run=("-m", "codemode"), **variables):
    """Run the command in a folder; nothing of the user's configuration and state is seen."""
    return subprocess.run(
        [sys.executable, *map(str, run), "doctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=150,
        cwd=folder,
        env={**environment(folder), "PYTHONPATH": str(ROOT), **variables},
    )


def document(done):
    """The one JSON document."""
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def server_of(found, name):
    return next(item for item in found["servers"] if item["server"] == name)


def grave(found):
    """(weight, about, name) of every problem that is more than advice."""
    return [(p["weight"], p["about"], p["name"]) for p in found["problems"] if p["weight"] != "advice"]


# -- servers -----------------------------------------------------------------------------------------------------------


def page(request):
    return HTMLResponse("<html><body>Welcome to the intranet</body></html>")


def locked(request):
    return JSONResponse({"error": "invalid_token"}, 401, headers={"www-authenticate": "Bearer"})


@pytest.fixture(scope="module")
def ward(tmp_path_factory):
    """One report over servers of all kinds: (exit code, document, folder)."""
    folder = tmp_path_factory.mktemp("ward")
    routes = [Route("/page", page, methods=["GET", "POST"]), Route("/locked", locked, methods=["GET", "POST"])]
    configured(folder, name="inner.json")
    inner = {"CODEMODE_STATE_DIR": str(folder / "inner")}
    with serving(Starlette(routes=routes)) as address, serving(HandMade().app) as hand, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        servers = {
            "good": odd(log=str(folder / "good.log"), gate=str(folder / "old.log")),
            "old": odd(
                log=str(folder / "old.log"),
                gate=str(folder / "good.log"),
                era="old",
                tools=[tool("read"), tool("write")],
            ),
            "web": {"url": f"{hand}/mcp", "headers": {"Authorization": "Bearer something"}},
            "noisy": odd(before=[b"Listening on stdio".hex(), b"ready".hex()]),
            "held": odd(tools=[tool("fine"), {"name": "broken", "inputSchema": {"type": "array"}}]),
            "dying": odd(die_at_start=True, last_words="cannot find the database"),
            "ending": odd(era="old", exit_after_list=True),
            "hanging": odd({"start_timeout_s": 3}, gate=str(folder / "never")),
            "missing": {"command": "no-such-program-here", "args": ["x"]},
            "unset": odd({"env": {"KEY": "${DOCTOR_TEST_IS_NOT_SET}"}}),
            "wrong": {"command": 7},
            "off": odd({"disabled": True}),
            "locked": {"url": f"{address}/locked"},
            "page": {"url": f"{address}/page"},
            "nobody": {"url": f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"},
            "inner": {
                "command": sys.executable,
                "args": ["-m", "codemode", "serve", "--config", "inner.json"],
                "env": {**inner, "PYTHONPATH": str(ROOT)},
            },
            "itself": {"command": "codemode", "args": ["serve", "--config", "mcp.json"]},
        }
        rules = [
            {"tool": "old.write", "decision": "allow"},
            {"tool": "old.*", "decision": "deny"},
            {"tool": "old.reads", "decision": "ask"},
            {"tool": "dying.x", "decision": "ask"},
        ]
        servers["good"]["unheard_of"] = 1
        configured(folder, servers, policy={"rules": rules}, limits={"wall_s": 60})
        done = doctor(folder, "--config", "mcp.json", "--json")
    assert done.stderr == ""
    return done.returncode, document(done), folder


def test_a_server_that_works_is_told_with_its_start_era_tools_and_times(ward):
    _, found, _ = ward
    good, old, web = (server_of(found, name) for name in ("good", "old", "web"))
    assert (good["state"], good["protocol"], good["era"], good["tools"]) == ("ready", "2026-07-28", "modern", 1)
    assert good["start"] == f"process `{sys.executable}`, 2 arguments"
    assert (old["state"], old["era"], old["tools"], old["listed"]) == ("ready", "handshake", 2, 2)
    assert (web["state"], web["auth"], web["start"].startswith("http://127.0.0.1:")) == ("ready", "sent", True)
    for server in (good, old, web):
        assert server["start_ms"] > 0
        assert 0 <= server["list_ms"] <= server["start_ms"]
        assert (server["starts"], server["todo"], server["stderr"]) == (1, "", [])


def test_stray_lines_on_stdout_are_counted_and_shown(ward):
    noisy = server_of(ward[1], "noisy")
    assert (noisy["state"], noisy["noise_lines"], noisy["noise_samples"][0]) == ("ready", 2, "Listening on stdio")
    assert "stderr" in noisy["todo"]


def test_a_tool_that_is_held_back_is_named_with_the_reason(ward):
    held = server_of(ward[1], "held")
    assert (held["state"], held["tools"], held["listed"]) == ("ready", 1, 2)
    assert [item["tool"] for item in held["quarantined"]] == ["broken"]
    assert held["quarantined"][0]["reason"]


@pytest.mark.parametrize(
    ("name", "state", "code", "said", "todo"),
    [
        ("dying", "failed", "upstream.start", "exit code 3; last words: cannot find the database", "by hand"),
        ("ending", "ended", "upstream.died", "exit code 4", "by hand"),
        ("hanging", "failed", "upstream.timeout", "did not come up in 3 s", "start_timeout_s"),
        ("missing", "failed", "upstream.not_found", "the command `no-such-program-here`", "install the command"),
        ("unset", "failed", "config.variable", "`DOCTOR_TEST_IS_NOT_SET`, which is not set", "set the variable"),
        ("wrong", "failed", "config.server", "`mcpServers.wrong.command` must be", "correct the entry"),
        ("locked", "sign_in", "upstream.sign_in", "asks for a sign-in (HTTP 401)", "renew the token"),
        ("page", "failed", "upstream.protocol", "begins with `Welcome to the intranet`", "correct `url`"),
        ("nobody", "failed", "upstream.unreachable", "cannot be reached", "correct `url`"),
        ("itself", "not_started", "config.server", "over the same configuration", "remove the entry"),
    ],
)
def test_a_server_that_cannot_be_used_says_why_and_what_to_do(ward, name, state, code, said, todo):
    server = server_of(ward[1], name)
    assert (server["state"], server["code"]) == (state, code)
    assert said in server["reason"]
    assert todo in server["todo"]
    assert ("failing", "server", name) in grave(ward[1])


def test_the_last_lines_of_a_dead_server_are_shown_and_a_refused_sign_in_is_called_so(ward):
    assert server_of(ward[1], "dying")["stderr"] == ["cannot find the database"]
    assert server_of(ward[1], "locked")["auth"] == "refused"


def test_a_disabled_server_is_no_problem(ward):
    assert server_of(ward[1], "off")["state"] == "disabled"
    assert [p for p in ward[1]["problems"] if p["name"] == "off"] == []


def test_a_server_that_is_code_mode_itself_is_named(ward):
    inner = server_of(ward[1], "inner")
    assert (inner["state"], inner["nested"]) == ("ready", True)
    assert "configure the servers behind it" in inner["todo"]
    assert any("code mode inside of code mode" in p["message"] for p in ward[1]["problems"] if p["name"] == "inner")


def test_rules_that_decide_nothing_are_listed_and_those_of_a_server_that_is_down_are_not_judged(ward):
    listed = [(rule["state"], rule["pattern"]) for rule in ward[1]["rules"]]
    assert listed == [("hidden", "old.write"), ("dead", "old.reads"), ("unjudged", "dying.x")]
    assert "did you mean `old.read`?" in ward[1]["rules"][1]["why"]
    assert [p["name"] for p in ward[1]["problems"] if p["about"] == "rule"] == ["old.write", "old.reads"]


def test_limits_say_where_they_come_from_and_warnings_are_problems(ward):
    limits = {item["name"]: (item["value"], item["source"]) for item in ward[1]["limits"]}
    assert limits["limits.wall_s"][0] == 60
    assert limits["limits.wall_s"][1].startswith("mcp.json, line ")
    assert limits["limits.cpu_s"] == (60.0, "default")
    assert any("`mcpServers.good.unheard_of` is not known" in p["message"] for p in ward[1]["problems"])


def test_nothing_is_called_recorded_cached_or_logged(ward):
    _, _, folder = ward
    said = [json.loads(line) for line in (folder / "good.log").read_text().splitlines() if line.startswith("{")]
    methods = {message["method"] for message in said}
    assert "tools/list" in methods
    assert "tools/call" not in methods
    assert not (folder / "state").exists()


def test_a_server_that_fails_gives_three_whether_it_is_required_or_not(ward, tmp_path):
    code, _, _ = ward
    assert code == 3
    servers = {"down": odd({"required": True}, die_at_start=True), "up": odd()}
    done = doctor(tmp_path, "--config", configured(tmp_path, servers), "--json")
    assert done.returncode == 3
    assert grave(document(done)) == [("blocking", "server", "down")]
    assert server_of(document(done), "up")["state"] == "ready"


def test_servers_start_at_the_same_time(ward):
    # Each of these two answers only when the other has started: its gate is the other's log.
    assert [server_of(ward[1], name)["state"] for name in ("good", "old")] == ["ready", "ready"]


@pytest.mark.anyio
async def test_an_older_cached_listing_is_pointed_out_and_left_as_it_is(tmp_path):
    quirks = {"era": "old", "tools": [tool("one"), tool("two")]}
    entry = ServerConfig(name="a", command=sys.executable, args=(str(ODD_SERVER), json.dumps(quirks)))
    ListingCache(tmp_path).save(entry, KnownListing(tools=(tool("one"), tool("zero"), tool("null"))))
    [file] = tmp_path.iterdir()
    before = file.read_bytes()
    with anyio.fail_after(60):
        started = await start_all(Config(servers=(entry,)), environ=os.environ, cache_dir=tmp_path)
    assert started.facts[0].known == "fronts know an older listing: 2 tools gone, 1 new since"
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (before, [file])


# -- secrets -----------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_no_value_of_an_entry_is_printed_whatever_a_server_says(tmp_path, monkeypatch):
    canaries = [f"canary-{number:02}-value" for number in range(7)]
    said = " ".join(canaries)
    entry = {
        "command": sys.executable,
        "env": {"PLAIN": canaries[0], "API_KEY": canaries[1], "MIXED": "${DOCTOR_CANARY}"},
        "args": [str(ODD_SERVER), "", "--token", canaries[3], f"--password={canaries[4]}"],
    }

    def echoing(request):
        return HTMLResponse(said, 404)

    with serving(Starlette(routes=[Route("/{rest:path}", echoing, methods=["GET", "POST"])])) as address:
        url = f"{address}/{canaries[5]}/mcp?key={canaries[6]}"
        headers = {"Authorization": f"Bearer {canaries[1]}", "X-Tenant": canaries[0], "X-More": "${DOCTOR_CANARY}"}
        dying, noisy = ({**entry, "args": [*entry["args"]]} for _ in range(2))
        dying["args"][1] = json.dumps({"die_at_start": True, "last_words": said})
        noisy["args"][1] = json.dumps({"before": [said.encode().hex()], "tools": [{"name": said}]})
        config = load_config(
            configured(
                tmp_path,
                {"dying": dying, "noisy": noisy, "web": {"url": url, "headers": headers}},
                state_dir=str(tmp_path / "state"),
            )
        )
        monkeypatch.setenv("DOCTOR_CANARY", canaries[2])
        with anyio.fail_after(90):
            report = await examine(config, tell_waiting=lambda servers: None)
    known = {"dying": canaries[:5], "noisy": canaries[:5], "web": [*canaries[:3], *canaries[5:]]}
    text, found = report_text(report), json.loads(json.dumps(report_document(report)))
    for server, values in known.items():
        section = text.partition(f"\n  {server}: ")[2].partition("\n  web: ")[0]
        shown = json.dumps([server_of(found, server), found["problems"]]) + section
        assert [value for value in values if value in shown] == [], server
    assert "[secret]" in server_of(found, "dying")["stderr"][0]
    assert "[secret]" in server_of(found, "noisy")["noise_samples"][0]
    assert canaries[2] not in text + json.dumps(found)


# -- isolation, users, folders -----------------------------------------------------------------------------------------


def test_without_any_configuration_isolation_machine_and_listings_from_files_are_told(tmp_path):
    (tmp_path / "shop.json").write_text(json.dumps({"server": "shop", "tools": [tool("buy")]}))
    done = doctor(tmp_path, "--catalog", "shop.json", "--json")
    found = document(done)
    assert done.returncode == 0, done.stderr
    assert found["isolation"]["seccomp"]["state"] == "on"
    assert found["isolation"]["seccomp"]["how_tested"]
    assert found["machine"]["uid"] == os.geteuid()
    assert [(item["server"], item["state"], item["tools"]) for item in found["servers"]] == [
        ("shop", "listing_only", 1)
    ]
    assert [p["about"] for p in found["problems"]] == ["configuration"]


WITHOUT = """
import sys
from sandbox.linux import identity, seccomp
from sandbox.linux.seccomp import Instruction
from sandbox.linux.syscalls import MACHINE, numbers
program = [Instruction(seccomp.LOAD, 0)]
for name in ("landlock_create_ruleset", "unshare"):
    program += seccomp._when(numbers(MACHINE)[name], [Instruction(seccomp.RETURN, seccomp.RET_ERRNO | 38)])
program.append(Instruction(seccomp.RETURN, seccomp.RET_ALLOW))
identity.forbid_new_privileges()
seccomp.install(seccomp.encode(program))
from codemode.cli.main import main
main()
"""


def test_a_missing_required_layer_is_five_with_its_name_and_remedy_and_the_rest_is_told(tmp_path):
    config = configured(tmp_path, {"up": odd(), "down": {"command": "no-such-program-here"}})
    done = doctor(tmp_path, "--config", config, "--json", run=("-c", WITHOUT))
    found = document(done)
    assert done.returncode == 5, done.stderr
    assert grave(found) == [("blocking", "isolation", "files"), ("failing", "server", "down")]
    assert "boot Linux 5.13 or later" in found["problems"][0]["todo"]
    assert found["isolation"]["files"]["state"] == "missing"
    assert server_of(found, "up")["state"] == "ready"


def test_the_docker_backend_without_an_engine_is_five_and_says_how_to_start_one(tmp_path):
    config = configured(tmp_path, {"up": odd()}, backend="docker")
    done = doctor(tmp_path, "--config", config, "--json", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    found = document(done)
    assert done.returncode == 5
    assert (found["isolation"]["container"]["state"], found["backend"]["name"]) == ("missing", "docker")
    assert grave(found) == [("blocking", "isolation", "container")]
    assert "no docker engine answers" in found["problems"][0]["message"]
    assert found["problems"][0]["todo"]
    assert server_of(found, "up")["state"] == "ready"


@pytest.fixture
def open_folder():
    """A folder that every user may enter and write."""
    folder = Path(tempfile.mkdtemp(prefix="codemode-doctor-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def need_root():
    if os.geteuid() != 0:
        pytest.skip("did not run: only root can start as another user")


@pytest.mark.parametrize("way", ["namespaces", "bare", "container"])
def test_it_works_as_a_plain_user_without_namespaces_and_in_a_container(open_folder, way):
    need_root()
    config = configured(open_folder, {"up": odd()})
    done = doctor(open_folder, "--config", config, "--json", run=(PLAIN_USER, way, "-m", "codemode"))
    found = document(done)
    assert (done.returncode, grave(found)) == (0, []), done.stderr
    assert found["machine"]["user"] == ("root" if way == "container" else "plain")
    assert (found["isolation"]["namespaces"]["state"] == "missing") is (way == "bare")
    assert server_of(found, "up")["state"] == "ready"


def test_a_state_folder_that_may_not_be_written_is_two_with_the_rest_told(open_folder):
    (open_folder / "state").mkdir(mode=0o500)
    run = (PLAIN_USER, "namespaces", "-m", "codemode") if os.geteuid() == 0 else ("-m", "codemode")
    done = doctor(open_folder, "--config", configured(open_folder, {"up": odd()}), "--json", run=run)
    found = document(done)
    assert done.returncode == 2, done.stderr
    [fault] = [p for p in found["problems"] if p["about"] == "state" and p["weight"] == "blocking"]
    assert "cannot be used" in fault["message"]
    assert "CODEMODE_STATE_DIR" in fault["todo"]
    assert server_of(found, "up")["state"] == "ready"
