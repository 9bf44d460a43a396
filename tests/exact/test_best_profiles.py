"""The best profile of any game, against every profile there is."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import best, graphical
from potentia.analysis.buckets import Buckets, Function, least_fill
from potentia.errors import InvalidGame, InvalidInput, NotPotentialGame, TooLarge
from potentia.games import Congestion, Coordination, Coverage, NormalForm, Separable, World, custom
from potentia.games.normal_form import random_potential_game

EXACT = 1e-9
FEW, MANY = 60, 500  # games of a kind


def by_enumeration(game, objective):
    """The most that any profile has, by definition."""
    value = game.potential if objective == "potential" else game.welfare
    return max(value(profile) for profile in np.ndindex(*game.num_actions))


def check(game, objective, found, most, exact=True):
    """All that a result claims, given the true optimum."""
    value = (game.potential if objective == "potential" else game.welfare)(found.profile)
    slack = EXACT * max(abs(most), 1.0)
    assert found.objective == objective
    assert found.value == pytest.approx(value, rel=EXACT, abs=EXACT)
    assert found.bound >= most - slack
    assert found.bound >= found.value
    assert found.gap == (found.bound - found.value) / max(abs(found.value), 1.0)
    if exact:
        assert found.proven
        assert found.gap == 0.0
        assert not found.stopped
        assert found.value == pytest.approx(most, rel=EXACT, abs=EXACT)


def table(random):
    shape = random.integers(1, 5, random.integers(1, 5)).tolist()
    return random_potential_game(shape, int(random.integers(2**30)), float(random.choice([1e-3, 1.0, 1e6])))


def separable(random):
    return Separable([random.standard_normal(random.integers(1, 5)) for _ in range(random.integers(1, 5))])


def edges(random, players):
    pairs = [(i, j) for i in range(players) for j in range(i)]
    return random.permutation(pairs)[: random.integers(1, len(pairs) + 2)].reshape(-1, 2)


def graph(random):
    """Symmetric payoffs, weights of both signs, a field, edges given twice: each of them now and then."""
    players, actions = int(random.integers(2, 6)), int(random.integers(1, 4))
    pairs = edges(random, players)
    if random.random() < 0.3:
        pairs = np.concatenate([pairs, pairs[:1, ::-1]])
    shape = (len(pairs), actions, actions) if random.random() < 0.5 else (actions, actions)
    payoff = random.standard_normal(shape)
    payoff = payoff + np.swapaxes(payoff, -1, -2) + random.standard_normal(actions)[:, None]
    weights = random.standard_normal(len(pairs)) if random.random() < 0.5 else None
    field = random.standard_normal((players, actions)) if random.random() < 0.5 else None
    if random.random() < 0.3:  # the names of actions do not matter
        payoff, field = random.standard_normal() * np.eye(actions) + random.standard_normal(), None
    return Coordination(pairs, payoff, num_players=players, weights=weights, field=field)


def congestion(random, rising=None, single=None, shared=None):
    players, resources = int(random.integers(1, 5)), int(random.integers(1, 4))
    rising, single, shared = (random.random() < 0.5 if given is None else given for given in (rising, single, shared))
    most = 1 if single else resources

    def menu():
        # a strategy may use nothing
        return [random.permutation(resources)[: random.integers(0, most + 1)].tolist() for _ in range(2)] + [[0]]

    costs = random.standard_normal((resources, players))
    costs = np.cumsum(np.abs(costs), axis=1) - 2.0 if rising else costs
    if shared:
        return Congestion(menu(), costs, num_players=players)
    return Congestion([menu() for _ in range(players)], costs)


def _pull(player, profile, data):
    """A player and the one before it on a line, weights by the player who is behind."""
    total = 0.0
    for other in (player - 1, player + 1):
        if 0 <= other < profile.size:
            total += data[max(player, other), profile[max(player, other)], profile[min(player, other)]]
    return total


def _pull_potential(profile, data):
    return sum(data[k, profile[k], profile[k - 1]] for k in range(1, profile.size)) + 3.0


def own(random):
    players, actions = int(random.integers(3, 6)), int(random.integers(2, 4))
    line = [(k, k + 1) for k in range(players - 1)]
    data = random.standard_normal((players, actions, actions))
    return custom(_pull, [actions] * players, data=data, potential=_pull_potential, interactions=line)


def listed(random):
    game = own(random)
    return custom(_pull, game.num_actions, data=game.custom_data, potential=_pull_potential)


KINDS = {
    "table": table,
    "separable": separable,
    "graph": graph,
    "congestion": congestion,
    "own game on a line": own,
    "own game": listed,
}


def games(kind, count):
    random = np.random.default_rng([5, list(KINDS).index(kind)])
    return [KINDS[kind](random) for _ in range(count)]


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Games on graphs as such, however small; nothing is compiled."""
    monkeypatch.setattr(best, "_FEW", 0)
    monkeypatch.setattr("potentia.analysis.enumeration._BY_PYTHON", 10**9)


def compare(kind, count):
    methods = set()
    for game in games(kind, count):
        for objective in ("potential", "welfare"):
            found = pt.analysis.optimum(game, objective=objective)
            check(game, objective, found, by_enumeration(game, objective))
            methods.add(found.method)
    return methods


METHODS = {
    "table": {"enumeration"},
    "separable": {"separable"},
    "graph": {"elimination", "uniform"},
    "congestion": {"flow", "milp"},
    "own game on a line": {"elimination"},
    "own game": {"enumeration"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_profile_was_considered(kind):
    assert compare(kind, FEW) == METHODS[kind]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_profile_of_many_games_was_considered(kind):
    assert compare(kind, MANY) == METHODS[kind]


@pytest.mark.parametrize("shared", [True, False])
def test_flows_of_least_cost(shared):
    """Single resources whose costs rise: no whole numbers are asked for, and the answer has them."""
    random = np.random.default_rng(8)
    for _ in range(20):
        game = congestion(random, rising=True, single=True, shared=shared)
        found = pt.analysis.optimum(game)
        assert found.method == "flow"
        check(game, "potential", found, by_enumeration(game, "potential"))


def test_costs_that_differ_little():
    """What all resources cost alike must not hide what they cost apart: the profile is the best to the last digits."""
    random = np.random.default_rng(0)
    for _ in range(14):
        strategies = [[random.permutation(3)[: random.integers(1, 4)].tolist() for _ in range(3)] for _ in range(3)]
        game = Congestion(strategies, 1e6 + random.standard_normal((3, 3)))
        found = pt.analysis.optimum(game)
        assert found.value == pytest.approx(by_enumeration(game, "potential"), rel=1e-13)


def test_costs_of_nothing():
    for objective in ("potential", "welfare"):
        found = pt.analysis.optimum(Congestion([[[0], [1]], [[0, 1], [1]]], np.zeros((2, 2))), objective=objective)
        assert str(found).startswith(f"optimum: {objective} 0 (proven")


@pytest.mark.parametrize(("rounds", "method"), [([(4, 10**6)], "search"), ([(4, 2)], "milp"), ([], "milp")])
def test_tables_that_are_too_large(monkeypatch, rounds, method):
    """Small tables leave a bound, a search below it finds the best, and HiGHS does without both."""
    monkeypatch.setattr(graphical, "ROUNDS", tuple(rounds))
    methods = set()
    for game in games("graph", 40)[10:]:
        found = pt.analysis.optimum(game)
        check(game, "potential", found, by_enumeration(game, "potential"))
        methods.add(found.method)
    assert method in methods


def random_functions(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 4, 6).tolist()
    scopes = [tuple(random.permutation(6)[: random.integers(0, 4)].tolist()) for _ in range(9)]
    functions = [Function(scope, random.standard_normal([sizes[k] for k in scope])) for scope in scopes]
    sums = {
        values: sum(float(table[tuple(values[k] for k in scope)]) for scope, table in functions)
        for values in np.ndindex(*sizes)
    }
    return sizes, functions, sums


@pytest.mark.parametrize("seed", range(12))
def test_mini_buckets_are_a_bound_and_searches_never_miss(seed):
    """Whatever tables may hold and the search may keep, its bound is one; with room for all it finds the best."""
    sizes, functions, sums = random_functions(seed)
    most, order = max(sums.values()), least_fill(sizes, functions)
    assert sorted(order) == list(range(len(sizes)))
    for largest in (1, 6, 10**6):
        buckets = Buckets(sizes, functions, order, largest)
        assert buckets.bound >= most - EXACT
        assert buckets.exact <= (abs(buckets.bound - most) < EXACT)
        for width in (1, 3, 10**6):
            found = buckets.search(-np.inf, width)
            assert sums[tuple(found.values.tolist())] <= most + EXACT
            assert found.bound >= most - EXACT
        assert sums[tuple(found.values.tolist())] == pytest.approx(most, abs=EXACT)
        assert buckets.search(most, 10**6).values is None
    assert buckets.exact


def test_wrong_results_are_caught():
    """The negative control of ``check``: each claim, spoilt on its own, fails it."""
    game = pt.game("innovation", players=4)
    most = by_enumeration(game, "potential")
    found = pt.analysis.optimum(game)
    check(game, "potential", found, most)
    worst = min(np.ndindex(*game.num_actions), key=game.potential)
    for spoilt in (
        {"value": most + 0.1},
        {"bound": most - 0.1},
        {"bound": most + 0.1},
        {"profile": np.array(worst)},
        {"objective": "welfare"},
        {"proven": False},
    ):
        with pytest.raises(AssertionError):
            check(game, "potential", dataclasses.replace(found, **spoilt), most)


def channels(players, actions, radius, seed):
    """Neighbours want different actions; how much differs."""
    random = np.random.default_rng(seed)
    points = random.random((players, 2))
    near = np.linalg.norm(points[:, None] - points[None], axis=2) <= radius
    pairs = np.argwhere(np.triu(near, 1))
    return Coordination(pairs, -np.eye(actions), num_players=players, weights=random.uniform(0.5, 1.5, len(pairs)))


def test_channels_of_thirty_nodes_are_proven():
    """Too many profiles to list; the profile is no worse than any single change of it."""
    game = channels(30, 4, 0.3, 1)
    found = pt.analysis.optimum(game)
    assert found.proven
    assert found.value == found.bound
    assert found.value == pytest.approx(game.potential(found.profile), abs=EXACT)
    for player in range(30):
        for action in range(4):
            other = found.profile.copy()
            other[player] = action
            assert game.potential(other) <= found.value + EXACT
    again = pt.analysis.optimum(game)
    assert (again.profile == found.profile).all()
    assert again.value == found.value


def test_a_time_limit_that_strikes_is_told(monkeypatch):
    """With no time HiGHS has no answer; what is left is a profile and a bound, and the text says so."""
    monkeypatch.setattr(graphical, "ROUNDS", ((16, 1),))
    game = channels(40, 3, 0.45, 0)
    found = pt.analysis.optimum(game, time_limit=0)
    assert found.stopped
    assert not found.proven
    assert found.bound > found.value
    assert "best profile known" in str(found)
    assert "the time limit struck" in str(found)
    assert "the time limit struck" in found._repr_html_()
    loads = congestion(np.random.default_rng(0), rising=False, single=False, shared=False)
    monkeypatch.setattr("potentia.analysis.loads.solve", lambda *_: best_of_nothing())
    left = pt.analysis.optimum(loads)
    assert left.bound >= by_enumeration(loads, "potential") >= left.value
    assert left.stopped


def best_of_nothing():
    from potentia.analysis.programs import Answer

    return Answer(None, -np.inf, stopped=True, solved=False)


def test_what_is_best_where_nothing_is_asked_for():
    assert pt.analysis.optimum(pt.game("stag-hunt")).objective == "potential"
    assert pt.analysis.optimum(pt.game("matching-pennies")).objective == "welfare"
    coverage = Coverage(World(np.arange(6.0).reshape(2, 3)), 2, 1.0, flags=False)
    union = pt.analysis.optimum(coverage)
    assert isinstance(union, pt.analysis.Optimum)
    assert union.value == pt.analysis.optimum(coverage, objective="worth_union").value
    welfare = pt.analysis.optimum(coverage, objective="welfare")
    check(coverage, "welfare", welfare, by_enumeration(coverage, "welfare"))


def test_a_potential_that_the_game_does_not_know():
    """It is 0 at the first profile, as that of analysis.potential; and where there is none the cycle tells."""
    game = NormalForm(random_potential_game([2, 3, 2], 4).payoffs)
    table = pt.analysis.potential(game)
    found = pt.analysis.optimum(game, objective="potential")
    assert found.value == table.max() == table[tuple(found.profile)]
    with pytest.raises(NotPotentialGame, match="there is no exact potential"):
        pt.analysis.optimum(pt.game("matching-pennies"), objective="potential")
    wrong = custom(_pull, [2] * 4, data=np.ones((4, 2, 2)) * [[1, 2], [3, 4]], interactions=[(0, 1), (1, 2), (2, 3)])
    assert pt.analysis.optimum(wrong).objective == "welfare"
    claimed = custom(
        _pull,
        [2] * 4,
        data=wrong.custom_data,
        potential=lambda profile, data: float(profile.sum() ** 2),
        interactions=[(0, 1), (1, 2), (2, 3)],
    )
    with pytest.raises(NotPotentialGame, match="apart from what utilities and interactions make of it"):
        pt.analysis.optimum(claimed)


def test_what_is_too_large_says_what_works():
    game = custom(lambda player, profile, data: float(profile[player]), [2] * 60)
    with pytest.raises(TooLarge, match=r"say who interacts \(interactions= of custom\).*run_batch"):
        pt.analysis.optimum(game)
    crowd = custom(lambda player, profile, data: 0.0, [2] * 60, interactions=[range(30), range(30, 60)])
    with pytest.raises(TooLarge, match=r"30 players each, .*Coordination\(graph, payoff\).*; or sample: run_batch"):
        pt.analysis.optimum(crowd)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "worth"}, "objective must be"),
        ({"objective": "worth_union"}, "objective must be"),
        ({"method": "greedy"}, 'method must be "auto" for NormalForm'),
        ({"gap": 0}, "gap must be"),
        ({"time_limit": -1}, "time_limit must be"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InvalidInput, match=message):
        pt.analysis.optimum(pt.game("stag-hunt"), **options)
    with pytest.raises(InvalidGame, match="optimum takes a game"):
        pt.analysis.optimum("stag-hunt")


def test_results_are_read_by_people_and_programs():
    for players in (8, 9):
        assert str(pt.analysis.optimum(pt.game("ring", players=players))).endswith(f"({', '.join('0' * players)})")
    found = pt.analysis.optimum(pt.game("ring", players=50))
    assert json.loads(json.dumps(found.to_dict()))["value"] == 50.0
    assert "proven" in str(found)
    assert "and 10 more players" in str(found)
    assert repr(found).startswith("Best(objective='potential', value=50, bound=50, profile=array of 50")
    assert "Optimum" in found._repr_html_()
