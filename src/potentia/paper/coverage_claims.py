"""The coverage-potential lemma (Eq. 46) and "u^i is separable" (section 5), on small maps.

With u^i = C^i - Σ_j overlap(i, j) - K·distance (Eq. 45, flags off), Φ = Σu counts each overlap twice, u^i once. What is
exact is Φ = Σ C^i - Σ_{i<j} overlap(i, j), for K > 0 less everybody's cost of moving from a fixed previous profile.

Flags do not mend it. Let each robot's flag lie where it was before: ϱ^i = 0 on the cells flagged by others. Where no ϱ
changes, Σu counts overlaps twice as before; and where one does, the overlap of i and j counts for one of them and not
for the other, so that in general there is no exact potential at all: around a cycle of four single deviations the
deviators' changes of utility do not sum to 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis.hypotheses import no_movement_cost
from potentia.analysis.potentials import separable_of
from potentia.games import Coverage, World
from potentia.kernel.arrays import Floats
from potentia.paper.claims import Judged, claim, share, whether
from potentia.paper.scale import Scale
from potentia.paper.small_games import Profile, generator, in_words, number, payoffs_of, table_in_words
from potentia.rules.signal import SignalRevision
from potentia.statistics.estimates import Estimate, share_of

CLOSE = 1e-12
_COST = 0.1
_PLACES = (((1, 4), 2, 1.0), ((1, 4), 3, 1.0), ((2, 3), 2, 1.0), ((2, 3), 2, 1.5), ((3, 3), 2, 1.5))
_FEWEST = 10  # maps, at the least
_K = 3e-5  # the paper's
_FLAGGED = (1.0, 2.0, 3.0, 1.0)  # worths of a strip on which fixed flags leave no potential

Tables = Floats


def maps(count: int, cost: float = 0.0, seed: int = 0) -> list[Coverage]:
    """Robots on small grids with random worths."""
    out = []
    for k in range(count):
        shape, robots, delta = _PLACES[k % len(_PLACES)]
        worth = generator(seed + k).random(shape)
        out.append(Coverage(World(worth), robots, delta, K=cost, flags=False))
    return out


def table_of(game: Coverage, of: Any) -> Tables:
    """A function of the profile as an array (A_1, ..., A_N)."""
    return np.array([of(p) for p in np.ndindex(*game.num_actions)]).reshape(game.num_actions)


def largest_gap(payoffs: Tables, phi: Tables) -> float:
    """The largest |Δu^i - ΔΦ| of a single deviation."""
    return max(float(np.ptp(payoffs[i] - phi, axis=i).max()) for i in range(len(payoffs)))


def at_cost(game: Coverage, previous: Profile) -> tuple[Tables, Tables]:
    """Eq. 45 with K, for a fixed previous profile: utilities, and everybody's cost of coming from there."""
    costs = np.zeros((game.num_players, *game.num_actions))
    for i, start in enumerate(previous):
        costs[i] += _along(i, game.movement_cost[i] * _distances(game, start), game)
    return payoffs_of(game) - costs, costs


def _distances(game: Coverage, start: int) -> Tables:
    """Of every cell from one of them."""
    cells = game.positions(np.arange(game.num_actions[0]))
    return np.hypot(*(cells - cells[start]).T)


def _along(i: int, values: Tables, game: Coverage) -> Tables:
    """A function of robot i's action as one of the profile."""
    return values.reshape([-1 if k == i else 1 for k in range(game.num_players)])


def smallest_overlap() -> tuple[Coverage, Tables] | None:
    """The shortest strip with two robots, worths 0 and 1, on which Σu is no potential."""
    for cells in range(2, 5):
        for delta in (0.0, 1.0):
            for worth in itertools.product((0.0, 1.0), repeat=cells):
                game = Coverage(World(np.array([worth])), 2, delta, flags=False)
                payoffs = payoffs_of(game)
                if largest_gap(payoffs, payoffs.sum(axis=0)) > CLOSE:
                    return game, payoffs
    return None


def with_flags(game: Coverage, previous: Profile, cost: float, flags: bool = True) -> tuple[Tables, Tables]:
    """Eq. 45 with K and a flag where each robot was before: utilities, and everybody's ϱ at its own cell (N, A)."""
    seen = np.ones((game.num_players, game.num_actions[0]))
    out = payoffs_of(game)
    for i, start in enumerate(previous):
        if flags:
            seen[i, [cell for j, cell in enumerate(previous) if j != i]] = 0.0
        out[i] = _along(i, seen[i], game) * out[i] - _along(i, cost * _distances(game, start), game)
    return out, seen


def largest_cycle(payoffs: Tables) -> float:
    """Two players: the largest sum of the deviators' changes of utility around four profiles; 0 with a potential."""
    rest = payoffs[0] - payoffs[1]
    around = rest[:, None, :, None] - rest[None, :, :, None] - rest[:, None, None, :] + rest[None, :, None, :]
    return float(np.abs(around).max())


@dataclass(frozen=True)
class Flagged:
    """A single deviation, with K, δ > 0 and flags that all robots keep clear of."""

    game: Coverage
    previous: Profile
    player: int
    first: Profile
    second: Profile
    own: float  # Δu^i
    all: float  # ΔΣu


def smallest_flagged() -> Flagged | None:
    """The shortest strip, δ = 1, on which Σu is no potential although every ϱ is 1 at both profiles."""
    for cells in range(2, 7):
        for worth in itertools.product((0.0, 1.0), repeat=cells):
            game = Coverage(World(np.array([worth])), 2, 1.0, K=_K, flags=False)
            for previous in itertools.permutations(range(cells), 2):
                payoffs, seen = with_flags(game, previous, _K)
                phi = payoffs.sum(axis=0)
                for i, first, second in _steps_from(previous, cells):
                    clear = all(seen[j, p[j]] == 1.0 for j in range(2) for p in (first, second))
                    own = float(payoffs[(i, *second)] - payoffs[(i, *first)])
                    total = float(phi[second] - phi[first])
                    if clear and abs(own - total) > 0.5:
                        return Flagged(game, previous, i, first, second, own, total)
    return None


def _steps_from(previous: Profile, cells: int) -> Iterator[tuple[int, Profile, Profile]]:
    """Single deviations between profiles that two robots can reach in a step, from staying where they were first."""
    near = [[a for a in (start, start - 1, start + 1) if 0 <= a < cells] for start in previous]
    for first in itertools.product(*near):
        for i in range(2):
            for action in near[i]:
                if action != first[i]:
                    yield i, first, (*first[:i], action, *first[i + 1 :])


def _worst_flags() -> tuple[float, float]:
    """The largest cycle on the strip of ``_FLAGGED``, δ = 1, over all places of the flags; and without flags."""
    game = Coverage(World(np.array([_FLAGGED])), 2, 1.0, flags=False)
    places = list(itertools.permutations(range(len(_FLAGGED)), 2))
    with_them, without = (
        max(largest_cycle(with_flags(game, previous, 0.0, flags)[0]) for previous in places) for flags in (True, False)
    )
    return with_them, without


def _exact_on(games: Sequence[Coverage], of: Callable[[Coverage], tuple[Tables, Tables]]) -> tuple[Estimate, float]:
    """On how many maps the second table is an exact potential of the first, and the largest gap."""
    gaps = [largest_gap(*of(game)) for game in games]
    return share([gap <= CLOSE for gap in gaps]), max(gaps)


def _corrected(game: Coverage) -> Tables:
    return table_of(game, game.corrected_potential)


def _dear(game: Coverage) -> tuple[Tables, Tables]:
    return at_cost(game, (0,) * game.num_players)


@claim(
    "coverage-potential",
    "The coverage game is a potential game with Φ = Σ u^i",
    "coverage-potential lemma, Eq. 45–46",
)
def coverage_potential(scale: Scale) -> Judged:
    """Eq. 46 as claimed, and corrected."""
    games = maps(max(_FEWEST, scale.games // 10), seed=scale.seed)
    costly = maps(_FEWEST, _COST, scale.seed)
    claimed, worst = _exact_on(games, lambda game: (payoffs_of(game), table_of(game, game.claimed_potential)))
    exact, corrected = _exact_on(games, lambda game: (payoffs_of(game), _corrected(game)))
    dear_claimed, _ = _exact_on(costly, lambda game: (_dear(game)[0], _dear(game)[0].sum(axis=0)))
    _, dear = _exact_on(costly, lambda game: (_dear(game)[0], _corrected(game) - _dear(game)[1].sum(axis=0)))
    alone = share([bool(no_movement_cost(game).holds) for game in costly])
    found, flagged = smallest_overlap(), smallest_flagged()
    (cycle, unflagged), strip = _worst_flags(), table_in_words(np.array(_FLAGGED))
    held, right = round(claimed.mean * len(games)), corrected <= CLOSE and dear <= CLOSE
    fixed, once = f"K = {_COST:g}, previous profile fixed", "each overlap once"
    return Judged(
        {
            "small maps on which Σu is an exact potential, K = 0": claimed,
            "largest |Δu − ΔΣu| of a single deviation": worst,
            "small maps on which ΣC less each overlap once is exact, K = 0": exact,
            f"largest |Δu − ΔΦ| of a single deviation, {once}": corrected,
            f"small maps on which Σu is an exact potential, {fixed}": dear_claimed,
            f"largest |Δu − ΔΦ|, {once}, {fixed}": dear,
            f"small maps with a potential of the profile alone, K = {_COST:g}": alone,
            f"fixed flags, worths {strip}, δ = 1: largest sum around four profiles": cycle,
            "the same without flags, 0 where there is a potential": unflagged,
        },
        *whether(
            held == len(games) and found is None,
            f"Σu is exact on all {len(games)} small maps",
            f"Σu counts overlaps twice: it is a potential on {held or 'none'} of {len(games)} small maps"
            + ("; counting them once makes it one on all, without flags" if right else ""),
        ),
        [
            f"Where flags are fixed there is in general no exact potential at all: on cells worth {strip}, δ = 1, "
            f"changes of utility around four profiles sum to {number(cycle)}, without flags to {number(unflagged)}"
        ]
        * (cycle > CLOSE),
        None if found is None else _overlap_words(*found) + _flagged_example(flagged),
        ({} if found is None else _overlap_data(*found)) | {"flagged": _flagged_data(flagged, cycle)},
    )


def _flagged_example(found: Flagged | None) -> str:
    if found is None:
        return ""
    return (
        f" With K = {_K:g}, too, and flags on the cells {in_words([found.previous])} where the robots were, on "
        f"{_strip(found.game)}: from {in_words([found.first])} to {in_words([found.second])}, no flag being met, "
        f"robot {found.player}'s utility changes by {number(found.own)}, Σu by {number(found.all)}."
    )


def _flagged_data(found: Flagged | None, cycle: float) -> dict[str, Any] | None:
    if found is None:
        return None
    out: dict[str, Any] = {"worth": found.game.world.worth.tolist(), "delta": 1.0, "K": _K, "player": found.player}
    out |= {"previous": list(found.previous), "first": list(found.first), "second": list(found.second)}
    return out | {"own": found.own, "all": found.all, "strip": list(_FLAGGED), "cycle": cycle}


def _worst_deviation(payoffs: Tables, phi: Tables) -> tuple[int, Profile, Profile]:
    """The player and the two profiles with the largest |Δu^i - ΔΦ|."""
    every = (
        (i, first, (*first[:i], action, *first[i + 1 :]))
        for i in range(len(payoffs))
        for first in np.ndindex(*phi.shape)
        for action in range(phi.shape[i])
    )
    rest = payoffs - phi
    return max(every, key=lambda one: abs(float(rest[(one[0], *one[2])] - rest[(one[0], *one[1])])))


def _strip(game: Coverage) -> str:
    return f"a strip of cells worth {table_in_words(game.world.worth[0])}, δ = {number(float(game.delta[0]))}"


def _overlap_words(game: Coverage, payoffs: Tables) -> str:
    phi = payoffs.sum(axis=0)
    i, first, second = _worst_deviation(payoffs, phi)
    return (
        f"Two robots on {_strip(game)}, K = 0. "
        f"From {in_words([first])} to {in_words([second])} robot {i} changes its utility from "
        f"{number(float(payoffs[(i, *first)]))} to {number(float(payoffs[(i, *second)]))}, Σu goes from "
        f"{number(float(phi[first]))} to {number(float(phi[second]))}."
    )


def _overlap_data(game: Coverage, payoffs: Tables) -> dict[str, Any]:
    i, first, second = _worst_deviation(payoffs, payoffs.sum(axis=0))
    return {
        "worth": game.world.worth.tolist(),
        "robots": game.num_players,
        "delta": float(game.delta[0]),
        "payoffs": payoffs.tolist(),
        "moves": None,
        "player": i,
        "first": list(first),
        "second": list(second),
    }


@claim(
    "coverage-separable",
    "In the coverage game u^i depends on robot i's action only: it is separable",
    "section 5.1, after Eq. 45",
)
def coverage_separable(scale: Scale) -> Judged:
    """Section 5 calls u^i separable; it subtracts what others cover."""
    games = maps(max(_FEWEST, scale.games // 10), seed=scale.seed)
    held = sum(bool(separable_of(payoffs_of(game))) for game in games)
    wakes = SignalRevision(a1=1.0, a2=0.5, a3=0.1).probability(0.0, 0.0)
    smallest, said, details = smallest_overlap(), None, {}
    if smallest is not None:
        found = separable_of(smallest[1])
        if not found:
            said, details = f"Two robots on {_strip(smallest[0])}: {found}.", _overlap_data(*smallest)
    reason = (
        f"Overlaps depend on where the others are: separable on {held} of {len(games)} small maps, so that the "
        "separable proposition does not apply"
    )
    return Judged(
        {
            "small maps with separable utilities": share_of(held, len(games)),
            "largest revision probability by Eq. 53 with the paper's a1 = 1, at F = G = 0": wakes,
        },
        *whether(held == len(games) and said is None, reason, reason),
        [
            "Assumption 3, said to hold for the coverage game too, does not: with a1 = 1, Eq. 53 gives a robot with "
            f"neither signal nor gradient the revision probability {number(wakes)}, which is not below 1"
        ]
        * (wakes >= 1.0),
        said,
        details,
    )
