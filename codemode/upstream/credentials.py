"""The only place where a `${VAR}` or a `${file:PATH}` becomes its value, and the type that keeps it out of every text.

Enters: a `ServerConfig` and the environment, at the moment of connecting. Leaves: a `Launch` or an `Endpoint` whose
secret parts are `Secret`, and a `Redactor` that takes those values out of foreign text.
It must never log, cache or print a value; an unset variable refuses the server instead of sending the literal text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NoReturn, final

from codemode.config.model import ServerConfig
from codemode.errors import ConfigError

_REFERENCE = re.compile(
    r"\$\{(?P<env>env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<default>:-[^}]*)?\}"
    r"|\$\{file:(?P<file>[^-}][^}]*)\}|\$\{(?P<odd>[^}]*)\}"
)
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|auth|cred|cookie|session|dsn|database_url|webhook")
_MIN_REDACTED = 6  # chosen: shorter values are words such as "true" or "info", and occur everywhere
_MIN_SURE = 8  # chosen: shorter passwords exist, but masking them would hit ordinary words of a listing
_MIN_SEGMENT = 16  # chosen: shorter parts of a path are words; tokens in paths are longer
_FILE_BYTES = 64 * 1024  # chosen: a token or a key; a larger file is a mistake
_MASK = "[secret]"
_USERINFO = re.compile(r"://([^/?#@\s]*):([^/?#@\s]*)@")


@final
class Secret:
    """A value that shows itself only to `reveal`: repr, str, format and pickling give nothing away."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value. Safety: call it only where the value is handed to a process or a connection."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(...)"

    def __str__(self) -> str:
        return "Secret(...)"

    def __format__(self, spec: str) -> str:
        return "Secret(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be copied or pickled")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))


class Redactor:
    """Takes known secret values out of text that came from somewhere else.

    `values` is everything that came out of a variable or stands under a telling name; `sure` is the part that is a
    secret beyond doubt. Logs and errors are cleaned of both. Listings only of the second: a variable that holds
    "postgres" must not change the name of a tool.
    """

    __slots__ = ("_all", "_json")

    def __init__(self, values: Iterable[str] = (), *, sure: Iterable[str] = ()) -> None:
        known = {part for value in sure for part in _parts(value) if len(part) >= _MIN_SURE}
        usual = {part for value in values for part in _parts(value) if len(part) >= _MIN_REDACTED}
        self._all = _any_of(usual | known)
        forms = {json.dumps(value)[1:-1] for value in known} | {
            json.dumps(value, ensure_ascii=False)[1:-1] for value in known
        }
        pattern = _any_of(forms)
        self._json = re.compile(pattern.pattern.encode("utf-8", "replace")) if pattern else None

    def clean(self, text: str) -> str:
        """The text with every known value replaced by a mask."""
        return self._all.sub(_MASK, text) if self._all else text

    def clean_json(self, raw: bytes) -> bytes:
        """JSON text with every sure secret inside its strings replaced by a mask."""
        return self._json.sub(_MASK.encode(), raw) if self._json else raw

    def __repr__(self) -> str:
        return "Redactor(...)"


def _parts(value: str) -> set[str]:
    """A value and its lines: a key of many lines comes back line by line."""
    return {value, *(line.strip() for line in value.splitlines())}


def _any_of(values: set[str]) -> re.Pattern[str] | None:
    longest_first = sorted(values, key=lambda text: (-len(text), text))
    return re.compile("|".join(re.escape(value) for value in longest_first)) if longest_first else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What starts a stdio server, expanded. Every part may hold a secret, so every part is one."""

    command: Secret
    args: tuple[Secret, ...] = ()
    cwd: Secret | None = None
    env: Mapping[str, Secret] = field(default_factory=dict)
    redactor: Redactor = field(default_factory=Redactor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where an HTTP server answers, expanded."""

    url: Secret
    headers: Mapping[str, Secret] = field(default_factory=dict)
    redactor: Redactor = field(default_factory=Redactor)


@dataclass(slots=True)
class _Expander:
    """Expands texts of one entry and remembers which values came from variables."""

    server: ServerConfig
    environ: Mapping[str, str]
    values: list[str] = field(default_factory=list)
    sure: list[str] = field(default_factory=list)

    def expand(self, text: str, key: str) -> Secret:
        """One text with its variables."""

        def value_of(match: re.Match[str]) -> str:
            name, file, odd = match.group("name", "file", "odd")
            if file is not None:
                return self._content(file, key)
            if odd is not None:
                raise self.error(key, f"has `${{{odd[:40]}}}`, which is not a form that is known")
            value = self.environ.get(name)
            default: str | None = match.group("default")
            if not value and default is not None:
                return default[2:]
            if value is None:
                raise self.error(key, f"needs the variable `{name}`, which is not set")
            self.values.append(value)
            if _SECRET_NAME.search(name):
                self.sure.append(value)
            return value

        out = _REFERENCE.sub(value_of, text)
        self.sure.extend(match.group(2) for match in _USERINFO.finditer(out))
        return Secret(out)

    def _content(self, file: str, key: str) -> str:
        """The text of a file, without the line ends after it; a secret beyond doubt."""
        try:
            with open(Path(file).expanduser(), "rb") as stream:
                raw = stream.read(_FILE_BYTES + 1)
            text = raw.decode()
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise self.error(key, f"needs the file `{file[:200]}`, which cannot be read: {reason}") from error
        except UnicodeDecodeError as error:
            raise self.error(key, f"needs the file `{file[:200]}`, which is not UTF-8 text") from error
        if len(raw) > _FILE_BYTES:
            raise self.error(key, f"needs the file `{file[:200]}`, which is larger than {_FILE_BYTES} bytes")
        value = text.rstrip("\r\n")
        self.sure.append(value)
        return value

    def expand_all(self, texts: Mapping[str, str], key: str) -> dict[str, Secret]:
        """A map of texts; what stands under a telling name is a secret even when it is written out."""
        out = {name: self.expand(text, f"{key}.{name}") for name, text in texts.items()}
        for name, secret in out.items():
            if _SECRET_NAME.search(name):
                # "Bearer abc": the scheme is public, what follows is not.
                self.sure.extend([secret.reveal(), *secret.reveal().split()[1:]])
            elif key == "headers":
                self.values.append(secret.reveal())
        return out

    def redactor(self) -> Redactor:
        """What takes the values seen so far out of foreign text."""
        return Redactor(self.values, sure=self.sure)

    def error(self, key: str, problem: str, code: str = "config.variable") -> ConfigError:
        """An error about one key of the entry."""
        return ConfigError(
            f"{self.server.source or 'configuration'}: `{key}` of the server `{self.server.name}` {problem}",
            code=code,
            hint_operator="set the variable where this program starts, or write `${NAME:-default}`"
            if code == "config.variable" and "variable" in problem
            else "",
            details={"server": self.server.name, "key": key},
        )


def written_values(server: ServerConfig) -> Redactor:
    """What masks every value that stands in an entry as text, telling name or not, for texts that people pass on.

    These are the values of `env` and `headers`, defaults of variables, arguments that follow a telling option, and the
    query and long path segments of a URL. Logs keep such words: there `LOG_LEVEL=warning` must not hide "warning".
    """
    texts = [*server.env.values(), *server.headers.values()]
    for before, text in pairwise(("", *server.args)):
        option, has_value, value = text.partition("=")
        if has_value and _is_telling(option):
            texts.append(value)
        elif _is_telling(before) and not text.startswith("-"):
            texts.append(text)
    path, _, query = server.url.partition("://")[2].partition("?")
    texts.extend(part.partition("=")[2] for part in query.split("&"))
    texts.extend(part for part in path.split("/")[1:] if len(part) >= _MIN_SEGMENT)
    values: list[str] = []
    for text in texts:
        found = list(_REFERENCE.finditer(text))
        values.extend((match.group("default") or "")[2:] for match in found)
        if not found:
            values.extend([text, *text.split()[1:]])
    return Redactor(values, sure=[match.group(2) for match in _USERINFO.finditer(server.url)])


def expand_variables(server: ServerConfig, environ: Mapping[str, str]) -> dict[str, Secret]:
    """The entry's `env` alone, expanded. Reads files: call it in a worker thread.

    Raises:
        ConfigError: `config.variable`, naming the variable or the file that is not there.
    """
    return _Expander(server, environ).expand_all(server.env, "env")


def expand_launch(server: ServerConfig, environ: Mapping[str, str]) -> Launch:
    """The command of a stdio server with every variable expanded. Reads files: call it in a worker thread.

    Raises:
        ConfigError: `config.variable`, naming the variable or the file that is not there.
    """
    expander = _Expander(server, environ)
    command = expander.expand(server.command, "command")
    args = tuple(expander.expand(text, f"args[{index}]") for index, text in enumerate(server.args))
    cwd = expander.expand(server.cwd, "cwd") if server.cwd else None
    env = expander.expand_all(server.env, "env")
    if not command.reveal():
        raise expander.error("command", "is empty once its variables are known", "config.server")
    return Launch(command=command, args=args, cwd=cwd, env=env, redactor=expander.redactor())


def expand_endpoint(
    server: ServerConfig, environ: Mapping[str, str], printed: Mapping[str, Secret] | None = None
) -> Endpoint:
    """The URL and headers of an HTTP server with every variable expanded. Reads files: call it in a worker thread.

    `printed`: headers that its `headersHelper` printed; they win over written ones, whatever the case of their names.

    Raises:
        ConfigError: `config.variable`, naming the variable or the file that is not there; `config.server` for a URL
            that is none.
    """
    expander = _Expander(server, environ)
    url = expander.expand(server.url, "url")
    given = printed or {}
    names = {name.lower() for name in given}
    written = expander.expand_all(server.headers, "headers")
    headers = {name: value for name, value in written.items() if name.lower() not in names} | dict(given)
    expander.sure.extend(text for value in given.values() for text in (value.reveal(), *value.reveal().split()[1:]))
    if not url.reveal().startswith(("http://", "https://")):
        raise expander.error("url", "is no `http://` or `https://` URL once its variables are known", "config.server")
    for name, value in headers.items():
        if "\r" in value.reveal() or "\n" in value.reveal():
            raise expander.error(f"headers.{name}", "holds a line break once its variables are known", "config.server")
    return Endpoint(url=url, headers=headers, redactor=expander.redactor())


def _is_telling(option: str) -> bool:
    return option.startswith("-") and "=" not in option and _SECRET_NAME.search(option) is not None


def has_credential(server: ServerConfig) -> bool:
    """Whether an entry gives its server a header or a variable with a telling name, or a URL with a password."""
    names = server.headers if server.transport == "http" else server.env
    return (
        bool(server.headers_helper) or any(map(_SECRET_NAME.search, names)) or _USERINFO.search(server.url) is not None
    )
