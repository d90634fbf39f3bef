"""`xml.etree.ElementTree` without paths, and the three functions of `xml.sax.saxutils`.

Enters: text, elements, open files. Leaves: elements, text. The original of the first opens any path that it is given;
that of the second loads `urllib.request` and with it a megabyte of network code into every guest.
"""

from __future__ import annotations

# ruff: noqa: S314  # expat bounds entity expansion itself; memory and time are the jail's
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from typing import Any


def _readable(source: Any) -> Any:
    if not hasattr(source, "read"):
        raise TypeError("paths are not opened here; use `ET.fromstring(text)` or pass an open file")
    return source


class ElementTree:
    """`ElementTree` over one root element; `write` needs an open file."""

    def __init__(self, element: Any = None, file: Any = None) -> None:
        self.root = ET.fromstring(_readable(file).read()) if file is not None else element

    def getroot(self) -> Any:
        return self.root

    def parse(self, source: Any, parser: Any = None) -> Any:
        self.root = ET.fromstring(_readable(source).read(), parser)
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

    def write(self, file: Any, encoding: str | None = None, **options: Any) -> None:
        if not hasattr(file, "write"):
            raise TypeError("paths are not opened here; use `ET.tostring(root)` or pass an open file")
        ET.ElementTree(self.root).write(file, encoding=encoding, **options)


def parse(source: Any, parser: Any = None) -> ElementTree:
    """`ElementTree.parse` from an open file."""
    return ElementTree(ET.fromstring(_readable(source).read(), parser))


def iterparse(source: Any, events: Any = None, parser: Any = None) -> Any:
    """`ElementTree.iterparse` from an open file."""
    return ET.iterparse(_readable(source), events)


def canonicalize(xml_data: str, **options: Any) -> str:
    """`ElementTree.canonicalize` from text."""
    options.pop("from_file", None)
    return str(ET.canonicalize(xml_data, **options))


PARTS: dict[str, object] = {
    "ElementTree": ElementTree,
    "parse": parse,
    "iterparse": iterparse,
    "canonicalize": canonicalize,
}


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


SAX_PARTS: dict[str, object] = {"escape": escape, "unescape": unescape, "quoteattr": quoteattr}
