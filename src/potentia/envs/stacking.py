"""The states of many copies of a game in one record: each array with one more axis, for the copies.

Arrays that nobody can write to are the same for all copies, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from potentia.kernel.dispatch import chosen_by_types


def stacked(states: Sequence[Any]) -> Any:
    """States of one kind, put together."""
    first = states[0]
    if isinstance(first, np.ndarray):
        return np.stack(states) if first.flags.writeable else first
    if isinstance(first, tuple):
        parts = [stacked(part) for part in zip(*states, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return first


def renew(states: Any, fresh: Any) -> None:
    """Make all copies equal to one fresh state."""
    if isinstance(states, np.ndarray):
        if states.flags.writeable:
            states[...] = fresh
    elif isinstance(states, tuple):
        for part, one in zip(states, fresh, strict=True):
            renew(part, one)


def copy_of(states: Any, copy: Any) -> Any:
    """The state of one copy, a view."""
    if isinstance(states, np.ndarray):
        return states[copy] if states.flags.writeable else states
    if isinstance(states, tuple):
        parts = [copy_of(part, copy) for part in states]
        return type(states)(*parts) if hasattr(states, "_fields") else tuple(parts)
    return states


def _compiled_copy(states: Any, copy: Any) -> Callable[..., Any]:
    """The same for states of a type of Numba's: an expression that names all of its parts."""
    names: dict[str, Any] = {}

    def taken(kind: Any, place: str) -> str:
        from numba.core import types

        if isinstance(kind, types.Array):
            return f"{place}[copy]" if kind.mutable else place
        if not isinstance(kind, types.BaseTuple):
            return place
        held: Any = kind
        parts = [taken(part, f"{place}[{k}]") for k, part in enumerate(held.types)]
        made = getattr(kind, "instance_class", None)
        if made is None:
            return f"({', '.join(parts)},)"
        name = f"record_{len(names)}"
        names[name] = made
        return f"{name}({', '.join(parts)})"

    exec(f"def copied(states, copy):\n    return {taken(states, 'states')}", names)
    return names["copied"]


chosen_by_types(copy_of, _compiled_copy)
