"""A study of a real site: frames, walls, sight, events, forgetting and metres, interrupted and resumed."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from PIL import Image

import potentia as pt
from potentia.studies.results import overview
from potentia.studies.sweeping import Stopped, sweep
from tests.studies import Counting, as_before, chunk_files

SITE = """
steps = 24
every = 6
seeds = 3
chunk = 1
record = ["profile", "worth_union", "distance", "belief_error", "cells_known"]
events = ["fail 1@7", "arrive 12", "hazard 0.01"]

[game]
map = "leaks"
blocked = "walls.png"
robots = 2
delta = 2.0
K = 0.05
sight = true
cell_size = "0.5m"
frame_steps = 6
periodic = true
drift_every = 3

[belief]
name = "constant"
share = 0.4
half_life = ["none", 5.0]
noise = 0.05

[rule]
name = "p-sblll"
tau = 0.1
revision = 0.5
guard = true
"""


@pytest.fixture
def site(tmp_path):
    """A folder of images, and one of walls."""
    (tmp_path / "leaks").mkdir()
    for k, shades in enumerate(np.random.default_rng(3).integers(0, 256, (3, 5, 7), np.uint8)):
        Image.fromarray(shades, "L").save(tmp_path / "leaks" / f"{k}.png")
    walls = np.zeros((5, 7), np.uint8)
    walls[1:4, 3] = 255
    Image.fromarray(walls, "L").save(tmp_path / "walls.png")
    (tmp_path / "site.toml").write_text(SITE)
    return tmp_path


def test_it_grows_without_playing_anything_twice(site):
    """With its frames read from images again: they are the ones that it has kept."""
    begun = sweep(site / "site.toml", site / "grown", compiled=False)
    assert begun.computed == 6
    text = SITE.replace("seeds = 3", "seeds = 4").replace("tau = 0.1", "tau = [0.05, 0.1]")
    (site / "site.toml").write_text(text)
    grown = sweep(site / "site.toml", site / "grown", compiled=False)
    assert grown.computed == 16 - 6
    whole = sweep(site / "site.toml", site / "afresh", compiled=False)
    xarray.testing.assert_identical(grown.dataset(), whole.dataset())


def test_what_robots_did_is_told_as_a_batch_tells_it(site):
    study = sweep(site / "site.toml", site / "study", compiled=False)
    data, point = study.dataset(), study.plan.points[0]
    options = {"record": study.record, "every": 6, "belief": point.belief, "compiled": False}
    batch = pt.run_batch(point.game, point.rule, 24, range(3), **options)
    for name in ("driven", "until", "since"):
        here = data[name].isel(half_life=0)
        np.testing.assert_array_equal(here, batch[name], err_msg=name)
        assert (here.dims, here.dtype, here.attrs) == (batch[name].dims, batch[name].dtype, batch[name].attrs)
    assert (data.driven.sum("player") == pytest.approx(data.distance.isel(time=-1).values)).all()


def test_distances_are_shown_in_the_unit_of_the_map(site):
    study = sweep(site / "site.toml", site / "study", compiled=False)
    seen = overview(study, "distance")
    assert seen.title.startswith("distance driven by all robots in m, end: ")
    assert seen.to_dict()["unit"] == "m"
    ends = study.dataset().distance.isel(half_life=0, time=-1).mean()
    assert seen.levels[0].end.mean == pytest.approx(0.5 * float(ends))
    assert overview(study).title.startswith("covered worth (union: each cell once), end: ")
    old = as_before(study)
    assert overview(old, "distance").title.startswith("distance driven by all robots in cells, ")  # nobody told it
    assert "driven" not in old.dataset()
    (site / "site.toml").write_text(SITE.replace("seeds = 3", "seeds = 4"))
    grown = sweep(site / "site.toml", old.folder, compiled=False).dataset()
    assert np.isnan(grown.driven.sel(seed=[0, 1, 2])).all()
    assert np.isfinite(grown.driven.sel(seed=3)).all()
    assert grown.until.sel(seed=[0, 1, 2]).max() == -1


def written(study):
    return {path.name: path.read_bytes() for path in chunk_files(study)}


def test_interrupted_and_resumed_without_the_files_it_was_made_of(site):
    done = sweep(site / "site.toml", site / "whole", compiled=False)

    def interrupt(number):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises((Stopped, KeyboardInterrupt)):
        sweep(site / "site.toml", site / "parts", compiled=False, executor=Counting(interrupt))
    for path in (*(site / "leaks").iterdir(), site / "walls.png", site / "site.toml"):
        path.unlink()  # a study keeps its own copies
    counting = Counting()
    again = sweep(site / "parts", compiled=False, executor=counting)
    assert 0 < len(counting.played) < 6
    assert written(again) == written(done)
    assert len(written(done)) == 6
    data = done.dataset()
    assert again.dataset().identical(data)
    assert data.distance.isel(time=-1).values.min() > 0
    assert not data.isel(half_life=0).belief_error.equals(data.isel(half_life=1).belief_error)
