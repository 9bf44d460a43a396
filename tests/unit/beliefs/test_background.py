"""A mixture with a background: a component of constant density, of which the weight is fitted."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import potentia as pt
from potentia.beliefs import Communication, Mixture, SplitMerge
from potentia.beliefs.em import FLAT_WEIGHT, Points, new_components, new_work, run_em
from potentia.games import Coverage, World, gaussian_world
from tests.belief_oracle import HILLS, begin, bits, mixture, split_merge, warm
from tests.coverage_cases import Case

TRUE = gaussian_world((16, 14), [0.35, 0.65], [[5, 4.5], [11, 9]], [[[2.0, 0.6], [0.6, 1.5]], [[1.6, 0], [0, 2.4]]])
LEVEL = 0.004  # 0.9 in all: the background is nearly half
RAISED = World(TRUE.worth + LEVEL)


# EM ---------------------------------------------------------------------------------------------------


def some_points(seed, count=40):
    random = np.random.default_rng(seed)
    return Points(random.normal(0, 3, (count, 2)), random.uniform(0, 2, count), np.ones(count), count)


def some_mixture(seed, number, flat):
    random = np.random.default_rng(seed + 1000)
    mixture, work = new_components(number, 2), new_work(40, number, 2)
    mixture.weight[:] = random.dirichlet(np.ones(number)) * (1 - flat)
    mixture.mean[:] = random.normal(0, 3, (number, 2))
    mixture.covariance[:] = np.eye(2) * random.uniform(0.5, 4, number)[:, None, None]
    work.flat[FLAT_WEIGHT] = flat
    return mixture, work


def by_numpy(points, mixture, flat, floor=0.1):
    """One step of EM, and the likelihood before it, from the definitions."""
    parts = zip(mixture.weight, mixture.mean, mixture.covariance, strict=True)
    columns = [weight * multivariate_normal(mean, cov).pdf(points.at) for weight, mean, cov in parts]
    terms = np.stack([*columns, np.full(points.number, flat / points.number)], axis=1)
    shares = points.weight[:, None] * terms / terms.sum(axis=1, keepdims=True)
    means = (shares.T @ points.at)[:-1] / shares.sum(axis=0)[:-1, None]
    return points.weight @ np.log(terms.sum(axis=1)), shares.sum(axis=0) / points.weight.sum(), means


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), number=st.integers(1, 3), flat=st.floats(0.01, 0.95))
def test_a_step_of_em_is_by_definition_and_the_likelihood_never_falls(seed, number, flat):
    points = some_points(seed)
    mixture, work = some_mixture(seed, number, flat)
    before, weights, means = by_numpy(points, mixture, flat)
    assert run_em(points, mixture, number, 0.1, 0, 0.0, work)[0] == pytest.approx(before, rel=1e-9)
    after, _ = run_em(points, mixture, number, 0.1, 1, 0.0, work)
    np.testing.assert_allclose([*mixture.weight, work.flat[FLAT_WEIGHT]], weights, rtol=1e-7, atol=1e-11)
    np.testing.assert_allclose(mixture.mean, means, rtol=1e-6, atol=1e-7)
    for _ in range(4):
        before, (after, _) = after, run_em(points, mixture, number, 0.1, 1, 0.0, work)
        assert after >= before - 1e-9 * abs(before)
    assert mixture.weight.sum() + work.flat[FLAT_WEIGHT] == pytest.approx(1.0)


# What is found ----------------------------------------------------------------------------------------


@functools.cache
def fitted(background):
    """Everything surveyed, and EM to the end."""
    patient = {"survey": "all", "em_steps": 150, "settle_steps": 60, "tolerance": 0.0, "recall": False, "floor": 0.05}
    game = Coverage(RAISED, robots=2, delta=1.0)
    belief = Mixture(2, background=background, **patient)
    (view,) = pt.begin(game, pt.rule("blll", tau=1.0), 0, belief=belief, compiled=False).beliefs
    return view


def test_what_was_planted_is_found():
    view, truth = fitted(True), TRUE.mixture
    order = np.argsort(view.weights)
    assert view.background == pytest.approx(LEVEL, rel=0.02)
    np.testing.assert_allclose(view.means[order], truth.means, atol=0.03)
    np.testing.assert_allclose(view.covariances[order], truth.covariances, atol=0.12)
    np.testing.assert_allclose(view.weights[order], truth.weights / RAISED.worth.sum(), rtol=0.03)
    assert view.error(RAISED.worth) < 0.01


def test_without_a_background_it_is_not():
    view, truth = fitted(False), TRUE.mixture
    assert view.background == 0.0
    assert view.error(RAISED.worth) > 20 * fitted(True).error(RAISED.worth)
    assert view.covariances[:, 0, 0].max() > 3 * truth.covariances[:, 0, 0].max()


# Runs -------------------------------------------------------------------------------------------------

HIGH = Case(World(HILLS.worth + 0.01, mixture=HILLS.mixture), (1.5,) * 3, (0.0,) * 3)
BELIEFS = {
    "split-merge": split_merge(4, background=True, growth=0.0, recall=False),
    "near": mixture(2, background=True, communication=Communication(3), recall=False),
}


@functools.cache
def played(which):
    return begin(HIGH, warm("joint"), BELIEFS[which], 3).advance(20)


@pytest.mark.parametrize("which", BELIEFS)
def test_predictions_are_the_density_and_the_level(which):
    y, x = np.mgrid[:8, :8] + 0.5
    for view in played(which).beliefs:
        parts = zip(view.weights, view.means, view.covariances, strict=True)
        density = sum(w * multivariate_normal(m, c).pdf(np.stack([x, y], axis=-1)) for w, m, c in parts)
        rest = view.worth - view.background
        np.testing.assert_allclose(rest, density * (rest.sum() / density.sum()), rtol=1e-9, atol=1e-15)
        assert view.background > 0.0
        assert view.weights.sum() < 1.0


def test_the_background_is_one_parameter():
    """One component of all weight but the background's: the first proposal's AIC, by hand."""
    first = played("split-merge").trace().proposals[0]
    again = begin(HIGH, warm("joint"), BELIEFS["split-merge"], 3).advance(first.time)
    (view,) = again.beliefs
    assert not first.accepted  # so that the mixture is still the one before
    cells = np.argwhere(view.seen)
    worth = HIGH.world.worth[view.seen]
    weights = worth / worth.sum() * (worth.sum() ** 2 / (worth**2).sum())
    parts = zip(view.weights, view.means, view.covariances, strict=True)
    density = sum(w * multivariate_normal(m, c).pdf(cells[:, ::-1] + 0.5) for w, m, c in parts)
    density += (1 - view.weights.sum()) / len(cells)
    assert first.aic_before == pytest.approx(2 * 6 * first.before - 2 * weights @ np.log(density), rel=1e-9)


@pytest.mark.parametrize("which", BELIEFS)
def test_chunks_and_saving_do_not_matter(tmp_path, which):
    run = begin(HIGH, warm("joint"), BELIEFS[which], 3).advance(3).advance(6)
    run.save(tmp_path / "run.npz")
    loaded = pt.load(tmp_path / "run.npz", HIGH.game, BELIEFS[which], compiled=False)
    assert bits(loaded.advance(11).trace()) == bits(played(which).trace())


def test_recordings_and_figures_tell_it():
    trace = played("near").trace()
    kept = trace.recording(beliefs_every=10)
    levels = [one.background for one in kept.belief(2)]
    assert levels == [view.background for view in trace.beliefs]
    drawn = pt.figures.belief_figure(HIGH.game, trace.beliefs)
    assert any("background 0.0" in axes.get_title() for axes in drawn.axes)


def test_it_is_off_unless_asked_for():
    assert not SplitMerge().background
    plain = begin(HIGH, warm("joint"), mixture(2), 3).advance(5)
    assert "mind.model.flat" not in plain.game.remembers
    assert "belief_background" not in plain.trace().recording(beliefs_every=5).arrays
