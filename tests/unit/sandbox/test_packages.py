"""Which packages an operator may allow, and what programs see of them."""

import sys
from types import ModuleType

import pytest

from codemode.config.model import PACKAGES as SETTING
from sandbox import SpecError, open_sandbox
from sandbox.backends import zygote
from sandbox.backends.docker import DockerBackend
from sandbox.dialect.facades import Facade
from sandbox.dialect.packages import PACKAGES, check_packages, package_facades


def test_the_setting_offers_what_the_sandbox_knows():
    assert set(SETTING) == set(PACKAGES)


def test_pandas_brings_numpy():
    assert check_packages(["pandas"]) == ("numpy", "pandas")
    assert check_packages(["numpy", "numpy"]) == ("numpy",)
    assert check_packages([]) == ()


@pytest.mark.anyio
async def test_a_package_that_nobody_has_prepared_is_refused_before_anything_starts():
    with pytest.raises(SpecError, match="'scipy' cannot be allowed: programs can be given `numpy`, `pandas`") as caught:
        async with open_sandbox("process", packages=("numpy", "scipy")):
            pass
    assert caught.value.code == "spec.package"


def test_a_package_that_is_not_installed_is_named_with_interpreter_and_command(monkeypatch):
    monkeypatch.setattr(zygote.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SpecError) as caught:
        zygote.command(("numpy",))
    assert caught.value.code == "spec.package"
    assert "is not installed for the interpreter of this host" in caught.value.message
    assert caught.value.hint_operator.startswith(f"run `{sys.executable} -m pip install ")


def test_the_docker_backend_says_that_it_has_none():
    with pytest.raises(SpecError, match="docker backend cannot offer `numpy`") as caught:
        DockerBackend(packages=("numpy",))
    assert (caught.value.code, caught.value.hint_operator) == (
        "spec.package",
        "use the process backend, or allow no packages",
    )


# -- facades ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def package(monkeypatch, tmp_path):
    """An installed package that is in the table, with a part, a private name and a foreign module in it."""
    files = {
        "__init__.py": "import os, json\nfrom . import part\n__version__ = '1'\n_hidden = 2\ndef f(): return 3\n"
        "def __getattr__(name):\n    raise AttributeError(f'no {name}; it was removed')\n",
        "part.py": "import sys\nx = 4\n",
        "inside.py": "y = 5\n",
    }
    folder = tmp_path / "package_of_tests"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = PACKAGES["numpy"].__class__(parts=("part", "lacking"))
    monkeypatch.setattr("sandbox.dialect.packages.PACKAGES", {"package_of_tests": entry})
    yield "package_of_tests"
    for name in [name for name in sys.modules if name.startswith("package_of_tests")]:
        del sys.modules[name]


def test_a_facade_shows_public_names_and_its_own_parts(package):
    facades = package_facades([package])
    assert sorted(facades) == [package, f"{package}.part"]
    top = facades[package]
    assert (top.f(), top.part.x, top.__version__, dir(top)) == (3, 4, "1", ["f", "part"])


@pytest.mark.parametrize("name", ["os", "json", "_hidden"])
def test_foreign_modules_and_private_names_are_not_shown(package, name):
    with pytest.raises(AttributeError, match="use the public names"):
        getattr(package_facades([package])[package], name)


def test_a_name_that_is_gone_is_explained_in_the_words_of_the_package(package):
    with pytest.raises(AttributeError, match="no old; it was removed"):
        _ = package_facades([package])[package].old


def test_a_package_cannot_be_changed_by_a_program(package):
    with pytest.raises(AttributeError, match="read-only"):
        package_facades([package])[package].f = None


def test_a_package_that_is_not_installed_has_no_facade():
    with pytest.raises(ImportError):
        package_facades(["no_package_of_tests"])


def test_no_chain_of_facades_of_the_real_packages_ends_at_a_module():
    for name in PACKAGES:
        pytest.importorskip(name, reason=f"did not run: {name} is not installed")
    facades = package_facades(PACKAGES)
    shown = [(path, name, getattr(facade, name)) for path, facade in facades.items() for name in dir(facade)]
    assert [(path, name) for path, name, value in shown if isinstance(value, ModuleType)] == []
    assert {type(value).__mro__[1] for *_, value in shown if isinstance(value, Facade)} == {Facade}
    assert len(shown) > 1_000


def test_the_table_has_every_part_that_the_installed_packages_document():
    for name in PACKAGES:
        pytest.importorskip(name, reason=f"did not run: {name} is not installed")
    there = package_facades(PACKAGES)
    missing = [f"{name}.{part}" for name in PACKAGES for part in PACKAGES[name].parts if f"{name}.{part}" not in there]
    assert missing == []
