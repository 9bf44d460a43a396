"""Kernels, moves, interactions and immutability of every kind of game."""

from __future__ import annotations

import functools
import inspect
import itertools
import pickle

import cloudpickle
import networkx as nx
import numpy as np
import pytest

import potentia as pt
from potentia.games import (
    Congestion,
    Coordination,
    Custom,
    NormalForm,
    Separable,
    consensus,
    custom,
    grid_moves,
    own,
    path_moves,
    random_potential_game,
    ring_edges,
    torus_edges,
)
from potentia.kernel import protocol
from tests.unit.games.test_games import FIELD, ROCK_PAPER_SCISSORS, SKEWED, TWO, deviations, profiles


@pytest.fixture(autouse=True)
def _plain_python(monkeypatch):
    """Nothing here needs compiled code."""
    monkeypatch.setattr(own, "jit_disabled", lambda: True)


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


def test_a_player_without_constraint_among_others():
    game = Separable([[0, 1, 2]] * 2, moves=[path_moves(3), None])
    assert [game.reachable(0, a) for a in range(3)] == [[1], [0, 2], [1]]
    assert [game.reachable(1, a) for a in range(3)] == [[1, 2], [0, 2], [0, 1]]


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
    with pytest.warns(pt.errors.InteractionsUnknown):
        assert interacting(custom(lambda i, p, d: 0.0, [2] * 3)) == everybody
    assert interacting(custom(lambda i, p, d: 0.0, [2] * 3, interactions=[range(3)])) == everybody


def test_interactions_of_a_custom_game_in_every_form():
    expected = {(0, 3), (1, 2)}
    directed = nx.DiGraph([(3, 0), (1, 2), (2, 1), (1, 1)])
    forms = [
        [(3, 0), (1, 2, 1)],
        [[1, 2], [3, 0], [], [0]],  # as many entries as players: groups all the same
        ({0, 3}, {1, 2}),
        np.array([[0, 3], [2, 1]]),
        nx.Graph([(3, 0), (1, 2)]),  # a node's number is the player, whatever its place
        nx.MultiGraph([(3, 0), (1, 2), (1, 2)]),
        directed,
        {3: [0], 1: [2, 1], 2: (1,), 0: []},
        {np.int64(0): {3: "weight"}, 2: np.array([1])},
        directed.adj,
    ]
    for given in forms:
        of = custom(lambda i, p, d: 0.0, [2] * 4, interactions=given)
        assert interacting(of) == {pair for pair in itertools.combinations(range(4), 2) if of.interacting(*pair)}
        assert interacting(of) == expected, given
    assert of.interactions.num_groups == 2  # each pair once, and nobody with itself
    for nobody in ([], {}, nx.empty_graph(3)):
        assert interacting(custom(lambda i, p, d: 0.0, [2] * 3, interactions=nobody)) == set()


def ring_sum(player, profile, data):
    """Each player of a ring meets the next one and the one before."""
    return float(profile[player] * (profile[player - 1] + profile[(player + 1) % len(profile)]))


def test_a_guard_says_once_that_it_serialises():
    guarded = pt.rule("p-sblll", tau=1.0, revision=0.9, guard=True)
    unknown = custom(ring_sum, [2] * 6)
    told = (
        r"ring_sum was given without interactions, so that all 6 players .* 1\.0 revisions a step; give interactions=.*"
    )
    with pytest.warns(pt.errors.InteractionsUnknown, match=told + r"\[range\(6\)\] if all do") as caught:
        runs = [pt.run(unknown, guarded, 300, seed, compiled=False) for seed in range(2)]
    assert [warning.filename for warning in caught] == [__file__]
    assert max(run.revisions for run in runs) <= 300
    known = custom(ring_sum, [2] * 6, interactions=nx.cycle_graph(6))
    assert pt.run(known, guarded, 300, 0, compiled=False).revisions > 450
    pt.run(custom(ring_sum, [2] * 2), guarded, 5, compiled=False)  # two cannot be told apart from all
    pt.run(custom(ring_sum, [2] * 6), pt.rule("p-sblll", tau=1.0, revision=0.9), 5, compiled=False)
    assert custom(ring_sum, [2] * 6).interacting(0, 3)


def test_custom_shows_what_it_takes():
    assert inspect.signature(custom).parameters == inspect.signature(Custom).parameters
    for name in inspect.signature(custom).parameters:
        assert f"\n{name} : " in inspect.getdoc(custom)


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
    monkeypatch.setattr(own, "jit_disabled", lambda: False)
    of = custom(utility, [2, 2])
    with pytest.warns(pt.errors.NotCompiled, match="runs in Python"):
        assert not of.compiled
    assert protocol.utility(of.data, of.new_state(np.array([1, 0])), 0, 1) > 0


# Functions that are made again ------------------------------------------------------------------------


def _made(weight=None, sign=None):
    """A function as a game's factory makes one; what it takes from outside is in a cell and in a default."""

    def utility(player, profile, data, *, sign=sign):
        return float(profile[player]) * (1.0 if weight is None else weight) * (1.0 if sign is None else sign)

    return utility


class _Shop:
    def __init__(self, price):
        self.price = price

    def utility(self, player, profile, data):
        return self.price * float(profile[player])


def test_functions_that_do_the_same_share_machine_code():
    games = [custom(_made(), [2, 2], data=data) for data in (1.0, 2.0)]
    assert games[0].kernel_data.function is games[1].kernel_data.function
    assert games[0].plain_data.function is not games[1].plain_data.function, "plain Python plays what it was given"
    games = [pickle.loads(cloudpickle.dumps(game)) for game in games]  # as they reach the workers of a sweep
    assert games[0].kernel_data.function is games[1].kernel_data.function
    twos = [custom(_made(weight), [2, 2]).kernel_data.function for weight in (2.0, 3.0, 2.0, 3.0)]
    assert twos[:2] == twos[2:]


class _Number(float):
    pass


@pytest.mark.parametrize(
    "utilities",
    [
        lambda: [_made(2.0), _made(3.0)],
        lambda: [_made(2), _made(2.0)],
        lambda: [_made(0.0), _made(-0.0)],
        lambda: [_made(np.float64(0.0)), _made(np.float64(-0.0))],
        lambda: [_made(_Number(2.0)), _made(_Number(2.0))],
        lambda: [_made(np.array(value)) for value in (2.0, 3.0)],
        lambda: [_made(sign=1.0), _made(sign=-1.0)],
        lambda: [_Shop(2.0).utility, _Shop(3.0).utility],
    ],
    ids=["values", "types", "zeros", "numpy zeros", "subclasses", "arrays", "defaults", "methods"],
)
def test_functions_that_take_other_things_from_outside_do_not(utilities):
    games = [custom(utility, [2, 2]) for utility in utilities()]
    assert games[0].kernel_data.function != games[1].kernel_data.function


def test_a_function_whose_surroundings_have_changed_is_shared_no_more():
    def made(weight):
        def utility(player, profile, data):
            return weight * float(profile[player])

        def change(to):
            nonlocal weight
            weight = to

        return utility, change

    first, change = made(1.0)
    assert custom(first, [2, 2]).kernel_data.function is first
    change(-1.0)
    second = custom(made(1.0)[0], [2, 2])
    assert second.kernel_data.function is not first
