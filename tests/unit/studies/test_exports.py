"""Studies as files for other programs: nothing is lost on the way."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest
import xarray

from potentia.errors import StudyError
from potentia.studies.store import open_study
from potentia.studies.sweeping import sweep
from potentia.studies.tables import export, frames

STUDY = {
    "name": "Prüfung",
    "about": "two\nlines",
    "steps": 60,
    "every": 10,
    "seeds": {"first": 3, "count": 5},
    "chunk": 2,
    "record": ["potential", "acceptance", "profile"],
    "game": [{"name": "stag-hunt", "label": "Jagd, λ"}, {"name": "ring", "players": 4}],
    "rule": {"name": "lll", "tau": [1 / 3, "geometric:1:0.1"]},
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return sweep(STUDY, tmp_path_factory.mktemp("exports") / "study")


@pytest.fixture(scope="module")
def ragged(tmp_path_factory):
    rules = [{"name": "lll", "tau": [0.1, 0.3]}, {"name": "slll", "tau": 0.2, "revision": [0.5, 0.7, 1.0]}]
    return sweep(STUDY | {"rule": rules, "game": STUDY["game"][0]}, tmp_path_factory.mktemp("exports") / "ragged")


@pytest.fixture(params=["study", "ragged"])
def either(request):
    return request.getfixturevalue(request.param)


def test_netcdf_gives_the_dataset_back(either, tmp_path):
    data = either.dataset()
    path = export(either, tmp_path / "data.nc")
    with xarray.open_dataset(path) as again:
        again.load()
    assert set(again.variables) == set(data.variables)
    assert again.sizes == data.sizes
    for name, wanted in data.variables.items():
        assert again[name].dims == wanted.dims
        np.testing.assert_array_equal(again[name].values, wanted.values, err_msg=name)
        if wanted.dtype.kind == "f":
            assert again[name].values.astype(float).tobytes() == wanted.values.tobytes(), name
    assert json.loads(again.attrs["specification"]) == json.loads(data.attrs["specification"])
    assert {k: v for k, v in again.attrs.items() if v != ""} == {k: v for k, v in data.attrs.items() if v != ""}


def by_hand(study, table):
    """Rows from the dataset, one by one."""
    data = study.dataset()
    dims = [dim for dim in data.final.dims if dim not in ("seed", "player")]
    stacked = data.stack(run=(*dims, "seed"))
    for k in range(stacked.sizes["run"]):
        run = stacked.isel(run=k)
        if run.steps_done < 0:  # a place where no point stands
            continue
        players = [run.final.values[j] for j in range(run.sizes["player"])]
        if table == "runs":
            yield [run.steps_done, run.revisions, run.changes, run.potential[-1], run.acceptance[-1], *players]
        else:
            for j in range(run.sizes["time"]):
                yield [run.time[j], run.potential[j], run.acceptance[j], *run.profile.values[j]]


def numbers(study, table):
    return np.array([[float(part) for part in row] for row in by_hand(study, table)])


@pytest.mark.parametrize("table", ["records", "runs"])
def test_csv_gives_every_bit_back(either, tmp_path, table):
    path = export(either, tmp_path / "data.csv", table)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    first = header.index("steps_done" if table == "runs" else "time")
    found = np.array([[float(cell) if cell else np.nan for cell in row[first:]] for row in rows])
    wanted = numbers(either, table)
    assert np.isnan(wanted).any() == (table == "records")  # at first, the share of no revisions
    assert found.shape == wanted.shape
    assert np.where(np.isnan(found), 0, found).tobytes() == np.where(np.isnan(wanted), 0, wanted).tobytes()
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert {int(row[header.index("seed")]) for row in rows} == set(range(3, 8))


@pytest.mark.parametrize("table", ["records", "runs"])
def test_parquet_gives_every_bit_back(either, tmp_path, table):
    parquet = pytest.importorskip("pyarrow.parquet")
    pandas = pytest.importorskip("pandas")
    path = export(either, tmp_path / "data.parquet", table)
    found = pandas.concat(list(frames(either, table)), ignore_index=True)
    again = parquet.read_table(path)
    assert again.column_names == list(found.columns)
    for name in found.columns:
        column, wanted = again[name].to_numpy(), found[name].to_numpy()
        if wanted.dtype.kind in "fi":
            assert column.dtype == wanted.dtype
            assert column.tobytes() == wanted.tobytes(), name
        else:
            assert column.tolist() == wanted.tolist(), name
    first = list(found.columns).index("steps_done" if table == "runs" else "time")
    np.testing.assert_array_equal(found.iloc[:, first:].to_numpy(float), numbers(either, table))
    assert json.loads(parquet.read_schema(path).metadata[b"potentia"]) == either.manifest["specification"]


def test_labels_and_what_varies(study, ragged):
    first = next(frames(study))
    assert list(first.columns[:4]) == ["game", "tau", "seed", "time"]
    assert set(first["game"]) == {"Jagd, λ"}
    parts = list(frames(ragged, "runs"))
    assert [part["rule"][0] for part in parts[::3]] == ["lll", "lll", "slll", "slll", "slll"]
    assert [part["tau"][0] for part in parts[::3]] == [0.1, 0.3, 0.2, 0.2, 0.2]
    np.testing.assert_array_equal([part["revision"][0] for part in parts[::3]], [np.nan, np.nan, 0.5, 0.7, 1.0])


@pytest.mark.parametrize("name", ["data.nc", "data.csv", "data.parquet"])
def test_incomplete_studies(study, tmp_path, name):
    copy = open_study(shutil.copytree(study.folder, tmp_path / "copy"))
    sorted(copy.folder.glob("chunks/*"))[1].unlink()
    target = tmp_path / name
    with pytest.raises(StudyError, match="incomplete: 1 of 12 chunks are missing"):
        export(copy, target)
    assert not target.exists()
    export(copy, target, partial=True)
    if name.endswith("nc"):
        with xarray.open_dataset(target) as data:
            assert data.attrs["complete"] == 0
            assert int(np.isnan(data.potential.values).sum()) == 2 * 7
    elif name.endswith("csv"):
        assert len(target.read_text(encoding="utf-8").splitlines()) == 1 + (20 - 2) * 7


@pytest.mark.parametrize("name", ["data.nc", "data.csv", "data.parquet"])
def test_whole_or_not_at_all(study, tmp_path, name, monkeypatch):
    """A damaged chunk in the middle, a full disk, no such folder: what was there before is still there."""
    copy = open_study(shutil.copytree(study.folder, tmp_path / "copy"))
    sorted(copy.folder.glob("chunks/*"))[7].write_bytes(b"damaged")
    target = tmp_path / name
    target.write_bytes(b"precious")
    with pytest.raises(StudyError, match="damaged"):
        export(copy, target)

    def full(self, other):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", full)
        with pytest.raises(StudyError, match=f"cannot write .*{name}: No space left on device"):
            export(study, target)
    assert target.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", name]
    with pytest.raises(StudyError, match=r"cannot write .*: No such file"):
        export(study, tmp_path / "none" / name)


def test_what_cannot_be_exported(study, tmp_path):
    with pytest.raises(StudyError, match=r"to .nc, .csv or .parquet, got 'data.xls'"):
        export(study, tmp_path / "data.xls")
    with pytest.raises(StudyError, match="table must be one of records, runs, got 'all'"):
        export(study, tmp_path / "data.csv", "all")


def test_netcdf_does_not_round_large_seeds(tmp_path):
    seeds = [2**60 + 1, 2**60 + 3]
    study = sweep(STUDY | {"seeds": seeds, "game": STUDY["game"][0], "record": "welfare"}, tmp_path / "study")
    with pytest.raises(StudyError, match="seed has larger ones"):
        export(study, tmp_path / "data.nc")
    export(study, tmp_path / "data.csv", "runs")
    assert str(seeds[0]) in (tmp_path / "data.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("record", [[], ["visits"]], ids=str)
def test_studies_without_records_over_time(tmp_path, record):
    study = sweep(STUDY | {"game": STUDY["game"][0], "record": record}, tmp_path / "study")
    for name in ("data.nc", "data.csv", "data.parquet"):
        export(study, tmp_path / name)
    export(study, tmp_path / "runs.csv", "runs")
    assert len((tmp_path / "runs.csv").read_text(encoding="utf-8").splitlines()) == 11
    assert len((tmp_path / "data.csv").read_text(encoding="utf-8").splitlines()) == 1
    if record:
        assert int(study.dataset().visits.sum()) == 10 * 60


@pytest.fixture(scope="module")
def formulas(tmp_path_factory):
    games = [{"name": "stag-hunt", "label": label} for label in ("=1+1", "-x", "+x", "@x", "plain")]
    rule = {"name": "lll", "tau": [0.5, "geometric:1:0.1"]}
    return sweep(STUDY | {"game": games, "rule": rule, "seeds": 1}, tmp_path_factory.mktemp("exports") / "formulas")


def test_labels_in_csv_are_no_formulas(formulas, tmp_path):
    export(formulas, tmp_path / "runs.csv", "runs")
    with (tmp_path / "runs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["game"] for row in rows][::2] == ["'=1+1", "'-x", "'+x", "'@x", "plain"]
    assert {row["tau"] for row in rows} == {"0.5", "geometric:1:0.1"}
    assert all(float(row["potential_end"]) >= 0 for row in rows)


def test_other_files_keep_labels_as_they_are(formulas, tmp_path):
    wanted = ["=1+1", "-x", "+x", "@x", "plain"]
    with xarray.open_dataset(export(formulas, tmp_path / "data.nc")) as data:
        assert list(data.game.values) == wanted
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export(formulas, tmp_path / "data.parquet", "runs"))
    assert table["game"].to_pylist()[::2] == wanted


# What a game tells of each robot at the end ---------------------------------------------------------------


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """Three robots of which one fails and a fourth arrives, and two to whom nothing happens, on a map in metres."""
    folder = tmp_path_factory.mktemp("exports")
    np.save(folder / "hill.npy", np.hypot(*np.mgrid[-3:4, -3:4]))
    game = {"map": str(folder / "hill.npy"), "cell_size": "2m", "flags": False}
    games = [
        game | {"label": "busy", "robots": 3, "events": [["fail 1@20", "arrive 30"]]},
        game | {"label": "calm", "robots": 2},
    ]
    spec = STUDY | {"game": games, "rule": {"name": "blll", "tau": 0.3}, "record": ["worth_union"], "seeds": 2}
    return sweep(spec, folder / "sites")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_have_a_column_for_each_robot(sites, tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    read = {"csv": pandas.read_csv, "parquet": pandas.read_parquet}[kind]
    data = sites.dataset()
    runs = read(export(sites, tmp_path / f"runs.{kind}", "runs"))
    told = [f"{name}_{k}" for name in ("driven", "since", "until") for k in range(4)]
    assert [name for name in runs.columns if name.startswith(("driven", "since", "until"))] == told
    assert data.driven.attrs["units"] == "cells"
    found = runs[told[:4]].to_numpy(float).reshape(2, 2, 4)
    np.testing.assert_array_equal(found, data.driven.max("events").transpose("game", "seed", "player"))
    assert (found[0] > 0).any(axis=0).all()
    assert np.isnan(found[1, :, 2:]).all()
    times = runs[told[4:]].astype(float).to_numpy()
    none = [np.nan] * 8
    np.testing.assert_array_equal(times, [[0, 0, 0, 30, np.nan, 20, np.nan, np.nan]] * 2 + [none] * 2)
    records = read(export(sites, tmp_path / f"records.{kind}"))
    assert list(records.columns) == ["game", "events", "seed", "time", "worth_union"]
    assert len(records) == 2 * 2 * 7


def test_netcdf_holds_what_never_happens(sites, tmp_path):
    with xarray.open_dataset(export(sites, tmp_path / "data.nc")) as again:
        np.testing.assert_array_equal(again.until, sites.dataset().until)
        assert again.until.max() == 2**62
