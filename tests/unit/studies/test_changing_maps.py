"""Maps that change, from folders, arrays and specifications; and the copies that a study keeps of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin
from rasterio.transform import Affine

import potentia as pt
from potentia.cli.options.changes import changes_from
from potentia.cli.options.maps import game_from
from potentia.errors import InvalidGame, InvalidInput, InvalidSpecification
from potentia.games.coordinates import Coordinates
from potentia.games.formats.map_frames import holds_frames, read_flow, read_frames
from potentia.studies.building import game_from as built
from potentia.studies.kept import is_kept_input, told_apart
from potentia.studies.planning import gather, plan
from potentia.studies.specification import specification_from
from tests.unit.games.test_changing_worlds import FLOW, STACK
from tests.unit.games.test_grids import UPRIGHT, tiff

STUDY = {"steps": 20, "seeds": 2, "rule": {"name": "blll", "tau": 0.3}}
SHADES = np.random.default_rng(3).integers(0, 256, (12, 5, 7), np.uint8)


def picture(path, pixels, mode="L"):
    Image.fromarray(np.asarray(pixels, np.uint8), mode).save(path)


@pytest.fixture
def folder(tmp_path):
    frames = tmp_path / "frames"
    frames.mkdir()
    for k, shades in enumerate(SHADES):
        picture(frames / f"leak {k}.png", shades)  # 10 and 11 come after 9
    (frames / ".hidden").write_text("left out")
    np.save(tmp_path / "stack.npy", STACK)
    np.save(tmp_path / "wind.npy", FLOW)
    np.save(tmp_path / "flat.npy", STACK[0])
    walls = np.zeros((5, 7), np.uint8)
    walls[2, 3] = 255
    picture(tmp_path / "walls.png", walls)
    return tmp_path


def test_images_follow_each_other_by_number(folder):
    assert holds_frames(folder / "frames")
    np.testing.assert_array_equal(read_frames(folder / "frames"), SHADES / 255)
    np.testing.assert_array_equal(read_frames(folder / "stack.npy"), STACK)
    assert holds_frames(folder / "stack.npy")
    assert not any(holds_frames(folder / name) for name in ("flat.npy", "walls.png", "nothing.npy"))
    np.testing.assert_array_equal(read_flow(folder / "wind.npy", "wrap").field, FLOW)


@pytest.mark.parametrize("source", ["frames", "frames/", "stack.npy"])
def test_a_specification_names_a_map_of_frames(folder, source):
    table = {"map": source, "robots": 2, "frame_steps": 30, "periodic": True, "blocked": "walls.png", "drift_every": 6}
    game = built(table, folder)
    stack = STACK if source == "stack.npy" else SHADES / 255
    np.testing.assert_allclose(game.worth_at(36), 0.8 * stack[1] + 0.2 * stack[2], rtol=1e-12)
    np.testing.assert_array_equal(game.worth_at(30 * len(stack)), stack[0])
    assert game.world.blocked.sum() == 1
    assert game.world.name == Path(source).stem


def test_a_specification_tells_shifts_and_flows(folder):
    flat = {"map": "flat.npy", "robots": 2}
    for table, drift in (
        ({"drift": [0.1, 0.2]}, pt.games.Shift((0.1, 0.2))),
        ({"drift": [0.1, 0.2], "drift_edge": "wrap"}, pt.games.Shift((0.1, 0.2), "wrap")),
        ({"drift": {"kind": "shift", "velocity": [0.1, 0.2]}}, pt.games.Shift((0.1, 0.2))),
        ({"drift": "wind.npy"}, pt.games.Flow(FLOW)),
        ({"drift": "wind.npy", "drift_edge": "wrap"}, pt.games.Flow(FLOW, "wrap")),
    ):
        world = pt.games.read_world(folder / "flat.npy")
        assert built(flat | table, folder).fingerprint() == pt.games.Coverage(world, 2, drift=drift).fingerprint()


def test_a_study_keeps_copies_of_what_changes(folder, tmp_path_factory):
    games = [
        {"map": "frames", "robots": 2, "frame_steps": 10},
        {"map": "flat.npy", "robots": 2, "drift": "wind.npy"},
        {"map": "flat.npy", "robots": 2, "drift": [[0.1, 0.2]], "label": "shift"},
    ]
    specification = specification_from(STUDY | {"game": games})
    kept, contents = gather(specification, folder)
    there = tmp_path_factory.mktemp("kept")
    for name, content in contents.items():
        (there / name).write_bytes(content)
        assert is_kept_input(there / name)
    assert len(contents) == 3
    before, after = plan(specification, folder), plan(kept, there)
    assert [p.labels for p in after.points] == [p.labels for p in before.points]
    for one, other in zip(before.points, after.points, strict=True):
        assert one.game.worth_at(20).tobytes() == other.game.worth_at(20).tobytes()
        assert one.game.drifts


def test_a_study_keeps_where_a_grid_lies(tmp_path):
    there = tmp_path / "kept"
    there.mkdir()
    (tmp_path / "site.ASC").write_text("ncols 3 nrows 2 xllcorner 9 yllcorner 8 cellsize 5 1 2 3 4 -9999 6")
    (tmp_path / "site.prj").write_text('PROJCS["Somewhere",GEOGCS["x"],UNIT["US survey foot",0.3048006096]]')
    specification = specification_from(STUDY | {"game": {"map": "site.ASC", "robots": 2, "start_at": [[[10, 9]] * 2]}})
    kept, contents = gather(specification, tmp_path)
    assert gather(specification, tmp_path) == (kept, contents)
    for name, content in contents.items():
        (there / name).write_bytes(content)
        assert is_kept_input(there / name)
    before, after = (plan(one, where).points[0].game for one, where in ((specification, tmp_path), (kept, there)))
    for name in ("coordinates", "cell_size", "unit", "origin"):
        assert getattr(after.world, name) == getattr(before.world, name)
    assert after.world.unit == "US survey foot"
    assert after.start.tolist() == before.start.tolist()
    assert after.world.worth.tobytes() == before.world.worth.tobytes()
    assert after.world.blocked.tobytes() == before.world.blocked.tobytes()


def test_the_command_line_says_the_same(folder):
    def asked(map, **given):
        names = ("drift", "edge", "every", "frame_steps", "periodic")
        changes = changes_from(*(given.get(name, False if name == "periodic" else None) for name in names))
        return game_from(str(folder / map), None, False, {"robots": 2, **changes})

    assert asked("flat.npy", drift="0.1,-0.2", edge="wrap").drift.velocity.tolist() == [0.1, -0.2]
    assert asked("flat.npy", drift=str(folder / "wind.npy"), every=5).drift.every == 5
    assert asked("frames", frame_steps=7, periodic=True).drift.periodic
    assert not asked("flat.npy").drifts
    with pytest.raises(InvalidInput, match="map must be one map, got 12 frames"):
        game_from(str(folder / "frames"), None, False, {"robots": 2}, still=True)


@pytest.fixture
def places(tmp_path):
    """A folder of GeoTIFFs, each with no data in a cell of its own."""
    (tmp_path / "places").mkdir()
    for k, worth in enumerate(STACK.copy()):
        worth[0, k] = -1
        tiff(tmp_path / "places" / f"{k}.tif", worth, worth + 1, nodata=-1)
    (tmp_path / "places" / "0.tif.aux.xml").write_text("written by a GIS")
    return tmp_path / "places"


def test_geotiffs_follow_each_other_where_they_lie(places):
    game = built({"map": "places", "robots": 2, "frame_steps": 30, "band": 1, "delta": ["3m", 1]}, places.parent)
    lost = np.zeros(STACK[0].shape, bool)
    lost[0, : len(STACK)] = True
    np.testing.assert_array_equal(game.world.blocked, lost)
    np.testing.assert_array_equal(game.worth_at(30), np.where(lost, 0, STACK[1]))
    assert game.world.coordinates == Coordinates(tuple(UPRIGHT)[:6], "EPSG:25832", "m")
    assert game.world.length == (2.0, "m")
    assert game.delta.tolist() == [1.5, 1.0]
    other = STACK[1] + 1
    other[0, 1] = 0  # a number there, and not that for no data
    np.testing.assert_array_equal(read_frames(places, band=2)[1], other)


def test_geotiffs_that_do_not_belong_together(places):
    with pytest.raises(InvalidGame, match=r"0\.tif: the file has 2 bands"):
        read_frames(places)
    tiff(places / "1.tif", STACK[1], transform=UPRIGHT @ Affine.translation(1, 0))
    told = r"places: 1\.tif: all must lie where 0\.tif does, .* easting 500000, .*, EPSG:25832, got .* easting 500002, "
    with pytest.raises(InvalidGame, match=told):
        read_frames(places, band=1)
    tiff(places / "1.tif", STACK[1], crs="EPSG:25833")
    with pytest.raises(InvalidGame, match=r"1\.tif: all must lie where 0\.tif does, .*EPSG:25832, got .*EPSG:25833"):
        read_frames(places, band=1)
    tiff(places / "1.tif", -STACK[1])
    with pytest.raises(InvalidGame, match=r"places: 1\.tif: cell \(0, 0\): worth must be finite and at least 0"):
        read_frames(places, band=1)


def test_a_study_does_not_lose_where_frames_lie(places):
    for k, worth in enumerate(STACK):
        tiff(places / f"{k}.tif", worth)
    table = STUDY | {"game": {"map": "places", "robots": 2, "frame_steps": 5}}
    with pytest.raises(InvalidSpecification, match="a study keeps frames as bare numbers"):
        gather(specification_from(table), places.parent)


def test_bad_folders(folder):
    frames = folder / "frames"
    picture(frames / "leak 12.png", np.zeros((5, 8)))
    with pytest.raises(InvalidGame, match=r"leak 12\.png: all images must be of one size: expected 7×5 .*got 8×5"):
        read_frames(frames)
    picture(frames / "leak 12.png", np.zeros((5, 7, 2)), "LA")
    with pytest.raises(InvalidGame, match=r"leak 12\.png: pixel \(0, 0\) is transparent, and walls do not move"):
        read_frames(frames)
    (frames / "leak 12.png").write_bytes(b"no picture")
    with pytest.raises(InvalidGame, match=r"frames: leak 12\.png: not a PNG"):
        read_frames(frames)
    (frames / "leak 12.png").rename(frames / "notes.md")
    with pytest.raises(InvalidGame, match=r"frames: expected nothing but images, .*got notes\.md"):
        read_frames(frames)
    (frames / "notes.md").unlink()
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[33550], tags[33922] = (5.0, 5.0, 0.0), (0.0, 0.0, 0.0, 1000.0, 2000.0, 0.0)  # the side of a cell, and a corner
    Image.fromarray(np.full((5, 7), 40, np.uint8)).save(frames / "leak 12.tif", tiffinfo=tags)
    with pytest.raises(
        InvalidGame, match=r"frames: leak 12\.tif: all must lie where leak 0\.png does, nowhere on Earth"
    ):
        read_frames(frames)
    (folder / "none").mkdir()
    with pytest.raises(InvalidGame, match=r"none: expected a folder of images.* got an empty one"):
        read_frames(folder / "none")
    np.save(folder / "one.npy", STACK[:1])
    with pytest.raises(InvalidGame, match=r"one\.npy: frames must have .*at least two frames"):
        read_frames(folder / "one.npy")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"map": "frames"}, r"frame_steps must say how many steps .*the 12 frames of frames"),
        ({"map": "frames", "frame_steps": 0}, r"frame_steps must be an integer of at least 1, got 0"),
        ({"map": "frames", "frame_steps": 5, "drift": [0.1, 0]}, r"drift is not for a map of 12 frames"),
        ({"map": "flat.npy", "frame_steps": 5}, r"frame_steps is for a map of several frames.*got 'flat\.npy'"),
        ({"map": "flat.npy", "periodic": True}, r"periodic is for a map of several frames"),
        ({"map": "flat.npy", "drift_edge": "wrap"}, r"drift_edge is for a drift"),
        (
            {"map": "flat.npy", "drift": [0.1, 0], "drift_edge": "sky"},
            r"^drift_edge must be one of wrap, reflect, empty",
        ),
        (
            {"map": "flat.npy", "drift": [0.1], "drift_edge": "wrap"},
            r"^drift must have shape \(2,\), \(vx, vy\) in cells",
        ),
        (
            {"map": "flat.npy", "drift": "wind.npy", "drift_edge": "reflect"},
            r'^drift_edge must be "empty" or "wrap"',
        ),
        ({"map": "flat.npy", "cell_size": 0}, r"^cell_size must be a length above 0, such as 0\.5m, got 0"),
        ({"map": "frames", "frame_steps": 5, "cell_size": "0m"}, r"^cell_size must be a length above 0"),
        ({"map": "nowhere"}, r"map must be .*or a folder of images, got 'nowhere'"),
        ({"map": "flat.npy", "drift": "calm.npy"}, r"calm\.npy: there is no such file"),
        ({"map": "flat.npy", "drift": "walls.png"}, r"a flow is read from \.npy files, got \.png"),
        ({"map": "flat.npy", "drift": "stack.npy"}, r"stack\.npy: field must have shape \(rows, columns, 2\)"),
    ],
)
def test_bad_tables(folder, table, message):
    with pytest.raises((InvalidGame, InvalidSpecification), match=message):
        built({"robots": 2, **table}, folder)


def test_what_is_itself_a_list_is_not_taken_for_an_axis():
    def planned(**entries):
        return plan(specification_from(STUDY | {"game": {"map": "random:1", "robots": 3, **entries}}))

    with pytest.raises(InvalidSpecification, match=r"game\.events must be a list of lists.*or stand above \[game\]"):
        planned(events=["fail 1@10", "arrive 12"])
    with pytest.raises(InvalidSpecification, match=r"game\.drift must be a list of velocities .*\[\[0\.1, 0\]\].*got"):
        planned(drift=[0.1, 0], drift_edge="wrap")
    games = [point.game for point in planned(events=[["fail 1@10", "arrive 12"], ["fail 2@9"]]).points]
    assert [game.events for game in games] == [("fail 1@10", "arrive 12"), ("fail 2@9",)]
    assert len(planned(events="fail 1@10", drift=[[0.1, 0]]).points) == 1


def test_a_file_may_be_called_random(folder):
    (folder / "random-field.csv").write_text("1,2,3\n4,5,6\n")
    assert built({"map": "random-field.csv", "robots": 2}, folder).world.total == 21


@pytest.mark.parametrize(("reach", "cells"), [("adjacent", 8), (1, 6), (1.5, 8)])
def test_the_largest_part_is_that_of_robots_that_move_so_far(folder, reach, cells):
    (folder / "rooms.csv").write_text("1,x,1\n1,x,1\nx,1,1\n1,1,x\n")
    game = built({"map": "rooms.csv", "robots": 2, "largest_part": True, "reach": reach}, folder)
    assert game.world.num_free == cells


def test_two_maps_of_one_name_are_told_apart():
    one, other = "Coverage(leaks-134e13d6d288, robots=3)", "Coverage(leaks-0123456789ab, robots=3)"
    assert told_apart([one, one]) == ["Coverage(leaks, robots=3)"]
    assert told_apart([one, other]) == [one, other]
