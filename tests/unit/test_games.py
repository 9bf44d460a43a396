"""Games: utilities and potentials against numbers worked out by hand and by brute force, and what a game is."""

from __future__ import annotations

import functools
import itertools
import sys
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.games import (
    Congestion,
    Coordination,
    Custom,
    NormalForm,
    Separable,
    consensus,
    custom,
    game,
    game_parameters,
    grid_moves,
    ising,
    path_moves,
    random_potential_game,
    registered_games,
    ring_edges,
    torus_edges,
)
from potentia.kernel import protocol

examples = settings(max_examples=60, deadline=None, derandomize=True)

# Eighths: sums and products of a few are exact in binary, so that every comparison below is for equality.
eighths = st.integers(-24, 24).map(lambda k: k / 8)


@pytest.fixture(autouse=True)
def _plain_python(monkeypatch):
    """Nothing here needs compiled code."""
    monkeypatch.setattr(sys.modules[Custom.__module__], "jit_disabled", lambda: True)


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
}


def test_every_named_game_is_tried_here():
    ours = {name for name, build in registered_games().items() if build.__module__ == "potentia.games.library"}
    assert ours == set(SMALL)


@pytest.mark.parametrize("name", sorted(set(SMALL) - {"matching-pennies"}))
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


def _own_times_sum(player, profile, data):
    return float(profile[player] * profile.sum())


KINDS = {
    "normal form": lambda: NormalForm(np.arange(36.0).reshape(3, 2, 3, 2) % 7),
    "normal form with potential": lambda: random_potential_game([2, 3, 2], seed=5),
    "separable": lambda: Separable([[0.5, 1.0], [2.0, 0.25, -1.0]]),
    "congestion": lambda: Congestion(
        [[[0], [1, 2]], [[0, 1], []], [[1], [2], [0, 2]]], [[0.5, 1, 2], [1, 3, 9], [2, 2, 2]]
    ),
    "coordination": lambda: Coordination(ring_edges(3), SKEWED),
    "coordination without potential": lambda: Coordination(ring_edges(3), ROCK_PAPER_SCISSORS),
    "coordination with everything": lambda: Coordination(
        [[0, 1], [2, 1]], TWO, weights=[2.0, 0.5], field=FIELD, num_players=4
    ),
    "coordination, matrices and three actions": lambda: Coordination([[0, 1], [2, 1]], [SKEWED, 2 * SKEWED.T]),
    "custom": lambda: custom(_own_times_sum, [2, 3], potential=lambda p, d: float(p[0])),
    "custom without potential": lambda: custom(_own_times_sum, [2, 3]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_functions_agree_with_the_reference(kind):
    of = KINDS[kind]()
    data = of.data
    assert protocol.num_players(data) == of.num_players
    for profile in profiles(of):
        state = of.new_state(np.array(profile))
        protocol.settle(data, state)
        for player, size in enumerate(of.num_actions):
            assert protocol.num_actions(data, player) == size
            row = np.zeros(size)
            protocol.utilities(data, state, player, row)
            for action in range(size):
                then = of.utility(player, (*profile[:player], action, *profile[player + 1 :]))
                assert row[action] == then
                assert protocol.utility(data, state, player, action) == then
                assert protocol.compare(data, state, player, action) == (of.utility(player, profile), then)
        assert protocol.welfare(data, state) == pytest.approx(of.welfare(profile), rel=1e-14, abs=1e-14)
        assert tuple(state.profile) == profile


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_potential_agrees_with_the_reference(kind):
    of = KINDS[kind]()
    if not of.has_potential:
        with pytest.raises(pt.errors.InvalidGame, match="no potential is known"):
            of.potential((0,) * of.num_players)
        return
    for profile in profiles(of):
        state = of.new_state(np.array(profile))
        protocol.settle(of.data, state)
        assert protocol.potential(of.data, state) == pytest.approx(of.potential(profile), rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_apply_leaves_the_state_that_settle_would(kind):
    of = KINDS[kind]()
    state = of.new_state(np.zeros(of.num_players, np.int64))
    protocol.settle(of.data, state)
    for player, _, after in deviations(of):
        protocol.apply(of.data, state, player, after[player])
        fresh = of.new_state(np.array(state.profile))
        protocol.settle(of.data, fresh)
        assert all((a == b).all() for a, b in zip(state, fresh, strict=True))


# Moves and interactions --------------------------------------------------------------------------------


def test_moves_in_each_form():
    free = Separable([[0, 1, 2]] * 2)
    assert free.reachable(0, 1) == [0, 2]
    line = Separable([[0, 1, 2]] * 2, moves=path_moves(3))
    assert [line.reachable(1, a) for a in range(3)] == [[1], [0, 2], [1]]
    each = Separable([[0, 1], [0, 1, 2]], moves=[~np.eye(2, dtype=bool), [[1], [2, 1, 2], [0]]])
    assert [each.reachable(0, a) for a in range(2)] == [[1], [0]]
    assert [each.reachable(1, a) for a in range(3)] == [[1], [2], [0]]
    # the current action does not count, and a single action needs no moves
    assert Separable([[0, 1]], moves=np.ones((2, 2), bool)).reachable(0, 0) == [1]
    assert Separable([[0.0]], moves=[[[]]]).reachable(0, 0) == []


def test_grid_moves_are_the_adjacent_cells():
    grid = grid_moves(3, 4)
    assert np.flatnonzero(grid[0]).tolist() == [1, 4, 5]
    assert np.flatnonzero(grid[5]).tolist() == [0, 1, 2, 4, 6, 8, 9, 10]
    assert (grid == grid.T).all()


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_moves_are_the_reachable_actions(kind):
    of = KINDS[kind]()
    for player, size in enumerate(of.num_actions):
        for action in range(size):
            count = protocol.num_reachable(of.moves, player, action, size)
            found = [protocol.reachable(of.moves, player, action, k) for k in range(count)]
            assert found == of.reachable(player, action)


def test_kernel_moves_of_constrained_players():
    moves = [[[1], [0, 2], [1]], [[1], [0]]]
    of = Separable([[0, 1, 2], [0, 1]], moves=moves)
    for player, lists in enumerate(moves):
        for action, expected in enumerate(lists):
            count = protocol.num_reachable(of.moves, player, action, len(lists))
            assert [protocol.reachable(of.moves, player, action, k) for k in range(count)] == expected


def interacting(of):
    """Pairs of players who share a group."""
    ptr, groups, num_groups = of.interactions
    assert ptr.shape == (of.num_players + 1,)
    assert groups.size == ptr[-1]
    assert ((groups >= 0) & (groups < num_groups)).all()
    mine = [set(groups[ptr[i] : ptr[i + 1]].tolist()) for i in range(of.num_players)]
    return {(i, j) for i, j in itertools.combinations(range(of.num_players), 2) if mine[i] & mine[j]}


def affecting(of):
    """Pairs of players of whom one's action changes the other's utility somewhere."""
    found = set()
    for player, before, after in deviations(of):
        for other in range(of.num_players):
            if other != player and of.utility(other, before) != of.utility(other, after):
                found.add((min(player, other), max(player, other)))
    return found


def test_interactions_of_a_normal_form():
    # player 2 looks at player 0; nobody looks at player 1
    payoffs = np.zeros((3, 2, 2, 2))
    payoffs[2, 1] = 1.0
    payoffs[1, :, 1, :] = 5.0
    of = NormalForm(payoffs)
    assert interacting(of) == affecting(of) == {(0, 2)}


def test_interactions_of_a_coordination_game():
    of = Coordination([[0, 1], [2, 1], [3, 4]], np.eye(2), num_players=6)
    assert interacting(of) == affecting(of) == {(0, 1), (1, 2), (3, 4)}


def test_interactions_of_a_congestion_game():
    of = Congestion([[[0], [1]], [[1], [2]], [[2], [3]], [[4], [5]]], [[1.0, 2.0]] * 6)
    assert interacting(of) == affecting(of) == {(0, 1), (1, 2)}


def test_interactions_of_the_others():
    assert interacting(Separable([[0, 1]] * 3)) == set()
    everybody = {(0, 1), (0, 2), (1, 2)}
    assert interacting(custom(lambda i, p, d: 0.0, [2] * 3)) == everybody
    assert interacting(custom(lambda i, p, d: 0.0, [2] * 3, interactions=[])) == set()
    assert interacting(custom(lambda i, p, d: 0.0, [2] * 4, interactions=[(3, 0), (1, 2, 1)])) == {(0, 3), (1, 2)}


@pytest.mark.parametrize("kind", KINDS)
def test_no_effect_without_interaction(kind):
    of = KINDS[kind]()
    assert affecting(of) <= interacting(of)


def test_ring_and_torus_have_the_right_neighbours():
    assert {frozenset(e) for e in ring_edges(4).tolist()} == {frozenset(p) for p in [(0, 1), (1, 2), (2, 3), (3, 0)]}
    torus = nx.Graph(torus_edges(3, 4).tolist())
    assert nx.is_isomorphic(torus, nx.grid_2d_graph(3, 4, periodic=True))
    assert set(torus[0]) == {1, 3, 4, 8}


# Immutability -----------------------------------------------------------------------------------------


def arrays_of(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_of(part)


@pytest.mark.parametrize("kind", KINDS)
def test_game_is_immutable(kind):
    of = KINDS[kind]()
    for name in ("sizes", "moves", "payoffs", "data", "anything", "_sealed"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(of, name, None)
    with pytest.raises(AttributeError, match="immutable"):
        del of.sizes


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_read_only(kind):
    of = KINDS[kind]()
    held = [a for value in vars(of).values() for a in arrays_of(value)]
    handed = [*arrays_of(of.data), *arrays_of(of.interactions), *arrays_of(of.no_interactions)]
    assert held
    assert handed
    assert not any(array.flags.writeable for array in held + handed)


def test_custom_data_is_copied_and_read_only():
    weights = np.array([1.0, 2.0])
    of = custom(lambda i, p, d: d[0][i] * p[i], [2, 2], data=(weights, 3))
    weights[:] = 100.0
    assert of.utility(1, (0, 1)) == 2.0
    with pytest.raises(ValueError, match="read-only"):
        of.custom_data[0][0] = 5.0


def test_callers_arrays_can_change_afterwards():
    payoffs, phi = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]), np.array([[-2.0, 0.0], [0.0, 1.0]])
    edges, matrix, weights, field = ring_edges(3).copy(), np.eye(2), np.ones(3), np.zeros((3, 2))
    tables, costs, menu, moves = np.array([[0.0, 1.0]]), [np.array([1.0, 2.0])], [[0], []], [[[1], [0]]] * 2
    reach = ~np.eye(2, dtype=bool)
    games = [
        NormalForm(payoffs, potential=phi),
        Coordination(edges, matrix, weights=weights, field=field, moves=reach),
        Separable(tables),
        Congestion(menu, costs, num_players=2, moves=moves),
    ]

    def everything():
        return [
            (of.utility(i, p), of.potential(p), of.reachable(i, p[i]), of.fingerprint())
            for of in games
            for p in profiles(of)
            for i in range(of.num_players)
        ]

    before = everything()
    for array in (payoffs, phi, matrix, weights, field, tables, costs[0]):
        array[...] = 7.0
    edges[:] = 0
    reach[:] = True
    menu[0].append(5)
    moves[0][0].append(0)
    costs.clear()
    assert everything() == before


def test_callers_arrays_stay_writeable():
    payoffs = np.zeros((2, 2, 2))
    NormalForm(payoffs)
    payoffs[0, 0, 0] = 1.0
    assert payoffs.flags.writeable


def test_two_states_of_a_game_share_nothing():
    of = Congestion([[0], [1]], [[1.0, 2.0]] * 2, num_players=2)
    first, second = of.new_state(np.array([0, 0])), of.new_state(np.array([0, 0]))
    for state in (first, second):
        protocol.settle(of.data, state)
    protocol.apply(of.data, first, 0, 1)
    assert second.loads.tolist() == [2, 0]
    assert second.profile.tolist() == [0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_profile_is_checked_and_copied(kind):
    of = KINDS[kind]()
    profile = np.zeros(of.num_players, np.int64)
    copy = of.check_profile(profile)
    copy[0] = 1
    assert profile[0] == 0
    assert of.check_profile(profile.astype(np.uint8)).dtype == np.int64


def test_fingerprint_tells_games_apart():
    payoffs = np.zeros((2, 2, 2))
    other = payoffs.copy()
    other[1, 1, 1] = 1e-300
    prints = [
        NormalForm(payoffs).fingerprint(),
        NormalForm(other).fingerprint(),
        NormalForm(payoffs, moves=~np.eye(2, dtype=bool)).fingerprint(),
        Separable([[0.0, 0.0]] * 2).fingerprint(),
    ]
    assert len(set(prints)) == len(prints)
    assert NormalForm(payoffs.tolist()).fingerprint() == prints[0]


# networkx ---------------------------------------------------------------------------------------------


def test_networkx_graph_with_labels_and_weights():
    graph = nx.Graph()
    graph.add_nodes_from(["c", "a", ("b", 1)])
    graph.add_edge("a", "c", weight=2.0)
    graph.add_edge(("b", 1), "a")
    of = Coordination(graph, np.eye(2))
    assert of.nodes == ("c", "a", ("b", 1))
    assert of.num_players == 3
    assert {(frozenset(e), w) for e, w in zip(of.edges.tolist(), of.weights.tolist(), strict=True)} == {
        (frozenset((0, 1)), 2.0),
        (frozenset((1, 2)), 1.0),
    }
    # "a" agrees with both: 2 from "c", 1 from ("b", 1), which has no weight
    assert of.utility(1, (0, 0, 0)) == 3.0
    assert of.utility(1, (0, 1, 1)) == 1.0


def test_networkx_weights_can_be_overridden():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=2.0)
    assert Coordination(graph, np.eye(2), weights=[5.0]).utility(0, (1, 1)) == 5.0


def test_networkx_graph_without_weights_and_with_a_loner():
    graph = nx.path_graph(3)
    graph.add_node("alone")
    of = consensus(graph)
    assert of.weights.size == 0
    assert [of.utility(i, (0, 0, 0, 1)) for i in range(4)] == [1.0, 2.0, 1.0, 0.0]


def test_networkx_graph_can_change_afterwards():
    graph = nx.path_graph(3)
    of = consensus(graph)
    graph.remove_node(1)
    assert of.utility(1, (0, 0, 0)) == 2.0


def test_networkx_parallel_edges_count_twice():
    graph = nx.MultiGraph([(0, 1), (0, 1)])
    assert consensus(graph).utility(0, (1, 1)) == 2.0


# Utilities that are not plain functions ----------------------------------------------------------------


def _scaled(factor, player, profile, data):
    return factor * float(profile[player])


class _Callable:
    def __call__(self, player, profile, data):
        return float(profile[player])


CALLABLES = pytest.mark.parametrize(
    "utility", [functools.partial(_scaled, 2.0), _Callable()], ids=["partial", "object"]
)


@CALLABLES
def test_custom_takes_any_callable(utility):
    of = custom(utility, [2, 2])
    assert of.utility(0, (1, 0)) > 0
    assert "players=2" in of.describe()


@CALLABLES
def test_callable_that_numba_does_not_take_runs_in_python(utility, monkeypatch):
    monkeypatch.setattr(sys.modules[Custom.__module__], "jit_disabled", lambda: False)
    of = custom(utility, [2, 2])
    with pytest.warns(pt.errors.NotCompiled, match="runs in Python"):
        assert not of.compiled
    assert protocol.utility(of.data, of.new_state(np.array([1, 0])), 0, 1) > 0
