"""The coverage game against a slow reference by definitions: utilities, recorders, and every step of a run.

A run is predicted, not only replayed: the reference takes the documented draws, its own utilities and its own
revision probabilities, and must arrive at the same profiles. References with one thing wrong must be caught.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.engine import evaluate
from potentia.games import Coverage, World
from potentia.games.coverage_kernel import SHARED
from potentia.kernel import protocol
from potentia.kernel.draws import WAKE
from tests.coverage_cases import CROWDS, PLANS, SMALL, Case, as_rule, cases, eventful_cases
from tests.coverage_oracle import WRONG, Eventful, Oracle, Plan, Play, altered

few = settings(max_examples=30, deadline=None, derandomize=True)
STEPS = 60


def differ(case, a, b):
    return abs(a - b) > case.tolerance


# One profile ------------------------------------------------------------------------------------------


@functools.cache
def misjudged(case, profile, kind=Oracle):
    """What the game says of one profile and the reference says otherwise, by name."""
    game, oracle, places = case.game, case.oracle(kind), case.places(profile)
    laid, players = oracle.flags_of(places), range(len(profile))
    state = game.recording_state(np.array(profile), game.recorders)
    protocol.settle(game.data, state)
    found = set()

    def compare(name, value, expected):
        if differ(case, value, expected):
            found.add(name)

    values = np.empty(game.world.num_free)
    for i in players:
        now = oracle.utility(i, places, places[i], laid)
        compare("utility", game.utility(i, profile), now)
        protocol.utilities(game.data, state, i, values)
        for action, goal in enumerate(oracle.free):
            moved = [goal if j == i else places[j] for j in players]
            expected = oracle.utility(i, moved, places[i], laid)
            compare("move_utility", game.move_utility(i, profile, action), expected)
            compare("kernel utility", protocol.utility(game.data, state, i, action), expected)
            compare("kernel utilities", values[action], expected)
            for got, goal_value in zip(protocol.compare(game.data, state, i, action), (now, expected), strict=True):
                compare("kernel compare", got, goal_value)
    start = Play(oracle, places)
    corrected = oracle.corrected(places)
    for number, name in enumerate(game.recorders):
        compare(name, protocol.measure(game.data, state, number), start.row()[name])
    compare("worth_sum", game.worth_sum(profile), oracle.worth_sum(places))
    compare("worth_union", game.worth_union(profile), oracle.worth_union(places))
    compare("corrected", game.corrected_potential(profile), corrected)
    compare("corrected", protocol.potential(game.data, state), corrected)
    compare("claimed", game.claimed_potential(profile), oracle.welfare(places, laid))
    compare("claimed", protocol.welfare(game.data, state), oracle.welfare(places, laid))
    return found


@few
@given(cases(), st.data())
def test_utilities_and_potentials_of_a_profile(case, data):
    action = st.integers(0, case.world.num_free - 1)
    profile = data.draw(st.tuples(*[action] * len(case.delta)))
    assert misjudged(case, profile) == set()
    assert case.game.has_potential == (case.flags is None and not any(case.cost))


@few
@given(cases())
def test_moves_interactions_and_signal_of_every_cell(case):
    game, oracle = case.game, case.oracle()
    assert [tuple(cell) for cell in game.world.cells.tolist()] == oracle.free
    signal, gradient = game.signal
    for action, place in enumerate(oracle.free):
        for robot in oracle.robots:
            assert [oracle.free[a] for a in game.reachable(robot, action)] == oracle.moves(place)
            assert {tuple(cell) for cell in game.covered(robot, action).tolist()} == oracle.covers(robot, place)
        assert signal[action] == oracle.worth[place]
        assert gradient[action] == pytest.approx(oracle.gradient(place), abs=1e-12)
    for i in oracle.robots:
        table = game.interacting(i, oracle.robots[-1])
        expected = [[oracle.interact(i, a, oracle.robots[-1], b) for b in oracle.free] for a in oracle.free]
        assert table.tolist() == expected
    best = max(oracle.value(oracle.covers(i, place)) for i in oracle.robots for place in oracle.free)
    assert game.scale == pytest.approx(best, abs=1e-12)


@few
@given(cases(), st.data())
def test_corrected_potential_is_exact_without_flags_and_cost(case, data):
    oracle = Case(case.world, case.delta, (0.0,) * len(case.delta), case.reach, None, case.payoff).oracle()
    profile = [data.draw(st.sampled_from(oracle.free)) for _ in oracle.robots]
    i, goal = data.draw(st.sampled_from(oracle.robots)), data.draw(st.sampled_from(oracle.free))
    after = [goal if j == i else place for j, place in enumerate(profile)]
    gain = oracle.utility(i, after, goal, {}) - oracle.utility(i, profile, profile[i], {})
    assert not differ(case, gain, oracle.corrected(after) - oracle.corrected(profile))


# Whole runs -------------------------------------------------------------------------------------------


def begin(case, plan, seed, compiled=False):
    names = ("profile", *case.game.recorders, "welfare", "taken", "rejected")
    names += ("potential",) if case.game.has_potential else ()
    return pt.begin(case.game, as_rule(plan), seed, record=names, compiled=compiled)


def followed(case, plan, run, oracle=None, play=Play, predict=True):
    """Where a run and the reference part: names of recorders, and "places" where the profile was not foreseen.

    Without ``predict`` the reference follows the recorded profiles instead of finding its own.
    """
    trace = run.trace()
    reference = play(oracle or case.oracle(), case.places(trace.profiles[0]))
    found = set()
    for n, profile in enumerate(trace.profiles):
        places = case.places(profile)
        if n and predict:
            reference.step(plan, run.key, n - 1)
        elif n:
            reference.stand(places)
        if reference.places != places:
            return found | {"places"}
        row = reference.row()
        counted = set() if predict else {"rejected"}  # who woke up, the profiles do not tell
        found |= {name for name in set(trace.scalars) - counted if differ(case, trace.scalars[name][n], row[name])}
    return found | left_behind(case, run, reference)


def left_behind(case, run, reference):
    """Flags, cover counts and cells seen at the end of a run, cell by cell."""
    data, state, found = case.game.data, run.state, set()
    for cell in reference.oracle.worth:
        number = data.base + cell[1] * data.width + cell[0]
        owners = reference.laid.get(cell, set())
        flag = 0 if not owners else SHARED if len(owners) > 1 else min(owners) + 1
        here = [(i, p) for i, p in enumerate(reference.places) if i in reference.oracle.present]
        covering = sum(cell in reference.oracle.covers(i, p) for i, p in here)
        if state.flags.size and state.flags[number] != flag:
            found.add("flags")
        if state.counts[number] != covering:
            found.add("counts")
        if state.seen[number] != (cell in reference.seen):
            found.add("seen")
    return found if state.flags.size or not reference.laid else found | {"flags"}


def unlawful(case, plan, trace):
    """Moves that no robot could have made, and pairs that the guard should have kept from moving at once."""
    oracle = case.oracle()
    rows = [case.places(profile) for profile in trace.profiles]
    for before, after in itertools.pairwise(rows):
        moved = [i for i in oracle.robots if before[i] != after[i]]
        yield from (i for i in moved if after[i] not in oracle.moves(before[i]))
        for i in moved:
            meets = [j for j in moved if j < i and oracle.interact(i, before[i], j, before[j])]
            yield from ((i, j) for j in meets if plan.guard)


@settings(few, max_examples=25)
@given(cases(), st.sampled_from(sorted(PLANS)), st.sampled_from([0.05, 0.3, 3.0]), st.integers(0, 5))
def test_every_step_is_foreseen(case, name, tau, seed):
    plan = Plan(**{**vars(PLANS[name]), "tau": tau})
    run = begin(case, plan, seed).advance(STEPS // 2)  # what goes wrong does so in the first steps
    assert followed(case, plan, run) == set()
    assert followed(case, plan, run, predict=False) == set()
    assert list(unlawful(case, plan, run.trace())) == []


@settings(few, max_examples=40)
@given(eventful_cases(), st.sampled_from(sorted(PLANS)), st.integers(0, 5))
def test_every_step_is_foreseen_where_robots_come_and_go(eventful, name, seed):
    case, since, until = eventful
    kind = altered(Eventful, since=since, until=until, drawn=case.game.base_robots)
    run = begin(case, PLANS[name], seed).advance(STEPS)
    assert followed(case, PLANS[name], run, play=kind) == set()


@pytest.mark.parametrize("wrong", ["counted still", "late", "nobody picks those who came"])
def test_references_that_are_wrong_about_events_are_noticed(wrong):
    events = ("fail 1@20", "arrive 30")
    case = replace(CROWDS["cell"], events=events)
    right = {"since": [0, 0, 0, 30], "until": [np.inf, 20, np.inf, np.inf], "drawn": 3}
    run = begin(case, PLANS["blll"], 1).advance(2 * STEPS)
    assert followed(case, PLANS["blll"], run, play=altered(Eventful, **right)) == set()
    amiss = {
        "counted still": {"until": [np.inf] * 4},
        "late": {"until": [np.inf, 21, np.inf, np.inf]},
        "nobody picks those who came": {
            "awake": lambda self, plan, draw: [i for i in [int(3 * draw(0, WAKE))] if i in self.oracle.present]
        },
    }[wrong]
    assert followed(case, PLANS["blll"], run, play=altered(Eventful, **right | amiss)) != set()


@functools.cache
def crowded_run(where, name, compiled=False):
    return begin(CROWDS[where], PLANS[name], 1, compiled).advance(3 * STEPS)


@pytest.mark.parametrize("name", ["guard", "own, guard"])
def test_every_step_of_many_robots_is_foreseen(name):
    case = CROWDS["many"]
    run = begin(case, PLANS[name], 0).advance(STEPS)
    assert followed(case, PLANS[name], run) == set()
    assert list(unlawful(case, PLANS[name], run.trace())) == []
    assert np.diff(run.trace().taken).max() > 2  # some moved at once, far from each other


@pytest.mark.parametrize(("where", "name"), [("cell", "blll"), ("range", "own"), ("far", "own, guard")])
def test_compiled_and_plain_python_agree_to_the_bit(where, name):
    case, fast, slow = CROWDS[where], crowded_run(where, name, True), crowded_run(where, name)
    assert fast.compiled
    assert not slow.compiled
    assert followed(case, PLANS[name], fast) == set()
    assert fast.trace().profiles.tobytes() == slow.trace().profiles.tobytes()
    for recorder, values in fast.trace().scalars.items():
        assert values.tobytes() == slow.trace().scalars[recorder].tobytes(), recorder
    for part, values in zip(fast.state._fields, fast.state, strict=True):
        assert values.tobytes() == getattr(slow.state, part).tobytes(), part


def test_compiled_kernels_measure_a_profile():
    case = CROWDS["free"]
    profile = [0, 1, 8, 30]
    row = Play(case.oracle(), case.places(profile)).row()
    measured = evaluate(case.game, profile)
    assert set(measured) == set(row) - {"taken", "rejected"}
    assert {name: value for name, value in measured.items() if differ(case, value, row[name])} == {}


@pytest.mark.parametrize("name", ["own", "own, guard"])
def test_saved_and_resumed_with_flags_and_signal(tmp_path, name):
    case, whole = CROWDS["range"], crowded_run("range", name)
    half = begin(case, PLANS[name], 1, compiled=False).advance(STEPS)
    resumed = pt.load(half.save(tmp_path / "run.npz"), case.game).advance(2 * STEPS)
    assert followed(case, PLANS[name], resumed) == set()
    assert resumed.trace().profiles.tobytes() == whole.trace().profiles.tobytes()
    for recorder, values in whole.trace().scalars.items():
        assert values.tobytes() == resumed.trace().scalars[recorder].tobytes(), recorder
    for part, values in zip(whole.state._fields, whole.state, strict=True):
        assert values.tobytes() == getattr(resumed.state, part).tobytes(), part
    assert whole.memory.highest.tobytes() == resumed.memory.highest.tobytes()


@pytest.mark.parametrize("where", ["range", "marginal", "free"])
def test_coverage_games_keep_the_protocol(where):
    pt.testing.check_game(CROWDS[where].game, num_profiles=6)


@pytest.mark.parametrize("name", ["own", "world", "own, guard"])
def test_rules_that_follow_the_signal_keep_the_protocol(name):
    pt.testing.check_rule(as_rule(PLANS[name]), [CROWDS["range"].game, CROWDS["free"].game], steps=60)


# The law of one step ----------------------------------------------------------------------------------


def one_step(case, plan, kind=Oracle):
    """The transition matrix, from the reference."""
    oracle = case.oracle(kind)
    states = list(itertools.product(oracle.free, repeat=len(case.delta)))
    number = {state: k for k, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        for after, p in Play(oracle, list(state)).law(plan).items():
            matrix[number[state], number[after]] += p
    return matrix


def solved(case, plan):
    matrix = pt.analysis.chain(case.game, as_rule(plan)).matrix
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@pytest.mark.parametrize("where", SMALL)
@pytest.mark.parametrize("name", ["blll", "joint", "unilateral", "guard", "world"])
def test_exact_chain_is_the_law_of_the_reference(where, name):
    assert np.abs(solved(SMALL[where], PLANS[name]) - one_step(SMALL[where], PLANS[name])).max() < 1e-12


@pytest.mark.parametrize("where", ["strip", "K"])
def test_audit_takes_a_signal_that_depends_on_the_action_alone(where):
    report = pt.analysis.audit(SMALL[where].game, as_rule(PLANS["world"]))
    assert any("Assumption 3" in row.hypothesis or "revision" in row.hypothesis for row in report.rows)


def test_wrong_law_is_caught():
    case, plan = SMALL["strip"], PLANS["joint"]
    other = Plan(**{**vars(plan), "joint": False})
    assert np.abs(solved(case, plan) - one_step(case, other)).max() > 1e-3
    assert np.abs(solved(case, plan) - one_step(case, plan, WRONG["twice the range"])).max() > 1e-3
    costly = one_step(SMALL["K"], plan) - one_step(SMALL["K"], plan, WRONG["moves for free"])
    assert np.abs(costly).max() > 1e-3


# References with one thing wrong: each must be caught -----------------------------------------------

JUDGED = [
    ("overlaps once", "no flags", "utility"),
    ("no flags", "cell", "kernel utility"),
    ("no flags", "cell", "claimed"),
    ("last flag only", "range", "kernel compare"),
    ("short sight", "cell", "move_utility"),
    ("endless sight", "cell", "kernel utilities"),
    ("square range", "no flags", "worth_union"),
    ("claimed potential", "free", "corrected"),
    ("king's distance", "no flags", "move_utility"),
]
RECORDED = [
    ("overlaps once", "no flags", "welfare"),
    ("no flags", "range", "welfare"),
    ("last flag only", "range", "flags"),
    ("square range", "no flags", "worth_sum"),
    ("twice the range", "cell", "cells_seen"),
    ("twice the range", "cell", "targets_found"),
    ("twice the range", "cell", "counts"),
    ("claimed potential", "free", "potential"),
    ("king's distance", "cell", "energy"),
    ("energy of trials", "cell", "energy"),
    ("start not seen", "cell", "cells_seen"),
]
FORESEEN = [
    ("overlaps once", "no flags", "joint"),
    ("no flags", "cell", "blll"),
    ("last flag only", "range", "joint"),
    ("own flags too", "cell", "blll"),
    ("short sight", "cell", "joint"),
    ("endless sight", "far", "joint"),
    ("square range", "no flags", "unilateral"),
    ("king's distance", "no flags", "joint"),
    ("no corners", "no flags", "blll"),
    ("ranges interact", "far", "guard"),
    ("ranges interact", "many", "guard"),
    ("forward slope", "range", "own"),
    ("forward slope", "range", "world"),
    ("flags first", "range", "joint"),
    ("no memory", "range", "own"),
]
CHANGED = [("joint", {"joint": False}), ("unilateral", {"joint": True}), ("guard", {"guard": False})]
CHANGED += [("own", {"revision": (1.0, 0.5, 0.1, "world")}), ("own", {"revision": (1.0, 0.5, 0.2, "own")})]


def wrongly_followed(what, where, name, predict):
    case, run, kind = CROWDS[where], crowded_run(where, name), WRONG[what]
    assert followed(case, PLANS[name], run, predict=predict) == set()
    if issubclass(kind, Play):
        return followed(case, PLANS[name], run, play=kind)
    return followed(case, PLANS[name], run, case.oracle(kind), predict=predict)


@pytest.mark.parametrize(("what", "where", "name"), JUDGED)
def test_wrong_reference_is_caught_at_some_profile(what, where, name):
    case = CROWDS[where]
    some = [(0, 1, 6, 7), (8, 8, 9, 15), (30, 22, 23, 24)]
    assert [misjudged(case, profile) for profile in some] == [set()] * len(some)
    assert name in set().union(*(misjudged(case, profile, WRONG[what]) for profile in some))


@pytest.mark.parametrize(("what", "where", "recorder"), RECORDED)
def test_wrong_reference_is_caught_by_a_recorder(what, where, recorder):
    assert recorder in wrongly_followed(what, where, "joint", predict=False)


@pytest.mark.parametrize(("what", "where", "name"), FORESEEN)
def test_wrong_reference_does_not_foresee(what, where, name):
    assert "places" in wrongly_followed(what, where, name, predict=True)


@pytest.mark.parametrize(("name", "change"), CHANGED)
def test_another_rule_is_not_foreseen(name, change):
    other = Plan(**{**vars(PLANS[name]), **change})
    assert "places" in followed(CROWDS["range"], other, crowded_run("range", name))


def test_unlawful_moves_are_caught():
    case, trace = CROWDS["range"], crowded_run("range", "joint").trace()
    assert list(unlawful(case, PLANS["joint"], trace)) == []
    assert list(unlawful(case, PLANS["guard"], trace))  # pairs that a guard would have parted
    assert list(unlawful(case, PLANS["joint"], crowded_run("far", "joint").trace()))  # moves that are too long


def test_a_run_does_not_depend_on_what_a_map_is_called(tmp_path):
    """A renamed file, the same numbers: the same run, also when it is resumed."""
    worth = np.random.default_rng(0).random((6, 7))
    ends = []
    for name in ("harbour", "renamed"):
        game = Coverage(World(worth, name=name), 3, 1.5, flags=False)
        ends.append(pt.begin(game, pt.rule("blll", tau=0.1), 4, compiled=False).advance(300).profile)
        if name == "harbour":
            half = pt.begin(game, pt.rule("blll", tau=0.1), 4, compiled=False).advance(100).save(tmp_path / "run.npz")
        else:
            ends.append(pt.load(half, game).advance(200).profile)
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


def test_worth_in_any_range():
    worth = np.random.default_rng(1).random((4, 5))
    game = Coverage(World(worth), 1, 1.5, flags=False)
    for delta in (0.0, 1.0, 2.5, 5.0, 1e9):
        wanted = [
            sum(worth[v, u] for v in range(4) for u in range(5) if (u - x) ** 2 + (v - y) ** 2 <= delta**2)
            for y in range(4)
            for x in range(5)
        ]
        np.testing.assert_allclose(game.worth_in_range(delta), wanted, rtol=1e-12)
