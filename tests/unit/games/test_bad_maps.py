"""Maps in files: every bad file is refused in words, whatever it holds."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from potentia.errors import InvalidGame, TooLarge
from potentia.games import World, read_world, write_world
from tests.unit.bad import refuses
from tests.unit.games.map_files import (
    DEEP,
    GREY,
    RAMP,
    RGB,
    WALL,
    Trap,
    archive,
    grey,
    image_bytes,
    one_array,
    palette,
    put,
    same,
)

# Bad files --------------------------------------------------------------------------------------------

BETWEEN = r"\(fields are separated by commas\)"
TEXT = {
    "empty": ("", r"the file is empty: expected a number for each cell$"),
    "only line ends": ("\r\n \n", r"the file is empty"),
    "no number": ("1,2\n3,abc\n", rf"line 2, column 2, cell \(1, 1\): .*, got 'abc' {BETWEEN}$"),
    "long": ("1,2\n3," + "a" * 99, rf"got 'a{{40}}' {BETWEEN}$"),
    "heading": (
        "west,east\n1,2\n",
        rf"line 1, column 1, cell \(0, 0\): .*'west' {BETWEEN}; if the line is a heading, delete it$",
    ),
    "list of cells": ("x,y,worth\n0,0,1\n", r"line 1, column 2, cell \(1, 0\): .*'y'.*heading, delete it$"),
    "comment": ("# mine\n1 2\n", r"line 1, column 2, cell \(1, 0\): .*'mine' .*blanks\); if the line is a heading"),
    "numbered": (
        ",0,1,2\n0,5,5,5\n1,5,5,5\n",
        r"line 1 and column 1 number the columns and rows .*index=False, header=False\)$",
    ),
    "negative": ("1;2\n3;-0,5\n", r"line 2, column 2, cell \(1, 1\): worth must be finite and at least 0, got -0\.5$"),
    "too large": ("1,1e999\n", r"line 1, column 2, cell \(1, 0\): worth must be finite and at least 0, got inf$"),
    "nan": ("1,2\nNaN,1\n", r"line 2, column 1, cell \(0, 1\): expected a finite number, got 'NaN'; a wall is x"),
    "inf": ("1,-inf\n", r"column 2, cell \(1, 0\): expected a finite number, got '-inf'"),
    "underscore": ("1,1_000\n", r"column 2, .*got '1_000'"),
    "other digits": ("1,٣\n", r"column 2, .*got '٣'"),
    "two numbers": ("1,2 3\n", r"column 2, .*got '2 3' .*commas\)"),
    "half a quote": ('1,"2\n', r"""column 2, .*got '"2'"""),
    "thousands": ("1,234,567;1\n", r"line 1, column 1, .*got '1\.234\.567' \(fields are separated by semicolons\)"),
    "point and comma": (
        "1;2\n0.5;1\n0,5;1\n",
        r"separated by semicolons, so that commas are decimal commas, as in line 3, but line 2 has a decimal point",
    ),
    "short": ("1,2,3\n4,5\n", rf"line 2 must have 3 fields, as line 1 has, got 2 {BETWEEN}$"),
    "long row": ("1 2\n4 5\n6 7 8", r"line 3 must have 2 fields, as line 1 has, got 3 .*blanks\)$"),
    "gap": ("1,2\n\n3,4\n", r"line 2 is empty: delete it; a row of walls has x in every field$"),
    "first line empty": ("\n1 2\n", r"line 1 is empty: delete it"),
    "only walls": ("x,x\n,x\n", r"blocked leaves no free cell$"),
    "sum": ("9e299,9e299\n", r"worth must be small enough to sum"),
    "overflow": ("1e308,1e308\n", r"worth must be small enough to sum"),
    "binary": (b"1,2\n\0\0", r"expected a table in UTF-8 text, got a binary file$"),
    "utf-16": ("1\t2".encode("utf-16"), r"expected UTF-8 text, got UTF-16; save it as CSV UTF-8$"),
    "latin": (b"1,2\n3,\xe9\n", r"expected UTF-8 text, got byte 0xe9 in line 2$"),
    "latin after a mark": (b"\xef\xbb\xbf1,2\n3,\xe9\n", r"expected UTF-8 text, got byte 0xe9 in line 2$"),
}


@pytest.mark.parametrize(("content", "message"), TEXT.values(), ids=TEXT)
def test_bad_tables(content, message, tmp_path):
    path = put(tmp_path / "bad.csv", content)
    error = refuses(lambda: read_world(path), InvalidGame, message)
    assert str(error).startswith(f"{path}: ")
    assert "\n" not in str(error)


def huge():
    """The header of a PNG of 30,000×30,000 pixels, and nothing else."""
    file = io.BytesIO(image_bytes(grey()))
    content = bytearray(file.getvalue())
    content[16:24] = np.array([30000, 30000], ">u4").tobytes()
    content[29:33] = zipfile.crc32(bytes(content[12:29])).to_bytes(4, "big")
    return bytes(content)


def frames():
    return image_bytes(grey(), "GIF", save_all=True, append_images=[grey(255 - GREY)])


NOISE = np.random.Generator(np.random.PCG64(0)).integers(0, 256, (64, 64), np.uint8)
NO_IMAGE = r"not a PNG, JPEG, BMP, TIFF, GIF or PGM image, or damaged$"
BAD_IMAGES = {
    "empty": (b"", NO_IMAGE),
    "text": (b"1,2\n3,4\n", NO_IMAGE),
    "truncated": (image_bytes(grey(NOISE))[:900], NO_IMAGE),
    "a kind not listed": (image_bytes(grey(), "PCX"), NO_IMAGE),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", NO_IMAGE),
    "bomb": (huge(), r"an image must have at most 89,478,485 pixels; scale it down$"),
    "frames": (frames(), r"expected one image, got 2 frames; save the one you mean by itself$"),
    "colour": (
        image_bytes(grey(RGB + np.array([1, 2, 0], np.uint8) * WALL[..., None])),
        r"pixel \(1, 0\): expected a shade of grey, got red 52, green 53, blue 51; "
        r'convert it to greyscale, with Pillow by Image\.open\(path\)\.convert\("L"\)\.save\("map\.png"\)$',
    ),
    "palette": (
        palette([200, 10, 10] * 6),
        r"pixel \(0, 0\): expected a shade of grey, got red 200, green 10, blue 10",
    ),
    "half transparent": (
        image_bytes(Image.merge("LA", [grey(), grey(GREY | np.uint8(254))])),
        r"pixel \(0, 0\) is transparent, alpha 254 of 255: expected it opaque, or fully transparent where blocked$",
    ),
    "negative": (
        image_bytes(grey((1 - RAMP).astype(np.float32)), "TIFF"),
        r"pixel \(2, 0\): worth must be finite and at least 0, got -1$",
    ),
    "nan": (image_bytes(grey(np.full((2, 3), np.nan, np.float32)), "TIFF"), r"pixel \(0, 0\): worth .*got nan$"),
}


@pytest.mark.parametrize(("content", "message"), BAD_IMAGES.values(), ids=BAD_IMAGES)
def test_bad_images(content, message, tmp_path):
    path = put(tmp_path / "bad.png", content)
    error = refuses(lambda: read_world(path), InvalidGame, message)
    assert str(error).startswith(f"{path}: ")


NO_NPY = r"not an \.npy file of numbers, or damaged$"
BAD_NPY = {
    "empty": (b"", NO_NPY),
    "truncated": (one_array(RAMP)[:-5], NO_NPY),
    "archive": (archive(worth=RAMP), NO_NPY),
    "objects": (one_array(np.array([[Trap(), 1]], object)), NO_NPY),
    "pickle": (pickle.dumps(Trap()), NO_NPY),
    "endless": (one_array(RAMP).replace(b"(2, 3)", b"(2, 3000000000000000000)")[:128] + bytes(48), NO_NPY),
    "complex": (one_array(1j * RAMP), r"the array must hold real numbers, got shape \(2, 3\) of complex128$"),
    "text": (one_array(RAMP.astype(str)), r"the array must hold real numbers, got shape \(2, 3\) of <U32$"),
    "line": (one_array(RAMP[0]), r"expected an array of rows and columns, worth\[y, x\], got shape \(3,\)$"),
    "no rows": (one_array(RAMP[:0]), r"expected an array of rows and columns, .*got shape \(0, 3\)$"),
    "nan": (one_array(np.where(WALL, np.nan, 1)), r"cell \(1, 0\): worth must be finite and at least 0, got nan$"),
    "negative": (one_array(-RAMP), r"cell \(1, 0\): worth must be finite and at least 0, got -1$"),
}


@pytest.mark.parametrize(("content", "message"), BAD_NPY.values(), ids=BAD_NPY)
def test_bad_npy(content, message, tmp_path):
    path = put(tmp_path / "bad.npy", content)
    assert str(refuses(lambda: read_world(path), InvalidGame, message)).startswith(f"{path}: ")


def member(name, content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr(name, content)
    return file.getvalue()


def bomb():
    """An archive that says it unpacks to gigabytes."""
    content = bytearray(archive(worth=RAMP))
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = (3 * 10**9).to_bytes(4, "little")
    return bytes(content)


NO_NPZ = r"not an \.npz file, or damaged$"
DAMAGED = r"worth is damaged or holds Python objects, which are never loaded$"
MIXTURE = {"weights": [1.0], "means": [[1.0, 1.0]], "covariances": [np.eye(2)]}
BAD_NPZ = {
    "empty": (b"", NO_NPZ),
    "truncated": (archive(worth=RAMP)[:-30], NO_NPZ),
    "one array": (one_array(RAMP), NO_NPZ),
    "bomb": (bomb(), NO_NPZ),
    "objects": (archive(worth=np.array([[Trap()]], object)), DAMAGED),
    "no array": (member("worth", b"12"), DAMAGED),
    "flipped": (archive(worth=RAMP).replace(RAMP.tobytes(), (RAMP + 1).tobytes()), DAMAGED),
    "unknown": (archive(worths=RAMP), r"unknown array 'worths'; did you mean 'worth'\? \(known are format, worth, "),
    "nothing": (archive(name="a"), r"expected an array worth, got name$"),
    "format": (archive(format=2, worth=RAMP), r"the file has format 2, this version reads 1$"),
    "text": (archive(worth=RAMP.astype(str)), r"worth must hold real numbers, got shape \(2, 3\) of <U32$"),
    "name": (archive(worth=RAMP, name=3), r"name must hold one text, got shape \(\) of int64$"),
    "origin": (archive(worth=RAMP, origin="left"), r"origin must be \"upper\" or \"lower\", got 'left'$"),
    "blocked": (archive(worth=RAMP, blocked=WALL * 0.5), r"blocked must be true and false, or 1 and 0, got float64$"),
    "shape": (archive(worth=RAMP, blocked=WALL.T), r"blocked must have the shape of worth, \(2, 3\), got \(3, 2\)$"),
    "targets": (archive(worth=RAMP, targets=[[5, 0]]), r"targets must lie inside .*got \(5, 0\)"),
    "negative": (archive(worth=-RAMP), r"worth must not be negative, got -1\.0 at \(1, 0\)$"),
    "half a mixture": (
        archive(worth=RAMP, weights=[1.0], means=[[1.0, 1.0]]),
        r"a mixture must have weights, means and covariances, got only weights, means$",
    ),
    "mixture": (archive(worth=RAMP, **MIXTURE | {"weights": [0.5]}), r"weights must sum to 1, got 0\.5"),
}


@pytest.mark.parametrize(("content", "message"), BAD_NPZ.values(), ids=BAD_NPZ)
def test_bad_npz(content, message, tmp_path):
    path = put(tmp_path / "bad.npz", content)
    assert str(refuses(lambda: read_world(path), InvalidGame, message)).startswith(f"{path}: ")


def test_a_whole_mixture_by_hand_is_fine(tmp_path):
    world = read_world(put(tmp_path / "w.npz", archive(worth=RAMP, **MIXTURE)))
    assert world.mixture.num_components == 1
    assert world.targets.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.csv", r"missing\.csv: there is no such file$"),
        ("folder.png", r"folder\.png: expected a file, got a folder; maps are read from \.csv, .* and \.npz files$"),
        ("map.json", r"map\.json: maps are read from \.csv, .* and \.npz files, got \.json$"),
        ("map", r"map: maps are read from .*, got no suffix$"),
        ("x" * 300 + ".csv", r"cannot be read: File name too long$"),
        ("nul\0.csv", r"there is no such file$"),
    ],
)
def test_bad_paths(name, message, tmp_path):
    (tmp_path / "folder.png").mkdir()
    refuses(lambda: read_world(tmp_path / name), InvalidGame, message)


def one_of_each(folder):
    paths = [write_world(World(RAMP), folder / name) for name in ("a.csv", "b.npz")]
    np.save(folder / "c.npy", RAMP)
    grey().save(folder / "d.png")
    return [*paths, folder / "c.npy", folder / "d.png"]


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    paths = one_of_each(tmp_path)

    def denied(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", denied)
    monkeypatch.setattr("pathlib.Path.read_bytes", denied)
    for path in paths:
        refuses(lambda path=path: read_world(path), InvalidGame, rf"{path.name}: cannot be read: Permission denied$")


def test_files_that_do_not_fit(tmp_path, monkeypatch):
    paths = one_of_each(tmp_path)
    monkeypatch.setattr("potentia.kernel.memory._SMALL", 0)
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 200)
    for path in paths:
        refuses(lambda path=path: read_world(path), TooLarge, rf"reading .*{path.name} needs")


# Whatever comes ---------------------------------------------------------------------------------------

WHOLE = {
    ".csv": b"0.5;1;x\n3;;5\n1e3;7;8\n".replace(b".", b","),
    ".npy": one_array(RAMP),
    ".npz": archive(worth=RAMP, blocked=WALL, name="a", **MIXTURE),
    ".png": image_bytes(grey(DEEP)),
    ".gif": palette(kind="GIF"),
    ".bmp": image_bytes(grey(), "BMP"),
    ".jpg": image_bytes(grey(), "JPEG"),
    ".tif": image_bytes(grey(DEEP), "TIFF"),
    ".pgm": image_bytes(grey(), "PPM"),
}


def outcome(path):
    """True if the file is a world, False if it is refused; anything else raises."""
    try:
        read_world(path)
    except InvalidGame as error:
        if str(error).startswith(f"{path}: "):
            return False
        raise
    return True


@pytest.mark.parametrize("suffix", WHOLE)
def test_truncated_files_are_refused_or_read(suffix, tmp_path):
    whole = WHOLE[suffix]
    path = tmp_path / f"cut{suffix}"
    cuts = range(0, len(whole) + 1, max(1, len(whole) // 150))
    expected = read_world(put(path, whole))
    equal = [same(read_world(path), expected) for cut in cuts if outcome(put(path, whole[:cut]))]
    assert not outcome(put(path, b""))
    assert all(equal) == (suffix != ".csv")  # only text cannot know that something is missing


@pytest.mark.parametrize("suffix", WHOLE)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_are_refused_or_read(suffix, data, tmp_path):
    """Bytes changed in a good file: no error but our own, no warning."""
    content = bytearray(WHOLE[suffix])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    outcome(put(tmp_path / f"damaged{suffix}", bytes(content)))


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(suffix=st.sampled_from(list(WHOLE)), content=st.binary(max_size=200))
def test_random_bytes_are_refused_or_read(suffix, content, tmp_path):
    outcome(put(tmp_path / f"random{suffix}", content))


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.text(alphabet='0123456789.,;-+eExX# \t\r\n"n_é\x0b\x1c\u2028\u00a0', max_size=40))
def test_random_text_is_refused_or_read(content, tmp_path):
    outcome(put(tmp_path / "random.csv", content))
