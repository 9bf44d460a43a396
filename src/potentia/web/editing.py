"""A map that was edited on the way, in a recording: what holds at a step, and what is checked (docs/recordings.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_VALUES = {"worth": "edit_worth", "blocked": "edit_walls"}


def as_edited(area: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], name: str, step: int) -> NDArray[Any]:
    """The worth or the walls of a map at a step."""
    field = arrays[name].copy()
    for k, when in enumerate(area.get("edits", [])):
        if when <= step:
            part = slice(*arrays["edit_ptr"][k : k + 2])
            field.reshape(-1)[arrays["edit_cells"][part]] = arrays[_VALUES[name]][part]
    return field


def require_edits(area: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], players: int) -> None:
    """ValueError for edits that nobody can have made, or robots removed that there were not."""
    removed, steps = area.get("removed", []), area.get("edits")
    _require(isinstance(removed, list) and all(_within(robot, players) for robot in removed), "who was removed")
    if steps is None:
        return
    fits = isinstance(steps, list) and all(_within(step, 2**53) for step in steps)
    _require(fits and steps == sorted(steps), "the steps of its edits")
    ptr = arrays.get("edit_ptr", np.zeros(0, np.int32))
    _require(ptr.shape == (len(steps) + 1,) and ptr.dtype.kind == "i" and ptr[0] == 0, "its edits")
    _require(bool((np.diff(ptr) >= 0).all()), "its edits")
    for name, kind in (("edit_cells", "i"), ("edit_worth", "f"), ("edit_walls", "u")):
        found = arrays.get(name, np.zeros(0))
        _require(found.shape == (int(ptr[-1]),) and found.dtype.kind == kind, f"{name} of its edits")
    cells, worth = arrays["edit_cells"], arrays["edit_worth"]
    _require(bool(((cells >= 0) & (cells < arrays["blocked"].size)).all()), "the cells of its edits")
    _require(bool((np.isfinite(worth) & (worth >= 0)).all()), "the worths of its edits")


def _within(value: Any, end: int) -> bool:
    return type(value) is int and 0 <= value < end


def _require(holds: bool, told: str) -> None:
    if not holds:
        raise ValueError(f"{told} cannot be")
