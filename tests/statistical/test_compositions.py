"""Long runs of composed rules, and of those with a memory, against their solved chains; and chains slightly wrong."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain
from tests import compositions
from tests.statistical.laws import ALPHA, p_of_counts, p_of_transitions, p_of_visits

STEPS = 400_000
WRONG = 1.3  # a temperature that must be told from the right one


def composed(players, first, every):
    """A share of those that are no rule with a name and go on for ever: others are tested elsewhere."""
    known = [
        parts
        for parts in compositions.compositions(players).values()
        if "tau" in parts and pt.rule(**parts).name == "composed"
    ]
    return known[first::every]


def changed(parts):
    """The same composition with another temperature."""
    return {**parts, "tau": WRONG * parts["tau"]}


SOME = [("two players", 0, 10)]  # with everything that is on an axis
ALL = [pytest.param(name, 0, 1, marks=pytest.mark.long) for name in compositions.integer_games()]


@pytest.mark.parametrize(("name", "first", "every"), [*SOME, *ALL])
def test_visits_follow_the_solved_law(name, first, every):
    """Each game's share of the compositions; one kernel a kind of game plays them all."""
    game = compositions.integer_games()[name]
    off, blind, count = [], 0, 0
    for parts in composed(game.num_players, first, every):
        rule = pt.rule(**parts)
        try:
            right = chain(game, rule)
        except pt.errors.InvalidRule:  # too little to try on a line
            continue
        count += 1
        visits = pt.run(game, rule, STEPS, seed=3, record="visits", compiled=True).visits
        matrix = right.matrix.toarray()
        if p_of_visits(visits, matrix, right.stationary()) < ALPHA / 1000:
            off.append(parts)
        blind += p_of_visits(visits, matrix, chain(game, changed(parts)).stationary()) > ALPHA
    assert off == []
    assert count >= 10
    assert blind <= count // 10, "a wrong temperature goes unnoticed where the law hardly depends on it, no more"


def test_one_step_frequencies_without_noise():
    """Rules that stop are begun many times; each fits its own chain and none of the others."""
    game = compositions.integer_games()["two players"]
    groups = {"who": "groups", "groups": [((0,), 0.3), ((0, 1), 0.7)]}
    parts = [
        {**groups, "considers": "all", "chooses": "best"},
        {**groups, "considers": "trial", "chooses": "best", "ties": "stay"},
        {**groups, "considers": "trial", "chooses": "better", "inertia": 0.25},
        {**groups, "considers": "joint-trial", "chooses": "best"},
    ]
    matrices = [chain(game, pt.rule(**one)).matrix.toarray() for one in parts]
    for k, one in enumerate(parts):
        seen = pt.run_batch(game, pt.rule(**one), 4, range(300), compiled=True).profile.values
        assert [p_of_transitions(seen, game, matrix) > ALPHA for matrix in matrices] == [j == k for j in range(4)]


@pytest.mark.parametrize(
    "parts",
    [{"name": "payoff-based", "tau": 1.0, "m": 1.0}, {"name": "adaptive-play", "tau": 0.7, "memory": 3, "sample": 2}],
    ids=str,
)
def test_rules_with_a_memory_follow_their_chains(parts):
    """Profiles of a long run, so far apart that they are as good as independent; another temperature does not fit."""
    game = pt.games.NormalForm(np.random.default_rng(4).integers(0, 4, size=(2, 2, 2)))
    rule = pt.rule(**parts)
    seen = pt.run(game, rule, 1_000_000, seed=5, every=100, compiled=True).profiles.astype(int)
    counts = np.bincount(seen[:, 0] * 2 + seen[:, 1], minlength=4)
    for tau, fits in ((rule.tau.tau, True), (WRONG * rule.tau.tau, False)):
        solved = chain(game, {**rule.spec(), "tau": tau})
        assert (p_of_counts(counts, solved.over_profiles(solved.stationary())) > ALPHA) == fits
