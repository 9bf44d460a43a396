"""Where studies and statistics were until version 0.1: their names still work here, with a warning."""

from __future__ import annotations

import warnings
from typing import Any

from potentia import statistics, studies


def __getattr__(name: str) -> Any:
    for room in (studies, statistics):
        if name in room.__all__:
            text = f"potentia.experiments.{name} has moved: use {room.__name__}.{name}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return getattr(room, name)
    raise AttributeError(f"module 'potentia.experiments' has no attribute {name!r}")


def __dir__() -> list[str]:
    return []
