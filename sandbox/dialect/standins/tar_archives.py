"""`tarfile` over open files and files of the workspace: reading, writing, and unpacking into the workspace only.

Enters: names and open files of a program. Leaves: archives. The original opens any path and makes links, devices and
owners; here members are unpacked as the `data` filter has it (PEP 706), a link as a copy of what it names inside of
the archive. Its objects lead to the archive that opens paths; here the originals are where no name leads to them.
"""

from __future__ import annotations

import posixpath
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.dialect.standins.copies import hide
from sandbox.dialect.standins.workspace import Workspace, is_name

_FIELDS = "name size mtime mode type linkname uid gid uname gname devmajor devminor pax_headers offset offset_data path"
_KINDS = "isfile isreg isdir issym islnk ischr isblk isfifo isdev issparse"


class TarInfo:
    """`tarfile.TarInfo`: the facts of one member."""

    __slots__ = ("_cm_real",)
    _cm_real: Any

    def __init__(self, name: str = "") -> None:
        hide(self, real=tarfile.TarInfo(name))

    def __repr__(self) -> str:
        return repr(self._cm_real)


def _field(name: str) -> property:
    def get(self: TarInfo) -> Any:
        return getattr(self._cm_real, name)

    def put(self: TarInfo, value: Any) -> None:
        setattr(self._cm_real, name, value)

    return property(get, put)


def _kind(name: str) -> Callable[[TarInfo], bool]:
    def is_kind(self: TarInfo) -> bool:
        return bool(getattr(self._cm_real, name)())

    is_kind.__name__ = name
    return is_kind


for _name in _FIELDS.split():
    setattr(TarInfo, _name, _field(_name))
for _name in _KINDS.split():
    setattr(TarInfo, _name, _kind(_name))
TarInfo.__module__ = "tarfile"


def _shown(real: tarfile.TarInfo) -> TarInfo:
    made = TarInfo()
    hide(made, real=real)
    return made


class TarFile:
    """`tarfile.TarFile`, made by `tarfile.open`."""

    _cm_files: Workspace
    _cm_tar: Any
    _cm_owned: Any

    def __init__(self, name: Any = None, mode: str = "r", fileobj: Any = None, **options: Any) -> None:
        options = {
            key: value for key, value in options.items() if key in ("compresslevel", "preset", "format", "encoding")
        }
        hide(self, owned=None)
        self.mode = mode[0]
        self.name = str(name) if name is not None else getattr(fileobj, "name", None)
        if fileobj is None:
            if not is_name(name):
                raise ValueError("nothing to open")
            kind = mode.partition(":")[0].partition("|")[0]
            fileobj = self._cm_files.open(name, {"r": "rb", "a": "r+b"}.get(kind, f"{kind}+b"))
            hide(self, owned=fileobj)
        try:
            # Without a name: the original would ask for the working folder.
            hide(self, tar=tarfile.open("", mode, fileobj, **options))  # type: ignore[call-overload]  # noqa: SIM115  # modes are text; closed below
        except BaseException:
            self._cm_close_owned()
            raise

    def _cm_close_owned(self) -> None:
        if self._cm_owned is not None:
            self._cm_owned.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[TarInfo]:
        return map(_shown, iter(self._cm_tar))

    def __repr__(self) -> str:
        return f"<tarfile.TarFile {self.name!r}>"

    def close(self) -> None:
        """Write the end, and close; a file that was given open stays open."""
        try:
            self._cm_tar.close()
        finally:
            self._cm_close_owned()

    def getnames(self) -> list[str]:
        """Names of the members."""
        found: list[str] = self._cm_tar.getnames()
        return found

    def getmembers(self) -> list[TarInfo]:
        """The members."""
        return [_shown(real) for real in self._cm_tar.getmembers()]

    def getmember(self, name: str) -> TarInfo:
        """The member; KeyError when there is none."""
        return _shown(self._cm_tar.getmember(name))

    def next(self) -> TarInfo | None:
        """The next member of an archive that is read."""
        real = self._cm_tar.next()
        return None if real is None else _shown(real)

    def list(self, verbose: bool = True, **options: Any) -> None:
        """Print the table of members."""
        self._cm_tar.list(verbose)

    def extractfile(self, member: Any) -> Any:
        """A member as a stream of bytes, None for folders."""
        if not isinstance(member, str | TarInfo):
            raise TypeError(f"a member is named by its name or a TarInfo, got {type(member).__name__}")
        return self._cm_tar.extractfile(member if isinstance(member, str) else member._cm_real)

    def gettarinfo(self, name: Any = None, arcname: Any = None, fileobj: Any = None) -> TarInfo:
        """The facts of a file or folder of the workspace."""
        place = name if name is not None else fileobj.name
        facts, is_folder = self._cm_files.stat(place), self._cm_files.isdir(place)
        info = TarInfo(posixpath.normpath(str(place if arcname is None else arcname)).lstrip("/"))
        real = info._cm_real
        real.type = tarfile.DIRTYPE if is_folder else tarfile.REGTYPE
        real.size = 0 if is_folder else facts.st_size
        real.mtime, real.mode = facts.st_mtime, 0o755 if is_folder else 0o644
        return info

    def addfile(self, tarinfo: TarInfo, fileobj: Any = None) -> None:
        """Add a member with bytes from an open file."""
        if not isinstance(tarinfo, TarInfo):
            raise TypeError(f"expected a TarInfo, got {type(tarinfo).__name__}")
        self._cm_tar.addfile(tarinfo._cm_real, fileobj)

    def add(self, name: Any, arcname: Any = None, recursive: bool = True, *, filter: Any = None) -> None:
        """Add a file, or a folder with what is in it, from the workspace."""
        info: Any = self.gettarinfo(name, arcname)
        info = info if filter is None else filter(info)
        if info is None:
            return
        if not info.isdir():
            with self._cm_files.open(name, "rb") as file:
                self.addfile(info, file)
            return
        self.addfile(info)
        for below in sorted(self._cm_files.listdir(name)) if recursive else ():
            self.add(posixpath.join(str(name), below), posixpath.join(info.name, below), filter=filter)

    def extract(self, member: Any, path: Any = "", set_attrs: bool = True, **options: Any) -> None:
        """Unpack one member into the workspace."""
        self._cm_unpack(self.getmember(member) if isinstance(member, str) else member, str(path))

    def extractall(self, path: Any = ".", members: Any = None, **options: Any) -> None:
        """Unpack into the workspace; `filter` may be left out, it is always the one for data."""
        own = options.get("filter")
        for member in self.getmembers() if members is None else members:
            chosen = own(member, str(path)) if callable(own) else member
            if chosen is not None:
                self._cm_unpack(chosen, str(path))

    def _cm_unpack(self, member: TarInfo, path: str) -> None:
        target = posixpath.join(path, _safe_name(member))
        files = self._cm_files
        folder = target if member.isdir() else posixpath.dirname(target)  # type: ignore[attr-defined]  # set above
        if folder and posixpath.normpath(folder) != ".":
            files.makedirs(folder, exist_ok=True)
        if member.isdir():  # type: ignore[attr-defined]  # set above
            return
        source = self.extractfile(member)
        if source is None:
            raise tarfile.SpecialFileError(member)  # type: ignore[arg-type]  # never the original, which leads to its archive
        with source, files.open(target, "wb") as file:
            while data := source.read(1 << 16):
                file.write(data)


def _safe_name(member: TarInfo) -> str:
    """The name without leading slashes.

    Raises:
        tarfile.OutsideDestinationError: it leads out of the folder that is unpacked into.
    """
    name = posixpath.normpath(str(member.name).lstrip("/"))  # type: ignore[attr-defined]  # set above
    if name == ".." or name.startswith("../"):
        raise tarfile.OutsideDestinationError(member, name)  # type: ignore[arg-type]  # as in `_cm_unpack`
    return name


def data_filter(member: TarInfo, path: str) -> TarInfo:
    """`tarfile.data_filter`: a name outside is refused."""
    _safe_name(member)
    return member


_SAME = (
    "CompressionError DEFAULT_FORMAT DIRTYPE ExtractError FilterError GNU_FORMAT HeaderError LNKTYPE "
    "OutsideDestinationError PAX_FORMAT REGTYPE ReadError SYMTYPE SpecialFileError StreamError TarError USTAR_FORMAT"
)


def tar_parts(files: Workspace) -> dict[str, object]:
    """`tarfile` for one run."""
    table = {"_cm_files": files, "__module__": "tarfile", "__doc__": TarFile.__doc__}
    own: Any = type("TarFile", (TarFile,), table)

    def open_tar(name: Any = None, mode: str = "r", fileobj: Any = None, **options: Any) -> TarFile:
        """`tarfile.open`."""
        made: TarFile = own(name, mode, fileobj, **options)
        return made

    own.open = staticmethod(open_tar)

    def is_tarfile(name: Any) -> bool:
        """`tarfile.is_tarfile`."""
        try:
            open_tar(**{"name" if is_name(name) else "fileobj": name}).close()
        except tarfile.TarError:
            return False
        return True

    return {
        **{name: getattr(tarfile, name) for name in _SAME.split()},
        "TarFile": own,
        "TarInfo": TarInfo,
        "open": open_tar,
        "is_tarfile": is_tarfile,
        "data_filter": data_filter,
    }
