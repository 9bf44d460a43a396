"""Games as notebooks show them: facts, a small payoff table, a small picture of the worth. Nothing is solved for it."""

from __future__ import annotations

from functools import singledispatch
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from potentia.games.base import Game
from potentia.games.congestion import Congestion
from potentia.games.coordination import Coordination
from potentia.games.coverage import Coverage
from potentia.games.drift import drift_words
from potentia.games.drift_kernel import Still
from potentia.games.functions import name_of
from potentia.games.names import action_name, player_name, profile_words, short
from potentia.games.normal_form import NormalForm
from potentia.games.own import Custom
from potentia.games.separable import Separable
from potentia.games.team import ADJACENT
from potentia.games.world import World
from potentia.kernel.html import LISTED, ROWS, Html, beside, card, facts, listed, shown, spread, table
from potentia.kernel.numbers import in_words, is_real
from potentia.kernel.pictures import picture
from potentia.kernel.protocol import Constrained

_MANY = 1000  # players: how many profiles they have is then beyond words
_QUICK = 1_000_000  # entries of an array that are looked at


class About(NamedTuple):
    """What is said of a kind of game, beside what is said of all."""

    kind: str = ""
    facts: dict[str, Any] = {}  # noqa: RUF012
    parts: tuple[Html, ...] = ()


def game_card(game: Game) -> str:
    """A game."""
    about = about_game(game)
    told = {"players": game.num_players, "actions": spread(game.sizes, " each"), **_profiles(game), **about.facts}
    told |= {"moves": _moves(game), "potential": "known" if game.has_potential else "not known"}
    return card(type(game).__name__, about.kind, beside(facts(told), *about.parts))


def _profiles(game: Game) -> dict[str, str]:
    return {"profiles": in_words(game.num_profiles)} if game.num_players <= _MANY else {}


def _moves(game: Game) -> str:
    if not isinstance(game.moves, Constrained):
        return "from every action to every other"
    reach = np.diff(game.moves.ptr[:_QUICK])
    return f"constrained: {spread(reach)} others in reach" if reach.size else "constrained"


@singledispatch
def about_game(game: Any) -> About:
    """What is said of this kind of game; of others', what they say in a line."""
    return About(facts=game._facts())


@about_game.register
def _(game: NormalForm) -> About:
    return About(game.known_as or "payoffs in one array", _named(game), (_payoffs(game),))


def _named(game: Game) -> dict[str, Any]:
    names = game.player_names
    return {} if names is None else {"players": f"{listed(map(short, names), len(names))}"}


def _payoffs(game: NormalForm) -> Html:
    """Both payoffs in a cell for two players; a row for each profile of a game with few."""
    if game.num_players == 2 and max(game.num_actions) <= LISTED:
        rows, columns = game.num_actions
        cells = [[", ".join(map(shown, game.payoffs[:, a, b].tolist())) for b in range(columns)] for a in range(rows)]
        names = [player_name(game, i) for i in range(2)]
        head = [f"{names[0]} ↓ {names[1] if game.player_names else 1} →"]
        head += [action_name(game, 1, b) for b in range(columns)]
        lines = [[action_name(game, 0, a), *line] for a, line in enumerate(cells)]
        return table(lines, head, f"payoffs of {names[0]}, {names[1]}")
    if game.num_players > LISTED or game.num_profiles > ROWS:
        return Html("")
    head = ["profile", *(player_name(game, player) for player in range(game.num_players))] + [
        "potential"
    ] * game.has_potential
    told: list[list[Any]] = []
    for profile in np.ndindex(game.num_actions):
        name = f"({listed(profile)})" if game.action_names is None else profile_words(profile, game)
        told.append([name, *game.payoffs[(slice(None), *profile)].tolist()])
        if game.has_potential:
            told[-1].append(game.potential(profile))
    return table(told, head, "payoffs")


@about_game.register
def _(game: Separable) -> About:
    rows = [[player, listed(values)] for player, values in enumerate(game.tables[:ROWS])]
    parts = (table(rows, ["player", "utility of action 0, 1, ..."], count=game.num_players),)
    return About("each utility depends on the own action only", {}, parts)


@about_game.register
def _(game: Congestion) -> About:
    rows = []
    for resource, cost in enumerate(game.costs[:ROWS]):
        most = int(cost.size)
        rows.append([resource, most, *((float(cost[0]), float(cost[-1])) if most else ("", ""))])
    head = ["resource", "players at most", "cost for one", "cost for so many"]
    parts = (table(rows, head, count=game.num_resources),)
    return About("players on shared resources", {"resources": game.num_resources}, parts)


@about_game.register
def _(game: Coordination) -> About:
    told: dict[str, Any] = {"edges": len(game.edges)}
    if game.num_players + 2 * len(game.edges) <= _QUICK:
        told["neighbours"] = spread(np.bincount(game.edges.reshape(-1), minlength=game.num_players), " each")
    told["edge payoffs"] = "one matrix for all" if len(game.payoff) == 1 else "a matrix for each edge"
    told["weights"] = spread(game.weights[:_QUICK]) if game.weights.size else None
    told["field"] = "a number for each player and action" if game.field.size else None
    told["nodes"] = None if game.nodes is None else listed(map(str, islice(game.nodes, LISTED)), len(game.nodes))
    matrix, count = game.payoff[0], game.payoff.shape[1]
    if len(game.payoff) > 1 or count > LISTED:
        return About("coordination on a graph", told)
    head = ["own ↓ other →", *(f"{b}" for b in range(count))]
    parts = (table([[f"{a}", *matrix[a].tolist()] for a in range(count)], head, "payoff for an edge"),)
    return About("coordination on a graph", told, parts)


@about_game.register
def _(game: Custom) -> About:
    data = game.custom_data
    plain = data is None or is_real(data) or isinstance(data, np.ndarray)
    told = {
        "utility": name_of(game._utility),
        "data": data if plain else type(data).__name__,
        "interactions": "not given" if game._pairs is None else "given",
    }
    return About("a utility of one's own", told)


@about_game.register
def _(game: Coverage) -> About:
    world = game.world
    told: dict[str, Any] = {
        "world": world.name,
        **_area(world),
        "range δ": spread(game.delta),
        "reach": "the eight cells around" if game.radius == ADJACENT else f"{shown(game.radius)} cells",
        "cost of moving K": spread(game.movement_cost),
        "flags": f"on the {game.flag}" if game.flags else "none",
        "payoff": "overlap (Eq. 45)" if game.payoff == "overlap" else "marginal worth",
        "start": "drawn by each run" if game.start is None else "given",
        "drift": None if isinstance(game.drift, Still) else ", ".join(drift_words(game.drift)),
    }
    return About("robots that cover cells", told, (world_picture(world),))


# Worlds -----------------------------------------------------------------------------------------------


def world_card(world: World) -> str:
    """A world of a coverage game."""
    told = {**_area(world), "targets": len(world.targets) or None}
    if world.worth.size <= _QUICK:
        told |= {"worth": f"{shown(float(world.worth.sum()))} in all, {shown(float(world.worth.max()))} at most"}
    if world.mixture is not None:
        told |= {"made of": f"{world.mixture.num_components} Gaussian components"}
    return card("World", world.name, beside(facts(told), world_picture(world)))


def _area(world: World) -> dict[str, str]:
    blocked = world.blocked.size - world.num_free
    return {"cells": f"{world.size[0]}×{world.size[1]}" + (f", {blocked:,} of them blocked" if blocked else "")}


def world_picture(world: World) -> Html:
    """The worth field, walls grey."""
    return picture(world.worth, f"worth of {world.name}", walls=world.blocked, upwards=world.origin == "lower")
