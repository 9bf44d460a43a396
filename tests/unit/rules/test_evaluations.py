"""What a revision costs: utilities that are asked for, counted, for every registered rule."""

from __future__ import annotations

import math

import numpy as np
import pytest

import potentia as pt
from potentia.rules import registered

OPTIONS = {
    "lll": {"tau": 1.0},
    "slll": {"tau": 1.0, "revision": 0.5},
    "blll": {"tau": 1.0},
    "p-sblll": {"tau": 1.0, "revision": 0.5},
    "best-response": {},
    "better-reply": {},
    "metropolis": {"tau": 1.0},
    "mistakes": {"tau": 1.0},
    "ql": {"tau": 1.0},
    "soql": {},
    "score": {"tau": 1.0},
    "payoff-based": {"tau": 1.0, "m": 1.0},
    "adaptive-play": {"tau": 1.0, "memory": 3, "sample": 2},
}
ACTIONS, STEPS = 4, 60


def counted(rule):
    """Utilities asked for in a revision, on average, after the first steps, in which rules fill their memory."""
    asked = []

    def utility(player, profile, data):
        asked.append(player)
        return float(profile[player] == profile[player - 1])

    game = pt.games.custom(utility, [ACTIONS] * 3)
    found = []
    for steps in (5, STEPS):
        asked.clear()
        trace = pt.run(game, rule, steps, seed=0, record=("profile", "num_revisions"), compiled=False)
        found.append((len(asked), trace.num_revisions[-1]))
    (early, few), (all_of_them, many) = found
    return game, (all_of_them - early) / (many - few)


def test_every_rule_is_counted():
    assert set(OPTIONS) <= set(registered())


@pytest.mark.parametrize("name", OPTIONS)
def test_told_is_what_is_asked(name):
    rule = pt.rule(name, **OPTIONS[name])
    game, asked = counted(rule)
    assert rule.evaluations(game) == asked


def test_what_is_not_one_number_is_not_told():
    uneven = pt.games.NormalForm(np.zeros((2, 2, 3)))
    assert math.isnan(pt.rule("lll", tau=1).evaluations(uneven))
    assert pt.rule("blll", tau=1).evaluations(uneven) == 2.0
    along = pt.games.NormalForm(np.zeros((2, 3, 3)), moves=pt.games.path_moves(3))
    assert math.isnan(pt.rule("lll", tau=1).evaluations(along))
    twice = pt.rule(who="one", considers="trial", k=2, include_current=True, chooses="logit", tau=1)
    assert math.isnan(twice.evaluations(pt.game("stag-hunt")))
