"""Recordings, pages and films from the command line."""

from __future__ import annotations

import numpy as np
from PIL import Image
from typer.testing import CliRunner

import potentia as pt
from potentia.cli.commands import app
from potentia.errors import InvalidInput
from tests.commands import potentia


def test_a_run_is_recorded_and_replayed(tmp_path):
    made, page = tmp_path / "ring.recording", tmp_path / "ring.html"
    done = potentia("run", "ring", "--rule", "blll", "--steps", 300, "--seed", 4, "--recording", made, "--replay", page)
    assert f"replay: {page}" in done.stdout.replace("\n", "")
    trace = pt.run(pt.game("ring"), pt.rule("blll", tau=0.1), 300, 4)
    assert np.array_equal(pt.read_recording(made).profile(300), trace.final)
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_what_robots_did_is_replayed_and_filmed(tmp_path):
    out, here = tmp_path / "cover", tmp_path / "here.html"
    small = ("--robots", 3, "--steps", 60, "--runs", 2, "--no-optimum", "--beliefs-every", 20, "--out", out)
    potentia("cover", "random:1", *small, "--rule", "ql", "--rule", "blll", "--replay", here)
    files = [out / "recording-ql.recording", out / "recording-blll.recording"]
    assert [pt.read_recording(path).keyframes.tolist() for path in files] == [[0, 20, 40, 60], []]
    made = [pt.read_recording(path) for path in files]
    assert made[0].header["seed"] == made[1].header["seed"]  # side by side from one start
    assert np.array_equal(made[0].profile(0), made[1].profile(0))
    assert here.exists()
    assert not (out / "replay.html").exists()
    film, page = tmp_path / "blll.webp", tmp_path / "both.html"
    ring = tmp_path / "ring.recording"
    potentia("run", "ring", "--steps", 20, "--recording", ring)
    for args, told in [
        ((files[1], ring), "runs must be of one game to stand side by side"),
        ((ring, "--film", film), "--film is for runs on a map, got one of Coordination(players=100)"),
        ((files[1], "--film", film, "--robot", 9), "--robot must be from 0 to 2, got 9"),
        ((files[1], "--film", film, "--frames", 0), "--frames must be an integer"),
        ((tmp_path,) * 5, "takes one to 4 recordings, got 5"),
    ]:
        done = potentia("replay", *args, "--out", page)
        assert told in " ".join(done.stderr.split()), done.stderr
        assert not page.exists()
    assert potentia("replay", out, "--json").returncode == 0
    (out / "replay.html").unlink()
    assert potentia("replay", out, "--film", film, "--frames", 5).returncode == 0
    assert film.exists()
    assert not (out / "replay.html").exists()
    (out / "recording-cut.recording").write_bytes(files[0].read_bytes()[:500])
    done = potentia("replay", out)  # the others are played all the same
    assert (done.returncode, (out / "replay.html").exists()) == (0, True)
    assert "recording-cut.recording is cut short" in " ".join(done.stderr.split())
    potentia("replay", *files[::-1], "--out", page, "--film", film, "--frames", 5)
    with Image.open(film) as picture:
        assert 2 <= picture.n_frames <= 5
    text = page.read_text("utf-8")
    assert text.index('data-label="blll"') < text.index('data-label="ql"')


def test_mistakes_are_told_before_anything_is_played(tmp_path):
    wrong = [
        (("run", "ring", "--replay", "ring.pdf"), "--replay: ring.pdf must end in .html"),
        (("run", "ring", "--replay", "no/ring.html"), "--replay: there is no folder"),
        (("run", "ring", "--beliefs-every", "5"), "--beliefs-every is for --replay and --recording"),
        (("cover", "--beliefs-every", "-5"), "--beliefs-every must be an integer of at least 0, got -5"),
        (("replay", "none.recording"), "cannot read none.recording"),
        (("replay", "none.recording", "--robot", "1"), "--robot is for --film"),
        (("replay", "x", "--film", "x.mp4"), "--film: x.mp4 must end in one of .gif, .png, .apng, .webp"),
    ]
    for args, told in wrong:
        done = potentia(*args, cwd=tmp_path)
        assert done.returncode != 0
        assert told in " ".join(done.stderr.split()), done.stderr
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_map_that_is_too_large_for_a_page_is_told_before_it_is_played(tmp_path, monkeypatch):
    def play(*args, **options):
        raise InvalidInput("now they play")

    monkeypatch.setattr("potentia.web.scenes.MOST_CELLS", 1_599)
    args = ["cover", "--robots", "2", "--steps", "20", "--runs", "1", "--no-optimum", "--out", str(tmp_path / "out")]
    told = "no replay: a recording shows maps of up to 1,599 cells, and this one has 40×40; make it coarser first"
    monkeypatch.setattr("potentia.cli.coverage._played", play)
    done = CliRunner().invoke(app, args, env={"COLUMNS": "300"})
    assert str(done.exception) == "now they play"
    assert told in " ".join(done.output.split())
