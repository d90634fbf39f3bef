"""The tables of error codes in the READMEs are those of the code."""

from tests.architecture.source import ROOT


def _table(path):
    rows = (
        line.split("|") for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    )
    return {row[1].strip().strip("`"): row[2].strip() for row in rows if len(row) == 4 and "." in row[1]}


def test_the_readme_of_codemode_lists_every_code_with_its_meaning():
    from codemode.errors import CODES

    listed = {
        code: text for code, text in _table("codemode/README.md").items() if code.partition(".")[0] in _stages(CODES)
    }
    assert listed == dict(CODES)


def test_the_readme_of_the_sandbox_lists_every_code_with_its_meaning():
    from sandbox.errors import CODES

    listed = {
        code: text for code, text in _table("sandbox/README.md").items() if code.partition(".")[0] in _stages(CODES)
    }
    assert listed == dict(CODES)


def _stages(codes):
    return {code.partition(".")[0] for code in codes}
