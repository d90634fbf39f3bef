"""The command line as processes: exit codes, one JSON document, data on standard output and nothing else there."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.support.front_process import calls_of, codemode, environment, heed_interrupts, write_config

COMMANDS = ["demo", "serve", "search", "run", "runs", "bindings", "catalog", "doctor"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder whose server is known already, so that commands need not wait for it."""
    folder = tmp_path_factory.mktemp("cli")
    config = write_config(folder)
    done = codemode("catalog", "--config", config, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def run(folder, program, *arguments, **settings):
    config = write_config(folder, **settings)
    return codemode("run", "-", "--config", config, *arguments, folder=folder, stdin=program)


def document(done):
    """The one JSON document of a command."""
    return json.loads(done.stdout)


# -- help and usage ----------------------------------------------------------------------------------------------------


def test_help_lists_every_command_there_is(tmp_path):
    done = codemode("--help", folder=tmp_path)
    assert done.returncode == 0
    listed = [line.split()[0] for line in done.stdout.partition("Commands:")[2].splitlines() if line.strip()]
    assert listed == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, tmp_path):
    done = codemode(command, "--help", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: codemode")


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["search"], ["search", "x", "--limit", "many"], ["run", "f.py", "--gate", "ajar"]]
)
def test_a_mistake_on_the_command_line_is_two(arguments, tmp_path):
    done = codemode(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error[cli.usage]: ")
    assert "\nhint: " in done.stderr
    assert done.stdout == ""


def test_a_mistake_with_json_is_one_json_document_too(tmp_path):
    done = codemode("search", "x", "--limit", "0", "--json", folder=tmp_path)
    assert done.returncode == 2
    assert document(done)["error"]["code"] == "cli.usage"


# -- configuration -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (None, "config.missing", "no.json: cannot be read"),
        ('{"mcpServers": {,}}', "config.json", "no.json, line 1, column 17: not JSON"),
        ('{"codemode": {\n"gate": "ajar"}}', "config.key", "no.json, line 2"),
        ('{"codemode": {\n"gait": "heal"}}', "config.key", "gait"),
    ],
)
@pytest.mark.parametrize("command", [["catalog"], ["search", "x"], ["run", "-"], ["serve"], ["runs"], ["doctor"]])
def test_a_bad_configuration_is_two_with_file_and_line(command, text, code, said, tmp_path):
    if text is not None:
        (tmp_path / "no.json").write_text(text)
    as_json = [] if command == ["serve"] else ["--json"]
    done = codemode(*command, "--config", "no.json", *as_json, folder=tmp_path)
    assert done.returncode == 2
    assert f"error[{code}]: " in done.stderr
    assert said in done.stderr
    if as_json:
        assert document(done)["error"]["code"] == code


def test_a_server_that_does_not_start_is_three_and_named(tmp_path):
    config = write_config(tmp_path, server={"command": "/no/such/program"})
    done = codemode("catalog", "--config", config, "--json", folder=tmp_path)
    assert done.returncode == 3
    assert document(done)["servers"][0]["state"] == "failed"
    assert codemode("search", "issues", "--config", config, folder=tmp_path).returncode == 3


def test_configurations_add_up(folder, tmp_path):
    other = tmp_path / "other.json"
    entry = {"command": "/no/such/program", "disabled": True}
    other.write_text(json.dumps({"mcpServers": {"other": entry}}))
    done = codemode("catalog", "--config", write_config(folder), "--config", other, "--json", folder=folder)
    assert [entry["server"] for entry in document(done)["servers"]] == ["other", "tracker"]


# -- search, catalog, bindings -----------------------------------------------------------------------------------------


def test_search_prints_what_a_model_would_read(folder):
    done = codemode("search", "one issue by number", "--config", write_config(folder), folder=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("Ready to call (")
    assert "tools.tracker.get_issue(number: int)" in done.stdout


def test_search_as_json_has_the_fields_that_scripts_use(folder):
    done = codemode("search", "delete; bake", "--config", write_config(folder), "--json", folder=folder)
    found = document(done)
    hit = found["hits"][0]
    assert hit["id"].startswith("tracker:delete_repo@")
    assert (hit["server"], hit["tool"], hit["module"], hit["function"]) == (
        "tracker",
        "delete_repo",
        "tracker",
        "delete_repo",
    )
    assert hit["signature"].startswith("tools.tracker.delete_repo(repo: str)")
    assert hit["risk"] == "destructive"
    assert hit["score"] > 0
    assert found["unavailable"] == []
    assert found["note"] == "nothing fits: bake"


@pytest.mark.parametrize(("detail", "said"), [("names", "tracker.get_issue\n"), ("full", "    number (int, required)")])
def test_search_says_less_or_more(folder, detail, said):
    done = codemode("search", "get issue", "--detail", detail, "--config", write_config(folder), folder=folder)
    assert said in done.stdout


def test_a_listing_can_be_searched_with_nothing_running(tmp_path):
    tools = [{"name": "list_issues", "description": "List issues.", "inputSchema": {"type": "object"}}]
    (tmp_path / "github.json").write_text(json.dumps({"server": "github", "tools": tools}))
    done = codemode("search", "issues", "--catalog", "github.json", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert document(done)["hits"][0]["id"].startswith("github:list_issues@")
    assert done.stderr == ""


def test_catalog_shows_tokens_and_what_is_held_back(folder):
    done = codemode("catalog", "--config", write_config(folder), "--json", folder=folder)
    [server] = document(done)["servers"]
    assert (server["server"], server["state"], server["tools"], server["quarantined"]) == ("tracker", "ready", 6, [])
    assert server["tokens"] > 100
    table = codemode("catalog", "--config", write_config(folder), folder=folder).stdout.splitlines()
    assert table[0].split() == ["server", "state", "protocol", "tools", "held", "back", "tokens", "(estimate)"]
    assert table[1].split()[:2] == ["tracker", "ready"]


def test_bindings_are_written_for_review_and_replaced(folder, tmp_path):
    for _ in range(2):
        done = codemode("bindings", "--out", tmp_path, "--config", write_config(folder), "--json", folder=folder)
        assert document(done) == {"modules": 1, "tools": 6, "quarantined": []}
    assert "get_issue" in (tmp_path / "tools" / "tracker" / "__init__.pyi").read_text()
    (tmp_path / "manifest.json").unlink()
    done = codemode("bindings", "--out", tmp_path, "--config", write_config(folder), folder=folder)
    assert done.returncode == 2
    assert "was not written by codemode" in done.stderr


# -- run ---------------------------------------------------------------------------------------------------------------


def test_a_program_prints_its_value_and_nothing_else_on_standard_output(folder):
    done = run(folder, "print('hello')\ntools.tracker.get_issue(number=2)['title']")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\nissue 2\n", "")


def test_a_run_as_json_has_the_fields_that_scripts_use(folder):
    found = document(run(folder, "print('hi')\ntools.tracker.get_issue(number=2)", "--json"))
    assert found["run"] == "r1"
    assert (found["status"], found["code"], found["printed"], found["error"]) == ("ok", "", "hi\n", None)
    assert found["value"] == {"number": 2, "title": "issue 2", "next": 3}
    assert [(call["tool"], call["status"]) for call in found["calls"]] == [("tracker.get_issue", "ok")]
    assert found["calls"][0]["ms"] > 0
    assert found["usage"]["calls"] == 1
    assert len(found["receipt"]) == 24


@pytest.mark.parametrize(
    ("program", "settings", "exit_code", "status", "code"),
    [
        ("1 / 0", {}, 1, "error", "guest.raised"),
        ("1 +", {}, 1, "refused", "guest.syntax"),
        ("().__class__.__mro__", {}, 1, "refused", "dialect.refused"),
        ("", {}, 2, "refused", "run.empty"),
        ("tools.tracker.nonsense()", {}, 4, "refused", "gate.unknown_tool"),
        ("tools.tracker.get_issue(number='two')", {}, 4, "refused", "arguments.invalid"),
        ("tools.tracker.delete_repo(repo='x')", {}, 4, "refused", "policy.ask"),
        ("while True: pass", {"limits": {"wall_s": 0.5}}, 124, "limit", "limit.wall"),
    ],
)
def test_every_end_of_a_program_has_its_exit_code(folder, program, settings, exit_code, status, code):
    done = run(folder, program, "--json", **settings)
    found = document(done)
    assert (done.returncode, found["status"], found["code"]) == (exit_code, status, code)
    assert found["error"]["code"] == code
    assert f"error[{code}]: " in done.stderr


def test_a_failure_shows_the_models_own_traceback_on_standard_error(folder):
    done = run(folder, "print('so far')\nrows = []\nrows[3]")
    assert done.stdout == "so far\n"
    assert "line 3, in <module>" in done.stderr
    assert "error[guest.raised]: IndexError: list index out of range" in done.stderr
    assert "/codemode/" not in done.stderr


def test_flags_decide_on_gate_and_approval(folder):
    (folder / "calls.jsonl").unlink(missing_ok=True)
    refused = run(folder, "tools.tracker.get_issue(number=2)", "--gate", "heal")
    assert refused.returncode == 4
    assert "hint: `--gate open`" in refused.stderr
    assert calls_of(folder) == []
    assert run(folder, "tools.tracker.delete_repo(repo='x')", "--approve", "all").stdout == "deleted x\n"
    assert [call["name"] for call in calls_of(folder)] == ["delete_repo"]


def test_a_file_is_run_by_its_name_and_a_missing_one_is_two(folder):
    (folder / "task.py").write_text("6 * 7")
    config = write_config(folder)
    assert codemode("run", "task.py", "--config", config, folder=folder).stdout == "42\n"
    missing = codemode("run", "nothing.py", "--config", config, folder=folder)
    assert missing.returncode == 2
    assert "error[config.missing]: nothing.py: cannot be read" in missing.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_with_130(folder, number):
    (folder / "task.py").write_text("tools.tracker.wait(seconds=300)")
    (folder / "calls.jsonl").unlink(missing_ok=True)
    with subprocess.Popen(
        [sys.executable, "-m", "codemode", "run", "task.py", "--config", str(write_config(folder))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(folder),
        preexec_fn=heed_interrupts,
    ) as process:
        deadline = time.monotonic() + 30
        while not calls_of(folder) and time.monotonic() < deadline:
            time.sleep(0.05)  # the call that arrives is what shows that the program runs
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("error[cli.interrupted]: stopped by a signal\n")


# -- the record --------------------------------------------------------------------------------------------------------


def test_runs_are_listed_newest_first_and_one_is_shown_whole(folder):
    config = write_config(folder)
    first = document(run(folder, "1 / 0", "--json"))
    second = document(run(folder, "tools.tracker.get_issue(number=2)", "--json"))
    listed = document(codemode("runs", "--config", config, "--json", folder=folder))["runs"]
    assert [row["receipt"] for row in listed[:2]] == [second["receipt"], first["receipt"]]
    assert listed[1]["status"] == "error"
    assert listed[1]["code"] == "guest.raised"
    assert listed[0]["started"].endswith("+00:00")
    [one] = document(codemode("runs", second["receipt"][:8], "--config", config, "--json", folder=folder))["runs"]
    assert one["record"]["program"] == "tools.tracker.get_issue(number=2)"
    assert [call["tool"] for call in one["record"]["calls"]] == ["tracker.get_issue"]
    text = codemode("runs", second["receipt"], "--config", config, folder=folder).stdout
    assert "tools.tracker.get_issue(number=2)" in text


def test_an_unknown_run_is_two(folder):
    done = codemode("runs", "r999", "--config", write_config(folder), "--json", folder=folder)
    assert done.returncode == 2
    assert document(done)["error"]["code"] == "run.unknown"


# -- the demo ----------------------------------------------------------------------------------------------------------


def test_the_demo_does_the_main_job(tmp_path):
    done = codemode("demo", "--json", folder=tmp_path, timeout_s=110)
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert found["calls"] >= 40
    assert found["value"]["chain"]["tickets"] == 24
    assert found["value"]["bulk"]["entries"] == 20_000
    assert found["context_tokens"]["direct"] > 50 * found["context_tokens"]["here"]
    assert found["isolation"]["seccomp"]["state"] == "on"
    assert "failed: " not in done.stderr
