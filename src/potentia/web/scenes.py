"""What a recording tells of its game: how it is drawn, and the arrays for that (docs/recordings.md, "Kinds")."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.analysis import chain
from potentia.analysis.tables import payoff_table
from potentia.errors import InvalidRun, PotentiaError
from potentia.games import Congestion, Coordination, Coverage, Game
from potentia.games.grid import step_offsets
from potentia.games.names import action_name, player_name
from potentia.games.own import Custom
from potentia.games.sight import Sight, written
from potentia.kernel.arrays import Ints
from potentia.rules import Rule
from potentia.web.changing import told_of
from potentia.web.measures import measures_of
from potentia.web.validity import MOST_CELLS

_MOST_PROFILES = 64  # of a game that is drawn as its chain
_MOST_NAMED = 2_000  # players, and actions in all
_MOST_NODES = 2_000
_MOST_EDGES = 20_000
_EXACT_LAYOUT = 100  # nodes, up to which distances in the picture are those in the graph
_LARGE_MAP = 250_000  # cells, above which four bytes each are enough

Scene = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # header and arrays


def scene(game: Game, rule: Rule | None, steps: int) -> Scene:
    """The kind of a game, and what belongs to it in so many steps; with the rule's chain where the game is small."""
    if isinstance(game, Coverage):
        kind, (header, arrays) = "map", _map(game, steps)
    elif isinstance(game, Congestion):
        kind, (header, arrays) = "loads", _loads(game)
    elif (edges := _edges(game)) is not None:
        kind, (header, arrays) = "network", ({}, {"edges": edges.astype(np.int32), "layout": _layout(game, edges)})
    elif game.num_profiles <= _MOST_PROFILES:
        kind, (header, arrays) = "table", _table(game, rule)
    else:
        kind, (header, arrays) = "players", ({}, {})
    sizes = game.sizes[:1] if (game.sizes == game.sizes[0]).all() else game.sizes
    told = {"kind": kind, "text": game.describe(), "players": game.num_players, "actions": None}
    told["player"] = "robot" if kind == "map" else "player"
    told |= {"name": game.known_as} if game.known_as else {}
    if kind in ("table", "players"):
        told |= _names(game, kind)
    return {"game": told} | header, {"sizes": sizes.astype(np.int32)} | arrays


def _names(game: Game, kind: str) -> dict[str, Any]:
    """What players and actions are called; where actions are counted over players, if all call them the same."""
    told: dict[str, Any] = {}
    if game.player_names and game.num_players <= _MOST_NAMED:
        told["names"] = [player_name(game, player) for player in range(game.num_players)]
    names = game.action_names
    if names and sum(map(len, names)) <= _MOST_NAMED and (kind == "table" or len(set(names)) == 1):
        told["actions"] = [[action_name(game, i, a) for a in range(len(own))] for i, own in enumerate(names)]
    return told


def require_small(game: Coverage) -> None:
    """InvalidRun for a map that no recording shows, before anything is played for it."""
    columns, rows = game.world.size
    if columns * rows > MOST_CELLS:
        raise InvalidRun(
            f"a recording shows maps of up to {MOST_CELLS:,} cells, and this one has {columns:,}×{rows:,}; "
            "make it coarser first"
        )


def _map(game: Coverage, steps: int) -> Scene:
    require_small(game)
    world = game.world
    columns, rows = world.size
    drift, frames = told_of(game, steps)
    header = {
        "columns": columns,
        "rows": rows,
        "origin": world.origin,
        "name": world.name,
        "offsets": step_offsets(game.radius).tolist() if game.radius < 20 else [],
        "flags": game.flag if game.flags else None,
        "targets": world.targets.tolist(),
        "drift": drift,
        **measures_of(world),
    }
    arrays = {
        "worth": world.worth.astype(np.float32 if columns * rows > _LARGE_MAP else np.float64),
        "blocked": world.blocked.astype(np.uint8),
        "delta": game.delta[:1] if (game.delta == game.delta[0]).all() else game.delta,
    }
    if isinstance(game.vision, Sight):
        arrays["sight_row"], arrays["sight_mask"] = written(game.vision, columns)
    return {"map": header}, arrays | frames


def _loads(game: Congestion) -> Scene:
    data = game.data
    return {}, {
        "row": data.row.astype(np.int32),
        "strategy_ptr": data.strategy_ptr.astype(np.int32),
        "resources": data.resources.astype(np.int32),
        "cost_ptr": data.cost_ptr.astype(np.int32),
        "cost": data.cost,
    }


def _edges(game: Game) -> Ints | None:
    """Who is joined to whom, where that is a graph that can be drawn."""
    edges = None
    if isinstance(game, Coordination):
        edges = game.edges
    elif isinstance(game, Custom) and (groups := game.groups) and all(len(pair) == 2 for pair in groups):
        edges = np.array(groups)
    if edges is None or game.num_players > _MOST_NODES or len(edges) > _MOST_EDGES:
        return None
    return np.asarray(edges, np.int64)


def _layout(game: Game, edges: Ints) -> NDArray[np.float32]:
    """Where the nodes are, within 0..1, the same each time."""
    import networkx

    graph = networkx.empty_graph(game.num_players)
    graph.add_edges_from(edges.tolist())
    if (grid := _as_grid(game.num_players, edges)) is not None:
        places = grid
    elif game.num_players <= _EXACT_LAYOUT and networkx.is_connected(graph):
        found = networkx.kamada_kawai_layout(graph)
        places = np.array([found[node] for node in range(game.num_players)], np.float64)
    else:
        largest = max(networkx.connected_components(graph), key=len)
        places = _pushed_apart(game.num_players, edges, sorted(set(graph).difference(largest)))
    low, high = places.min(axis=0), places.max(axis=0)
    wide = float((high - low).max()) or 1.0
    return (0.5 + (places - (low + high) / 2) / wide).astype(np.float32)  # one scale for both directions


def _as_grid(count: int, edges: Ints) -> NDArray[np.float64] | None:
    """Rows under each other, where that is what the edges join: neighbours in them, and perhaps opposite sides."""
    joined = {(min(pair), max(pair)) for pair in edges.tolist()}
    for columns in range(2, count // 2 + 1):
        if count % columns or (0, columns) not in joined:
            continue
        cell = np.arange(count).reshape(-1, columns)
        inside = {*_pairs(cell[:, :-1], cell[:, 1:]), *_pairs(cell[:-1], cell[1:])}
        around = {*_pairs(cell[:, 0], cell[:, -1]), *_pairs(cell[0], cell[-1])}
        if inside <= joined <= inside | around:
            return np.stack([cell % columns, -(cell // columns)], axis=-1).reshape(-1, 2).astype(np.float64)
    return None


def _pairs(first: Ints, second: Ints) -> list[tuple[int, int]]:
    return list(zip(first.ravel().tolist(), second.ravel().tolist(), strict=True))


def _pushed_apart(count: int, edges: Ints, loose: list[int]) -> NDArray[np.float64]:
    """Fruchterman and Reingold's layout: nodes push each other away, edges pull, and all of it cools down.

    Those that no edge joins to the largest part are loose: they are pulled to the middle, or they would go far away.
    """
    turns = np.arange(count) * math.pi * (3 - math.sqrt(5))  # the seeds of a sunflower: even, and no draw
    places = np.sqrt((np.arange(count) + 0.5) / count)[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    length, rounds = math.sqrt(math.pi / count), max(10, min(80, int(4e7 / count**2)))
    for round_ in range(rounds):
        apart = (places[:, None] - places[None]).astype(np.float32)
        square = np.maximum((apart**2).sum(axis=2), 1e-6)
        push = (apart * (length**2 / square)[..., None]).sum(axis=1).astype(np.float64)
        pull = places[edges[:, 1]] - places[edges[:, 0]]
        pull *= np.hypot(*pull.T)[:, None] / length
        np.add.at(push, edges[:, 0], pull)
        np.subtract.at(push, edges[:, 1], pull)
        push[loose] -= 2 * (places[loose] - places.mean(axis=0))  # as strong as all others push at about 1.25
        far = np.maximum(np.hypot(*push.T), 1e-9)
        places += push / far[:, None] * np.minimum(far, 0.2 * (1 - round_ / rounds))[:, None]
    return places


def _table(game: Game, rule: Rule | None) -> Scene:
    """Payoffs, the potential where it is known, and the rule's chain where it has one over profiles."""
    arrays: dict[str, NDArray[Any]] = {"payoffs": payoff_table(game).reshape(game.num_players, *game.sizes)}
    if game.has_potential:
        profiles = np.indices(tuple(game.sizes)).reshape(game.num_players, -1).T
        arrays["potential"] = np.array([game.potential(profile) for profile in profiles])
    # one that is found by enumerating the draws of a rule with memory may take long, and has other states
    if rule is None or rule.point() is None or not game.memoryless:
        return {"table": {"law": False}}, arrays
    try:
        found = chain(game, rule)
        law = found.stationary()
    except PotentiaError:  # a temperature that falls, a chain that falls apart
        return {"table": {"law": False}}, arrays
    matrix = found.matrix.tocoo()
    arrays |= {
        "chain_from": matrix.coords[0].astype(np.int32),
        "chain_to": matrix.coords[1].astype(np.int32),
        "chain_probability": matrix.data.astype(np.float64),
        "stationary": np.asarray(law, np.float64),
    }
    return {"table": {"law": True}}, arrays
