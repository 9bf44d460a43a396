"""Rules with a memory, found by playing every way: against enumeration of histories, and the theorems about them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain, laws_over_tau, potential, stability
from tests import memory_oracle

HOW_MANY = [10, pytest.param(200, marks=pytest.mark.long)]


def small_games(count, seed):
    """Whole payoffs: 2×2 and 2×3 for two players."""
    random = np.random.default_rng(seed)
    for k in range(count):
        yield pt.games.NormalForm(random.integers(0, 5, size=(2, 2, 2 + k % 5 // 4)))


def found_by(game, rule):
    return {tuple(p) for p in stability(game, rule).stable_profiles.tolist()}


@pytest.mark.parametrize("count", HOW_MANY)
def test_payoff_based_learning_is_what_histories_give(count):
    for game in small_games(count, 1):
        rule, make = pt.rule("payoff-based", tau=0.8, m=2), memory_oracle.payoff_based
        wanted = memory_oracle.profile_law(game, make(game, math.exp(-1 / 0.8), 2))
        solved = chain(game, rule)
        np.testing.assert_allclose(solved.over_profiles(solved.stationary()), wanted, atol=1e-12)
        assert found_by(game, rule) == memory_oracle.stable_profiles(game, lambda eps: make(game, eps, 2))  # noqa: B023


@pytest.mark.parametrize("count", HOW_MANY)
def test_adaptive_play_is_what_histories_give(count):
    for k, game in enumerate(small_games(count, 2)):
        memory, sample = [(2, 1), (2, 2), (1, 1)][k % 3]
        rule, make = pt.rule("adaptive-play", tau=0.8, memory=memory, sample=sample), memory_oracle.adaptive_play
        wanted = memory_oracle.profile_law(game, make(game, math.exp(-1 / 0.8), memory, sample))
        np.testing.assert_allclose(laws_over_tau(game, rule, [0.8])[0], wanted, atol=1e-12)
        stable = memory_oracle.stable_profiles(game, lambda eps: make(game, eps, memory, sample))  # noqa: B023
        assert found_by(game, rule) == stable


def test_samples_of_three():
    """Memory 3, sample 2: every pair of rows is drawn alike; and three players, one of whom may not reach all."""
    game = pt.games.NormalForm(np.random.default_rng(5).integers(0, 5, size=(2, 2, 2)))
    made = memory_oracle.adaptive_play(game, math.exp(-1 / 0.5), 3, 2)
    rule = pt.rule("adaptive-play", tau=0.5, memory=3, sample=2)
    np.testing.assert_allclose(laws_over_tau(game, rule, [0.5])[0], memory_oracle.profile_law(game, made), atol=1e-12)
    line = [pt.games.path_moves(size) for size in (3, 2, 2)]
    game = pt.games.NormalForm(np.random.default_rng(6).integers(0, 5, size=(3, 3, 2, 2)), moves=line)
    made = memory_oracle.adaptive_play(game, math.exp(-1 / 0.5), 1, 1)
    solved = chain(game, pt.rule("adaptive-play", tau=0.5, memory=1, sample=1))
    np.testing.assert_allclose(solved.stationary(), memory_oracle.profile_law(game, made), atol=1e-12)


def test_sums_that_differ_by_rounding_are_ties():
    """Against a sample of both columns the two rows have three tenths each, as 0.1 + 0.2 and as 0.3 + 0.0."""
    rule = pt.rule("adaptive-play", tau=0.5, memory=2, sample=2)
    game = np.array([[[1, 2], [3, 0]], [[0, 3], [2, 1]]])
    ones, tenths = (stability(pt.games.NormalForm(game / unit), rule) for unit in (1, 10))
    np.testing.assert_array_equal(tenths.stochastic_potential, ones.stochastic_potential)
    np.testing.assert_allclose(tenths.limit, ones.limit, atol=1e-12)


# Theorems ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.long)])
def test_payoff_based_learning_maximises_the_potential(count):
    """Marden & Shamma: with m above twice the largest change of a utility, exactly the maximisers; with less, not."""
    random = np.random.default_rng(3)
    broken = 0
    for _ in range(count):
        phi = random.integers(0, 6, size=(2, 2))
        beside = [random.integers(0, 6, size=(1, 2)), random.integers(0, 6, size=(2, 1))]
        game = pt.games.NormalForm([phi + beside[0], phi + beside[1]])
        best = {tuple(p) for p in np.argwhere(phi == phi.max()).tolist()}
        np.testing.assert_allclose(potential(game) - potential(game).max(), phi - phi.max(), atol=1e-12)
        steps = max(np.ptp(phi, axis=0).max(), np.ptp(phi, axis=1).max())
        assert found_by(game, pt.rule("payoff-based", tau=0.1, m=2 * steps + 1.0)) == best
        broken += found_by(game, pt.rule("payoff-based", tau=0.1, m=0.01)) != best
    assert broken > 0, "m plays no part: then the theorem is tested with nothing"


def test_risk_dominance_under_mistakes():
    """Kandori, Mailath & Rob: a population that meets pairwise settles where most mistakes are needed to leave."""
    for bilateral, efficient, dominant in (([[5, 0], [3, 4]], 0, 1), ([[6, 4], [0, 7]], 1, 0)):
        row = np.array(bilateral, float)
        assert row[efficient, efficient] == row.max()
        assert row[dominant].sum() > row[efficient].sum()
        game = _population(row, [[i, j] for i in range(4) for j in range(i)])
        for who in ("one", "all"):
            assert found_by(game, pt.rule("mistakes", who=who, tau=0.2)) == {(dominant,) * 4}
        assert found_by(game, pt.rule("lll", tau=0.2)) == {(dominant,) * 4}, "in these games it is the maximiser, too"


def _population(bilateral, edges):
    """Everybody plays the symmetric bilateral game with each neighbour."""
    players = max(max(edge) for edge in edges) + 1
    shape = (2,) * players
    payoffs = np.zeros((players, *shape))
    for profile in np.ndindex(shape):
        for i, j in edges:
            payoffs[(i, *profile)] += bilateral[profile[i], profile[j]]
            payoffs[(j, *profile)] += bilateral[profile[j], profile[i]]
    return pt.games.NormalForm(payoffs)


@pytest.mark.parametrize("memory", [3, pytest.param(4, marks=pytest.mark.long)])
def test_risk_dominance_under_adaptive_play(memory):
    """Young: the convention that risk-dominates, not the efficient one.

    He asks for samples of at most half of the memory; here a row less will do, with a quarter of the states.
    """
    bilateral = np.array([[5.0, 0.0], [3.5, 3.0]])  # the first is efficient, the second better against a coin
    game = pt.games.NormalForm([bilateral, bilateral.T])
    assert found_by(game, pt.rule("adaptive-play", tau=0.2, memory=memory, sample=2)) == {(1, 1)}


def test_states_show_profile_and_memory():
    game = pt.game("stag-hunt")
    solved = chain(game, pt.rule("adaptive-play", tau=0.5, memory=2, sample=1))
    assert solved.size == 20
    assert solved.name(solved.place((0, 1))) == "(0, 1) with history [[-1,-1]]"
    assert len(solved.places((0, 1))) == 5
    assert solved.memories[0]["history"].shape == (1, 2)
    assert solved.stationary()[solved.place((0, 1))] == 0.0, "before the first step: never again"
    times = solved.hitting_times([(1, 1)])
    assert (times[solved.places((1, 1))] == 0).all()
    assert math.isclose(solved.over_profiles(solved.stationary()).sum(), 1.0)
