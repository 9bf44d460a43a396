"""The optimum of a world that changes, against every placement at every moment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib import pyplot

import potentia as pt
from potentia.analysis import optimum_over_time
from potentia.errors import InvalidGame, InvalidInput
from potentia.figures import animate, belief_figure, configuration_figure, worth_figure
from potentia.studies.coverage import cover as study
from potentia.studies.coverage import summarise
from tests.unit.games.test_changing_worlds import KINDS, cover

TIMES = (0, 9, 20, 40)


@pytest.fixture(scope="module")
def found():
    game = cover(KINDS["frames"])
    return game, optimum_over_time(game, TIMES)


def test_no_placement_of_the_moment_is_better(found):
    game, best = found
    assert best.proven
    assert best.times.tolist() == list(TIMES)
    for time, value in zip(TIMES, best.values, strict=True):
        now = game.at(time)
        every = itertools.combinations_with_replacement(range(now.world.num_free), 2)
        assert value == pytest.approx(max(now.worth_union(profile) for profile in every), rel=1e-9)
    assert len(set(best.values.round(6).tolist())) > 2
    assert "at step 9" in str(best)
    assert best.to_dict()["times"] == list(TIMES)


def test_the_share_is_the_mean_over_the_moments(found, monkeypatch):
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    game, best = found
    data = study(game, {"blll": pt.rule("blll", tau=0.1)}, 40, range(3))["blll"]
    by_hand = [np.mean([row.sel(time=t) / b for t, b in zip(TIMES[1:], best.bounds[1:], strict=True)])
               for row in data.worth_union.transpose("seed", "time")]  # fmt: skip
    assert summarise(data, best).share.mean == pytest.approx(np.mean(by_hand), rel=1e-12)
    figure = worth_figure({"blll": data}, optimum=best)
    (line,) = [line for line in figure.axes[0].lines if line.get_gid() == "optimum"]
    assert line.get_xdata().tolist() == list(TIMES)
    assert line.get_ydata().tolist() == best.values.tolist()
    pyplot.close(figure)


def test_a_recording_has_it_beside_its_curve(found, tmp_path):
    game, best = found
    run = pt.begin(game, {"rule": "blll", "tau": 0.1}, 3, record=("profile", "worth_union"), compiled=False)
    made = run.advance(40).trace().recording(optimum=best)
    path = made.save(tmp_path / "run.recording")
    told = pt.read_recording(path).header["optimum"]
    assert told["times"] == list(TIMES)
    assert told["values"] == best.values.tolist()
    assert told["value"] == told["values"][-1]
    made.film(tmp_path / "run.gif", frames=2)


def test_bad_times(found):
    game, _ = found
    for times, message in (((), "at least one"), ((5, 5), "rise"), ((-1,), "times must be an integer")):
        with pytest.raises(InvalidInput, match=message):
            optimum_over_time(game, times)
    with pytest.raises(InvalidGame, match="takes a Coverage game"):
        optimum_over_time(pt.game("stag-hunt"), [0])


def drawn(figure, panel=0):
    """The field of a panel, as numbers."""
    image = next(artist for artist in figure.axes[panel].images)
    pyplot.close(figure)
    return np.asarray(image.get_array())


def test_figures_show_the_field_of_the_step():
    game = cover(KINDS["shift"])
    profiles = np.zeros((3, 2), np.int64)
    np.testing.assert_allclose(drawn(configuration_figure(game, {"run": profiles}, step=21)), game.worth_at(21))
    run = pt.begin(game, {"rule": "blll", "tau": 0.1}, 3, belief={"belief": "constant"}, compiled=False).advance(9)
    np.testing.assert_allclose(drawn(configuration_figure(game, {"run": run.trace()})), game.worth_at(9))
    views = run.trace().beliefs
    np.testing.assert_allclose(drawn(belief_figure(game, views, step=9)), game.worth_at(9))
    for call, name in (
        (lambda: configuration_figure(game, {"run": profiles}), "configuration_figure"),
        (lambda: belief_figure(game, views), "belief_figure"),
    ):
        with pytest.raises(InvalidGame, match=rf"drifts, and {name} without a step takes"):
            call()


def test_figures_with_drift_and_events_show_who_is_left():
    game = cover(KINDS["shift"], events=["fail 0@5", "arrive 7"])
    run = pt.begin(game, {"rule": "blll", "tau": 0.1}, 3, compiled=False).advance(21)
    figure = configuration_figure(game, {"run": run.trace()})
    left = game.at(21)
    assert left.num_players == 2
    assert f"{left.worth_union(run.profile[1:]):#.4g} (union)" in figure.axes[0].get_title()
    (lost,) = [line for line in figure.axes[0].lines if line.get_gid() == "lost"]
    assert np.transpose(lost.get_data()).tolist() == (game.positions(run.profile)[:1] + 0.5).tolist()
    np.testing.assert_allclose(drawn(figure), game.worth_at(21))
    nobody = configuration_figure(game, {"run": run.trace()}, there={"run": [False, False, False]})
    assert "no robot is left" in nobody.axes[0].get_title()
    pyplot.close(nobody)


@pytest.mark.parametrize("kind", ["flow", "frames"])
def test_films_show_the_field_of_the_step(kind, tmp_path, monkeypatch):
    game, kept = cover(KINDS[kind]), []
    monkeypatch.setattr("potentia.figures.animation.film", lambda made, goal, **options: kept.append(made) or goal)
    animate(game, np.zeros((11, 2), np.int64), tmp_path / "run.gif", every=4, frames=3)
    times, values = kept[0].series("worth")
    assert times.tolist() == [0, 20, 40]
    assert values.tolist() == [game.worth_at(t)[game.cover_counts([0, 0]) > 0].sum() for t in (0, 20, 40)]
    np.testing.assert_array_equal(kept[0].worth(40), game.worth_at(40))
