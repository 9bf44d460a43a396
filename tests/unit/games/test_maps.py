"""Maps in files: what is written comes back, and the first row is on top."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from potentia.errors import InvalidGame
from potentia.games import Coverage, World, gaussian_world, paper_world, random_world, read_world, write_world
from tests.unit.bad import refuses
from tests.unit.games.map_files import (
    DEEP,
    GREY,
    MAPS,
    RAMP,
    RGB,
    SHADES,
    WALL,
    archive,
    grey,
    image_bytes,
    one_array,
    palette,
    put,
    same,
    tiff16,
)

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
    trailing = data.draw(st.booleans()) and separator.strip(" ") != ""
    # decimal commas can be told from separators only where there is a separator
    seen = separator.strip(" ") in (";", "\t") and (trailing or len(rows[0]) > 1)
    commas = seen and data.draw(st.booleans())
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

    monkeypatch.setattr("potentia.games.formats.maps._lines", full)
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
