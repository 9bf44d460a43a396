"""Dominated actions and their iterated elimination.

A strategy x of player i, pure or mixed, strictly dominates its action a iff x pays more than a whatever the
others do: Σ_b x_b u^i(b, ·) > u^i(a, ·). It dominates a weakly iff it never pays less and somewhere more. An
action may be dominated by a mixture and by no action (Pearce 1984); a linear program decides.

Strict: maximise t such that Σ_b x_b u^i(b, s) - u^i(a, s) ≥ t for all s in A^{-i}. Its dual is a belief y on
A^{-i} against which no action gains more than t over a. Weak: maximise the sum of the gains such that none is
negative. Its dual is a y of at least 1 everywhere. Nothing is taken from the solver unseen: what x gains is
evaluated again, and where it is not enough, y must prove that nothing is.

``tolerance`` is relative to the spread of the player's payoffs; payoffs that differ by less are equal. A mixture
that never loses is one that loses nowhere more than rounding explains. Moves play no part: dominance is about
all of A^i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis.equilibria import slack
from potentia.analysis.tables import check_tolerance, payoff_table
from potentia.errors import InvalidGame
from potentia.games import Game
from potentia.kernel.arrays import Floats, frozen, strides
from potentia.kernel.precision import rounding
from potentia.kernel.reprs import brief

_ROUNDING = 1e-12  # what a mixture may lose, relative to the gains it is made of
_SOLVER = 1e-9  # what an optimum may be off by, relative to the largest gain
# Mixtures that only just tie are hard on the solver; what one setting leaves open another may decide.
_TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_SETTINGS: tuple[dict[str, Any], ...] = ({"presolve": False}, _TIGHT, {}, {**_TIGHT, "presolve": False})


@dataclass(frozen=True, eq=False)
class Dominated:
    """An action and a strategy that dominates it: ``by`` has a weight for each action of the player.

    ``strict`` says whether the action is strictly dominated. ``margin`` is then the smallest gain of ``by``
    over the action, and otherwise the largest one.
    """

    player: int
    action: int
    by: Floats
    margin: float
    strict: bool


@dataclass(frozen=True, eq=False, repr=False)
class Reduced:
    """What iterated elimination leaves: the actions of each player, and what each round removed."""

    __repr__ = brief

    kept: list[list[int]]
    rounds: list[list[Dominated]]


def dominated(game: Game, *, weakly: bool = False, mixed: bool = True, tolerance: float = 1e-9) -> list[Dominated]:
    """Every dominated action, by player and action, each with a strategy that dominates it.

    Strictly dominated ones only, or with ``weakly`` the others too.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    weakly : bool
        Whether weakly dominated actions count, too.
    mixed : bool
        Whether a mixture may dominate; an action is preferred to it.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    list of Dominated
        Player, action, the strategy and by how much.

    Examples
    --------
    >>> [(one.player, one.action) for one in pt.analysis.dominated(pt.game("prisoners-dilemma"))]
    [(0, 0), (1, 0)]
    """
    tolerance = check_tolerance(tolerance)
    table = payoff_table(game)
    return _dominated(game, table, [list(range(size)) for size in game.num_actions], weakly, mixed, tolerance)


def iterated(game: Game, *, weakly: bool = False, mixed: bool = True, tolerance: float = 1e-9) -> Reduced:
    """Remove dominated actions, again and again until none is left.

    Each round removes all actions that are dominated in what the round before left. For strict dominance the
    order makes no difference; for weak dominance another order may leave other actions.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    weakly : bool
        Whether weakly dominated actions count, too.
    mixed : bool
        Whether a mixture may dominate; an action is preferred to it.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    Reduced
        The actions that are kept, and what each round removed.

    Examples
    --------
    >>> pt.analysis.iterated(pt.game("prisoners-dilemma")).kept
    [[1], [1]]
    """
    tolerance = check_tolerance(tolerance)
    table = payoff_table(game)
    kept = [list(range(size)) for size in game.num_actions]
    rounds: list[list[Dominated]] = []
    while found := _dominated(game, table, kept, weakly, mixed, tolerance):
        for player, actions in enumerate(kept):
            out = {one.action for one in found if one.player == player}
            kept[player] = [action for action in actions if action not in out]
            if not kept[player]:  # equality up to a tolerance is not transitive
                raise InvalidGame(
                    f"up to tolerance={tolerance} each of player {player}'s actions {actions} is dominated by another; "
                    "use a smaller tolerance"
                )
        rounds.append(found)
    return Reduced(kept, rounds)


def _dominated(
    game: Game, table: Floats, kept: list[list[int]], weakly: bool, mixed: bool, tolerance: float
) -> list[Dominated]:
    """The dominated ones of the actions that are kept, against what is kept of the others."""
    found = []
    for player, actions in enumerate(kept):
        if len(actions) == 1:
            continue
        least = slack(table[player], tolerance)
        noise = rounding(table[player])
        payoffs = _kept_payoffs(game, table[player], kept, player)
        for k, action in enumerate(actions):
            name = f"action {action} of player {player}"
            result = _dominator(np.delete(payoffs, k, axis=0) - payoffs[k], least, noise, weakly, mixed, name)
            if result is not None:
                weights, margin, strict = result
                by = np.zeros(int(game.sizes[player]))
                by[np.delete(actions, k)] = weights
                found.append(Dominated(player, action, frozen(by), margin, strict))
    return found


def _kept_payoffs(game: Game, values: Floats, kept: list[list[int]], player: int) -> Floats:
    """The player's payoffs: its actions by those of the others."""
    places = np.zeros(1, np.int64)
    for other, stride in enumerate(strides(game.sizes)):
        if other != player:
            places = (places[:, None] + np.array(kept[other]) * stride).ravel()
    return values[np.array(kept[player])[:, None] * strides(game.sizes)[player] + places]


def _dominator(
    gains: Floats, least: float, noise: float, weakly: bool, mixed: bool, name: str
) -> tuple[Floats, float, bool] | None:
    """Weights on the other actions that dominate, their margin and whether strictly; None where nothing does.

    ``gains`` are those of each other action (rows) in each of the others' profiles. Up to ``least`` they count
    as none; up to ``noise`` they may be due to rounding.
    """
    mixed = mixed and len(gains) > 1
    worst, best = gains.min(axis=1), gains.max(axis=1)
    if worst.max() > least:
        return _one(worst.argmax(), len(gains)), float(worst.max()), True
    highest = gains.max(axis=0)  # no mixture gains more
    if mixed and highest.min() > least:
        weights = _strict(gains, max(least, noise), name)
        if weights is not None:
            return weights, float((weights @ gains).min()), True
    if not weakly or best.max() <= least:
        return None
    never = np.where(worst >= -least, best, -np.inf)
    if never.max() > least:
        return _one(never.argmax(), len(gains)), float(never.max()), False
    if mixed and highest.min() >= -noise:
        weights = _weak(gains, max(least, noise), noise, name)
        if weights is not None:
            return weights, float((weights @ gains).max()), False
    return None


def _strict(gains: Floats, least: float, name: str) -> Floats | None:
    """A mixture that gains more than ``least`` everywhere, or None."""
    scale = float(np.abs(gains).max())
    weights, worst, most = _best_worst(gains / scale, np.zeros(gains.shape[1]), name)
    least = max(least / scale, _ROUNDING)
    if worst > least:
        return weights
    if most > least + _SOLVER:
        raise _undecided(name)
    return None


def _weak(gains: Floats, least: float, noise: float, name: str) -> Floats | None:
    """A mixture that loses nowhere more than rounding explains and somewhere gains more than ``least``, or None."""
    scales = np.abs(gains).max(axis=0)
    some = scales > noise
    # Each column relative to its largest gain: what is lost on a small one matters as much as on a large one.
    small, scales = gains[:, some] / scales[some], scales[some]
    lost = _ROUNDING + noise / scales
    if _best_worst(small, lost, name)[2] < 0:
        return None
    gained = -(small @ scales) / scales.max()
    for result in _solved(c=gained, A_ub=-small.T, b_ub=lost, A_eq=np.ones((1, len(small))), bounds=(0, None)):
        # What never loses gains no more than this in sum. What is gained by losing a little is not counted.
        belief = scales / scales.max() + np.maximum(-result.ineqlin.marginals, 0)
        most = float((small @ belief).max()) * scales.max()
        if most <= least + _ROUNDING * float((np.abs(small) @ belief).max()) * scales.max():
            return None
        weights = _normal(result.x)
        gained = weights @ small * scales
        if gained.min() >= -max(least, 4 * noise):
            return weights if gained.max() > least else None
    raise _undecided(name)


def _best_worst(gains: Floats, lost: Floats, name: str) -> tuple[Floats, float, float]:
    """The mixture whose worst gain, with ``lost`` added, is largest; that gain, and a proof that none has more."""
    others, columns = gains.shape
    found = []
    program = {
        "c": np.append(np.zeros(others), -1.0),  # the last variable is t
        "A_ub": np.column_stack([-gains.T, np.ones(columns)]),
        "b_ub": lost,
        "A_eq": np.append(np.ones(others), 0.0)[None],
        "bounds": [(0, None)] * others + [(None, None)],
    }
    for result in _solved(**program):
        weights, belief = _normal(result.x[:-1]), _normal(-result.ineqlin.marginals)
        worst, most = float((weights @ gains + lost).min()), float((gains @ belief).max() + lost @ belief)
        found.append((weights, worst, most))
        if most - worst <= _SOLVER:
            break
    if not found:
        raise _undecided(name)
    return min(found, key=lambda one: one[2] - one[1])


def _one(action: Any, count: int) -> Floats:
    weights = np.zeros(count)
    weights[action] = 1.0
    return weights


def _solved(**program: Any) -> Iterator[Any]:
    """What the solver finds in each of its settings in turn, where it finds anything."""
    for options in _SETTINGS:
        result = _linprog(**program, b_eq=[1.0], method="highs-ds", options=options)
        if result.status == 0:
            yield result


def _linprog(**program: Any) -> Any:
    from scipy.optimize import linprog  # half a second to import, and few ask for dominance

    return linprog(**program)


def _normal(weights: Floats) -> Floats:
    positive = np.maximum(weights, 0)
    return positive / positive.sum()


def _undecided(name: str) -> InvalidGame:
    return InvalidGame(
        f"whether a mixture dominates {name} cannot be told: the payoffs differ too much in size; "
        "use a larger tolerance, or mixed=False"
    )
