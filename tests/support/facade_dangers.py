"""What no program may hold, and how a program reads: for the walk along attributes and for the fuzzer."""

from __future__ import annotations

import bz2
import configparser
import gzip
import io
import lzma
import socket
import string
import tarfile
import zipfile
from collections.abc import Iterator
from types import CodeType, FrameType, MappingProxyType, ModuleType
from typing import Any

from sandbox.dialect.builtins import Runtime, make_builtins
from sandbox.dialect.guards import checked_getattr
from sandbox.dialect.rules import CALLABLE_SPECIAL, READABLE, judge_attribute
from sandbox.guest import files, paths
from sandbox.guest.link import Answer
from tests.support.facade_objects import is_loop


class _Every(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


EVERY_NAME = _Every()
"""The private names of a program that defines every one of them in a class of its own."""


PATH_OPENERS = (
    *(zipfile.ZipFile, zipfile.Path, zipfile.ZipInfo, tarfile.TarFile, tarfile.TarInfo),
    *(gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile, configparser.RawConfigParser, string.Formatter),
)
"""Library classes that open any path, or read any attribute by name."""


def danger(value: Any) -> str:
    """What the value is, if a program must not hold it."""
    if isinstance(value, PATH_OPENERS) or (isinstance(value, type) and issubclass(value, PATH_OPENERS)):
        return "opens paths"
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, FrameType | CodeType):
        return "frame or code"
    if isinstance(value, io.FileIO | socket.socket) or _has_descriptor(value):
        return "file"
    if is_loop(value):
        return "event loop"
    if isinstance(value, type) and issubclass(value, type):
        return "metaclass"
    if type(value) is dict and ("__builtins__" in value or "__import__" in value):
        return "globals or builtins"
    return ""


def _has_descriptor(value: Any) -> bool:
    """Files of the workspace are of these types too, over a raw file of the guest's that has no descriptor."""
    if not isinstance(value, io.TextIOWrapper | io.BufferedReader | io.BufferedWriter | io.BufferedRandom):
        return False
    try:
        return value.fileno() >= 0
    except (ValueError, OSError):
        return False


def read(obj: Any, name: str) -> Any:
    """An attribute as a program reads it.

    Raises:
        AttributeError: the dialect refuses the name, or there is none.
    """
    verdict = judge_attribute(name, EVERY_NAME)
    if verdict.mode == "refused":
        raise AttributeError(name)
    return checked_getattr(obj, name) if verdict.mode == "checked" else getattr(obj, name)


def names_of(obj: Any) -> list[str]:
    """The names that are worth a try."""
    try:
        return sorted(set(dir(obj)) | READABLE | CALLABLE_SPECIAL)
    except Exception:
        return []


def readable(obj: Any) -> Iterator[tuple[str, Any]]:
    """What can be read of an object, each with the path to it."""
    for name in names_of(obj):
        try:
            value = read(obj, name)
        except Exception:
            continue
        yield f".{name}", value


def inside(value: Any) -> Iterator[tuple[str, Any]]:
    """The first items of a container, each with the path to it."""
    if isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{index}]", item) for index, item in enumerate(list(value)[:20]))
    elif isinstance(value, dict | MappingProxyType):
        yield from ((f"[{key!r:.40}]", item) for key, item in list(value.items())[:100])


def builtins_of_a_program() -> dict[str, object]:
    """The builtins without those of the rewriting."""
    runtime = Runtime(
        await_=lambda value: value,
        start=lambda function, *args, **kwargs: function(*args, **kwargs),
        deliver=lambda value: None,
        import_=lambda *args: None,
        print_=lambda *args, **kwargs: None,
    )
    return {name: value for name, value in make_builtins(runtime).items() if not name.startswith("_")}


class _Host:
    def request(self, header: dict[str, Any], payload: object = b"") -> Answer:
        facts = {"list": b'[["a","file",1,2.0]]', "stat": b'["file",1,2.0]', "append": b"3"}
        return Answer({"ok": True}, facts.get(header["operation"], b"text"))


def files_of_a_program() -> dict[str, dict[str, object]]:
    """What the guest supplies for files, over a host that has one file."""
    files.current().attach(_Host())
    return paths.facade_parts()
