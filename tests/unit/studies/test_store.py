"""A study's folder: what it holds, and what is noticed when something in it is wrong."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray

import potentia as pt
from potentia.errors import PotentiaError, StudyError, SweepFailed
from potentia.games import library
from potentia.studies.chunks import Chunk
from potentia.studies.manifest import digest
from potentia.studies.store import open_study
from potentia.studies.sweeping import sweep
from tests.studies import STUDY, Counting, all_names, chunk_files

# Results ----------------------------------------------------------------------------------------------


def test_a_point_is_what_run_batch_gives(finished):
    data = finished.dataset()
    assert data.potential.dims == ("game", "tau", "seed", "time")
    for name, game in (("stag-hunt", pt.game("stag-hunt")), ("ring", pt.game("ring", players=4))):
        for tau in (0.2, 0.6):
            record = ("potential", "welfare", "profile")
            alone = pt.run_batch(game, pt.rule("lll", tau=tau), 60, range(5), record=record, every=10)
            here = data.sel(game=name, tau=tau)
            for variable in (*record, "final", "steps_done", "revisions", "changes"):
                found = here[variable].values
                if "player" in here[variable].dims:
                    assert (found[..., game.num_players :] == -1).all()
                    found = found[..., : game.num_players]
                assert found.tobytes() == alone[variable].values.tobytes(), variable
            np.testing.assert_array_equal(here.time, alone.time)


def test_chunks_are_named_as_the_page_says(finished):
    page = (Path(__file__).parents[3] / "docs" / "studies.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"chunks/ +(\S+\.npz)", page)
    for path in chunk_files(finished):
        assert [len(part) for part in path.stem.split("-")] == [len(part) for part in example[:-4].split("-")]


def test_chunks_and_company_do_not_matter(finished, tmp_path):
    whole = finished.dataset()
    for size in (1, 3, 100):
        other = sweep(STUDY | {"chunk": size}, tmp_path / str(size)).dataset()
        xarray.testing.assert_identical(other.drop_attrs(), whole.drop_attrs())
    alone = sweep(STUDY | {"game": STUDY["game"][1], "seeds": [3, 1]}, tmp_path / "alone").dataset()
    xarray.testing.assert_identical(alone.drop_attrs(), whole.sel(game="ring", seed=[3, 1], drop=True).drop_attrs())


def test_runs_begin_where_the_specification_says(tmp_path):
    data = sweep(STUDY | {"game": STUDY["game"][1], "start": [1, 0, 0, 1]}, tmp_path / "study").dataset()
    assert (data.profile.isel(time=0) == [1, 0, 0, 1]).all()


def test_zip_and_ragged_grids(tmp_path):
    rules = [{"name": "lll", "tau": [0.2, 0.6]}, {"name": "slll", "tau": [0.2, 0.6], "revision": [0.5, "0.7"]}]
    zipped = STUDY | {"game": {"name": "stag-hunt"}, "rule": rules[1], "zip": [["rule.tau", "rule.revision"]]}
    data = sweep(zipped, tmp_path / "zip").dataset()
    assert data.potential.dims == ("tau_revision", "seed", "time")
    assert data.tau.values.tolist() == [0.2, 0.6]
    assert data.revision.values.tolist() == ["0.5", "0.7"]  # one is a text, so both are
    ragged = sweep(zipped | {"rule": rules}, tmp_path / "ragged").dataset()
    assert ragged.potential.dims == ("rule", "tau_revision", "seed", "time")
    assert ragged.tau.values.tolist() == [0.2, 0.6, 0.2, 0.6]
    assert ragged.revision.values.tolist() == ["", "", "0.5", "0.7"]
    np.testing.assert_array_equal(ragged.potential.values[1, 2:], data.potential.values)


def test_values_too_large_for_a_column_of_integers(tmp_path):
    game = {"name": "random-potential", "players": 2, "actions": 2, "seed": [1, 10**30]}
    data = sweep(STUDY | {"game": game, "rule": {"name": "lll", "tau": 0.2}}, tmp_path / "x").dataset()
    assert data.game_seed.values.tolist() == [1.0, 1e30]


def test_what_is_missing_is_nan(study):
    chunk_files(study)[0].unlink()
    with pytest.raises(StudyError, match=r"1 of 12 chunks are missing; partial=True takes what is there; sweep\('"):
        study.dataset()
    partial = study.dataset(partial=True)
    assert partial.attrs["complete"] == 0
    assert np.isnan(partial.potential.values[0, 0, :2]).all()
    assert (partial.final.values[0, 0, :2] == -1).all()
    assert (partial.steps_done.values[0, 0] == [-1, -1, 60, 60, 60]).all()
    assert not np.isnan(partial.potential.values[0, 0, 2:]).any()


def test_only_what_is_missing_is_played(study, finished):
    gone = chunk_files(study)[3:5]
    kept = {path.name: path.stat().st_mtime_ns for path in chunk_files(study) if path not in gone}
    for path in gone:
        path.unlink()
    counting = Counting()
    again = sweep(study.folder, executor=counting)
    assert counting.played == [Chunk(1, 0, 2), Chunk(1, 2, 4)]
    assert {name: (study.folder / "chunks" / name).stat().st_mtime_ns for name in kept} == kept
    xarray.testing.assert_identical(again.dataset(), finished.dataset())
    nothing = Counting()
    sweep(study.folder, executor=nothing)
    assert nothing.played == []


# Damage -----------------------------------------------------------------------------------------------


def harmed(study, path):
    """The chunk is named, the sweep refuses, the dataset does not use it, and repairing computes it alone."""
    name = path.name
    [said] = study.damaged().values()
    assert name in said
    assert len(said.splitlines()) == 1
    for call in (lambda: sweep(study.folder), study.dataset, lambda: study.dataset(partial=True)):
        with pytest.raises(StudyError, match=r"sweep\('.*', repair=True\) computes damaged chunks again"):
            call()
    [chunk] = study.damaged()
    counting = Counting()
    again = sweep(study.folder, executor=counting, repair=True)
    assert counting.played == [chunk]
    assert again.damaged() == {}
    return again


@pytest.mark.parametrize("place", [0, 30, 200, 700, -1])
def test_a_flipped_byte(study, finished, place):
    path = chunk_files(study)[4]
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    xarray.testing.assert_identical(harmed(study, path).dataset(), finished.dataset())


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_a_truncated_chunk(study, finished, length):
    path = chunk_files(study)[4]
    path.write_bytes(path.read_bytes()[:length])
    xarray.testing.assert_identical(harmed(study, path).dataset(), finished.dataset())


def under_its_hash(path, content):
    """These bytes in the place of a chunk, under a name that is right for them."""
    digest = hashlib.sha256(content).hexdigest()[:32]
    path.unlink()
    other = path.with_name(f"{path.name[:53]}{digest}.npz")
    other.write_bytes(content)
    return other


def packed(arrays, **options):
    buffer = io.BytesIO()
    (np.savez_compressed if options.pop("compressed", False) else np.savez)(buffer, **arrays, **options)
    return buffer.getvalue()


class Dangerous:
    """Unpickled, it would leave a trace."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return (os.mkdir, (str(self.trace),))


def test_pickles_are_never_loaded(study, tmp_path):
    path, trace = chunk_files(study)[4], tmp_path / "trace"
    arrays = dict(np.load(path))
    with np.load(io.BytesIO(packed({"x": np.array([Dangerous(trace)], object)})), allow_pickle=True) as bait:
        bait["x"]  # it is dangerous indeed
    assert trace.exists()
    trace.rmdir()
    arrays["potential"] = np.array([[Dangerous(trace)]], object)
    harmed(study, under_its_hash(path, packed(arrays)))
    assert not trace.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("potential"),
        lambda arrays: arrays.pop("about"),
        lambda arrays: arrays.pop("seeds"),
        lambda arrays: arrays.update(more=np.zeros((2, 7))),
        lambda arrays: arrays.update(potential=arrays["potential"][:, :-1]),
        lambda arrays: arrays.update(potential=arrays["potential"][0]),
        lambda arrays: arrays.update(potential=np.full((2, 7), "text")),
        lambda arrays: arrays.update(potential=arrays["potential"].astype(complex)),
        lambda arrays: arrays.update(final=arrays["final"].astype(float)),
        lambda arrays: arrays.update(about=np.frombuffer(b"[" * 100_000, np.uint8)),
        lambda arrays: arrays.update(about=np.frombuffer(b"\xff", np.uint8)),
        lambda arrays: arrays.update(seeds=arrays["seeds"] + 1),
    ],
)
def test_arrays_that_do_not_belong(study, change):
    path = chunk_files(study)[4]
    arrays = dict(np.load(path))
    change(arrays)
    harmed(study, under_its_hash(path, packed(arrays)))


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive", packed({"x": np.zeros(10**6)}, compressed=True)])
def test_other_files_under_the_name_of_a_chunk(study, content):
    harmed(study, under_its_hash(chunk_files(study)[4], content))


@pytest.mark.parametrize("other", [1, 3], ids=["other seeds", "another point"])
def test_swapped_chunks(study, finished, other):
    """Each under the other's place, with the right hash."""
    one, two = chunk_files(study)[0], chunk_files(study)[other]
    first, second = one.read_bytes(), two.read_bytes()
    under_its_hash(one, second)
    under_its_hash(two, first)
    assert list(study.damaged()) == [Chunk(0, 0, 2), (Chunk(0, 2, 4) if other == 1 else Chunk(1, 0, 2))]
    with pytest.raises(StudyError, match="and 1 more"):
        sweep(study.folder)
    counting = Counting()
    again = sweep(study.folder, executor=counting, repair=True)
    assert len(counting.played) == 2
    xarray.testing.assert_identical(again.dataset(), finished.dataset())


def test_a_chunk_twice(study):
    path = chunk_files(study)[4]
    shutil.copy(path, path.with_name(f"{path.name[:53]}{'0' * 32}.npz"))
    [said] = study.damaged().values()
    assert "are both chunk" in said
    with pytest.raises(StudyError, match="are both chunk"):
        study.dataset()
    assert sweep(study.folder, repair=True).damaged() == {}


def test_a_chunk_of_another_study(study, tmp_path):
    other = sweep(STUDY | {"steps": 70}, tmp_path / "other")
    path = chunk_files(study)[0]
    harmed(study, under_its_hash(path, chunk_files(other)[0].read_bytes()))


def test_flipped_bytes_of_the_manifest(study):
    path = study.folder / "manifest.json"
    good = path.read_bytes()
    random = np.random.default_rng(0)
    refused = []
    for place in random.choice(len(good), 150, replace=False):
        content = bytearray(good)
        content[place] ^= 1 << int(random.integers(0, 7))
        path.write_bytes(content)
        try:
            found = open_study(study.folder)
        except StudyError as error:
            refused.append(str(error))
        else:  # white space between entries
            assert found.manifest == study.manifest
    assert len(refused) > 100
    assert all(len(message.splitlines()) == 1 for message in refused)
    for length in (0, 1, len(good) // 2, len(good) - 3):
        path.write_bytes(good[:length])
        with pytest.raises(StudyError, match="damaged"):
            open_study(study.folder)


def signed(manifest):
    body = {name: entry for name, entry in manifest.items() if name != "manifest"}
    return body | {"manifest": digest(body)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 4, "potentia": "9.0"}, r"newer version \(potentia '9.0', format 4\)"),
        ({"format": "x"}, "names no format"),
        ({"chunk": 0}, "damaged"),
        ({"chunk": "x"}, "damaged"),
        ({"points": []}, "damaged"),
        ({"specification": {}}, "damaged"),
        ({"record": 5}, "damaged"),
    ],
)
def test_manifests_of_others(study, change, message):
    path = study.folder / "manifest.json"
    path.write_text(json.dumps(signed(study.manifest | change)))
    with pytest.raises(StudyError, match=message):
        open_study(study.folder)


def test_a_study_of_another_version_is_read_but_not_gone_on_with(tmp_path, monkeypatch, finished):
    with monkeypatch.context() as earlier:
        earlier.setattr("potentia.studies.manifest.__version__", "0.0.1")
        study = sweep(STUDY, tmp_path / "study")
    old = open_study(study.folder)
    np.testing.assert_array_equal(old.dataset().potential, finished.dataset().potential)
    chunk_files(study)[0].unlink()
    with pytest.raises(StudyError, match=r"begun with potentia 0.0.1, this is"):
        sweep(study.folder)


def test_no_study(tmp_path):
    with pytest.raises(StudyError, match="there is no study in"):
        open_study(tmp_path)
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(StudyError, match="cannot read"):
        open_study(tmp_path)


# What it was begun with -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["payoffs.json", ".hidden.json"])
def test_a_study_keeps_its_own_copies(tmp_path, name):
    payoffs = tmp_path / name
    payoffs.write_text('{"payoffs": [[[4, 0], [3, 3]], [[4, 3], [0, 3]]]}')
    toml = tmp_path / "mine.toml"
    toml.write_text(f'steps = 60\nseeds = 4\nchunk = 2\ngame.file = "{name}"\nrule = {{name = "lll", tau = 0.4}}\n')
    whole = sweep(toml)
    assert whole.folder == tmp_path / "mine.study"
    data = whole.dataset()
    for path in chunk_files(whole):
        path.unlink()
    assert [path.read_bytes() for path in (whole.folder / "inputs").iterdir()] == [payoffs.read_bytes()]
    payoffs.write_text('{"payoffs": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]}')
    with pytest.raises(StudyError, match=r"another study: it has runs of lll, .*game.file is .* there and .* here"):
        sweep(toml)
    payoffs.unlink()
    xarray.testing.assert_identical(sweep(whole.folder).dataset(), data)


def test_another_study_is_not_mixed_in(study):
    for change, message in (
        ({"steps": 70}, "another study: steps is 60 there and 70 here"),
        ({"every": 20}, "another study: every is 10 there and 20 here"),
        ({"start": [0, 0]}, r"another study: start is left out there and \[0, 0\] here"),
        (
            {"record": ["welfare"]},
            r'another study: record is \["potential", "welfare", "profile"\] there and \["welfare"\] here',
        ),
        (
            {"rule": {"name": "lll", "tau": 0.2}},
            "more: it has runs of stag-hunt, tau=0.6; ring, tau=0.6, which .*rule.tau is",
        ),
        ({"seeds": 4}, "more: it has seeds 4, which this specification does not ask for .seeds.count is 5"),
        ({"seeds": [9, 3, 1]}, "more: it has seeds 0, 2, 4, which this"),
    ):
        with pytest.raises(StudyError, match=f"holds {message}"):
            sweep(STUDY | change, study.folder)
    # words for people and how it is cut are no part of it
    assert sweep(STUDY | {"about": "words", "name": "other", "chunk": 5}, study.folder).size == 2


@pytest.fixture
def registered():
    """Build games under a name, as a user's own module would."""

    def register(utility, times=1.0):
        library._registry.pop("mine", None)
        data = np.array([times])
        library.register_game("mine")(lambda bonus=1.0: pt.games.custom(utility, [2, 2], data=bonus * data))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "_registry", dict(library._registry))
        patch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
        yield register


def _one(player, profile, data):
    return data[0] * profile[player]


def _two(player, profile, data):
    return data[0] * profile[player] + 1.0


MINE = STUDY | {"game": {"name": "mine", "bonus": 2.0}, "record": "welfare", "rule": {"name": "lll", "tau": 0.5}}


@pytest.mark.filterwarnings("ignore::potentia.errors.NotCompiled")
def test_a_game_whose_code_changed_is_refused(tmp_path, registered):
    registered(_one)
    begun = sweep(MINE, tmp_path / "mine")
    data = begun.dataset()
    chunk_files(begun)[0].unlink()
    registered(_two)
    with pytest.raises(
        StudyError,
        match=r"on with: the game Custom\(_one.*: its code has changed since the study was begun",
    ):
        sweep(begun.folder)
    registered(_one, times=3.0)  # other numbers for the same code
    with pytest.raises(StudyError, match=r"cannot be gone on with: .* is not what it was begun with"):
        sweep(begun.folder)
    library._registry.pop("mine")
    with pytest.raises(StudyError, match=r"cannot be gone on with: game\.name must be .* got 'mine'"):
        sweep(begun.folder)
    registered(_one)
    xarray.testing.assert_identical(sweep(begun.folder).dataset(), data)


def test_results_that_are_not_numbers_are_not_kept(tmp_path):
    """Two hunters with a stag of 1.5e308 each have more than a float can hold."""
    game = {"name": "stag-hunt", "stag": [4.0, 1.5e308]}
    with pytest.raises(SweepFailed) as caught:
        sweep(STUDY | {"game": game, "start": [0, 0], "rule": {"name": "lll", "tau": 0.1}}, tmp_path / "study")
    assert "welfare is inf at step 0 of seed 0 (stag=1.5e+308): such results are not kept" in str(caught.value)
    assert "5 of 10 runs are saved; go on with" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(list((tmp_path / "study" / "chunks").iterdir())) == 3


def test_nan_is_told_with_its_seed_and_step(study):
    arrays = study.read(Chunk(0, 2, 4))
    arrays["welfare"][1, 3] = np.nan
    before = chunk_files(study)
    with pytest.raises(SweepFailed, match=r"welfare is nan at step 30 of seed 3 \(stag-hunt, tau=0.2\)"):
        study.save(Chunk(0, 2, 4), arrays)
    assert chunk_files(study) == before


def test_harm_anywhere(tmp_path):
    """Any file of a study, flipped, cut or gone: the same numbers or one line, from reading and from going on."""
    (tmp_path / "payoffs.json").write_text('{"payoffs": [[[4, 0], [3, 3]], [[4, 3], [0, 3]]]}')
    toml = tmp_path / "mine.toml"
    toml.write_text('steps = 20\nseeds = 3\nchunk = 1\ngame.file = "payoffs.json"\nrule = {name = "lll", tau = 0.4}\n')
    good = sweep(toml)
    data, names = good.dataset(), [path for path in all_names(good.folder) if (good.folder / path).is_file()]
    random, outcomes = np.random.default_rng(1), {"same": 0, "told": 0}

    def same_or_told(call):
        try:
            found = call()
        except PotentiaError as error:
            message = str(error)
        else:
            xarray.testing.assert_identical(found, data)
            outcomes["same"] += 1
            return
        assert len(message.splitlines()) == 1
        outcomes["told"] += 1

    for number in range(80):
        folder = shutil.copytree(good.folder, tmp_path / "copies" / str(number))
        path = folder / names[number % len(names)]
        content, how = bytearray(path.read_bytes()), ("flip", "cut", "gone", "empty")[int(random.integers(4))]
        if how == "flip" and content:
            content[int(random.integers(len(content)))] ^= 1 << int(random.integers(8))
        path.write_bytes(content if how == "flip" else content[: len(content) // 2] if how == "cut" else b"")
        if how == "gone":
            path.unlink()
        same_or_told(lambda: open_study(folder).dataset())  # noqa: B023
        same_or_told(lambda: sweep(folder).dataset())  # noqa: B023
        same_or_told(lambda: sweep(folder, repair=True).dataset())  # noqa: B023
    assert min(outcomes.values()) > 40


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_the_lock_links_to_is_left_alone(study, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("years of work")
    (study.folder / ".lock").unlink(missing_ok=True)
    (study.folder / ".lock").symlink_to(mine)
    with pytest.raises(StudyError, match="is a link"):
        sweep(study.folder)
    assert mine.read_text() == "years of work"


@pytest.mark.parametrize("kind", ["f2", "f4", ">f8", "i8", "c16"])
def test_chunks_of_other_types_are_refused(study, kind):
    """Readers further on, NetCDF and Parquet among them, know doubles only."""
    path = chunk_files(study)[0]
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["welfare"] = arrays["welfare"].astype(kind)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    path.unlink()
    digits = hashlib.sha256(buffer.getvalue()).hexdigest()[:32]
    path.with_name(f"{path.name[:53]}{digits}.npz").write_bytes(buffer.getvalue())
    with pytest.raises(StudyError, match="is damaged: it cannot be read"):
        study.dataset()
