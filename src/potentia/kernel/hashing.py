"""A hash of what values hold: numbers, texts, arrays, records, and functions with what they take from outside."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def feed(digest: Any, value: Any, above: tuple[Any, ...] = ()) -> None:
    """Add a value to a hash: what it holds, not how it prints. ``above`` are the functions that led here."""
    parts: list[Any] = []
    text = type(value).__name__
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        text += f"{value.dtype.str}{value.shape}"
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple | list):
        parts = [part for part in value if not hasattr(type(part), "unhashed")]
    elif isinstance(value, Mapping):
        parts = [part for item in value.items() for part in item]
    elif inspect.iscode(value):
        text += value.co_code.hex()
        parts = [value.co_names, value.co_varnames, value.co_consts]
    elif inspect.isfunction(value) and value not in above:
        above = (*above, value)
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, outside_values(value)]
    elif inspect.ismodule(value):
        text += value.__name__
    elif isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        text += repr(value)
    else:  # an object of the user's: its class must do
        text += type(value).__qualname__
    digest.update(f"{len(parts)},{len(text)},{text}".encode())
    for part in parts:
        feed(digest, part, above)


def outside_values(function: Any) -> dict[str, Any]:
    """The values of the global names and closures that a function and the functions inside it use."""
    names = {name for code in codes(function.__code__) for name in code.co_names}
    found = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return found | {name: cell.cell_contents for name, cell in cells}


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those inside it."""
    yield code
    for part in code.co_consts:
        if inspect.iscode(part):
            yield from codes(part)
