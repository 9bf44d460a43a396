"""Choice functions against exact arithmetic, at ordinary numbers and at the edges of what a double holds."""

from __future__ import annotations

import math
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from potentia.rules.choice import best_weights, binary_logit, logit_pick, logit_terms, logit_weights, pick

examples = settings(max_examples=200, deadline=None, derandomize=True)


# Choice -----------------------------------------------------------------------------------------------

LARGE = 1.7e308
utilities = st.floats(-LARGE, LARGE)
halves = st.floats(-LARGE / 2, LARGE / 2)  # with differences that a double holds
temperatures = st.floats(5e-324, LARGE)
units = st.integers(0, 2**53 - 1).map(lambda k: k * 2.0**-53)
precise = Context(prec=60, Emin=-(10**15), Emax=10**15)


def exact_logit(values, tau):
    """Softmax in sixty digits, and the exponents."""
    largest = Decimal(max(values))
    exponents = [precise.divide(precise.subtract(Decimal(v), largest), Decimal(tau)) for v in values]
    weights = [precise.exp(max(x, Decimal(-(10**4)))) for x in exponents]
    total = sum(weights, Decimal(0))
    return [precise.divide(w, total) for w in weights], exponents


def assert_close(found, expected, exponent):
    """Equal but for the exponent's two roundings and those of exp, the sum and the quotient; below e^-745 it is 0."""
    allowed = expected * (3 * abs(exponent) + 16) * Decimal(2.0**-53) + Decimal("5e-324")
    assert abs(Decimal(found) - expected) <= allowed


def logit(values, tau):
    out = [0.0] * len(values)
    total = logit_weights(values, len(values), tau, out)
    return [w / total for w in out], total


@examples
@given(st.lists(halves, min_size=1, max_size=5), temperatures)
@example([0.0, 0.0, 0.0], 1e-300)
@example([1e300, -1e300, 1e300], 1e-300)
@example([1e308, -1e308], 5e-324)
@example([-1e308, -1e308], LARGE)
@example([0.1, 0.2, 0.3, 0.4], 0.05)
@example([5.0, 0.0, -5.0], 0.013)
def test_logit_is_the_exact_softmax(values, tau):
    found, _ = logit(values, tau)
    expected, exponents = exact_logit(values, tau)
    for p, q, x in zip(found, expected, exponents, strict=True):
        assert_close(p, q, x)


@examples
@given(st.lists(st.floats(-10, 10), min_size=2, max_size=5), st.floats(0.01, 10))
def test_logit_is_the_exact_softmax_at_ordinary_numbers(values, tau):
    found, _ = logit(values, tau)
    expected, exponents = exact_logit(values, tau)
    for p, q, x in zip(found, expected, exponents, strict=True):
        assert_close(p, q, x)


@examples
@given(st.lists(utilities, min_size=1, max_size=6), temperatures)
def test_logit_is_never_nan_and_sums_to_one(values, tau):
    found, total = logit(values, tau)
    assert 1.0 <= total <= len(values)
    assert all(0.0 <= p <= 1.0 for p in found)
    assert abs(math.fsum(found) - 1.0) <= 2**-50


@pytest.mark.parametrize("tau", [5e-324, 1e-300, 1e-3, 1.0, 1e300])
@pytest.mark.parametrize("values", [[1e300, 0.0], [1e308, -1e308], [-1e308, 1e308, 1e308], [0.0, -0.0, 1e-320]])
def test_logit_at_the_edges_of_the_range(values, tau):
    found, _ = logit(values, tau)
    best = max(values)
    shares = [1.0 / values.count(best) if v == best else 0.0 for v in values]
    if max(abs(v - best) for v in values) / tau < 1e-15:
        shares = [1.0 / len(values)] * len(values)
    elif 0 < max(abs(v - best) for v in values) / tau < 1000:
        shares = [float(q) for q in exact_logit(values, tau)[0]]
    assert found == pytest.approx(shares, rel=1e-12, abs=0.0)


def test_extreme_payoffs_in_arrays_give_no_warning():
    """Plain Python sees NumPy's numbers, which warn where a double becomes infinite."""
    out = np.zeros(2)
    values = np.array([1e308, -1e308])
    assert logit_weights(values, 2, 1e-300, out) == 1.0
    assert logit_pick(values, 2, 1e-300, 0.5, out) == 0
    assert binary_logit(values[0], values[1], 1e-300) == 0.0


@examples
@given(utilities, utilities, temperatures)
@example(1e308, -1e308, 1e-300)
@example(0.0, 0.0, 5e-324)
@example(0.3, 0.3, 0.1)
def test_binary_logit_is_symmetric_and_never_nan(current, trial, tau):
    there, back = binary_logit(current, trial, tau), binary_logit(trial, current, tau)
    assert 0.0 <= there <= 1.0
    assert abs(there + back - 1.0) <= 2.0**-52
    if trial >= current:
        assert there >= 0.5
    if trial == current:
        assert there == 0.5


@examples
@given(halves, halves, temperatures)
@example(0.0, -700.0, 1.0)
@example(0.0, 700.0, 1.0)
def test_binary_logit_is_the_exact_one(current, trial, tau):
    (_, expected), exponents = exact_logit([current, trial], tau)
    assert_close(binary_logit(current, trial, tau), expected, min(exponents))


@pytest.mark.parametrize(
    ("current", "trial", "tau", "expected"),
    [
        (0.0, 1.0, 1e-300, 1.0),
        (1.0, 0.0, 1e-300, 0.0),
        (-1e308, 1e308, 1.0, 1.0),
        (1e308, -1e308, 1.0, 0.0),
        (0.0, math.log(3), 1.0, 0.75),
        (math.log(3), 0.0, 1.0, 0.25),
        (0.0, 2 * math.log(3), 2.0, 0.75),
    ],
)
def test_binary_logit_by_hand(current, trial, tau, expected):
    assert binary_logit(current, trial, tau) == pytest.approx(expected, rel=1e-15, abs=0.0)


@examples
@given(utilities, utilities, temperatures, units)
@example(1.0, 1.0, 0.1, 0.5)
@example(1.0, 1.0, 0.1, 0.5 - 2**-53)
def test_two_actions_are_picked_as_by_the_general_path(first, second, tau, unit):
    values, weights = [first, second], [0.0, 0.0]
    total = logit_weights(values, 2, tau, weights)
    assert logit_pick(values, 2, tau, unit, [0.0, 0.0]) == pick(weights, 2, total, unit)


@examples
@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.05, 10), st.integers(-3, 3))
def test_two_actions_are_picked_alike_next_to_the_threshold(first, second, tau, ulps):
    values, weights = [first, second], [0.0, 0.0]
    total = logit_weights(values, 2, tau, weights)
    unit = min(max(weights[0] / total + ulps * 2.0**-53, 0.0), 1.0 - 2.0**-53)
    assert logit_pick(values, 2, tau, unit, [0.0, 0.0]) == pick(weights, 2, total, unit)


@examples
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=5), st.floats(0.05, 10), units)
def test_logit_pick_inverts_the_cumulative_distribution(values, tau, unit):
    index = logit_pick(values, len(values), tau, unit, [0.0] * len(values))
    expected, _ = exact_logit(values, tau)
    slack = Decimal(2.0**-46)
    assert sum(expected[:index], Decimal(0)) <= Decimal(unit) + slack
    assert Decimal(unit) <= sum(expected[: index + 1], Decimal(0)) + slack


@examples
@given(st.lists(st.sampled_from([0.0, 1e-300, 0.25, 1.0]), min_size=1, max_size=6).filter(any), units)
@example([1.0, 0.0], 1 - 2**-53)
@example([0.0, 1.0], 0.0)
def test_pick_never_takes_a_weight_of_zero(weights, unit):
    total = 0.0
    for weight in weights:
        total += weight
    assert weights[pick(weights, len(weights), total, unit)] > 0.0


@pytest.mark.parametrize(("unit", "index"), [(0.0, 0), (0.2499, 0), (0.25, 1), (0.7499, 1), (0.75, 2), (0.9999, 2)])
def test_pick_by_hand(unit, index):
    assert pick([1.0, 2.0, 1.0], 3, 4.0, unit) == index


@pytest.mark.parametrize(
    ("values", "weights"),
    [
        ([3.0], [1]),
        ([1.0, 3.0, 2.0], [0, 1, 0]),
        ([1.0, 2.0, 2.0], [0, 1, 1]),
        ([-1e308, -1e308], [1, 1]),
        ([0.0, -0.0, -1e-300], [1, 1, 0]),
    ],
)
def test_best_weights_are_on_the_best_actions(values, weights):
    out = [9.0] * len(values)
    assert best_weights(values, len(values), out) == sum(weights)
    assert out == weights


def test_choice_looks_at_the_first_actions_only():
    """The arrays have room for the widest player."""
    values, out = [1.0, 2.0, 50.0], [0.0, 0.0, -1.0]
    assert logit_weights(values, 2, 1.0, out) == 1.0 + math.exp(-1.0)
    assert best_weights(values, 2, out) == 1.0
    assert out[2] == -1.0


@pytest.mark.parametrize(
    ("tie", "exponents", "share"), [(0.0, [2.0, 0.0, 0.25], 1.0), (0.25, [2.0, 0.0, 0.0], 0.5), (2.0, [0.0] * 3, 1 / 3)]
)
def test_in_the_limit_actions_within_the_tolerance_tie(tie, exponents, share):
    coefficients, found = [0.0] * 3, [0.0] * 3
    logit_terms([1.0, 3.0, 2.75], 3, 0.0, tie, coefficients, found)
    assert (found, coefficients) == (exponents, [share] * 3)
