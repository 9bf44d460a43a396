"""Robots that fail and arrive: what may be said, that nobody else's draws change, that bits depend on nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import potentia as pt
from potentia.engine import evaluate
from potentia.errors import InvalidGame, InvalidRun, InvalidSpecification
from potentia.games import Coverage, World
from potentia.games.roster import NEVER, lifetime
from potentia.kernel.draws import START, make_key, uniform
from potentia.rules import registered
from potentia.rules.base import pick_one, wake_one
from potentia.studies.planning import plan
from potentia.studies.specification import specification_from

few = settings(max_examples=50, deadline=None, derandomize=True)
WORLD = World((np.arange(42).reshape(6, 7) * 5 % 11).astype(float), name="field")
RULE = pt.rule("p-sblll", tau=1.0, revision=0.5, guard=True)
EVENTS = ("fail 1@20", "arrive 30", "arrive 35", "fail 4@50")


def team(**options):
    return Coverage(WORLD, **{"robots": 4, "delta": 1.5, "flags": False} | options)


def played(game, steps=80, seed=0, rule=RULE, **options):
    record = ("profile", "worth_union", "worth_sum", "moves", "potential")
    return pt.run(game, rule, steps, seed, **{"compiled": False, "record": record} | options)


def same(one, other):
    assert one.profiles.tobytes() == other.profiles.tobytes()
    for name, values in one.scalars.items():
        assert values.tobytes() == other.scalars[name].tobytes(), name


# What may be said -------------------------------------------------------------------------------------


def test_events_are_told_in_order_of_time_and_read_back():
    game = team(events=["arrive 35", " fail  1 @ 20", "hazard 0", "arrive 30", "fail 4@50"])
    assert game.events == EVENTS
    assert game.num_players == 6
    assert game.with_events(game.events) is game
    assert game.roster.since.tolist() == [0, 0, 0, 0, 30, 35]
    assert game.roster.until.tolist() == [NEVER, 20, NEVER, NEVER, 50, NEVER]
    assert team(events="hazard 1e-5").events == ("hazard 1e-05",)
    precise = team(events=["hazard 0.00123456789", "fail 1@1_000"])
    assert precise.with_events(precise.events) is precise
    assert precise.with_events(["hazard 0.00123456789"]).happenings.hazard == 0.00123456789
    assert team().with_events(precise.events).costing(2.0).happenings == precise.happenings
    assert "fail 1@20" in game.describe()
    assert team(events=[]).fingerprint() == team().fingerprint() != game.fingerprint()
    assert game.identity() == team().identity()


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (["fail 8@2500"], "events must name one of the robots 0 to 3, got 'fail 8@2500'"),
        (["arrive 5", "fail 5@9"], "robots 0 to 4, those that arrive included, got 'fail 5@9'"),
        (["fail 1@5", "fail 1@9"], "events must let a robot fail once, and robot 1 fails at 5 already, got 'fail 1@9'"),
        (["arrive 9", "fail 4@9"], "events must let robot 4 fail after it has arrived at 9, got 'fail 4@9'"),
        ([f"fail {i}@{9 + i}" for i in range(4)], "events must leave at least one robot, and all have failed"),
        (["hazard 1"], "at least 0 and below 1, got 'hazard 1'"),
        (["hazard -0.1"], "at least 0 and below 1"),
        (["hazard nan"], "at least 0 and below 1"),
        (["hazard often"], '"fail 8@2500", "arrive 4000" and "hazard 1e-5", got \'hazard often\''),
        (["hazard 0.1", "hazard 0.2"], "events must have one hazard at most, got 2"),
        (["fail 3"], 'events must be "fail ROBOT@STEP", "arrive STEP" or "hazard RATE"'),
        (["fail -1@5"], 'events must be "fail ROBOT@STEP"'),
        (["fail 1.5@5"], 'events must be "fail ROBOT@STEP"'),
        (["arrive -3"], 'events must be "fail ROBOT@STEP"'),
        ([f"arrive {10**30}"], "events must have steps below 2^62"),
        (["fail 0__1@1"], 'events must be "fail ROBOT@STEP"'),
        (["fail 0_@1"], 'events must be "fail ROBOT@STEP"'),
        (["arrive 1_"], 'events must be "fail ROBOT@STEP"'),
        ([f"fail {'9' * 5000}@1"], "events must name one of the robots 0 to 3"),
        ([3], "events must be a list of"),
        (3, "events must be a list of"),
    ],
)
def test_bad_events(events, told):
    with pytest.raises(InvalidGame) as error:
        team(events=events)
    assert told in str(error.value)
    assert error.value.parameter == "events"


def test_events_after_the_end_are_refused_before_anything_runs():
    told = "events must happen within the 5,000 steps of the run, got 'fail 3@9999'"
    for play in (pt.run, lambda *args, **options: pt.run_batch(*args, range(2), **options)):
        with pytest.raises(InvalidRun, match=told):
            play(team(), RULE, 5000, events=["fail 3@9999"])
    with pytest.raises(InvalidRun, match="within the 10 steps"):
        pt.begin(team(events=["arrive 11"]), RULE, horizon=10)
    for play in (pt.run, lambda *args, **options: pt.run_batch(*args, range(2), **options)):
        with pytest.raises(InvalidRun, match="within the 10 steps"):
            play(team(events=["arrive 11"]), RULE, 10, belief=pt.belief("constant"))
    assert pt.run(team(), RULE, 5, events=["fail 3@5"], record="worth_sum", compiled=False).worth_sum.size == 6


def test_events_are_for_robots():
    with pytest.raises(InvalidRun, match="events are for robots that cover a map, Coverage, got"):
        pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=1.0), 5, events=["fail 0@2"])


def test_who_arrives_needs_a_range_where_ranges_differ():
    mixed = team(delta=[1.0, 1.5, 1.0, 2.0])
    assert mixed.with_events(["fail 1@20"]).delta.tolist() == [1.0, 1.5, 1.0, 2.0]
    with pytest.raises(InvalidGame, match="delta must be one for all where robots arrive"):
        mixed.with_events(["arrive 5"])
    assert team(delta=[1.0, 1.5, 1.0, 2.0, 1.0], events=["arrive 5"]).num_players == 5


def test_the_exact_analysis_takes_the_robots_of_a_time():
    game = team(events=EVENTS[:3], robots=2)
    for ask in (pt.analysis.optimum, pt.analysis.pure_nash):
        with pytest.raises(InvalidGame, match=r"game\.at\(time\)"):
            ask(game)
    assert [game.at(time).num_players for time in (0, 19, 20, 30, 35)] == [2, 2, 1, 2, 3]
    assert not game.at(20).events
    assert pt.analysis.optimum(game.at(20)).value > 0
    gone = team(robots=1, events=["fail 0@5", "arrive 9"])
    with pytest.raises(InvalidGame, match="time must be one at which a robot is there, got 7"):
        gone.at(7)


# Starts -----------------------------------------------------------------------------------------------


def test_starts_of_those_who_arrive_are_drawn_or_given():
    plain, eventful = played(team(), 5, 3), played(team(), 40, 3, events=EVENTS[:3])
    assert eventful.start[:4].tolist() == plain.start.tolist()
    cells = [(0, 0), (1, 0), (2, 0), (3, 0)]
    some = Coverage(WORLD, 4, start=cells, events=["arrive 5"])
    first = pt.begin(some, RULE, 3, compiled=False).start
    assert first.tolist() == [0, 1, 2, 3, eventful.start[4]]
    assert pt.begin(some, RULE, 3, start=[4, 4, 4, 4], compiled=False).start.tolist() == [4] * 4 + [first[4]]
    full = Coverage(WORLD, 4, start=[*cells, (6, 5)], events=["arrive 5"])
    assert pt.begin(full, RULE, 3, compiled=False).start.tolist() == [0, 1, 2, 3, 41]
    with pytest.raises(InvalidRun, match="must be 5 integers"):
        pt.begin(full, RULE, start=[0, 1, 2])


# Pairs ------------------------------------------------------------------------------------------------

NEEDED = {
    "adaptive-play": {"tau": 0.3, "memory": 3, "sample": 2},
    "payoff-based": {"tau": 1.0, "m": 1.0},
    "soql": {},
    "ql": {"tau": 0.5, "noise": 0.1},
    "score": {"tau": 0.5},
    "slll": {"tau": 1.0, "revision": 0.5},
    "p-sblll": {"tau": 1.0, "revision": 0.5},
    "best-response": {},
    "better-reply": {},
    "composed": {
        "who": "one",
        "considers": {"considers": "trial", "k": 2},
        "chooses": {"chooses": "logit", "tau": 1.0},
    },
}
OURS = sorted(name for name, kind in registered().items() if kind.__module__.startswith("potentia."))


def rule_named(name):
    return pt.rule(name, **NEEDED.get(name, {"tau": 1.0}))


@pytest.mark.parametrize("name", OURS)
def test_runs_with_and_without_events_are_the_same_until_the_first(name):
    rule, steps = rule_named(name), 40
    plain = played(team(), steps, rule=rule)
    for events, first in ((["fail 1@20", "arrive 30"], 20), (["arrive 25", "fail 0@33"], 25)):
        eventful = played(team(), steps, rule=rule, events=events)
        assert (eventful.profiles[:first, :4] == plain.profiles[:first]).all()
        assert (eventful.profiles[first, :4] == plain.profiles[first]).all()  # before anybody has answered
        for recorder, values in plain.scalars.items():
            assert (eventful.scalars[recorder][:first] == values[:first]).all(), recorder
        for robot, (since, until) in enumerate(eventful.lives.T.tolist()):
            still = eventful.profiles[min(until, steps) :, robot], eventful.profiles[: since + 1, robot]
            assert all((rows == rows[0]).all() for rows in still)


@pytest.mark.parametrize("name", OURS)
def test_those_who_arrive_move(name):
    rule, game = rule_named(name), team(robots=1, events=["arrive 5", "arrive 6"])
    trace = pt.run(game, rule, 120, 1, compiled=False)
    assert len({tuple(column) for column in trace.profiles[6:].T}) == 3
    moved = (np.diff(trace.profiles[6:], axis=0) != 0).any(axis=0)
    assert moved[1:].any() or not moved.any()


@pytest.mark.parametrize("name", ["constant", "running-mean", "mixture"])
def test_beliefs_are_paired_and_those_who_are_not_there_learn_nothing(name):
    belief = pt.belief(name, **({} if name == "running-mean" else {"communication": pt.beliefs.Communication(2.0)}))
    plain, eventful = (
        pt.begin(team(), RULE, 1, belief=belief, events=events, compiled=False, record=("profile", "welfare"))
        for events in (None, ["fail 1@10", "arrive 15"])
    )
    plain.advance(10)
    eventful.advance(10)
    assert (plain.trace().profiles == eventful.trace().profiles[:, :4]).all()
    mind = eventful.state.mind
    if name == "running-mean":
        assert mind.times[-WORLD.num_free :].sum() == 0
        eventful.advance(10)
        assert mind.times[-WORLD.num_free :].sum() == 6  # when it came, and after five steps
        assert mind.times[WORLD.num_free : 2 * WORLD.num_free].sum() == 10
        return
    assert mind.store.tally[4, 0] == 0
    known = mind.store.tally[1, 0]
    assert known > 0
    eventful.advance(10)
    assert mind.store.tally[1, 0] == known
    assert mind.store.tally[4, 0] > 0


# Bits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [RULE, pt.rule("soql"), pt.rule("ql", tau=0.5, unplayed="decay", count="steps")])
def test_bits_do_not_depend_on_chunks_or_saving(rule, tmp_path):
    game = team(events=[*EVENTS, "hazard 0.01"])
    whole = pt.begin(game, rule, 2, compiled=False).advance(80)
    parts = pt.begin(game, rule, 2, compiled=False)
    for k, steps in enumerate((19, 1, 13, 22, 25)):
        parts.advance(steps)
        again = pt.load(parts.save(tmp_path / f"{k}.npz"), game, compiled=False)
        assert again.advance(80 - again.step).trace().profiles.tobytes() == whole.trace().profiles.tobytes()
        for name, values in zip(again.state._fields, again.state, strict=True):
            assert values.tobytes() == getattr(whole.state, name).tobytes(), name
    assert (whole.trace().lives[1] < NEVER).sum() > 2


@pytest.mark.long  # everything at once is compared in tests/unit/beliefs/test_combinations.py
def test_bits_do_not_depend_on_workers_or_compiling():
    game, rule = team(events=[*EVENTS, "hazard 0.01"]), pt.rule("blll", tau=1.0)
    plain, names = played(game, seed=1, rule=rule), ("profile", "worth_union", "worth_sum")
    data = pt.run_batch(game, rule, 80, [0, 1, 2], workers=2, compiled=True, record=names)
    run = data.sel(seed=1)
    assert (run.profile.values == plain.profiles).all()
    assert run.worth_union.values.tobytes() == plain.worth_union.tobytes()
    assert run.until.values.tolist() == plain.lives[1].tolist()
    assert data.since.values.tolist() == plain.lives[0].tolist()
    alone = plain.dataset()
    assert alone.until.equals(run.until.drop_vars("seed"))
    assert alone.since.equals(data.since)


def test_a_branch_may_lose_a_robot_that_the_run_keeps():
    run = pt.begin(team(), RULE, 4, compiled=False, record=("profile", "worth_sum")).advance(30)
    other = run.branch(game=team().with_events(["fail 2@40"])).advance(30)
    direct = pt.begin(team(), RULE, 4, compiled=False, record=("profile", "worth_sum"), events=["fail 2@40"])
    same(other.trace(), direct.advance(60).trace())
    run.advance(30)
    assert (run.trace().profiles[:41] == other.trace().profiles[:41]).all()
    late = other.branch(game=team().with_events(["fail 2@40"]))  # the same events: it goes on
    assert late.advance(5).state.here.tolist() == [1, 1, 0, 1]


def test_a_branch_keeps_what_the_hazard_has_done():
    hazard = "hazard 0.02"
    run = pt.begin(team(events=[hazard, "fail 1@90"]), RULE, 5, compiled=False).advance(60)
    drawn = [lifetime(uniform(run.key, 4, 0, i, START), 0.02) for i in range(4)]
    assert min(drawn) <= 60 < max(drawn)  # some have failed, others have not
    known = [min(drawn[0], 70), min(drawn[1], 90), *drawn[2:]]
    more = run.branch(game=team(events=[hazard, "fail 1@90", "fail 0@70"]))
    assert more.state.until.tolist() == known
    assert more.state.here.tolist() == [int(until > 60) for until in known]
    assert more.branch(game=team(events=[hazard])).state.until.tolist() == drawn
    worse = run.branch(game=team(events=["hazard 0.03"]))
    for until, at_first, robot in zip(worse.state.until.tolist(), drawn, range(4), strict=True):
        assert until == (at_first if at_first <= 60 else 60 + lifetime(uniform(run.key, 4, 0, robot, START), 0.03))
    late = pt.begin(team(), RULE, 5, compiled=False).advance(60).branch(game=team(events=[hazard]))
    assert late.state.until.tolist() == [60 + life for life in drawn]
    assert late.branch(game=team(events=[hazard, "fail 0@9999"])).state.until.tolist() == late.state.until.tolist()


def test_who_is_out_may_only_stay():
    run = pt.begin(team(events=["fail 2@1"]), RULE, 4, compiled=False).advance(1)
    assert run.legal(2).tolist() == [run.profile[2]]
    assert run.legal(1).size > 1


# A hazard ---------------------------------------------------------------------------------------------


@few
@given(st.floats(0, 1, exclude_max=True), st.sampled_from([0.5, 0.1, 1e-3]))
def test_lifetimes_are_geometric(unit, hazard):
    steps = lifetime(unit, hazard)
    assert steps >= 1
    assert 1 - (1 - hazard) ** (steps - 1) <= unit + 1e-9
    assert unit <= 1 - (1 - hazard) ** steps + 1e-9


def test_a_hazard_is_drawn_once_for_each_robot():
    game = team(events=["hazard 0.02", "arrive 30", "fail 0@3"])
    run = pt.begin(game, RULE, 5, compiled=False)
    expected = [since + lifetime(uniform(run.key, 4, 0, i, START), 0.02) for i, since in enumerate([0, 0, 0, 0, 30])]
    assert run.trace().lives[1].tolist() == [min(3, expected[0]), *expected[1:]]
    assert lifetime(0.999, 1e-300) > 2**59
    assert played(team(), 40, 5, events=["hazard 0"]).lives is None


# One at random ----------------------------------------------------------------------------------------


def chi_square(picked):
    return stats.chisquare(np.bincount(picked, minlength=5)).pvalue


def test_one_at_random_is_anybody_who_is_there_or_was():
    game, key = team(robots=3, events=["arrive 5", "arrive 6", "arrive 9"]), make_key(1, "picked")
    state, before = game.new_state(np.zeros(6, np.int64)), game.new_state(np.zeros(6, np.int64))
    state.roll[:] = 9, 2
    steps = range(10, 6010)
    assert chi_square([pick_one(game.data, state, key, n) for n in steps]) > 1e-6
    rarely = [p if (p := pick_one(game.data, state, key, n)) < 3 or n % 3 else 0 for n in steps]
    assert chi_square(rarely) < 1e-6
    assert [pick_one(game.data, before, key, n) for n in range(50)] == [wake_one(key, 3, n) for n in range(50)]


def test_draws_of_those_who_came_are_their_own():
    key = make_key(3, "later")
    places = [(n, player, purpose) for n in range(6) for player in range(7) for purpose in range(4)]
    assert len({uniform(key, 3, *place) for place in places}) == len(places)
    alone = [uniform(key, 3, n, 5, 2) for n in range(5)]
    assert alone == [uniform(key, 3, n, 5, 2) for n in range(5)]


# Studies ----------------------------------------------------------------------------------------------

STUDY = {"game": {"map": "random:1", "robots": 3}, "rule": {"name": "blll", "tau": 0.1}, "steps": 50, "seeds": 2}


def test_a_specification_has_events():
    built = plan(specification_from(STUDY | {"events": ["fail 1@20", "arrive 30"]}))
    assert built.points[0].game.events == ("fail 1@20", "arrive 30")
    assert plan(specification_from(STUDY | {"events": "fail 1@20"})).points[0].game.events == ("fail 1@20",)
    assert specification_from(STUDY).spec() == specification_from(specification_from(STUDY).spec()).spec()
    assert "events" not in specification_from(STUDY).spec()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"events": ["fail 9@20"]}, "events must name one of the robots 0 to 2, got 'fail 9@20'"),
        ({"events": ["fail 1@51"]}, "events must happen within the 50 steps of the run"),
        ({"events": ["fail 1@9"], "game": {"name": "ring"}}, "events are for robots that cover a map"),
        ({"events": 3}, "events must be a list"),
    ],
)
def test_bad_events_of_a_specification(changes, told):
    with pytest.raises(InvalidSpecification) as error:
        plan(specification_from(STUDY | changes))
    assert told in str(error.value)


def test_evaluating_speaks_of_time_0():
    game, profile = team(events=["arrive 30", "fail 0@0"]), [3, 9, 20, 40, 5]
    there = np.array([False, True, True, True, False])
    assert game.there_at(0).tolist() == there.tolist()
    found, expected = evaluate(game, profile), evaluate(team(robots=3), np.array(profile)[there])
    assert found["worth_union"] == pytest.approx(expected["worth_union"], abs=1e-12)
    assert found["welfare"] == pytest.approx(expected["welfare"], abs=1e-12)
    assert math.isclose(game.welfare(profile), expected["welfare"])


# What people see --------------------------------------------------------------------------------------


def test_a_recording_shows_who_comes_and_goes(tmp_path):
    trace = played(team(events=["fail 1@20", "arrive 30", "hazard 0.01"]), 60, 3)
    made = pt.read_recording(trace.recording().save(tmp_path / "run.recording"))
    assert made.lives.tolist() == np.minimum(trace.lives, 61).tolist()
    marks = [(event["step"], event["kind"], event["player"]) for event in made.header["events"]]
    fails = [(int(t), "lost", i) for i, t in enumerate(trace.lives[1].tolist()) if t <= 60]
    assert sorted(marks) == sorted([(30, "arrived", 4), *fails])
    assert len(fails) > 1
    for step in (0, 19, 20, 29, 30, 60):
        assert made.worth(step)[made.counts(made.profile(step), step) > 0].sum() == pytest.approx(
            trace.worth_union[step], rel=1e-12
        )
    assert made.lost(60).sum() == len(fails)
    again = played(team(events=["fail 1@20", "arrive 30", "hazard 0.01"]), 60, 3, record="profile").recording()
    times, values = again.series("worth_union")
    np.testing.assert_allclose(values, trace.worth_union[times.astype(int)], rtol=1e-12)
    made.film(tmp_path / "run.png", frames=3)
