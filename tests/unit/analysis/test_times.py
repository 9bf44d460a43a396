"""Evolution, hitting times, spectral gap and mixing time against formulas and brute force."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

import potentia as pt
from potentia.analysis import Chain, chain
from potentia.errors import InvalidInput, NotConverged, TooLarge
from potentia.games import NormalForm, Separable
from tests import games

PRECISE = Context(prec=60, Emin=-(10**15), Emax=10**15)


def numbered(matrix):
    """A chain on states 0, 1, 2, ..."""
    return Chain(np.arange(matrix.shape[0])[:, None], matrix)


def random_chain(seed, size=8, zeros=0.3):
    """A random irreducible chain: some transitions, and a circle through all states."""
    random = np.random.default_rng(seed)
    matrix = random.random((size, size)) * (random.random((size, size)) > zeros)
    matrix += 0.05 * np.roll(np.eye(size), 1, axis=1)
    return numbered(matrix / matrix.sum(axis=1, keepdims=True))


def two_states(a, b):
    return numbered(np.array([[1 - a, a], [b, 1 - b]]))


def lazy_ring(size, move=0.25):
    """A walk on a circle that steps either way with probability ``move``."""
    ahead = sparse.csr_array((np.ones(size), (np.arange(size), (np.arange(size) + 1) % size)), shape=(size, size))
    return sparse.csr_array((1 - 2 * move) * sparse.eye_array(size) + move * (ahead + ahead.T))


def coins(count, a, b):
    """``count`` two-state chains of which a random one moves at each step."""
    size = 2**count
    rows, bits = np.divmod(np.arange(size * count), count)
    up = rows >> bits & 1 == 0
    steps = sparse.csr_array((np.where(up, a, b) / count, (rows, rows ^ (1 << bits))), shape=(size, size))
    return sparse.csr_array(steps + sparse.diags_array(1.0 - steps.sum(axis=1)))


# Evolution --------------------------------------------------------------------------------------------


def test_evolve_is_a_power_of_the_matrix():
    game = games.normal_form()
    found = chain(game, games.RULES["p-sblll"])
    matrix = found.matrix.toarray()
    start = game.check_profile([1, 2, 0])
    place = found.place(start)
    for steps in (0, 1, 7):
        np.testing.assert_allclose(found.evolve(start, steps), np.linalg.matrix_power(matrix, steps)[place], atol=1e-14)
    several = found.evolve(start, [5, 0, 5, 2])
    assert several.shape == (4, found.size)
    for row, steps in zip(several, (5, 0, 5, 2), strict=True):
        np.testing.assert_array_equal(row, found.evolve(start, steps))
    law = np.full(found.size, 1 / found.size)
    before = law.copy()
    np.testing.assert_allclose(found.evolve(law, 3), law @ np.linalg.matrix_power(matrix, 3), atol=1e-14)
    np.testing.assert_array_equal(law, before)
    np.testing.assert_allclose(found.evolve(found.stationary(), 10), found.stationary(), atol=1e-13)


WALK = np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])
BAD = [
    ([0], -1, r"steps must be an integer of at least 0, got -1"),
    ([0], [1, -2], r"steps must be an integer of at least 0, got -2"),
    ([0], [0.5], r"steps must be an integer of at least 0, got 0\.5"),
    ([0], 1.5, r"steps must be .*got 1\.5"),
    ([0], None, r"steps must be .*got None"),
    ([0], True, r"steps must be .*got True"),
    ([9], 1, r"\[9\] is not a state of this chain"),
    ([0, 1], 1, r"start must be a profile of 1 integers or 3 probabilities, got shape \(2,\)"),
    ([0.5, 0.5], 1, r"got shape \(2,\) of float64"),
    ("abc", 1, r"start must be a profile"),
    ([[0], [0, 1]], 1, r"start must be a profile"),
    ([0.5, 0.5, 0.5], 1, r"start must sum to 1, got 1\.5"),
    ([1.5, -0.5, 0.0], 1, r"start must not be negative"),
    ([math.nan, 0.5, 0.5], 1, r"start must be finite"),
]


@pytest.mark.parametrize(("start", "steps", "message"), BAD)
def test_evolve_refuses(start, steps, message):
    with pytest.raises(InvalidInput, match=message):
        numbered(WALK).evolve(start, steps)


# Hitting times ----------------------------------------------------------------------------------------


def solved_times(matrix, hit):
    """(I - Q) h = 1 by a direct solver."""
    rest = np.flatnonzero(~hit)
    out = np.zeros(len(matrix))
    out[rest] = np.linalg.solve(np.eye(rest.size) - matrix[np.ix_(rest, rest)], np.ones(rest.size))
    return out


def test_hitting_times_against_a_direct_solver():
    for seed in range(30):
        found = random_chain(seed)
        hit = np.zeros(found.size, bool)
        hit[np.random.default_rng(seed).choice(found.size, size=1 + seed % 3, replace=False)] = True
        times = found.hitting_times(found.states[hit])
        assert (times[hit] == 0).all()
        np.testing.assert_allclose(times, solved_times(found.matrix.toarray(), hit), rtol=1e-11)


@pytest.mark.parametrize("name", [name for name in games.MEMORYLESS if name != "best-response"])
def test_hitting_times_of_games(name):
    found = chain(games.normal_form(), games.RULES[name])
    targets = np.array([[0, 1, 1], [1, 2, 0]])
    hit = np.zeros(found.size, bool)
    hit[[found.place(t) for t in targets]] = True
    np.testing.assert_allclose(found.hitting_times(targets), solved_times(found.matrix.toarray(), hit), rtol=1e-10)
    one = found.hitting_times([0, 1, 1])
    np.testing.assert_array_equal(one, found.hitting_times([[0, 1, 1]]))
    assert (one >= found.hitting_times(targets)).all()


@pytest.mark.parametrize("p", [0.5, 0.3, 0.6, 0.999])
def test_gamblers_ruin(p):
    """Up with probability p, down otherwise, until nothing or n is reached (Feller, vol. 1, XIV.3)."""
    n = 12
    matrix = np.diag(np.full(n, p), 1) + np.diag(np.full(n, 1 - p), -1)
    matrix[0], matrix[n] = np.eye(n + 1)[[0, n]]
    i = np.arange(n + 1)
    if p == 0.5:
        expected = i * (n - i)
    else:
        odds = (1 - p) / p
        expected = (i - n * (1 - odds**i) / (1 - odds**n)) / (1 - 2 * p)
    times = numbered(matrix).hitting_times([[0], [n]])
    np.testing.assert_allclose(times, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("exponent", [5, 50, 120, 149])
def test_hitting_times_up_to_the_range_of_a_double(exponent):
    """Two steps in a row of probability ε: 1/ε² + 1/ε."""
    eps = 10.0**-exponent
    found = numbered(np.array([[1 - eps, eps, 0], [1 - eps, 0, eps], [0, 0, 1]]))
    first = 1 / eps / eps + 1 / eps
    np.testing.assert_allclose(found.hitting_times([2]), [first, first - 1 / eps, 0.0], rtol=1e-11)


@pytest.mark.parametrize("tau", [1.0, 0.05, 0.0016, 0.00145])
def test_hitting_times_at_low_temperatures(tau):
    """From the worse convention to the better one under LLL, by first-step analysis in sixty digits.

    At the lowest temperature a step of e^-690 is waited for.
    """
    game = NormalForm([[[1.0, 0.0], [0.0, 2.0]]] * 2)
    with localcontext(PRECISE):
        x, y = (-1 / Decimal(tau)).exp(), (-2 / Decimal(tau)).exp()
        leave = x / (1 + x)  # (0, 0): whoever is asked deviates
        back, on = Decimal("0.5") / (1 + x), Decimal("0.5") / (1 + y)
        first = ((back + on) / leave + 1) / on
        middle = first - 1 / leave
        expected = [float(first), float(middle), float(middle), 0.0]
    times = chain(game, pt.rule("lll", tau=tau)).hitting_times([1, 1])
    np.testing.assert_allclose(times, expected, rtol=1e-11)
    assert times[0] > math.exp(1 / tau)


def test_infinite_where_the_target_may_be_missed():
    matrix = np.zeros((6, 6))
    matrix[0, 5] = 1.0  # the target itself leads into the trap, which does not matter
    matrix[1, [0, 2]] = 0.5
    matrix[2, 2] = matrix[5, 5] = 1.0
    matrix[3, [0, 3]] = 0.5
    matrix[4, [3, 4]] = 0.25, 0.75
    times = numbered(matrix).hitting_times([0])
    np.testing.assert_allclose(times, [0.0, math.inf, math.inf, 2.0, 6.0, math.inf], rtol=1e-14)


def test_rare_is_not_never():
    """A trap behind a transition that underflows is still a trap; a way out that underflows still a way."""
    game = NormalForm([[0.0, 1.0, 0.0]], moves=[[[1], [2], [1]]])
    times = chain(game, pt.rule("lll", tau=1 / 800)).hitting_times([1])
    np.testing.assert_allclose(times, [1.0, 0.0, 1.0], rtol=1e-12)
    away = chain(game, pt.rule("lll", tau=1 / 600)).hitting_times([2])
    np.testing.assert_allclose(away[1], math.exp(600), rtol=1e-10)
    trap = NormalForm([[0.0, 0.0, -1.0, -1.0]], moves=[[[1, 2], [0], [3], [2]]])
    cold = chain(trap, pt.rule("lll", tau=1 / 800))
    assert cold.matrix[0, 2] == 0.0
    assert cold.hitting_times([1]).tolist() == [math.inf, 0.0, math.inf, math.inf]


def test_hitting_times_of_large_chains():
    """2,048 states by the iterative solver, against a sparse direct one."""
    found = chain(pt.game("ring", players=11), pt.rule("lll", tau=1.0))
    hit = np.zeros(found.size, bool)
    hit[[0, -1]] = True
    rest = np.flatnonzero(~hit)
    inner = found.matrix[rest][:, rest]
    expected = spsolve(sparse.csc_array(sparse.eye_array(rest.size) - inner), np.ones(rest.size))
    np.testing.assert_allclose(found.hitting_times(found.states[hit])[rest], expected, rtol=1e-7)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([], "at least one profile"),
        (np.zeros((0, 1), int), "at least one profile"),
        ([[[0]]], "at least one profile"),
        ([[3]], r"\[3\] is not a state"),
        ([[0, 1]], r"\[0, 1\] is not a state"),
        ([[0], [0, 1]], "targets"),
    ],
)
def test_hitting_times_refuse(targets, message):
    with pytest.raises(InvalidInput, match=message):
        numbered(WALK).hitting_times(targets)


# Spectral gap -----------------------------------------------------------------------------------------


def test_gaps_with_a_formula():
    np.testing.assert_allclose(two_states(0.1, 0.25).spectral_gap(), 0.35, rtol=1e-12)
    np.testing.assert_allclose(two_states(0.9, 0.8).spectral_gap(), 0.3, rtol=1e-12)  # λ = -0.7
    assert two_states(1.0, 1.0).spectral_gap() < 1e-12  # periodic
    assert numbered(np.eye(3)).spectral_gap() == 0.0
    assert numbered(np.ones((1, 1))).spectral_gap() == 1.0
    np.testing.assert_allclose(numbered(np.full((4, 4), 0.25)).spectral_gap(), 1.0, atol=1e-12)
    for size in (5, 40):
        expected = 0.5 - 0.5 * math.cos(2 * math.pi / size)
        np.testing.assert_allclose(numbered(lazy_ring(size)).spectral_gap(), expected, rtol=1e-9)
    circle = 0.5 * np.eye(6) + 0.5 * np.roll(np.eye(6), 1, axis=1)  # complex eigenvalues
    np.testing.assert_allclose(numbered(circle).spectral_gap(), 1 - math.cos(math.pi / 6), rtol=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.1), (0.97, 0.96)])
def test_the_gap_of_a_large_chain(a, b):
    """4,096 states: eigenvalues 1 - k(a + b)/n, the second largest in modulus from either end."""
    expected = min(a + b, 12 * (2 - a - b)) / 12
    np.testing.assert_allclose(numbered(coins(12, a, b)).spectral_gap(), expected, rtol=1e-8)


def test_the_gap_of_lll_on_independent_players():
    """Each step redraws one of n coordinates: 1/n, whatever the payoffs and the temperature."""
    for players in (5, 12):
        game = Separable(np.random.default_rng(4).normal(size=(players, 2)))
        for tau in (0.1, 1.0):
            gap = chain(game, pt.rule("lll", tau=tau)).spectral_gap()
            np.testing.assert_allclose(gap, 1 / players, rtol=1e-8)


def test_a_large_chain_that_falls_apart_has_no_gap():
    """2,200 states in 44 parts: the eigenvalue 1 is there 44 times."""
    assert numbered(sparse.block_diag([lazy_ring(50)] * 44)).spectral_gap() < 1e-12


# Mixing -----------------------------------------------------------------------------------------------


def counted_mixing_time(matrix, law, distance):
    power, steps = np.eye(len(matrix)), 0
    while 0.5 * np.abs(power - law).sum(axis=1).max() > distance:
        power, steps = power @ matrix, steps + 1
    return steps


@pytest.mark.parametrize("distance", [0.9, 0.25, 0.01])
def test_mixing_times_against_powers(distance):
    chains = [random_chain(seed) for seed in range(5)]
    chains += [chain(games.normal_form(), games.RULES[name]) for name in ("lll", "p-sblll")]
    chains += [
        two_states(0.02, 0.05),
        numbered(lazy_ring(9)),
        numbered(np.full((4, 4), 0.25)),
        numbered(np.ones((1, 1))),
    ]
    counts = [c.mixing_time(distance) for c in chains]
    expected = [counted_mixing_time(c.matrix.toarray(), c.stationary(), distance) for c in chains]
    assert counts == expected
    assert len(set(counts)) > 1


def test_the_usual_distance_is_a_quarter():
    found = random_chain(1)
    assert found.mixing_time() == found.mixing_time(0.25) != found.mixing_time(0.01)


@pytest.mark.parametrize("rate", [1e-3, 1e-9, 1e-15])
def test_slow_mixing(rate):
    """Two states: the distance from the worse start is 2/3 (1 - 3 rate)^n."""
    expected = math.log(0.25 / (2 / 3)) / math.log1p(-3 * rate)
    steps = two_states(rate, 2 * rate).mixing_time()
    assert expected <= steps + 1e-9 * expected
    assert steps < expected * (1 + 1e-9) + 1


def test_what_does_not_mix():
    for found in (two_states(1.0, 1.0), two_states(1e-25, 1e-25)):
        with pytest.raises(NotConverged, match="does not mix: it is periodic, or slower"):
            found.mixing_time()
    with pytest.raises(TooLarge, match=r"up to 2,000 states; this chain has 2,001: use spectral_gap\(\) or evolve"):
        numbered(lazy_ring(2001)).mixing_time()
    for wrong in (0.0, 1.0, -0.1, math.nan, "a", None, True):
        with pytest.raises(InvalidInput, match=r"distance must be a number in \(0, 1\), got"):
            two_states(0.5, 0.5).mixing_time(wrong)
