"""What the docs say about long-run laws, solved exactly on the enumerated chains that the engine is tested against."""

from __future__ import annotations

import numpy as np
import pytest

from tests import games, oracle
from tests.statistical.test_one_step import neighbours

TAU = 0.5


def stationary(game, step):
    matrix = oracle.matrix(game, step)
    law = oracle.stationary(matrix)
    np.testing.assert_allclose(law @ matrix, law, atol=1e-12)
    return matrix, law


def weighted_gibbs(game):
    """exp(potential / tau), times the number of trial actions of each player (1 where sets are complete and equal)."""
    states = oracle.profiles(game)
    trials = [np.prod([len(game.reachable(i, a)) for i, a in enumerate(s)]) for s in states]
    weights = np.array(oracle.softmax([game.potential(s) for s in states], TAU)) * trials
    return weights / weights.sum()


def test_lll_is_reversible_under_the_gibbs_law():
    game = games.coordination()
    matrix, law = stationary(game, oracle.lll(game, TAU))
    np.testing.assert_allclose(law, oracle.softmax([game.potential(s) for s in oracle.profiles(game)], TAU), rtol=1e-9)
    flow = law[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, atol=1e-14)


@pytest.mark.parametrize("make", [games.coordination, games.path, games.congestion], ids=lambda f: f.__name__)
def test_the_guard_keeps_the_law_of_blll_and_joint_trials_do_not(make):
    game = make()
    expected = weighted_gibbs(game)
    _, blll = stationary(game, oracle.blll(game, TAU))
    np.testing.assert_allclose(blll, expected, rtol=1e-9)
    guarded = oracle.p_sblll(game, TAU, lambda i, a: 0.3, guard=True, neighbours=neighbours(game))
    np.testing.assert_allclose(stationary(game, guarded)[1], expected, rtol=1e-9)
    _, joint = stationary(game, oracle.p_sblll(game, TAU, lambda i, a: 0.3))
    assert np.abs(joint - expected).max() > 1e-3
