"""The shape of one attack."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One entry.

    Attributes:
        id: stable name.
        claim: what the attacker gets when nothing stops it.
        code: the program.
        is_shown_bare: the program reaches its goal without the sandbox; else `unproved` says why it is not tried.
        not_held: ways of starting (`attack_runner`) that do not stop it, listed in `sandbox/README.md`.
    """

    id: str
    claim: str
    code: str
    is_shown_bare: bool = True
    unproved: str = ""
    not_held: tuple[str, ...] = field(default=())
