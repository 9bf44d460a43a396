"""What a trajectory holds, and what score dynamics refuse, each with its message."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import (
    convergence_order,
    divergence,
    dynamics,
    extinct,
    fates,
    played_order,
    portrait,
    rest_points,
)
from potentia.analysis.score_dynamics import Flow
from potentia.errors import InvalidGame, InvalidInput, InvalidRule, InvalidRun, NotConverged, TooLarge
from potentia.games import NormalForm
from potentia.rules import Tsallis
from tests import games
from tests.unit.bad import INF, NAN, case, refuses

COORDINATION = NormalForm([[[2, 0], [0, 1]], [[2, 0], [0, 1]]])
THREE = games.normal_form()


def test_a_trajectory_as_a_dataset():
    found = dynamics(THREE, horizon=1.0, points=5, choice=Tsallis(0.3))
    data = found.dataset()
    assert dict(data.sizes) == {"time": 5, "action_0": 2, "action_1": 3, "action_2": 2}
    np.testing.assert_array_equal(data.strategies_1, found.strategies[1])
    np.testing.assert_array_equal(data.regret, found.regrets)
    assert found.parameters["choice"] == {"kind": "tsallis", "q": 0.3}
    for part in (found.times, found.regrets, *found.scores, *found.strategies):
        assert not part.flags.writeable


def test_any_small_game_will_do():
    for make in games.ALL.values():
        game = make()
        found = dynamics(game, horizon=1.0, points=3)
        assert [x.shape for x in found.strategies] == [(3, size) for size in game.num_actions]


def move(**options):
    return lambda: dynamics(COORDINATION, **{"horizon": 1.0, "points": 3, **options})


def rests(**options):
    return lambda: rest_points(COORDINATION, **options)


def played(**options):
    return lambda: played_order(COORDINATION, **options)


PENNIES = pt.game("matching-pennies")
VAST = NormalForm(COORDINATION.payoffs * 1e200)
BAD_SEEDS = (None, "x", 1.5, 0, -1, True, 10**400)
TWO = [[0.5, 0.5], [0.5, 0.5]]
BAD = [
    case("choice", move(choice="gib"), "did you mean 'gibbs'"),
    case("tau", move(tau=0.0), "tau must be a finite number > 0, got 0.0"),
    case("discount", move(discount=-0.1), "discount must be a finite number of at least 0, got -0.1"),
    case("discount nan", move(discount=NAN), "discount must be a finite number"),
    case("order 0", move(order=0), "order must be an integer from 1 to 8, got 0"),
    case("order -2", move(order=-2), "got -2"),
    case("order 9", move(order=9), "got 9"),
    case("order 1.5", move(order=1.5), "got 1.5"),
    case("order true", move(order=True), "got True"),
    case("horizon", move(horizon=0), "horizon must be a finite number > 0, got 0"),
    case("horizon inf", move(horizon=INF), "horizon must be a finite number > 0, got inf"),
    case("points", move(points=1), "points must be an integer from 2 to 1000001, got 1"),
    case("points vast", move(points=10**400), "points must be an integer from 2 to 1000001, got about 10"),
    case("points beyond digits", move(points=10**5000), "points must be an integer from 2 to 1000001, got about 10"),
    case("points many", move(points=10**9), "points must be an integer from 2 to 1000001, got 1000000000"),
    case("horizon vast", move(horizon=10**400), "horizon must be a finite number > 0, got about 10"),
    case("method list", move(method=["euler"]), 'method must be "DOP853" or "euler"'),
    case("lagged", move(method="euler", step=0.1, lagged="no"), "lagged must be True or False, got 'no'"),
    case("lagged number", move(lagged=0), "lagged must be True or False, got 0"),
    case("rtol of euler", move(method="euler", step=0.1, rtol="x"), "rtol must be a finite number > 0, got 'x'"),
    case("atol of euler", move(method="euler", step=0.1, atol=-1), "atol must be a finite number > 0, got -1"),
    case("method", move(method="eulr"), "got 'eulr'; did you mean 'euler'"),
    case("step without euler", move(step=0.1), 'step and lagged are for method="euler"'),
    case("lagged without euler", move(lagged=True), 'step and lagged are for method="euler"'),
    case("euler without step", move(method="euler"), 'step is needed for method="euler"'),
    case("step negative", move(method="euler", step=-1), "step must be a finite number > 0, got -1"),
    case("step too long", move(method="euler", step=0.9, discount=2), r"at most 1, got 0.9 · 2.*use 0.5 or less"),
    case("step beyond", move(method="euler", step=2.0), "step must divide the horizon"),
    case("step tiny", move(method="euler", step=1e-9), "step must divide the horizon"),
    case("rtol", move(rtol=0), "rtol must be a finite number > 0, got 0"),
    case("forgotten", move(discount=1e6), r"at most 10000, got 1 · 1e\+06.*within a time of 4e-05"),
    case("both", move(start=TWO, scores=TWO), "not both"),
    case("scores too few", move(scores=[[1, 2]]), "scores must hold one vector for each of 2 players, got 1"),
    case("scores too many", move(scores=[[1, 2], [1, 2, 3]]), r"scores of player 1 must be 2 scores, got shape \(3,\)"),
    case("scores nan", move(scores=[[1, NAN], [0, 0]]), "scores of player 0 must be finite"),
    case("start a number", move(start=0.5), "start must hold one probability vector"),
    case("start on the boundary", move(start=[[1.0, 0.0], [0.5, 0.5]]), "start of player 0 must be inside"),
    case("start negative", move(start=[[0.5, 0.5], [1.5, -0.5]]), "start of player 1 must not be negative"),
    case("start sums", move(start=[[0.5, 0.6], [0.5, 0.5]]), "start of player 0 must sum to 1, got 1.1"),
    case("start nan", move(start=[[NAN, 0.5], [0.5, 0.5]]), "start of player 0 must be finite"),
    case("start words", move(start=["ab", "cd"]), "start of player 0 must be 2 probabilities"),
    case("rest without discount", rests(discount=0.0), r"discount must be > 0 for rest points.*end of dynamics"),
    case("rest starts", rests(starts=-1), "starts must be an integer of at least 0, got -1"),
    case("rest seed", rests(seed=0.5), "seed must be an integer"),
    case("rest underflow", rests(discount=1e-100, order=3), "between 1e-150 and 1e150"),
    case("rest tau", lambda: rest_points(PENNIES, tau=1e-310), "at least 1e-150 of the largest payoff difference"),
    case("rest payoffs", lambda: rest_points(VAST, tau=1e-150), r"got 1e-350: use a larger tau"),
    case("weakly", lambda: fates(move()(), weakly="no"), "weakly must be True or False, got 'no'"),
    case("mixed", lambda: fates(move()(), mixed=1), "mixed must be True or False, got 1"),
    case("below", lambda: extinct(move()(), below=0), "below must be a number in .*, got 0"),
    case("no trajectory", lambda: extinct([1]), r"trajectory must be one from dynamics\(...\)"),
    case("kl player", lambda: divergence(move()(), 2, [1, 0]), r"player must be an integer from 0 to 1, got 2"),
    case("kl shape", lambda: divergence(move()(), 0, [1, 0, 0]), "mixed must be 2 probabilities"),
    case("kl sum", lambda: divergence(move()(), 0, [1, 1]), "sum to 1"),
    case("steps one", lambda: convergence_order(COORDINATION, steps=[0.1]), "at least two different lengths"),
    case("steps none", lambda: convergence_order(COORDINATION, steps=0.1), "at least two different lengths"),
    case(
        "steps inf",
        lambda: convergence_order(COORDINATION, steps=[0.1, INF]),
        "steps must be a finite number > 0, got inf",
    ),
    case("steps beyond", lambda: convergence_order(COORDINATION, steps=[0.1, 9]), "steps must divide the horizon"),
    case(
        "order horizon", lambda: convergence_order(COORDINATION, horizon=10**400), "horizon must be a finite number > 0"
    ),
    case("order tiny", lambda: convergence_order(COORDINATION, horizon=1e308), "steps must divide the horizon"),
    *(case(f"seeds {n}", played(seeds=n), "seeds must be an integer from 1 to 100000, got") for n in BAD_SEEDS),
    case("played steps", played(steps=(1, 2)), "steps must be at most 1, got 2: the rule score"),
    case("played discount", played(discount=30.0), r"steps times discount must be at most 1, got 0.04 · 30"),
    case("played horizon", played(horizon=10**400), "horizon must be a finite number > 0, got about 10"),
    case("played points", played(points=1), "points must be an integer from 2"),
    case("at rest", lambda: convergence_order(pt.game("matching-pennies")), "start must not be a rest point"),
    case("portrait of three", lambda: portrait(THREE), "two players with two actions each, got 2 × 3 × 2"),
    case("portrait start", lambda: portrait(COORDINATION, start=TWO), "start is for dynamics"),
    case("portrait option", lambda: portrait(COORDINATION, taw=1), "got 'taw'; did you mean 'tau'"),
    case("portrait grid", lambda: portrait(COORDINATION, grid=0), "grid must be an integer from 1 to 100, got 0"),
    case("no game", lambda: dynamics([1]), "expected a game"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message):
    error = refuses(call, InvalidInput, message)
    assert isinstance(error, InvalidRule | InvalidRun | InvalidGame) or type(error) is InvalidInput


def test_a_game_too_large_to_list_is_refused():
    with pytest.raises(TooLarge, match="profiles"):
        dynamics(pt.game("ring"))


def test_a_trajectory_too_long_to_hold_is_refused(monkeypatch):
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 10**7)
    with pytest.raises(TooLarge, match="a trajectory of 1,000,000 points needs"):
        dynamics(COORDINATION, points=10**6)


def test_what_the_solver_cannot_do_is_said(monkeypatch):
    with pytest.raises(NotConverged, match="the solver gave up"):
        dynamics(NormalForm(COORDINATION.payoffs * 4e299), scores=[[1, 0], [0, 1]])
    monkeypatch.setattr(sys.modules[Flow.__module__], "_MOST_CALLS", 1000)
    with pytest.raises(NotConverged, match="change too fast for this horizon"):
        dynamics(pt.game("matching-pennies"), tau=1e-3, start=[[0.6, 0.4], [0.5, 0.5]])
