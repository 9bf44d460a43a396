"""What memory is asked for before the work begins is what the work then takes, within a factor of two."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import potentia as pt
from potentia.engine.batch import play_batch
from potentia.kernel import memory
from potentia.kernel.cache import jit_disabled
from potentia.studies.planning import bytes_of_run
from potentia.studies.summary import summarise, write_netcdf
from potentia.studies.tables import export

BUSY = pt.rule("slll", tau=5.0, revision=0.9)  # nearly everybody moves all the time


@pytest.fixture
def measured(monkeypatch):
    """What was asked for, and what was held at a time; first on a small scale, so that nothing is compiled then.

    The least of three where the first is more: now and then a table of the interpreter's own grows in between, by half
    a megabyte.
    """
    if jit_disabled():
        pytest.skip("every object of plain Python would be counted, which takes minutes")

    def measure(call, small=None, times=3):
        (small or call)()
        asked = [0]
        with monkeypatch.context() as patch:
            patch.setattr(memory, "require", lambda size, what, advice="": asked.append(size))
            peaks = []
            for _ in range(times):
                tracemalloc.start()
                try:
                    kept = call()
                    peaks.append(tracemalloc.get_traced_memory()[1])
                finally:
                    tracemalloc.stop()
                del kept
                if peaks[-1] <= max(asked):
                    break
        return max(asked), min(peaks)

    return measure


# runs, steps, players, what is recorded, workers
BATCHES = {
    "few long runs": (3, 200_000, 3, ("welfare",), 1),
    "few long runs of two workers": (3, 200_000, 3, ("welfare",), 2),
    "profiles": (3, 60_000, 10, ("profile", "welfare"), 1),
    "profiles of two workers": (4, 60_000, 10, ("profile", "welfare"), 2),
    "many short runs": (200, 2000, 3, ("welfare",), 1),
    "profiles of many short runs of two workers": (200, 200, 60, ("profile",), 2),
    "counts": (2, 100_000, 3, ("acceptance", "taken", "rejected"), 1),
    "many players": (8, 5, 20_000, ("profile",), 2),
    "visits": (6, 100, 16, ("visits",), 1),
}


@pytest.mark.parametrize("case", BATCHES)
def test_a_batch_takes_what_was_asked_for(measured, case):
    runs, steps, players, record, workers = BATCHES[case]
    game = pt.game("ring", players=players)

    def batch(runs, steps):
        return pt.run_batch(game, BUSY, steps, range(runs), record=record, workers=workers, compiled=True)

    asked, peak = measured(lambda: batch(runs, steps), lambda: batch(2, 2))
    assert asked / 3 <= peak <= asked  # on a busy machine stretches are shorter, and so are their buffers


@pytest.mark.parametrize("record", [("welfare",), ("acceptance", "taken", "potential")])
def test_a_run_takes_what_was_asked_for(measured, record):
    game = pt.game("ring", players=3)
    asked, peak = measured(
        lambda: pt.run(game, BUSY, 200_000, record=record, compiled=True),
        lambda: pt.run(game, BUSY, 2, record=record, compiled=True),
    )
    assert asked / 2 <= peak <= asked


def test_a_dense_view_takes_what_was_asked_for(measured):
    trace = pt.run(pt.game("ring", players=3), BUSY, 200_000)
    asked, peak = measured(lambda: np.array(trace.profiles, copy=False), lambda: None, times=1)  # kept once it is there
    assert asked == trace.profiles.nbytes
    assert asked <= peak <= 1.5 * asked


def test_the_records_of_a_run_that_is_advanced_are_asked_for_again(monkeypatch):
    run = pt.begin(pt.game("ring", players=3), BUSY, record="welfare")
    asked = []
    monkeypatch.setattr(memory, "require", lambda size, what, advice="": asked.append((size, what)))
    steps = 400_000
    run.advance(steps)
    sizes = [size for size, what in asked if what.startswith("the record of ")]
    assert 8 * steps - 2**20 <= sizes[-1] <= 8 * steps, "as much as a trace then copies, but for the last megabyte"
    assert len(sizes) <= 8 * steps // 2**20 + 2, "to look at memory takes longer than a short stretch"
    assert asked[-1][1] == f"the record of {sizes[-1] // 8:,} rows with 0 changes"


def test_a_summary_adds_little_to_the_records(measured):
    game = pt.game("ring", players=3)
    data = play_batch(game, BUSY, 20_000, range(20), record=("welfare", "acceptance"))
    _, peak = measured(lambda: summarise(game, "ring", BUSY, data, 1.0))
    assert peak < data.scalars["welfare"].nbytes / 10


def test_netcdf_takes_what_was_asked_for(measured, tmp_path):
    data = pt.run_batch(pt.game("ring", players=3), BUSY, 50_000, range(6), record=("welfare", "profile"))
    small = data.isel(time=slice(0, 2))
    asked, peak = measured(
        lambda: write_netcdf(data, tmp_path / "all.nc"), lambda: write_netcdf(small, tmp_path / "small.nc")
    )
    assert asked / 2 <= peak <= asked


# Studies ----------------------------------------------------------------------------------------------

STUDY = {
    "game": [{"name": "ring", "players": 10}],
    "rule": [{"name": "slll", "tau": [1.0, 5.0], "revision": 0.9}],
    "steps": 2000,
    "seeds": 60,
    "every": 1,
    "record": ["welfare", "profile"],
    "chunk": 30,
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return pt.sweep(STUDY, tmp_path_factory.mktemp("study") / "one.study")


def test_a_study_keeps_of_a_run_what_was_asked_for(study):
    for chunk in study.chunks():
        kept = sum(values.nbytes for values in study.read(chunk).values())
        assert kept == chunk.runs * bytes_of_run(study.plan, [chunk.point])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_takes_what_was_asked_for(measured, tmp_path, workers):
    numbers = iter(range(10))

    def swept(**changes):
        return pt.sweep({**STUDY, **changes}, tmp_path / f"{next(numbers)}.study", workers=workers, compiled=True)

    asked, peak = measured(swept, lambda: swept(steps=2, seeds=2, chunk=1))
    assert asked / 4 <= peak <= asked + 2_000_000  # chunks wait to be saved only where the disk is slow


def test_a_dataset_takes_what_was_asked_for(measured, study):
    asked, peak = measured(study.dataset)
    assert asked / 2 <= peak <= asked + 2_000_000  # beside it, what one array is read through


def test_a_dataset_that_does_not_fit_names_the_way_that_does(study, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 4_000_000)
    with pytest.raises(pt.errors.TooLarge, match=r"dataset of 120 runs needs .*; export it to \.csv or \.parquet"):
        study.dataset()
    with pytest.raises(pt.errors.TooLarge, match="export it to"):
        export(study, tmp_path / "all.nc")
    path = export(study, tmp_path / "all.csv")
    assert len(path.read_text().splitlines()) == 1 + 120 * 2001
