"""Potentials found, or disproved with numbers that anyone can check; claims; and what the analysis refuses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain, check_claim, potential, separable, stability
from potentia.errors import InvalidGame, InvalidInput, InvalidRule, NotPotentialGame, TooLarge
from potentia.games import NormalForm, Separable, random_potential_game
from tests import games, oracle

SHAPES = [(2, 2), (3, 2), (4, 3), (2, 2, 2), (3, 2, 4), (2, 3, 2, 2), (5,), (1, 3), (2, 1, 3)]


def check_cycle(game, cycle):
    """Recompute a certificate from the game's utilities alone."""
    i, j = cycle.players
    assert i != j
    changes = []
    corners = [*cycle.profiles, cycle.profiles[0]]
    assert len(set(cycle.profiles)) == 4
    for player, (here, there) in zip((i, j, i, j), itertools.pairwise(corners), strict=True):
        assert [k for k in range(game.num_players) if here[k] != there[k]] == [player]
        changes.append(game.utility(player, there) - game.utility(player, here))
    np.testing.assert_allclose(cycle.changes, changes, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(cycle.imbalance, math.fsum(changes), rtol=1e-9, atol=1e-12)
    return abs(math.fsum(changes))


# Potentials -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_potential_of_random_potential_games(shape):
    for seed in range(20):
        game = random_potential_game(shape, seed=seed)
        phi = np.array([game.potential(s) for s in oracle.profiles(game)]).reshape(shape)
        found = potential(game)
        assert found.shape == shape
        assert found.flat[0] == 0.0
        np.testing.assert_allclose(found, phi - phi.flat[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_tolerance_is_relative_to_the_payoffs(scale):
    game = random_potential_game((3, 3), seed=1)
    phi = potential(game)
    np.testing.assert_allclose(potential(NormalForm(scale * game.payoffs)) / scale, phi, atol=1e-12)
    shifted = NormalForm(game.payoffs + 1e6)  # costs digits, not the potential
    np.testing.assert_allclose(potential(shifted), phi, atol=1e-8)


@pytest.mark.parametrize("make", [games.separable, games.congestion, games.coordination, games.path])
def test_the_potential_of_games_that_know_theirs(make):
    game = make()
    phi = np.array([game.potential(s) for s in oracle.profiles(game)]).reshape(game.num_actions)
    np.testing.assert_allclose(potential(game), phi - phi.flat[0], atol=1e-12)


def test_the_potential_of_a_function_that_does_not_compile():
    game = games.uncompiled()
    expected = [[0.5 * a - 0.4 * b - 0.8 * abs(a + b - 3) for b in range(3)] for a in range(2)]
    np.testing.assert_allclose(potential(game), np.array(expected) - expected[0][0], atol=1e-12)


def _shared(player, profile, data):
    """A common term and one of the others' actions: an exact potential game."""
    common = data[0] * profile[0] * profile[1] + data[1] * profile[1] * profile[2]
    return common + data[2] * (profile.sum() - profile[player]) ** 2


def _shared_but_one(player, profile, data):
    return _shared(player, profile, data) + (0.25 if player == 2 and profile[0] == 1 and profile[2] == 1 else 0.0)


def _sized(player, profile, data):
    """Too large for a table made in Python: the compiled kernels fill it."""
    total = 0.0
    for other in range(profile.shape[0]):
        if other != player:
            total += data[player, other] * (profile[player] == profile[other])
    return total


def test_the_potential_of_a_function():
    data = np.array([0.7, -0.4, 0.3])
    game = pt.games.custom(_shared, [2, 3, 2], data=data)
    expected = [[[0.7 * a * b - 0.4 * b * c for c in range(2)] for b in range(3)] for a in range(2)]
    np.testing.assert_allclose(potential(game), expected, atol=1e-12)
    wrong = pt.games.custom(_shared_but_one, [2, 3, 2], data=data)
    with pytest.raises(NotPotentialGame) as caught:
        potential(wrong)
    assert check_cycle(wrong, caught.value.evidence) == pytest.approx(0.25)
    assert set(caught.value.evidence.players) == {0, 2}


def test_a_large_table_is_filled_by_compiled_code():
    """13 players: 106,496 utilities. Symmetric weights have a potential, a single asymmetric pair has none."""
    random = np.random.default_rng(5)
    weights = np.triu(random.normal(size=(13, 13)), 1)
    weights += weights.T
    phi = potential(pt.games.custom(_sized, [2] * 13, data=weights))
    for profile in random.integers(0, 2, size=(20, 13)):
        agree = profile[:, None] == profile[None, :]
        expected = (np.triu(weights, 1) * agree).sum() - np.triu(weights, 1).sum()
        assert phi[tuple(profile)] == pytest.approx(expected, abs=1e-11)
    weights[3, 8] += 0.5
    game = pt.games.custom(_sized, [2] * 13, data=weights)
    with pytest.raises(NotPotentialGame) as caught:
        potential(game)
    assert caught.value.evidence.players == (3, 8)
    assert check_cycle(game, caught.value.evidence) == pytest.approx(1.0)


@pytest.mark.parametrize("make", [games.normal_form, games.constrained, games.custom])
def test_no_potential_comes_with_a_certificate(make):
    game = make()
    with pytest.raises(NotPotentialGame, match="there is no exact potential: players") as caught:
        potential(game)
    cycle = caught.value.evidence
    size = check_cycle(game, cycle)
    assert size > 1e-3
    i, j = cycle.players
    assert f"players {i} and {j} in turn round ({', '.join(str(a) for a in cycle.profiles[0])})" in str(caught.value)
    assert f"{cycle.imbalance:g} in sum" in str(caught.value)


def test_one_payoff_off_is_found_wherever_it_is():
    """A single changed payoff, at any profile and for any player, is disproved by a cycle of its own size."""
    game = random_potential_game((3, 2, 2), seed=3)
    for player, place in itertools.product(range(3), oracle.profiles(game)):
        payoffs = game.payoffs.reshape(3, 3, 2, 2).copy()
        payoffs[(player, *place)] += 0.01
        wrong = NormalForm(payoffs)
        with pytest.raises(NotPotentialGame) as caught:
            potential(wrong)
        assert check_cycle(wrong, caught.value.evidence) == pytest.approx(0.01)
        assert player in caught.value.evidence.players


def test_tolerance():
    """Off by 1e-4 of the spread: refused by default, taken with a tolerance of 1e-3, refused with none."""
    game = random_potential_game((3, 3), seed=4)
    payoffs = game.payoffs.reshape(2, 3, 3).copy()
    payoffs[1, 2, 2] += 1e-4 * np.ptp(payoffs)
    wrong = NormalForm(payoffs)
    for tolerance in (1e-9, 1e-5, 0.0):
        with pytest.raises(NotPotentialGame):
            potential(wrong, tolerance=tolerance)
    np.testing.assert_allclose(potential(wrong, tolerance=1e-3), potential(game), atol=1e-3 * np.ptp(payoffs))
    for seed in range(20):  # rounding alone never disproves a potential
        potential(random_potential_game((3, 4, 2), seed=seed), tolerance=0.0)


def test_one_player_has_always_a_potential():
    np.testing.assert_array_equal(potential(NormalForm([[3.0, 1.0, 5.0]])), [0.0, -2.0, 2.0])


# Separability -----------------------------------------------------------------------------------------


def test_separable_games():
    assert separable(games.separable())
    assert "own action only" in str(separable(games.separable()))
    own = np.random.default_rng(6).normal(size=(3, 2))
    table = np.array(
        [np.broadcast_to(own[i].reshape([-1 if k == i else 1 for k in range(3)]), (2, 2, 2)) for i in range(3)]
    )
    assert separable(NormalForm(table))
    assert separable(NormalForm(np.random.default_rng(7).normal(size=(1, 4))))


@pytest.mark.parametrize("make", [games.normal_form, games.coordination, games.path, games.custom, games.uncompiled])
def test_what_is_not_separable_comes_with_a_counterexample(make):
    game = make()
    found = separable(game)
    assert not found
    assert not found.holds
    assert found.first[found.player] == found.second[found.player]
    assert found.first != found.second
    difference = game.utility(found.player, found.second) - game.utility(found.player, found.first)
    assert found.difference == pytest.approx(difference)
    assert abs(difference) > 1e-3
    assert f"player {found.player}" in str(found)
    assert f"{found.difference:g}" in str(found)


def test_separable_but_for_one_payoff():
    tables = np.random.default_rng(8).normal(size=(2, 3))
    payoffs = np.array([np.repeat(tables[0][:, None], 3, axis=1), np.repeat(tables[1][None, :], 3, axis=0)])
    assert separable(NormalForm(payoffs))
    for player, place in itertools.product(range(2), itertools.product(range(3), repeat=2)):
        wrong = payoffs.copy()
        wrong[(player, *place)] += 1e-4
        found = separable(NormalForm(wrong))
        assert not found
        assert found.player == player
        assert place in (found.first, found.second) or 0 in place
        assert separable(NormalForm(wrong), tolerance=1e-3)


# Claims -----------------------------------------------------------------------------------------------


def recompute(game, claim, values):
    """The two changes of a disproof, from the game and the claim themselves."""
    assert not claim
    assert [k for k in range(game.num_players) if claim.first[k] != claim.second[k]] == [claim.player]
    utility = game.utility(claim.player, claim.second) - game.utility(claim.player, claim.first)
    claimed = values(claim.second) - values(claim.first)
    assert claim.utility_change == pytest.approx(utility)
    assert claim.claimed_change == pytest.approx(claimed)
    assert f"player {claim.player}'s utility changes by {claim.utility_change:.6g}" in str(claim)
    return abs(utility - claimed)


def test_right_claims():
    game = games.coordination()
    phi = np.array([game.potential(s) for s in oracle.profiles(game)])
    for claim in (phi, phi.reshape(game.num_actions), phi + 17.0, game.potential, phi.tolist(), potential(game)):
        assert check_claim(game, claim)
    assert "at every deviation" in str(check_claim(game, phi))
    assert check_claim(games.separable(), "welfare")


def test_wrong_claims_come_with_two_profiles():
    game = games.coordination()
    phi = np.array([game.potential(s) for s in oracle.profiles(game)]).reshape(game.num_actions)
    for place in oracle.profiles(game):
        wrong = phi.copy()
        wrong[place] += 0.01
        assert recompute(game, check_claim(game, wrong), lambda s, w=wrong: w[tuple(s)]) == pytest.approx(0.01)
        assert check_claim(game, wrong, tolerance=0.1)
    assert recompute(game, check_claim(game, "welfare"), game.welfare) > 0.1
    assert recompute(game, check_claim(game, lambda s: 2 * game.potential(s)), lambda s: 2 * game.potential(s)) > 0.1
    no_potential = games.normal_form()
    assert recompute(no_potential, check_claim(no_potential, lambda s: float(s[0])), lambda s: s[0]) > 0.1


# Bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [-1e-9, 1.0, math.nan, math.inf, "small", None, True])
def test_bad_tolerances(tolerance):
    game = games.separable()
    calls = [
        lambda: potential(game, tolerance=tolerance),
        lambda: separable(game, tolerance=tolerance),
        lambda: check_claim(game, "welfare", tolerance=tolerance),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match=r"tolerance must be a number in \[0, 1\), got"):
            call()


CLAIMS = [
    (np.zeros((3, 2, 2)), r"claimed must have shape \(2, 3, 2\), got \(3, 2, 2\)"),
    (np.zeros(11), r"claimed must have shape \(2, 3, 2\), got \(11,\)"),
    (0.0, r"claimed must have shape \(2, 3, 2\), got \(\)"),
    ("potential", r'claimed must be an array, a function of the profile or "welfare", got \'potential\''),
    (np.full((2, 3, 2), math.nan), r"claimed must be finite, got nan at \(0, 0, 0\)"),
    (lambda s: math.inf if s[1] == 2 else 0.0, r"claimed must be finite, got inf at \(0, 2, 0\)"),
    (lambda s: "much", r"claimed must hold one number per profile"),
    (lambda s: None, r"claimed must "),
    ([[1.0], [1.0, 2.0]], r"claimed must hold one number per profile"),
    (None, r"claimed must "),
]


@pytest.mark.parametrize(("claimed", "message"), CLAIMS)
def test_bad_claims(claimed, message):
    with pytest.raises(InvalidInput, match=message):
        check_claim(games.separable(), claimed)


def _nowhere(player, profile, data):
    return math.nan if profile[0] == 1 and profile[1] == 2 else 0.0


def _fails(player, profile, data):
    return 1 / (3 - int(profile.sum()))


def test_utilities_that_are_no_numbers():
    """The profile and the player are named; nothing is compiled for so small a game."""
    with pytest.raises(
        InvalidGame, match=r"utility of player 0 at profile \[1, 2\] must return a finite number, got nan"
    ):
        potential(pt.games.custom(_nowhere, [2, 3]))
    with pytest.raises(InvalidGame, match=r"utility of player 0 at profile \[1, 2\] failed: ZeroDivisionError"):
        potential(pt.games.custom(_fails, [2, 3]))


@pytest.mark.parametrize(
    "tau",
    [pt.rules.Geometric(1.0, 0.1), pt.rules.Logarithmic(1.0, rate=2.0), pt.rules.Piecewise([(0, 1.0), (5, 0.1)])],
    ids=lambda s: s.kind,
)
def test_a_chain_has_one_temperature(tau):
    rule = pt.rule("lll", tau=tau)
    with pytest.raises(InvalidRule, match=f"tau of this lll is a {type(tau).__name__} schedule; give a number"):
        chain(games.separable(), rule)
    assert stability(games.separable(), rule).stable.sum() == 1


def test_unknown_methods():
    found = chain(games.separable(), pt.rule("lll", tau=1.0))
    for call in (found.solve, found.stationary):
        with pytest.raises(
            InvalidInput, match=r"method must be one of auto, closed-form, gth, log-gth, gmres, got 'qr'"
        ):
            call("qr")
    for tolerance in (0.0, 1.0, -1.0, math.nan, "a", None):
        with pytest.raises(InvalidInput, match=r"tolerance must be a number in \(0, 1\), got"):
            found.solve(tolerance=tolerance)


RING = [
    potential,
    separable,
    lambda game: check_claim(game, "welfare"),
    lambda game: chain(game, pt.rule("lll", tau=1.0)),
    lambda game: stability(game, pt.rule("lll", tau=1.0)),
]


@pytest.mark.parametrize("call", RING)
def test_games_that_are_too_large(call):
    """The message says how many profiles there are, how many fit, and what to do instead."""
    with pytest.raises(
        TooLarge,
        match=r"about 10\^30 profiles, and about [0-9,]+ fit .*fewer players or actions, or sample with run_batch",
    ):
        call(pt.game("ring", players=100))


def test_rows_that_are_too_large():
    """The profiles fit, the matrix of a rule that moves everybody does not."""
    game = Separable([[0.0, 1.0]] * 20)
    with pytest.raises(
        TooLarge, match=r"over 1,048,576 profiles has 1,099,511,627,776 entries; about [0-9,]+ profiles fit"
    ):
        chain(game, pt.rule("slll", tau=1.0, revision=0.5))
    with pytest.raises(TooLarge, match=r"the guard is summed over for at most 12 players, got 13"):
        chain(Separable([[0.0, 1.0]] * 13), pt.rule("p-sblll", tau=1.0, revision=0.5, guard=True))


@pytest.mark.parametrize("wrong", [None, "ring", np.zeros((2, 2, 2))], ids=["None", "str", "array"])
def test_what_is_no_game(wrong):
    for call in RING:
        with pytest.raises(InvalidGame, match="expected a game"):
            call(wrong)


@pytest.mark.parametrize("wrong", [None, "lll", {"tau": 1.0}], ids=["None", "str", "dict"])
def test_what_is_no_rule(wrong):
    for call in (chain, stability):
        with pytest.raises(InvalidRule, match="expected a rule such as"):
            call(games.separable(), wrong)


def test_a_revision_that_does_not_fit_the_game():
    with pytest.raises(InvalidRule, match="one entry for each of 3 players, got 2"):
        chain(games.separable(), pt.rule("slll", tau=1.0, revision=(0.5, 0.5)))
    with pytest.raises(InvalidRule, match="revision names player 5"):
        stability(games.separable(), pt.rule("slll", tau=1.0, revision=pt.rules.Groups([((5,), 1.0)])))


KNOWING = {
    "normal form": random_potential_game([2, 3, 2], 1),
    "separable": pt.game("separable", players=3, actions=3),
    "coordination": pt.games.Coordination(
        [(0, 1), (1, 2)], [[3.0, 1.0], [2.0, 5.0]], weights=[0.5, -2.0], field=[[1, 2], [3, 4], [5, 6]]
    ),
    "ising": pt.games.ising([(0, 1), (1, 2), (0, 2)], coupling=-0.7, field=0.3),
    "congestion": pt.game("braess", players=4),
    "coverage": pt.game("coverage"),
    "own": pt.games.custom(
        lambda player, profile, data: float(profile.sum()), [2, 3], potential=lambda profile, data: profile.sum() + 7.0
    ),
}


@pytest.mark.parametrize("kind", KNOWING)
def test_the_two_potentials_differ_by_that_of_the_first_profile(kind):
    game = KNOWING[kind]
    assert game.has_potential
    table, constant = potential(game), game.potential([0] * game.num_players)
    assert table[(0,) * game.num_players] == 0.0
    for profile in np.ndindex(*game.num_actions):
        assert table[profile] + constant == pytest.approx(game.potential(profile), rel=1e-12, abs=1e-12)


def test_claims_about_large_games_are_sampled():
    """A right one passes; a wrong one is disproved by two profiles that anyone can check."""
    game = pt.game("ising", rows=10, columns=10)
    right = check_claim(game, game.potential, samples=50)
    assert right.holds
    assert str(right).endswith("at each of 50 deviations that were drawn")
    wrong = check_claim(game, "welfare", samples=50)
    assert not wrong
    du, dphi = (
        value(np.array(wrong.second)) - value(np.array(wrong.first))
        for value in (lambda profile: game.utility(wrong.player, profile), game.welfare)
    )
    assert (wrong.utility_change, wrong.claimed_change) == (du, dphi)
    assert du != dphi
    assert sum(a != b for a, b in zip(wrong.first, wrong.second, strict=True)) == 1
    assert not check_claim(game, lambda profile: math.nan, samples=1)
    assert check_claim(pt.games.Separable([[1.0]]), lambda profile: 0.0, samples=3).holds
    for options, message in (({"samples": 0}, "samples must be"), ({"samples": 9, "seed": -1}, "seed must be")):
        with pytest.raises(InvalidInput, match=message):
            check_claim(game, "welfare", **options)
    with pytest.raises(InvalidInput, match='claimed must be a function of the profile or "welfare"'):
        check_claim(game, np.zeros(4), samples=9)


def test_what_is_too_large_names_what_works():
    with pytest.raises(TooLarge, match=r"samples=1000.*potentia\.testing\.check_game.*optimum\(game\)"):
        potential(pt.game("ising"))
