"""Bad input: the exception, the field it names and what arrived, before anything runs."""

from __future__ import annotations

import gc
import inspect
import math
import sys

import networkx as nx
import numpy as np
import pytest

import potentia as pt
from potentia import errors
from potentia.engine.trace import Trace
from potentia.errors import InvalidGame, InvalidRule, InvalidRun, NotPotentialGame, PotentiaError, TooLarge
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
from potentia.rules import Constant, Geometric, Groups, Logarithmic, Piecewise, rule, rule_from, schedule_from

NAN, INF = math.nan, math.inf
EYE = np.eye(2)
OWN = np.array([[3.0, 0.0], [5.0, 1.0]])
DILEMMA = np.array([OWN, OWN.T])
DILEMMA_POTENTIAL = np.array([[-2.0, 0.0], [0.0, 1.0]])


@pytest.fixture(autouse=True)
def _nothing_plays(monkeypatch):
    """No case may compile anything or reach the loop."""

    def play(*args, **options):
        pytest.fail("the loop was reached")

    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    # by module: the attribute potentia.games.custom is the function of that name
    monkeypatch.setattr(sys.modules[Custom.__module__], "jit_disabled", lambda: True)
    monkeypatch.setattr("potentia.engine.runs.play_entry", play)


def case(name, call, message):
    return pytest.param(call, message, id=name)


def refuses(call, error, message):
    """``call`` raises ``error``, of our tree, with this message."""
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, PotentiaError)
    return caught.value


def dilemma():
    return NormalForm(DILEMMA, potential=DILEMMA_POTENTIAL)


def pennies():
    """A game without a potential."""
    return game("matching-pennies")


def two_by_two(**options):
    return Separable([[0.0, 1.0], [0.0, 1.0]], **options)


def zero(player, profile, data):
    return 0.0


def play(on=dilemma, **options):
    return pt.run(on(), rule("lll", tau=0.1), **{"steps": 10, **options})


def batch(on=dilemma, **options):
    return pt.run_batch(on(), rule("lll", tau=0.1), **{"steps": 10, "seeds": range(2), **options})


def slll(revision):
    return rule("slll", tau=0.1, revision=revision)


def p_sblll(revision):
    return rule("p-sblll", tau=0.1, revision=revision)


def begins_with(revision):
    """A revision probability that only a game can show to be wrong."""
    return pt.begin(dilemma(), slll(revision))


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
    case("none for a player", lambda: two_by_two(moves=[None, None]), r"moves of player 0.*None"),
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
    case("strategies number", lambda: Congestion(5, [[1.0]]), r"strategies must be a list of lists, got 5"),
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
    case("none", lambda: Coordination(None, EYE), r"edges must be integers .*object"),
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
    case("weights", lambda: Coordination(ring_edges(3), EYE, weights=[1, 2]), r"weights .*each of 3 edges, got \(2,\)"),
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
    case("small ring", lambda: ring_edges(2), r"ring needs at least 3 players, got 2"),
    case("broken ring", lambda: ring_edges(3.5), r"players.*3\.5"),
    case("small torus", lambda: torus_edges(2, 5), r"torus needs at least 3 rows and 3 columns, got 2 and 5"),
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
    case("raises", lambda: Custom(raises, [2, 2]), r"utility failed .*KeyError: 'left out'"),
    case("nan", lambda: Custom(lambda i, p, d: NAN, [2, 2]), r"utility must return a finite.*, got nan"),
    case("text", lambda: Custom(lambda i, p, d: "one", [2, 2]), r"utility must return a finite number, got 'one'"),
    case("none", lambda: Custom(lambda i, p, d: None, [2, 2]), r"utility must return a finite number, got None"),
    case("complex", lambda: Custom(lambda i, p, d: np.complex128(1), [2, 2]), r"utility must return a finite number"),
    case("huge integer", lambda: Custom(lambda i, p, d: 10**400, [2, 2]), r"utility must return a finite number"),
    case("mutates", lambda: Custom(mutates, [2, 2]), r"utility failed .*read-only"),
    case("not callable", lambda: Custom(5, [2, 2]), r"utility must be a function, got 5"),
    case("no utility", lambda: Custom(None, [2, 2]), r"utility must be a function .*got None"),
    case("too few arguments", lambda: Custom(lambda player: 0.0, [2, 2]), r"utility failed .*TypeError"),
    case("potential", lambda: Custom(zero, [2, 2], potential=3), r"potential must be a function, got 3"),
    case("potential nan", lambda: Custom(zero, [2, 2], potential=lambda p, d: NAN), r"potential must return .*got nan"),
    case("no players", lambda: Custom(zero, []), r"num_actions must name at least one player, got none"),
    case("number", lambda: Custom(zero, 2), r"num_actions must be a sequence .*got 2"),
    case("floats", lambda: Custom(zero, [2.0, 2.0]), r"num_actions must be .*got \[2\.0, 2\.0\]"),
    case("ragged", lambda: Custom(zero, [[2], [2, 3]]), r"num_actions must be .*got \[\[2\], \[2, 3\]\]"),
    case("no actions", lambda: Custom(zero, [2, 0]), r"player 1 must have at least one action, got 0"),
    case("interactions", lambda: Custom(zero, [2, 2], interactions=[(0, 5)]), r"interactions .*0\.\.1, got \(0, 5\)"),
    case("interactions number", lambda: Custom(zero, [2, 2], interactions=5), r"interactions .*got 5"),
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
    case("float", lambda: game("ring", players=4.0), r"players of ring must be an integer, got 4\.0"),
    case("bool", lambda: game("ring", players=True), r"players of ring must be an integer, got True"),
    case("text", lambda: game("stag-hunt", stag="big"), r"stag of stag-hunt must be a finite number, got 'big'"),
    case("nan", lambda: game("stag-hunt", stag=NAN), r"finite.*, got nan"),
    case("zero players", lambda: game("congestion", players=0), r"players must be at least 1, got 0"),
    case("zero actions", lambda: game("ring", actions=0), r"actions must be at least 1, got 0"),
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


# Rules ------------------------------------------------------------------------------------------------

TAUS = [
    case("zero", lambda: rule("lll", tau=0), r"tau must be finite and > 0, got 0\.0; .*best-response"),
    case("negative", lambda: rule("blll", tau=-1.0), r"tau must be finite and > 0, got -1\.0; .*best-response"),
    case("nan", lambda: rule("lll", tau=NAN), r"tau must be finite and > 0, got nan"),
    case("inf", lambda: rule("lll", tau=INF), r"tau must be finite and > 0, got inf"),
    case("huge integer", lambda: rule("lll", tau=10**400), r"tau must be finite"),
    case("text", lambda: rule("lll", tau="0.1"), r"tau must be a number or a schedule, got '0\.1'"),
    case("bool", lambda: rule("lll", tau=True), r"tau must be a number or a schedule, got True"),
    case("none", lambda: rule("lll", tau=None), r"tau must be a number or a schedule, got None"),
    case("complex", lambda: rule("lll", tau=np.complex128(1)), r"tau must be a number"),
    case("list", lambda: rule("lll", tau=[0.1]), r"tau must be .*got \[0\.1\]"),
]


@pytest.mark.parametrize(("call", "message"), TAUS)
def test_bad_temperature(call, message):
    refuses(call, InvalidRule, message)


REVISIONS = [
    case("zero", lambda: p_sblll(0), r"revision must be in \(0, 1\], got 0\.0"),
    case("negative", lambda: slll(-0.5), r"revision must be in \(0, 1\], got -0\.5"),
    case("above one", lambda: p_sblll(1.5), r"revision must be in \(0, 1\], got 1\.5"),
    case("nan", lambda: p_sblll(NAN), r"revision must be in \(0, 1\], got nan"),
    case("bool", lambda: p_sblll(True), r"revision must be a number in \(0, 1\], .*got True"),
    case("text", lambda: p_sblll("0.3"), r"revision must be a number .*got '0\.3'"),
    case("none", lambda: p_sblll(None), r"revision must be a number .*got None"),
    case("mapping", lambda: p_sblll({"a": 1}), r"revision must be a number .*got \{'a': 1\}"),
    case("empty", lambda: p_sblll([]), r"revision must have one entry per player, got none"),
    case("array of no axes", lambda: p_sblll(np.array(1.3)), r"revision .*1\.3"),
    case("player", lambda: p_sblll([0.5, 1.5]), r"revision of player 1 must be in \(0, 1\], got 1\.5"),
    case("player zero", lambda: slll(np.array([0.0, 0.5])), r"revision of player 0 must be in \(0, 1\], got 0\.0"),
    case("player bool", lambda: slll([0.5, True]), r"revision of player 1 must be a number .*got True"),
    case("action", lambda: p_sblll([[0.5, 0.5], [0.5, 0]]), r"revision of player 1, action 1 must be in .*got 0\.0"),
    case("action text", lambda: slll([["a", 0.5]]), r"revision of player 0, action 0 must be a number .*got 'a'"),
    case("mixed", lambda: slll([[0.5, 0.5], 0.5]), r"revision of player 1 must be a list .*got 0\.5"),
    case("groups' sum", lambda: slll(Groups([((0,), 0.5), ((1,), 0.4)])), r"groups must sum to 1, got 0\.9"),
    case("groups, none", lambda: Groups([]), r"groups must sum to 1, got 0"),
    case("group's share", lambda: Groups([((0,), 1.5), ((1,), -0.5)]), r"group \(0,\) must be in \(0, 1\], got 1\.5"),
    case("group's nan", lambda: Groups([((0, 1), NAN)]), r"group \(0, 1\) must be in \(0, 1\], got nan"),
    case("group negative", lambda: Groups([((-1, 0), 1.0)]), r"group \(-1, 0\) names a negative player"),
    case("group half a player", lambda: Groups([((0.5,), 1.0)]), r"0\.5"),
    case("group text", lambda: Groups([("01", 1.0)]), r"'01'"),
    case("groups number", lambda: Groups(5), r"groups of revision must be pairs \(players, probability\), got 5"),
    case("groups for p-sblll", lambda: p_sblll(Groups([((0,), 1.0)])), r"groups is for slll"),
    case("plain groups for p-sblll", lambda: p_sblll({"groups": [[[0], 1.0]]}), r"groups is for slll"),
    case("plain groups number", lambda: slll({"groups": 3}), r"groups of revision must be pairs .*3"),
    case("plain groups flat", lambda: slll({"groups": [[0, 1.0]]}), r"groups of revision must be pairs"),
    case("plain groups triple", lambda: slll({"groups": [[[0], 0.5, 1]]}), r"groups of revision must be pairs"),
    case("too few players", lambda: begins_with([0.5]), r"revision .*each of 2 players, got 1"),
    case("too many players", lambda: begins_with([0.5] * 3), r"revision .*each of 2 players, got 3"),
    case("too few rows", lambda: begins_with([[0.5, 0.5]]), r"revision .*each of 2 players, got 1"),
    case("actions", lambda: begins_with([[0.5, 0.5], [0.5]]), r"revision of player 1 .*each of 2 actions, got 1"),
    case("group of strangers", lambda: begins_with(Groups([((0, 2), 1.0)])), r"revision names player 2, .*has 2"),
]


@pytest.mark.parametrize(("call", "message"), REVISIONS)
def test_bad_revision(call, message):
    refuses(call, InvalidRule, message)


SCHEDULES = [
    case("rising", lambda: Geometric(0.1, 1.0), r"stop must not exceed start, got start 0\.1 and stop 1\.0"),
    case("rising logarithmic", lambda: Logarithmic(0.1, stop=1.0), r"stop must be between 0 and 0\.1, got 1\.0"),
    case("start", lambda: Geometric(0.0, 0.0), r"start must be finite and > 0, got 0\.0"),
    case("stop", lambda: Geometric(1.0, NAN), r"stop must be finite and > 0, got nan"),
    case("steps", lambda: Geometric(1.0, 0.1, steps=0), r"steps of a schedule .*at least 1, got 0"),
    case("steps float", lambda: Geometric(1.0, 0.1, steps=10.0), r"steps of a schedule .*got 10\.0"),
    case("steps bool", lambda: Geometric(1.0, 0.1, steps=True), r"steps of a schedule .*got True"),
    case("no length", lambda: Geometric(1.0, 0.1).at(0), r"geometric schedule needs steps="),
    case("no length in a run", lambda: pt.begin(dilemma(), rule("lll", tau=Geometric(1, 0.1))), r"needs steps="),
    case("rate", lambda: Logarithmic(1.0, rate=-1.0), r"rate must be between 0 .*got -1\.0"),
    case("rate inf", lambda: Logarithmic(1.0, rate=INF), r"rate must be between 0 .*got inf"),
    case("stop negative", lambda: Logarithmic(1.0, stop=-1), r"stop must be between 0 .*got -1"),
    case("late", lambda: Piecewise([(5, 1.0), (10, 0.1)]), r"points must begin at step 0 .*got steps \[5\.0, 10\.0\]"),
    case("not increasing", lambda: Piecewise([(0, 1.0), (9, 0.5), (9, 0.1)]), r"points .*increase, got .*9\.0, 9\.0"),
    case("nan step", lambda: Piecewise([(0, 1.0), (NAN, 0.5)]), r"points .*nan"),
    case("no points", lambda: Piecewise([]), r"points must begin at step 0"),
    case("tau in points", lambda: Piecewise([(0, 1.0), (9, 0.0)]), r"tau in points must be finite and > 0, got 0\.0"),
    case("points number", lambda: Piecewise(5), r"points must be pairs \(step, tau\), got 5"),
    case("points flat", lambda: Piecewise([0, 1.0]), r"points must be pairs \(step, tau\), got \[0, 1\.0\]"),
    case("constant", lambda: Constant(-1), r"tau must be finite and > 0, got -1"),
    case(
        "kind", lambda: schedule_from({"kind": "linear", "start": 1}), r"kind must be one of .*piecewise.*got 'linear'"
    ),
    case("no kind", lambda: schedule_from({"start": 1.0}), r"kind must be one of .*got None"),
    case("kind's type", lambda: schedule_from({"kind": ["geometric"]}), r"kind must be one of .*got \['geometric'\]"),
    case("missing", lambda: schedule_from({"kind": "geometric", "start": 1.0}), r"tau of kind geometric needs 'stop'"),
    case("unknown", lambda: schedule_from({"kind": "constant", "tau": 1, "x": 2}), r"tau of kind constant has no 'x'"),
]


@pytest.mark.parametrize(("call", "message"), SCHEDULES)
def test_bad_schedule(call, message):
    refuses(call, InvalidRule, message)


NAMED_RULES = [
    case("name", lambda: rule("p-sbll", tau=1), r"rule must be one of .*got 'p-sbll'; did you mean 'p-sblll'\?"),
    case("far name", lambda: rule("zzz"), r"rule must be one of best-response, .*slll, got 'zzz'$"),
    case("not a name", lambda: rule(["lll"]), r"rule must be one of .*got \['lll'\]"),
    case("parameter", lambda: rule("blll", tua=1), r"blll has no parameter 'tua'; did you mean 'tau'\?"),
    case("far parameter", lambda: rule("lll", tau=1, zzz=2), r"lll has no parameter 'zzz' \(it has tau\)"),
    case("missing tau", lambda: rule("lll"), r"lll needs tau="),
    case("missing revision", lambda: rule("slll", tau=1), r"slll needs revision="),
    case("trial", lambda: rule("p-sblll", tau=1, revision=1, trial="both"), r'trial must be "joint" .*got \'both\''),
    case("guard", lambda: rule("p-sblll", tau=1, revision=1, guard=1), r"guard must be True or False, got 1"),
    case("current", lambda: rule("blll", tau=1, include_current="no"), r"include_current must be .*got 'no'"),
    case("ties", lambda: rule("best-response", ties="first"), r'ties must be "uniform" or "stay", got \'first\''),
    case("not a rule", lambda: rule_from("lll"), r"expected a rule .*got 'lll'"),
    case("no rule in a mapping", lambda: rule_from({"tau": 1}), r"expected a rule .*got \{'tau': 1\}"),
    case("not a rule in a run", lambda: pt.run(dilemma(), "lll", 10), r"expected a rule .*got 'lll'"),
]


@pytest.mark.parametrize(("call", "message"), NAMED_RULES)
def test_bad_named_rule(call, message):
    refuses(call, InvalidRule, message)


# Runs -------------------------------------------------------------------------------------------------

RUNS = [
    case("start too large", lambda: play(start=[0, 2]), r"start: player 1's action must be in 0\.\.1, got 2"),
    case("start negative", lambda: play(start=[-1, 0]), r"start: player 0's action must be in 0\.\.1, got -1"),
    case("start short", lambda: play(start=[0]), r"start must be 2 integers, .*got shape \(1,\)"),
    case("start long", lambda: play(start=[0, 0, 0]), r"start must be 2 integers, .*got shape \(3,\)"),
    case("start floats", lambda: play(start=[0.0, 1.0]), r"start must be 2 integers, .*of float64"),
    case("start bools", lambda: play(start=[True, False]), r"start must be 2 integers, .*of bool"),
    case("start text", lambda: play(start="01"), r"start must be 2 integers, .*got shape \(\)"),
    case("start ragged", lambda: play(start=[[0], [0, 1]]), r"start must be 2 integers"),
    case("start of a batch", lambda: batch(start=[[0, 0], [0, 2]]), r"start of run 1: player 1's .*got 2"),
    case("starts of a batch", lambda: batch(start=[[0, 0]]), r"start .*each of 2 seeds, got 1"),
    case("starts ragged", lambda: batch(start=[[0, 0], [0]]), r"start"),
    case("seed negative", lambda: play(seed=-1), r"seed must be at least 0, got -1"),
    case("seed float", lambda: play(seed=1.0), r"seed must be an integer of at least 0, got 1\.0"),
    case("seed bool", lambda: play(seed=True), r"seed must be an integer .*got True"),
    case("seed text", lambda: play(seed="1"), r"seed must be an integer .*got '1'"),
    case("seed none", lambda: play(seed=None), r"seed must be an integer .*got None"),
    case("seeds number", lambda: batch(seeds=5), r"seeds must be a sequence .*got 5"),
    case("seeds none", lambda: batch(seeds=[]), r"seeds must name at least one run, got none"),
    case("seeds repeated", lambda: batch(seeds=[1, 2, 1]), r"seeds must differ"),
    case("seeds negative", lambda: batch(seeds=[0, -3]), r"seed must be at least 0, got -3"),
    case("seeds float", lambda: batch(seeds=[0.5]), r"seed must be an integer .*got 0\.5"),
    case("steps negative", lambda: play(steps=-1), r"steps must be at least 0, got -1"),
    case("steps float", lambda: play(steps=1e3), r"steps must be an integer of at least 0, got 1000\.0"),
    case("steps bool", lambda: batch(steps=True), r"steps must be an integer .*got True"),
    case("steps to advance", lambda: pt.begin(dilemma(), rule("best-response")).advance(-1), r"steps .*got -1"),
    case("horizon", lambda: pt.begin(dilemma(), rule("best-response"), horizon=-1), r"horizon .*got -1"),
    case("every zero", lambda: play(every=0), r"every must be at least 1, got 0"),
    case("every negative", lambda: batch(every=-2), r"every must be at least 1, got -2"),
    case("every float", lambda: play(every=2.0), r"every must be an integer of at least 1, got 2\.0"),
    case("workers", lambda: batch(workers=0), r"workers must be at least 1, got 0"),
    case("recorder", lambda: play(record="potentail"), r"record must name some of .*potential.*got 'potentail'"),
    case("recorders", lambda: batch(record=("profile", "worth")), r"record must name some of .*got 'worth'"),
    case("recorder number", lambda: play(record=5), r"record .*got 5"),
    case("recorder none", lambda: play(record=None), r"record .*got None"),
    case(
        "no potential",
        lambda: play(pennies, record="potential"),
        r"no potential is known for this NormalForm; record welfare",
    ),
    case(
        "no potential, batch",
        lambda: batch(pennies, record=["potential"]),
        r"no potential is known for this NormalForm",
    ),
    case("not a game", lambda: pt.run("ring", rule("lll", tau=1), 10), r"game must be a potentia game.*got str"),
    case("not a game, batch", lambda: pt.run_batch("ring", rule("lll", tau=1), 10, [0]), r"game must be .*got str"),
]


@pytest.mark.parametrize(("call", "message"), RUNS)
def test_bad_run(call, message):
    refuses(call, InvalidRun, message)


def test_what_was_not_recorded_says_how_to_record_it():
    trace = pt.begin(dilemma(), rule("lll", tau=1), record=()).trace()
    refuses(lambda: trace.welfare, InvalidRun, r'welfare was not recorded; pass record=\("welfare"')
    refuses(lambda: trace.profiles, InvalidRun, r'profiles were not recorded; pass record=\("profile"')


@pytest.mark.parametrize(
    "content", [None, b"", b"no run at all", b"PK\x03\x04 cut short"], ids=["missing", "empty", "text", "damaged"]
)
def test_bad_file_is_named(tmp_path, content):
    path = tmp_path / "saved.npz"
    if content is not None:
        path.write_bytes(content)
    refuses(lambda: pt.load(path, dilemma()), InvalidRun, r"saved\.npz")
    gc.collect()  # a file left open warns here, not in some later test


def test_array_is_not_a_saved_run(tmp_path):
    np.save(tmp_path / "array.npy", np.zeros(3))
    refuses(lambda: pt.load(tmp_path / "array.npy", dilemma()), InvalidRun, r"array\.npy is not a saved run")


def test_saved_run_of_another_game(tmp_path):
    path = pt.begin(dilemma(), rule("lll", tau=1)).save(tmp_path / "saved.npz")
    refuses(lambda: pt.load(path, NormalForm(2 * DILEMMA)), InvalidRun, r"saved\.npz was saved from another game")


def test_unwritable_file_is_named(tmp_path):
    run = pt.begin(dilemma(), rule("lll", tau=1))
    refuses(lambda: run.save(tmp_path / "nowhere" / "run.npz"), InvalidRun, r"cannot write .*run\.npz")


# Memory -----------------------------------------------------------------------------------------------

TOO_LARGE = [
    case("profiles", lambda: game("random-potential", players=60), r"about 10\^28 profiles .*use fewer players"),
    case("uncountable profiles", lambda: game("random-potential", players=2000), r"profiles .*use fewer players"),
    case("players", lambda: game("ring", players=10**15), r"1000000000000000 players needs about 10\^17 bytes"),
    case("cells", lambda: game("torus", rows=10**7, columns=10**7), r"rows|columns|cells|players"),
    case(
        "visits",
        lambda: pt.begin(game("ring"), rule("lll", tau=1), record="visits"),
        r"players=100\) with visits of about 10\^30 profiles",
    ),
    case(
        "uncountable visits",
        lambda: pt.begin(game("ring", players=2000), rule("lll", tau=1), record="visits"),
        r"visits",
    ),
    case(
        "uncountable visits of a batch",
        lambda: pt.run_batch(game("ring", players=2000), rule("lll", tau=1), 10, [0], record="visits"),
        r"visits|batch",
    ),
    case("rows", lambda: play(steps=10**15, record="welfare"), r"recording 1000000000000000 rows .*larger every"),
    case("rows of a batch", lambda: batch(steps=10**15, record="welfare"), r"batch of 2 runs .*larger every"),
]


@pytest.mark.parametrize(("call", "message"), TOO_LARGE)
def test_too_large_for_any_machine(call, message):
    refuses(call, TooLarge, message)


@pytest.fixture
def small_machine(monkeypatch):
    """20 MB free."""
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 20_000_000)


SLIGHTLY_TOO_LARGE = [
    case("profiles", lambda: game("random-potential", players=6, actions=9), r"normal form .*has 20\.0 MB free"),
    case("players", lambda: game("ring", players=10**6), r"1000000 players needs 100\.0 MB.*has 20\.0 MB"),
    case("edges", lambda: consensus(np.zeros((10**6, 2), int)), r"1000000 edges needs 40\.0 MB"),
    case("cells", lambda: game("torus", rows=700, columns=700), r"edges|cells|players|rows"),
    case("actions", lambda: game("ring", players=3, actions=2000), r"actions"),
    case("actions of consensus", lambda: consensus(ring_edges(3), 2000), r"actions"),
    case("costs", lambda: game("congestion", players=1000, links=3000), r"links|costs|players"),
    case("values", lambda: game("separable", players=1500, actions=2000), r"actions|players"),
    case(
        "visits",
        lambda: pt.begin(game("ring", players=22), rule("lll", tau=1), record="visits"),
        r'players=22\) with visits of 4,194,304 profiles needs 33\.6 MB.*leave "visits" out',
    ),
    case("rows", lambda: play(steps=10**6, record=["welfare", "acceptance"]), r"1000000 rows needs 64\.0 MB"),
    case(
        "rows of a batch", lambda: batch(steps=10**6, record=["welfare", "acceptance"]), r"batch of 2 runs .*48\.0 MB"
    ),
]


@pytest.mark.parametrize(("call", "message"), SLIGHTLY_TOO_LARGE)
@pytest.mark.usefixtures("small_machine")
def test_too_large_for_this_machine(call, message):
    refuses(call, TooLarge, message)


@pytest.mark.usefixtures("small_machine")
def test_too_many_players_for_this_machine():
    big = Separable(np.zeros((1, 10**6)))
    refuses(lambda: pt.begin(big, rule("lll", tau=1)), TooLarge, r"a run of Separable\(players=1\) needs 24\.0 MB")


@pytest.mark.usefixtures("small_machine")
def test_dense_view_too_large_for_this_machine():
    none = np.zeros(0, np.int64)
    trace = Trace(
        game="", rule={}, seed=0, steps=10**6, every=1, complete=True, start=np.zeros(3, np.int64),
        final=np.zeros(3, np.int64), times=np.arange(10**6 + 1), revisions=0, changes=0, scalars={}, visits=None,
        events=(none, none, none),
    )  # fmt: skip
    refuses(lambda: trace.profiles, TooLarge, r"dense view of 1000001 profiles of 3 players needs 24\.0 MB")


@pytest.mark.usefixtures("small_machine")
def test_what_fits_is_not_refused():
    assert game("ring", players=10**5).num_players == 10**5


# The tree ---------------------------------------------------------------------------------------------


def test_every_exception_is_in_one_tree():
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]
    assert len(classes) == 10
    for cls in classes:
        assert issubclass(cls, Warning) != issubclass(cls, PotentiaError), cls


def test_exceptions_are_the_built_in_ones_too():
    assert issubclass(InvalidGame, ValueError)
    assert issubclass(InvalidRule, ValueError)
    assert issubclass(InvalidRun, ValueError)
    assert issubclass(TooLarge, MemoryError)
