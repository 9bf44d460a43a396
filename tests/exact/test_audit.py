"""The audit: each hypothesis against a plain enumeration, each counterexample recomputed, promises against facts."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import audit, stability
from potentia.paper.kept_shares import random_games, shares
from tests import oracle

JOINT = {"rule": "p-sblll", "tau": 0.2, "revision": 0.3}


def row(report, start):
    return next(r for r in report.rows if r.hypothesis.startswith(start))


def finding(report, start):
    return next(f for f in report.findings if f.result.startswith(start))


def profiles_in(text):
    return [tuple(int(a) for a in found.split(",")) for found in re.findall(r"\((\d+(?:, \d+)+)\)", text)]


def numbers_after(text, words):
    return [float(x) for x in re.findall(words + r" (-?[\d.e-]+\d)", text)]


# Hypotheses -------------------------------------------------------------------------------------------


def test_overlap_disproves_the_claimed_potential_with_two_profiles():
    game = pt.game("overlap")
    report = audit(game, JOINT, claimed="welfare")
    assert row(report, "potential game").holds
    claim = row(report, "the claimed potential")
    assert claim.holds is False
    first, second = profiles_in(claim.evidence)
    (player,) = [i for i in range(2) if first[i] != second[i]]
    du = game.utility(player, second) - game.utility(player, first)
    dw = game.welfare(second) - game.welfare(first)
    assert abs(du - dw) > 1e-3
    assert numbers_after(claim.evidence, "by") == pytest.approx([du, dw], abs=1e-5)
    assert row(audit(game, JOINT, claimed=report.potential), "the claimed potential").holds


def test_a_custom_games_own_potential_is_tested():
    def utility(player, profile, data):
        return float(profile[0] * profile[1])

    def wrong(profile, data):
        return float(profile[0])

    game = pt.games.custom(utility, [2, 2], potential=wrong)
    assert row(audit(game, JOINT), "the game's own potential").holds is False


def moves_of(kind):
    return {
        "complete": None,
        "line": [pt.games.path_moves(3)] * 2,
        "one way": [[[1], [2], [0]], None],  # a circle: everything is reachable, nothing can be undone
        "trap": [[[1], [2], [1]], None],  # action 0 is never reached again
    }[kind]


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [("complete", True, True), ("line", True, True), ("one way", True, False), ("trap", False, False)],
)
def test_assumptions_about_moves(kind, first, second):
    game = pt.games.NormalForm(np.random.default_rng(0).normal(size=(2, 3, 3)), moves=moves_of(kind))
    report = audit(game, {"rule": "blll", "tau": 0.3})
    assert (row(report, "Assumption 1").holds, row(report, "Assumption 2").holds) == (first, second)
    if not first:
        assert row(report, "Assumption 1").evidence == "player 0 can never get from action 1 to action 0"
    if not second:
        player, start, end = (int(x) for x in re.findall(r"\d", row(report, "Assumption 2").evidence))
        assert end in game.reachable(player, start)
        assert start not in game.reachable(player, end)


@pytest.mark.parametrize(
    ("revision", "holds"),
    [
        (0.3, True),
        (1.0, False),
        ((0.2, 1.0), False),
        (((0.2, 0.4), (0.5, 1.0)), False),
        (pt.rules.Vanishing(1.0), False),
    ],
    ids=str,
)
def test_assumption_3(revision, holds):
    report = audit(pt.game("stag-hunt"), pt.rule("p-sblll", tau=0.3, revision=revision))
    assert row(report, "Assumption 3").holds is holds
    assert row(audit(pt.game("stag-hunt"), pt.rule("lll", tau=0.3)), "Assumption 3").holds is None


def climbs(game, phi):
    """Assumption 5 by brute force: every order of single deviations of every joint move to no lower Φ."""
    for start, end in itertools.permutations(oracle.profiles(game), 2):
        movers = [i for i in range(game.num_players) if start[i] != end[i]]
        if phi[end] < phi[start] or any(end[i] not in game.reachable(i, start[i]) for i in movers):
            continue
        for order in itertools.permutations(movers):
            at = start
            for player in order:
                then = oracle.with_action(at, player, end[player])
                if phi[then] < phi[at]:
                    return False
                at = then
    return True


def test_assumption_5_agrees_with_brute_force():
    random = np.random.default_rng(5)
    seen = {True: 0, False: 0}
    for trial in range(120):
        shape = [(2, 2), (2, 3), (2, 2, 2)][trial % 3]
        phi = random.integers(0, 3, size=shape).astype(float)
        if trial % 4 == 0:  # sums of increasing functions satisfy it, if moves go up one by one only
            phi = np.add.outer(np.zeros(shape[0]), np.zeros(shape[1:]))
        moves = [pt.games.path_moves(a) for a in shape] if trial % 2 else None
        game = pt.games.NormalForm([phi] * len(shape), moves=moves)
        found = row(audit(game, JOINT), "Assumption 5")
        assert found.holds is climbs(game, phi)
        seen[found.holds] += 1
        if not found.holds:
            start, end, at, then = profiles_in(found.evidence)
            assert phi[end] >= phi[start]
            assert phi[then] < phi[at]
    assert min(seen.values()) >= 20


def test_assumption_4_means_identical_utilities():
    phi = np.random.default_rng(2).normal(size=(2, 3))
    assert row(audit(pt.games.NormalForm([phi, phi]), JOINT), "Assumption 4").holds
    game = pt.games.NormalForm([phi, phi + np.array([[0.0], [0.5]])])
    found = row(audit(game, JOINT), "Assumption 4")
    assert found.holds is False
    (place,) = profiles_in(found.evidence)
    low, high = (int(k) for k in re.findall(r"u\^(\d)", found.evidence))
    assert game.utility(low, place) < game.utility(high, place)


# Promises ---------------------------------------------------------------------------------------------


def test_where_nothing_applies_the_facts_are_still_told():
    report = audit(pt.game("matching-pennies"), JOINT)
    assert row(report, "potential game").holds is False
    assert len(profiles_in(row(report, "potential game").evidence)) == 5
    assert not any(f.applies for f in report.findings if f.result != "resistance lemma (Eq. 12)")
    assert "0.25" in report.summary[0]


def test_the_resistance_lemma_is_broken_where_waking_and_staying_is_cheaper():
    """Matching pennies: (0, 0) to (1, 0) costs 2 by Eq. 12, and nothing when both try (1, 1) and one stays."""
    report = audit(pt.game("matching-pennies"), JOINT)
    found = finding(report, "resistance lemma")
    assert found.applies
    assert found.kept is False
    assert found.verdict == "BROKEN"
    assert "Eq. 12 says 2" in found.found
    assert finding(audit(pt.game("separable", players=2, actions=3), JOINT), "resistance lemma").kept


def test_double_step_leaves_the_maximiser():
    report = audit(pt.game("double-step"), JOINT)
    assert not finding(report, "separable proposition").applies
    assert finding(report, "separable proposition").kept is False
    assert "no maximiser is stable; stable: (0, 1)" in finding(report, "separable proposition").found
    assert finding(audit(pt.game("double-step"), {**JOINT, "guard": True}), "P-SBLLL with a guard").kept


@pytest.mark.parametrize(
    ("rule", "result"),
    [
        ({"rule": "lll", "tau": 0.2}, "LLL"),
        ({"rule": "blll", "tau": 0.2}, "BLLL"),
        ({**JOINT, "guard": True}, "P-SBLLL with a guard"),
        ({"rule": "best-response"}, "finite improvement"),
        ({"rule": "slll", "tau": 0.2, "revision": {"vanishing": 40.0}}, "SLLL"),
        ({**JOINT, "revision": {"vanishing": 40.0}}, "P-SBLLL with vanishing"),
    ],
    ids=str,
)
def test_theorems_that_apply_keep_their_promise(rule, result):
    for seed in range(10):
        found = finding(audit(pt.game("random-potential", seed=seed), rule), result)
        assert found.applies
        assert found.kept, (seed, found.found)


def test_no_promise_is_broken_but_eq_12():
    """On games of every kind: whenever a result's hypotheses hold, what it promises is found."""
    games = [
        game
        for kind in ("potential", "separable", "identical", "constrained")
        for game in random_games(kind, 8, (2, 3, 2), 50)
    ]
    applied = 0
    for game in games:
        for f in audit(game, JOINT).findings:
            applied += f.applies
            if f.applies and not f.result.startswith("resistance"):
                assert f.kept, f
    assert applied > len(games)


def test_shares_of_games_that_keep_their_maximiser():
    """The table of the docs on fewer games: BLLL, the guard and separable games never fail, the others do."""
    count = 60
    found = {r.rule: r for r in shares(random_games("potential", count, (2, 3, 2), 0))}
    for safe in ("BLLL", "P-SBLLL, guarded"):
        assert (found[safe].exactly, found[safe].kept, found[safe].mode) == (count, count, count)
    joint, alone = found["P-SBLLL, joint"], found["P-SBLLL, unilateral"]
    assert joint.exactly < 0.5 * count < joint.mode < count
    assert 0.7 * count < alone.exactly < count
    for r in shares(random_games("separable", count, (2, 3, 2), 0)):
        assert (r.exactly, r.kept, r.mode) == (count, count, count)
    missed = shares(random_games("constrained", 200, (2, 3, 2), 0), {"joint": JOINT})[0]
    assert 0 < missed.games - missed.kept < 40


def test_reports_read_and_serialise():
    report = audit(pt.game("overlap"), JOINT, claimed="welfare")
    text = str(report)
    assert "the claimed potential is exact" in text
    assert "fails" in text
    plain = report.to_dict()
    assert [h["holds"] for h in plain["hypotheses"]] == [r.holds for r in report.rows]
    assert sum(s["share"] for s in plain["stable"]) == pytest.approx(1.0)
    assert report.holds("Assumption 1") is True


def test_a_chain_that_falls_apart_is_said_so():
    game = pt.games.NormalForm(np.zeros((2, 3, 3)), moves=moves_of("trap"))
    report = audit(game, pt.rule("blll", tau=1.0))
    assert report.holds("Assumption 1") is False
    assert not stability(game, pt.rule("blll", tau=1.0)).stable[:3].any()  # action 0 of player 0 is transient
    stuck = pt.games.NormalForm(np.zeros((1, 4)), moves=[[[1], [0], [3], [2]]])
    assert "2 closed classes" in audit(stuck, pt.rule("blll", tau=1.0)).summary[0]
