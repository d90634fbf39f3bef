"""For an import that is refused: one line that names the nearest allowed way.

Enters: a module name. Leaves: a hint. The lines are for models, so they say what to write.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_NETWORK = "there is no network: call a tool"
_PROCESS = "there are no processes: call a tool, or write Python"
_FILES = "for files there are `open(name)`, `pathlib.Path`, `os`, `glob` and `shutil`, in the session's workspace"
_NOT_INSTALLED = "not installed here; use lists, dicts, `statistics`, `collections` and `csv`"
_NOT_ALLOWED = (
    "not allowed here; use lists, dicts, `statistics`, `collections` and `csv` "
    "(whoever runs this sandbox can allow it: setting `packages`)"
)
_INSIDE = "it reaches into the interpreter; nothing takes its place"
_PICKLE = "it builds any object by name; use `json` or `copy.deepcopy`"
_PERSON = "nobody sits at a screen; print the answer or end with it"
_THREADS = "use `concurrent.futures.ThreadPoolExecutor` or `asyncio.gather`"

GROUPS: tuple[tuple[str, str], ...] = (
    (
        """requests httpx aiohttp urllib3 urllib.request urllib.error http.client http.server http.cookies socket
        socketserver ssl ftplib smtplib imaplib poplib telnetlib xmlrpc xmlrpc.client websockets websocket paramiko
        boto3 botocore grpc select selectors webbrowser openai anthropic slack_sdk github stripe selenium playwright
        feedparser httplib2 pycurl asyncssh fabric nntplib urllib.robotparser""",
        _NETWORK,
    ),
    ("subprocess pty sh pexpect popen2 commands", _PROCESS),
    ("multiprocessing multiprocess joblib dask ray _thread concurrent.futures.process", _THREADS),
    (
        "fileinput filecmp fcntl mmap zipimport dbm shelve pwd grp resource stat",
        _FILES,
    ),
    ("sqlite3 psycopg2 pymysql sqlalchemy pymongo redis duckdb", "there is no database: use lists and dicts"),
    (
        """scipy sklearn matplotlib seaborn polars pyarrow torch tensorflow statsmodels networkx sympy
        plotly xgboost cv2 PIL numba jax""",
        _NOT_INSTALLED,
    ),
    (
        """yaml bs4 lxml openpyxl xlrd docx pypdf PyPDF2 fitz markdown jinja2 tqdm rich tabulate pydantic attrs attr
        dateutil pytz arrow pendulum regex simplejson orjson ujson toml click typer loguru chardet nltk spacy
        more_itertools toolz rapidfuzz fuzzywuzzy jsonschema dotenv tenacity cachetools""",
        "not installed here",
    ),
    (
        """builtins imp pkgutil runpy ctypes _ctypes cffi code codeop dis opcode bytecode marshal site
        sysconfig linecache tokenize token symtable trace tracemalloc pdb bdb cProfile profile faulthandler
        posix nt _posixsubprocess _io _imp sys.modules zipapp py_compile compileall modulefinder ensurepip venv
        pip setuptools distutils unittest doctest pytest test syslog tty termios""",
        _INSIDE,
    ),
    ("getpass", "nobody sits at a keyboard; tools know their own credentials"),
    ("numpy pandas", _NOT_ALLOWED),
    ("pickle cPickle dill cloudpickle copyreg _pickle", _PICKLE),
    ("tkinter turtle curses readline cmd IPython ipywidgets streamlit", _PERSON),
    ("optparse getopt", "use `argparse` with a list: `parser.parse_args([])`"),
)

_SPECIAL = {
    "pytz": "not installed here; use `zoneinfo.ZoneInfo(name)`",
    "dateutil": "not installed here; use `datetime.fromisoformat` or `datetime.strptime`",
    "arrow": "not installed here; use `datetime`",
    "pendulum": "not installed here; use `datetime`",
    "yaml": "not installed here; use `json`, or parse the text",
    "toml": "not installed here; use `tomllib`",
    "bs4": "not installed here; use `html.parser.HTMLParser` or `re`",
    "lxml": "not installed here; use `xml.etree.ElementTree`",
    "orjson": "not installed here; use `json`",
    "simplejson": "not installed here; use `json`",
    "ujson": "not installed here; use `json`",
    "regex": "not installed here; use `re`",
    "attr": "not installed here; use `dataclasses`",
    "attrs": "not installed here; use `dataclasses`",
    "pydantic": "not installed here; use `dataclasses`",
    "tabulate": "not installed here; build the table with f-strings",
    "tqdm": "not installed here; leave the progress bar out",
    "jinja2": "not installed here; use f-strings or `string.Template`",
    "more_itertools": "not installed here; use `itertools`",
    "anyio": "not installed here; use `asyncio`",
    "trio": "not installed here; use `asyncio`",
    "typing_extensions": "not installed here; use `typing`",
    "six": "not installed here, and not needed",
    "nest_asyncio": "not needed: `await` works at top level and `asyncio.run` works anywhere; leave the line out",
    "uvloop": "not needed; leave the line out",
    "importlib": "write `import name`",
    "builtins": "builtins are there by their names",
    "signal": "for a time-out write `async with asyncio.timeout(seconds):`",
    "atexit": "write `try:` and `finally:`",
    **dict.fromkeys(("cProfile", "profile", "trace", "tracemalloc"), "measure with `time.perf_counter()`"),
    **dict.fromkeys(("pdb", "bdb", "faulthandler"), "there is no debugger: print the values"),
    "doctest": "write `assert` statements",
    **dict.fromkeys(("setuptools", "pip", "distutils", "ensurepip", "venv"), "nothing can be installed"),
    **dict.fromkeys(("dis", "opcode", "bytecode"), "programs cannot look into code objects"),
    **dict.fromkeys(("linecache", "tokenize", "token", "symtable"), "read the text you sent, with `re`"),
    "unittest": "write `assert` statements",
    "pytest": "write `assert` statements",
    "unittest.mock": "write a small class or function",
    "mcp": "tools are functions here: `tools.SERVER.FUNCTION(...)`",
    "fastmcp": "tools are functions here: `tools.SERVER.FUNCTION(...)`",
}

_COMMON = (
    "asyncio, collections, csv, dataclasses, datetime, decimal, functools, itertools, json, math, random, re, "
    "statistics, string, time, typing, urllib.parse, uuid"
)
_BY_NAME = {name: hint for names, hint in GROUPS for name in names.split()} | _SPECIAL


def nearest(name: str, allowed: Iterable[str] = (), packages: Iterable[str] = ()) -> str:
    """One line that names the nearest allowed way for a module that cannot be imported.

    `packages` are there besides the standard library, and take the place of their like.
    """
    for known in (name, name.partition(".")[0]):
        if known in _BY_NAME:
            hint = _BY_NAME[known]
            there = " and ".join(f"`{package}`" for package in sorted(packages))
            return f"not installed here; use {there}" if there and hint == _NOT_INSTALLED else hint
    close = difflib.get_close_matches(name, sorted(allowed), n=1, cutoff=0.8)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"can be imported: `tools`, {_COMMON}, …"
