"""Films of recordings: every picture shows what the recording says, at the pixels where it belongs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFont

from potentia.colours import WALL, robot_colour
from potentia.errors import InvalidRun
from potentia.figures.configuration import MOST_CIRCLED
from potentia.games import Coverage, World, gaussian_world
from potentia.games.coordinates import Coordinates
from potentia.web.coding import chained
from potentia.web.films import files, lettering, maps, shapes
from potentia.web.films.canvas import INK, PAPER, SAME, Canvas, palette
from potentia.web.films.curves import number, ticks
from potentia.web.films.filming import film, shown_steps
from potentia.web.films.lettering import letters
from potentia.web.films.maps import COVERED, CROWD, LOST, Moment, colours_of, is_crowd
from potentia.web.films.sheet import Sheet, fitting
from potentia.web.given import recorded
from tests.unit.bad import refuses

SIZE = (7, 5)  # columns, rows
WALLS = np.zeros(SIZE[::-1], bool)
WALLS[2, 3] = True


def rgb(colour):
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


def yard(**options):
    worth = np.arange(35.0).reshape(5, 7)
    worth[WALLS] = 0.0
    return World(worth, blocked=WALLS, **{"targets": [(6, 4)], "name": "yard", **options})


def walk(world=None, flags=True, steps=20, **options):
    """Robot 0 walks along row 0 and back, robot 1 stays at (1, 0), robot 2 at (6, 3)."""
    game = Coverage(world or yard(), 3, 1.0, flags=flags, **options)
    cells = game.world.cells
    action = {tuple(cell): k for k, cell in enumerate(cells.tolist())}
    way = [0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]
    rows = [[action[way[k % 12], 0], action[1, 0], action[6, 3]] for k in range(steps + 1)]
    values = np.linspace(0.0, 10.0, steps + 1)
    return recorded(game, np.array(rows), 1, np.arange(steps + 1.0), values, "covered worth (union)")


def sheet_of(recording, scale=20, series="worth", mind=None, steps=(0, 20), title=""):
    return Sheet(recording, (scale, 1), np.array(steps), series, mind, title)


def moment(recording, step, back=0):
    return Moment(step, recording.profile(step), recording.profiles(range(max(0, step - back), step + 1)))


def shown(sheet, recording, step, back=0):
    """A picture as colours, and the corner of its map."""
    picture = sheet.palette.colours[sheet.picture(moment(recording, step, back))]
    return picture, (sheet.maps_left[0], sheet.maps_top)


def cell_of(sheet, picture, x, y, panel=0):
    """The pixels of a cell."""
    across, down = sheet.area.pixels(np.array([x, y])) - sheet.area.scale // 2
    left, top = sheet.maps_left[panel] + across, sheet.maps_top + down
    return picture[top : top + sheet.area.scale, left : left + sheet.area.scale]


def has(pixels, colour):
    return bool((pixels.reshape(-1, 3) == rgb(colour)).all(axis=1).any())


def opened(path):
    pictures, pauses = [], []
    with Image.open(path) as image:
        for k in range(getattr(image, "n_frames", 1)):
            image.seek(k)
            pictures.append(np.asarray(image.convert("RGB")).copy())
            pauses.append(image.info["duration"])
        return image.format, pictures, pauses


# Files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "kind"), [(".gif", "GIF"), (".png", "PNG"), (".apng", "PNG"), (".webp", "WEBP")])
def test_every_kind_of_file_holds_the_pictures_that_were_drawn(suffix, kind, tmp_path):
    recording, told = walk(), []
    path = film(recording, tmp_path / f"run{suffix}", frames=5, fps=10, scale=8, progress=lambda *k: told.append(k))
    assert told == [(k, 5) for k in range(1, 6)]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    found, pictures, pauses = opened(path)
    assert (found, len(pictures), pauses) == (kind, 5, [100] * 4 + [2000])
    sheet = sheet_of(recording, 8)
    for picture, step in zip(pictures, (0, 5, 10, 15, 20), strict=True):
        assert (picture == shown(sheet, recording, step, 30)[0]).all(), step


@pytest.mark.parametrize("suffix", [".gif", ".png", ".webp"])
def test_the_same_recording_gives_the_same_bytes_and_one_picture_is_a_film(suffix, tmp_path):
    for name in ("a", "b"):
        film(walk(), tmp_path / f"{name}{suffix}", frames=2, scale=4)
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    with Image.open(film(walk(), tmp_path / f"c{suffix}", frames=1, scale=4)) as image:
        assert getattr(image, "n_frames", 1) == 1


def test_a_gif_has_one_palette_and_repeats_for_ever(tmp_path):
    recording = walk()
    content = film(recording, tmp_path / "a.gif", frames=6, scale=8).read_bytes()
    table = colours_of(recording).colours.tobytes()
    assert content[13 : 13 + 768] == table
    assert content.count(table) == 1
    with Image.open(tmp_path / "a.gif") as image:
        assert image.info["loop"] == 0


def test_what_did_not_change_is_not_written_again():
    first = np.zeros((6, 8), np.uint8)
    second = first.copy()
    second[2, 3], second[4, 5] = 7, 9
    changes = list(files._changes(iter([first, second, second])))
    assert [(change.pixels.shape, change.left, change.top) for change in changes] == [
        ((6, 8), 0, 0), ((3, 3), 3, 2), ((1, 1), 0, 0),
    ]  # fmt: skip
    assert changes[1].pixels.tolist() == [[7, SAME, SAME], [SAME] * 3, [SAME, SAME, 9]]
    assert changes[2].pixels.tolist() == [[SAME]]


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    old = tmp_path / "old.png"
    old.write_bytes(b"as it was")

    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film(walk(), old, frames=4, scale=4, progress=stop)
    assert [file.name for file in tmp_path.iterdir()] == ["old.png"]
    assert old.read_bytes() == b"as it was"
    refuses(lambda: film(walk(), tmp_path / "no" / "a.gif", frames=1), InvalidRun, "cannot write .*No such file")


def test_steps_are_evenly_spaced_with_the_first_and_the_last():
    recording = walk()
    assert shown_steps(recording, 5).tolist() == [0, 5, 10, 15, 20]
    assert shown_steps(recording, 1).tolist() == [20]
    assert shown_steps(recording, 999).tolist() == list(range(21))
    recording.header["every"], recording.header["steps"] = 4, 18
    assert shown_steps(recording, 99).tolist() == [0, 4, 8, 12, 18]


# The map ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["upper", "lower"])
@pytest.mark.parametrize("scale", [20, 13, 4])
def test_robots_stand_where_the_profile_says_in_their_colours(origin, scale):
    recording = walk(yard(origin=origin))
    sheet = sheet_of(recording, scale)
    for step in (3, 4):
        picture, _ = shown(sheet, recording, step)
        for robot, (x, y) in enumerate(recording.positions(recording.profile(step)).tolist()):
            assert has(cell_of(sheet, picture, x, y), robot_colour(robot)), (robot, step)
    first, last = (sheet.area.pixels(np.array([0, y]))[1] for y in (0, 4))
    assert (first < last) == (origin == "upper")


def test_worth_is_darker_where_there_is_more_and_walls_are_solid():
    recording = walk(flags=False)
    sheet = sheet_of(recording)
    picture, _ = shown(sheet, recording, 0)
    shades = [int(cell_of(sheet, picture, x, 4)[2, 2, 0]) for x in range(6)]
    assert shades == sorted(shades, reverse=True)
    assert shades[0] > shades[-1] > 100
    wall = cell_of(sheet, picture, 3, 2).reshape(-1, 3)
    assert len(np.unique(wall, axis=0)) == 1
    assert "#{:02x}{:02x}{:02x}".format(*wall[0]) == WALL  # the colour of pictures and pages, on no scale of worth
    assert (cell_of(sheet, picture, 2, 2) == cell_of(sheet, picture, 2, 2)[0, 0]).all()
    star = cell_of(sheet, picture, 6, 4)
    assert star.min() < 80  # its edge
    assert has(star, PAPER)


def test_flags_are_the_owners_and_black_when_shared():
    recording = walk()
    sheet = sheet_of(recording)
    before, later = (shown(sheet, recording, step)[0] for step in (2, 6))
    middle = slice(8, 12)
    assert not has(cell_of(sheet, before, 4, 0)[middle, middle], robot_colour(0))
    assert (cell_of(sheet, later, 4, 0)[9:11, 9:11] == rgb(robot_colour(0))).all()
    recording.header["map"]["flags"] = None
    bare, _ = shown(sheet_of(recording), recording, 6)
    assert not has(cell_of(sheet, bare, 4, 0)[middle, middle], robot_colour(0))
    away = walk()
    game_start = away.arrays["start"].copy()
    game_start[1] = 2  # robot 1 was at (2, 0), where robot 0 comes
    away.arrays["start"] = game_start
    away.__dict__["changes"] = tuple(
        np.append(part, extra) for part, extra in zip(away.changes, (20, 1, 20), strict=True)
    )
    sheet = sheet_of(away)
    picture, _ = shown(sheet, away, 20)
    assert (cell_of(sheet, picture, 2, 0)[9:11, 9:11] == 0).all()


def test_tails_fade_and_circles_have_the_range():
    recording = walk(flags=False)
    sheet = sheet_of(recording)
    picture, _ = shown(sheet, recording, 5, 5)
    light = [cell_of(sheet, picture, x, 0)[10, 15].astype(int).sum() for x in (2, 3)]
    assert light[0] > light[1]
    assert cell_of(sheet, picture, 3, 0)[10, 15, 2] > cell_of(sheet, picture, 3, 0)[10, 15, 0]  # robot 0 is blue
    calm, _ = shown(sheet, recording, 5)
    assert len(set(cell_of(sheet, calm, 3, 0)[10, 15].tolist())) == 1  # grey
    ring = cell_of(sheet, calm, 5, 1)
    assert has(ring, robot_colour(0))  # one cell from (5, 0)
    assert not has(ring[15:], robot_colour(0))


def test_past_walls_a_range_is_what_is_covered():
    """Robot 0 at (3, 0) has a wall at (3, 2) before it: what lies behind is not within its line."""
    walls = np.zeros((5, 7), bool)
    walls[2, 2:5] = True
    world = World(np.ones((5, 7)), blocked=walls, name="yard")
    pictures = []
    for sight in (False, True):
        game = Coverage(world, 1, 4.0, flags=False, sight=sight)
        recording = recorded(game, np.full((2, 1), 3), 1, np.arange(2.0), np.ones(2), "worth")
        sheet = sheet_of(recording, steps=(0, 1))
        pictures.append(shown(sheet, recording, 0)[0])
        seen = {tuple(cell) for cell in game.covered(0, 3).tolist()}
    colour = robot_colour(0)
    for x, y in np.ndindex(7, 5):
        inked = has(cell_of(sheet, pictures[1], x, y), colour)
        around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        at_edge = (x, y) in seen and any(cell not in seen for cell in around)
        assert inked == at_edge or (x, y) == (3, 0), (x, y)
    assert (3, 4) not in seen
    assert has(cell_of(sheet, pictures[0], 3, 4), colour)  # the circle, without sight


def test_a_field_that_drifts_is_that_of_the_moment():
    world = gaussian_world(SIZE, [1.0], [[1.5, 2.5]], [np.eye(2)])
    recording = walk(world, False, drift=(0.2, 0.0), drift_every=5)
    sheet = sheet_of(recording, steps=(0, 4, 20))
    shades = {}
    for step in (0, 4, 20):
        picture, _ = shown(sheet, recording, step)
        shades[step] = [int(cell_of(sheet, picture, x, 2)[3, 3, 0]) for x in range(7)]
    assert shades[0] == shades[4]
    assert np.argmin(shades[0]) == 1
    assert np.argmin(shades[20]) == 5
    assert sheet.truth.top == max(recording.worth(step).max() for step in (0, 20))


def test_a_crowd_is_what_it_covers_and_where_it_is():
    world = World(np.ones((30, 30)), name="field")
    game = Coverage(world, 201, 1.0, flags=False)
    profiles = np.full((2, 201), 31)  # all at (1, 1)
    profiles[:, 0] = 15 * 30 + 15
    recording = recorded(game, profiles, 1, np.arange(2.0), np.ones(2), "worth")
    fewer = recorded(Coverage(world, 200, 1.0), profiles[:, 1:], 1, np.arange(2.0), np.ones(2), "worth")
    assert (is_crowd(recording), is_crowd(fewer)) == (True, False)
    viewer = (Path(maps.__file__).parents[1] / "viewer/stages/map.js").read_text()
    assert maps.MOST_CIRCLED == MOST_CIRCLED == int(re.search(r"MOST_CIRCLES = (\d+)", viewer)[1])
    sheet = sheet_of(recording, 10, steps=(0, 1))
    picture, _ = shown(sheet, recording, 0)
    assert has(cell_of(sheet, picture, 15, 15), CROWD[0])
    assert has(cell_of(sheet, picture, 1, 1), CROWD[2])
    assert (cell_of(sheet, picture, 16, 15) == rgb(COVERED[1])).all()
    grey = cell_of(sheet, picture, 16, 16)
    assert (grey == grey[0, 0, 0]).all()


@pytest.mark.parametrize("shape", [(3, 200), (200, 3), (1, 2), (3, 2100)])
def test_maps_of_any_shape_have_a_picture(shape, tmp_path):
    game = Coverage(World(np.ones(shape), name="strip"), 2, 1.5)
    last = game.world.num_free - 1
    recording = recorded(game, np.array([[0, last], [last, 0]]), 1, np.arange(2.0), np.ones(2), "worth")
    with Image.open(film(recording, tmp_path / "a.gif")) as image:
        assert image.n_frames == 2
        assert 400 < image.width < 1400
        image.seek(1)
        picture = np.asarray(image.convert("RGB"))
        assert all(has(picture, robot_colour(robot)) for robot in range(2))


def test_sizes_of_maps():
    assert fitting(40, 40, False) == (13, 1)
    assert fitting(200, 200, False) == (3, 1)
    assert fitting(3, 2, False) == (40, 1)
    assert fitting(3000, 2000, False) == (1, 6)
    assert fitting(40, 40, True)[0] < 13


# Beliefs ----------------------------------------------------------------------------------------------


def believing(minds):
    recording = walk(flags=False)
    shape = SIZE[::-1]
    fields = np.zeros((2, minds, *shape), np.float32)
    fields[1, :, 1, 1] = 34.0
    seen = np.zeros((2, minds, 35), bool)
    seen[1, :, :14] = True
    robots = [[0, 1, 2]] if minds == 1 else [[robot] for robot in range(minds)]
    recording.header["keyframes"] = {"steps": [5, 10], "belief": {"robots": robots}, "scores": False}
    recording.arrays |= {
        "belief_worth": chained(fields),
        "belief_seen": np.packbits(seen, axis=2, bitorder="little"),
        "belief_ptr": np.arange(2 * minds + 1, dtype=np.int32),
        "belief_components": np.tile([1.0, 3.5, 3.5, 0.5, 0.1, 0.3], (2 * minds, 1)),
        "belief_error": np.full((2, minds), 0.25),
    }
    return recording


def test_a_belief_is_drawn_beside_the_truth(tmp_path):
    recording = believing(1)
    sheet = sheet_of(recording, 20, mind=0)
    early, late = (shown(sheet, recording, step)[0] for step in (4, 12))
    dot = sheet.palette.colours[sheet.palette.number("#808080")]
    assert (cell_of(sheet, early, 5, 1, 1)[3:] == dot).all(axis=-1).sum() >= 20  # nothing is seen yet
    assert not (cell_of(sheet, late, 5, 1, 1) == dot).all(axis=-1).any()
    assert len(np.unique(cell_of(sheet, late, 0, 3, 1).reshape(-1, 3), axis=0)) == 2
    assert cell_of(sheet, late, 1, 1, 1)[3, 3, 0] < 130  # as dark as the largest worth
    assert cell_of(sheet, late, 2, 1, 1)[3, 3, 0] == 255
    assert has(cell_of(sheet, late, 3, 3, 1), INK)  # an ellipse
    assert sheet.beliefs.top == sheet.truth.top
    widths = {}
    for belief in ("all", None, 1, False):
        with Image.open(film(recording, tmp_path / "a.gif", frames=2, scale=20, belief=belief)) as image:
            widths[belief] = image.width
    assert widths["all"] == widths[None] == widths[1] > widths[False]


def test_the_robot_whose_belief_it_is_is_drawn_there():
    recording = believing(3)
    for mind in (0, 2):
        sheet = sheet_of(recording, 20, mind=mind)
        picture, _ = shown(sheet, recording, 12)
        drawn = [
            has(cell_of(sheet, picture, x, y, 1), robot_colour(k)) for k, (x, y) in enumerate([(0, 0), (1, 0), (6, 3)])
        ]
        assert drawn == [robot == mind for robot in range(3)]
        assert sheet._told(recording.belief(1)[mind], 12) == (
            f"What robot {mind} believes", "14 of 35 cells seen (others dotted), 1 component, error 25 %",
        )  # fmt: skip


def test_who_failed_is_a_cross_beside_the_truth_too_and_who_is_to_come_is_nowhere():
    for minds in (1, 3):
        recording = believing(minds)
        recording.arrays |= {"since": np.array([0.0, 0, 15]), "until": np.array([21.0, 8, 21])}
        told = {}
        for mind in range(minds):
            sheet = sheet_of(recording, 20, mind=mind)
            picture, _ = shown(sheet, recording, 12)
            robots = recording.belief(1)[mind].robots
            told[mind] = sheet._told(recording.belief(1)[mind], 12)[0]
            for panel, here in ((0, (0, 1, 2)), (1, robots)):
                failed, coming = cell_of(sheet, picture, 1, 0, panel), cell_of(sheet, picture, 6, 3, panel)
                assert has(failed, LOST) == (1 in here)
                beside = cell_of(sheet, picture, 2, 0, panel)
                assert has(beside, INK) == (1 in here)  # its number
                assert not has(failed, robot_colour(1))
                assert not has(coming, robot_colour(2))
            curve = sheet.curve  # robot 2 comes at step 15, robot 1 failed at step 8
            assert curve.events.tolist() == [8, 15]
        assert told[0] == ("What all robots believe" if minds == 1 else "What robot 0 believes")
    assert told == {0: told[0], 1: "What robot 1 believed, failed at step 8", 2: "Robot 2, not yet there"}


def test_axes_are_in_the_unit_of_the_world():
    """As figures have them: names with units, round numbers at the cells where they belong."""
    outside = Coordinates([0.5, 0, 412_000, 0, -0.5, 5_712_000.25], "EPSG:25832", "m")
    for options in ({"cell_size": 2.5}, {"cell_size": 0.5, "coordinates": outside, "origin": "upper"}):
        world = yard(**options)
        sheet, bare = sheet_of(walk(world), 60), sheet_of(walk(), 60)
        assert sheet.names == list(world.axes_names(more=True))
        for which, marks in enumerate((sheet.columns, sheet.rows)):
            values = [float(text.replace(",", "")) for _, text in marks]
            spots = world.outside.back(np.transpose([values, values]))[:, which]
            np.testing.assert_allclose([spot for spot, _ in marks], spots, atol=1e-6)
            assert len(marks) > 1
        assert sheet.height > bare.height  # of the names
    assert bare.names == []


# The curve --------------------------------------------------------------------------------------------


def test_the_curve_reaches_as_far_as_the_run():
    recording = walk()
    sheet = sheet_of(recording)
    left, top, width = sheet.curve._place
    still = sheet.still.pixels[top : top + 130, left : left + width]
    for step in (5, 15):
        now = sheet.picture(moment(recording, step))[top : top + 130, left : left + width]
        columns = np.flatnonzero((now != still).any(axis=0))
        assert abs(columns.max() - step / 20 * (width - 1)) < 6
        row = sheet.curve.down(step / 2)
        assert sheet.palette.colours[now[round(float(row)), round(step / 20 * (width - 1))]].max() == 0  # the dot


@pytest.mark.parametrize(
    ("optimum", "told"),
    [
        ({"value": 12.0, "bound": 12.0}, "optimum 12.00"),
        ({"value": 12.0, "bound": None}, "optimum 12.00"),
        ({"value": 11.0, "bound": 12.0}, "upper bound 12.00"),
    ],
)
def test_the_optimum_is_a_dashed_line_with_its_name(optimum, told):
    recording = walk()
    plain = sheet_of(recording)
    recording.header["optimum"] = {"series": "worth", **optimum}
    sheet = sheet_of(recording)
    assert (sheet.curve.best, sheet.curve.told, plain.curve.best) == ([12.0], told, [])
    left, top, width = sheet.curve._place
    line = sheet.still.pixels[top + round(sheet.curve.down(12.0)), left : left + width]
    dark = sheet.palette.colours[line][:, 0] < 120
    assert dark[:6].all()
    assert not dark[6:9].any()
    recording.header["optimum"]["series"] = "another"
    assert sheet_of(recording).curve.best == []


def test_the_name_of_an_optimum_that_rises_lies_above_it():
    recording = walk()
    over_time = {"times": [0, 20], "values": [9.0, 14.0], "bounds": [9.0, 14.0]}
    recording.header["optimum"] = {"series": "worth", "value": 14.0, "bound": 14.0, **over_time}
    sheet = sheet_of(recording)
    left, top, width = sheet.curve._place
    for k in range(0, width, 9):  # the first pixel of each dash
        row = top + round(float(sheet.curve.down(9 + 5 * k / (width - 1))))
        assert sheet.palette.colours[sheet.still.pixels[row, left + k]][0] < 120, k


def test_a_recording_without_series_has_no_curve():
    recording = walk()
    assert sheet_of(recording, series=None).height < sheet_of(recording).height - 130


def test_numbers_on_axes_are_round():
    assert [text for _, text in ticks(0, 0.23, 6)] == ["0", "0.05", "0.10", "0.15", "0.20"]
    assert [text for _, text in ticks(0, 3000, 4, whole=True)] == ["0", "1,000", "2,000", "3,000"]
    assert [text for _, text in ticks(0, 3, 8, whole=True)] == ["0", "1", "2", "3"]
    assert [text for _, text in ticks(0, 3e8, 4)] == ["0", "1e+08", "2e+08", "3e+08"]
    assert [text for _, text in ticks(-2e-9, 2e-9, 5)] == ["-2e-09", "-1e-09", "0", "1e-09", "2e-09"]
    assert [number(value) for value in (0.5, 1234.5, 1e6, np.nan)] == ["0.5000", "1,234", "1,000,000", "unknown"]


# Words and shapes -------------------------------------------------------------------------------------


def test_words_are_cut_and_wrapped_where_there_is_no_room():
    words = letters(13)
    assert words.fitted("short", 200) == "short"
    cut = words.fitted("long " * 40, 200)
    assert cut.endswith("…")
    assert words.width(cut) <= 200 < words.width(f"{cut[:-1]}long …")
    lines = words.wrapped("long " * 40, 200, 2)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert max(map(words.width, lines)) <= 200
    assert words.wrapped("", 200, 2) == [""]
    assert words.wrapped("x" * 99, 50, 2)[0].endswith("…")


def test_letters_without_freetype_still_say_something(monkeypatch):
    monkeypatch.setattr(lettering, "_font", lambda size, bold: ImageFont.load_default_imagefont())
    plain = lettering.Letters(13)
    share, rise = plain.shape_of("Σ covered worth")
    assert share.sum() > 50
    assert 0 < rise <= share.shape[0]


def test_ink_is_mixed_with_what_is_under_it():
    colours = palette(("#D55E00",))
    pixels = np.zeros((20, 20), np.uint8)
    canvas = Canvas(pixels, colours)
    canvas.stamp(shapes.disc(5.0, 0.5), 10, 10, "#D55E00")
    assert tuple(colours.colours[pixels[10, 10]]) == rgb("#D55E00")
    assert len(np.unique(pixels)) > 3  # a soft edge
    assert not (pixels == SAME).any()
    canvas.stamp(shapes.disc(5.0, 0.5), 0, 19, INK)
    assert pixels[19, 0] == colours.number(INK)
    before = pixels.copy()
    canvas.stamp(shapes.disc(5.0, 0.5), 100, -100, INK)
    assert (pixels == before).all()


# Bad input --------------------------------------------------------------------------------------------


def test_bad_arguments_of_a_film(tmp_path):
    recording, to = walk(), tmp_path / "a.gif"
    for call, parameter, message in (
        (lambda: film(recording, tmp_path / "a.mp4"), "path", r"end in .gif, .png, .apng or .webp, got 'a.mp4'"),
        (lambda: film(recording, to, frames=0), "frames", "frames must be an integer of at least 1, got 0"),
        (lambda: film(recording, to, fps=51), "fps", "fps must be above 0 and at most 50.*got 51"),
        (lambda: film(recording, to, fps="1"), "fps", "fps must be above 0"),
        (lambda: film(recording, to, scale=0), "scale", "scale must be an integer from 1 to 585, got 0"),
        (lambda: film(recording, to, scale=1.5), "scale", "scale must be an integer from 1 to 585, got 1.5"),
        (lambda: film(recording, to, series="wort"), "series", "must be one of worth, got 'wort'; did you mean"),
        (
            lambda: film(recording, to, belief=0),
            "belief",
            "belief is not in this recording, which holds nothing that was believed, got 0",
        ),
        (lambda: film(believing(3), to, belief=3), "belief", "must be a robot from 0 to 2 or False for none, got 3"),
        (
            lambda: film(believing(3), to, belief="all"),
            "belief",
            "must be a robot from 0 to 2 or False for none, got 'all'",
        ),
        (lambda: film(believing(1), to, belief="x"), "belief", "from 0 to 2, \"all\" or False for none, got 'x'"),
    ):
        assert refuses(call, InvalidRun, message).parameter == parameter
    recording.header["game"] |= {"kind": "network", "text": "a ring"}
    refuses(lambda: film(recording, to), InvalidRun, "recording must be of a coverage game.* got one of a ring")
    assert not list(tmp_path.iterdir())
