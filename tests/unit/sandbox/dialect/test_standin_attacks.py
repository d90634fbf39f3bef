"""What stand-ins keep to themselves stays there: each program tries to get at it, or at files, and gets nothing.

A program that gets something prints it on a line that starts with `GOT`.
"""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

import pytest

from tests.support.dialect_driver import run

_ZIP = "import io, zipfile\nz = zipfile.ZipFile(io.BytesIO(), 'w')\nz.writestr('a', 'b')\n"
_TAR = """import io, tarfile
b = io.BytesIO()
with tarfile.open(fileobj=b, mode='w') as t: t.addfile(tarfile.TarInfo('a'))
t = tarfile.open(fileobj=io.BytesIO(b.getvalue()))
"""
_SHOW = """
class Shown:
    def __setattr__(self, name, value):
        if name[:3] == '_' 'cm' or name in ('_loop', '_zip'): print('GOT', name, value)
        super().__setattr__(name, value)
"""
_STATE = """
class Answers:
    def __getattr__(self, name):
        if name == '__setstate__': return lambda state: print('GOT', state)
        raise AttributeError(name)
"""

ATTACKS = {
    "zip path": "import zipfile\nprint('GOT', zipfile.ZipFile('/etc/passwd'))",
    "zip type of the object": _ZIP + "print('GOT', type(z)('/etc/hostname', 'r'))",
    "zip from_file": _ZIP + "print('GOT', type(z.infolist()[0]).from_file('/etc/hostname'))",
    "zip Path": "import zipfile\nprint('GOT', zipfile.Path('/etc/passwd').read_text())",
    "zip write": _ZIP + "z.write('/etc/hostname')\nprint('GOT', z.read('etc/hostname'))",
    "zip extract": _ZIP + "print('GOT', z.extractall('/tmp'))",
    "zip inner object": _ZIP + "print('GOT', getattr(z, '_cm' + '_zip'))",
    "zip inner object by a template": _ZIP + "print('GOT', '{0._cm_zip}'.format(z))",
    "zip inner object in the table": _ZIP + "print(*['GOT' for k in vars(z) if 'zip' in k])\n1/0",
    "zip __setattr__": _SHOW
    + "import io, zipfile\nclass Z(Shown, zipfile.ZipFile): pass\nZ(io.BytesIO(), 'w')\nclass I(Shown, zipfile.ZipInfo): pass\nI('x')\n1/0",
    "zip copied": _STATE
    + "import copy, io, zipfile\nclass Z(Answers, zipfile.ZipFile): pass\ncopy.copy(Z(io.BytesIO(), 'w'))\n1/0",
    "zip written member": _ZIP + "m = z.open('c', 'w')\nprint('GOT', getattr(m, '_zip' + 'file'))",
    "tar path": "import tarfile\nprint('GOT', tarfile.open('/etc/passwd'))",
    "tar class": "import tarfile\nprint('GOT', tarfile.TarFile('/etc/passwd'))",
    "tar of a member": _TAR + "print('GOT', t.getmembers()[0].tarfile)",
    "tar eq": _TAR
    + "class E:\n    islnk = issym = lambda s: True\n    isreg = lambda s: False\n    type = b'1'\n    linkname = name = 'a'\n    def __eq__(self, other):\n        print('GOT', other)\nt.extractfile(E())",
    "tar error": _TAR
    + "i = tarfile.TarInfo('../x')\ntry:\n    t.extractall('.', [i])\nexcept tarfile.FilterError as e:\n    print(*['GOT'] * (type(e.tarinfo) is not tarfile.TarInfo))\n1/0",
    "tar add": "import io, tarfile\ntarfile.open(fileobj=io.BytesIO(), mode='w').add('/etc/hostname')\nprint('GOT')",
    "tar filter": _TAR
    + "t.extractall('.', filter=lambda m, p: print(*['GOT'] * (type(m) is not tarfile.TarInfo)))\n1/0",
    "gzip path": "import gzip\nprint('GOT', gzip.open('/etc/passwd'))",
    "gzip class": "import gzip, io\nprint('GOT', type(gzip.GzipFile(fileobj=io.BytesIO(), mode='wb'))('/etc/passwd').name)",
    "bz2 path": "import bz2\nprint('GOT', bz2.BZ2File('/etc/passwd'))",
    "lzma path": "import lzma\nprint('GOT', lzma.open('/etc/passwd'))",
    "gzip descriptor": "import gzip\nprint('GOT', gzip.open(0))",
    "text over a descriptor": "import io\nprint('GOT', io.TextIOWrapper(0))",
    "codecs path": "import codecs\nprint('GOT', codecs.open('/etc/passwd'))",
    "xml path": "import xml.etree.ElementTree as ET\nprint('GOT', ET.parse('/etc/passwd'))",
    "temporary folder outside": "import tempfile\nprint('GOT', tempfile.mkdtemp(dir='/tmp'))",
    "settings path": "import configparser\nc = configparser.ConfigParser()\nprint(*['GOT'] * len(c.read('/etc/hostname')))\n1/0",
    "settings path by super": "import configparser\nc = configparser.ConfigParser()\nsuper(type(c), c).read('/etc/os-release')\nprint(*['GOT'] * len(c.sections()))\n1/0",
    "arguments from a file": "import argparse\np = argparse.ArgumentParser(fromfile_prefix_chars='@')\np.add_argument('x', nargs='*')\nprint('GOT', p.parse_args(['@/etc/hostname']))",
    "arguments file type": "import argparse\nt = argparse.FileType('r')\nprint('GOT', super(type(t), t).__call__('/etc/hostname'))",
    "arguments dest": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--x', dest='__class__')\nprint('GOT', p.parse_args(['--x', '1']))",
    "arguments onto a module": "import argparse, json\np = argparse.ArgumentParser()\np.add_argument('--dumps')\np.parse_args(['--dumps', '1'], namespace=json)\nprint('GOT')",
    "arguments onto a library class": "import argparse, json\np = argparse.ArgumentParser()\np.add_argument('--encode')\np.parse_args(['--encode', '1'], namespace=json.JSONEncoder)\nprint('GOT')",
    "arguments read a frame": "import argparse\ng = (x for x in '')\np = argparse.ArgumentParser()\np.add_argument('--f', dest='gi_frame', action='append')\np.parse_args(['--f', '1'], namespace=g)\nprint('GOT')",
    "arguments defaults": "import argparse\np = argparse.ArgumentParser()\np.set_defaults(gi_frame=1)\nprint('GOT', p.parse_args([]))",
    "Namespace": "import argparse\nprint('GOT', argparse.Namespace(**{'__class__': int}))",
    "Formatter attribute": "import string\nprint('GOT', string.Formatter().format('{0.__class__}', 1))",
    "Formatter get_field": "import string\nprint('GOT', string.Formatter().get_field('0.__globals__', [lambda: 0], {}))",
    "Formatter by super": "import string\nf = string.Formatter()\nclass F(string.Formatter): pass\nprint('GOT', super(F, F()).get_field('0.gi_frame', [(x for x in '')], {}))",
    "Formatter nested": "import string\nprint('GOT', string.Formatter().format('{0:{1.__class__}}', 1, 2))",
    "UserString": "import collections\nprint('GOT', collections.UserString('{0.__class__}').format(1))",
    "UserString map": "import collections\nprint('GOT', collections.UserString('{a.__class__}').format_map({'a': 1}))",
    "hints text": "import typing\nclass A:\n    x: '().__class__.__base__'\nprint('GOT', typing.get_type_hints(A))",
    "hints nested text": "import typing\nclass A:\n    x: typing.List['len.__self__']\nprint('GOT', typing.get_type_hints(A))",
    "hints globals": "import typing\nclass A:\n    x: '_cm_getattr'\nprint('GOT', typing.get_type_hints(A))",
    "hints import": "import typing\nclass A:\n    x: '__import__(\"os\")'\nprint('GOT', typing.get_type_hints(A, {}, {}))",
    "made dataclass field": "import dataclasses\nprint('GOT', dataclasses.make_dataclass('A', ['x=print(1)']))",
    "made dataclass namespace": "import dataclasses\nprint('GOT', dataclasses.make_dataclass('A', ['x'], namespace={'__instancecheck__': len}))",
    "made dataclass frame": "import dataclasses\nprint('GOT', dataclasses.make_dataclass('A', ['gi_frame']))",
    "made class": "print('GOT', type('A', (), {'__reduce_ex__': len}))",
    "environment": "import os\nprint('GOT', os.environ['PATH'])",
    "logging template": "import logging\nlogging.basicConfig(format='{args.__class__}', style='{')\nlogging.error('x')\nprint('GOT')",
    "logging file": "import logging\nprint('GOT', logging.FileHandler('/tmp/x.log'))",
    "memo": "import copy, inspect\nm = {}\ncopy.deepcopy(inspect.signature(lambda: 0), m)\nprint(*['GOT' for v in m.values()])\n1/0",
    "memo of a class": "import copy, inspect\nclass A:\n    def __deepcopy__(self, memo):\n        print(*['GOT' for n in range(3) if memo.get(id(memo) + n)], *['GOT'] * hasattr(memo, 'values'))\ncopy.deepcopy([inspect.signature(len), A()])\n1/0",
    "state of a queue": _STATE + "import asyncio, copy\nclass Q(Answers, asyncio.Queue): pass\ncopy.copy(Q())\n1/0",
    "state by asdict": _STATE
    + "import asyncio, dataclasses\nclass Q(Answers, asyncio.Queue): pass\n@dataclasses.dataclass\nclass D:\n    x: object\ndataclasses.asdict(D(Q()))\n1/0",
    "state of a child": _STATE
    + "import asyncio, copy, xml.etree.ElementTree as ET\nclass Q(Answers, asyncio.Queue): pass\ne = ET.Element('a')\ne.text = Q()\ncopy.deepcopy(e)\n1/0",
    "slots of a member": _SHOW
    + "import copy, io, zipfile\nclass I(Shown, zipfile.ZipInfo): pass\ncopy.copy(I('x'))\n1/0",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_a_stand_in_gives_nothing_away(name: str) -> None:
    ran = run(ATTACKS[name])
    assert "GOT" not in ran.printed, ran.printed
    assert ran.refusals or ran.error is not None
