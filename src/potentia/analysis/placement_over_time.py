"""The best that robots can cover as the world changes: the optimum of some moments, each as if the world stood still.

Robots that need time to get from one placement to the next may reach none of these; no robot covers more.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.analysis.placement import Optimum, optimum
from potentia.errors import InvalidGame, InvalidInput
from potentia.games import Coverage
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.checks import Integer, Real
from potentia.kernel.reprs import brief


@dataclass(frozen=True, eq=False, repr=False)
class OptimumOverTime:
    """The result of :func:`optimum_over_time`."""

    __repr__ = brief

    times: Ints  # (T,), rising
    optima: tuple[Optimum, ...]  # one for each

    @property
    def values(self) -> Floats:
        """The worth of the best placement found at each time, (T,)."""
        return np.array([best.value for best in self.optima])

    @property
    def bounds(self) -> Floats:
        """No placement is worth more at that time, (T,)."""
        return np.array([best.bound for best in self.optima])

    @property
    def proven(self) -> bool:
        """Whether all of them are."""
        return all(best.proven for best in self.optima)

    def share(self, times: ArrayLike, worth: ArrayLike) -> Floats:
        """What share of the bounds runs cover, (...), in the mean over these times but the first, which is a start.

        ``worth`` is (..., K), what was covered at each of K ``times``; the last one up to a time of the optimum counts.
        """
        known, covered = np.asarray(times, np.float64), np.asarray(worth, np.float64)
        later = (self.times > 0) & (self.times <= known[-1]) if len(self.times) > 1 else np.array([True])
        rows = np.searchsorted(known, self.times[later], "right") - 1
        bounds = self.bounds[later]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(bounds > 0, covered[..., rows] / bounds, 1.0)  # nothing to cover is covered
        return np.asarray(shares.mean(axis=-1), np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"times": self.times.tolist(), "proven": self.proven, "optima": [best.to_dict() for best in self.optima]}

    def __str__(self) -> str:
        number = "optimum" if self.proven else "best placement known (and the bound)"
        told = (
            f"{best.value:.6g}" + ("" if best.proven else f" ({best.bound:.6g})") + f" at step {time:,}"
            for time, best in zip(self.times.tolist(), self.optima, strict=True)
        )
        seconds = sum(best.seconds for best in self.optima)
        return f"{number} as the world changes, in {seconds:.2g} s: covered worth {', '.join(told)}"


def optimum_over_time(
    game: Coverage, times: Iterable[int], *, method: str = "auto", time_limit: float = 60.0, gap: float = 1e-6
) -> OptimumOverTime:
    """The optimum of a game that drifts at each of these times, which rise; see :func:`optimum`.

    ``time_limit``
        seconds, for all of them together: each has an equal part of what is left.
    """
    if not isinstance(game, Coverage):
        raise InvalidGame(f"optimum_over_time takes a Coverage game, got {game!r:.60}")
    wanted = [Integer().of(time, "times", InvalidInput) for time in times]
    if not wanted or any(later <= time for time, later in itertools.pairwise(wanted)):
        raise InvalidInput(f"must be at least one time, and rise, got {wanted}", "times", wanted)
    left = Real(least=0.0, finite=False).of(time_limit, "time_limit", InvalidInput)
    found: list[Optimum] = []
    for k, time in enumerate(wanted):
        found.append(optimum(game.at(time), method=method, time_limit=left / (len(wanted) - k), gap=gap))
        left = max(0.0, left - found[-1].seconds)
    return OptimumOverTime(frozen(wanted, np.int64), tuple(found))
