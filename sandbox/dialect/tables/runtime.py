"""Allowlist: concurrency, and the small part of system modules that ordinary programs touch."""

from __future__ import annotations

from sandbox.dialect.tables.entry import Entry

_WORKSPACE = "files of the session's workspace: `open(name)`, `pathlib.Path`, `os.listdir`, `glob`, `shutil`"
_NO_PROCESS = "there are no processes here: call a tool"

ENTRIES: dict[str, Entry] = {
    "__future__": Entry(
        """absolute_import annotations division generator_stop generators nested_scopes print_function unicode_literals
        with_statement"""
    ),
    "asyncio": Entry(
        """ALL_COMPLETED Barrier BoundedSemaphore BrokenBarrierError CancelledError Condition Event FIRST_COMPLETED
        FIRST_EXCEPTION Future IncompleteReadError InvalidStateError LifoQueue Lock PriorityQueue Queue
        QueueEmpty QueueFull QueueShutDown Semaphore Task TaskGroup Timeout TimeoutError all_tasks
        as_completed create_task current_task ensure_future gather iscoroutine iscoroutinefunction isfuture
        run_coroutine_threadsafe shield sleep timeout timeout_at to_thread wait wait_for wrap_future""",
        supplied="run get_event_loop get_running_loop new_event_loop set_event_loop Runner AbstractEventLoop",
        left_out="streams, subprocesses and loop policies reach network and system",
        hints=(
            ("create_subprocess_exec", _NO_PROCESS),
            ("create_subprocess_shell", _NO_PROCESS),
            ("open_connection", "there is no network: call a tool"),
        ),
    ),
    "concurrent": Entry(supplied="futures"),
    "concurrent.futures": Entry(
        """ALL_COMPLETED BrokenExecutor CancelledError Executor FIRST_COMPLETED FIRST_EXCEPTION Future
        InvalidStateError ThreadPoolExecutor TimeoutError as_completed wait""",
        supplied="thread",
        left_out="processes cannot be started",
        hints=(("ProcessPoolExecutor", "use `ThreadPoolExecutor`"),),
    ),
    "concurrent.futures.thread": Entry("ThreadPoolExecutor"),
    "threading": Entry(
        """Barrier BoundedSemaphore BrokenBarrierError Condition Event Lock RLock Semaphore Thread Timer active_count
        current_thread enumerate get_ident get_native_id local main_thread TIMEOUT_MAX""",
        left_out="tracing and stack sizes change the interpreter",
    ),
    "queue": Entry("Empty Full LifoQueue PriorityQueue Queue ShutDown SimpleQueue"),
    "sched": Entry("Event scheduler"),
    "pathlib": Entry(
        "PurePath PurePosixPath PureWindowsPath",
        supplied="Path PosixPath",
        left_out="paths of other systems; `Path` is one of the session's workspace",
    ),
    "os": Entry(
        "PathLike altsep curdir extsep fspath linesep name pardir pathsep sep urandom",
        supplied="cpu_count environ getcwd getenv listdir makedirs mkdir path remove rename replace rmdir scandir stat "
        "unlink walk",
        left_out="the system is out of reach: no processes, no descriptors; the environment is empty",
        hints=(
            ("system", _NO_PROCESS),
            ("popen", _NO_PROCESS),
            *(
                (name, _WORKSPACE)
                for name in ("open", "fdopen", "chdir", "link", "symlink", "chmod", "access", "fwalk")
            ),
        ),
    ),
    "os.path": Entry(
        "basename commonpath commonprefix dirname isabs join normcase normpath split splitdrive splitext",
        supplied="abspath exists getmtime getsize isdir isfile lexists realpath relpath",
        left_out="what looks at the system",
        real="posixpath",
        hints=(("expanduser", "nobody is at home: use a relative name"), ("islink", "there are no links")),
    ),
    "posixpath": Entry("basename commonpath commonprefix dirname isabs join normcase normpath split splitext"),
    "sys": Entry(
        """byteorder exc_info exception float_info float_repr_style getrecursionlimit getsizeof hash_info hexversion
        implementation int_info intern maxsize maxunicode platform version version_info""",
        supplied="argv exit setrecursionlimit stderr stdin stdout",
        left_out="modules, frames and hooks lead out of the program",
        hints=(
            ("modules", "write `import name`"),
            ("path", "modules of the program's own cannot be added"),
            ("stdin", "nobody sits at a keyboard; write the value into the program"),
        ),
    ),
    "platform": Entry(
        "python_implementation python_version python_version_tuple", supplied="system", left_out="it names the machine"
    ),
    "gc": Entry(supplied="collect", left_out="it hands out every object of the interpreter"),
    "argparse": Entry(
        supplied="""Action ArgumentDefaultsHelpFormatter ArgumentError ArgumentParser ArgumentTypeError
        BooleanOptionalAction FileType HelpFormatter MetavarTypeHelpFormatter Namespace ONE_OR_MORE OPTIONAL PARSER
        REMAINDER RawDescriptionHelpFormatter RawTextHelpFormatter SUPPRESS ZERO_OR_MORE""",
    ),
    "tempfile": Entry(
        supplied="NamedTemporaryFile SpooledTemporaryFile TemporaryDirectory TemporaryFile gettempdir mkdtemp",
        left_out="files and folders of the session's workspace; there are no descriptors",
        hints=(("mkstemp", "use `tempfile.NamedTemporaryFile(delete=False)`"),),
    ),
    "ast": Entry(
        "literal_eval", left_out="syntax trees are not for programs", hints=(("parse", "use `ast.literal_eval`"),)
    ),
    "inspect": Entry(
        """Parameter cleandoc getdoc isabstract isasyncgen isasyncgenfunction isawaitable isbuiltin isclass
        iscoroutine iscoroutinefunction isfunction isgenerator isgeneratorfunction ismethod isroutine""",
        supplied="BoundArguments Signature signature",
        left_out="frames, sources and members lead out of the program; annotations that are text are not evaluated",
        hints=(("getsource", "read the text you sent"), ("getmembers", "use `dir(obj)` and `getattr`")),
    ),
    "traceback": Entry(
        supplied="format_exc format_exception format_exception_only print_exc print_exception",
        left_out="it reads any file whose name a frame carries",
    ),
    "warnings": Entry(
        "catch_warnings filterwarnings resetwarnings simplefilter warn",
        left_out="`warn_explicit` reads any file it is given the name of",
    ),
    "logging": Entry(
        "CRITICAL DEBUG ERROR FATAL INFO NOTSET WARN WARNING",
        supplied="""FileHandler Filter Formatter Handler LogRecord Logger LoggerAdapter NullHandler StreamHandler
        addLevelName basicConfig critical debug disable error exception getLevelName getLogger info log root shutdown
        warn warning""",
        left_out="records go to the prints of the run and to files of the workspace; other handlers open sockets",
    ),
    "glob": Entry(supplied="escape glob iglob", left_out="only files of the session's workspace are looked at"),
    "shutil": Entry(
        supplied="SameFileError copy copy2 copyfile copyfileobj copytree get_terminal_size move rmtree which",
        left_out="owners and disks are out of reach",
        hints=(
            ("make_archive", "use `zipfile.ZipFile(name, 'w')`"),
            ("unpack_archive", "use `zipfile.ZipFile(name).extractall(folder)`"),
        ),
    ),
    "timeit": Entry("default_timer repeat timeit", left_out="code given as text is not run"),
    "http": Entry("HTTPMethod HTTPStatus", left_out="there is no network: call a tool"),
    "errno": Entry("EACCES EAGAIN EEXIST EINVAL EIO ENOENT ENOSPC ENOTDIR EPERM ETIMEDOUT errorcode"),
    "locale": Entry(
        "LC_ALL LC_COLLATE LC_CTYPE LC_MONETARY LC_NUMERIC LC_TIME Error atof atoi currency delocalize "
        "format_string getlocale localeconv strcoll strxfrm",
        supplied="setlocale",
        left_out="the locale is fixed, so that a run can be repeated",
    ),
}
