"""Pictures of maps can be read: walls are solid, doors open, crowds are densities, titles fit, axes have units."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from potentia import colours
from potentia.figures import configuration_figure, field_figure, maps, style
from potentia.games import Coverage, World
from potentia.games.coordinates import Coordinates

WALL = np.round(255 * np.array(to_rgb(colours.WALL)))


def site(columns, rows, **options):
    """A thin wall with a door of one cell, in a field that is worth something everywhere, walls included."""
    blocked = np.zeros((rows, columns), bool)
    blocked[:, columns // 2] = True
    blocked[rows // 4, columns // 2] = False
    return World(np.ones((rows, columns)), blocked=blocked, name="site", **options)


def pixels(figure, dpi):
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(float)


def near(picture, axes, x, y, reach=0):
    """How far the colours of pixels around a point are from that of walls, the nearest of them."""
    across, up = axes.transData.transform((x, y)).round().astype(int)
    found = picture[len(picture) - 1 - up, across - reach : across + reach + 1]
    return np.abs(found - WALL).max(axis=-1).min()


@pytest.mark.parametrize(("columns", "rows", "dpi"), [(10, 10, 60), (120, 80, 60), (120, 80, 140), (400, 20, 100)])
def test_a_wall_of_one_cell_has_one_colour_and_its_door_is_open(columns, rows, dpi):
    figure = field_figure(site(columns, rows))
    picture = pixels(figure, dpi)
    for axes in figure.axes[:2]:
        x, door = columns // 2 + 0.5, rows // 4
        for y in (rows // 2 + 0.5, 3 * rows // 4 + 0.5):
            assert near(picture, axes, x, y, 1) <= 2
        assert near(picture, axes, x, door + 0.5) > 40


def test_walls_of_a_map_with_more_cells_than_pixels_stay_and_doors_are_paler(monkeypatch):
    monkeypatch.setattr(maps, "_FINEST", 20)  # as of a map with very many cells
    figure = field_figure(site(40, 40))
    (walls,) = figure.axes[0].images
    share = walls.get_array()[..., 3]
    assert share.shape == (20, 20)
    assert share[:, 10].tolist() == [0.5 if row == 5 else 1.0 for row in range(20)]
    assert np.delete(share, 10, axis=1).max() == 0


def test_more_than_200_robots_are_a_density_and_a_map_of_what_they_cover():
    world = site(70, 90)
    game = Coverage(world, 201, 2.0)
    profile = np.random.default_rng(0).integers(0, world.num_free, 201)
    figure = configuration_figure(game, {"run": profile[None]})
    known = {artist.get_gid(): artist for axes in figure.axes for artist in axes.images}
    np.testing.assert_array_equal(known["covered"].get_array()[..., 3], game.cover_counts(profile) > 0)
    density = known["density"].get_array()
    assert density.shape == (45, 35)  # of 2×2 cells
    where = game.positions(profile)
    assert density[3, 4] == ((where // 2) == [4, 3]).all(axis=1).sum()
    assert density.sum() == 201
    assert not any(axes.collections for axes in figure.axes[:2])
    few = configuration_figure(Coverage(world, 200, 2.0), {"run": profile[None, :200]})
    assert any(axes.collections for axes in few.axes[:1])


def test_titles_fit_and_do_not_overlap():
    game = Coverage(site(40, 30), 2, 2.0)
    long = "p-sblll:guarded with tau geometric 0.3 to 0.01 times the most a robot can cover, seed "
    runs = {f"{long}{k}": np.array([[1, 2]]) for k in range(3)} | {"w" * 60: np.array([[1, 2]])}
    figure = configuration_figure(game, runs, title=" ".join(["Coverage(site, 40×30)"] * 12))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    titles = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
    assert len(titles) == 4
    boxes = [*titles, figure._suptitle.get_window_extent()]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width and box.y1 <= figure.bbox.height for box in boxes)
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_wrapping_keeps_every_letter():
    text = "one two\nthree-four five" + "x" * 80
    for inches in (0.5, 1.0, 3.0):
        made = style.wrapped(text, inches, 10)
        assert made.replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")
        assert all(style._width(line, 10) <= 72 * inches + 1 for line in made.split("\n"))


def test_axes_are_in_the_units_of_the_world():
    def axes_of(**options):
        axes = field_figure(site(40, 20, **options)).axes[0]
        ticks = [
            (axis.get_ticklocs(), [t.get_text() for t in axis.get_ticklabels()]) for axis in (axes.xaxis, axes.yaxis)
        ]
        return (axes.get_xlabel(), axes.get_ylabel()), ticks

    assert axes_of()[0] == ("x (cells)", "y (cells)")
    names, ((places, told), _) = axes_of(cell_size=0.5)
    assert names == ("x (m)", "y (m)")
    np.testing.assert_allclose(places * 0.5, [float(text) for text in told])
    place = Coordinates([2, 0, 500_000, 0, -2, 5_700_000], "EPSG:25832", "m")
    names, (across, up) = axes_of(cell_size=2, coordinates=place)
    assert names == ("easting (m, EPSG:25832)", "northing (m, EPSG:25832)")
    for k, (places, told) in enumerate((across, up)):
        numbers = [float(text.replace(",", "")) for text in told]
        np.testing.assert_allclose(place.at(np.stack([places, places], axis=1))[:, k], numbers)
        assert len(numbers) > 1
