"""Figures of score dynamics show what the trajectories hold, and refuse what they cannot show."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import dynamics, portrait
from potentia.errors import InvalidInput
from potentia.figures import portrait_figure, scores_figure, simplex_figure
from tests.unit.bad import case, refuses

WINS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
ROCK = pt.games.NormalForm([WINS, -WINS])
HUNT = pt.game("stag-hunt")


def rock(start=(0.6, 0.3, 0.1)):
    return dynamics(ROCK, start=[start, (0.2, 0.3, 0.5)], horizon=3.0, points=31)


def lines(axes, count):
    """The curves with this many points."""
    return [line.get_xydata() for line in axes.lines if len(line.get_xdata()) == count]


def test_triangles():
    one, two = rock(), rock((0.1, 0.1, 0.8))
    figure = simplex_figure([one, two], (0, 1), labels=["rock", "paper", "scissors"], title="T")
    assert [axes.get_title() for axes in figure.axes] == ["player 0", "player 1"]
    assert figure.get_suptitle() == "T"
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    for player, axes in enumerate(figure.axes):
        for drawn, path in zip(lines(axes, 31), (one, two), strict=True):
            np.testing.assert_allclose(drawn, path.strategies[player] @ corners)
        ends = {tuple(np.round(p[0], 9)) for p in lines(axes, 1)}
        expected = {tuple(np.round(t.strategies[player][k] @ corners, 9)) for t in (one, two) for k in (0, -1)}
        assert ends == expected
        assert {"rock", "paper", "scissors"} <= {text.get_text() for text in axes.texts}
    assert len(simplex_figure(one, 1).axes) == 1


def test_a_portrait():
    whole = portrait(HUNT, grid=2, horizon=4.0, points=21)
    figure = portrait_figure(*whole, title="hunt")
    (axes,) = figure.axes
    for drawn, path in zip(lines(axes, 21), whole.trajectories, strict=True):
        np.testing.assert_array_equal(drawn, np.stack([x[:, 0] for x in path.strategies], axis=1))
    stars = [line for line in axes.lines if line.get_marker() == "*"]
    np.testing.assert_array_equal(stars[0].get_xydata(), [[1, 1], [0, 0]])
    diamonds = [line for line in axes.lines if line.get_marker() == "D"]
    np.testing.assert_allclose(diamonds[0].get_xydata(), [[0.75, 0.75]])
    arrows = axes.collections[0]
    long = np.hypot(arrows.U, arrows.V)
    np.testing.assert_allclose(long, 1.0)
    np.testing.assert_allclose(arrows.U * whole.field.dy.ravel(), arrows.V * whole.field.dx.ravel(), atol=1e-15)
    assert [t.get_text() for t in axes.get_legend().texts] == ["start", "end", "pure Nash", "mixed Nash"]
    bare = portrait_figure(whole.trajectories[0])
    assert not bare.axes[0].collections
    assert [t.get_text() for t in bare.axes[0].get_legend().texts] == ["start", "end"]


def test_rest_points_are_marked_by_what_becomes_of_a_disturbance():
    whole = portrait(HUNT, grid=1, horizon=1.0, points=3, discount=0.2)
    (axes,) = portrait_figure(*whole).axes
    dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_markersize() == 8]
    assert [line.get_markerfacecolor() == "white" for line in dots] == [False, False, True]
    for line, point in zip(dots, whole.rests, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), [[x[0] for x in point.strategies]])
    assert {"rest point", "unstable rest point"} < {text.get_text() for text in axes.get_legend().texts}
    assert portrait(HUNT, grid=1, horizon=1.0, points=3).rests == []  # scores grow for ever
    with pytest.raises(InvalidInput, match=r"rests must be what analysis.rest_points\(...\) returns, got 'a title'"):
        portrait_figure(*whole[:3], "a title")


def test_a_field_that_stands_still_is_drawn():
    still = pt.games.NormalForm(np.zeros((2, 2, 2)))
    figure = portrait_figure(*portrait(still, grid=2, horizon=1.0, points=3))
    figure.savefig("/dev/null", format="png")


def test_scores_over_time_from_a_trajectory_and_its_dataset():
    found = rock()
    for data in (found, found.dataset()):
        figure = scores_figure(data, "S")
        assert len(figure.axes) == 4
        for axes, values in zip(figure.axes, (*found.strategies, *found.scores), strict=True):
            for drawn, column in zip(lines(axes, 31), values.T, strict=True):
                np.testing.assert_array_equal(drawn, np.stack([found.times, column], axis=1))
    many = dynamics(pt.game("separable", players=7, actions=2), horizon=1.0, points=3)
    assert scores_figure(many).get_suptitle() == " (players 0 to 5 of 7)"
    wide = dynamics(pt.game("separable", players=1, actions=20), horizon=1.0, points=3)
    assert scores_figure(wide).axes[0].get_title() == "player 0 (first 12 of 20 actions)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        case("no trajectory", lambda: simplex_figure([]), "at least one trajectory, got none"),
        case("something else", lambda: simplex_figure([1]), "expected trajectories from analysis.dynamics"),
        case("two actions", lambda: simplex_figure(dynamics(HUNT, horizon=1.0)), r"got 0 of players with \[2, 2\]"),
        case("no such player", lambda: simplex_figure(rock(), 2), r"got 2 of players with \[3, 3\]"),
        case("labels", lambda: simplex_figure(rock(), labels=["a"]), "labels must be 3 names, got 1"),
        case("portrait of three", lambda: portrait_figure(rock()), r"two actions each, got \[3, 3\] actions"),
        case("scores of a number", lambda: scores_figure(1), "expected a trajectory"),
        case("other dataset", lambda: scores_figure(rock().dataset()[["regret"]]), "without strategies_0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    refuses(call, InvalidInput, message)
