"""Time zones are found in memory once they were preloaded."""

from __future__ import annotations

import subprocess
import sys

from tests.support.dialect_driver import ROOT

_PROGRAM = """
import builtins, sys
sys.path.insert(0, {root!r})
from sandbox.dialect.zones import preload_zones, zone_names
count = preload_zones()
assert preload_zones() == count == len(zone_names())
def no_files(*args, **kwargs):
    raise PermissionError(args)
builtins.open = no_files
import io, os
io.open = os.open = no_files
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError
from datetime import datetime
if count:
    print(datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")).isoformat())
    print("Europe/Berlin" in zone_names())
for key in ("No/Where", "../../etc/passwd"):
    try:
        ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError) as error:
        print(type(error).__name__)
print(count > 0)
"""


def test_a_zone_is_found_where_no_file_can_be_opened() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(root=str(ROOT))], capture_output=True, text=True, check=True
    )
    *answers, has_zones = done.stdout.split()
    wanted = ["2024-07-01T00:00:00+02:00", "True"] if has_zones == "True" else []
    assert answers == [*wanted, "ZoneInfoNotFoundError", "ValueError"]
