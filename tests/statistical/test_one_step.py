"""One-step frequencies of each rule and option equal the exactly enumerated probabilities; wrong laws are caught."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import potentia as pt
from tests import games, oracle
from tests.statistical.laws import ALPHA, p_of_transitions

STEPS = 150_000
TAU = 0.4
REVISION = 0.35


def neighbours(game):
    """Who interacts with whom, by definition: some utility depends on both actions."""
    out = {i: set() for i in range(game.num_players)}
    for i, j in itertools.permutations(range(game.num_players), 2):
        for profile in oracle.profiles(game):
            values = {game.utility(i, oracle.with_action(profile, j, a)) for a in range(game.num_actions[j])}
            if max(values) - min(values) > 1e-12:
                out[i].add(j)
                out[j].add(i)
    return out


def same(player, action):
    return REVISION


# For each rule: the law it must follow, and laws close to it that must be told apart.
CASES = {
    "lll": (lambda g: oracle.lll(g, TAU), {"tau": lambda g: oracle.lll(g, 1.15 * TAU)}),
    "slll": (
        lambda g: oracle.slll(g, TAU, same),
        {"tau": lambda g: oracle.slll(g, 1.15 * TAU, same), "wake": lambda g: oracle.slll(g, TAU, lambda i, a: 0.4)},
    ),
    "blll": (
        lambda g: oracle.blll(g, TAU),
        {"tau": lambda g: oracle.blll(g, 1.15 * TAU), "trial set": lambda g: oracle.blll(g, TAU, include_current=True)},
    ),
    "blll-current": (
        lambda g: oracle.blll(g, TAU, include_current=True),
        {"trial set": lambda g: oracle.blll(g, TAU)},
    ),
    "p-sblll": (
        lambda g: oracle.p_sblll(g, TAU, same),
        {
            "tau": lambda g: oracle.p_sblll(g, 1.15 * TAU, same),
            "wake": lambda g: oracle.p_sblll(g, TAU, lambda i, a: 0.4),
            "trial set": lambda g: oracle.p_sblll(g, TAU, same, include_current=True),
        },
    ),
    "p-sblll-unilateral": (
        lambda g: oracle.p_sblll(g, TAU, same, trial="unilateral"),
        {"wake": lambda g: oracle.p_sblll(g, TAU, lambda i, a: 0.4, trial="unilateral")},
    ),
    "p-sblll-guard": (
        lambda g: oracle.p_sblll(g, TAU, lambda i, a: 0.6, guard=True, neighbours=neighbours(g)),
        {"wake": lambda g: oracle.p_sblll(g, TAU, lambda i, a: 0.4, guard=True, neighbours=neighbours(g))},
    ),
    "best-response": (oracle.best_response, {"tau": lambda g: oracle.lll(g, TAU)}),
}


def played(game, name):
    """Recorded profiles. Best response stops at an equilibrium, so it is restarted many times."""
    if name == "best-response":
        return pt.run_batch(game, games.RULES[name], 8, range(1500)).profile.values
    return pt.run(game, games.RULES[name], STEPS, seed=1).profiles


@pytest.mark.parametrize("name", CASES)
def test_one_step_frequencies(game, name):
    seen = played(game, name)
    right, wrong = CASES[name]
    assert p_of_transitions(seen, game, oracle.matrix(game, right(game))) > ALPHA / len(CASES)
    for what, law in wrong.items():
        assert p_of_transitions(seen, game, oracle.matrix(game, law(game))) < ALPHA, f"a wrong {what} went unnoticed"


@pytest.mark.parametrize(("trial", "other"), [("joint", "unilateral"), ("unilateral", "joint")])
def test_joint_and_unilateral_trials_are_told_apart(trial, other):
    game = games.normal_form()
    rule = pt.rule("p-sblll", tau=TAU, revision=REVISION, trial=trial)
    seen = pt.run(game, rule, STEPS, seed=2).profiles
    assert p_of_transitions(seen, game, oracle.matrix(game, oracle.p_sblll(game, TAU, same, trial=trial))) > ALPHA
    assert p_of_transitions(seen, game, oracle.matrix(game, oracle.p_sblll(game, TAU, same, trial=other))) < ALPHA


def test_the_guard_follows_the_interactions():
    """On a path the ends may move together; with a guard that took everybody for neighbours they could not."""
    game = games.path()
    rule = pt.rule("p-sblll", tau=TAU, revision=0.6, guard=True)
    seen = pt.run(game, rule, STEPS, seed=3).profiles
    true = neighbours(game)
    assert true == {0: {1}, 1: {0, 2}, 2: {1}}
    everybody = {0: {1, 2}, 1: {0, 2}, 2: {0, 1}}
    for pairs, fits in ((true, True), (everybody, False), ({0: set(), 1: set(), 2: set()}, False)):
        law = oracle.p_sblll(game, TAU, lambda i, a: 0.6, guard=True, neighbours=pairs)
        assert (p_of_transitions(seen, game, oracle.matrix(game, law)) > ALPHA) == fits


@pytest.mark.parametrize("include_current", [False, True])
@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("trial", ["joint", "unilateral"])
@pytest.mark.parametrize("make", [games.path, games.constrained], ids=lambda f: f.__name__)
def test_every_combination_of_options(make, trial, guard, include_current):
    """With a revision probability per action, against the law with the other trial set."""
    game = make()
    revision = tuple(tuple(0.2 + 0.2 * ((i + a) % 4) for a in range(n)) for i, n in enumerate(game.num_actions))
    options = {"trial": trial, "guard": guard, "include_current": include_current}
    seen = pt.run(game, pt.rule("p-sblll", tau=TAU, revision=revision, **options), STEPS, seed=8).profiles
    for included, fits in ((include_current, True), (not include_current, False)):
        law = oracle.p_sblll(
            game,
            TAU,
            lambda i, a: revision[i][a],
            trial=trial,
            guard=guard,
            include_current=included,
            neighbours=neighbours(game),
        )
        assert (p_of_transitions(seen, game, oracle.matrix(game, law)) > ALPHA / 16) == fits


PER_PLAYER = (0.2, 0.5, 0.9)
PER_ACTION = ((0.2, 0.7), (0.3, 0.5, 0.9), (0.6, 0.1))


@pytest.mark.parametrize("name", ["slll", "p-sblll"])
@pytest.mark.parametrize(
    ("revision", "wake"),
    [(PER_PLAYER, lambda i, a: PER_PLAYER[i]), (PER_ACTION, lambda i, a: PER_ACTION[i][a])],
    ids=["per player", "per player and action"],
)
def test_revision_probabilities(name, revision, wake):
    game = games.normal_form()
    law = {"slll": oracle.slll, "p-sblll": oracle.p_sblll}[name]
    seen = pt.run(game, pt.rule(name, tau=TAU, revision=revision), STEPS, seed=4).profiles
    assert p_of_transitions(seen, game, oracle.matrix(game, law(game, TAU, wake))) > ALPHA
    assert p_of_transitions(seen, game, oracle.matrix(game, law(game, TAU, lambda i, a: 0.5))) < ALPHA


def test_groups():
    game = games.normal_form()
    groups = [((0, 1), 0.5), ((2,), 0.2), ((), 0.1), ((0, 1, 2), 0.2)]
    seen = pt.run(game, pt.rule("slll", tau=TAU, revision=pt.rules.Groups(groups)), STEPS, seed=5).profiles
    assert p_of_transitions(seen, game, oracle.matrix(game, oracle.slll(game, TAU, groups=groups))) > ALPHA
    shifted = [((0, 1), 0.47), ((2,), 0.23), ((), 0.1), ((0, 1, 2), 0.2)]
    assert p_of_transitions(seen, game, oracle.matrix(game, oracle.slll(game, TAU, groups=shifted))) < ALPHA


@pytest.mark.parametrize(("ties", "other"), [("uniform", "stay"), ("stay", "uniform")])
def test_ties_of_best_response(ties, other):
    game = pt.games.NormalForm([[[1.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [0.0, 1.0]]])
    seen = pt.run_batch(game, pt.rule("best-response", ties=ties), 8, range(1500)).profile.values
    fits = p_of_transitions(seen, game, oracle.matrix(game, oracle.best_response(game, ties)))
    assert fits > ALPHA
    assert p_of_transitions(seen, game, oracle.matrix(game, oracle.best_response(game, other))) < ALPHA


EXTREME = {
    "lll": oracle.lll,
    "blll": oracle.blll,
    "slll": lambda g, tau: oracle.slll(g, tau, same),
    "p-sblll": lambda g, tau: oracle.p_sblll(g, tau, same),
    "p-sblll-unilateral": lambda g, tau: oracle.p_sblll(g, tau, same, trial="unilateral"),
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("name", EXTREME)
def test_laws_hold_at_extreme_payoffs_and_temperatures(name, compiled):
    """Payoffs of 1e300 with tau of 1e300 and of 1e-300: a NaN anywhere in the choice would bend these laws."""
    game = pt.games.NormalForm(np.random.default_rng(1).choice([-1e300, 0.0, 1e300], size=(3, 2, 3, 2)))
    taus = (1e-300, 1e300)
    for tau, other in (taus, taus[::-1]):
        rule = dict(games.RULES[name], tau=tau)
        runs = [pt.begin(game, rule, seed, compiled=compiled).advance(6).trace().profiles for seed in range(300)]
        assert p_of_transitions(np.array(runs), game, oracle.matrix(game, EXTREME[name](game, tau))) > ALPHA
        assert p_of_transitions(np.array(runs), game, oracle.matrix(game, EXTREME[name](game, other))) < ALPHA
