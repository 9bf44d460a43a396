"""The case study from the first run to the verdicts, at a very small scale."""

from __future__ import annotations

import numpy as np
import pytest

from potentia.paper import case_learner_claims as learner_claims
from potentia.paper import case_study, played
from potentia.paper.case_claims import claims, tables, worth_after
from potentia.paper.case_study import BLLL, LEARNING, LONG, OFFSETS, P_SBLLL, PLAIN, SHORT, covered, offset_step
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, UNDECIDED
from potentia.paper.kept import Kept
from potentia.paper.reinforcement_study import GRID, SOQL, ql
from potentia.paper.scale import QUICK, Scale
from potentia.rules.steps import step_size
from potentia.statistics.estimates import estimate
from potentia.studies.coverage_ends import typical

pytestmark = pytest.mark.xdist_group("case study")  # one worker makes what they share

SMALL = Scale("small", runs=4, as_printed=3, tuning=2, games=1, learners=1, long=3, heard=2, literal=2)


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def kept(told, tmp_path_factory):
    return Kept(tmp_path_factory.mktemp("studies"), SMALL, workers=2, tell=told.append)


@pytest.fixture(scope="module")
def study(kept):
    """Robots that know the map everywhere: beliefs take a minute to compile, and add nothing to the structure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(played, "published_beliefs", dict)
        patch.setattr(played, "Mixture", lambda *args, **more: None)
        patch.setattr(played, "SplitMerge", lambda *args, **more: None)
        patch.setattr(played, "literal", lambda rule: None)
        return case_study.play(kept)


def test_everything_is_played_with_the_same_seeds_from_the_same_starts(study, told):
    assert len(told) == len(set(told)) >= 5
    for part, steps in (("model", SHORT), ("known", SHORT), ("lasting", LONG), ("heard", SHORT), ("mixtures", SHORT)):
        for data in getattr(study, part).values():
            assert data.time.values[-1] == steps
            assert data.sizes["time"] <= 2001
            assert data.seed.values.tolist() == [0, 1, 2, 3]
            np.testing.assert_array_equal(data.worth_sum[:, 0], study.model[BLLL].worth_sum[:, 0])
    for data, steps in ((study.heard_long[BLLL], LEARNING), (study.literal[P_SBLLL], SHORT)):
        assert (data.time.values[-1], data.seed.values.tolist()) == (steps, [0, 1])
        np.testing.assert_array_equal(data.worth_sum[:, 0], study.model[BLLL].worth_sum[:2, 0])
    assert study.heard[P_SBLLL] is study.model[P_SBLLL]
    for name, data in study.learners.items():
        assert data.time.values[-1] == LEARNING, name
        np.testing.assert_array_equal(data.worth_sum[:, 0], study.model[BLLL].worth_sum[:, 0])
    assert list(study.tuning) == list(GRID)
    assert {worth.count for worth in study.tuning.values()} == {2}
    assert study.optimum.value == pytest.approx(0.2309, abs=1e-4)
    assert all(data.worth_union.max() <= study.optimum.bound + 1e-12 for data in study.known.values())


def test_a_longer_run_is_a_shorter_one_continued(study):
    both = study.lasting[P_SBLLL].sel(time=slice(0, SHORT))
    np.testing.assert_array_equal(both.worth_sum, study.known[P_SBLLL].worth_sum.sel(time=both.time))


def test_the_four_and_the_run_that_is_shown(study):
    assert {data.sizes["seed"] for data in study.four.values()} == {3}
    shown = {ql(study.nearest_tau), ql(study.best_tau)}
    assert set(study.four) == set(study.finals) == {BLLL, P_SBLLL, SOQL} | shown
    assert study.shown == typical(*study.four.values())
    for name, profiles in study.finals.items():
        np.testing.assert_array_equal(profiles[0], study.finals[BLLL][0])
        batch = (study.model if name in study.model else study.learners)[name]
        np.testing.assert_array_equal(profiles[-1], batch.final.values[study.shown])
        assert len(profiles) <= 2001
        made = study.recordings[name]
        np.testing.assert_array_equal(made.profile(made.steps), profiles[-1])
        assert (made.header["seed"], made.header["every"], made.header["label"]) == (study.shown, 1, name)


def test_verdicts_and_tables(study):
    found = claims(study)
    assert len({claim.name for claim in found}) == 12
    for claim in found:
        assert claim.verdict in (SUPPORTED, NOT_SUPPORTED, UNDECIDED) or claim.verdict.startswith(DEPENDS + " ")
        assert claim.measured
        assert "nan" not in claim.reason
    rows = tables(study)
    assert [row["algorithm"] for row in rows["model"]] == [BLLL, P_SBLLL]
    assert rows["learners"][0]["worth"] == estimate(covered(study.learners[SOQL]))
    assert len(rows["temperatures"]) == len(GRID)


def test_what_is_the_same_twice_is_called_as_good(study):
    """With the map known EM_N and EM_SM are one algorithm: their difference is 0 in every run."""
    claim = next(claim for claim in claims(study) if claim.name == "unknown number")
    assert claim.verdict == SUPPORTED
    assert claim.reason == "As good within 5 % under BLLL (+0.0000 [+0.0000, +0.0000]), and in every other set-up"


def test_steps_with_an_offset_begin_as_published_and_diminish_as_they_must():
    for name, form in OFFSETS.items():
        step = offset_step(*form)
        assert step_size(step.data(), 1) == pytest.approx(0.97)
        assert step.endless
        assert step.square_summable
        assert step_size(step.data(), LEARNING) < 0.97
        assert learner_claims.squares(name) > 1600 > 100 * learner_claims.squares(PLAIN[0])
    assert learner_claims.squares(SOQL) == pytest.approx(0.97**2 * LEARNING)
    assert learner_claims.squares(PLAIN[0]) == pytest.approx(np.pi**2 / 6, abs=1e-4)


def test_worth_at_an_equal_number_of_trials(study):
    data = study.model[BLLL]
    early = worth_after(data, 400)
    assert np.ptp((data.taken + data.rejected).values[:, -1]) == 0  # BLLL makes one trial at a step
    np.testing.assert_allclose(early, data.worth_sum.sel(time=400))
    twice = data.assign(taken=2 * data.taken, rejected=2 * data.rejected)
    np.testing.assert_allclose(worth_after(twice, 800), early)
    np.testing.assert_allclose(worth_after(data, 10 * SHORT), data.worth_sum.values[:, -1])


@pytest.mark.long
def test_as_published(tmp_path):
    """With beliefs, at the scale of a first look."""
    study = case_study.play(Kept(tmp_path, QUICK, workers=2))
    found = {claim.name: claim for claim in claims(study)}
    assert not np.array_equal(study.model[BLLL].worth_sum, study.known[BLLL].worth_sum)
    assert not np.array_equal(study.model[BLLL].worth_sum, study.heard[BLLL].worth_sum)
    assert covered(study.literal[P_SBLLL]).mean() < 0.5 * covered(study.model[P_SBLLL]).mean()
    assert found["slower than P-SBLLL"].verdict == SUPPORTED
    assert found["faster"].verdict == SUPPORTED
    assert found["constant step"].verdict == f"{DEPENDS} how the step diminishes"
    assert found["higher"].verdict == f"{DEPENDS} the horizon"
    assert found["higher than QL"].verdict == f"{DEPENDS} QL's temperature"
    assert found["all targets"].verdict == f"{DEPENDS} the run"
