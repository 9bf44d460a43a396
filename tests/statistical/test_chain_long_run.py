"""Long runs of the engine against solved chains: every rule, every option, and chains that are slightly wrong."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain
from potentia.rules import Groups, Vanishing
from tests import games, oracle
from tests.statistical.laws import ALPHA, p_of_counts, p_of_transitions, p_of_visits

STEPS = 2_000_000
TAU = 0.4
WRONG = 1.15  # a temperature that must be told from the right one

MAKES = {f.__name__: f for f in (games.normal_form, games.path)}  # no potential; constrained moves, two who do not meet
OPTIONS = [
    {"trial": trial, "guard": guard, "include_current": current}
    for trial, guard, current in itertools.product(("joint", "unilateral"), (False, True), (False, True))
]


def per_action(game):
    return tuple(tuple(0.2 + 0.2 * ((i + a) % 4) for a in range(n)) for i, n in enumerate(game.num_actions))


GROUPS = Groups([((0, 1), 0.5), ((2,), 0.2), ((), 0.1), ((0, 1, 2), 0.2)])
RULES = {
    "lll": lambda game: {"rule": "lll"},
    "blll": lambda game: {"rule": "blll"},
    "blll current": lambda game: {"rule": "blll", "include_current": True},
    "slll": lambda game: {"rule": "slll", "revision": 0.35},
    "slll per player": lambda game: {"rule": "slll", "revision": (0.2, 0.5, 0.9)},
    "slll per action": lambda game: {"rule": "slll", "revision": per_action(game)},
    "slll groups": lambda game: {"rule": "slll", "revision": GROUPS},
    "slll vanishing": lambda game: {"rule": "slll", "revision": Vanishing(0.4)},
    "p-sblll": lambda game: {"rule": "p-sblll", "revision": 0.35},
    "p-sblll everybody": lambda game: {"rule": "p-sblll", "revision": 1.0},
}
for options in OPTIONS:
    words = " ".join([options["trial"], *(w for w, on in (("guard", 1), ("include_current", 1)) if options[w])])
    RULES[f"p-sblll per action {words}"] = lambda game, o=options: {
        "rule": "p-sblll",
        "revision": per_action(game),
        **o,
    }
    RULES[f"p-sblll vanishing {words}"] = lambda game, o=options: {
        "rule": "p-sblll",
        "revision": Vanishing(0.3),
        **o,
    }


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("make", ["path", pytest.param("normal_form", marks=pytest.mark.long)])
def test_visits_follow_the_solved_law(make, name):
    game = MAKES[make]()
    rule = RULES[name](game)
    visits = pt.run(game, dict(rule, tau=TAU), STEPS, seed=11, record="visits").visits
    assert visits.sum() == STEPS
    right = chain(game, dict(rule, tau=TAU))
    matrix = right.matrix.toarray()
    assert p_of_visits(visits, matrix, right.stationary()) > ALPHA / len(RULES)
    wrong = chain(game, dict(rule, tau=WRONG * TAU)).stationary()
    assert p_of_visits(visits, matrix, wrong) < ALPHA, "a wrong temperature went unnoticed"


def test_options_are_told_apart():
    """The law of each combination of options fits its own run; most others do not."""
    game = games.path()
    rules = [{"rule": "p-sblll", "tau": TAU, "revision": per_action(game), **o} for o in OPTIONS]
    chains = [chain(game, rule) for rule in rules]
    fits = np.empty((len(rules), len(rules)), bool)
    for k, rule in enumerate(rules):
        visits = pt.run(game, rule, STEPS, seed=12, record="visits").visits
        for j, other in enumerate(chains):
            fits[k, j] = p_of_visits(visits, other.matrix.toarray(), other.stationary()) > ALPHA / len(rules) ** 2
    assert fits.diagonal().all()
    apart = np.array([[np.abs(a.stationary() - b.stationary()).max() > 5e-3 for b in chains] for a in chains])
    assert not fits[apart].any()
    assert apart.sum() > len(rules) ** 2 / 2


# Vanishing revision probabilities, one step at a time -------------------------------------------------

VANISHING = {
    "slll": (oracle.slll, {}),
    "p-sblll": (oracle.p_sblll, {}),
    "p-sblll unilateral": (
        lambda game, tau, wake: oracle.p_sblll(game, tau, wake, trial="unilateral"),
        {"trial": "unilateral"},
    ),
}


@pytest.mark.parametrize("name", VANISHING)
def test_vanishing_revision_one_step_at_a_time(name):
    """Players wake with probability e^{-m/τ}: m = 0.46 for 0.4 is noticed, and the temperature is that of the step."""
    game, m = games.normal_form(), 0.4
    law, options = VANISHING[name]
    rule = pt.rule(name.split()[0], tau=TAU, revision=Vanishing(m), **options)
    seen = pt.run(game, rule, 150_000, seed=13).profiles
    for given, fits in ((m, True), (0.46, False)):
        enumerated = oracle.matrix(game, law(game, TAU, lambda i, a, given=given: math.exp(-given / TAU)))
        solved = chain(game, dict(rule.spec(), revision=Vanishing(given))).matrix.toarray()
        assert (p_of_transitions(seen, game, enumerated) > ALPHA) == fits
        assert (p_of_transitions(seen, game, solved) > ALPHA) == fits


def test_vanishing_revision_follows_a_schedule():
    """With τ falling, players wake less and less: the law after six steps is a product of six matrices."""
    game, steps, m = games.normal_form(), 6, 0.4
    schedule = pt.rules.Geometric(2.0, 0.2)
    rule = pt.rule("slll", tau=schedule, revision=Vanishing(m))
    batch = pt.run_batch(game, rule, steps, range(4000), start=[0, 0, 0], record=())
    ends = np.ravel_multi_index(tuple(batch.final.values.T.astype(int)), game.num_actions)
    counts = np.bincount(ends, minlength=game.num_profiles)
    taus = [schedule.at(n, horizon=steps) for n in range(steps)]
    for constant, fits in ((False, True), (True, False)):
        law = np.eye(game.num_profiles)[0]
        for tau in taus:
            wake = math.exp(-m / (taus[0] if constant else tau))
            law = law @ oracle.matrix(game, oracle.slll(game, tau, lambda i, a, wake=wake: wake))
        assert (p_of_counts(counts, law) > ALPHA) == fits
