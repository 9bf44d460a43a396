"""How far, how long and at what cost, against numbers that were counted otherwise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.errors import InvalidRun
from potentia.games.events import events_from
from potentia.studies.coverage import cover, recoveries, summarise
from potentia.studies.coverage_measures import arrival, moving_cost

RULE = pt.rule("p-sblll", tau="auto", revision=0.7)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 5), st.integers(2, 5), st.integers(1, 3), st.sampled_from(["adjacent", 2.5]), st.integers(0, 10**6)
)
def test_distance_is_what_the_profiles_say(columns, rows, robots, reach, seed):
    worth = np.random.default_rng(seed).random((rows, columns))
    game = pt.games.Coverage(pt.games.World(worth), robots, reach=reach, K=seed % 2 * 0.01)
    trace = pt.run(game, RULE, 40, seed, record=("profile", "distance", "energy"), compiled=False)
    driven = [0.0] * robots
    for before, after in itertools.pairwise(game.positions(trace.profiles).tolist()):
        for robot in range(robots):
            driven[robot] += math.dist(before[robot], after[robot])
    assert trace.driven == pytest.approx(driven)
    assert trace.distance[-1] == pytest.approx(sum(driven))
    assert (np.diff(trace.distance) >= 0).all()
    assert trace.energy[-1] == pytest.approx(seed % 2 * 0.01 * sum(driven))


GAME = pt.games.Coverage(pt.games.World(np.arange(30.0).reshape(5, 6), cell_size=0.5, unit="m"), 2, flags=False)


def test_units_and_robots():
    data = cover(GAME, {"one": RULE}, 50, range(3))["one"]
    assert data.driven.dims == ("seed", "player")
    assert data.driven.attrs["units"] == data.distance.attrs["units"] == "cells"
    np.testing.assert_allclose(data.driven.sum("player"), data.distance.isel(time=-1))
    told = summarise(data, None, GAME.world.length)
    assert told.unit == "m"
    assert told.distance.mean == pytest.approx(0.5 * data.distance.isel(time=-1).mean())
    assert sum(told.driven) == pytest.approx(told.distance.mean)
    assert summarise(data).distance.mean == pytest.approx(2 * told.distance.mean)


def test_the_least_and_the_most_of_one_robot_are_of_any_run(monkeypatch):
    """Batteries are sized by these, not by means over runs."""
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    data = cover(GAME, {"one": RULE}, 50, range(5))["one"]
    told = summarise(data, None, GAME.world.length)
    assert (told.driven_least, told.driven_most) == (0.5 * data.driven.min(), 0.5 * data.driven.max())
    assert told.driven_least < min(told.driven) < max(told.driven) < told.driven_most
    without = summarise(data.drop_vars("driven"))
    assert np.isnan([without.driven_least, without.driven_most]).all()


def test_the_least_way_is_of_robots_that_were_there_throughout(monkeypatch):
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    world = pt.games.World(np.arange(30.0).reshape(5, 6))
    game = pt.games.Coverage(world, 2, flags=False, events=["fail 0@2", "arrive 90"])
    data = cover(game, {"one": RULE}, 100, range(3))["one"]
    told = summarise(data, None)
    assert len(told.driven) == 3
    ways = data.driven.isel(player=1)
    assert (told.driven_least, told.driven_most) == (ways.min(), ways.max())
    assert told.driven[0] < told.driven[1] > told.driven[2]


def test_a_belief_hides_no_distance():
    believing = pt.run(GAME, RULE, 30, belief=pt.beliefs.Constant(1.0), record="distance", compiled=False)
    assert believing.driven.sum() == pytest.approx(believing.distance[-1])
    assert believing.distance[-1] > 0


def test_saved_runs(tmp_path):
    run = pt.begin(GAME, RULE, record="distance", horizon=40, compiled=False).advance(20)
    path = run.save(tmp_path / "run.npz")
    again = pt.load(path, GAME, compiled=False).advance(20)
    run.advance(20)
    np.testing.assert_array_equal(again.trace().driven, run.trace().driven)
    np.testing.assert_array_equal(again.trace().distance, run.trace().distance)


def test_a_run_saved_before_distances_were_known(tmp_path):
    run = pt.begin(GAME, RULE, record="moves", horizon=40, compiled=False).advance(20)
    path = run.save(tmp_path / "run.npz")
    with np.load(path) as file:
        np.savez(tmp_path / "old.npz", **{name: file[name] for name in file.files if name != "state.driven"})
        np.savez(tmp_path / "bad.npz", **{name: file[name] for name in file.files if name != "state.tally"})
    trace = pt.load(tmp_path / "old.npz", GAME).trace()
    assert trace.final.tolist() == run.profile.tolist()
    assert np.isnan(trace.driven).all()
    with pytest.raises(InvalidRun, match=r"state\.tally is missing"):
        pt.load(tmp_path / "bad.npz", GAME)


# How long ---------------------------------------------------------------------------------------------

TIMES = np.arange(0, 50, 10)
CURVES = np.array([[0, 8, 9, 8, 10], [0, 0, 9, 9, 9], [0, 7, 7, 7, 7], [9, 0, 0, 0, 0]]) / 10
DRIVEN = np.array([[0, 1, 2, 3, 4], [0, 10, 20, 30, 40], [0, 5, 5, 5, 5], [0, 7, 7, 7, 7]])


@pytest.mark.parametrize(
    ("share", "reached", "steps", "distance", "said"),
    [
        (0.5, 4, 10, 1, "10"),  # at 10, 20, 10, 0
        (0.8, 3, 10, 1, "10; 1 of 4 never"),
        (0.9, 3, 20, 2, "20; 1 of 4 never"),
        (0.95, 1, math.nan, math.nan, "later than any; 3 of 4 never"),
    ],
)
def test_arrivals(share, reached, steps, distance, said):
    found = arrival(CURVES, DRIVEN, TIMES, 1.0, share)
    assert (found.reached, found.runs, found.never) == (reached, 4, 4 - reached)
    assert found.steps == pytest.approx(steps, nan_ok=True)
    assert found.distance == pytest.approx(distance, nan_ok=True)
    assert str(found) == said


def test_a_bound_one_rounding_above_is_reached():
    """The optimum comes from elsewhere: the same sum in another order."""
    worth = np.array([[0.0, 0.1 + 0.2 - 1e-16]])
    found = arrival(worth, np.zeros((1, 2)), np.array([0, 1]), np.nextafter(worth.max(), 1.0), 1.0)
    assert found.reached == 1


def test_nobody_arrives():
    found = arrival(CURVES, DRIVEN, TIMES, 2.0, 0.8)
    assert (found.reached, str(found)) == (0, "never, in 4")
    assert math.isnan(found.steps)


def test_a_run_that_never_arrives_has_no_short_way():
    """It is censored by its end, not by its way: runs that drove less are still at risk."""
    worth = np.array([[0.0, 1.0], *[[0.0, 0.1]] * 4])
    driven = np.array([[0.0, 900.0], [0.0, 5.0], [0.0, 6.0], [0.0, 7.0], [0.0, 8.0]])
    found = arrival(worth, driven, np.array([0, 10]), 1.0, 0.9)
    assert (found.reached, str(found)) == (1, "later than any; 4 of 5 never")
    assert math.isnan(found.steps)
    assert math.isnan(found.distance)


def test_of_the_bound_not_of_its_own_end():
    data = cover(GAME, {"one": RULE}, 60, range(3))["one"]
    told = summarise(data, 1e6)
    assert [goal.reached for goal in told.arrivals] == [0, 0, 0]
    assert told.steps_to_90.count == 3
    plain = told.to_dict()
    assert [goal["share"] for goal in plain["arrivals"]] == [0.8, 0.9, 0.95]
    assert all(goal["never"] == 3 for goal in plain["arrivals"])


# What moving may cost ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reach", ["adjacent", 1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_most_that_a_step_gains(reach, seed):
    random = np.random.default_rng(seed)
    blocked = np.zeros((4, 5), bool)
    blocked[1, 1] = True
    game = pt.games.Coverage(pt.games.World(random.random((4, 5)), blocked=blocked), 1, reach=reach, flags=False)
    utility = [game.utility(0, [action]) for action in range(game.world.num_free)]
    places = game.positions(np.arange(game.world.num_free)).tolist()
    radius = 1.5 if reach == "adjacent" else reach
    slopes = [
        abs(utility[a] - utility[b]) / math.dist(places[a], places[b])
        for a, b in itertools.combinations(range(len(places)), 2)
        if math.dist(places[a], places[b]) <= radius
    ]
    found = moving_cost(game)
    assert found.steepest == pytest.approx(max(slopes))
    squares = [math.dist(a, b) ** 2 for a in places for b in places]
    assert found.one_percent == pytest.approx(0.01 * max(utility) / math.sqrt(sum(squares) / len(squares)))


@pytest.mark.parametrize(("factor", "word"), [(0.0, "a step gains"), (0.99, "a step gains"), (1.01, "hinders")])
def test_a_cost_that_hinders(factor, word):
    steepest = moving_cost(GAME).steepest
    found = moving_cost(GAME.costing([factor * steepest, 2 * steepest]))
    assert found.hinders is (word == "hinders")
    assert not found.freezes  # robots may still leave each other's range
    assert word in str(found)
    assert "1 %" in str(found)


@pytest.mark.parametrize("payoff", ["overlap", "marginal"])
@pytest.mark.parametrize("robots", [1, 3])
def test_a_cost_that_freezes(payoff, robots):
    """What no step gains, by all steps from all profiles; with overlaps a step may gain more than a robot covers."""
    world = pt.games.World([[3.0, 1.0, 1.0, 1.0, 3.0]])
    game = pt.games.Coverage(world, robots, 1.0, payoff=payoff, flags=False)
    gains = [
        game.move_utility(0, profile, to) - game.utility(0, profile)
        for profile in np.ndindex(*[5] * robots)
        for to in (profile[0] - 1, profile[0] + 1)
        if 0 <= to < 5
    ]
    found = moving_cost(game)
    assert max(gains) <= found.most
    assert found.most == pytest.approx(5.0 * (2 if robots > 1 and payoff == "overlap" else 1))
    assert (max(gains) > found.steepest) is (robots > 1)
    assert moving_cost(game.costing(1.01 * found.most)).freezes
    assert "freezes the robots: no step gains more than" in str(moving_cost(game.costing(1.01 * found.most)))
    assert not moving_cost(game.costing(0.99 * found.most)).freezes


def test_one_cell():
    assert moving_cost(pt.games.Coverage(pt.games.World([[1.0]]), 1)).one_percent == math.inf


# Events -----------------------------------------------------------------------------------------------


def curves(worth, every=1):
    """A batch of one run that covered so much at each record."""
    values = {name: (("seed", "time"), [worth]) for name in ("worth_union",)}
    coords = {"seed": [0], "time": np.arange(len(worth)) * every}
    return xarray.Dataset(values | {"steps_done": ("seed", [0])}, coords)


@pytest.mark.parametrize("events", [["hazard 0.01"], ["fail 0@0"], ["fail 0@400"], []])
def test_nothing_to_recover_from(events):
    assert recoveries(curves(np.ones(300)), events_from(events)) == []


def test_the_level_before_an_event_is_that_of_its_own_stretch():
    worth = np.r_[np.full(100, 9.0), np.full(50, 4.0), np.full(150, 2.0)]
    found = recoveries(curves(worth), events_from(["fail 1@100", "fail 2@150"]))
    assert [one.before.mean for one in found] == [9.0, 4.0]
    # both between two records: the first has no stretch, and what was before them is what was before the second
    found = recoveries(curves(worth[:20], every=10), events_from(["fail 1@101", "fail 2@102"]))
    assert [(one.time, one.before.mean) for one in found] == [(102, 9.0)]
