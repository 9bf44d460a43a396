"""One proposal of the search for a mixture, compiled whole: the move, the partial EM, the full EM."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.em import Components, Points, Work, expect, maximise, refresh, total_weight
from potentia.beliefs.structure import hold, merge, merge_score, partial_em, split_by, split_score
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import separate

STAY, SPLIT, MERGE, EXCHANGE = 0, 1, 2, 3
KINDS = ("stay", "split", "merge", "exchange")
CHANGE = (0, 1, -1, 0)  # in the number of components


class Effort(NamedTuple):
    """How far EM goes. Tolerances are gains of the mean log-likelihood in one step."""

    floor: float
    partial_steps: int
    partial_tolerance: float
    steps: int
    tolerance: float
    goal: float  # a likelihood
    patience: int  # EM gives up where the goal is further than so many steps at the present pace


class Plan(NamedTuple):
    """A move: merge components i and j, split component k, or both."""

    kind: int
    i: int
    j: int
    k: int
    shift: NDArray[np.float64]  # (d,) from the mean of k to one of the two


def propose(
    points: Points,
    mixture: Components,
    number: int,
    plan: Plan,
    effort: Effort,
    trace: NDArray[np.float64],
    spare: Components,
    out: Components,
    work: Work,
    trial: Work,
) -> tuple[int, bool]:
    """Write what becomes of a mixture to ``out``, and the likelihood before and after each full step to ``trace``.

    Returns the steps taken and whether EM is through. Posteriors in ``work`` are those of the mixture, and those in
    ``trial`` become those of the result. To STAY is to go on with what is in ``out``.
    """
    after = _move(points, mixture, number, plan, effort, spare, out, work, trial)
    return _climb(points, out, after, effort, trace, trial)


@separate
def _move(
    points: Points,
    mixture: Components,
    number: int,
    plan: Plan,
    effort: Effort,
    spare: Components,
    out: Components,
    work: Work,
    trial: Work,
) -> int:
    """The move and the partial EM of what it made; the number of components."""
    i, j, k = plan.i, plan.j, plan.k
    after, made = number, 0
    if plan.kind == SPLIT:
        hold(points, k, k, work)
        split_by(mixture, number, k, plan.shift, out, work)
        after, made = number + 1, 2
    elif plan.kind == MERGE:
        hold(points, i, j, work)
        merge(mixture, number, i, j, out)
        after, made = number - 1, 1
    elif plan.kind == EXCHANGE:
        hold(points, i, j, work)
        for t in range(points.number):
            work.held[t] += work.posterior[t, k]
        merge(mixture, number, i, j, spare)
        moved = k - (1 if i < k else 0) - (1 if j < k else 0)
        refresh(spare, moved, effort.floor, trial)
        split_by(spare, number - 1, moved, plan.shift, out, trial)
        made = 3
    if made > 0:
        first = after - made
        partial_em(points, out, first, after, effort.floor, effort.partial_steps, effort.partial_tolerance, trial)
    return after


@separate
def _climb(
    points: Points, mixture: Components, number: int, effort: Effort, trace: NDArray[np.float64], work: Work
) -> tuple[int, bool]:
    """EM until it gains less than the tolerance, or is not on its way to the goal."""
    total = total_weight(points)
    for j in range(number):
        refresh(mixture, j, effort.floor, work)
    trace[0] = expect(points, mixture, 0, number, False, work)
    for taken in range(1, effort.steps + 1):
        for j in range(number):
            maximise(points, mixture, j, 1.0 / total, effort.floor, work)
        trace[taken] = expect(points, mixture, 0, number, False, work)
        gained = trace[taken] - trace[taken - 1]
        if gained <= effort.tolerance * total or trace[taken] + effort.patience * gained < effort.goal:
            return taken, True
    return effort.steps, False


def scores(
    points: Points,
    mixture: Components,
    number: int,
    splits: NDArray[np.float64],
    merges: NDArray[np.float64],
    work: Work,
) -> None:
    """J_split of each component, and J_merge of each pair above the diagonal."""
    for k in range(number):
        splits[k] = split_score(points, mixture, k, work)
        for j in range(k):
            merges[j, k] = merge_score(points, j, k, work)


propose_entry, scores_entry = Entry(propose), Entry(scores)
