"""Stationary laws: theorems checked on solved matrices, solvers checked on exact answers and on each other."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import potentia as pt
from potentia.analysis import Chain, chain
from potentia.analysis.chains.stationary import log_balance
from potentia.errors import InvalidInput, NotConverged, NotIrreducible
from potentia.games import NormalForm, path_moves, random_potential_game
from potentia.rules import Vanishing
from tests import games, oracle

GAMES = 500
LARGEST = 72  # profiles


def random_shape(random):
    """Two to four players with two to four actions each, of at most LARGEST profiles."""
    while True:
        sizes = tuple(int(n) for n in random.integers(2, 5, size=random.integers(2, 5)))
        if math.prod(sizes) <= LARGEST:
            return sizes


def symmetric_moves(random, size):
    """A random connected graph: a random tree and some more edges."""
    moves = np.triu(random.random((size, size)) < 0.2, 1)
    order = random.permutation(size)
    for k in range(1, size):
        moves[order[k], order[random.integers(k)]] = True
    return moves | moves.T


def cases():
    """Games with unit-normal payoffs, their potentials, and temperatures from 0.01 to 2."""
    random = np.random.default_rng(20)
    for seed in range(GAMES):
        game = random_potential_game(random_shape(random), seed=seed)
        phi = np.array([game.potential(s) for s in oracle.profiles(game)])
        yield random, game, phi, float(np.exp(random.uniform(np.log(0.01), np.log(2.0))))


def normalised(logs):
    logs = logs - logs.max()
    return logs - np.log(np.exp(logs).sum())


def relative_error(logs, target):
    """The largest relative error of a law given by its logarithms."""
    return float(np.abs(np.expm1(np.clip(logs - target, -700, 700))).max())


def imbalance(found, logs):
    """The largest relative violation of π_i p_ij = π_j p_ji."""
    steps = found.log_matrix.tocoo()
    flow = dict(zip(zip(*steps.coords, strict=True), logs[steps.coords[0]] + steps.data, strict=True))
    return max(abs(math.expm1(min(there - flow.get((j, i), -math.inf), 700.0))) for (i, j), there in flow.items())


def test_lll_has_the_gibbs_law():
    """Solved from the matrix in logarithms, to 1e-12 relative in every probability, down to e^-500."""
    lowest = 0.0
    for k, (_, game, phi, tau) in enumerate(cases()):
        found = chain(game, pt.rule("lll", tau=tau))
        solved = found.solve("log-gth")
        assert solved.method == "GTH in logarithms"
        assert relative_error(solved.log_law, normalised(phi / tau)) < 1e-12
        assert found.reversible()
        if k % 10 == 0:
            assert imbalance(found, solved.log_law) < 1e-11
            assert relative_error(found.solve("gth").log_law, normalised(phi / tau)) < 1e-12
            assert relative_error(found.solve().log_law, normalised(phi / tau)) < 1e-12
        lowest = min(lowest, solved.log_law.min())
    assert lowest < -500


def test_blll_has_the_gibbs_law_weighted_by_the_trial_sets():
    """e^{Φ/τ} ∏_i |A_c^i(α^i)|, and not the Gibbs law wherever the trial sets are unequal."""
    unequal = 0
    for k, (random, complete, phi, tau) in enumerate(cases()):
        sizes = complete.num_actions
        moves = [path_moves(n) if k % 2 else symmetric_moves(random, n) for n in sizes]
        game = NormalForm(complete.payoffs, moves=moves)
        trials = [math.prod(int(moves[i][a].sum()) for i, a in enumerate(s)) for s in oracle.profiles(game)]
        found = chain(game, pt.rule("blll", tau=tau))
        solved = found.solve("log-gth")
        target = normalised(phi / tau + np.log(trials))
        assert relative_error(solved.log_law, target) < 1e-12
        assert found.reversible()
        if k % 10 == 0:
            assert imbalance(found, solved.log_law) < 1e-11
            assert relative_error(found.solve().log_law, target) < 1e-12
        if min(trials) < max(trials):
            unequal += 1
            assert relative_error(solved.log_law, normalised(phi / tau)) > 0.01
    assert unequal > 0.8 * GAMES


def test_the_weights_count_the_current_action_where_it_may_be_tried():
    game = games.path()
    phi = np.array([game.potential(s) for s in oracle.profiles(game)])
    trials = [math.prod(len(game.reachable(i, a)) for i, a in enumerate(s)) for s in oracle.profiles(game)]
    more = [math.prod(len(game.reachable(i, a)) + 1 for i, a in enumerate(s)) for s in oracle.profiles(game)]
    found = chain(game, pt.rule("blll", tau=0.3, include_current=True))
    for method in ("auto", "log-gth"):
        solved = found.solve(method)
        assert relative_error(solved.log_law, normalised(phi / 0.3 + np.log(more))) < 1e-12
        assert relative_error(solved.log_law, normalised(phi / 0.3 + np.log(trials))) > 0.01


# Which method -----------------------------------------------------------------------------------------


def test_closed_forms_are_named_and_only_used_where_a_theorem_holds():
    tau = 0.3
    equal, path, no_potential = games.coordination(), games.path(), games.normal_form()
    one_way = NormalForm(random_potential_game((3, 2), seed=1).payoffs, moves=[[[1], [2], [0]], None])
    gibbs, weighted = "closed form: Gibbs law exp(Φ/τ)", "closed form: exp(Φ/τ) times the sizes of the trial sets"
    for game, rule, method in [
        (equal, "lll", gibbs),
        (equal, "blll", gibbs),
        (path, "blll", weighted),
        (path, "lll", "GTH"),  # with constrained moves LLL has no Gibbs law
        (one_way, "blll", "GTH"),
        (no_potential, "lll", "GTH"),
        (no_potential, "blll", "GTH"),
    ]:
        found = chain(game, pt.rule(rule, tau=tau))
        assert found.solve().method == method
        np.testing.assert_allclose(found.stationary(), found.stationary("log-gth"), rtol=1e-11)
        if method == "GTH":
            with pytest.raises(InvalidInput, match="no theorem gives the law"):
                found.solve("closed-form")
    assert chain(equal, pt.rule("slll", tau=tau, revision=0.5)).solve().method == "GTH"


def test_which_chains_are_reversible():
    assert chain(games.coordination(), pt.rule("blll", tau=0.3)).reversible()
    assert chain(games.coordination(), pt.rule("p-sblll", tau=0.3, revision=0.4, guard=True)).reversible()
    assert not chain(games.coordination(), pt.rule("p-sblll", tau=0.3, revision=0.4)).reversible()
    assert not chain(games.normal_form(), pt.rule("lll", tau=0.3)).reversible()
    assert not chain(games.path(), pt.rule("lll", tau=0.3)).reversible()
    # a cycle, a slight one that only a small tolerance sees, and none
    for tilt, wide in ((0.3, False), (1e-6, True), (0.0, True)):
        ring = [[0.4, 0.3 + tilt, 0.3 - tilt], [0.3 - tilt, 0.4, 0.3 + tilt], [0.3 + tilt, 0.3 - tilt, 0.4]]
        found = Chain([[0], [1], [2]], ring)
        assert found.reversible(tolerance=1e-3) == wide
        assert found.reversible() == (tilt == 0.0)


@pytest.mark.parametrize("tau", [0.02, 1e-3])
def test_reversible_at_low_temperatures(tau):
    """Flows that differ by hundreds of orders of magnitude must not overflow on the way."""
    assert not chain(games.normal_form(), pt.rule("lll", tau=tau)).reversible()
    assert chain(random_potential_game((3, 3), seed=2), pt.rule("lll", tau=tau)).reversible()


def test_reversible_looks_at_the_recurrent_states():
    """Transient states carry no flow."""
    two = np.array([[0.7, 0.3], [0.6, 0.4]])
    assert Chain([[0], [1], [2]], [[*two[0], 0], [*two[1], 0], [0.1, 0.1, 0.8]]).reversible()
    ring = [[0, 0.9, 0.1, 0], [0.1, 0, 0.9, 0], [0.9, 0.1, 0, 0], [0.25, 0.25, 0.25, 0.25]]
    assert not Chain([[0], [1], [2], [3]], ring).reversible()


@pytest.mark.parametrize("name", [name for name in games.MEMORYLESS if name != "best-response"])
@pytest.mark.parametrize("make", [games.normal_form, games.constrained, games.path], ids=lambda f: f.__name__)
def test_solvers_agree(make, name):
    found = chain(make(), games.RULES[name])
    plain, logs, sparse_solver = (found.solve(m) for m in ("gth", "log-gth", "gmres"))
    assert (plain.method, logs.method, sparse_solver.method) == ("GTH", "GTH in logarithms", "GMRES")
    np.testing.assert_allclose(plain.law, logs.law, rtol=1e-12)
    np.testing.assert_allclose(plain.law, sparse_solver.law, atol=1e-9)
    np.testing.assert_allclose(plain.law, oracle.stationary(found.matrix.toarray()), atol=1e-12)
    for solved in (plain, logs, sparse_solver):
        np.testing.assert_allclose(solved.law.sum(), 1.0, rtol=1e-12)
        np.testing.assert_allclose(np.exp(solved.log_law), solved.law, rtol=1e-12)


def test_large_chains_go_to_the_sparse_solver():
    """A chain of 2,187 states against the law of its parts: independent players."""
    values = np.random.default_rng(3).normal(size=(7, 3))
    found = chain(pt.games.Separable(values), pt.rule("slll", tau=0.7, revision=0.4))
    solved = found.solve()
    assert solved.method == "GMRES"
    parts = [oracle.softmax(row, 0.7) for row in values]
    expected = [math.prod(p) for p in itertools.product(*parts)]
    np.testing.assert_allclose(solved.law, expected, atol=1e-10)


# Small probabilities ----------------------------------------------------------------------------------


def exact_law(matrix):
    """The stationary law in rational numbers, from the entries off the diagonal."""
    rates = [[Fraction(float(p)) for p in row] for row in matrix]
    size = len(rates)
    for k in range(size - 1, 0, -1):
        leave = sum(rates[k][:k])
        for i in range(k):
            rates[i][k] /= leave
            for j in range(k):
                rates[i][j] += rates[i][k] * rates[k][j]
    law = [Fraction(1)]
    for k in range(1, size):
        law.append(sum(law[i] * rates[i][k] for i in range(k)))
    return [p / sum(law) for p in law]


def test_the_exact_law_is_one():
    """The reference solver itself: πP = π in rational numbers."""
    matrix = np.array([[0.25, 0.5, 0.25], [0.125, 0.5, 0.375], [0.5, 0.25, 0.25]])
    law = exact_law(matrix)
    assert sum(law) == 1
    for j in range(3):
        assert sum(law[i] * Fraction(matrix[i, j]) for i in range(3)) == law[j]


def wide_chain(seed, decades):
    """A chain that climbs with probabilities of 10^-decades each step and falls with moderate ones."""
    random = np.random.default_rng(seed)
    size = 6
    rates = np.zeros((size, size))
    for i in range(size - 1):
        rates[i, i + 1] = random.uniform(0.1, 0.4) * 10.0**-decades
        rates[i + 1, random.integers(i + 1)] = random.uniform(0.1, 0.3)
        rates[i + 1, i] += random.uniform(0.1, 0.3)
    order = random.permutation(size)
    rates = rates[np.ix_(order, order)]
    return rates + np.diag(1.0 - rates.sum(axis=1))


@pytest.mark.parametrize("decades", [10, 40])
def test_probabilities_of_1e_200_are_right(decades):
    """Wanted are six digits; subtraction-free elimination gives twelve."""
    for seed in range(20):
        matrix = wide_chain(seed, decades)
        expected = np.array([float(p) for p in exact_law(matrix)])
        assert -5 * decades - 6 < np.log10(expected.min()) < -5 * decades + 1
        found = Chain(np.arange(6)[:, None], matrix)
        for method, tolerance in (("gth", 1e-13), ("log-gth", 1e-11), ("auto", 1e-13)):
            np.testing.assert_allclose(found.stationary(method), expected, rtol=tolerance)


def test_probabilities_below_the_range_of_a_double_have_logarithms():
    """10^-500 is 0 as a double; its logarithm is right, and asking for plain elimination is refused."""
    for seed in range(20):
        matrix = wide_chain(seed, 100)
        found = Chain(np.arange(6)[:, None], matrix)
        expected = [math.log(p.numerator) - math.log(p.denominator) for p in exact_law(matrix)]
        assert min(expected) < -490 * math.log(10)
        solved = found.solve()
        assert solved.method == "GTH in logarithms"
        np.testing.assert_allclose(solved.log_law, expected, rtol=0, atol=1e-11)
        assert (solved.law == 0).any()
        with pytest.raises(NotConverged, match=r'probabilities underflow.*use method="log-gth"'):
            found.solve("gth")


@pytest.mark.parametrize("m", [5.0, 6.0, 6.4, 6.6, 7.0, 8.0])
def test_transitions_at_the_edge_of_underflow(m):
    """A step of e^{-(m+1)/τ} up and e^{-m/τ} down: odds of e^-100, whether or not the steps themselves underflow."""
    game = NormalForm([[1.0, 0.0]])
    found = chain(game, pt.rule("slll", tau=0.01, revision=Vanishing(m)))
    np.testing.assert_allclose(found.solve().log_law, [0.0, -100.0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("tau", [0.02, 0.003, 1e-4])
def test_low_temperatures_without_a_potential(tau):
    """Relative errors of balance stay small where probabilities reach e^-26,000."""
    found = chain(games.path(), pt.rule("slll", tau=tau, revision=0.3))
    solved = found.solve("log-gth")
    assert solved.log_law.min() < -2.5 / tau
    steps = found.log_matrix.tocoo()
    for state in range(found.size):
        into = steps.coords[1] == state
        flow = solved.log_law[steps.coords[0][into]] + steps.data[into]
        assert abs(np.logaddexp.reduce(flow) - solved.log_law[state]) < 1e-9
    assert 0 <= solved.residual < 1e-9


def test_shares_sum_to_one_where_payoffs_are_large_beside_the_temperature():
    game = NormalForm([[[0.0, -1e7], [0.0, -1e7]], [[-1e7, 2e7], [-2e7, 2e7]]])
    law = chain(game, pt.rule("lll", tau=0.02)).stationary()
    np.testing.assert_allclose(law, [0.0, 0.5, 0.0, 0.5], rtol=1e-14)


# What cannot be solved --------------------------------------------------------------------------------


def test_a_chain_with_several_classes_lists_them():
    game = pt.games.consensus([[0, 1], [1, 2]], 2)
    found = chain(game, pt.rule("best-response", ties="stay"))
    assert sorted(c.tolist() for c in found.classes) == [[0], [7]]
    with pytest.raises(NotIrreducible, match=r"2 closed classes.*\{\(0, 0, 0\)\}, \{\(1, 1, 1\)\}") as caught:
        found.stationary()
    assert [c.tolist() for c in caught.value.classes] == [[0], [7]]


def test_many_classes_are_counted():
    blocks = sparse.block_diag([np.full((5, 5), 0.2)] * 8)
    found = Chain(np.arange(40)[:, None], blocks)
    with pytest.raises(
        NotIrreducible, match=r"8 closed classes.*\{\(0,\), \(1,\), \(2,\) and 2 more\}.* and 3 more"
    ) as caught:
        found.solve()
    assert [c.tolist() for c in caught.value.classes] == [list(range(k, k + 5)) for k in range(0, 40, 5)]


def test_transient_states_have_no_share():
    matrix = [[0.2, 0.3, 0.5, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.25, 0.75, 0.0], [0.5, 0.0, 0.0, 0.5]]
    found = Chain([[0], [1], [2], [3]], matrix)
    assert [c.tolist() for c in found.classes] == [[1, 2]]
    for method, digits in (("auto", 1e-14), ("gth", 1e-14), ("log-gth", 1e-14), ("gmres", 1e-9)):
        solved = found.solve(method)
        np.testing.assert_allclose(solved.law, [0, 1 / 3, 2 / 3, 0], atol=digits)
        assert np.isneginf(solved.log_law[[0, 3]]).all()


def nearly_decomposable(link, size=60):
    """Two lazy walks on a ring that hardly ever change over, one way twice as often as the other."""
    ring = 0.5 * np.eye(size) + 0.25 * (np.roll(np.eye(size), 1, 0) + np.roll(np.eye(size), -1, 0))
    matrix = np.kron(np.eye(2), ring)
    matrix[0, size], matrix[size, 0] = link, 2 * link
    matrix[0, 0] -= link
    matrix[size, size] -= 2 * link
    return Chain(np.arange(2 * size)[:, None], matrix)


def test_the_sparse_solver_refuses_what_it_cannot_see():
    """Any mixture of the two halves leaves a residual of 1e-15: only two different starts tell."""
    found = nearly_decomposable(1e-14)
    with pytest.raises(NotConverged, match="stability") as caught:
        found.solve("gmres")
    assert caught.value.residual > 1e-8
    np.testing.assert_allclose(found.stationary(), np.repeat([2, 1], 60) / 180, rtol=1e-9)


def test_the_sparse_solver_fails_with_an_error_of_ours():
    """Where it loses everything, there is no law to normalise."""
    found = chain(pt.game("ring", players=9), pt.rule("slll", tau=0.1, revision=0.05))
    with pytest.raises(NotConverged, match=r"sparse solver|two starts"):
        found.solve("gmres")


def test_the_sparse_solver_on_a_chain_that_is_linked_well_enough():
    found = nearly_decomposable(0.05, size=20)
    np.testing.assert_allclose(found.stationary("gmres"), np.repeat([2, 1], 20) / 60, rtol=1e-6)


def test_residuals_are_reported():
    for rule in ({"rule": "lll", "tau": 0.3}, {"rule": "slll", "tau": 0.3, "revision": 0.4}):
        found = chain(games.coordination(), rule)
        for method in ("auto", "gth", "gmres"):
            solved = found.solve(method)
            off = np.abs(solved.law @ found.matrix.toarray() - solved.law).sum()
            assert abs(solved.residual - off) < 1e-15
            assert solved.residual < 1e-10
            assert f"{solved.residual:.2g}" in repr(solved)
            assert solved.method in repr(solved)


def test_a_tolerance_that_cannot_be_met_is_an_error():
    found = chain(games.normal_form(), pt.rule("slll", tau=0.3, revision=0.4))
    assert found.solve("gth", tolerance=1e-15 * found.size).residual > 1e-20
    with pytest.raises(NotConverged, match="residual") as caught:
        found.solve("gth", tolerance=1e-20)
    assert caught.value.residual == found.solve("gth").residual


def test_a_law_on_a_state_that_nothing_leads_to_is_out_of_balance():
    logs = sparse.csr_array((np.zeros(2), ([0, 1], [1, 1])), shape=(2, 2))  # 0 → 1 → 1, both for certain
    assert log_balance(logs, np.array([-np.inf, 0.0])) == 0.0
    assert log_balance(logs, np.log([0.5, 0.5])) == np.inf
