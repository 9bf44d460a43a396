"""The arrays of a game in an ``.npz`` file."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame, PotentiaError, did_you_mean
from potentia.games.formats.game_json import NAMES, json_game, listing, matrix_of, parsed, shares_moves
from potentia.games.formats.paths import require_kind
from potentia.games.given import shortened
from potentia.games.normal_form import NormalForm
from potentia.kernel.protocol import Complete

_ARRAYS = ("payoffs", "potential", "moves", "name", "names")


def known_arrays(names: list[str]) -> list[str]:
    """The names of arrays, all of which a game may have."""
    for name in names:
        if name not in _ARRAYS and not _player_of(name):
            hint = did_you_mean(name, (*_ARRAYS, "moves_0"))
            known = f"{', '.join(_ARRAYS)} and moves_0, moves_1, ..."
            raise InvalidGame(f"unknown array {name!r:.60}{hint} (known are {known})")
    return names


def _player_of(name: str) -> re.Match[str] | None:
    return re.fullmatch(r"moves_(0|[1-9][0-9]{0,5})", name)


def npz_game(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The fields of a game, checked as far as a NormalForm does not."""
    fields: dict[str, Any] = {}
    for key in ("payoffs", "potential"):
        if key in arrays:
            fields[key] = real(arrays[key], key)
    if "name" in arrays:
        fields["name"] = str(require_kind(arrays["name"], "name", "U", "be text", axes=0))
    if "names" in arrays:
        fields |= _npz_names(str(require_kind(arrays["names"], "names", "U", "be text", axes=0)))
    matrices = {int(match[1]): arrays[name] for name in arrays if (match := _player_of(name))}
    if matrices and "moves" in arrays:
        raise InvalidGame("expected moves, shared by all players, or moves_0, moves_1, ..., got both")
    for player in range(len(matrices)):
        if player not in matrices:
            raise InvalidGame(f"moves_{player} is missing: expected one matrix per player, got {listing(arrays)}")
    if matrices:
        fields["moves"] = [_boolean(matrices[player], f"moves_{player}") for player in range(len(matrices))]
    elif "moves" in arrays:
        fields["moves"] = _boolean(arrays["moves"], "moves")
    return fields


def _npz_names(text: str) -> dict[str, Any]:
    try:
        found = parsed(text)
    except PotentiaError:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not set(found) <= set(NAMES):
        raise InvalidGame(f"must be an object of {', '.join(NAMES)} as JSON, got {shortened(repr(text))}", "names")
    return json_game(found)


def real(array: NDArray[Any], field: str) -> NDArray[Any]:
    """An array of real numbers."""
    return require_kind(array, field, "iuf", "be an array of real numbers")


def _boolean(matrix: NDArray[Any], field: str) -> NDArray[np.bool_]:
    return require_kind(matrix, field, "b", "be a boolean matrix", axes=2)


def move_matrices(game: NormalForm) -> dict[str, NDArray[np.bool_]]:
    """Constrained moves, as matrices."""
    if isinstance(game.moves, Complete):
        return {}
    if shares_moves(game):
        return {"moves": matrix_of(game.moves, game.num_actions[0], 0)}
    return {f"moves_{i}": matrix_of(game.moves, size, i) for i, size in enumerate(game.num_actions)}
