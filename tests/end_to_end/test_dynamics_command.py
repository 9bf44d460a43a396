"""potentia dynamics, as a user types it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import potentia as pt
from tests.commands import potentia

HUNT = ("dynamics", "stag-hunt", "--discount", "0.2", "--choice", "tsallis:0.5", "--start", "0.9,0.1;0.8,0.2")


def test_the_prisoners_dilemma_ends_in_defection():
    done = potentia("dynamics", "prisoners-dilemma", "--order", "2", "--time", "10", COLUMNS="160")
    assert done.returncode == 0, done.stderr
    assert "gibbs, tau 1, discount 0, order 2, on prisoners-dilemma" in done.stdout
    assert "action 0 of player 1, strictly dominated, died" in done.stdout
    assert "rest points" not in done.stdout
    assert done.stderr == ""


def test_what_json_holds_is_what_the_library_computes():
    plain = json.loads(potentia(*HUNT, "--json").stdout)
    game = pt.game("stag-hunt")
    found = pt.analysis.dynamics(game, choice=pt.rules.Tsallis(0.5), discount=0.2, start=[[0.9, 0.1], [0.8, 0.2]])
    np.testing.assert_array_equal(plain["strategies"], found.final)
    assert plain["regret"] == found.nash_distance
    assert plain["choice"] == {"kind": "tsallis", "q": 0.5}
    assert (plain["game"], plain["time"], plain["order"]) == ("stag-hunt(stag=4.0, hare=3.0)", 50.0, 1)
    points = pt.analysis.rest_points(game, pt.rules.Tsallis(0.5), discount=0.2)
    assert [p["stable"] for p in plain["rest_points"]] == [True, True, False]
    for row, point in zip(plain["rest_points"], points, strict=True):
        np.testing.assert_array_equal(row["strategies"], point.strategies)
        assert (row["regret"], row["growth"]) == (point.regret, point.growth)


def test_a_pitchfork_is_degenerate(tmp_path):
    pt.games.write_game(pt.games.NormalForm([np.eye(2)] * 2), tmp_path / "fork.json")
    command = ("dynamics", tmp_path / "fork.json", "--discount", "0.5", "--time", "1")
    done = potentia(*command, COLUMNS="160")
    assert "rest points found: 1" in done.stdout
    assert "the linear flow does not tell" in done.stdout
    (point,) = json.loads(potentia(*command, "--json").stdout)["rest_points"]
    assert point["stable"] is None
    assert abs(point["growth"]) <= point["tolerance"]


def test_rest_points_that_were_not_found_are_no_zero(monkeypatch, capsys):
    from potentia.cli import scores
    from potentia.errors import NotConverged

    def nothing(*args, **options):
        raise NotConverged("at least one rest point exists; none was found")

    monkeypatch.setattr("potentia.analysis.rest_points", nothing)
    scores.dynamics("stag-hunt", discount=0.2, horizon=1.0)
    text = capsys.readouterr().out
    assert "rest points: at least one rest point exists; none was found" in text
    assert "rest points found" not in text


def test_a_portrait_of_two_by_two_actions(tmp_path):
    done = potentia(*HUNT, "--time", "5", "--plot", tmp_path / "hunt.png", COLUMNS="160")
    assert done.returncode == 0, done.stderr
    assert "rest points found: 3" in done.stdout
    assert (tmp_path / "hunt.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_triangles_and_curves_from_a_file(tmp_path):
    wins = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    pt.games.write_game(pt.games.NormalForm([wins, -wins]), tmp_path / "rock.json")
    done = potentia("dynamics", tmp_path / "rock.json", "--time", "5", "--plot", tmp_path / "rock.svg")
    assert done.returncode == 0, done.stderr
    assert "player 1" in (tmp_path / "rock.svg").read_text(encoding="utf-8")
    options = ("--set", "players=2", "--set", "actions=4", "--time", "5", "--plot", tmp_path / "curves.svg", "--json")
    done = potentia("dynamics", "random-potential", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["plot"].endswith("curves.svg")
    assert "score p" in (tmp_path / "curves.svg").read_text(encoding="utf-8")


def test_of_many_actions_the_largest_shares_are_printed():
    options = ("--set", "players=2", "--set", "actions=9")
    plain = json.loads(potentia("dynamics", "random-potential", *options, "--json").stdout)
    text = potentia("dynamics", "random-potential", *options, COLUMNS="160").stdout
    for shares in plain["strategies"]:
        best = int(np.argmax(shares))
        assert f"{best}: {shares[best]:.4g}, " in text


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("stag-hunt", "--choice", "gibs"), "did you mean 'gibbs'"),
        (("stag-hunt", "--choice", "tsallis:2"), "q must be a number in (0, 1], got 2.0"),
        (("stag-hunt", "--choice", "tsallis:1,2"), "choice tsallis:Q takes one number"),
        (("stag-hunt", "--choice", "burg:1"), "choice must be gibbs, burg or tsallis:Q, got 'burg:1'"),
        (("stag-hunt", "--order", "0"), "order must be an integer from 1 to 8, got 0"),
        (("stag-hunt", "--discount", "-1"), "discount must be a finite number of at least 0, got -1.0"),
        (("stag-hunt", "--tau", "0"), "tau must be a finite number > 0, got 0.0"),
        (("stag-hunt", "--time", "0"), "--time must be a finite number > 0, got 0.0"),
        (("stag-hunt", "--start", "0.2,0.8"), "start must hold one probability vector for each of 2 players, got 1"),
        (("stag-hunt", "--start", "0,1;0.5,0.5"), "start of player 0 must be inside the simplex"),
        (("stag-hunt", "--start", "a;b"), "--start must be numbers separated by commas"),
        (("stag-hunt", "--plot", "x.nothing"), "--plot: x.nothing must end in one of"),
        (("ring",), "profiles"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(args, said):
    done = potentia("dynamics", *args)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_help_teaches():
    text = potentia("dynamics", "--help", COLUMNS="200").stdout
    assert "potentia dynamics prisoners-dilemma --order 2" in text
    assert "tsallis:Q" in text
