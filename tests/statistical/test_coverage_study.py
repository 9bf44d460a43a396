"""What the case study comes to: the paper's set-up, and shares of the certified optimum."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

import potentia as pt
from potentia.paper import coverage_study as study
from potentia.paper.kept import Kept
from potentia.paper.played import batches
from potentia.paper.scale import FULL
from potentia.statistics.estimates import estimate
from potentia.studies.coverage import cover, paper_game, paper_rules, summarise
from potentia.studies.coverage_ends import complete, typical

GUARDED = "P-SBLLL, guarded"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return Kept(tmp_path_factory.mktemp("studies"), FULL, workers=2)


@pytest.fixture(scope="module")
def published(kept):
    return {row.name: row for row in study.as_published(kept.batches("known"))}


def shares(kept, game, entry, *names):
    one = batches()[entry]
    return study.shares(game, kept.batches(evolve(one, rules={name: one.rules[name] for name in names})))


def test_p_sblll_covers_more_than_was_published_and_sooner_than_blll(published):
    joint = published["P-SBLLL"]
    assert joint.covered.worth_sum.mean >= 0.195
    assert joint.covered.worth_sum.low > 0.1928  # the best run that was published
    assert joint.sooner.high < 0
    assert joint.covered.runs == 100
    assert published["BLLL"].sooner is None
    assert joint.covered.worth_sum.low > published["BLLL"].covered.worth_sum.high


def test_no_share_exceeds_the_optimum(published):
    for row in published.values():
        assert row.covered.share.high < 1
        assert row.covered.targets_found.mean <= 3


def test_five_robots_on_the_paper_world(kept):
    """The share of the certified optimum, with the default schedule; joint trials are the negative control."""
    game = pt.games.Coverage(pt.games.paper_world(), 5, flags=False)
    found = shares(kept, game, "annealed 5", GUARDED, "P-SBLLL")
    assert found[GUARDED].low >= 0.97
    assert found["P-SBLLL"].high < 0.97


@pytest.mark.long
def test_twenty_robots_and_random_worlds(kept):
    game = pt.games.Coverage(pt.games.paper_world(), 20, flags=False)
    assert shares(kept, game, "annealed 20", GUARDED)[GUARDED].low >= 0.985
    worlds = [pt.games.Coverage(pt.games.random_world(k), 5, flags=False) for k in study.WORLDS]
    for steps, least in ((20_000, 0.955), (100_000, 0.975)):
        found = [shares(kept, game, f"annealed world {k}, {steps}", GUARDED) for k, game in enumerate(worlds)]
        assert study.over_worlds(found, GUARDED)[0] >= least


def test_a_summary_is_what_the_records_say():
    game, rules = paper_game(robots=3), paper_rules()
    data = cover(game, rules, 600, range(6))
    assert list(data) == ["blll", "p-sblll"]
    np.testing.assert_array_equal(data["blll"].worth_sum[:, 0], data["p-sblll"].worth_sum[:, 0])  # the same starts
    batch = data["p-sblll"]
    found = summarise(batch, 0.5)
    tail = batch.worth_union.values[:, -200:].mean(axis=1)
    wanted = estimate(tail)
    for end in ("mean", "low", "high"):
        assert getattr(found.worth_union, end) == pytest.approx(getattr(wanted, end), rel=1e-12)
    assert found.share.mean == pytest.approx(tail.mean() / 0.5)
    assert found.moves.mean == pytest.approx(float(batch.taken[:, -1].mean()))
    assert 0 < found.rejected < 1
    assert sorted(tail)[2] == pytest.approx(tail[list(batch.seed.values).index(typical(batch))])
    assert complete(batch).sizes["seed"] == 6


def test_a_study_needs_a_coverage_game():
    with pytest.raises(pt.errors.InvalidRun, match="needs a Coverage game, got Coordination"):
        cover(pt.game("ring", players=4), paper_rules(), 10, [0])
