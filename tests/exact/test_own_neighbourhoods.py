"""The best profile of games of one's own that say who interacts: right, or refused where they say it wrongly."""

from __future__ import annotations

import re

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import best, enumeration, neighbourhoods
from potentia.errors import InvalidGame, TooLarge
from potentia.games import custom
from potentia.kernel.cache import jit_disabled

OBJECTIVES = ("potential", "welfare")


def _apart(player, profile, data):
    """Everybody whose weight is not 0 counts."""
    total = 0.0
    for other in range(profile.size):
        total += data[player, other] * abs(profile[player] - profile[other])
    return total


def _apart_potential(profile, data):
    total = 5.0 * data.max()
    for player in range(profile.size):
        for other in range(player):
            total += data[player, other] * abs(profile[player] - profile[other])
    return total


def pairs_of(weights):
    return [(i, j) for i in range(len(weights)) for j in range(i) if weights[i, j]]


def weights_of(seed, players=5, gone=2):
    """Symmetric, some of them 0, of any scale."""
    random = np.random.default_rng(seed)
    weights = np.tril(random.standard_normal((players, players)), -1) * random.choice([1e-9, 1.0, 1e9])
    for i, j in random.permutation(pairs_of(weights))[:gone]:
        weights[i, j] = 0.0
    return weights + weights.T


def own(weights, interactions, actions=3, potential=_apart_potential, utility=_apart):
    return custom(utility, [actions] * len(weights), data=weights, potential=potential, interactions=interactions)


def most(game, objective):
    value = game.potential if objective == "potential" else game.welfare
    return max(value(profile) for profile in np.ndindex(*game.num_actions))


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Games on graphs as such, however small; nothing is compiled."""
    monkeypatch.setattr(best, "_FEW", 0)
    monkeypatch.setattr(enumeration, "_BY_PYTHON", 10**9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_who_interacts_is_named_or_the_pair_is_told(objective):
    """With all pairs the optimum is that of all profiles. One left out is an error that names it."""
    for seed in range(6):
        weights = weights_of(seed)
        pairs = pairs_of(weights)
        game = own(weights, pairs)
        found = pt.analysis.optimum(game, objective=objective)
        assert found.method == "elimination"
        assert found.proven
        assert found.value == pytest.approx(most(game, objective), rel=1e-9)
        out = pairs.pop(seed % len(pairs))
        with pytest.raises(InvalidGame, match=r"depends on .* but interactions do not say so") as caught:
            pt.analysis.optimum(own(weights, pairs), objective=objective)
        player, other = (int(k) for k in re.findall(r"player (\d+)'s", str(caught.value))[:2])
        assert {player, other} == set(out)
        here, there = (float(k) for k in re.search(r"it is (\S+) at .* and (\S+) where", str(caught.value)).groups())
        where = [int(k) for k in re.search(r"at \((.*?)\)", str(caught.value)).group(1).split(",")]
        assert here == game.utility(player, where)
        where[other] = 0
        assert there == game.utility(player, where)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_without_the_comparison_a_wrong_optimum_would_be_proven(monkeypatch, objective):
    """The negative control: what is refused above is wrong. The profile that is found is compared, too."""
    weights = weights_of(1)
    game = own(weights, [(k, k + 1) for k in range(4)])
    monkeypatch.setattr(neighbourhoods, "_LEAST", 0)
    monkeypatch.setattr(neighbourhoods, "_MOST", 0)
    with pytest.raises(InvalidGame, match="interactions do not say so"):
        pt.analysis.optimum(game, objective=objective)
    monkeypatch.setattr(neighbourhoods, "_CLOSE", np.inf)
    found = pt.analysis.optimum(game, objective=objective)
    assert found.proven
    assert found.value < most(game, objective) - 0.1 * np.abs(weights).max()


def test_crowds_are_felt():
    """Who interacts with nobody but minds where all others agree, which draws of single players hardly ever meet."""

    def utility(player, profile, data):
        return float(profile[player]) - 10.0 * (player == 0 and profile[1:].min() == 1)

    game = custom(utility, [2] * 16, interactions=[(1, 2)])
    with pytest.raises(InvalidGame, match="player 0's utility depends on player"):
        pt.analysis.optimum(game)


def test_what_does_not_change_differences_is_nothing_to_the_potential():
    """Others' actions may add to a utility, and the potential is the same; welfare is not."""

    def utility(player, profile, data):
        return _apart(player, profile, data) + data.max() * (profile.sum() - profile[player])

    weights = weights_of(2)
    game = own(weights, pairs_of(weights), utility=utility)
    assert pt.analysis.optimum(game).value == pytest.approx(most(game, "potential"), rel=1e-9)
    with pytest.raises(InvalidGame, match="interactions do not say so"):
        pt.analysis.optimum(game, objective="welfare")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_where_tables_are_too_large_every_profile_is_looked_at(monkeypatch, objective):
    weights = weights_of(3)
    pairs = pairs_of(weights)
    expected = pt.analysis.optimum(own(weights, pairs), objective=objective)
    monkeypatch.setattr(neighbourhoods, "_PLAIN", 100)
    for interactions in (pairs, [range(5)]):  # the latter says nothing
        found = pt.analysis.optimum(own(weights, interactions), objective=objective)
        assert found.method == "enumeration"
        assert found.value == pytest.approx(expected.value, rel=1e-9)
    monkeypatch.setattr(enumeration, "_MOST_PLAIN", 100)
    with pytest.raises(TooLarge, match="utilities in all, is too large: up to 100 are computed"):
        pt.analysis.optimum(own(weights, pairs), objective=objective)


@pytest.mark.skipif(jit_disabled(), reason="nothing is compiled")
def test_machine_code_makes_the_same_tables(monkeypatch):
    weights = weights_of(4)
    game = own(weights, pairs_of(weights))
    plain = {objective: neighbourhoods.Local(game, objective).functions for objective in OBJECTIVES}
    monkeypatch.setattr(enumeration, "_BY_PYTHON", 0)
    assert enumeration.by_machine(game, 1)
    for objective in OBJECTIVES:
        for (scope, table), (own_scope, expected) in zip(
            neighbourhoods.Local(game, objective).functions, plain[objective], strict=True
        ):
            assert scope == own_scope
            np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-12 * np.abs(weights).max())


def test_players_without_a_choice_take_no_room():
    """Arrays have at most 64 axes."""
    sizes = [1] * 70 + [2, 2, 3]
    game = custom(lambda player, profile, data: float(profile[player]), sizes, interactions=[range(72), (71, 72)])
    assert pt.analysis.optimum(game, objective="welfare").value == 4.0


def test_utilities_that_are_no_numbers_are_told():
    def utility(player, profile, data):
        return np.nan if profile[player] == 1 and profile[1] == 1 else 0.0

    with pytest.raises(InvalidGame, match=r"utility of player 0 at profile .* must return a finite number, got nan"):
        pt.analysis.optimum(custom(utility, [3, 3, 3], interactions=[(0, 1)]))
