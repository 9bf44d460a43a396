"""potentia cover and potentia optimum, as a user types them."""

from __future__ import annotations

import json
import shlex
import signal

import numpy as np
import pytest
import xarray

import potentia as pt
from tests.commands import potentia
from tests.waiting import PATIENCE, wait_for, watched

MAP = """1,2,3,2,1,0,0
1,3,x,x,2,1,0
0,2,x,x,4,2,1
0,1,2,3,5,3,1
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "yard.csv"
    path.write_text(MAP)
    return path


def test_cover_a_map_with_walls(tmp_path, table):
    """The thing a new user does: a table on the screen, pictures and records in a folder."""
    out = tmp_path / "results"
    options = ("--robots", 2, "--delta", 1, "--steps", 400, "--runs", 3, "--rule", "blll", "--rule", "p-sblll:guarded")
    done = potentia("cover", table, *options, "--gif", "--out", out)
    assert done.returncode == 0, done.stderr
    for words in ("yard, 7×4", "optimum: covered worth", "share of the optimum", "p-sblll:guarded ends at ("):
        assert words in done.stdout
    names = {path.name for path in out.iterdir()}
    pictures = {"field.png", "worth.png", "configurations.png", "blll.gif", "p-sblll-guarded.gif", "replay.html"}
    pictures.add(".potentia-cover.json")
    kinds = ("run-{}.npz", "records-{}.nc", "cells-{}.csv", "recording-{}.recording")
    assert names == pictures | {kind.format(rule) for kind in kinds for rule in ("blll", "p-sblll-guarded")}
    with xarray.open_dataset(out / "records-blll.nc") as records:
        assert records.worth_union.sizes == {"seed": 3, "time": 401}
    game = pt.games.Coverage(pt.games.read_world(table), 2, 1.0, flags=False)
    resumed = pt.load(out / "run-blll.npz", game)
    assert resumed.step == 400
    cells = np.loadtxt(out / "cells-blll.csv", delimiter=",", skiprows=1, usecols=(0, 1, 2), dtype=int)
    np.testing.assert_array_equal(cells[:, 1:], game.positions(resumed.profile))
    driven = np.loadtxt(out / "cells-blll.csv", delimiter=",", skiprows=1, usecols=3)
    np.testing.assert_allclose(driven, resumed.trace().driven, rtol=1e-5)
    listed = ", ".join(f"({x}, {y})" for _, x, y in cells)
    which = "of all the one nearest to the median of every rule"
    assert f"blll ends at {listed} (seed {resumed.seed}, {which})" in done.stdout
    assert pt.load(out / "run-p-sblll-guarded.npz", game).seed == resumed.seed  # what is compared begins in one place
    assert "compared with blll" in done.stdout


def test_what_takes_long_is_told_before_it_begins(tmp_path, table):
    """Line by line, where nobody sees a bar: the game, the optimum with its limit, the runs, and then the tables."""
    options = ("--robots", 2, "--delta", 1, "--steps", 60, "--runs", 2, "--fail", "0@30", "--belief", "constant")
    said = potentia("cover", table, *options, "--out", tmp_path).stdout
    told = [
        "robots=2",
        "belief: constant",
        "computing the optimum at 2 steps: up to some 20 s",
        "optimum as robots come",
    ]
    told += ["playing 2 runs of 60 steps, and the same again without events", "means over 2 runs", "worth.png"]
    places = [said.find(words) for words in told]
    assert places[0] > -1
    assert places == sorted(places)


def test_cover_a_map_that_changes(tmp_path):
    """A stack of frames: the optimum of some steps, the share of it, and pictures of the end."""
    y, x = np.mgrid[:6, :9]
    np.save(tmp_path / "plume.npy", [np.exp(-((x - 2 * k) ** 2 + (y - 3) ** 2) / 4) for k in range(4)])
    options = ("--robots", 1, "--steps", 60, "--runs", 1, "--rule", "blll", "--frame-steps", 20)
    done = potentia("cover", tmp_path / "plume.npy", *options, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for words in ("drift=4 frames of 20 steps", "as the world changes", "of the optimum, mean over all steps"):
        assert words in done.stdout
    assert (tmp_path / "out" / "field-at-the-end.png").exists()
    refused = potentia("cover", tmp_path / "plume.npy", "--robots", 1)
    assert refused.returncode == 2
    assert "--frame-steps must say how many steps lie between two of the 4 frames" in refused.stderr


def test_cover_a_map_that_changes_with_robots_that_come_and_go(tmp_path, table):
    """All that can happen at once: walls that are seen past or not, drift, a known failure, an arrival and chance."""
    options = ("--robots", 3, "--delta", 2, "--steps", 60, "--runs", 2, "--rule", "blll", "--sight")
    events = ("--fail", "1@20", "--arrive", 40, "--hazard", 0.001, "--drift", "0.05,0")
    done = potentia("cover", table, *options, *events, "--gif", "--json", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    found = told["rules"]["blll"]
    assert [one["event"] for one in found["recovery"]] == ["fail 1@20", "arrive 40"]
    assert not found["shown_there"][1]
    assert {19, 20, 39, 40} <= set(told["optimum"]["times"])
    assert 0 < found["share"][0] <= 1
    pictures = {"field.png", "worth.png", "configurations.png", "blll.gif", "replay.html"}
    assert pictures <= {path.name for path in (tmp_path / "out").iterdir()}


RULES = ("--rule", "blll", "--rule", "lll")


def test_what_a_failure_costs_is_the_difference_of_the_same_runs(tmp_path, table):
    options = ("--robots", 3, "--delta", 1, "--steps", 100, "--runs", 5, *RULES, "--fail", "0@40")
    done = potentia("cover", table, *options, "--no-optimum", "--json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    with (
        xarray.open_dataset(tmp_path / "records-lll.nc") as data,
        xarray.open_dataset(tmp_path / "records-lll-without-events.nc") as without,
    ):
        before = data.time.values < 40
        both = [one.worth_union.transpose("seed", "time").values for one in (data, without)]
    np.testing.assert_array_equal(both[0][:, before], both[1][:, before])  # paired to the bit
    cost = told["rules"]["lll"]["cost_of_events"]
    assert cost["runs"] == 5
    assert cost["difference"][0] == pytest.approx(cost["with"][0] - cost["without"][0])
    assert cost["difference"][1] <= cost["difference"][0] <= cost["difference"][2]
    assert cost["percent"][0] == pytest.approx(100 * cost["difference"][0] / cost["without"][0])
    assert [(one["first"], one["second"], one["pairs"]) for one in told["comparisons"]] == [("lll", "blll", 5)]
    said = potentia("cover", table, *options, "--no-optimum", "--no-event-cost", "--out", tmp_path)
    assert "what it costs" not in said.stdout
    assert "records-lll-without-events.nc" in said.stdout  # as what is removed, for it is not of this run
    assert not [*tmp_path.glob("*-without-events.nc")]
    assert "lll − blll" in said.stdout


def test_which_rule_to_take_on_this_map(tmp_path, table):
    rules = ("--rule", "blll", "--rule", "p-sblll:unilateral", "--steps", 60, "--budget", 60 * 2 * 15)
    options = ("--robots", 2, "--delta", 1, "--cost", 100, "--no-optimum", "--out", tmp_path)
    done = potentia("cover", table, *rules, *options, "--compare", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["taken"] in ("blll", "p-sblll:unilateral")
    assert len(found["judged"]["blll"]["worth"]) == 10
    assert (tmp_path / "compare.png").stat().st_size > 5000
    assert "warning: --cost: K = 100 freezes the robots" in done.stderr
    assert done.stderr.count("\n") == 1
    _, *again = shlex.split(found["command"])
    assert again[again.index("--out") + 1] == str(tmp_path / "taken")  # the picture of the comparison stays
    assert int(again[again.index("--seed") + 1]) > max(found["looking_seeds"] + found["judging_seeds"])
    once = json.loads(potentia(*again, "--runs", 2, "--json").stdout)
    assert list(once["rules"]) == [found["taken"]]
    assert once["game"] == found["game"]


def test_the_same_seed_gives_the_same_numbers(tmp_path, table):
    def result(*args):
        options = ("--robots", 2, "--steps", 300, "--runs", 2, "--no-optimum", "--json", "--out", tmp_path)
        out = json.loads(potentia("cover", table, *options, *args).stdout)
        return out["rules"]

    five = result("--seed", 5)
    assert five == result("--seed", 5, "--workers", 1)
    assert five != result("--seed", 6)


def test_the_paper_experiment(tmp_path):
    done = potentia("cover", "--paper", "--runs", 4, "--json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["steps"] == 2000
    assert "K=3e-05, flags=cell" in found["game"]
    assert found["optimum"]["value"] == pytest.approx(0.23094, abs=1e-5)
    assert found["optimum"]["proven"]
    assert list(found["rules"]) == ["blll", "p-sblll"]
    assert found["rules"]["p-sblll"]["rule"]["revision"] == {
        "signal": {"a1": 1, "a2": 0.5, "a3": 0.1, "normalise": "own"}
    }
    assert (tmp_path / "revision.png").exists()


def test_optimum_says_where_to_put_robots(tmp_path, table):
    done = potentia("optimum", table, "--robots", 2, "--delta", 1, "--plot", tmp_path / "best.png")
    assert done.returncode == 0, done.stderr
    assert "optimum: covered worth" in done.stdout
    assert (tmp_path / "best.png").stat().st_size > 10_000
    places = tmp_path / "places.csv"
    plain = json.loads(potentia("optimum", table, "--robots", 2, "--delta", 1, "--json", "--csv", places).stdout)
    head, *rows = (line.split(",") for line in places.read_text().splitlines())
    assert head == ["robot", "x", "y", "in_range"]
    assert [[int(x), int(y)] for _, x, y, _ in rows] == plain["positions"]
    assert plain["csv"] == str(places)
    game = pt.games.Coverage(pt.games.read_world(table), 2, 1.0, flags=False)
    most = max(game.worth_union(p) for p in np.ndindex(*game.num_actions))
    assert plain["value"] == pytest.approx(most)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "nowhere.csv: there is no such file"),
        (["nowhere"], "a file such as map.csv or a folder of images, got 'nowhere'"),
        (["random:x"], "a random map is random:SEED or random:SEED:TARGETS, whole numbers, got 'random:x'"),
        (["--reach", "far"], "--reach must be adjacent, or a number of cells, got 'far'"),
        (
            ["--delta", "7.5m"],
            "--delta must be a number of cells, for the map has no cell size, got '7.5m'; say how large a cell is",
        ),
        (["--delta", "1,2ft", "--cell-size", "5m"], "--delta must be in m, the map's unit, or a number of cells, got"),
        (["--belief", "constant", "--radius", "30m"], "--radius must be a number of cells, for the map has no cell"),
        (["--cost", "-1"], "--cost must be a finite number of at least 0, got -1.0"),
        (["random:1", "--paper"], "--paper is the experiment on the paper's own world"),
        (["random:1:9"], "targets must be an integer from 1 to 5, got 9"),
        (["--robots", "0"], "robots must be an integer of at least 1, got 0"),
        (["--delta", "-1"], "delta must be a finite number of at least 0, got -1.0"),
        (["--delta", "1,2"], "delta must be a number, or one for each of 5 robots, got 2"),
        (["--cost", "x"], "--cost must be numbers separated by commas, got 'x'"),
        (["--rule", "p-sblll:both"], "only p-sblll has variants, joint, unilateral and guarded"),
        (["--rule", "blll:guarded"], "only p-sblll has variants"),
        (["--start", "1,1 2"], '--start takes cells X,Y separated by blanks, as in "3,4 10,12"'),
        (["--start", "1,1 99,2 3,3 4,4 5,5"], "start must lie inside x 0..39 and y 0..39, got (99, 2)"),
        (["--start-at", "1,1"], "--start-at must be on a map with coordinates or a cell size, and it has"),
        (["--start-at", "1,1 2,2", "--cell-size", "1m"], "--start-at must hold one place for each of 5 robots"),
        (["--flag", "sky"], 'flag must be "cell" or "range", got \'sky\''),
        (["--revision", "signal:1,2"], "--revision signal:A1,A2,A3 takes three numbers"),
        (["--tau", "cold"], "relative:TAU or auto, got 'cold'"),
        (["--compare", "--budget", "soon"], "--budget must be a time such as 60s, 5m or 1h, or a number of steps, got"),
        (["--compare", "--budget", "99"], "--budget must be at least 1,360,000 steps for 12 candidates"),
        (["--compare", "--rule", "blll"], "must name two candidates at least, got 1"),
        (["--budget", "5m"], "--budget is for --compare, got '5m' without it"),
        (
            ["--compare", "--tau", "0.1"],
            "--tau is for --rule: without it --compare plays rules and temperatures of its",
        ),
        (["--compare", "--gif"], "--gif is not for --compare, which draws one picture"),
        (["--compare", "--replay", "x.html"], "--replay is not for --compare"),
        (["--runs", "0"], "--runs must be an integer of at least 1, got 0"),
        (["--fail", "3"], "--fail must be ROBOT@STEP, whole numbers with a step below 2^62, as in 8@2500, got '3'"),
        (["--arrive", "soon"], "--arrive must be a step, a whole number below 2^62, as in 4000, got 'soon'"),
        (["--hazard", "1"], "--hazard must be the probability to fail in a step, at least 0 and below 1, as in 1e-5"),
        (["--arrive", "9", "--fail", "8@100"], "robots 0 to 5, those that arrive included, got '8@100'"),
        (
            ["--robots", "1", "--fail", "0@9"],
            "--fail must leave at least one robot, and all have failed in the end, got 0@9",
        ),
        (["--robots", "2", "--delta", "3,4", "--arrive", "9"], "3 robots, of which 1 arrives later, got 2"),
        (["--arrive", "99999"], "--arrive must happen within the 20,000 steps of the run, got '99999'"),
    ],
)
def test_bad_arguments_get_one_line(tmp_path, arguments, message):
    done = potentia("cover", *arguments, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_map_without_worth(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text("0,0,x\n0,0,0\n")
    done = potentia("cover", path, "--robots", 1, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr == f"error: {path}: this map has no worth: all cells that robots can cover are worth 0\n"
    assert not (tmp_path / "out").exists()


def test_cells_that_are_cut_off_are_named(tmp_path):
    path = tmp_path / "rooms.csv"
    path.write_text("1,x,1\n1,x,1\n1,x,x\n")
    done = potentia("cover", path, "--robots", 1, "--out", tmp_path)
    assert done.returncode == 2
    assert "2 cells are cut off from the largest part: (2, 0), (2, 1)" in done.stderr
    assert "into 2 parts, of 3, 2 cells" in done.stderr
    assert "--largest-part, or another with --part 2 (in a specification largest_part = true" in done.stderr
    again = potentia("cover", path, "--robots", 1, "--steps", 50, "--largest-part", "--out", tmp_path)
    assert again.returncode == 0, again.stderr
    assert "--largest-part blocked 2 cells that are cut off, worth 2 in all" in again.stdout


def test_a_range_longer_than_the_map(table):
    plain = json.loads(potentia("optimum", table, "--robots", 1, "--delta", 100, "--json").stdout)
    assert plain["value"] == pytest.approx(40.0)
    assert potentia("optimum", table, "--robots", 1, "--delta", 100).returncode == 0


@pytest.mark.parametrize("steps", [500, 10**9])
def test_ctrl_c_keeps_what_was_complete(tmp_path, table, steps):
    """Of many short runs some are complete: a table and records. Of endless ones none: one line, nothing written."""
    out = tmp_path / "out"
    command = ("cover", table, "--robots", 2, "--steps", steps, "--runs", 2000, "--no-optimum", "--out", out)
    with watched(tmp_path / "told", *command) as (process, told):
        enough = 2 * steps if steps == 500 else 1  # of two runs at once, one is then complete
        wait_for(lambda: [done for done, _ in told() if int(done) > enough], "it has played enough", process)
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in complained
    found = {path.name for path in out.iterdir()}
    if steps == 500:
        assert " of 2000 asked for, of 500 steps" in said
        assert "stopped by Ctrl-C: the above is of the runs" in complained
        assert found == {"records-p-sblll-guarded.nc", "cells-p-sblll-guarded.csv"}
    else:
        assert complained == "stopped by Ctrl-C before a run was complete: nothing was written\n"
        assert not found


def test_audit_of_the_coverage_game():
    done = potentia("audit", "coverage", "--rule", "blll", "--set", "cost=0.1", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["hypothesis"]: row for row in json.loads(done.stdout)["hypotheses"]}
    row = rows["K = 0: moving costs nothing"]
    assert row["holds"] is False
    assert "no function of the profile alone is a potential" in row["evidence"]
