"""Attacks on files, inherited descriptors and the network."""

from __future__ import annotations

from tests.security.attack import Attack


def _file(name: str, claim: str, code: str, **more: object) -> Attack:
    return Attack(id=f"files.{name}", claim=claim, code=code, **more)  # type: ignore[arg-type]  # Attack's own fields


FILES = (
    _file("read", "reads a file of the host", 'if T["secret"] in open(T["file"]).read(): reached()'),
    _file("list", "lists a folder of the host", 'if os.path.basename(T["file"]) in os.listdir(T["folder"]): reached()'),
    _file("stat", "learns that a file exists and how large it is", 'if os.stat(T["file"]).st_size: reached()'),
    _file("access", "learns whether a file may be read", 'if os.access(T["file"], os.R_OK): reached()'),
    _file("write", "writes a file of the host", 'open(T["folder"] + "/made", "w").write("x"); reached()'),
    _file("link", "links a file of the host", 'os.symlink(T["file"], T["folder"] + "/linked"); reached()'),
    _file("remove", "removes a file of the host", 'os.unlink(T["folder"] + "/victim"); reached()'),
    _file("mode", "changes the mode of a file", 'os.chmod(T["folder"] + "/victim", 0o777); reached()'),
    _file("pipe", "makes a named pipe", 'os.mkfifo(T["folder"] + "/fifo"); reached()'),
    _file("proc-self", "reads its own mount table", 'if open("/proc/self/mountinfo").read(): reached()'),
    _file(
        "proc-environ",
        "reads a host process's environment",
        """
if T["environment_secret"].encode() in open(f"/proc/{T['victim']}/environ", "rb").read(): reached()
""",
    ),
    _file(
        "proc-mem",
        "reads a host process's memory",
        """
with open(f"/proc/{T['victim']}/mem", "rb") as memory:
    memory.seek(T["address"])
    if T["memory_secret"].encode() in memory.read(64): reached()
""",
    ),
    _file(
        "interpreter",
        "plants code in the interpreter's own folders",
        """
import site
for folder in sys.path:
    try:
        path = os.path.join(folder, "planted_by_test.pth")
        open(path, "w").close(); os.unlink(path); reached(folder)
    except OSError:
        pass
""",
        is_shown_bare=False,
        unproved="needs write access to the interpreter",
    ),
    _file(
        "directory-descriptor",
        "opens a file below an inherited folder descriptor",
        """
for number in range(3, 256):
    try:
        os.close(os.open("etc", os.O_RDONLY, dir_fd=number)); reached(number)
    except OSError:
        pass
""",
        is_shown_bare=False,
        unproved="needs the sandbox's own inheritance",
    ),
)

DESCRIPTORS = (
    Attack(
        id="descriptors.inherited",
        claim="uses a descriptor that the host left open and inheritable",
        code="""
import fcntl
for number in range(3, 4096):
    try:
        data = os.read(number, 4096) if T["planted"].get(str(number)) == "file" else b""
        if T["secret"].encode() in data: reached(number)
    except OSError:
        pass
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
    except OSError:
        continue
    if str(number) in T["planted"]: reached("open", number)
""",
        is_shown_bare=False,
        unproved="needs the sandbox's own inheritance",
    ),
    Attack(
        id="descriptors.write-all",
        claim="writes into a pipe of the host through an inherited descriptor",
        code="""
for number in [n for n in range(4096) if n != 3]:
    try:
        os.write(number, b"junk")
    except OSError:
        pass
""",
        is_shown_bare=False,
        unproved="the host's pipe notices it",
    ),
    Attack(
        id="descriptors.standard-streams",
        claim="reads or writes the host's standard streams",
        code="""
if os.read(0, 1) != b"": reached("read")
for number in (0, 1, 2):
    if os.isatty(number): reached("terminal")
""",
        is_shown_bare=False,
        unproved="the runner has no terminal",
    ),
    Attack(
        id="descriptors.duplicate",
        claim="makes further descriptors",
        code="os.dup(0); reached()",
    ),
    Attack(
        id="descriptors.pipe",
        claim="makes a pipe",
        code="os.pipe(); reached()",
    ),
    Attack(
        id="descriptors.pass",
        claim="passes a descriptor over its channel",
        code="""
import array, socket
channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]); reached()
""",
        is_shown_bare=False,
        unproved="there is no channel outside",
    ),
)

_NETWORK: dict[str, tuple[str, str, bool]] = {
    "tcp": ("connects to a TCP port", 'socket.create_connection(("127.0.0.1", T["tcp"]), 2).sendall(b"x")', True),
    "udp": (
        "sends a datagram",
        'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", T["udp"]))',
        True,
    ),
    "unix": ("connects to a named unix socket", 'socket.socket(socket.AF_UNIX).connect(T["unix"])', True),
    "unix-datagram": (
        "sends to a named unix socket",
        'socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", T["unix_datagram"])',
        True,
    ),
    "abstract": (
        "connects to an abstract unix socket",
        'socket.socket(socket.AF_UNIX).connect("\\0" + T["abstract"])',
        True,
    ),
    "pair": ("makes a socket pair", "socket.socketpair()", True),
    "netlink": ("opens a netlink socket", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)", True),
    "listen": (
        "listens on a port",
        's = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()',
        True,
    ),
    "raw": (
        "opens a raw socket",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        False,
    ),
    "vsock": ("opens a socket to the hypervisor", "socket.socket(40, socket.SOCK_STREAM)", False),
    "crypto": ("opens a kernel crypto socket", "socket.socket(38, 5, 0)", False),
}

NETWORK = tuple(
    Attack(
        id=f"network.{name}",
        claim=claim,
        code=f"import socket\n{statement}\nreached()",
        is_shown_bare=shown,
        unproved="" if shown else "needs rights or kernel parts that not every machine has",
    )
    for name, (claim, statement, shown) in _NETWORK.items()
)
