"""The allowed packages (numpy, pandas) before the seal and at the start of a run.

Enters: names of packages, in the zygote; a run's seed, in a guest. Leaves: everything of them in `sys.modules`, one
thread, nothing left that a program's first `to_csv` would have to read from a file. Must never import what nobody
allowed: pandas looks for two dozen optional packages, and whatever lies beside it would run in every guest.
"""

from __future__ import annotations

import importlib
import io
import os
import pkgutil
import random
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from sandbox.dialect.packages import PACKAGES
from sandbox.dialect.rules import words
from sandbox.guest import files

# Read by the libraries below numpy when they are loaded: one thread, because a fork keeps only the one that forks, and
# a guest's own threads are counted.
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# Parts that no program uses and that cost time or reach for what is not there: tests, compilers, other interpreters'
# halves, formats of files. The last part of a dotted name.
_LEFT_OUT = words(
    """
    __main__ _configtool _doctools _numba _print_versions _pyinstaller _test_decorators clipboard clipboards conftest
    ctypeslib cversions distutils excel f2py feather_format iceberg mypy_plugin orc parquet pytables rebuild sas setup
    spss stata tests testutils tzwin win zoneinfo
    """
)

# What they import of the standard library late, inside of functions (found by reading every function of both).
_LATE = (
    *("ast", "bz2", "csv", "difflib", "gzip", "lzma", "mmap", "pprint", "struct", "tempfile", "tokenize", "zipfile"),
    *("xml.dom.minidom", "xml.etree.ElementTree", "importlib.metadata", "urllib.request"),
)


def load(names: Sequence[str]) -> None:
    """Import these packages with all their parts, and use each once. Call before the process forks.

    Raises:
        ImportError: a package is not installed, or needs one that is not.
    """
    if not names:
        return
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    needs = _needs(names)
    try:
        with _nothing_else({*names, *needs}), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated parts say so when they are imported
            for name in (*_LATE, *names):
                importlib.import_module(name)
            for name in (*names, *needs):
                if name in sys.modules:  # what is needed by some versions only
                    _import_parts(sys.modules[name])
            for name in names:
                _WARM_UP.get(name, _nothing)(sys.modules[name])
        _give_files()
    finally:
        for variable in _ONE_THREAD:
            os.environ.pop(variable, None)


# Modules whose functions open files by name with the builtin: they find ours in the module's own namespace first.
_OPENERS = ("numpy.lib._npyio_impl", "numpy.lib.npyio", "pandas.io.common")


def _give_files() -> None:
    """Have `read_csv`, `to_csv`, `numpy.save`, `numpy.loadtxt` and the like use the files of the run."""
    for name in _OPENERS:
        if name in sys.modules:
            vars(sys.modules[name])["open"] = files.current().open
    text = sys.modules.get("numpy.lib._datasource")
    if text is not None:
        vars(text)["open"] = _open_text
    common = sys.modules.get("pandas.io.common")
    if common is not None:
        vars(common)["check_parent_directory"] = _nothing  # it asks the kernel; `open` says the same


def _open_text(
    path: Any, mode: str = "r", destpath: object = None, encoding: str | None = None, newline: str | None = None
) -> Any:
    """`numpy.DataSource.open` for files of the run; addresses and compressed files are not opened."""
    return files.current().open(path, mode, encoding=encoding, newline=newline)


def _needs(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({other for name in names if name in PACKAGES for other in PACKAGES[name].needs}))


def _import_parts(package: ModuleType) -> None:
    for found in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{package.__name__}."):
        if found.name.rpartition(".")[2] in _LEFT_OUT:
            continue
        try:
            part = importlib.import_module(found.name)
        except ImportError:  # it needs a package that is not allowed
            continue
        if found.ispkg:
            _import_parts(part)


class _Allowed(MetaPathFinder):
    """Refuses top-level modules that belong neither to the standard library nor to an allowed package."""

    def __init__(self, tops: Collection[str]) -> None:
        self._tops = {*tops, *sys.stdlib_module_names, *(name.partition(".")[0] for name in sys.modules)}

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Part of the import protocol: raise, or leave it to the finders behind."""
        if fullname.partition(".")[0] not in self._tops:
            raise ModuleNotFoundError(f"No module named {fullname!r}: it is not among the allowed", name=fullname)


@contextmanager
def _nothing_else(tops: Collection[str]) -> Iterator[None]:
    finder = _Allowed(tops)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _nothing(package: Any) -> None:
    """There is nothing to warm up."""


def _warm_numpy(numpy: Any) -> None:
    square = numpy.arange(9.0).reshape(3, 3) + numpy.eye(3)
    numpy.linalg.svd(numpy.linalg.inv(square) @ square)
    numpy.fft.ifft(numpy.fft.fft(square[0]))
    repr(numpy.random.default_rng(0).normal(size=3).round(2))


def _warm_pandas(pandas: Any) -> None:
    text = "day,team,amount\n2024-01-01,a,1.5\n2024-01-02,b,2.5\n"
    table = pandas.read_csv(io.StringIO(text), parse_dates=["day"])
    sums = table.groupby("team").agg({"amount": ["sum", "mean"]}).reset_index()
    table.merge(table, on="team").pivot_table(index="team", values="amount_x", aggfunc=lambda found: found.sum())
    table.set_index("day")["amount"].resample("MS").sum().rolling(2).mean()
    for written in (table.to_csv(), table.to_json(), repr(sums), repr(table.describe()), table.to_html()):
        assert written
    pandas.Timestamp("2024-05-01", tz="UTC").tz_convert("Europe/Berlin")


_WARM_UP = {"numpy": _warm_numpy, "pandas": _warm_pandas}


def seed(value: int) -> None:
    """Make numpy's random numbers those of this run: the global state, and generators made without a seed."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return
    numpy.random.seed(value % 2**32)
    numpy.random.bit_generator.randbits = random.Random(value).getrandbits  # noqa: S311 - to be repeated, not secret
