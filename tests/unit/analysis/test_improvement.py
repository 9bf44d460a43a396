"""Improvement paths and the finite improvement property, against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from potentia.analysis.equilibria import best_responses, is_nash, pure_nash
from potentia.analysis.improvement import finite_improvement, improvement_path, improvement_paths
from potentia.errors import TooLarge
from potentia.games import NormalForm, custom, game, own, random_potential_game
from tests.unit.analysis.by_definition import (
    THIRDS,
    all_paths,
    as_tuples,
    better_replies,
    deviations,
    has_cycle,
    random_game,
    rock,
    shortest_cycle,
    some_moves,
)


@pytest.fixture(autouse=True)
def _plain_python(monkeypatch):
    """Small games need no compiled code."""
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    monkeypatch.setattr(own, "jit_disabled", lambda: True)


# The finite improvement property -------------------------------------------------------------------------


@pytest.mark.parametrize("within_moves", [False, True])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 2, 2), (5, 3)], ids=str)
def test_the_property_holds_iff_no_cycle_is_there_and_the_cycle_shown_is_shortest(shape, within_moves):
    verdicts = set()
    for seed in range(25):
        on = random_game(shape, seed, moves=some_moves(shape))
        graph = better_replies(on, within_moves)
        result = finite_improvement(on, within_moves=within_moves)
        verdicts.add(result.holds)
        assert bool(result) == result.holds == (not has_cycle(graph))
        if not result:
            cycle = as_tuples(result.cycle)
            assert cycle[0] == cycle[-1]
            assert all(after in graph[before] for before, after in itertools.pairwise(cycle))
            assert len(cycle) - 1 == shortest_cycle(graph)
    assert verdicts == {True, False}


def test_pennies_go_round():
    result = finite_improvement(game("matching-pennies"))
    assert not result
    assert sorted(as_tuples(result.cycle[:-1])) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_cycle_that_takes_more_than_four_steps():
    on = NormalForm([np.eye(3), np.roll(np.eye(3), 1, axis=1)])  # Shapley (1964)
    assert shortest_cycle(better_replies(on)) == 6
    assert len(finite_improvement(on).cycle) == 7


def blocks(*parts):
    """Games side by side: off the blocks both players get less than on any of them."""
    size = sum(len(own) for own, _ in parts)
    payoffs, at = np.full((2, size, size), -10.0), 0
    for part in parts:
        end = at + len(part[0])
        payoffs[:, at:end, at:end] = part
        at = end
    return NormalForm(payoffs)


def test_of_several_cycles_a_short_one():
    def ring(size):  # Shapley's game for any number of actions: 2 size steps round
        return np.eye(size), np.roll(np.eye(size), 1, axis=1)

    pennies = game("matching-pennies").payoffs
    for parts, length in [((ring(3), pennies), 4), ((ring(3), ring(4)), 6), ((ring(5), ring(4)), 8)]:
        on = blocks(*parts)
        assert shortest_cycle(better_replies(on)) == length
        assert len(finite_improvement(on).cycle) == length + 1


def test_a_cycle_in_a_corner_of_a_larger_game():
    own = np.full((6, 6), -100.0)
    own += np.add.outer(np.arange(6), np.zeros(6))  # elsewhere a larger action is better, up to the corner
    other = own.T.copy()
    own[4:, 4:] = [[1, -1], [-1, 1]]
    other[4:, 4:] = [[-1, 1], [1, -1]]
    result = finite_improvement(NormalForm([own, other]))
    assert sorted(as_tuples(result.cycle[:-1])) == [(4, 4), (4, 5), (5, 4), (5, 5)]


def test_one_way_moves_may_break_a_cycle():
    on = NormalForm(game("matching-pennies").payoffs, moves=[None, [[1], [0]]])
    assert not finite_improvement(on, within_moves=True)
    # rock to paper to scissors to rock, and never back
    onward = NormalForm(rock().payoffs, moves=[[[1], [2], [0]]] * 2)
    graph = better_replies(onward, within_moves=True)
    assert bool(finite_improvement(onward, within_moves=True)) == (not has_cycle(graph))
    assert not finite_improvement(onward)


# Improvement paths ---------------------------------------------------------------------------------------


def check_path(on, path, *, best=False):
    """Each step is one player's, allowed, and better; the end is what ``ends`` says."""
    steps = as_tuples(path.profiles)
    assert path.players.shape == (len(steps) - 1,)
    for player, (before, after) in zip(path.players.tolist(), itertools.pairwise(steps), strict=True):
        mine = {q: gain for i, q, gain in deviations(on, before, within_moves=True) if i == player}
        assert mine[after] > 0
        if best:
            assert mine[after] == max(mine.values())
    if path.ends:
        assert len(set(steps)) == len(steps)
        assert all(gain <= 0 for _, _, gain in deviations(on, steps[-1], within_moves=True))
    else:
        assert steps[-1] in steps[:-1]
        assert len(set(steps)) == len(steps) - 1


@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("moves", [None, "some"])
def test_a_path_improves_until_it_ends_or_closes(moves, best):
    shape, ends = (4, 3, 2), set()
    for seed in range(20):
        on = random_game(shape, seed, moves=None if moves is None else some_moves(shape))
        path = improvement_path(on, [0, 0, 0], seed=seed, best=best)
        check_path(on, path, best=best)
        ends.add(path.ends)
    assert ends == {True, False}


def test_the_seed_decides_and_nothing_else():
    on = random_potential_game([3] * 5, 1)
    start = np.zeros(5, np.int64)
    paths = [as_tuples(improvement_path(on, start, seed=seed).profiles) for seed in (0, 0, 1, 2, 3)]
    assert paths[0] == paths[1]
    assert len({tuple(path) for path in paths}) > 1
    assert not start.any()


def test_better_replies_are_drawn_and_best_ones_are_best():
    on = NormalForm([[0.0, 1.0, 2.0, 3.0]])
    assert {len(improvement_path(on, [0], seed=seed).players) for seed in range(30)} == {1, 2, 3}
    assert {len(improvement_path(on, [0], seed=seed, best=True).players) for seed in range(30)} == {1}


def test_a_path_in_a_game_far_too_large_to_enumerate():
    on = game("ring", players=60, actions=3)
    start = np.arange(60) % 3
    path = improvement_path(on, start)
    assert path.ends
    assert len(path.players) > 5
    assert is_nash(on, path.profiles[-1])
    check = is_nash(on, start)  # no neighbour agrees: either neighbour's action is worth 1
    assert not check
    assert check.gap == 1
    assert check.best[1] == [0, 2]
    with pytest.raises(TooLarge, match="needs all of its about 10"):
        pure_nash(on)


@pytest.mark.parametrize("players", [3, 12])
def test_rounding_starts_no_path(players):
    """Also in a game of which only some profiles are looked at."""

    def tie(player, profile, data):
        if player != 0 or profile[1] == 1:
            return float(profile[1])
        return 0.1 + 0.2 - 0.3 if profile[0] else 0.0  # 5.6e-17 or 0, where payoffs are of order 1

    on = custom(tie, [2] * players, data=None)
    start = [0, 0] + [0] * (players - 2)
    assert best_responses(on, 0, start) == [0, 1]
    assert best_responses(on, 0, start, tolerance=0) == [1]
    for seed in range(4):
        assert 0 not in improvement_path(on, start, seed=seed).players
    assert any(0 in improvement_path(on, start, seed=seed, tolerance=0).players for seed in range(4))


@pytest.mark.parametrize("best", [False, True])
def test_all_paths_are_those_found_by_recursion(best):
    shape, closed = (3, 2, 2), 0
    for seed in range(12):
        on = random_game(shape, seed, moves=some_moves(shape))
        graph = better_replies(on, within_moves=True)
        if best:
            for p in graph:
                mine = [(i, q, gain) for i, q, gain in deviations(on, p, within_moves=True) if gain > 0]
                graph[p] = [q for i, q, gain in mine if gain == max(g for j, _, g in mine if j == i)]
        for start in ((0, 0, 0), (2, 1, 0)):
            found = improvement_paths(on, start, best=best, limit=10_000)
            assert [tuple(as_tuples(path.profiles)) for path in found] == all_paths(graph, [start])
            for path in found:
                check_path(on, path, best=best)
            closed += sum(not path.ends for path in found)
    assert closed > 0


def test_an_equilibrium_has_one_path_of_no_steps():
    (path,) = improvement_paths(game("prisoners-dilemma"), [1, 1])
    assert as_tuples(path.profiles) == [(1, 1)]
    assert path.players.size == 0
    assert path.ends
    alone = improvement_path(game("prisoners-dilemma"), [1, 1])
    assert as_tuples(alone.profiles) == [(1, 1)]
    assert alone.ends


def test_results_cannot_be_written_into():
    path = improvement_path(game("stag-hunt"), [0, 1])
    for array in (path.profiles, path.players, is_nash(rock(), THIRDS).gaps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
