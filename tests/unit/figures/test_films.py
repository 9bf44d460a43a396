"""Films of coverage runs: what the pictures show, and nothing left behind when writing fails."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from potentia.colours import rgb, robot_colour
from potentia.errors import InvalidRun
from potentia.figures import animate
from potentia.games import Coverage
from tests.unit.bad import refuses
from tests.unit.figures.test_coverage_figures import played, yard


@pytest.fixture(scope="module")
def walk():
    game = Coverage(yard(), 3)
    return game, played(game, 60).trace()


def test_a_film_has_its_pictures_and_they_differ(walk, tmp_path):
    game, trace = walk
    told = []
    path = animate(
        game, trace.profiles, tmp_path / "run.gif", worth=trace.worth_sum, frames=8, fps=10, dpi=50,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == [(k, 8) for k in range(1, 9)]
    assert [file.name for file in tmp_path.iterdir()] == ["run.gif"]
    with Image.open(path) as film:
        assert (film.format, film.n_frames) == ("GIF", 8)
        pictures, pauses = [], []
        for k in range(8):
            film.seek(k)
            pictures.append(np.asarray(film.convert("RGB")).copy())
            pauses.append(film.info["duration"])
    assert pauses == [100] * 7 + [2000]
    assert len({picture.tobytes() for picture in pictures}) == 8
    assert path.stat().st_size < 200_000


def test_robots_keep_their_colours_and_the_film_is_that_of_a_recording(walk, tmp_path):
    game, trace = walk
    path = animate(game, trace.profiles, tmp_path / "run.gif", worth=trace.worth_union, frames=2, title="a film")
    made = trace.recording(title="a film")
    made.header["series"][0]["label"] = "covered worth"
    other = made.film(tmp_path / "other.gif", frames=2)
    assert path.read_bytes() == other.read_bytes()
    with Image.open(path) as gif:
        gif.seek(1)
        last = np.asarray(gif.convert("RGB")).reshape(-1, 3)
    for robot in range(3):
        assert (last == rgb(robot_colour(robot))).all(axis=1).any(), robot


def test_dots_per_inch_are_the_size_of_cells(walk, tmp_path):
    game, trace = walk
    heights = []
    for dpi in (20, 80, 160):
        with Image.open(animate(game, trace, tmp_path / "a.gif", frames=1, dpi=dpi)) as image:
            heights.append(image.height)
    assert np.diff(heights).tolist() == [6 * 40 - 64, 6 * 40]  # the scale of a low map is 64 pixels high


def test_long_runs_are_thinned_and_short_ones_are_not(walk, tmp_path):
    game, trace = walk
    with Image.open(animate(game, trace.profiles[:3], tmp_path / "a.gif", dpi=40)) as film:
        assert film.n_frames == 3
    with Image.open(animate(game, trace, tmp_path / "b.gif", frames=1, dpi=40)) as film:
        assert getattr(film, "n_frames", 1) == 1


def test_nothing_is_left_behind_when_writing_fails(walk, tmp_path, monkeypatch):
    game, trace = walk
    old = tmp_path / "old.gif"
    old.write_bytes(b"as it was")

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    def stop(done, total):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Image.Image, "save", full)
        refuses(
            lambda: animate(game, trace, old, frames=2, dpi=40), InvalidRun, "cannot write .*old.gif: No space left"
        )
    with pytest.raises(KeyboardInterrupt):
        animate(game, trace, old, frames=3, dpi=40, progress=stop)
    assert [file.name for file in tmp_path.iterdir()] == ["old.gif"]
    assert old.read_bytes() == b"as it was"
    refuses(
        lambda: animate(game, trace, tmp_path / "no" / "a.gif", frames=1), InvalidRun, "cannot write .*No such file"
    )


def test_bad_arguments_of_a_film(walk, tmp_path):
    game, trace = walk
    to = tmp_path / "a.gif"
    refuses(lambda: animate(game, trace, tmp_path / "a.mp4"), InvalidRun, "must end in .gif, got 'a.mp4'")
    refuses(lambda: animate(game, trace, to, frames=0), InvalidRun, "frames must be an integer of at least 1, got 0")
    refuses(lambda: animate(game, trace, to, fps=0), InvalidRun, "fps must be above 0 and at most 50.*got 0")
    refuses(lambda: animate(game, trace, to, worth=[1.0]), InvalidRun, r"each of 61 profiles, got shape \(1,\)")
    assert not list(tmp_path.iterdir())


def test_events_on_the_curve_of_a_film_are_named():
    from potentia.web.films.curves import _happened

    lives = np.array([[0, 0, 0, 9], [4, 9, 9, np.inf]])  # since, until
    assert [_happened(lives, step) for step in (4, 9)] == ["robot 0 fails", "robot 3 arrives, 2 robots fail"]
