# Tasks; CI calls the same tools through .ci/run.

python := ".venv/bin/python"

# format, lint, types, layers
check:
    .venv/bin/ruff format codemode sandbox tests examples
    .venv/bin/ruff check codemode sandbox tests examples
    .venv/bin/codespell
    .venv/bin/mypy
    .venv/bin/lint-imports --no-cache

# all tests, two at a time
test *ARGS:
    {{python}} -m pytest -n 2 {{ARGS}}

# attacks only
security:
    {{python}} -m pytest tests/security

# figures of the README, as ratios to a baseline of the same run
bench:
    for file in tests/bench/bench_*.py; do {{python}} "$file"; done

# README, examples and tables
docs:
    {{python}} -m pytest tests/docs
