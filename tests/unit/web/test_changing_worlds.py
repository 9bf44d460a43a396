"""Recordings and films of worlds that change: every moment is that of the game."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from potentia.web.films.filming import film
from tests.unit.games.test_changing_worlds import KINDS, STACK, cover
from tests.unit.web.test_recordings import forged, written_and_read

STEPS = 50


def recording(kind, **options):
    game = cover(KINDS[kind], **options)
    return game, pt.begin(game, {"rule": "blll", "tau": 0.1}, 3, record="profile", compiled=False).advance(STEPS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_recording_knows_the_field_and_the_targets_of_every_step(kind):
    game, run = recording(kind)
    made = written_and_read(run.trace().recording())
    for step in range(0, STEPS + 1, 3):
        assert made.worth(step).tobytes() == game.worth_at(step).tobytes()
        assert made.targets(step).tolist() == game.at(step).world.targets.tolist()
    assert np.abs(made.worth(STEPS) - made.worth(0)).max() > 0.1
    times, union = made.series("worth_union")
    row = times.tolist().index(STEPS)
    assert union[row] == game.worth_at(STEPS)[game.cover_counts(run.profile) > 0].sum()


def test_a_long_flow_is_sampled_and_linear_in_between(monkeypatch):
    monkeypatch.setattr("potentia.web.changing._SAMPLES", 5)
    game, run = recording("flow", every=2)
    made = written_and_read(run.trace().recording())
    drift = made.header["map"]["drift"]
    assert (drift["kind"], drift["sampled"], drift["steps"], drift["every"]) == ("frames", True, 10, 2)
    for step in (0, 10, 11, 40, 50):
        assert made.worth(step).tobytes() == game.worth_at(step).tobytes()
    between = 0.6 * game.worth_at(10) + 0.4 * game.worth_at(20)
    np.testing.assert_allclose(made.worth(15), between, rtol=1e-12)  # held since step 14


def test_frames_that_a_run_does_not_reach_are_left_out():
    game, run = recording("frames")
    assert len(run.trace().recording().arrays["frames"]) == 4
    short = pt.begin(game, {"rule": "blll", "tau": 0.1}, 3, record="profile", compiled=False).advance(9)
    assert len(short.trace().recording().arrays["frames"]) == 3


def test_too_many_frames_are_told(monkeypatch):
    monkeypatch.setattr("potentia.web.changing._MOST_WORTHS", STACK.size - 1)
    with pytest.raises(InvalidRun, match=r"up to 139 worths of frames, and there are 140"):
        recording("periodic")[1].trace().recording()


def test_a_film_is_of_the_moment(tmp_path):
    path = film(recording("shift")[1].trace().recording(), tmp_path / "run.gif", frames=3)
    assert path.stat().st_size > 1000


def test_a_mixture_is_written_as_readers_of_old_know_it(tmp_path):
    still, moving = cover(None), cover(KINDS["shift"])
    versions = []
    for game in (still, moving):
        run = pt.begin(game, {"rule": "blll", "tau": 0.1}, 3, record="profile", compiled=False).advance(5)
        import zlib

        raw = zlib.decompress(run.trace().recording().to_bytes(), 31)
        versions.append(int.from_bytes(raw[8:12], "little"))
    assert versions == [1, 2]


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [
        ("shift", lambda drift, arrays: drift.update(edge="bounce"), "velocity of its drift"),
        ("shift", lambda drift, arrays: drift.update(velocity=[1.0]), "velocity of its drift"),
        ("shift", lambda drift, arrays: drift.update(every=0), "every of its drift"),
        ("shift", lambda drift, arrays: drift.update(kind="jump"), "its kind of its drift"),
        ("frames", lambda drift, arrays: arrays.pop("frames"), "frames of its drift"),
        ("frames", lambda drift, arrays: arrays["frames"].fill(np.nan), "frames of its drift"),
        ("frames", lambda drift, arrays: arrays.update(frames=arrays["frames"][:, 1:]), "frames of its drift"),
        ("frames", lambda drift, arrays: drift.update(steps=0), "steps of its drift"),
        ("frames", lambda drift, arrays: drift.pop("periodic"), "drift has no periodic"),
    ],
)
def test_forged_drifts(kind, change, told, tmp_path):
    saved = recording(kind)[1].trace().recording().save(tmp_path / "run.recording")
    with pytest.raises(InvalidRun, match=f"damaged: {told}"):
        pt.read_recording(
            forged(saved, tmp_path / "forged.recording", lambda h, arrays: change(h["map"]["drift"], arrays))
        )
