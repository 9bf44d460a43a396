"""Verdicts on made-up runs in which the truth is known: every branch, and runs that show nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import xarray

from potentia.experiments.coverage import RECORD, paper_game
from potentia.experiments.paper import case_claims, learner_claims
from potentia.experiments.paper.case_study import (
    ADAPTIVE,
    BLLL,
    DIMINISHING,
    HEARD,
    LEARNING,
    LONG,
    P_SBLLL,
    SHORT,
    CaseStudy,
    covered,
)
from potentia.experiments.paper.claims import NOT_SUPPORTED, SUPPORTED
from potentia.experiments.paper.scale import Scale
from potentia.experiments.reinforcement_study import SOQL, ql
from potentia.experiments.statistics import Estimate

GAME = paper_game()
RUNS = 12
TAUS = (0.001, 0.002, 0.005, 0.01)
BEST = 0.23


def some(low, high, mean=None, count=20):
    return Estimate((low + high) / 2 if mean is None else mean, low, high, count)


# Whole studies ----------------------------------------------------------------------------------------


def batch(
    level, rise=100.0, *, steps=SHORT, targets=3, found=None, rejected=0.5, moving=None, spread=0.001, seed=0, runs=RUNS
):
    """Runs that rise in a straight line to about ``level`` by about step ``rise``; trials are one per step."""
    random = np.random.default_rng(seed)
    times = np.arange(0, steps + 1, steps // 200)
    top = level + spread * random.standard_normal(runs)
    late = rise * random.uniform(0.9, 1.1, runs)
    worth = top[:, None] * np.minimum(1, (times + 1) / (late[:, None] + 1))
    held = np.broadcast_to(targets, runs)
    ever = np.broadcast_to(targets if found is None else found, runs)
    share = rejected + 0.01 * random.standard_normal((runs, 1))
    values = {
        "worth_sum": worth,
        "worth_union": worth,
        "moves": ((1 - share) if moving is None else moving + 0 * share) * times,
        "energy": times + np.zeros_like(worth),
        "taken": (1 - share) * times,
        "rejected": share * times,
        "cells_seen": 9.0 + np.minimum(times, 500) + np.zeros_like(worth),
        "targets_found": np.broadcast_to(ever[:, None], worth.shape).astype(float),
    }
    cells = [x + GAME.world.size[0] * y for x, y in GAME.world.targets]
    final = np.zeros((runs, GAME.num_players), int)  # all in a corner, but for those at targets
    for k, cell in enumerate(cells):
        final[held > k, k] = cell
    return xarray.Dataset(
        {name: (("seed", "time"), values[name]) for name in RECORD} | {"final": (("seed", "player"), final)},
        {"seed": np.arange(runs), "time": times},
    )


def study(**parts):
    """A study in which everything that the paper says is true, but for what is given."""

    def pair(seed, slow, fast, steps=SHORT):
        return {
            BLLL: batch(0.17, slow, steps=steps, targets=2, rejected=0.8, moving=0.5, seed=seed),
            P_SBLLL: batch(0.21, fast, steps=steps, rejected=0.4, moving=0.2, seed=seed + 1),
        }

    def late(level, rise, seed, **more):
        return batch(level, rise, steps=LEARNING, seed=seed, **more)

    whole = {
        "model": pair(1, 900, 300),
        "known": pair(3, 900, 300),
        "lasting": pair(5, 900, 300, LONG),
        "mixtures": {
            f"{name}{ending}": batch(0.17, seed=seed)
            for seed, ending in enumerate(("", f", {P_SBLLL}", f", {HEARD}"), 10)
            for name in ("EM_N", "EM_SM")
        },
        "learners": {
            SOQL: late(0.21, 9000, 20),
            **{name: late(0.03, 10, 21, targets=0) for name in DIMINISHING},
            ADAPTIVE: late(0.2, 9000, 22),
            **{ql(tau): late(0.16, 2000, 23 + k, targets=2) for k, tau in enumerate(TAUS)},
        },
        "tuning": {0.001: some(0.09, 0.11), 0.002: some(0.13, 0.15), 0.005: some(0.2, 0.21), 0.01: some(0.1, 0.12)},
        "four": {BLLL: late(0.17, 3000, 30), P_SBLLL: late(0.21, 1000, 31), SOQL: late(0.21, 9000, 32)},
    }
    for name, changes in parts.items():
        whole[name] = whole[name] | changes
    scale = Scale("small", RUNS, 5, 4, 1, 1, RUNS)
    optimum = SimpleNamespace(value=BEST, bound=BEST)
    return CaseStudy(scale, GAME, optimum, **whole, shown=0, finals={})


@pytest.fixture(scope="module")
def all_true():
    return {claim.name: claim for claim in case_claims.claims(study())}


def test_where_everything_is_true_every_claim_is_supported(all_true):
    assert len(all_true) == 12
    doubted = {name: claim.reason for name, claim in all_true.items() if claim.verdict != SUPPORTED}
    assert not doubted
    for claim in all_true.values():
        assert claim.kind == "experiment"
        assert claim.where.startswith("Section")
        assert any(character.isdigit() for character in claim.reason)
        assert "\n" not in claim.reason
        assert len(claim.reason) <= 180
        assert claim.reason[0].isupper()
        assert claim.evidence or claim.name == "all targets"
        assert json.loads(json.dumps(claim.to_dict()))["verdict"] == claim.verdict
    shown = [entry.published for entry in all_true["higher"].measured if entry.published is not None]
    assert shown == [0.1378, 0.1824]


def test_speed():
    swapped = study(model={BLLL: batch(0.21, 300, seed=1), P_SBLLL: batch(0.21, 900, seed=2)})
    assert case_claims.faster(swapped).verdict == NOT_SUPPORTED
    same = study(model={BLLL: batch(0.21, 500, seed=1), P_SBLLL: batch(0.21, 500, seed=2)})
    assert case_claims.faster(same).verdict == NOT_SUPPORTED
    assert case_claims.faster(same).reason.startswith("Undecided: 12 runs do not tell whether sooner or later to 90 %")
    assert case_claims.faster(swapped).reason.startswith("Later by ")
    # lower and sooner there: at 80 % of the optimum it never is
    mixed = study(model={BLLL: batch(0.21, 900, seed=1), P_SBLLL: batch(0.15, 300, seed=2)})
    claim = case_claims.faster(mixed)
    assert claim.verdict == "depends on how speed is counted"
    assert claim.reason.startswith("Sooner by ")
    assert "; later by " in claim.reason
    assert claim.reason.endswith(" steps to 80 % of the optimum")
    assert len(claim.evidence) == 4
    assert claim.evidence[3].startswith("To 80 % of the optimum: −")
    assert claim.evidence[3].endswith("]: later")
    assert [m.value for m in claim.measured if m.label == "P-SBLLL: never at 80 % of the optimum"] == ["12 of 12"]


def test_height():
    reversed_late = {BLLL: batch(0.22, steps=LONG, seed=1), P_SBLLL: batch(0.2, steps=LONG, seed=2)}
    late = {BLLL: batch(0.22, steps=LEARNING, seed=1), P_SBLLL: batch(0.2, steps=LEARNING, seed=2)}
    by_horizon = case_claims.higher(study(lasting=reversed_late, four=late))
    assert by_horizon.verdict == "depends on the horizon"
    assert re.fullmatch(
        r"Higher by 0\.03\d\d \[.*\] after 2,000 steps; lower by 0\.0\d* after 15,000 steps or more", by_horizon.reason
    )
    known = {BLLL: batch(0.22, seed=1), P_SBLLL: batch(0.2, seed=2)}
    by_map = study(known=known, lasting=reversed_late)
    assert case_claims.higher(by_map).verdict == "depends on whether the map is known"
    nowhere = study(model=known, known=known, lasting=reversed_late, four=late)
    assert case_claims.higher(nowhere).verdict == NOT_SUPPORTED
    noisy = {BLLL: batch(0.18, seed=1, spread=0.1), P_SBLLL: batch(0.19, seed=2, spread=0.1)}
    claim = case_claims.higher(study(model=noisy))
    assert claim.verdict == NOT_SUPPORTED
    assert claim.reason.startswith("Undecided: higher by ")
    assert "12 runs do not tell whether higher or lower with a learnt map, after 2,000 steps (" in claim.reason


@pytest.mark.parametrize(
    ("targets", "found", "wanted"),
    [
        (3, 3, SUPPORTED),
        (2, 3, "depends on whether found at some time or covered at the end is counted"),
        ([3] * 9 + [2] * 3, [3] * 9 + [2] * 3, "depends on the run"),
        ([3] + [2] * 11, [3] + [2] * 11, NOT_SUPPORTED),
    ],
)
def test_targets(targets, found, wanted):
    claim = case_claims.all_targets(study(model={P_SBLLL: batch(0.21, targets=targets, found=found)}))
    assert claim.verdict == wanted
    assert f"in {int((np.broadcast_to(targets, RUNS) == 3).sum())} of 12 runs" in claim.reason


def test_explorations():
    more = {BLLL: batch(0.2, 300, rejected=0.3, seed=1), P_SBLLL: batch(0.2, 900, rejected=0.6, seed=2)}
    claim = case_claims.fewer_explorations(study(model=more))
    assert claim.verdict == "depends on what is counted"  # more rejected trials, and so fewer moves
    assert "more by 100 % in rejected trials of all trials, and in 2 others" in claim.reason
    assert re.search(r"Fewer by \d+ % \[.*\] in moves per unit of ΣC", claim.reason)
    same = {BLLL: batch(0.2, rejected=0.5, seed=1), P_SBLLL: batch(0.2, rejected=0.5, seed=2)}
    assert case_claims.fewer_explorations(study(model=same)).verdict == NOT_SUPPORTED


def test_the_number_of_targets():
    worse = {"EM_SM": batch(0.14, seed=1)}
    assert case_claims.unknown_number(study(mixtures=worse)).verdict == "depends on the rule and who hears whom"
    everywhere = {f"EM_SM{ending}": batch(0.14, seed=1) for ending in ("", f", {P_SBLLL}", f", {HEARD}")}
    assert case_claims.unknown_number(study(mixtures=everywhere)).verdict == NOT_SUPPORTED
    better = case_claims.unknown_number(study(mixtures={"EM_SM": batch(0.19, seed=1)}))
    assert better.verdict == SUPPORTED
    assert better.evidence[-1].endswith("; EM_SM higher: BLLL")
    assert better.evidence[-1].startswith("Equivalent, that is the interval within ±5 %: P-SBLLL")
    # no difference in truth, and runs too noisy to say so: absence of evidence is not equivalence
    noisy = {
        f"{name}{ending}": batch(0.17, seed=k, spread=0.03)
        for k, name in enumerate(("EM_N", "EM_SM"))
        for ending in ("", f", {P_SBLLL}", f", {HEARD}")
    }
    claim = case_claims.unknown_number(study(mixtures=noisy))
    assert claim.verdict == NOT_SUPPORTED
    assert "12 runs do not tell whether as good within 5 % under " in claim.reason


# SOQL and QL ------------------------------------------------------------------------------------------


def late(level, rise=2000.0, **more):
    return batch(level, rise, steps=LEARNING, **more)


def test_the_step():
    same = {name: late(0.21, 9000, seed=7) for name in DIMINISHING}
    assert learner_claims.constant_step(study(learners=same)).verdict == NOT_SUPPORTED
    one = {DIMINISHING[0]: late(0.21, 3000)}
    assert learner_claims.constant_step(study(learners=one)).verdict == "depends on how the step diminishes"
    nobody = {name: late(0.03) for name in (SOQL, *DIMINISHING)}
    claim = learner_claims.constant_step(study(learners=nobody))
    assert claim.verdict == NOT_SUPPORTED
    assert claim.reason.endswith("; 0 of 12 runs come there, against 0 and 0")


def test_ql_by_temperature(all_true):
    good = study(learners={ql(0.005): late(0.22, 2000, seed=3)})
    claim = learner_claims.higher_than_ql(good)
    assert claim.verdict == "depends on QL's temperature"
    assert claim.reason.startswith("Higher at τ = 0.001 to 0.002 and 0.01, lower at τ = 0.005; ")
    assert "at QL's best, τ = 0.005, −0.0098 [" in claim.reason
    assert claim.evidence[2].startswith("τ = 0.005: −0.0098 [")
    best = study(learners={ql(tau): late(0.22, 2000, seed=3) for tau in TAUS})
    assert learner_claims.higher_than_ql(best).verdict == NOT_SUPPORTED
    slow = study(learners={ql(0.01): late(0.16, 14_000, seed=3)})
    assert learner_claims.slower_than_ql(slow).verdict == "depends on QL's temperature"
    never = study(learners={ql(0.01): late(0.1, 500, seed=3)})  # settles soon and is never at 0.15
    claim = learner_claims.slower_than_ql(never)
    assert claim.verdict == "depends on how speed is counted and QL's temperature"
    assert "first at ΣC = 0.15 later at τ = 0.001 to 0.005, sooner at τ = 0.01" in claim.reason
    assert all_true["slower than QL"].reason.startswith("Settles later at every τ; ")


def test_soql_against_rules_with_a_model():
    quick = study(four={SOQL: late(0.21, 500, seed=4)})
    assert learner_claims.slower_than(quick, BLLL).verdict == NOT_SUPPORTED
    assert learner_claims.slower_than(quick, BLLL).name == "slower than BLLL"
    low = study(four={SOQL: late(0.18, 9000, seed=4)}, learners={SOQL: late(0.18, 9000, seed=4)})
    claim = learner_claims.as_high_as_p_sblll(low)
    assert claim.verdict == NOT_SUPPORTED
    assert claim.reason.startswith("Not as high within 5 % as P-SBLLL after 15,000 steps (−0.0")
    lower_later = study(four={P_SBLLL: late(0.25, 1000, seed=4)})
    assert learner_claims.as_high_as_p_sblll(lower_later).verdict == "depends on how long P-SBLLL plays"
    noisy = {SOQL: late(0.21, 9000, seed=4, spread=0.05)}
    claim = learner_claims.as_high_as_p_sblll(study(four=noisy, learners=noisy))
    assert claim.verdict == NOT_SUPPORTED
    assert claim.reason.startswith("Undecided: 12 runs do not tell whether as high within 5 % as P-SBLLL after 15,000")


def test_targets_that_ql_misses():
    many = {SOQL: late(0.21, 9000, runs=40), **{ql(tau): late(0.16, targets=2, runs=40) for tau in TAUS}}
    wanders = late(0.16, targets=2, found=3, runs=40)
    claim = learner_claims.ql_misses_targets(study(learners=many | {ql(0.01): wanders}))
    assert claim.verdict == "depends on what is counted and QL's temperature"
    assert "all found at some time more often at τ = 0.001 to 0.005, unclear elsewhere" in claim.reason
    assert [entry.label for entry in claim.measured[:2]] == [
        "SOQL: all covered at the end",
        "QL, τ = 0.002 (QL's worth nearest to the published one): all covered at the end",
    ]
    finds = study(learners={ql(tau): late(0.16, targets=3) for tau in TAUS})
    assert learner_claims.ql_misses_targets(finds).verdict == NOT_SUPPORTED
    better = study(learners={SOQL: late(0.21, targets=1), ql(0.005): late(0.2, targets=3)})
    assert "less often at τ = 0.005" in learner_claims.ql_misses_targets(better).reason


def test_runs_that_differ_by_chance_alone_support_hardly_anything():
    """Every algorithm the same law: a claim is supported, or depends, in 1 of 20 studies at most."""
    said, asked = 0, (case_claims.faster, case_claims.higher, learner_claims.higher_than_ql)
    for k in range(20):
        model = {name: batch(0.2, 500, seed=100 + 2 * k + j, spread=0.02) for j, name in enumerate((BLLL, P_SBLLL))}
        learnt = {name: late(0.2, seed=200 + 10 * k + j) for j, name in enumerate((SOQL, *map(ql, TAUS)))}
        chance = study(model=model, known=model, lasting=model, four=model, learners=learnt)
        said += sum(claim(chance).verdict != NOT_SUPPORTED for claim in asked)
    assert said <= 9  # of 60: at most 3 expected, sd 1.7


def test_one_run_decides_nothing_and_still_makes_tables():
    one = study()
    alone = {
        part: {name: data.isel(seed=[0]) for name, data in getattr(one, part).items()}
        for part in ("model", "known", "lasting", "mixtures", "learners", "four")
    }
    single = replace(one, **alone)
    found = {claim.name: claim for claim in case_claims.claims(single)}
    assert {claim.verdict for name, claim in found.items() if name != "all targets"} == {NOT_SUPPORTED}
    assert found["faster"].reason.startswith("Undecided: 1 run does not tell whether sooner or later")
    assert not any("nan" in text for claim in found.values() for text in (claim.reason, *claim.evidence))
    assert case_claims.tables(single)["model"][0]["first_runs"] == 1


def test_tables():
    whole = study()
    rows = {part: {row.get("algorithm"): row for row in of} for part, of in case_claims.tables(whole).items()}
    assert set(rows) == {"model", "known", "lasting", "mixtures", "learners", "four", "temperatures"}
    row, worth = rows["model"][BLLL], covered(whole.model[BLLL])
    assert (row["published_mean"], row["published_low"], row["published_high"]) == (0.1378, 0.1185, 0.1561)
    assert (row["published_settles"], row["first_runs"], row["runs"], row["steps"]) == (680, 10, RUNS, SHORT)
    assert row["first"] == pytest.approx(worth[:10].mean())
    assert (row["low"], row["high"]) == (worth.min(), worth.max())
    assert row["share"].mean == pytest.approx(worth.mean() / BEST)
    assert (row["targets_held"].mean, row["all_held"].mean) == (2, 0)
    assert 700 < row["settles"].mean < 1200
    assert rows["known"][BLLL]["published_mean"] is None
    assert rows["learners"][ql(0.005)]["first_runs"] == 5
    assert rows["mixtures"]["EM_N"]["published_mean"] == 0.1258
    assert rows["mixtures"][f"EM_N, {HEARD}"]["published_mean"] is None
    marked = {row["tau"]: (row["best"], row["nearest"]) for row in case_claims.tables(whole)["temperatures"]}
    assert marked[0.005] == (True, False)
    assert marked[0.002] == (False, True)
