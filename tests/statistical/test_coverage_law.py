"""Long runs of coverage games against their solved chains: prices of moves, and a guard by distance."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain
from potentia.games import Coverage, World
from potentia.rules import SignalRevision
from tests.statistical.laws import ALPHA, p_of_transitions, p_of_visits

TAU = 0.3
SIGNAL = SignalRevision(0.95, 0.6, 0.2, normalise="world")
RULES = {
    "blll": {"rule": "blll"},
    "joint": {"rule": "p-sblll", "revision": 0.6},
    "unilateral, Eq. 53": {"rule": "p-sblll", "revision": SIGNAL, "trial": "unilateral"},
    "guarded": {"rule": "p-sblll", "revision": 0.6, "guard": True},
    "guarded, Eq. 53": {"rule": "p-sblll", "revision": SIGNAL, "guard": True, "trial": "unilateral"},
}


def make(K):
    """Two robots on a strip so long that they interact at some places and not at others."""
    worth = [[0.3, 0.9, 0.1, 0.0, 0.4, 0.2, 0.0, 0.8]]
    return Coverage(World(worth), 2, 1.0, flags=False, K=K)


@pytest.mark.parametrize("name", RULES)
def test_runs_follow_the_solved_chain(name):
    game = make([0.05, 0.15])
    rule = dict(RULES[name], tau=TAU)
    right = chain(game, rule)
    matrix = right.matrix.toarray()
    trace = pt.run(game, rule, 400_000, seed=5, record=("visits", "profile"))
    assert p_of_visits(trace.visits, matrix, right.stationary()) > ALPHA / len(RULES)
    assert p_of_transitions(trace.profiles, game, matrix) > ALPHA / len(RULES)
    for wrong in (chain(game, dict(rule, tau=1.15 * TAU)), chain(make([0.0, 0.15]), rule)):
        assert p_of_transitions(trace.profiles, game, wrong.matrix.toarray()) < ALPHA


def test_the_guard_is_seen_where_robots_meet():
    """With a static guard, as if they always or never interacted, the law is another one."""
    game = make(0.0)
    rule = dict(RULES["guarded"], tau=TAU)
    profiles = pt.run(game, rule, 400_000, seed=6).profiles
    assert p_of_transitions(profiles, game, chain(game, rule).matrix.toarray()) > ALPHA
    free = chain(game, dict(rule, guard=False)).matrix.toarray()
    assert p_of_transitions(profiles, game, free) < ALPHA
    near = game.interacting(0, 1)
    assert near.any()
    assert not near.all()
    moved = np.diff(profiles, axis=0) != 0
    both = moved.all(axis=1)
    assert both.any()
    assert not near[profiles[:-1, 0], profiles[:-1, 1]][both].any()
