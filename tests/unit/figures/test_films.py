"""Films of coverage runs: what the pictures show, and nothing left behind when writing fails."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from potentia.errors import InvalidRun
from potentia.figures import animate, style
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


def test_robots_keep_their_colours_and_stand_where_the_profile_says(walk, tmp_path):
    from matplotlib.colors import to_rgb

    from potentia.figures.animation import _Film

    game, trace = walk
    film = _Film(game, trace.profiles, 1, np.arange(61.0), trace.worth_sum, "worth", "", 80)
    film.show(60, 10)
    path = animate(game, trace.profiles, tmp_path / "run.gif", worth=trace.worth_sum, frames=2)
    with Image.open(path) as gif:
        gif.seek(1)
        last = np.asarray(gif.convert("RGB")).astype(int)
    for robot, (x, y) in enumerate(game.positions(trace.profiles[-1]) + 0.5):
        circle = film.circles[robot]
        assert circle.center == (x, y)
        colour = np.round(np.multiply(255, to_rgb(style.robot_colour(robot)))).astype(int)
        here, there = film.figure.axes[0].transData.transform([(x, y), (x + 1, y)])
        cell = there[0] - here[0]
        row, column = round(last.shape[0] - here[1]), round(here[0])
        near = last[max(0, row - round(cell)) : row + round(cell), max(0, column - round(cell)) : column + round(cell)]
        assert (np.abs(near - colour).max(axis=-1) <= 3).any(), robot


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
