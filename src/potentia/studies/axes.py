"""What a specification lets vary: a value, a list of values, or a range; crossed, or side by side (zip).

- a number, a text, true or false is one value; so is a table that describes one (a schedule, Eq. 53's parameters);
- a list holds the values of an axis; a value that is itself a list stands in a list of its own, ``[[0.1, 0.2]]``;
- ``{ from = 0.1, to = 0.5, step = 0.1 }``, ``{ from = 0, to = 1, count = 5 }`` and
  ``{ from = 1e-4, to = 1e-2, count = 5, log = true }`` are ranges, ends included.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.errors import InvalidSpecification, did_you_mean
from potentia.kernel.checks import Integer, Real
from potentia.kernel.numbers import in_words, is_integer, is_real

MOST_VALUES = 100_000  # of one axis
_RANGE = ("from", "to", "step", "count", "log")
_LONGEST = 1_000  # characters of a text
_DEEPEST = 8  # tables and lists in one another
_BITS = 1023  # of an integer that a float can hold
_CONTROL = ("Cc", "Cs", "Zl", "Zp")  # what would break a line, or a terminal


# Plain data -------------------------------------------------------------------------------------------


def as_plain(entry: Any, key: str = "", depth: int = 0) -> Any:
    """Texts, numbers, lists and tables, NumPy's numbers and arrays made so; anything else is refused with its key."""
    if depth > _DEEPEST:
        raise InvalidSpecification("is nested too deeply", key)
    if isinstance(entry, np.ndarray | np.generic):
        entry = entry.tolist()
    if isinstance(entry, str):
        return _line(entry, key)
    if entry is None or isinstance(entry, bool):
        return entry
    if is_integer(entry):
        if int(entry).bit_length() > _BITS:
            raise InvalidSpecification(
                f"must be below 10^308, got {in_words(abs(int(entry)))}", key, in_words(abs(int(entry)))
            )
        return int(entry)
    if isinstance(entry, float) and math.isfinite(entry):
        return float(entry)
    if isinstance(entry, Mapping):
        names = [_line(name, f"a key of {key}" if key else "a key") for name in entry]
        places = [f"{key}.{name}" if key else name for name in names]
        return {n: as_plain(part, p, depth + 1) for n, p, part in zip(names, places, entry.values(), strict=True)}
    if isinstance(entry, range):
        _not_too_many(key, entry)
    if isinstance(entry, list | tuple | range):
        return [as_plain(part, key, depth + 1) for part in entry]
    shown = repr(entry) if isinstance(entry, float) else shown_short(str(entry))
    raise InvalidSpecification(f"must be a finite number, a text, true or false, got {shown}", key, shown)


def _not_too_many(key: str, values: Sequence[Any]) -> None:
    if len(values) > MOST_VALUES:
        raise InvalidSpecification(f"must have at most {MOST_VALUES:,} values, got {len(values):,}", key, len(values))


def _line(text: Any, what: str) -> str:
    if not isinstance(text, str):
        raise InvalidSpecification(f"must be a text, got {shown_short(text)}", what, shown_short(text))
    if len(text) > _LONGEST:
        raise InvalidSpecification(f"must have at most {_LONGEST:,} characters, got {len(text):,}", what, len(text))
    if any(unicodedata.category(letter) in _CONTROL for letter in text):
        raise InvalidSpecification(f"must be a text on one line, got {shown_short(text)}", what, shown_short(text))
    return text


def shown_short(value: Any) -> str:
    """A value for a message: in one line, and not too long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# What varies ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """A parameter that varies: its key in the specification and its values."""

    key: str  # as in "rule.tau"
    values: tuple[Any, ...]


def axis_from(key: str, entry: Any) -> Axis | None:
    """The axis behind an entry, or None where it is one value."""
    if isinstance(entry, list):
        if not entry:
            raise InvalidSpecification("must have at least one value, got an empty list", key)
        _not_too_many(key, entry)
        return Axis(key, _different(key, tuple(entry)))
    if is_range(entry):
        return Axis(key, _different(key, _range(key, entry)))
    return None


def is_range(entry: Any) -> bool:
    """Whether a table is meant as a range: it has a word of one, and none that describes a value."""
    return isinstance(entry, Mapping) and bool({"from", "to"} & set(entry)) and "kind" not in entry


def _different(key: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    seen: set[Any] = set()
    for value in values:
        text = text_of(value)
        same = {text, value} if is_real(value) else {text}  # 1 and 1.0 are one value
        if seen & same:
            raise InvalidSpecification(
                f"must have different values, got {shown_short(value)} twice", key, shown_short(value)
            )
        seen |= same
    return values


def _range(key: str, entry: Mapping[str, Any]) -> tuple[Any, ...]:
    for word in entry:
        if word not in _RANGE:
            hint = did_you_mean(word, _RANGE)
            raise InvalidSpecification(f"{key}: a range has {', '.join(_RANGE)}, got {word!r}{hint}")
    for word in ("from", "to"):
        if word not in entry:
            raise InvalidSpecification(f"{key}: a range needs {word}, got {shown_short(dict(entry))}")
        Real().of(entry[word], f"{key}: {word}", InvalidSpecification)
    if ("step" in entry) == ("count" in entry):
        raise InvalidSpecification(f"{key}: a range needs step or count, one of them, got {shown_short(dict(entry))}")
    first, last, log = entry["from"], entry["to"], entry.get("log", False)
    if not isinstance(log, bool):
        raise InvalidSpecification(f"{key}: log must be true or false, got {log!r}")
    whole = is_integer(first) and is_integer(last)
    if "step" in entry:
        return _stepped(key, first, last, entry["step"], whole, log)
    count = Integer(1, MOST_VALUES).of(entry["count"], f"{key}: count", InvalidSpecification)
    if (count == 1) != (first == last):
        raise InvalidSpecification(f"{key}: a range from {first} to {last} cannot have {count} different values")
    if log and not min(first, last) > 0:
        raise InvalidSpecification(f"{key}: a logarithmic range needs ends above 0, got {first} to {last}")
    if whole and not log and (last - first) % max(count - 1, 1) == 0:
        return tuple(first + k * ((last - first) // max(count - 1, 1)) for k in range(count))
    if not math.isfinite(float(last) - float(first)):
        raise InvalidSpecification(f"{key}: a range from {first} to {last} is too wide")
    values = np.geomspace(first, last, count) if log else np.linspace(first, last, count)
    return tuple(_rounded(value) for value in values.tolist())


def _stepped(key: str, first: Any, last: Any, step: Any, whole: bool, log: bool) -> tuple[Any, ...]:
    if log:
        raise InvalidSpecification(f"{key}: a logarithmic range takes count, not step")
    if not is_real(step) or not math.isfinite(step) or step == 0:
        raise InvalidSpecification(f"{key}: step must be a finite number other than 0, got {step!r}")
    steps = (float(last) - float(first)) / float(step)
    if steps < 0:
        raise InvalidSpecification(f"{key}: a range from {first} to {last} by {step} is empty")
    if not steps <= MOST_VALUES:
        got = in_words(int(steps)) if math.isfinite(steps) else "more"
        raise InvalidSpecification(f"{key}: a range has at most {MOST_VALUES:,} values, got {got}")
    count = math.floor(steps * (1 + 1e-12) + 1e-9) + 1
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


def grouped(axes: list[Axis], zipped: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The dimensions: each one key, or those side by side."""
    keys = [axis.key for axis in axes]
    sides = [next((names for names in zipped if key in names), (key,)) for key in keys]
    # another rule may have what this one has not
    return list(dict.fromkeys(tuple(name for name in side if name in keys) for side in sides))


def expand(axes: list[Axis], zipped: Sequence[Sequence[str]]) -> tuple[list[tuple[str, ...]], list[dict[str, Any]]]:
    """The dimensions and the points of the grid, the last varying fastest."""
    by_key = {axis.key: axis for axis in axes}
    groups = grouped(axes, zipped)
    points: list[dict[str, Any]] = [{}]
    for group in groups:
        columns = [by_key[key].values for key in group]
        rows = list(zip(*columns, strict=True))
        points = [{**point, **dict(zip(group, row, strict=True))} for point in points for row in rows]
    return groups, points
