"""Dominance and its iterated elimination, against the definition in exact fractions and games known by hand."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from potentia.analysis import dominance
from potentia.analysis.dominance import dominated, iterated
from potentia.analysis.equilibria import pure_nash
from potentia.errors import InvalidGame, InvalidInput, TooLarge
from potentia.games import NormalForm, game, random_potential_game
from tests import games


def one_sided(own):
    """Only the first player's payoffs differ; the second's are all 0."""
    own = np.array(own, float)
    return NormalForm([own, np.zeros(own.shape)])


def actions(found, player=0):
    return [one.action for one in found if one.player == player]


def rows(on, player):
    """The player's payoffs, its actions by the others' profiles, and nothing clever."""
    others = [range(size) for size in on.num_actions]
    del others[player]
    return [
        [on.utility(player, (*rest[:player], action, *rest[player:])) for rest in itertools.product(*others)]
        for action in range(on.num_actions[player])
    ]


# What the definition says, exactly -----------------------------------------------------------------------


def dominates(better, worse, weakly):
    gains = [b - w for b, w in zip(better, worse, strict=True)]
    return (min(gains) >= 0 and max(gains) > 0) if weakly else min(gains) > 0


def pure_by_definition(payoffs, weakly):
    return [
        a
        for a in range(len(payoffs))
        if any(dominates(payoffs[b], payoffs[a], weakly) for b in range(len(payoffs)) if b != a)
    ]


def mixed_by_definition(payoffs, weakly):
    """Of three actions: the gain of x b + (1 - x) c is linear in x, so that a few exact values of x decide."""
    found = []
    for a in range(3):
        b, c = (k for k in range(3) if k != a)
        exact = [[Fraction(int(value)) for value in payoffs[k]] for k in (a, b, c)]
        lines = [(q - r, r - p) for p, q, r in zip(*exact, strict=True)]  # gain = slope x + start
        crossings = [(-s, k) for k, s in lines] + [
            (t - s, k - m) for (k, s), (m, t) in itertools.combinations(lines, 2)
        ]
        marks = sorted({Fraction(0), Fraction(1)} | {n / d for n, d in crossings if d and 0 <= n / d <= 1})
        marks += [(x + y) / 2 for x, y in itertools.pairwise(marks)]
        if any(dominates([k * x + s for k, s in lines], [0] * len(lines), weakly) for x in marks):
            found.append(a)
    return found


def check_certificate(on, one, tolerance=1e-9):
    """The weights are a strategy that does what is claimed, by the payoffs alone."""
    payoffs = np.array(rows(on, one.player))
    assert one.by.shape == (len(payoffs),)
    assert (one.by >= 0).all()
    assert one.by.sum() == pytest.approx(1, abs=1e-12)
    assert one.by[one.action] == 0
    gains = one.by @ payoffs - payoffs[one.action]
    spread = np.ptp(payoffs)
    assert one.margin == pytest.approx(gains.min() if one.strict else gains.max(), abs=1e-12 * spread)
    assert one.margin > tolerance * spread
    assert gains.min() >= -tolerance * spread


def random_payoffs(seed, columns=3):
    """Small integers, and half the time a last row near a mixture of the others."""
    random = np.random.default_rng(seed)
    payoffs = random.integers(0, 7, (3, columns))
    if random.random() < 0.6:
        weight = random.integers(1, 4)
        payoffs[:2] *= 4
        payoffs[2] = (weight * payoffs[0] + (4 - weight) * payoffs[1]) // 4 - random.integers(0, 2, columns)
    return payoffs


# Games known by hand -------------------------------------------------------------------------------------


def test_the_dilemma_leaves_defection():
    on = game("prisoners-dilemma")
    found = dominated(on)
    assert [(one.player, one.action, one.strict, one.margin) for one in found] == [(0, 0, True, 1.0), (1, 0, True, 1.0)]
    assert [one.by.tolist() for one in found] == [[0.0, 1.0]] * 2
    left = iterated(on)
    assert left.kept == [[1], [1]]
    assert len(left.rounds) == 1


def test_dominated_only_by_a_mixture():
    on = one_sided([[3, 0], [0, 3], [1, 1]])
    (one,) = dominated(on)
    assert (one.player, one.action, one.strict) == (0, 2, True)
    assert one.by == pytest.approx([0.5, 0.5, 0.0])
    assert one.margin == pytest.approx(0.5)
    assert dominated(on, mixed=False) == []
    assert dominated(on, mixed=False, weakly=True) == []


def test_a_mixture_that_only_ties_does_not_dominate():
    tie = one_sided([[2, 0], [0, 2], [1, 1]])
    assert dominated(tie) == []
    assert dominated(tie, weakly=True) == []


def test_weakly_dominated_and_not_strictly():
    on = one_sided([[1, 1], [1, 0]])
    assert dominated(on) == []
    (one,) = dominated(on, weakly=True)
    assert (one.action, one.strict, one.margin, one.by.tolist()) == (1, False, 1.0, [1.0, 0.0])


def test_weakly_dominated_only_by_a_mixture():
    on = one_sided([[4, 0, 1], [0, 4, 1], [2, 2, 0]])
    assert dominated(on) == []
    assert dominated(on, weakly=True, mixed=False) == []
    (one,) = dominated(on, weakly=True)
    assert (one.action, one.strict) == (2, False)
    assert one.by == pytest.approx([0.5, 0.5, 0.0])
    assert one.margin == pytest.approx(1.0)


def test_strictly_by_a_mixture_though_an_action_does_weakly():
    on = one_sided([[1, 2], [4, 0], [1, 1]])  # the first is as good as the last in one column
    (weak,) = dominated(on, weakly=True, mixed=False)
    assert not weak.strict
    (strict,) = dominated(on, weakly=True)
    assert strict.strict
    assert strict.by == pytest.approx([0.8, 0.2, 0.0])
    assert strict.margin == pytest.approx(0.6)


def test_equal_actions_do_not_dominate_each_other():
    on = one_sided([[1, 2], [1, 2]])
    assert dominated(on, weakly=True) == []
    assert iterated(on, weakly=True).kept == [[0, 1], [0, 1]]


def test_a_small_loss_is_not_paid_for_by_a_large_gain():
    # a copy of the action, mixed with a little of what loses 1 and gains a million
    on = one_sided([[1, 0], [1, 0], [0, 1e6]])
    assert dominated(on, weakly=True) == []


def test_rounds_follow_one_another():
    # row 2 goes first, then column 1, then row 0
    row = [[1, 2], [2, 0], [0, -1]]
    column = [[1, 0], [1, 0], [0, 9]]
    on = NormalForm([row, column])
    left = iterated(on)
    assert [[(one.player, one.action) for one in done] for done in left.rounds] == [[(0, 2)], [(1, 1)], [(0, 0)]]
    assert left.kept == [[1], [0]]


def test_weak_elimination_removes_a_round_at_once():
    # each player's second action is weakly dominated; after either goes, the other is no worse
    on = NormalForm([[[1, 1], [1, 0]], [[1, 1], [1, 0]]])
    left = iterated(on, weakly=True)
    assert left.kept == [[0], [0]]
    assert [len(done) for done in left.rounds] == [2]


def test_the_beauty_contest_unravels():
    """Guess 0..4, nearest to half the average of all three wins: the guess 0 is left."""
    guesses = np.indices((5,) * 3)
    target = guesses.mean(axis=0) / 2
    away = np.abs(guesses - target)
    nearest = np.isclose(away, away.min(axis=0))
    left = iterated(NormalForm(nearest / nearest.sum(axis=0)), weakly=True)
    assert all(0 in kept and len(kept) < 5 for kept in left.kept)
    assert left.rounds


# Against the definition ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weakly", [False, True])
def test_of_three_actions_exactly_the_dominated_ones(weakly):
    counts = {"pure": 0, "mixed": 0}
    for seed in range(80):
        payoffs = random_payoffs(seed, columns=2 + seed % 3)
        on = one_sided(payoffs)
        pure = dominated(on, weakly=weakly, mixed=False)
        mixed = dominated(on, weakly=weakly)
        assert actions(pure) == pure_by_definition(payoffs.tolist(), weakly), payoffs
        assert actions(mixed) == mixed_by_definition(payoffs, weakly), payoffs
        assert actions(pure, 1) == actions(mixed, 1) == []
        for one in pure + mixed:
            check_certificate(on, one)
            assert one.strict == (
                one.action in (mixed_by_definition(payoffs, False) if one in mixed else pure_strict(on))
            )
        counts["pure"] += len(pure)
        counts["mixed"] += len(mixed) - len(pure)
    assert counts["pure"] > 20
    assert counts["mixed"] > 5


def pure_strict(on):
    return pure_by_definition(rows(on, 0), False)


@pytest.mark.parametrize("weakly", [False, True])
@pytest.mark.parametrize("name", games.ALL)
def test_every_kind_of_game(name, weakly):
    on = games.ALL[name]()
    pure = dominated(on, weakly=weakly, mixed=False)
    assert [(one.player, one.action) for one in pure] == [
        (player, action)
        for player in range(on.num_players)
        for action in pure_by_definition(np.round(rows(on, player), 12).tolist(), weakly)
    ]
    mixed = dominated(on, weakly=weakly)
    assert {(one.player, one.action) for one in pure} <= {(one.player, one.action) for one in mixed}
    for one in pure + mixed:
        check_certificate(on, one)


def test_players_and_actions_are_told_apart():
    """Payoffs planted for the middle one of three players: its action 1 pays 1 less than half of 0 and half of 3."""
    payoffs = np.random.default_rng(0).normal(size=(3, 2, 4, 3))
    payoffs[1, :, 3] = -3 * payoffs[1, :, 0]
    payoffs[1, :, 2] -= 20
    payoffs[1, :, 1] = (payoffs[1, :, 0] + payoffs[1, :, 3]) / 2 - 1
    on = NormalForm(payoffs)
    found = {(one.player, one.action): one for one in dominated(on)}
    check_certificate(on, found[1, 1])
    assert np.count_nonzero(found[1, 1].by) > 1
    assert found[1, 1].margin >= 1 - 1e-12  # the best mixture gains at least as much as the planted one


@pytest.mark.parametrize("mixed", [False, True])
def test_elimination_by_hand_comes_to_the_same(mixed):
    """Strictly dominated actions removed one at a time, in another order, from smaller and smaller games."""
    rounds = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        payoffs = random.integers(0, 6, (2, 4, 4)).astype(float)
        payoffs[0] += random.integers(0, 6, (4, 1))  # some actions are better in general
        payoffs[1] += random.integers(0, 6, (1, 4))
        left = iterated(NormalForm(payoffs), mixed=mixed)
        kept = [[0, 1, 2, 3], [0, 1, 2, 3]]
        while found := dominated(NormalForm(payoffs[np.ix_(range(2), *kept)]), mixed=mixed):
            del kept[found[-1].player][found[-1].action]
        assert left.kept == kept
        gone = [(one.player, one.action) for done in left.rounds for one in done]
        assert len(set(gone)) == len(gone) == 8 - sum(map(len, kept))
        rounds.append(len(left.rounds))
    assert max(rounds) >= 3


def test_weak_elimination_is_round_by_round():
    shrunk = 0
    for seed in range(25):
        payoffs = np.random.default_rng(seed).integers(0, 3, (2, 4, 3)).astype(float)
        left = iterated(NormalForm(payoffs), weakly=True)
        kept = [list(range(4)), list(range(3))]
        for done in left.rounds:
            small = NormalForm(payoffs[np.ix_(range(2), *kept)])
            expected = [(one.player, kept[one.player][one.action]) for one in dominated(small, weakly=True)]
            assert [(one.player, one.action) for one in done] == expected
            for one in done:
                assert set(np.flatnonzero(one.by)) <= set(kept[one.player])
            for player, action in expected:
                kept[player].remove(action)
        assert left.kept == kept
        assert not dominated(NormalForm(payoffs[np.ix_(range(2), *kept)]), weakly=True)
        shrunk += len(left.rounds) > 1
    assert shrunk > 3


def test_strict_elimination_keeps_every_equilibrium():
    for seed in range(10):
        on = random_potential_game([3, 3, 2], seed)
        kept = iterated(on).kept
        assert all(action in kept[i] for profile in pure_nash(on).tolist() for i, action in enumerate(profile))


# Numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
@pytest.mark.parametrize("shift", [0.0, 1.0, -1e3])
def test_units_and_constants_change_nothing(scale, shift):
    for seed in range(8):
        payoffs = random_payoffs(seed).astype(float)
        for weakly in (False, True):
            found = dominated(one_sided(scale * (payoffs + shift)), weakly=weakly)
            assert actions(found) == mixed_by_definition(payoffs, weakly)


def test_payoffs_as_large_as_a_table_takes():
    on = one_sided([[1e300, -1e300], [-1e300, 1e300], [-1e299, -1e299]])
    (one,) = dominated(on)
    assert one.action == 2
    assert one.margin == pytest.approx(1e299)


def test_the_tolerance_is_relative_to_the_spread():
    on = one_sided([[1.0, 1000.0], [1.0 + 1e-4, 1000.0 + 1e-4]])
    assert actions(dominated(on)) == [0]
    assert dominated(on, tolerance=1e-6, weakly=True) == []
    assert actions(dominated(on, tolerance=0)) == [0]


def test_ties_up_to_rounding_are_ties():
    on = one_sided([[0.3, 1.0], [0.1 + 0.2, 1.0]])
    assert dominated(on, weakly=True) == []
    assert actions(dominated(on, weakly=True, tolerance=0)) == [0]


def test_mixtures_that_tie_up_to_rounding():
    """Rows that are mixtures of others, some lowered here and there: those and only those are dominated."""
    random = np.random.default_rng(1)
    for _ in range(12):
        payoffs = random.normal(size=(5, 12))
        payoffs[3] = random.dirichlet(np.ones(3)) @ payoffs[:3]
        payoffs[4] = random.dirichlet(np.ones(3)) @ payoffs[:3] - random.integers(0, 2, 12) * random.random()
        on = one_sided(payoffs)
        found = dominated(on, weakly=True)
        assert 3 not in actions(found)
        assert 4 in actions(found)
        for one in found:
            check_certificate(on, one)


def test_nothing_the_solver_says_is_taken_unseen(monkeypatch):
    """A solver that answers wrongly makes an error and not a wrong list."""
    solve = dominance._linprog

    def wrong(**program):
        result = solve(**program)
        result.x = np.eye(len(result.x))[0]
        result.ineqlin.marginals = -np.ones(len(program["b_ub"]))
        return result

    on = one_sided([[9, 0], [0, 3], [1, 1]])
    assert actions(dominated(on)) == [2]
    monkeypatch.setattr(dominance, "_linprog", wrong)
    with pytest.raises(InvalidGame, match=r"whether a mixture dominates action 2 of player 0 cannot be told"):
        dominated(on)
    with pytest.raises(InvalidGame, match=r"action 2 of player 0 .* use a larger tolerance, or mixed=False"):
        dominated(one_sided([[4, 0, 1, 1], [0, 4, 1, 1], [2, 2, 0, 1]]), weakly=True)  # nothing strict about it


def test_a_solver_that_gives_up(monkeypatch):
    solve = dominance._linprog

    def tired(**program):
        result = solve(**program)
        result.status = 4
        return result

    monkeypatch.setattr(dominance, "_linprog", tired)
    with pytest.raises(InvalidGame, match="cannot be told"):
        dominated(one_sided([[3, 0], [0, 3], [1, 1]]))


# Bad input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [dominated, iterated])
def test_bad_arguments(call):
    with pytest.raises(InvalidInput, match=r"tolerance must be a number in \[0, 1\), got 2"):
        call(game("stag-hunt"), tolerance=2)
    with pytest.raises(InvalidGame, match=r"expected a game such as .* got 'stag-hunt'"):
        call("stag-hunt")
    with pytest.raises(TooLarge, match="needs all of its about 10"):
        call(game("ring", players=100))


def test_a_tolerance_that_goes_round_in_a_circle():
    # up to 1 a payoff is equal: each row is better than the one before by 2 somewhere, and worse by 1
    own = [[2.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0]]
    with pytest.raises(InvalidGame, match=r"up to tolerance=0.6 each of player 0's actions \[0, 1, 2\] is dominated"):
        iterated(one_sided(own), weakly=True, mixed=False, tolerance=0.6)
    assert iterated(one_sided(own), weakly=True, mixed=False).kept[0] == [0, 1, 2]
