"""Maps as tables of text: see :mod:`potentia.games.formats.maps` for what they may hold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.formats.map_parts import PER_CELL, Map, first
from potentia.games.formats.paths import whole_content
from potentia.kernel import memory
from potentia.kernel.arrays import Floats

_WALLS = frozenset(("", "x", "X", "#"))
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")  # one way to read any digits
_ODD = re.compile(r'[^0-9+\-.eE\sxX#,;"]', re.ASCII)  # in all that Python takes and people do not mean: nan, 1_000
_SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas", None: "blanks"}


def read_table(path: Path, mask: bool) -> Map:
    """The numbers of a table, and where its walls are."""
    text = _text(path)
    separator = _separator(text)
    if "," in text and separator != ",":
        text = _with_points(text, separator)
    lines = text.split("\n")
    while lines and not lines[-1].strip(" "):
        lines.pop()
    if not lines:
        raise InvalidGame("the file is empty: expected a number for each cell")
    if (spot := first(np.array([[not line.strip(" ")] for line in lines]))) is not None:
        raise InvalidGame(f"line {spot[1] + 1} is empty: delete it; a row of walls has x in every field")
    if separator and all(line.rstrip(" ").endswith(separator) for line in lines):
        lines = [line.rstrip(" ")[:-1] for line in lines]
    columns = len(lines[0].split(separator))
    memory.require(PER_CELL * len(lines) * columns, f"reading {path}", "use .npy")
    values = np.empty((len(lines), columns))
    plain, walls = _ODD.search(text) is None, _WALLS - {""} if mask else _WALLS
    between = f"(fields are separated by {_SEPARATORS[separator]})"
    for y, line in enumerate(lines):
        fields = line.split(separator)
        if len(fields) != columns:
            raise InvalidGame(f"line {y + 1} must have {columns} fields, as line 1 has, got {len(fields)} {between}")
        try:
            if not plain:
                raise ValueError
            values[y] = [np.nan if field in walls else float(field) for field in map(str.strip, fields)]
        except ValueError:
            values[y] = [_cell(field, walls, x, y, between) for x, field in enumerate(fields)]
    _require_no_labels(values)
    blocked = np.isnan(values)
    values[blocked] = 0.0
    return Map(values, blocked, _field_at)


def _text(path: Path) -> str:
    """The file, with Unix line ends."""
    data = whole_content(path, 10, "use .npy")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InvalidGame("expected UTF-8 text, got UTF-16; save it as CSV UTF-8")
    if b"\0" in data:
        raise InvalidGame("expected a table in UTF-8 text, got a binary file")
    try:
        text = data.decode("utf-8-sig")  # spreadsheets begin with a mark
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1  # without the mark
        raise InvalidGame(f"expected UTF-8 text, got byte {error.object[error.start]:#04x} in line {line}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _separator(text: str) -> str | None:
    """What separates fields; None: blanks."""
    if ";" in text:
        return ";"
    if "\t" in text and not ("," in text and "." in text):  # commas beside points are no decimal commas
        return "\t"
    return "," if "," in text else None


def _with_points(text: str, separator: str | None) -> str:
    if "." in text:
        comma, point = (text.count("\n", 0, text.index(mark)) + 1 for mark in ",.")
        raise InvalidGame(
            f"fields are separated by {_SEPARATORS[separator]}, so that commas are decimal commas, as in line {comma}, "
            f"but line {point} has a decimal point: use one of the two"
        )
    return text.replace(",", ".")


def _field_at(x: int, y: int) -> str:
    return f"line {y + 1}, column {x + 1}, cell ({x}, {y})"


def _cell(field: str, walls: frozenset[str], x: int, y: int, between: str) -> float:
    """The number in a field, NaN for a wall; slower than ``float``, and says what is wrong."""
    core = field.strip()
    if len(core) > 1 and core[0] == core[-1] == '"':
        core = core[1:-1].strip()
    if core in walls:
        return np.nan
    if _NUMBER.fullmatch(core):
        return float(core)
    place = _field_at(x, y)
    if not core:
        raise InvalidGame(f"{place} of the mask is empty: write 1 or x where blocked, 0 where free")
    if core.lower().lstrip("+-") in ("nan", "inf", "infinity", "na", "n/a"):
        raise InvalidGame(f"{place}: expected a finite number, got {core!r}; a wall is x or an empty field")
    hint = "; if the line is a heading, delete it" if y == 0 else ""
    raise InvalidGame(f"{place}: expected a number, or x for a wall, got {core[:40]!r} {between}{hint}")


def _require_no_labels(values: Floats) -> None:
    """Refuse a data frame written with the numbers of its rows and columns, which look like worths."""
    rows, columns = values.shape
    if min(rows, columns) < 3 or not np.isnan(values[0, 0]):
        return
    if (values[0, 1:] == np.arange(columns - 1)).all() and (values[1:, 0] == np.arange(rows - 1)).all():
        raise InvalidGame(
            "line 1 and column 1 number the columns and rows 0, 1, 2, ...: write the table without them, "
            "with pandas by to_csv(path, index=False, header=False)"
        )
