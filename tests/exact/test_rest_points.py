"""Rest points where rounding is amplified, at bifurcations and where nothing is found; times that steps divide."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import dynamics, played_order, rest_points
from potentia.analysis.discretisation import continuous, multiples
from potentia.analysis.resting import growth_rates
from potentia.analysis.score_dynamics import Flow
from potentia.errors import NotConverged
from potentia.games import NormalForm

# Uneven matching pennies: the only equilibrium makes both mix 1/3, 2/3.
UNEVEN = NormalForm([[[3, -1], [-1, 1]], [[-3, 1], [1, -1]]])
COORDINATION = NormalForm([[[2, 0], [0, 1]], [[2, 0], [0, 1]]])
FORK = NormalForm([np.eye(2)] * 2)
WINS = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -3.0], [-1.0, 2.0, 0.0]])
ROCK = NormalForm([WINS, -WINS])
maps = pytest.mark.parametrize("choice", ["gibbs", "tsallis", "burg"])


def mixed(wins):
    """Both strategies of the fully mixed equilibrium of a zero-sum game."""
    n = len(wins)
    parts = []
    for table in (wins.T, wins):  # each makes the other indifferent
        system = np.block([[table, -np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        parts.append(np.linalg.solve(system, [0.0] * n + [1.0])[:n])
    return parts


# Cold -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "options"),
    [
        (1.0, {"discount": 1e-4}),
        (1.0, {"tau": 1e-4}),
        (1e4, {"discount": 1.0}),
        (1.0, {"discount": 0.3, "order": 8}),
        (1.0, {"discount": 1e-12}),
        (1.0, {"discount": 1e-3, "order": 8}),
        (1e200, {"tau": 1e100}),
    ],
    ids=str,
)
def test_a_cold_mixed_rest_point_is_found(scale, options):
    """To first order in σ the shares are 1/3 + σ c, with σ θ = u and θ = log 2 for Gibbs."""
    (point,) = rest_points(NormalForm(UNEVEN.payoffs * scale), **options)
    sigma = options.get("tau", 1.0) * options.get("discount", 1.0) ** options.get("order", 1) / scale
    expected = [1 / 3 + sigma * np.log(2) / 6, 1 / 3 - sigma * np.log(2) / 6]
    for x, share in zip(point.strategies, expected, strict=True):
        assert x[0] == pytest.approx(share, abs=2 * sigma**2 + 1e-14)
    assert point.residual <= 1e-10
    # ν is imaginary: at order 8 it drives the point away, at order 1 nothing but the discount decides, which is lost
    # in the digits of ν where that is 1e100
    assert point.stable is (None if scale == 1e200 else options.get("order", 1) == 1)


@maps
@pytest.mark.parametrize("rate", [1e-9])
def test_cold_rock_paper_scissors_rests_at_its_equilibrium(choice, rate):
    (point,) = rest_points(ROCK, choice, discount=rate)
    for x, y in zip(point.strategies, mixed(WINS), strict=True):
        np.testing.assert_allclose(x, y, atol=2 * rate)


@maps
@pytest.mark.parametrize("rate", [1e-4, 1e-30])
def test_a_cold_coordination_game_keeps_its_unstable_point(choice, rate):
    points = rest_points(COORDINATION, choice, discount=rate)
    assert [p.stable for p in points] == [True, True, False]
    np.testing.assert_allclose([x[0] for x in points[2].strategies], 1 / 3, atol=2 * rate + 1e-15)


def test_constants_do_not_matter():
    """Payoffs plus what the others alone decide: the same rest points, though u/σ is far beyond its digits."""
    shifted = NormalForm(COORDINATION.payoffs + 1e9)
    for a, b in zip(rest_points(COORDINATION, discount=1e-6), rest_points(shifted, discount=1e-6), strict=True):
        np.testing.assert_allclose(np.concatenate(a.strategies), np.concatenate(b.strategies), atol=1e-12)


def test_no_profile_that_does_not_rest_is_reported():
    (point,) = rest_points(pt.game("matching-pennies"), tau=1e-140)
    np.testing.assert_allclose(np.concatenate(point.strategies), 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_cold_rest_points_of_random_games_are_near_equilibria(seed):
    game = NormalForm(np.random.default_rng(seed).normal(size=(2, 3, 3)))
    points = rest_points(game, discount=1e-6)
    assert len(points) % 2 == 1  # of a generic game
    assert max(p.regret for p in points) < 1e-4
    pure = pt.analysis.pure_nash(game).tolist()
    near = [[int(x.argmax()) for x in p.strategies] for p in points if min(x.max() for x in p.strategies) > 0.99]
    assert sorted(near) == sorted(pure)


def test_no_warning_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rest_points(NormalForm(COORDINATION.payoffs * 1e200), tau=1e60, discount=0.5)
        rest_points(COORDINATION, tau=1e300)


def test_finding_none_is_said(monkeypatch):
    monkeypatch.setattr(sys.modules[growth_rates.__module__], "_newton", lambda *args: None)
    with pytest.raises(NotConverged, match="at least one rest point exists; none was found"):
        rest_points(COORDINATION)


# Degenerate -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_a_pitchfork_is_one_degenerate_point(order):
    (point,) = rest_points(FORK, discount=0.5 ** (1 / order), order=order)
    np.testing.assert_allclose(np.concatenate(point.strategies), 0.5, atol=1e-6)
    assert point.stable is None
    assert abs(point.growth) <= point.tolerance < 1e-4


@pytest.mark.parametrize("off", [1e-3, 1e-6])
def test_near_a_pitchfork_all_is_told_apart(off):
    """Below it x = 1/2 ± √(3 off/2) to first order, stable, around an unstable 1/2; above it 1/2 alone."""
    first, second, third = rest_points(FORK, discount=0.5 - off)
    assert (first.stable, second.stable, third.stable) == (True, True, False)
    shares = sorted(float(p.strategies[0][0]) for p in (first, second, third))
    np.testing.assert_allclose(shares, 0.5 + np.sqrt(1.5 * off) * np.array([-1, 0, 1]), atol=2 * off)
    assert third.growth == pytest.approx(off, rel=1e-3)
    (alone,) = rest_points(FORK, discount=0.5 + off)
    assert alone.stable is True


def test_a_turn_without_decay_is_degenerate():
    """At order 2 quarter turns ν = ± i/2 grow at √(1/2) cos 45° - T = 1/2 - T in matching pennies with τ = 1."""
    pennies = pt.game("matching-pennies")
    rate = rest_points(pennies, discount=0.3, order=2)[0].growth + 0.3
    verdicts = [rest_points(pennies, discount=rate + d, order=2)[0].stable for d in (-1e-6, 0.0, 1e-6)]
    assert verdicts == [False, None, True]


# Times that steps divide ------------------------------------------------------------------------------


def test_multiples_end_nearest_to_equally_spaced_times():
    assert multiples(4.0, 9, 0.04).tolist() == [12, 25, 38, 50, 62, 75, 88, 100]
    assert multiples(1.0, 9, 0.5).tolist() == [1, 2]  # none twice, and none at 0


def test_the_continuous_solution_is_taken_at_those_times():
    flow = Flow(COORDINATION, "gibbs", 1.0, 0.5, 2)
    times = multiples(2.0, 5, 0.3) * 0.3
    np.testing.assert_allclose(times, [0.6, 0.9, 1.5, 2.1])
    for k, time in enumerate(times):
        end = dynamics(COORDINATION, discount=0.5, order=2, horizon=time, points=2).final
        for x, path in zip(end, continuous(flow, times), strict=True):
            np.testing.assert_allclose(path[k], x, atol=1e-8)


def test_steps_that_do_not_divide_the_times_leave_no_error_of_timing():
    """One player draws nothing that matters to its scores: only Euler's error is left, one of order 1."""
    alone = pt.games.Separable([[0.0, 1.0, 0.5]])
    found = played_order(alone, horizon=1.0, steps=(0.04, 0.02, 0.01, 0.005), seeds=1, points=9)
    assert 0.97 < found.order < 1.03
