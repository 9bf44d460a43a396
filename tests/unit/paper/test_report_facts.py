"""What paragraphs of the report tell beside the verdicts: computed, and nothing where nothing was played."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import attrs
import numpy as np
import pytest

from potentia.games import NormalForm
from potentia.paper import readings, stability_claims
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.paper.report import Report, choosing, facts, render, scores
from potentia.paper.report.answering import answer, lead
from potentia.paper.report.wording import texts
from potentia.paper.report.words import in_one_sentence, shown
from potentia.statistics.estimates import Estimate
from tests import reproduction_fakes as fakes


def row(name, worth, settles=None, bounds=None):
    low, high = bounds or (None, None)
    out = {"algorithm": name, "worth": Estimate(worth, worth, worth, 9), "published_low": low, "published_high": high}
    out["published_mean"] = None if bounds is None else (low + high) / 2
    return out | ({} if settles is None else {"settles": Estimate(settles, settles, settles, 9)})


def test_levels_outside_the_published_bounds_are_said():
    above, within = row("BLLL", 0.17, bounds=(0.12, 0.16)), row("P-SBLLL", 0.18, bounds=(0.16, 0.19))
    rows = {"model": [above, within], "literal": [row("BLLL", 0.051), row("P-SBLLL", 0.0486)]}
    said = facts.levels(rows)
    assert "BLLL covers 0.170 where 0.140 was published (0.120 to 0.160)" in said
    assert "P-SBLLL" not in said
    letter = facts._letter(rows)
    assert "only 27 to 30 % of our values: BLLL covers 0.051 instead of 0.170 and P-SBLLL covers 0.049" in letter
    assert facts.levels({"model": [within]}) == facts.levels({}) == ""


def test_settling_is_told_of_both_horizons():
    words = texts()["facts"]["longer"]
    rows = {"model": [row("BLLL", 0.1, 1060)], "four": [row("BLLL", 0.2, 4764)]}
    assert "it settles at step 4,764, and at 1,060 when 2,000 steps are played" in facts._longer(rows, words)
    assert facts._longer({"four": rows["four"]}, words) == ""


@pytest.mark.parametrize(("steps", "agree"), [((4800, 2366), False), ((1900, 9000), True)])
def test_no_temperature_need_match_both_published_numbers(steps, agree):
    learners = [
        row("SOQL", 0.2, 1),
        *(row(f"QL, τ = {tau}", w, s) for tau, w, s in zip((0.002, 0.005), (0.14, 0.2), steps, strict=True)),
    ]
    said = facts._match({"learners": learners}, texts()["facts"]["match"])
    assert "τ = 0.002 is nearest to the published worth" in said
    assert ("No temperature is nearest to both" in said) != agree
    assert facts._match({}, texts()["facts"]["match"]) == ""
    tuned = [{"tau": 0.002, "nearest": False}, {"tau": 0.005, "nearest": True}]  # which is also what is drawn
    said = facts._match({"learners": learners, "temperatures": tuned}, texts()["facts"]["match"])
    assert "τ = 0.005 is nearest to the published worth" in said


def test_who_hears_whom_has_the_numbers_of_the_claim():
    where = "P-SBLLL higher by, where the map is learnt, 2,000 steps, "
    labels = ("in the published set-up", "everybody hears everybody", "everybody hears everybody, each cell once")
    measured = [Measurement(where + label, Estimate(0.04 / k, -0.01, 0.05, 9)) for k, label in enumerate(labels, 1)]
    higher = Claim("higher", "experiment", "x", "y", measured, SUPPORTED, "z")
    said = facts._farther([higher], texts()["facts"]["farther"])
    assert "ahead by +0.0400 [−0.0100, +0.0500], but" in said
    assert "+0.0133 [−0.0100, +0.0500] counting each cell once" in said
    assert facts._farther([attrs.evolve(higher, measured=measured[:1])], texts()["facts"]["farther"]) == ""


def test_double_step_is_outside_the_theorem():
    """Its players do not get the same, and one gains more by another's move than that one."""
    said = facts._assumption_4(texts()["facts"]["double"])
    assert "violates Assumption 4 as printed and as explained" in said
    assert "not against the general theorem" in said


def test_what_soql_does_is_counted_from_the_run():
    told = scores.facts()
    best = scores.watched()["SOQL"].strategy.values[:, scores.PLAYER].argmax(axis=1)
    assert told["soql_changes"] == (best[1:] != best[:-1]).sum() > 1  # it does not stay with its first
    assert best[told["soql_when"]] != best[told["soql_when"] - 1]
    assert (best[told["soql_when"] :] == best[-1]).all()


def read(four, five, kept):
    return readings.Reading(four, five, 99, 50, kept, None, 0, None)


@pytest.mark.parametrize(
    ("kept", "verdict"),
    [
        ((50, 50, 50, 50), SUPPORTED),
        ((0, 1, 2, 3), NOT_SUPPORTED),
        ((50, 33, 50, 33), f"{DEPENDS} the reading of Assumption 5"),
        ((50, 50, 37, 28), f"{DEPENDS} the reading of Assumption 4"),
        ((50, 33, 37, 28), f"{DEPENDS} the readings of Assumptions 4 and 5"),
    ],
)
def test_the_theorem_depends_on_the_assumptions_along_which_it_changes(kept, verdict):
    pairs = [(four, five) for four in readings.WORDS_4 for five in readings.EXPLAINED]
    found = [read(*pair, one) for pair, one in zip(pairs, kept, strict=True)]
    assert stability_claims._verdict(found) == verdict


def test_readings_that_break_the_theorem_are_counted():
    kept = iter((50, 33, 37, 28))  # any equilibrium meant, then the nearest
    found = [read(four, five, next(kept)) for four in ("printed", "increase") for five in readings.EXPLAINED]
    said = stability_claims._divided([*found, read("printed", "nothing", 0)])  # which is no reading
    assert said == (
        "Assumption 5 has no single meaning: of 2 readings 1 breaks the theorem with 4 as printed (17 of 50 games), "
        "2 with 4 as explained (13 to 22 of 50)"
    )
    assert "2 readings 0 break the theorem with 4 as printed" in stability_claims._divided([found[0], found[0]])
    fewer = dataclasses.replace(found[1], looked_at=40, kept=38)
    assert stability_claims._lost([found[1], fewer], " games") == " (5 % to 34 % of games)"


def test_a_counterexample_says_how_play_leaves():
    """Both try at once, one goes: with utilities [[0, 1], [1, 1]] at no cost."""
    phi = np.array([[0.0, 1.0], [1.0, 1.0]])
    said, _ = stability_claims._general_counterexample(
        dataclasses.replace(read("printed", "nothing", 31), counterexample=NormalForm([phi, phi], potential=phi))
    )
    assert "Players 0 and 1 wake at (0, 1). Together they try (1, 0). Player 0 compares 1 with 1 and stays" in said
    assert "Play goes from (0, 1) to (0, 0) at resistance 0. There Φ is 0." in said


def test_the_lead_says_where_faster_is_clear_and_what_fails():
    words = {"published": "where the map is learnt, in the published set-up", "known": "where the map is known"}
    labels = [f"P-SBLLL sooner by, {where}: {how}" for where in words.values() for how in ("one way", "another")]
    values = [Estimate(9.0, low, 20.0, 9) for low in (1.0, 2.0, -1.0, 1.0)]
    measured = [Measurement(*pair) for pair in zip(labels, values, strict=True)]
    faster = Claim("faster", "experiment", "x", "y", measured, SUPPORTED, "z")
    rows = [
        {"monotone": name, "kept": kept, "looked_at": 9} for name, kept in (("nothing", 1), ("actions", 9), ("x", 8))
    ]
    general = Claim("general", "theory", "x", "y", (), NOT_SUPPORTED, "z", details={"readings": rows})
    said = lead([faster, general])
    assert "also hears farther; with the field known 1 of 2 comparisons are undecided." in said[1]
    assert said[2].endswith("breaks under 1 of the 2 readings of its assumptions that were tried.")
    robots = [attrs.evolve(general, name=f"coverage-{name}", details={}) for name in ("potential", "separable")]
    assert said[2][:-1] + texts()["first"]["robots"] + "." == lead([general, *robots])[-1]
    assert len(lead([attrs.evolve(faster, measured=measured[2:])])) == 2  # nothing is said of what is not clear
    assert "hears" not in " ".join(lead([attrs.evolve(faster, measured=measured[1:2])]))


def test_what_is_true_of_some_runs_is_not_always_so():
    some = Claim("all targets", "experiment", "x", "y", (), f"{DEPENDS} the run: 14 of 20 do", "z")
    assert shown(some.verdict) == "not always: 14 of 20 runs do"
    assert shown(SUPPORTED) == SUPPORTED
    assert answer([some])[0] == "It does not always hold that robots with P-SBLLL find all targets: 14 of 20 runs do."


def test_advice_says_what_was_played_and_what_is_missed():
    often = Measurement("P-SBLLL, 2,000 steps: all covered at the end", Estimate(0.7, 0.5, 0.9, 20))
    targets = Claim("all targets", "experiment", "x", "y", (often,), SUPPORTED, "z")
    flags = Claim("coverage-potential", "theory", "x", "y", (), NOT_SUPPORTED, "z", details={"flagged": {"cycle": 6.0}})
    said = choosing.advice(fakes.study(), [targets, flags])
    assert said["advice"].startswith("If the field is not known, use P-SBLLL for 2,000 steps; for 15,000 steps")
    assert "equally good, as far as the runs tell. Of 20 runs of P-SBLLL, 6 still miss a target." in said["advice"]
    known = "If the field is known, use P-SBLLL. “Ours” means that it is not the paper's."
    assert said["field"] == known  # of those best at first, what lasts
    assert "No promise covers the coverage game with flags" in said["none"]
    assert choosing.advice(SimpleNamespace(), []) == dict.fromkeys(said, "")


def test_a_misprint_is_counted_as_one():
    general = fakes.claims()[2]
    slip = attrs.evolve(general, name="stable-state", title="Misprint: a state is defined")
    assert in_one_sentence([general, slip]) == "Of 2 claims, 2 are not supported (1 of them a misprint)."
    assert "a misprint" in answer([slip])[0]
    assert "a misprint" not in answer([general])[0]
    assert "a misprint" in render(Report("x", (), {}, [slip])).split('id="claim-stable-state"')[1]


def test_the_rules_for_verdicts_stand_before_the_claims():
    text = fakes.built()[3]
    rules = text.index('<h2 id="verdicts"')
    assert text.index('id="contents"') < rules < text.index('class="told"')
    assert 'href="#verdicts"' in text.split('<h2 id="claims"')[1]
    assert 'id="verdicts"' not in render(Report("x", (), {}))  # a page without claims needs none
