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
from numpy.typing import ArrayLike

from potentia.analysis.arrays import probabilities
from potentia.analysis.dominance import Dominated, dominated
from potentia.analysis.score_dynamics import Trajectory
from potentia.errors import InvalidInput
from potentia.kernel.arrays import Floats, frozen
from potentia.kernel.checks import Flag, Integer, Real


@dataclass(frozen=True, eq=False)
class Fate:
    """A dominated action with its dominator, its share at the end, and whether that is below the bound."""

    dominated: Dominated
    share: float
    died: bool


def extinct(trajectory: Trajectory, below: float = 1e-6) -> list[list[int]]:
    """For each player the actions whose share is below this at the end.

    Parameters
    ----------
    trajectory : Trajectory
        What :func:`dynamics` found.
    below : float
        The share.

    Returns
    -------
    list of lists
        Actions of each player.

    Examples
    --------
    >>> pt.analysis.extinct(pt.analysis.dynamics(pt.game("prisoners-dilemma"), points=3))
    [[0], [0]]
    """
    _check(trajectory, below)
    return [np.flatnonzero(x < below).tolist() for x in trajectory.final]


def fates(trajectory: Trajectory, below: float = 1e-6, *, weakly: bool = True, mixed: bool = True) -> list[Fate]:
    """Every dominated action of the game, strictly or with ``weakly`` also weakly, and what became of it.

    Dominators are as :func:`~potentia.analysis.dominated` finds them.

    Parameters
    ----------
    trajectory : Trajectory
        What :func:`dynamics` found.
    below : float
        The share below which an action has died out.
    weakly : bool
        Whether weakly dominated actions count, too.
    mixed : bool
        Whether a mixture may dominate; an action is preferred to it.

    Returns
    -------
    list of Fate
        One for each dominated action.

    Examples
    --------
    >>> trajectory = pt.analysis.dynamics(pt.game("prisoners-dilemma"), points=3)
    >>> [(fate.dominated.player, fate.dominated.action, fate.died) for fate in pt.analysis.fates(trajectory)]
    [(0, 0, True), (1, 0, True)]
    """
    _check(trajectory, below)
    for name, value in (("weakly", weakly), ("mixed", mixed)):
        Flag().of(value, name, InvalidInput)
    found = dominated(trajectory.game, weakly=weakly, mixed=mixed)
    shares = [float(trajectory.final[one.player][one.action]) for one in found]
    return [Fate(one, share, share < below) for one, share in zip(found, shares, strict=True)]


def divergence(trajectory: Trajectory, player: int, mixed: ArrayLike) -> Floats:
    """The divergence KL(q‖x^i(t)) at each time, q a mixed strategy; infinite once a share underflows to 0.

    Parameters
    ----------
    trajectory : Trajectory
        What :func:`dynamics` found.
    player : int
        Whose strategy.
    mixed : array_like
        The strategy q of this player.

    Returns
    -------
    array
        (points,).

    Examples
    --------
    >>> trajectory = pt.analysis.dynamics(pt.game("prisoners-dilemma"), horizon=5.0, points=3)
    >>> pt.analysis.divergence(trajectory, 0, [0, 1]).round(3).tolist()
    [0.693, 0.048, 0.004]
    """
    _check(trajectory, 0.5)
    shares = trajectory.strategies[Integer(0, len(trajectory.strategies) - 1).of(player, "player", InvalidInput)]
    q = probabilities(mixed, shares.shape[1], "mixed")
    played = q > 0
    with np.errstate(divide="ignore"):
        return frozen((q[played] * (np.log(q[played]) - np.log(shares[:, played]))).sum(axis=1))


def _check(trajectory: Any, below: Any) -> None:
    if not isinstance(trajectory, Trajectory):
        raise InvalidInput(f"must be one from dynamics(...), got {trajectory!r:.60}", "trajectory", trajectory)
    Real(above=0.0, below=1.0).of(below, "below", InvalidInput)
