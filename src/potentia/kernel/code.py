"""A fingerprint of somebody's own code: what makes up a rule, a belief, a recorder or a game that is not the package's.

A study and a saved run keep it, and are not gone on with by other code; it is no part of any key. What is hashed are
instructions as Python compiled them and all that they take from outside: helpers, constants, closures, defaults, the
classes of records and what is registered for those in :func:`~potentia.kernel.dispatch.generic` functions. Comments,
docstrings, formatting and the place of a file do not matter. Functions of this package and of libraries are known by
their names. Whatever has no content that can be told is refused.

Python's instructions differ from version to version, so fingerprints are compared within one (:data:`PYTHON`).
"""

from __future__ import annotations

import builtins
import copyreg
import functools
import hashlib
import importlib.util
import inspect
import pickle
import random
import sys
import types
from collections import namedtuple
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from potentia.errors import InvalidInput
from potentia.kernel.dispatch import generics
from potentia.kernel.hashing import feed
from potentia.kernel.instructions import WORDS, names_in, steps_of

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_HOLD_NOTHING = (*_PLAIN, np.ndarray, np.generic)
_CONTAINERS = (tuple, list, dict, set, frozenset, types.MappingProxyType)
_RANDOM = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_INSTALLED = {"site-packages", "dist-packages"}
_DESCRIPTORS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
# of a class: what people read, where it stands, and what Python and its makers of classes keep there for themselves
_ASIDE = {
    *(*WORDS, "__repr__", "_repr_html_", "summary"),
    *("__dict__", "__weakref__", "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    *("__orig_bases__", "__parameters__", "__type_params__", "_abc_impl", "__abstractmethods__"),
    *("__attrs_attrs__", "__attrs_props__", "__attrs_own_setattr__", "__dataclass_fields__", "__dataclass_params__"),
}
_OF_TUPLES = {*vars(namedtuple("_Empty", ()))}


# Whose code it is -------------------------------------------------------------------------------------


def _is_package(module: Any) -> bool:
    return module == "potentia" or str(module).startswith("potentia.")


def _is_own(module: Any, homes: Iterable[str] = ()) -> bool:
    """Whether a module is neither this package's nor a library's; those of ``homes`` are own, installed or not."""
    top = str(module).partition(".")[0]
    if top in homes:
        return True
    if _is_package(module) or top in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(str(module), sys.modules.get(top)), "__file__", None)
    return file is None or not _INSTALLED & {*Path(file).parts}


def _plain_function(value: Any) -> Any:
    """The function itself, also of one that Numba compiled; None for what is no function of Python."""
    found = getattr(value, "py_func", value)
    return found if inspect.isfunction(found) else None


def own_parts(*values: Any) -> list[Any]:
    """The classes and functions of one's own in these: those of the things themselves, and of what they hold."""
    found: dict[int, Any] = {}
    seen: dict[int, Any] = {}
    waiting = list(values)
    for value in waiting:  # it grows
        if isinstance(value, _HOLD_NOTHING) or id(value) in seen:
            continue
        seen[id(value)] = value
        kind = type(value)
        if isinstance(value, type) or (not _is_package(kind.__module__) and callable(value)):
            if not _is_package(getattr(value, "__module__", "")):
                found[id(value)] = value
            continue
        if isinstance(value, tuple | list):
            waiting += value
        if not _is_package(kind.__module__):
            waiting += value.values() if isinstance(value, Mapping) else ()
            if not _is_own(kind.__module__) and all(value is not thing for thing in values):
                continue  # of a library, and no more than what it holds
            found[id(kind)] = kind
        waiting += _fields(value)
    return list(found.values())


def _fields(value: Any) -> list[Any]:
    kind: Any = type(value)
    inside = getattr(value, "__dict__", {})
    slots = [getattr(value, name) for name in _slots(kind) if hasattr(value, name)]
    return slots + [inside[name] for name in sorted(inside) if not _is_derived(kind, name)]


@functools.lru_cache(maxsize=256)
def _slots(kind: type) -> list[str]:
    listed = [vars(one).get("__slots__", ()) for one in kind.__mro__]
    names = {name for slots in listed for name in ((slots,) if isinstance(slots, str) else slots)}
    return sorted(names - {"__dict__", "__weakref__"})


def _is_derived(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), functools.cached_property)


def fingerprint(parts: Iterable[Any]) -> str | None:
    """A hash of the code that these classes and functions are made of; None where there are none.

    Raises
    ------
    InvalidInput
        Something that they use cannot be told from another, and where that is.
    """
    listed = list(parts)
    if not listed:
        return None
    digest = hashlib.sha256()
    feed(digest, _Reader(listed).content)
    return digest.hexdigest()[:32]


class _Reader:
    """Code as nested tuples of texts, numbers and arrays."""

    def __init__(self, parts: list[Any]) -> None:
        roots = [part for part in parts if isinstance(part, type) or _plain_function(part) is not None]
        tops = {str(getattr(_plain_function(part) or part, "__module__", "")).partition(".")[0] for part in roots}
        self.homes = tops - sys.stdlib_module_names
        self.seen: dict[int, tuple[int, Any]] = {}  # what was met, kept so that no other object gets its id
        self.path: list[str] = []
        self.open: list[int] = []  # containers and modules that are being told
        self.content = [self.of(part, _called(part)) for part in parts]

    def of(self, value: Any, name: str) -> Any:
        """What an object is, told by its content; ``name`` is what it is called where it is used."""
        if type(value) in _PLAIN:
            return value
        if type(value) is np.ndarray and not value.dtype.hasobject:
            return value
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return ("scalar", np.asarray(value))  # their texts differ from one version of NumPy to the next
        self.path.append(name)
        try:
            return self._members(value) if type(value) in _CONTAINERS else self._thing(value)
        finally:
            self.path.pop()

    def _members(self, value: Any) -> Any:
        if id(value) in self.open:
            return ("within", self.open.index(id(value)))
        self.open.append(id(value))  # not seen: whether two equal ones are one object is up to the compiler
        if isinstance(value, dict | types.MappingProxyType):
            told: Any = [(self.of(key, "a key"), self.of(part, f"[{key!r:.40}]")) for key, part in value.items()]
        else:
            ordered = sorted(value, key=self._order) if isinstance(value, set | frozenset) else value
            told = [self.of(part, f"[{k}]") for k, part in enumerate(ordered)]
        self.open.pop()
        return (type(value).__name__, told)

    def _thing(self, value: Any) -> Any:
        if id(value) in self.seen:
            return ("again", self.seen[id(value)][0])
        known = self._known(value)
        if known is not None:
            return ("named", known)
        self.seen[id(value)] = (len(self.seen), value)
        kind = type(value)
        if kind is np.ndarray:
            return ("objects", value.shape, self.of(list(value.flat), "members"))
        if inspect.iscode(value):
            return self._code(value)
        if inspect.isfunction(value):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if _plain_function(value) is not None:  # compiled by Numba
            return (
                "compiled",
                self.of(value.py_func, "py_func"),
                self.of(getattr(value, "targetoptions", {}), "options"),
            )
        if isinstance(value, staticmethod | classmethod):
            return (kind.__name__, self.of(value.__func__, "__func__"))
        if isinstance(value, property):
            return ("property", *(self.of(part, "a property") for part in (value.fget, value.fset, value.fdel)))
        if isinstance(value, functools.cached_property):
            return ("cached", self.of(value.func, "func"))
        if isinstance(value, functools._lru_cache_wrapper):
            return ("cached", self.of(value.__wrapped__, "__wrapped__"))
        if isinstance(value, _DESCRIPTORS):
            return ("descriptor", self.of(value.__objclass__, "its class"), value.__name__)
        if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
            if value.__self__ is None or inspect.ismodule(value.__self__):
                raise self._refused(value, "which was compiled elsewhere")
            return ("method", self.of(value.__self__, "__self__"), value.__name__)
        if inspect.ismodule(value):
            raise self._refused(value, "of which anything may be used")
        return self._object(value)

    def _refused(self, value: Any, why: str) -> InvalidInput:
        *before, last = self.path
        used = f", used by {' → '.join(before)}," if before else ""
        kind = "module" if inspect.ismodule(value) else f"{type(value).__module__}.{type(value).__qualname__}"
        wanted = "use functions of Python, numbers, texts, arrays and tuples of them"
        return InvalidInput(f"{last}{used} is a {kind.removeprefix('builtins.')}, {why}: {wanted}")

    def _order(self, member: Any) -> str:
        """The place of a member of a set, whose own order is another in each process."""
        if type(member) in _PLAIN:
            return f"{type(member).__name__} {member!r}"
        if isinstance(member, tuple):
            return f"({' '.join(map(self._order, member))})"
        if isinstance(member, frozenset):
            return f"({' '.join(sorted(map(self._order, member)))})"
        name = getattr(member, "__qualname__", getattr(member, "name", None))
        if not isinstance(name, str):
            raise self._refused(member, "which has no place of its own in a set")
        return name

    def _known(self, value: Any) -> str | None:
        """The name of what comes with this package or a library; None for what must be looked into."""
        if inspect.ismodule(value):
            return None if _is_own(value.__name__, self.homes) else value.__name__
        ufunc = isinstance(value, np.ufunc)
        module = "numpy" if ufunc else getattr(value, "__module__", None)
        name = getattr(value, "__name__" if ufunc else "__qualname__", None)
        if not isinstance(module, str) or not isinstance(name, str) or _is_own(module, self.homes):
            return None
        if isinstance(value, type) and not value.__flags__ & (1 << 9):  # of Python itself, perhaps without a place
            return f"{module}.{name}"
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        return f"{module}.{name}" if found is value else None

    def _object(self, value: Any) -> Any:
        """An instance, by its name where a library keeps it, and else by what it would be built again from."""
        kind = type(value)
        if not _is_own(kind.__module__, self.homes):
            there = [name for name, part in vars(sys.modules.get(kind.__module__, types)).items() if part is value]
            if there:
                return ("named", f"{kind.__module__}.{min(there)}")
        if isinstance(value, _RANDOM):
            raise self._refused(value, "whose next draws nobody knows")
        try:
            told = copyreg.dispatch_table.get(kind, lambda it: it.__reduce_ex__(2))(value)
            if isinstance(told, str):
                module = pickle.whichmodule(value, told)  # type: ignore[attr-defined]
                if _is_own(module, self.homes) or getattr(sys.modules[module], told) is not value:
                    raise TypeError("it is known by a name alone")
                return ("named", f"{module}.{told}")
        except Exception as error:
            raise self._refused(value, f"whose content cannot be told ({' '.join(str(error).split())[:80]})") from None
        make, args, state, items, pairs = (*told, None, None, None)[:5]
        if isinstance(state, dict):
            state = {name: part for name, part in state.items() if not _is_derived(kind, str(name))} or None
        more = None if items is None else list(items), None if pairs is None else dict(pairs)
        return ("object", *(self.of(part, "its content") for part in (make, args, state, *more)))

    def _class(self, cls: type) -> Any:
        entries = vars(cls)
        aside = _ASIDE | (_OF_TUPLES if "_fields" in entries else set())
        if "_fields" in entries:
            fields: Any = cls._fields, cls._field_defaults  # type: ignore[attr-defined]
            aside |= {*fields[0]}
        elif "__attrs_attrs__" in entries:
            fields = [(a.name, a.default, a.validator, a.converter, a.kw_only) for a in entries["__attrs_attrs__"]]
        else:
            told = entries.get("__dataclass_fields__", {}).values()
            fields = [(f.name, f.default, f.default_factory, f.kw_only) for f in told]
        own = [
            (name, self.of(entry, name))
            for name, entry in sorted(entries.items())
            if name not in aside and not _is_generated(cls, name, entry)
        ]
        registered = sorted((g for g in generics if cls in g.table), key=lambda g: f"{g.__module__}.{g.__name__}")
        done = [(g.__name__, self.of(g.table[cls], g.__name__)) for g in registered]
        bases = [self.of(base, base.__name__) for base in (type(cls), *cls.__bases__)]
        return ("class", cls.__qualname__, bases, self.of(fields, "a field"), own, done)

    def _function(self, function: Any) -> Any:
        scope, outside, missing = function.__globals__, {}, []
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                outside[name] = cell.cell_contents
            except ValueError:  # it has no value yet
                missing.append(name)
        names = names_in(function)
        if _is_own(scope.get("__name__"), self.homes):
            told = self._code(function.__code__)
            outside |= {name: scope[name] for name in names.globals if name in scope}
            missing += sorted(name for name in names.globals if name not in scope and not hasattr(builtins, name))
            for name in names.imports:
                outside |= _imported(name, scope.get("__package__"))
        else:  # made by a function of a library's, or of the package's
            told = ("made", scope["__name__"], function.__code__.co_qualname)
        kept = {name: part for name, part in vars(function).items() if not name.startswith("__")}
        return (
            "function",
            told,
            self.of(function.__defaults__, "a default"),
            self.of(function.__kwdefaults__, "a default"),
            [(name, self._used(name, part, names.attributes)) for name, part in sorted(outside.items())],
            missing,
            [(name, self.of(part, name)) for name, part in sorted(kept.items())],
        )

    def _used(self, name: str, value: Any, attributes: set[str]) -> Any:
        """What a name means to a function; of a module of one's own, the attributes that the function names."""
        if not inspect.ismodule(value) or not _is_own(value.__name__, self.homes):
            return self.of(value, name)
        if id(value) in self.open:
            return ("within", self.open.index(id(value)))
        self.open.append(id(value))
        inside = {part: vars(value)[part] for part in sorted(attributes) if part in vars(value)}
        told = [(part, self._used(f"{name}.{part}", entry, attributes)) for part, entry in inside.items()]
        self.open.pop()
        return told

    def _code(self, code: types.CodeType) -> Any:
        arguments, steps, handlers = steps_of(code)
        meant = [(name, self._code(x) if inspect.iscode(x) else self.of(x, "a constant")) for name, x in steps]
        return ("code", arguments, meant, handlers)


def _imported(name: str, package: Any) -> dict[str, Any]:
    """The modules that a function imports when it is called, or None where there are none."""
    try:
        whole = importlib.util.resolve_name(name, package)
        importlib.import_module(whole)
    except Exception:  # whatever the module raises
        return {f"import {name}": None}
    parts = whole.split(".")
    return {f"import {one}": sys.modules[one] for k in range(len(parts)) if (one := ".".join(parts[: k + 1]))}


def _called(part: Any) -> str:
    return getattr(part, "__name__", type(part).__name__)


def _is_generated(cls: type, name: str, entry: Any) -> bool:
    """Whether attrs or dataclasses wrote a method, from the fields that are told anyway."""
    if not inspect.isfunction(entry):
        return False
    file, maker = entry.__code__.co_filename, entry.__globals__.get("__name__")
    written = file == "<string>" and name.startswith("__") and "__dataclass_fields__" in vars(cls)
    return written or file.startswith("<attrs generated") or maker in ("attr._make", "dataclasses")
