"""Figures of the coverage game show what they are given: cells, ranges, flags, means, and every picture of a film."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from matplotlib.patches import Ellipse
from matplotlib.text import Text

import potentia as pt
from potentia.errors import InvalidRun
from potentia.figures import configuration_figure, field_figure, maps, revision_figure, worth_figure
from potentia.figures.labels import apart
from potentia.games import Coverage, World, gaussian_world, paper_world
from potentia.games.world import published
from tests.unit.bad import refuses

WALLS = np.zeros((6, 9), bool)
WALLS[2, 1:5] = True


def yard(**options):
    worth = np.arange(54.0).reshape(6, 9)
    worth[WALLS] = 0.0
    return World(worth, blocked=WALLS, **{"targets": [(0, 0), (8, 5)], "name": "yard", **options})


def played(game, steps=150, seed=3, tau=1.0):
    """A run in plain Python: nothing is compiled."""
    rule = pt.rule("p-sblll", tau=tau, revision=0.5)
    return pt.begin(game, rule, seed, record=("profile", "worth_sum", "worth_union"), compiled=False).advance(steps)


def marked(axes, gid):
    """The only artist with this mark."""
    (found,) = axes.findobj(lambda artist: artist.get_gid() == gid)
    return found


def words(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def legend_of(figure):
    holder = figure.legends[0] if figure.legends else figure.axes[0].get_legend()
    return [text.get_text() for text in holder.get_texts()]


# Fields -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["upper", "lower"])
def test_row_0_is_drawn_where_the_origin_says_and_cells_are_unit_squares(origin):
    world = yard(origin=origin)
    figure = field_figure(world)
    for axes in figure.axes[:2]:
        first, second = axes.transData.transform([(0.5, 0.5), (0.5, 1.5)])
        assert (first[1] > second[1]) == (origin == "upper")
        assert sorted(axes.get_ylim()) == [0, 6]
        assert axes.get_xlim() == (0, 9)
    image, _ = figure.axes[1].images  # and the walls
    assert image.get_extent() == [0, 9, 0, 6]
    assert image.origin == "lower"  # row y of the table lies from y to y + 1
    np.testing.assert_array_equal(image.get_array(), world.worth)


def test_targets_lie_on_centres_and_walls_are_solid_and_named():
    figure = field_figure(yard())
    area = figure.axes[0]
    np.testing.assert_array_equal(marked(area, "targets").get_xydata(), [[0.5, 0.5], [8.5, 5.5]])
    walls = marked(area, "blocked")
    np.testing.assert_array_equal(walls.get_array()[..., 3], WALLS)
    assert walls.get_extent() == [0, 9, 0, 6]
    assert legend_of(figure) == ["blocked: no robot can enter", "target"]
    assert "worth per cell" in words(figure)


def test_components_are_drawn_at_their_standard_deviations():
    covariance = np.array([[9.0, 3.0], [3.0, 4.0]])
    figure = field_figure(gaussian_world((30, 20), [1.0], [[12.0, 8.0]], [covariance]))
    ellipses = figure.axes[1].findobj(Ellipse)
    assert len(ellipses) == 2
    inverse = np.linalg.inv(covariance)
    for deviations, ellipse in enumerate(ellipses, start=1):
        edge = ellipse.get_patch_transform().transform([(np.cos(t), np.sin(t)) for t in np.linspace(0, 6, 13)])
        away = edge - [12.0, 8.0]
        np.testing.assert_allclose(np.sqrt(np.einsum("ki,ij,kj->k", away, inverse, away)), deviations)


# Configurations ---------------------------------------------------------------------------------------


def test_robots_ranges_paths_and_targets_are_where_the_profiles_say():
    game = Coverage(yard(), 4, [1.0, 1.5, 2.0, 1.5])
    profiles = played(game).trace().profiles
    figure = configuration_figure(game, {"first": profiles, "short": profiles[:3]})
    axes = figure.axes[0]
    ends = game.positions(profiles[-1]) + 0.5
    np.testing.assert_array_equal(marked(axes, "robots").get_offsets(), ends)
    ranges = marked(axes, "ranges")
    np.testing.assert_array_equal(ranges.get_offsets(), ends)
    np.testing.assert_array_equal(ranges.get_widths(), 2 * game.delta)
    for robot in range(4):
        way = marked(axes, f"path {robot}").get_xydata()
        np.testing.assert_array_equal(way[0], game.positions(profiles[0, robot]) + 0.5)
        np.testing.assert_array_equal(way[-1], ends[robot])
        moves = int((np.diff(profiles[:, robot]) != 0).sum())
        assert len(way) == moves + 1
        np.testing.assert_array_equal(marked(axes, f"start {robot}").get_xydata(), way[:1])
    found = int((game.cover_counts(profiles[-1])[[0, 5], [0, 8]] > 0).sum())
    assert axes.get_title() == (
        f"first\nworth {maps.number(game.worth_sum(profiles[-1]))} (sum), "
        f"{maps.number(game.worth_union(profiles[-1]))} (union)\n{found} of 2 targets covered"
    )
    assert set(legend_of(figure)) == {
        "robot and its number",
        "range δ = 1 to 2 cells",
        "covered cells",
        "start",
        "path",
        "flag (black: several robots')",
        "target",
        "blocked: no robot can enter",
    }
    numbers = ",".join(text.get_text() for text in axes.texts).split(",")  # robots on one cell share a label
    assert sorted(numbers) == ["0", "1", "2", "3"]


def test_a_range_is_drawn_as_a_circle_of_radius_delta():
    game = Coverage(paper_world(), 1, 7.5, flags=False)
    figure = configuration_figure(game, {"": game.profile([(20, 10)])[None]})
    axes = figure.axes[0]
    figure.draw_without_rendering()
    ranges = marked(axes, "ranges")
    ranges._set_transforms()
    drawn = ranges.get_transform().transform(ranges.get_paths()[0].vertices @ ranges.get_transforms()[0][:2, :2].T)
    radius = np.ptp(axes.transData.transform([(0, 0), (7.5, 0)])[:, 0])
    assert drawn[:, 0].max() == pytest.approx(radius, rel=1e-6)
    assert drawn[:, 0].max() == pytest.approx(drawn[:, 1].max())  # cells are square


@pytest.mark.parametrize("flag", ["cell", "range"])
def test_flags_are_those_of_the_run(flag):
    game = Coverage(yard(), 4, [1.0, 1.5, 2.0, 1.0], flag=flag)
    run = played(game, tau=100.0)  # hot enough to enter flagged cells
    profiles = run.trace().profiles
    frame = int(game.delta.max())
    kept = run.state.flags.reshape(6 + 2 * frame, 9 + 2 * frame)[frame:-frame, frame:-frame]
    derived = maps.flags_left(game, profiles)
    np.testing.assert_array_equal(derived, kept)
    assert (kept == maps.SHARED).any()
    assert (kept > 0).any()
    assert not np.array_equal(maps.flags_left(game, profiles[-5:]), kept)  # the rest of the way matters
    axes = configuration_figure(game, {"run": profiles}).axes[0]
    for who in np.unique(kept[kept != 0]):
        cells = {(x - 0.5, y - 0.5) for x, y in marked(axes, f"flags {who}").get_xydata()}
        assert cells == {(x, y) for y, x in np.argwhere(kept == who)}


def test_rows_left_out_are_noticed_and_the_legend_says_so():
    game = Coverage(yard(), 3)
    profiles = played(game).trace().profiles
    assert not maps.has_gaps(game, profiles)
    assert maps.has_gaps(game, profiles[::50])
    assert "flags at recorded steps" in legend_of(configuration_figure(game, {"thin": profiles[::50]}))


def test_without_flags_or_a_way_there_is_none_in_the_legend():
    game = Coverage(yard(targets=None), 3, flags=False)
    profiles = played(game).trace().profiles
    assert "path" in legend_of(configuration_figure(game, {"run": profiles}))
    assert not any("flag" in text for text in legend_of(configuration_figure(game, {"run": profiles})))
    placed = configuration_figure(game, {"placement": profiles[:1]})
    assert not {"path", "start", "target"} & set(legend_of(placed))
    assert "targets" not in placed.axes[0].get_title()


def test_the_outline_is_around_the_covered_cells():
    mask = np.array([[0, 1, 1], [0, 1, 0]], bool)
    sides = {tuple(sorted(map(tuple, side))) for side in maps.outline(mask).tolist()}
    expected = set()
    for y, x in np.argwhere(mask).tolist():
        square = [
            ((x, y), (x + 1, y)),
            ((x, y + 1), (x + 1, y + 1)),
            ((x, y), (x, y + 1)),
            ((x + 1, y), (x + 1, y + 1)),
        ]
        expected ^= set(square)  # a side between two covered cells is none
    assert sides == expected
    assert len(sides) == len(maps.outline(mask))


def test_a_strip_shows_whole_ranges_and_many_robots_no_numbers():
    strip = Coverage(World(np.ones((1, 40))), 2, 1.5)
    axes = configuration_figure(strip, {"": np.array([[3, 30]])}).axes[0]
    assert sorted(axes.get_ylim()) == [-2, 3]  # a range reaches from -1 to 2
    many = Coverage(World(np.ones((20, 20))), 100, 1.5)
    figure = configuration_figure(many, {"": np.arange(100)[None]})
    assert len(marked(figure.axes[0], "ranges").get_offsets()) == 100
    assert not figure.axes[0].texts


def test_profiles_that_are_none_are_refused():
    game = Coverage(yard(), 3)
    good = np.zeros((4, 3), int)
    refuses(lambda: configuration_figure(game, {}), InvalidRun, "at least one run, got none")
    refuses(lambda: configuration_figure(game, {"a": good[0]}), InvalidRun, r"'a'.*shape \(times, 3\).*\(3,\)")
    refuses(lambda: configuration_figure(game, {"a": good + 0.5}), InvalidRun, "whole numbers.*float64")
    refuses(lambda: configuration_figure(game, {"a": good + 50}), InvalidRun, "below 50, got 50")
    refuses(lambda: configuration_figure(game, {"a": good - 1}), InvalidRun, "at least one profile, got none")
    cut = np.vstack([good + 1, good - 1])  # an interrupted batch
    assert len(maps.checked_profiles(game, cut)) == 4


def test_labels_of_crowded_points_do_not_overlap():
    anchors = np.array([[100.0, 100], [104, 100], [100, 104], [104, 104], [102, 97], [300, 5]])
    corners = np.array([[0.0, 0], [310, 200]])
    places = anchors + apart(anchors, ["10"] * 6, corners, 7.0)
    assert ((places > 0) & (places < [310, 200])).all()
    between = np.abs(places[:, None] - places[None]) + 1e3 * np.eye(6)[..., None]
    assert ((between[..., 0] > 12) | (between[..., 1] > 11)).all()
    unmoved = np.abs(anchors[:, None] - anchors[None]) + 1e3 * np.eye(6)[..., None]
    assert not ((unmoved[..., 0] > 12) | (unmoved[..., 1] > 11)).all()


# Worth over time --------------------------------------------------------------------------------------


def batch(seeds=4, rows=50, seed=0, every=1):
    random = np.random.default_rng(seed)
    values = np.cumsum(random.random((seeds, rows)), axis=1)
    names = ("seed", "time")
    return xarray.Dataset(
        {"worth_union": (names, values), "worth_sum": (names, 1.5 * values)}, {"time": np.arange(rows) * every}
    )


@pytest.mark.parametrize("measure", ["worth_union", "worth_sum"])
@pytest.mark.parametrize("band", ["range", "middle"])
def test_lines_are_means_and_bands_what_the_legend_says(measure, band):
    data = {"BLLL": batch(seed=1), "P-SBLLL": batch(seed=2)}
    figure = worth_figure(data, measure=measure, band=band)
    (axes,) = figure.axes
    lines = [line for line in axes.lines if "mean of 4 seeds" in str(line.get_label())]
    assert len({line.get_linestyle() for line in lines}) == 2
    for line, fill, one in zip(lines, axes.collections, data.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), one[measure].mean("seed"))
        np.testing.assert_array_equal(line.get_xdata(), one.time)
        middle = one[measure].isel(time=30)
        low, high = (middle.min(), middle.max()) if band == "range" else middle.quantile([0.1, 0.9])
        at = fill.get_paths()[0].vertices
        drawn = at[at[:, 0] == 30, 1]
        np.testing.assert_allclose([drawn.min(), drawn.max()], [low, high])
    said = "least to largest of 4 seeds" if band == "range" else "middle 80 % of 4 seeds"
    assert legend_of(figure).count(said) == 2
    assert axes.get_xlabel() == "step"
    assert axes.get_ylabel().startswith("covered worth")


def test_events_are_lines_at_their_times():
    events = ["fail 1@20", "arrive 20", "fail 0@30", "arrive 0", "arrive 90", "hazard 1e-3"]
    figure = worth_figure({"a": batch()}, events=events)
    drawn = [line for line in figure.axes[0].lines if line.get_gid() == "event"]
    assert [line.get_xdata()[0] for line in drawn] == [20, 30]  # not at the start, nor after the end
    assert [line.get_label() for line in drawn] == ["(1) arrive 20, fail 1@20", "(2) fail 0@30"]
    assert [(text.get_text(), text.xy[0]) for text in figure.axes[0].texts] == [("(1)", 20), ("(2)", 30)]
    alone = worth_figure({"a": batch()}, events=["fail 0@30"]).axes[0]
    assert [line.get_label() for line in alone.lines if line.get_gid() == "event"] == ["fail 0@30"]
    assert not alone.texts


def test_nothing_is_smoothed_unless_asked():
    data = batch(every=10)
    figure = worth_figure({"a": data}, smooth=30)
    values = data.worth_union.values
    expected = [values[:, max(0, k - 2) : k + 1].mean() for k in range(50)]
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), expected)
    assert "moving average over 30 steps" in figure.axes[0].get_ylabel()
    assert "moving" not in worth_figure({"a": data}).axes[0].get_ylabel()


class Best:
    def __init__(self, value, bound, proven):
        self.value, self.bound, self.proven = value, bound, proven


def test_the_optimum_is_called_certified_only_when_proven():
    def heights(optimum, **options):
        figure = worth_figure({"a": batch()}, optimum=optimum, **options)
        lines = {line.get_gid(): line.get_ydata()[0] for line in figure.axes[0].lines if line.get_gid()}
        return lines, " | ".join(legend_of(figure))

    lines, text = heights(Best(20.0, 20.0, True))
    assert lines == {"optimum": 20.0}
    assert "certified optimum 20.00" in text
    lines, text = heights(Best(20.0, 22.0, False))
    assert lines == {"optimum": 20.0, "bound": 22.0}
    assert "best known 20.00" in text
    assert "upper bound 22.00" in text
    assert "certified" not in text
    assert "certified" not in heights(20.0)[1]
    assert "optimum of the union 20.00" in heights(Best(20.0, 20.0, True), measure="worth_sum")[1]


def test_published_numbers_stand_beyond_the_last_step_with_their_ranges():
    entries = {name: published()["worth"][name] for name in ("blll", "p-sblll", "ql")}
    figure = worth_figure({"P-SBLLL, Eq. 53": batch()}, published=entries, measure="worth_sum")
    (axes,) = figure.axes
    for bars, entry in zip(axes.containers, entries.values(), strict=True):
        point, _, (bar,) = bars.lines
        assert point.get_ydata()[0] == entry["mean"]
        assert point.get_xdata()[0] > 49
        np.testing.assert_allclose(bar.get_segments()[0][:, 1], [entry["low"], entry["high"]])
    colours = [bars.lines[0].get_color() for bars in axes.containers]
    assert colours[1] == axes.lines[0].get_color()  # the batch of that name
    assert colours[0] == colours[2] != colours[1]
    assert "published P-SBLLL\n0.1824 (0.1626 to 0.1928, 10 runs)" in legend_of(figure)
    assert "published P-SBLLL (sum)" in " ".join(legend_of(worth_figure({"a": batch()}, published=entries)))


def test_runs_cut_short_are_left_out_of_the_mean():
    data = batch()
    data.worth_union[0, 20:] = np.nan
    figure = worth_figure({"a": data})
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), data.worth_union[1:].mean("seed"))
    data.worth_union[:, 30:] = np.nan
    np.testing.assert_array_equal(worth_figure({"a": data}).axes[0].lines[0].get_xdata(), np.arange(20))


def test_a_trace_and_a_very_long_batch_are_drawn():
    trace = played(Coverage(yard(), 2), 40).trace()
    data = trace.dataset()
    with pytest.warns(DeprecationWarning, match=r"use Trace.dataset\(\)"):
        assert trace.to_dataset().identical(data)
    line = worth_figure({"one": data}).axes[0].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), data.worth_union)
    times = worth_figure({"long": batch(2, 30_001)}).axes[0].lines[0].get_xdata()
    assert times[0] == 0
    assert times[-1] == 30_000
    assert len(times) == 5000


def test_moving_averages_are_drawn_at_fewer_rows_but_computed_from_all():
    noise = np.random.default_rng(1).random((2, 4001))
    data = xarray.Dataset({"worth_union": (("seed", "time"), noise)}, {"time": np.arange(4001)})
    (line, *_) = worth_figure({"a": data}, smooth=100).axes[0].lines
    times = np.asarray(line.get_xdata())
    assert (len(times), times[0], times[-1]) == (600, 0, 4000)
    k = int(times[300])
    assert line.get_ydata()[300] == pytest.approx(noise[:, k - 99 : k + 1].mean())
    (line, *_) = worth_figure({"a": data}, smooth=4).axes[0].lines
    assert len(line.get_xdata()) == 4001  # nearly as rough as the values themselves


def test_bad_arguments_of_the_worth_figure():
    data = {"a": batch()}
    refuses(lambda: worth_figure({}), InvalidRun, "at least one batch, got none")
    refuses(lambda: worth_figure(data, measure="worth"), InvalidRun, '"worth_union" or "worth_sum", got \'worth\'')
    refuses(lambda: worth_figure(data, band="std"), InvalidRun, '"range" or "middle", got \'std\'')
    refuses(lambda: worth_figure(data, smooth=0), InvalidRun, "at least 1, got 0")
    refuses(
        lambda: worth_figure({"a": batch().drop_vars("worth_sum")}, measure="worth_sum"), InvalidRun, "not recorded"
    )


# Eq. 53 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constants", [(1.0, 0.5, 0.1), (0.6, 0.3, 0.25)])
def test_the_three_situations_have_a1_a2_and_a3(constants):
    revision = pt.rules.SignalRevision(*constants)
    figure = revision_figure(revision)
    hill, surface = figure.axes[:2]
    heights = [marked(hill, name).get_ydata()[0] for name in ("p1", "p2", "p3")]
    np.testing.assert_allclose(heights, constants, rtol=1e-12)
    places = [tuple(marked(surface, name).get_xydata()[0]) for name in ("p1", "p2", "p3")]
    np.testing.assert_allclose(places, [(0, 0), (0.5, 1), (1, 0)], atol=1e-12)
    table = surface.images[0].get_array()
    for row, column in ((0, 0), (40, 100), (200, 77), (150, 200)):
        assert table[row, column] == pytest.approx(revision.probability(column / 200, row / 200), rel=1e-12)
    text = " ".join(words(figure))
    for name, value in zip(("a1", "a2", "a3"), constants, strict=True):
        assert f"rp = {name} = {value:g}" in text
