"""Targets that move with the field are found where they are by then, against a walk through all steps and cells."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.games import Coverage, Shift, World, gaussian_world
from tests.drift_oracle import targets_of
from tests.sight_oracle import visible
from tests.unit.bad import EYE

SIZE, EVERY, STEPS = (12, 9), 4, 120
WALLS = np.zeros(SIZE[::-1], bool)
WALLS[4, 3:9] = True
RULE = {"rule": "blll", "tau": 5.0}  # hot: they walk about, and away from what moves
RECORD = ("profile", "targets_found", "cells_seen")
TARGETS = [(1, 1), (10, 7), (5, 0), (0, 8)]
SHIFT = (0.0625, -0.09375)
SPEEDS = [(0.09375, 0.0), (-0.0625, 0.125), (0.0, 0.0)]
MEANS = [(1.5, 7.5), (9.0, 2.0), (6.5, 8.25)]
EVENTS = ["fail 0@30", "arrive 50"]


def field(drift=SHIFT, events=None, **options):
    world = World(np.ones(SIZE[::-1]), blocked=WALLS, targets=TARGETS)
    return Coverage(world, 2, 1.5, flags=False, drift=drift, drift_every=EVERY, events=events, **options)


def hills(**options):
    world = gaussian_world(SIZE, [0.5, 0.25, 0.25], MEANS, [EYE] * 3, blocked=WALLS)
    return Coverage(world, 2, 1.5, flags=False, drift=SPEEDS, drift_every=EVERY, **options)


GAMES = {
    "reflect": field,
    "wrap": lambda: field(Shift(SHIFT, "wrap")),
    "empty": lambda: field(Shift(SHIFT, "empty")),
    "means": hills,
    "sight and events": lambda: field(events=EVENTS, sight=True),
    "means, events": lambda: hills(events=EVENTS),
}


def places(game, time):
    """Where targets are."""
    edge = ("wrap", "reflect", "empty")[getattr(game.drift, "edge", 1)]
    return targets_of(game.world, Shift(SHIFT, edge) if game.world.mixture is None else SPEEDS, EVERY, time)


def found_by_walking(game, trace):
    """By target: the first step at which a robot that is there covers it, and which robots do."""
    walls = {(x, y) for y, x in np.argwhere(WALLS).tolist()}
    since, until = trace.lives if trace.lives is not None else np.array([[0, 0], [STEPS + 1] * 2])
    found = {}
    for step, profile in enumerate(trace.profiles):
        cells = game.world.cells[profile].tolist()
        for number, target in enumerate(places(game, step)):
            who = [
                robot
                for robot, (x, y) in enumerate(cells)
                if target is not None
                and since[robot] <= step < until[robot]
                and (x - target[0]) ** 2 + (y - target[1]) ** 2 <= 1.5**2
                and not (game.sight and (target in walls or not visible((x, y), target, walls)))
            ]
            if who and number not in found:
                found[number] = (step, who)
    return found


@pytest.mark.parametrize("kind", GAMES)
def test_targets_are_found_where_they_are(kind):
    game, moved, late = GAMES[kind](), 0, 0
    for seed in range(4):
        trace = pt.begin(game, RULE, seed, record=RECORD, compiled=False).advance(STEPS).trace()
        found = found_by_walking(game, trace)
        wanted = [sum(step <= n for step, _ in found.values()) for n in range(STEPS + 1)]
        assert trace.targets_found.tolist() == wanted
        still = game.at(0).world.targets.tolist()
        events = [event for event in trace.recording().header["events"] if event["kind"] == "target"]
        assert len(events) == len(found)
        for number, (step, who) in found.items():
            x, y = places(game, step)[number]
            (event,) = [one for one in events if f"finds target {number} at ({x}, {y})" in one["text"]]
            assert event["step"] == step
            assert event["player"] in who
            late += step > 0
            moved += [x, y] != still[number]
    assert late > 3
    assert moved > 1  # so that cells of step 0 would be told apart


def test_compiled_code_finds_the_same():
    game = hills()  # the kernel of the other tests of drifts
    plain, fast = (pt.begin(game, RULE, 2, record=RECORD, compiled=how).advance(STEPS).trace() for how in (False, True))
    assert plain.targets_found.tolist() == fast.targets_found.tolist()
    assert plain.targets_found[-1] > plain.targets_found[0]


def test_what_was_found_is_saved_and_handed_on(tmp_path):
    game, rest = field(), 40
    whole = pt.begin(game, RULE, 2, record=RECORD, compiled=False).advance(STEPS)
    half = pt.begin(game, RULE, 2, record=RECORD, compiled=False).advance(STEPS - rest)
    again = pt.load(half.save(tmp_path / "run.npz"), game, compiled=False)
    assert again.state.found.tolist() == half.state.found.tolist()
    assert again.advance(rest).trace().targets_found.tolist() == whole.trace().targets_found.tolist()
    stays = pt.begin(field(None), RULE, 2, record=RECORD, compiled=False).advance(STEPS)
    there = stays.trace().targets_found[-1]
    assert 0 < there < len(TARGETS) + 1
    afoot = stays.branch(game=game)
    assert afoot.state.found.sum() >= there
    assert afoot.state.found.sum() == afoot.state.tally[2]


def test_a_run_of_before_targets_moved_does_not_know(tmp_path):
    path = pt.begin(field(), RULE, 2, record=RECORD, compiled=False).advance(STEPS).save(tmp_path / "run.npz")
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files if name != "state.found"}
    np.savez(path, **parts)
    assert np.isnan(pt.load(path, field(), compiled=False).advance(1).trace().targets_found[-1])


def test_targets_that_stay_cost_nothing():
    for game in (field(None), Coverage(hills().world.like(targets=[(0, 0)]), 2, drift=SPEEDS)):
        assert "found" not in game.remembers
        assert pt.begin(game, RULE, 2, record=RECORD, compiled=False).state.found.size == 0
