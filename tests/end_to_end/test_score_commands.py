"""Rules with scores, and parameters of rules, on the command line as a user types them."""

from __future__ import annotations

import json

import pytest

import potentia as pt
from tests.commands import potentia


def test_a_rule_with_parameters_plays_as_in_the_library():
    args = ("run", "stag-hunt", "--rule", "soql:mu=adaptive,alone=false,noise=0.25", "--steps", "500", "--seed", "4")
    plain = json.loads(potentia(*args, "--json").stdout)
    rule = pt.rule("soql", mu="adaptive", alone=False, noise=0.25)
    assert plain["rule"] == rule.spec()
    assert plain["final_profile"] == pt.run(pt.game("stag-hunt"), rule, 500, seed=4).final.tolist()
    shown = potentia(*args, COLUMNS="200").stdout
    assert "soql, mu adaptive, vartheta 0.5, zeta 0.9999, xi 0.01, noise 0.25" in shown  # what is usual is not said


@pytest.mark.parametrize(
    ("text", "options", "shown"),
    [
        ("ql:mu=n^-0.6,count=steps,unplayed=decay", ("--tau", "0.2"), "ql, tau 0.2, mu 1/n^0.6, count steps, unplayed"),
        (
            "score:order=2,discount=0,choice=tsallis:0.3,mu=0.1",
            (),
            "score, tau 0.1, mu 0.1, discount 0, order 2, choice",
        ),
        ("blll:tau=geometric:1:0.05,include_current=true", (), "blll, tau geometric 1 to 0.05, include_current"),
    ],
)
def test_rules_in_one_line(text, options, shown):
    done = potentia("run", "stag-hunt", "--rule", text, *options, "--steps", "50", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


def test_the_cover_command_compares_soql_and_ql(tmp_path):
    args = (
        "cover",
        "--paper",
        "--rule",
        "soql",
        "--rule",
        "ql:mu=0.5",
        "--steps",
        "300",
        "--runs",
        "2",
        "--no-optimum",
    )
    done = potentia(*args, "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    ql = plain["rules"]["ql:mu=0.5"]["rule"]
    assert (ql["mu"], ql["tau"]["schedule"]) == (0.5, {"kind": "constant", "tau": 0.1})
    assert (tmp_path / "worth.png").stat().st_size > 10_000
    assert len(list(tmp_path.glob("records-*.nc"))) == 2


def test_the_audit_says_which_assumption_is_missing():
    done = potentia("audit", "random-potential", "--rule", "soql", "--set", "players=2", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert "perturbation theorem: does not apply" in done.stdout
    assert "lacks:    Assumption 6: steps are 1 - X̃" in done.stdout


def test_a_broken_assumption_is_a_warning_in_one_line():
    done = potentia("run", "stag-hunt", "--rule", "soql:mu=0.4", "--steps", "10")
    assert done.returncode == 0
    assert done.stderr == (
        "warning: the paper's results on SOQL ask for vartheta < mu < 1, got vartheta 0.5 and mu 0.4\n"
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("run", "stag-hunt", "--rule", "soql:vartheta=2"), "--rule soql: vartheta must be a number in (0, 1), got 2"),
        (("run", "stag-hunt", "--rule", "soql:vatheta=2"), "soql has no parameter 'vatheta'; did you mean 'vartheta'?"),
        (("run", "stag-hunt", "--rule", "soql:fast"), "--rule takes NAME:PARAMETER=VALUE,..."),
        (("run", "stag-hunt", "--rule", "soqll:mu=0.9"), "did you mean 'soql'?"),
        (("run", "stag-hunt", "--rule", "soql", "--tau", "0.1"), "--tau is not for soql"),
        (("run", "stag-hunt", "--rule", "ql:tau=0.1", "--tau", "0.1"), "say the same thing"),
        (("run", "stag-hunt", "--rule", "ql:noise=-1"), "--rule ql: noise must be a finite number"),
        (("run", "stag-hunt", "--rule", "soql:mu=adaptiv"), "did you mean 'adaptive'?"),
        (("run", "stag-hunt", "--rule", "soql:mu=0.9,mu=0.8"), "gives mu twice"),
        (("run", "stag-hunt", "--rule", "lll", "--scores", "x.png"), "--scores is for rules that keep scores"),
        (("run", "stag-hunt", "--rule", "soql", "--initial", "5"), "as in --rule ql:initial=0.1"),
        (("cover", "--rule", "soql", "--tau", "0.1"), "--tau is not for soql"),
        (("run", "stag-hunt", "--rule", "ql:mu=n+1"), 'mu must be a number, "1/n" or "n^-0.6"'),
        (("run", "stag-hunt", "--rule", "score:order=-1"), "order must be an integer from 1 to 8, got -1"),
        (("run", "stag-hunt", "--rule", "score:choice=tsallis:2"), "q must be a number in (0, 1], got 2.0"),
        (("stability", "stag-hunt", "--rule", "soql"), "soql remembers scores, so that profiles alone make no chain"),
        (("cover", "--rule", "soql:guarded"), "only p-sblll has variants"),
        (("cover", "--rule", "soql:mu=7"), "--rule soql: mu must be a number in (0, 1), got 7"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(args, said):
    done = potentia(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_scores_over_time_are_drawn(tmp_path):
    done = potentia("run", "stag-hunt", "--rule", "soql", "--steps", "200", "--scores", tmp_path / "scores.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "scores.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
