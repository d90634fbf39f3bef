"""A run's use of its session's workspace: answers the guest's file requests, and remembers what was written.

Enters: `FileRequest`s, the guest's claim. Leaves: content and facts, or an OSError for the program. The disk is used in
threads; the workspace judges every name.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path

import anyio.to_thread

from codemode.runs.outcome import WrittenFile
from codemode.state.workspace import Entry, Workspace
from sandbox.spec import FileRequest


class RunFiles:
    """The door from one run to its session's files."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._written: dict[str, int] = {}

    @property
    def path(self) -> Path:
        """Where the files are on this machine."""
        return self._workspace.path

    @property
    def written(self) -> tuple[WrittenFile, ...]:
        """What this run wrote and did not remove, by name."""
        return tuple(WrittenFile(name=name, bytes=size) for name, size in sorted(self._written.items()))

    async def answer(self, request: FileRequest) -> bytes:
        """Do what is asked.

        Raises:
            OSError: the workspace refuses it.
        """
        return await anyio.to_thread.run_sync(self._do, request)

    def _do(self, request: FileRequest) -> bytes:
        workspace, name = self._workspace, request.name
        match request.operation:
            case "read":
                return workspace.read(name)
            case "stat":
                return _json([*_facts(workspace.stat(name))][1:])
            case "list":
                return _json([_facts(entry) for entry in workspace.list(name)])
            case "make_folder":
                workspace.make_folder(name)
            case "remove_folder":
                workspace.remove_folder(name)
            case _:
                return self._change(request)
        return b""

    def _change(self, request: FileRequest) -> bytes:
        """What changes the list of written files."""
        workspace, name = self._workspace, request.name
        match request.operation:
            case "write":
                workspace.write(name, request.data)
                self._written[name] = len(request.data)
            case "create":
                workspace.create(name)
                self._written[name] = 0
            case "append":
                size = workspace.append(name, request.data, at=request.at)
                if request.data or not size:
                    self._written[name] = size
                return _json(size)
            case "remove":
                workspace.remove(name)
                self._written.pop(name, None)
            case "rename":
                workspace.rename(name, request.to)
                self._move(name, request.to)
            case other:
                raise OSError(errno.ENOSYS, f"files cannot `{other}`")
        return b""

    def _move(self, name: str, to: str) -> None:
        for old in [old for old in self._written if old == name or old.startswith(f"{name}/")]:
            self._written[to + old[len(name) :]] = self._written.pop(old)


def _facts(entry: Entry) -> list[object]:
    return [entry.name, entry.kind, entry.size, entry.modified]


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
