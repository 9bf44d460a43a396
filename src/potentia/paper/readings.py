"""How Assumptions 4 and 5 of the general theorem may be read, and all small games that satisfy each reading.

Assumption 4 (homogeneity): if Φ(α_2^i, α^{-i}) ≥ Φ(α_1^i, α^{-i}) then u^i(α_2^i, α^{-i}) ≥ u^j(α_1^i, α^{-i}).

- ``"printed"``: with α_1 = α_2 it says that all utilities are identical.
- ``"increase"``: by the sentence that explains it, where i's own move does not lower Φ, no other player's utility
  rises by more than i's.

Assumption 5 ("the potential function Φ is non-decreasing"):

- ``"nothing"``: actions have no order, so that it asks for nothing;
- ``"actions"``: Φ does not fall where an action's number rises;
- ``"nearest equilibrium"``, ``"every maximiser"``, ``"every equilibrium"``: by the sentence that explains it ("when
  action profile is changed such that we move towards the Nash equilibrium, the value of potential function will never
  decrease"), no single deviation towards one of these profiles lowers Φ. The deviator takes its action there; where
  moves go along a line it comes nearer. Near is where few players, or on lines few moves, are away;
- ``"some order"``, ``"players' order"``, ``"every order"``: on every feasible joint transition to no lower Φ, single
  deviations climb in some order, in that of the players' numbers (as the proof writes them), or in every one (ours).

``"every order"`` leaves little. Take a square, that is two moves of two players. If Φ climbs along all ways between
opposite corners, both ways round, then Φ is constant along one side of the square; and where moves connect all
actions, this carries over from square to square. So Φ depends on the action of one player only.

With identical utilities ``"every maximiser"``, and so ``"every equilibrium"``, makes the theorem true. Single moves
towards a maximiser have resistance 0 and end there, from everywhere. From a maximiser, a joint trial t with
Φ(t) < max Φ costs everybody that accepts it. If Φ(t) = max Φ, whoever accepts, the outcome lies between two maximisers,
on a way of single moves towards t along which Φ never falls: it is a maximiser. So without perturbation play ends among
the maximisers, and no other profile is stable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.games import NormalForm, path_moves
from potentia.kernel.arrays import Floats
from potentia.paper.scale import Scale
from potentia.paper.small_games import (
    all_profiles,
    best_places,
    generator,
    resistances,
    solved,
    stable_by,
    stable_places,
)

# the authors' own sentence, which says "the Nash equilibrium": of several, all or the nearest may be meant
EXPLAINED = ("every equilibrium", "nearest equilibrium")
CLIMBS = "Φ climbs in "
TOWARDS = "Φ never falls towards "
WORDS_4 = {"printed": "as printed", "increase": "as explained"}
WORDS_5 = {
    "nothing": "nothing",
    "actions": "Φ rises with the action's number",
    "nearest equilibrium": f"{TOWARDS}the nearest equilibrium",
    "every maximiser": f"{TOWARDS}any maximiser",
    "every equilibrium": f"{TOWARDS}any equilibrium",
    "some order": f"{CLIMBS}some order",
    "players' order": f"{CLIMBS}the players' order",
    "every order": f"{CLIMBS}every order",
}
ASSUMPTION_4, ASSUMPTION_5 = tuple(WORDS_4), tuple(WORDS_5)
# shape, largest Φ, moves along a line
_IDENTICAL: tuple[tuple[tuple[int, ...], int, bool], ...] = (
    *(((2, 2), largest, False) for largest in (1, 2, 3)),
    *(((2, 3), largest, line) for largest in (1, 2) for line in (False, True)),
    *(((2, 2, 2), 1, False), ((3, 3), 1, True), ((3, 3), 2, True)),
)
_CLOSE = 1e-9
_SEED = 1000
_SMALLEST = 100  # games tried, smallest first, for the smallest counterexample

Tables = Floats


@dataclass(frozen=True)
class Games:
    """Many games of one shape: Φ (G, A_1, ..., A_N), utilities (G, N, A_1, ..., A_N)."""

    phi: Tables
    payoffs: Tables
    line: bool  # moves along a line; else complete

    def __len__(self) -> int:
        return len(self.phi)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.phi.shape[1:]

    def chosen(self, which: NDArray[np.bool_]) -> Games:
        return Games(self.phi[which], self.payoffs[which], self.line)

    def game(self, k: int) -> NormalForm:
        moves = [path_moves(size) for size in self.shape] if self.line else None
        return NormalForm(self.payoffs[k], potential=self.phi[k], moves=moves)


def _grids(values: Sequence[float], count: int) -> Tables:
    return np.array(list(itertools.product(values, repeat=count)), np.float64).reshape(-1, count)


def _potentials(shape: Sequence[int], largest: int) -> Tables:
    """Every Φ with whole values from 0 to ``largest``, both of them taken."""
    flat = _grids(range(largest + 1), int(np.prod(shape)))
    flat = flat[(flat.min(axis=1) == 0) & (flat.max(axis=1) == largest)]
    return flat.reshape(-1, *shape)


def identical(shape: Sequence[int], largest: int, line: bool) -> Games:
    """Every game with these potentials as everybody's utility."""
    phi = _potentials(shape, largest)
    return Games(phi, np.repeat(phi[:, None], len(shape), axis=1), line)


def two_players(shape: tuple[int, int], largest: int, line: bool) -> Games:
    """Every two-player game u^i = Φ + d^i(α^{-i}), with d^i whole from -largest to largest and 0 at action 0."""
    phi = _potentials(shape, largest)
    steps = range(-largest, largest + 1)
    first, second = _grids(steps, shape[1] - 1), _grids(steps, shape[0] - 1)
    g, a, b = (k.reshape(-1) for k in np.indices((len(phi), len(first), len(second))))
    d0, d1 = np.pad(first, ((0, 0), (1, 0)))[a], np.pad(second, ((0, 0), (1, 0)))[b]
    payoffs = np.stack([phi[g] + d0[:, None, :], phi[g] + d1[:, :, None]], axis=1)
    return Games(phi[g], payoffs, line)


def pools(homogeneous: str) -> list[Games]:
    """All games that are looked at and satisfy a reading of Assumption 4; Assumptions 1 and 2 hold in all of them."""
    if homogeneous == "printed":
        return [identical(*size) for size in _IDENTICAL]
    found = [two_players(shape, 1, line) for shape, line in (((2, 2), False), ((2, 3), False), ((2, 3), True))]
    found.append(two_players((2, 2), 2, False))
    return [games.chosen(increase(games)) for games in found]


# Assumption 4 --------------------------------------------------------------------------------------------


def increase(games: Games) -> NDArray[np.bool_]:
    """Where i's own move does not lower Φ, no other utility rises by more than u^i."""
    holds = np.ones(len(games), bool)
    players = len(games.shape)
    for i, size in enumerate(games.shape):
        for a, b in itertools.permutations(range(size), 2):
            change = np.take(games.phi, b, i + 1) - np.take(games.phi, a, i + 1)
            rises = np.take(games.payoffs, b, i + 2) - np.take(games.payoffs, a, i + 2)
            for j in range(players):
                fine = (change < -_CLOSE) | (rises[:, j] <= rises[:, i] + _CLOSE)
                holds &= fine.reshape(len(games), -1).all(axis=1)
    return holds


# Assumption 5 --------------------------------------------------------------------------------------------


def satisfied(games: Games, reading: str) -> NDArray[np.bool_]:
    """Which of the games satisfy a reading of Assumption 5."""
    if reading == "nothing":
        return np.ones(len(games), bool)
    if reading == "actions":
        falls = [np.diff(games.phi, axis=i + 1).reshape(len(games), -1).min(axis=1) for i in range(len(games.shape))]
        return np.asarray((np.array(falls) >= -_CLOSE).all(axis=0))
    if reading in ("nearest equilibrium", "every maximiser", "every equilibrium"):
        return _towards(games, reading)
    holds = np.ones(len(games), bool)
    for source, target in _joint_moves(games.shape, games.line):
        begin, end = _at(games.phi, source), _at(games.phi, target)
        climbs = np.array([_climbs(games.phi, source, target, order) for order in _orders(source, target, reading)])
        fine = climbs.any(axis=0) if reading == "some order" else climbs.all(axis=0)
        holds &= (end < begin - _CLOSE) | fine
    return holds


def _targets(games: Games, reading: str) -> NDArray[np.bool_]:
    """Which profiles of each game are equilibria, or maximisers; (G, A_1, ..., A_N)."""
    axes = tuple(range(1, games.phi.ndim))
    if reading == "every maximiser":
        return np.asarray(games.phi >= games.phi.max(axis=axes, keepdims=True) - _CLOSE)
    best = [games.phi >= games.phi.max(axis=axis, keepdims=True) - _CLOSE for axis in axes]
    return np.asarray(np.all(best, axis=0))  # utilities change as Φ does: nobody gains by deviating


def _towards(games: Games, reading: str) -> NDArray[np.bool_]:
    """Whether no single deviation towards the targets lowers Φ, from any profile; of equally near ones, towards all."""
    meant = _targets(games, reading)
    profiles = list(all_profiles(games.shape))

    def away(source: tuple[int, ...], target: tuple[int, ...]) -> int:
        steps = [abs(a - b) for a, b in zip(source, target, strict=True)]
        return sum(steps) if games.line else sum(step > 0 for step in steps)

    holds = np.ones(len(games), bool)
    for source in profiles:
        least = np.min([np.where(_at(meant, p), away(source, p), np.inf) for p in profiles], axis=0)
        for target in profiles:
            asked = _at(meant, target)
            if reading == "nearest equilibrium":
                asked = asked & (away(source, target) <= least)
            for i, (a, b) in enumerate(zip(source, target, strict=True)):
                if a != b:
                    step = a + (1 if b > a else -1) if games.line else b
                    change = _at(games.phi, (*source[:i], step, *source[i + 1 :])) - _at(games.phi, source)
                    holds &= ~asked | (change >= -_CLOSE)
    return holds


def _joint_moves(shape: Sequence[int], line: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for source, target in itertools.permutations(all_profiles(shape), 2):
        steps = [abs(a - b) for a, b in zip(source, target, strict=True)]
        if sum(step > 0 for step in steps) >= 2 and (not line or max(steps) == 1):
            yield source, target


def _orders(source: tuple[int, ...], target: tuple[int, ...], reading: str) -> list[tuple[int, ...]]:
    moving = tuple(i for i, (a, b) in enumerate(zip(source, target, strict=True)) if a != b)
    return [moving] if reading == "players' order" else list(itertools.permutations(moving))


def _climbs(phi: Tables, source: tuple[int, ...], target: tuple[int, ...], order: Sequence[int]) -> NDArray[np.bool_]:
    at, values = list(source), [_at(phi, source)]
    for player in order:
        at[player] = target[player]
        values.append(_at(phi, at))
    return np.asarray((np.diff(np.array(values), axis=0) >= -_CLOSE).all(axis=0))


def _at(table: NDArray[Any], profile: Sequence[int]) -> NDArray[Any]:
    """Φ, or something else, of every game at one profile."""
    place: tuple[Any, ...] = (slice(None), *profile)
    return table[place]


def one_player_matters(games: Games) -> NDArray[np.bool_]:
    """In which games Φ depends on the action of one player only, or of none."""
    spans = [np.ptp(games.phi, axis=i + 1).reshape(len(games), -1) for i in range(len(games.shape))]
    return np.sum([span.max(axis=1, initial=0.0) > _CLOSE for span in spans], axis=0) <= 1


# The theorem ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """One reading of Assumptions 4 and 5: how many small games satisfy it, and whether the theorem is kept."""

    homogeneous: str
    monotone: str
    games: int  # that satisfy it, of all that were listed
    looked_at: int
    kept: int
    by_eq_12: int | None  # kept if resistances were those of Eq. 12; looked at where nothing else is asked for
    one_player: int  # games of ``games`` in which Φ depends on one player's action only
    counterexample: NormalForm | None  # the smallest

    @property
    def holds(self) -> bool:
        """Whether every game that was looked at keeps the theorem."""
        return self.kept == self.looked_at


def only_maximisers(game: NormalForm, phi: np.ndarray[Any, Any]) -> bool:
    """What the general theorem promises."""
    return stable_places(game) <= best_places(phi)


def _smallest_first(lists: Sequence[Games]) -> list[tuple[int, int]]:
    """Pairs of a list and a place in it: by number of profiles, moves, range of utilities, sum."""
    keys = []
    for pool, games in enumerate(lists):
        flat = games.payoffs.reshape(len(games), -1)
        ones = np.ones(len(games))
        size, line = float(np.prod(games.shape)), float(games.line)
        spread = flat.max(axis=1, initial=-np.inf) - flat.min(axis=1, initial=np.inf)
        keys.append([np.arange(len(games)), pool * ones, np.abs(flat).sum(axis=1), spread, line * ones, size * ones])
    table = np.concatenate([np.array(rows) for rows in keys], axis=1)
    return [(int(pool), int(k)) for k, pool in table[:2, np.lexsort(table)].T]


def read(homogeneous: str, monotone: str, scale: Scale, lists: list[Games]) -> Reading:
    """Look at ``scale.games`` of the small games that satisfy both readings, or at all of them."""
    fitting = [games.chosen(satisfied(games, monotone)) for games in lists]
    places = _smallest_first(fitting)
    chosen = list(range(len(places)))
    if len(places) > scale.games:
        chosen = sorted(generator(_SEED + scale.seed).choice(len(places), scale.games, replace=False).tolist())
    by_eq_12, failing = 0, []
    for place in chosen:
        pool, k = places[place]
        game, best = fitting[pool].game(k), best_places(fitting[pool].phi[k])
        found = solved(game)
        if monotone == "nothing":
            table, lemma, _ = resistances(found)
            by_eq_12 += stable_by(table, lemma, game.num_profiles) <= best
        if not set(np.flatnonzero(found.stable).tolist()) <= best:
            failing.append(place)
    first = None
    if failing:
        ahead = [*places[: min(_SMALLEST, failing[0])], places[failing[0]]]
        smallest = ((fitting[pool].game(k), fitting[pool].phi[k]) for pool, k in ahead)
        first = next(game for game, phi in smallest if not only_maximisers(game, phi))
    return Reading(
        homogeneous,
        monotone,
        games=len(places),
        looked_at=len(chosen),
        kept=len(chosen) - len(failing),
        by_eq_12=by_eq_12 if monotone == "nothing" else None,
        one_player=sum(int(one_player_matters(games).sum()) for games in fitting),
        counterexample=first,
    )


def without_ties(scale: Scale) -> tuple[int, int, NormalForm | None]:
    """Identical utilities, no two profiles of equal Φ, 3×3 with moves along a line: kept, looked at, the first to fail.

    Most of the small counterexamples live on ties; these do not.
    """
    kept, first = 0, None
    for k in range(scale.games):
        phi = generator(_SEED + scale.seed + k).permutation(9).astype(float).reshape(3, 3)
        game = NormalForm([phi, phi], potential=phi, moves=[path_moves(3)] * 2)
        good = only_maximisers(game, phi)
        kept += good
        if not good and first is None:
            first = game
    return kept, scale.games, first
