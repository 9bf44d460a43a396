"""Functions that users write: what they take from outside, and machine code that games share.

Games built on the same function share its machine code, and so the kernels that contain it. So do functions with the
same code that take the same values from outside, as those that a factory of games makes.
"""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

# Compiled functions, with the values of the names they had taken from outside: Numba freezes those. And the first
# function of each code with such values.
_compiled: OrderedDict[Any, tuple[Any, Any]] = OrderedDict()
_firsts: OrderedDict[Any, Any] = OrderedDict()
_MOST_COMPILED = 64
_lock = threading.Lock()


def outside_values(function: Any) -> dict[str, Any]:
    """The values of the global names and closures that a function and the functions inside it use."""
    names: set[str] = set()
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop()
        names.update(code.co_names)
        waiting.extend(part for part in code.co_consts if inspect.iscode(part))
    found = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return found | {name: cell.cell_contents for name, cell in cells}


def _outside(function: Any) -> Any:
    """The values of the names a function takes from outside, to be compared; None where they may change unnoticed."""
    used = [*outside_values(function).items(), *enumerate(function.__defaults__ or ())]
    used += (function.__kwdefaults__ or {}).items()
    known = [(name, _constant(value)) for name, value in used]
    return None if any(value is None for _, value in known) else tuple(known)


def _constant(value: Any) -> Any:
    """What tells this value from others, by its text or bytes because 0.0 equals -0.0; None for what may change."""
    if type(value) in (bool, int, float, complex, str, type(None)):
        return type(value), repr(value)
    if isinstance(value, np.generic) and type(value) is value.dtype.type and value.dtype.kind in "biufc":
        return type(value), value.tobytes()
    if inspect.ismodule(value) and value.__name__ in ("math", "numpy"):
        return value.__name__
    if inspect.isbuiltin(value) and inspect.ismodule(value.__self__):
        return value.__self__.__name__, value.__name__
    return None


def machine_code(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The function as a dispatcher of Numba's that is compiled for arguments like these, the last of which is data."""
    import numba

    if inspect.ismethod(function):
        raise TypeError("it is a method; pass a plain function, and what it needs as data=")
    odd = _first_odd_part(arguments[-1])
    if odd is not None:
        raise TypeError(f"data holds a {odd}; use numbers, arrays and (named) tuples of them")
    outside, dispatcher = _compiled.get(function, (None, None))
    if outside is None or outside != _outside(function):
        # boundscheck: a wrong index in a user's function must not read foreign memory
        dispatcher = numba.njit(nogil=True, error_model="numpy", boundscheck=True)(function)
        _keep(_compiled, function, (_outside(function), dispatcher))
    types = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher.compile(types)
    returned = dispatcher.overloads[types].signature.return_type
    if not isinstance(returned, numba.types.Integer | numba.types.Float | numba.types.Boolean):
        raise TypeError(f"it returns {returned}, not a number")
    return dispatcher


def first_like(function: Any) -> Any:
    """The first function with this code that takes the same values from outside, or this one."""
    if not inspect.isfunction(function):  # a method has an object, too
        return function
    try:
        outside = _outside(function)
    except ValueError:  # a name that has no value yet
        return function
    if outside is None:
        return function
    known = _firsts.get((function.__code__, outside))
    if known is None or _outside(known) != outside:  # what it takes has changed since
        _keep(_firsts, (function.__code__, outside), known := function)
    return known


def _keep(table: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    with _lock:
        table[key] = value
        table.move_to_end(key)
        while len(table) > _MOST_COMPILED:
            table.popitem(last=False)


def name_of(function: Callable[..., Any]) -> str:
    """What to call a function, or an object that is called like one."""
    return getattr(function, "__name__", type(function).__name__)


def reason_of(error: Exception) -> str:
    """The line of Numba's long message that a person can act on."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    useful = [line for line in lines if not line.startswith(("Failed in", "During:", "File ", "-", "<source"))]
    first = (useful or lines or [type(error).__name__])[0]
    if first.startswith("Untyped global name") and "<class 'function'>" in first:
        first += "; decorate that function with numba.njit"
    return first


def _first_odd_part(data: Any) -> str | None:
    """The type of the first part of ``data`` that kernels, which own no memory, cannot take."""
    if isinstance(data, tuple):
        return next((odd for odd in map(_first_odd_part, data) if odd is not None), None)
    if data is None or isinstance(data, bool | int | float | complex | np.generic):
        return None
    if isinstance(data, np.ndarray) and data.dtype.kind in "biufc":
        return None
    return f"{data.dtype} array" if isinstance(data, np.ndarray) else type(data).__name__
