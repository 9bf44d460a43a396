"""What people see of objects: one line that tells, and never more than a screen."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from tests import games

GAME, RULE = games.normal_form(), pt.rule("blll", tau=0.1)
WORLD = pt.games.World(np.arange(12.0).reshape(3, 4))
ROBOTS = pt.games.Coverage(world=WORLD, robots=2, delta=1.0)


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (lambda: pt.game("ring", players=50), "Coordination(players=50, edges=50, actions=2)"),
        (lambda: pt.game("congestion", players=9), "Congestion(players=9, resources=5, actions=5)"),
        (lambda: GAME, "NormalForm(players=3, actions=2 to 3)"),
        (games.path, "Coordination(players=3, edges=2, actions=3, constrained moves)"),
        (games.custom, "Custom(players=3, utility=_tilted, actions=2 to 3)"),
        (lambda: RULE, "BLLL(tau=Constant(tau=0.1))"),
        (lambda: pt.rule("slll", tau=1.0, revision=[0.5] * 9), "SLLL(tau=Constant(tau=1.0), revision=tuple of 9)"),
        (lambda: pt.belief("split-merge"), "SplitMerge()"),
        (lambda: pt.belief("constant", value=1 / 3), "Constant(value=0.333333)"),
        (lambda: pt.beliefs.Believing(ROBOTS, {"belief": "known"}), f"{ROBOTS.describe()} with the belief Known()"),
    ],
)
def test_what_people_see(thing, text):
    assert repr(thing()) == text


@pytest.mark.parametrize(
    "thing",
    [
        lambda: pt.run(GAME, RULE, 500),
        lambda: pt.begin(GAME, RULE),
        lambda: pt.analysis.chain(GAME, RULE),
        lambda: pt.analysis.stability(GAME, RULE),
        lambda: pt.analysis.audit(GAME, RULE),
        lambda: pt.analysis.optimum(ROBOTS),
        lambda: pt.analysis.dynamics(pt.game("stag-hunt")),
        lambda: pt.analysis.iterated(GAME),
        lambda: pt.analysis.rest_points(pt.game("stag-hunt"), discount=0.5)[0],
        lambda: pt.beliefs.fit(np.random.default_rng(0).normal(size=(200, 2))),
    ],
)
def test_nothing_is_longer_than_a_screen(thing):
    text = repr(thing())
    assert len(text) <= 400
    assert "\n" not in text
    assert "object at 0x" not in text


def test_a_study_says_where_it_is(tmp_path):
    study = {"steps": 5, "seeds": 2, "game": {"name": "stag-hunt"}, "rule": {"name": "blll", "tau": [0.1, 0.2]}}
    made = pt.sweep(study, tmp_path / "my.study")
    assert repr(made) == f"<Study {tmp_path / 'my.study'}: 2 points × 2 seeds>"
