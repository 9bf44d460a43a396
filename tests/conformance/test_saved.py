"""Saved runs: nothing half written, and nothing in a file that a run could not have written is let through."""

from __future__ import annotations

import io
import json
import os
import threading
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from tests import games
from tests.waiting import PATIENCE

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


# Archives that are made to do harm, other versions ----------------------------------------------------


def _peak(call):
    """Bytes that were held at a time while it ran."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _refused(path, message="damaged"):
    with pytest.raises(InvalidRun, match=message) as caught:
        pt.load(path, games.normal_form())
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 600 + len(str(path))


@pytest.mark.parametrize("name", ["rows.welfare", "events.time", "visits", "thoughts", "more", "about"])
def test_what_would_unpack_to_much_is_not_unpacked(tmp_path, name):
    path = _saved(tmp_path)
    with np.load(path) as file:
        arrays = dict(file)
    size = 20_000_000
    arrays[name] = np.array(" " * (size // 4)) if name == "about" else np.zeros(size // 8, np.int64)
    np.savez_compressed(path, **arrays)
    assert path.stat().st_size < size / 100
    assert _peak(lambda: _refused(path)) < size / 10


@pytest.mark.parametrize("claim", ["(10000000000,)", "(10000000000000000000000,)", "(26, 10000000000)", "(-26,)"])
def test_an_array_is_not_larger_than_its_run_and_its_file_can_explain(tmp_path, claim):
    path = _saved(tmp_path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name in ("rows.welfare.npy", "events.time.npy"):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {claim}, }}".ljust(117) + "\n"
        lying = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)
        with zipfile.ZipFile(path, "w") as archive:
            for other, content in (parts | {name: lying}).items():
                archive.writestr(other, content)
        assert _peak(lambda: _refused(path)) < 2_000_000


def test_a_step_that_explains_rows_without_number_is_refused(tmp_path):
    path = _saved(tmp_path)
    _rewrite(path, told={"step": 2**61})
    _refused(path)


def test_a_name_that_is_there_twice_is_refused(tmp_path):
    path = _saved(tmp_path)
    content = io.BytesIO()
    np.save(content, np.zeros(26))
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")  # zipfile's, about just this
        archive.writestr("rows.welfare.npy", content.getvalue())
    _refused(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = threading.Thread(target=_refused, args=(tmp_path / "pipe", "cannot read .*not a regular file"), daemon=True)
    done.start()
    done.join(PATIENCE)
    assert not done.is_alive()
    _refused(tmp_path, "cannot read .*directory")
    _refused(os.devnull, "cannot read .*not a regular file")


def test_a_newer_format_is_refused_with_the_version_that_wrote_it(tmp_path):
    path = _saved(tmp_path)
    _rewrite(path, told={"format": 99, "potentia": "7.1"})
    _refused(path, r"written by a newer version \(potentia 7\.1, format 99\): this is .*, format")
    _rewrite(path, told={"format": 2})
    _refused(path, "has format 2, this version reads 3")


def test_a_run_of_another_version_is_read_and_not_gone_on_with(tmp_path):
    path = _saved(tmp_path)
    whole = pt.load(path, games.normal_form()).trace()
    _rewrite(path, told={"potentia": "0.0.1"})
    run = pt.load(path, games.normal_form())
    np.testing.assert_array_equal(run.trace().profiles, whole.profiles)
    for _ in range(2):
        with pytest.raises(InvalidRun, match=r"saved by potentia 0\.0\.1, this is .*: go on with that version"):
            run.advance(1)
        run = pt.load(run.save(tmp_path / "again.npz"), games.normal_form())  # saved once more it is still that run


@pytest.mark.parametrize("told", [{"potentia": 5}, {"potentia": None}, {"format": "3"}, {"format": None}])
def test_versions_that_are_none_are_refused(tmp_path, told):
    path = _saved(tmp_path)
    _rewrite(path, told=told)
    _refused(path)


def test_words_of_a_file_do_not_flood_the_screen(tmp_path):
    path = _saved(tmp_path)
    _rewrite(path, told={"game": "x\n" * 10**5, "fingerprint": "other"})
    _refused(path, "another game")
    _rewrite(path, told={"format": 99, "potentia": "x\n" * 10**5})
    _refused(path, "newer version")


def test_players_that_changed_before_and_after_saving_are_listed_once(tmp_path):
    """Each has one place in the list; with two, compiled code would write beyond its end."""
    game, rule = games.normal_form(), pt.rule("slll", tau=5.0, revision=1.0)
    options = {"record": ("profile",), "every": 100}
    run = pt.begin(game, rule, 3, **options).advance(50)
    assert run.journal.pending[0] == game.num_players
    again = pt.load(run.save(tmp_path / "run.npz"), game).advance(49)
    assert again.journal.pending[0] == game.num_players
    np.testing.assert_array_equal(
        again.advance(51).trace().profiles, pt.run(game, rule, 150, seed=3, **options).profiles
    )
