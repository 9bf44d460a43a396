"""Where discounted score dynamics rest, and how the flow looks around a strategy.

With T > 0 the stages rest at p_1 = u/T, p_k = p_{k-1}/T: x = SBR(u(x)/T^n), a perturbed Nash equilibrium, for Gibbs
the logit equilibrium at temperature τ T^n. Around it dp_1' = M dp_n - T dp_1 and dp_k' = dp_{k-1} - T dp_k with
M = (∂u/∂x) dSBR, so the growth rates λ of a small disturbance solve (λ + T)^n = ν, ν an eigenvalue of M. The largest
real part decides: below 0 the rest point attracts. Adding a constant to a player's scores changes no strategy and
has ν = 0; as u^i does not depend on x^i the trace of M is 0, so some ν has a real part of at least 0 anyway and those
directions never decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.analysis.dynamics import Flow, Strategies
from potentia.analysis.equilibria import pure_nash
from potentia.analysis.tables import profile_at
from potentia.errors import InvalidInput, InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import frozen
from potentia.kernel.numbers import is_integer

_RESIDUAL = 1e-11  # of x = SBR(u(x)/T^n)
_SAME = 1e-7  # rest points closer than this, in every share, are one
_MOST_PURE = 256  # pure profiles to start from
_POLISH = 50


@dataclass(frozen=True, eq=False)
class RestPoint:
    """Strategies that rest, the most a player would gain by deviating, and what happens to a small disturbance.

    ``eigenvalues`` are those of the score flow's Jacobian and ``growth`` is their largest real part: below 0
    (``stable``) a disturbance dies.
    """

    strategies: Strategies
    regret: float
    residual: float
    eigenvalues: NDArray[np.complex128]

    @property
    def growth(self) -> float:
        return float(self.eigenvalues.real.max())

    @property
    def stable(self) -> bool:
        return self.growth < 0.0


def rest_points(
    game: Game,
    choice: Any = "gibbs",
    tau: float = 1.0,
    discount: float = 1.0,
    order: int = 1,
    *,
    starts: int = 64,
    seed: int = 0,
) -> list[RestPoint]:
    """Solutions of x = SBR(u(x)/T^n), stable ones first, found from ``starts`` random strategies and all pure profiles.

    Each is a root to 1e-11 in every share. That all were found is not proven; more ``starts`` may find more. Of more
    than 256 pure profiles 256 are starts, equilibria first.
    """
    flow = Flow(game, choice, tau, discount, order)
    if flow.discount == 0.0:
        raise InvalidRule(
            "discount must be > 0 for rest points, got 0: without discounting scores grow for ever and only "
            "strategies settle; look at the end of dynamics(...)"
        )
    for name, value in (("starts", starts), ("seed", seed)):
        if not is_integer(value) or value < 0:
            raise InvalidInput(f"{name} must be an integer of at least 0, got {value!r}")
    scale = flow.discount**flow.order
    if not 1e-150 < scale < 1e150:
        raise InvalidRule(f"discount to the power of order must be between 1e-150 and 1e150, got {scale:g}")
    found: list[RestPoint] = []
    for scores in _starts(flow, scale, int(starts), int(seed)):
        strategies, residual = _root(flow, scale, scores)
        new = all(_distance(strategies, old.strategies) > _SAME for old in found)
        if residual <= _RESIDUAL and new:
            values = growth_rates(flow, strategies)
            parts = [frozen(x) for x in strategies]
            found.append(RestPoint(parts, flow.regret(strategies), residual, frozen(values, np.complex128)))
    return sorted(found, key=lambda one: (not one.stable, one.regret, [x.tolist() for x in one.strategies]))


def _distance(first: Strategies, second: Strategies) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(first, second, strict=True))


def _starts(flow: Flow, scale: float, count: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Scores of the uniform strategies, of pure profiles' payoffs, and of strategies uniform on the simplex."""
    yield np.zeros(flow.edges[-1])
    nash = [tuple(profile) for profile in pure_nash(flow.game).tolist()]  # those first, where there are too many
    firsts = [profile_at(flow.game, place) for place in range(min(flow.game.num_profiles, _MOST_PURE))]
    for profile in list(dict.fromkeys(nash + firsts))[:_MOST_PURE]:
        pure = [np.eye(size)[a] for size, a in zip(flow.sizes, profile, strict=True)]
        yield np.concatenate(flow.utilities(pure)) / scale
    random = np.random.Generator(np.random.PCG64(seed))
    for _ in range(count):
        drawn = [np.maximum(random.dirichlet(np.ones(size)), 1e-12) for size in flow.sizes]
        yield np.concatenate([flow.penalty.scores(x / x.sum(), flow.tau) for x in drawn])


def _root(flow: Flow, scale: float, scores: NDArray[np.float64]) -> tuple[Strategies, float]:
    """A solution of T^n p = u(SBR(p)) near these scores, if the solver finds one, and its residual in strategies."""
    from scipy.optimize import root

    def miss(p: NDArray[np.float64]) -> NDArray[np.float64]:
        return scale * p - np.concatenate(flow.utilities(flow.choose(p)))

    def slope(p: NDArray[np.float64]) -> NDArray[np.float64]:
        return scale * np.eye(p.size) - payoff_response(flow, flow.choose(p))

    found = root(miss, scores, jac=slope, method="hybr", options={"xtol": 1e-13})
    best = found.x if np.isfinite(found.x).all() else scores
    strategies, residual = _checked(flow, scale, best)
    for _ in range(_POLISH):  # Newton's method where the solver stopped early
        if not 1e-15 < residual < 1e-2:
            break
        try:
            trial = best - np.linalg.solve(slope(best), miss(best))
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(trial).all():
            break
        after, smaller = _checked(flow, scale, trial)
        if smaller >= residual:
            break
        best, strategies, residual = trial, after, smaller
    return strategies, residual


def _checked(flow: Flow, scale: float, scores: NDArray[np.float64]) -> tuple[Strategies, float]:
    strategies = flow.choose(scores)
    again = flow.choose(np.concatenate(flow.utilities(strategies)) / scale)
    return strategies, _distance(strategies, again)


def growth_rates(flow: Flow, strategies: Strategies) -> NDArray[np.complex128]:
    """The eigenvalues λ of the score flow around these strategies, (λ + T)^n = ν."""
    nu = np.linalg.eigvals(payoff_response(flow, strategies)).astype(complex)
    turns = np.exp(2j * math.pi * np.arange(flow.order) / flow.order)
    out: NDArray[np.complex128] = (nu[:, None] ** (1.0 / flow.order) * turns - flow.discount).ravel()
    return out


def payoff_response(flow: Flow, strategies: Strategies) -> NDArray[np.float64]:
    """∂u/∂p through the strategies: how payoffs answer a change of scores, (Σ A_i, Σ A_i)."""
    out = np.zeros((flow.edges[-1], flow.edges[-1]))
    moves = [choice_response(flow, x) for x in strategies]
    players = range(len(flow.sizes))
    for i in players:
        for j in players:
            if i != j:
                rows = slice(flow.edges[i], flow.edges[i + 1])
                columns = slice(flow.edges[j], flow.edges[j + 1])
                out[rows, columns] = _cross(flow, strategies, i, j) @ moves[j]
    return out


def choice_response(flow: Flow, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    """dSBR/dp at this strategy: (diag(g) - g gᵀ/Σg)/τ with g = 1/h''."""
    g = flow.penalty.mobility(strategy)
    return (np.diag(g) - np.outer(g, g / g.sum())) / flow.tau


def _cross(flow: Flow, strategies: Strategies, i: int, j: int) -> NDArray[np.float64]:
    """u^i by its own action and that of j, the others mixing."""
    values = flow.payoffs[i]  # axes: i, then the others in order
    others = [k for k in range(len(flow.sizes)) if k != i]
    values = np.moveaxis(values, 1 + others.index(j), 1)
    for k in reversed([k for k in others if k != j]):
        values = values @ strategies[k]
    return values
