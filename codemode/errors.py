"""Every error of the trusted side, with a stable code.

    CodemodeError
    ├── ConfigError       config.*      a file, a key or a value that cannot be used
    ├── UpstreamError     upstream.*    a server could not be reached, failed, or its answer is not known
    ├── ArgumentsError    arguments.*   a call's arguments do not fit the tool
    ├── GateError         gate.*        a tool that was not shown yet, or that does not exist
    ├── PolicyError       policy.*      a rule refused a call
    ├── StoreError        store.*       a value that a session's store does not take
    └── RunRequestError   run.*         a run that cannot be started, found or resumed

A program's own failure is no error of ours: it is a `RunOutcome`. Codes of the sandbox (`guest.*`, `limit.*`,
`dialect.*`, `isolation.*`) are passed through unchanged by `codemode/runs/outcome.py`, the only translator.
"""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "config.missing": "a configuration file does not exist",
    "config.json": "a configuration file is not valid JSON",
    "config.key": "a key or value in a configuration file cannot be used",
    "config.server": "a server entry cannot be used",
    "config.variable": "a `${VAR}` of a server entry is not set",
    "upstream.not_found": "the server's command does not exist",
    "upstream.start": "the server did not come up",
    "upstream.starting": "the server is still starting",
    "upstream.unreachable": "the server cannot be reached",
    "upstream.sign_in": "the server asks for a sign-in",
    "upstream.died": "the server ended",
    "upstream.protocol": "the server answered something that is not MCP",
    "upstream.timeout": "the server did not answer in time",
    "upstream.outcome_unknown": "the call was sent, its answer never came: it may have happened",
    "upstream.tool_error": "the tool itself reported an error",
    "upstream.rpc_error": "the server refused the request",
    "upstream.unsupported": "the server wants something that is not supported",
    "upstream.cancelled": "the call was cancelled",
    "arguments.json": "the arguments are not a plain JSON object",
    "arguments.invalid": "the arguments do not fit the tool's schema",
    "gate.not_loaded": "the tool's signature has not been shown in this session",
    "gate.unknown_tool": "there is no such tool",
    "policy.denied": "a rule denies the call",
    "policy.ask": "the call needs an approval and nobody can be asked",
    "policy.refused": "the person who was asked said no",
    "policy.budget": "the run has used up a budget",
    "store.full": "the session's store has no room for the value",
    "run.unknown": "there is no such run in this session",
    "run.not_resumable": "the run cannot be resumed like this",
    "run.busy": "too many runs are waiting",
    "run.empty": "there is no program",
    "run.internal": "a fault of ours; the log has the details",
    "cli.usage": "the command line cannot be understood",
    "cli.interrupted": "a signal stopped the command",
}
"""Code → what it means. The same table stands in `codemode/README.md`; a test compares them."""


class CodemodeError(Exception):
    """Base of all errors of the trusted side.

    Attributes:
        code: `stage.reason`, a key of `CODES`; callers branch on this and never on the text.
        message: one line: what was expected, what came, where; no secret, no host path beyond the user's own files.
        hint_model: the next call that will work, for the model; "" when there is none.
        hint_operator: the setting or fact to change, for the person who runs us.
        details: small JSON values for receipts and logs.
        retryable: the same call may succeed later without a change.
    """

    default_code = "run.internal"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint_model: str = "",
        hint_operator: str = "",
        details: Mapping[str, object] | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.hint_model = hint_model
        self.hint_operator = hint_operator
        self.details = dict(details or {})
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class ConfigError(CodemodeError):
    """A configuration that cannot be used; the message names file, key and line where they are known."""

    default_code = "config.key"


class UpstreamError(CodemodeError):
    """A server could not do what was asked; `details` has `server`."""

    default_code = "upstream.unreachable"


class ArgumentsError(CodemodeError):
    """A call's arguments do not fit; nothing was sent."""

    default_code = "arguments.invalid"


class GateError(CodemodeError):
    """A tool that was not shown in this session, or that does not exist; nothing was sent."""

    default_code = "gate.not_loaded"


class PolicyError(CodemodeError):
    """A rule, a person or a budget refused a call; nothing was sent."""

    default_code = "policy.denied"


class StoreError(CodemodeError):
    """A value that a session's store does not take; what was there stays."""

    default_code = "store.full"


class RunRequestError(CodemodeError):
    """A run that cannot be started, found or resumed."""

    default_code = "run.unknown"
