"""One step of EM against scikit-learn's, weights against repetition, and a likelihood that never falls."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from potentia.beliefs.em import Points, drop_dead, expect, new_components, new_work, refresh, run_em, total_weight

TINY = 1e-300  # a floor that nothing reaches
examples = settings(max_examples=25, deadline=None, derandomize=True)


def points_of(at, weights=None):
    at = np.asarray(at, float)
    weights = np.ones(len(at)) if weights is None else np.asarray(weights, float)
    return Points(at, weights, np.ones(len(at)), len(at))


def some_points(seed, count, dimensions):
    random = np.random.default_rng(seed)
    return random.standard_normal((count, dimensions)) @ random.standard_normal((dimensions, dimensions))


def some_mixture(seed, number, dimensions, room=None):
    random = np.random.default_rng(seed)
    mixture = new_components(room or number, dimensions)
    mixture.weight[:number] = random.dirichlet(np.full(number, 5.0))
    mixture.mean[:number] = random.standard_normal((number, dimensions))
    roots = random.standard_normal((number, dimensions, dimensions))
    mixture.covariance[:number] = roots @ roots.swapaxes(1, 2) + 0.5 * np.eye(dimensions)
    return mixture


def copied(mixture):
    return type(mixture)(*(part.copy() for part in mixture))


def em(points, mixture, number, steps, floor=TINY, tolerance=-math.inf):
    work = new_work(points.number, len(mixture.weight), mixture.mean.shape[1])
    likelihood, taken = run_em(points, mixture, number, floor, steps, tolerance, work)
    return likelihood, taken, work


# Scikit-learn -----------------------------------------------------------------------------------------


def sklearn_step(at, mixture):
    """The same step by scikit-learn, and the log-likelihoods before and after."""
    peer = GaussianMixture(
        len(mixture.weight),
        weights_init=mixture.weight,
        means_init=mixture.mean,
        precisions_init=np.linalg.inv(mixture.covariance),
        reg_covar=0.0,
        max_iter=1,
        tol=0.0,
        init_params="random",
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one step is meant
        peer.fit(at)
    return peer, peer.lower_bound_ * len(at), peer.score(at) * len(at)


def assert_is_the_step(peer, mixture):
    np.testing.assert_allclose(mixture.weight, peer.weights_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(mixture.mean, peer.means_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(mixture.covariance, peer.covariances_, rtol=1e-8, atol=1e-10)


CASES = [(d, number) for d in (1, 2, 3, 5) for number in (1, 2, 4)]


@pytest.mark.parametrize(("dimensions", "number"), CASES)
def test_one_step_is_scikit_learns(dimensions, number):
    at = some_points(dimensions, 80, dimensions)
    mixture = some_mixture(number, number, dimensions)
    peer, before, after = sklearn_step(at, mixture)
    likelihood, taken, _ = em(points_of(at), copied(mixture), number, 0)
    assert taken == 0
    assert likelihood == pytest.approx(before, rel=1e-8)
    likelihood, taken, work = em(points_of(at), mixture, number, 1)
    assert taken == 1
    assert likelihood == pytest.approx(after, rel=1e-8)
    assert_is_the_step(peer, mixture)
    np.testing.assert_allclose(work.posterior, peer.predict_proba(at), rtol=1e-8, atol=1e-12)


def test_negative_control_wrong_steps_are_noticed():
    at = some_points(2, 80, 2)
    start = some_mixture(3, 3, 2)
    peer, _, _ = sklearn_step(at, start)
    right = copied(start)
    em(points_of(at), right, 3, 1)
    about_the_old_mean = copied(right)
    moved = right.mean - start.mean
    about_the_old_mean.covariance[:] += moved[:, :, np.newaxis] * moved[:, np.newaxis]
    unbiased = copied(right)
    unbiased.covariance[:] *= 80 / 79
    unnormalised = copied(right)
    unnormalised.weight[:] *= 1 + 1e-7
    for wrong in (about_the_old_mean, unbiased, unnormalised, start):
        with pytest.raises(AssertionError):
            assert_is_the_step(peer, wrong)
    assert_is_the_step(peer, right)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_terms_are_the_logarithms_of_the_density(dimensions):
    at, mixture = some_points(1, 9, dimensions), some_mixture(2, 1, dimensions)
    points, work = points_of(at), new_work(9, 1, dimensions)
    refresh(mixture, 0, TINY, work)
    likelihood = expect(points, mixture, 0, 1, False, work)
    wanted = stats.multivariate_normal(mixture.mean[0], mixture.covariance[0]).logpdf(at).sum()
    assert likelihood == pytest.approx(wanted + 9 * math.log(mixture.weight[0]), rel=1e-12)


# Weights ----------------------------------------------------------------------------------------------


@examples
@given(
    st.lists(st.integers(0, 4), min_size=12, max_size=12).filter(lambda w: sum(w) > 3),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_a_weight_is_a_repetition(weights, dimensions, number):
    at = some_points(7, 12, dimensions)
    once, repeated = some_mixture(5, number, dimensions), some_mixture(5, number, dimensions)
    one = em(points_of(at, weights), once, number, 3, floor=0.01)
    many = em(points_of(np.repeat(at, weights, axis=0)), repeated, number, 3, floor=0.01)
    assert one[0] == pytest.approx(many[0], rel=1e-9, abs=1e-9)
    for part, wanted in zip(once, repeated, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-8, atol=1e-8)


def test_negative_control_a_weight_that_is_ignored_is_noticed():
    at, weights = some_points(7, 12, 2), np.arange(12)
    once, repeated = some_mixture(5, 2, 2), some_mixture(5, 2, 2)
    em(points_of(at), once, 2, 3)
    em(points_of(np.repeat(at, weights, axis=0)), repeated, 2, 3)
    assert not np.allclose(once.mean, repeated.mean, rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_the_scale_of_weights_does_not_matter(scale):
    at = some_points(7, 20, 2)
    plain, scaled = some_mixture(5, 2, 2), some_mixture(5, 2, 2)
    likelihood, _, _ = em(points_of(at), plain, 2, 4)
    other, _, _ = em(points_of(at, np.full(20, scale)), scaled, 2, 4)
    assert other == pytest.approx(likelihood * scale, rel=1e-12)
    np.testing.assert_allclose(scaled.covariance, plain.covariance, rtol=1e-12)


def test_points_without_weight_and_beyond_the_number_count_for_nothing():
    at = some_points(7, 12, 2)
    plain, padded = some_mixture(5, 2, 2), some_mixture(5, 2, 2)
    em(points_of(at[:8]), plain, 2, 2)
    points = Points(np.r_[at[:8], at], np.r_[np.ones(8), np.zeros(2), np.ones(10)], np.ones(20), 10)
    assert total_weight(points) == 8
    em(points, padded, 2, 2)
    for part, wanted in zip(padded, plain, strict=True):
        np.testing.assert_array_equal(part, wanted)


# The likelihood ---------------------------------------------------------------------------------------


def likelihoods(points, mixture, number, steps, floor):
    return np.array([em(points, mixture, number, min(step, 1), floor)[0] for step in range(steps + 1)])


def falls(values):
    """Whether a likelihood falls by more than rounding."""
    return bool((np.diff(values) < -1e-11 * np.abs(values[1:])).any())


@examples
@given(st.integers(0, 1000), st.integers(1, 3), st.integers(1, 4), st.sampled_from([1e-6, 1e-2, 1.0, 30.0]))
def test_the_likelihood_never_falls_even_at_the_floor(seed, dimensions, number, floor):
    at = np.round(some_points(seed, 14, dimensions), 1)
    at[:5] = at[0]  # a spot on which a component collapses
    mixture = some_mixture(seed, number, dimensions)
    mixture.mean[0], mixture.covariance[0] = at[0], floor * np.eye(dimensions)
    found = likelihoods(points_of(at), mixture, number, 12, floor)
    assert np.isfinite(found).all()
    assert not falls(found)
    alive = mixture.weight > 0
    assert np.linalg.eigvalsh(mixture.covariance[alive]).min() >= floor * (1 - 1e-9)


def test_negative_control_a_floor_that_is_added_makes_the_likelihood_fall():
    """Regularising the usual way, by adding to the diagonal, is no maximisation."""
    at, mixture = some_points(3, 40, 2), some_mixture(3, 2, 2)
    found = [em(points_of(at), mixture, 2, 60)[0]]
    for _ in range(3):
        em(points_of(at), mixture, 2, 1)
        mixture.covariance[:] += 0.05 * np.eye(2)
        found.append(em(points_of(at), mixture, 2, 0)[0])
    assert falls(np.array(found))


def test_a_covariance_at_the_floor_keeps_its_axes():
    mixture = new_components(1, 3)
    axes, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    mixture.weight[0], mixture.covariance[0] = 1.0, axes * [4.0, 1e-9, 0.5] @ axes.T
    refresh(mixture, 0, 0.1, new_work(1, 1, 3))
    np.testing.assert_allclose(mixture.covariance[0], axes * [4.0, 0.1, 0.5] @ axes.T, atol=1e-12)


@pytest.mark.parametrize("entry", [math.nan, math.inf, -1.0])
def test_an_impossible_covariance_becomes_the_floor(entry):
    mixture = new_components(1, 2)
    mixture.weight[0], mixture.covariance[0] = 1.0, np.full((2, 2), entry)
    with np.errstate(invalid="ignore"):
        refresh(mixture, 0, 0.25, new_work(1, 1, 2))
    assert np.isfinite(mixture.covariance).all()
    assert np.linalg.eigvalsh(mixture.covariance[0]).min() >= 0.25 * (1 - 1e-12)


def test_a_component_without_points_dies_and_is_dropped():
    at = some_points(1, 20, 2)
    mixture = some_mixture(1, 3, 2)
    mixture.mean[1] = 1e6
    _, _, work = em(points_of(at), mixture, 3, 1)
    assert mixture.weight[1] == 0.0
    assert (work.posterior[:, 1] == 0.0).all()
    kept = copied(mixture)
    assert drop_dead(kept, 3) == 2
    np.testing.assert_array_equal(kept.mean[:2], mixture.mean[[0, 2]])
    np.testing.assert_array_equal(kept.covariance[:2], mixture.covariance[[0, 2]])
    assert kept.weight[:2].sum() == pytest.approx(1.0, abs=1e-12)


def test_points_far_from_every_component_are_shared_by_the_nearest():
    at = [[1e4, 0.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.5]]
    mixture = new_components(2, 2)
    mixture.weight[:] = 0.5
    mixture.mean[1] = 10.0, 0.0
    mixture.covariance[:] = np.eye(2)
    likelihood, _, work = em(points_of(at), mixture, 2, 0)
    assert work.posterior[0].tolist() == [0.0, 1.0]
    assert np.isfinite(likelihood)


def test_em_stops_when_it_gains_less_than_the_tolerance():
    at = some_points(1, 60, 2)
    found = likelihoods(points_of(at), some_mixture(1, 2, 2), 2, 50, TINY) / 60
    _, taken, _ = em(points_of(at), some_mixture(1, 2, 2), 2, 50, tolerance=1e-3)
    assert 1 < taken < 50
    assert np.diff(found)[taken - 1] <= 1e-3 < np.diff(found)[taken - 2]
