"""The coverage-potential lemma (Eq. 46) and "u^i is separable" (section 5), on small maps.

With u^i = C^i - Σ_j overlap(i, j) - K·distance (Eq. 45, flags off), Φ = Σu counts each overlap twice, u^i once. What is
exact is Φ = Σ C^i - Σ_{i<j} overlap(i, j), for K > 0 less everybody's cost of moving from a fixed previous profile.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.analysis.hypotheses import no_movement_cost
from potentia.analysis.potential import separable_of
from potentia.experiments.equilibrium_study import share
from potentia.experiments.paper.claims import NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.experiments.paper.scale import Scale
from potentia.experiments.paper.small_games import in_words, number, payoffs_of, table_in_words
from potentia.games import Coverage, World

CLOSE = 1e-12
_COST = 0.1
_PLACES = (((1, 4), 2, 1.0), ((1, 4), 3, 1.0), ((2, 3), 2, 1.0), ((2, 3), 2, 1.5), ((3, 3), 2, 1.5))
_FEWEST = 10  # maps, at the least

Tables = NDArray[np.float64]


def maps(count: int, cost: float = 0.0) -> list[Coverage]:
    """Robots on small grids with random worths."""
    out = []
    for k in range(count):
        shape, robots, delta = _PLACES[k % len(_PLACES)]
        worth = np.random.Generator(np.random.PCG64(k)).random(shape)
        out.append(Coverage(World(worth), robots, delta, K=cost, flags=False))
    return out


def table_of(game: Coverage, of: Any) -> Tables:
    """A function of the profile as an array (A_1, ..., A_N)."""
    return np.array([of(p) for p in np.ndindex(*game.num_actions)]).reshape(game.num_actions)


def largest_gap(payoffs: Tables, phi: Tables) -> float:
    """The largest |Δu^i - ΔΦ| of a single deviation."""
    return max(float(np.ptp(payoffs[i] - phi, axis=i).max()) for i in range(len(payoffs)))


def at_cost(game: Coverage, previous: tuple[int, ...]) -> tuple[Tables, Tables]:
    """Eq. 45 with K, for a fixed previous profile: utilities, and everybody's cost of coming from there."""
    cells = game.positions(np.arange(game.num_actions[0]))
    costs = np.zeros((game.num_players, *game.num_actions))
    for i, start in enumerate(previous):
        paid = game.movement_cost[i] * np.hypot(*(cells - cells[start]).T)
        costs[i] += paid.reshape([-1 if k == i else 1 for k in range(game.num_players)])
    return payoffs_of(game) - costs, costs


def smallest_overlap() -> tuple[Coverage, Tables] | None:
    """The shortest strip with two robots, worths 0 and 1, on which Σu is no potential."""
    for cells in range(1, 5):
        for delta in (0.0, 1.0):
            for worth in itertools.product((0.0, 1.0), repeat=cells):
                if cells < 2:
                    continue
                game = Coverage(World(np.array([worth])), 2, delta, flags=False)
                payoffs = payoffs_of(game)
                if largest_gap(payoffs, payoffs.sum(axis=0)) > CLOSE:
                    return game, payoffs
    return None


def coverage_potential(scale: Scale) -> Claim:
    """Eq. 46 as claimed, and corrected."""
    games = maps(max(_FEWEST, scale.games // 10))
    claimed = exact = 0
    worst = corrected = 0.0
    for game in games:
        payoffs = payoffs_of(game)
        gap = largest_gap(payoffs, table_of(game, game.claimed_potential))
        claimed += gap <= CLOSE
        worst = max(worst, gap)
        gap = largest_gap(payoffs, table_of(game, game.corrected_potential))
        exact += gap <= CLOSE
        corrected = max(corrected, gap)
    dear, dear_claimed, alone = 0.0, 0, 0
    for game in maps(_FEWEST, _COST):
        payoffs, costs = at_cost(game, tuple(0 for _ in game.num_actions))
        dear = max(dear, largest_gap(payoffs, table_of(game, game.corrected_potential) - costs.sum(axis=0)))
        dear_claimed += largest_gap(payoffs, payoffs.sum(axis=0)) <= CLOSE
        alone += bool(no_movement_cost(game).holds)
    found = smallest_overlap()
    broken = claimed < len(games) or found is not None
    right = corrected <= CLOSE and dear <= CLOSE
    return Claim(
        name="coverage-potential",
        kind="theory",
        title="The coverage game is a potential game with Φ = Σ u^i",
        where="coverage-potential lemma, Eq. 45–46",
        measured=(
            Measurement("small maps on which Σu is an exact potential, K = 0", share(claimed, len(games))),
            Measurement("largest |Δu − ΔΣu| of a single deviation", worst),
            Measurement("small maps on which ΣC less each overlap once is exact, K = 0", share(exact, len(games))),
            Measurement("largest |Δu − ΔΦ| of a single deviation, each overlap once", corrected),
            Measurement(
                f"small maps on which Σu is an exact potential, K = {_COST:g}, previous profile fixed",
                share(dear_claimed, _FEWEST),
            ),
            Measurement(f"largest |Δu − ΔΦ|, each overlap once, K = {_COST:g}, previous profile fixed", dear),
            Measurement(f"small maps with a potential of the profile alone, K = {_COST:g}", share(alone, _FEWEST)),
        ),
        verdict=NOT_SUPPORTED if broken else SUPPORTED,
        reason=(
            f"Σu counts overlaps twice: it is exact on {claimed} of {len(games)} small maps"
            + ("; counting them once makes it exact on all, without flags" if right else "")
            if broken
            else f"Σu is exact on all {len(games)} small maps"
        ),
        counterexample=None if found is None else _overlap_words(*found),
        details={} if found is None else _overlap_data(*found),
    )


def _worst_deviation(payoffs: Tables, phi: Tables) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The player and the two profiles with the largest |Δu^i - ΔΦ|."""
    found = []
    for i in range(len(payoffs)):
        rest = payoffs[i] - phi
        for first in np.ndindex(*phi.shape):
            for action in range(phi.shape[i]):
                second = (*first[:i], action, *first[i + 1 :])
                found.append((abs(float(rest[second] - rest[first])), i, first, second))
    best = max(found, key=lambda one: one[0])
    return best[1], best[2], best[3]


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


def coverage_separable(scale: Scale) -> Claim:
    """Section 5 calls u^i separable; it subtracts what others cover."""
    games = maps(max(_FEWEST, scale.games // 10))
    held, said, details = 0, None, {}
    for game in games:
        payoffs = payoffs_of(game)
        found = separable_of(payoffs)
        held += bool(found)
    smallest = smallest_overlap()
    if smallest is not None:
        game, payoffs = smallest
        found = separable_of(payoffs)
        if not found:
            said = f"Two robots on {_strip(game)}: {found}."
            details = _overlap_data(game, payoffs)
    return Claim(
        name="coverage-separable",
        kind="theory",
        title="In the coverage game u^i depends on robot i's action only: it is separable",
        where="section 5.1, after Eq. 45",
        measured=(Measurement("small maps with separable utilities", share(held, len(games))),),
        verdict=SUPPORTED if held == len(games) and said is None else NOT_SUPPORTED,
        reason=f"Overlaps depend on where the others are: separable on {held} of {len(games)} small maps, so that the "
        "separable proposition does not apply",
        counterexample=said,
        details=details,
    )
