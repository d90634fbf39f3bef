"""Things that may stand in one place only: kernel calls, the transformer, secrets, catch-alls, effects."""

import ast

from tests.architecture.source import imported_modules, name_of, parse, python_files

PURE = (
    "codemode/catalog",
    "codemode/search",
    "codemode/bindings",
    "codemode/gate",
    "codemode/policy/rules.py",
    "codemode/policy/decide.py",
    "codemode/policy/budget.py",
    "codemode/policy/form.py",
    "codemode/policy/link.py",
    "sandbox/dialect",
)
EFFECTS = {
    "os",
    "time",
    "random",
    "logging",
    "socket",
    "subprocess",
    "sqlite3",
    "anyio",
    "secrets",
    "tempfile",
    "shutil",
}
# What the guest runs is handed over as text or looked up at run time: these files are effects' own homes in the guest.
GUEST_SIDE = {
    "codemode/bindings/guest_runtime.py": "shipped as text and run in the guest",
    "sandbox/dialect/logging_lite.py": "what programs get in place of the logging module",
    "sandbox/dialect/standins/environment.py": "what programs get in place of parts of os",
    "sandbox/dialect/standins/log_records.py": "what programs get in place of the logging module",
    "sandbox/dialect/standins/temporary.py": "what programs get in place of the tempfile module",
}
CATCH_ALLS = {
    "codemode/host.py": "the caller's exception on its way out of the task groups",
    "sandbox/supervisor.py": "the caller's exception on its way out of the task groups",
    "codemode/runs/execute.py": "the rim of one run",
    "codemode/upstream": "the rim of one server: a library may raise anything",
    "codemode/server": "the rim of one request",
    "codemode/cli/main.py": "the rim of one command",
    "sandbox/channel.py": "frames are handed over from the loop itself, which would swallow what is raised there",
    "sandbox/pump.py": "the rim of one call",
    "sandbox/guest": "foreign code: its errors are values here",
    "sandbox/dialect": "foreign code and hostile source",
}


def _uses(folder_prefix: str, names: set[str], *, inside: bool) -> dict[str, set[str]]:
    found = {}
    for path in python_files("codemode", "sandbox"):
        name = name_of(path)
        if name.startswith(folder_prefix) is inside:
            hits = {module for module in imported_modules(path) if module.partition(".")[0] in names}
            if hits:
                found[name] = hits
    return found


def test_ctypes_occurs_only_in_sandbox_linux():
    assert _uses("sandbox/linux/", {"ctypes"}, inside=False) == {}


def test_the_transformer_is_imported_only_in_the_dialect():
    assert _uses("sandbox/dialect/", {"RestrictedPython"}, inside=False) == {}


def test_credentials_are_imported_only_in_upstream():
    assert {
        name_of(path)
        for path in python_files("codemode")
        if "codemode.upstream.credentials" in imported_modules(path)
        and not name_of(path).startswith("codemode/upstream/")
    } == set()


def test_pure_packages_have_no_clock_no_files_and_no_randomness():
    impure = {}
    for path in python_files(*PURE):
        if name_of(path) in GUEST_SIDE:
            continue
        hits = {m for m in imported_modules(path) if m.partition(".")[0] in EFFECTS}
        if hits:
            impure[name_of(path)] = hits
    assert {k: v for k, v in impure.items() if not k.startswith("sandbox/dialect/modules")} == {}


def test_a_catch_all_stands_only_at_a_rim():
    outside = []
    for path in python_files("codemode", "sandbox"):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ExceptHandler):
                names = (
                    {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)} if node.type else {"BaseException"}
                )
                is_wide = names & {"Exception", "BaseException"}
                re_raises = any(isinstance(n, ast.Raise) and n.exc is None for n in ast.walk(node))
                if is_wide and not re_raises and not name_of(path).startswith(tuple(CATCH_ALLS)):
                    outside.append(f"{name_of(path)}:{node.lineno}")
    assert outside == []


def test_only_the_faces_import_for_type_checkers():
    users = {
        name_of(path)
        for path in python_files("codemode", "sandbox")
        if any(isinstance(n, ast.Name) and n.id == "TYPE_CHECKING" for n in ast.walk(parse(path)))
    }
    assert users <= {"codemode/__init__.py", "sandbox/__init__.py"}


def test_every_module_says_what_it_is_for():
    assert [name_of(p) for p in python_files("codemode", "sandbox") if not ast.get_docstring(parse(p))] == []
