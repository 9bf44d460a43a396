"""What a specification lets vary: a value, a list of values, or a range; crossed, or side by side (zip).

- a number, a text, true or false is one value; so is a table that describes one (a schedule, Eq. 53's parameters);
- a list holds the values of an axis; a value that is itself a list stands in a list of its own, ``[[0.1, 0.2]]``;
- ``{ from = 0.1, to = 0.5, step = 0.1 }``, ``{ from = 0, to = 1, count = 5 }`` and
  ``{ from = 1e-4, to = 1e-2, count = 5, log = true }`` are ranges, ends included.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.errors import InvalidSpecification, did_you_mean
from potentia.kernel.numbers import in_words, is_integer, is_real

MOST_VALUES = 100_000  # of one axis
_RANGE = ("from", "to", "step", "count", "log")


@dataclass(frozen=True)
class Axis:
    """A parameter that varies: its key in the specification and its values."""

    key: str  # as in "rule.tau"
    values: tuple[Any, ...]


def axis_from(key: str, entry: Any) -> Axis | None:
    """The axis behind an entry, or None where it is one value."""
    if isinstance(entry, list):
        if not entry:
            raise InvalidSpecification(f"{key} must have at least one value, got an empty list")
        if len(entry) > MOST_VALUES:
            raise InvalidSpecification(f"{key} must have at most {MOST_VALUES:,} values, got {len(entry):,}")
        return Axis(key, _different(key, tuple(entry)))
    if is_range(entry):
        return Axis(key, _different(key, _range(key, entry)))
    return None


def is_range(entry: Any) -> bool:
    """Whether a table is meant as a range: it has a word of one, and none that describes a value."""
    return isinstance(entry, Mapping) and bool({"from", "to"} & set(entry)) and "kind" not in entry


def _different(key: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    seen: set[str] = set()
    for value in values:
        text = text_of(value)
        if text in seen:
            raise InvalidSpecification(f"{key} must have different values, got {text} twice")
        seen.add(text)
    return values


def _range(key: str, entry: Mapping[str, Any]) -> tuple[Any, ...]:
    for word in entry:
        if word not in _RANGE:
            hint = did_you_mean(word, _RANGE)
            raise InvalidSpecification(f"{key}: a range has {', '.join(_RANGE)}, got {word!r}{hint}")
    for word in ("from", "to"):
        if word not in entry:
            raise InvalidSpecification(f"{key}: a range needs {word}, got {dict(entry)}")
        if not is_real(entry[word]) or not math.isfinite(entry[word]):
            raise InvalidSpecification(f"{key}: {word} must be a finite number, got {entry[word]!r}")
    if ("step" in entry) == ("count" in entry):
        raise InvalidSpecification(f"{key}: a range needs step or count, one of them, got {dict(entry)}")
    first, last, log = entry["from"], entry["to"], entry.get("log", False)
    if not isinstance(log, bool):
        raise InvalidSpecification(f"{key}: log must be true or false, got {log!r}")
    whole = is_integer(first) and is_integer(last)
    if "step" in entry:
        return _stepped(key, first, last, entry["step"], whole, log)
    count = entry["count"]
    if not is_integer(count) or not 1 <= count <= MOST_VALUES:
        raise InvalidSpecification(f"{key}: count must be an integer from 1 to {MOST_VALUES:,}, got {count!r}")
    if (count == 1) != (first == last):
        raise InvalidSpecification(f"{key}: a range from {first} to {last} cannot have {count} different values")
    if log and not min(first, last) > 0:
        raise InvalidSpecification(f"{key}: a logarithmic range needs ends above 0, got {first} to {last}")
    values = np.geomspace(first, last, count) if log else np.linspace(first, last, count)
    if whole and not log and all(float(value).is_integer() for value in values):
        return tuple(int(value) for value in values)
    return tuple(_rounded(value) for value in values.tolist())


def _stepped(key: str, first: Any, last: Any, step: Any, whole: bool, log: bool) -> tuple[Any, ...]:
    if log:
        raise InvalidSpecification(f"{key}: a logarithmic range takes count, not step")
    if not is_real(step) or not math.isfinite(step) or step == 0:
        raise InvalidSpecification(f"{key}: step must be a finite number other than 0, got {step!r}")
    if (last - first) / step < 0:
        raise InvalidSpecification(f"{key}: a range from {first} to {last} by {step} is empty")
    count = math.floor((last - first) / step * (1 + 1e-12) + 1e-9) + 1 if math.isfinite((last - first) / step) else 0
    if not 1 <= count <= MOST_VALUES:
        raise InvalidSpecification(f"{key}: a range has at most {MOST_VALUES:,} values, got {in_words(count)}")
    if whole and is_integer(step):
        return tuple(int(first + k * step) for k in range(count))
    return tuple(_rounded(first + k * step) for k in range(count))


def _rounded(value: float) -> float:
    """0.30000000000000004 is not what people mean by 0.1 + 2·0.1."""
    return float(f"{value:.12g}")


def text_of(value: Any) -> str:
    """A value as a label: numbers short, tables as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def expand(axes: list[Axis], zipped: list[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], list[dict[str, Any]]]:
    """The dimensions (each one key, or those side by side) and the points of the grid, the last varying fastest."""
    by_key = {axis.key: axis for axis in axes}
    groups: list[tuple[str, ...]] = []
    for key in by_key:
        group = next((names for names in zipped if key in names), (key,))
        if group not in groups:
            groups.append(group)
    points: list[dict[str, Any]] = [{}]
    for group in groups:
        columns = [by_key[key].values for key in group]
        rows = list(zip(*columns, strict=True))
        points = [{**point, **dict(zip(group, row, strict=True))} for point in points for row in rows]
    return groups, points
