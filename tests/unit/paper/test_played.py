"""The list of what is played, where it is kept, and the pages that are made from it."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import xarray
from attrs import evolve

import potentia as pt
from potentia.errors import InvalidInput
from potentia.paper import case_tables, kept, played, stability_claims
from potentia.paper.case_study import CaseStudy
from potentia.paper.choosing import SECTIONS, choose
from potentia.paper.claims import Claim, Measurement
from potentia.paper.kept import Kept
from potentia.paper.reinforcement_study import SOQL, compare, ql
from potentia.paper.report import sections
from potentia.paper.scale import FULL, QUICK
from potentia.statistics.estimates import Estimate
from potentia.studies import chunks
from potentia.studies.coverage import paper_game, summarise
from potentia.studies.planning import plan

DOCS = Path(__file__).parents[3] / "docs"
SMALL = replace(QUICK, runs=3, tuning=2, long=2)


# The list ---------------------------------------------------------------------------------------------


def test_entries_are_studies_of_the_same_games_rules_and_beliefs():
    listed = played.batches()
    for name in ("model", "known", "learners", "literal", "numbered", "annealed world 3, 20000", "learning"):
        one, seen = listed[name], []
        for specification in one.specifications(QUICK):
            for point, table in zip(plan(specification).points, specification.rule, strict=True):
                label, belief = table["label"], one.beliefs.get(table["label"])
                assert point.rule.spec() == one.rules[label].spec()
                assert (point.belief and point.belief.spec()) == (belief and belief.spec())
                assert point.game.fingerprint() == paper_game().fingerprint() or "world" in name
                seen.append(label)
            assert (specification.steps, specification.spacing) == (one.steps, one.every)
        assert sorted(seen) == sorted(one.rules)


def test_seeds_follow_the_scale_and_tuning_has_its_own():
    listed, other = played.batches(), replace(FULL, seed=5000)
    for name, count in (("known", 100), ("four", 100), ("literal", 20), ("heard long", 100)):
        assert listed[name].seeds(FULL) == range(count)
        assert listed[name].seeds(other) == range(5000, 5000 + count)
    assert listed["tuning"].seeds(QUICK) == range(1000, 1010)
    assert listed["tuning"].seeds(other) == range(6000, 6020)


# What is kept -----------------------------------------------------------------------------------------


@pytest.fixture
def short():
    return evolve(played.batches()["known"], name="short", steps=40)


@pytest.fixture
def counted(monkeypatch):
    tasks = []
    monkeypatch.setattr(chunks, "play", lambda task, real=chunks.play: tasks.append(task) or real(task))
    return tasks


def test_batches_are_those_of_run_batch_and_are_played_once(tmp_path, short, counted):
    found = Kept(tmp_path, SMALL).batches(short)
    assert len(counted) == len(short.rules)
    again = Kept(tmp_path, SMALL, workers=2).batches(short)
    assert len(counted) == len(short.rules)
    for name, rule in short.rules.items():
        direct = pt.run_batch(paper_game(), rule, 40, range(3), record=short.record)
        for data in (found[name], again[name]):
            xarray.testing.assert_identical(data.transpose(*direct.dims), direct)


def test_other_code_other_seeds_and_damaged_runs_are_played_again(tmp_path, short, counted, monkeypatch):
    one = evolve(short, rules={"BLLL": short.rules["BLLL"]})
    Kept(tmp_path, SMALL).batches(one)
    assert not Kept(tmp_path, SMALL).missing(one)
    assert Kept(tmp_path, replace(SMALL, seed=1)).missing(one)
    (file,) = tmp_path.glob("short-*/chunks/*.npz")
    file.write_bytes(b"damaged")
    Kept(tmp_path, SMALL).batches(one)
    assert len(counted) == 2
    monkeypatch.setattr(kept, "source_hash", lambda: "edited")
    assert Kept(tmp_path, SMALL).missing(one)


def test_other_results_are_made_once_by_their_content(tmp_path):
    made = []

    def result(of):
        return Kept(tmp_path, SMALL).result("claims", "faster", of, lambda: made.append(of) or str(of).encode())

    path = result(1)
    assert [result(2).read_bytes(), result(1)] == [b"2", path]
    assert (made, path.read_bytes()) == ([1, 2], b"1")
    path.write_bytes(b"damaged")
    assert (result(1).read_bytes(), made) == (b"1", [1, 2, 1])


def test_a_claim_is_the_same_when_it_is_read():
    measured = (Measurement("steps", Estimate(1.0, float("nan"), 2.0, 3), 4.0, "steps"), Measurement("games", 5))
    details = {"potential": np.array([[0.5, np.inf]]), "profile": (0, 1), "share": Estimate(0.1, 0.0, 0.2, 9)}
    one = Claim("a", "theory", "title", "Eq. 1", measured, "supported", "so", ("line",), "counter", details)
    again = Claim.from_json(one.to_json())
    assert repr(again.measured) == repr(one.measured)
    assert again.details == {"potential": [[0.5, np.inf]], "profile": [0, 1], "share": details["share"]}
    assert Claim.from_json(again.to_json()).to_json() == again.to_json() == one.to_json()
    assert again.evidence == one.evidence


# Part of it -------------------------------------------------------------------------------------------


def test_a_figure_a_section_or_a_claim_alone():
    everything = choose()
    drawn = [draw.__name__ for draw in sections._DRAWN]
    assert everything.sections == tuple(SECTIONS) == tuple(name for name in drawn if name not in sections._WITH)
    assert len(everything.experiments) == 12
    assert len(everything.theorems) == 16
    for asked in ("Fig. 8", "fig 8", "8", "FIGURE 8", "learners"):
        chosen = choose(asked)
        assert chosen.sections == ("learners",)
        assert chosen.parts == ("learners", "tuning")
        assert set(chosen.experiments) == {"constant step", "higher than QL", "slower than QL"}
        assert not chosen.theorems
    assert choose("Fig. 1").theorems == choose("theory").theorems == everything.theorems
    assert choose("Fig. 9") == evolve(choose("Fig. 6"), asked="Fig. 9")
    assert choose("Slower than  QL") == evolve(choose("slower than QL"), asked="Slower than  QL")
    assert (choose("general").sections, choose("general").theorems) == ((), ("general",))
    told = r"^only must be a figure \(Fig\. 1, .* and Fig\. 10\), a section .* or a claim .*, got 'fastr'; did you mean"
    for wrong in ("fastr", "Fig. 4", "", "Fig."):
        with pytest.raises(InvalidInput, match=told if wrong == "fastr" else "only must be a figure") as error:
            choose(wrong)
        assert error.value.parameter == "only"


# Pages agree ------------------------------------------------------------------------------------------


def test_docs_report_and_cover_tell_the_same_of_the_same_runs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    made, scores = import_module("make"), import_module("make_scores")
    monkeypatch.setattr(played, "LEARNING", 400)
    monkeypatch.setattr(played, "SHORT", 300)
    study = CaseStudy(Kept(tmp_path, SMALL))
    known, learnt = study.known, {name: study.learners[name] for name in (SOQL, ql(0.005))}
    rows = {part: {row["algorithm"]: row for row in of} for part, of in case_tables.tables(study).items()}
    told = scores.table_of_learners(learnt)
    for found in compare(learnt):
        row = rows["learners"][found.name]
        assert (row["worth"], row["settles"], row["targets_held"]) == (found.worth, found.settled, found.targets)
        assert f"| {found.name} | {scores.signed(row['worth'], '.4f')} |" in told
        assert f" | {row['settles'].mean:,.0f} | " in told
    told = made.table_as_published(known)
    for name, data in known.items():
        row, found = rows["known"][name], summarise(data, study.optimum.bound)
        assert f"| {name} | {row['worth']} | " in told
        assert (found.worth_sum, found.settled, found.share.mean) == (
            row["worth"],
            row["settles"],
            pytest.approx(row["share"].mean),
        )


def test_docs_and_report_have_the_same_random_games(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    made, few = import_module("make"), replace(FULL, games=3)
    monkeypatch.setattr(made, "FULL", few)
    told = made.table_of_shares()
    control = "control, games that are not separable: "
    found = [one for one in stability_claims.separable_proposition(few).measured if one.label.startswith(control)]
    assert len(found) == 4
    for one in found:
        assert f"| any potential game | {one.label.removeprefix(control)} | {one.value.mean:.1%} | " in told
    assert "3 random games each" in told


def test_what_the_docs_play_of_it_is_in_the_list():
    listed = played.batches()
    for name in ("make.py", "make_scores.py"):
        source = (DOCS / name).read_text("utf-8")
        assert "run_batch(" not in source
        asked = re.findall(r'batches\(f?"([^"]+)"\)', source)
        assert asked
        for entry in asked:
            pattern = re.sub(r"\\{\w+\\}", ".+", re.escape(entry))
            assert any(re.fullmatch(pattern, one) for one in listed), entry
