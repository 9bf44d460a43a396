"""How what fails comes about, in words; and what the revision probability does to the long run."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import counterexamples
from potentia.analysis.chains.ways import cheapest_way
from potentia.errors import InvalidInput, InvalidRule, NoLaw

DOUBLE, PENNIES = pt.game("double-step"), pt.game("matching-pennies")
JOINT = pt.rule("p-sblll", tau=0.3, revision=0.3)


def shown(game, rule):
    return {one.kind: one for one in pt.analysis.audit(game, rule).counterexamples}


def test_the_way_from_the_maximiser_and_what_the_way_back_costs():
    found = shown(DOUBLE, JOINT)
    assert list(found) == ["promise", "lemma"]
    assert found["promise"].lines() == [
        "From the maximiser to a stable profile: (1, 0) → (0, 1)",
        "  Players 0 and 1 wake at (1, 0).",
        "  Together they try (0, 1).",
        "  Player 0 compares 2 with 3 and takes it.",
        "  Player 1 compares 2 with 3 and takes it.",
        "  Play goes from (1, 0) to (0, 1) at resistance 0.",
        "  The cheapest way back has resistance 1.",
    ]
    costs = pt.analysis.stability(DOUBLE, JOINT)
    assert costs.stochastic_potential[2] - costs.stochastic_potential[1] == 1
    text = str(pt.analysis.audit(DOUBLE, JOINT))
    assert "\n".join(found["promise"].lines()) in text


def test_who_tried_and_stayed_where_eq_12_is_wrong():
    found = shown(PENNIES, JOINT)
    assert list(found) == ["lemma", "cycle"]
    lemma = found["lemma"]
    assert (lemma.said, lemma.way.resistance) == (2, 0)
    assert any(sentence.endswith("and stays.") for sentence in lemma.sentences)
    assert found["cycle"].path[0] == found["cycle"].path[-1]
    assert found["cycle"].way is None
    assert "change their utilities by" in found["cycle"].sentences[0]


def test_several_steps_are_told_with_what_all_of_them_cost():
    """Φ = -(a - 2)² on a line of moves, but play together is drawn to the other end."""
    rng = np.random.default_rng(5)
    several = 0
    for _ in range(30):
        phi = rng.integers(0, 6, (3, 3)).astype(float)
        own = [rng.integers(0, 6, 3)[None, :] + phi, rng.integers(0, 6, 3)[:, None] + phi]
        game = pt.games.NormalForm(np.array(own))
        for one in shown(game, JOINT).values():
            if one.kind == "promise":
                steps = list(zip(one.path, one.path[1:], strict=False))
                cost = sum(cheapest_way(game, JOINT, a, b, 0.3).resistance for a, b in steps)
                said = f"This is one of {len(steps)} steps; all of them have resistance {cost:.6g}."
                assert (said in one.sentences) == (len(steps) > 1)
                several += len(steps) > 1
    assert several > 2


def test_nothing_is_explained_where_nothing_fails_or_it_is_too_large(monkeypatch):
    assert shown(DOUBLE, pt.rule("blll", tau=0.3)) == {}
    assert shown(DOUBLE, pt.rule("best-response")) == {}
    monkeypatch.setattr(counterexamples, "MOST_PROFILES", 3)
    assert shown(DOUBLE, JOINT) == {}


def test_as_data():
    plain = pt.analysis.audit(DOUBLE, JOINT).to_dict()["counterexamples"]
    assert [one["kind"] for one in plain] == ["promise", "lemma"]
    assert plain[0]["path"] == [[1, 0], [0, 1]]


# The revision probability -----------------------------------------------------------------------------


def test_the_maximiser_has_most_of_the_long_run_where_players_seldom_wake():
    found = pt.analysis.over_revision(DOUBLE, JOINT, [0.01, 0.5])
    assert found.shares == pytest.approx([0.757, 0.085], abs=5e-4)
    np.testing.assert_array_equal(found.limit_shares, [0, 0])
    assert [profiles.tolist() for profiles in found.stable] == [[[0, 1]], [[0, 1]]]
    for revision, law in zip(found.revisions, found.laws, strict=True):
        alone = pt.analysis.chain(DOUBLE, pt.rule("p-sblll", tau=0.3, revision=float(revision))).stationary()
        np.testing.assert_allclose(law, alone, rtol=1e-12)
    rows = found.to_dict()["rows"]
    assert [row["most_visited"] for row in rows] == [[1, 0], [0, 1]]


def test_without_a_potential_there_are_no_maximisers():
    found = pt.analysis.over_revision(PENNIES, pt.rule("slll", tau=0.3, revision=0.3))
    assert found.shares is found.limit_shares is found.maximisers is None
    assert found.revisions[[0, -1]].tolist() == [0.01, 0.9]
    assert found.to_dict()["rows"][0]["share"] is None


@pytest.mark.parametrize(
    ("rule", "revisions", "error", "said"),
    [
        (
            pt.rule("blll", tau=0.3),
            [0.1],
            InvalidRule,
            "whose players wake with a probability of their own, .* got blll",
        ),
        (JOINT, [], InvalidInput, "revisions must be probabilities"),
        (JOINT, [0.1, 0.0], InvalidInput, "revisions must be .*got 0"),
        (JOINT, 0.1, InvalidInput, "revisions must be probabilities"),
    ],
)
def test_mistakes_are_named(rule, revisions, error, said):
    with pytest.raises(error, match=said):
        pt.analysis.over_revision(DOUBLE, rule, revisions)


def test_a_rule_without_noise_has_no_limit():
    with pytest.raises(NoLaw, match="no noise"):
        pt.analysis.over_revision(DOUBLE, pt.rule(who="independent", considers="all", chooses="best", revision=0.3))
