"""Saved runs: nothing half written, and nothing in a file that a run could not have written is let through."""

from __future__ import annotations

import json

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from tests import games

TAMPERED = {
    "profile out of range": {"profile": np.array([70, -3, 0])},
    "profile of floats": {"profile": np.array([0.0, 0.0, 0.0])},
    "profile too short": {"profile": np.array([0])},
    "start out of range": {"start": np.array([9, 9, 9])},
    "negative counts": {"counts": np.array([-1, 0])},
    "visits elsewhere": {"visits": np.full(12, 10**6)},
    "changed player": {"changed": np.array([10**12])},
    "changed twice": {"changed": np.array([0, 0])},
    "event of no player": {"events.player": np.full(3, 99, np.int32)},
    "event of no action": {"events.action": np.full(3, 99, np.int32)},
    "events too short": {"events.time": np.array([2])},
    "events out of order": {"events.time": np.array([40, 2, 4])},
    "rows too short": {"rows.welfare": np.zeros(2)},
    "rows of another type": {"rows.welfare": np.zeros(26, np.int64)},
    "unknown rows": {"rows.rumour": np.zeros(26)},
}
MISTOLD = {
    "step": [-5, "ten", 2.5, 2**62, 2**63, 10**30],
    "seed": [-1, None],
    "every": [0],
    "record": [["gossip"], 5],
    "rule": [3],
}


def _rewrite(path, change=None, told=None, without=None):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name != without}
    for name, values in (change or {}).items():
        if name.startswith("events.") and values.size == 3:  # one bad entry in a column of the right length
            column = arrays[name].copy()
            column[:3] = values
            arrays[name] = column
        else:
            arrays[name] = values
    if told:
        arrays["about"] = np.array(json.dumps({**json.loads(str(arrays["about"])), **told}))
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def _saved(tmp_path):
    record = ("profile", "welfare", "visits")
    run = pt.begin(games.normal_form(), pt.rule("slll", tau=1.0, revision=0.5), 1, record=record, every=2)
    return run.advance(51).save(tmp_path / "run.npz")


@pytest.mark.parametrize("case", TAMPERED)
def test_tampered_arrays_are_refused(tmp_path, case):
    path = _saved(tmp_path)
    _rewrite(path, TAMPERED[case])
    with pytest.raises(InvalidRun):
        pt.load(path, games.normal_form())


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in MISTOLD.items() for value in values])
def test_tampered_descriptions_are_refused(tmp_path, name, value):
    path = _saved(tmp_path)
    _rewrite(path, told={name: value})
    with pytest.raises(pt.errors.InvalidInput):
        pt.load(path, games.normal_form())


def test_missing_parts_and_flipped_bytes_are_refused(tmp_path):
    path = _saved(tmp_path)
    whole = path.read_bytes()
    with np.load(path) as file:
        names = list(file.files)
    for name in names:
        path.write_bytes(whole)
        _rewrite(path, without=name)
        with pytest.raises(InvalidRun):
            pt.load(path, games.normal_form())
    random = np.random.default_rng(3)
    good = pt.begin(games.normal_form(), pt.rule("lll", tau=1.0), 1)
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[random.integers(len(whole))] ^= 1 << random.integers(8)
        path.write_bytes(bytes(damaged))
        try:
            run = pt.load(path, games.normal_form())
        except pt.errors.InvalidInput:
            continue
        run.advance(10)  # a flip in a place that carries nothing: the run must still be playable
        assert run.profile.shape == good.profile.shape


def test_a_saved_file_has_the_users_mode(tmp_path):
    path = _saved(tmp_path)
    (tmp_path / "plain").write_text("")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_saved_files_are_checked(tmp_path):
    game, rule = games.normal_form(), pt.rule("lll", tau=1.0)
    path = pt.begin(game, rule, 1, record=("profile", "welfare")).advance(50).save(tmp_path / "run.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"], "nothing half written is left behind"
    with pytest.raises(InvalidRun, match="another game"):
        pt.load(path, games.separable())
    with pytest.raises(InvalidRun, match="cannot read"):
        pt.load(tmp_path / "none.npz", game)
    whole = path.read_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:cut])
        with pytest.raises(InvalidRun, match="damaged"):
            pt.load(path, game)
    with pytest.raises(InvalidRun, match="cannot write"):
        pt.begin(game, rule, 1).save(tmp_path / "no" / "folder.npz")
