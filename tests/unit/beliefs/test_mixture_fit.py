"""Fitting a mixture: planted ones are found, bad data are refused, and nothing depends on units, order or compiler."""

from __future__ import annotations

import math
import os
import signal
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from potentia.beliefs import Fitted, fit
from potentia.beliefs.em import new_components, new_work
from potentia.beliefs.proposal import EXCHANGE, MERGE, SPLIT, STAY, Effort, Plan, propose_entry, scores_entry
from potentia.beliefs.scattering import scatter, volumes
from potentia.errors import InvalidBelief, NotConverged, TooLarge
from tests.planted_mixtures import planted, recovered
from tests.unit.bad import case, refuses
from tests.unit.beliefs.test_em import falls, points_of, some_mixture, some_points
from tests.unit.beliefs.test_structure import settled

NAN, INF = math.nan, math.inf


def clusters(count=100, apart=8.0, dimensions=2, seed=0):
    """Two of them, of the same size."""
    random = np.random.default_rng(seed)
    return random.standard_normal((count, dimensions)) + np.where(np.arange(count) % 2, apart, 0.0)[:, np.newaxis]


def assert_same(first, second):
    """Bit for bit."""
    for name in ("weights", "means", "covariances"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for name in ("log_likelihood", "aic", "bic", "num_components"):
        assert getattr(first, name) == getattr(second, name)
    assert [(m.kind, m.which, m.accepted) for m in first.history] == [
        (m.kind, m.which, m.accepted) for m in second.history
    ]


# Planted mixtures -------------------------------------------------------------------------------------


def found(seeds, dimensions=2, separation=5.0, **options):
    """Of so many planted mixtures, how many a fit recovers."""
    truths = [planted(seed, dimensions, separation=separation) for seed in seeds]
    return sum(recovered(truth, fit(truth.points, **options)) for truth in truths)


@pytest.mark.parametrize(("dimensions", "draws"), [(1, 5), (2, 12), (3, 5)])
@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_planted_mixtures_are_recovered(dimensions, draws, criterion):
    assert found(range(draws), dimensions, criterion=criterion) == draws


def test_negative_control_components_that_overlap_are_not_recovered():
    assert found([3, 4, 8, 9, 13, 14], separation=0.7) <= 1


def test_negative_control_the_plain_minimum_of_aic_has_too_many():
    """What ``caution`` is for."""
    assert found(range(8), criterion="aic", caution=0, most=8) <= 6


def test_one_gaussian_is_one_component_and_not_three():
    three, one = planted(2), planted(5)
    assert [len(three.weights), len(one.weights)] == [3, 1]
    fitted = fit(one.points)
    assert fitted.num_components == 1
    np.testing.assert_allclose(fitted.means[0], one.points.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(fitted.covariances[0], np.cov(one.points.T, bias=True), rtol=1e-9)
    assert recovered(one, fitted)
    assert not recovered(three, fitted)
    assert not recovered(one, fit(one.points, components=3))


def test_negative_control_wrong_parameters_are_not_recovered():
    truth = planted(2)
    right = {"weights": truth.weights, "means": truth.means, "covariances": truth.covariances}
    turned = np.roll(np.arange(3), 1)
    assert recovered(truth, SimpleNamespace(**{name: part[turned] for name, part in right.items()}))
    wrong = {
        "weights": truth.weights[::-1],
        "means": truth.means + np.array([[0, 0], [0, 0], [1, 0]]),
        "covariances": truth.covariances * [[[1]], [[2]], [[1]]],
    }
    for name, part in wrong.items():
        assert not recovered(truth, SimpleNamespace(**{**right, name: part}))


def by_sklearn(truth, criterion, **options):
    """The best of 1 to 8 components."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        peers = [GaussianMixture(m, random_state=0, **options).fit(truth.points) for m in range(1, 9)]
    best = min(peers, key=lambda peer: getattr(peer, criterion)(truth.points))
    return SimpleNamespace(weights=best.weights_, means=best.means_, covariances=best.covariances_)


@pytest.mark.long
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_hundred_planted_mixtures(dimensions):
    truths = [planted(seed, dimensions) for seed in range(100)]
    ours = {name: sum(recovered(t, fit(t.points, criterion=name)) for t in truths) for name in ("bic", "aic")}
    peers = sum(recovered(t, by_sklearn(t, "aic")) for t in truths)
    assert ours["bic"] >= 95
    assert ours["aic"] >= peers
    assert found(range(100), dimensions, criterion="aic", caution=0) < 95  # the negative control


def test_a_mixture_is_fitted_no_worse_than_by_scikit_learn():
    points = planted(3, separation=2.5).points
    with threadpool_limits(1):  # with more, it takes longer
        peer = GaussianMixture(4, n_init=2, tol=1e-5, max_iter=300, random_state=0).fit(points)
    assert fit(points, components=4).log_likelihood >= peer.score(points) * len(points) - 1e-2


# Likelihood, criteria and history ---------------------------------------------------------------------


def spiky():
    """Spots, lines and a cloud, on which components collapse."""
    random = np.random.default_rng(0)
    spot, line = np.tile([5.0, 5.0], (30, 1)), np.c_[random.standard_normal(40), np.full(40, -3.0)]
    return np.r_[spot + 1e-9 * random.standard_normal((30, 2)), spot[:1], line, random.standard_normal((40, 2))]


ROUGH = {
    "spots and lines": (spiky(), {}),
    "high floor": (clusters(), {"floor": 0.3, "components": 4}),
    "integers": (np.random.default_rng(1).integers(0, 4, (300, 2)), {}),
    "long tails": (np.random.default_rng(2).standard_cauchy((200, 2)), {"criterion": "aic", "caution": 0}),
    "too many": (np.random.default_rng(3).standard_normal((30, 2)), {"components": 10}),
    "overlapping": (planted(3, separation=1.5).points, {"criterion": "aic", "caution": 0, "most": 8}),
}


@pytest.mark.parametrize("name", ROUGH)
def test_the_likelihood_never_falls_between_moves(name):
    points, options = ROUGH[name]
    fitted = fit(points, **options)
    assert not any(map(falls, fitted.likelihoods))
    assert not any(falls(move.likelihoods) for move in fitted.history)
    assert len(fitted.likelihoods) == 1 + sum(move.accepted for move in fitted.history)
    assert fitted.likelihoods[-1][-1] == fitted.log_likelihood
    for part in (fitted.weights, fitted.means, fitted.covariances):
        assert np.isfinite(part).all()
    assert (fitted.weights > 0).all()
    assert fitted.weights.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_array_equal(fitted.covariances, fitted.covariances.swapaxes(1, 2))
    scale = fitted.frame.scale
    least = np.linalg.eigvalsh(fitted.covariances / np.outer(scale, scale)).min()
    assert least >= options.get("floor", 1e-6) * (1 - 1e-6)


def test_negative_control_a_fall_is_noticed():
    steps = fit(clusters(apart=2.0), components=2).likelihoods[-1]
    assert steps.size > 2
    assert falls(steps[::-1])
    assert falls(np.r_[steps, steps[-1] - 1e-8 * abs(steps[-1])])


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_the_result_has_the_best_criterion_that_was_met(criterion):
    fitted = fit(planted(3, separation=1.5).points, criterion=criterion, caution=0, most=8)
    best = getattr(fitted, criterion)
    assert all(best <= move.criterion_after + 1e-6 for move in fitted.history)
    accepted = [move for move in fitted.history if move.accepted]
    assert all(move.criterion_after < move.criterion_before for move in accepted)
    assert [move.components_before for move in accepted] == [1, *[m.components_after for m in accepted[:-1]]]
    assert accepted[-1].components_after == fitted.num_components
    assert {move.kind for move in fitted.history} == {"split", "merge", "exchange"}


def test_criteria_by_their_definition():
    points, weights = clusters(), np.arange(1, 101)
    fitted = fit(points, weights, components=2)
    likelihood = float(weights @ fitted.score_samples(points))
    parameters = 2 * 2 + 2 * 3 + 1
    assert fitted.num_components == 2
    assert fitted.log_likelihood == pytest.approx(likelihood, rel=1e-12)
    assert fitted.aic == pytest.approx(2 * parameters - 2 * likelihood, rel=1e-12)
    assert fitted.bic == pytest.approx(parameters * math.log(weights.sum()) - 2 * likelihood, rel=1e-12)
    assert fitted.score(points, weights) == pytest.approx(likelihood / weights.sum(), rel=1e-12)


def test_caution_asks_for_standard_errors():
    """Vuong's: of the sum of the log-likelihood ratios."""
    points = clusters(60, apart=3.0, seed=4)
    one, two = fit(points, components=1), fit(points, components=2)
    ratios = two.score_samples(points) - one.score_samples(points)
    errors = (one.aic - two.aic) / (2 * math.sqrt(len(points)) * ratios.std())
    assert errors > 0.5
    options = {"criterion": "aic", "most": 2}
    assert fit(points, caution=errors * 0.99, **options).num_components == 2
    assert fit(points, caution=errors * 1.01, **options).num_components == 1


def test_several_splits_may_pay_only_together():
    """Five clusters in a row, evenly spaced: two components are no better than one."""
    row = np.concatenate([np.random.default_rng(k).normal(4.0 * k, 1.0, 20) for k in range(5)])
    fitted = fit(row)
    assert fitted.num_components == 5
    first = next(move for move in fitted.history if move.accepted)
    assert (first.kind, first.components_before, first.components_after) == ("split", 1, 3)
    assert len(first.which) == 2


def test_progress_is_told_each_move():
    told = []
    fitted = fit(clusters(), progress=told.append)
    assert fitted.history == tuple(told)
    assert str(told[0]).startswith("split 0: 1 → 2 components, criterion ")
    assert sum(move.accepted for move in told) == 1


# Weights, order, units --------------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_weight_is_a_repetition(dimensions):
    points = clusters(60, dimensions=dimensions)
    weights = np.random.default_rng(1).integers(0, 5, 60)
    assert_same(fit(points, weights), fit(np.repeat(points, weights, axis=0)))


def test_negative_control_other_weights_give_another_fit():
    points, weights = clusters(60), np.random.default_rng(1).integers(1, 5, 60)
    assert not np.allclose(fit(points, weights, components=2).means, fit(points, components=2).means, rtol=1e-6)


def test_the_order_of_the_points_does_not_matter():
    points, weights = clusters(), np.random.default_rng(1).random(100)
    points[20:60] = points[0]  # whose weights are added up
    order = np.random.default_rng(0).permutation(100)
    assert_same(fit(points, weights), fit(points[order], weights[order]))


@pytest.mark.parametrize(("scale", "shift"), [((1e6, 1e-6), 0.0), (1e-3, 1e6), (1e-100, 0.0), ((1e100, 1.0), 0.0)])
def test_the_units_of_the_points_do_not_matter(scale, shift):
    points = clusters()
    plain, moved = fit(points), fit(points * scale + shift)
    assert moved.num_components == plain.num_components == 2
    np.testing.assert_allclose(moved.weights, plain.weights, rtol=1e-6)
    np.testing.assert_allclose((moved.means - shift) / scale, plain.means, rtol=1e-6, atol=1e-6)
    scale = np.broadcast_to(scale, 2)
    np.testing.assert_allclose(moved.covariances / scale / scale[:, np.newaxis], plain.covariances, rtol=1e-5)
    shifted = plain.log_likelihood - 100 * np.log(scale).sum()
    assert moved.log_likelihood == pytest.approx(shifted, rel=1e-6)


@pytest.mark.parametrize("weight", [1e300, 1e-300, 1e15, 0.01])
def test_weights_of_any_size(weight):
    points = clusters()
    fitted = fit(points, np.full(100, weight), components=2)
    np.testing.assert_allclose(fitted.means, fit(points, components=2).means, rtol=1e-9)
    assert fitted.log_likelihood == pytest.approx(fit(points, components=2).log_likelihood * weight, rel=1e-9)
    searched = fit(points, np.full(100, weight), most=4)
    assert np.isfinite([searched.aic, searched.bic]).all()
    assert searched.num_components == (1 if weight < 1 else 4)  # chance itself, or none


def test_points_without_weight_beside_heavy_ones_count_for_nothing():
    points = clusters()
    light = np.r_[points, [[50.0, 50.0]] * 4]
    fitted = fit(light, np.r_[np.full(100, 1e200), 1e-200, 0.0, 1e-300, 0.0], components=2)
    np.testing.assert_allclose(fitted.means, fit(points, components=2).means, rtol=1e-12)


def test_the_same_seed_gives_the_same_bits_and_input_is_left_alone():
    points, weights = clusters(), np.ones(100)
    before = points.copy()
    assert_same(fit(points, weights, seed=3), fit(points, weights, seed=3))
    np.testing.assert_array_equal(points, before)
    np.testing.assert_allclose(fit(points, seed=4).means, fit(points, seed=3).means, rtol=1e-5)
    with pytest.raises(ValueError, match="read-only"):
        fit(points).means[0] = 0.0


# Compiled and not -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [STAY, SPLIT, MERGE, EXCHANGE])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_compiled_proposal_has_the_bits_of_plain_python(kind, dimensions):
    points = points_of(some_points(1, 25, dimensions), np.arange(25.0))
    mixture = some_mixture(2, 3, dimensions, 4)
    results = []
    for compiled in (True, False):
        work = settled(points, mixture, 3)
        trial = new_work(25, 4, dimensions)._replace(held=work.held)
        out, spare, trace = some_mixture(5, 4, dimensions), new_components(3, dimensions), np.zeros(5)
        plan = Plan(kind, 0, 2, 1, np.full(dimensions, 0.3))
        effort = Effort(0.3, 3, 0.0, 4, 0.0, -math.inf, 0)
        args = (points, mixture, 3, plan, effort, trace, spare, out, work, trial)
        ended = propose_entry(*args, compiled=compiled)
        splits, merges = np.zeros(3), np.zeros((3, 3))
        scores_entry(points, mixture, 3, splits, merges, settled(points, mixture, 3), compiled=compiled)
        results.append((ended, b"".join(part.tobytes() for part in (*out, *trial, trace, splits, merges))))
    assert results[0] == results[1]


def test_a_fit_without_the_compiler_has_the_same_bits(monkeypatch):
    points = clusters(24, apart=6.0)
    compiled = fit(points, most=2)
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    assert_same(fit(points, most=2), compiled)
    assert compiled.num_components == 2


def test_ctrl_c_stops_a_fit():
    """In the middle, and not at its end: the second move is not made any more."""
    moves = []

    def press(move):
        moves.append(move)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fit(clusters(300, apart=2.0), criterion="aic", caution=0, progress=press)
    assert len(moves) == 1


# A number that is given -------------------------------------------------------------------------------


@pytest.mark.parametrize("components", [1, 2, 3, 7])
def test_the_number_of_components_may_be_given(components):
    fitted = fit(clusters(), components=components, criterion="aic")
    assert fitted.num_components == components
    assert fitted.criterion == "aic"
    assert sum(m.accepted and m.kind == "split" for m in fitted.history) == components - 1
    assert (np.diff(fitted.weights) <= 0).all()


def test_as_many_components_as_the_points_allow():
    assert fit([0.0, 1.0, 2.0, 10.0, 11.0, 12.0], components=3).num_components == 3
    assert fit(np.arange(6.0)).num_components <= 3
    assert fit([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).num_components == 1


def test_a_component_that_cannot_be_held_is_told(monkeypatch):
    monkeypatch.setattr("potentia.beliefs.search.drop_dead", lambda mixture, number: 1)
    refuses(lambda: fit(clusters(), components=2), NotConverged, r"no split of 1 component.*fewer than 2")


# What a fit can do ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three():
    truth = planted(2)
    return truth.points, fit(truth.points)


def test_densities_and_posteriors_are_those_of_the_mixture(three):
    points, fitted = three
    terms = np.stack(
        [
            math.log(w) + stats.multivariate_normal(m, c).logpdf(points)
            for w, m, c in zip(fitted.weights, fitted.means, fitted.covariances, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(fitted.score_samples(points), logsumexp(terms, axis=1), rtol=1e-10)
    np.testing.assert_allclose(fitted.density(points), np.exp(terms).sum(axis=1), rtol=1e-10)
    posterior = fitted.predict_proba(points)
    np.testing.assert_allclose(posterior, np.exp(terms - logsumexp(terms, axis=1, keepdims=True)), atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(points), posterior.argmax(axis=1))
    assert fitted.score(points) == pytest.approx(fitted.log_likelihood / len(points), rel=1e-12)
    assert len(np.unique(fitted.predict(points))) == 3


def test_points_anywhere_have_posteriors(three):
    _, fitted = three
    far = [[1e150, -1e150], [1e150, 1e150], [0.0, 1e9], [-1e-300, 0.0]]
    assert np.isfinite(fitted.score_samples(far)).all()
    np.testing.assert_allclose(fitted.predict_proba(far).sum(axis=1), 1.0)
    assert fitted.density(far).tolist()[:3] == [0.0, 0.0, 0.0]
    assert fitted.predict_proba(np.zeros((0, 2))).shape == (0, 3)


def test_samples_are_drawn_from_the_mixture(three):
    _, fitted = three
    drawn = fitted.sample(20_000, seed=1)
    np.testing.assert_array_equal(drawn, fitted.sample(20_000, seed=1))
    assert fitted.sample(0).shape == (0, 2)
    scores = fitted.score_samples(drawn)
    again = fitted.score_samples(fitted.sample(20_000, seed=2))
    assert stats.ks_2samp(scores, again).pvalue > 1e-6
    error = np.sqrt(fitted.weights * (1 - fitted.weights) / 20_000)
    assert (np.abs(np.bincount(fitted.predict(drawn)) / 20_000 - fitted.weights) < 6 * error).all()
    # the negative control: draws from a wider mixture
    assert stats.ks_2samp(scores, fitted.score_samples(1.05 * drawn)).pvalue < 1e-6


def test_a_list_of_numbers_has_one_dimension():
    numbers = np.r_[np.linspace(-1, 1, 40), np.linspace(9, 11, 40)].tolist()
    fitted = fit(numbers)
    assert isinstance(fitted, Fitted)
    assert fitted.means.shape == (2, 1)
    assert fitted.dimensions == 1
    np.testing.assert_allclose(np.sort(fitted.means[:, 0]), [0.0, 10.0], atol=1e-3)
    assert fitted.predict([0.0, 10.0]).tolist() == fitted.predict([[0.0], [10.0]]).tolist()
    assert str(fitted).startswith("mixture of 2 by BIC: log-likelihood ")


def test_volumes_add_up_to_the_space_that_points_fill():
    points = np.random.default_rng(0).random((4000, 2))
    shares = np.full(4000, 1 / 4000)
    inside = ((points > 0.1) & (points < 0.9)).all(axis=1)
    found = volumes(points, shares)
    assert found[inside].sum() == pytest.approx(0.64, rel=0.2)
    np.testing.assert_allclose(volumes(3.0 * points, shares), 9.0 * found, rtol=1e-9)
    heavy = np.where(np.arange(4000) % 2, 1.5, 0.5) / 4000
    np.testing.assert_allclose(volumes(points, heavy)[inside].sum(), found[inside].sum(), rtol=0.05)


def test_scattered_points_show_which_component_to_split():
    random = np.random.default_rng(1)
    points = np.r_[clusters(200, 5.0), random.standard_normal((200, 2)) * 3 + 40]
    data = scatter(points, None).points
    mixture = new_components(2, 2)
    for j, part in enumerate((data.at[:, 0] < 0, data.at[:, 0] > 0)):
        mixture.weight[j] = 0.5
        mixture.mean[j], mixture.covariance[j] = data.at[part].mean(axis=0), np.cov(data.at[part].T)
    splits = np.zeros(2)
    scores_entry(data, mixture, 2, splits, np.zeros((2, 2)), settled(data, mixture, 2))
    assert splits[0] > splits[1] + 0.1


# Bad input --------------------------------------------------------------------------------------------

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]

BAD = [
    case("ragged", lambda: fit([[1.0, 2.0], [3.0]]), r"points must be numbers of shape \(n, d\).*different lengths"),
    case("text", lambda: fit("points"), r"points must be numbers .*got 'points'"),
    case("texts", lambda: fit(["1", "2"]), r"points must be numbers .*got an array of <U1"),
    case("none", lambda: fit(None), r"points must be numbers .*got None"),
    case("booleans", lambda: fit([True, False]), r"points must be numbers .*array of bool"),
    case("complex", lambda: fit([1j, 2.0]), r"points must be numbers .*array of complex128"),
    case("a number", lambda: fit(5.0), r"points must be of shape \(n, d\).*got \(\)"),
    case("three axes", lambda: fit(np.zeros((2, 2, 2))), r"points must be of shape \(n, d\).*got \(2, 2, 2\)"),
    case("no axes", lambda: fit(np.zeros((5, 0))), r"points must be of shape \(n, d\).*got \(5, 0\)"),
    case("no points", lambda: fit([]), r"points must hold at least one point, got none"),
    case("no rows", lambda: fit(np.zeros((0, 2))), r"points must hold at least one point"),
    case("nan", lambda: fit([*SQUARE, [NAN, 0.0]]), r"points must be finite .*got nan in row 4"),
    case("infinite", lambda: fit([*SQUARE, [0.0, -INF]]), r"points must be finite .*got -inf in row 4"),
    case("enormous", lambda: fit([0.0, 1.0, 1e160]), r"at most 1e\+150 in size, got 1e\+160 in row 2"),
    case("one point", lambda: fit([[1.0, 2.0]]), r"at least 3 distinct ones .*fit 2 dimensions, got 1"),
    case("two points", lambda: fit(SQUARE[:2]), r"at least 3 distinct ones .*got 2"),
    case("one spot", lambda: fit([[1.0, 2.0]] * 9), r"at least 3 distinct ones .*got 1"),
    case("one spot on the line", lambda: fit([4.0] * 9), r"at least 2 distinct ones .*fit 1 dimensions, got 1"),
    case("one line", lambda: fit([[k, 2.0 * k + 1] for k in range(9)]), r"points must not all lie on one line"),
    case("one far line", lambda: fit([[1e6 + k, 1e6 - 0.1 * k] for k in range(9)]), r"lie on one line"),
    case("one plane", lambda: fit([[j, k, j - k] for j in range(4) for k in range(4)]), r"lie on one plane"),
    case("flat axis", lambda: fit([[k, 5.0] for k in range(9)]), r"same coordinate for all on axis 1; leave it out"),
    case("tiny spread", lambda: fit([0.0, 1e-160, 2e-160]), r"same coordinate for all on axis 0"),
    case("short weights", lambda: fit(SQUARE, [1.0]), r"weights must be of shape \(4,\), one to a point, got \(1,\)"),
    case("long weights", lambda: fit(SQUARE, np.ones((4, 1))), r"weights must be of shape \(4,\).*got \(4, 1\)"),
    case("text weights", lambda: fit(SQUARE, list("abcd")), r"weights must be numbers of shape \(4,\)"),
    case("one weight", lambda: fit(SQUARE, 1.0), r"weights must be of shape \(4,\).*got \(\)"),
    case("negative weight", lambda: fit(SQUARE, [1, 1, -1, 1]), r"not negative, got -1\.0 for point 2"),
    case("nan weight", lambda: fit(SQUARE, [1, NAN, 1, 1]), r"weights must be finite .*got nan for point 1"),
    case("infinite weight", lambda: fit(SQUARE, [1, 1, 1, INF]), r"weights must be finite .*got inf for point 3"),
    case("no weight", lambda: fit(SQUARE, [0, 0, 0, 0]), r"weights must not all be 0"),
    case("weights too large", lambda: fit(SQUARE, [1e308] * 4), r"sum to at most 1e\+304, got inf; scale them down"),
    case("weight on two", lambda: fit(SQUARE, [1, 1, 0, 0]), r"at least 3 distinct ones with a weight .*got 2"),
    case("weight on a line", lambda: fit([*SQUARE[:2], [2, 0], [0, 1]], [1, 1, 1, 0]), r"same coordinate .*axis 1"),
    case("hardly any weight", lambda: fit(SQUARE, [1, 1, 1e-200, 0]), r"at least 3 distinct ones .*got 2"),
    case("criterion", lambda: fit(SQUARE, criterion="bix"), r"one of aic, bic, got 'bix'; did you mean 'bic'\?"),
    case("criterion none", lambda: fit(SQUARE, criterion=None), r"criterion must be one of aic, bic, got None"),
    case("criterion list", lambda: fit(SQUARE, criterion=["bic"]), r"criterion must be one of aic, bic, got \['bic'\]"),
    case("components 0", lambda: fit(SQUARE, components=0), r"components must be an integer of at least 1, got 0"),
    case("components 1.0", lambda: fit(SQUARE, components=1.0), r"components must be an integer .*got 1\.0"),
    case("components True", lambda: fit(SQUARE, components=True), r"components must be an integer .*got True"),
    case("components", lambda: fit(SQUARE, components=2), r"at most 1 for 4 distinct points in 2 dimensions.*got 2"),
    case("most", lambda: fit(SQUARE, most=0), r"most must be an integer of at least 1, got 0"),
    case("floor 0", lambda: fit(SQUARE, floor=0), r"floor must be a number in \[1e-12, 1\], got 0"),
    case("floor -1", lambda: fit(SQUARE, floor=-1.0), r"floor must be a number .*got -1\.0"),
    case("floor nan", lambda: fit(SQUARE, floor=NAN), r"floor must be a number .*got nan"),
    case("floor text", lambda: fit(SQUARE, floor="1"), r"floor must be a number .*got '1'"),
    case("caution", lambda: fit(SQUARE, caution=-1), r"caution must be a number in \[0, 1e\+06\], got -1"),
    case("seed", lambda: fit(SQUARE, seed=-1), r"seed must be an integer of at least 0, got -1"),
    case("steps", lambda: fit(SQUARE, steps=1.5), r"steps must be an integer of at least 0, got 1\.5"),
    case("tolerance", lambda: fit(SQUARE, tolerance=-1e-9), r"tolerance must be a number in \[0, 1\], got -1e-09"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_fit(call, message):
    refuses(call, InvalidBelief, message)


def test_bad_questions(three):
    _, fitted = three
    refuses(lambda: fitted.score_samples([[1.0, 2.0, 3.0]]), InvalidBelief, r"points must have 2 coordinates .*got 3")
    refuses(lambda: fitted.predict([1.0, 2.0]), InvalidBelief, r"points must be of shape \(n, d\).*got \(2,\)")
    refuses(lambda: fitted.predict_proba([[NAN, 0.0]]), InvalidBelief, r"points must be finite .*got nan in row 0")
    refuses(lambda: fitted.score(SQUARE, [1.0]), InvalidBelief, r"weights must be of shape \(4,\)")
    refuses(lambda: fitted.score(np.zeros((0, 2))), InvalidBelief, r"at least one point")
    refuses(lambda: fitted.sample(-1), InvalidBelief, r"count must be an integer of at least 0, got -1")


def test_a_fit_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 20_000_000)
    points = np.random.default_rng(0).standard_normal((30_000, 2))
    refuses(lambda: fit(points), TooLarge, r"a fit of 30000 points with up to 20 components needs .*smaller most")


@pytest.mark.parametrize("shape", [(30, 2), (60, 5), (100, 10)])
def test_few_points_of_one_gaussian_are_one_component(shape):
    assert fit(np.random.default_rng(7).normal(size=shape)).num_components == 1


def test_a_collapsed_component_does_not_pay_for_itself_but_an_outlier_may_stand_apart():
    random = np.random.default_rng(0)
    assert fit(random.poisson(3, (500, 2))).num_components <= 3  # rows of integers are no components
    fitted = fit(np.concatenate([random.normal(size=(300, 2)), [[1e6, 1e6]]]))
    assert fitted.num_components == 2
    np.testing.assert_allclose(fitted.means[0], 0, atol=0.3)
    np.testing.assert_allclose(np.sqrt(np.diag(fitted.covariances[0])), 1, atol=0.2)
