"""What is somebody else's stays: hidden files, linked folders, locks that are none, folders with anything in them."""

from __future__ import annotations

import os

import pytest

from potentia.errors import StudyError
from potentia.studies.sweeping import sweep
from tests.studies import STUDY, all_names, chunk_files, half_written

FOREIGN = (".bashrc", ".env", ".manifest.json-abcd", ".x-0123456789abcdef.part", "notes.txt")


@pytest.mark.parametrize("place", ["", "inputs", "chunks"])
@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_with_something_of_somebody_else_is_not_free(tmp_path, place, name):
    folder = tmp_path / "p"
    (folder / place).mkdir(parents=True)
    (folder / place / name).write_text("mine")
    with pytest.raises(StudyError, match="holds something else"):
        sweep(STUDY, folder)
    assert all_names(folder / place) == [name]


def test_files_of_somebody_else_in_a_study_stay(study):
    foreign = [study.folder / place / name for place in ("", "inputs", "chunks") for name in FOREIGN]
    for path in foreign:
        path.write_text("mine")
    chunk_files(study)[0].unlink()
    sweep(study.folder, repair=True)
    assert all(path.read_text() == "mine" for path in foreign)


@pytest.mark.parametrize("name", ["inputs", "chunks", ".lock", "checksums.txt", "manifest.json"])
@pytest.mark.parametrize("begun", [True, False])
def test_nothing_is_written_or_removed_behind_a_link(tmp_path, study, name, begun):
    other = tmp_path / "other"
    ours = study.folder if begun else tmp_path / "new"
    if begun and (ours / name).exists():
        (ours / name).rename(other)
    elif name in ("inputs", "chunks"):
        other.mkdir()
    else:
        other.write_text("mine")
    if other.is_dir():
        (other / ".bashrc").write_text("mine")
        half_written(other / "x.npz")
    ours.mkdir(exist_ok=True)
    (ours / name).symlink_to(other)
    before = {path: path.read_bytes() for path in [other, *tmp_path.rglob("other/*")] if path.is_file()}
    with pytest.raises(StudyError, match=r"is a link|is damaged: it is not JSON"):
        sweep(study.folder if begun else STUDY, ours)
    assert before == {path: path.read_bytes() for path in [other, *tmp_path.rglob("other/*")] if path.is_file()}


def test_a_lock_with_something_in_it_is_not_taken(study, tmp_path):
    (study.folder / ".lock").write_text("mine")
    with pytest.raises(StudyError, match="a lock is an empty file"):
        sweep(study.folder)
    assert (study.folder / ".lock").read_text() == "mine"
    (study.folder / ".lock").unlink()
    (tmp_path / "empty").touch()
    os.link(tmp_path / "empty", study.folder / ".lock")
    with pytest.raises(StudyError, match="a lock is an empty file"):
        sweep(study.folder)
