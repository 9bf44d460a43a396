"""SOQL in closed form while one profile is played over and over (paper, Eq. 30–33 and 41).

With κ = 1 - μ and the utility u constant, the recursion of Eq. 28 is solved by

    P(n+m) = u + κ^m (P(n) - u),
    Q(n+m) = u + κ^m (Q(n) - u) + m μ κ^{m-1} (P(n) - u),

which is Eq. 31 with Q(n+1) = Q(n) + μ (P(n) - Q(n)) put in. The two-step form of Fig. 7 is the same sequence one step
ahead, Q_two-step(n) = Q_pair(n+1). Where the best response stays the same, X(n+m) = (1-ϑ)^m X(n) + (1 - (1-ϑ)^m) e
(Eq. 33), so that a profile at which nobody had any weight is played m times running with probability
∏_{c=1}^m (1 - (1-ϑ)^c)^N. Where players had some, that is a lower bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.engine.requests import checked_integer
from potentia.errors import InvalidRule
from potentia.kernel.arrays import Floats, any_array
from potentia.rules.steps import SHARE

_NOTHING = -746.0  # exp of less is 0
_LAST = math.ldexp(1.0, -60)  # a term that no sum of the earlier ones shows


def _numbers(value: ArrayLike, name: str) -> Floats:
    array = any_array(value)
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise InvalidRule(f"must be a finite number or an array of them, got {value!r:.60}", name, value)
    return array.astype(np.float64)


def soql_values(mu: float, m: int, p: ArrayLike, q: ArrayLike, u: ArrayLike) -> tuple[Any, Any]:
    """The scores P(n+m) and Q(n+m) of an action that was played m times running, from P(n) and Q(n) (Eq. 30 and 31).

    For ``form="two-step"``, give Q(n-1) of that form as ``q`` and Q(n-1) + (Q(n) - Q(n-1)) / μ as ``p``.

    Parameters
    ----------
    mu : float
        How far a score moves to what was received.
    m : int
        How many times.
    p : array_like
        P(n), of one action or of many at once.
    q : array_like
        Q(n).
    u : array_like
        What was received.

    Returns
    -------
    tuple
        P(n+m) and Q(n+m).

    Examples
    --------
    >>> [round(float(value), 3) for value in pt.analysis.soql_values(0.5, 3, p=0.0, q=0.0, u=1.0)]
    [0.875, 0.5]
    """
    mu, m = SHARE.of(mu, "mu", InvalidRule), checked_integer(m, "m", 0)
    first, second, gain = _numbers(p, "p"), _numbers(q, "q"), _numbers(u, "u")
    keep = math.exp(m * math.log1p(-mu))
    gone = -math.expm1(m * math.log1p(-mu))
    push = m * mu * math.exp((m - 1) * math.log1p(-mu)) if m else 0.0
    return (keep * first + gone * gain)[()], (keep * second + push * first + (gone - push) * gain)[()]


def soql_strategy(vartheta: float, m: int, x: ArrayLike, best: int | None = None) -> Any:
    """The strategy X(n+m) where one action was the best response m times running, from X(n) (Eq. 33).

    Parameters
    ----------
    vartheta : float
        How far a strategy moves to the best response.
    m : int
        How many times.
    x : array_like
        That action's share, a number; or a strategy.
    best : int, optional
        The number of that action in the strategy.

    Returns
    -------
    float or array
        The share, or the strategy.

    Examples
    --------
    >>> pt.analysis.soql_strategy(0.5, 2, [0.5, 0.5], best=0).tolist()
    [0.875, 0.125]
    """
    vartheta, m = SHARE.of(vartheta, "vartheta", InvalidRule), checked_integer(m, "m", 0)
    shares = _numbers(x, "x")
    if shares.ndim > 1 or (shares < 0.0).any() or (shares > 1.0).any():
        raise InvalidRule(f"must be a share between 0 and 1, or one for each action, got {x!r:.60}", "x", x)
    target: Floats = np.ones(())
    if shares.ndim == 1:
        if best is None or not 0 <= checked_integer(best, "best", 0) < shares.size:
            raise InvalidRule(f"must be one of the {shares.size} actions of x, got {best!r}", "best", best)
        target = np.zeros(shares.size)
        target[best] = 1.0
    elif best is not None:
        raise InvalidRule(f"is for x with a share for each action, got best {best!r} and x {x!r}", "best", best)
    fading = m * math.log1p(-vartheta)
    return (math.exp(fading) * shares - math.expm1(fading) * target)[()]


def lock_in(vartheta: float, num_players: int, steps: int | None = None) -> float:
    """The probability ∏_{c=1}^{steps} (1 - (1-ϑ)^c)^N of staying at a profile (second proposition on SOQL).

    N players whose best response is this profile, and who had no weight on it one step before, all play it at
    each of the next ``steps`` steps; None is for ever (Eq. 41). Perturbations are left out. The relative error is
    some 1e-16 times the logarithm; below 1e-308 or so the result is 0.

    Parameters
    ----------
    vartheta : float
        How far a strategy moves to the best response.
    num_players : int
        How many players, N.
    steps : int, optional
        How many steps; left out, for ever.

    Returns
    -------
    float
        The probability.

    Examples
    --------
    >>> round(pt.analysis.lock_in(0.5, num_players=2), 4)
    0.0834
    """
    vartheta = SHARE.of(vartheta, "vartheta", InvalidRule)
    players = checked_integer(num_players, "num_players", 1)
    last = math.inf if steps is None else checked_integer(steps, "steps", 0)
    fading = math.log1p(-vartheta)
    terms: list[float] = []
    total, c = 0.0, 1
    # no more than some 20,000 rounds: for smaller ϑ the product is soon 0
    while c <= last and players * total > _NOTHING:
        missing = math.exp(c * fading)
        if missing < _LAST * vartheta:
            break
        terms.append(math.log1p(-missing) if missing < 0.5 else math.log(-math.expm1(c * fading)))
        total += terms[-1]
        c += 1
    return math.exp(players * math.fsum(terms)) if players * total > _NOTHING else 0.0
