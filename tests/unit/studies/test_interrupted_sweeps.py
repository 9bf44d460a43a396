"""Full disks, closed folders, dead workers and Ctrl-C: what a sweep that fails leaves behind."""

from __future__ import annotations

import hashlib
import signal
from collections import OrderedDict
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path

import filelock
import pytest
import xarray

from potentia.errors import InvalidInput, InvalidSpecification, PotentiaError, StudyError, SweepFailed
from potentia.kernel.files import whole_file
from potentia.studies import chunks, store
from potentia.studies.planning import plan
from potentia.studies.specification import specification_from
from potentia.studies.store import open_study
from potentia.studies.sweeping import Stopped, sweep
from potentia.version import __version__
from tests.studies import STUDY, Counting, all_names, chunk_files, half_written

# Disks, permissions, processes ------------------------------------------------------------------------


def test_a_full_disk(tmp_path, monkeypatch, finished):
    """What was saved is kept, what could not be is not there by half, and later the sweep goes on."""
    written = chunks.Path.write_bytes

    def full(self, data):
        if len(list(self.parent.glob("*.npz"))) >= 3:
            written(self, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return written(self, data)

    monkeypatch.setattr(chunks.Path, "write_bytes", full)
    with pytest.raises(SweepFailed, match=r"No space left on device; 5 of 20 runs are saved; go on with: sweep"):
        sweep(STUDY, tmp_path / "study")
    monkeypatch.undo()
    assert [name for name in all_names(tmp_path / "study") if "/." in name] == []
    left = len(list((tmp_path / "study" / "chunks").iterdir()))
    assert left == 3
    counting = Counting()
    done = sweep(tmp_path / "study", executor=counting)
    assert len(counting.played) == 12 - left
    xarray.testing.assert_identical(done.dataset(), finished.dataset())


@pytest.mark.parametrize("number", [0, 1])
def test_a_full_disk_at_the_beginning_and_at_the_end(tmp_path, monkeypatch, finished, number):
    """The manifest is the first text that is written, the checksums are the second."""
    written, seen = chunks.Path.write_text, []

    def full(self, *args, **options):
        seen.append(self)
        if len(seen) == number + 1:
            raise OSError(28, "No space left on device")
        return written(self, *args, **options)

    monkeypatch.setattr(chunks.Path, "write_text", full)
    with pytest.raises(StudyError, match=r"cannot write to .*: No space left on device"):
        sweep(STUDY, tmp_path / "study")
    monkeypatch.undo()
    assert not [name for name in all_names(tmp_path / "study") if name.startswith((".manifest", ".check"))]
    xarray.testing.assert_identical(sweep(STUDY, tmp_path / "study").dataset(), finished.dataset())


def test_places_that_cannot_be_written_to(tmp_path, monkeypatch, study):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StudyError, match="holds something else"):
        sweep(STUDY, tmp_path / "file")
    with pytest.raises(StudyError, match=r"cannot write to .*: Not a directory"):
        sweep(STUDY, tmp_path / "file" / "below")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    with pytest.raises(StudyError, match="holds something else"):
        sweep(STUDY, tmp_path / "full")
    assert all_names(tmp_path / "full") == ["mine.txt"]

    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    chunk_files(study)[0].unlink()
    before = all_names(study.folder)
    for name in ("potentia.kernel.files._temporary_name", "filelock.FileLock.acquire"):
        with monkeypatch.context() as patch:
            patch.setattr(name, refuse)
            with pytest.raises(PotentiaError, match=r"cannot write to .*: Permission denied"):
                sweep(study.folder)
        assert all_names(study.folder) == before


def test_a_folder_that_a_killed_process_left_at_its_beginning(tmp_path, finished):
    folder = tmp_path / "study"
    left = [half_written(folder / name) for name in ("manifest.json", "inputs/x.json", "chunks/x.npz")]
    (folder / ".lock").touch()
    kept = "x-" + hashlib.sha256(b"{}").hexdigest()[:12] + ".json"
    (folder / "inputs" / kept).write_bytes(b"{}")  # a copy for a study that never began
    done = sweep(STUDY, folder)
    xarray.testing.assert_identical(done.dataset(), finished.dataset())
    assert not any(path.exists() for path in left)


def test_half_written_files_are_removed_and_never_read(study, finished):
    left = half_written(study.folder / "chunks" / "000000-000000000-x.npz")
    xarray.testing.assert_identical(study.dataset(), finished.dataset())
    sweep(study.folder)
    assert not left.exists()


def test_a_study_is_held_by_one(study):
    with study.locked():
        xarray.testing.assert_identical(study.dataset(), study.dataset())  # readers need no lock
        with pytest.raises(StudyError, match="in use"):
            sweep(study.folder)
    sweep(study.folder)


@pytest.mark.parametrize("moment", ["gather", "_is_free", "_listed", "_locked"])
def test_two_that_begin_at_once(tmp_path, monkeypatch, moment):
    """The slower one finds the study there, perhaps cut otherwise, and does not write over its manifest."""
    folder = tmp_path / "study"
    folder.mkdir()
    real = getattr(store, moment)

    def slow(*args):
        patch.undo()
        sweep(STUDY | {"chunk": 3}, folder)
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(store, moment, slow)
        with pytest.raises(StudyError, match="in use: another process has just begun"):
            store.create(folder, plan(specification_from(STUDY)), tmp_path, 2)
    assert open_study(folder).size == 3
    assert open_study(folder).damaged() == {}


@pytest.mark.parametrize("name", ["manifest.json", "inputs/x.json"])
def test_a_study_that_another_is_about_to_write(tmp_path, name):
    """Files that live are not taken for somebody else's: the study is in use, and stays as it is."""
    folder = tmp_path / "study"
    (folder / "inputs").mkdir(parents=True)
    with filelock.FileLock(folder / ".lock"), whole_file(folder / name) as temporary:
        temporary.write_text("half")
        with pytest.raises(StudyError, match="in use: another process is sweeping it"):
            sweep(STUDY, folder)
        assert temporary.read_text() == "half"


def test_whoever_began_a_study_waits_for_those_who_look(tmp_path, study, monkeypatch):
    """Between beginning and sweeping another process may hold the lock for a moment; later ones are told at once."""
    real, patience = filelock.FileLock.acquire, []

    def acquire(self, timeout=None, **options):
        patience.append(timeout)
        return real(self, timeout=timeout, **options)

    monkeypatch.setattr(filelock.FileLock, "acquire", acquire)
    sweep(STUDY, tmp_path / "new")
    sweep(study.folder)
    create, begun, later = patience
    assert begun > 20
    assert create == later < 1


def test_checksums_are_those_of_sha256sum(finished):
    lines = (finished.folder / "checksums.txt").read_text().splitlines()
    assert len(lines) == finished.num_chunks
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((finished.folder / name).read_bytes()).hexdigest() == digest


# Executors --------------------------------------------------------------------------------------------


def test_an_executor_that_breaks(tmp_path, finished):
    def after_three(number):
        if number == 3:
            raise BrokenExecutor("gone")

    with pytest.raises(SweepFailed, match=r"a worker process died.*6 of 20 runs|a worker process died.*5 of 20 runs"):
        sweep(STUDY, tmp_path / "study", executor=Counting(after_three))
    xarray.testing.assert_identical(sweep(tmp_path / "study").dataset(), finished.dataset())


def test_a_worker_of_another_version(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "__version__", "9.9")
    with pytest.raises(SweepFailed, match=r"a worker has potentia 9.9, this study needs .*; 0 of 20 runs are saved"):
        sweep(STUDY, tmp_path / "study")


def test_what_cannot_be_sent(tmp_path, monkeypatch):
    def refuse(things):
        raise TypeError("cannot pickle '_io.TextIOWrapper' object")

    monkeypatch.setattr("cloudpickle.dumps", refuse)
    with pytest.raises(SweepFailed, match=r"stag-hunt, tau=0.2 cannot be sent to another process: cannot pickle"):
        sweep(STUDY, tmp_path / "study", executor=Counting())


class Interrupted(ThreadPoolExecutor):
    """Ctrl-C arrives when the fifth chunk is handed out."""

    handed = 0

    def submit(self, fn, /, *args, **kwargs):
        self.handed += 1
        if self.handed == 5:
            signal.raise_signal(signal.SIGINT)
        return super().submit(fn, *args, **kwargs)


def test_ctrl_c_saves_what_was_under_way(tmp_path, finished):
    with (
        Interrupted(1) as pool,
        pytest.raises(Stopped, match=r"Ctrl-C; 9 of 20 runs are saved; go on with: sweep"),
    ):
        sweep(STUDY, tmp_path / "study", executor=pool)
    there = len(list((tmp_path / "study" / "chunks").iterdir()))
    assert there == 5  # the one that was under way too
    xarray.testing.assert_identical(sweep(tmp_path / "study").dataset(), finished.dataset())


class Impatient(ThreadPoolExecutor):
    """Ctrl-C twice when the fifth chunk is handed out."""

    handed = 0

    def submit(self, fn, /, *args, **kwargs):
        self.handed += 1
        if self.handed == 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return super().submit(fn, *args, **kwargs)


def test_a_second_ctrl_c_says_how_to_go_on_too(tmp_path, finished):
    with (
        Impatient(1) as pool,
        pytest.raises(Stopped, match=r"^stopped by Ctrl-C; \d+ of 20 runs are saved; go on with: "),
    ):
        sweep(STUDY, tmp_path / "study", executor=pool)
    xarray.testing.assert_identical(sweep(tmp_path / "study").dataset(), finished.dataset())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be an integer from 1"),
        ({"workers": 10**6}, "workers must be an integer from 1"),
        ({"workers": True}, "workers must be an integer from 1"),
        ({"executor": "fibres"}, "executor must be one of threads, processes and dask, an address .* got 'fibres'"),
        ({"executor": 3}, "executor must be one of threads, processes and dask, an address .* got 3"),
    ],
)
def test_workers_that_make_no_sense(tmp_path, options, message):
    with pytest.raises(InvalidInput, match=message):
        sweep(STUDY, tmp_path / "study", **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": 2 * 10**9, "chunk": 10**6}, "at most 1,000,000,000 seeds"),
        ({"seeds": 10**8, "chunk": 1}, "at most 1,000,000 chunks, got 400,000,000 with chunk = 1"),
        ({"seeds": 10**9, "chunk": 10**9}, "a chunk of 1,000,000,000 runs needs"),
    ],
)
def test_studies_that_no_folder_can_hold(tmp_path, change, message):
    with pytest.raises(PotentiaError, match=message):
        sweep(STUDY | change, tmp_path / "study", many=True)
    with pytest.raises(InvalidSpecification, match="pass many=True if you mean it"):
        sweep(STUDY | change, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_study_needs_a_folder():
    with pytest.raises(InvalidInput, match="needs a folder"):
        sweep(STUDY)


def test_what_does_not_read_back_is_not_kept(tmp_path, monkeypatch):
    write = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", lambda path, content: write(path, content[:-1] + b"!"))
    with pytest.raises(SweepFailed, match="what was written does not read back the same; 0 of 20 runs"):
        sweep(STUDY, tmp_path / "study")
    assert not list((tmp_path / "study" / "chunks").iterdir())


def test_a_worker_keeps_the_games_that_it_met_last(monkeypatch):
    monkeypatch.setattr(chunks, "_KEPT", 2)
    monkeypatch.setattr(chunks, "_unpacked", OrderedDict())
    point = plan(specification_from(STUDY)).points[0]
    _, parcel = chunks.pack(point, apart=True)
    for key in "abc":
        task = chunks.Task(chunks.Chunk(0, 0, 1), __version__, (0,), 5, 5, ("welfare",), None, key, parcel)
        _, found = chunks.play(task)
        assert found["welfare"].shape == (1, 2)
    assert list(chunks._unpacked) == ["b", "c"]


def test_a_chunk_knows_how_much_of_its_kind_follows(tmp_path, monkeypatch):
    """So that machine code is asked for early, where many short runs are to be played."""
    told, play = [], chunks.play
    monkeypatch.setattr(chunks, "play", lambda task: told.append((task.chunk.point, task.after)) or play(task))
    rules = [{"name": "lll", "tau": [0.1, 0.2]}, {"name": "blll", "tau": 0.1}]
    one = {"steps": 5, "seeds": 2, "chunk": 1, "game": {"name": "stag-hunt"}, "rule": rules}
    sweep(STUDY | one, tmp_path / "study", workers=2)
    assert sorted(told) == [(0, 5), (0, 7), (1, 0), (1, 2), (2, 0), (2, 2)]
