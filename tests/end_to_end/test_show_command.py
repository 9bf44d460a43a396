"""What came out of a study of one's own, by commands only: grown, against a parameter, at its best, by a goal."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import potentia as pt
from potentia.cli.showing import _wanted
from potentia.games import library
from tests.commands import potentia

CHANNELS = Path(__file__).parents[2] / "docs" / "channels"
SMALL = ("--set", "steps=200", "--set", "every=1", "--set", "game.nodes=[8,12]")
OWN = ("--import", "channels.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The study of the docs, small, grown from 5 to 6 seeds and by a temperature."""
    place = tmp_path_factory.mktemp("channels")
    for name in ("channels.py", "channels.toml"):
        shutil.copy(CHANNELS / name, place)
    done = potentia(*OWN, "sweep", "channels.toml", *SMALL, "--set", "rule.tau=[0.05,0.5]", cwd=place)
    assert done.returncode == 0, done.stderr
    grown = ("--set", "seeds=6", "--set", "rule.tau=[0.05,0.2,0.5]")
    done = potentia(*OWN, "sweep", "channels.toml", *SMALL, *grown, cwd=place)
    assert "grows from 120 to 216 runs" in done.stdout
    assert "(96 of them played now)" in done.stdout
    return place


def told(folder, *args):
    done = potentia(*OWN, "show", "channels.study", *args, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_levels_against_tau_with_the_optimum(folder):
    found = told(folder, "--against", "tau", "--optimum", "--where", "nodes=8", "--plot", "levels.png")
    assert found["plot"] == "levels.png"
    assert (folder / "levels.png").stat().st_size > 10_000
    rows = {row["rule"]: row for row in found["against"]["rows"]}
    assert list(rows) == ["lll", "blll", "slll", "p-sblll", "p-sblll, guarded", "metropolis"]
    study = pt.open_study(folder / "channels.study")
    data = study.dataset().potential.sel(rule="blll", nodes=8, tau=0.2)
    expected = data.sel(time=data.time > 180).mean()
    assert dict(map(tuple, rows["blll"]["levels"]))[0.2] == pytest.approx(float(expected))
    assert rows["blll"]["optimum"] == pytest.approx(best(8))
    text = potentia(*OWN, "show", "channels.study", "--against", "tau", cwd=folder).stdout
    assert text.count("*") == 12 + 1  # one star a row, and one in the note


def best(nodes):
    """The potential of the best assignment, by looking at every one."""
    with patch.dict(library._registry):
        game = runpy.run_path(str(CHANNELS / "channels.py"))["channels"](nodes)
    profiles = np.indices((4,) * nodes).reshape(nodes, -1)
    lost = sum(weight * (profiles[i] == profiles[j]) for (i, j), weight in zip(game.edges, game.weights, strict=True))
    return -lost.min()


@pytest.mark.parametrize("per", ["steps", "revisions"])
def test_the_best_tau_of_each_rule_with_paired_intervals(folder, per):
    found = told(folder, "--best", "--where", "nodes=12", "--per", per)
    assert len(found["best"]["chosen"]) == 6
    assert len(found["best"]["comparisons"]) == 5
    levels = {row["rule"]: row["level"]["mean"] for row in found["best"]["chosen"]}
    winner = max(levels, key=levels.get)
    for one in found["best"]["comparisons"]:
        rule = one["first"].split(", tau")[0]
        assert one["second"].startswith(winner)
        assert one["difference"]["mean"] == pytest.approx(levels[rule] - levels[winner])
        assert one["pairs"] == 6
    done = potentia(*OWN, "show", "channels.study", "--best", "--where", "nodes=12", "--per", per, cwd=folder)
    assert ("revisions" in done.stdout) == (per == "revisions")


def test_runs_that_reach_a_goal_are_counted(folder):
    found = told(folder, "--goal", "95%", "--where", "nodes=8", "--where", "tau=[0.05,0.5]")
    study = pt.open_study(folder / "channels.study")
    curves = study.curves("potential", where={"nodes": 8, "tau": [0.05, 0.5]})
    top = best(8)
    start = np.concatenate([one.curves[:, 0] for one in curves]).mean()
    for row, one in zip(found["goal"], curves, strict=True):
        assert row["goal"] == pytest.approx(start + 0.95 * (top - start))
        assert row["reached"] == (one.curves >= row["goal"]).any(axis=1).sum()
        assert set(row["median_steps"]) == {"median", "low", "high"}
        assert set(row["restricted"]) == {"mean", "low", "high"}


def test_sizes_stand_on_an_axis_of_their_own(folder):
    found = told(folder, "--against", "nodes", "--where", "tau=0.2", "--optimum", "--plot", "nodes.png")
    rows = found["against"]["rows"]
    assert [[value for value, _ in row["levels"]] for row in rows] == [[8, 12]] * 6
    assert rows[0]["optimum"][0] == pytest.approx(best(8))


@pytest.mark.parametrize(("asked", "left"), [(("--goal=-2",), 24), (("--spread", "--where", "tau=0.2"), 0)])
def test_what_a_figure_leaves_out_is_said(folder, asked, left):
    done = potentia(*OWN, "show", "channels.study", *asked, "--plot", "few.png", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (f"{left} more settings are not drawn; --where chooses what is" in done.stdout) == bool(left)
    assert ("not drawn" in done.stdout) == bool(left)


def test_an_optimum_on_a_map_is_reached(tmp_path):
    study = {
        "steps": 300, "seeds": 4, "record": "worth_union",
        "game": {"name": "coverage", "columns": 6, "rows": 5, "robots": 2},
        "rule": {"name": "blll", "tau": [1e-6, 0.1]},
    }  # fmt: skip
    found = pt.sweep(study, tmp_path / "map.study", compiled=False)
    done = potentia("show", "map.study", "--goal", "100%", "--json", cwd=tmp_path)
    rows = json.loads(done.stdout)["goal"]
    game = found.plan.points[0].game
    best_there_is = pt.analysis.optimum(game).value
    assert rows[0]["goal"] == pytest.approx(best_there_is, rel=1e-12)
    reached = [(one.curves >= best_there_is - 1e-9).any(axis=1).sum() for one in found.curves()]
    assert [row["reached"] for row in rows] == reached
    assert max(reached) > 0


def test_what_is_told_of_an_incomplete_study_says_so(folder, tmp_path):
    copy = pt.open_study(shutil.copytree(folder / "channels.study", tmp_path / "channels.study"))
    for chunk, paths in copy.files().items():
        if copy.points[chunk.point]["values"]["rule.tau"] == 0.5:
            paths[0].unlink()
    done = potentia("show", "channels.study", "--best", "--where", "nodes=8", "--partial", cwd=tmp_path)
    first = " ".join(done.stdout.split("potential")[0].split())
    assert first.startswith("incomplete: 72 of 108 runs; without a run: lll, nodes=8, tau=0.5; ")


def test_words_with_a_comma_stand_in_lists():
    assert _wanted(['rule=[lll,"p-sblll, guarded"]', "rule=p-sblll, guarded", "tau=[0.1, 0.3]", "x=[]"]) == {
        "rule": ["lll", "p-sblll, guarded", "p-sblll, guarded"],
        "tau": ["0.1", "0.3"],
        "x": [""],
    }


@pytest.mark.parametrize("asked", ["", "--best", "--against=tau", "--goal=-2", "--spread"])
def test_what_is_told_along_what_was_spent_is_drawn_too(folder, asked):
    out, per = folder / "spent.svg", "evaluations" if asked == "--best" else "revisions"
    out.unlink(missing_ok=True)
    found = told(folder, "--where", "nodes=8", "--per", per, *filter(None, [asked]), "--plot", "spent.svg")
    assert found["plot"] == "spent.svg"
    assert per in out.read_text()


def test_how_far_runs_are_followed_is_told_of_every_game(folder):
    """Those of a game up to what the shortest of them has spent."""
    found = pt.open_study(folder / "channels.study").curves(per="revisions")
    lasts = {one.game: f"{one.times[-1]:,.0f}" for one in found}
    both = f"{' to '.join(sorted(lasts.values()))} revisions (by game)"
    assert lasts["nodes=8"] != lasts["nodes=12"]
    for asked in ((), ("--goal=-1",), ("--best",)):
        done = potentia(*OWN, "show", "channels.study", "--per", "revisions", *asked, cwd=folder)
        assert both in " ".join(done.stdout.split())


def test_evaluations_cost_what_a_rule_looks_at(folder):
    found = told(
        folder, "--per", "evaluations", "--where", "rule=[lll,blll]", "--where", "nodes=8", "--where", "tau=0.2"
    )
    assert found["title"] == "potential Φ, end: mean of the last tenth of 400 evaluations, which all runs have spent"
    lll, blll = pt.open_study(folder / "channels.study").curves("potential", where={"nodes": 8, "tau": 0.2})[:2]
    first, second = (row["end"]["mean"] for row in found["levels"])
    # 400 evaluations are 200 revisions of two actions, all that there were, and 100 of four
    assert second == pytest.approx(blll.curves[:, np.arange(362, 401, 2) // 2].mean())
    assert first == pytest.approx(lll.curves[:, np.arange(362, 401, 2) // 4].mean())


def test_what_needs_the_games_says_so_and_wrong_goals_come_first(folder):
    """Without --import: nobody goes on with the study, so nothing is said of that."""
    for asked in (("--optimum",), ("--goal", "95%"), ("--per", "evaluations")):
        done = potentia("show", "channels.study", *asked, cwd=folder)
        assert done.returncode == 2
        assert " needs the games of channels.study as they were: game.name must be one of" in done.stderr
        assert "before the command: potentia --import FILE.py ..." in done.stderr
        assert not {"sweep", "gone on"} & set(done.stderr.split())
    assert "--goal must be a share" in potentia("show", "channels.study", "--goal", "150%", cwd=folder).stderr


@pytest.mark.parametrize("asked", [("--best",), ("--against", "tau")])
def test_nothing_varies(tmp_path, asked):
    rule = {"name": "lll", "tau": 0.1}
    pt.sweep({"steps": 9, "seeds": 2, "game": {"name": "ring"}, "rule": rule}, tmp_path / "one.study", compiled=False)
    done = potentia("show", "one.study", *asked, cwd=tmp_path)
    assert done.stderr.startswith("error: no parameter of rules or beliefs varies in these settings")
    done = potentia("show", "one.study", *asked, "--where", "tau=0.1", cwd=tmp_path)
    assert done.stderr == "error: --where must be left out where nothing varies, got tau=0.1\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--where", "nodes=7"), "--where nodes must be one of 8, 12, got 7"),
        (("--where", "nodes"), "--where must be NAME=VALUE"),
        (("--where", 'rule=["lll]'), "--where must have its words in whole quotes"),
        (("--against", "tua"), "--against must be"),
        (("--per", "days"), "--per must be one of"),
        (("--goal", "high"), "--goal must be a number, or a share of the way such as 95%, got 'high'"),
        (("--goal", "120%"), "--goal must be a share above 0% and at most 100%, or a number, got '120%'"),
        (("--goal", "1", "--best"), "--goal and --best or --against are different questions"),
        (("--goal", "1", "--lowest"), "--goal cannot be reached from above"),
        (("--lowest",), "--lowest says what --best and --against look for"),
        (("--best", "--against", "nodes"), "--against must be a parameter of rules or beliefs (tau), got 'nodes'"),
        (("--spread",), "--spread draws into the file of --plot, which is missing"),
        (("--optimum", "--measure", "num_revisions"), "--measure must be one of"),
    ],
)
def test_wrong_questions_get_one_line(folder, args, said):
    done = potentia(*OWN, "show", "channels.study", *args, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_report_of_a_study_of_ones_own(folder):
    done = potentia(*OWN, "report", "channels.study", "--out", "page.html", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"page": "page.html", "beside": []}
    page = (folder / "page.html").read_text("utf-8")
    assert "Which tau is best" in page
    assert page.count("<iframe") == 2  # of 8 and of 12 access points
    for wrong, said in (("page.txt", "--out: page.txt must end in .html"), ("no/page.html", "there is no folder no")):
        done = potentia("report", "channels.study", "--out", wrong, cwd=folder)
        assert done.returncode != 0
        assert said in done.stderr
    assert "--measure must be" in potentia("report", "channels.study", "--measure", "x", cwd=folder).stderr
