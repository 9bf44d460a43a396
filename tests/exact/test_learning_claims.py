"""The paper's theory of SOQL, coverage and dominance, judged; as in ``test_theory_claims``."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import hypotheses
from potentia.games import NormalForm
from potentia.paper import convergence_claims, coverage_claims, dominance_claims, small_games, soql_claims
from potentia.paper.claims import NOT_SUPPORTED, SUPPORTED
from potentia.paper.scale import Scale
from tests.exact.theory_scale import TINY

pytestmark = pytest.mark.xdist_group("theory")  # one worker checks them for both files


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


def test_lock_in_for_every_m():
    """With the proof's conditions the score never falls below where it was, by the recursion, whatever μ and m."""
    random = np.random.default_rng(3)
    for _ in range(50):
        mu, q = random.uniform(0.01, 0.99), 0.0
        u = random.uniform(0.1, 5)
        then = random.uniform(1e-6, 1.5 * u)  # Q(n+1) > Q(n) = 0, u > Q(n)
        seen = [q, then]
        for m in range(2, 40):
            seen.append(2 * (1 - mu) * seen[-1] - (1 - mu) ** 2 * seen[-2] + mu**2 * u)
            assert u - seen[-1] <= soql_claims.least_advance(mu, m) * u + 1e-12
        assert min(seen) >= 0.0
    assert soql_claims.least_advance(0.5, 1) == 1.0
    held = [one for seed, game in enumerate(soql_claims.random_games(4)) for one in soql_claims.occasions(game, seed)]
    assert any(one.proof and 16 in one.kept for one in held)
    assert all(all(one.kept.values()) for one in held if one.proof)


def test_the_probability_of_staying(claims, monkeypatch):
    """Not the product: more in the example; with Proposition 2's conditions alone it may be 0."""
    found = claims["lock-in-probability"].details
    assert found["product"] == pytest.approx(math.prod(1 - 0.5**c for c in range(1, 200)))
    assert found["exact"] == pytest.approx(math.prod(1 - 0.5**c for c in range(3, 200)))
    never = claims["lock-in"].details
    game, rule = small_games.rebuilt(never), pt.rules.rule_from(never["rule"])
    for seed in range(20):  # wherever it starts, the better action 0 is what it ends with
        assert float(pt.begin(game, rule, seed, compiled=False).advance(60).strategies[0][0]) > 0.999
    right, more = soql_claims.lock_in, Scale("some", 0, 0, 0, games=2, learners=30, long=0)
    monkeypatch.setattr(soql_claims, "stayed", lambda *case: round(len(case[2]) * right(*case[:2])))
    judged = soql_claims.lock_in_probability(more)
    assert judged.reason.endswith("with the proof's conditions a lower bound")
    assert "adds to it" in judged.evidence[0]
    monkeypatch.setattr(soql_claims, "stayed", lambda vartheta, players, seeds: len(seeds) // 2)
    judged = soql_claims.lock_in_probability(more)
    assert judged.reason.endswith("with the proof's conditions a lower bound")
    assert "not the product itself" in judged.evidence[0]
    monkeypatch.setattr(soql_claims, "stayed", lambda vartheta, players, seeds: len(seeds) // 200)
    assert soql_claims.lock_in_probability(more).reason.endswith("no bound either")


def test_the_counterexample_to_convergence(claims):
    """∏_{c≥3} (1 - 2^-c) = 0.2887880950866 / (1/2 · 3/4) of the runs stay: neither all nor none."""
    found = claims["soql-convergence"].details
    assert found["exact"] == pytest.approx(0.28878809508660242 / 0.375, rel=1e-12)
    game, rule = small_games.rebuilt(found), pt.rules.rule_from(found["rule"])
    ends = {}
    for seed in range(40):
        run = pt.begin(game, rule, seed, compiled=False).advance(60)
        played = run.trace().profiles[1:]
        if played[:2].max() == 0:
            ends.setdefault(tuple(int(np.argmax(x)) for x in run.strategies), []).append(bool(played.max() == 0))
    assert set(ends) == {(0,), (1,)}
    assert all(ends[(0,)]), "who ends there has played it at every step"
    assert not any(ends[(1,)])


def test_matching_pennies_never_settles(claims):
    """Not even at some profile; a coordination game does."""
    found = claims["soql-convergence"].details["pennies"]
    assert min(found["last_changes"]) > 0.97 * found["steps"]
    game, rule = small_games.rebuilt(found), pt.rules.rule_from(found["rule"])
    assert len(pt.analysis.pure_nash(game)) == 0
    run = pt.begin(game, rule, 100).advance(3_000)
    seen = {tuple(int(np.argmax(x)) for x in run.advance(1).strategies) for _ in range(300)}
    assert len(seen) == 4, "another seed, other steps: all four profiles are the favourites in turn"
    assert convergence_claims.last_change(NormalForm([[[1, 0], [0, 1]]] * 2), 0) == 0


@pytest.mark.parametrize(("cost", "xi", "mu"), [(1.0, 0.5, "adaptive"), (1000.0, 0.01, "adaptive"), (1.0, 0.2, 0.97)])
def test_favourites_step_by_step(cost, xi, mu):
    """What follows from the profiles that were played is what the engine has."""
    game, rule = convergence_claims.costly_strays(cost), pt.rule("soql", mu=mu, xi=xi)
    trace = pt.begin(game, rule, 5, record=("profile",)).advance(3_000).trace()
    again = convergence_claims.by_step(game, rule, trace.profiles[1:])
    run = pt.begin(game, rule, 5)
    seen = [[int(np.argmax(x)) for x in run.advance(1).strategies] for _ in range(300)]
    assert again[1:301].tolist() == seen
    run.advance(2_690)
    assert again[2_990].tolist() == [int(np.argmax(x)) for x in run.strategies]
    assert len(np.unique(again[:300], axis=0)) > 1


def test_the_counterexample_to_the_perturbation_theorem(claims):
    """One equilibrium, Assumptions 6 and 7, and play that goes on leaving it; where strays cost little, it does not."""
    found = claims["perturbation"].details
    game, rule = small_games.rebuilt(found), pt.rules.rule_from(found["rule"])
    assert pt.analysis.pure_nash(game, strict=True).tolist() == found["equilibria"] == [[0, 0]]
    np.testing.assert_allclose(pt.analysis.potential(game), found["potential"])
    assert (rule.mu, rule.alone, rule.noise, rule.lag) == ("adaptive", True, 0.0, True)
    assert found["lowest_score"] < game.utility(0, [1, 0]), "one stray is enough"
    early, late = found["windows"][0], found["windows"][-1]
    assert late["first"] == early["until"] < late["until"]
    assert late["departures"] / late["steps"] > 0.5 * early["departures"] / early["steps"] > 0, "it does not fade"
    looks = [looked_at(game, rule, seed) for seed in range(100, 103)]  # by the engine, with other seeds
    assert all(0.5 < share < 0.97 for share in looks)
    mild = [pt.rule("soql", mu="adaptive", xi=xi) for xi in (0.2, 0.5, 0.9)]
    little, more, most = (looked_at(convergence_claims.costly_strays(1.0), one, 100) for one in mild)
    assert little > 0.97
    assert 0.8 > more > 0.55 > most
    assert convergence_claims.costly_strays(1.0).payoffs.tolist() == [[[1, -1], [0.5, 0.5]], [[3, 0], [1, 0]]]
    control = convergence_claims.costly_strays(-1.0)
    assert np.ptp(control.payoffs[0], axis=1).max() == np.ptp(control.payoffs[1], axis=0).max() == 0, "separable"
    assert looked_at(control, mild[1], 100) == 1.0
    assert looked_at(convergence_claims.costly_strays(10.0), rule, 100) == 1.0
    kept = {(one["cost"], one["xi"]): one["departures"] for one in found["others"]}
    assert kept[-1.0, 0.5] == kept[10.0, 0.01] == 0 < kept[1.0, 0.2] < kept[1.0, 0.5]
    assert rule.xi / 2 < rule.vartheta, "Assumption 6 contradicts ϑ < μ"


def looked_at(game, rule, seed, steps=20_000, looks=200):
    """The share of looks, over the last three quarters of a run, at which the favourites are (0, 0)."""
    run = pt.begin(game, rule, seed, record=()).advance(steps // 4)
    stride = 3 * steps // 4 // looks
    return sum(all(int(np.argmax(x)) == 0 for x in run.advance(stride).strategies) for _ in range(looks)) / looks


def test_random_games_alone_do_not_break_a_limit(monkeypatch):
    """At a finite horizon a game that is not there yet decides nothing; the counterexample does."""
    few = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)
    monkeypatch.setattr(convergence_claims, "_ended", lambda *_: 0)
    nobody_leaves = convergence_claims.Stay(0, 10, 10, 10, 0, 0)
    monkeypatch.setattr(convergence_claims, "stays", lambda *_: [nobody_leaves])
    assert convergence_claims.perturbation_theorem(few).verdict == "undecided"
    monkeypatch.setattr(convergence_claims, "_ended", lambda games, _: len(games))
    assert convergence_claims.perturbation_theorem(few).verdict == SUPPORTED
    monkeypatch.setattr(convergence_claims, "stays", lambda *_: [convergence_claims.Stay(0, 10, 10, 9, 1, 1)])
    assert convergence_claims.perturbation_theorem(few).verdict == NOT_SUPPORTED


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


def strip_utilities(worth, delta, previous, cost, profile, flags=True):
    """Eq. 45 by hand: a flag on the cell where each robot was before."""
    covered = [{c for c in range(len(worth)) if abs(c - a) <= delta} for a in profile]
    shared = sum(worth[c] for c in covered[0] & covered[1])
    out = []
    for i, cells in enumerate(covered):
        met = flags and profile[i] == previous[1 - i]
        out.append((0 if met else sum(worth[c] for c in cells) - shared) - cost * abs(profile[i] - previous[i]))
    return out


def test_the_coverage_counterexample_with_flags_and_costs(claims):
    found = claims["coverage-potential"].details["flagged"]
    (worth,), previous, player = found["worth"], found["previous"], found["player"]
    assert (found["K"], found["delta"]) == (3e-5, 1.0)
    for profile in (found["first"], found["second"]):
        assert all(abs(a - b) <= 1 for a, b in zip(profile, previous, strict=True)), "within a step"
        assert all(profile[i] != previous[1 - i] for i in range(2)), "no flag is met"
    before, after = (strip_utilities(worth, 1.0, previous, 3e-5, found[p]) for p in ("first", "second"))
    assert after[player] - before[player] == pytest.approx(found["own"], abs=1e-12)
    assert sum(after) - sum(before) == pytest.approx(found["all"], abs=1e-12)
    assert found["own"] == pytest.approx(-3e-5)
    assert found["all"] == pytest.approx(-1.00003)


def test_fixed_flags_leave_no_potential(claims):
    """Around four profiles the deviators' changes of utility sum to something; without flags to 0."""
    found = claims["coverage-potential"].details["flagged"]
    worth, cells = found["strip"], range(4)
    assert worth == [1, 2, 3, 1]
    worst = {}
    for flags in (True, False):
        sums = []
        for previous in itertools.permutations(cells, 2):
            u = {p: strip_utilities(worth, 1.0, previous, 0.0, p, flags) for p in itertools.product(cells, repeat=2)}
            for (a, b), (c, d) in itertools.product(itertools.combinations(cells, 2), repeat=2):
                around = u[b, c][0] - u[a, c][0] + u[b, d][1] - u[b, c][1] + u[a, d][0] - u[b, d][0]
                sums.append(abs(around + u[a, c][1] - u[a, d][1]))
        worst[flags] = max(sums)
    assert worst == {True: found["cycle"], False: 0}
    assert found["cycle"] > 1


def test_assumption_3_on_the_map(claims):
    """a1 = 1: a robot with neither signal nor gradient wakes for certain."""
    game = pt.games.Coverage(pt.games.World(np.array([[0.0, 0.0, 0.0, 1.0]])), 1, flags=False)
    paper = {"signal": {"a1": 1.0, "a2": 0.5, "a3": 0.1}}
    below = {"signal": {"a1": 0.99, "a2": 0.5, "a3": 0.1}}
    assert not hypotheses.revision_bounds(game, pt.rule("p-sblll", tau=1.0, revision=paper)).holds
    assert hypotheses.revision_bounds(game, pt.rule("p-sblll", tau=1.0, revision=below)).holds
    assert any("revision probability 1," in line for line in claims["coverage-separable"].evidence)


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
