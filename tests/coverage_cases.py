"""Coverage games and rules for the tests: each as the library takes it and as the reference does."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import potentia as pt
from potentia.games import Coverage, Flow, Frames, Shift, World, gaussian_world
from potentia.rules import SignalRevision
from tests.coverage_oracle import Oracle, Plan


@dataclass(frozen=True)
class Case:
    """One map and one team, for the game and for the reference."""

    world: World
    delta: tuple[float, ...]
    cost: tuple[float, ...]
    reach: float | str = "adjacent"
    flags: str | None = None
    payoff: str = "overlap"
    events: tuple[str, ...] = ()  # ranges and costs are those of robots that arrive, too
    sight: str | None = None  # "free": walls are not covered; "faces": those that are seen are
    drift: Any = None  # a Shift, a Flow, Frames, or how the means of a mixture move
    every: int = 10  # steps between two computations of what drifts

    @functools.cached_property
    def game(self):
        options = {"reach": self.reach, "K": self.cost, "payoff": self.payoff, "flags": self.flags is not None}
        base = len(self.delta) - sum(text.startswith("arrive") for text in self.events)
        options |= {"events": self.events or None, "drift": self.drift, "drift_every": self.every}
        options |= {} if self.sight is None else {"sight": True, "blocked_worth": self.sight == "faces"}
        return Coverage(self.world, base, self.delta, flag=self.flags or "cell", **options)

    def oracle(self, kind=Oracle):
        world = self.world
        targets = [tuple(cell) for cell in world.targets.tolist()]
        team = (self.delta, self.cost, self.reach, self.flags, self.payoff)
        return kind(world.worth.tolist(), world.blocked.tolist(), *team, targets, self.sight)

    def places(self, profile):
        return [(int(x), int(y)) for x, y in self.game.positions(profile)]

    @property
    def tolerance(self):
        return 1e-12 * max(1.0, len(self.delta) ** 2 * self.world.total + 100 * sum(self.cost))


@st.composite
def cases(draw):
    columns, rows = draw(st.sampled_from([(1, 1), (1, 7), (8, 1), (2, 5), (4, 4), (6, 5), (8, 8)]))
    size = rows * columns
    values = st.sampled_from([0.0, 0.0, 0.3, 0.7, 1.0, 1.9, 2.0]) | st.floats(0.0, 5.0)
    worth = np.reshape(draw(st.lists(values, min_size=size, max_size=size)), (rows, columns))
    wall = st.lists(st.sampled_from([False, False, True]), min_size=size, max_size=size)
    walls = draw(st.just([False] * size) | wall)
    walls[draw(st.integers(0, size - 1))] = False
    reach = draw(st.sampled_from(["adjacent", 1, 2, 2.5, 3]))
    cells = st.tuples(st.integers(0, columns - 1), st.integers(0, rows - 1))
    world = World(worth, blocked=np.reshape(walls, (rows, columns)), targets=draw(st.lists(cells, max_size=4)))
    world = world.largest_part(diagonal=reach != 1)
    robots = draw(st.integers(1, min(4, world.num_free)))

    def team(*values):
        alike = st.sampled_from(values).map(lambda v: (v,) * robots)
        return draw(alike | st.tuples(*[st.sampled_from(values)] * robots))

    return Case(
        world,
        team(0.0, 0.5, 1.0, 1.5, 2.0, math.sqrt(5), math.sqrt(13), 12.0),
        team(0.0, 0.0, 0.05, 0.6),
        reach,
        draw(st.sampled_from([None, "cell", "range"])),
        draw(st.sampled_from(["overlap", "marginal"])),
        sight=draw(st.sampled_from([None, "free", "faces"])),
    )


@st.composite
def eventful_cases(draw, last=40):
    """The same with robots that fail and arrive; and since when and until when they are there."""
    case = draw(cases())
    robots = len(case.delta)
    arrivals = sorted(draw(st.lists(st.integers(0, last), max_size=robots - 1)))
    since = [0] * (robots - len(arrivals)) + arrivals
    staying = draw(st.integers(0, robots - 1))
    lasts = [math.inf if i == staying else draw(st.just(math.inf) | st.integers(0, last)) for i in range(robots)]
    first = robots - len(arrivals)
    until = [time if i < first else since[i] + 1 + time for i, time in enumerate(lasts)]
    texts = [f"arrive {time}" for time in arrivals]
    texts += [f"fail {i}@{t}" for i, t in enumerate(until) if t < math.inf]
    return replace(case, events=tuple(draw(st.permutations(texts)))), since, until


def crowd(flags, payoff="overlap", reach="adjacent"):
    """Four robots in a few rooms: ranges that overlap three times over, walls, flags and costs."""
    random = np.random.default_rng(7)
    walls = np.zeros((6, 7), bool)
    walls[[0, 1, 3, 4], [3, 3, 2, 5]] = True
    world = World(random.random((6, 7)).round(2), blocked=walls, targets=[(0, 0), (6, 5), (6, 5), (3, 0)])
    return Case(world, (1.0, 1.5, 2.0, 1.5), (0.1, 0.0, 0.3, 0.2), reach, flags, payoff)


CROWDS = {
    "no flags": crowd(None),
    "cell": crowd("cell"),
    "range": crowd("range"),
    "marginal": crowd("cell", "marginal"),
    "far": crowd("cell", reach=2.5),
    # so many on so large a map that the guard looks for neighbours in several places
    "many": Case(World(np.arange(143).reshape(11, 13) % 7), (0.0, 0.5, 1.0) * 10, (0.1,) * 30, 1, "cell"),
    "sight": replace(crowd("range"), sight="free"),
    "faces": replace(crowd(None), sight="faces"),
    "free": Case(crowd(None).world, (1.0, 1.5, 2.0, 1.5), (0.0,) * 4),
}


KINDS = ("shift", "flow", "frames", "means")  # of change


def changed(case, kind, random, every):
    """The same case on a world that changes."""
    rows, columns = case.world.worth.shape
    if kind == "shift":
        drift = Shift(random.uniform(-0.6, 0.6, 2), str(random.choice(["wrap", "reflect", "empty"])))
    elif kind == "flow":
        drift = Flow(random.uniform(-0.5, 0.5, (rows, columns, 2)), str(random.choice(["wrap", "empty"])))
    elif kind == "frames":
        frames = np.concatenate([[case.world.worth], random.random((2, rows, columns))])
        drift = Frames(frames, max(every, int(random.integers(1, 12))), bool(random.integers(2)))
    else:
        means = random.uniform(0.1, 0.9, (2, 2)) * (columns, rows)
        spread = [np.eye(2), 2 * np.eye(2)]
        world = gaussian_world((columns, rows), [0.4, 0.6], means, spread, blocked=case.world.blocked)
        case, drift = replace(case, world=world), random.uniform(-0.6, 0.6, 2)
    return replace(case, drift=drift, every=every)


EVENTS = ("fail 1@8", "arrive 12", "fail 3@20")
LIVES = [0, 0, 0, 12], [math.inf, 8, math.inf, 20]


@functools.cache
def crowded(kind, *more):
    """Four robots in a few rooms with flags, costs and sight; two fail, one arrives, and the world changes."""
    return changed(replace(CROWDS["sight"], events=(*EVENTS, *more)), kind, np.random.default_rng(4), 4)


SMALL = {
    "strip": Case(World([[0.3, 1.0, 0.2, 0.9, 0.4]]), (1.0, 1.5), (0.0, 0.0)),
    "yard": Case(World([[1, 0, 2], [0, 3, 1], [2, 1, 0]], blocked=np.diag([0, 1, 0])), (1.0, 0.5), (0.0, 0.0), reach=2),
    "marginal": Case(World([[0.3, 1.0, 0.2], [0.8, 0.1, 0.9]]), (1.0, 1.0), (0.0, 0.0), payoff="marginal"),
    "sight": Case(
        World([[1, 0, 2], [0, 3, 1], [2, 1, 0]], blocked=np.diag([0, 1, 0])), (2.0, 1.5), (0.0, 0.0), sight="free"
    ),
    "K": Case(World([[0.3, 1.0, 0.2, 0.9, 0.4]]), (1.0, 1.5), (0.3, 0.1)),
    "long strip": Case(World([[0.3, 1.0, 0.2, 0.9, 0.4, 0.1, 0.7, 0.6, 0.2]]), (0.5, 1.0), (0.0, 0.0)),
}


PLANS = {
    "blll": Plan(1.0),
    "joint": Plan(1.0, 0.4),
    "unilateral": Plan(1.0, 0.4, joint=False),
    "guard": Plan(1.0, 0.8, guard=True),
    "own": Plan(1.0, (1.0, 0.5, 0.1, "own")),
    "world": Plan(1.0, (0.9, 0.6, 0.2, "world"), joint=False),
    "own, guard": Plan(1.0, (0.8, 0.4, 0.3, "own"), guard=True),
}


def as_rule(plan):
    if plan.revision is None:
        return pt.rule("blll", tau=plan.tau)
    revision = SignalRevision(*plan.revision) if isinstance(plan.revision, tuple) else plan.revision
    trial = "joint" if plan.joint else "unilateral"
    return pt.rule("p-sblll", tau=plan.tau, revision=revision, trial=trial, guard=plan.guard)
