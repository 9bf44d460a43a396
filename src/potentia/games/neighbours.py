"""Who interacts, as it is given to a game of the user's: groups of players, a graph, or each player's neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.given import listed
from potentia.kernel.arrays import Ints, any_array
from potentia.kernel.numbers import is_integer


def groups_given(given: Any, num_players: int) -> list[Ints]:
    """Groups of players who interact; pairs, from a graph or from neighbours. Others are told by entry and value."""
    last = num_players - 1
    if hasattr(given, "nodes") and hasattr(given, "edges"):
        for node in given.nodes:
            if not _is_player(node, num_players):
                told = f"must have players in 0..{last} as nodes of the graph, got {node!r:.60}"
                numbered = "networkx.convert_node_labels_to_integers(graph) numbers them"
                raise InvalidGame(f"{told}; {numbered}", "interactions", node)
        return _pairs(given.edges())
    if isinstance(given, Mapping):
        found: list[tuple[int, int]] = []
        for player, near in given.items():
            if not _is_player(player, num_players):
                raise InvalidGame(f"must have players in 0..{last} as keys, got {player!r:.60}", "interactions", player)
            others = _players(near, num_players)
            if others is None:
                told = f"must name neighbours in 0..{last}, got {near!r:.60} for player {player}"
                raise InvalidGame(told, "interactions", near)
            found += [(int(player), int(other)) for other in others]
        return _pairs(found)
    _refuse_matrix(given, num_players)
    groups: list[Ints] = []
    for entry, group in enumerate(listed(given, "interactions", "groups of players, a graph or a dict of neighbours")):
        members = _players(group, num_players)
        if members is None:
            told = f"must hold groups of players in 0..{last}, got {group!r:.60} as entry {entry}"
            raise InvalidGame(told, "interactions", group)
        groups.append(members)
    return groups


def _refuse_matrix(given: Any, num_players: int) -> None:
    """Refuse what looks like an adjacency matrix: its rows would be taken for groups of players 0 and 1."""
    table = any_array(given) if not hasattr(given, "tocoo") else given
    if tuple(getattr(table, "shape", ())) != (num_players, num_players) or num_players < 3:
        return
    if hasattr(given, "tocoo") or np.isin(table, (0, 1)).all():
        told = "must be groups of players, a graph or a dict of neighbours, got what looks like an adjacency matrix"
        raise InvalidGame(f"{told}; networkx.from_numpy_array(matrix) makes a graph of it", "interactions", given)


def _is_player(value: Any, num_players: int) -> bool:
    return is_integer(value) and 0 <= value < num_players


def _players(given: Any, num_players: int) -> Ints | None:
    """Each player once; None if it is anything else."""
    members = any_array(list(given) if isinstance(given, Iterable) else given)
    if members.ndim != 1 or (members.size and members.dtype.kind not in "iu"):
        return None
    if ((members < 0) | (members >= num_players)).any():
        return None
    return np.unique(members).astype(np.int64)


def _pairs(found: Iterable[tuple[int, int]]) -> list[Ints]:
    """Each pair of different players once."""
    pairs = np.array([(a, b) for a, b in found if a != b], np.int64).reshape(-1, 2)
    return list(np.unique(np.sort(pairs, axis=1), axis=0))
