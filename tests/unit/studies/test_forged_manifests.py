"""Manifests that somebody changed, digest and all: refused in one line, or of no harm to any reader."""

from __future__ import annotations

import copy
import json
import os
import tracemalloc

import pytest

from potentia.errors import PotentiaError, StudyError
from potentia.studies import planning
from potentia.studies.manifest import digest
from potentia.studies.results import overview
from potentia.studies.specification import specification_from
from potentia.studies.store import open_study
from potentia.studies.sweeping import prepare, sweep
from potentia.studies.tables import frames
from tests.studies import STUDY

NASTY = (None, True, -1, 0, 10**12, 2**70, 1e308, "", "x\x1b[2J", [], [[]], {}, {"x": 1}, [None], ["potential"] * 2)


def write(study, manifest):
    body = {name: entry for name, entry in manifest.items() if name not in ("identity", "manifest")}
    if manifest.get("identity") == study.identity:  # not what was forged
        body["identity"] = digest({name: entry for name, entry in body.items() if name != "chunk"})
    elif "identity" in manifest:
        body["identity"] = manifest["identity"]
    (study.folder / "manifest.json").write_text(json.dumps(body | {"manifest": digest(body)}))


def places(entry, at=()):
    """Where in plain data something can be put in place of what is there."""
    yield at
    inside = entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
    for key, part in inside:
        yield from places(part, (*at, key))


def forged(manifest):
    """The manifest with one entry replaced, left out or added."""
    for at in places(manifest):
        if not at or at == ("manifest",):
            continue
        for entry in (*NASTY, "left out", "added"):
            out = copy.deepcopy(manifest)
            inner = out
            for key in at[:-1]:
                inner = inner[key]
            if entry == "left out":
                del inner[at[-1]]
            elif entry == "added" and isinstance(inner, list):
                inner.append(inner[at[-1]])
            elif entry == "added":
                inner[f"{at[-1]}s"] = inner[at[-1]]
            else:
                inner[at[-1]] = entry
            yield at, out


def test_every_entry_is_checked(study):
    """Of all places and entries each third: what is opened can be read, shown, listed and verified."""
    tried, refused = 0, []
    for number, (at, manifest) in enumerate(forged(study.manifest)):
        if number % 3:
            continue
        tried += 1
        write(study, manifest)
        try:
            found = open_study(study.folder)
            assert found.num_chunks < 10**6
            found.damaged()
            overview(found, partial=True)
            found.dataset(partial=True)
            next(frames(found, partial=True))
        except PotentiaError as error:
            refused.append(f"{at}: {error}")
    assert tried > 300
    assert len(refused) > 0.8 * tried
    assert all(len(message.splitlines()) == 1 for message in refused)


def test_a_trillion_seeds_are_refused_at_once(study):
    manifest = copy.deepcopy(study.manifest)
    manifest["specification"]["seeds"] = {"first": 0, "count": 10**12}
    manifest["chunk"] = 1
    write(study, manifest)
    with pytest.raises(StudyError, match="at most 1,000,000,000 seeds"):
        open_study(study.folder)


def test_a_billion_seeds_of_a_few_bytes_take_no_memory(study):
    manifest = copy.deepcopy(study.manifest)
    manifest["specification"]["seeds"] = {"first": 0, "count": 10**9}
    manifest["chunk"] = 10**9
    write(study, manifest)
    found = open_study(study.folder)
    tracemalloc.start()
    assert "other arrays" in found.damaged()[next(found.chunks())]
    with pytest.raises(StudyError, match="is damaged"):
        found.dataset()
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_no_file_outside_the_study_is_read(study):
    manifest = copy.deepcopy(study.manifest)
    manifest["specification"]["game"][0] = {"file": "/etc/hostname.json", "label": "stag-hunt"}
    write(study, manifest)
    with pytest.raises(StudyError, match="names a file that is not in inputs"):
        open_study(study.folder)


def test_a_manifest_that_contradicts_itself(study):
    manifest = copy.deepcopy(study.manifest)
    manifest["points"][0]["rule"]["tau"] = 7.0
    body = {name: entry for name, entry in manifest.items() if name != "manifest"}
    (study.folder / "manifest.json").write_text(json.dumps(body | {"manifest": digest(body)}))
    with pytest.raises(StudyError, match="its identity is not that of its content"):
        open_study(study.folder)


def test_foreign_files_in_chunks_do_not_hang_a_sweep(study):
    stray = study.folder / "chunks" / f"999999-000000000-{'0' * 32}.npz"
    os.mkfifo(stray)
    sweep(study.folder)
    assert "999999" not in (study.folder / "checksums.txt").read_text()
    stray.unlink()
    chunk = next((study.folder / "chunks").iterdir())
    chunk.unlink()
    chunk.mkdir()
    with pytest.raises(StudyError, match="is a folder and nobody's chunk"):
        sweep(study.folder, repair=True)


@pytest.mark.parametrize("name", ["manifest.json", "chunk"])
def test_a_pipe_in_a_study_does_not_hang(study, name):
    path = study.folder / name if name != "chunk" else next((study.folder / "chunks").iterdir())
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(StudyError, match="is not a regular file"):
        open_study(study.folder).dataset()


def test_a_point_that_is_not_of_the_specification(study):
    manifest = copy.deepcopy(study.manifest)
    manifest["points"][1]["values"]["rule.tau"] = 0.3
    write(study, manifest)
    with pytest.raises(StudyError, match="point 1 is not that of its specification"):
        open_study(study.folder)


def test_rows_that_are_not_as_far_apart_as_the_specification_has_them(study):
    write(study, study.manifest | {"every": 20})
    with pytest.raises(StudyError, match="every must be 10, as the specification has it, got 20"):
        open_study(study.folder)


def test_many_points_are_planned_once(tmp_path, monkeypatch):
    """A run is begun for each game and kind of rule, not for each of a thousand temperatures, and not twice."""
    begun, begin = [], planning.begin

    def counted(game, *args, **options):
        begun.append(game)
        return begin(game, *args, **options)

    monkeypatch.setattr(planning, "begin", counted)
    rule = {"name": "lll", "tau": {"from": 0.1, "to": 1.0, "count": 1_000}}
    made = prepare(specification_from(STUDY | {"rule": rule}), tmp_path, tmp_path / "study")
    assert len(made.points) == 2_000
    assert len(begun) == 2
