"""How a transition comes about: who wakes, what they try, who takes it and who stays.

A transition has many realisations, and its resistance is the least of theirs. With joint trials the cheapest may be one
in which somebody wakes, tries and stays, which changes what the others compare (the paper's Eq. 12 leaves these out).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from potentia.analysis.chains.laws import NO_SETS, sets_of, ties_of
from potentia.analysis.chains.synchronous import Sets, weigh_sets
from potentia.analysis.chains.transitions import Board, Law, Room, empty_room, look, price, revise
from potentia.analysis.tables import move_prices, payoff_table, profile_at, words
from potentia.errors import InvalidInput, NoLaw
from potentia.games import Game
from potentia.games.names import action_name, capital, player_name, players_words
from potentia.kernel.arrays import Floats, strides
from potentia.rules import Rule
from potentia.rules.base import Axes
from potentia.rules.chooses import PAIR, pair_terms
from potentia.rules.considers import JOINT, TRIALS
from potentia.rules.revision import BY_ACTION, revision_data
from potentia.rules.who import waking

Term = tuple[float, float]


class Way(NamedTuple):
    """One realisation of a transition between two profiles, given by their numbers."""

    source: int
    target: int
    awake: tuple[int, ...]
    tried: tuple[int, ...]  # those who weigh another action than their present one
    took: tuple[int, ...]  # those who change to it
    trial: int  # the profile in which all who tried have their way
    compared: tuple[tuple[float, float], ...]  # what each of ``tried`` compares: the present utility and the other
    together: bool  # whether they try at once, so that they compare with the trial profile
    resistance: float
    probability: float

    def sentences(self, game: Game) -> list[str]:
        """The step in words."""
        before, trial, after = (profile_at(game, place) for place in (self.source, self.trial, self.target))
        verb = "wake" if len(self.awake) > 1 else "wakes"
        said = [f"{capital(players_words(self.awake, game), game)} {verb} at {words(before, game)}."]
        if self.together:
            said.append(f"Together they try {words(trial, game)}.")
        for player, (now, then) in zip(self.tried, self.compared, strict=True):
            tries = "" if self.together else f" tries {action_name(game, player, trial[player], 'action ')}: it"
            does = "takes it" if player in self.took else "stays"
            said.append(
                f"{capital(player_name(game, player), game)}{tries} compares {now:.6g} with {then:.6g} and {does}."
            )
        own = tuple(player for player in self.awake if player not in self.tried)
        if own:
            said.append(
                f"{capital(players_words(own, game), game)} {'draw' if len(own) > 1 else 'draws'} the present action."
            )
        said.append(
            f"Play goes from {words(before, game)} to {words(after, game)} at resistance {self.resistance:.6g}."
        )
        return said


def cheapest_way(game: Game, rule: Rule, source: int, target: int, tau: float) -> Way:
    """The realisation of least resistance; of several the one with fewest awake, then fewest that try.

    ``tau`` is the temperature of its probability, 0 for a rule without one.
    """
    axes = rule.point()
    if axes is None:
        raise NoLaw(f"{rule.name} is no point of who × considers × chooses")
    cold, warm = _Stage(game, axes, source, 0.0), _Stage(game, axes, source, tau)
    best: tuple[tuple[float, int, int], Way] | None = None
    for way in cold.ways(target):
        rank = (float(f"{way.resistance:.9g}"), len(way.awake), len(way.tried))
        if best is None or rank < best[0]:
            best = rank, way
    if best is None:
        said = f"cannot be reached in one step from {words(profile_at(game, source), game)}"
        raise InvalidInput(f"{words(profile_at(game, target), game)} {said}", "target", target)
    found = best[1]
    for way in warm.ways(target):
        if (way.awake, way.tried, way.trial) == (found.awake, found.tried, found.trial):
            return found._replace(probability=way.probability)
    return found._replace(probability=0.0)


class _Stage:
    """A profile from which a step is taken."""

    def __init__(self, game: Game, axes: Axes, source: int, tau: float) -> None:
        self.game, self.axes, self.source, self.tau = game, axes, source, tau
        tie, slack = ties_of(game) if tau == 0.0 else (0.0, 0.0)
        moves = axes.considers.moves_on(game)
        self.payoffs: Floats = np.ascontiguousarray(payoff_table(game))
        self.board = Board(game.sizes, strides(game.sizes), self.payoffs, moves, move_prices(game))
        self.law = Law(axes.considers.data(game), axes.chooses.data(), tau, tie, slack)
        self.room: Room = empty_room(game, 2**game.num_players)
        look(self.board, self.room, source)
        self.profile = profile_at(game, source)

    def sets(self) -> list[tuple[int, Term]]:
        """The sets of players, as bits, that may revise, each with its term."""
        players, awake = self.game.num_players, waking(self.axes, self.game)
        if awake is None:
            return [(1 << player, (1.0 / players, 0.0)) for player in range(players)]
        revision, sets = revision_data(awake, self.game), sets_of(self.game, self.axes.who.guard, awake)
        if sets is NO_SETS:
            masks = np.arange(2**players)
            sets = Sets(masks, masks, np.ones(masks.size), NO_SETS.graph, NO_SETS.ptr)
        fresh = self.source if sets.graph.size or revision.kind == BY_ACTION else 0
        weigh_sets(revision, sets, self.law, self.room, fresh)
        return [(mask, (c, r)) for mask, (c, r) in enumerate(self.room.weights.T.tolist()) if c > 0.0]

    def ways(self, target: int) -> Iterator[Way]:
        """Every way to a profile."""
        goal = profile_at(self.game, target)
        movers = tuple(p for p, (a, b) in enumerate(zip(self.profile, goal, strict=True)) if a != b)
        for mask, term in self.sets():
            awake = tuple(p for p in range(len(goal)) if mask >> p & 1)
            if not set(movers) <= set(awake):
                continue
            for drawn in itertools.product(*(self._draws(p, goal[p], p in movers) for p in awake)):
                way = self._way(target, movers, dict(zip(awake, drawn, strict=True)), term)
                if way is not None:
                    yield way

    def _options(self, player: int) -> list[int]:
        return [int(a) for a in self.room.options[player, : self.room.number[player]]]

    def _draws(self, player: int, wanted: int, moves: bool) -> list[int]:
        """What a player that revises may weigh: the action it moves to; if it stays, any."""
        options, own, considers = self._options(player), self.profile[player], self.law.considers
        if moves:
            return [wanted] if wanted in options else []
        others = [a for a in options if a != own]
        if considers.kind not in (TRIALS, JOINT) or considers.k > 1:  # it weighs several: the best of them is told
            return [max(others, key=lambda a: self._utility(player, {player: a}))] if others else [own]
        return [*([own] if considers.include_current or not others else []), *others]

    def _utility(self, player: int, changed: dict[int, int]) -> float:
        place = self.source
        for other, action in changed.items():
            place += (action - self.profile[other]) * int(self.board.strides[other])
        paid = price(self.board, player, self.profile[player], changed[player])
        return float(self.payoffs[player, place]) - float(paid)

    def _way(self, target: int, movers: tuple[int, ...], drawn: dict[int, int], term: Term) -> Way | None:
        tried = tuple(p for p, action in drawn.items() if action != self.profile[p])
        joint = self.law.considers.kind == JOINT
        wishes = {p: drawn[p] for p in tried}
        compared = []
        c, r = term
        for player, action in drawn.items():
            (more, cost), pair = self._choice(player, action, player in movers, wishes if joint else None)
            c, r = c * more, r + cost
            if player in tried:
                compared.append(pair)
        if c == 0.0:
            return None
        trial = self.source + sum((wishes[p] - self.profile[p]) * int(self.board.strides[p]) for p in tried)
        chance = c if r == 0.0 else c * math.exp(-r / self.tau) if self.tau > 0.0 else 0.0
        together = joint and len(tried) > 1
        shown = (tuple(drawn), tried, movers, trial, tuple(compared), together)
        return Way(self.source, target, *shown, r, chance)

    def _choice(
        self, player: int, action: int, takes: bool, joint: dict[int, int] | None
    ) -> tuple[Term, tuple[float, float]]:
        """The term of what a player draws and does, and the two utilities that it compares."""
        own, considers = self.profile[player], self.law.considers
        now = float(self.payoffs[player, self.source])
        then = self._utility(player, joint or {player: action}) if action != own else now
        count = len(self._options(player))
        if considers.kind not in (TRIALS, JOINT) or considers.k > 1:
            revise(self.board, self.law, self.room, self.source, player)
            k = self._options(player).index(action if takes else own)
            return (float(self.room.coefficients[player, k]), float(self.room.exponents[player, k])), (now, then)
        trials = count if considers.include_current or count == 1 else count - 1
        if action == own:
            return (1.0 / trials, 0.0), (now, now)
        pair = np.zeros(PAIR)
        pair_terms(self.law.chooses, now, then, self.law.tau, self.law.tie, pair)
        c, r = (pair[0], pair[1]) if takes else (pair[2], pair[3])
        return (float(c) / trials, float(r)), (now, then)
