"""Where discounted score dynamics rest, and how the flow looks around a strategy.

With T > 0 the stages rest at p_1 = u/T, p_k = p_{k-1}/T: x = SBR(u(x)/T^n), a perturbed Nash equilibrium, for Gibbs
the logit equilibrium at temperature σ = τ T^n. By Brouwer's theorem there is at least one. Roots are searched in
θ = p/τ, where they are σ θ = u(x(θ)) up to a constant for each player: at a mixed equilibrium θ stays put as σ goes to
0, while u/σ, and with it SBR(u/σ), magnifies rounding by 1/σ. So a root is judged by how far one more step of Newton's
method would move its shares. Roots at higher temperatures are followed down to σ.

Around a rest point dp_1' = M dp_n - T dp_1 and dp_k' = dp_{k-1} - T dp_k with M = (∂u/∂x) dSBR, so the growth rates λ
of a small disturbance solve (λ + T)^n = ν, ν an eigenvalue of M. The largest real part decides: below 0 the rest point
attracts. Adding a constant to a player's scores changes no strategy and has ν = 0; as u^i does not depend on x^i the
trace of M is 0, so some ν has a real part of at least 0 anyway and those directions never decide.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.analysis.equilibria import pure_nash
from potentia.analysis.score_dynamics import Flow, Strategies
from potentia.analysis.tables import profile_at
from potentia.errors import InvalidInput, InvalidRule, NotConverged
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.checks import Integer
from potentia.kernel.reprs import brief

_STEP = 1e-10  # the most that Newton's method may still move a share of a root
_SAME = 1e-7  # rest points closer than this, in every share, are one
_UNSURE = 1e-5  # how badly a root at a singular Jacobian may be known: a triple root is, to the cube root of rounding
_ROUNDING = 1e-15  # of payoff differences, relative to the largest
_MOST_PURE = 256  # pure profiles to start from
_MISS = 1e-12  # what may be left of the equation, in payoff differences
_PATIENCE = 5  # rounds of Newton's method without a smaller step
_JUMP, _SHORTEST = 0.2, 0.02  # the farthest that a root may move on the way down, and the shortest step in log σ
_LADDER = (1.0, 0.3, 0.1, 0.03, 0.01, 0.001)  # temperatures to follow roots down from, in payoff differences
_COLDEST = 1e150  # payoff differences over temperature


@dataclass(frozen=True, eq=False, repr=False)
class RestPoint:
    """Strategies that rest, the most a player would gain by deviating, and what happens to a small disturbance.

    Below 0 of ``growth`` a disturbance dies (``stable``), above 0 it grows, and where 0 is within the tolerance the
    linear flow does not tell (``stable`` is None: degenerate).

    Attributes
    ----------
    strategies : list of arrays
        One per player.
    regret : float
        The most a player would gain by deviating.
    residual : float
        How far one more step of Newton's method would move a share.
    eigenvalues : array
        Those of the score flow's Jacobian.
    tolerance : float
        How well ``growth``, their largest real part, is known.

    Examples
    --------
    >>> rest = pt.analysis.rest_points(pt.game("prisoners-dilemma"), tau=0.5, starts=4)[0]
    >>> rest.strategies[0].round(3).tolist(), rest.stable
    ([0.1, 0.9], True)
    """

    __repr__ = brief

    strategies: Strategies
    regret: float
    residual: float
    eigenvalues: NDArray[np.complex128]
    tolerance: float

    @property
    def growth(self) -> float:
        """How fast a small disturbance grows: the largest real part of the eigenvalues."""
        return float(self.eigenvalues.real.max())

    @property
    def stable(self) -> bool | None:
        """Whether a small disturbance dies; None where the linear flow does not tell."""
        return None if abs(self.growth) <= self.tolerance else self.growth < 0.0


class _Root(NamedTuple):
    """θ, its strategies, the last step in shares, what is left of the equation, and how well shares are known."""

    theta: Floats
    strategies: Strategies
    step: float
    miss: float
    unsure: float


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
    """Solutions of x = SBR(u(x)/T^n), stable ones first, found from random strategies and all pure profiles.

    Another step of Newton's method would move no share by more than 1e-10, or at a singular Jacobian 1e-5; roots that
    this accuracy does not tell apart are one. That all were found is not proven; more ``starts`` may find more. Of
    more than 256 pure profiles 256 are starts, equilibria first.

    Parameters
    ----------
    game : Game
        What is played.
    choice : str, dict or Penalty
        The choice map, by its penalty; as :func:`potentia.rules.penalty_from` reads it.
    tau : float
        The temperature.
    discount : float
        T, how fast scores fade.
    order : int
        How often utilities are aggregated.
    starts : int
        How many random strategies.
    seed : int
        What they are drawn from.

    Returns
    -------
    list of RestPoint
        The solutions.

    Raises
    ------
    NotConverged
        If none is found, for at least one exists.

    Examples
    --------
    >>> points = pt.analysis.rest_points(pt.game("stag-hunt"), tau=0.5, starts=8)
    >>> [(point.strategies[0].round(2).tolist(), point.stable) for point in points]
    [([0.0, 1.0], True)]
    """
    flow = Flow(game, choice, tau, discount, order)
    if flow.discount == 0.0:
        said = "without discounting scores grow for ever and only strategies settle; look at the end of dynamics(...)"
        raise InvalidRule(f"must be > 0 for rest points, got 0: {said}", "discount", discount)
    for name, value in (("starts", starts), ("seed", seed)):
        Integer().of(value, name, InvalidInput)
    scaled, unit = _in_units(flow)
    sigma = _temperature(flow, unit)
    with np.errstate(all="ignore"):  # a search may overflow on its way; what it finds is checked
        roots = _distinct(_search(scaled, sigma, int(starts), int(seed)))
    if not roots:
        raise NotConverged(
            f"at least one rest point exists; none was found from {starts} random starts and the pure profiles: "
            "use more starts, or a larger tau or discount"
        )
    found = []
    for root in roots:
        values, tolerance = growth_rates(flow, root.strategies, root.unsure)
        parts = [frozen(x) for x in root.strategies]
        found.append(RestPoint(parts, flow.regret(root.strategies), root.step, frozen(values), tolerance))
    verdicts = (True, None, False)
    return sorted(found, key=lambda p: (verdicts.index(p.stable), p.regret, [x.tolist() for x in p.strategies]))


def _in_units(flow: Flow) -> tuple[Flow, float]:
    """The flow with τ = 1 and payoffs less the best reply's, in units of the largest such difference."""
    scaled = copy.copy(flow)
    lags = [values - values.max(axis=0) for values in flow.payoffs]
    unit = max(float(-lag.min()) for lag in lags) or 1.0
    scaled.payoffs, scaled.tau = [lag / unit for lag in lags], 1.0
    return scaled, unit


def _temperature(flow: Flow, unit: float) -> float:
    """σ = τ T^n in units of payoffs, checked."""
    power = flow.order * math.log(flow.discount)
    if abs(power) > math.log(1e150):
        wanted = "to the power of order must be between 1e-150 and 1e150"
        raise InvalidRule(f"{wanted}, got {flow.discount:g} to the {flow.order}", "discount", flow.discount)
    cold = math.log(unit) - math.log(flow.tau) - power
    if cold > math.log(_COLDEST):
        raise InvalidRule(
            f"times discount to the power of order must be at least {1 / _COLDEST:g} of the largest payoff "
            f"difference, got 1e{-cold / math.log(10):.0f}: use a larger tau or discount, or smaller payoffs",
            "tau",
            flow.tau,
        )
    return math.exp(-max(cold, -math.log(_COLDEST)))  # hotter is uniform play anyway


# Search -----------------------------------------------------------------------------------------------


def _search(flow: Flow, sigma: float, count: int, seed: int) -> Iterator[_Root]:
    """Roots at this temperature, often more than once: from starts there, and followed down from higher ones."""
    random = np.random.Generator(np.random.PCG64(seed))
    nash = [tuple(profile) for profile in pure_nash(flow.game).tolist()]  # those first, where there are too many
    firsts = [profile_at(flow.game, place) for place in range(min(flow.game.num_profiles, _MOST_PURE))]
    known: list[_Root] = []
    above = math.inf
    for level in (*(one for one in _LADDER if one > sigma), sigma):
        lowered = (_follow(flow, root, above, level) for root in known)
        last = level == sigma
        profiles = list(dict.fromkeys(nash + firsts) if last else nash)[:_MOST_PURE]
        draws = count if last else -(-count // 4)
        begun = (_solve(flow, level, theta) for theta in _starts(flow, level, profiles, draws, random))
        known = [root for root in (*lowered, *begun) if root is not None]
        if not last:
            known = _distinct(known)
        above = level
    yield from known


def _starts(
    flow: Flow, sigma: float, profiles: list[tuple[int, ...]], count: int, random: np.random.Generator
) -> Iterator[Floats]:
    """θ of the uniform strategies, of these profiles' payoffs, and of strategies uniform on the simplex."""
    yield np.zeros(flow.edges[-1])
    for profile in profiles:
        pure = [np.eye(size)[a] for size, a in zip(flow.sizes, profile, strict=True)]
        yield np.concatenate(flow.utilities(pure)) / sigma
    for _ in range(count):
        drawn = [np.maximum(random.dirichlet(np.ones(size)), 1e-12) for size in flow.sizes]
        yield np.concatenate([flow.penalty.scores(x / x.sum(), 1.0) for x in drawn])


def _best(flow: Flow, strategies: Strategies) -> Ints:
    """For each entry of θ, that of its player's most played action."""
    places = [low + int(x.argmax()) for low, x in zip(flow.edges, strategies, strict=False)]
    return np.repeat(places, flow.sizes)


def _reduced(flow: Flow, strategies: Strategies) -> tuple[Ints, Ints, Floats]:
    """The most played actions, the places of all others, and how payoffs less the best's answer to θ less the best's.

    Differences, as a constant that is large against σ would take the digits of what it is added to.
    """
    best = _best(flow, strategies)
    others = np.flatnonzero(best != np.arange(best.size))
    response = payoff_response(flow, strategies)
    return best, others, (response - response[best])[np.ix_(others, others)]


def _solve(flow: Flow, sigma: float, theta: Floats) -> _Root | None:
    """The root that Powell's method finds from here, polished."""
    from scipy.optimize import root

    def miss(at: Floats) -> Floats:
        strategies = flow.choose(at)
        u = np.concatenate(flow.utilities(strategies))
        return sigma * at - (u - u[_best(flow, strategies)])

    def slope(at: Floats) -> Floats:
        strategies = flow.choose(at)
        response = payoff_response(flow, strategies)
        return sigma * np.eye(at.size) - (response - response[_best(flow, strategies)])

    return _newton(flow, sigma, root(miss, theta, jac=slope, method="hybr", options={"xtol": 1e-13}).x)


def _newton(flow: Flow, sigma: float, theta: Floats) -> _Root | None:
    """Newton's method from here, until shares stand still; None where they do not."""
    found: _Root | None = None
    patience = _PATIENCE
    while patience and np.isfinite(theta).all():
        strategies = flow.choose(theta)
        best, others, response = _reduced(flow, strategies)
        u, theta = np.concatenate(flow.utilities(strategies)), theta - theta[best]
        value = (sigma * theta - (u - u[best]))[others]
        step, unsure = _step(flow, strategies, others, value, sigma * np.eye(others.size) - response)
        after = theta.copy()
        after[others] -= step
        if not np.isfinite(after).all():
            break
        now = _Root(theta, strategies, _distance(strategies, flow.choose(after)), _largest(value), unsure)
        if found is None or (now.step, now.miss) < (found.step, found.miss):
            found, patience = now, _PATIENCE
        else:
            patience -= 1
        if now.step == 0.0:
            break
        theta = after
    if found is None or found.miss > _MISS:
        return None
    return found if found.step <= (_STEP if found.unsure < _UNSURE / 10.0 else _UNSURE) else None


def _step(flow: Flow, strategies: Strategies, others: Ints, value: Floats, slope: Floats) -> tuple[Floats, float]:
    """Newton's step in θ, and how far the shares may be from the root: by that step, and by rounding of payoffs."""
    try:
        inverse = np.linalg.inv(slope)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(slope, value, rcond=None)[0], np.float64), _UNSURE
    shares = np.zeros((flow.edges[-1], flow.edges[-1]))
    for part, x in zip(flow.parts, strategies, strict=True):
        shares[part, part] = choice_response(flow, x)
    moves = shares[:, others] @ inverse
    by_rounding = _ROUNDING * float(np.abs(moves).sum(axis=1).max(initial=0.0))
    unsure = 10.0 * max(_largest(moves @ value), by_rounding)
    return inverse @ value, unsure if unsure < _UNSURE else _UNSURE


def _follow(flow: Flow, root: _Root, high: float, low: float) -> _Root | None:
    """What this root at temperature ``high`` becomes at ``low``; None where its branch turns back."""
    at, end, stride = math.log(high), math.log(low), math.log(2.0)
    while at > end:
        there = max(at - stride, end)
        _, others, response = _reduced(flow, root.strategies)
        ahead = root.theta.copy()
        try:  # 0 = d(σ θ - u) = θ dσ + (σ - M) dθ
            slope = math.exp(at) * np.eye(others.size) - response
            ahead[others] += np.linalg.solve(slope, math.exp(at) * ahead[others]) * (at - there)
        except np.linalg.LinAlgError:
            pass
        new = _newton(flow, low if there == end else math.exp(there), ahead)
        if new is not None and _distance(new.strategies, root.strategies) < _JUMP:
            root, at, stride = new, there, 2.0 * stride
        else:
            stride /= 2.0
            if stride < _SHORTEST:
                return None
    return root


def _distinct(roots: Any) -> list[_Root]:
    """One of each, the best solved: roots that are nearer than they are known are the same."""
    kept: list[_Root] = []
    for root in sorted(roots, key=lambda one: one.miss):
        apart = [(_distance(root.strategies, one.strategies), 10.0 * (root.unsure + one.unsure)) for one in kept]
        if all(distance > max(_SAME, unsure) for distance, unsure in apart):
            kept.append(root)
    return kept


def _distance(first: Strategies, second: Strategies) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(first, second, strict=True))


def _largest(values: Floats) -> float:
    return float(np.abs(values).max(initial=0.0))


# The linear flow --------------------------------------------------------------------------------------


def growth_rates(flow: Flow, strategies: Strategies, unsure: float = 0.0) -> tuple[NDArray[np.complex128], float]:
    """The eigenvalues λ of the score flow around these strategies, (λ + T)^n = ν, and how well the largest is known.

    ``unsure`` is how well the shares are known. A constant added to a player's scores has ν = 0, exactly; the other ν
    are those of differences of scores.
    """
    from scipy.linalg import eig

    scaled, unit = _in_units(flow)
    best, others, reduced = _reduced(scaled, strategies)
    nu, left, right = eig(reduced, left=True)
    size = float(np.linalg.norm(reduced))
    # a change of the matrix by d moves an eigenvalue by d over the cosine between its left and right vectors, and
    # by at most about d^(1/m) where it is m-fold
    error = min(size, 1e-15 * others.size * size + unsure)
    with np.errstate(divide="ignore"):
        off = np.minimum(
            error / np.abs((left.conj() * right).sum(axis=0)),
            size * (error / size) ** (1.0 / others.size) if size > 0.0 else 0.0,
        )
    nu, off = nu * (unit / flow.tau), off * (unit / flow.tau)
    turns = np.exp(2j * math.pi * np.arange(flow.order) / flow.order)
    power = 1.0 / flow.order
    parts = (nu[:, None] ** power * turns - flow.discount).real.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        smooth = np.abs(nu) ** power * (off / np.abs(nu))  # |d ν^(1/n)|, away from 0
    spread = np.where(off < np.abs(nu) / 2.0, smooth, (np.abs(nu) + off) ** power)
    growth = float(parts.max(initial=-flow.discount))
    above = float((parts + spread).max(initial=-flow.discount)) - growth
    values = (np.concatenate([nu, np.zeros(best.size - others.size)])[:, None] ** power * turns - flow.discount).ravel()
    return values.astype(np.complex128), max(above, 1e-14 * flow.discount)


def payoff_response(flow: Flow, strategies: Strategies) -> Floats:
    """∂u/∂p through the strategies: how payoffs answer a change of scores, (Σ A_i, Σ A_i)."""
    out = np.zeros((flow.edges[-1], flow.edges[-1]))
    moves = [choice_response(flow, x) for x in strategies]
    for i, j in itertools.permutations(range(len(flow.sizes)), 2):
        out[flow.parts[i], flow.parts[j]] = _cross(flow, strategies, i, j) @ moves[j]
    return out


def choice_response(flow: Flow, strategy: Floats) -> Floats:
    """dSBR/dp at this strategy: (diag(g) - g gᵀ/Σg)/τ with g = 1/h''."""
    g = flow.penalty.mobility(strategy)
    return (np.diag(g) - np.outer(g, g / g.sum())) / flow.tau


def _cross(flow: Flow, strategies: Strategies, i: int, j: int) -> Floats:
    """u^i by its own action and that of j, the others mixing."""
    values = flow.payoffs[i]  # axes: i, then the others in order
    others = [k for k in range(len(flow.sizes)) if k != i]
    values = np.moveaxis(values, 1 + others.index(j), 1)
    for k in reversed([k for k in others if k != j]):
        values = values @ strategies[k]
    return values
