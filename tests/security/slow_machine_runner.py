"""Runs every attack in a guest on a machine that is emulated: like `attack_runner.py jailed`, with more patience."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox.backends import forks, process
from tests.security import attack_runner

PATIENCE_S = 300.0

if __name__ == "__main__":
    process.START_S = forks._EXAMINE_S = PATIENCE_S
    attack_runner.LIMITS = attack_runner.LIMITS.with_changes(wall_s=60)
    attack_runner.main("jailed")
