"""The rule ``score`` approaches the continuous dynamics with order 1/2 in its step, for every choice map."""

from __future__ import annotations

import pytest

import potentia as pt
from potentia.analysis.score_dynamics import Flow


@pytest.mark.parametrize("choice", ["gibbs", "tsallis", "burg"])
def test_the_played_rule_follows_the_continuous_dynamics(choice):
    game = pt.game("random-potential", players=2, actions=3, seed=0)
    found = pt.analysis.played_order(game, choice, discount=0.5, steps=(0.04, 0.01, 0.0025), seeds=40)
    assert 0.35 < found.order < 0.65


def test_another_game_is_not_approached(monkeypatch):
    """Negative control: the dynamics of a game with other payoffs are no limit of play in this one."""
    from potentia.analysis import discretisation

    game, other = (pt.game("random-potential", players=2, actions=3, seed=seed) for seed in (0, 1))
    follow = discretisation.continuous
    elsewhere = Flow(other, "gibbs", 1.0, 0.5, 1)
    monkeypatch.setattr(discretisation, "continuous", lambda _, times: follow(elsewhere, times))
    found = pt.analysis.played_order(game, discount=0.5, steps=(0.04, 0.01, 0.0025), seeds=40)
    assert abs(found.order) < 0.2
