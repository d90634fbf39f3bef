"""The import rules of ARCHITECTURE section 3, as import-linter checks them."""

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports


def test_every_import_goes_the_one_allowed_way(capsys):
    status = lint_imports(config_filename="pyproject.toml", no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out
