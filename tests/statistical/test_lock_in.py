"""SOQL stays at a profile as often as the product of its second proposition says, step by step; wrong products fail.

With 2,000 runs a ϑ off by 0.1, one player more or less, or a product that begins at c = 2 is rejected each time.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import potentia as pt
from potentia.analysis import lock_in
from tests.statistical.laws import ALPHA

RUNS = 2000
STEPS = (1, 2, 4, 12)


def stayed(vartheta, players, weight=None, **options):
    """In how many runs everybody played the star action at each of the first m steps, for m of STEPS.

    Its score is the best at first, and together they get more than any score. X(0) has ϑ on it, as if players had
    had nothing on it and moved once.
    """
    payoffs = -np.ones((players, *[2] * players))
    payoffs[(slice(None), *[1] * players)] = 10.0
    weight = vartheta if weight is None else weight
    rule = pt.rule(
        "soql",
        vartheta=vartheta,
        xi=0,
        initial=[[0.0, 1.0]] * players,
        initial_strategies=[[1.0 - weight, weight]] * players,
        **options,
    )
    batch = pt.run_batch(pt.games.NormalForm(payoffs), rule, STEPS[-1], range(RUNS), start=[0] * players)
    star = batch.profile.values[:, 1:].all(axis=2)
    return [int(star[:, :m].all(axis=1).sum()) for m in STEPS]


def p_of(count, probability):
    return stats.binomtest(count, RUNS, probability).pvalue


@pytest.mark.parametrize(
    ("vartheta", "players", "options"),
    [
        (0.5, 2, {}),
        (0.6, 3, {"mu": 0.7}),
        (0.3, 1, {"form": "pair"}),
        (0.5, 2, {"lag": False, "mu": 0.6}),
    ],
)
def test_runs_that_stay(vartheta, players, options):
    counts = stayed(vartheta, players, **options)
    for m, count in zip(STEPS, counts, strict=True):
        assert p_of(count, lock_in(vartheta, players, m)) > ALPHA / 20
    m, count = STEPS[-1], counts[-1]
    assert p_of(count, lock_in(vartheta + 0.1, players, m)) < ALPHA
    assert p_of(count, lock_in(vartheta - 0.1, players, m)) < ALPHA
    assert p_of(count, lock_in(vartheta, players + 1, m)) < ALPHA
    assert p_of(count, lock_in(vartheta, players, m) / lock_in(vartheta, players, 1)) < ALPHA, "without c = 1"


def test_players_that_begin_with_more_stay_more_often():
    """Then the product is a lower bound, and 1 - (1-x)(1-ϑ)^c in place of its factors is exact."""
    count = stayed(0.5, 2, weight=0.8)[-1]
    exact = np.prod([(1 - 0.2 * 0.5**c) ** 2 for c in range(STEPS[-1])])
    assert p_of(count, exact) > ALPHA
    assert p_of(count, lock_in(0.5, 2, STEPS[-1])) < ALPHA
    assert count / RUNS > lock_in(0.5, 2, STEPS[-1])
