"""Every composition of who, considers and chooses: the chain and its leading terms against plain enumeration."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain, stability
from potentia.errors import InvalidInput, InvalidRule
from potentia.rules.chooses import Best, Better, Metropolis, Mistakes
from potentia.rules.considers import JointTrial, Trial
from potentia.rules.who import Everybody, Independent, InGroups
from tests import compositions
from tests.statistical.test_one_step import neighbours

TAU = compositions.CHOOSES["logit"]["tau"]
# On each game one in four, and another fourth on each, but few on the one that takes longest; all of them on all are
# for whoever has time.
SHARES = {"two players": (0, 4), "three players": (1, 4), "on a line": (2, 4), "congestion": (3, 4), "path": (0, 17)}
THIN = {"three players": 3}  # elsewhere leading terms are looked at of every other one of them


@cache
def game_of(name):
    game = compositions.integer_games()[name]
    return game, neighbours(game)


def composed(name, whole=False):
    """This game's share of the compositions, their parts and the rule."""
    first, every = (0, 1) if whole else SHARES[name]
    known = list(compositions.compositions(game_of(name)[0].num_players).items())
    mine = known[first::every]
    if name == "two players" and not whole:  # and what the next two games have too little to try for
        mine += [one for one in known[1::4] + known[2::4] if "× two trials ×" in one[0]]
    return {words: (parts, pt.rule(**parts)) for words, parts in mine}


def test_no_composition_is_left_out():
    met = {words for name in SHARES for words, (_, rule) in composed(name).items() if fits(game_of(name)[0], rule)}
    assert met == set(compositions.compositions())


def fits(game, rule):
    """Whether there is enough to try everywhere."""
    try:
        rule.data(game, None)
    except InvalidRule as error:
        if error.parameter != "k":
            raise
        return False
    return True


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", SHARES)
def test_the_chain_is_what_enumeration_gives(name, whole):
    game, near = game_of(name)
    off, blind = {}, 0
    for words, (parts, rule) in composed(name, whole).items():
        if fits(game, rule):
            found = chain(game, rule).matrix.toarray()
            off[words] = float(np.abs(found - compositions.matrix(game, parts, TAU, near)).max())
            if "tau" in parts and len(off) % 10 == 0:
                blind += np.abs(found - compositions.matrix(game, parts, 1.01 * TAU, near)).max() < 1e-5
    assert len(off) >= (15 if name == "path" else 50)
    assert {words: gap for words, gap in off.items() if gap > 1e-12} == {}
    assert blind == 0, "another temperature went unnoticed"


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", SHARES)
def test_leading_terms_and_the_ways_to_solve_them(name, whole):
    """Resistances are those of the enumeration; trees and elimination say the same."""
    game, near = game_of(name)
    wrong, solved = [], 0
    for words, (parts, rule) in list(composed(name, whole).items())[:: 1 if whole else THIN.get(name, 2)]:
        if "tau" not in parts or not fits(game, rule):
            continue
        found = stability(game, rule, method="contraction")
        other = stability(game, rule, method="elimination")
        solved += 1
        coefficients, wanted = compositions.leading(game, parts, near)
        table = found.resistances()
        here = np.full(wanted.shape, np.inf)
        here[table.sources, table.targets] = table.exact
        np.fill_diagonal(wanted, np.inf)
        wanted[np.isinf(found.stochastic_potential)] = np.inf
        if not (
            np.array_equal(here, wanted)
            and np.allclose(found.limit, other.limit, atol=1e-9)
            and np.array_equal(found.stable, other.stable)
            and np.array_equal(found.stochastic_potential, other.stochastic_potential)
        ):
            wrong.append(words)
        free = np.where(wanted == 0.0, coefficients, 0.0)
        free[np.arange(len(free)), np.arange(len(free))] = 1.0 - free.sum(axis=1)
        if np.abs(found.limit @ free - found.limit).max() > 1e-9:
            wrong.append(f"{words}: limit")
    assert wrong == []
    assert solved >= (4 if name == "path" else 8)


def test_theorems_give_what_trees_do():
    """Gibbs laws, also of Metropolis, with and without its own action among the trials; and where there is none."""
    game, _ = game_of("path")
    line = pt.games.Coordination([[0, 1], [1, 2]], np.eye(3), moves=pt.games.path_moves(3))
    for rule in ({"rule": "lll"}, {"rule": "metropolis"}, {"rule": "metropolis", "include_current": True}):
        for played in (game, line)[: 1 if rule["rule"] == "lll" else 2]:
            at = chain(played, {**rule, "tau": 0.7})
            np.testing.assert_allclose(at.stationary("closed-form"), at.stationary("gth"), rtol=1e-10)
            found = [stability(played, {**rule, "tau": 0.7}, method=m) for m in ("closed-form", "contraction")]
            np.testing.assert_allclose(found[0].limit, found[1].limit, atol=1e-12)
            np.testing.assert_array_equal(found[0].stochastic_potential, found[1].stochastic_potential)
    with pytest.raises(InvalidInput, match="no theorem"):
        stability(game, pt.rule(who="one", considers="trial", k=2, chooses="logit", tau=1.0), method="closed-form")


def test_mistakes_are_counted_whatever_payoffs_are_in():
    """Doubling or shifting payoffs changes nothing; a resistance is a whole number of mistakes."""
    payoffs = np.random.default_rng(2).integers(0, 5, size=(3, 2, 3, 2)).astype(float)
    rule = pt.rule("mistakes", tau=0.3)
    one = stability(pt.games.NormalForm(payoffs), rule)
    other = stability(pt.games.NormalForm(0.37 * payoffs + 11.0), rule)
    assert np.array_equal(one.stochastic_potential, other.stochastic_potential)
    assert set(one.resistances().exact) == {0.0, 1.0}
    both = stability(pt.games.NormalForm(payoffs), pt.rule("mistakes", who="all", tau=0.3))
    assert set(both.resistances().exact) == {0.0, 1.0, 2.0, 3.0}
    thirds = {"vanishing": 1.5}
    late = stability(pt.games.NormalForm(payoffs), pt.rule("mistakes", who="independent", tau=0.3, revision=thirds))
    assert set(late.resistances().exact) == {1.5, 2.5, 3.0, 4.0, 5.0, 4.5, 5.5, 6.5, 7.5}


def test_what_has_no_noise_has_a_chain_and_no_stable_states():
    game, _ = game_of("path")
    for rule in (pt.rule("best-response"), pt.rule("better-reply", inertia=0.5), pt.rule("better-reply", who="all")):
        assert len(chain(game, rule).classes) > 1
        with pytest.raises(InvalidRule, match="has no noise that goes to 0"):
            stability(game, rule)
        assert "no noise" in str(pt.analysis.audit(game, rule))


# Names ------------------------------------------------------------------------------------------------------

NAMED = [
    ({"who": "one", "considers": "all", "chooses": "logit", "tau": 0.1}, {"rule": "lll", "tau": 0.1}),
    ({"who": "all", "considers": "all", "chooses": "logit", "tau": 0.1}, {"rule": "slll", "tau": 0.1, "revision": 1.0}),
    (
        {"who": InGroups([((0,), 1.0)]), "considers": "all", "chooses": "logit", "tau": 0.1},
        {"rule": "slll", "tau": 0.1, "revision": {"groups": [[[0], 1.0]]}},
    ),
    (
        {"who": "one", "considers": "joint-trial", "chooses": "logit", "tau": 0.1, "include_current": True},
        {"rule": "blll", "tau": 0.1, "include_current": True},
    ),
    (
        {"who": "independent", "considers": "joint-trial", "chooses": "logit", "tau": 0.1, "revision": 0.3},
        {"rule": "p-sblll", "tau": 0.1, "revision": 0.3},
    ),
    (
        {"who": Independent(0.3, guard=True), "considers": Trial(), "chooses": "logit", "tau": 0.1},
        {"rule": "p-sblll", "tau": 0.1, "revision": 0.3, "trial": "unilateral", "guard": True},
    ),
    ({"who": "one", "considers": "all", "chooses": Best("stay")}, {"rule": "best-response", "ties": "stay"}),
    ({"who": "one", "considers": "all", "chooses": Better(0.2)}, {"rule": "better-reply", "inertia": 0.2}),
    ({"who": "one", "considers": "all", "chooses": Mistakes(0.2)}, {"rule": "mistakes", "tau": 0.2}),
    ({"who": "one", "considers": "trial", "chooses": Metropolis(0.2)}, {"rule": "metropolis", "tau": 0.2}),
]


@pytest.mark.parametrize(("parts", "named"), NAMED, ids=lambda parts: parts.get("rule", ""))
def test_a_composition_that_has_a_name_is_that_rule(parts, named):
    game = pt.game("stag-hunt")
    made, wanted = pt.rule(**parts), pt.rules.rule_from(named)
    assert made == wanted
    assert made.spec() == wanted.spec()
    assert np.array_equal(
        pt.run(game, made, 50, seed=1, compiled=False).profiles,
        pt.run(game, named, 50, seed=1, compiled=False).profiles,
    )


def test_other_compositions_survive_their_spec():
    known = compositions.compositions()
    rules = {words: pt.rule(**parts) for words, parts in known.items()}
    for made in rules.values():
        assert pt.rules.rule_from(made.spec()) == made
    alone = [words for words in known if words.startswith("one × joint")]  # one player's joint trial is its own
    assert len({made.describe() for made in rules.values()}) == len(known) - len(alone)
    assert pt.rule(who=Independent(1.0), considers="trial", chooses="best").who == Everybody()
    assert pt.rule("mistakes", who="all", considers=JointTrial(), tau=0.1).spec()["considers"] == "joint-trial"
