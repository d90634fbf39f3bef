"""What is not Python is named: the language, and what to write instead.

Enters: a text that does not parse. Leaves: a message and a hint for a model.
"""

from __future__ import annotations

import keyword
import re
import sys

from sandbox.dialect.lexing import bare

_LOOKED_AT = 300  # characters of a line: enough to tell a language
_LINES_LOOKED_AT = 200

_LANGUAGES = {
    tag: language
    for language, tags in (
        ("a shell command", "bash sh shell zsh console terminal shell-session powershell cmd bat"),
        ("JavaScript", "javascript js jsx mjs node"),
        ("TypeScript", "typescript ts tsx"),
        ("JSON", "json jsonc json5"),
        ("markup", "html xml svg"),
        ("YAML", "yaml yml"),
        ("SQL", "sql"),
        ("Ruby", "ruby"),
        ("Go", "go"),
        ("Java", "java"),
        ("Rust", "rust"),
        ("PHP", "php"),
    )
    for tag in tags.split()
}


def language_of(tag: str) -> str:
    """The language of a Markdown fence that is certainly not Python, or ""."""
    words = tag.lower().split()
    return _LANGUAGES.get(words[0], "") if words else ""


_JS_LINE = re.compile(
    r"[ \t]*(?:(?:const|let|var) +[\w{\[]|(?:async +)?function *\w* *\(|(?:async *)?\([\w ,{}:.]*\) *=>"
    r"|import [^\n]{1,200} from ['\"]|export |console\.log\(|} *(?:else|catch|finally)? *[({]? *;?$|//|/\*"
    r"|(?:try|do|else) *\{|(?:switch|while|for|if) *\(.*\) *\{)"
)
_TS_LINE = re.compile(r"[ \t]*(?:export +)?(?:interface +\w+ *\{|type +\w+ *= *\{|enum +\w+ *\{|declare )")
# What a line of JavaScript has that Python does not, and what Python has for it.
_JS_SIGNS = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"[!=]==", "write `==` and `!=`, or `is` and `is not`"),
        (r"&&", "write `and`"),
        (r"\|\|", "write `or`"),
        (r"=>", "write `lambda x: ...`, or a function with `def`"),
        (r"\bnew +[A-Z]\w*", "leave `new` out: `Name(...)`"),
        (r"\+\+|--(?=;|$)", "write `i += 1`"),
        (r"`[^`]*\$\{", 'write an f-string: `f"{name}"`'),
        (r"\?\?|\?\.", "write `x if x is not None else y`"),
        (r" \? .* : ", "write `a if condition else b`"),
        (r"(?:^|[\s(=])!(?=[\w(])", "write `not`"),
        (r"^[ \t]*//", "write remarks behind `#`"),
    )
)
_COMMANDS = (
    r"(?:pip3?|uv|conda|npm|npx|curl|wget|git|ls|cd|cat|echo|sudo|apt(?:-get)?|brew|python3?|bash|grep|export"
    r"|mkdir|rm|cp|mv|jq|docker|pwd|find|head|tail)"
)
_SHELL = re.compile(
    rf"\s*(?:\$\s+\S|#!\s*/bin/|{_COMMANDS}\s+[\w./~$\"'-]|!\s*\w|\w+\s*=\s*!\s*{_COMMANDS}\b)",
)
_INSTALL = re.compile(
    r"\s*[!%$]?\s*(?:python3? +-m +)?(?:pip3?|uv|conda|npm|apt(?:-get)?|brew)\s+(?:\w+ +)?(?:install|add)\b"
)
_MAGIC = re.compile(r"\s*(?:\w+\s*=\s*)?%{1,2}\s*[a-z]\w*")
_HELP = re.compile(r"\s*[\w.]+\?{1,2}\s*$|\s*\?{1,2}[\w.]+\s*$")
_MARKUP = re.compile(r"\s*<[/!?]?\w+[^<>\n]*>")
_TOOL_CALL = re.compile(r"\s*\{\s*\"(?:name|tool|code|function|arguments)\"\s*:")
_SQL = re.compile(
    r"\s*(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE|WITH\s+\w+\s+AS\s*\()\b",
    re.IGNORECASE,
)
_OTHERS = tuple(
    (re.compile(pattern), language)
    for pattern, language in (
        (r"\s*(?:public|private|protected|static|final) +\w", "Java or C#"),
        (r"\s*package +\w+\s*$|\s*func +\w*\(", "Go"),
        (r"\s*(?:pub +)?fn +\w+|\s*let +mut +", "Rust"),
        (r"\s*puts +|.*\bdo +\|\w+\||\s*end\s*$", "Ruby"),
        (r"\s*<\?php|\s*\$\w+ *=", "PHP or a shell script"),
    )
)
_PROSE = re.compile(
    r"(?:Here|Sure|This|The|I|I'll|I'm|Let|Let's|First|Now|Okay|OK|To|We|Please|Note)\b(?:[ ,!.:][^=(]*)?$"
)
_YAML = re.compile(r"\s*(?:- +)?[\w-]+:(?: +[^\s{\[(].*)?$")

_PYTHON_2 = tuple(
    (re.compile(pattern), message, hint)
    for pattern, message, hint in (
        (r"\s*print\s+(?!=|\()\S", "`print` without parentheses is Python 2", "write `print(...)`"),
        (r"\s*exec\s+[^\s(=]", "`exec` without parentheses is Python 2", "write `exec(...)`, or the code itself"),
        (r"\s*except\s+[\w.]+\s*,\s*\w+\s*:", "`except Error, name` is Python 2", "write `except Error as name:`"),
        (r"\s*raise\s+[\w.]+\s*,", "`raise Error, text` is Python 2", "write `raise Error(text)`"),
        (r".*<>", "`<>` is Python 2", "write `!=`"),
        (r'.*\bur"', "`ur''` is Python 2", "write `r''`"),
        (r".*\b\d+[lL]\b", "an `L` behind a number is Python 2", "leave the `L` out"),
        (r".*`[\w.()\[\]]+`\s*$", "backticks around a value are Python 2", "write `repr(value)`"),
    )
)

# What CPython says → what to write. The first that is found in the message counts.
_REMEDIES = (
    ("leading zeros in decimal integer", "write `5` for `05`, and `0o17` for an octal number"),
    (
        "outside async function",
        "write `async def`, or call the function without `await`: it blocks and gives the value",
    ),
    ("unexpected indent", "start every line of the top level at the left edge"),
    ("unindent does not match", "indent the lines of one block alike"),
    ("inconsistent use of tabs", "indent with spaces alone"),
    ("invalid character", "write plain quotes, commas, brackets and signs"),
    ("invalid non-printable character", "remove the character; in a string write it as an escape"),
    (
        "unexpected character after line continuation",
        "write a real line end where `\\n` stands between statements, and quotes without a backslash",
    ),
    ("unterminated string literal", "close the quotes on the same line, or use three: `'''...'''`"),
    ("unterminated triple-quoted", "close the three quotes"),
    ("unterminated f-string", "close the quotes on the same line, or use three: `'''...'''`"),
    (
        "f-string expression part cannot include a backslash",
        "before Python 3.12: give the text a name first, then use the name in the f-string",
    ),
    ("was never closed", "close the bracket"),
)
_FSTRING_QUOTES = re.compile(r"f-string: (?:unmatched|expecting '}')")
_KEYWORD = re.compile(rf"(?:^|[(,])\s*({'|'.join(keyword.kwlist)})\s*=(?!=)")
_TYPE_ALIAS = re.compile(r"\s*type +\w+(?:\[[^\]]*\])? *=")
_TYPE_PARAMETERS = re.compile(r"\s*(?:async +)?(?:def|class) +\w+\[")


def explain_syntax(text: str, line: int, message: str) -> tuple[str, str]:
    """A better (message, hint) for a syntax error, by what the offending line looks like."""
    lines = text.split("\n")
    bad = lines[line - 1][:_LOOKED_AT] if 0 < line <= len(lines) else ""
    code = bare(bad)
    for pattern, what, hint in _PYTHON_2:
        if pattern.match(code):
            return what, hint
    if "outside function" in message and "yield" in message:
        return message, "`yield` stands in a function; to end the program with a value use `return value`"
    return _not_python(bad) or _javascript(lines, code) or (message, _remedy(message, code))


def _not_python(bad: str) -> tuple[str, str] | None:
    if _INSTALL.match(bad):
        return "this looks like a shell command, not Python", "nothing can be installed; import what there is"
    if _MAGIC.match(bad):
        return (
            "this looks like an IPython command, not Python",
            "leave the line out; measure with `time.perf_counter()`",
        )
    if _SHELL.match(bad):
        return "this looks like a shell command, not Python", "there is no shell here: call a tool, or write Python"
    if _HELP.match(bad):
        return "this looks like an IPython question, not Python", "write `help(name)`"
    if bad.strip().startswith(("```", "~~~")):
        return "a Markdown fence stands inside of the program", "send the code alone, without fences"
    language = next((language for sign, language in _OTHERS if sign.match(bad)), "")
    if language:
        return f"this looks like {language}, not Python", "write the program in Python"
    if _TOOL_CALL.match(bad) or _MARKUP.match(bad):
        return "this looks like a tool call or markup, not Python", "send Python source alone"
    if _SQL.match(bad):
        return "this looks like SQL, not Python", "call a tool that runs queries, with the query as a string"
    if _PROSE.match(bad.strip()):
        return "this looks like prose, not Python", "send the program alone; put remarks behind `#`"
    return None


def _javascript(lines: list[str], bad: str) -> tuple[str, str] | None:
    seen = [line[:_LOOKED_AT] for line in lines[:_LINES_LOOKED_AT]]
    if _TS_LINE.match(bad):
        return "this looks like TypeScript, not Python", "write the program in Python"
    if _JS_LINE.match(bad) or (sum(_JS_LINE.match(line) is not None for line in seen) >= 2 and not _has_def(seen)):
        return "this looks like JavaScript, not Python", "write the program in Python"
    hint = next((hint for sign, hint in _JS_SIGNS if sign.search(bad)), "")
    return ("this looks like JavaScript, not Python", hint) if hint else None


def _has_def(lines: list[str]) -> bool:
    return any(line.lstrip().startswith("def ") for line in lines)


def _remedy(message: str, bad: str) -> str:
    if _TYPE_ALIAS.match(bad) or _TYPE_PARAMETERS.match(bad):
        return "this is syntax of Python 3.12; write `Alias = int`, or `TypeVar` and `Generic` of `typing`"
    if sys.version_info < (3, 12) and _FSTRING_QUOTES.match(message):
        return "before Python 3.12 an f-string cannot hold its own quotes: use the other kind inside of the braces"
    word = _KEYWORD.search(bad)
    if word is not None:
        return f"`{word[1]}` is a keyword of Python: write `{word[1]}_`, as functions of `tools` do"
    if message == "expected ':'" and re.match(r"\s*else +if\b", bad):
        return "write `elif`"
    if message == "invalid syntax" and re.match(r"\s*\w+ *:=", bad):
        return "write `=`; `:=` stands inside of an expression, in parentheses"
    if message == "invalid syntax" and _YAML.match(bad) and not bad.lstrip().startswith(("else", "try", "finally")):
        return "if this is YAML: send Python source; text goes into a string"
    return next((hint for part, hint in _REMEDIES if part in message), "")
