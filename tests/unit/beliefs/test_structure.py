"""Splits and merges: what they keep, what they leave alone, and which they choose."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from potentia.beliefs.em import Points, expect, new_components, new_work, refresh, run_em
from potentia.beliefs.proposal import EXCHANGE, MERGE, SPLIT, STAY, Effort, Plan, propose
from potentia.beliefs.structure import (
    akaike,
    best_merge,
    best_split,
    hold,
    merge,
    merge_score,
    num_parameters,
    partial_em,
    split,
    split_by,
    split_score,
)
from tests.unit.beliefs.test_em import copied, points_of, some_mixture, some_points

examples = settings(max_examples=40, deadline=None, derandomize=True)
FLOOR = 1e-6


def settled(points, mixture, number, floor=FLOOR):
    """Room with the posteriors of a mixture."""
    work = new_work(points.number, len(mixture.weight), mixture.mean.shape[1])
    for j in range(number):
        refresh(mixture, j, floor, work)
    expect(points, mixture, 0, number, False, work)
    return work


# Split and merge --------------------------------------------------------------------------------------


def test_a_merged_component_is_where_the_heavier_one_was():
    mixture, out = new_components(2, 1), new_components(2, 1)
    mixture.weight[:], mixture.mean[:, 0], mixture.covariance[:, 0, 0] = (0.75, 0.25), (0.0, 4.0), (1.0, 5.0)
    merge(mixture, 2, 0, 1, out)
    assert (out.weight[0], out.mean[0, 0], out.covariance[0, 0, 0]) == (1.0, 1.0, 2.0)


@examples
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.floats(0.01, 10.0), st.floats(0, 7) | st.none())
def test_merging_what_was_split_restores_mass_and_mean(seed, dimensions, number, spread, angle):
    mixture = some_mixture(seed, number, dimensions, number + 1)
    work = new_work(1, number + 1, dimensions)
    for j in range(number):
        refresh(mixture, j, FLOOR, work)
    k = seed % number
    halves, whole = new_components(number + 1, dimensions), new_components(number + 1, dimensions)
    split(mixture, number, k, math.nan if angle is None else angle, spread, halves, work)
    assert halves.weight[number - 1] == halves.weight[number] == 0.5 * mixture.weight[k]
    assert np.linalg.norm(halves.mean[number] - halves.mean[number - 1]) > 0
    merge(halves, number + 1, number - 1, number, whole)
    others = [j for j in range(number) if j != k]
    for part, before in zip(whole, mixture, strict=True):
        np.testing.assert_array_equal(part[: number - 1], before[others])
    assert whole.weight[number - 1] == mixture.weight[k]
    np.testing.assert_allclose(whole.mean[number - 1], mixture.mean[k], rtol=0, atol=1e-13 * (1 + 10 * spread))


def test_negative_control_a_split_to_one_side_does_not_restore_the_mean():
    mixture, work = some_mixture(0, 1, 2, 2), new_work(1, 2, 2)
    refresh(mixture, 0, FLOOR, work)
    halves, whole = new_components(2, 2), new_components(2, 2)
    split(mixture, 1, 0, 0.0, 1.0, halves, work)
    halves.mean[1] = mixture.mean[0]
    merge(halves, 2, 0, 1, whole)
    assert not np.allclose(whole.mean[0], mixture.mean[0], atol=1e-3)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_split_has_the_volume_of_what_was_split(dimensions):
    """Eq. 51: round, with the determinant of the whole."""
    mixture, work = some_mixture(4, 1, dimensions, 2), new_work(1, 2, dimensions)
    refresh(mixture, 0, FLOOR, work)
    out, shift = new_components(2, dimensions), np.arange(1.0, dimensions + 1)
    split_by(mixture, 1, 0, shift, out, work)
    np.testing.assert_array_equal(out.mean, [mixture.mean[0] + shift, mixture.mean[0] - shift])
    for half in out.covariance:
        np.testing.assert_allclose(half, half[0, 0] * np.eye(dimensions), atol=1e-15)
        assert np.linalg.det(half) == pytest.approx(np.linalg.det(mixture.covariance[0]), rel=1e-12)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_without_an_angle_the_split_is_along_the_principal_axis(dimensions):
    mixture, work = some_mixture(8, 1, dimensions, 2), new_work(1, 2, dimensions)
    refresh(mixture, 0, FLOOR, work)
    out = new_components(2, dimensions)
    split(mixture, 1, 0, math.nan, 2.0, out, work)
    _, axes = np.linalg.eigh(mixture.covariance[0])
    apart = 0.5 * (out.mean[0] - out.mean[1])
    width = math.sqrt(out.covariance[0, 0, 0])
    np.testing.assert_allclose(np.abs(axes.T @ apart), [*[0.0] * (dimensions - 1), 2.0 * width], atol=1e-6)


# Partial EM -------------------------------------------------------------------------------------------


@examples
@given(st.integers(0, 1000), st.integers(1, 3), st.integers(2, 4), st.sampled_from([1e-6, 0.5]))
def test_partial_em_leaves_the_others_as_they_are(seed, dimensions, number, floor):
    points = points_of(some_points(seed, 15, dimensions))
    mixture = some_mixture(seed, number, dimensions, number + 1)
    work = settled(points, mixture, number, floor)
    hold(points, 0, 0, work)
    out = new_components(number + 1, dimensions)
    split(mixture, number, 0, math.nan, 0.5, out, work)
    before = copied(out)
    steps = partial_em(points, out, number - 1, number + 1, floor, 3, 0.0, work)
    assert 1 <= steps <= 3
    for part, was, original in zip(out, before, mixture, strict=True):
        assert part[: number - 1].tobytes() == was[: number - 1].tobytes() == original[1:number].tobytes()
        assert not np.array_equal(part[number - 1 :], was[number - 1 :])
    # up to a half that died
    assert out.weight[number - 1 :].sum() == pytest.approx(mixture.weight[0], rel=1e-9)


def test_partial_em_shares_out_what_is_held():
    points = points_of(some_points(3, 30, 2))
    mixture = some_mixture(3, 3, 2, 4)
    work = settled(points, mixture, 3)
    together = work.posterior[:, 0].copy()
    hold(points, 0, 0, work)
    out = new_components(4, 2)
    split(mixture, 3, 0, 0.3, 0.5, out, work)
    partial_em(points, out, 2, 4, FLOOR, 5, 0.0, work)
    np.testing.assert_allclose(work.posterior[:, 2:4].sum(axis=1), together, rtol=1e-12)
    hold(points, 1, 2, work)
    np.testing.assert_array_equal(work.held, work.posterior[:, 1] + work.posterior[:, 2])


def test_partial_em_of_a_merged_pair_has_the_moments_of_their_data():
    points = points_of(some_points(3, 30, 2), np.arange(1.0, 31.0))
    mixture = some_mixture(3, 3, 2)
    work = settled(points, mixture, 3)
    shares = points.weight * (work.posterior[:, 0] + work.posterior[:, 2])
    hold(points, 0, 2, work)
    out = new_components(3, 2)
    merge(mixture, 3, 0, 2, out)
    partial_em(points, out, 1, 2, FLOOR, 1, 0.0, work)
    np.testing.assert_allclose(out.mean[1], np.average(points.at, axis=0, weights=shares), rtol=1e-12)
    np.testing.assert_allclose(out.covariance[1], np.cov(points.at.T, aweights=shares, bias=True), rtol=1e-12)
    assert out.weight[1] == pytest.approx(mixture.weight[0] + mixture.weight[2], rel=1e-14)


def test_partial_em_of_a_split_improves_on_its_share_of_the_data():
    random = np.random.default_rng(0)
    points = points_of(np.r_[random.standard_normal((20, 2)), random.standard_normal((20, 2)) + 6.0])
    mixture = new_components(2, 2)
    mixture.weight[0] = 1.0
    likelihood, _ = run_em(points, _with_identity(mixture), 1, FLOOR, 3, 0.0, work := new_work(40, 2, 2))
    hold(points, 0, 0, work)
    out = new_components(2, 2)
    split(mixture, 1, 0, math.nan, 0.9, out, work)
    partial_em(points, out, 0, 2, FLOOR, 20, 1e-6, work)
    found, _ = run_em(points, out, 2, FLOOR, 0, 0.0, work)
    assert found > likelihood + 20
    np.testing.assert_allclose(np.sort(out.mean[:, 0]), [0.0, 6.0], atol=0.6)


def _with_identity(mixture):
    mixture.covariance[:] = np.eye(mixture.mean.shape[1])
    return mixture


def test_partial_em_of_nothing_does_nothing():
    points, mixture = points_of(some_points(1, 5, 2)), some_mixture(1, 2, 2)
    work, before = new_work(5, 2, 2), copied(mixture)
    assert partial_em(points, mixture, 0, 2, FLOOR, 3, 0.0, work) == 0
    for part, was in zip(mixture, before, strict=True):
        np.testing.assert_array_equal(part, was)


# Proposals --------------------------------------------------------------------------------------------


def proposed(points, mixture, number, plan, steps):
    dimensions = mixture.mean.shape[1]
    work = settled(points, mixture, number)
    out, spare = new_components(number + 1, dimensions), new_components(number, dimensions)
    trial, trace = new_work(points.number, number + 1, dimensions)._replace(held=work.held), np.zeros(steps + 1)
    taken, _ = propose(
        *(points, mixture, number, plan, Effort(FLOOR, 4, 0.0, steps, 0.0, -math.inf, 0)),
        *(trace, spare, out, work, trial),
    )
    return out, trace[: taken + 1], trial


@pytest.mark.parametrize(
    ("kind", "untouched", "after"), [(SPLIT, [0, 1, 2], 5), (MERGE, [2, 3], 3), (EXCHANGE, [2], 4)]
)
def test_a_proposal_touches_what_it_is_about(kind, untouched, after):
    points = points_of(some_points(3, 40, 2))
    mixture = some_mixture(3, 4, 2, 5)
    before = copied(mixture)
    out, trace, trial = proposed(points, mixture, 4, Plan(kind, 0, 1, 3, np.array([0.5, 0.2])), 0)
    for part, was, now in zip(mixture, before, out, strict=True):
        np.testing.assert_array_equal(part, was)
        assert now[: len(untouched)].tobytes() == was[untouched].tobytes()
    assert out.weight[:after].sum() == pytest.approx(1.0, abs=1e-9)
    assert (out.weight[:after] > 0).all()
    work = new_work(40, 5, 2)
    assert run_em(points, copied(out), after, FLOOR, 0, 0.0, work)[0] == trace[0]
    np.testing.assert_array_equal(work.posterior[:, :after], trial.posterior[:, :after])


def test_an_exchange_splits_the_component_that_was_meant():
    """Wherever it stands beside the pair that is merged."""
    points = points_of(some_points(3, 40, 2))
    mixture = some_mixture(3, 4, 2, 5)
    for i, j, k in [(1, 2, 0), (0, 2, 1), (0, 1, 2), (1, 3, 2), (2, 3, 1)]:
        work = settled(points, mixture, 4)
        trial = new_work(40, 5, 2)._replace(held=work.held)
        out, spare = new_components(5, 2), new_components(4, 2)
        shift = np.array([0.5, 0.2])
        effort = Effort(FLOOR, 0, 0.0, 0, 0.0, -math.inf, 0)
        propose(points, mixture, 4, Plan(EXCHANGE, i, j, k, shift), effort, np.zeros(1), spare, out, work, trial)
        np.testing.assert_allclose(out.mean[2:4], [mixture.mean[k] + shift, mixture.mean[k] - shift], rtol=1e-14)
        volume = np.linalg.det(mixture.covariance[k])
        assert np.linalg.det(out.covariance[3]) == pytest.approx(volume, rel=1e-9)
        assert out.weight[1] == pytest.approx(mixture.weight[i] + mixture.weight[j], rel=1e-14)
        held = work.posterior[:, [i, j, k]].sum(axis=1)
        np.testing.assert_allclose(work.held, held, rtol=1e-12)


def test_a_proposal_takes_the_steps_of_em():
    points = points_of(some_points(3, 40, 2))
    mixture = some_mixture(3, 3, 2, 4)
    out, trace, _ = proposed(points, mixture, 3, Plan(SPLIT, 0, 0, 1, np.array([0.5, 0.2])), 6)
    again, first, _ = proposed(points, mixture, 3, Plan(SPLIT, 0, 0, 1, np.array([0.5, 0.2])), 0)
    assert trace[0] == first[0]
    likelihood, taken = run_em(points, again, 4, FLOOR, 6, 0.0, new_work(40, 4, 2))
    assert taken == 6 == trace.size - 1
    assert likelihood == trace[-1]
    for part, wanted in zip(out, again, strict=True):
        np.testing.assert_array_equal(part, wanted)


def test_em_gives_up_where_the_goal_is_out_of_reach():
    points = points_of(some_points(3, 40, 2))
    mixture = some_mixture(3, 2, 2)
    plan, work = Plan(STAY, 0, 0, 0, np.zeros(2)), new_work(40, 2, 2)
    taken = {}
    for goal in (-math.inf, 0.0):
        out, trace = copied(mixture), np.zeros(51)
        effort = Effort(FLOOR, 0, 0.0, 50, 1e-6, goal, 2)
        taken[goal] = propose(points, mixture, 2, plan, effort, trace, mixture, out, work, work)
    assert taken[0.0][1]
    assert taken[0.0][0] < taken[-math.inf][0]


# Scores -----------------------------------------------------------------------------------------------


def on_a_grid(density):
    """A density on a fine grid of the line, and the Gaussian with its moments."""
    x = np.linspace(-12, 12, 801)
    weight = density(x) * (x[1] - x[0])
    points = Points(x[:, np.newaxis], weight, np.full(x.size, x[1] - x[0]), x.size)
    mixture = new_components(1, 1)
    mixture.weight[0] = 1.0
    mean = float(weight @ x)
    mixture.mean[0], mixture.covariance[0] = mean, weight @ (x - mean) ** 2
    return points, mixture, settled(points, mixture, 1)


def test_the_split_score_is_the_divergence_from_the_gaussian():
    points, mixture, work = on_a_grid(stats.norm(0.3, 1.2).pdf)
    assert split_score(points, mixture, 0, work) == pytest.approx(0.0, abs=1e-9)
    mixture.mean[0], mixture.covariance[0] = 0.8, 2.0
    refresh(mixture, 0, FLOOR, work)
    exact = 0.5 * (math.log(2.0 / 1.44) + (1.44 + 0.25) / 2.0 - 1.0)
    assert split_score(points, mixture, 0, work) == pytest.approx(exact, abs=1e-9)


def test_the_split_score_is_higher_for_two_peaks():
    def peaks(apart):
        return lambda x: 0.5 * (stats.norm(-apart, 1).pdf(x) + stats.norm(apart, 1).pdf(x))

    scores = [split_score(*args[:2], 0, args[2]) for args in map(on_a_grid, map(peaks, (0.0, 1.0, 2.0, 4.0)))]
    assert scores == sorted(scores)
    assert scores[-1] > 0.3
    assert abs(scores[0]) < 0.01


def test_the_split_score_of_a_component_that_died_is_the_lowest():
    points, mixture, work = on_a_grid(stats.norm.pdf)
    mixture.weight[0] = 0.0
    assert split_score(points, mixture, 0, work) == -math.inf
    work.posterior[:] = 0.0
    assert split_score(points, mixture, 0, work) == -math.inf


def test_the_merge_score_is_the_overlap_of_posteriors():
    points = points_of(some_points(3, 20, 2), np.arange(20.0))
    work = settled(points, mixture := some_mixture(3, 3, 2), 3)
    assert mixture.weight.min() > 0
    for j, k in [(0, 1), (0, 2), (1, 2)]:
        wanted = (points.weight * work.posterior[:, j] * work.posterior[:, k]).sum()
        assert merge_score(points, j, k, work) == pytest.approx(wanted, rel=1e-12)
        assert merge_score(points, j, k, work) == merge_score(points, k, j, work)


def test_the_best_split_and_the_best_merge():
    """One component on two clusters, two on one."""
    random = np.random.default_rng(1)
    at = np.concatenate([random.standard_normal((150, 2)) + centre for centre in ([0, 0], [8, 0], [30, 30])])
    mixture = new_components(3, 2)
    mixture.weight[:] = 1 / 6, 2 / 3, 1 / 6
    mixture.mean[:] = [30.2, 30.0], [4.0, 0.0], [29.8, 30.0]
    mixture.covariance[:] = np.eye(2)
    mixture.covariance[1, 0, 0] = 17.0
    points = Points(at, np.ones(450), np.full(450, 0.05), 450)
    work = settled(points, mixture, 3)
    assert best_split(points, mixture, 3, work) == 1
    assert best_merge(points, 3, work) == (0, 2)


@pytest.mark.parametrize(("number", "dimensions", "wanted"), [(1, 1, 2), (2, 1, 5), (1, 2, 5), (3, 2, 17), (2, 3, 19)])
def test_parameters_are_counted(number, dimensions, wanted):
    assert num_parameters(number, dimensions) == wanted
    assert akaike(-100.0, number, dimensions) == 2 * wanted + 200
