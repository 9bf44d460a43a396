"""One wrong value, three front-ends: each says the same problem of the name that its user wrote."""

from __future__ import annotations

import pytest

import potentia as pt
from potentia.beliefs import SplitMerge
from potentia.errors import InvalidInput
from tests.commands import potentia

MAP = 'game = { map = "random:1", robots = 2 }'
RING = 'game = { name = "ring" }'
SOQL = 'rule = { name = "soql" }'
COVER = ("cover", "random:1", "--robots", 2, "--steps", 10)


def said(*args, cwd="."):
    done = potentia(*args, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("error: ").removesuffix("\n")


@pytest.mark.parametrize(
    ("call", "typed", "study", "option", "key"),
    [
        (
            lambda: SplitMerge(aic_every=0),
            (*COVER, "--belief", "split-merge", "--aic-every", 0),
            (MAP, SOQL, 'belief = { name = "split-merge", aic_every = 0 }'),
            "--aic-every",  # with dashes, as it is typed
            "belief.aic_every",
        ),
        (
            lambda: pt.rule("soql", mu=7),
            ("run", "stag-hunt", "--rule", "soql:mu=7"),
            (RING, 'rule = { name = "soql", mu = 7 }'),
            "--rule soql: mu",
            "rule.mu",
        ),
        (
            lambda: pt.rule("lll", tau=-1.0),
            ("run", "stag-hunt", "--tau", -1),
            (RING, 'rule = { name = "lll", tau = -1.0 }'),
            "--tau",
            "rule.tau",
        ),
        (
            lambda: pt.game("ring", players=2),
            ("run", "ring", "--set", "players=2"),
            ('game = { name = "ring", players = 2 }', SOQL),
            "--set players",
            "game.players",
        ),
        (
            lambda: pt.games.Coverage(pt.games.random_world(1), 2, K=-1.0),
            (*COVER, "--cost", -1),
            ('game = { map = "random:1", robots = 2, K = -1.0 }', SOQL),
            "--cost",  # the option has another name than the parameter
            "game.K",
        ),
        (
            lambda: pt.rule("ll"),
            ("run", "stag-hunt", "--rule", "ll"),
            (RING, 'rule = { name = "ll" }'),
            "--rule",
            "rule.name",
        ),
    ],
    ids=["belief", "inside the rule", "rule", "game", "another name", "unknown"],
)
def test_three_front_ends_name_the_same_problem(tmp_path, call, typed, study, option, key):
    with pytest.raises(InvalidInput) as caught:
        call()
    problem = caught.value.problem
    assert str(caught.value) == f"{caught.value.parameter} {problem}"
    assert said(*typed, cwd=tmp_path) == f"{option} {problem}"
    (tmp_path / "study.toml").write_text("\n".join(("steps = 10", "seeds = 2", *study)))
    assert said("sweep", "study.toml", "--dry-run", cwd=tmp_path) == f"{key} {problem}"


def test_a_parameter_is_said_of_where_it_was_given(tmp_path):
    """Rules and beliefs may have parameters of one name, and several rules too."""
    noise = ("--belief", "constant", "--noise", -1)
    wrong, cells = "must be a finite number of at least 0, got -1.0", "must be a number in [0, 1e+100], got -1.0"
    cover = (*COVER, "--out", tmp_path)
    assert said(*cover, "--rule", "soql:noise=0.1", *noise) == f"--noise {cells}"
    assert said(*cover, "--rule", "soql:noise=-1", "--belief", "constant") == f"--rule soql: noise {wrong}"
    assert said(*cover, "--rule", "ql:noise=0.1", "--rule", "soql:noise=-1") == f"--rule soql: noise {wrong}"
    late = said("run", "ring", "--rule", "slll", "--revision", "0.1,0.2")  # known when the game is
    assert late == "--revision must have one entry for each of 100 players, got 2"


def test_which_of_several_tables():
    study = {"steps": 5, "seeds": 1, "game": {"name": "stag-hunt"}}
    rules = [{"name": "lll", "tau": 0.1}, {"name": "blll", "tau": -1.0}]
    with pytest.raises(InvalidInput, match=r"^rule\.tau must be finite and > 0, got -1\.0.* \(blll\)$"):
        pt.sweep(study | {"rule": rules}, "never.study")
