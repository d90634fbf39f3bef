"""A guest that crashes, hangs or refuses to end takes nobody along: its own code, its prints, its calls come back."""

import sys

import anyio
import pytest

from sandbox import Limits, Reply, RunSpec, open_sandbox
from tests.support.running import BINDING

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]

PRELUDE = """
import os, sys
from tools import echo
print("before", flush=True)
echo(n=1)
"""
FOR_EVER = "while True:\n    try:\n        {work}\n    except BaseException:\n        pass"
DIED, WALL, WELL, PROTOCOL = ("guest.died",), ("limit.wall",), ("",), ("guest.protocol",)
ENDINGS = {
    "reads address zero": ("import ctypes\nctypes.string_at(0)", DIED),
    "aborts": ("os.abort()", DIED),
    "exits at once": ("os._exit(0)", DIED),
    "exits at once with a number": ("os._exit(3)", DIED),
    "overflows the C stack": (
        "sys.setrecursionlimit(10 ** 9)\nx = []\nfor _ in range(200_000): x = [x]\nrepr(x)",
        (*DIED, *WALL, "guest.raised"),  # later versions of CPython count C frames and raise
    ),
    "except star with a hostile split": (
        "class G(ExceptionGroup):\n    def split(self, kind):\n        return 'x'\n"
        "try:\n    raise G('g', [ValueError()])\nexcept* ValueError:\n    pass",
        (*DIED, "guest.raised"),  # kills CPython 3.11.7; later versions raise
    ),
    "exits in __del__": ("class D:\n    def __del__(self): os._exit(9)\nd = D()\ndel d", DIED),
    "exits in atexit": ("import atexit\natexit.register(os._exit, 9)", WELL),
    "hangs in __del__": ("class D:\n    def __del__(self):\n        while True: pass\nd = D()\ndel d", WALL),
    "hangs in a thread at the end": (
        "import threading\nt = threading.Thread(target=threading.Event().wait)\nt.start()",
        WALL,
    ),
    "spins in C": ("import re\nre.match('(a+)+$', 'a' * 60 + 'b')", WALL),
    "one large product in C": ("x = 10 ** 10 ** 8", WALL),
    "sleeps": ("import time\ntime.sleep(600)", WALL),
    "ignores every signal": (
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nwhile True: pass",
        WALL,
    ),
    "blocks every signal": ("import signal\nsignal.pthread_sigmask(0, range(1, 65))\nwhile True: pass", WALL),
    "catches everything": (FOR_EVER.format(work="while True: pass"), WALL),
    "catches MemoryError": (FOR_EVER.format(work="[bytearray(1 << 24) for _ in range(1000)]"), WALL),
    "catches KeyboardInterrupt": (FOR_EVER.format(work="raise KeyboardInterrupt"), WALL),
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt('mine')", ("guest.raised",)),
    "leaves a thread that goes on": (
        "import _thread\ndef go():\n    while True: pass\n_thread.start_new_thread(go, ())",
        WELL,
    ),
    "leaves a thread that writes on": (
        "import _thread\ndef go():\n    while True: os.write(3, b'\\0\\0\\0\\1x')\n_thread.start_new_thread(go, ())\n"
        "while True: pass",
        PROTOCOL,
    ),
    "spins in many threads of native code": (
        "import ctypes, threading\nlibc, place = ctypes.CDLL(None), ctypes.create_string_buffer(1 << 22)\ndef go():\n"
        "    while True: libc.memset(place, 1, 1 << 22)\n"
        "for _ in range(16): threading.Thread(target=go).start()",
        WALL,
    ),
    "refuses every audited event": (
        "def no(*_): raise OSError('no')\nsys.addaudithook(no)\nimport json",
        ("guest.raised", *WELL),
    ),
    "ends at every audited event": ("sys.addaudithook(lambda *_: os._exit(4))\nopen('x')", DIED),
    "raises at every line": (
        "def no(*_): raise OSError('no')\nimport threading\nthreading.settrace(no)\nsys.settrace(no)\n(lambda: 1)()",
        ("guest.raised", *DIED),
    ),
    "hangs in the collector": (
        "import gc\ndef stay(*_):\n    while True: pass\ngc.callbacks.append(stay)\ngc.collect()",
        WALL,
    ),
    "tells its stack on the channel": (
        "import faulthandler\nfaulthandler.dump_traceback(3)\nwhile True: pass",
        (*PROTOCOL, "limit.frame"),
    ),
    "tells its stack on the channel later, and exits": (
        "import faulthandler\nfaulthandler.dump_traceback_later(0.1, exit=True, file=3)\nwhile True: pass",
        (*PROTOCOL, "limit.frame"),
    ),
    "closes its channel and goes on": ("os.closerange(0, 16)\nwhile True: pass", (*PROTOCOL, *WALL)),
    "has output that hangs": (
        "class Out:\n    def write(self, text): return len(text)\n    def flush(self):\n        while True: pass\n"
        "sys.stdout = sys.stderr = Out()",
        (*WALL, *WELL),
    ),
    "has a value whose text hangs": ("class V:\n    def __repr__(self):\n        while True: pass\nV()", WALL),
    "raises what cannot be told": (
        "class E(Exception):\n    def __str__(self):\n        while True: pass\n    __repr__ = __str__\nraise E",
        WALL,
    ),
    "makes another interpreter": (
        "import ctypes\nctypes.pythonapi.Py_NewInterpreter()\nwhile True: pass",
        (*DIED, *WALL),
    ),
    "kills its reporter": (
        "import gc\ngc.get_objects = None\nsys.modules.clear()\n1 / 0",
        (*DIED, "guest.raised", *WALL),
    ),
}


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


@pytest.mark.parametrize("ending", ENDINGS)
async def test_an_ending_is_the_runs_own_and_what_it_did_comes_back(box, ending):
    code, allowed = ENDINGS[ending]
    spec = RunSpec(
        source=PRELUDE + code,
        dialect="native",
        modules={"tools": BINDING},
        limits=Limits(wall_s=1, cpu_s=30, memory_bytes=128 << 20),
    )
    with anyio.fail_after(60):
        result = await box.run(spec, call=lambda call: Reply(payload=call.arguments))
        other = await box.run(RunSpec(source="40 + 2"))
    assert (result.error.code if result.error else "") in allowed, result.error
    assert (result.printed, result.usage.calls) == ("before\n", 1)
    assert other.value == 42


async def test_a_crash_in_the_middle_of_other_runs_is_noticed_by_none_of_them(box):
    results = []

    async def compute():
        result = await box.run(RunSpec(source="sum(n * n for n in range(300_000))"))
        results.append(result.value)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(compute)
            crashed = await box.run(RunSpec(source="import ctypes\nctypes.string_at(0)", dialect="native"))
    assert (crashed.error.code, len(results), len(set(results))) == ("guest.died", 3, 1)
    assert "SIGSEGV" in crashed.error.message
