"""The card of a tool: one line with its name, its required inputs and its effect, and as much description as fits.

Enters: a tool. Leaves: one line. The name, every required input and the effect are never cut; the server's words are,
and they come last, behind a mark, so that they cannot pass for ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemode.catalog.names import parameter_names
from codemode.catalog.spec import Tool
from codemode.catalog.text import clean_line
from codemode.jsonvalue import as_object

MAX_CHARS = 160  # chosen: about 40 tokens


def card(tool: Tool, max_chars: int = MAX_CHARS) -> str:
    """`github.list_issues(owner, repo, +3) [read] List issues…`; `+3` counts the optional inputs.

    At most `max_chars` long, unless name, required inputs and effect alone need more.
    """
    schema = tool.spec.input_schema
    names = parameter_names(as_object(schema.get("properties")))
    required = schema.get("required")
    wanted = set(required) if isinstance(required, Sequence) and not isinstance(required, str) else set()
    inputs = [name for raw, name in names.items() if raw in wanted]
    optional = len(names) - len(inputs)
    inputs.extend([f"+{optional}"] if optional else [])
    line = f"{tool.short}({', '.join(inputs)}) [{tool.effect}]"
    room = max_chars - len(line) - 1
    said = clean_line(tool.spec.description or tool.spec.title, room) if room >= 8 else ""
    return f"{line} {said}" if said else line
