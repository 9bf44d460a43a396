"""Files that would take forever or all memory: one line instead, before either is taken."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from potentia.errors import InvalidGame
from potentia.games import NormalForm, moves, read_game, read_potential, read_world
from potentia.games.formats import files, game_json, maps
from potentia.kernel.archive import Archive

DILEMMA = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("suffix", [".json", ".npz", ".npy", ".csv", ".png"])
def test_a_pipe_is_not_waited_for(tmp_path, suffix, monkeypatch):
    """Nobody writes to it, so opening it would never end."""
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    calls = [lambda: read_world(path)] if suffix in maps.MAP_SUFFIXES else []
    calls += [lambda: read_game(path)] if suffix in files.GAME_SUFFIXES else []
    calls += [lambda: read_potential(path, NormalForm(DILEMMA))] if suffix in files.POTENTIAL_SUFFIXES else []
    for name in ("open", "read_bytes"):
        monkeypatch.setattr(Path, name, lambda *args, **options: pytest.fail("it was opened"))
    assert calls
    for call in calls:
        with pytest.raises(InvalidGame, match=r"expected a file, got a pipe, a socket or a device$"):
            call()


def test_a_device_is_not_read(tmp_path):
    link = tmp_path / "zero.json"
    link.symlink_to(os.devnull)
    with pytest.raises(InvalidGame, match=r"expected a file, got a pipe, a socket or a device$"):
        read_game(link)


def claiming(shape, version=(1, 0), dtype="<f8"):
    """The header of an array of this shape, and 16 bytes of it."""
    file = io.BytesIO()
    write = np.lib.format.write_array_header_1_0 if version == (1, 0) else np.lib.format.write_array_header_2_0
    write(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(16)


def zipped(name, content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(name, content)
    return file.getvalue()


@pytest.fixture
def no_arrays(monkeypatch):
    """NumPy is never asked to read an array."""
    monkeypatch.setattr(np.lib.format, "read_array", lambda *args, **kwargs: pytest.fail("memory was asked for"))


@pytest.mark.usefixtures("no_arrays")
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6), (10**30,), (2, 2, 10**9), (3,)])
def test_headers_that_claim_more_than_is_there(tmp_path, shape, version):
    content = claiming(shape, version)
    array, archive, world = tmp_path / "a.npy", tmp_path / "a.npz", tmp_path / "world.npz"
    array.write_bytes(content)
    archive.write_bytes(zipped("payoffs.npy", content))
    world.write_bytes(zipped("worth.npy", content))
    for call in (
        lambda: read_potential(array, NormalForm(DILEMMA)),
        lambda: read_world(array),
        lambda: read_game(archive),
        lambda: read_world(world),
    ):
        with pytest.raises(InvalidGame, match="damaged") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_arrays_of_any_version_are_read(tmp_path):
    for version in ((1, 0), (2, 0), (3, 0)):
        with (tmp_path / "a.npy").open("wb") as file:
            np.lib.format.write_array(file, np.eye(2), version)
        np.testing.assert_array_equal(read_world(tmp_path / "a.npy").worth, np.eye(2))
        np.testing.assert_array_equal(read_potential(tmp_path / "a.npy", NormalForm(DILEMMA)), np.eye(2))


class Counted(int):
    """A whole number that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return int(self) == int(other)

    __hash__ = int.__hash__


def test_listed_moves_are_each_looked_at_a_few_times():
    """Among 200 actions 39,800 moves; comparing each with all of its list would take 8 million."""
    size = 200
    lists = [[Counted(b) for b in range(size) if b != a] for a in range(size)]
    Counted.compared = 0
    found = game_json._listed_moves([lists])
    made = moves.make_moves(found, np.array([size]))
    assert made.targets.size == size * (size - 1)
    assert Counted.compared <= 4 * size**2


@pytest.mark.parametrize(
    ("reach", "shown"),
    [
        ([1, 2, 1], "1"),
        ([2, 1, 1, 2], "2"),
        ([0, False], "0"),
        (["a", "b", "a"], '"a"'),
        ([1, 1.0], "1"),
        ([None] * 2, "null"),
        ([[1], 0, [1]], "a list"),
    ],
)
def test_the_first_that_is_listed_twice_is_told(tmp_path, reach, shown):
    path = tmp_path / "twice.json"
    path.write_text(json.dumps({"payoffs": [[1, 2, 3]], "moves": [[[1], reach, [0]]]}))
    with pytest.raises(InvalidGame, match=f"moves of player 0, action 1: action {shown} is listed twice; "):
        read_game(path)


def test_what_is_no_action(tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"payoffs": [[1, 2]], "moves": [[[[1], [0]], [0]]]}))
    with pytest.raises(InvalidGame, match=r"expected actions as integers, got \[1\]$"):
        read_game(path)


def test_a_long_field_is_read_once(tmp_path):
    """300,000 digits and a letter: every way to split the digits would be 45 billion."""
    path = tmp_path / "long.csv"
    path.write_text("1" * 300_000 + "z,2\n3,4\n")
    with pytest.raises(InvalidGame, match=r"line 1, column 1, cell \(0, 0\): expected a number.*got '1{40}'"):
        read_world(path)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"payoffs": ' + "[" * 100_000 + "]" * 100_000 + "}"])
def test_deep_json(tmp_path, text):
    path = tmp_path / "deep.json"
    path.write_text(text)
    with pytest.raises(InvalidGame, match=r"lists nested too deeply|not JSON") as caught:
        read_game(path)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_long_names_are_cut(tmp_path):
    path = tmp_path / "name.json"
    path.write_text(json.dumps({"payoffs": [[1, 2]], "p" * 100_000: 1}))
    with pytest.raises(InvalidGame, match="unknown key 'ppp") as caught:
        read_game(path)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_an_array_that_is_longer_than_its_header_says():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("a.npy", claiming((1,)))
        out.writestr("b.npy", claiming((2,)))
    with Archive(file, len(file.getvalue())) as archive:
        assert archive.read("b", (2,), np.dtype(np.float64)).tolist() == [0.0, 0.0]
        with pytest.raises(ValueError, match="a is longer than it says"):
            archive.read("a", (1,), np.dtype(np.float64))
