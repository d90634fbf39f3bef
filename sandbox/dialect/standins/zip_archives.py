"""`zipfile` over open files and files of the workspace: reading, writing, and unpacking into the workspace only.

Enters: names and open files of a program. Leaves: archives. The original opens any path, and its objects hand out
classes that do; here each object keeps the original where no name leads to it. Unpacked data is bounded by the memory
limit of the run.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from sandbox.dialect.standins.copies import hide
from sandbox.dialect.standins.workspace import Workspace, is_name

_FIELDS = (
    "filename date_time compress_type comment extra create_system create_version extract_version flag_bits volume "
    "internal_attr external_attr header_offset CRC compress_size file_size orig_filename reserved"
)


class ZipInfo:
    """`zipfile.ZipInfo`: the facts of one member. `from_file` is not there; `ZipFile.write` reads them."""

    __slots__ = ("_cm_real",)
    _cm_real: Any

    def __init__(self, filename: str = "NoName", date_time: tuple[int, ...] = (1980, 1, 1, 0, 0, 0)) -> None:
        hide(self, real=zipfile.ZipInfo(filename, date_time))  # type: ignore[arg-type]  # six numbers

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return bool(self._cm_real.is_dir())

    def __repr__(self) -> str:
        return repr(self._cm_real)


def _field(name: str) -> property:
    def get(self: ZipInfo) -> Any:
        return getattr(self._cm_real, name)

    def put(self: ZipInfo, value: Any) -> None:
        setattr(self._cm_real, name, value)

    return property(get, put)


for _name in _FIELDS.split():
    setattr(ZipInfo, _name, _field(_name))
ZipInfo.__module__ = "zipfile"


def _shown(real: zipfile.ZipInfo) -> ZipInfo:
    made = ZipInfo()
    hide(made, real=real)
    return made


def _member(name: Any) -> Any:
    return name._cm_real if isinstance(name, ZipInfo) else name


class ZipFile:
    """`zipfile.ZipFile`."""

    _cm_files: Workspace
    _cm_zip: Any
    _cm_owned: Any

    def __init__(
        self,
        file: Any,
        mode: str = "r",
        compression: int = zipfile.ZIP_STORED,
        allowZip64: bool = True,  # noqa: N803  # as the original spells it
        compresslevel: int | None = None,
        *,
        strict_timestamps: bool = True,
        metadata_encoding: str | None = None,
    ) -> None:
        if mode not in ("r", "w", "x", "a"):
            raise ValueError("ZipFile requires mode 'r', 'w', 'x', or 'a'")
        hide(self, owned=None)
        self.filename = str(file) if is_name(file) else getattr(file, "name", None)
        self.mode = mode
        if is_name(file):
            file = _open(self._cm_files, file, mode)
            hide(self, owned=file)
        options = {"strict_timestamps": strict_timestamps, "metadata_encoding": metadata_encoding}
        try:
            hide(self, zip=zipfile.ZipFile(file, mode, compression, allowZip64, compresslevel, **options))  # type: ignore[call-overload]  # checked above
        except BaseException:
            self._cm_close_owned()
            raise
        self.compression, self.compresslevel = compression, compresslevel

    def _cm_close_owned(self) -> None:
        if self._cm_owned is not None:
            self._cm_owned.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<zipfile.ZipFile filename={self.filename!r} mode={self.mode!r}>"

    def close(self) -> None:
        """Write the directory, and close; a file that was given open stays open."""
        try:
            self._cm_zip.close()
        finally:
            self._cm_close_owned()

    @property
    def comment(self) -> bytes:
        """The comment of the archive."""
        found: bytes = self._cm_zip.comment
        return found

    @comment.setter
    def comment(self, value: bytes) -> None:
        self._cm_zip.comment = value

    def namelist(self) -> list[str]:
        """Names of the members."""
        found: list[str] = self._cm_zip.namelist()
        return found

    def infolist(self) -> list[ZipInfo]:
        """The members."""
        return [_shown(real) for real in self._cm_zip.infolist()]

    @property
    def filelist(self) -> list[ZipInfo]:
        """The members."""
        return self.infolist()

    @property
    def NameToInfo(self) -> dict[str, ZipInfo]:  # noqa: N802  # as the original spells it
        """Name → member."""
        return {info.filename: info for info in self.infolist()}  # type: ignore[attr-defined]  # set above

    def getinfo(self, name: str) -> ZipInfo:
        """The member; KeyError when there is none."""
        return _shown(self._cm_zip.getinfo(name))

    def read(self, name: Any, pwd: bytes | None = None) -> bytes:
        """The bytes of a member."""
        data: bytes = self._cm_zip.read(_member(name), pwd)
        return data

    def open(self, name: Any, mode: str = "r", pwd: bytes | None = None, *, force_zip64: bool = False) -> Any:
        """A member as a stream."""
        return self._cm_zip.open(_member(name), mode, pwd, force_zip64=force_zip64)

    def setpassword(self, pwd: bytes) -> None:
        """The password of encrypted members."""
        self._cm_zip.setpassword(pwd)

    def testzip(self) -> str | None:
        """The first bad member."""
        found: str | None = self._cm_zip.testzip()
        return found

    def printdir(self, file: Any = None) -> None:
        """Print the table of members."""
        self._cm_zip.printdir(file)

    def writestr(
        self, zinfo_or_arcname: Any, data: Any, compress_type: int | None = None, compresslevel: int | None = None
    ) -> None:
        """Add a member."""
        self._cm_zip.writestr(_member(zinfo_or_arcname), data, compress_type, compresslevel)

    def mkdir(self, zinfo_or_directory_name: Any, mode: int = 511) -> None:
        """Add a folder."""
        self._cm_zip.mkdir(_member(zinfo_or_directory_name), mode)

    def write(
        self, filename: Any, arcname: Any = None, compress_type: int | None = None, compresslevel: int | None = None
    ) -> None:
        """Add a file or folder of the workspace."""
        files = self._cm_files
        facts = files.stat(filename)
        name = _archive_name(filename if arcname is None else arcname)
        is_folder = bool(files.isdir(filename))
        info = zipfile.ZipInfo(name + "/" * is_folder, max(_date_of(facts.st_mtime), (1980, 1, 1, 0, 0, 0)))
        info.external_attr = (facts.st_mode & 0xFFFF) << 16
        if is_folder:
            info.external_attr |= 0x10  # MS-DOS: a folder
            self._cm_zip.writestr(info, b"")
            return
        info.compress_type = self.compression
        with files.open(filename, "rb") as file:
            self._cm_zip.writestr(info, file.read(), compress_type, compresslevel or self.compresslevel)

    def extract(self, member: Any, path: Any = None, pwd: bytes | None = None) -> str:
        """Unpack one member into the workspace; the name of the file."""
        real = _member(member)
        real = real if isinstance(real, zipfile.ZipInfo) else self._cm_zip.getinfo(real)
        files = self._cm_files
        target = posixpath.join("." if path is None else str(path), _safe_name(real.filename))
        target = posixpath.normpath(target)
        folder = target if real.is_dir() else posixpath.dirname(target)
        if folder:
            files.makedirs(folder, exist_ok=True)
        if not real.is_dir():
            with self._cm_zip.open(real, pwd=pwd) as source, files.open(target, "wb") as file:
                _copy(source, file)
        return target

    def extractall(self, path: Any = None, members: Iterable[Any] | None = None, pwd: bytes | None = None) -> None:
        """Unpack into the workspace."""
        for member in self.namelist() if members is None else members:
            self.extract(member, path, pwd)


def _date_of(seconds: float) -> tuple[int, int, int, int, int, int]:
    year, month, day, hour, minute, second, *_ = datetime.datetime.fromtimestamp(seconds, datetime.UTC).timetuple()
    return year, month, day, hour, minute, second


def _copy(source: Any, target: Any) -> None:
    while data := source.read(1 << 16):
        target.write(data)


def _archive_name(name: Any) -> str:
    return posixpath.normpath(str(name)).lstrip("/.") or "."


def _safe_name(name: str) -> str:
    """As the original does it: no absolute path, no `..`."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(parts)


def _open(files: Workspace, file: Any, mode: str) -> Any:
    if mode != "a":
        return files.open(file, {"r": "rb", "w": "w+b", "x": "x+b"}[mode])
    try:
        return files.open(file, "r+b")
    except FileNotFoundError:
        return files.open(file, "w+b")


class Path:
    """`zipfile.Path`: members as `pathlib.Path` shows files."""

    __slots__ = ("_cm_zip", "at")
    _cm_zip: ZipFile

    def __init__(self, root: Any, at: str = "") -> None:
        hide(self, zip=root if isinstance(root, ZipFile) else _zip_file(type(self))(root))
        self.at = at

    def _cm_next(self, at: str) -> Path:
        made: Path = type(self)(self._cm_zip, at)
        return made

    def _cm_all(self) -> set[str]:
        names = set(self._cm_zip.namelist())
        for name in list(names):
            parts = name.rstrip("/").split("/")
            names |= {"/".join(parts[:length]) + "/" for length in range(1, len(parts))}
        return names

    @property
    def root(self) -> ZipFile:
        """The archive."""
        return self._cm_zip

    @property
    def name(self) -> str:
        """The last part."""
        return posixpath.basename(self.at.rstrip("/")) or str(self._cm_zip.filename)

    @property
    def stem(self) -> str:
        """The last part without its suffix."""
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        """The ending."""
        return posixpath.splitext(self.name)[1]

    @property
    def parent(self) -> Path:
        """The folder above."""
        above = posixpath.dirname(self.at.rstrip("/"))
        return self._cm_next(above + "/" if above else "")

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return not self.at or self.at.endswith("/")

    def is_file(self) -> bool:
        """Whether it is a member that is no folder."""
        return self.exists() and not self.is_dir()

    def exists(self) -> bool:
        """Whether it is there."""
        return not self.at or self.at in self._cm_all()

    def iterdir(self) -> Iterator[Path]:
        """What is in the folder."""
        if not self.is_dir():
            raise ValueError("Can't listdir a file")
        for name in sorted(self._cm_all()):
            if name != self.at and name.startswith(self.at) and "/" not in name[len(self.at) :].rstrip("/"):
                yield self._cm_next(name)

    def joinpath(self, *other: Any) -> Path:
        """A path below."""
        at = posixpath.join(self.at, *map(str, other))
        return self._cm_next(at + "/" if at + "/" in self._cm_all() else at)

    __truediv__ = joinpath

    def open(self, mode: str = "r", *args: Any, pwd: bytes | None = None, **options: Any) -> Any:
        """The member as a stream of text, or of bytes."""
        if self.is_dir():
            raise IsADirectoryError(str(self))
        stream = self._cm_zip.open(self.at, mode[0], pwd=pwd)
        if "b" in mode:
            return stream
        options.setdefault("encoding", "utf-8")
        return io.TextIOWrapper(stream, *args, **options)

    def read_text(self, *args: Any, **options: Any) -> str:
        """The text of the member."""
        with self.open("r", *args, **options) as stream:
            text: str = stream.read()
            return text

    def read_bytes(self) -> bytes:
        """The bytes of the member."""
        return self._cm_zip.read(self.at)

    def __str__(self) -> str:
        return posixpath.join(str(self._cm_zip.filename), self.at)

    def __repr__(self) -> str:
        return f"Path({self._cm_zip.filename!r}, {self.at!r})"


def _zip_file(cls: Any) -> Any:
    return cls._cm_zip_file


_SAME = "BadZipFile BadZipfile LargeZipFile ZIP_BZIP2 ZIP_DEFLATED ZIP_LZMA ZIP_STORED"


def zip_parts(files: Workspace) -> dict[str, object]:
    """`zipfile` for one run."""
    own = type("ZipFile", (ZipFile,), {"_cm_files": files, "__module__": "zipfile", "__doc__": ZipFile.__doc__})
    table = {"_cm_zip_file": own, "__slots__": (), "__module__": "zipfile", "__doc__": Path.__doc__}
    path = type("Path", (Path,), table)

    def is_zipfile(filename: Any) -> bool:
        """`zipfile.is_zipfile`."""
        if not is_name(filename):
            return zipfile.is_zipfile(filename)
        try:
            with files.open(filename, "rb") as file:
                return zipfile.is_zipfile(file)
        except OSError:
            return False

    return {
        **{name: getattr(zipfile, name) for name in _SAME.split()},
        "ZipFile": own,
        "ZipInfo": ZipInfo,
        "Path": path,
        "is_zipfile": is_zipfile,
    }
