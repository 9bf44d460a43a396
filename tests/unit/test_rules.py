"""Rules as data, temperature schedules, and choice functions against exact arithmetic."""

from __future__ import annotations

import dataclasses
import json
import math
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.errors import InvalidRule
from potentia.games import NormalForm, Separable
from potentia.kernel import draws
from potentia.kernel.draws import make_key, uniform
from potentia.rules import (
    BLLL,
    LLL,
    PSBLLL,
    SLLL,
    BestResponse,
    Constant,
    Geometric,
    Groups,
    Logarithmic,
    Piecewise,
    registered,
    rule,
    rule_from,
    schedule_from,
)
from potentia.rules.choice import best_weights, binary_logit, logit_pick, logit_weights, pick
from potentia.rules.revision import awaken, revision_data, revision_from

examples = settings(max_examples=200, deadline=None, derandomize=True)

# Schedules --------------------------------------------------------------------------------------------


def test_constant_schedule():
    assert [Constant(0.25).at(step) for step in (0, 1, 10**12)] == [0.25] * 3


def test_geometric_schedule_goes_from_start_to_stop():
    schedule = Geometric(1.0, 0.01)
    assert schedule.at(0, horizon=101) == 1.0
    assert schedule.at(50, horizon=101) == pytest.approx(0.1, rel=1e-14)
    assert schedule.at(25, horizon=101) == pytest.approx(10**-0.5, rel=1e-14)
    assert schedule.at(99, horizon=101) > 0.0104
    assert schedule.at(100, horizon=101) == pytest.approx(0.01, rel=1e-14)
    assert schedule.at(10**9, horizon=101) == 0.01


@examples
@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1.0), st.integers(1, 10**6), st.integers(0, 10**6))
def test_geometric_schedule_stays_within_its_ends_and_falls(start, share, length, step):
    schedule = Geometric(start, start * share, steps=length)
    assert schedule.stop <= schedule.at(step + 1) <= schedule.at(step) <= schedule.start


def test_geometric_steps_come_before_the_horizon():
    assert Geometric(1.0, 0.01, steps=11).at(5, horizon=10**6) == pytest.approx(0.1, rel=1e-14)


@pytest.mark.parametrize("length", [0, 1])
def test_geometric_schedule_of_a_run_too_short_to_fall(length):
    assert Geometric(1.0, 0.5).at(0, horizon=length) == 1.0


def test_geometric_schedule_that_does_not_fall():
    assert Geometric(0.3, 0.3).at(7, horizon=20) == 0.3


def test_logarithmic_schedule():
    schedule = Logarithmic(2.0, stop=0.4, rate=3.0)
    assert schedule.at(0) == 2.0
    assert schedule.at(10) == 2.0 / math.log(math.e + 30.0)
    assert schedule.at(10**9) == 0.4
    assert Logarithmic(2.0, rate=0.0).at(10**6) == 2.0
    assert 0.0 < Logarithmic(1.0).at(2**62) < 0.03


def test_no_schedule_reaches_zero():
    """tau = 0 divides by zero; best response has a rule of its own."""
    assert Logarithmic(1.0, rate=1e100).at(2**62) > 0.0
    assert Logarithmic(5e-324).at(10**9) > 0.0
    assert Geometric(1e300, 1e-300, steps=1001).at(600) == pytest.approx(1e-60, rel=1e-9)


def test_piecewise_schedule_interpolates():
    schedule = Piecewise([(0, 1.0), (10, 0.5), (30, 0.1)])
    expected = {0: 1.0, 5: 0.75, 9: 0.55, 10: 0.5, 11: 0.48, 15: 0.4, 20: 0.3, 29: 0.12, 30: 0.1, 10**9: 0.1}
    for step, tau in expected.items():
        assert schedule.at(step) == pytest.approx(tau, rel=1e-14), step


def test_piecewise_schedule_may_rise_and_have_one_point():
    assert Piecewise([(0, 0.1), (4, 0.5)]).at(1) == pytest.approx(0.2, rel=1e-14)
    assert Piecewise([(0, 0.1)]).at(99) == 0.1


# Specifications ---------------------------------------------------------------------------------------

SCHEDULES = [
    Constant(0.1),
    Geometric(1, 0.01),
    Geometric(1.0, 0.01, steps=500),
    Logarithmic(1.0),
    Logarithmic(1, stop=0.05, rate=2),
    Piecewise([(0, 1), (10, 0.5), (20.5, 0.1)]),
]
REVISIONS = [
    0.3,
    1,
    [0.2, 0.5, 1],
    np.array([0.2, 0.5]),
    [[0.1, 0.2], [0.3, 0.4, 0.5]],
    np.array([[0.1, 0.2], [0.3, 0.4]]),
    (0.5, 0.25),
]
GROUPS = [Groups([((1, 0), 0.25), ((2,), 0.5), ((), 0.25)]), Groups({(0,): 0.5, (0, 1): 0.5})]
RULES = [
    *(LLL(tau) for tau in SCHEDULES),
    *(BLLL(tau, current) for tau in SCHEDULES for current in (False, True)),
    *(SLLL(tau, 0.3) for tau in SCHEDULES),
    *(SLLL(0.1, revision) for revision in [*REVISIONS, *GROUPS]),
    *(PSBLLL(0.1, revision) for revision in REVISIONS),
    *(PSBLLL(tau, 0.3, trial="unilateral", guard=True, include_current=True) for tau in SCHEDULES),
    BestResponse(),
    BestResponse("stay"),
]


@pytest.mark.parametrize("original", RULES, ids=repr)
def test_rule_survives_json(original):
    text = json.dumps(original.spec(), allow_nan=False)
    back = rule_from(json.loads(text))
    assert back == original
    assert type(back) is type(original)
    assert back.describe() == original.describe()
    assert hash(back) == hash(original)


def test_specifications_differ_where_rules_do():
    # a schedule given as a number and as Constant is the same rule, as is a revision given twice
    assert len({r.describe() for r in RULES}) == len(set(RULES))
    assert len(set(RULES)) >= 30


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_schedule_survives_json(schedule):
    assert schedule_from(json.loads(json.dumps(schedule.spec(), allow_nan=False))) == schedule


@pytest.mark.parametrize(
    "build",
    [
        lambda: Geometric(np.float32(1), np.float64(0.5), steps=np.int64(7)),
        lambda: Constant(np.int32(1)),
        lambda: Piecewise(np.array([[0, 1.0], [5, 0.5]])),
        lambda: Logarithmic(1.0, stop=np.float64(0.25), rate=np.int64(2)),
    ],
    ids=["geometric", "constant", "piecewise", "logarithmic"],
)
def test_numbers_from_numpy_survive_json(build):
    original = LLL(build())
    assert rule_from(json.loads(original.describe())) == original


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.array([0.5, 0.25]), (0.5, 0.25)),
        (np.array([[0.5], [1]]), ((0.5,), (1.0,))),
        ([np.array([0.5]), (0.25, 1)], ((0.5,), (0.25, 1.0))),
        ({"groups": [[[1, 0], 0.5], [[], 0.5]]}, Groups((((0, 1), 0.5), ((), 0.5)))),
    ],
    ids=str,
)
def test_revision_takes_arrays_and_plain_data(given, plain):
    assert revision_from(given, allow_groups=True) == plain


def test_rule_from_leaves_its_argument_alone():
    spec = {"rule": "lll", "tau": {"kind": "geometric", "start": 1.0, "stop": 0.1}}
    copy = json.loads(json.dumps(spec))
    rule_from(spec)
    assert spec == copy
    built = LLL(0.1)
    assert rule_from(built) is built


def test_registered_names():
    ours = {name: cls for name, cls in registered().items() if cls.__module__.startswith("potentia.")}
    assert ours == {"lll": LLL, "slll": SLLL, "blll": BLLL, "p-sblll": PSBLLL, "best-response": BestResponse}
    for name, cls in ours.items():
        assert cls.name == name
        assert cls.summary


def test_rule_by_name_is_the_class():
    assert rule("p-sblll", tau=5e-4, revision=0.3) == PSBLLL(Constant(5e-4), 0.3)
    assert rule("lll", tau=Geometric(1, 0.1)) == LLL(Geometric(1.0, 0.1))
    assert pt.rule is rule


def test_taken_name_is_refused():
    @dataclasses.dataclass(frozen=True)
    class Impostor(LLL):
        name = "lll"

    with pytest.raises(InvalidRule, match="'lll' exists already"):
        pt.rules.register(Impostor)
    assert registered()["lll"] is LLL


def test_rules_are_immutable():
    for built in RULES:
        field = dataclasses.fields(built)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(built, field, 1)


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (LLL(0.1), '{"rule": "lll", "tau": 0.1}'),
        (
            LLL(Geometric(1, 0.5)),
            '{"rule": "lll", "tau": {"kind": "geometric", "start": 1.0, "steps": null, "stop": 0.5}}',
        ),
        (BLLL(1), '{"include_current": false, "rule": "blll", "tau": 1.0}'),
        (SLLL(0.5, Groups([((1, 0), 1)])), '{"revision": {"groups": [[[0, 1], 1.0]]}, "rule": "slll", "tau": 0.5}'),
        (
            PSBLLL(0.5, [0.25, 1]),
            '{"guard": false, "include_current": false, "revision": [0.25, 1.0], "rule": "p-sblll", "tau": 0.5, '
            '"trial": "joint"}',
        ),
        (BestResponse(), '{"rule": "best-response", "ties": "uniform"}'),
    ],
    ids=lambda v: v.name if hasattr(v, "name") else "",
)
def test_description_does_not_change(built, text):
    """A run's key is made from it: another text means other draws for every seed ever used."""
    assert built.describe() == text


# Waking -----------------------------------------------------------------------------------------------


def woken(revision, of, profile, step, key):
    out = np.full(of.num_players, -1, np.int64)
    count = awaken(revision_data(revision_from(revision, allow_groups=True), of), np.array(profile), key, step, out)
    return out[:count].tolist()


@pytest.mark.parametrize(
    ("revision", "probabilities"),
    [(0.4, [0.4, 0.4]), ([0.2, 0.9], [0.2, 0.9]), ([[0.1, 0.6], [0.2, 0.3, 0.8]], [0.6, 0.8])],
    ids=["number", "player", "action"],
)
def test_player_wakes_when_its_draw_is_below_its_probability(revision, probabilities):
    of, key = Separable([[0, 1], [0, 1, 2]]), make_key(1, "waking")
    seen = set()
    for step in range(200):
        units = [uniform(key, 2, step, player, draws.WAKE) for player in range(2)]
        expected = [i for i in range(2) if units[i] < probabilities[i]]
        assert woken(revision, of, (1, 2), step, key) == expected
        seen.add(tuple(expected))
    assert seen == {(), (0,), (1,), (0, 1)}


def test_one_group_wakes_as_the_draw_says():
    of, key = Separable([[0, 1]] * 3), make_key(1, "waking")
    groups = Groups([((0, 2), 0.25), ((), 0.5), ((1,), 0.25)])
    seen = set()
    for step in range(200):
        unit = uniform(key, 3, step, 0, draws.WAKE)
        expected = [0, 2] if unit < 0.25 else [] if unit < 0.75 else [1]
        assert woken(groups, of, (0, 0, 0), step, key) == expected
        seen.add(tuple(expected))
    assert seen == {(0, 2), (), (1,)}


def test_everybody_wakes_at_probability_one():
    of = NormalForm(np.zeros((2, 2, 2)))
    assert all(woken(1.0, of, (0, 0), step, make_key(step, "waking")) == [0, 1] for step in range(50))


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
    [([3.0], [1]), ([1.0, 2.0, 2.0], [0, 1, 1]), ([-1e308, -1e308], [1, 1]), ([0.0, -0.0, -1e-300], [1, 1, 0])],
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
