"""A study and a saved run with a rule, a belief, a recorder and a game of one's own go on with the same code or not."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections import OrderedDict
from unittest.mock import patch

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun, InvalidSpecification, StudyError
from potentia.kernel import recorders
from potentia.studies import chunks, sweeping
from tests import commands
from tests.studies import as_before, chunk_files

SCRIPT = """
from typing import NamedTuple

import attrs
import helper
import numpy as np
import potentia as pt
from potentia import extend
from potentia.extend import CHOICE, REVISIONS, WAKE, below, move, uniform, utility


class MineData(NamedTuple):
    least: float


def better(gain, least):
    return gain > least


@extend.register_rule
@attrs.frozen(repr=False)
class Mine(extend.Rule):
    name = "mine"
    least: float = 0.0

    def data(self, game, horizon):
        return MineData(self.least)


@extend.step.register(MineData)
def _step(rule, memory, game, state, journal, key, n):
    player = below(uniform(key, 2, n, 0, WAKE), 2)
    action = below(uniform(key, 2, n, player, CHOICE), 2)
    journal.counts[REVISIONS] += 1
    gain = utility(game, state, player, action) - utility(game, state, player, state.profile[player])
    if better(gain, rule.least):
        move(journal, game, state, player, action, n)


class HopeData(NamedTuple):
    hope: float


class HopeMind(NamedTuple):
    nothing: np.ndarray


@extend.register_belief
@attrs.frozen(repr=False)
class Hope(extend.Belief):
    name = "hope"

    def data(self, game):
        return HopeData(1.5)

    def new_mind(self, game):
        return HopeMind(np.zeros(1))


@extend.estimate.register(HopeData)
def _estimate(belief, mind, game, state, player, action):
    return belief.hope


@extend.register_recorder()
def odd(profile, data):
    return float(profile.sum() % 2 == 1)


@extend.register_game("guess")
def guess():
    def pay(player, profile, data):
        return helper.worth(profile[player])

    return pt.games.custom(pay, [2, 2])
"""
HELPER = "def worth(action):\n    return 1.0 + action\n"
STUDY = {
    "steps": 8,
    "seeds": 2,
    "chunk": 1,
    "record": ["welfare", "odd"],
    "game": {"name": "guess"},
    "belief": {"name": "hope"},
    "rule": {"name": "mine", "least": [0.0, 0.5]},
}


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    """Files are edited within a second."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "mine.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text(HELPER)
    return tmp_path


@contextlib.contextmanager
def process(place):
    """What is done here has run the script as it is now, as a new process would."""
    with commands.fresh(place), patch.object(recorders, "_own", {}), patch.object(sys, "path", [str(place), *sys.path]):
        importlib.import_module("mine")
        yield


def begin(place):
    """A study that was killed, and a saved run."""
    with process(place):
        chunk_files(sweep(STUDY, place / "study"))[-1].unlink()
        run = pt.begin(pt.game("guess"), pt.rule("mine"), belief=pt.belief("hope"), record=("welfare", "odd"))
        run.advance(5).save(place / "saved.run")


def sweep(what, *folder):
    return pt.sweep(what, *folder, compiled=False)


def load(place):
    return pt.load(place / "saved.run", pt.game("guess"), pt.belief("hope"), compiled=False)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new", "which"),
    [
        ("mine.py", "gain > least", "gain >= least", "rule mine"),
        ("mine.py", "HopeData(1.5)", "HopeData(2.5)", "belief hope"),
        ("mine.py", "return belief.hope", "return belief.hope + player", "belief hope"),
        ("mine.py", "% 2 == 1", "% 2 == 0", "recorder odd"),
        ("helper.py", "1.0 + action", "2.0 + action", r"game Custom\(pay, players=2\)"),
    ],
)
def test_other_code_is_refused(place, file, old, new, which):
    begin(place)
    edit(place / file, old, new)
    with process(place):
        with pytest.raises(StudyError, match=f"study cannot be gone on with: the {which}: its code has changed since"):
            sweep(place / "study")
        with pytest.raises(InvalidRun, match=f"saved.run cannot be gone on with: the {which}: its code has changed"):
            load(place)
    assert len(list((place / "study" / "chunks").iterdir())) == 3


def test_the_same_code_goes_on(place):
    begin(place)
    edit(place / "mine.py", "\n\n\n", "\n\n\n# words\n")
    edit(place / "helper.py", "def worth", "# words\n\n\ndef worth")
    with process(place):
        again = sweep(place / "study")
        assert again.computed == 1
        assert again.dataset().identical(sweep(STUDY, place / "other").dataset())
        assert load(place).advance(3).step == 8
    assert (place / "study" / "manifest.json").read_bytes() == (place / "other" / "manifest.json").read_bytes()


def test_a_complete_study_is_not_the_answer_for_other_code(place):
    with process(place):
        sweep(STUDY, place / "study")
    edit(place / "mine.py", "gain > least", "gain >= least")
    with process(place):
        with pytest.raises(StudyError, match="the rule mine: its code has changed since the study was begun"):
            sweep(STUDY, place / "study")
        assert sweep(place / "study").computed == 0  # nobody said what it should be
        assert pt.open_study(place / "study").dataset().odd.size


def test_another_python_is_named(place):
    with patch("potentia.engine.code.PYTHON", "3.99"):
        begin(place)
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    said = f"rule mine, .* cannot be compared: it was compiled by Python 3.99, and this is Python {here}; "
    with process(place):
        with pytest.raises(StudyError, match=f"{said}go on with that Python, or begin again in another folder"):
            sweep(place / "study")
        with pytest.raises(InvalidRun, match=f"{said}load it with that Python, or begin again"):
            load(place)


def test_what_cannot_be_told_is_refused_at_the_beginning(place):
    edit(place / "mine.py", "def better", "draws = np.random.default_rng()\n\n\ndef better")
    edit(place / "mine.py", "gain > least", "gain > least * draws.random()")
    said = "the rule mine cannot be told from an edited one: draws, used by .*better, is a numpy.random"
    with process(place):
        with pytest.raises(InvalidSpecification, match=said):
            sweep(STUDY, place / "study")
        with pytest.raises(InvalidRun, match=said):
            pt.begin(pt.game("guess"), pt.rule("mine"), record=()).save(place / "saved.run")
    assert {path.name for path in place.iterdir()} == {"mine.py", "helper.py"}


def test_what_was_begun_before_code_was_looked_at_goes_on(place):
    with (
        patch("potentia.studies.planning.own_code", return_value={}),
        patch("potentia.engine.code.own_code", return_value={}),
    ):
        begin(place)
    as_before(pt.open_study(place / "study"))
    told = json.loads((place / "study" / "manifest.json").read_text())
    assert (told["format"], "code" in told, "code" in header(place / "saved.run")) == (1, False, False)
    edit(place / "mine.py", "gain > least", "gain >= least + draws.random()")
    edit(place / "mine.py", "def better", "draws = np.random.default_rng()\n\n\ndef better")
    with process(place):
        assert sweep(place / "study").computed == 1
        assert load(place).advance(1).step == 6


def header(path):
    with np.load(path) as archive:
        return json.loads(str(archive["about"]))


def test_what_comes_with_the_package_is_written_as_it_was(tmp_path):
    ours = {"game": {"name": "ring", "players": 3}, "rule": {"name": "lll", "tau": 0.2}, "belief": {"name": "known"}}
    told = sweep(STUDY | ours | {"record": "welfare"}, tmp_path / "study").manifest
    names = "format potentia specification record every chunk dimensions names points identity manifest"
    assert (" ".join(told), told["format"]) == (names, 3)
    run = pt.begin(pt.game("ring", players=3), pt.rule("lll", tau=0.2))
    names = "format potentia game fingerprint rule seed step record every horizon"
    assert " ".join(header(run.save(tmp_path / "a.run"))) == names


@pytest.mark.parametrize("edited", [False, True])
def test_a_worker_that_has_loaded_other_code_does_not_play(place, monkeypatch, edited):
    """The process that sweeps may have loaded a file before it was edited, and a worker after that."""
    monkeypatch.setattr(chunks, "_unpacked", OrderedDict())
    with process(place):
        study = sweep(STUDY, place / "study")
        [task, *_] = sweeping._tasks(study, [chunks.Chunk(0, 0, 1)], True, False, 1)
    if edited:
        edit(place / "mine.py", "gain > least", "gain >= least")
    with process(place):
        _, found = chunks.play(task)
    if edited:
        assert found == "SweepFailed: a worker does not have the code of the process that sweeps: the rule mine"
    else:
        assert (found["welfare"] == study.read(chunks.Chunk(0, 0, 1))["welfare"]).all()
