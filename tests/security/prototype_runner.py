"""Runs each attempt of a prototype's list of attacks as native code in a guest; prints what came of it as JSON.

Enters: the path of the list; its attempts are functions `a_*` over names that its own start defines. Leaves: attempt →
what it got, or what stopped it. Targets are set up here as they are there: sockets, a secret, a descriptor.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox import Limits, RunSpec, open_sandbox

LIMITS = Limits(wall_s=10, memory_bytes=128 << 20, threads=16)
START = """
import ctypes, errno, json, os, signal, struct, sys, threading, time
from _io import open  # the kernel's, not the one of the files that programs are offered
def _there(name):
    try: return __import__(name)
    except BaseException: return None
socket, subprocess, resource = map(_there, ("socket", "subprocess", "resource"))
L = ctypes.CDLL(None, use_errno=True); sc = L.syscall
class J: MS_REC = 1 << 14; MS_PRIVATE = 1 << 18; libc = L; syscall = sc
"""
END = """
try: print("GOT", {name}())
except BaseException as error: print("stopped", type(error).__name__, error)
"""


async def run(attacks: Path) -> dict[str, str]:
    text = attacks.read_text(encoding="utf-8")
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name in ("err",)]
    attempts = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name.startswith("a_")]
    body = "\n".join(ast.unparse(function) for function in (*functions, *attempts))
    secret = ctypes.create_string_buffer(b"PARENT-SECRET-" + b"x" * 32)
    abstract = f"\0attempt-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, socket.socket() as tcp, socket.socket(socket.AF_UNIX) as named:
        tcp.bind(("127.0.0.1", 0))
        named.bind(f"{folder}/s")
        Path(folder).chmod(0o711)
        Path(f"{folder}/s").chmod(0o777)
        with socket.socket(socket.AF_UNIX) as unnamed:
            unnamed.bind(abstract)
            for listener in (tcp, named, unnamed):
                listener.listen(50)
            leak = os.open("/etc/hostname", os.O_RDONLY)
            os.set_inheritable(leak, True)
            os.environ["FAKE_TOKEN"] = "tok-123"
            values = {"PP": os.getpid(), "addr": ctypes.addressof(secret), "PORT": tcp.getsockname()[1]}
            values |= {"ABN": abstract, "upath": f"{folder}/s", "leak": leak}
            names = "".join(f"{name} = {value!r}\n" for name, value in values.items())
            found = {}
            async with open_sandbox("process", pool=2) as box:
                for attempt in attempts:
                    source = f"{START}{names}{body}{END.format(name=attempt.name)}"
                    result = await box.run(RunSpec(source=source, dialect="native", limits=LIMITS))
                    code = result.error.code if result.error is not None else ""
                    found[attempt.name] = (result.printed.strip() or f"stopped {code}")[:200]
            os.close(leak)
    return found


if __name__ == "__main__":
    print(json.dumps(anyio.run(run, Path(sys.argv[1]))))
