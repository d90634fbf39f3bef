"""A loop made before the fork runs in the child, with descriptors of the child's own."""

import json
import subprocess
import sys
import textwrap

START = """
import asyncio, json, os, sys, threading
from sandbox.guest.loop import ForkedLoop
os.closerange(3, 64)
made = ForkedLoop()
"""


def run(program: str) -> object:
    text = START + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=60, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_children_run_it_side_by_side_and_wake_only_themselves():
    found = run("""
        def child(report):
            os.closerange(3, report)
            made.reopen()
            async def main():
                done = made.loop.create_future()
                wake = lambda: made.loop.call_soon_threadsafe(done.set_result, os.getpid())
                threading.Timer(0.01, wake).start()
                return await asyncio.wait_for(done, 30)
            os.write(report, b"%d " % (made.loop.run_until_complete(main()) == os.getpid()))
            os._exit(0)

        read, write = os.pipe()
        report = os.dup2(write, 90)
        children = []
        for _ in range(2):
            pid = os.fork()
            if pid == 0:
                child(report)
            children.append(pid)
        for pid in children:
            os.waitpid(pid, 0)
        print(json.dumps(os.read(read, 100).decode().split()))
    """)
    assert found == ["1", "1"]


def test_its_descriptors_are_not_those_of_the_parent():
    found = run("""
        def kinds():
            links = {n: os.readlink(f"/proc/self/fd/{n}") for n in range(3, 6)}
            return {n: link for n, link in links.items() if link.startswith("socket")}

        before = kinds()
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.closerange(3, read)
            made.reopen()
            os.write(write, json.dumps([sorted(kinds()) == sorted(before), kinds() == before]).encode())
            os._exit(0)
        os.waitpid(pid, 0)
        print(os.read(read, 1000).decode())
    """)
    assert found == [True, False]


def test_it_takes_its_numbers_back_where_they_are_still_open():
    found = run("""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            before = {n: os.readlink(f"/proc/self/fd/{n}") for n in range(3, 6)}
            made.reopen()
            after = {n: os.readlink(f"/proc/self/fd/{n}") for n in range(3, 6)}
            value = made.loop.run_until_complete(asyncio.sleep(0.001, 7))
            open_now = len(os.listdir("/proc/self/fd")) - 1
            os.write(write, json.dumps([value, [before[n] != after[n] for n in (4, 5)], open_now]).encode())
            os._exit(0)
        os.waitpid(pid, 0)
        print(os.read(read, 1000).decode())
    """)
    assert found == [7, [True, True], 3 + 3 + 2]
