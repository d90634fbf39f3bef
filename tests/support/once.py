"""Makes a thing once for all workers of a test session: what takes long and is only looked at afterwards."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Once:
    """JSON values by name, in a folder that all workers of the session have in common."""

    def __init__(self, base: Path) -> None:
        self._folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        self._known: dict[str, Any] = {}

    def __call__(self, name: str, make: Callable[[], Any]) -> Any:
        """The value of that name; the first who asks makes it, others wait for it. What is raised is not kept."""
        if name not in self._known:
            file = self._folder / f"once-{name}.json"
            with open(file.with_suffix(".lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not file.exists():
                    text = json.dumps(make())
                    file.write_text(text, encoding="utf-8")
                self._known[name] = json.loads(file.read_text(encoding="utf-8"))
        return self._known[name]
