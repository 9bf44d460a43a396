"""Bad games: the exception, the field it names and what arrived, before anything runs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from potentia.errors import InvalidGame, NotPotentialGame, PotentiaError
from potentia.games import (
    Congestion,
    Coordination,
    Custom,
    NormalForm,
    Separable,
    consensus,
    game,
    ising,
    path_moves,
    random_potential_game,
    register_game,
    ring_edges,
    torus_edges,
)
from tests.unit.bad import (
    DILEMMA,
    DILEMMA_POTENTIAL,
    EYE,
    INF,
    NAN,
    case,
    dilemma,
    nothing_plays,  # noqa: F401
    pennies,
    refuses,
    two_by_two,
    zero,
)

# Games ------------------------------------------------------------------------------------------------

PAYOFFS = [
    case(
        "nan",
        lambda: NormalForm([[[1.0, NAN], [0, 0]], EYE]),
        r"payoffs must be finite.*, got nan at index \(0, 0, 1\)",
    ),
    case("inf", lambda: NormalForm([EYE, [[0, 0], [-INF, 0]]]), r"payoffs .*got -inf at index \(1, 1, 0\)"),
    case("ragged", lambda: NormalForm([[1, 2], [3]]), r"payoffs must be a rectangular array.*\[\[1, 2\], \[3\]\]"),
    case("text", lambda: NormalForm("abc"), r"payoffs .*got 'abc'"),
    case("complex", lambda: NormalForm(np.ones((2, 2, 2), complex)), r"payoffs must be .*real numbers, got array"),
    case("one axis", lambda: NormalForm([1.0, 2.0]), r"payoffs must have shape \(N, A_1.*got \(2,\)"),
    case("axes and players differ", lambda: NormalForm(np.zeros((3, 2, 2))), r"payoffs .*got shape \(3, 2, 2\)"),
    case("no players", lambda: NormalForm(np.zeros((0,))), r"payoffs must have shape .*got \(0,\)"),
    case("no actions", lambda: NormalForm(np.zeros((2, 2, 0))), r"player 1 must have at least one action, got 0"),
    case("potential's shape", lambda: NormalForm(DILEMMA, potential=[1.0, 2.0]), r"potential .*\(2, 2\), got \(2,\)"),
    case("potential nan", lambda: NormalForm(DILEMMA, potential=NAN * EYE), r"potential must be finite.*, got nan"),
    case("separable number", lambda: Separable(5), r"utilities must hold one sequence per player, got 5"),
    case("separable mapping", lambda: Separable({1: [1.0, 2.0]}), r"utilities .*\{1: "),
    case("separable empty", lambda: Separable([]), r"utilities must hold one sequence per player, got \[\]"),
    case("separable no actions", lambda: Separable([[1.0], []]), r"player 1 must have at least one action, got 0"),
    case("separable nan", lambda: Separable([[1.0], [NAN]]), r"utilities of player 1 must be finite.*, got nan"),
    case("separable matrix", lambda: Separable([EYE]), r"utilities of player 0 .*got shape \(2, 2\)"),
    case("random scale", lambda: random_potential_game([2, 2], scale=NAN), r"finite.*, got nan"),
    case("random seed", lambda: random_potential_game([2, 2], seed=-1), r"seed .*-1"),
    case(
        "random no players", lambda: random_potential_game([]), r"num_actions must name at least one player, got none"
    ),
]


@pytest.mark.parametrize(("call", "message"), PAYOFFS)
def test_bad_payoffs(call, message):
    refuses(call, InvalidGame, message)


MOVES = [
    case("nowhere", lambda: two_by_two(moves=[[[1], [1]]] * 2), r"moves of player 0, action 1 leads nowhere"),
    case("nowhere, matrix", lambda: two_by_two(moves=EYE.astype(bool)), r"moves, action 0 leads nowhere"),
    case("out of range", lambda: two_by_two(moves=[[[1], [2]]] * 2), r"moves of player 0, action 1: .*0\.\.1, got 2"),
    case("negative", lambda: two_by_two(moves=[[[1], [0]], [[-1], [0]]]), r"moves of player 1, action 0: .*got -1"),
    case("not integers", lambda: two_by_two(moves=[[[1.0], [0]]] * 2), r"moves of player 0, action 0: .*got 1\.0"),
    case(
        "wrong shape", lambda: two_by_two(moves=np.ones((2, 3), bool)), r"moves must have shape \(2, 2\), got \(2, 3\)"
    ),
    case("too few lists", lambda: two_by_two(moves=[[[1]], [[1]]]), r"moves of player 0 .*2 actions, got 1 lists"),
    case("too few players", lambda: two_by_two(moves=[[[1], [0]]]), r"moves .*2 players, got 1"),
    case("number", lambda: two_by_two(moves=5), r"moves must be None, .*got int"),
    case("shared by unequal", lambda: Separable([[0, 1], [0, 1, 2]], moves=path_moves(2)), r"moves .*equally many"),
    case("numbers for lists", lambda: two_by_two(moves=[[1, 0], [1, 0]]), r"moves of player 0, action 0.*1"),
    case("numbers for players", lambda: two_by_two(moves=[1, 2]), r"moves of player 0.*1"),
    case("lists of booleans", lambda: two_by_two(moves=[[False, True], [True, False]]), r"moves of player 0.*False"),
    # 0 and 1 in a matrix would be read as the actions 0 and 1
    case("0/1 matrix", lambda: Separable([[0, 1, 2]] * 2, moves=path_moves(3).astype(int)), r"moves .*bool.*int"),
]


@pytest.mark.parametrize(("call", "message"), MOVES)
def test_bad_moves(call, message):
    refuses(call, InvalidGame, message)


CONGESTION = [
    case(
        "short table", lambda: Congestion([[0]], [[1.0, 2.0]], num_players=3), r"costs of resource 0 .*1\.\.3, got .*2"
    ),
    case("unknown resource", lambda: Congestion([[0], [3]], [[1.0]], num_players=1), r"resource 3, but costs has 1"),
    case(
        "negative resource", lambda: Congestion([[0], [-1]], [[1.0]], num_players=1), r"strategies, action 1: .*got -1"
    ),
    case("named resource", lambda: Congestion([["a"]], [[1.0]], num_players=1), r"strategies, action 0: .*got 'a'"),
    case("duplicate", lambda: Congestion([[[0], [1, 1]]], [[1.0]] * 2), r"player 0, action 1: .*twice in \[1, 1\]"),
    case("no strategies, shared", lambda: Congestion([], [[1.0]], num_players=2), r"strategies .*got none"),
    case("no strategies", lambda: Congestion([[[0]], []], [[1.0] * 2]), r"strategies of player 1 .*got none"),
    case("zero players", lambda: Congestion([[0]], [[1.0]], num_players=0), r"num_players must be .*got 0"),
    case("no players", lambda: Congestion([], [[1.0]]), r"strategies must have one entry per player, got none"),
    case("players True", lambda: Congestion([[0]], [[1.0]], num_players=True), r"num_players must be .*got True"),
    case("strategies number", lambda: Congestion(5, [[1.0]]), r"strategies must be a list, got 5"),
    case(
        "nan",
        lambda: Congestion([[0]], [[1.0, NAN]], num_players=2),
        r"costs of resource 0 must be finite.*, got nan",
    ),
    case(
        "nan function", lambda: Congestion([[0]], [lambda load: NAN], num_players=2), r"costs of resource 0 .*got nan"
    ),
    case("text", lambda: Congestion([[0]], ["abc"], num_players=2), r"costs of resource 0 .*got 'abc'"),
    case("matrix", lambda: Congestion([[0]], [EYE], num_players=2), r"costs of resource 0 .*got shape \(2, 2\)"),
    case("costs number", lambda: Congestion([[0]], 5, num_players=2), r"costs .*got 5"),
    case(
        "raises",
        lambda: Congestion([[0]], [lambda load: 1 / 0], num_players=2),
        r"costs of resource 0.*division by zero",
    ),
    case("overflow", lambda: Congestion([[0, 1], [2]], [[1e308]] * 3, num_players=1), r"costs .*overflow"),
]


@pytest.mark.parametrize(("call", "message"), CONGESTION)
def test_bad_congestion(call, message):
    refuses(call, InvalidGame, message)


COORDINATION = [
    case(
        "loop", lambda: Coordination([[0, 1], [1, 1]], EYE), r"edges must join two different .*loop: edge 1 at player 1"
    ),
    case("negative", lambda: Coordination([[0, -1]], EYE), r"edges must name players from 0, got -1"),
    case("floats", lambda: Coordination([[0.0, 1.0]], EYE), r"edges must be integers .*got shape \(1, 2\) of float64"),
    case("triples", lambda: Coordination([[0, 1, 2]], EYE), r"edges .*got shape \(1, 3\)"),
    case("ragged", lambda: Coordination([[0, 1], [1]], EYE, num_players=3), r"edges must be integers of shape"),
    case("none", lambda: Coordination(None, EYE), r"edges must be integers .*got None"),
    case(
        "huge", lambda: Coordination([[0, 2**40]], EYE, num_players=2), r"edges must name players below .*1099511627776"
    ),
    case("too few players", lambda: Coordination([[0, 5]], EYE, num_players=3), r"edges name player 5, .*3 players"),
    case("no players", lambda: Coordination([], EYE), r"edges must join some players, got none"),
    case("players float", lambda: Coordination([[0, 1]], EYE, num_players=2.0), r"num_players must be .*got 2\.0"),
    case("payoff shape", lambda: Coordination([[0, 1]], np.ones((2, 3))), r"payoff must have shape .*got \(2, 3\)"),
    case("payoff empty", lambda: Coordination([[0, 1]], np.ones((0, 0))), r"payoff must have shape .*got \(0, 0\)"),
    case("payoff nan", lambda: Coordination([[0, 1]], [[1, NAN], [0, 1]]), r"payoff must be finite.*, got nan at"),
    case("matrices", lambda: Coordination(ring_edges(4), np.ones((3, 2, 2))), r"payoff .*each of 4 edges, got 3"),
    case("no matrices", lambda: Coordination([], np.ones((0, 2, 2)), num_players=2), r"payoff .*got .*0"),
    case(
        "weights",
        lambda: Coordination(ring_edges(3), EYE, weights=[1, 2]),
        r"weights .*\(3,\), one number per edge, got \(2,\)",
    ),
    case(
        "weights nan",
        lambda: Coordination(ring_edges(3), EYE, weights=[1, 2, NAN]),
        r"weights must be finite.*, got nan",
    ),
    case(
        "field", lambda: Coordination(ring_edges(3), EYE, field=[1, 2]), r"field must have shape \(3, 2\), got \(2,\)"
    ),
    case("overflow", lambda: Coordination(ring_edges(3), 1e308 * EYE), r"payoff .*not overflow"),
    case("overflow, weight", lambda: Coordination([[0, 1]], 1e300 * EYE, weights=[1e300]), r"payoff .*not overflow"),
    case("overflow, skew", lambda: Coordination([[0, 1]], [[0, 1.7e308], [-1.7e308, 0]]), r"payoff .*overflow"),
    case("directed", lambda: Coordination(nx.DiGraph([(0, 1)]), EYE), r"edges must be .*undirected .*got a directed"),
    case("loop in graph", lambda: Coordination(nx.Graph([("a", "a")]), EYE), r"edges must join two different"),
    case("empty graph", lambda: Coordination(nx.Graph(), EYE), r"at least 1, got 0"),
    case("graph and players", lambda: Coordination(nx.path_graph(3), EYE, num_players=9), r"num_players .*9"),
    case("weight text", lambda: Coordination(nx.Graph([(0, 1, {"weight": "x"})]), EYE), r"weights must be .*'x'"),
    case("ising field", lambda: ising(ring_edges(4), field=[1.0, 2.0, 3.0]), r"field .*\(3,\)"),
    case("ising field nan", lambda: ising(ring_edges(4), field=NAN), r"field must be finite.*, got nan"),
    case("ising coupling", lambda: ising(ring_edges(4), coupling="a"), r"coupling .*'a'"),
    case("consensus negative", lambda: consensus(ring_edges(4), -1), r"num_actions .*-1"),
    case("consensus float", lambda: consensus(ring_edges(4), 2.5), r"num_actions .*2\.5"),
    case("consensus zero", lambda: consensus(ring_edges(4), 0), r"A >= 1, got \(0, 0\)|num_actions .*0"),
    case("small ring", lambda: ring_edges(2), r"num_players must be an integer of at least 3, got 2"),
    case("broken ring", lambda: ring_edges(3.5), r"players.*3\.5"),
    case("small torus", lambda: torus_edges(2, 5), r"rows must be an integer of at least 3, got 2"),
]


@pytest.mark.parametrize(("call", "message"), COORDINATION)
def test_bad_coordination(call, message):
    refuses(call, InvalidGame, message)


def raises(player, profile, data):
    raise KeyError("left out")


def mutates(player, profile, data):
    profile[player] = 1
    return 0.0


CUSTOM = [
    case("raises", lambda: Custom(raises, [2, 2]), r"utility of player 0 .*failed: KeyError: 'left out'"),
    case("nan", lambda: Custom(lambda i, p, d: NAN, [2, 2]), r"utility of player 0 .*must return a finite.*, got nan"),
    case("text", lambda: Custom(lambda i, p, d: "one", [2, 2]), r"utility .*must return a finite number, got 'one'"),
    case("none", lambda: Custom(lambda i, p, d: None, [2, 2]), r"finite number, got None: test_bad_games.py:\d+$"),
    case("complex", lambda: Custom(lambda i, p, d: np.complex128(1), [2, 2]), r"utility .*must return a finite number"),
    case("huge integer", lambda: Custom(lambda i, p, d: 10**400, [2, 2]), r"utility .*must return a finite number"),
    case("mutates", lambda: Custom(mutates, [2, 2]), r"utility .*failed: .*read-only"),
    case("not callable", lambda: Custom(5, [2, 2]), r"utility must be a function of .*, got 5"),
    case("no utility", lambda: Custom(None, [2, 2]), r"utility must be a function .*got None"),
    case(
        "too few arguments",
        lambda: Custom(lambda player: 0.0, [2, 2]),
        r"utility must take \(player, profile, data\), got",
    ),
    case("potential", lambda: Custom(zero, [2, 2], potential=3), r"potential must be a function of .*, got 3"),
    case(
        "potential nan", lambda: Custom(zero, [2, 2], potential=lambda p, d: NAN), r"potential .*must return .*got nan"
    ),
    case("no players", lambda: Custom(zero, []), r"num_actions must name at least one player, got none"),
    case("number", lambda: Custom(zero, 2), r"num_actions must be a sequence .*got 2"),
    case("floats", lambda: Custom(zero, [2.0, 2.0]), r"num_actions must be .*got \[2\.0, 2\.0\]"),
    case("ragged", lambda: Custom(zero, [[2], [2, 3]]), r"num_actions must be .*got \[\[2\], \[2, 3\]\]"),
    case("no actions", lambda: Custom(zero, [2, 0]), r"player 1 must have at least one action, got 0"),
    case("interactions", lambda: Custom(zero, [2, 2], interactions=[(0, 5)]), r"interactions .*0\.\.1, got \(0, 5\)"),
    case("interactions number", lambda: Custom(zero, [2, 2], interactions=5), r"interactions .*got 5"),
    case("a pair", lambda: Custom(zero, [2, 2], interactions=(0, 1)), r"interactions must hold .*got 0 as entry 0"),
    case(
        "interactions of halves",
        lambda: Custom(zero, [2, 2], interactions=[(0, 1), (0, 0.5)]),
        r"interactions must hold groups of players in 0\.\.1, got \(0, 0\.5\) as entry 1",
    ),
    case("pair below", lambda: Custom(zero, [2, 2], interactions=[(0, -1)]), r"got \(0, -1\) as entry 0"),
    case("words", lambda: Custom(zero, [2, 2], interactions=["ab"]), r"got 'ab' as entry 0"),
    case(
        "neighbours of a stranger",
        lambda: Custom(zero, [2, 2], interactions={0: [1], "b": [0]}),
        r"interactions must have players in 0\.\.1 as keys, got 'b'",
    ),
    case(
        "a strange neighbour",
        lambda: Custom(zero, [2, 2], interactions={0: [1], 1: [0, 2]}),
        r"interactions must name neighbours in 0\.\.1, got \[0, 2\] for player 1",
    ),
    case("a number of neighbours", lambda: Custom(zero, [2, 2], interactions={0: 1}), r"got 1 for player 0"),
    case(
        "a graph of others",
        lambda: Custom(zero, [2, 2], interactions=nx.Graph([("a", "b")])),
        r"interactions must have players in 0\.\.1 as nodes of the graph, got 'a'; networkx\.convert_node_labels",
    ),
    case(
        "a larger graph", lambda: Custom(zero, [2, 2], interactions=nx.path_graph(3)), r"as nodes of the graph, got 2"
    ),
]


@pytest.mark.parametrize(("call", "message"), CUSTOM)
def test_bad_custom_game(call, message):
    refuses(call, InvalidGame, message)


NAMED = [
    case("name", lambda: game("rnig"), r"game must be one of .*got 'rnig'; did you mean 'ring'\?"),
    case("far name", lambda: game("zzz"), r"game must be one of .*torus.*got 'zzz'$"),
    case("not a name", lambda: game(["ring"]), r"game must be one of .*got \['ring'\]"),
    case("parameter", lambda: game("ring", player=4), r"ring has no parameter 'player'; did you mean 'players'\?"),
    case("far parameter", lambda: game("ring", zzz=4), r"ring has no parameter 'zzz' \(it has players, actions\)"),
    case("no parameters", lambda: game("matching-pennies", a=1), r"'a' \(it has none\)"),
    case("float", lambda: game("ring", players=4.0), r"players must be an integer of at least 3, got 4\.0"),
    case("bool", lambda: game("ring", players=True), r"players must be an integer of at least 3, got True"),
    case("text", lambda: game("stag-hunt", stag="big"), r"stag must be a finite number, got 'big'"),
    case("nan", lambda: game("stag-hunt", stag=NAN), r"finite.*, got nan"),
    case("zero players", lambda: game("congestion", players=0), r"players must be an integer of at least 1, got 0"),
    case("zero actions", lambda: game("ring", actions=0), r"actions must be an integer of at least 1, got 0"),
    case("seed", lambda: game("random-potential", seed=-1), r"seed .*-1"),
    case("seed of separable", lambda: game("separable", seed=-1), r"seed .*-1"),
    case("taken", lambda: register_game("ring")(dilemma), r"a game named 'ring' exists already"),
]


@pytest.mark.parametrize(("call", "message"), NAMED)
def test_bad_named_game(call, message):
    refuses(call, InvalidGame, message)


def test_unknown_potential_names_the_kind_of_game():
    refuses(
        lambda: pennies().potential([0, 0]), InvalidGame, r"no potential is known for this NormalForm; .*potential="
    )


# A claimed potential ----------------------------------------------------------------------------------


def test_wrong_potential_comes_with_evidence():
    claimed = DILEMMA_POTENTIAL + np.diag([0.0, 0.25])
    error = refuses(
        lambda: NormalForm(DILEMMA, potential=claimed),
        NotPotentialGame,
        r"potential is not exact: .*player 0's utility changes by 1, the potential by 1\.25",
    )
    player, first, second, du, dphi = error.evidence
    assert [k for k in range(2) if first[k] != second[k]] == [player]
    assert du == DILEMMA[(player, *second)] - DILEMMA[(player, *first)]
    assert dphi == claimed[second] - claimed[first]
    assert du != dphi


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("wrong", [0.0 * EYE, -DILEMMA_POTENTIAL, DILEMMA_POTENTIAL + np.diag([0, 1e-6])])
def test_wrong_potential_is_refused_at_any_scale(scale, wrong):
    refuses(lambda: NormalForm(scale * DILEMMA, potential=scale * wrong), NotPotentialGame, "not exact")


def test_wrong_potential_does_not_hide_behind_a_constant():
    wrong = 1e12 + DILEMMA_POTENTIAL + np.diag([0.0, 100.0])
    refuses(lambda: NormalForm(DILEMMA, potential=wrong), NotPotentialGame, "not exact")


def test_wrong_potential_does_not_hide_behind_an_overflow():
    payoffs = [[[1e308, -1e308], [1e308, 1.0]], [[1e308, 1e308], [3.0, 4.0]]]
    refuses(lambda: NormalForm(payoffs, potential=[[-1e308, 1e308], [0.0, 1e308]]), PotentiaError, "potential")


def test_right_potential_is_accepted_up_to_rounding():
    assert NormalForm(DILEMMA, potential=DILEMMA_POTENTIAL + 1e-12 * EYE).has_potential
