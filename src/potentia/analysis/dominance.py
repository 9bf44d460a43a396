"""Dominated actions and their iterated elimination.

A strategy x of player i, pure or mixed, strictly dominates its action a iff x pays more than a whatever the
others do: Σ_b x_b u^i(b, ·) > u^i(a, ·). It dominates a weakly iff it never pays less and somewhere more. An
action may be dominated by a mixture and by no action (Pearce 1984); a linear program decides.

Strict: maximise t such that Σ_b x_b u^i(b, s) - u^i(a, s) ≥ t for all s in A^{-i}. Its dual is a belief y on
A^{-i} against which no action gains more than t over a. Weak: maximise the sum of the gains such that none is
negative. Its dual is a y of at least 1 everywhere. Nothing is taken from the solver unseen: what x gains is
evaluated again, and where it is not enough, y must prove that nothing is.

``tolerance`` is relative to the spread of the player's payoffs; payoffs that differ by less are equal. Moves
play no part: dominance is about all of A^i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog  # type: ignore[import-untyped, unused-ignore]

from potentia.analysis.equilibria import slack
from potentia.analysis.tables import check_tolerance, payoff_table
from potentia.errors import InvalidGame
from potentia.games import Game
from potentia.kernel.arrays import frozen, strides

# Relative to the largest gain in a linear program: what sums may round to, and what its optimum may be off by.
_ROUNDING = 1e-12
_SOLVER = 1e-9
# Mixtures that only just tie are hard on the solver; what one setting leaves open another may decide.
_TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_SETTINGS: tuple[dict[str, Any], ...] = (_TIGHT, {**_TIGHT, "presolve": False}, {"presolve": False}, {})


@dataclass(frozen=True, eq=False)
class Dominated:
    """An action and a strategy that dominates it: ``by`` has a weight for each action of the player.

    ``strict`` says whether the action is strictly dominated. ``margin`` is then the smallest gain of ``by``
    over the action, and otherwise the largest one.
    """

    player: int
    action: int
    by: NDArray[np.float64]
    margin: float
    strict: bool


@dataclass(frozen=True, eq=False)
class Reduced:
    """What iterated elimination leaves: the actions of each player, and what each round removed."""

    kept: list[list[int]]
    rounds: list[list[Dominated]]


def dominated(game: Game, *, weakly: bool = False, mixed: bool = True, tolerance: float = 1e-9) -> list[Dominated]:
    """Every dominated action, by player and action, each with a strategy that dominates it.

    Strictly dominated ones only, or with ``weakly`` the others too. An action is preferred to a mixture as the
    dominator; without ``mixed`` only actions count.
    """
    tolerance = check_tolerance(tolerance)
    table = payoff_table(game)
    return _dominated(game, table, [list(range(size)) for size in game.num_actions], weakly, mixed, tolerance)


def iterated(game: Game, *, weakly: bool = False, mixed: bool = True, tolerance: float = 1e-9) -> Reduced:
    """Remove dominated actions, again and again until none is left.

    Each round removes all actions that are dominated in what the round before left. For strict dominance the
    order makes no difference; for weak dominance another order may leave other actions.
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
    game: Game, table: NDArray[np.float64], kept: list[list[int]], weakly: bool, mixed: bool, tolerance: float
) -> list[Dominated]:
    """The dominated ones of the actions that are kept, against what is kept of the others."""
    found = []
    for player, actions in enumerate(kept):
        if len(actions) == 1:
            continue
        least = slack(table[player], tolerance)
        payoffs = _kept_payoffs(game, table[player], kept, player)
        for k, action in enumerate(actions):
            name = f"action {action} of player {player}"
            # halves: the difference of two finite numbers may be infinite
            gains = np.delete(payoffs, k, axis=0) / 2 - payoffs[k] / 2
            result = _dominator(gains, least / 2, weakly, mixed, name)
            if result is not None:
                weights, margin, strict = result
                by = np.zeros(int(game.sizes[player]))
                by[np.delete(actions, k)] = weights
                found.append(Dominated(player, action, frozen(by), 2 * margin, strict))
    return found


def _kept_payoffs(game: Game, values: NDArray[np.float64], kept: list[list[int]], player: int) -> NDArray[np.float64]:
    """The player's payoffs: its actions by those of the others."""
    places = np.zeros(1, np.int64)
    for other, stride in enumerate(strides(game.sizes)):
        if other != player:
            places = (places[:, None] + np.array(kept[other]) * stride).ravel()
    return values[np.array(kept[player])[:, None] * strides(game.sizes)[player] + places]


def _dominator(
    gains: NDArray[np.float64], least: float, weakly: bool, mixed: bool, name: str
) -> tuple[NDArray[np.float64], float, bool] | None:
    """Weights on the other actions that dominate, their margin and whether strictly; None where nothing does.

    ``gains`` are those of each other action (rows) in each of the others' profiles; up to ``least`` they are 0.
    """
    equal = np.where(np.abs(gains) <= least, 0.0, gains)
    scale = float(np.abs(equal).max())
    if scale == 0 or (equal.max(axis=0) < 0).any():  # nothing differs, or the action is the only best one somewhere
        return None
    pure = np.eye(len(gains))
    worst = equal.min(axis=1)
    strict = int(worst.argmax())
    if worst[strict] > 0:
        return pure[strict], float(gains[strict].min()), True
    solve = mixed and len(gains) > 1
    weights = None
    feasible = True  # whether some mixture may never lose
    if solve and ((equal.max(axis=0) > 0).all() or weakly):
        weights, feasible = _best_worst(equal / scale, least / scale, name)
    if weights is not None:
        return weights, float((weights @ gains).min()), True
    if not weakly:
        return None
    never_worse = np.flatnonzero((worst >= 0) & (equal.max(axis=1) > 0))
    if never_worse.size:
        weights = pure[never_worse[gains[never_worse].max(axis=1).argmax()]]
    elif solve and feasible:
        weights = _never_worse(equal / scale, least / scale, name)
    return None if weights is None else (weights, float((weights @ gains).max()), False)


def _best_worst(gains: NDArray[np.float64], least: float, name: str) -> tuple[NDArray[np.float64] | None, bool]:
    """Weights that strictly dominate, or None; and whether any lose nowhere more than the tolerance."""
    others, columns = gains.shape
    for options in _SETTINGS:
        result = linprog(
            c=np.append(np.zeros(others), -1.0),  # the last variable is t
            A_ub=np.column_stack([-gains.T, np.ones(columns)]),
            b_ub=np.zeros(columns),
            A_eq=np.append(np.ones(others), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * others + [(None, None)],
            method="highs-ds",
            options=options,
        )
        if result.status != 0:
            continue
        weights = _normal(result.x[:-1])
        worst = float((weights @ gains).min())
        if worst > max(least, _ROUNDING):
            return weights, True
        most = float((gains @ _normal(-result.ineqlin.marginals)).max())  # nothing has a larger worst gain
        if most <= max(least, worst) + _SOLVER:
            return None, most >= -max(least, _ROUNDING)
    raise _undecided(name)


def _never_worse(gains: NDArray[np.float64], least: float, name: str) -> NDArray[np.float64] | None:
    """Weights that never lose and somewhere gain, or None."""
    others, columns = gains.shape
    least = max(least, _SOLVER)
    # At first nothing may be lost. Where the solver cannot tell, because mixtures tie up to rounding, a little may.
    for loss, options in [(0.0, _TIGHT), *((least / 2, options) for options in _SETTINGS)]:
        result = linprog(
            c=-gains.sum(axis=1),
            A_ub=-gains.T,
            b_ub=np.full(columns, loss),
            A_eq=np.ones((1, others)),
            b_eq=[1.0],
            bounds=(0, None),
            method="highs-ds",
            options=options,
        )
        if result.status != 0:
            continue
        weights = _normal(result.x)
        gained = weights @ gains
        belief = 1 + np.maximum(-result.ineqlin.marginals, 0)
        # What never loses gains no more than this in sum. What is gained by losing a little is not counted.
        most = float((gains @ belief).max())
        rounding = _ROUNDING * float((np.abs(gains) @ belief).max())
        if most <= least + rounding or (loss > 0 and gained.max() <= least):
            return None
        if gained.max() > least and gained.min() >= -max(2 * loss, _ROUNDING):
            return weights
    raise _undecided(name)


def _normal(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    positive = np.maximum(weights, 0)
    return positive / positive.sum()


def _undecided(name: str) -> InvalidGame:
    return InvalidGame(
        f"whether a mixture dominates {name} cannot be told: the payoffs differ too much in size; "
        "use a larger tolerance, or mixed=False"
    )
