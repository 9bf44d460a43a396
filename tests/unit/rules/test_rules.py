"""Rules as data, temperature schedules, and choice functions against exact arithmetic."""

from __future__ import annotations

import json
import math

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
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
    QL,
    SLLL,
    SOQL,
    BestResponse,
    Constant,
    Geometric,
    Groups,
    Logarithmic,
    Piecewise,
    Score,
    Vanishing,
    registered,
    rule,
    rule_from,
    schedule_from,
)
from potentia.rules.guard import keep_champions
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
        ({"vanishing": 2}, Vanishing(2.0)),
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
    memoryless = {"lll": LLL, "slll": SLLL, "blll": BLLL, "p-sblll": PSBLLL, "best-response": BestResponse}
    assert ours.items() >= {**memoryless, "ql": QL, "soql": SOQL, "score": Score}.items()
    for name, cls in ours.items():
        assert cls.name == name
        assert cls.summary


def test_rule_by_name_is_the_class():
    assert rule("p-sblll", tau=5e-4, revision=0.3) == PSBLLL(Constant(5e-4), 0.3)
    assert rule("lll", tau=Geometric(1, 0.1)) == LLL(Geometric(1.0, 0.1))
    assert pt.rule is rule


def test_taken_name_is_refused():
    @attrs.frozen
    class Impostor(LLL):
        name = "lll"

    with pytest.raises(InvalidRule, match="'lll' exists already"):
        pt.rules.register(Impostor)
    assert registered()["lll"] is LLL


def test_rules_are_immutable():
    for built in RULES:
        field = attrs.fields(type(built))[0].name
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
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
        (SLLL(0.5, Vanishing(2)), '{"revision": {"vanishing": 2.0}, "rule": "slll", "tau": 0.5}'),
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
    data = revision_data(revision_from(revision, allow_groups=True), of)
    count = awaken(data, of.data, of.new_state(np.array(profile)), np.zeros((0, 2)), 1.0, key, step, out)
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


def test_who_won_at_an_earlier_step_does_not_count():
    """Places of champions are those of this step alone, whatever is left of the last."""
    game = pt.games.consensus(pt.games.ring_edges(6))
    rule, key = PSBLLL(0.5, 0.5, guard=True), make_key(1, "guard")
    used = rule.new_memory(game)
    for n in range(20):
        fresh = rule.new_memory(game)
        kept = []
        for memory in (used, fresh):
            memory.awake[:] = np.arange(6)
            count = keep_champions(game.interactions, memory, None, 6, key, 6, n)
            kept.append(memory.awake[:count].tolist())
        priority = [uniform(key, 6, n, player, draws.PRIORITY) for player in range(6)]
        best = [i for i in range(6) if priority[i] > max(priority[i - 1], priority[(i + 1) % 6])]
        assert kept == [best, best]
        used.champion[:] = 5 - n % 6


def test_pairs_of_trials_are_drawn_evenly():
    """Two of three better actions are tried: the best one is among them in two of three pairs, the worst never wins."""
    better = NormalForm([[0.0, 1.0, 2.0, 3.0]])
    pairs = rule(who="all", considers="trial", k=2, chooses="best")
    ends = [int(pt.run(better, pairs, 1, seed, start=[0], record=(), compiled=False).final[0]) for seed in range(600)]
    assert set(ends) == {2, 3}
    assert abs(ends.count(3) / 600 - 2 / 3) < 0.05


SHARES = {
    "all": ({"considers": "all"}, 1 / 3),
    "trial": ({"considers": "trial"}, 1 / 2),
    "trial or own": ({"considers": "trial", "include_current": True}, 2 / 3),
    "two trials": ({"considers": "trial", "k": 2}, 1 / 3),
    "two of all": ({"considers": "trial", "k": 2, "include_current": True}, 4 / 9),
    "joint": ({"considers": "joint-trial"}, 1 / 2),
    "joint or own": ({"considers": "joint-trial", "include_current": True}, 2 / 3),
}


@pytest.mark.parametrize("name", SHARES)
def test_how_often_nothing_changes_where_all_are_alike(name):
    """Each option once, the present action among them, and that is tried on request alone."""
    considers, share = SHARES[name]
    played = pt.run(
        NormalForm([[0.0] * 3]), rule(who="all", chooses="logit", tau=1.0, **considers), 900, compiled=False
    )
    assert abs((np.diff(played.profiles[:, 0].astype(int)) == 0).mean() - share) < 0.05
