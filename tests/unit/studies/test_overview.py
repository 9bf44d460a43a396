"""What ``show`` says of a study: no more is computed than is told, and p-values are corrected for what is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from potentia.statistics.curves import seeds_of
from potentia.statistics.estimates import bootstrap_mean
from potentia.studies import results as module
from potentia.studies.lines import curves_of, incomplete
from potentia.studies.results import overview
from potentia.studies.sweeping import sweep
from potentia.studies.views import against, beyond, goals
from tests.studies import STUDY, chunk_files


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Eight points, one rule: seven can be compared with the first."""
    rule = {"name": "lll", "tau": {"from": 0.1, "to": 0.8, "count": 8}}
    return sweep(STUDY | {"game": {"name": "ring", "players": 4}, "rule": rule}, tmp_path_factory.mktemp("wide") / "s")


def test_only_what_is_told_is_computed(wide, monkeypatch):
    compared, real = [], module.compared
    monkeypatch.setattr(module, "compared", lambda *args: compared.append(args) or real(*args))
    few, everything = overview(wide, most=3), overview(wide)
    assert len(compared) == 3 + 7
    assert (len(few.levels), len(few.comparisons), few.pairs) == (3, 3, 7)
    assert few.rows == everything.rows[:3]
    assert "5 more points in overview(study)" in few.note
    assert "overview(study) has 4 more and corrects for all" in few.compared_note
    assert "more" not in everything.note + everything.compared_note
    assert [c.adjusted for c in few.comparisons] == module.holm([c.p_value for c in few.comparisons]).tolist()


def test_different_games_are_not_compared(tmp_path):
    sizes = STUDY | {"game": {"name": "ring", "players": [4, 6]}}
    told = overview(sweep(sizes, tmp_path / "s"))
    assert [(c.first, c.second) for c in told.comparisons] == [
        (f"players={size}, tau=0.6", f"players={size}, tau=0.2") for size in (4, 6)
    ]
    assert told.compared_note.endswith("corrected for the 2 comparisons listed; different games are not compared")
    one_each = overview(sweep(sizes | {"rule": {"name": "lll", "tau": 0.2}}, tmp_path / "t"))
    assert (one_each.comparisons, one_each.apart) == ([], "different games are not compared")


def test_json_has_the_intervals_that_tables_and_figures_show(wide):
    told = overview(wide)
    for level, row in zip(told.levels, told.to_dict()["levels"], strict=True):
        ends = {"low": level.reached.median_low, "high": level.reached.median_high}
        np.testing.assert_equal(row["median_steps_interval"], ends)
    (row,) = against(told.curves, "tau", intervals=True).data
    expected = [[one.values["tau"], bootstrap_mean(one.levels).to_dict()] for one in told.curves]
    assert row["intervals"] == expected
    assert [[value, level["mean"]] for value, level in expected] == row["levels"]


def test_what_all_settings_share_is_in_no_name(tmp_path):
    """A list that is one value has to stand in a list, and is then an axis."""
    np.save(tmp_path / "hill.npy", np.hypot(*np.mgrid[-3:4, -3:4]))
    game = {"map": str(tmp_path / "hill.npy"), "robots": 2, "delta": [[1, 2]], "flags": False}
    rule = {"name": "blll", "tau": [0.1, 0.3]}
    made = STUDY | {"game": game, "rule": rule, "record": "worth_union", "steps": 20, "seeds": 2}
    found = curves_of(sweep(made, tmp_path / "s"))
    assert [one.name for one in found] == [one.setting for one in found] == ["tau=0.1", "tau=0.3"]
    assert found[0].values == {"delta": [1, 2], "tau": 0.1}


def test_what_is_missing_is_told_with_the_settings_that_have_no_run(tmp_path):
    rule = {"name": "lll", "tau": [0.1, 0.2]}
    study = sweep(STUDY | {"game": {"name": "ring", "players": 4}, "rule": rule, "chunk": 3}, tmp_path / "s")
    count, files = len(study.seeds), chunk_files(study)
    assert incomplete(study, curves_of(study)) == ""
    gone = [path for chunk, paths in study.files().items() if chunk.point == 1 for path in paths]
    assert 1 < len(gone) < len(files)
    gone.pop().unlink()
    left = curves_of(study, partial=True)
    there = sum(one.seeds.size for one in left)
    assert incomplete(study, left) == f"incomplete: {there} of {2 * count} runs"
    assert seeds_of(left) == f"{there - count} to {count} seeds"
    assert incomplete(study, left[:1], {"tau": 0.1}) == ""
    for path in gone:
        path.unlink()
    left = curves_of(study, partial=True)
    said = f"incomplete: {count} of {2 * count} runs; without a run: tau=0.2"
    assert incomplete(study, left) == said
    assert overview(study, partial=True).headline.endswith(f"; {said}")


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("4", None),
        ("4.000000001", None),
        ("95%", None),
        ("95", "the goal 95 lies above all that was reached, 4; did you mean 95%?"),
        ("0.95", None),
        ("-1", None),
        ("4000", "the goal 4000 lies above all that was reached, 4"),
    ],
)
def test_a_goal_that_nobody_can_reach_is_told(wide, goal, said):
    found = curves_of(wide, "potential")
    assert max(one.curves.max() for one in found) == 4.0
    optima = {"": 4.0}
    assert beyond(found, goal, goals(found, goal, optima), None) == said
    of_best = beyond(found, goal, goals(found, goal, optima), optima)
    assert of_best == (said and said.replace("all that was reached", "the optimum"))
    lower = [replace(one, curves=one.curves - 5) for one in found]
    if goal == "0.95":
        assert beyond(lower, goal, goals(lower, goal, None), None).endswith("reached, -1; did you mean 95%?")
