"""Beliefs of the user's own on the command line: ``potentia --import my.py run GAME --belief my-belief``."""

from __future__ import annotations

import json

import pytest

from tests import commands
from tests.end_to_end.test_cover_commands import MAP

BELIEF = '''
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from potentia.errors import InvalidBelief
from potentia.extend import Belief, estimate, learn, register_belief, utility


class LastData(NamedTuple):
    first: np.ndarray


class LastMind(NamedTuple):
    last: np.ndarray


@register_belief
@dataclass(frozen=True)
class Last(Belief):
    """What the player got the last time, and ``hope`` before that."""

    name = "last"
    summary = "the last utility received"
    remembers = ("last",)
    hope: float = 9.0
    noise: float = 0.0

    def __post_init__(self):
        if self.hope < 0:
            raise InvalidBelief(f"must be at least 0, got {self.hope}", "hope", self.hope)

    def data(self, game):
        return LastData(np.concatenate([[0], np.cumsum(game.sizes)[:-1]]))

    def new_mind(self, game):
        return LastMind(np.full(game.sizes.sum(), self.hope))


@estimate.register(LastData)
def _estimate(belief, mind, game, state, player, action):
    return mind.last[belief.first[player] + action]


@learn.register(LastData)
def _learn(belief, mind, game, state, moved, key, step):
    for player in range(belief.first.shape[0]):
        action = state.profile[player]
        mind.last[belief.first[player] + action] = utility(game, state, player, action)
'''
COVER = ("--robots", 2, "--delta", 1, "--steps", 30, "--runs", 2, "--rule", "blll", "--no-optimum", "--out", "out")


@pytest.fixture
def call(tmp_path):
    """A command after ``--import``, in plain Python."""
    (tmp_path / "my.py").write_text(BELIEF)
    (tmp_path / "yard.csv").write_text(MAP)
    return lambda *args: commands.potentia("--import", "my.py", *args, cwd=tmp_path, NUMBA_DISABLE_JIT="1")


def told(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_any_game_is_played_with_it(call):
    play = ("run", "stag-hunt", "--rule", "blll", "--steps", 100, "--runs", 4)
    hopeful = told(call(*play, "--belief", "last:hope=50", "--json"))
    assert hopeful["belief"] == {"belief": "last", "hope": 50, "noise": 0.0}
    sober = told(call(*play, "--belief", "last:hope=0,noise=0.5", "--json"))
    assert sober["belief"] == {"belief": "last", "hope": 0, "noise": 0.5}
    assert hopeful["acceptance"] > sober["acceptance"]  # everything is tried at least once
    assert "last, hope 9, noise 0" in call(*play, "--belief", "last").stdout


def test_a_map_is_covered_with_it(call, tmp_path):
    found = told(call("cover", "yard.csv", *COVER, "--belief", "last", "--json"))
    assert found["belief"] == {"belief": "last", "hope": 9.0, "noise": 0.0}
    assert (tmp_path / "out" / "worth.png").exists()
    assert not (tmp_path / "out" / "belief.png").exists()  # it cannot say what it believes of a cell
    done = call("cover", "yard.csv", *COVER, "--belief", "last:hope=2", "--noise", 0.5)  # an option that it has too
    assert done.returncode == 0, done.stderr
    assert "belief: last, hope 2, noise 0.5\n" in done.stdout


def test_built_in_beliefs_take_parameters_with_their_name(call):
    beside = told(call("cover", "yard.csv", *COVER, "--belief", "constant", "--share", 0.3, "--radius", 6, "--json"))
    inside = told(call("cover", "yard.csv", *COVER, "--belief", "constant:share=0.3,radius=6", "--json"))
    assert inside == beside
    assert inside["belief"]["communication"]["radius"] == 6
    mean = told(call("cover", "yard.csv", *COVER, "--belief", "running-mean:initial=2", "--json"))
    assert mean["belief"] == {"belief": "running-mean", "per": "action", "initial": 2.0}
    surveyed = told(call("run", "coverage", "--steps", 5, "--belief", "constant:survey=all,noise=0", "--json"))
    assert surveyed["belief"]["survey"] == "all"


@pytest.mark.parametrize(
    ("belief", "said"),
    [
        (
            ("lost",),
            "--belief must be one of constant, ",
        ),
        (("last:hop=2",), "last has no parameter 'hop'; did you mean 'hope'? (it has hope, noise)"),
        (("last:hope=-2",), "--belief last: hope must be at least 0, got -2"),
        (("known", "--initial", 2), "--initial is for --belief running-mean, got --belief known"),
        (("last:hope=1,hope=2",), "--belief last:hope=1,hope=2 gives hope twice"),
    ],
)
def test_mistakes_are_one_line(call, belief, said):
    done = call("run", "stag-hunt", "--belief", *belief)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}")
    assert done.stderr.count("\n") == 1


def test_it_is_listed_with_the_others(call):
    shown = call("beliefs").stdout
    for words in ("last", "hope=9.0, noise=0.0", "the last utility received", "split-merge", "--belief running-mean:"):
        assert words in shown
    assert "and hope before that" in call("beliefs", "last").stdout
    rows = {row["belief"]: row for row in json.loads(call("beliefs", "--json").stdout)}
    assert rows["last"]["parameters"] == {"hope": 9.0, "noise": 0.0}
    assert rows["split-merge"]["parameters"]["radius"] is None  # without bound
    assert rows["split-merge"]["parameters"]["aic_every"] == 100
    (alone,) = json.loads(call("beliefs", "split-merge", "--json").stdout)
    assert alone == rows["split-merge"]
    assert "Steps between two decisions" in alone["details"]
