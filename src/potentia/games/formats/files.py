"""Games in files: a normal form as JSON, for people, or as ``.npz``, for large tables.

JSON: ``{"name": "chicken", "payoffs": [...], "potential": [...], "moves": [...]}``, of which only ``payoffs``,
nested lists of shape (N, A_1, ..., A_N), is needed. ``moves`` has one entry per player: null, or for each
action the list of reachable actions; ``{"shared": lists}`` is one table for all players.

``.npz``: the same names as arrays; moves are boolean matrices ``moves_0``, ``moves_1``, ..., one per player,
or one ``moves`` shared by all. Nothing in a file is ever executed: no pickles.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame, PotentiaError, did_you_mean
from potentia.games.base import Game
from potentia.games.formats.paths import naming, npy_array, npz_arrays, require_kind, suffix_of, whole_content, writing
from potentia.games.given import finite_array, of_kind, shortened
from potentia.games.moves import make_moves, reachable_actions
from potentia.games.normal_form import NormalForm
from potentia.kernel import memory
from potentia.kernel.arrays import Floats
from potentia.kernel.protocol import Complete, Constrained, Moves

GAME_SUFFIXES = (".json", ".npz")
POTENTIAL_SUFFIXES = (".json", ".npy", ".npz")

_FIELDS = ("payoffs", "potential", "moves", "name")
_MOST_AXES = 64  # NumPy's limit


def read_game(path: str | os.PathLike[str]) -> NormalForm:
    """The game in a ``.json`` or ``.npz`` file. A potential in it is checked; a name is for people only."""
    source = Path(path)
    with naming(source):
        suffix = suffix_of(source, GAME_SUFFIXES, "games are read from")
        fields = _json_game(_json(source)) if suffix == ".json" else _npz_game(npz_arrays(source, 3, _known))
        if "payoffs" not in fields:
            raise InvalidGame(f"expected payoffs of shape (N, A_1, ..., A_N), got {_listing(fields)}")
        fields.pop("name", None)
        return NormalForm(**fields)


def write_game(game: Game, path: str | os.PathLike[str], *, name: str | None = None) -> Path:
    """Write a normal form for :func:`read_game`, which gives back the same game, fingerprint included."""
    target = Path(path)
    if type(game) is not NormalForm:  # what a subclass adds would be lost
        raise InvalidGame(
            f"a file holds a NormalForm, got {game!r}; build NormalForm(payoffs) from its utilities to write it"
        )
    if name is not None:
        of_kind(name, str, "text", "name")
    with naming(target):
        as_text = suffix_of(target, GAME_SUFFIXES, "games are written to", there=False) == ".json"
        fields: dict[str, Any] = {} if name is None else {"name": name}
        fields["payoffs"] = game.payoffs
        if game.has_potential:
            fields["potential"] = game.data.phi.reshape(game.num_actions)
        if not isinstance(game.moves, Complete):
            fields |= {"moves": _move_lists(game)} if as_text else _move_matrices(game)
        if as_text:
            memory.require(150 * game.payoffs.size, f"writing {target}", "use .npz")
        with writing(target) as file:
            if as_text:
                file.write(_json_text(fields).encode())
            else:
                np.savez(file, **fields)
    return target


def read_potential(path: str | os.PathLike[str], game: Game) -> Floats:
    """A claimed potential of ``game``, of shape (A_1, ..., A_N); whether it is one is not checked.

    ``.json`` (nested lists, or an object with "potential"), ``.npy``, or ``.npz`` with an array "potential".
    A file with a whole game serves as well.
    """
    source = Path(path)
    with naming(source):
        suffix = suffix_of(source, POTENTIAL_SUFFIXES, "potentials are read from")
        found: Any
        if suffix == ".npy":
            found = _real(npy_array(source, 3), "potential")
        elif suffix == ".npz":
            found = _real(npz_arrays(source, 3, _potential_alone)["potential"], "potential")
        else:
            found = _json(source)
            if isinstance(found, dict):
                found = found[_potential_alone(found)[0]]
            found = _numbers(found, "potential")
        phi = finite_array(found, "potential")
        if phi.ndim != game.num_players:
            told = f"must have one axis for each of {game.num_players} players"
            raise InvalidGame(f"{told}, got {phi.ndim}", "potential", phi)
        return finite_array(phi, "potential", game.num_actions)


# JSON -------------------------------------------------------------------------------------------------


def _json(path: Path) -> Any:
    content = whole_content(path, 20, "use .npz")  # a list of short lists takes some twenty times its text
    try:
        text = content.decode("utf-8-sig")  # some editors begin with a mark
        return json.loads(text, object_pairs_hook=_once_each)
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


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; the standard library would silently keep the last of equal keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidGame(f"key {key!r:.60} is there twice")
        found[key] = value
    return found


def _json_game(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise InvalidGame(f"expected an object with payoffs, got {_shown(content)}")
    for key in content:
        if key not in _FIELDS:
            raise InvalidGame(f"unknown key {key!r:.60}{did_you_mean(key, _FIELDS)} (known are {', '.join(_FIELDS)})")
    fields = {key: value for key, value in content.items() if value is not None or key == "payoffs"}
    for key in ("payoffs", "potential"):
        if key in fields:
            fields[key] = _numbers(fields[key], key)
    if not isinstance(fields.get("name", ""), str):
        raise InvalidGame(f"must be text, got {_shown(fields['name'])}", "name", fields["name"])
    if "moves" in fields:
        fields["moves"] = _listed_moves(fields["moves"])
    return fields


def _numbers(value: Any, field: str) -> Floats:
    """Nested lists as an array. NumPy alone would take true for 1 and not say where a list is ragged."""
    shape: list[int] = []
    first = value
    while isinstance(first, list):
        shape.append(len(first))
        first = first[0] if first else None
    if not shape:
        raise InvalidGame(f"must be nested lists of numbers, got {_shown(value)}", field, value)
    if len(shape) > _MOST_AXES:
        raise InvalidGame(f"must be lists at most {_MOST_AXES} deep, got {len(shape)}", field, value)
    _require_rectangular(value, shape, field, ())
    try:
        return np.array(value, np.float64)
    except OverflowError:
        raise InvalidGame("must be finite, got an integer too large for a float", field) from None


def _require_rectangular(part: Any, shape: list[int], field: str, index: tuple[int, ...]) -> None:
    if not isinstance(part, list) or len(part) != shape[0]:
        got = len(part) if isinstance(part, list) else _shown(part)
        told = f"must be rectangular: expected {shape[0]} entries at index {index}"
        raise InvalidGame(f"{told}, got {got}", field, part)
    for k, entry in enumerate(part):
        if len(shape) > 1:
            _require_rectangular(entry, shape[1:], field, (*index, k))
        elif type(entry) is not float and type(entry) is not int:
            hint = "; leave out the quotes" if isinstance(entry, str) else ""
            told = f"must hold numbers: expected one at index {(*index, k)}"
            raise InvalidGame(f"{told}, got {_shown(entry)}{hint}", field, entry)


def _listed_moves(moves: Any) -> Any:
    """Moves from JSON, as a game takes them. What the lists hold is checked there."""
    if isinstance(moves, dict):
        if set(moves) != {"shared"}:
            raise InvalidGame(f"as an object must have the one key 'shared', got {_listing(moves)}", "moves", moves)
        return _shared_matrix(_lists(moves["shared"], "shared moves"))
    if not isinstance(moves, list):
        raise InvalidGame(f"must be a list with one entry per player, got {_shown(moves)}", "moves", moves)
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
                f"{name}, action {action}: action {_shown(reach[place])} is listed twice; list reachable actions, or "
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
        raise InvalidGame(f"{told}, got {_shown(table)}", field, table)
    for action, reach in enumerate(table):
        if not isinstance(reach, list):
            raise InvalidGame(f"{field}, action {action}: expected a list of reachable actions, got {_shown(reach)}")
    return table


def _shared_matrix(lists: list[list[Any]]) -> NDArray[np.bool_]:
    """A shared table as a matrix, the only form in which a game takes one."""
    return _matrix(make_moves([lists], np.array([len(lists)])), len(lists), 0)


def _move_lists(game: NormalForm) -> Any:
    if _shares_moves(game):
        return {"shared": _reachable_lists(game, 0)}
    tables = [_reachable_lists(game, player) for player in range(game.num_players)]
    return [None if all(len(reach) == len(table) - 1 for reach in table) else table for table in tables]


def _reachable_lists(game: NormalForm, player: int) -> list[list[int]]:
    return [game.reachable(player, action) for action in range(game.num_actions[player])]


def _json_text(fields: dict[str, Any]) -> str:
    """A line per field; a float is written with the digits that bring it back."""
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in fields.items()}
    return "{\n" + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in plain.items()) + "\n}\n"


# NumPy's files ----------------------------------------------------------------------------------------


def _known(names: list[str]) -> list[str]:
    for name in names:
        if name not in _FIELDS and not _player_of(name):
            hint = did_you_mean(name, (*_FIELDS, "moves_0"))
            known = f"{', '.join(_FIELDS)} and moves_0, moves_1, ..."
            raise InvalidGame(f"unknown array {name!r:.60}{hint} (known are {known})")
    return names


def _player_of(name: str) -> re.Match[str] | None:
    return re.fullmatch(r"moves_(0|[1-9][0-9]{0,5})", name)


def _npz_game(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key in ("payoffs", "potential"):
        if key in arrays:
            fields[key] = _real(arrays[key], key)
    if "name" in arrays:
        require_kind(arrays["name"], "name", "U", "be text", axes=0)
    matrices = {int(match[1]): arrays[name] for name in arrays if (match := _player_of(name))}
    if matrices and "moves" in arrays:
        raise InvalidGame("expected moves, shared by all players, or moves_0, moves_1, ..., got both")
    for player in range(len(matrices)):
        if player not in matrices:
            raise InvalidGame(f"moves_{player} is missing: expected one matrix per player, got {_listing(arrays)}")
    if matrices:
        fields["moves"] = [_boolean(matrices[player], f"moves_{player}") for player in range(len(matrices))]
    elif "moves" in arrays:
        fields["moves"] = _boolean(arrays["moves"], "moves")
    return fields


def _real(array: NDArray[Any], field: str) -> NDArray[Any]:
    return require_kind(array, field, "iuf", "be an array of real numbers")


def _boolean(matrix: NDArray[Any], field: str) -> NDArray[np.bool_]:
    return require_kind(matrix, field, "b", "be a boolean matrix", axes=2)


def _move_matrices(game: NormalForm) -> dict[str, NDArray[np.bool_]]:
    if _shares_moves(game):
        return {"moves": _matrix(game.moves, game.num_actions[0], 0)}
    return {f"moves_{i}": _matrix(game.moves, size, i) for i, size in enumerate(game.num_actions)}


# Moves ------------------------------------------------------------------------------------------------


def _shares_moves(game: NormalForm) -> bool:
    """Whether all players' moves are laid out as one table, which is part of the fingerprint."""
    return isinstance(game.moves, Constrained) and game.num_players > 1 and not game.moves.row.any()


def _matrix(moves: Moves, size: int, player: int) -> NDArray[np.bool_]:
    memory.require(size**2, f"a matrix of moves among {size} actions", "give lists, in .json")
    matrix = np.zeros((size, size), bool)
    for action in range(size):
        matrix[action, reachable_actions(moves, size, player, action)] = True
    return matrix


# Words ------------------------------------------------------------------------------------------------


def _potential_alone(names: Collection[str]) -> list[str]:
    if "potential" not in names:
        raise InvalidGame(f"expected potential of shape (A_1, ..., A_N), got {_listing(names)}")
    return ["potential"]


def _listing(names: Collection[str]) -> str:
    shown = ", ".join(f"{name!r:.60}" for name in list(names)[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "nothing"


def _shown(value: Any) -> str:
    """A value as it is in the file, in a few characters."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return shortened(json.dumps(value, ensure_ascii=False))
