"""Everything at once: sight, events, a hazard, a world that changes, noise, forgetting, costs and flags.

The bits of such a run depend on neither chunks, saving, workers, branches nor compiling, and what robots do and know at
every step is what the slow reference foresees.
"""

from __future__ import annotations

import functools
from operator import attrgetter

import pytest

import potentia as pt
from potentia.beliefs import Communication, Constant
from tests.belief_oracle import STEADY, Believer, SplitMerge, begin, bits, followed, mixture, split_merge, warm
from tests.coverage_cases import LIVES, as_rule, crowded
from tests.coverage_oracle import Changing, altered
from tests.drift_oracle import field_of, targets_of

STEPS = 24
NEAR = Communication(2.5, 1.3, 1.5)
BELIEFS = {
    "constant": Constant(0.05, share=0.3, noise=0.01, window=6, communication=NEAR),
    "two": mixture(2, half_life=9.0, noise=0.01, communication=NEAR),
    "any": SplitMerge(aic_every=4, **{**STEADY, "most": 4, "repeats": 2}, half_life=7.5, noise=0.02, background=True),
}
RULE = as_rule(warm("guard", 0.1))


def place(kind):
    """A game in which robots fail by chance, too."""
    return crowded(kind, "hazard 0.004").game


def started(kind, which, compiled=False, **options):
    game, belief = place(kind), BELIEFS.get(which)
    names = ("profile", "welfare", "taken", "rejected", *game.recorders, *(belief.recorders if belief else ()))
    options = {"belief": belief, "record": names, "compiled": compiled, "seed": 5} | options
    return pt.begin(game, RULE, horizon=STEPS, **options)


@functools.cache
def whole(kind, which):
    return started(kind, which).advance(STEPS)


def kept(run):
    """All that a run remembers, and what follows from it."""
    state = getattr(run.state, "game", run.state)
    names = (*run.game.remembers, "profile")
    return [attrgetter(name)(run.state).tobytes() for name in names] + [state.worth.tobytes(), state.counts.tobytes()]


def same(run, kind, which):
    expected = whole(kind, which)
    assert run.step == STEPS
    assert bits(run.trace()) == bits(expected.trace())
    assert run.trace().lives.tobytes() == expected.trace().lives.tobytes()
    assert kept(run) == kept(expected)


WAYS = [("flow", "constant"), ("frames", "two"), ("means", "any")]


@pytest.mark.parametrize(("kind", "which"), WAYS)
def test_neither_chunks_saving_nor_branches_matter(kind, which, tmp_path):
    run = started(kind, which)
    others = []
    for steps in (1, 6, 4):
        run.advance(steps)
    others.append(pt.load(run.save(tmp_path / "run.npz"), place(kind), BELIEFS[which], compiled=False))
    run.advance(2)  # past an arrival
    others += [run.branch(), run.branch(game=place(kind))]
    for other in others:
        other.advance(5)
        same(other.advance(STEPS - other.step), kind, which)
    same(run.advance(STEPS - run.step), kind, which)
    lives = whole(kind, which).trace().lives
    assert (lives[1] < STEPS).sum() >= 2  # two that are told


def test_workers_do_not_matter():
    (kind, which), names = WAYS[0], ("profile", "worth_union", "distance", "belief_error", "cells_known")
    options = {"belief": BELIEFS[which], "record": names, "compiled": False}
    one, two = (pt.run_batch(place(kind), RULE, STEPS, [4, 5, 6], workers=w, **options) for w in (1, 2))
    trace = whole(kind, which).trace()
    for data in (one, two):
        run = data.sel(seed=5)
        assert run.profile.values.tolist() == trace.profiles.tolist()
        assert run.until.values.tolist() == trace.lives[1].tolist()
        for name in names[1:]:
            assert run[name].values.tobytes() == trace.scalars[name].tobytes(), name
    assert one.identical(two)


def test_compiling_does_not_matter():
    fast = started("flow", None, True)
    assert fast.compiled
    same(fast.advance(STEPS), "flow", None)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "which"), WAYS)
def test_compiling_a_belief_does_not_matter(kind, which):
    same(started(kind, which, True).advance(STEPS), kind, which)


# Against the reference --------------------------------------------------------------------------------


class Guessing(Believer, Changing):
    """Robots that come and go on a map that changes, and know of it what they have seen past walls."""

    since, until = LIVES
    drawn = 3

    def learn(self, moved, key, step):
        came = [i for i in self.oracle.present if step >= 0 and self.since[i] == step + 1]
        super().learn([*moved, *came], key, step)


class Ghosts(Guessing):
    """Robots that failed go on reading and telling."""

    def learn(self, moved, key, step):
        gone, self.oracle.absent = self.oracle.absent, frozenset()
        super().learn(moved, key, step)
        self.oracle.absent = gone


FORESEEN = {
    "constant": ("flow", BELIEFS["constant"]),
    "one mind": ("shift", Constant(0.05, share=0.3, noise=0.01, half_life=50.0)),  # time passes every 5 steps
    "two": ("frames", BELIEFS["two"]),
    "any": ("means", split_merge(4, half_life=7.5, noise=0.002, communication=NEAR, sense="range")),
}


def parted(which, kind=Guessing):
    world, belief = FORESEEN[which]
    case, plan = crowded(world), warm("guard", 0.1)
    run = begin(case, plan, belief, 3).advance(STEPS)

    def worth_at(time):
        return field_of(case.world, case.drift, case.every, time)

    moves = world in ("shift", "means")
    targets_at = functools.partial(targets_of, case.world, case.drift, case.every) if moves else None
    return followed(
        case, plan, run, belief, altered(kind, worth_at=lambda self, time: worth_at(time)), worth_at, targets_at
    )


@pytest.mark.parametrize("which", FORESEEN)
def test_every_step_of_robots_that_guess_is_foreseen(which):
    assert parted(which) == set()


def test_ghosts_are_noticed():
    assert parted("constant", Ghosts) != set()
