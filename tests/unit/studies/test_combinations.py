"""A study of a real site: frames, walls, sight, events, forgetting and metres, interrupted and resumed."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from potentia.studies.sweeping import Stopped, sweep
from tests.studies import Counting, chunk_files

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
