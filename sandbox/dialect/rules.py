"""The attribute and variable names of the dialect: what is native, checked at run time, or refused, and why.

Enters: a name as written in a program. Leaves: a `Verdict` with a reason and a hint. Values only, no state.
Source of the rules: the advisories of RestrictedPython (frames, format strings, match patterns, `mro`) and our own
attack corpus. The kernel jail is the wall; these rules give early, clear messages and depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from RestrictedPython.transformer import INSPECT_ATTRIBUTES


def words(text: str) -> frozenset[str]:
    """The names of a table that is written as plain text."""
    return frozenset(text.split())


GUARD_PREFIX = "_cm_"
"""Every name the rewriting inserts starts with this; a program may neither bind nor read such a name."""

Mode = Literal["native", "checked", "refused"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to one name: `mode`, and for a refusal one line of reason and one of remedy."""

    mode: Mode
    reason: str = ""
    hint: str = ""


NATIVE = Verdict("native")
CHECKED = Verdict("checked")

# Special methods that a class may define, and that may be called by name (`super().__init__()`, `Base.__init__(self)`).
# Left out on purpose: those that decide attribute look-up or isinstance for others (`__getattribute__`, `__class__`,
# `__instancecheck__`, `__subclasscheck__`, `__subclasshook__`, `__prepare__`, `__mro_entries__`) and the copy/pickle
# protocol (`__reduce__`, `__getstate__`, `__setstate__`, …): `copy.copy` would set any attribute they name.
SPECIAL_METHODS = words(
    """
    __new__ __init__ __post_init__ __del__ __repr__ __str__ __bytes__ __format__ __hash__ __bool__ __call__ __len__
    __length_hint__ __getitem__ __setitem__ __delitem__ __missing__ __contains__ __iter__ __next__ __reversed__
    __lt__ __le__ __eq__ __ne__ __gt__ __ge__ __enter__ __exit__ __aenter__ __aexit__ __aiter__ __anext__ __await__
    __getattr__ __setattr__ __delattr__ __dir__ __get__ __set__ __delete__ __set_name__ __init_subclass__
    __class_getitem__ __int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__
    __add__ __sub__ __mul__ __matmul__ __truediv__ __floordiv__ __mod__ __divmod__ __pow__ __lshift__ __rshift__
    __and__ __xor__ __or__ __radd__ __rsub__ __rmul__ __rmatmul__ __rtruediv__ __rfloordiv__ __rmod__ __rdivmod__
    __rpow__ __rlshift__ __rrshift__ __rand__ __rxor__ __ror__ __iadd__ __isub__ __imul__ __imatmul__ __itruediv__
    __ifloordiv__ __imod__ __ipow__ __ilshift__ __irshift__ __iand__ __ixor__ __ior__ __neg__ __pos__ __abs__
    __invert__ __copy__ __deepcopy__ __replace__ __sizeof__ __fspath__ __buffer__ __release_buffer__
    """
)

# Special names that may be read as an attribute of anything, at native speed: text, or plain data about an object.
READABLE = words(
    """
    __name__ __qualname__ __doc__ __module__ __members__ __wrapped__ __cause__ __context__ __suppress_context__
    __notes__ __traceback__ __slots__ __version__ __all__ __author__ __total__ __required_keys__
    __optional_keys__ __value__ __type_params__ __args__ __match_args__ __hash__ __metadata__ __supertype__
    __parameters__ __bound__ __constraints__ __forward_arg__
    """
)

# Descriptors reach through read-only facades and hidden tables; `__getattr__` of a library class is a
# look-up by name. They may be defined, and called only through `super()`.
_DEFINE_ONLY = words("__get__ __set__ __delete__ __getattr__")

CALLABLE_SPECIAL = (SPECIAL_METHODS - _DEFINE_ONLY) - {"__setattr__", "__delattr__"}

SUPER_ONLY = _DEFINE_ONLY
"""Special methods that only `super()` may be asked for."""

WRITABLE = words("__name__ __qualname__ __doc__ __wrapped__ __cause__ __context__ __suppress_context__ __notes__") | (
    SPECIAL_METHODS - {"__getattr__", "__setattr__", "__delattr__", "__set__", "__delete__", "__get__", "__new__"}
)
"""Special attributes that may be assigned (`inner.__name__ = fn.__name__`, `cls.__repr__ = show`)."""

MODULE_NAMES = words("__all__ __version__ __author__ __license__ __email__ __copyright__ __status__")
"""Special variables that scripts set at top level for readers; nothing acts on them."""

READABLE_NAMES = words("__name__ __doc__ __debug__ __class__ __module__ __qualname__") | MODULE_NAMES

CLASS_VARIABLES = words("__slots__ __match_args__ __doc__ __test__")
"""Special names that a class body may assign; the values of the first two must be literal."""

DOCUMENTED_PRIVATE = words(
    """
    _ _replace _asdict _fields _make _field_defaults _missing_ _generate_next_value_ _value_ _name_ _ignore_ _order_
    """
)
"""Names with one underscore that the standard library documents for users (namedtuple, enum)."""

# Decided by looking at the object: `str.format` digs attributes out of objects, `.obj` of an AttributeError is
# whatever a library touched, `.parser` of a path is a module (3.13), `.register` of an abstract class makes isinstance
# lie about other people's classes; the others hand out tables, metaclasses, or set attributes by name.
CHECKED_ATTRIBUTES = words(
    """format format_map obj parser register __class__ __dict__ __annotations__ __origin__ __setattr__ __delattr__
    __dataclass_fields__"""
)

# One-underscore names that exposed library classes carry and that lead to loops, streams, modules, or to classes made
# of unchecked names (found by walking the facades; tests/unit/sandbox/dialect/test_facade_walk.py). A program's own
# classes may use them too, so they are looked up with a check in place of a refusal.
LIBRARY_PRIVATE = words(
    """
    _loop _get_loop _stderr _stdout _stream _module _modules _flavour _os _sys _io _gc _json _base64 _import_module
    _runtime _remote _parent_task _threads _selector _ssock _csock _default_executor _coro _bootstrap _bootstrap_inner
    _invoke_excepthook _create_ _convert_ _member_map_ _value2member_map_ _get_mixins_ _find_data_type_ _find_new_
    _new_member_ _use_args_ _member_type_ _zipfile _zinfo
    """
)

_FRAME = "frames, code and coroutine internals lead out of the program"
_RESTRICTED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(INSPECT_ATTRIBUTES, (_FRAME, "use `traceback.format_exc()` for a traceback")),
    **dict.fromkeys(
        words("func_globals func_code func_closure func_defaults cell_contents co_consts co_names"),
        (_FRAME, "use `inspect.signature(function)`, or return the value from the function"),
    ),
    "get_loop": ("the event loop itself is not handed out", "use `asyncio.get_running_loop()`"),
    "get_coro": (_FRAME, "keep the task and await it"),
    "get_stack": (_FRAME, "use `traceback.format_exc()` for a traceback"),
    "print_stack": (_FRAME, "use `traceback.print_exc()` for a traceback"),
    **dict.fromkeys(
        ("createDOMBuilder", "createDOMInputSource"), ("the builder opens addresses", "use `minidom.parseString(text)`")
    ),
    "mro": ("class hierarchies lead to every class of the interpreter", "use `isinstance` or `issubclass`"),
}

_HIERARCHY = "class hierarchies lead to every class of the interpreter"
_DUNDER: dict[str, tuple[str, str]] = {
    "__mro__": (_HIERARCHY, "use `isinstance` or `issubclass`"),
    "__bases__": (_HIERARCHY, "use `isinstance` or `issubclass`"),
    "__base__": (_HIERARCHY, "use `isinstance` or `issubclass`"),
    "__subclasses__": (_HIERARCHY, "collect subclasses in `__init_subclass__`"),
    "__globals__": ("a function's globals lead out of the program", "use the variable by its name"),
    "__builtins__": ("the table of builtins is not handed out", "call the builtin by its name"),
    "__code__": (_FRAME, "use `inspect.signature(function)`"),
    "__closure__": (_FRAME, "return the value from the function"),
    "__defaults__": (_FRAME, "use `inspect.signature(function).parameters`"),
    "__kwdefaults__": (_FRAME, "use `inspect.signature(function).parameters`"),
    "__self__": ("the object behind a method is not handed out", "keep the object in a variable"),
    "__func__": ("the function behind a method is not handed out", "call the method"),
    "__getattribute__": ("look-up by name is checked", "define `__getattr__`, call `getattr(obj, name)`"),
    "__getattr__": ("look-up by name is checked", "call `getattr(obj, name)`"),
    "__import__": ("imports are statements here", "write `import name`"),
    "__dataclass_fields__": ("field names become source text", "use `dataclasses.fields(cls)`"),
    "__loader__": ("import machinery is not handed out", "write `import name`"),
    "__spec__": ("import machinery is not handed out", "write `import name`"),
    "__reduce__": ("the pickle protocol builds any object by name", "use `copy.deepcopy` or `json`"),
    "__reduce_ex__": ("the pickle protocol builds any object by name", "use `copy.deepcopy` or `json`"),
    "__getstate__": ("the pickle protocol sets any attribute by name", "define `__copy__` or `__deepcopy__`"),
    "__setstate__": ("the pickle protocol sets any attribute by name", "define `__copy__` or `__deepcopy__`"),
    "__instancecheck__": ("isinstance must not be changed for others", "write a function that checks"),
    "__subclasscheck__": ("isinstance must not be changed for others", "write a function that checks"),
    "__subclasshook__": ("isinstance must not be changed for others", "use `typing.Protocol`"),
    "__class__": ("an object's class must not be changed or faked", "build a new object"),
    "__annotations__": ("annotations become source text in dataclasses", "write the fields in the class body"),
}


REFUSED_ATTRIBUTES: dict[str, tuple[str, str]] = {**_RESTRICTED, **_DUNDER}
"""Attribute names refused as such, with reason and hint; a class may still define some of the special ones."""


def own_private(name: str) -> bool:
    """Whether a name is private to a class by convention: `_x` or `__x`, but neither `__x__` nor a guard name."""
    return name.startswith("_") and not name.endswith("__") and not name.startswith(GUARD_PREFIX)


def _unmangled(name: str) -> str:
    """`__name` for `_Class__name`, the compiler's spelling of it in a class body; else ""."""
    owner, mark, rest = name[1:].partition("__")
    return f"__{rest}" if name[0] == "_" and owner and mark and rest else ""


def judge_attribute(name: str, own: frozenset[str] | set[str], *, on_super: bool = False) -> Verdict:
    """Decides a read of `x.name`; `own` holds the private names that the program itself defines."""
    if not name.startswith("_"):
        if name in CHECKED_ATTRIBUTES:
            return CHECKED
        rule = _RESTRICTED.get(name)
        return NATIVE if rule is None else Verdict("refused", *rule)
    if name in CALLABLE_SPECIAL or name in READABLE or name in DOCUMENTED_PRIVATE:
        return NATIVE
    if name in CHECKED_ATTRIBUTES:
        return CHECKED
    if on_super and name in SUPER_ONLY:
        return NATIVE
    if own_private(name) and (name in own or _unmangled(name) in own):
        return CHECKED if name in LIBRARY_PRIVATE else NATIVE
    return _refuse(name)


def judge_store(name: str) -> Verdict:
    """Decides an assignment to, or a deletion of, `x.name`."""
    if not name.startswith("_"):
        rule = _RESTRICTED.get(name)
        return NATIVE if rule is None else Verdict("refused", *rule)
    if name in WRITABLE or own_private(name):
        return NATIVE
    if name == "__dict__":
        return Verdict("refused", "an object's table must not be swapped", "use `self.__dict__.update(...)`")
    return _refuse(name)


def judge_name(name: str, *, is_store: bool) -> Verdict:
    """Decides a variable, parameter, function or class name."""
    if not name.startswith("_") or name.strip("_") == "":
        return NATIVE
    if name.startswith(GUARD_PREFIX):
        return Verdict("refused", f"names that start with `{GUARD_PREFIX}` are reserved", "choose another name")
    if not (name.startswith("__") and name.endswith("__")):
        return NATIVE
    allowed = name in SPECIAL_METHODS or name in (MODULE_NAMES if is_store else READABLE_NAMES)
    return NATIVE if allowed else _refuse(name)


def _refuse(name: str) -> Verdict:
    rule = _DUNDER.get(name)
    if rule is not None:
        return Verdict("refused", *rule)
    if name.startswith(GUARD_PREFIX):
        return Verdict("refused", f"names that start with `{GUARD_PREFIX}` are reserved", "choose another name")
    if name.startswith("__") and name.endswith("__"):
        return Verdict("refused", "this special name is not part of the dialect", "use the public function or operator")
    return Verdict(
        "refused",
        "the name is private to a library, and this program defines no such attribute",
        "use the public name, or define the attribute in a class of this program",
    )


REFUSED_BUILTINS: dict[str, tuple[str, str]] = {
    "compile": ("programs cannot make code objects", "write the code in the program, or use `eval` for an expression"),
    "input": ("nobody sits at a keyboard", "write the value into the program"),
    "breakpoint": ("there is no debugger", "print the values"),
    "__import__": ("imports are statements here", "write `import name`"),
    "__build_class__": ("classes are statements here", "write `class Name:`"),
    "__builtins__": ("the table of builtins is not handed out", "call the builtin by its name"),
    "__dataclass_fields__": ("field names become source text", "use `dataclasses.fields(cls)`"),
    "__loader__": ("import machinery is not handed out", "write `import name`"),
    "__spec__": ("import machinery is not handed out", "write `import name`"),
    "__file__": ("the program is not a file", "use a name of your own"),
}
"""Builtin names refused as such; a program that binds one of the plain names itself may use it."""
