"""One row of the allowlist: the public names of a module that programs get, and why the others are left out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """`names` are taken from the real module, `supplied` come from a replacement or from the guest; both are public.

    `left_out` says in one line why the rest of the module is not there; `hints` maps a name that models reach for
    to what to write instead.
    """

    names: str = ""
    left_out: str = ""
    supplied: str = ""
    hints: tuple[tuple[str, str], ...] = ()
    real: str = ""  # name of the real module, "" when it is the entry's own

    def all_names(self) -> frozenset[str]:
        """Every name that the facade may show."""
        return frozenset(self.names.split()) | frozenset(self.supplied.split())
