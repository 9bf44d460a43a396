"""What people see of an object: one line."""

from __future__ import annotations

import dataclasses
from typing import Any

import attrs
import numpy as np

_FEW = 8  # entries of an array, or of a list, that are shown
_SCREEN = 400  # characters


def brief(thing: Any) -> str:
    """An object of attrs or of a dataclass in a line: what differs from its defaults, no array longer than a few.

    For ``__repr__`` of what people look at.
    """
    parts = []
    kind = type(thing)
    for field in attrs.fields(kind) if "__attrs_attrs__" in vars(kind) else dataclasses.fields(kind):
        value = getattr(thing, field.name)
        if field.repr and not _is_default(field, value):
            parts.append(f"{field.name}={in_brief(value)}")
    text = f"{type(thing).__name__}({', '.join(parts)})"
    return text if len(text) <= _SCREEN else f"{text[: _SCREEN - 5]} ...)"


def _is_default(field: Any, value: Any) -> bool:
    return type(value) is type(field.default) and value == field.default


def in_brief(value: Any) -> str:
    """A value in a line: no array or list longer than a few."""
    if isinstance(value, np.ndarray):
        return f"array of {'×'.join(map(str, value.shape))}" if value.size > _FEW else f"{value.tolist()}"
    if isinstance(value, tuple | list | dict) and len(value) > _FEW:
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, tuple | list):
        inner = ", ".join(map(in_brief, value))
        return f"({inner}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {in_brief(part)}" for key, part in value.items()) + "}"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
