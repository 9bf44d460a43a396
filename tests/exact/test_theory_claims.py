"""The paper's theory, judged: every claim has its verdict, and every counterexample is one.

Counterexamples are built again from the plain data of the claims and checked by other means: by hand, by the chain at a
low temperature, by the audit's hypotheses. Negative controls plant a wrong formula, or leave only what is true.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain, hypotheses
from potentia.games import NormalForm
from potentia.paper import quoted_claims, readings, resistance_claims, small_games, stability_claims, theory
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED
from potentia.paper.scale import Scale
from tests.exact.theory_scale import TINY

pytestmark = pytest.mark.xdist_group("theory")  # one worker checks them for both files
RULE = pt.rule("p-sblll", tau=1.0, revision=0.3)
COLD = pt.rule("p-sblll", tau=0.02, revision=0.3)
VERDICTS = {
    "finite-improvement": SUPPORTED,
    "stable-state": NOT_SUPPORTED,
    "blll": SUPPORTED,
    "resistance": NOT_SUPPORTED,
    "reversal": SUPPORTED,
    "separable": SUPPORTED,
    "general": f"{DEPENDS} the readings of Assumptions 4 and 5",
    "strictly-dominated": SUPPORTED,
    "weakly-dominated": f"{DEPENDS} what weakly dominated means",
    "closed-forms": SUPPORTED,
    "lock-in": NOT_SUPPORTED,
    "lock-in-probability": NOT_SUPPORTED,
    "soql-convergence": f"{DEPENDS} whether the conditions hold at n or at every later step",
    "perturbation": NOT_SUPPORTED,
    "coverage-potential": NOT_SUPPORTED,
    "coverage-separable": NOT_SUPPORTED,
}


def test_every_claim_has_a_verdict(claims, heard):
    assert {name: claim.verdict for name, claim in claims.items()} == VERDICTS
    assert heard == list(claims) == list(VERDICTS), "in the order of the paper"
    for claim in claims.values():
        assert claim.kind == "theory"
        assert claim.measured
        assert 10 < len(claim.reason) <= 160
        assert "\n" not in claim.reason
        assert all(10 < len(line) <= 320 and "\n" not in line for line in claim.evidence)
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
    assert claims["stable-state"].misprint
    assert "misprint" in claims["stable-state"].reason
    assert "misprint" in quoted_claims._misprint(0, 5, smallest=True)
    assert "misprint" not in quoted_claims._misprint(0, 5, smallest=False)


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
    assert found["potential"] == [[0, 1], [1, 1]]
    assert {"actions", "some order"} <= set(found["assumption_5"])
    assert not {"every equilibrium", "every maximiser"} & set(found["assumption_5"])
    _, payoffs, phi = check_counterexample(found["without_ties"])
    assert (payoffs == phi).all()
    assert len(set(phi.reshape(-1).tolist())) == phi.size


def test_the_counterexample_without_ties():
    """Assumption 4 as printed, moves along a line, all Φ different."""
    kept, tried, game = readings.without_ties(Scale("some", 0, 0, 0, games=30, learners=1, long=0))
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
    kept = [row["monotone"] for row in listed if row["kept"] == row["looked_at"]]
    if homogeneous == "printed":
        assert {"every equilibrium", "every maximiser"} <= set(kept), "the authors' own sentence keeps it"
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


def towards(phi, line, targets):
    """The sentence that explains Assumption 5, move by move: no single move that comes nearer to a target lowers Φ."""
    for profile in np.ndindex(*phi.shape):
        for target in targets(profile):
            for i, action in enumerate(profile):
                for new in range(phi.shape[i]):
                    nearer = abs(new - target[i]) < abs(action - target[i]) and abs(new - action) == 1
                    if nearer if line else new == target[i] != action:
                        moved = (*profile[:i], new, *profile[i + 1 :])
                        if phi[moved] < phi[profile]:
                            return False
    return True


@pytest.mark.parametrize("line", [False, True])
def test_readings_by_the_authors_sentence(line):
    """Equilibria from the library, distances by hand."""
    games = readings.identical((2, 3), 2, line)
    names = ("every equilibrium", "every maximiser", "nearest equilibrium")
    found = {name: readings.satisfied(games, name) for name in names}
    assert not (found["every equilibrium"] & ~found["every maximiser"]).any()
    assert not (found["every equilibrium"] & ~found["nearest equilibrium"]).any()
    assert found["every equilibrium"].sum() < found["every maximiser"].sum() < len(games)
    for k in range(0, len(games), 5):
        phi = games.phi[k]
        nash = [tuple(p) for p in pt.analysis.pure_nash(games.game(k)).tolist()]
        best = [p for p in np.ndindex(*phi.shape) if phi[p] == phi.max()]

        def nearest(profile, nash=nash):
            away = {e: sum(abs(a - b) if line else a != b for a, b in zip(profile, e, strict=True)) for e in nash}
            return [e for e in nash if away[e] == min(away.values())]

        assert found["every equilibrium"][k] == towards(phi, line, lambda _, nash=nash: nash)
        assert found["every maximiser"][k] == towards(phi, line, lambda _, best=best: best)
        assert found["nearest equilibrium"][k] == towards(phi, line, nearest)


def test_the_sentence_leaves_games_that_matter():
    """The simplest is [[0, 1], [1, 2]]; so many satisfy it, and keep the theorem; the nearest one is not enough."""
    simplest, crossed = (
        readings.Games(np.array([t]), np.array([[t, t]]), False) for t in ([[0.0, 1], [1, 2]], [[0.0, 1], [1, 0]])
    )
    assert readings.satisfied(simplest, "every equilibrium").all()
    assert not readings.one_player_matters(simplest).any()
    assert readings.satisfied(crossed, "nearest equilibrium").all()
    assert not readings.satisfied(crossed, "every maximiser").any()
    assert not readings.only_maximisers(crossed.game(0), crossed.phi[0])
    for shape, line, counts in (((2, 2), False, (20, 16)), ((3, 3), True, (376, 358))):
        games = readings.identical(shape, 2, line)
        fitting = games.chosen(readings.satisfied(games, "every maximiser"))
        assert (len(fitting), int((~readings.one_player_matters(fitting)).sum())) == counts
        some = range(0, len(fitting), max(1, len(fitting) // 20))
        assert all(readings.only_maximisers(fitting.game(k), fitting.phi[k]) for k in some)


def test_assumption_4_by_the_increase():
    """Identical utilities satisfy it; where a bystander gains more than the one that moves, it fails."""
    assert readings.increase(readings.identical((2, 2), 1, False)).all()
    double = pt.game("double-step")
    single = readings.Games(pt.analysis.potential(double)[None], double.payoffs[None], False)
    assert not readings.increase(single).any()


def test_a_theorem_that_holds_is_supported(monkeypatch):
    """The general theorem with our reading alone; and with a reading that breaks it alone."""
    few = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)
    monkeypatch.setattr(readings, "ASSUMPTION_5", ("every order",))
    assert stability_claims.general_theorem(few).verdict == SUPPORTED
    monkeypatch.setattr(readings, "ASSUMPTION_5", ("nothing",))
    more = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)
    rigged = readings.identical((2, 2), 1, False)
    monkeypatch.setattr(readings, "pools", lambda _: [rigged.chosen(rigged.phi[:, 0, 0] != rigged.phi[:, 0, 1])])
    assert stability_claims.general_theorem(more).verdict == NOT_SUPPORTED


def test_one_game_is_enough_to_break_a_theorem(monkeypatch, rows):
    few = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)
    assert quoted_claims.blll(few).verdict == SUPPORTED
    spoilt = [row | {"exactly": row["exactly"] - (row["kind"] == "constrained")} for row in rows]
    monkeypatch.setattr(quoted_claims, "by_rule", lambda _: spoilt)
    assert quoted_claims.blll(few).verdict == NOT_SUPPORTED
    monkeypatch.setattr(stability_claims, "separable_games", lambda *_: [pt.game("double-step")])
    found = stability_claims.separable_proposition(few)
    assert found.verdict == NOT_SUPPORTED
    assert found.counterexample == "Φ is largest at (1, 0), the stable states of P-SBLLL are (0, 1)"
    monkeypatch.setattr(quoted_claims, "random_potential_game", lambda *_: pt.game("matching-pennies"))
    assert quoted_claims.finite_improvement_theorem(few).verdict == NOT_SUPPORTED
