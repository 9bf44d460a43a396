"""Sight, events and a world that changes, all at once: every step against the slow reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.games import Coverage, Flow, Frames, Shift
from potentia.kernel import protocol
from tests.coverage_cases import KINDS, LIVES, PLANS, as_rule, changed, crowded, eventful_cases
from tests.coverage_oracle import Changing, altered
from tests.drift_oracle import field_of, targets_of
from tests.unit.games.test_coverage_reference import left_behind

STEPS = 25
FIXED = ("blll", "joint", "unilateral", "guard")  # a signal revision needs a fixed field


def reference(case, since, until, start, kind=Changing):
    """The reference at the start of a run."""
    moving = case.drift if case.drift is not None else Shift((0, 0))

    def worth_at(self, time):
        return field_of(case.world, moving, case.every, time)

    def targets_at(self, time):
        return targets_of(case.world, moving, case.every, time)

    moves = case.drift is not None and not isinstance(moving, Flow | Frames)
    lives = {"since": since, "until": until, "drawn": case.game.base_robots}
    lives |= {"targets_at": targets_at} if moves else {}
    return altered(kind, **{"worth_at": worth_at, **lives})(case.oracle(), case.places(start))


def close(found, wanted):
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)


def misjudged(case, run, play, random):
    """Whether some robot's utility where it is, or somewhere else, is not the reference's."""
    for robot, place in enumerate(play.places):
        options = play.oracle.moves(place) or [place]
        there = options[random.integers(len(options))]
        trial, goal = [there if i == robot else p for i, p in enumerate(play.places)], play.oracle.free.index(there)
        now, then = (play.oracle.utility(robot, places, place, play.laid) for places in (play.places, trial))
        values = protocol.compare(case.game.data, run.state, robot, goal)
        single = protocol.utility(case.game.data, run.state, robot, goal)
        if not (close(values[0], now) and close(values[1], then) and close(single, then)):
            return {"utility"}
    return set()


def followed(case, since, until, name="joint", seed=0, kind=Changing, steps=STEPS):
    """Where a run and the reference part."""
    record = ("profile", *case.game.recorders, "welfare", "taken", "rejected", "potential")
    record = record if case.game.has_potential else record[:-1]
    run = pt.begin(case.game, as_rule(PLANS[name]), seed, record=record, compiled=False)
    play, random = reference(case, since, until, run.profile, kind), np.random.default_rng(seed)
    found, paths = set(), []
    for n in range(steps + 1):
        if n:
            run.advance(1)
            play.step(PLANS[name], run.key, n - 1)
        if play.places != case.places(run.profile):
            return found | {"places"}
        paths.append(play.places)
        if [i for i, here in enumerate(case.game.there_at(n)) if here] != play.oracle.present:
            found.add("there")
        row, scalars = play.row(), run.trace().scalars
        found |= {name for name in scalars if not close(scalars[name][n], row[name])}
        ways = [math.fsum(map(math.dist, path, path[1:])) for path in zip(*paths, strict=True)]
        if not all(map(close, run.state.driven.tolist(), ways)):
            found.add("driven")
        found |= misjudged(case, run, play, random)
    return found | left_behind(case, run, play)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None, derandomize=True)
@given(eventful_cases(last=STEPS), st.sampled_from(FIXED), st.integers(0, 99), st.sampled_from([1, 3, 7]))
def test_every_step_is_foreseen(kind, eventful, name, seed, every):
    case, since, until = eventful
    case = changed(case, kind, np.random.default_rng(seed), every)
    assert followed(case, since, until, name, seed) == set()


# One crowded case -------------------------------------------------------------------------------------


class Frozen(Changing):
    """The worth is that of the beginning."""

    def call_roll(self, now):
        super().call_roll(0)
        super().call_roll(now)
        self.oracle.worth = self.worth_at(0)


class Late(Changing):
    """Robots come and go after the worth has changed, a step too late."""

    def call_roll(self, now):
        super().call_roll(max(now - 1, 0))
        self.oracle.worth = self.worth_at(now)


class Seeing(Changing):
    """Walls hide nothing."""

    def __post_init__(self):
        self.oracle.sees_past = None
        super().__post_init__()


@pytest.mark.parametrize("who", [{"name": "p-sblll"}, {"who": "independent", "considers": "trial", "chooses": "logit"}])
def test_those_who_arrive_with_a_range_cost_and_revision_of_their_own_change_no_draw(who):
    world, steps = crowded("still").world, 12
    common = {"flags": False, "start": [(0, 0), (1, 0), (0, 1)]}
    eventful = Coverage(world, 3, [1.0, 1.0, 1.0, 2.0], K=[0, 0, 0, 0.5], events=["arrive 10"], **common)
    plain = Coverage(world, 3, 1.0, **common)
    rules = [pt.rule(**who, tau=1.0, revision=[0.5, 0.9, 0.4, 0.7][:robots]) for robots in (4, 3)]
    one, other = (
        pt.begin(game, rule, 2, compiled=False).advance(steps)
        for game, rule in zip((eventful, plain), rules, strict=True)
    )
    assert one.key == other.key
    assert (one.trace().profiles[:11, :3] == other.trace().profiles[:11]).all()
    assert (one.trace().profiles[:11, :3] != one.trace().profiles[0, :3]).any()
    fewer = eventful.with_events(["fail 1@5"])
    assert (fewer.num_players, fewer.delta.tolist(), fewer.movement_cost.tolist()) == (3, [1.0] * 3, [0.0] * 3)
    full = Coverage(world, 3, [1.0, 2.0, 1.0, 2.0], start=[*common["start"], (1, 1)], events=["arrive 10"])
    assert full.with_events([]).delta.tolist() == [1.0, 2.0, 1.0]
    assert full.with_events([]).positions(full.with_events([]).start).tolist() == [list(c) for c in common["start"]]


def test_a_crowd_with_flags_and_costs_is_foreseen():
    assert followed(crowded("frames"), *LIVES, "guard", steps=30) == set()


@pytest.mark.parametrize("wrong", [Frozen, Late, Seeing])
def test_wrong_references_are_noticed(wrong):
    assert followed(crowded("shift"), *LIVES, kind=wrong) - {"there"} != set()
