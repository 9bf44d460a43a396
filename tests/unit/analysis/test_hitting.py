"""The probability of a hit within T steps, and quantiles of the time, against powers, formulas and runs."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse, stats

import potentia as pt
from potentia.analysis import chain
from potentia.analysis.chains import hitting
from potentia.errors import InvalidInput, NotConverged, TooLarge
from potentia.games import NormalForm
from tests import games
from tests.unit.analysis.test_times import PRECISE, WALK, lazy_ring, numbered, random_chain, two_states

ALPHA = 1e-6


def by_powers(matrix, hit, steps):
    """P(hit within T) from each state: the target made absorbing, and powers of it."""
    absorbing = np.where(hit[:, None], np.eye(len(matrix)), matrix)
    return np.linalg.matrix_power(absorbing, steps)[:, hit].sum(axis=1)


def ruin(size=6):
    """A fair walk between nothing and ``size``, both of which it cannot leave."""
    matrix = np.diag(np.full(size, 0.5), 1) + np.diag(np.full(size, 0.5), -1)
    matrix[0], matrix[size] = np.eye(size + 1)[[0, size]]
    return numbered(matrix)


@pytest.fixture
def squared(monkeypatch):
    """No step by itself: the matrix is squared at once."""
    monkeypatch.setattr(hitting._Race, "patience", lambda race: 0)


def examples():
    for seed in range(6):
        found = random_chain(seed)
        yield found, found.states[: 1 + seed % 3]
    yield chain(games.normal_form(), games.RULES["p-sblll"]), [[0, 1, 1], [1, 2, 0]]
    yield ruin(), [[6]]


STEPS = (0, 1, 2, 7, 64, 65, 1000, 12_345)


def check_against_powers():
    for found, targets in examples():
        hit = np.zeros(found.size, bool)
        hit[[found.place(t) for t in targets]] = True
        expected = np.array([by_powers(found.matrix.toarray(), hit, steps) for steps in STEPS])
        got = found.hit_probability(targets, STEPS)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
        assert (got[:, hit] == 1.0).all()
        assert ((got >= 0.0) & (got <= 1.0)).all()
        np.testing.assert_allclose(found.hit_probability(targets, 7), expected[3], rtol=0, atol=1e-12)


def test_against_powers_step_by_step():
    check_against_powers()


def test_against_powers_by_squares(squared):
    check_against_powers()


def test_from_a_start():
    found = chain(games.normal_form(), games.RULES["lll"])
    targets, start = [[1, 2, 0]], [0, 0, 1]
    everywhere = found.hit_probability(targets, [3, 500])
    one = found.hit_probability(targets, 3, start=start)
    assert isinstance(one, float)
    np.testing.assert_allclose(one, everywhere[0, found.place(start)], rtol=1e-14)
    law = np.random.default_rng(0).dirichlet(np.ones(found.size))
    np.testing.assert_allclose(found.hit_probability(targets, [3, 500], start=law), everywhere @ law, rtol=1e-14)
    assert found.hit_probability(targets, 3).shape == (found.size,)
    assert everywhere.shape == (2, found.size)


@pytest.mark.parametrize(("p", "steps"), [(0.3, 5), (1e-12, 10**12), (1e-12, 10**15), (3e-17, 10**15), (1e-290, 7)])
def test_waiting_for_one_thing(p, steps):
    """Geometric: 1 - (1 - p)^T, where 1 - p itself has lost four digits of p, or all of them."""
    expected = -math.expm1(steps * math.log1p(-p))
    np.testing.assert_allclose(two_states(p, 0.5).hit_probability([1], steps)[0], expected, rtol=1e-13)


@pytest.mark.parametrize(("tau", "steps"), [(0.1, 10_000), (0.03, 3 * 10**14), (0.025, 10**17)])
def test_cold_games(tau, steps):
    """From the worse convention to the better one under LLL: powers of the three states in sixty digits."""
    game = NormalForm([[[1.0, 0.0], [0.0, 2.0]]] * 2)
    with localcontext(PRECISE):
        x, y = (-1 / Decimal(tau)).exp(), (-2 / Decimal(tau)).exp()
        leave, back, on = x / (1 + x), Decimal("0.5") / (1 + x), Decimal("0.5") / (1 + y)
        power = np.array([[1 - leave, leave, 0], [back, 1 - back - on, on], [0, 0, 1]], object)
        total = np.array([0, 0, 1], object)
        for k in range(steps.bit_length()):
            total = power @ total if steps >> k & 1 else total
            power = power @ power
        expected = [float(total[0]), float(total[1]), float(total[1]), 1.0]
    np.testing.assert_allclose(
        chain(game, pt.rule("lll", tau=tau)).hit_probability([1, 1], steps), expected, rtol=1e-12
    )
    assert 1e-4 < expected[0] < 1 - 1e-4


def test_too_rare_to_be_seen():
    """A transition of e^-800 underflows. Within 2^62 steps that is nothing; a median cannot be told."""
    found = chain(NormalForm([[0.0, 1.0]]), pt.rule("lll", tau=1 / 800))
    assert found.matrix[1, 0] == 0.0
    assert found.hit_probability([0], 2**62 - 1).tolist() == [1.0, 0.0]
    with pytest.raises(NotConverged, match=r"differences of payoffs over τ are too large"):
        found.hitting_quantiles([0])
    assert found.hitting_quantiles([1], start=[0]) == 1


def test_large_chains(monkeypatch):
    """2,100 states, step by step: soon settled, or refused with the numbers."""
    i, half = np.arange(2100), np.full(2100, 0.5)
    soon = numbered(
        sparse.csr_array((np.tile(half, 2), (np.tile(i, 2), [*np.maximum(i - 1, 0), *(0 * i)])), (2100, 2100))
    )
    np.testing.assert_allclose(soon.hit_probability([0], 3)[[0, 2, 5, 2000]], [1.0, 1.0, 0.875, 0.875], rtol=1e-14)
    assert soon.hit_probability([0], 10**15, start=[2099]) == 1.0
    assert soon.hitting_quantiles([0], 0.9)[[0, 1, 3, 5, 2000]].tolist() == [0, 1, 3, 4, 4]
    monkeypatch.setattr(hitting, "_MOST_PRODUCTS", 1e6)
    slow = numbered(lazy_ring(2100))
    for ask in (lambda: slow.hit_probability([0], 10**7), lambda: slow.hitting_quantiles([0])):
        with pytest.raises(TooLarge, match=r"after [\d,]+ steps of 6,29\d transitions .* is still open; .* here 2,099"):
            ask()


def test_the_expected_time_is_a_sum_over_steps():
    """E[time] = Σ_T P(not hit within T), over so many that what is left is below rounding."""
    for found, targets in list(examples())[:7]:
        missed = 1.0 - found.hit_probability(targets, np.arange(3000))
        assert missed[-1].max() < 1e-14
        np.testing.assert_allclose(missed.sum(axis=0), found.hitting_times(targets), rtol=1e-10)


def test_unreachable():
    matrix = np.zeros((4, 4))
    matrix[0, 3] = matrix[2, 2] = matrix[3, 3] = 1.0  # the target leads into a trap, which does not matter
    matrix[1, [0, 2]] = 0.25, 0.75
    found = numbered(matrix)
    assert found.hit_probability([0], [0, 1, 10**9]).tolist() == [[1, 0, 0, 0], [1, 0.25, 0, 0], [1, 0.25, 0, 0]]
    assert found.hitting_quantiles([0], [0.2, 0.3]).tolist() == [[0, 1, math.inf, math.inf], [0] + [math.inf] * 3]
    assert found.hitting_quantiles([0], 0.2, start=[1]) == 1
    assert found.hitting_quantiles([0], 0.2, start=[2]) == math.inf
    everywhere = found.hitting_quantiles(found.states)
    assert everywhere.tolist() == [0] * 4
    assert everywhere.dtype == np.int64
    assert found.hit_probability(found.states, 0).tolist() == [1.0] * 4
    assert numbered(np.eye(2)).hit_probability([0], 5).tolist() == [1.0, 0.0]


# Quantiles --------------------------------------------------------------------------------------------


LEVELS = (1e-9, 0.1, 0.5, 0.9, 1 - 1e-9)


def check_least():
    for found, targets in list(examples())[:7]:
        times = found.hitting_quantiles(targets, LEVELS)
        assert times.dtype == np.int64
        assert times.shape == (len(LEVELS), found.size)
        missed = 1.0 - found.hit_probability(targets, range(times.max() + 1))
        for q, row in zip(LEVELS, times, strict=True):
            np.testing.assert_array_equal(row, np.argmax(missed <= 1.0 - q, axis=0))
        assert (times.max(axis=1) > 0).all()


def test_the_least_number_step_by_step():
    check_least()


def test_the_least_number_by_squares(squared):
    check_least()


def test_the_least_number_from_a_law(squared):
    found, targets = next(iter(examples()))
    law = np.random.default_rng(1).dirichlet(np.ones(found.size))
    for q in LEVELS:
        least = found.hitting_quantiles(targets, q, start=law)
        assert isinstance(least, int)
        assert found.hit_probability(targets, least, start=law) >= q
        assert least == 0 or found.hit_probability(targets, least - 1, start=law) < q
    assert found.hitting_quantiles(targets, LEVELS[::-1], start=law).tolist() == sorted(
        found.hitting_quantiles(targets, LEVELS, start=law), reverse=True
    )


@pytest.mark.parametrize("p", [0.3, 0.01, 1e-6])
def test_geometric_quantiles(p):
    found = two_states(p, 0.5)
    for q in (0.1, 0.5, 0.99, 1 - 1e-12):
        assert found.hitting_quantiles([1], q).tolist() == [math.ceil(math.log1p(-q) / math.log1p(-p)), 0]


@pytest.mark.parametrize("p", [1e-12, 1e-20, 1e-200])
def test_quantiles_of_rare_events(p):
    times = two_states(p, 0.5).hitting_quantiles([1], 0.9)
    np.testing.assert_allclose(times, [math.log(10) / p, 0.0], rtol=1e-12)
    assert times.dtype == (np.int64 if p == 1e-12 else np.float64)


@pytest.mark.parametrize("way", ["steps", "squares"])
def test_ties(way, request):
    """A probability that is reached exactly counts; one that is approached for ever does not."""
    if way == "squares":
        request.getfixturevalue("squared")
    seventh = numbered(np.full((7, 7), 1 / 7))
    levels = [float(1 - Fraction(6, 7) ** k) for k in range(1, 6)]  # of which some are missed by a rounding
    assert seventh.hitting_quantiles([0], levels, start=[1]).tolist() == [1, 2, 3, 4, 5]
    split = np.zeros((4, 4))
    split[0, 1] = split[2, 2] = split[3, 3] = 1.0
    split[1, [2, 3]] = 0.5
    assert numbered(split).hitting_quantiles([2], 0.5).tolist() == [2, 1, 0, math.inf]
    ends = ruin()
    powers = np.array([by_powers(ends.matrix.toarray(), np.arange(7) == 6, steps) for steps in range(40)])
    assert ends.hitting_quantiles([6], 0.5)[:4].tolist() == [math.inf] * 4  # 1/2 is never reached from the middle
    assert ends.hitting_quantiles([6], 0.5)[4:].tolist() == np.argmax(powers[:, 4:] >= 0.5, axis=0).tolist()
    near = ends.hitting_quantiles([6], [0.49, 0.51], start=[3])
    assert near.tolist() == [np.argmax(powers[:, 3] >= 0.49), math.inf]
    into = np.zeros((8, 8))
    into[:7, :7], into[7, 3] = ends.matrix.toarray(), 1.0
    assert numbered(into).hitting_quantiles([6], [0.49, 0.5], start=[7]).tolist() == [near[0] + 1, math.inf]


# Runs -------------------------------------------------------------------------------------------------


def test_runs_hit_as_soon_as_the_chain_says():
    """1,200 runs of the engine. T one step more or fewer, or another temperature, is told apart."""
    game, target, start, steps, count = pt.game("stag-hunt"), [1, 1], [0, 0], 4, 1200
    rule = pt.rule("p-sblll", tau=0.75, revision=0.5)
    batch = pt.run_batch(game, rule, steps, range(count), start=start, compiled=False)
    hits = int((batch.profile.values == target).all(axis=2).any(axis=1).sum())

    def p_value(within, tau):
        law = chain(game, pt.rule("p-sblll", tau=tau, revision=0.5))
        return stats.binomtest(hits, count, law.hit_probability(target, within, start=start)).pvalue

    assert p_value(steps, 0.75) > ALPHA
    assert max(p_value(steps - 1, 0.75), p_value(steps + 1, 0.75), p_value(steps, 0.5), p_value(steps, 1.0)) < ALPHA


# Bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": []}, "targets must be at least one profile"),
        ({"targets": [[3]]}, r"\[3\] is not a state"),
        ({"within": -1}, "within must be an integer of at least 0, got -1"),
        ({"within": 1.5}, r"within must be an integer of at least 0, got 1\.5"),
        ({"within": [3, 2.0]}, r"within must be an integer of at least 0, got 2\.0"),
        ({"within": True}, "within must be an integer of at least 0, got True"),
        ({"within": 2**63}, "within must be below 2\\^62"),
        ({"start": [7]}, r"\[7\] is not a state"),
        ({"start": [0, 1]}, "start must be a profile of 1 integers or 3 probabilities"),
    ],
)
def test_hit_probability_refuses(options, message):
    with pytest.raises(InvalidInput, match=message):
        numbered(WALK).hit_probability(**{"targets": [2], "within": 3, **options})


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, 1.5, math.nan, "a", None, True, [0.5, 1.0]])
def test_quantiles_refuse(q):
    with pytest.raises(InvalidInput, match=r"q must be a number in \(0, 1\), got"):
        numbered(WALK).hitting_quantiles([2], q)
    with pytest.raises(InvalidInput, match="targets must be at least one profile"):
        numbered(WALK).hitting_quantiles([], 0.5)
