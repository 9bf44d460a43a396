"""Penalty functions and the choice maps they make: conditions, optimality, inverses, extremes and bits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from potentia.errors import InvalidRule
from potentia.kernel import cache, cache_folder
from potentia.rules import Burg, Gibbs, Penalty, Tsallis, penalty_from
from potentia.rules.choice import logit_weights
from potentia.rules.penalties import PenaltyData, choice_weights
from tests.unit.bad import INF, NAN, case, refuses

MAPS = [Gibbs(), Tsallis(0.2), Tsallis(0.5), Tsallis(0.9), Tsallis(1.0), Burg()]
named = pytest.mark.parametrize("penalty", MAPS, ids=lambda p: p.describe())
examples = settings(max_examples=150, deadline=None, derandomize=True)
score_lists = st.lists(st.floats(-30, 30), min_size=1, max_size=6)


def interior(count, actions=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(actions), count)


def weights(penalty, values, tau):
    out = np.full(len(values), NAN)
    total = choice_weights(penalty.data(), np.array(values, float), len(values), tau, out)
    return out, total


# The three conditions on a penalty --------------------------------------------------------------------


@named
def test_finite_inside_and_steep_at_the_boundary(penalty):
    for x in interior(50):
        assert math.isfinite(penalty.value(x))
        assert np.isfinite(penalty.gradient(x)).all()
    slopes = [np.abs(penalty.gradient([e, (1 - e) / 2, (1 - e) / 2])).max() for e in 10.0 ** -np.arange(1, 300, 20)]
    assert (np.diff(slopes) > 0).all()
    assert slopes[-1] > (100 if penalty.data().rate < 0.05 else 1e5)
    assert penalty.gradient([0.0, 0.5, 0.5])[0] == -INF


@named
def test_the_gradient_is_that_of_the_value(penalty):
    for x in interior(20) * 0.9 + 0.025:
        step = 1e-5
        for b in range(x.size):
            e = step * np.eye(x.size)[b]
            assert (penalty.value(x + e) - penalty.value(x - e)) / (2 * step) == pytest.approx(
                penalty.gradient(x)[b], rel=1e-5, abs=1e-6
            )


@named
def test_strongly_convex_inside(penalty):
    """Second differences along random directions in the simplex are those of diag(h'') and at least those of ‖v‖²."""
    random = np.random.default_rng(1)
    for x in interior(30) * 0.9 + 0.025:
        v = random.normal(size=x.size)
        v -= v.mean()
        v /= np.linalg.norm(v)
        step = 2e-4
        second = (penalty.value(x + step * v) - 2 * penalty.value(x) + penalty.value(x - step * v)) / step**2
        assert second == pytest.approx(float(v @ (v / penalty.mobility(x))), rel=1e-3)
        assert second > min(1.0, penalty.spec().get("q", 1.0)) * 0.999  # h'' ≥ q, 1 and 1 on (0, 1]


def test_what_the_paper_prints_for_burg_is_no_penalty():
    """-Σ x log x is concave: the same second differences are negative."""
    x, v = np.array([0.2, 0.3, 0.5]), np.array([1.0, -0.5, -0.5])
    second = -(Gibbs().value(x + 1e-4 * v) - 2 * Gibbs().value(x) + Gibbs().value(x - 1e-4 * v)) / 1e-8
    assert second < -1


# The choice -------------------------------------------------------------------------------------------


@named
@examples
@given(scores=score_lists, tau=st.floats(0.05, 20))
def test_the_choice_is_optimal(penalty, scores, tau):
    """KKT: p - τ h'(x) is the same number for every action, relative to how far apart the scores are."""
    x = penalty.choose(scores, tau)
    assert x.sum() == pytest.approx(1.0, abs=1e-14)
    seen = x > 1e-290  # below, a share is a denormal number or 0
    slack = (np.array(scores) - tau * penalty.gradient(x))[seen]
    assert np.ptp(slack) <= 1e-10 * max(1.0, np.ptp(scores), tau * np.abs(penalty.gradient(x)[seen]).max())


@named
def test_the_choice_is_what_scipy_finds(penalty):
    random = np.random.default_rng(2)
    for _ in range(5):
        scores, tau = random.normal(size=3), random.uniform(0.3, 2)

        def loss(z, scores=scores, tau=tau):
            x = np.exp(z - np.logaddexp.reduce(z))
            return -(x @ scores - tau * penalty.value(x))

        found = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15})
        x = np.exp(found.x - np.logaddexp.reduce(found.x))
        np.testing.assert_allclose(penalty.choose(scores, tau), x, atol=2e-6)


def test_gibbs_is_the_softmax():
    scores = np.random.default_rng(3).normal(size=(100, 5))
    expected = np.exp(scores / 0.3) / np.exp(scores / 0.3).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Gibbs().choose(scores, 0.3), expected, rtol=1e-13)
    np.testing.assert_array_equal(Tsallis(1.0).choose(scores, 0.3), Gibbs().choose(scores, 0.3))


def test_tsallis_tends_to_gibbs():
    scores = np.random.default_rng(3).normal(size=5)
    for gap in (1e-2, 1e-4, 1e-8, 1e-12, 2.0**-53):
        distance = np.abs(Tsallis(1 - gap).choose(scores) - Gibbs().choose(scores)).max()
        assert distance <= 0.5 * gap + 1e-14
        assert Tsallis(1 - gap).value([0.2, 0.8]) == pytest.approx(Gibbs().value([0.2, 0.8]), rel=2 * gap + 1e-14)


def test_closed_forms_of_two_actions():
    """Burg: 1/x - 1/(1-x) = d/τ is a quadratic equation."""
    for d in (0.0, 0.1, 1.0, 50.0, 1e6):
        low = 2 / (2 + d + math.hypot(2, d))  # of 1/x - 1/(1-x) = d
        np.testing.assert_allclose(Burg().choose([d, 0.0]), [1 - low, low], rtol=1e-13)


@named
@examples
@given(scores=score_lists, tau=st.floats(0.2, 20))
def test_scores_and_choice_are_inverses(penalty, scores, tau):
    x = penalty.choose(scores, tau)
    if x.min() > 1e-290:
        back = penalty.scores(x, tau)
        assert back.max() == 0.0
        np.testing.assert_allclose(back, np.array(scores) - max(scores), atol=1e-10 * (tau + 30))
        np.testing.assert_allclose(penalty.choose(back, tau), x, rtol=1e-11)


@named
def test_actions_are_treated_alike(penalty):
    scores = np.array([0.3, -1.0, 2.0, 0.3])
    x = penalty.choose(scores, 0.7)
    for order in itertools.permutations(range(4)):
        np.testing.assert_allclose(penalty.choose(scores[list(order)], 0.7), x[list(order)], rtol=1e-14)
    assert x[0] == x[3]
    assert x[2] > x[0] > x[1]
    np.testing.assert_allclose(penalty.choose(scores + 5.0, 0.7), x, rtol=1e-13)
    np.testing.assert_array_equal(penalty.choose(np.zeros(7)), np.full(7, 1 / 7))


@named
def test_rows_are_chosen_each_for_itself(penalty):
    scores = np.random.default_rng(4).normal(size=(3, 4, 5)) * 10
    rows = [[penalty.choose(one, 0.4) for one in block] for block in scores]
    np.testing.assert_allclose(penalty.choose(scores, 0.4), rows, rtol=1e-12)


@named
@pytest.mark.parametrize("rows", [False, True], ids=["one", "rows"])
@pytest.mark.parametrize("tau", [5e-324, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("values", [[1e300, 0.0], [1.7e308, -1.7e308], [-1e308, 1e308, 1e308], [0.0, -0.0, 1e-320]])
def test_extremes(penalty, values, tau, rows):
    x = penalty.choose([values, values], tau)[1] if rows else penalty.choose(values, tau)
    out, total = weights(penalty, values, tau)
    best = np.array(values) == max(values)
    for found in (x, out / total):
        assert (found >= 0).all()
        assert found.sum() == pytest.approx(1.0, abs=1e-15)
        assert len(set(found[best])) == 1
    if max(values) - min(values) > 1e200 * tau:
        np.testing.assert_allclose(x, best / best.sum(), atol=1e-9)


@pytest.mark.parametrize("q", [5e-324, 1e-300, 1e-8, 1 - 2**-53])
def test_the_least_and_largest_q(q):
    x = Tsallis(q).choose([0.0, -1.0, 0.0, -1e-3])
    assert np.isfinite(x).all()
    assert x.sum() == pytest.approx(1)
    out, total = weights(Tsallis(q), [0.0, -1.0, 0.0, -1e-3], 1.0)
    np.testing.assert_allclose(out / total, x, atol=1e-14)


# Compiled code ----------------------------------------------------------------------------------------


@named
def test_the_kernel_agrees_with_choose(penalty):
    """One by one for few actions, by NumPy for many."""
    random = np.random.default_rng(5)
    for _ in range(50):
        values, tau = random.normal(size=random.integers(1, 50)) * 10 ** random.uniform(-2, 2), random.uniform(0.1, 3)
        out, total = weights(penalty, values, tau)
        assert out.max() == 1.0
        np.testing.assert_allclose(out / total, penalty.choose(values, tau), rtol=1e-11, atol=1e-300)


def test_the_kernel_of_gibbs_is_the_logit_map():
    values, out, expected = np.array([0.1, 2.0, -3.0]), np.zeros(3), np.zeros(3)
    assert choice_weights(Gibbs().data(), values, 3, 0.4, out) == logit_weights(values, 3, 0.4, expected)
    np.testing.assert_array_equal(out, expected)


def _weigh(rate, factor, values, count, tau, out):
    return choice_weights(PenaltyData(rate, factor), values, count, tau, out)


def test_compiled_and_plain_python_agree_to_the_bit(monkeypatch, tmp_path):
    monkeypatch.setattr(cache_folder, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(cache, "jit_disabled", lambda: False)
    monkeypatch.setattr(cache, "entries", [])
    entry = cache.Entry(_weigh)
    random = np.random.default_rng(6)
    cases = [(random.normal(size=6) * 10 ** random.uniform(-3, 3), random.uniform(0.01, 5)) for _ in range(200)]
    cases += [(np.array([1e300, 0.0, -1.7e308, 1.7e308, 1e-320, 1e300]), tau) for tau in (1e-300, 5e-324, 1.0, 1e300)]
    for penalty in MAPS:
        for values, tau in cases:
            for count in (1, 2, 6):
                fast, slow = np.full(6, -1.0), np.full(6, -1.0)
                one = entry(*penalty.data(), values, count, tau, fast)
                two = entry(*penalty.data(), values, count, tau, slow, compiled=False)
                assert one == two
                np.testing.assert_array_equal(fast, slow)
                assert (fast[count:] == -1.0).all()
    assert entry.cache_misses == 1


# Plain data and bad input -----------------------------------------------------------------------------


def test_plain_data_and_back():
    assert penalty_from("gibbs") == Gibbs()
    assert penalty_from("burg") == Burg()
    assert penalty_from("tsallis") == Tsallis(0.5)
    assert penalty_from({"kind": "tsallis", "q": 0.3}) == Tsallis(0.3)
    for penalty in MAPS:
        assert penalty_from(penalty.spec()) == penalty
        assert penalty_from(penalty) is penalty
        assert isinstance(penalty, Penalty)
    assert Tsallis(1).data() == Gibbs().data() == (0.0, 0.0)
    with pytest.raises(AttributeError):
        Tsallis(0.3).q = 0.4


BAD = [
    case("q zero", lambda: Tsallis(0.0), r"q must be a number in \(0, 1\], got 0.0"),
    case("q above one", lambda: Tsallis(1.5), r"must be a number in \(0, 1\], got 1.5"),
    case("q nan", lambda: Tsallis(NAN), r"must be a number in \(0, 1\], got nan"),
    case("q text", lambda: Tsallis("0.5"), r"must be a number in \(0, 1\], got '0.5'"),
    case("q true", lambda: Tsallis(True), r"must be a number in \(0, 1\], got True"),
    case("misspelt", lambda: penalty_from("gibs"), "choice must be one of .*got 'gibs'; did you mean 'gibbs'"),
    case("no kind", lambda: penalty_from({"q": 0.3}), "must have a kind"),
    case("a number", lambda: penalty_from(3), "choice must be one of .*got 3"),
    case("a list", lambda: penalty_from([1]), "choice must be one of"),
    case("unknown field", lambda: penalty_from({"kind": "burg", "q": 1}), "burg penalty has no parameter 'q'"),
    case("other field", lambda: penalty_from({"kind": "tsallis", "r": 1}), r"no parameter 'r'.*\(it has q\)"),
    case("bad q as data", lambda: penalty_from({"kind": "tsallis", "q": 2}), r"\(0, 1\], got 2"),
    case("tau zero", lambda: Gibbs().choose([1, 2], 0), "tau must be a finite number > 0, got 0"),
    case("tau inf", lambda: Burg().choose([1, 2], INF), "tau must be a finite number > 0, got inf"),
    case("tau of scores", lambda: Burg().scores([0.5, 0.5], -1), "tau must be a finite number > 0, got -1"),
    case("nan scores", lambda: Gibbs().choose([1, NAN]), "scores must be finite, got nan"),
    case("no scores", lambda: Gibbs().choose([]), "one entry per action"),
    case("a single number", lambda: Gibbs().choose(1.0), "one entry per action"),
    case("ragged", lambda: Gibbs().choose([[1], [1, 2]]), "scores must be an array of numbers"),
    case("words", lambda: Gibbs().choose(["a"]), "scores must be an array of numbers"),
    case("boundary", lambda: Gibbs().scores([0.0, 1.0]), "x must be inside the simplex"),
    case("not one", lambda: Gibbs().scores([0.5, 0.6]), "x must sum to 1, got 1.1"),
    case("negative", lambda: Gibbs().value([-0.5, 1.5]), "shares of at least 0"),
    case("a matrix", lambda: Gibbs().gradient([[0.5, 0.5]]), "one share per action"),
    case("too near", lambda: Burg().scores([5e-324, 1.0]), "too near the boundary"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message):
    refuses(call, InvalidRule, message)
