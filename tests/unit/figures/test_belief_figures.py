"""Figures of beliefs show what they are given: fields, what was seen, components, means over seeds, proposals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray
from matplotlib.patches import Ellipse

import potentia as pt
from potentia.beliefs import Communication, Constant, Proposal, SplitMerge, View
from potentia.errors import InvalidGame, InvalidRun
from potentia.figures import belief_figure, learning_figure, proposals_figure
from potentia.figures.beliefs import MOST_DRAWN
from potentia.games import Coverage, World, gaussian_world
from tests.unit.bad import refuses
from tests.unit.figures.test_coverage_figures import WALLS, legend_of, marked, words, yard

COVARIANCE = np.array([[9.0, 3.0], [3.0, 4.0]])


def view(world, robots=(0, 1), seen=None, error=0.0, components=0):
    """A hand-made belief, wrong by this share of the worth in the last cell."""
    worth = world.worth.copy()
    worth[-1, -1] += error * world.worth.sum()
    mask = np.ones(worth.shape, bool) if seen is None else seen
    means = np.array([[3.0, 2.0], [6.0, 4.0], [7.0, 1.0]])[:components]
    weights = np.array([0.5, 0.3, 0.2])[:components]
    return View(robots, worth, mask, mask.astype(int), weights, means, np.array([COVARIANCE] * components))


def game(robots=2):
    return Coverage(yard(), robots)


# What is believed -------------------------------------------------------------------------------------


def test_the_true_field_and_the_belief_share_a_scale_and_the_title_tells_the_error():
    played = game()
    seen = np.zeros((6, 9), bool)
    seen[1:4, 2:7] = True
    figure = belief_figure(played, [view(played.world, seen=seen, error=0.1234, components=3)])
    true, believed = figure.axes[:2]
    np.testing.assert_array_equal(true.images[0].get_array(), played.world.worth)
    assert believed.images[0].get_array()[-1, -1] == played.world.worth[-1, -1] + 0.1234 * played.world.worth.sum()
    assert {axes.images[0].get_clim() for axes in (true, believed)} == {(0.0, played.world.worth.max())}
    assert believed.images[0].get_cmap().name == "viridis"
    told = "What all robots believe\n15 of 54 cells seen\n3 components, relative error 12.3 %"
    assert believed.get_title() == told
    assert "on free cells" in true.get_title()
    assert "worth per cell" in words(figure)


@pytest.mark.parametrize(("error", "lowest", "extend"), [(0.0, 0.0, "neither"), (0.5, 0.0, "max"), (0.5, -1.0, "both")])
def test_the_colour_bar_says_where_beliefs_leave_the_scale(error, lowest, extend):
    world = yard()
    given = view(world, error=error)
    given.worth[0, 0] = lowest
    figure = belief_figure(Coverage(world, 2), given)
    (bar,) = [axes for axes in figure.findobj(type(figure.axes[0])) if hasattr(axes, "_colorbar")]
    assert bar._colorbar.extend == extend


def test_cells_not_seen_are_hatched_and_those_seen_are_not():
    world = yard()
    seen = np.random.default_rng(1).random((6, 9)) < 0.5
    figure = belief_figure(Coverage(world, 2), view(world, seen=seen))
    hatched = marked(figure.axes[1], "unseen")
    assert hatched.get_hatch()
    for y, x in np.ndindex(6, 9):
        assert hatched.get_path().contains_point((x + 0.5, y + 0.5)) == (not seen[y, x])
    assert "not seen: the colour is a prediction" in legend_of(figure)
    everything = belief_figure(Coverage(world, 2), view(world))
    assert not everything.axes[1].findobj(lambda artist: artist.get_gid() == "unseen")
    assert not any("not seen" in text for text in legend_of(everything))


def test_components_are_ellipses_with_axes_by_eigenvalues_and_their_weights_beside():
    world = yard()
    figure = belief_figure(Coverage(world, 2), view(world, components=2))
    axes = figure.axes[1]
    ellipses = axes.findobj(Ellipse)
    sigmas = np.sqrt(np.linalg.eigvalsh(COVARIANCE))
    np.testing.assert_allclose([sorted((e.width, e.height)) for e in ellipses], [2 * sigmas, 4 * sigmas] * 2)
    assert [e.center for e in ellipses] == [(3.0, 2.0)] * 2 + [(6.0, 4.0)] * 2
    weights = axes.findobj(lambda artist: artist.get_gid() == "weight")
    assert [text.get_text() for text in weights] == ["0.50", "0.30"]
    inverse = np.linalg.inv(COVARIANCE)
    for text, mean in zip(weights, [(3.0, 2.0), (6.0, 4.0)], strict=True):
        place = np.array(text.xy)
        assert ((place >= 0) & (place <= [9, 6])).all()
        assert math.sqrt((place - mean) @ inverse @ (place - mean)) == pytest.approx(2.0)  # on the outer ellipse
    assert not figure.axes[0].findobj(Ellipse)


def test_targets_walls_and_robots_are_where_they_are():
    played = game()
    profile = played.profile([(0, 0), (8, 3)])
    minds = [view(played.world, (robot,)) for robot in range(2)]
    figure = belief_figure(played, minds, profile=profile)
    for axes in figure.axes[:3]:
        np.testing.assert_array_equal(marked(axes, "targets").get_xydata(), [[0.5, 0.5], [8.5, 5.5]])
        np.testing.assert_array_equal(marked(axes, "blocked").get_array()[..., 3], WALLS)
    shown = [
        {artist.get_gid(): tuple(artist.get_xydata()[0]) for artist in axes.lines if "robot" in str(artist.get_gid())}
        for axes in figure.axes[:3]
    ]
    both = {"robot 0": (0.5, 0.5), "robot 1": (8.5, 3.5)}
    assert shown == [both, {"robot 0": (0.5, 0.5)}, {"robot 1": (8.5, 3.5)}]
    assert figure.axes[2].get_title().startswith("What robot 1 believes")
    assert "robot" in legend_of(figure)
    without = belief_figure(played, minds)
    assert "robot" not in legend_of(without)


def test_walls_are_walls_whatever_robots_expect_of_them():
    played = game()
    hopeful = view(played.world)
    hopeful.worth[WALLS] = 3.0
    for axes in belief_figure(played, hopeful).axes[:2]:
        np.testing.assert_array_equal(marked(axes, "blocked").get_array()[..., 3], WALLS)


def test_many_minds_are_not_all_drawn_and_the_title_says_so():
    played = game(15)
    figure = belief_figure(played, [view(played.world, (robot,)) for robot in range(15)])
    assert sum(bool(axes.images) for axes in figure.axes) == 1 + MOST_DRAWN
    assert "robots 0 to 10 of 15" in figure.get_suptitle()


def test_a_worthless_map_and_a_single_robot_are_drawn():
    world = World(np.zeros((3, 4)))
    figure = belief_figure(Coverage(world, 1, 1.0), view(world, (0,)))
    assert figure.axes[1].get_title() == "What robot 0 believes\n12 of 12 cells seen"


def test_the_beliefs_of_a_run_are_drawn_without_another_step(monkeypatch):
    world = gaussian_world((12, 9), [0.6, 0.4], [[3.0, 3.0], [9.0, 6.0]], [np.eye(2) * 2, np.eye(2) * 3])
    played = Coverage(world, 2, 1.5, flags=False)
    rule = pt.rule("blll", tau=1e-3)
    belief = SplitMerge(aic_every=10, communication=Communication(0))
    run = pt.begin(played, rule, 1, record=("profile",), compiled=False, belief=belief).advance(40)
    trace = run.trace()

    def stop(*args, **options):
        pytest.fail("something was computed anew")

    for name in ("runs.play_entry", "runs.prepare_entry", "playing.begin"):
        monkeypatch.setattr(f"potentia.engine.{name}", stop)
    monkeypatch.setattr("potentia.beliefs.view.views", stop)
    figure = belief_figure(run.game, trace.beliefs, profile=trace.final)  # the game with its belief will do
    for robot, mind in enumerate(trace.beliefs):
        error = np.abs(mind.worth - world.worth).sum() / world.worth.sum()
        assert figure.axes[1 + robot].get_title().endswith(f"relative error {100 * error:.3g} %")
    made = proposals_figure(trace.proposals, steps=40, robots=2, number=2)
    for mind in range(2):
        line = marked(made.axes[mind], f"number {mind}")
        assert line.get_ydata()[-1] == trace.beliefs[mind].num_components
        assert line.get_xdata()[-1] == 40


def test_views_that_are_none_are_refused():
    played = game()
    refuses(lambda: belief_figure(played, ()), InvalidRun, "at least one belief, got none")
    refuses(lambda: belief_figure(played, [played.world]), InvalidRun, r"trace\.beliefs, got .* as number 0")
    other = view(World(np.ones((3, 3))))
    refuses(lambda: belief_figure(played, other), InvalidRun, r"shape of the worth, \(6, 9\), got \(3, 3\)")
    refuses(lambda: belief_figure(pt.game("stag-hunt"), other), InvalidRun, "must be a Coverage game, got NormalForm")
    refuses(lambda: belief_figure(played, view(played.world), profile=[0]), InvalidRun, "profile")
    drifting = gaussian_world((9, 6), [1.0], [[3.0, 3.0]], [np.eye(2)])
    moving = Coverage(drifting, 2, drift=[[0.1, 0.0]])
    refuses(lambda: belief_figure(moving, view(drifting)), InvalidGame, r"drifts, and belief_figure.*game\.at\(time\)")


# Over time --------------------------------------------------------------------------------------------


def batch(seeds=5, rows=40, seed=0, every=1, names=("belief_error", "parameter_error", "right_number", "components")):
    random = np.random.default_rng(seed)
    values = {name: (("seed", "time"), random.random((seeds, rows))) for name in names}
    return xarray.Dataset(values, {"time": np.arange(rows) * every, "seed": np.arange(seeds)})


def test_lines_are_means_and_bands_their_intervals():
    data = {"blll": batch(seed=1), "p-sblll": batch(seed=2)}
    figure = learning_figure(data, number=3)
    assert len(figure.axes) == 4
    for axes, measure in zip(
        figure.axes, ("belief_error", "parameter_error", "right_number", "components"), strict=True
    ):
        styles = set()
        for name, one in data.items():
            line = marked(axes, f"mean of {name}")
            np.testing.assert_allclose(line.get_ydata(), one[measure].mean("seed"))
            styles.add(line.get_linestyle())
            values = one[measure].isel(time=17).values
            half = 2.7764451052 * values.std(ddof=1) / math.sqrt(5)  # Student's t, 4 degrees of freedom
            most = 1.0 if measure in ("parameter_error", "right_number") else np.inf
            at = marked(axes, f"band of {name}").get_paths()[0].vertices
            drawn = at[at[:, 0] == 17, 1]
            expected = max(values.mean() - half, 0.0), min(values.mean() + half, most)
            np.testing.assert_allclose([drawn.min(), drawn.max()], expected)
        assert len(styles) == 2
        assert axes.get_xlabel() == "step"
    assert set(marked(figure.axes[3], "number").get_ydata()) == {3}
    low, high = figure.axes[3].get_ylim()
    assert low <= 3 <= high
    assert legend_of(figure) == ["blll (5 seeds)", "p-sblll (5 seeds)", "true number of components, 3"]


def test_there_are_panels_for_what_was_recorded_and_known():
    nothing = batch()
    nothing["right_number"][:] = nothing["parameter_error"][:] = np.nan  # a map without a mixture
    assert len(learning_figure({"a": nothing}).axes) == 2
    both = learning_figure({"a": nothing, "constant": batch(names=("belief_error",))})
    assert len(both.axes) == 2
    assert not both.axes[1].findobj(lambda artist: artist.get_gid() == "mean of constant")
    assert len(learning_figure({"constant": batch(names=("belief_error",))}).axes) == 1


def test_runs_cut_short_are_left_out_and_one_seed_has_no_band():
    data = batch(seeds=2)
    data["belief_error"][0, 20:] = np.nan
    axes = learning_figure({"a": data}).axes[0]
    np.testing.assert_array_equal(marked(axes, "mean of a").get_ydata(), data.belief_error[1])
    assert not axes.collections
    assert "intervals" not in learning_figure({"a": batch(seeds=1)}).get_suptitle()


def test_time_is_logarithmic_only_in_long_records():
    assert learning_figure({"a": batch()}).axes[0].get_xscale() == "linear"
    axes = learning_figure({"a": batch(every=100)}).axes[0]
    assert axes.get_xscale() == "symlog"
    assert axes.get_xlabel() == "step (logarithmic above 100)"
    assert axes.get_xlim() == (0, 3900)


def test_batches_that_are_none_are_refused():
    refuses(lambda: learning_figure({}), InvalidRun, "at least one batch, got none")
    plain = batch(names=("worth_union",))
    refuses(lambda: learning_figure({"a": batch(), "b": plain}), InvalidRun, "b: none of belief_error.*was recorded")
    for number in (0, 2.5, "three"):
        refuses(lambda number=number: learning_figure({"a": batch()}, number=number), InvalidRun, "number must be")


# The number of components -----------------------------------------------------------------------------

MADE = (
    Proposal(10, 0, 1, 2, 100.0, 60.0, True),
    Proposal(10, 0, 2, 3, 60.0, 61.5, False),
    Proposal(20, 0, 2, 3, 58.0, 57.0, True),
    Proposal(30, 0, 3, 2, 57.0, 52.0, True),
    Proposal(40, 0, 2, 1, 52.0, 180.0, False),
)


def test_marks_are_proposals_filled_where_accepted():
    figure = proposals_figure(MADE, steps=50, number=2)
    numbers, changes = figure.axes[:2]
    np.testing.assert_array_equal(
        marked(numbers, "number 0").get_xydata(),
        [(10, 1), (10, 2), (10, 2), (10, 2), (20, 2), (20, 3), (30, 3), (30, 2), (40, 2), (40, 2), (50, 2)],
    )
    kinds = {
        "split accepted": ([0, 2], "^"),
        "split rejected": ([1], "^"),
        "merge accepted": ([3], "v"),
        "merge rejected": ([4], "v"),
    }
    for kind, (which, marker) in kinds.items():
        proposed = [(MADE[k].time, MADE[k].after) for k in which]
        np.testing.assert_array_equal(marked(numbers, kind).get_xydata(), proposed)
        change = [(MADE[k].time, MADE[k].aic_after - MADE[k].aic_before) for k in which]
        np.testing.assert_array_equal(marked(changes, kind).get_xydata(), change)
        for axes in (numbers, changes):
            assert marked(axes, kind).get_marker() == marker
            assert (marked(axes, kind).get_markerfacecolor() == "white") == ("rejected" in kind)
    assert set(marked(numbers, "number").get_ydata()) == {2}
    assert legend_of(figure) == [
        "split accepted (2)",
        "split rejected (1)",
        "merge accepted (1)",
        "merge rejected (1)",
        "number of components",
        "true number of components, 2",
    ]


def test_a_change_of_the_aic_can_be_read_and_has_the_chance_that_is_written_beside():
    figure = proposals_figure(MADE)
    changes, chance = figure.axes[1:3]
    heights = [row.aic_after - row.aic_before for row in MADE]
    low, high = changes.get_ylim()
    assert low < min(heights)
    assert max(heights) < high
    assert {"−30", "−10", "0", "+10", "+100"} <= {text.get_text() for text in changes.get_yticklabels()}
    assert chance.get_ylim() == (low, high)
    assert chance.get_yscale() == changes.get_yscale() == "symlog"
    for tick, text in zip(chance.get_yticks(), chance.get_yticklabels(), strict=True):
        odds = math.exp(-tick / 2)  # Akaike weights
        assert text.get_text() == f"{round(100 * odds / (1 + odds), 1):g} %"


def test_minds_of_their_own_have_panels_of_their_own():
    rows = [*MADE, *(row._replace(mind=2, time=row.time + 5) for row in MADE)]
    figure = proposals_figure(rows, robots=3)
    assert [axes.get_ylabel() for axes in figure.axes[:3]] == ["robot 0", "robot 1", "robot 2"]
    assert marked(figure.axes[1], "number 1").get_xydata().size == 0  # no proposal yet
    assert marked(figure.axes[2], "number 2").get_xdata()[0] == 15
    assert len(figure.axes[3].lines) == 2 * 4 + 1  # two minds, four kinds, the line at 0
    assert "number of components (changed without a mark: heard from another robot)" in legend_of(figure)
    many = proposals_figure([row._replace(mind=k) for k in range(20) for row in MADE], robots=20)
    assert "robots 0 to 10 of 20" in many.get_suptitle()
    assert proposals_figure([row._replace(mind=15) for row in MADE], robots=20)  # of a robot that is not drawn


def test_proposals_that_are_none_are_refused():
    refuses(lambda: proposals_figure(()), InvalidRun, "at least one proposal, got none")
    refuses(lambda: proposals_figure([(1, 2)]), InvalidRun, r"trace\.proposals, got \(1, 2\) as number 0")
    refuses(lambda: proposals_figure([MADE[0]._replace(mind=1)]), InvalidRun, "minds below 1, got mind 1")
    for robots in (0, 1.5):
        refuses(lambda robots=robots: proposals_figure(MADE, robots=robots), InvalidRun, "robots must be an integer")
    refuses(lambda: proposals_figure(MADE, number=0), InvalidRun, "number must be")


def test_a_constant_belief_has_a_field_and_no_components():
    played = game(1)
    run = pt.begin(played, pt.rule("blll", tau=1.0), 0, compiled=False, belief=Constant(7.0)).advance(3)
    figure = belief_figure(played, run.beliefs)
    field = figure.axes[1].images[0].get_array()
    assert (field[~run.beliefs[0].seen] == 7.0).all()
    assert not figure.axes[1].findobj(Ellipse)
    assert "component" not in figure.axes[1].get_title()


def test_failed_robots_have_numbers_where_they_lie_and_in_what_they_believed():
    world = pt.games.World(np.arange(30.0).reshape(5, 6))
    game = pt.games.Coverage(world, 3, flags=False, events=["fail 1@2"])
    rule = pt.rule("blll", tau=0.1)
    trace = pt.run(game, rule, 4, belief=pt.beliefs.Constant(1.0), compiled=False)
    figures = (
        pt.figures.belief_figure(game, trace.beliefs, profile=trace.final, step=4),
        pt.figures.configuration_figure(game, {"blll": trace.profiles}, step=4),
    )
    for figure, panels in zip(figures, (2, 1), strict=True):
        for axes in [axes for axes in figure.axes if axes.get_label() != "<colorbar>"][:panels]:
            assert [text.get_text() for text in axes.texts if text.get_gid() == "number"] == ["1"]
            assert [line.get_gid() for line in axes.lines].count("lost") == 1
