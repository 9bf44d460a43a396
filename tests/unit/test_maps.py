"""Maps in files: what is written comes back, the first row is on top, and every bad file is refused in words."""

from __future__ import annotations

import io
import pickle
import runpy
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from potentia.errors import InvalidGame, TooLarge
from potentia.games import Coverage, World, gaussian_world, paper_world, random_world, read_world, write_world
from tests.unit.bad import refuses

MAPS = Path(__file__).parents[2] / "docs" / "maps"
RAMP = np.arange(6.0).reshape(2, 3)
WALL = np.array([[0, 1, 0], [0, 0, 0]], bool)
GREY = np.array([[0, 51, 255], [102, 153, 204]], np.uint8)
SHADES = GREY / 255.0


def put(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


def same(a, b, name=True):
    """Whether two worlds agree in everything, to the bit."""
    arrays = [(w.worth.tobytes(), w.blocked.tobytes(), w.targets.tobytes(), w.size, w.origin) for w in (a, b)]
    mixtures = [
        None if w.mixture is None else [getattr(w.mixture, k).tobytes() for k in ("weights", "means", "covariances")]
        for w in (a, b)
    ]
    return arrays[0] == arrays[1] and mixtures[0] == mixtures[1] and (not name or a.name == b.name)


def image_bytes(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def grey(array=GREY):
    return Image.fromarray(array)


def archive(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def one_array(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class Trap:
    """Unpickling this fails the test."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


# There and back ---------------------------------------------------------------------------------------

WORLDS = {
    "paper": paper_world,
    "random": lambda: random_world(3, targets=2, size=(7, 5)),
    "walls": lambda: World(RAMP, blocked=WALL, targets=[(2, 1), (0, 0)], origin="lower", name="Größe ×"),
    "blocked mixture": lambda: gaussian_world((3, 2), [1.0], [[9.0, 1.0]], [np.eye(2)], blocked=WALL),
    "one cell": lambda: World([[5e-324]]),
}


@pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)
def test_npz_keeps_everything(make, tmp_path):
    made = make()
    path = write_world(made, tmp_path / "w.npz")
    assert same(read_world(str(path)), made)
    assert [p.name for p in tmp_path.iterdir()] == ["w.npz"]
    assert not same(read_world(path, name="other"), made)  # the comparison can fail
    assert not same(read_world(path, targets=[]), made) or not len(made.targets)


def test_npz_by_hand(tmp_path):
    np.savez_compressed(tmp_path / "w.npz", worth=RAMP.astype(np.int8), blocked=WALL.astype(int))
    assert same(read_world(tmp_path / "w.npz"), World(RAMP, blocked=WALL, name="w"))


FLOATS = st.floats(0, 1e290, allow_subnormal=True)
CELLS = st.one_of(st.none(), FLOATS)


@st.composite
def grids(draw, cells=CELLS):
    """Rows of numbers and walls (None), at least one of them a number."""
    columns = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=1, max_size=5))
    if all(cell is None for row in rows for cell in row):
        rows[-1][-1] = draw(FLOATS)
    return rows


def world_of(rows, name="map"):
    worth = [[0.0 if cell is None else cell for cell in row] for row in rows]
    return World(worth, blocked=[[cell is None for cell in row] for row in rows], name=name)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows=grids())
def test_csv_round_trip(rows, tmp_path_factory):
    made = world_of(rows, "any")
    path = write_world(made, tmp_path_factory.getbasetemp() / "any.csv")
    assert same(read_world(path), made)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data(), rows=grids())
def test_tables_by_any_hand(data, rows, tmp_path_factory):
    """Separators, blanks, marks of walls, quotes, line ends and decimal commas, as spreadsheets write them."""
    separator = data.draw(st.sampled_from([",", ";", "\t", " ", ", ", " ;  ", "  "]))
    commas = separator.strip(" ") in (";", "\t") and data.draw(st.booleans())
    trailing = data.draw(st.booleans()) and separator.strip(" ") != ""
    # an empty last field is a wall only where not every line ends with a separator
    marks = ["x", "X", "#", '"x"', *(["", " ", '""'] if separator.strip(" ") and len(rows[0]) > 1 and trailing else [])]
    quote = data.draw(st.sampled_from(["", '"']))

    def text(cell):
        if cell is None:
            return data.draw(st.sampled_from(marks))
        return quote + repr(cell).replace(*(".,") if commas else "..") + quote

    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = [separator.join(map(text, row)) + (separator if trailing else "") for row in rows]
    content = end.join(lines) + data.draw(st.sampled_from(["", end, end * 3, end + "  " + end]))
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    suffix = data.draw(st.sampled_from([".csv", ".tsv", ".TXT"]))
    path = put(tmp_path_factory.getbasetemp() / f"hand{suffix}", mark + content.encode())
    assert same(read_world(path), world_of(rows, "hand"))


@pytest.mark.parametrize(
    ("content", "worth", "blocked"),
    [
        ("1,2,\n3,4,5\n", [[1, 2, 0], [3, 4, 5]], [[0, 0, 1], [0, 0, 0]]),
        ("1,2,\n3,4,\n", [[1, 2], [3, 4]], [[0, 0], [0, 0]]),  # a separator at the end of every line
        (",1\n2,\n", [[0, 1], [2, 0]], [[1, 0], [0, 1]]),
        ("1\t\t3\n\t\t\n4\t5\t6", [[1, 0, 3], [0, 0, 0], [4, 5, 6]], [[0, 1, 0], [1, 1, 1], [0, 0, 0]]),
        ("0.5,\t1\n2,\t.5\n", [[0.5, 1], [2, 0.5]], np.zeros((2, 2))),  # tabs for show
        ("0,5\t1\n2\t1e1\n", [[0.5, 1], [2, 10]], np.zeros((2, 2))),
        ("1\nx\n2", [[1], [0], [2]], [[0], [1], [0]]),
        ("7", [[7]], [[0]]),
        ("+1 -0\n  # 2\n", [[1, -0.0], [0, 2]], [[0, 0], [1, 0]]),
        ("1\u00a0,2\n", [[1, 2]], [[0, 0]]),  # a blank that does not break
        ("0,1,2,3\n1,2,3,4", [[0, 1, 2, 3], [1, 2, 3, 4]], np.zeros((2, 4))),  # a ramp is no heading
    ],
)
def test_tables_by_hand(content, worth, blocked, tmp_path):
    found = read_world(put(tmp_path / "map.csv", content))
    assert same(found, World(np.array(worth, float), blocked=np.array(blocked, bool)))


def files_with_a_corner(folder):
    """The same map in every format: cell (2, 0), at the end of the first row, is 1."""
    corner = np.zeros((2, 3), np.uint8)
    corner[0, 2] = 1
    np.save(folder / "a.npy", corner)
    np.savez(folder / "b.npz", worth=corner)
    for name in ("c.csv", "d.tsv", "e.txt"):
        put(folder / name, "0,0,1\n0,0,0\n")
    for suffix in ("png", "bmp", "tif", "tiff", "gif", "pgm"):
        grey(255 * corner).save(folder / f"f.{suffix}")
    big = np.kron(255 * corner, np.ones((8, 8), np.uint8))  # JPEG codes blocks of 8×8
    for suffix in ("jpg", "jpeg"):
        grey(big).save(folder / f"g.{suffix}", quality=100)
    return sorted(folder.iterdir())


def test_the_first_row_is_on_top_in_every_format(tmp_path):
    paths = files_with_a_corner(tmp_path)
    assert len(paths) == 13
    for path in paths:
        world = read_world(path)
        assert world.origin == "upper"
        assert world.name == path.stem
        step = world.size[0] // 3
        assert world.worth[::step, ::step].tolist() == [[0, 0, 1], [0, 0, 0]], path.name
        assert world.cells[2 * step].tolist() == [2 * step, 0]


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, ">f4", np.float16, np.float64])
def test_npy(dtype, tmp_path):
    values = RAMP.astype(dtype)
    np.save(tmp_path / "m.npy", np.asfortranarray(values))
    assert same(read_world(tmp_path / "m.npy"), World(values, name="m"))


# Images -----------------------------------------------------------------------------------------------

RGB = np.stack([GREY] * 3, axis=-1)
DEEP = GREY.astype(np.uint16) * np.uint16(257)


def palette(colours=None, **options):
    image = Image.new("P", (3, 2))
    image.putpalette(colours or [v for v in GREY.reshape(-1).tolist() for _ in range(3)])
    image.putdata(range(6))
    return image_bytes(image, **options)


def tiff16(bits=16, photometric=1):
    """A little TIFF by hand: Pillow writes neither 12 bits nor white as 0."""
    values = (DEEP >> (16 - bits)).reshape(-1).tolist()
    if bits == 16:
        strip = np.array(values, "<u2").tobytes()
    else:  # two numbers in three bytes, a row of three in five
        packed = b""
        for a, b, c in (values[:3], values[3:]):
            packed += bytes([a >> 4, (a & 15) << 4 | b >> 8, b & 255, c >> 4, (c & 15) << 4])
        strip = packed
    tags = [(256, 3), (257, 2), (258, bits), (259, 1), (262, photometric), (273, 8), (277, 1), (278, 2)]
    tags.append((279, len(strip)))
    start = 8 + len(strip) + len(strip) % 2
    entries = b"".join(np.array([t, 3], "<u2").tobytes() + np.array([1, v], "<u4").tobytes() for t, v in tags)
    head = b"II*\0" + np.array([start], "<u4").tobytes() + strip + b"\0" * (len(strip) % 2)
    return head + np.array([len(tags)], "<u2").tobytes() + entries + b"\0" * 4


PICTURES = {
    "8 bits": (".png", image_bytes(grey()), SHADES),
    "1 bit": (".png", image_bytes(grey(np.uint8(255) * (GREY > 99)).convert("1")), (GREY > 99) * 1.0),
    "16 bits": (".png", image_bytes(grey(DEEP)), SHADES),
    "16 bits tiff": (".tif", image_bytes(grey(DEEP), "TIFF"), SHADES),
    "16 bits by hand": (".tif", tiff16(), SHADES),
    "12 bits": (".tif", tiff16(12), (DEEP >> 4) / 4095),
    "white is 0": (".tif", tiff16(photometric=0), 1.0 - SHADES),
    "16 bits pgm": (".pgm", image_bytes(grey(DEEP), "PPM"), SHADES),
    "plain pgm": (".pgm", b"P2\n3 2\n5\n0 1 5\n2 3 4\n", SHADES),
    "plain pgm, 10 bits": (".pgm", b"P2\n3 2\n1023\n0 0 1023\n0 1023 0\n", [[0, 0, 1], [0, 1, 0]]),
    "floats": (".tif", image_bytes(grey(RAMP.astype(np.float32) * 100), "TIFF"), RAMP * 100),
    "integers": (".tif", image_bytes(grey(RAMP.astype(np.int32) * 1000), "TIFF"), RAMP * 1000),
    "rgb": (".png", image_bytes(grey(RGB)), SHADES),
    "rgb bmp": (".bmp", image_bytes(grey(RGB), "BMP"), SHADES),
    "palette": (".png", palette(), SHADES),
    "palette gif": (".gif", palette(kind="GIF"), SHADES),
    "opaque": (".png", image_bytes(grey().convert("LA")), SHADES),
    "opaque rgba": (".png", image_bytes(grey().convert("RGBA")), SHADES),
    "another suffix": (".bmp", image_bytes(grey()), SHADES),
}


@pytest.mark.parametrize(("suffix", "content", "worth"), PICTURES.values(), ids=PICTURES)
def test_images(suffix, content, worth, tmp_path):
    world = read_world(put(tmp_path / f"map{suffix}", content))
    np.testing.assert_allclose(world.worth, worth, rtol=1e-15, atol=0)
    assert not world.blocked.any()


@pytest.mark.parametrize(
    "content",
    [
        image_bytes(Image.merge("LA", [grey(), grey(np.where(GREY == 51, 0, 255).astype(np.uint8))])),
        image_bytes(grey(np.dstack([RGB + np.uint8(9) * WALL[..., None] * [1, 2, 3], 255 * ~WALL]).astype(np.uint8))),
        image_bytes(grey(), transparency=51),
        image_bytes(grey(DEEP), transparency=51 * 257),
        image_bytes(grey(RGB), transparency=(51, 51, 51)),
        palette(transparency=1),
        palette(kind="GIF", transparency=1),
    ],
    ids=["la", "rgba, hidden colour", "l", "16 bits", "rgb", "palette", "gif"],
)
def test_transparent_pixels_are_blocked(content, tmp_path):
    world = read_world(put(tmp_path / "map.png", content))
    assert world.blocked.tolist() == WALL.tolist()
    np.testing.assert_allclose(world.worth, np.where(WALL, 0, SHADES), rtol=1e-15)


@pytest.mark.parametrize(("kind", "suffix"), [("PNG", ".png"), ("TIFF", ".tif"), ("JPEG", ".jpg")])
def test_exif_orientation_is_applied(kind, suffix, tmp_path):
    exif = Image.Exif()
    exif[274] = 6  # to be turned clockwise by a quarter
    big = np.kron(np.array([[0, 0, 255], [0, 0, 0]], np.uint8), np.ones((8, 8), np.uint8))
    world = read_world(put(tmp_path / f"map{suffix}", image_bytes(grey(big), kind, exif=exif)))
    assert world.size == (16, 24)
    assert world.worth[::8, ::8].round(2).tolist() == [[0, 0], [0, 0], [0, 1]]


def test_other_models_of_colour_are_refused(tmp_path):
    refuses(
        lambda: read_world(put(tmp_path / "m.tif", image_bytes(grey(RGB).convert("CMYK"), "TIFF"))),
        InvalidGame,
        r"m\.tif: expected a greyscale image, got colours of mode CMYK; convert it to greyscale",
    )


# Masks ------------------------------------------------------------------------------------------------

MASKS = {
    "m.csv": b"0,x,0\n0,0,0\n",
    "m.tsv": b"0\t1.0\t0\n0\t0\t0\n",
    "m.txt": b"0 # 0\n0 0 0\n",
    "m.npy": one_array(WALL),
    "n.npy": one_array(WALL * 1.0),
    "m.png": image_bytes(grey(np.uint8(255) * WALL)),
    "n.png": image_bytes(grey(np.uint8(255) * WALL).convert("1")),
    "m.gif": image_bytes(grey(np.uint8(255) * WALL), "GIF"),
}


@pytest.mark.parametrize(("name", "content"), MASKS.items(), ids=MASKS)
def test_masks_add_to_the_walls_of_the_map(name, content, tmp_path):
    mask = put(tmp_path / f"mask {name}", content)
    path = put(tmp_path / "map.csv", "0,1,2\n3,4,x\n")
    expected = WALL | [[0, 0, 0], [0, 0, 1]]
    for given_mask in (mask, str(mask), WALL, WALL.tolist(), WALL.astype(int)):
        assert same(read_world(path, blocked=given_mask), World(RAMP * (RAMP < 5), blocked=expected))
    assert read_world(path).blocked.tolist() != expected.tolist()
    kept = write_world(World(RAMP, blocked=WALL.T.reshape(2, 3), origin="lower", targets=[(0, 1)]), tmp_path / "w.npz")
    both = read_world(kept, blocked=mask)
    assert both.blocked.tolist() == (WALL | WALL.T.reshape(2, 3)).tolist()
    assert (both.origin, both.targets.tolist()) == ("lower", [[0, 1]])


BAD_MASKS = {
    "size": ("m.csv", b"0,1\n0,0\n", r"m\.csv: a mask must have the size of its map, 3×2 cells, got 2×2$"),
    "grey": (
        "m.png",
        image_bytes(grey()),
        r"m\.png: pixel \(1, 0\): a mask must be 1 \(white\) where blocked and 0 \(black\) where free, got 0\.2$",
    ),
    "jpeg": ("m.jpg", image_bytes(grey(), "JPEG"), r"pixel \(\d, \d\): a mask .*; JPEG blurs edges, use PNG$"),
    "number": ("m.csv", b"0,0,0\n0,2,0\n", r"line 2, column 2, cell \(1, 1\): a mask must be .*, got 2$"),
    "nan": ("m.npy", one_array(np.full((2, 3), np.nan)), r"m\.npy: cell \(0, 0\): a mask must be .*, got nan$"),
    "empty field": (
        "m.csv",
        b"x,0,\nx,x,0\n",
        r"line 1, column 3, cell \(2, 0\) of the mask is empty: write 1 or x where blocked, 0 where free$",
    ),
    "transparent": (
        "m.png",
        image_bytes(grey().convert("LA").point(lambda v: v // 2)),
        r"pixel \(0, 0\) is transparent, alpha 127 of 255: a mask is black and white$",
    ),
    "world": ("m.npz", archive(worth=RAMP), r"m\.npz: masks are read from .*\.npy files, got \.npz$"),
    "missing": ("m.csv", None, r"m\.csv: there is no such file$"),
    "all": ("m.csv", b"1,1,1\n1,1,1\n", r"map\.csv: blocked leaves no free cell$"),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD_MASKS.values(), ids=BAD_MASKS)
def test_bad_masks(name, content, message, tmp_path):
    path = put(tmp_path / "map.csv", "0,1,2\n3,4,5\n")
    if content is not None:
        put(tmp_path / name, content)
    refuses(lambda: read_world(path, blocked=tmp_path / name), InvalidGame, message)


def test_bad_arguments(tmp_path):
    path = put(tmp_path / "map.csv", "0,1,2\n3,4,5\n")
    refuses(lambda: read_world(path, blocked=[[True]]), InvalidGame, r"map\.csv: blocked must have the shape of worth")
    refuses(lambda: read_world(path, targets=[(3, 0)]), InvalidGame, r"map\.csv: targets must lie inside x 0\.\.2 and")
    refuses(lambda: read_world(path, name=3), InvalidGame, r"^name must be text, got 3$")


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


# Writing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("world", "name", "message"),
    [
        (World(RAMP), "w.png", r"w\.png: maps are written to \.npz and \.csv files, got \.png$"),
        (World(RAMP), "nowhere/w.npz", r"w\.npz: cannot be written: No such file or directory$"),
        (World(RAMP), "folder.csv", r"folder\.csv: cannot be written: Is a directory$"),
        (World(RAMP, blocked=WALL), "w.csv", r"a \.csv file cannot hold the worth of blocked cell \(1, 0\); write"),
        (World(RAMP, targets=[(0, 0)]), "w.csv", r"a \.csv file cannot hold targets; write \.npz$"),
        (World(RAMP, origin="lower"), "w.csv", r"a \.csv file cannot hold origin 'lower'; write \.npz$"),
        (paper_world(), "w.csv", r"a \.csv file cannot hold a mixture; write \.npz$"),
        (RAMP, "w.npz", r"^a map holds a World, got array"),
        (type("Mine", (World,), {})(RAMP), "w.npz", r"^a map holds a World, got World"),
    ],
)
def test_what_cannot_be_written(world, name, message, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    refuses(lambda: write_world(world, tmp_path / name), InvalidGame, message)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_a_failed_write_leaves_the_old_file(suffix, tmp_path, monkeypatch):
    path = write_world(World(RAMP), tmp_path / f"w{suffix}")
    before = path.read_bytes()

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("potentia.games.maps._lines", full)
    monkeypatch.setattr(np, "savez", full)
    refuses(lambda: write_world(World(2 * RAMP), path), InvalidGame, r"cannot be written: No space left on device$")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# The sample for users -----------------------------------------------------------------------------------


def test_the_harbour_can_be_played_and_is_what_its_script_makes(tmp_path, monkeypatch):
    world = read_world(MAPS / "harbour.csv")
    assert world.size == (60, 40)
    assert 50 < world.blocked.sum() < 300
    assert Coverage(world, robots=5).num_actions == (world.num_free,) * 5
    assert Coverage(world, robots=5, reach=1).radius == 1  # connected without diagonals too
    script = runpy.run_path(str(MAPS / "make.py"))
    monkeypatch.setitem(script["main"].__globals__, "HERE", tmp_path)
    script["main"]()
    assert (tmp_path / "harbour.csv").read_bytes() == (MAPS / "harbour.csv").read_bytes()


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
