"""Long runs spend their time as the stationary law says; many short runs end as the n-step law says."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from tests import games, oracle
from tests.statistical.laws import ALPHA, p_of_counts, p_of_visits
from tests.statistical.test_one_step import CASES

STEPS = 3_000_000


def gibbs(game, tau):
    """The law proportional to exp(potential / tau)."""
    return np.array(oracle.softmax([game.potential(s) for s in oracle.profiles(game)], tau))


@pytest.mark.parametrize("make", [games.separable, games.congestion, games.coordination], ids=lambda f: f.__name__)
def test_lll_spends_its_time_by_the_gibbs_law(make):
    game, tau = make(), 0.5
    assert game.has_potential
    matrix = oracle.matrix(game, oracle.lll(game, tau))
    trace = pt.run(game, pt.rule("lll", tau=tau), STEPS, seed=1, record="visits")
    assert trace.visits.sum() == STEPS
    assert p_of_visits(trace.visits, matrix, gibbs(game, tau)) > ALPHA
    assert p_of_visits(trace.visits, matrix, gibbs(game, 1.05 * tau)) < ALPHA


@pytest.mark.parametrize("name", [name for name in CASES if name != "best-response"])
def test_visits_follow_the_stationary_law(name):
    game = games.normal_form()
    right, wrong = CASES[name]
    trace = pt.run(game, games.RULES[name], STEPS, seed=2, record="visits")
    matrix = oracle.matrix(game, right(game))
    assert p_of_visits(trace.visits, matrix, oracle.stationary(matrix)) > ALPHA
    for law in wrong.values():
        other = oracle.stationary(oracle.matrix(game, law(game)))
        # A wake rate or a trial set may leave the stationary law as it is; then there is nothing to catch here.
        if np.abs(other - oracle.stationary(matrix)).max() > 0.01:
            assert p_of_visits(trace.visits, matrix, other) < ALPHA


@pytest.mark.parametrize("name", CASES)
def test_seeds_are_independent_samples_of_the_n_step_law(name):
    """Draws must be independent over steps and over seeds: exact law after five steps from one start."""
    game = games.normal_form()
    right, _ = CASES[name]
    matrix = oracle.matrix(game, right(game))
    batch = pt.run_batch(game, games.RULES[name], 5, range(3000), start=[0, 0, 0], record=(), workers=2)
    ends = np.ravel_multi_index(tuple(batch.final.values.T.astype(int)), game.num_actions)
    counts = np.bincount(ends, minlength=len(matrix))
    assert p_of_counts(counts, np.linalg.matrix_power(matrix, 5)[0]) > ALPHA
    assert p_of_counts(counts, np.linalg.matrix_power(matrix, 4)[0]) < ALPHA


@pytest.mark.parametrize(
    "schedule",
    [
        pt.rules.Geometric(3.0, 0.1),
        pt.rules.Logarithmic(1.0, rate=5.0),
        pt.rules.Piecewise([(0, 3.0), (3, 0.2), (5, 0.5)]),
    ],
    ids=lambda s: s.kind,
)
def test_a_schedule_gives_each_step_its_own_temperature(schedule):
    """The exact law after six steps is a product of six different matrices."""
    game, steps = games.normal_form(), 6
    batch = pt.run_batch(game, pt.rule("lll", tau=schedule), steps, range(4000), start=[0, 0, 0], record=())
    ends = np.ravel_multi_index(tuple(batch.final.values.T.astype(int)), game.num_actions)
    counts = np.bincount(ends, minlength=game.num_profiles)
    taus = [schedule.at(n, horizon=steps) for n in range(steps)]
    for order, fits in ((taus, True), (taus[::-1], False)):
        law = np.eye(game.num_profiles)[0]
        for tau in order:
            law = law @ oracle.matrix(game, oracle.lll(game, tau))
        assert (p_of_counts(counts, law) > ALPHA) == fits


def test_random_starts_are_uniform():
    game = games.normal_form()
    batch = pt.run_batch(game, pt.rule("lll", tau=1.0), 0, range(6000), record=())
    starts = np.ravel_multi_index(tuple(batch.final.values.T.astype(int)), game.num_actions)
    assert p_of_counts(np.bincount(starts, minlength=12), np.full(12, 1 / 12)) > ALPHA
    skewed = np.arange(20, 32) / np.arange(20, 32).sum()
    assert p_of_counts(np.bincount(starts, minlength=12), skewed) < ALPHA
