"""Brings one server up: expands its entry, opens its transport, negotiates the protocol era, reads the listing.

Enters: an entry, at the moment it is wanted. Leaves: a `Connection`, or one `CodemodeError` with the reason in one line
whatever the SDK raised. A server that exits on an unknown method is started once more with the handshake of old.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from codemode.config.model import Config, ServerConfig
from codemode.errors import CodemodeError, UpstreamError
from codemode.upstream.cache import KnownListing
from codemode.upstream.connection import Connection, Streams, open_connection
from codemode.upstream.credentials import Redactor, expand_endpoint, expand_launch, written_values
from codemode.upstream.environment import ABOVE, child_environment, with_own_files
from codemode.upstream.exchange import Noise
from codemode.upstream.filter import Filter
from codemode.upstream.headers import printed_headers
from codemode.upstream.http import HttpLine, open_http
from codemode.upstream.logfile import ServerLog, log_path
from codemode.upstream.process import Grace, Guard
from codemode.upstream.result import call_error, hint_for, quote
from codemode.upstream.stdio import StdioLine, open_stdio

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Attempt:
    """One start of one server, for whoever watches it."""

    entry: ServerConfig
    environ: Mapping[str, str]
    log_dir: Path | None
    redactor: Redactor = field(default_factory=Redactor)
    filter: Filter = field(default_factory=Filter)
    log: ServerLog | None = None
    line: StdioLine | None = None
    ended: anyio.Event = field(default_factory=anyio.Event)
    _written: Redactor = field(init=False)

    def __post_init__(self) -> None:
        self._written = written_values(self.entry)

    def clean(self, text: str) -> str:
        """A server's text as messages and reports show it: without what its entry holds, expanded or as written."""
        return self._written.clean(self.redactor.clean(text))

    @property
    def pid(self) -> int:
        """Process id of a stdio server, else 0."""
        return self.line.pid if self.line else 0

    @property
    def noise(self) -> Noise:
        """Lines that were no message."""
        return self.filter.noise

    def noise_samples(self) -> tuple[str, ...]:
        """The first few such lines, cleaned and then cut."""
        return self.noise.samples(self.clean)

    def named(self) -> str:
        """The server with its command as it is written, never expanded."""
        command = f" (command `{quote(self.entry.command, limit=200)}`)" if self.entry.command else ""
        return f"`{self.entry.name}`{command}"

    def describe_end(self) -> str:
        """That the server ended, how, and what it said last."""
        if self.line is None:
            return f"the connection to `{self.entry.name}` ended"
        return f"`{self.entry.name}` ended{self.circumstances()}"

    def circumstances(self, *, was_ended: bool = False) -> str:
        """Exit code (unless we ended it), last words and stray output in brackets, as far as they are known."""
        last = self.log.last_words(self.clean) if self.log else ""
        stray = self.noise_samples()
        parts = (
            self.line.exit_text() if self.line and not was_ended else "",
            f"last words: {quote(last, limit=600)}" if last else "",
            f"stray lines on its stdout: {self.noise.lines}, the first: {quote(stray[0], limit=100)}" if stray else "",
        )
        known = "; ".join(part for part in parts if part)
        return f" ({known})" if known else ""

    def end_error(self) -> UpstreamError:
        """The error of a server that ended by itself."""
        return call_error("upstream.died", self.describe_end(), server=self.entry.name, outcome="not_sent")


@asynccontextmanager
async def connect(
    attempt: Attempt,
    *,
    config: Config,
    guard: Guard,
    grace: Grace,
    known: KnownListing | None,
    on_tools_changed: Callable[[], None],
) -> AsyncIterator[Connection]:
    """A connected server. `known` is what it listed, and which protocol it spoke, last time.

    Raises:
        CodemodeError: it did not come up; the message says why.
    """
    is_ready = False
    era = known.era(time.time()) if known else ""
    modes = ["legacy", "auto"] if era in HANDSHAKE_PROTOCOL_VERSIONS else ["auto", "legacy"]
    for mode in modes:
        try:
            streams = await _open_streams(attempt, config, guard, grace)
            async with open_connection(
                attempt.entry.name,
                streams,
                attempt.filter,
                mode=mode,
                redactor=attempt.redactor,
                is_over=attempt.ended.is_set,
                describe_end=attempt.describe_end,
                on_tools_changed=on_tools_changed,
                may_ask=attempt.entry.may_ask,
            ) as connection:
                is_ready = True
                if known and mode == "legacy" and connection.protocol == era:
                    connection.era_since = known.era_since  # nobody has probed again
                yield connection
            return
        except Exception as error:
            if is_ready:
                _log.debug("the connection to `%s` broke: %s", attempt.entry.name, list(_leaves(error)))
                raise attempt.end_error() from error
            if mode == modes[0] and _is_worth_another_try(attempt, error):
                continue
            raise _start_error(attempt, error) from error


async def _open_streams(attempt: Attempt, config: Config, guard: Guard, grace: Grace) -> Streams:
    entry = attempt.entry
    attempt.ended = anyio.Event()
    if entry.transport == "http":
        printed = await printed_headers(entry, attempt.environ, config.inherit_env) if entry.headers_helper else None
        endpoint = await anyio.to_thread.run_sync(expand_endpoint, entry, attempt.environ, printed)
        attempt.redactor = endpoint.redactor
        attempt.filter = Filter(endpoint.redactor)
        return open_http(HttpLine(attempt.filter, config.limits.result_bytes, attempt.ended), endpoint)
    launch = await anyio.to_thread.run_sync(expand_launch, entry, attempt.environ)
    own = {name: secret.reveal() for name, secret in launch.env.items()}
    environment = child_environment(attempt.environ, own, inherit=config.inherit_env)
    if config.files:
        environment[ABOVE] = with_own_files(attempt.environ, config.files)
    attempt.redactor = launch.redactor
    attempt.filter = Filter(launch.redactor)
    log_file = log_path(attempt.log_dir, entry.name) if attempt.log_dir is not None else None
    attempt.log = ServerLog(log_file, launch.redactor)
    attempt.line = StdioLine(attempt.filter, attempt.log, config.limits.result_bytes, grace, attempt.ended)
    return open_stdio(attempt.line, launch, environment, guard)


def _is_worth_another_try(attempt: Attempt, error: Exception) -> bool:
    """Whether the other way of negotiating may work: the server ended, or refused the first way."""
    leaves = list(_leaves(error))
    if any(isinstance(leaf, (CodemodeError, OSError)) for leaf in leaves):
        return any(isinstance(leaf, UpstreamError) and leaf.code == "upstream.died" for leaf in leaves)
    return attempt.filter.fault is None


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _start_error(attempt: Attempt, error: Exception) -> CodemodeError:
    """One reason out of whatever was raised, the most telling first."""
    name = attempt.entry.name
    leaves = list(_leaves(error))
    for leaf in leaves:
        # One that ended is told below, where its exit code is known.
        if isinstance(leaf, CodemodeError) and leaf.code != "upstream.died":
            return leaf
    fault = attempt.filter.fault
    if fault is not None and fault.code != "upstream.died":
        text = f"`{name}`: {quote(fault.message, attempt.redactor)}"
        hint = hint_for(fault.code, name)
        return call_error(fault.code, text, server=name, outcome="not_sent", hint_operator=hint)
    for leaf in leaves:
        if isinstance(leaf, OSError):
            return _os_error(attempt.entry, leaf)
    if attempt.ended.is_set() or any(isinstance(leaf, CodemodeError) for leaf in leaves):
        text = f"{attempt.named()} ended while it was starting{attempt.circumstances()}"
        return call_error("upstream.start", text, server=name, outcome="not_sent")
    first = leaves[0]
    shown = quote(str(first).partition("\n")[0] or type(first).__name__, attempt.redactor)
    code = "upstream.rpc_error" if isinstance(first, MCPError) else "upstream.protocol"
    text = f"`{name}` could not be connected: {shown}"
    return call_error(code, text, server=name, outcome="not_sent")


def _os_error(entry: ServerConfig, error: OSError) -> CodemodeError:
    """The command as it is written, never expanded, and why the system would not run it."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        is_folder = bool(entry.cwd) and error.filename is not None and str(error.filename) != entry.command
        if is_folder and "${" not in entry.cwd and str(error.filename) == entry.cwd:
            text = f"the folder `{quote(entry.cwd, limit=200)}` (`cwd` of `{entry.name}`) does not exist"
        else:
            text = f"the command `{quote(entry.command, limit=200)}` of `{entry.name}` does not exist"
        return call_error("upstream.not_found", text, server=entry.name, outcome="not_sent")
    reason = (error.strerror or type(error).__name__).lower()
    text = f"the command `{quote(entry.command, limit=200)}` of `{entry.name}` cannot be run: {reason}"
    return call_error("upstream.start", text, server=entry.name, outcome="not_sent")
