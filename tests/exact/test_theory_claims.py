"""The paper's theory, judged: every claim has its verdict, and every counterexample is one.

Counterexamples are built again from the plain data of the claims and checked by other means: by hand, by the chain at a
low temperature, by the audit's hypotheses. Negative controls plant a wrong formula, or leave only what is true.
"""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain, hypotheses
from potentia.experiments.paper import (
    convergence_claims,
    coverage_claims,
    dominance_claims,
    readings,
    resistance_claims,
    small_games,
    soql_claims,
    stability_claims,
    theory,
)
from potentia.experiments.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED
from potentia.experiments.paper.scale import Scale
from potentia.games import NormalForm

TINY = Scale("tiny", runs=0, as_printed=0, tuning=0, games=8, learners=4, long=0)
RULE = pt.rule("p-sblll", tau=1.0, revision=0.3)
COLD = pt.rule("p-sblll", tau=0.02, revision=0.3)
VERDICTS = {
    "finite-improvement": SUPPORTED,
    "stable-state": NOT_SUPPORTED,
    "blll": SUPPORTED,
    "resistance": NOT_SUPPORTED,
    "reversal": SUPPORTED,
    "separable": SUPPORTED,
    "general": f"{DEPENDS} the reading of Assumption 5",
    "strictly-dominated": SUPPORTED,
    "weakly-dominated": f"{DEPENDS} what weakly dominated means",
    "closed-forms": SUPPORTED,
    "lock-in": NOT_SUPPORTED,
    "lock-in-probability": SUPPORTED,
    "soql-convergence": f"{DEPENDS} which profile α_* is",
    "perturbation": NOT_SUPPORTED,
    "coverage-potential": NOT_SUPPORTED,
    "coverage-separable": NOT_SUPPORTED,
}


@pytest.fixture(scope="module")
def heard():
    return []


@pytest.fixture(scope="module")
def claims(heard):
    return {claim.name: claim for claim in theory.check(TINY, heard.append)}


@pytest.fixture(scope="module")
def rows():
    return stability_claims.by_rule(Scale("tiny", 0, 0, 0, games=2, learners=1, long=0))


def test_every_claim_has_a_verdict(claims, heard):
    assert {name: claim.verdict for name, claim in claims.items()} == VERDICTS
    assert len(heard) == len(claims) + 1
    for claim in claims.values():
        assert claim.kind == "theory"
        assert claim.measured
        assert 10 < len(claim.reason) <= 180
        assert "\n" not in claim.reason
        assert not claim.reason[0].islower()
        assert not any(word in entry.label for entry in claim.measured for word in ("lag=", ": nothing", ": actions"))
        assert (claim.counterexample is None) == (claim.verdict == SUPPORTED)
    json.dumps([claim.to_dict() for claim in claims.values()])


def test_figures_data(claims):
    data = theory.figures_data(claims.values())
    assert (data.stable, data.maximiser) == ((0, 1), (1, 0))
    stable, best = (data.stability.tree(root).total for root in (data.stable, data.maximiser))
    assert stable < best, "the tree of the stable profile is the cheaper one"
    assert len(data.shares) == 16
    assert all(0 <= row["exactly"] <= row["count"] == TINY.games for row in data.shares)


# Resistances ---------------------------------------------------------------------------------------------


def test_the_counterexample_to_eq_12(claims):
    """-τ log P of the chain tends to the exact resistance, not to Eq. 12's."""
    found = claims["resistance"].details
    game, payoffs = small_games.rebuilt(found), np.array(found["payoffs"])
    pt.analysis.potential(game)  # a potential game, and 0 < 0.3 < 1
    source, target = found["source"], found["target"]
    moving = [i for i in range(2) if source[i] != target[i]]
    lemma = sum(max(0.0, payoffs[(i, *source)] - payoffs[(i, *target)]) for i in moving)
    assert found["eq_12"] == lemma > found["exact"]
    tau = 0.01
    matrix = chain(game, pt.rule("p-sblll", tau=tau, revision=0.3)).matrix
    place = [int(np.ravel_multi_index(p, game.num_actions)) for p in (source, target)]
    assert -tau * math.log(matrix[place[0], place[1]]) == pytest.approx(found["exact"], abs=0.1)
    assert f"Eq. 12 says {lemma:g}" in claims["resistance"].counterexample


def test_the_cheapest_realisation_is_the_exact_resistance():
    random = np.random.default_rng(0)
    below = 0
    for _ in range(5):
        game = NormalForm(random.integers(0, 4, (2, 3, 2)))
        table = pt.analysis.stability(game, RULE).resistances()
        for source, target, exact, lemma in zip(table.sources, table.targets, table.exact, table.lemma, strict=True):
            ends = [tuple(int(a) for a in np.unravel_index(k, game.num_actions)) for k in (source, target)]
            assert small_games.cheapest(game, *ends).resistance == pytest.approx(exact, abs=1e-12)
            assert small_games.eq_12(game, *ends) == pytest.approx(lemma, abs=1e-12)
            below += exact < lemma - 0.5
    assert below > 0


def test_stable_sets_from_given_resistances():
    """The exact ones give the exact stable set; other numbers another one."""
    game = pt.game("double-step")
    table = pt.analysis.stability(game, RULE).resistances()
    assert small_games.stable_by(table, table.exact, 4) == {1}
    assert small_games.stable_by(table, table.targets.astype(float), 4) == {0}


def test_a_lemma_that_holds_is_supported(monkeypatch):
    """Eq. 12 on separable games only."""
    monkeypatch.setattr(resistance_claims, "random_games", lambda *_: resistance_claims.separable_games(4))
    monkeypatch.setattr(resistance_claims, "smallest_difference", lambda: None)
    assert resistance_claims.resistance_lemma(TINY).verdict == SUPPORTED


def test_the_reversal_lemma_without_its_hypothesis(monkeypatch):
    others = [pt.games.random_potential_game([2, 2, 2], k) for k in range(3)]
    monkeypatch.setattr(resistance_claims, "separable_games", lambda *_: others)
    assert resistance_claims.reversal_lemma(TINY).verdict == NOT_SUPPORTED


def test_the_definition(claims):
    found = claims["stable-state"].details
    law = chain(small_games.rebuilt(found), pt.rule("blll", tau=0.01)).stationary()
    (never,) = found["never_played"]
    assert law[never[0]] < 1e-30, "as printed it is stable"


# Stable states -------------------------------------------------------------------------------------------


def check_counterexample(found):
    """Assumptions 1 to 4 hold, and profiles that do not maximise keep a share of the long run as τ → 0."""
    game = small_games.rebuilt(found)
    payoffs, phi = np.array(found["payoffs"]), np.array(found["potential"])
    assert hypotheses.reachability(game).holds
    assert hypotheses.reversibility(game).holds
    assert hypotheses.revision_bounds(game, RULE).holds
    for i in range(len(payoffs)):
        assert np.ptp(payoffs[i] - phi, axis=i).max() == 0, "an exact potential"
    wrong = [p for p in found["stable"] if phi[tuple(p)] < phi.max()]
    assert wrong
    law = chain(game, COLD).stationary().reshape(phi.shape)
    assert all(law[tuple(p)] > 0.005 for p in wrong)
    return game, payoffs, phi


def test_the_counterexample_to_the_general_theorem(claims):
    found = claims["general"].details
    game, payoffs, _ = check_counterexample(found)
    assert (payoffs == payoffs[0]).all(), "Assumption 4 as printed"
    assert hypotheses.homogeneity(game, RULE, payoffs.reshape(2, -1), pt.analysis.potential(game)).holds
    assert found["moves"] is None


def test_the_counterexample_without_ties():
    """Assumption 4 as printed, moves along a line, all Φ different."""
    kept, tried, game = stability_claims.without_ties(Scale("some", 0, 0, 0, games=30, learners=1, long=0))
    assert 0 < kept < tried
    _, payoffs, phi = check_counterexample(stability_claims._example(game))
    assert (payoffs == phi).all()
    assert len(set(phi.reshape(-1).tolist())) == phi.size


@pytest.mark.parametrize("homogeneous", readings.ASSUMPTION_4)
def test_counterexamples_of_each_reading(claims, homogeneous):
    listed = [row for row in claims["general"].details["readings"] if row["homogeneous"] == homogeneous]
    assert [row["monotone"] for row in listed] == list(readings.ASSUMPTION_5)
    for row in listed:
        assert (row["counterexample"] is None) == (row["kept"] == row["looked_at"])
        if row["counterexample"] is None:
            continue
        _, payoffs, phi = check_counterexample(row["counterexample"])
        single = readings.Games(phi[None], payoffs[None], row["counterexample"]["moves"] is not None)
        assert readings.satisfied(single, row["monotone"]).all()
        assert readings.increase(single).all()
    assert listed[-1]["counterexample"] is None, "our reading keeps the theorem"
    assert listed[-1]["one_player"] == listed[-1]["games"], "and leaves games in which one player's action matters"


@pytest.mark.parametrize("line", [False, True])
def test_readings_of_assumption_5(line):
    """Ours is the one of the audit; each implies the next; and it means that one player's action matters."""
    games = readings.identical((2, 3), 2, line)
    every, players, some = (readings.satisfied(games, name) for name in ("every order", "players' order", "some order"))
    assert every.sum() < players.sum() < some.sum() < len(games)
    assert not (every & ~players).any()
    assert not (players & ~some).any()
    np.testing.assert_array_equal(every, readings.one_player_matters(games))
    for k in (*range(0, len(games), 7), *np.flatnonzero(every)):
        game = games.game(k)
        assert hypotheses.monotone_potential(game, RULE, games.phi[k]).holds == every[k]


def test_assumption_4_by_the_increase():
    """Identical utilities satisfy it; where a bystander gains more than the one that moves, it fails."""
    assert readings.increase(readings.identical((2, 2), 1, False)).all()
    double = pt.game("double-step")
    single = readings.Games(pt.analysis.potential(double)[None], double.payoffs[None], False)
    assert not readings.increase(single).any()


def test_a_theorem_that_holds_is_supported(monkeypatch, rows):
    """The general theorem with our reading alone; and with a reading that breaks it alone."""
    few = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)
    monkeypatch.setattr(stability_claims, "ASSUMPTION_5", ("every order",))
    assert stability_claims.general_theorem(few, rows).verdict == SUPPORTED
    monkeypatch.setattr(stability_claims, "ASSUMPTION_5", ("nothing",))
    more = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)
    rigged = readings.identical((2, 2), 1, False)
    monkeypatch.setattr(
        stability_claims, "pools", lambda _: [rigged.chosen(rigged.phi[:, 0, 0] != rigged.phi[:, 0, 1])]
    )
    assert stability_claims.general_theorem(more, rows).verdict == NOT_SUPPORTED


def test_one_game_is_enough_to_break_a_theorem(monkeypatch, rows):
    few = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)
    assert stability_claims.blll(few, rows).verdict == SUPPORTED
    spoilt = [row | {"exactly": row["exactly"] - (row["kind"] == "constrained")} for row in rows]
    assert stability_claims.blll(few, spoilt).verdict == NOT_SUPPORTED
    monkeypatch.setattr(stability_claims, "separable_games", lambda *_: [pt.game("double-step")])
    found = stability_claims.separable_proposition(few, rows)
    assert found.verdict == NOT_SUPPORTED
    assert found.counterexample == "Φ is largest at (1, 0), the stable states of P-SBLLL are (0, 1)"
    monkeypatch.setattr(stability_claims, "random_potential_game", lambda *_: pt.game("matching-pennies"))
    assert stability_claims.finite_improvement_theorem(few).verdict == NOT_SUPPORTED


# SOQL ----------------------------------------------------------------------------------------------------


def test_a_wrong_closed_form_is_found(monkeypatch):
    right = soql_claims.eq_31
    monkeypatch.setattr(soql_claims, "eq_31", lambda mu, m, now, then, u: right(mu, m, then, now, u))
    assert soql_claims.closed_forms(TINY).verdict == NOT_SUPPORTED


def test_the_counterexample_to_lock_in(claims):
    """By hand: an action that was never tried looks best at 0, is played twice, and pays less than the other."""
    found = claims["lock-in"].details
    mu, vartheta, n = 0.97, 0.5, found["n"]
    pays, q, before, x = found["payoffs"][0], [0.0, 0.0], [0.0, 0.0], [0.5, 0.5]
    scores, strategies, last = [list(q)], [list(x)], None
    for action in found["actions"]:
        best = [float(a == max(q)) for a in q]
        x = [(1 - vartheta) * a + vartheta * b / sum(best) for a, b in zip(x, best, strict=True)]
        held = before[action] if action == last else q[action]  # an idle score has Q(n-1) = Q(n)
        before[action], q[action] = q[action], 2 * (1 - mu) * q[action] - (1 - mu) ** 2 * held + mu**2 * pays[action]
        last = action
        scores.append(list(q))
        strategies.append(list(x))
    np.testing.assert_allclose(found["scores"], scores, atol=1e-12)
    np.testing.assert_allclose(found["strategies"], strategies, atol=1e-12)
    action = found["actions"][n]
    assert found["actions"][n + 1] == action == int(np.argmax(scores[n])), "the hypotheses"
    assert scores[n][0] != scores[n][1]
    assert found["printed"] == pytest.approx((1 - vartheta) ** 2 * strategies[n][action] + 1 - (1 - vartheta) ** 2)
    assert strategies[n + 2][action] < found["printed"] - 0.1, "Eq. 33 fails"


def test_a_wrong_probability_of_staying_is_found(monkeypatch):
    right = soql_claims.lock_in
    monkeypatch.setattr(soql_claims, "stayed", lambda vartheta, players, runs: round(runs * right(vartheta, players)))
    assert soql_claims.lock_in_probability(TINY).verdict == SUPPORTED
    monkeypatch.setattr(soql_claims, "stayed", lambda vartheta, players, runs: runs // 2)
    assert soql_claims.lock_in_probability(TINY).verdict == NOT_SUPPORTED


def test_the_counterexample_to_convergence(claims):
    """∏_{c≥3} (1 - 2^-c) = 0.2887880950866 / (1/2 · 3/4) of the runs stay: neither all nor none."""
    found = claims["soql-convergence"].details
    assert found["exact"] == pytest.approx(0.28878809508660242 / 0.375, rel=1e-12)
    game, rule = small_games.rebuilt(found), pt.rules.rule_from(found["rule"])
    ends = set()
    for seed in range(40):
        run = pt.begin(game, rule, seed, compiled=False).advance(60)
        if run.trace().profiles[1:3].max() == 0:
            ends.add(tuple(int(np.argmax(x)) for x in run.strategies))
    assert ends == {(0,), (1,)}


def test_the_counterexample_to_the_perturbation_theorem(claims):
    """One equilibrium, Assumptions 6 and 7, and play that leaves it in every run; where strays cost little, in none."""
    found = claims["perturbation"].details
    game, rule = small_games.rebuilt(found), pt.rules.rule_from(found["rule"])
    assert pt.analysis.pure_nash(game, strict=True).tolist() == found["equilibria"] == [[0, 0]]
    np.testing.assert_allclose(pt.analysis.potential(game), found["potential"])
    assert (rule.mu, rule.alone, rule.noise, rule.lag) == ("adaptive", True, 0.0, True)
    assert found["lowest_score"] < game.utility(0, [1, 0])
    seeds = range(100, 106)
    gone = [convergence_claims.favourites(game, rule, seed, 20_000) for seed in seeds]
    assert sum(set(looks) != {(0, 0)} for looks in gone) >= 3
    mild = convergence_claims.costly_strays(1.0)
    assert all(set(convergence_claims.favourites(mild, rule, seed, 20_000)) == {(0, 0)} for seed in seeds)


# Coverage and dominance ----------------------------------------------------------------------------------


def test_the_counterexample_to_the_coverage_potential(claims):
    """Eq. 45 by hand on the strip: Σu and the deviator's utility change by different amounts."""
    for name in ("coverage-potential", "coverage-separable"):
        found = claims[name].details
        (worth,), delta = found["worth"], found["delta"]

        def utilities(profile, worth=worth, delta=delta):
            covered = [{c for c in range(len(worth)) if abs(c - a) <= delta} for a in profile]
            shared = sum(worth[c] for c in covered[0] & covered[1])
            return [sum(worth[c] for c in cells) - shared for cells in covered]

        player, first, second = found["player"], found["first"], found["second"]
        assert [i for i in range(2) if first[i] != second[i]] == [player]
        before, after = utilities(first), utilities(second)
        assert after[player] - before[player] != pytest.approx(sum(after) - sum(before), abs=0.1)
        for profile in itertools.product(range(len(worth)), repeat=2):
            assert [found["payoffs"][i][profile[0]][profile[1]] for i in range(2)] == utilities(profile)
        across = np.ptp(np.array(found["payoffs"])[0], axis=1)
        assert across.max() > 0, "u^0 depends on robot 1"


def test_potentials_of_maps():
    """The corrected one is exact, a wrong one is seen; robots that cannot meet satisfy the lemma."""
    (game,) = coverage_claims.maps(1)
    payoffs = coverage_claims.payoffs_of(game)
    exact = coverage_claims.table_of(game, game.corrected_potential)
    assert coverage_claims.largest_gap(payoffs, exact) < 1e-12
    assert coverage_claims.largest_gap(payoffs, 2 * exact) > 0.1
    apart = np.stack([np.broadcast_to([[0.2], [0.5]], (2, 2)), np.broadcast_to([[0.1, 0.7]], (2, 2))])
    assert coverage_claims.largest_gap(apart, apart.sum(axis=0)) < 1e-12


def test_dominated_actions(claims):
    found = claims["weakly-dominated"].details
    equal = found["payoffs"][0]
    assert equal[0] == equal[1], "as printed each weakly dominates the other"
    assert found["share"] == pytest.approx(0.5, abs=1e-9)
    assert found["survivor"]["share"] == pytest.approx(1 / 3, abs=1e-6)
    for game in dominance_claims.strict_games(4):
        assert (0, 2) in [(one.player, one.action) for one in pt.analysis.dominated(game)]
    for game in dominance_claims.weak_games(4):
        weak = [one for one in pt.analysis.dominated(game, weakly=True) if not one.strict]
        assert [(one.player, one.action) for one in weak] == [(0, 1)]


def test_a_survivor_is_seen(monkeypatch):
    """Where the past is forgotten nothing dies."""

    def forgetful(game, **options):
        return pt.analysis.dynamics(game, discount=1.0, **options)

    monkeypatch.setattr(dominance_claims, "dynamics", forgetful)
    assert dominance_claims.strictly_dominated(TINY).verdict == NOT_SUPPORTED
    assert dominance_claims.weakly_dominated(TINY).verdict == NOT_SUPPORTED
