"""Functions that run as plain Python and inside compiled code, chosen by the type of their first argument.

Three decorators:

``portable``
    a helper that kernels call. In Python it is the function itself; once Numba is in use it is also
    known to the compiler.
``separate``
    the same for a long helper with several callers: compiled once and called, not copied into each of them.
``generic``
    a function with one implementation per data type, like :func:`functools.singledispatch`. The
    undecorated body is the default. In compiled code the choice is made while compiling and costs
    nothing.

Numba is imported by :func:`activate`, on the first compilation and not before: building a game or a
rule must not cost half a second.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from potentia.errors import InvalidCode
from potentia.kernel.mistakes import at_place, called_by_kernels, place_of

F = TypeVar("F", bound=Callable[..., Any])


class Generic(Protocol):
    """What :func:`generic` returns."""

    __module__: str
    __name__: str
    table: dict[type, Callable[..., Any]]

    def register(self, kind: type) -> Callable[[F], F]: ...

    def __call__(self, *args: Any) -> Any: ...


# Kernels allocate nothing, so reference counting is left out: with it, each step would touch the counter
# of every array in the records. Everything is inlined into the entry point.
_OPTIONS: Any = {"_nrt": False, "no_cfunc_wrapper": True}

_waiting: list[Callable[[], None]] = []
_active = False
generics: list[Generic] = []
lock = threading.RLock()  # two threads may meet their first kernel at once


def kernel_options(inline: bool = True) -> Any:
    """How Numba compiles what is only called from kernels."""
    from potentia.kernel.inner import InnerCompiler

    return {**_OPTIONS, "forceinline": inline, "pipeline_class": InnerCompiler}


def activate() -> None:
    """Make every portable and generic function known to Numba."""
    global _active
    with lock:
        while _waiting:
            _waiting.pop()()
        _active = True


def when_active(action: Callable[[], None]) -> None:
    """Do this once Numba is in use; at once if it is already."""
    with lock:
        if _active:
            action()
        else:
            _waiting.append(action)


def portable(function: F) -> F:
    """Let compiled code call ``function``; calls from Python are unaffected.

    Parameters
    ----------
    function : callable
        A helper that kernels call.

    Returns
    -------
    callable
        The same.

    Examples
    --------
    >>> from potentia.extend import portable
    >>> @portable
    ... def twice(x):
    ...     return 2.0 * x
    >>> twice(1.5)
    3.0
    """
    return _known_to_numba(function, inline=True)


def separate(function: F) -> F:
    """The same, without a copy of the body at each call."""
    return _known_to_numba(function, inline=False)


def _known_to_numba(function: F, inline: bool) -> F:
    def tell_numba() -> None:
        from numba.extending import register_jitable

        register_jitable(**kernel_options(inline))(function)

    when_active(tell_numba)
    called_by_kernels.append(function)
    return function


def lighter_passes(function: F) -> F:
    """Have Numba's lighter passes go over a function before LLVM's own, where that makes it quicker.

    It makes SOQL in small games quicker by a tenth, and joint trials slower.
    """
    function.lighter_passes = True  # type: ignore[attr-defined]
    return function


def generic(default: Callable[..., Any]) -> Generic:
    """A function dispatched on the type of its first argument; ``default`` serves unregistered types.

    ``f.register(DataType)`` decorates an implementation. ``DataType`` is a NamedTuple class, the only
    kind of record that both Python and Numba tell apart by class.

    Parameters
    ----------
    default : callable
        What is called for other types.

    Returns
    -------
    Generic
        The function, with ``register``.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import generic
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @generic
    ... def area(shape):
    ...     return 0.0
    >>> @area.register(Square)
    ... def _(shape):
    ...     return shape.side**2
    >>> area(Square(3.0)), area(None)
    (9.0, 0.0)
    """
    table: dict[type, Callable[..., Any]] = {}

    @wraps(default)
    def call(*args: Any) -> Any:
        return table.get(type(args[0]), default)(*args)

    def register(kind: type) -> Callable[[F], F]:
        def add(implementation: F) -> F:
            expected = list(inspect.signature(default).parameters)
            arrived = list(inspect.signature(implementation).parameters)
            problem = ""
            if expected != arrived:
                problem = f"takes ({', '.join(expected)}), got ({', '.join(arrived)})"
            elif inspect.isgeneratorfunction(implementation):
                problem = "must not yield: nobody would run it"
            elif kind in table and _whose(table[kind]) != _whose(implementation):
                problem = "is registered already; use a type of your own"
            elif _active and kind in table and table[kind].__code__ != implementation.__code__:
                problem = f"may be compiled already; define {kind.__name__} anew, too"
            if problem:
                said = f"{default.__name__} for {kind.__name__} {problem}"
                raise InvalidCode(at_place(said, place_of(implementation)))
            _tell_apart(kind)
            table[kind] = implementation
            called_by_kernels.append(implementation)
            return implementation

        return add

    def choose(*types: Any) -> Callable[..., Any]:
        return table.get(getattr(types[0], "instance_class", object), default)

    chosen_by_types(call, choose)
    result = cast(Generic, call)
    result.register = register  # type: ignore[method-assign]
    result.table = table
    generics.append(result)
    return result


_kinds: dict[tuple[str, Any], type] = {}


def _tell_apart(kind: type) -> None:
    """Give a record class another name where there was one of the same name and fields: a cell that is run again.

    Numba takes records of such classes for the same when it looks for machine code that it has.
    """
    name, fields = kind.__name__, getattr(kind, "_fields", None)
    count = 1
    while _kinds.setdefault((kind.__name__, fields), kind) is not kind:
        count += 1
        kind.__name__ = f"{name}_{count}"


def _whose(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__


def twin(python: F) -> Callable[[F], F]:
    """Give ``python`` a second body for compiled code, where the two languages' integers differ."""

    def add(compiled: F) -> F:
        chosen_by_types(python, lambda *types: compiled)
        return compiled

    return add


def chosen_by_types(function: Callable[..., Any], choose: Callable[..., Callable[..., Any]]) -> None:
    """Let compiled code call what ``choose`` gives for the types of the arguments in the place of a function."""

    def tell_numba() -> None:
        from numba.extending import overload

        # Not strict: Numba would compare annotations too. The names were compared in ``register``.
        overload(function, strict=False, jit_options=kernel_options())(choose)

    when_active(tell_numba)


def at(index: int) -> int:
    """An index known not to be negative.

    Numba tests every signed index for Python's counting from the end. In the innermost loops those tests
    cost a sixth of the time; an unsigned index has none.
    """
    return index


@twin(at)
def _at_compiled(index: Any) -> Any:
    return np.uint64(index)
