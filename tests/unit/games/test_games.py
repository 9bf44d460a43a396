"""Games: utilities and potentials against numbers worked out by hand and by brute force, and what a game is."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.games import (
    Congestion,
    Coordination,
    NormalForm,
    Separable,
    consensus,
    custom,
    game,
    game_parameters,
    ising,
    own,
    random_potential_game,
    registered_games,
    ring_edges,
)

examples = settings(max_examples=60, deadline=None, derandomize=True)

# Eighths: sums and products of a few are exact in binary, so that every comparison below is for equality.
eighths = st.integers(-24, 24).map(lambda k: k / 8)


@pytest.fixture(autouse=True)
def _plain_python(monkeypatch):
    """Nothing here needs compiled code."""
    monkeypatch.setattr(own, "jit_disabled", lambda: True)


def profiles(of):
    return itertools.product(*(range(size) for size in of.num_actions))


def deviations(of):
    """Every player, profile and profile that differs in the player's action only."""
    for profile in profiles(of):
        for player, size in enumerate(of.num_actions):
            for action in range(size):
                yield player, profile, (*profile[:player], action, *profile[player + 1 :])


def assert_exact_potential(of, tolerance=0.0):
    assert of.has_potential
    for player, before, after in deviations(of):
        du = of.utility(player, after) - of.utility(player, before)
        dphi = of.potential(after) - of.potential(before)
        assert abs(du - dphi) <= tolerance, (player, before, after, du, dphi)


# By hand ----------------------------------------------------------------------------------------------


def test_normal_form_by_hand():
    payoffs = np.array([[[1, 2, 3], [4, 5, 6]], [[10, 20, 30], [40, 50, 60]]])
    of = NormalForm(payoffs)
    assert of.num_actions == (2, 3)
    assert of.num_profiles == 6
    assert of.utility(0, (1, 2)) == 6.0
    assert of.utility(1, (0, 1)) == 20.0
    assert of.welfare((1, 0)) == 44.0
    assert not of.has_potential


def test_separable_by_hand():
    of = Separable([[1.0, 5.0], [0.5, -2.0, 4.0]])
    assert of.utility(0, (1, 2)) == 5.0
    assert of.utility(1, (0, 1)) == -2.0
    assert of.potential((1, 2)) == of.welfare((1, 2)) == 9.0


def test_congestion_by_hand():
    # Players 0 and 1 share resource 1 in (0, 0, 1); player 2 is alone on 2.
    of = Congestion([[[0, 1], [2]], [[1], [0]], [[0], [2]]], [[1, 10, 100], lambda load: 5 * load, [2, 3]])
    assert of.loads((0, 0, 1)).tolist() == [1, 2, 1]
    assert [of.utility(i, (0, 0, 1)) for i in range(3)] == [-11.0, -10.0, -2.0]
    assert of.potential((0, 0, 1)) == -(1 + (5 + 10) + 2)
    assert of.welfare((0, 0, 1)) == -23.0
    assert of.strategy(0, 0) == (0, 1)
    # all three on resource 0
    assert of.utility(2, (0, 1, 0)) == -100.0
    assert of.potential((0, 1, 0)) == -(1 + 10 + 100 + 5)


def test_coordination_by_hand():
    payoff = np.array([[3.0, 1.0], [0.0, 2.0]])
    of = Coordination([[0, 1], [1, 2], [2, 0]], payoff, weights=[1.0, 2.0, -1.0], field=[[0, 0], [10, 20], [0, 5]])
    # player 1 plays 1: 1·P[1, 0] from player 0, 2·P[1, 1] from player 2, and its field
    assert of.utility(1, (0, 1, 1)) == 0.0 + 4.0 + 20.0
    assert of.utility(0, (0, 1, 1)) == 1.0 - 1.0
    assert of.utility(2, (0, 1, 1)) == 4.0 - 0.0 + 5.0
    assert of.welfare((0, 1, 1)) == 24.0 + 0.0 + 9.0


def test_edge_matrices_are_read_from_either_end():
    """One matrix serves both ends of its edge, row the own action."""
    of = Coordination([[1, 0]], [[[1.0, 2.0], [3.0, 4.0]]])
    assert of.utility(0, (0, 1)) == 2.0
    assert of.utility(1, (0, 1)) == 3.0


def test_ising_by_hand():
    of = ising(ring_edges(4), coupling=0.5, field=[1.0, 0.0, 0.0, -3.0])
    up, one_down = (1, 1, 1, 1), (0, 1, 1, 1)
    assert of.utility(0, up) == 0.5 * 2 + 1.0
    assert of.utility(0, one_down) == -0.5 * 2 - 1.0
    assert of.utility(1, one_down) == 0.0
    assert of.utility(3, up) == 0.5 * 2 - 3.0
    assert of.potential(up) - of.potential(one_down) == 4.0
    assert ising(ring_edges(4), field=2.0).utility(2, up) == 4.0


def test_consensus_by_hand():
    of = consensus(ring_edges(5), 3, weights=[1, 2, 4, 8, 16])
    assert of.utility(0, (2, 2, 0, 1, 2)) == 1 + 16
    assert of.utility(2, (2, 2, 0, 1, 2)) == 0
    assert of.potential((2, 2, 0, 1, 2)) == 1 + 16


def test_braess_by_hand():
    """With the shortcut everybody pays 2; without it, half on each route, 1.5."""
    of = game("braess", players=2)
    assert [of.utility(i, (2, 2)) for i in range(2)] == [-2.0, -2.0]
    assert [of.utility(i, (0, 1)) for i in range(2)] == [-1.5, -1.5]
    assert of.potential((2, 2)) == -3.0


def test_named_two_player_games_by_hand():
    stag = game("stag-hunt", stag=9.0, hare=2.0)
    assert [stag.utility(0, p) for p in profiles(stag)] == [9.0, 0.0, 2.0, 2.0]
    assert [stag.utility(1, p) for p in profiles(stag)] == [9.0, 2.0, 0.0, 2.0]
    dilemma = game("prisoners-dilemma")
    assert [dilemma.utility(0, p) for p in profiles(dilemma)] == [3.0, 0.0, 5.0, 1.0]
    pennies = game("matching-pennies")
    assert [pennies.welfare(p) for p in profiles(pennies)] == [0.0] * 4


def test_innovation_and_parallel_links_by_hand():
    of = game("innovation", players=4, advantage=0.5)
    assert of.utility(0, (1, 1, 0, 1)) == 3.0
    assert of.utility(2, (0, 0, 0, 1)) == 1.0
    links = game("congestion", players=4, links=2)
    assert links.utility(0, (1, 1, 1, 0)) == -1.5
    assert links.utility(3, (1, 1, 1, 0)) == -0.25


def test_custom_by_hand():
    of = custom(lambda i, p, d: d[i] * p[i] + p[1 - i], [2, 4], data=(10, 100), potential=lambda p, d: -p[0])
    assert of.utility(0, (1, 3)) == 13.0
    assert of.utility(1, np.array([1, 3])) == 301.0
    assert of.potential((1, 3)) == -1.0
    assert of.welfare([0, 0]) == 0.0


def test_number_of_profiles_is_exact():
    assert game("ring", players=200, actions=3).num_profiles == 3**200


# By brute force ---------------------------------------------------------------------------------------


@st.composite
def coordinations(draw):
    """A random graph, parallel edges included; symmetric payoffs plus r(a), which has the skewness r(a) - r(b)."""
    players, size = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    pairs = list(itertools.permutations(range(players), 2))
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=5))
    each = draw(st.booleans())
    raw = draw(st.lists(eighths, min_size=5 * size * (size + 1), max_size=5 * size * (size + 1)))
    table = np.array(raw).reshape(5, size + 1, size)[: len(edges) if each else 1]
    payoff = table[:, :size] + table[:, :size].transpose(0, 2, 1) + table[:, size, :, None]
    weights = draw(st.none() | st.lists(eighths, min_size=len(edges), max_size=len(edges)))
    field = draw(st.none() | st.lists(eighths, min_size=players * size, max_size=players * size))
    field = None if field is None else np.reshape(field, (players, size))
    inputs = {"edges": edges, "payoff": payoff, "weights": weights, "field": field, "players": players}
    payoff = payoff if each else payoff[0]
    return Coordination(edges, payoff, num_players=players, weights=weights, field=field), inputs


@examples
@given(coordinations())
def test_coordination_utility_is_the_sum_over_edges(drawn):
    of, inputs = drawn
    for profile in profiles(of):
        expected = [0.0] * of.num_players
        for e, (i, j) in enumerate(inputs["edges"]):
            weight = 1.0 if inputs["weights"] is None else inputs["weights"][e]
            matrix = inputs["payoff"][e if len(inputs["payoff"]) > 1 else 0]
            expected[i] += weight * matrix[profile[i]][profile[j]]
            expected[j] += weight * matrix[profile[j]][profile[i]]
        if inputs["field"] is not None:
            expected = [u + inputs["field"][i][profile[i]] for i, u in enumerate(expected)]
        assert [of.utility(i, profile) for i in range(of.num_players)] == expected


@examples
@given(coordinations())
def test_coordination_has_an_exact_potential(drawn):
    assert_exact_potential(drawn[0])


@examples
@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=9, max_size=9), st.booleans())
def test_coordination_knows_whether_an_edge_has_a_potential(entries, symmetric):
    """Monderer and Shapley: a potential exists iff utility sums to zero around every four-profile cycle."""
    payoff = np.reshape(entries, (3, 3))
    payoff = payoff + payoff.T if symmetric else payoff
    of = Coordination([[0, 1]], payoff)
    closed = all(
        (payoff[c, b] - payoff[a, b]) + (payoff[d, c] - payoff[b, c]) + (payoff[a, d] - payoff[c, d])
        + (payoff[b, a] - payoff[d, a]) == 0
        for a, b, c, d in itertools.product(range(3), repeat=4)
    )  # fmt: skip
    assert of.has_potential == closed
    if closed:
        assert_exact_potential(of)


ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def test_three_actions_without_a_potential():
    of = Coordination(ring_edges(3), ROCK_PAPER_SCISSORS)
    assert not of.has_potential
    with pytest.raises(pt.errors.InvalidGame, match="no potential is known for this Coordination"):
        of.potential((0, 0, 0))


def test_three_actions_with_skewness_of_the_right_form():
    r = np.array([0.0, 0.25, -2.0])
    of = Coordination(ring_edges(3), np.diag([1.0, 2.0, 3.0]) + r[:, None] - r[None, :])
    assert_exact_potential(of)


def test_one_edge_without_a_potential_is_not_hidden_by_a_large_one():
    of = Coordination([[0, 1], [1, 2]], [1e10 * np.eye(3), ROCK_PAPER_SCISSORS])
    assert not of.has_potential


@st.composite
def congestions(draw):
    """Player-specific strategy sets, empty strategies and unused resources included."""
    resources = draw(st.integers(1, 4))
    strategy = st.lists(st.integers(0, resources - 1), max_size=resources, unique=True)
    menus = draw(st.lists(st.lists(strategy, min_size=1, max_size=3), min_size=1, max_size=4))
    costs = [draw(st.lists(eighths, min_size=len(menus), max_size=len(menus))) for _ in range(resources)]
    return Congestion(menus, costs), menus, costs


@examples
@given(congestions())
def test_congestion_utility_and_potential_are_rosenthals(drawn):
    of, menus, costs = drawn
    for profile in profiles(of):
        chosen = [menus[i][a] for i, a in enumerate(profile)]
        load = Counter(r for strategy in chosen for r in strategy)
        for player, strategy in enumerate(chosen):
            assert of.utility(player, profile) == -sum(costs[r][load[r] - 1] for r in strategy)
        assert of.potential(profile) == -sum(costs[r][k] for r in load for k in range(load[r]))


@examples
@given(congestions())
def test_congestion_has_an_exact_potential(drawn):
    assert_exact_potential(drawn[0])


def test_shared_strategies_are_each_players():
    menu, costs = [[0], [1, 2], [2]], [[0.5, 1, 2], [1, 1, 4], [0.25, 3, 8]]
    shared, listed = Congestion(menu, costs, num_players=3), Congestion([menu] * 3, costs)
    for profile in profiles(shared):
        assert [shared.utility(i, profile) for i in range(3)] == [listed.utility(i, profile) for i in range(3)]
        assert shared.potential(profile) == listed.potential(profile)


@examples
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 2**32), st.sampled_from([1e-200, 1, 1e200]))
def test_random_potential_game_has_an_exact_potential(sizes, seed, scale):
    # A few roundings of numbers below 10.
    assert_exact_potential(random_potential_game(sizes, seed, scale), tolerance=1e-14 * scale)


def test_random_potential_game_depends_on_its_seed_only():
    first, again, other = (random_potential_game([2, 3], seed) for seed in (1, 1, 2))
    assert (first.payoffs == again.payoffs).all()
    assert (first.payoffs != other.payoffs).all()
    # not an identical-interest game: the others' term is there
    assert (first.payoffs[0] != first.payoffs[1]).all()


SMALL = {
    "ring": {"players": 4, "actions": 3},
    "torus": {"rows": 3, "columns": 3},
    "ising": {"rows": 3, "columns": 3, "coupling": 0.5, "field": -0.25},
    "innovation": {"players": 4, "advantage": 0.25},
    "congestion": {"players": 4, "links": 3},
    "braess": {"players": 4},
    "random-potential": {"players": 3, "actions": 3, "seed": 7},
    "separable": {"players": 3, "actions": 3, "seed": 7},
    "stag-hunt": {"stag": 5.0, "hare": 1.5},
    "prisoners-dilemma": {"temptation": 6.0, "reward": 3.5, "punishment": 0.5},
    "matching-pennies": {},
    "double-step": {},
    "coverage": {"columns": 3, "rows": 2, "robots": 2, "delta": 1.0, "seed": 7},
    "overlap": {"robots": 3, "cells": 3, "reach": 1, "seed": 7},
}


def test_every_named_game_is_tried_here():
    ours = {name for name, build in registered_games().items() if build.__module__ == "potentia.games.library"}
    assert ours >= set(SMALL)


@pytest.mark.parametrize("name", sorted(set(SMALL) - {"matching-pennies", "overlap"}))
def test_named_game_has_an_exact_potential(name):
    assert_exact_potential(game(name, **SMALL[name]), tolerance=1e-14)


def test_matching_pennies_has_no_potential():
    assert not game("matching-pennies").has_potential


@pytest.mark.parametrize("name", sorted(SMALL))
def test_named_game_takes_its_parameters(name):
    assert set(SMALL[name]) <= set(game_parameters(name))
    assert game(name).describe() == game(name, **game_parameters(name)).describe()


# The functions that compile, in plain Python -----------------------------------------------------------


R = np.array([0.0, 0.25, -2.0])
SKEWED = np.diag([1.0, 2.0, 3.0]) + R[:, None] - R[None, :]
TWO = np.array([[[1.0, 0.25], [-0.5, 2.0]], [[0.5, 0.0], [0.125, 1.0]]])
FIELD = np.array([[0.0, 1.0], [0.5, 0.0], [0.0, 0.0], [0.25, 0.0]])
