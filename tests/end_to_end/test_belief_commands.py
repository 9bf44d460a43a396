"""Players that do not know the game, on the command line. Only the first test compiles; the others play in Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray

import potentia as pt
from potentia.beliefs import Communication, SplitMerge
from tests.commands import potentia
from tests.end_to_end.test_cover_commands import MAP

MIXTURE = ("belief_error", "parameter_error", "right_number", "components", "cells_known", "contacts", "data_sent")


def plain(*args):
    """The command in plain Python: slow steps, and nothing to compile."""
    return potentia(*args, NUMBA_DISABLE_JIT="1")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "yard.csv"
    path.write_text(MAP)
    return path


def test_robots_that_learn_the_map(tmp_path):
    """A table with rows about the belief, pictures of it, and the same numbers as JSON."""
    out = tmp_path / "results"
    options = ("--robots", 3, "--steps", 150, "--runs", 2, "--radius", 8, "--aic-every", 25)
    command = ("cover", "random:3:2", *options, "--belief", "split-merge", "--out", out)
    done = potentia(*command)
    assert done.returncode == 0, done.stderr
    for words in (
        "belief: split-merge, number of components reconsidered every 25 steps, optimism 0.7, robots read the cells in "
        "range, robots within 8 cells hear each other",
        "share of the optimum",
        "error of the believed worth, Σ|f̂ - f| / Σf",
        "components of a robot's mixture (the map has 2)",
        "share of robots whose mixture has 2",
        "cells a robot knows",
        "exchanges between two robots",
        "cells told in them",
    ):
        assert words in done.stdout
    pictures = {"field.png", "worth.png", "configurations.png", "belief.png", "learning.png", "proposals.png"}
    records = {"run-p-sblll-guarded.npz", "records-p-sblll-guarded.nc", "cells-p-sblll-guarded.csv", "replay.html"}
    records |= {"recording-p-sblll-guarded.recording", ".potentia-cover.json"}
    assert {path.name for path in out.iterdir()} == pictures | records
    assert all((out / name).stat().st_size > 10_000 for name in pictures)

    told = json.loads(potentia(*command, "--json").stdout)
    assert told["belief"]["belief"] == "split-merge"
    assert told["belief"]["communication"]["radius"] == 8
    found = told["rules"]["p-sblll:guarded"]
    with xarray.open_dataset(out / "records-p-sblll-guarded.nc") as data:
        assert json.loads(data.attrs["belief"]) == told["belief"]
        for name in MIXTURE:
            last = data[name].values[:, -1]
            assert data[name].sizes == {"seed": 2, "time": 151}
            assert found[name][0] == pytest.approx(last.mean())
            assert found[name][1:] == [None, None]  # two runs tell no interval
    game = pt.games.Coverage(pt.games.random_world(3, 2), 3, 1.5, flags=False)
    belief = SplitMerge(aic_every=25, communication=Communication(8))
    resumed = pt.load(out / "run-p-sblll-guarded.npz", game, belief)
    assert resumed.step == 150
    assert game.positions(resumed.profile).tolist() == found["shown_positions"]


def test_knowing_the_truth_changes_nothing_but_the_way(tmp_path, table):
    options = ("--robots", 2, "--steps", 40, "--runs", 2, "--rule", "blll", "--json", "--out", tmp_path)
    known = json.loads(plain("cover", table, *options, "--belief", "known").stdout)
    plainly = json.loads(plain("cover", table, *options).stdout)
    assert known["rules"] == plainly["rules"]
    assert known["belief"] == {"belief": "known"}
    assert plainly["belief"] is None
    assert not set(MIXTURE) & set(known["rules"]["blll"])
    assert not list(tmp_path.glob("*belief*"))


def test_a_constant_on_a_map_with_walls_for_two_rules(tmp_path, table):
    options = ("--robots", 2, "--delta", 1, "--steps", 40, "--runs", 2, "--rule", "blll", "--rule", "p-sblll:guarded")
    done = plain("cover", table, *options, "--belief", "constant", "--value", 2, "--sense", "cell", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "belief: constant, an unseen cell is worth 2, robots read their own cell, everybody hears" in done.stdout
    assert "mixture" not in done.stdout
    names = {path.name for path in tmp_path.glob("*.png")}
    drawn = {"learning.png", "belief-blll.png", "belief-p-sblll-guarded.png"}
    assert names == drawn | {"field.png", "worth.png", "configurations.png"}


def test_a_mixture_has_as_many_components_as_the_map_has_targets(tmp_path):
    options = ("--robots", 2, "--steps", 3, "--runs", 1, "--rule", "blll", "--no-optimum", "--json", "--out", tmp_path)
    found = json.loads(plain("cover", "random:3:2", *options, "--belief", "mixture").stdout)
    assert found["belief"]["components"] == 2
    assert (tmp_path / "belief.png").exists()
    assert not (tmp_path / "proposals.png").exists()  # the number is given


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--components", "3"], "--components is for --belief mixture, got no --belief"),
        (["--belief", "split-merge", "--components", "3"], "--components is for --belief mixture, got --belief split-"),
        (["--belief", "mixture", "--aic-every", "5"], "--aic-every is for --belief split-merge, got --belief mixture"),
        (["--belief", "constant", "--optimism", "1"], "--optimism is for --belief mixture or split-merge, got"),
        (["--belief", "known", "--noise", "1"], "--noise is for --belief constant, mixture or split-merge, got"),
        (["--belief", "constant", "--value", "1", "--share", "2"], "give --value or --share, not both, got 1 and 2"),
        (["--belief", "splitmerge"], "running-mean, split-merge, got 'splitmerge'; did you mean 'split-merge'?"),
        (
            ["--belief", "constant:share=1", "--share", "2"],
            "--share and share= in --belief constant:share=1 say the same",
        ),
        (["--belief", "constant:hope=1"], "constant has no parameter 'hope' (it has half_life, noise, radius, sense,"),
        (
            ["--belief", "constant:noise"],
            "--belief takes NAME:PARAMETER=VALUE,..., as in constant:value=2,noise=0.1, got",
        ),
        (
            ["--belief", "split-merge:aic_every=0"],
            "--belief split-merge: aic_every must be an integer of at least 1, got 0",
        ),
        (["--belief", "split-merge:radius=-1"], "--belief split-merge: radius must be a number of at least 0, got -1"),
        (["--belief", "split-merge", "--aic-every", "0"], "--aic-every must be an integer of at least 1, got 0"),
        (["--belief", "split-merge", "--radius", "-1"], "--radius must be a number of at least 0, got -1.0"),
        (["--belief", "mixture", "--sense", "far"], '--sense must be "range" or "cell", got \'far\''),
        (["--belief", "constant", "--noise", "nan"], "--noise must be a number in [0, 1e+100]"),
    ],
)
def test_wrong_combinations_get_one_line(tmp_path, arguments, message):
    done = potentia("cover", *arguments, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_map_without_targets_does_not_say_how_many_components(tmp_path, table):
    done = potentia("cover", table, "--belief", "mixture", "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: --belief mixture needs --components: the map yard names no targets\n"


def test_help_teaches():
    said = " ".join(potentia("cover", "--help").stdout.split())
    for words in ("potentia cover --belief split-merge", "R_com", "a bonus where little was seen", "(the truth)"):
        assert words in said
    assert "running-mean (they expect the mean" in " ".join(potentia("run", "--help").stdout.split())


def test_running_means_on_a_normal_form_game():
    def result(*args):
        done = plain("run", "stag-hunt", "--steps", 100, "--runs", 4, "--json", *args)
        assert done.returncode == 0, done.stderr
        return {name: entry for name, entry in json.loads(done.stdout).items() if "second" not in name}

    known = result("--belief", "known")
    assert known.pop("belief") == {"belief": "known"}
    assert known == result()
    hopeful = result("--belief", "running-mean", "--initial", "50", "--per", "profile")
    assert hopeful["belief"] == {"belief": "running-mean", "per": "profile", "initial": 50.0}
    assert list(hopeful)[:3] == ["game", "rule", "belief"]
    assert hopeful["acceptance"] > known["acceptance"]  # everything is tried at least once
    shown = plain("run", "stag-hunt", "--steps", 10, "--belief", "running-mean").stdout
    assert "running-mean, per action, at first 0" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--initial", "1"], "--initial is for --belief running-mean, got no --belief"),
        (["--belief", "split-merge"], "needs a Coverage game, got NormalForm(players=2); running-mean serves any game"),
        (["--belief", "known", "--per", "action"], "--per is for --belief running-mean, got --belief known"),
        (["--belief", "running-mean", "--per", "x"], '--per must be "action" or "profile", got \'x\''),
    ],
)
def test_beliefs_that_are_not_for_run(arguments, message):
    done = potentia("run", "stag-hunt", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_study_with_a_belief_tells_about_it_and_without_does_not():
    from potentia.studies.coverage import summarise

    names = ("worth_sum", "worth_union", "moves", "energy", "taken", "rejected", "cells_seen", "targets_found")
    values = {name: (("seed", "time"), np.full((6, 30), 0.5)) for name in names}
    data = xarray.Dataset({**values, "steps_done": ("seed", [29] * 6)}, {"time": np.arange(30), "seed": range(6)})
    assert summarise(data).belief_error is None
    assert not set(MIXTURE) & set(summarise(data).to_dict())
    learnt = data.assign(
        belief_error=(("seed", "time"), np.tile([[0.0], [0.0], [0.3]], (2, 30))),
        right_number=(("seed", "time"), np.tile([[1.0], [1.0], [0.5]], (2, 30))),
        parameter_error=(("seed", "time"), np.full((6, 30), np.nan)),
    )
    covered = summarise(learnt).to_dict()
    assert covered["belief_error"][0] == pytest.approx(0.1)
    assert covered["belief_error"][1] == 0.0  # an interval does not leave what is possible
    assert covered["right_number"][2] == 1.0
    assert "parameter_error" not in covered
