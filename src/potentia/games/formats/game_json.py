"""The JSON of a game: what is in a file, or what is wrong with it; and the text that is written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame, PotentiaError, did_you_mean
from potentia.games.formats.paths import whole_content
from potentia.games.given import shortened
from potentia.games.moves import make_moves, reachable_actions
from potentia.games.normal_form import NormalForm
from potentia.kernel import memory
from potentia.kernel.arrays import Floats
from potentia.kernel.protocol import Complete, Constrained, Moves

NAMES = ("players", "actions", "unit")
FIELDS = ("payoffs", "potential", "moves", "name", *NAMES)
_MOST_AXES = 64  # NumPy's limit


def json_of(path: Path) -> Any:
    """What is in a file."""
    content = whole_content(path, 20, "use .npz")  # a list of short lists takes some twenty times its text
    try:
        text = content.decode("utf-8-sig")  # some editors begin with a mark
        return parsed(text)
    except json.JSONDecodeError as error:
        raise InvalidGame(f"not JSON: {error.msg}, line {error.lineno} column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise InvalidGame(f"not JSON: expected UTF-8 text, got byte {error.object[error.start]:#04x}") from error
    except RecursionError:
        raise InvalidGame("not a game: lists nested too deeply") from None
    except PotentiaError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise InvalidGame(f"not a game: {error}") from error


def parsed(text: str) -> Any:
    """What JSON says; ValueError or RecursionError where it is none."""
    return json.loads(text, object_pairs_hook=_once_each)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; the standard library would silently keep the last of equal keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidGame(f"key {key!r:.60} is there twice")
        found[key] = value
    return found


def json_game(content: Any) -> dict[str, Any]:
    """The fields of a game, checked as far as a NormalForm does not; a list is its payoffs."""
    if isinstance(content, list):
        content = {"payoffs": content}
    if not isinstance(content, dict):
        told = 'expected {"payoffs": [...]} or the lists alone, of shape (N, A_1, ..., A_N)'
        raise InvalidGame(f"{told}, got {shown(content)}")
    for key in content:
        if key not in FIELDS:
            raise InvalidGame(f"unknown key {key!r:.60}{did_you_mean(key, FIELDS)} (known are {', '.join(FIELDS)})")
    fields = {key: value for key, value in content.items() if value is not None or key == "payoffs"}
    for key in ("payoffs", "potential"):
        if key in fields:
            fields[key] = numbers(fields[key], key)
    for key in ("name", "unit"):
        if not isinstance(fields.get(key, ""), str):
            raise InvalidGame(f"must be text, got {shown(fields[key])}", key, fields[key])
    if "moves" in fields:
        fields["moves"] = _listed_moves(fields["moves"])
    return fields


def numbers(value: Any, field: str) -> Floats:
    """Nested lists as an array. NumPy alone would take true for 1 and not say where a list is ragged."""
    shape: list[int] = []
    first = value
    while isinstance(first, list):
        shape.append(len(first))
        first = first[0] if first else None
    if not shape:
        raise InvalidGame(f"must be nested lists of numbers, got {shown(value)}", field, value)
    if len(shape) > _MOST_AXES:
        raise InvalidGame(f"must be lists at most {_MOST_AXES} deep, got {len(shape)}", field, value)
    _require_rectangular(value, shape, field, ())
    try:
        return np.array(value, np.float64)
    except OverflowError:
        raise InvalidGame("must be finite, got an integer too large for a float", field) from None


def _require_rectangular(part: Any, shape: list[int], field: str, index: tuple[int, ...]) -> None:
    if not isinstance(part, list) or len(part) != shape[0]:
        got = len(part) if isinstance(part, list) else shown(part)
        told = f"must be rectangular: expected {shape[0]} entries at index {index}"
        raise InvalidGame(f"{told}, got {got}", field, part)
    for k, entry in enumerate(part):
        if len(shape) > 1:
            _require_rectangular(entry, shape[1:], field, (*index, k))
        elif type(entry) is not float and type(entry) is not int:
            hint = "; leave out the quotes" if isinstance(entry, str) else ""
            told = f"must hold numbers: expected one at index {(*index, k)}"
            raise InvalidGame(f"{told}, got {shown(entry)}{hint}", field, entry)


def _listed_moves(moves: Any) -> Any:
    """Moves from JSON, as a game takes them. What the lists hold is checked there."""
    if isinstance(moves, dict):
        if set(moves) != {"shared"}:
            raise InvalidGame(f"as an object must have the one key 'shared', got {listing(moves)}", "moves", moves)
        return _shared_matrix(_lists(moves["shared"], "shared moves"))
    if not isinstance(moves, list):
        raise InvalidGame(f"must be a list with one entry per player, got {shown(moves)}", "moves", moves)
    return [table if table is None else _table(table, f"moves of player {i}") for i, table in enumerate(moves)]


def _table(table: Any, name: str) -> Any:
    """Lists of reachable actions, or a matrix of true and false."""
    rows = _lists(table, name)
    if rows and all(len(row) == len(rows) and all(isinstance(entry, bool) for entry in row) for row in rows):
        return np.array(rows)
    for action, reach in enumerate(rows):
        place = _first_twice(reach)
        if place is not None:  # zeros and ones, perhaps, of a matrix
            raise InvalidGame(
                f"{name}, action {action}: action {shown(reach[place])} is listed twice; list reachable actions, or "
                "give a square matrix of true and false"
            )
    return rows


def _first_twice(reach: list[Any]) -> int | None:
    """The place of the first entry that comes again; there may be lists, too, which are no actions."""
    keys = [(repr(target),) if isinstance(target, list | dict) else target for target in reach]
    counts = Counter(keys)
    return next((place for place, key in enumerate(keys) if counts[key] > 1), None)


def _lists(table: Any, field: str) -> list[list[Any]]:
    if not isinstance(table, list):
        told = "must be one list of reachable actions for each action"
        raise InvalidGame(f"{told}, got {shown(table)}", field, table)
    for action, reach in enumerate(table):
        if not isinstance(reach, list):
            raise InvalidGame(f"{field}, action {action}: expected a list of reachable actions, got {shown(reach)}")
    return table


def _shared_matrix(lists: list[list[Any]]) -> NDArray[np.bool_]:
    """A shared table as a matrix, the only form in which a game takes one."""
    return matrix_of(make_moves([lists], np.array([len(lists)])), len(lists), 0)


def move_lists(game: NormalForm) -> dict[str, Any]:
    """Constrained moves, as lists."""
    if isinstance(game.moves, Complete):
        return {}
    if shares_moves(game):
        return {"moves": {"shared": _reachable_lists(game, 0)}}
    tables = [_reachable_lists(game, player) for player in range(game.num_players)]
    return {"moves": [None if all(len(reach) == len(table) - 1 for reach in table) else table for table in tables]}


def _reachable_lists(game: NormalForm, player: int) -> list[list[int]]:
    return [game.reachable(player, action) for action in range(game.num_actions[player])]


def json_text(fields: dict[str, Any]) -> str:
    """A line per field; a float is written with the digits that bring it back."""
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in fields.items()}
    return "{\n" + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in plain.items()) + "\n}\n"


# Moves -----------------------------------------------------------------------------------------------


def shares_moves(game: NormalForm) -> bool:
    """Whether all players' moves are laid out as one table, which is part of the fingerprint."""
    return isinstance(game.moves, Constrained) and game.num_players > 1 and not game.moves.row.any()


def matrix_of(moves: Moves, size: int, player: int) -> NDArray[np.bool_]:
    """A player's moves, as a matrix."""
    memory.require(size**2, f"a matrix of moves among {size} actions", "give lists, in .json")
    matrix = np.zeros((size, size), bool)
    for action in range(size):
        matrix[action, reachable_actions(moves, size, player, action)] = True
    return matrix


# Words -----------------------------------------------------------------------------------------------


def listing(names: Collection[str]) -> str:
    """What is there, in a few words."""
    shown = ", ".join(f"{name!r:.60}" for name in list(names)[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "nothing"


def shown(value: Any) -> str:
    """A value as it is in the file, in a few characters."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return shortened(json.dumps(value, ensure_ascii=False))
