"""The setting `packages`: known names only, each mistake named with its key and the remedy."""

import json
from pathlib import Path
from typing import Any

import pytest

from codemode.config.load import load_config
from codemode.config.model import Config
from codemode.errors import ConfigError


def _load(folder: Path, **settings: Any) -> Config:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"codemode": settings}))
    return load_config(file)


@pytest.mark.parametrize(
    ("value", "packages"),
    [
        (None, ()),
        ([], ()),
        (["numpy"], ("numpy",)),
        (["pandas"], ("numpy", "pandas")),
        (["numpy", "numpy"], ("numpy",)),
    ],
)
def test_packages_are_allowed_by_name_and_pandas_brings_numpy(tmp_path: Path, value: Any, packages: Any) -> None:
    assert _load(tmp_path, packages=value).packages == packages


def test_a_package_that_cannot_be_allowed_is_named_with_those_that_can(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, packages=["numpy", "scipy"])
    assert "mcp.json" in caught.value.message
    said = "`codemode.packages[1]` must be one of `numpy`, `pandas`, got the string `scipy`"
    assert caught.value.message.endswith(said)
    with pytest.raises(ConfigError, match="a list of strings"):
        _load(tmp_path, packages="numpy")


def test_packages_and_the_docker_backend_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"`codemode\.packages` needs the process backend") as caught:
        _load(tmp_path, packages=["numpy"], backend="docker")
    assert caught.value.hint_operator == "set `backend` to `process`, or leave `packages` out"
