"""Scores and strategies over time."""

from __future__ import annotations

import json

import numpy as np
import pytest

import potentia as pt
from potentia.engine import loop, watch_on
from potentia.kernel import memory
from potentia.kernel.journal import move

RULES = {
    "ql": {"tau": 0.5},
    "soql": {},
    "score": {"tau": 0.5, "order": 2},
}


def uneven():
    return pt.games.random_potential_game([2, 4, 3], 7)


@pytest.mark.parametrize("name", RULES)
def test_rows_are_what_a_run_says_at_those_times(name):
    game, rule = uneven(), pt.rule(name, **RULES[name])
    data = pt.watch(game, rule, 23, seed=3, every=5)
    assert data.time.values.tolist() == [0, 5, 10, 15, 20]
    assert data.score.dims == data.strategy.dims == ("time", "player", "action")
    run = pt.begin(game, rule, 3, horizon=23, record=())
    for row in range(5):
        if row:
            run.advance(5)
        for player, (scores, strategy) in enumerate(zip(run.scores, run.strategies, strict=True)):
            size = game.num_actions[player]
            np.testing.assert_array_equal(data.score[row, player, :size], scores)
            np.testing.assert_array_equal(data.strategy[row, player, :size], strategy)
            assert np.isnan(data.score[row, player, size:]).all()
            assert np.isnan(data.strategy[row, player, size:]).all()
    np.testing.assert_allclose(np.nansum(data.strategy.values, axis=2), 1.0, rtol=1e-12)
    assert np.ptp(data.score.values[:, 0, 0]) > 0 or np.ptp(data.score.values[:, 0, 1]) > 0  # something was learnt


@pytest.mark.parametrize("name", RULES)
def test_watching_does_not_change_the_run(name):
    game, rule = uneven(), pt.rule(name, **RULES[name])
    data, trace = pt.watch(game, rule, 60, seed=1), pt.run(game, rule, 60, seed=1)
    np.testing.assert_array_equal(data.profile.values, trace.profiles)
    assert (np.diff(trace.profiles, axis=0) != 0).any()


def test_a_start_and_a_schedule_that_needs_the_length():
    rule = pt.rule("ql", tau={"kind": "geometric", "start": 1.0, "stop": 0.1})
    data = pt.watch(uneven(), rule, 8, start=[1, 3, 0], every=4)
    assert data.profile[0].values.tolist() == [1, 3, 0]
    assert json.loads(data.attrs["rule"])["rule"] == "ql"


def test_a_run_that_has_begun_goes_on():
    game, rule = uneven(), pt.rule("soql")
    whole = pt.watch(game, rule, 50, seed=2)
    run = pt.begin(game, rule, 2, record=())
    run.advance(30)
    late = watch_on(run, 15, every=10)
    assert late.time.values.tolist() == [30, 40]
    np.testing.assert_array_equal(late.score.values, whole.score.values[[30, 40]])
    assert run.step == 45


def test_robots_with_a_belief():
    game = pt.games.Coverage(pt.games.random_world(1), 2)
    run = pt.begin(game, pt.rule("soql"), record=(), belief=pt.beliefs.Constant(0.001), compiled=False)
    data = watch_on(run, 4, every=2)
    assert data.sizes == {"time": 3, "player": 2, "action": int(game.sizes.max())}


def test_a_belief_is_passed_on():
    unsure = pt.beliefs.RunningMean(per="action")
    seen = pt.begin(uneven(), pt.rule("soql"), belief=unsure).game.describe()
    assert pt.watch(uneven(), pt.rule("soql"), 0, belief=unsure).attrs["game"] == seen != uneven().describe()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"rule": pt.rule("lll", tau=1.0)}, pt.errors.InvalidRule, "lll keeps no scores; ql and score and soql do"),
        ({"steps": -1}, pt.errors.InvalidRun, "steps must be an integer of at least 0, got -1"),
        ({"steps": 2.5}, pt.errors.InvalidRun, r"steps must be an integer of at least 0, got 2.5"),
        ({"every": 0}, pt.errors.InvalidRun, "every must be an integer of at least 1, got 0"),
        ({"game": "ring"}, pt.errors.InvalidRun, "game must be a potentia game.*got str"),
        ({"steps": 10**15}, pt.errors.TooLarge, "watching 3 players with up to 4 actions at .* use a larger every"),
    ],
)
def test_what_is_refused(change, error, message):
    options = {"game": uneven(), "rule": pt.rule("soql"), "steps": 10} | change
    with pytest.raises(error, match=message):
        pt.watch(**options)


def test_only_runs_can_be_watched():
    with pytest.raises(pt.errors.InvalidRun, match=r"run must be a run such as begin\(game, rule\), got NormalForm"):
        watch_on(uneven(), 3)


def test_ctrl_c_returns_what_was_computed(monkeypatch):
    run = pt.begin(uneven(), pt.rule("soql"), record=())
    advance = type(run).advance

    def interrupted(self, steps, *more):
        if self.step >= 4:
            raise KeyboardInterrupt
        return advance(self, steps, *more)

    monkeypatch.setattr(type(run), "advance", interrupted)
    with pytest.warns(pt.errors.RunInterrupted, match="after step 4"):
        data = watch_on(run, 10, every=2)
    assert data.time.values.tolist() == [0, 2, 4]
    assert (data.profile.values >= 0).all()


def test_memory_is_asked_for_what_is_allocated(monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "require", lambda size, what, advice="": asked.append(size))
    data = pt.watch(uneven(), pt.rule("soql"), 40)
    assert asked[-1] == data.score.nbytes + data.strategy.nbytes + data.profile.nbytes


# Drawn ------------------------------------------------------------------------------------------------


def drawn(data):
    figure = pt.figures.values_figure(data)
    figure.draw_without_rendering()
    return figure


def test_every_score_and_strategy_is_drawn():
    data = pt.watch(uneven(), pt.rule("soql"), 30)
    lines = {(k % 3, line.get_gid()): line for k, axes in enumerate(drawn(data).axes) for line in axes.lines}
    for player, size in enumerate(uneven().num_actions):
        for action in range(size):
            for name in ("score", "strategy"):
                line = lines[player, f"{name} {action}"]
                np.testing.assert_array_equal(line.get_ydata(), data[name][:, player, action])
    assert (0, "score 2") not in lines


def test_of_many_actions_and_players_the_likeliest_are_drawn():
    game = pt.games.Coverage(pt.games.random_world(1), 8)
    run = pt.begin(game, pt.rule("soql"), record=(), compiled=False)
    figure = drawn(watch_on(run, 30))
    assert len(figure.axes) == 3 * 6
    assert "players 0 to 5 of 8" in figure.get_suptitle()
    assert len([line for line in figure.axes[0].lines if line.get_gid().startswith("score")]) == 6


def test_runs_by_name_stand_side_by_side():
    runs = {name: pt.watch(uneven(), pt.rule(name, **RULES[name]), 12) for name in ("ql", "soql")}
    figure = pt.figures.values_figure(runs, player=2)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["ql, player 2", "soql, player 2"]
    for axes, data in zip(figure.axes[:2], runs.values(), strict=True):
        for action, line in enumerate(axes.lines):
            np.testing.assert_array_equal(line.get_ydata(), data.score[:, 2, action])
    with pytest.raises(pt.errors.InvalidRun, match="player must be an integer from 0 to 2, got 3"):
        pt.figures.values_figure(runs, player=3)
    with pytest.raises(pt.errors.InvalidRun, match="data must be one to 6 runs, got 0"):
        pt.figures.values_figure({})


def test_the_figure_says_what_it_needs():
    with pytest.raises(pt.errors.InvalidRun, match=r"data must be what watch returned.*score is missing"):
        pt.figures.values_figure(pt.watch(uneven(), pt.rule("soql"), 3).drop_vars("score"))


def test_a_player_that_changed_and_changed_back_leaves_no_event():
    run = pt.begin(pt.games.Separable([[0.0, 1.0], [0.0, 1.0]]), pt.rule("lll", tau=1.0), start=[0, 0])
    sink = run._emptied_sink(1)
    for player, action in ((0, 1), (1, 1), (0, 0)):
        move(run.journal, run._data, run.state, player, action, 0)
    loop._record(sink, run.journal, run._data, run.state, 1)
    assert sink.used[loop.EVENTS] == 1
    assert (sink.event_time[0], sink.event_player[0], sink.event_action[0]) == (1, 1, 1)
