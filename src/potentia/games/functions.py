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

from potentia.kernel.hashing import outside_values
from potentia.kernel.mistakes import at_place, compiler_said, odd_part, place_of

# Compiled functions, with the values of the names they had taken from outside: Numba freezes those. And the first
# function of each code with such values.
_compiled: OrderedDict[Any, tuple[Any, Any]] = OrderedDict()
_firsts: OrderedDict[Any, Any] = OrderedDict()
_MOST_COMPILED = 64
_lock = threading.Lock()


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
    odd = odd_part(arguments[-1])
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


def reason_of(error: Exception, function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """One line about why a function does not compile for such arguments, with its place."""
    said = compiler_said(error, arguments, helper="numba.njit")
    return said or at_place(" ".join(str(error).split()) or type(error).__name__, place_of(function))
