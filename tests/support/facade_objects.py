"""Objects that a program can get from the facades by ordinary calls: where a walk along attributes starts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from tests.support.dialect_driver import run

# Each line makes one object; the program runs under the dialect, so everything here is in a program's reach.
_MAKERS = r"""
Thread: threading.Thread(target=len)
current thread: threading.current_thread()
Lock: threading.Lock()
RLock: threading.RLock()
Condition: threading.Condition()
Event: threading.Event()
Semaphore: threading.Semaphore()
Barrier: threading.Barrier(2)
local: threading.local()
Timer: threading.Timer(1, len)
Queue: queue.Queue()
SimpleQueue: queue.SimpleQueue()
executor: pool
future: pool.submit(len, '')
pattern: re.compile('a')
match: re.match('a', 'a')
Decimal: decimal.Decimal(1)
decimal context: decimal.getcontext()
encoder: json.JSONEncoder()
decoder: json.JSONDecoder()
element: ET.fromstring('<a><b/></a>')
tree: ET.ElementTree(ET.fromstring('<a/>'))
XMLParser: ET.XMLParser()
XMLPullParser: ET.XMLPullParser()
TreeBuilder: ET.TreeBuilder()
iterparse: ET.iterparse(io.StringIO('<a/>'))
dom: minidom.parseString('<a b="1">t</a>')
message: email.message_from_string('To: a@b.c\n\nhi', policy=policy.default)
address header: email.message_from_string('To: a@b.c\n\nhi', policy=policy.default)['to']
plain message: email.message_from_string('a: b\n\nx')
mime text: mime_text.MIMEText('x')
policy: policy.default
HTMLParser: html_parser.HTMLParser()
Random: random.Random(1)
Template: string.Template('$a')
DictReader: csv.DictReader(io.StringIO('a\n1'))
DictWriter: csv.DictWriter(io.StringIO(), ['a'])
Sniffer: csv.Sniffer()
reader: csv.reader(['a'])
NormalDist: statistics.NormalDist()
uuid: uuid.uuid4()
Fraction: fractions.Fraction(1, 2)
sha: hashlib.sha256()
hmac: hmac.new(b'k', b'm', 'sha256')
Struct: struct.Struct('<I')
ZoneInfo: zoneinfo.ZoneInfo('UTC')
ip: ipaddress.ip_address('1.2.3.4')
network: ipaddress.ip_network('10.0.0.0/8')
SequenceMatcher: difflib.SequenceMatcher()
HtmlDiff: difflib.HtmlDiff()
enum class: E
enum member: E.A
functional enum: enum.Enum('F', 'X')
flag: re.I
dataclass: D
instance: D()
field: dataclasses.fields(D)[0]
namedtuple: collections.namedtuple('N', 'a b')(1, 2)
Counter: collections.Counter('a')
ChainMap: collections.ChainMap({})
OrderedDict: collections.OrderedDict()
UserDict: collections.UserDict()
UserList: collections.UserList()
deque: collections.deque()
defaultdict: collections.defaultdict(list)
partial: functools.partial(len, '')
lru_cache: functools.lru_cache(len)
cached_property: functools.cached_property(len)
partialmethod: functools.partialmethod(len)
singledispatch: functools.singledispatch(len)
singledispatchmethod: functools.singledispatchmethod(len)
generator: gen()
async generator: agen()
function: gen
method: [].append
bound: D().__init__
context manager: cm()
ExitStack: contextlib.ExitStack()
AsyncExitStack: contextlib.AsyncExitStack()
suppress: contextlib.suppress()
attribute error: caught(lambda: [].nope)
zero division: caught(lambda: 1 / 0)
import error: caught(bad_import)
key error: caught(lambda: {}['k'])
traceback: caught(lambda: 1 / 0).__traceback__
weak reference: weakref.ref(D)
SimpleNamespace: types.SimpleNamespace(a=1)
MappingProxyType: types.MappingProxyType({})
alias: list[int]
union: int | str
Optional: typing.Optional['x']
TypeVar: typing.TypeVar('T')
Literal: typing.Literal[1]
NewType: typing.NewType('N', int)
forward reference: typing.get_args(typing.List['zz'])[0]
array: array.array('i')
TopologicalSorter: graphlib.TopologicalSorter()
TextWrapper: textwrap.TextWrapper()
PrettyPrinter: pprint.PrettyPrinter()
HTMLCalendar: calendar.HTMLCalendar()
compressor: zlib.compressobj()
bz2: bz2.BZ2Compressor()
lzma: lzma.LZMACompressor()
ContextVar: contextvars.ContextVar('x')
Context: contextvars.copy_context()
scheduler: sched.scheduler()
catch_warnings: warnings.catch_warnings(record=True)
signature: inspect.signature(gen)
logger: logging.getLogger('x')
handler: logging.StreamHandler()
StringIO: io.StringIO()
BytesIO: io.BytesIO()
property: property(len)
staticmethod: staticmethod(len)
classmethod: classmethod(len)
super: super(D, D())
memoryview: memoryview(b'x')
map: map(len, [])
count: itertools.count()
groupby: itertools.groupby([])
timezone: datetime.timezone.utc
datetime: datetime.datetime.now()
path: pathlib.PurePosixPath('a')
windows path: pathlib.PureWindowsPath('a')
ParseResult: parse.urlparse('http://a/b')
stdout: sys.stdout
zip: packed
zip info: packed.infolist()[0]
zip member: packed.open('a/b.txt')
zip path: zipfile.Path(packed)
zip written: zipfile.ZipFile(io.BytesIO(), 'w')
zip member written: zipfile.ZipFile(io.BytesIO(), 'w').open('x', 'w')
tar: taped
tar info: taped.getmembers()[0]
tar member: taped.extractfile('a.txt')
tar error: caught(lambda: taped.extractall('x', [outside]))
gzip file: gzip.GzipFile(fileobj=io.BytesIO(), mode='wb')
gzip text: gzip.open(io.BytesIO(gzip.compress(b'x')), 'rt')
bz2 file: bz2.BZ2File(io.BytesIO(), 'wb')
lzma file: lzma.open(io.BytesIO(), 'wb')
text over bytes: io.TextIOWrapper(io.BytesIO(b'x'))
buffered: io.BufferedReader(io.BytesIO(b'x'))
ArgumentParser: parser
namespace: parser.parse_args(['--n', '1'])
action: parser.add_argument('--other')
group: parser.add_argument_group('g')
subparsers: argparse.ArgumentParser().add_subparsers()
FileType: argparse.FileType('r')
help formatter: argparse.HelpFormatter('p')
ConfigParser: settings
section: settings['a']
interpolation: configparser.ExtendedInterpolation()
configparser error: caught(lambda: settings['zz'])
Formatter: string.Formatter()
UserString: collections.UserString('a')
made dataclass: dataclasses.make_dataclass('M', ['a', ('b', int)])
made class: type('T', (D,), {'y': 1})
type hints: typing.get_type_hints(D)
environ: os.environ
temporary file: tempfile.TemporaryFile('w')
StreamReader: codecs.getreader('utf-8')(io.BytesIO(b'x'))
incremental decoder: codecs.getincrementaldecoder('utf-8')()
email parser: email_parser.BytesParser()
version: sys.version_info
snapshot: locals()
task: asyncio.create_task(asyncio.sleep(0))
gather: asyncio.gather(asyncio.sleep(0))
asyncio queue: asyncio.Queue()
asyncio lock: asyncio.Lock()
asyncio semaphore: asyncio.Semaphore()
asyncio condition: asyncio.Condition()
asyncio barrier: asyncio.Barrier(2)
TaskGroup: asyncio.TaskGroup()
timeout: asyncio.timeout(1)
loop: asyncio.get_running_loop()
handle: asyncio.get_running_loop().call_later(0, len, '')
asyncio future: asyncio.get_running_loop().create_future()
used lock: used[0]
used queue: used[1]
used group: used[2]
"""

_PROGRAM = """
import argparse, codecs, configparser, gzip, os, tarfile, tempfile, zipfile
import array, asyncio, bz2, calendar, collections, contextlib, contextvars, csv, dataclasses, datetime, decimal
import difflib, email, enum, fractions, functools, graphlib, hashlib, hmac, inspect, io, ipaddress, itertools, json
import logging, lzma
import pathlib, pprint, queue, random, re, sched, statistics, string, struct, sys, textwrap, threading, types, typing
import uuid, warnings, weakref, zlib, zoneinfo, html.parser as html_parser, xml.etree.ElementTree as ET
from xml.dom import minidom
from email import parser as email_parser, policy
from email.mime import text as mime_text
from urllib import parse
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
pool.submit(len, '').result()
class E(enum.Enum): A = 1
@dataclasses.dataclass
class D: x: int = 1
def gen(): yield 1
async def agen(): yield 1
@contextlib.contextmanager
def cm(): yield 1
def bad_import():
    try:
        import numpy_of_nobody
    except ValueError:
        pass
    except ImportError as error:
        raise error
def caught(f):
    try:
        f()
    except Exception as error:
        return error
async def use():
    lock, line = asyncio.Lock(), asyncio.Queue()
    await lock.acquire()
    waiting = asyncio.create_task(lock.acquire())
    getting = asyncio.create_task(line.get())
    await asyncio.sleep(0)
    line.put_nowait(1)
    await getting
    waiting.cancel()
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0))
    return lock, line, group
used = await use()
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, 'w') as made_zip:
    made_zip.writestr('a/b.txt', 'text')
packed = zipfile.ZipFile(buffer)
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode='w') as made_tar:
    info = tarfile.TarInfo('a.txt')
    made_tar.addfile(info, io.BytesIO())
taped = tarfile.open(fileobj=io.BytesIO(buffer.getvalue()))
outside = tarfile.TarInfo('../x')
parser = argparse.ArgumentParser(prog='p')
parser.add_argument('--n', type=int)
settings = configparser.ConfigParser()
settings.read_dict({'a': {'b': '1'}})
made = {MADE}
keep(made)
pool.shutdown()
"""


def made_objects() -> Iterator[tuple[str, Any]]:
    """The objects by name; those of asyncio belong to a loop that is closed by now."""
    lines = dict(line.split(": ", 1) for line in _MAKERS.strip().splitlines())
    body = "{" + ", ".join(f"{name!r}: {maker}" for name, maker in lines.items()) + "}"
    kept: list[dict[str, Any]] = []
    ran = run(_PROGRAM.replace("{MADE}", body), extra={"keep": kept.append})
    assert ran.refusals == []
    assert ran.error is None, repr(ran.error)
    yield from kept[0].items()


def is_loop(value: object) -> bool:
    """Whether the value is an event loop."""
    return isinstance(value, asyncio.AbstractEventLoop)
