"""Score dynamics against closed forms, conservation laws, theorems and a wrong scheme that must fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import potentia as pt
from potentia.analysis import (
    convergence_order,
    direction_field,
    divergence,
    dynamics,
    expected_utility,
    extinct,
    fates,
    is_nash,
    portrait,
    rest_points,
)
from potentia.analysis.portraits import nash_shares
from potentia.analysis.resting import payoff_response
from potentia.analysis.score_dynamics import Flow
from potentia.games import NormalForm, Separable
from potentia.rules import Burg, Gibbs, Tsallis
from tests import games

MAPS = [Gibbs(), Tsallis(0.5), Burg()]
maps = pytest.mark.parametrize("choice", MAPS, ids=lambda p: p.kind)
# D of player 0 pays as much as U against L and less against R, which L strictly dominates.
WEAK = NormalForm([[[1, 1], [1, 0]], [[1, 0], [1, 0]]])
COORDINATION = NormalForm([[[2, 0], [0, 1]], [[2, 0], [0, 1]]])
THREE = games.normal_form()


def random_start(game, seed=0):
    random = np.random.default_rng(seed)
    return [random.dirichlet(np.full(size, 2.0)) * 0.9 + 0.1 / size for size in game.num_actions]


# First order ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [1.0, 0.4])
def test_gibbs_without_discount_is_the_replicator_equation(tau):
    """τ x' = x (u - <x, u>), by finite differences of the solution."""
    found = dynamics(THREE, tau=tau, start=random_start(THREE), horizon=2.0, points=2001, rtol=1e-12, atol=1e-14)
    step = found.times[1]
    flow = Flow(THREE, "gibbs", tau, 0.0, 1)
    for k in range(1, 2000, 97):
        now = [x[k] for x in found.strategies]
        for x, u, player in zip(now, flow.utilities(now), range(3), strict=True):
            change = (found.strategies[player][k + 1] - found.strategies[player][k - 1]) / (2 * step)
            np.testing.assert_allclose(change, x * (u - x @ u) / tau, atol=5e-6)


def test_expected_payoffs_are_those_of_the_pure_definition():
    flow, x = Flow(THREE, "gibbs", 1.0, 0.0, 1), random_start(THREE)
    for player, values in enumerate(flow.utilities(x)):
        for action, value in enumerate(values):
            mixed = list(x)
            mixed[player] = np.eye(len(values))[action]
            assert value == pytest.approx(expected_utility(THREE, mixed, player), abs=1e-14)
    assert flow.regret(x) == pytest.approx(is_nash(THREE, x).gap, abs=1e-14)


def test_log_ratio_to_a_dominated_strategy_grows_like_time_times_the_gap():
    game = Separable([[0.0, 0.7], [0.0, 0.25, 1.0]])
    found = dynamics(game, start=[[0.6, 0.4], [0.2, 0.5, 0.3]], horizon=30.0)
    for player, (high, low), gap in ((0, (1, 0), 0.7), (1, (2, 1), 0.75), (1, (1, 0), 0.25)):
        ratio = np.log(found.strategies[player][:, high] / found.strategies[player][:, low])
        np.testing.assert_allclose(ratio - ratio[0], gap * found.times, atol=1e-8)


def test_discounted_scores_of_constant_payoffs():
    """p(t) = p(0) e^{-Tt} + u (1 - e^{-Tt})/T (Eq. 4)."""
    game, rate = Separable([[0.5, -2.0], [3.0, 1.0, 0.0]]), 0.3
    first = [np.array([1.0, -1.0]), np.array([0.0, 0.5, 2.0])]
    found = dynamics(game, discount=rate, scores=first, horizon=20.0)
    decay = np.exp(-rate * found.times)[:, None]
    for scores, p, u in zip(found.scores, first, ([0.5, -2.0], [3.0, 1.0, 0.0]), strict=True):
        np.testing.assert_allclose(scores, p * decay + np.array(u) * (1 - decay) / rate, atol=1e-8)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_nth_order_scores_of_constant_payoffs(order):
    """p = u t^n/n!, and with a discount u (1 - e^{-Tt} Σ_{k<n} (Tt)^k/k!)/T^n."""
    game, u = Separable([[0.5, -2.0], [1.0, 0.0]]), np.array([0.5, -2.0])
    found = dynamics(game, order=order, horizon=4.0)
    np.testing.assert_allclose(found.scores[0], found.times[:, None] ** order / math.factorial(order) * u, atol=1e-8)
    rate = 0.8
    found = dynamics(game, order=order, discount=rate, horizon=4.0)
    part = sum((rate * found.times) ** k / math.factorial(k) for k in range(order))
    expected = (1 - np.exp(-rate * found.times) * part)[:, None] / rate**order * u
    np.testing.assert_allclose(found.scores[0], expected, atol=1e-8)


def test_matching_pennies_goes_round_for_ever():
    """Σ KL(equilibrium ‖ x) is conserved at order 1 without discount, and falls with one."""
    pennies, start = pt.game("matching-pennies"), [[0.8, 0.2], [0.4, 0.6]]
    found = dynamics(pennies, start=start, horizon=60.0, rtol=1e-11)
    kept = divergence(found, 0, [0.5, 0.5]) + divergence(found, 1, [0.5, 0.5])
    np.testing.assert_allclose(kept, kept[0], rtol=1e-7)
    assert found.regrets.min() > 0.1
    damped = dynamics(pennies, start=start, discount=0.2, horizon=60.0)
    lost = divergence(damped, 0, [0.5, 0.5]) + divergence(damped, 1, [0.5, 0.5])
    assert lost[-1] < 1e-6 * lost[0]
    second = dynamics(pennies, start=start, order=2, horizon=10.0)
    left = divergence(second, 0, [0.5, 0.5]) + divergence(second, 1, [0.5, 0.5])
    assert np.ptp(left) > 0.1  # the law is one of order 1


@maps
def test_the_potential_grows_in_a_potential_game(choice):
    game = pt.game("random-potential", players=3, actions=3, seed=4)
    phi = np.array([game.potential(p) for p in np.ndindex(game.num_actions)]).reshape(game.num_actions)
    found = dynamics(game, choice=choice, start=random_start(game), horizon=40.0)
    values = np.einsum("abc,ta,tb,tc->t", phi, *found.strategies)
    assert (np.diff(values) > -1e-9).all()
    assert values[-1] > values[0] + 0.1
    assert found.nash_distance < found.regrets[0]


# Dominance --------------------------------------------------------------------------------------------


@maps
@pytest.mark.parametrize("order", [1, 2, 3])
def test_dominated_strategies_die(choice, order):
    """In the prisoner's dilemma, at the rate of the choice map: the score gap grows at least like t^n/n!."""
    game = pt.game("prisoners-dilemma")
    found = dynamics(game, choice=choice, order=order, horizon=200.0, points=101)
    rows = fates(found, below=0.01)
    assert [(row.dominated.player, row.dominated.strict, row.died) for row in rows] == [
        (0, True, True),
        (1, True, True),
    ]
    for row in rows:
        share = found.strategies[row.dominated.player][:, row.dominated.action]
        assert (np.diff(share[share > 0]) < 0).all()
        lag = row.dominated.margin * found.times[1:] ** order / math.factorial(order)
        bound = choice.choose(np.stack([lag, np.zeros_like(lag)], axis=1))[:, 1]
        assert (share[1:] <= bound * (1 + 1e-6) + 1e-300).all()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_mixed_dominated_strategy_dies_by_its_divergence(order):
    """Half of actions 0 and 1 of player 0 pays 0.75 less than action 2: KL - KL(action 2) = KL(0) + 0.75 t^n/n!."""
    game = NormalForm([[[3, 0], [0, 3], [2.25, 2.25]], [[1, 0], [0, 1], [0.5, 0.5]]])
    assert not pt.analysis.dominated(game)  # no pure action is
    found = dynamics(game, order=order, start=[[0.3, 0.4, 0.3], [0.6, 0.4]], horizon=12.0)
    mixed, over = [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]
    gap = divergence(found, 0, mixed) - divergence(found, 0, over)
    np.testing.assert_allclose(gap - gap[0], 0.75 * found.times**order / math.factorial(order), rtol=1e-6, atol=1e-6)
    assert divergence(found, 0, mixed)[-1] > divergence(found, 0, mixed)[0] + 5


def test_a_weakly_dominated_strategy_survives_at_order_one_with_exactly_a_third():
    found = dynamics(WEAK, horizon=40.0)
    np.testing.assert_allclose(found.strategies[1][:, 1], 1 / (1 + np.exp(found.times)), atol=1e-9)
    assert found.final[0][1] == pytest.approx(1 / 3, abs=1e-9)
    assert extinct(found) == [[], [1]]
    kinds = {(row.dominated.player, row.dominated.action): (row.dominated.strict, row.died) for row in fates(found)}
    assert kinds == {(0, 1): (False, False), (1, 1): (True, True)}
    assert [row.dominated.player for row in fates(found, weakly=False)] == [1]
    warmer = dynamics(WEAK, tau=2.0, horizon=80.0)  # time runs half as fast, nothing else changes
    assert warmer.final[0][1] == pytest.approx(1 / 3, abs=1e-9)


@pytest.mark.parametrize("order", [2, 3])
def test_a_weakly_dominated_strategy_dies_at_higher_orders(order):
    found = dynamics(WEAK, order=order, horizon=40.0)
    assert extinct(found) == [[1], [1]]


def test_whether_it_survives_depends_on_the_choice_map():
    """x_R falls like t^-2 under Tsallis(0.5), which has an integral, and like 1/t under Burg, which has none."""
    ends = (1e3, 1e4, 1e5)
    tsallis = [dynamics(WEAK, choice=Tsallis(0.5), horizon=t, points=3).final[0][1] for t in ends]
    assert max(tsallis) - min(tsallis) < 2e-3
    assert min(tsallis) > 0.2
    gaps = [np.subtract(*dynamics(WEAK, choice="burg", horizon=t, points=3).scores[0][-1]) for t in ends]
    np.testing.assert_allclose(np.diff(gaps), math.log(10), rtol=0.01)


# Rest points ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_rest_points_of_a_coordination_game_solve_the_logit_equation(order):
    points = rest_points(COORDINATION, tau=0.5, discount=0.6, order=order)
    scale = 0.5 * 0.6**order
    assert len(points) == 3
    for point in points:
        for x, other in (point.strategies, point.strategies[::-1]):
            odds = math.exp((2 * other[0] - other[1]) / scale)
            assert x[0] == pytest.approx(odds / (1 + odds), abs=1e-10)
        assert point.regret == pytest.approx(is_nash(COORDINATION, point.strategies).gap, abs=1e-12)
    assert [p.stable for p in points] == [True, True, False]


@maps
def test_the_number_of_rest_points_changes_with_the_discount(choice):
    """Counted also as changes of sign of f(f(x)) - x, f the answer of either player to the other's share."""
    counts = []
    for rate in (0.02, 0.1, 0.3, 0.4, 2.0):

        def answer(share, rate=rate):
            return choice.choose(np.stack([2 * share, 1 - share], axis=1) / rate)[:, 0]

        grid = np.linspace(0, 1, 20_001)
        signs = np.sign(answer(answer(grid)) - grid)
        counts.append(int((signs[:-1] != signs[1:]).sum()))
        assert len(rest_points(COORDINATION, choice, discount=rate)) == counts[-1]
    assert counts[0] == 3
    assert counts[-1] == 1
    hot = rest_points(COORDINATION, choice, discount=1000.0)[0]
    np.testing.assert_allclose(np.concatenate(hot.strategies), 0.5, atol=1e-3)


@maps
def test_the_dynamics_end_in_a_stable_rest_point(choice):
    points = rest_points(COORDINATION, choice, discount=0.05)
    for start in ([[0.9, 0.1], [0.8, 0.2]], [[0.1, 0.9], [0.1, 0.9]]):
        end = dynamics(COORDINATION, choice=choice, discount=0.05, start=start, horizon=600.0).final
        near = [p for p in points if all(np.abs(a - b).max() < 1e-6 for a, b in zip(p.strategies, end, strict=True))]
        assert len(near) == 1
        assert near[0].stable
    assert any(not p.stable for p in points)


@maps
@pytest.mark.parametrize("order", [1, 2, 3])
def test_eigenvalues_are_those_of_the_flow(choice, order):
    """The Jacobian of the right-hand side by central differences, three players."""
    flow = Flow(THREE, choice, 0.7, 0.5, order)
    point = rest_points(THREE, choice, 0.7, 0.5, order, starts=4)[0]
    u = np.concatenate(flow.utilities(point.strategies))
    rest = np.stack([u / 0.5**k for k in range(1, order + 1)])
    np.testing.assert_allclose(flow.derivative(rest), 0.0, atol=1e-9)
    size, step = rest.size, 1e-5
    jacobian = np.empty((size, size))
    for k in range(size):
        e = step * np.eye(size)[k].reshape(rest.shape)
        jacobian[:, k] = (flow.derivative(rest + e) - flow.derivative(rest - e)).ravel() / (2 * step)
    values = np.linalg.eigvals(jacobian)
    assert values.real.max() == pytest.approx(point.growth, abs=0.02)  # defective: roots of 0 are sensitive
    product, total = np.prod(values - 1.0), np.prod(point.eigenvalues - 1.0)  # det(J - 1), which is not
    assert product == pytest.approx(total, rel=1e-6)


@maps
def test_the_response_of_payoffs_is_a_derivative(choice):
    flow = Flow(THREE, choice, 0.7, 0.5, 1)
    scores = np.random.default_rng(1).normal(size=7)
    found = payoff_response(flow, flow.choose(scores))
    for k in range(7):
        e = 1e-6 * np.eye(7)[k]
        high, low = (np.concatenate(flow.utilities(flow.choose(scores + s * e))) for s in (1, -1))
        np.testing.assert_allclose(found[:, k], (high - low) / 2e-6, atol=1e-8)


def test_cold_rest_points_are_near_the_three_equilibria():
    points = rest_points(COORDINATION, discount=0.02)
    firsts = sorted(round(float(p.strategies[0][0]), 2) for p in points)
    assert firsts == [0.0, 0.33, 1.0]
    again = rest_points(COORDINATION, discount=0.02)
    for a, b in zip(points, again, strict=True):
        np.testing.assert_array_equal(np.concatenate(a.strategies), np.concatenate(b.strategies))


# Euler ------------------------------------------------------------------------------------------------


@maps
@pytest.mark.parametrize("options", [{}, {"discount": 0.5}, {"order": 2, "discount": 0.5}, {"lagged": True}], ids=str)
def test_euler_is_of_order_one(choice, options):
    found = convergence_order(
        THREE, choice, start=random_start(THREE), horizon=2.0, steps=(0.04, 0.02, 0.01), **options
    )
    assert 0.9 < found.order < 1.1
    assert (np.diff(found.errors) < 0).all()


@maps
def test_a_scheme_that_forgets_the_discount_does_not_converge(choice):
    start, errors = random_start(THREE), []
    exact = dynamics(THREE, choice=choice, discount=0.5, start=start, horizon=2.0, points=2)
    for step in (0.04, 0.02, 0.01):
        wrong = dynamics(THREE, choice=choice, start=start, horizon=2.0, points=2, method="euler", step=step)
        errors.append(max(np.abs(a - b).max() for a, b in zip(wrong.final, exact.final, strict=True)))
    assert min(errors) > 0.01
    assert abs(math.log(errors[0] / errors[-1]) / math.log(4)) < 0.3


def test_euler_by_hand():
    game, start = COORDINATION, [np.array([0.1, 0.0]), np.array([0.0, 0.3])]
    own = np.array([[2.0, 0.0], [0.0, 1.0]])

    def chosen(p):
        return np.exp(p) / np.exp(p).sum()

    for lagged in (False, True):
        found = dynamics(
            game, scores=start, discount=0.2, order=2, horizon=1.0, method="euler", step=0.25, lagged=lagged
        )
        first, last = [np.zeros(2), np.zeros(2)], start
        played = [chosen(p) for p in last]
        for k in range(5):
            for i in range(2):
                np.testing.assert_allclose(found.scores[i][k], last[i], atol=1e-15)
                np.testing.assert_allclose(found.strategies[i][k], played[i], atol=1e-15)
            then = [first[i] + 0.25 * (own @ played[1 - i] - 0.2 * first[i]) for i in range(2)]
            after = [last[i] + 0.25 * (first[i] - 0.2 * last[i]) for i in range(2)]
            played = [chosen(p) for p in (last if lagged else after)]
            first, last = then, after
    assert found.times.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    few = dynamics(game, horizon=10.0, method="euler", step=0.01, points=11)
    np.testing.assert_allclose(few.times, np.arange(11.0))


def test_another_solver_finds_the_same():
    """LSODA on the equations written out for two players."""
    a, b = COORDINATION.payoffs

    def right(t, y):
        x, z = (np.exp(p - p.max()) / np.exp(p - p.max()).sum() for p in (y[:2], y[2:]))
        return np.concatenate([a @ z - 0.1 * y[:2], x @ b - 0.1 * y[2:]])

    first = [[0.3, 0.0], [0.0, 0.4]]
    other = solve_ivp(right, (0, 10), np.concatenate(first), method="LSODA", rtol=1e-11, atol=1e-12)
    found = dynamics(COORDINATION, scores=first, discount=0.1, horizon=10.0)
    np.testing.assert_allclose(np.concatenate([s[-1] for s in found.scores]), other.y[:, -1], rtol=1e-7)


# Portraits --------------------------------------------------------------------------------------------


@maps
def test_the_field_is_the_velocity_of_trajectories(choice):
    field = direction_field(COORDINATION, choice, 0.8, 0.3, grid=3)
    for place in np.ndindex(3, 3):
        x, y = field.x[place], field.y[place]
        start = [[x, 1 - x], [y, 1 - y]]
        found = dynamics(COORDINATION, choice=choice, tau=0.8, discount=0.3, start=start, horizon=1e-4, points=2)
        for moved, was, speed in ((found.final[0][0], x, field.dx), (found.final[1][0], y, field.dy)):
            assert (moved - was) / 1e-4 == pytest.approx(speed[place], abs=2e-4)


def test_a_portrait_has_the_equilibria():
    whole = portrait(COORDINATION, grid=2, horizon=5.0, points=11)
    np.testing.assert_allclose(whole.equilibria, [[1, 1], [0, 0], [1 / 3, 1 / 3]])
    assert len(whole.trajectories) == 4
    assert whole.field is not None
    assert portrait(COORDINATION, grid=1, order=2, horizon=1.0).field is None
    np.testing.assert_allclose(nash_shares(pt.game("matching-pennies")), [[0.5, 0.5]])
    np.testing.assert_allclose(nash_shares(pt.game("prisoners-dilemma")), [[0, 0]])
    lopsided = NormalForm([[[3, 0], [0, 1]], [[0, 2], [1, 0]]])  # no pure equilibrium, two different shares
    assert is_nash(lopsided, [[m, 1 - m] for m in nash_shares(lopsided)[0]])
