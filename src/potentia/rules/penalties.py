"""Choice maps from penalty functions: the smoothed best response (Eq. 7).

SBR(p) = argmax_x <x, p> - τ h(x) over the simplex. The penalty h must be finite inside the simplex, |dh| must grow
without bound towards its boundary, and h must be convex, and strongly convex inside. Three are known by name:

=========  =========================================  ===============================  =============
Gibbs      h = Σ x log x                              x_b ∝ e^{p_b/τ}, the logit map   1/h'' = x
Tsallis    h = (1-q)^{-1} Σ (x - x^q), 0 < q ≤ 1      no closed form                   x^{2-q}/q
Burg       h = -Σ log x                               no closed form                   x²
=========  =========================================  ===============================  =============

Tsallis at q = 1 is Gibbs. The paper's own (commented) line for Burg prints -Σ x log x, which is concave and so no
penalty; Burg's entropy is the above.

All are sums over actions, so the maximiser has τ h'(x_b) = p_b - λ for one λ. With d_b = (p_max - p_b)/τ ≥ 0 and x_m
the share of the best action, this reads x_b^{-r} = x_m^{-r} + c d_b, where r = 1 - q and c = (1-q)/q for Tsallis,
r = c = 1 for Burg. The sum of the shares is increasing and concave in x_m, below or at 1 at x_m = 1/A: Newton's
method from there rises to the root and never passes it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidRule, did_you_mean
from potentia.kernel.arrays import Floats, any_array
from potentia.kernel.checks import Real, number
from potentia.kernel.dispatch import portable
from potentia.kernel.mathematics import exp
from potentia.kernel.registry import Checked, built, plain_parameters
from potentia.rules.choice import logit_weights

_ROUNDS = 100  # of Newton's method; eight were the most seen
_FEW = 24  # actions: so few are weighed faster one by one than by NumPy
_SUM = 1e-9  # how far from 1 the shares of a strategy may sum


class PenaltyData(NamedTuple):
    """What compiled code reads: r and c of x_b^{-r} = x_m^{-r} + c d_b; r = 0 is the logit map."""

    rate: float
    factor: float


@portable
def choice_weights(penalty: PenaltyData, values: Floats, count: int, tau: float, out: Floats) -> float:
    """Write unnormalised choice probabilities of ``values[:count]`` into ``out``; return their sum (Eq. 7).

    The best action's weight is 1. No finite values and no tau > 0 give a NaN: differences are at most 0, quotients
    may become infinite, and the weight of such an action is 0.
    """
    if penalty.rate == 0.0:
        return logit_weights(values, count, tau, out)
    # float(): in plain Python, NumPy's own would warn where a difference overflows, as it may
    largest = float(values[0])
    for k in range(1, count):
        largest = max(largest, float(values[k]))
    rate, factor = float(penalty.rate), float(penalty.factor)
    best = 1.0 / count
    total = 1.0
    for _ in range(_ROUNDS):
        power = exp(rate * math.log(best))
        total, slope = 0.0, 0.0
        for k in range(count):
            if values[k] == largest:
                out[k] = 1.0
                slope += 1.0
            else:
                lag = factor * ((largest - float(values[k])) / tau) * power
                out[k] = exp(-math.log1p(lag) / rate)
                slope += out[k] / (1.0 + lag)  # dx_b/dx_m = (x_b/x_m)^(r+1)
            total += out[k]
        higher = best + (1.0 - best * total) / slope
        if not higher > best:
            break
        best = higher
    return total


class Penalty(Checked, ABC):
    """A penalty function h, a sum over actions, and the choice map it makes. Subclasses are frozen.

    Examples
    --------
    Scores 1, 0, 0 at τ = 1: the steeper h is at the boundary, the more the worse actions keep.

    >>> for penalty in (pt.rules.Gibbs(), pt.rules.Tsallis(0.5), pt.rules.Burg()):
    ...     print(penalty.describe(), penalty.choose([1.0, 0.0, 0.0]).round(3).tolist())
    gibbs [0.576, 0.212, 0.212]
    tsallis 0.5 [0.614, 0.193, 0.193]
    burg [0.414, 0.293, 0.293]
    """

    kind: ClassVar[str]
    invalid: ClassVar[type[InvalidRule]] = InvalidRule

    @abstractmethod
    def data(self) -> PenaltyData:
        """What compiled code reads."""

    @abstractmethod
    def _value(self, x: Floats) -> Floats: ...

    @abstractmethod
    def _slope(self, x: Floats) -> Floats: ...

    @abstractmethod
    def mobility(self, x: ArrayLike) -> Floats:
        """How readily each action's share changes: 1/h''(x) of its term, 0 at the boundary.

        With g = 1/h'', dSBR_b/dp_c = (g_b δ_bc - g_b g_c / Σ g)/τ.

        Parameters
        ----------
        x : array_like
            A strategy.

        Returns
        -------
        array
            One number per action.
        """

    def value(self, x: ArrayLike) -> float:
        """The penalty h(x); infinite at the boundary for Burg.

        Parameters
        ----------
        x : array_like
            A strategy.

        Returns
        -------
        float
            The sum over actions.
        """
        return float(self._value(_shares(x)).sum())

    def gradient(self, x: ArrayLike) -> Floats:
        """The slope h'(x), one entry per action; -inf where a share is 0.

        Parameters
        ----------
        x : array_like
            A strategy.

        Returns
        -------
        array
            One number per action.
        """
        return self._slope(_shares(x))

    def choose(self, scores: ArrayLike, tau: float = 1.0) -> Floats:
        """The choice SBR(p) = argmax_x <x, p> - τ h(x) (Eq. 7), for one score vector or for each row of an array.

        Parameters
        ----------
        scores : array_like
            One per action, in the last axis.
        tau : float
            The temperature.

        Returns
        -------
        array
            The share of each action.
        """
        tau = Real(above=0.0).of(tau, "tau", InvalidRule)
        given = _numbers(scores, "scores")
        if given.ndim == 0 or given.shape[-1] == 0:
            raise InvalidRule(f"must have one entry per action, got shape {given.shape}", "scores", scores)
        if not np.isfinite(given).all():
            raise InvalidRule(
                f"must be finite, got {given[~np.isfinite(given)][0]}", "scores", given[~np.isfinite(given)][0]
            )
        return self.choose_checked(given, tau)

    def choose_checked(self, scores: Floats, tau: float) -> Floats:
        """The same for finite scores and tau > 0, unseen: what solvers call many thousand times.

        Parameters
        ----------
        scores : array
            One per action, in the last axis.
        tau : float
            The temperature.

        Returns
        -------
        array
            The share of each action.
        """
        rate, factor = self.data()
        if rate > 0.0 and scores.ndim == 1 and scores.size <= _FEW:
            out: Any = [0.0] * scores.size
            total: Any = choice_weights(PenaltyData(rate, factor), scores.tolist(), scores.size, tau, out)
            return np.array(out) / total
        with np.errstate(over="ignore"):  # an infinite lag means a share of 0
            lag = (scores.max(axis=-1, keepdims=True) - scores) / tau
            if rate == 0.0:
                weights: Floats = np.exp(-lag)
                return weights / weights.sum(axis=-1, keepdims=True)
            lag *= factor
            best = np.full((*lag.shape[:-1], 1), 1.0 / lag.shape[-1])
            for _ in range(_ROUNDS):
                behind = lag * best**rate
                weights = np.exp(-np.log1p(behind) / rate)
                total = weights.sum(axis=-1, keepdims=True)
                slope = (weights / (1.0 + behind)).sum(axis=-1, keepdims=True)
                higher = best + (1.0 - best * total) / slope
                if not (higher > best).any():
                    break
                best = np.maximum(best, higher)
        return weights / total

    def scores(self, x: ArrayLike, tau: float = 1.0) -> Floats:
        """Scores whose choice is the interior strategy x, the largest of them 0: the inverse of :meth:`choose`.

        Any constant may be added to them.

        Parameters
        ----------
        x : array_like
            A strategy inside the simplex.
        tau : float
            The temperature.

        Returns
        -------
        array
            One score per action.
        """
        tau = Real(above=0.0).of(tau, "tau", InvalidRule)
        shares = _shares(x)
        if not (shares > 0).all():
            raise InvalidRule(
                f"must be inside the simplex, got {shares.tolist()}: no finite scores choose a share of 0",
                "x",
                shares.tolist(),
            )
        if abs(float(shares.sum()) - 1.0) > _SUM:
            raise InvalidRule(f"must sum to 1, got {shares.sum()}", "x", shares.sum())
        rate, factor = self.data()
        ratio = np.log(shares) - np.log(shares.max())
        if rate == 0.0:
            return tau * ratio
        with np.errstate(over="ignore"):
            found = -(tau / factor) * shares.max() ** -rate * np.expm1(-rate * ratio)
        if not np.isfinite(found).all():
            raise InvalidRule(f"is too near the boundary: the scores that choose {shares.tolist()} overflow", "x", x)
        return found + 0.0  # no -0.0

    def spec(self) -> dict[str, Any]:
        """The penalty as plain data; :func:`penalty_from` reads it back."""
        return {"kind": self.kind, **plain_parameters(self)}

    def describe(self) -> str:
        """One word or two for people: gibbs, tsallis 0.5."""
        return " ".join(str(v) for v in self.spec().values())


@attrs.frozen
class Gibbs(Penalty):
    """The entropy h = Σ x log x: the logit map (Eq. 8).

    Examples
    --------
    >>> pt.rules.Gibbs().choose([1.0, 0.0], tau=0.5).round(3).tolist()
    [0.881, 0.119]
    """

    kind: ClassVar[str] = "gibbs"

    def data(self) -> PenaltyData:
        return PenaltyData(0.0, 0.0)

    def _value(self, x: Floats) -> Floats:
        return np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0)), 0.0)

    def _slope(self, x: Floats) -> Floats:
        return 1.0 + _log(x)

    def mobility(self, x: ArrayLike) -> Floats:
        return _shares(x).copy()


@attrs.frozen
class Tsallis(Penalty):
    """The penalty h = (1-q)^{-1} Σ (x - x^q), 0 < q ≤ 1; q = 1 is Gibbs. A share falls like a power of the scores.

    Parameters
    ----------
    q : float
        The order, above 0 and at most 1.

    Examples
    --------
    >>> pt.rules.Tsallis(q=0.5).choose([1.0, 0.0], tau=0.5).round(3).tolist()
    [0.893, 0.107]
    """

    kind: ClassVar[str] = "tsallis"
    q: float = attrs.field(default=0.5, converter=number, validator=Real(above=0.0, most=1.0))

    def data(self) -> PenaltyData:
        rate = 1.0 - self.q
        return PenaltyData(rate, min(rate / self.q, 1e308))  # finite: it is multiplied by differences of 0

    def _value(self, x: Floats) -> Floats:
        rate = 1.0 - self.q
        if rate == 0.0:
            return Gibbs()._value(x)
        logs = np.log(np.where(x > 0, x, 1.0))
        return np.where(x > 0, -x * np.expm1(-rate * logs) / rate, 0.0)

    def _slope(self, x: Floats) -> Floats:
        rate = 1.0 - self.q
        if rate == 0.0:
            return Gibbs()._slope(x)
        with np.errstate(over="ignore"):
            return 1.0 - self.q * np.expm1(-rate * _log(x)) / rate  # (1 - q x^(q-1))/(1-q), also for q near 1

    def mobility(self, x: ArrayLike) -> Floats:
        return _shares(x) ** (2.0 - self.q) / self.q


@attrs.frozen
class Burg(Penalty):
    """The penalty h = -Σ log x: a share falls like the inverse of the scores.

    Examples
    --------
    >>> pt.rules.Burg().choose([1.0, 0.0], tau=0.5).round(3).tolist()
    [0.707, 0.293]
    """

    kind: ClassVar[str] = "burg"

    def data(self) -> PenaltyData:
        return PenaltyData(1.0, 1.0)

    def _value(self, x: Floats) -> Floats:
        return -_log(x)

    def _slope(self, x: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            return -1.0 / x

    def mobility(self, x: ArrayLike) -> Floats:
        return _shares(x) ** 2


_KINDS: dict[str, type[Penalty]] = {one.kind: one for one in (Burg, Gibbs, Tsallis)}


PenaltyLike = str | Penalty | Mapping[str, Any]


def penalty_from(value: PenaltyLike) -> Penalty:
    """A penalty from itself, its name, or plain data: "gibbs", "burg", "tsallis", {"kind": "tsallis", "q": 0.3}.

    Parameters
    ----------
    value : str, Penalty or mapping
        One of them.

    Returns
    -------
    Penalty
        The penalty.

    Examples
    --------
    >>> pt.rules.penalty_from({"kind": "tsallis", "q": 0.3})
    Tsallis(q=0.3)
    """
    if isinstance(value, Penalty):
        return value
    given = dict(value) if isinstance(value, Mapping) else {"kind": value}
    if "kind" not in given:
        raise InvalidRule(f"a choice given as data must have a kind, one of {', '.join(_KINDS)}, got {value!r}")
    kind = given.pop("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidRule(
            f'must be one of {", ".join(_KINDS)}, {{"kind": "tsallis", "q": 0.3}} or a penalty such as '
            f"Tsallis(0.3), got {kind!r}{did_you_mean(kind, _KINDS)}",
            "choice",
            kind,
        )
    return built(_KINDS[kind], given, f"by a {kind} penalty", InvalidRule, "choice")


def _log(x: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(x)


def _numbers(given: ArrayLike, name: str) -> Floats:
    array = any_array(given)
    if array.dtype.kind not in "iuf":
        raise InvalidRule(f"must be an array of numbers, got {given!r:.60}", name, given)
    return array.astype(np.float64)


def _shares(x: ArrayLike) -> Floats:
    shares = _numbers(x, "x")
    if shares.ndim != 1 or shares.size == 0:
        raise InvalidRule(f"must have one share per action, got shape {shares.shape}", "x", x)
    if not ((shares >= 0) & (shares < math.inf)).all():
        raise InvalidRule(f"must be shares of at least 0, got {shares.tolist()}", "x", shares.tolist())
    return shares
