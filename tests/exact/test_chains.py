"""Transition matrices against plain enumeration, and their logarithms against exact arithmetic."""

from __future__ import annotations

import decimal
import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse

import potentia as pt
from potentia.analysis import Chain, chain
from potentia.errors import InvalidInput
from potentia.rules import Groups, Vanishing
from tests import games, oracle
from tests.statistical.test_one_step import CASES, neighbours

TAU = 0.4
OPTIONS = [
    {"trial": trial, "guard": guard, "include_current": current}
    for trial, guard, current in itertools.product(("joint", "unilateral"), (False, True), (False, True))
]
every_game = pytest.mark.parametrize("make", games.ALL.values(), ids=games.ALL)


def stuck():
    """One player has a single action, another an action that cannot be had back."""
    return pt.games.NormalForm(np.random.default_rng(5).normal(size=(3, 1, 3, 2)), moves=[None, [[1], [2], [1]], None])


def per_action(game):
    return tuple(tuple(0.2 + 0.2 * ((i + a) % 4) for a in range(n)) for i, n in enumerate(game.num_actions))


def assert_same(game, rule, step):
    """Equal to the enumerated matrix, with rows that sum to 1 and sorted columns."""
    found = chain(game, rule).matrix
    assert found.has_sorted_indices
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.toarray(), oracle.matrix(game, step), rtol=0, atol=1e-13)
    return found


@pytest.mark.parametrize("name", CASES)
@every_game
def test_the_matrix_is_the_enumerated_one(make, name):
    game = make()
    right, wrong = CASES[name]
    found = assert_same(game, games.RULES[name], right(game))
    for what, law in wrong.items():
        off = np.abs(found.toarray() - oracle.matrix(game, law(game))).max()
        assert off > 1e-3, f"a wrong {what} would go unnoticed"


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(str(v) for v in o.values()))
@pytest.mark.parametrize("make", [games.path, games.constrained, games.congestion, stuck], ids=lambda f: f.__name__)
def test_every_combination_of_options(make, options):
    """With a revision probability per action, per player, and one that vanishes with the temperature."""
    game = make()
    by_action = per_action(game)
    by_player = (0.3, 0.8, 0.5)[: game.num_players]
    wakes = [
        (by_action, lambda i, a: by_action[i][a]),
        (by_player, lambda i, a: by_player[i]),
        (1.0, lambda i, a: 1.0),
        (Vanishing(0.7), lambda i, a: math.exp(-0.7 / TAU)),
    ]
    for revision, wake in wakes:
        law = oracle.p_sblll(game, TAU, wake, **options, neighbours=neighbours(game))
        assert_same(game, pt.rule("p-sblll", tau=TAU, revision=revision, **options), law)


@pytest.mark.parametrize("make", [games.normal_form, games.constrained, stuck], ids=lambda f: f.__name__)
def test_every_revision_of_slll(make):
    game = make()
    by_action = per_action(game)
    groups = [((0, 1), 0.5), ((game.num_players - 1,), 0.2), ((), 0.1), (tuple(range(game.num_players)), 0.2)]
    assert_same(
        game, pt.rule("slll", tau=TAU, revision=by_action), oracle.slll(game, TAU, lambda i, a: by_action[i][a])
    )
    assert_same(game, pt.rule("slll", tau=TAU, revision=Groups(groups)), oracle.slll(game, TAU, groups=groups))
    for m in (0.3, 2.0):
        law = oracle.slll(game, TAU, lambda i, a, m=m: math.exp(-m / TAU))
        assert_same(game, pt.rule("slll", tau=TAU, revision=Vanishing(m)), law)


@pytest.mark.parametrize("ties", ["uniform", "stay"])
def test_ties_of_best_response(ties):
    tied = [[[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]]
    for moves in (None, [None, pt.games.path_moves(3)]):
        game = pt.games.NormalForm(tied, moves=moves)
        found = assert_same(game, pt.rule("best-response", ties=ties), oracle.best_response(game, ties))
        other = oracle.best_response(game, "stay" if ties == "uniform" else "uniform")
        assert np.abs(found.toarray() - oracle.matrix(game, other)).max() > 0.1


@every_game
def test_states_are_the_profiles_in_c_order(make):
    game = make()
    found = chain(game, games.RULES["lll"])
    assert [tuple(s) for s in found.states.tolist()] == oracle.profiles(game)
    assert found.size == game.num_profiles
    for place in (0, found.size // 2, found.size - 1):
        assert found.place(found.states[place]) == place
        assert found.name(place) == str(oracle.profiles(game)[place])


# Logarithms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("make", [games.normal_form, games.constrained, games.path], ids=lambda f: f.__name__)
def test_logarithms_of_the_matrix(make, name):
    found = chain(make(), games.RULES[name])
    matrix, logs = found.matrix.tocoo(), found.log_matrix.tocoo()
    np.testing.assert_array_equal(matrix.coords, logs.coords)
    assert matrix.data.min() > 1e-20
    np.testing.assert_allclose(logs.data, np.log(matrix.data), rtol=1e-13, atol=1e-14)


def precise_logit(values, tau):
    top = max(values)
    weights = [((v - top) / tau).exp() for v in values]
    return [w / sum(weights) for w in weights]


def precise_matrix(payoffs, tau, sets, choose):
    """{(source, target): probability} by enumeration in exact arithmetic, with complete action sets.

    ``sets`` are the sets of players that revise, with probabilities; ``choose(profile, awake)`` yields
    their joint outcomes with probabilities.
    """
    out = {}
    for profile in itertools.product(*(range(n) for n in payoffs.shape[1:])):
        for awake, p in sets:
            for target, q in choose(profile, awake):
                out[profile, target] = out.get((profile, target), Decimal(0)) + p * q
    return out


def precise_rules(payoffs, tau, m):
    """The laws of each rule on a game of two players, in Decimal numbers."""
    count = payoffs.shape[1:]
    one, half = Decimal(1), Decimal("0.5")
    sizes = [range(n) for n in count]

    def u(player, profile):
        return Decimal(float(payoffs[(player, *profile)]))

    def logit(profile, awake):
        laws = []
        for i in range(2):
            values = [u(i, oracle.with_action(profile, i, a)) for a in sizes[i]]
            laws.append(precise_logit(values, tau) if i in awake else [one * (a == profile[i]) for a in sizes[i]])
        for target in itertools.product(*sizes):
            yield target, laws[0][target[0]] * laws[1][target[1]]

    def binary(joint):
        def choose(profile, awake):
            menus = [[a for a in sizes[i] if a != profile[i]] for i in awake]
            for trial in itertools.product(*menus):
                tried = dict(zip(awake, trial, strict=True))
                together = tuple(tried.get(i, a) for i, a in enumerate(profile))
                for answers in itertools.product((True, False), repeat=len(awake)):
                    p, target = one, profile
                    for (i, a), yes in zip(tried.items(), answers, strict=True):
                        then = u(i, together if joint else oracle.with_action(profile, i, a))
                        now = u(i, profile)
                        p *= precise_logit([now, then], tau)[int(yes)] / (count[i] - 1)
                        target = oracle.with_action(target, i, a) if yes else target
                    yield target, p

        return choose

    def independent(wake):
        return [((), (one - wake) ** 2), ((0,), wake * (one - wake)), ((1,), wake * (one - wake)), ((0, 1), wake**2)]

    single = [((0,), half), ((1,), half)]
    rare = (-Decimal(m) / tau).exp()
    return {
        "lll": (single, logit, {}),
        "blll": (single, binary(False), {}),
        "slll": (independent(Decimal("0.25")), logit, {"revision": 0.25}),
        "p-sblll": (independent(Decimal("0.25")), binary(True), {"revision": 0.25}),
        "p-sblll unilateral": (independent(half), binary(False), {"revision": 0.5, "trial": "unilateral"}),
        "p-sblll vanishing": (independent(rare), binary(True), {"revision": Vanishing(m)}),
        "slll vanishing": (independent(rare), logit, {"revision": Vanishing(m)}),
    }


@pytest.mark.parametrize("tau", [0.5, 0.01, 1e-4])
def test_logarithms_where_probabilities_underflow(tau):
    """Against enumeration in sixty digits: at the lowest temperature the least probability is about e^-100,000."""
    payoffs = np.random.default_rng(6).normal(size=(2, 2, 3))
    game = pt.games.NormalForm(payoffs)
    lowest = 0.0
    with decimal.localcontext(decimal.Context(prec=60, Emin=-(10**15), Emax=10**15)):
        for name, (sets, choose, options) in precise_rules(payoffs, Decimal(tau), 1.7).items():
            found = chain(game, pt.rule(name.split()[0], tau=tau, **options))
            logs = found.log_matrix.tocoo()
            expected = precise_matrix(payoffs, Decimal(tau), sets, choose)
            expected = {pair: p for pair, p in expected.items() if p > 0}
            assert logs.nnz == len(expected)
            for i, j, value in zip(*logs.coords, logs.data, strict=True):
                right = float(expected[tuple(found.states[i].tolist()), tuple(found.states[j].tolist())].ln())
                assert abs(value - right) <= 1e-13 * max(1.0, abs(right)), (name, i, j)
                lowest = min(lowest, right)
    assert lowest < -2 / tau
    assert (chain(game, pt.rule("lll", tau=tau)).matrix.data == 0).any() == (tau == 1e-4)


@pytest.mark.parametrize("tau", [1e-300, 1e300])
def test_extreme_payoffs_and_temperatures(tau):
    """Payoffs of 1e300: no warning, no NaN, and the enumerated matrix."""
    game = pt.games.NormalForm(np.random.default_rng(1).choice([-1e300, 0.0, 1e300], size=(3, 2, 3, 2)))
    rules = {
        "lll": oracle.lll(game, tau),
        "blll": oracle.blll(game, tau),
        "slll": oracle.slll(game, tau, lambda i, a: 0.35),
        "p-sblll": oracle.p_sblll(game, tau, lambda i, a: 0.35),
    }
    for name, law in rules.items():
        assert_same(game, dict(games.RULES[name], tau=tau), law)


# Chains of one's own ----------------------------------------------------------------------------------

WALK = np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])


@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.coo_array, np.ndarray.tolist, sparse.csc_matrix])
def test_a_chain_of_ones_own(form):
    found = Chain([[0], [5], [7]], form(WALK))
    np.testing.assert_array_equal(found.matrix.toarray(), WALK)
    np.testing.assert_array_equal(found.states, [[0], [5], [7]])
    assert (found.size, found.place([5]), found.name(2)) == (3, 1, "(7,)")
    assert found.matrix.nnz == 7
    np.testing.assert_allclose(found.stationary(), [0.25, 0.5, 0.25], rtol=1e-14)
    assert repr(found) == "Chain(states=3, transitions=7)"


def test_a_matrix_of_ones_own_is_copied():
    """Neither is the caller's matrix cleaned up in place, nor does the chain change with it."""
    data, indices, indptr = np.array([0.5, 0.5, 0.0, 1.0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4])
    mine = sparse.csr_array((data.copy(), indices.copy(), indptr.copy()), shape=(2, 2))
    states = np.array([[0], [1]])
    found = Chain(states, mine)
    for now, before in ((mine.data, data), (mine.indices, indices), (mine.indptr, indptr)):
        np.testing.assert_array_equal(now, before)
    mine.data[:] = 7.0
    states[:] = 7
    np.testing.assert_array_equal(found.matrix.toarray(), [[0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_array_equal(found.states, [[0], [1]])


BAD = [
    ([0, 1, 2], WALK, r"states must have shape \(S, N\) and matrix \(S, S\), got \(3,\) and \(3, 3\)"),
    ([[0], [1]], WALK, r"got \(2, 1\) and \(3, 3\)"),
    ([[0], [1], [2]], WALK[:2], r"got \(3, 1\) and \(2, 3\)"),
    ([[0], [1], [2]], WALK * np.nan, "finite and not negative"),
    ([[0], [1]], [[1.5, -0.5], [0.0, 1.0]], "finite and not negative"),
    ([[0], [1]], [[0.5, 0.5], [0.5, 0.4]], r"rows of matrix must sum to 1, row 1 is off by 0\.1"),
    ([[0], [1]], [[1.0, 0.0], [0.0, 0.0]], r"row 1 is off by 1"),
]


@pytest.mark.parametrize(("states", "matrix", "message"), BAD)
def test_a_matrix_that_is_none(states, matrix, message):
    with pytest.raises(InvalidInput, match=message):
        Chain(states, matrix)


def test_a_state_that_is_none():
    found = Chain([[0], [5], [7]], WALK)
    for wrong in ([6], [0, 0], 0, []):
        with pytest.raises(InvalidInput, match="is not a state of this chain"):
            found.place(wrong)
