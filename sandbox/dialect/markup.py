"""`xml.etree.ElementTree` and `xml.dom.minidom` over text and files, and the three functions of `xml.sax.saxutils`.

Enters: text, elements, open files, names of files of the workspace. Leaves: elements, text. The originals of the first
two open any path that they are given; that of the third loads `urllib.request` and with it a megabyte of network code
into every guest.
"""

from __future__ import annotations

# ruff: noqa: S314,S318  # expat bounds entity expansion itself; memory and time are the jail's
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from typing import Any
from xml.dom import minidom

from sandbox.dialect.standins.workspace import Workspace, is_name


def _read(files: Workspace, source: Any) -> Any:
    if is_name(source):
        with files.open(source, "rb") as file:
            return file.read()
    if not hasattr(source, "read"):
        raise TypeError("use `ET.fromstring(text)`, or pass the name of a file or an open file")
    return source.read()


class ElementTree:
    """`ElementTree` over one root element."""

    _cm_files: Workspace

    def __init__(self, element: Any = None, file: Any = None) -> None:
        self.root = ET.fromstring(_read(self._cm_files, file)) if file is not None else element

    def getroot(self) -> Any:
        return self.root

    def parse(self, source: Any, parser: Any = None) -> Any:
        self.root = ET.fromstring(_read(self._cm_files, source), parser)
        return self.root

    def iter(self, tag: str | None = None) -> Iterator[Any]:
        return iter(self.root.iter(tag))

    def find(self, path: str, namespaces: Any = None) -> Any:
        return ET.ElementTree(self.root).find(path, namespaces)

    def findall(self, path: str, namespaces: Any = None) -> Any:
        return ET.ElementTree(self.root).findall(path, namespaces)

    def findtext(self, path: str, default: Any = None, namespaces: Any = None) -> Any:
        return ET.ElementTree(self.root).findtext(path, default, namespaces)

    def iterfind(self, path: str, namespaces: Any = None) -> Any:
        return ET.ElementTree(self.root).iterfind(path, namespaces)

    def write(self, file_or_filename: Any, encoding: str | None = None, *args: Any, **options: Any) -> None:
        if not is_name(file_or_filename):
            ET.ElementTree(self.root).write(file_or_filename, encoding, *args, **options)
            return
        is_text = str(encoding).lower() == "unicode"
        with self._cm_files.open(file_or_filename, "w" if is_text else "wb") as file:
            ET.ElementTree(self.root).write(file, encoding, *args, **options)


def canonicalize(xml_data: str, **options: Any) -> str:
    """`ElementTree.canonicalize` from text."""
    options.pop("from_file", None)
    return str(ET.canonicalize(xml_data, **options))


def escape(data: str, entities: Mapping[str, str] = {}) -> str:
    """`saxutils.escape`: `&`, `<` and `>`, then further texts by the mapping."""
    return _replaced(data.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;"), entities)


def unescape(data: str, entities: Mapping[str, str] = {}) -> str:
    """`saxutils.unescape`; `&amp;` last, so that nothing is undone twice."""
    return _replaced(data.replace("&lt;", "<").replace("&gt;", ">"), entities).replace("&amp;", "&")


def quoteattr(data: str, entities: Mapping[str, str] = {}) -> str:
    """`saxutils.quoteattr`: escaped, and in the quotes that need least of it."""
    text = escape(data, {**entities, "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    if '"' not in text:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text else '"' + text.replace('"', "&quot;") + '"'


def _replaced(text: str, entities: Mapping[str, str]) -> str:
    for old, new in entities.items():
        text = text.replace(old, new)
    return text


def markup_parts(files: Workspace) -> dict[str, dict[str, object]]:
    """What takes files in `xml.etree.ElementTree` and `xml.dom.minidom`, for one run."""
    tree = type("ElementTree", (ElementTree,), {"_cm_files": files, "__doc__": ElementTree.__doc__})

    def parse(source: Any, parser: Any = None) -> ElementTree:
        """`ElementTree.parse`."""
        made: ElementTree = tree(ET.fromstring(_read(files, source), parser))
        return made

    def iterparse(source: Any, events: Any = None, parser: Any = None) -> Any:
        """`ElementTree.iterparse`."""
        if not is_name(source) and not hasattr(source, "read"):
            raise TypeError("pass the name of a file or an open file")
        return ET.iterparse(files.open(source, "rb") if is_name(source) else source, events)

    def parse_dom(file: Any, *ignored: Any, **options: Any) -> Any:
        """`minidom.parse`."""
        return minidom.parseString(_read(files, file))

    return {
        "xml.etree.ElementTree": {
            "ElementTree": tree,
            "parse": parse,
            "iterparse": iterparse,
            "canonicalize": canonicalize,
        },
        "xml.dom.minidom": {"parse": parse_dom},
        "xml.sax.saxutils": {"escape": escape, "unescape": unescape, "quoteattr": quoteattr},
    }
