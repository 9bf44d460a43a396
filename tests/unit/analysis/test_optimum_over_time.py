"""The optimum of a world that changes, against every placement at every moment."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot

import potentia as pt
from potentia.analysis import optimum, optimum_over_time
from potentia.analysis.placement_over_time import moments
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


def test_the_share_is_the_mean_over_all_steps(found, monkeypatch):
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    game, best = found
    data = study(game, {"blll": pt.rule("blll", tau=0.1)}, 40, range(3))["blll"]
    held, known = (np.array(t) // game.drift.every * game.drift.every for t in (range(1, 41), TIMES))
    bounds = np.interp(held, known, best.bounds)
    by_hand = [row.values[1:] / bounds for row in data.worth_union.transpose("seed", "time")]
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


def of_the_moment(game, time):
    return optimum(game.at(time)).bound if game.there_at(time).any() else 0.0


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("kind", ["frames", "periodic", None])
def test_the_bound_holds_at_every_time(kind, every):
    """Frames, and robots that come and go: nowhere less than the optimum, and that itself where it is computed."""
    game = cover(KINDS.get(kind), every, events=["fail 0@6", "fail 1@13", "arrive 17"])
    best = optimum_over_time(game, moments(game, 40))
    assert best.everywhere
    exact = np.array([of_the_moment(game, time) for time in range(41)])
    bounds = best.at(range(41))
    assert (bounds >= exact * (1 - 1e-9)).all()
    assert bounds[best.times] == pytest.approx(exact[best.times])
    assert bounds[12] > bounds[13] == bounds[16] == 0 < bounds[17]
    if kind is None:
        assert bounds == pytest.approx(exact)
        assert "as robots come and go" in str(best)
        assert str(best).count("at step") == 5  # four changes, and where the robots are in the end


def test_a_world_that_repeats_itself_is_known_at_all_phases():
    low = np.ones((4, 5))
    drift = pt.games.Frames(np.stack([low, 3 * low]), 50, periodic=True)
    game = pt.games.Coverage(pt.games.World(low), 1, flags=False, drift=drift)
    best = optimum_over_time(game, moments(game, 1000))
    assert best.at(np.arange(0, 1001, 50)) == pytest.approx([9.0, 27.0] * 10 + [9.0])
    assert len({id(one) for one in best.optima}) == 2  # nothing is computed twice
    assert best.at([30, 70]) == pytest.approx([9 + 18 * 0.6, 27 - 18 * 0.4])
    many = pt.games.Frames(np.stack([low, 3 * low] * 25), 1, periodic=True)
    game = pt.games.Coverage(pt.games.World(low), 1, flags=False, drift=many, drift_every=1)
    assert len({time % 50 for time in moments(game, 1000)}) >= 13
    assert not optimum_over_time(game, [0, 3]).everywhere


def test_no_placement_of_another_moment_is_better():
    """Found in a hurry; a robot that is gone leaves its place, one that is back covers no less."""
    worth = np.random.default_rng(1).random((14, 14)) ** 4
    options = {"flags": False, "drift": (0.02, 0.01), "events": ["fail 3@20", "arrive 40"]}
    game = pt.games.Coverage(pt.games.World(worth), 6, [1, 1, 1, 2, 2, 2, 2], **options)
    times = (0, 5, 10, 25, 30, 45)
    best = optimum_over_time(game, times, method="greedy", effort=0.0)
    alone = [optimum(game.at(time), method="greedy", effort=0.0) for time in times]
    assert (best.bounds == [one.bound for one in alone]).all()
    for time, found in zip(times, best.optima, strict=True):
        now, here = game.at(time), game.there_at(time)
        assert found.value == now.worth_union(found.profile) <= found.bound
        assert (found.positions == now.positions(found.profile)).all()
        assert found.gap == pytest.approx(found.bound / found.value - 1)
        others = [one for other, one in zip(times, alone, strict=True) if (game.there_at(other) == here).all()]
        assert found.value >= max(now.worth_union(one.profile) for one in others)
    joined = [game.at(45).worth_union([*one.profile, one.profile[0]]) for one in alone[3:5]]
    assert best.values[-1] >= max(joined)
    assert (best.values > [one.value for one in alone]).any()  # or this tests nothing


@pytest.mark.parametrize("drift", [None, (0.02, 0.01)])
def test_cover_finds_the_same_on_a_busy_machine(monkeypatch, drift):
    """One whose clock goes on by two minutes while it works."""
    from potentia.analysis import placement
    from potentia.cli.coverage_checks import certified

    worth = np.random.default_rng(1).random((14, 14)) ** 4
    game = pt.games.Coverage(pt.games.World(worth), 6, [1, 1, 1, 2, 2, 2], flags=False, drift=drift)
    asked = itertools.count()
    monkeypatch.setattr(placement, "time", SimpleNamespace(perf_counter=lambda: 0.0 * next(asked)))
    calm, looks = certified(game, 40, True), next(asked)
    monkeypatch.setattr(placement, "time", SimpleNamespace(perf_counter=lambda: 120.0 / looks * next(asked)))
    busy = certified(game, 40, True)
    assert not busy.by_clock
    for one, other in zip(getattr(calm, "optima", [calm]), getattr(busy, "optima", [busy]), strict=True):
        assert (one.value, one.bound, one.profile.tolist()) == (other.value, other.bound, other.profile.tolist())


def test_times_that_miss_an_event_take_the_larger_bound():
    game = cover(None, events=["fail 0@6"])
    best = optimum_over_time(game, [0, 10])
    assert best.at([0, 3, 8, 10]).tolist() == [best.bounds[0]] * 3 + [best.bounds[1]]
    assert best.everywhere


def test_times_that_miss_all_robots_of_a_while_are_no_bound_then():
    more = cover(None, events=["arrive 3", "fail 0@6"])
    best = optimum_over_time(more, [0, 10])
    assert best.at([4])[0] < of_the_moment(more, 4)
    assert not best.everywhere
    assert optimum_over_time(more, [0, 4, 10]).everywhere
    frames = cover(KINDS["frames"], 1, events=["fail 0@6"])
    wanted = moments(frames, 40)
    assert optimum_over_time(frames, wanted).everywhere
    assert not optimum_over_time(frames, [time for time in wanted if time != 5]).everywhere


def test_robots_that_fail_are_measured_by_the_optimum_of_their_time(monkeypatch):
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    game = cover(None, events=["fail 0@40"])
    data = study(game, {"blll": pt.rule("blll", tau=0.001)}, 40, range(4))["blll"]
    best = optimum_over_time(game, moments(game, 40))
    found = summarise(data, best)
    assert found.share.high <= 1.0
    bounds = np.r_[np.full(40, of_the_moment(game, 0)), of_the_moment(game, 40)]
    assert found.share.mean == pytest.approx((data.worth_union.values / bounds).mean())
    late = np.argmax(data.worth_union.values >= 0.8 * bounds, axis=1)
    assert found.arrivals[0].steps == pytest.approx(np.median(late), abs=np.ptp(late))
    gone = cover(None, events=["fail 0@0", "fail 1@0", "arrive 30"])
    data = study(gone, {"blll": pt.rule("blll", tau=0.001)}, 40, range(2))["blll"]
    best = optimum_over_time(gone, moments(gone, 40))
    assert summarise(data, best).arrivals[0].steps >= 30
    shares = data.worth_union.values[:, 30:] / best.bounds[-1]  # while nobody is there, nothing is a share
    assert summarise(data, best).share.mean == pytest.approx(shares.mean())


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
