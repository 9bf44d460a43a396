"""Scores and strategies at the edges: huge and tiny numbers, and very long runs, stay finite and normalised."""

from __future__ import annotations

import math

import numpy as np
import pytest

import potentia as pt
from tests import games

MOST = 1e300  # scores are cut there


def sound(run):
    """Finite scores within their bound, and strategies that are probabilities."""
    for q in run.scores:
        assert np.isfinite(q).all()
        assert np.abs(q).max() <= MOST
    for x in run.strategies:
        assert (x >= 0.0).all()
        assert x.sum() == pytest.approx(1.0, abs=1e-9)


RULES = {
    "ql": {"rule": "ql", "tau": 1.0},
    "ql mu 1": {"rule": "ql", "tau": 1.0, "mu": 1.0, "noise": 1e300},
    "ql decay": {"rule": "ql", "tau": 1.0, "mu": "1/n", "count": "steps", "unplayed": "decay"},
    "ql decay fast": {"rule": "ql", "tau": 1.0, "mu": 1.0, "unplayed": "decay", "initial": 1.0},
    "soql": {"rule": "soql", "noise": 1e300},
    "soql pair": {"rule": "soql", "form": "pair", "mu": 1e-300, "vartheta": 1e-301},
    "soql decay": {"rule": "soql", "unplayed": "decay", "mu": 1 - 1e-15, "vartheta": 1 - 1e-14, "initial": MOST},
    "soql adaptive": {"rule": "soql", "mu": "adaptive", "zeta": 0.4, "xi": 0.9, "initial": -MOST},
    "score": {"rule": "score", "tau": 1.0, "discount": 0.0, "mu": 1.0},
    "score 8": {"rule": "score", "tau": 1.0, "order": 8, "mu": 1.0, "discount": 0.0, "initial": MOST},
    "score burg": {"rule": "score", "tau": 1.0, "choice": "burg", "noise": 1e300},
    "score tsallis": {"rule": "score", "tau": 1.0, "choice": {"kind": "tsallis", "q": 1e-3}},
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_payoffs_and_temperatures(size, name):
    game = pt.games.NormalForm(np.random.default_rng(1).choice([-size, 0.0, size], size=(3, 2, 3, 2)))
    for tau in (1e-300, 1e300):
        given = {**RULES[name], **({"tau": tau} if "tau" in RULES[name] else {})}
        run = pt.begin(game, given, 1, compiled=False)
        for _ in range(60):
            sound(run.advance(1))


def test_scores_follow_huge_utilities_in_proportion():
    """Doubling by a power of two scales all scores exactly, until they reach their bound."""
    payoffs = np.random.default_rng(2).normal(size=(2, 3, 3))
    given = {"rule": "soql", "mu": 0.7, "initial_strategies": [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], "vartheta": 1e-15}
    plain, huge = (
        pt.begin(pt.games.NormalForm(payoffs * 2.0**k), given, 1, compiled=False).advance(20).scores for k in (0, 990)
    )
    assert huge[0][1] == math.ldexp(plain[0][1], 990)
    assert huge[0][1] != 0.0
    cut = pt.begin(pt.games.NormalForm(np.full((1, 1), 1.7e308)), {"rule": "ql", "tau": 1.0}, 1, compiled=False)
    assert cut.advance(3).scores[0][0] == MOST


LENGTHY = {
    "ql": {"rule": "ql", "tau": 0.1},
    "ql decay": {"rule": "ql", "tau": 0.1, "mu": 0.01, "unplayed": "decay", "initial": 1.0},
    "soql": {"rule": "soql"},
    "soql decay": {"rule": "soql", "mu": 0.9, "unplayed": "decay", "zeta": 0.5, "xi": 0.5, "noise": 1.0},
    "soql slow": {"rule": "soql", "mu": 0.01, "vartheta": 1e-4, "form": "pair", "noise": 3.0},
    "score": {"rule": "score", "tau": 0.1, "order": 2, "mu": 0.01, "discount": 0.0},
}


@pytest.mark.parametrize(
    ("where", "name"), [*(("normal_form", name) for name in LENGTHY), ("constrained", "soql"), ("constrained", "ql")]
)
def test_two_million_steps(where, name):
    game = games.COMPILED[where]()
    run = pt.begin(game, LENGTHY[name], 3, record=())
    for _ in range(2):
        sound(run.advance(1_000_000))
    if name != "score":  # without a discount scores grow; the others stay among the utilities
        largest = max(abs(game.utility(i, a)) for i in range(game.num_players) for a in np.ndindex(*game.num_actions))
        noise = LENGTHY[name].get("noise", 0.0)
        assert max(np.abs(q).max() for q in run.scores) <= max(largest, 1.0) * 3 + 8 * noise


def test_a_forgotten_strategy_is_drawn_from_by_its_ratios():
    """A player that kept to action 0 for 5,000 steps has X of some 2^-5000 on 2 and 3; their ratio is still 3 to 1."""
    game = pt.games.NormalForm(np.array([[1.0, 0.0, 0.0, 0.0]]), moves=[[[1], [2, 3], [1], [1]]])
    given = {"rule": "soql", "initial": [[1.0, 0.0, 0.0, 0.0]], "initial_strategies": [[0.4, 0.0, 0.45, 0.15]], "xi": 0}
    run = pt.begin(game, given, 1, start=[0], record=(), compiled=False).advance(5000)
    assert run.strategies[0].tolist() == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert run.strategies[0][2] == 0.0, "as a number it is gone"
    count = 0
    for seed in range(300):
        run = pt.begin(game, given, seed, start=[0], record=(), compiled=False)
        run.step, run.state.profile[0] = 5000, 1  # carried there after those steps
        count += int(run.advance(1).profile[0]) == 2
    assert abs(count - 225) < 5 * math.sqrt(300 * 0.75 * 0.25)


@pytest.mark.long
@pytest.mark.parametrize("name", LENGTHY)
def test_ten_million_steps_of_many_players(name):
    run = pt.begin(pt.game("ring", players=20), LENGTHY[name], 3, record=())
    for _ in range(5):
        sound(run.advance(2_000_000))
