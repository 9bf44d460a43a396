"""Recorders as a table: those of one's own, what is best so far, revisions as an axis, labels; and runs with a goal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import xarray

import potentia as pt
from potentia.engine.tier import Tier
from potentia.errors import InvalidRun
from potentia.games.functions import machine_code
from potentia.kernel import recorders
from potentia.kernel.tiers import Kernel

RULE = pt.rule("lll", tau=0.3)
GAME = pt.game("ring", players=12)


def ones(profile, data):
    count = 0
    for action in profile:
        count += action
    return count


def all_agree(profile, data):
    return profile.min() == profile.max()


@pytest.fixture
def registered(monkeypatch):
    """A recorder that is known by its name."""
    monkeypatch.setattr(recorders, "_own", {})
    pt.extend.register_recorder(label="players at action 1", unit="players")(ones)


def played(compiled="auto", every=3, **options):
    return pt.run(GAME, RULE, 2000, every=every, compiled=compiled, **options)


WHOLE = played(record=("profile", "potential", "taken"))


@pytest.mark.parametrize("compiled", [True, False])
def test_an_own_recorder_is_a_function_of_the_profile(compiled):
    trace = played(compiled, record=(pt.recorder(ones), "potential"))
    assert trace.ones.tolist() == WHOLE.profiles.sum(axis=1).tolist()
    assert trace.potential.tolist() == WHOLE.potential.tolist()
    assert trace.events is None, "the profile is followed and not kept"


def test_an_own_recorder_in_chunks_saved_branched_and_driven(registered, tmp_path):
    run = pt.begin(GAME, RULE, record=("ones", "best"), every=3).advance(1000)
    saved = pt.load(run.save(tmp_path / "a.run"), GAME)
    branch = run.branch()
    for one in (run, saved, branch):
        for _ in range(10):
            one.advance(100)
        assert one.trace().ones.tolist() == WHOLE.profiles.sum(axis=1).tolist()
        assert one.trace().best.tolist() == np.maximum.accumulate(WHOLE.potential).tolist()
    driven = pt.begin(GAME, RULE, start=[0] * 12, record="ones")
    driven.apply({0: 1, 1: 1}).apply({1: 0})
    assert driven.trace().ones.tolist() == [0, 2, 1]


def test_an_own_recorder_of_many_players_and_rows():
    """More rows than are laid out at once, more players than are filled a column at a time, and machine code."""
    game = pt.game("ring", players=70)
    both = {k: pt.run(game, RULE, 3000, record=k, compiled=True) for k in ("profile", pt.recorder(ones))}
    profile, own = both.values()
    assert own.ones.tolist() == profile.profiles.sum(axis=1).tolist()


def test_an_own_recorder_sees_the_data_of_a_custom_game():
    def utility(player, profile, data):
        return data[profile[player]]

    game = pt.games.custom(utility, [3, 3], data=np.array([0.0, 1.0, 5.0]))
    row = pt.recorder(lambda profile, data: data[profile[0]], "first")
    data = pt.run_batch(game, RULE, 50, range(3), record=("profile", row))
    assert data.first.values.tolist() == np.array([0.0, 1.0, 5.0])[data.profile.values[..., 0]].tolist()


def test_machine_code_that_gives_other_numbers_is_not_used(monkeypatch):
    """Integers of machine code overflow where Python's do not."""
    monkeypatch.setattr("potentia.engine.measuring._LONG", 0.0)

    def wide(profile, data):
        return float((profile.size + 2**62) * 4 % 1000)

    code = machine_code(wide, (np.zeros(12, np.int64), GAME.plain_data))
    assert code(np.zeros(12, np.int64), GAME.plain_data) != wide(np.zeros(12), None), "or this test shows nothing"
    for compiled in ("auto", True):
        assert set(played(compiled, record=pt.recorder(wide)).wide) == {wide(np.zeros(12), None)}


BAD = {
    "no function": (lambda: pt.recorder(3), "function must be a function of"),
    "arguments": (lambda: pt.recorder(lambda a: 1.0, "x"), r"function must take \(profile, data\), got \(a\)"),
    "a taken name": (lambda: pt.recorder(ones, "potential"), "name is taken: 'potential'"),
    "no name": (lambda: pt.recorder(lambda p, d: 1.0), "name must be one word .*got '<lambda>'"),
    "label": (lambda: pt.recorder(ones, label=3), "label must be a text, got 3"),
    "fails": (
        lambda: pt.run(GAME, RULE, 5, record=pt.recorder(lambda p, d: 1 / 0, "x")),
        r"x failed at profile \[.*ZeroDivisionError",
    ),
    "no number": (
        lambda: pt.run(GAME, RULE, 5, record=pt.recorder(lambda p, d: "a", "x")),
        r"x must return a number, got 'a' at profile \[.*\] \.\.\.: test_recorders.py:\d+$",
    ),
    "nothing": (
        lambda: pt.run(GAME, RULE, 5, record=pt.recorder(lambda p, d: p.sum() and None, "x"), compiled=False),
        r"x must return a number, got None at profile .*: test_recorders.py:\d+$",
    ),
    "changes it": (
        lambda: pt.run(GAME, RULE, 5, record=pt.recorder(lambda p, d: p.sort() or 1.0, "x"), start=[1] + 11 * [0]),
        "x must not change the profile",
    ),
    "unknown": (lambda: played(record="one"), "record must name some of .*got 'one'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_recorders(name):
    call, message = BAD[name]
    with pytest.raises(InvalidRun, match=message):
        call()


def test_a_name_is_taken_once(registered):
    pt.extend.register_recorder()(ones)
    with pytest.raises(InvalidRun, match="a recorder named 'ones' exists already"):
        pt.extend.register_recorder("ones")(all_agree)


def test_the_best_so_far_and_when():
    trace = played(record=("best", "best_time", "revisions", "taken"))
    best = np.maximum.accumulate(WHOLE.potential)
    assert trace.best.tolist() == best.tolist()
    assert trace.best_time.tolist() == [float(WHOLE.times[np.argmax(WHOLE.potential == value)]) for value in best]
    assert trace.num_revisions.tolist() == trace.times.tolist(), "one player revises at each step"
    run = pt.begin(GAME, RULE, record=("best", "best_time"), every=3)
    for _ in range(20):
        run.advance(100)
    assert run.trace().best_time.tolist() == trace.best_time.tolist()
    other = pt.run(pt.game("matching-pennies"), RULE, 40, record=("best", "welfare"))
    assert other.best.tolist() == np.maximum.accumulate(other.welfare).tolist(), "where there is no potential"


def test_datasets_explain_themselves(tmp_path, registered):
    data = pt.run_batch(GAME, RULE, 60, range(2), record=("profile", "potential", "ones", "revisions", "best_time"))
    path = tmp_path / "a.nc"
    data.to_netcdf(path)
    with xarray.open_dataset(path) as read:
        assert read.potential.attrs["long_name"] == "potential Φ"
        assert (read.ones.attrs["long_name"], read.ones.attrs["units"]) == ("players at action 1", "players")
        assert read.best_time.attrs["units"] == "steps"
        assert read.num_revisions.dims == ("seed", "time")
        assert "num_revisions" in read.coords
        assert read.attrs["game_fingerprint"] == GAME.fingerprint()
        assert (read.attrs["players"], read.attrs["actions"]) == (12, 2)
    one = pt.run(pt.games.NormalForm(np.zeros((2, 2, 3))), RULE, 5, record="welfare").dataset()
    assert one.attrs["actions"] == [2, 3]
    assert one.welfare.attrs["long_name"] == "welfare Σu"


# Goals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
def test_a_run_ends_at_its_goal(compiled):
    goal = float(WHOLE.potential.max())
    row = int(np.argmax(WHOLE.potential >= goal))
    assert 0 < row < WHOLE.times.size - 1
    above = float(np.nextafter(goal, np.inf))  # as a goal that was computed elsewhere
    stops = ({"potential": goal}, {"potential": goal + 0.5, "tolerance": 0.5}, {"best": goal}, {"potential": above})
    for stop in stops:
        trace = played(compiled, record="profile", stop=stop)
        assert (trace.reached, trace.steps, trace.complete) == (True, 3 * row, True)
        assert trace.final.tolist() == WHOLE.profiles[row].tolist()
        assert trace.profiles.tolist() == WHOLE.profiles[: row + 1].tolist()
        assert trace.changes == WHOLE.taken[row], "what came after has not happened"
    never = played(compiled, record="profile", stop={"potential": goal + 1e-6})
    assert (never.reached, never.steps, never.complete) == (False, 2000, True)
    assert not played(compiled, record="profile", stop={"potential": above, "tolerance": 0.0}).reached


@pytest.mark.parametrize("compiled", [True, False])
def test_a_run_ends_where_a_function_says_so(compiled):
    row = int(np.argmax(WHOLE.profiles.min(axis=1) == WHOLE.profiles.max(axis=1)))
    trace = played(compiled, record=(), stop=all_agree)
    assert (trace.reached, trace.steps) == (True, 3 * row)
    assert trace.all_agree.tolist() == [0.0] * row + [1.0]


def test_a_goal_may_be_a_recorder_of_ones_own():
    row = pt.recorder(ones)
    most = int(WHOLE.profiles.sum(axis=1).max())
    trace = played(record=("profile", row), stop={"ones": most})
    assert trace.reached
    assert trace.final.sum() == most
    run = pt.begin(GAME, RULE, record=row, every=3)
    assert run.advance(2000, stop={"ones": most}).step == trace.steps
    with pytest.raises(InvalidRun, match=r"stop must name what this run records \(ones\), got 'potential'"):
        run.advance(1, stop={"potential": 1.0})


def test_a_run_that_is_there_goes_nowhere_and_goes_on_without_a_goal():
    run = pt.begin(GAME, RULE, start=[0] * 12, record="potential").advance(50, stop={"potential": 12.0})
    assert (run.reached, run.step) == (True, 0)
    assert run.advance(50).step == 50
    assert run.reached is None


def test_a_batch_ends_each_run_at_its_goal():
    data = pt.run_batch(GAME, RULE, 60, range(6), record="potential", stop={"potential": 12.0}, workers=2)
    for seed in data.seed.values:
        alone = pt.run(GAME, RULE, 60, seed, record="potential", stop={"potential": 12.0})
        one = data.sel(seed=seed)
        assert (int(one.steps_done), bool(one.reached)) == (alone.steps, alone.reached)
        assert one.potential.values[: alone.steps + 1].tolist() == alone.potential.tolist()
        assert np.isnan(one.potential.values[alone.steps + 1 :]).all()
    assert set(data.reached.values) == {0, 1}


BAD_GOALS = {
    "no number": ({"potential": "x"}, r"stop\['potential'\] must be a finite number, got 'x'"),
    "tolerance": ({"potential": 1.0, "tolerance": -1}, "tolerance of stop must be a finite number of at least 0"),
    "a share": ({"acceptance": 1}, r"stop must name a recorder that has .* by itself \(potential\), got 'acceptance'"),
    "unknown": ({"nonsense": 1}, "stop must name some of .*got 'nonsense'"),
    "arguments": (lambda profile: True, r"stop must take \(profile, data\), got \(profile\)"),
    "a number": (5, "stop must be a recorder and its value"),
    "nothing": ({}, "stop must be a recorder and its value"),
    "two": ({"potential": 1, "welfare": 2}, "stop must be a recorder and its value"),
}


@pytest.mark.parametrize("name", BAD_GOALS)
def test_bad_goals(name):
    stop, message = BAD_GOALS[name]
    with pytest.raises(InvalidRun, match=message):
        played(record=("potential", "acceptance"), stop=stop)


# What went wrong once ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["count", "index", "num_rows", "shadow", "measures"])
def test_names_mean_nothing_to_the_engine(name):
    trace = played(record=("profile", pt.recorder(ones, name)))
    assert trace.scalars[name].tolist() == WHOLE.profiles.sum(axis=1).tolist()


@pytest.mark.parametrize("name", ["changes", "objective", "steps_done", "reached", "final", "revisions"])
def test_names_of_datasets_are_taken(name):
    with pytest.raises(InvalidRun, match=f"name is taken: '{name}'"):
        pt.recorder(ones, name)


def test_two_recorders_of_one_name_are_refused():
    other = pt.recorder(all_agree, "ones")
    with pytest.raises(InvalidRun, match="record must have different names, got two recorders named 'ones'"):
        played(record=(pt.recorder(ones), other))
    game = pt.game("coverage")
    with pytest.raises(InvalidRun, match="two recorders named 'worth_sum'"):
        pt.run(game, RULE, 5, record=pt.recorder(ones, "worth_sum"))
    trace = played(record=(pt.recorder(ones, "stop"),), stop=lambda profile, data: False)
    assert (trace.reached, trace.steps) == (False, 2000)


def test_a_game_keeps_its_own_recorder(monkeypatch):
    monkeypatch.setattr(recorders, "_own", {})
    pt.extend.register_recorder("worth_sum")(ones)
    game = pt.game("coverage")
    trace = pt.run(game, RULE, 5, record="worth_sum")
    assert trace.worth_sum[0] == pt.engine.evaluate(game, trace.start)["worth_sum"]


def test_a_recorder_that_fails_leaves_the_run_before_the_stretch():
    def brittle(profile, data):
        if profile.sum() > 8:
            raise ValueError("too many")
        return 1.0

    for compiled in (True, False):
        run = pt.begin(GAME, pt.rule("lll", tau=3.0), record=("potential", pt.recorder(brittle)), compiled=compiled)
        with pytest.raises(InvalidRun, match=r"brittle failed at profile \[.* \.\.\.: ValueError: too many"):
            run.advance(5000)
        trace = run.trace()
        assert trace.potential.size == trace.brittle.size == trace.times.size == run.step + 1
        trace.dataset()


def test_the_best_so_far_counts_for_a_goal_that_was_passed():
    run = pt.begin(GAME, pt.rule("lll", tau=2.0), record=("best", "potential")).advance(300)
    best = run.trace().best[-1]
    assert run.trace().potential[-1] < best
    assert run.advance(300, stop={"best": float(best)}).step == 300


def test_own_games_compare_what_both_have_recorded(monkeypatch):
    """Machine code takes over, in the middle, a custom game that records only what is best so far."""

    def utility(player, profile, data):
        return 1.0 if profile[player] == profile[player - 1] else 0.0

    game = pt.games.custom(utility, (2,) * 4)
    whole = pt.run(game, RULE, 6_000, record=("best",), every=10, compiled=True)
    looks, differences = [], []
    differs = Tier._differs
    monkeypatch.setattr(Kernel, "is_ready", lambda *args: looks.append(1) or len(looks) > 2)
    monkeypatch.setattr(Tier, "_differs", lambda *args: differences.append(differs(*args)) or differences[-1])
    assert pt.run(game, RULE, 6_000, record=("best",), every=10).best.tolist() == whole.best.tolist()
    assert differences == [None], "compared once, with no difference"


def test_traces_and_errors_travel(registered):
    row = pt.recorder(lambda profile, data: 1.0, "own")
    trace = pickle.loads(pickle.dumps(played(record=("potential", row))))
    assert trace.dataset().own.values.tolist() == [1.0] * trace.times.size
    with pytest.raises(InvalidRun) as caught:
        pt.recorder(lambda profile: 1.0, "own")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.parameter, again.problem) == (str(caught.value), "function", caught.value.problem)


def test_a_study_records_revisions_and_own_ones_in_other_processes(registered, tmp_path):
    given = {
        "name": "own",
        "seeds": 2,
        "steps": 20,
        "every": 10,
        "record": ["potential", "revisions", "ones"],
        "game": {"name": "ring", "players": 6},
        "rule": {"name": "lll", "tau": 0.1},
    }
    data = pt.sweep(given, tmp_path / "a", workers=1, executor="processes", compiled=False).dataset()
    assert data.num_revisions.values[0].tolist() == [0, 10, 20]
    assert data.ones.attrs["long_name"] == "players at action 1"
    alone = pt.run_batch(pt.game("ring", players=6), pt.rule("lll", tau=0.1), 20, range(2), record="ones", every=10)
    assert data.ones.values.tolist() == alone.ones.values.tolist()


def test_a_branch_keeps_its_objective():
    run = pt.begin(pt.game("stag-hunt"), RULE, record="best").advance(5)
    with pytest.raises(InvalidRun, match="game must have the players"):
        run.branch(game=pt.game("matching-pennies"))
    with pytest.raises(InvalidRun, match="game must be a potentia game"):
        run.branch(game=3)
