"""Published numbers stand beside the paper's own setting, and beside nothing else."""

from __future__ import annotations

import pytest

import potentia as pt
from potentia.paper.belief_study import published_beliefs
from potentia.paper.beside import published_beside
from potentia.studies.coverage import paper_game, paper_rules


def test_beside_the_paper_s_own_setting():
    found, why = published_beside(paper_game(), paper_rules(), 2000)
    assert set(found) == {"blll", "p-sblll"}
    assert not why
    beliefs = {name.lower(): belief for name, belief in published_beliefs().items()}
    with_belief, _ = published_beside(paper_game(), {"blll": paper_rules()["blll"]}, 2000, beliefs["blll"])
    assert set(with_belief) == {"blll"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game": paper_game().with_events(["fail 1@500"])}, ["the game"]),
        ({"game": pt.games.Coverage(pt.games.paper_world(), robots=4, delta=1.5, K=3e-5)}, ["the game"]),
        ({"steps": 1999}, ["1,999 steps, not 2,000"]),
        ({"rule": pt.rule("blll", tau=1e-3)}, ["the rule"]),
        ({"belief": pt.belief("running-mean")}, ["the belief"]),
    ],
    ids=["events", "robots", "steps", "tau", "belief"],
)
def test_beside_nothing_else(change, said):
    chosen = {"game": paper_game(), "rule": paper_rules()["blll"], "steps": 2000, "belief": None} | change
    found, why = published_beside(chosen["game"], {"blll": chosen["rule"]}, chosen["steps"], chosen["belief"])
    assert not found
    assert why == {"blll": said}
    assert published_beside(paper_game(), {"lll": pt.rule("lll", tau=0.1)}, 2000) == ({}, {})  # nothing was published
