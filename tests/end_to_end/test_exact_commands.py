"""potentia audit and potentia stability, as a user types them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import potentia as pt
from tests.commands import potentia


@pytest.fixture(scope="module")
def payoffs(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "payoffs.json"
    pt.games.write_game(pt.game("double-step"), path)
    return path


def test_audit_prints_the_two_profiles_that_disprove_the_claim():
    done = potentia("audit", "overlap", "--claimed", "welfare", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if "the claimed potential is exact" in line)
    assert "fails" in line
    assert "from (1, 0) to (2, 0) player 0's utility changes by 0.1" in line
    assert done.stderr == ""


def test_audit_as_json(payoffs):
    plain = json.loads(potentia("audit", payoffs, "--rule", "p-sblll", "--json").stdout)
    assert plain["game"] == "payoffs.json"
    assert plain["stable"] == [{"profile": [0, 1], "share": 1.0}]
    assert plain["maximisers"] == [[1, 0]]
    assert {r["result"]: r["kept"] for r in plain["results"]}["separable proposition"] is False


def test_audit_says_who_woke_tried_and_stayed(payoffs):
    lines = potentia("audit", payoffs, "--rule", "p-sblll").stdout.splitlines()
    first = lines.index("From the maximiser to a stable profile: (1, 0) → (0, 1)")
    assert lines[first + 1 : first + 3] == ["  Players 0 and 1 wake at (1, 0).", "  Together they try (0, 1)."]
    assert "  Player 1 compares 2 with 3 and stays." in lines


def test_audit_against_the_revision_probability(tmp_path, payoffs):
    options = ("audit", payoffs, "--rule", "p-sblll", "--tau", "0.3", "--against", "revision")
    done = potentia(*options, "--plot", tmp_path / "waking.png", COLUMNS="140")
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip().startswith("0.")}
    assert rows["0.01"] == ["75.7%", "0.0%", "(1,", "0),", "75.7%", "(0,", "1)"]
    assert rows["0.5"][:2] == ["8.5%", "0.0%"]
    assert (tmp_path / "waking.png").stat().st_size > 10_000
    plain = json.loads(potentia(*options, "--json").stdout)["against"]
    assert [row["revision"] for row in plain["rows"]] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
    assert plain["maximisers"] == [[1, 0]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rule", "p-sblll", "--plot", "a.png"), "--plot draws what --against tells, which is missing"),
        (("--rule", "p-sblll", "--against", "tau"), "--against must be \"revision\", got 'tau'"),
        (("--rule", "blll", "--against", "revision"), "--rule must be a rule whose players wake"),
    ],
)
def test_audit_against_something_else_is_refused(payoffs, options, said):
    done = potentia("audit", payoffs, *options)
    assert done.returncode != 0
    assert said in done.stderr


def test_audit_with_a_claim_from_a_file(tmp_path, payoffs):
    np.save(tmp_path / "phi.npy", np.array([[0.0, 1.0], [2.0, 0.5]]))
    plain = json.loads(potentia("audit", payoffs, "--claimed", tmp_path / "phi.npy", "--json").stdout)
    assert plain["hypotheses"][1]["holds"] is False


def test_stability_lists_profiles_and_draws(tmp_path, payoffs):
    done = potentia("stability", payoffs, "--rule", "p-sblll", "--tau", "0.05", "--plot", tmp_path / "tree.png")
    assert done.returncode == 0, done.stderr
    assert "1 of 4 profiles stable" in done.stdout
    assert "at τ = 0.05" in done.stdout
    assert (tmp_path / "tree.png").stat().st_size > 10_000
    plain = json.loads(potentia("stability", payoffs, "--rule", "p-sblll", "--tau", "0.05", "--json").stdout)
    first = plain["profiles"][0]
    assert (first["profile"], first["stable"], first["limit"]) == ([0, 1], True, 1.0)
    assert first["law"] == pytest.approx(1.0, abs=1e-6)
    assert plain["num_profiles"] == 4


def test_stability_of_a_larger_game_draws_what_fits(tmp_path):
    options = ("--rule", "blll", "--set", "players=8", "--show", "3", "--plot", tmp_path / "ring.pdf")
    done = potentia("stability", "ring", *options)
    assert done.returncode == 0, done.stderr
    assert "253 more profiles" in done.stdout
    assert "closed form" in done.stdout
    assert (tmp_path / "ring.pdf").exists()


def test_run_takes_a_payoff_file(payoffs):
    plain = json.loads(potentia("run", payoffs, "--steps", "100", "--json").stdout)
    assert plain["game"] == "payoffs.json"


def test_compositions_and_rules_that_remember():
    rule = "who=all,considers=joint-trial,chooses=mistakes"
    plain = json.loads(potentia("stability", "stag-hunt", "--rule", rule, "--tau", "0.2", "--json").stdout)
    assert plain["rule"] == pt.rule(who="all", considers="joint-trial", chooses="mistakes", tau=0.2).spec()
    named = json.loads(potentia("stability", "stag-hunt", "--rule", "mistakes:who=one", "--json").stdout)
    assert named["rule"] == {"rule": "mistakes", "tau": 0.1}
    done = potentia("stability", "stag-hunt", "--rule", "adaptive-play:memory=2,sample=1")
    assert "adaptive-play remembers: 20 states" in done.stdout
    assert "2 of 4 profiles stable" in done.stdout
    told = potentia("rules").stdout
    assert "who × considers × chooses" in told
    assert all(word in told for word in ("joint-trial", "metropolis", "rules on the map"))


def test_vanishing_revision():
    plain = json.loads(
        potentia("stability", "double-step", "--rule", "p-sblll", "--revision", "vanishing:7", "--json").stdout
    )
    assert plain["profiles"][0]["profile"] == [1, 0]
    assert plain["rule"]["revision"] == {"vanishing": 7.0}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("audit", "overlaps"), "did you mean 'overlap'"),
        (("audit", "missing.json"), "missing.json"),
        (("audit", "overlap", "--claimed", "missing.npy"), "missing.npy"),
        (("audit", "overlap", "--set", "robots=x"), "--set robots must be an integer from 1 to 63"),
        (("stability", "ring"), "profiles"),
        (("stability", "stag-hunt", "--root", "0,5", "--plot", "x.png"), "--root"),
        (("stability", "stag-hunt", "--root", "0,1"), "give --plot too"),
        (("audit", "payoffs.txt"), "game files end in .json, .npz, .nfg or .gam"),
        (("audit", "stag-hunt", "--claimed", "wellfare"), "--claimed must be"),
        (
            ("audit", "stag-hunt", "--rule", "p-sblll", "--revision", "0.1,0.2,0.3"),
            "one entry for each of 2 players, got 3",
        ),
        (("stability", "stag-hunt", "--tau", "geometric:1:0.1"), "--tau must be a number here"),
        (("stability", "stag-hunt", "--rule", "slll", "--revision", "vanishing:1,2"), "takes one number"),
        (("stability", "stag-hunt", "--plot", "x.pgf"), "must end in one of"),
        (("stability", "stag-hunt", "--show", "0"), "--show must be an integer of at least 1"),
        (("stability", "stag-hunt", "--plot", "no/such/folder/x.png"), "no folder"),
        (("stability", "stag-hunt", "--plot", "x.nonsense"), "must end in one of"),
        (("stability", "stag-hunt", "--rule", "best-response"), "has no noise that goes to 0"),
        (
            ("stability", "stag-hunt", "--rule", "p-sblll", "--revision", "vanishing:-1"),
            "m must be a finite number > 0",
        ),
        (("stability", "stag-hunt", "--tau", "-1"), "tau"),
        (("stability", "stag-hunt", "--rule", "who=two,considers=all,chooses=best"), "must be one of all, groups"),
        (
            ("audit", "stag-hunt", "--rule", "who=one,considers=all,chooses=best", "--guard"),
            "--guard is not for who=one",
        ),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(args, said):
    done = potentia(*args)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["audit", "stability"])
def test_help_teaches(command):
    text = potentia(command, "--help", COLUMNS="200").stdout
    assert f"potentia {command}" in text
    assert "vanishing:M" in text


def test_optimum_of_any_game(tmp_path, payoffs):
    done = potentia("optimum", "prisoners-dilemma", "--objective", "welfare")
    assert done.returncode == 0, done.stderr
    assert "optimum: welfare 6 (proven; by looking at every profile in " in done.stdout
    assert "at profile (0, 0)" in done.stdout
    pt.games.write_game(pt.game("double-step"), tmp_path / "payoffs.npz")
    for file in (payoffs, tmp_path / "payoffs.npz"):
        plain = json.loads(potentia("optimum", file, "--json").stdout)
        assert (plain["objective"], plain["value"], plain["bound"], plain["gap"]) == ("potential", 2.0, 2.0, 0.0)
        assert (plain["profile"], plain["proven"], plain["game"]) == ([1, 0], True, file.name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rings"], "GAME must be a game (see: potentia games) or a map"),
        (["rings"], "did you mean 'ring'?"),
        (["ring", "--robots", 3], "--robots is for maps, and ring is a game; its parameters are given with --set"),
        (["ring", "--largest-part"], "--largest-part is for maps"),
        (["paper", "--set", "players=3"], "--set is for built-in games; paper is a map"),
        (["ring", "--plot", "best.png"], "--plot is of robots on a map, and ring has none"),
        (["ring", "--objective", "worth"], '--objective must be "potential" or "welfare", got \'worth\''),
        (["matching-pennies", "--objective", "potential"], "there is no exact potential"),
    ],
)
def test_bad_questions_about_an_optimum(arguments, message):
    done = potentia("optimum", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_file_of_gambit_is_played_and_solved_with_its_names(tmp_path):
    path = tmp_path / "hunt.nfg"
    path.write_text('NFG 1 R "Hunt" { "Ann" "Bob" } { { "stag" "hare" } { "stag" "hare" } } 4 4 3 0 0 3 3 3')
    for command, said in (
        ("stability --rule blll", "(hare, hare)   yes"),
        ("audit --rule slll", "Ann plays stag in both (stag, stag) and (stag, hare)"),
        ("run --steps 20", "(stag, stag)"),
        ("optimum", "at profile (stag, stag)"),
        ("dynamics --time 1", "Ann"),
    ):
        name, *options = command.split()
        done = potentia(name, path, *options, COLUMNS="200")
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
    path.write_text(path.read_text() + " 1")
    done = potentia("run", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {path}: line 1 column 88: expected 8 payoffs")
    done = potentia("run", "game.efg")
    assert "pygambit.read_efg('game.efg').to_nfg()" in done.stderr
