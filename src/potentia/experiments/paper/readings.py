"""How Assumptions 4 and 5 of the general theorem may be read, and all small games that satisfy each reading.

Assumption 4 (homogeneity): if Φ(α_2^i, α^{-i}) ≥ Φ(α_1^i, α^{-i}) then u^i(α_2^i, α^{-i}) ≥ u^j(α_1^i, α^{-i}).

- ``"printed"``: with α_1 = α_2 it says that all utilities are identical.
- ``"increase"``: by the sentence that explains it, where i's own move does not lower Φ, no other player's utility
  rises by more than i's.

Assumption 5 ("the potential function Φ is non-decreasing"):

- ``"nothing"``: actions have no order, so that it asks for nothing;
- ``"actions"``: Φ does not fall where an action's number rises;
- ``"some order"``, ``"players' order"``, ``"every order"``: on every feasible joint transition to no lower Φ, single
  deviations climb in some order, in that of the players' numbers (as the proof writes them), or in every one (ours).

The last leaves little. Take a square, that is two moves of two players. If Φ climbs along all ways between
opposite corners, both ways round, then Φ is constant along one side of the square; and where moves connect all
actions, this carries over from square to square. So Φ depends on the action of one player only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.games import NormalForm, path_moves

ASSUMPTION_4 = ("printed", "increase")
ASSUMPTION_5 = ("nothing", "actions", "some order", "players' order", "every order")
# the same in words
CLIMBS = "Φ climbs in "
WORDS_4 = {"printed": "as printed", "increase": "as explained"}
WORDS_5 = {
    "nothing": "nothing",
    "actions": "Φ rises with the action's number",
    "some order": f"{CLIMBS}some order",
    "players' order": f"{CLIMBS}the players' order",
    "every order": f"{CLIMBS}every order",
}
_CLOSE = 1e-9

Tables = NDArray[np.float64]


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
        sizes: list[tuple[tuple[int, ...], int, bool]] = [
            ((2, 2), 1, False),
            ((2, 2), 2, False),
            ((2, 2), 3, False),
            ((2, 3), 1, False),
            ((2, 3), 1, True),
        ]
        sizes += [((2, 3), 2, False), ((2, 3), 2, True), ((2, 2, 2), 1, False), ((3, 3), 1, True)]
        return [identical(shape, largest, line) for shape, largest, line in sizes]
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
    holds = np.ones(len(games), bool)
    for source, target in _joint_moves(games.shape, games.line):
        begin, end = _at(games.phi, source), _at(games.phi, target)
        climbs = np.array([_climbs(games.phi, source, target, order) for order in _orders(source, target, reading)])
        fine = climbs.any(axis=0) if reading == "some order" else climbs.all(axis=0)
        holds &= (end < begin - _CLOSE) | fine
    return holds


def _joint_moves(shape: Sequence[int], line: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    profiles = list(itertools.product(*(range(size) for size in shape)))
    for source, target in itertools.permutations(profiles, 2):
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


def _at(phi: Tables, profile: Sequence[int]) -> Tables:
    """Φ of every game at one profile."""
    place: tuple[Any, ...] = (slice(None), *profile)
    return phi[place]


def one_player_matters(games: Games) -> NDArray[np.bool_]:
    """In which games Φ depends on the action of one player only, or of none."""
    varies = [
        np.ptp(games.phi, axis=i + 1).reshape(len(games), -1).max(axis=1, initial=0.0) > _CLOSE
        for i in range(len(games.shape))
    ]
    return np.sum(varies, axis=0) <= 1
