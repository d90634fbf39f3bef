"""What a call of a tool does to the world: `read`, `write` or `destructive`, and why that is believed.

Enters: a spec, the user's rules, whether this server's hints are trusted. Leaves: an effect and its source. A guess
by name is marked as one, so that policy and prose can treat it as a guess. Never reads descriptions: their author
decides what they say, and an effect must not depend on prose.

The order: the first rule whose pattern matches; else a trusted `readOnlyHint` (a claim of danger is believed of
anyone); else a verb in the name that reads, when no hint and no other verb speaks against it; else `write`, and
`destructive` when a hint or a verb says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise

from codemode.catalog.spec import Effect, EffectSource, ToolSpec
from codemode.catalog.words import split_words


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRule:
    """A line of the user's config: tools whose raw `server.tool` matches the glob pattern have this effect."""

    pattern: str
    effect: Effect


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A verb counts as reading only when its ordinary use leaves the world as it is. Not here, although they often read:
# `query`, `execute`, `run`, `call`, `eval`, `request` (they carry any command), `explain` (may execute),
# `open`, `browse`, `navigate`, `visit`, `load` (they move a session), `log`, `track`, `scan` (may write or probe),
# `resolve` (closes an issue or looks up a name), `download`, `export`, `convert` (may write a file).
_READS = _words(
    """get list read search find fetch describe show count view lookup retrieve inspect peek preview check exists
    compare diff summarize summarise validate whoami ping help"""
)
# Nouns that name what is read when they end a name without any other verb: `git_status`, `server_info`.
_READ_ENDINGS = _words("status info stats statistics history version versions health details schema metadata")
_DESTROYS = _words(
    """delete del remove rm rmdir drop destroy purge truncate wipe erase flush flushall flushdb reset revert rollback
    kill terminate revoke uninstall unpublish overwrite evict clear unlink prune expunge trash discard shred nuke
    teardown decommission deprovision hdel srem zrem lrem xdel"""
)
# Verbs that change something and are hardly ever nouns: one of them anywhere takes away the guess `read`
# (`get_or_create_user`, `search_and_replace`, `list_add`).
_WRITES = _words(
    """accept acknowledge activate add append apply approve archive assign attach authenticate authorize cancel
    complete compose configure confirm connect create deactivate define deploy detach disable disconnect dismiss
    duplicate edit enable enqueue escalate exec execute fill generate grant increment ingest init initialize insert
    install invite invoke join launch leave login logout make manage mark migrate modify mutate notify
    promote provision publish put register reject rename reopen reorder replace reschedule resize restart restore
    resume retry rotate run save send start stop submit subscribe sync synchronize toggle transform
    trigger unarchive unassign unblock undo unlock unmute unpin unstar unsubscribe update upgrade upload upsert
    write"""
)
# Verbs that are as often nouns (`get_comment`, `list_order`): they count at the beginning of a name and after a
# conjunction.
_WRITES_OR_NOUNS = _words(
    """answer block book buy call change clone close comment commit copy cut download drag email export follow fork
    format forward import index label like link load lock log merge mount move open order patch pause pay pin place
    play post print process push query release reload reply report request resolve schedule set share sign snapshot
    split stage star stash store swap tag take transfer type vote watch convert navigate eval track scan"""
)
_CONJUNCTIONS = frozenset({"and", "or", "then"})
_CHECKS_THAT_WRITE = frozenset({("check", "out"), ("check", "in")})
_FILLER = frozenset({"api", "v1", "v2", "v3", "tool", "mcp", "x"})


def classify(spec: ToolSpec, rules: Sequence[EffectRule], trust_hints: bool) -> tuple[Effect, EffectSource]:
    """The effect of one tool and where it comes from."""
    place = f"{spec.server}.{spec.name}"
    for rule in rules:
        if fnmatchcase(place, rule.pattern):
            return rule.effect, "rule"
    hints = spec.annotations
    if hints.destructive is True and hints.read_only is not True:
        return "destructive", "hint"
    if hints.read_only is True and hints.destructive is True:
        return "destructive", "hint"  # a contradiction: the stricter half is taken
    if trust_hints and hints.read_only is True:
        return "read", "hint"
    words = _own_words(spec)
    if not _DESTROYS.isdisjoint(words):
        return "destructive", "name"
    if hints.read_only is False:
        return "write", "hint"
    if _reads_by_name(words):
        return "read", "name"
    return "write", "default"


def _own_words(spec: ToolSpec) -> tuple[str, ...]:
    """The words of the tool's name without those it repeats from its server's id."""
    words = split_words(spec.name)
    server = split_words(spec.server)
    if server and words[: len(server)] == server and len(words) > len(server):
        words = words[len(server) :]
    return tuple(word for word in words if word not in _FILLER and not word.isdigit())


def _reads_by_name(words: tuple[str, ...]) -> bool:
    if not words or not _WRITES.isdisjoint(words):
        return False
    doubtful = {words[0]} | {after for before, after in pairwise(words) if before in _CONJUNCTIONS}
    if not _WRITES_OR_NOUNS.isdisjoint(doubtful) or words[:2] in _CHECKS_THAT_WRITE:
        return False
    return words[0] in _READS or words[-1] in _READS or words[-1] in _READ_ENDINGS
