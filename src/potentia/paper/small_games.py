"""Small games written out as plain data, and what P-SBLLL with joint trials can do at one step of them.

A statement is checked on many games; where it fails, the smallest game found is kept as nested lists, so that a
reader can build it again. The step of P-SBLLL is written here once more, from Eq. 10-11 alone: who wakes, what they
try, who accepts. Its cheapest realisation shows in words what the exact analysis says in numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.analysis import Stability, stability
from potentia.analysis.arborescence import contraction
from potentia.analysis.chains.transitions import Terms
from potentia.analysis.stochastic_stability import Resistances
from potentia.analysis.units import maximisers
from potentia.games import Game, NormalForm
from potentia.kernel.arrays import Floats
from potentia.kernel.protocol import Complete
from potentia.paper.claims import listed

BLLL: dict[str, Any] = {"rule": "blll", "tau": 1.0}
JOINT: dict[str, Any] = {"rule": "p-sblll", "tau": 1.0, "revision": 0.3}  # as in Eq. 10-11; stability is about τ → 0
SHAPE = (2, 3, 2)  # actions of each player in random games
TIE = 1e-9

Profile = tuple[int, ...]


def generator(seed: int) -> np.random.Generator:
    """The one that games are drawn from."""
    return np.random.Generator(np.random.PCG64(seed))


def all_profiles(sizes: Sequence[int]) -> Iterator[Profile]:
    """In C order."""
    return itertools.product(*(range(size) for size in sizes))


def payoffs_of(game: Game) -> Floats:
    """(N, A_1, ..., A_N)."""
    table = [[game.utility(i, p) for p in all_profiles(game.num_actions)] for i in range(game.num_players)]
    return np.array(table).reshape(game.num_players, *game.num_actions)


def potentials_of(game: Game) -> Floats:
    """Φ of every profile, in C order."""
    return np.array([game.potential(p) for p in all_profiles(game.num_actions)])


def plain(game: Game, **beside: Any) -> dict[str, Any]:
    """The game as nested lists: payoffs, and for constrained moves the actions reachable from each action."""
    moves = None
    if not isinstance(game.moves, Complete):
        moves = [[game.reachable(i, a) for a in range(size)] for i, size in enumerate(game.num_actions)]
    return {"payoffs": payoffs_of(game).tolist(), "moves": moves, **beside}


def rebuilt(data: dict[str, Any]) -> NormalForm:
    """The game of :func:`plain`."""
    return NormalForm(data["payoffs"], moves=data["moves"])


def profiles_at(places: Iterable[int], sizes: Sequence[int]) -> list[list[int]]:
    """Numbers of profiles as profiles."""
    return [[int(a) for a in np.unravel_index(int(k), tuple(sizes))] for k in places]


def in_words(profiles: Iterable[Sequence[int]]) -> str:
    """(0, 1) and (1, 0)."""
    return listed([f"({', '.join(map(str, profile))})" for profile in profiles])


def number(x: float) -> str:
    """A number as people write it."""
    return f"{x:.6g}"


def in_percent(part: float) -> str:
    """A share as people write it; only what is nothing or all is written so."""
    shown = f"{100 * part:.0f}"
    if shown in ("0", "100") and part not in (0.0, 1.0):
        shown = f"{100 * part:.2g}" if part < 0.5 else "over 99"
    return f"{shown} %"


def table_in_words(table: Floats) -> str:
    """[[1, 0], [0, 1]]."""
    if table.ndim == 1:
        return "[" + ", ".join(number(float(x)) for x in table) + "]"
    return "[" + ", ".join(table_in_words(part) for part in table) + "]"


def best_places(phi: Floats) -> set[int]:
    """The numbers of the profiles that maximise Φ."""
    return set(maximisers(phi).tolist())


def solved(game: Game, rule: dict[str, Any] = JOINT) -> Stability:
    """Which profiles are stochastically stable, from least trees, no theorem taken for granted."""
    return stability(game, rule, method="contraction")


def resistances(found: Stability) -> tuple[Resistances, Floats, NDArray[np.bool_]]:
    """Of every transition of P-SBLLL with joint trials; Eq. 12's; and which transitions these are wrong for."""
    table = found.resistances()
    assert table.lemma is not None
    assert table.differs is not None
    return table, table.lemma, table.differs


def stable_places(game: Game, rule: dict[str, Any] = JOINT) -> set[int]:
    """The numbers of the stochastically stable profiles."""
    return set(np.flatnonzero(solved(game, rule).stable).tolist())


def stable_by(table: Resistances, resistance: Floats, size: int) -> set[int]:
    """The profiles that would be stable if these were the resistances of the same transitions."""
    ptr = np.concatenate([[0], np.cumsum(np.bincount(table.sources, minlength=size))]).astype(np.int64)
    tie = TIE * max(1.0, float(resistance.max(initial=0.0)))
    ones = np.ones(resistance.size)
    found = contraction(Terms(ptr, table.targets, ones, np.ascontiguousarray(resistance)), tie)
    assert found is not None  # moves connect all profiles
    return set(np.flatnonzero(found.excess <= size * tie).tolist())


# One step of P-SBLLL with joint trials -------------------------------------------------------------------


@dataclass(frozen=True)
class Realisation:
    """One way in which a transition can happen: who wakes, the joint trial, and what it costs."""

    resistance: float
    awake: tuple[int, ...]
    trial: Profile


def deviators(source: Profile, target: Profile) -> list[int]:
    """The players whose action changes."""
    return [i for i, (a, b) in enumerate(zip(source, target, strict=True)) if a != b]


def eq_12(game: Game, source: Profile, target: Profile) -> float:
    """The resistance lemma: Σ over deviators of max{u(α_1), u(α_2)} - u(α_2)."""
    return math.fsum(max(0.0, game.utility(i, source) - game.utility(i, target)) for i in deviators(source, target))


def cheapest(game: Game, source: Profile, target: Profile) -> Realisation:
    """The least of all realisations of a feasible transition.

    Deviators must wake and try their new action. Anybody else may sleep, or wake, try something and stay; then it is
    part of the joint trial that everybody awake compares the present with. Accepting costs what it loses, staying
    what accepting would gain.
    """
    moving = deviators(source, target)
    choices: list[list[int | None]] = [
        [target[i]] if i in moving else [None, *game.reachable(i, source[i])] for i in range(game.num_players)
    ]
    found = []
    for tried in itertools.product(*choices):
        trial = tuple(now if action is None else action for now, action in zip(source, tried, strict=True))
        awake = tuple(i for i, action in enumerate(tried) if action is not None)
        gains = {i: game.utility(i, trial) - game.utility(i, source) for i in awake}
        cost = math.fsum(max(0.0, -gains[i] if i in moving else gains[i]) for i in awake)
        found.append(Realisation(cost, awake, trial))
    return min(found, key=lambda one: (one.resistance, len(one.awake)))


def feasible(game: Game) -> Iterator[tuple[Profile, Profile]]:
    """Every transition between different profiles that moves allow."""
    for source in all_profiles(game.num_actions):
        options = [[a, *game.reachable(i, a)] for i, a in enumerate(source)]
        yield from ((source, target) for target in itertools.product(*options) if target != source)
