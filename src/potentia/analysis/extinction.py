"""What dies along a trajectory (paper, section 4).

A pure action is extinct when its share goes to 0; a mixed strategy q when KL(q‖x(t)) = Σ q log(q/x) grows without
bound, that is when some action that q plays is extinct. In the continuous dynamics strictly dominated strategies die
at every order; weakly dominated ones may live on at order 1 and die from order 2 on (Laraki & Mertikopoulos 2013).
A finite trajectory shows shares below a bound, not limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.analysis.dominance import Dominated, dominated
from potentia.analysis.score_dynamics import SUM, Trajectory, vector
from potentia.errors import InvalidInput
from potentia.kernel.arrays import frozen
from potentia.kernel.checks import Flag
from potentia.kernel.numbers import as_float, is_integer, is_real


@dataclass(frozen=True, eq=False)
class Fate:
    """A dominated action with its dominator, its share at the end, and whether that is below the bound."""

    dominated: Dominated
    share: float
    died: bool


def extinct(trajectory: Trajectory, below: float = 1e-6) -> list[list[int]]:
    """For each player the actions whose share is below this at the end."""
    _check(trajectory, below)
    return [np.flatnonzero(x < below).tolist() for x in trajectory.final]


def fates(trajectory: Trajectory, below: float = 1e-6, *, weakly: bool = True, mixed: bool = True) -> list[Fate]:
    """Every dominated action of the game, strictly or with ``weakly`` also weakly, and what became of it.

    Dominators are as :func:`~potentia.analysis.dominated` finds them.
    """
    _check(trajectory, below)
    Flag().of(weakly, "weakly", InvalidInput)
    Flag().of(mixed, "mixed", InvalidInput)
    out = []
    for one in dominated(trajectory.game, weakly=weakly, mixed=mixed):
        share = float(trajectory.final[one.player][one.action])
        out.append(Fate(one, share, share < below))
    return out


def divergence(trajectory: Trajectory, player: int, mixed: ArrayLike) -> NDArray[np.float64]:
    """KL(q‖x^i(t)) at each time, q a mixed strategy of this player; infinite once a share underflows to 0."""
    _check(trajectory, 0.5)
    players = len(trajectory.strategies)
    if not is_integer(player) or not 0 <= player < players:
        raise InvalidInput(f"must be an integer in 0..{players - 1}, got {player!r}", "player", player)
    shares = trajectory.strategies[player]
    q = vector(mixed, shares.shape[1], "mixed", "probabilities", InvalidInput)
    if not (q >= 0).all() or abs(float(q.sum()) - 1.0) > SUM:
        raise InvalidInput(f"must be probabilities that sum to 1, got {q.tolist()}", "mixed", q.tolist())
    played = q > 0
    with np.errstate(divide="ignore"):
        return frozen((q[played] * (np.log(q[played]) - np.log(shares[:, played]))).sum(axis=1))


def _check(trajectory: Any, below: Any) -> None:
    if not isinstance(trajectory, Trajectory):
        raise InvalidInput(f"expected a trajectory from dynamics(...), got {trajectory!r:.60}")
    if not is_real(below) or not 0.0 < as_float(below) < 1.0:
        raise InvalidInput(f"must be between 0 and 1, got {below!r}", "below", below)
