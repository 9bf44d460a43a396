"""GeoTIFFs and ASCII grids: numbers, walls and coordinates as in the file, and clear errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import rasterio
from rasterio.control import GroundControlPoint
from rasterio.transform import Affine

from potentia.cli.options.maps import in_column, place_columns
from potentia.errors import InvalidGame
from potentia.games import World, read_world, write_world
from potentia.games.coordinates import Coordinates, in_cells, length_from
from potentia.studies.building import game_from, lengths_in_cells
from tests.unit.bad import refuses
from tests.unit.games.map_files import GREY, RGB, WALL, grey, image_bytes, put, same

VALUES = np.arange(12.0).reshape(3, 4)
UPRIGHT = Affine(2, 0, 500_000, 0, -2, 5_700_000)
GRID = "ncols 3\nnrows 2\nxllcorner 1000\nyllcorner 2000\ncellsize 5\nNODATA_value -1\n1 2 3\n4 -1 6\n"


def tiff(path, *bands, transform=UPRIGHT, crs="EPSG:25832", **options):
    first = bands[0] if bands else VALUES
    shape = {"height": first.shape[0], "width": first.shape[1], "count": len(bands) or 1, "dtype": first.dtype}
    with rasterio.open(path, "w", driver="GTiff", **shape, transform=transform, crs=crs, **options) as file:
        for k, band in enumerate(bands or (VALUES,), start=1):
            file.write(band, k)
    return path


@pytest.mark.parametrize("kind", ["uint8", "int16", "float32", "float64"])
def test_numbers_are_as_they_are_and_what_has_none_is_blocked(kind, tmp_path):
    world = read_world(tiff(tmp_path / "a.tif", VALUES.astype(kind), nodata=5, compress="deflate"))
    np.testing.assert_array_equal(world.blocked, VALUES == 5)
    np.testing.assert_array_equal(world.worth, np.where(VALUES == 5, 0, VALUES))
    assert (world.cell_size, world.unit, world.origin) == (2.0, "m", "upper")
    assert world.coordinates == Coordinates(tuple(UPRIGHT)[:6], "EPSG:25832", "m")


def test_not_a_number_is_blocked_and_scales_are_applied(tmp_path):
    path = tiff(tmp_path / "a.tif", np.array([[1.0, np.nan], [3.0, 4.0]]))
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (10.0,), (5.0,)
    world = read_world(path)
    assert world.worth.tolist() == [[15.0, 0.0], [35.0, 45.0]]
    assert world.blocked.tolist() == [[False, True], [False, False]]


def test_a_file_with_its_southern_row_first_is_drawn_upwards(tmp_path):
    world = read_world(tiff(tmp_path / "a.tif", transform=Affine(2, 0, 100, 0, 2, 50)))
    assert world.origin == "lower"
    np.testing.assert_allclose(world.coordinates.at([(0.5, 0.5), (3.5, 2.5)]), [(101, 51), (107, 55)])


def test_coordinates_go_round_by_rasterio_and_by_npz(tmp_path):
    path = tiff(tmp_path / "a.tif")
    world = read_world(path)
    with rasterio.open(path) as file:
        for x, y in world.cells.tolist():
            place = file.xy(y, x)  # of the centre
            np.testing.assert_allclose(world.coordinates.at((x + 0.5, y + 0.5)), place)
            assert world.cells_at([place]).tolist() == [[x, y]]
    again = read_world(write_world(world, tmp_path / "b.npz"))
    assert same(again, world)
    assert (again.coordinates, again.cell_size, again.unit) == (world.coordinates, 2.0, "m")
    refuses(lambda: write_world(world, tmp_path / "b.csv"), InvalidGame, "cannot hold a cell_size")


def test_one_of_several_bands(tmp_path):
    path = tiff(tmp_path / "a.tif", VALUES, VALUES + 1)
    refuses(lambda: read_world(path), InvalidGame, "the file has 2 bands; say with band which one holds the worth")
    refuses(lambda: read_world(path, band=3), InvalidGame, "band must be one of the file's, 1, 2, got 3")
    np.testing.assert_array_equal(read_world(path, band=2).worth, VALUES + 1)
    refuses(lambda: read_world(put(tmp_path / "m.csv", "1,2\n"), band=1), InvalidGame, "band is for GeoTIFFs")


def test_degrees_have_no_length_and_feet_have(tmp_path):
    world = read_world(tiff(tmp_path / "a.tif", transform=Affine(0.01, 0, 8, 0, -0.02, 50), crs="EPSG:4326"))
    assert (world.cell_size, world.length) == (None, (1.0, "cells"))
    assert world.axes_names() == ("longitude (degrees)", "latitude (degrees)")
    assert world.like(cell_size=3).length == (3.0, "m")
    feet = read_world(tiff(tmp_path / "b.tif", crs="EPSG:2225"))
    assert (feet.cell_size, feet.unit) == (2.0, "US survey foot")
    for text in ("10US survey foot", "10 us_survey_foot", "10ft", "10 feet"):
        assert lengths_in_cells({"delta": text}, feet) == {"delta": 5.0}
        assert read_world(tmp_path / "b.tif", cell_size=text.replace("10", "2")).unit
    refuses(lambda: lengths_in_cells({"delta": "10m"}, feet), InvalidGame, "delta must be in US survey foot, the map's")


@pytest.mark.parametrize(
    ("transform", "crs", "message"),
    [
        (Affine(2, 0.5, 0, 0.5, -2, 9), "EPSG:25832", "neither turn nor mirror"),
        (Affine(-2, 0, 9, 0, -2, 9), "EPSG:25832", "neither turn nor mirror"),
        (Affine(2, 0, 9, 0, -3, 9), "EPSG:25832", "cells must be squares, got 2 by 3 m"),
        (UPRIGHT, None, "cells of 2 and does not say in which unit: it has no projection; give cell_size"),
    ],
)
def test_places_that_cannot_be_used(transform, crs, message, tmp_path):
    refuses(lambda: read_world(tiff(tmp_path / "a.tif", transform=transform, crs=crs)), InvalidGame, message)


def test_a_file_without_a_projection_and_a_size_that_is_given(tmp_path):
    world = read_world(tiff(tmp_path / "a.tif", crs=None), cell_size="3 ft")
    assert (world.cell_size, world.unit, world.coordinates.unit) == (3.0, "ft", "")
    known = tiff(tmp_path / "b.tif")
    assert read_world(known, cell_size=2).cell_size == 2
    told = r"cell_size must be what the file says, 2 m, or left out, got '3m' \(.*b\.tif\)"
    refuses(lambda: read_world(known, cell_size="3m"), InvalidGame, told)


@pytest.mark.parametrize("asked", [{"band": 2}, {"wall_colour": "#ff0000"}])
def test_what_is_asked_of_a_file_that_has_none_is_refused(asked, tmp_path):
    path = write_world(World(VALUES), tmp_path / "a.npz")
    refuses(lambda: read_world(path, **asked), InvalidGame, rf"{next(iter(asked))} is not for \.npz files \(.*a\.npz\)")


def test_ground_control_points_are_no_transform(tmp_path):
    path = tmp_path / "a.tif"
    points = [GroundControlPoint(r, c, 9.0 + c, 50.0 - r, 0.0) for r, c in ((0, 0), (0, 4), (3, 0))]
    shape = {"height": 3, "width": 4, "count": 1, "dtype": "float64"}
    with rasterio.open(path, "w", driver="GTiff", **shape, gcps=points, crs="EPSG:4326") as file:
        file.write(VALUES, 1)
    refuses(lambda: read_world(path), InvalidGame, "has no transform")


def test_without_rasterio_the_error_names_the_extra(tmp_path, monkeypatch):
    path = tiff(tmp_path / "a.tif")
    monkeypatch.setitem(sys.modules, "rasterio", None)
    refuses(lambda: read_world(path), InvalidGame, r'needs the extra "geo": pip install "potentia\[geo\]"')
    assert read_world(put(tmp_path / "b.tif", image_bytes(grey(), "TIFF"))).coordinates is None  # a picture as ever


def test_masks_lie_where_their_map_does(tmp_path):
    path = tiff(tmp_path / "a.tif")
    walls = np.zeros((3, 4), np.uint8)
    walls[1, 2] = 1
    mask = tiff(tmp_path / "b.tif", walls)
    np.testing.assert_array_equal(read_world(path, blocked=mask).blocked, walls)
    away = tiff(tmp_path / "c.tif", walls, transform=Affine(2, 0, 0, 0, -2, 0))
    refuses(lambda: read_world(path, blocked=away), InvalidGame, "must lie where its map does, first corner at easting")


def test_points_outside_the_map_are_refused(tmp_path):
    path = tiff(tmp_path / "a.tif")
    table = {"map": "a.tif", "robots": 1, "delta": 1, "start_at": [[500_003.0, 5_699_999.0]]}
    game = game_from(table, tmp_path)
    assert game.positions(game.start).tolist() == [[1, 0]]
    told = (
        r"start_at must lie on the map, easting \(m\) 500000 to 500008 and northing \(m\) 5699994 to 5700000, got \(3,"
    )
    refuses(lambda: game_from(table | {"start_at": [[3, 4]]}, tmp_path), InvalidGame, told)
    refuses(lambda: read_world(path).cells_at([[1.0, np.nan]]), InvalidGame, "points must be points of two finite")
    refuses(lambda: World(VALUES).cells_at([[1.0, 1.0]]), InvalidGame, "coordinates or a cell size")
    assert World(VALUES, cell_size=0.5).cells_at([[1.0, 0.6]]).tolist() == [[2, 1]]


def test_points_on_the_edge_are_on_the_map(tmp_path):
    world = read_world(tiff(tmp_path / "a.tif"))
    corners = [[500_000, 5_700_000], [500_008, 5_700_000], [500_008, 5_699_994], [500_000, 5_699_994]]
    assert world.cells_at(corners).tolist() == [[0, 0], [3, 0], [3, 2], [0, 2]]
    refuses(lambda: world.cells_at([[500_008.001, 5_700_000]]), InvalidGame, "points must lie on the map")
    tenths = World(VALUES, cell_size=0.1)
    assert tenths.cells_at([[0.4, 0.3], [0.1 + 0.2, 0.1 * 3]]).tolist() == [[3, 2], [3, 2]]  # 0.1 · 3 is above 0.3


def test_columns_of_lengths_have_no_blanks():
    assert place_columns(World(VALUES, cell_size=3.0, unit="US survey foot")) == [
        "x_US_survey_foot",
        "y_US_survey_foot",
    ]
    assert in_column("driven", "m") == "driven_m"


# ASCII grids ------------------------------------------------------------------------------------------


def test_an_ascii_grid(tmp_path):
    put(tmp_path / "a.asc", GRID)
    refuses(lambda: read_world(tmp_path / "a.asc"), InvalidGame, "cells of 5 and does not say in .*give cell_size")
    world = read_world(tmp_path / "a.asc", cell_size="5m")
    assert world.worth.tolist() == [[1, 2, 3], [4, 0, 6]]
    assert world.blocked.tolist() == [[False, False, False], [False, True, False]]
    assert (world.cell_size, world.unit, world.origin) == (5.0, "m", "upper")
    np.testing.assert_allclose(world.coordinates.at([(0, 0), (0, 2)]), [(1000, 2010), (1000, 2000)])
    centred = read_world(put(tmp_path / "b.asc", GRID.replace("corner 1000", "center 1002.5")), cell_size="5m")
    assert centred.coordinates == world.coordinates


def test_an_ascii_grid_is_what_rasterio_makes_of_it(tmp_path):
    path = put(tmp_path / "a.asc", GRID)
    world = read_world(path, cell_size="5m")
    with rasterio.open(path) as file:
        assert world.coordinates.transform == tuple(file.transform)[:6]
        np.testing.assert_array_equal(world.blocked, file.read_masks(1) == 0)


def test_the_projection_beside_a_grid(tmp_path):
    put(tmp_path / "a.asc", GRID)
    for text, unit in (
        ('PROJCS["UTM",GEOGCS["WGS",UNIT["Degree",0.0174]],UNIT["Meter",1.0]]', "m"),
        ('PROJCRS["x",BASEGEOGCRS["W"],LENGTHUNIT["foot",0.3048]]', "ft"),
        ('GEOGCS["WGS",UNIT["Degree",0.0174]]', "degrees"),
        ("Projection UTM\nUnits METERS\n", "m"),
        ("Projection GEOGRAPHIC\nUnits DD\n", "degrees"),
    ):
        put(tmp_path / "a.prj", text)
        world = read_world(tmp_path / "a.asc")
        assert world.coordinates.unit == unit
        assert (world.cell_size is None) == (unit == "degrees")
    put(tmp_path / "a.prj", "what?")
    refuses(lambda: read_world(tmp_path / "a.asc"), InvalidGame, "a.prj beside it holds no projection that can be read")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ncols 3", "ncols 4", "expected 4 × 2 = 8 numbers after the heading, got 6"),
        ("ncols 3", "ncols 0", "ncols must be a whole number of at least 1"),
        ("cellsize 5", "cellsize 0", "cellsize must be above 0, got 0"),
        ("cellsize 5\n", "", "no cellsize"),
        ("xllcorner 1000\n", "", "no xllcorner nor xllcenter"),
        ("4 -1", "4 x", r"cell \(1, 1\): expected a number, got 'x'"),
        ("nrows 2", "nrows 2\nnrows 2", "is there twice"),
        ("nrows 2", "rows 2", "'rows' is no line of"),
        ("4 -1", "4 -2", "worth must be finite and at least 0, got -2"),
        ("xllcorner 1000\nyllcorner 2000\ncellsize 5", "xllcorner 8\nyllcorner 50\ncellsize 0.01", "not say in which"),
    ],
)
def test_bad_ascii_grids(old, new, message, tmp_path):
    assert old in GRID
    refuses(lambda: read_world(put(tmp_path / "a.asc", GRID.replace(old, new))), InvalidGame, message)


# Lengths, walls by colour, parts ----------------------------------------------------------------------


def test_lengths():
    assert [length_from(given) for given in ("0.5m", "0.5", 2, "1e1 km")] == [
        (0.5, "m"),
        (0.5, "m"),
        (2, "m"),
        (10, "km"),
    ]
    for given in ("0", "-1m", 0, "m", "1.2.3m", "nan", True, "1m2m", None):
        refuses(lambda given=given: length_from(given), InvalidGame, "cell_size must be a length above 0, such as 0.5m")


def test_walls_by_colour(tmp_path):
    red = RGB.copy()
    red[WALL] = (255, 0, 0)
    world = read_world(put(tmp_path / "a.png", image_bytes(grey(red))), wall_colour="#ff0000")
    np.testing.assert_array_equal(world.blocked, WALL)
    dark = read_world(put(tmp_path / "b.png", image_bytes(grey())), wall_colour="#333333")
    np.testing.assert_array_equal(dark.blocked, GREY == 0x33)
    for colour, message in (("#00ff00", "is the colour of no pixel"), ("red", "must be a colour #rrggbb")):
        refuses(lambda colour=colour: read_world(tmp_path / "a.png", wall_colour=colour), InvalidGame, message)
    refuses(
        lambda: read_world(put(tmp_path / "a.csv", "1,2\n"), wall_colour="#000000"),
        InvalidGame,
        "wall_colour is for images",
    )


def test_every_part_is_a_world(tmp_path):
    world = World(np.ones((1, 7)), blocked=[[0, 1, 0, 0, 0, 1, 0]], name="w")
    parts = world.each_part()
    assert [part.num_free for part in parts] == [3, 1, 1]
    assert sum(part.num_free for part in parts) == world.num_free
    for k, part in enumerate(parts, start=1):
        np.testing.assert_array_equal(part.blocked, world.part(k).blocked)
    refuses(
        lambda: world.part(4),
        InvalidGame,
        "part must be 1 to 3, for the free cells have 3 parts, of 3, 1, 1 cells, got 4",
    )


@pytest.mark.parametrize(
    ("given", "cells"), [("7.5m", 1.5), (["5m", 2, "1e1 m"], [1.0, 2, 2.0]), ("3", 3.0), ("inf", np.inf), (4, 4)]
)
def test_lengths_in_the_unit_of_a_map_are_cells(given, cells):
    assert in_cells(given, 5.0, "m", "delta") == cells


@pytest.mark.parametrize("given", ["7.5.2m", "-3m", "far", "", "m"])
def test_what_is_no_length_is_refused(given):
    told = rf"delta must be a number of cells, or a length such as 7.5m, got '{given}'"
    refuses(lambda: in_cells(given, 5.0, "m", "delta"), InvalidGame, told)
