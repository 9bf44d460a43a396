"""Audit rows about rules with scores: Assumptions 6 and 7, ϑ < μ < 1, sums of steps; promise against runs."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis.score_hypotheses import ended_in_equilibrium
from potentia.errors import AssumptionBroken, InvalidRule


def rows(rule, game=None):
    found = pt.analysis.audit(game or pt.game("random-potential", players=2, actions=2, seed=1), rule)
    return {row.hypothesis: row for row in found.rows}, found


def test_the_papers_soql_lacks_assumption_6_only():
    found, audit = rows(pt.rule("soql"))
    assert found["Assumption 6: steps are 1 - X̃"].holds is False
    assert found["Assumption 7: one player strays at a time"].holds is True
    assert found["ϑ < μ < 1"].holds is True
    assert found["Σ μ(n) = ∞"].holds is True
    assert found["Σ μ(n)² < ∞"].holds is False
    (theorem,) = audit.findings
    assert theorem.result == "perturbation theorem"
    assert not theorem.applies
    assert theorem.lacks == ("Assumption 6: steps are 1 - X̃",)


def test_under_assumptions_6_and_7_the_theorem_applies_and_is_kept():
    found, audit = rows(pt.rule("soql", mu="adaptive"))
    assert found["Assumption 6: steps are 1 - X̃"].holds is True
    assert found["ϑ < μ < 1"].holds is False  # the two are at odds
    assert found["Σ μ(n) = ∞"].holds is None
    (theorem,) = audit.findings
    assert theorem.applies
    assert theorem.kept is True
    assert "50 of 50 runs" in theorem.found
    assert theorem.verdict == "kept, as far as runs can tell"


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [
        ({"xi": 0.0}, "ξ > 0: settled strategies are perturbed"),
        ({"noise": 2.0}, "utilities are received without noise"),
        ({"lag": False}, "Eq. 29: strategies respond to Q(n)"),
    ],
)
def test_the_theorem_is_about_perturbed_noiseless_play_as_printed(changes, lacking):
    found, audit = rows(pt.rule("soql", mu="adaptive", **changes))
    assert found[lacking].holds is False
    (theorem,) = audit.findings
    assert theorem.lacks == (lacking,)


def test_without_a_potential_the_theorem_does_not_apply():
    _, audit = rows(pt.rule("soql", mu="adaptive"), pt.game("matching-pennies"))
    (theorem,) = audit.findings
    assert not theorem.applies
    assert "potential game" in theorem.lacks
    assert theorem.found.startswith("0 of 50 runs")
    assert theorem.kept is None


def test_several_strays_are_counted_where_assumption_7_is_off():
    game = pt.games.NormalForm(np.zeros((2, 2, 4)))
    found, _ = rows(pt.rule("soql", alone=False, xi=0.2), game)
    row = found["Assumption 7: one player strays at a time"]
    both = (0.2 / 2) * (0.2 * 3 / 4)
    assert row.holds is False
    assert f"in {both:.2g} of the steps" in row.evidence
    nobody = rows(pt.rule("soql", xi=0.0), game)[0][row.hypothesis]
    assert nobody.evidence == "nobody is perturbed: xi is 0"


def test_vartheta_above_mu_warns_and_fails():
    with pytest.warns(AssumptionBroken, match="vartheta < mu < 1"):
        rule = pt.rule("soql", mu=0.3, vartheta=0.5)
    assert rows(rule)[0]["ϑ < μ < 1"].holds is False


@pytest.mark.parametrize(
    ("mu", "endless", "squares"),
    [("1/n", True, True), ("n^-0.6", True, True), ("n^-0.5", True, False), ("n^-1.2", False, True), (0.1, True, False)],
)
def test_sums_of_steps(mu, endless, squares):
    for rule in (pt.rule("ql", tau=0.2, mu=mu), pt.rule("score", tau=0.2, mu=mu)):
        found, audit = rows(rule)
        assert found["Σ μ(n) = ∞"].holds is endless
        assert found["Σ μ(n)² < ∞"].holds is squares
        assert not any("Assumption 6" in name for name in found)
        assert "remembers scores" in audit.summary[0]


def test_log_linear_rules_have_no_such_rows():
    found, _ = rows(pt.rule("lll", tau=0.1))
    assert not any("μ" in name or "Assumption 6" in name for name in found)


def test_no_chain_of_profiles():
    with pytest.raises(InvalidRule, match="ql remembers scores, so that profiles alone make no chain"):
        pt.analysis.chain(pt.game("stag-hunt"), pt.rule("ql", tau=0.1))


def test_constant_steps_end_off_equilibria():
    """What the theorem excludes does happen without Assumption 6 (and hardly with it)."""
    ended = {"adaptive": [], 0.97: []}
    for seed in range(15):
        game = pt.game("random-potential", players=3, actions=3, seed=seed)
        for mu, found in ended.items():
            found.extend(ended_in_equilibrium(game, pt.rule("soql", mu=mu), runs=4, steps=5000).tolist())
    assert np.mean(ended["adaptive"]) > 0.95
    assert np.mean(ended[0.97]) < 0.9
