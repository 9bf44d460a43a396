"""Equilibria, improvement paths and expected utilities, against definitions written out profile by profile."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

from potentia.analysis.equilibria import best_responses, expected_utility, is_nash, pure_nash, slack
from potentia.analysis.improvement import finite_improvement, improvement_path, improvement_paths
from potentia.errors import InvalidGame, InvalidInput, InvalidRun, PotentiaError, TooLarge
from potentia.games import Custom, NormalForm, custom, game, path_moves, random_potential_game
from tests import games

ROCK = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
THIRDS = [[1 / 3] * 3] * 2
SHAPES = [(2, 2), (3, 2), (2, 3, 2), (4, 1, 3), (2, 2, 2, 2), (5,)]


@pytest.fixture(autouse=True)
def _plain_python(monkeypatch):
    """Small games need no compiled code."""
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    monkeypatch.setattr(sys.modules[Custom.__module__], "jit_disabled", lambda: True)


def rock():
    return NormalForm([ROCK, -ROCK])


def random_game(shape, seed, *, integers=True, moves=None):
    """Small integers: many ties, and every comparison is exact."""
    random = np.random.default_rng(seed)
    size = (len(shape), *shape)
    return NormalForm(random.integers(0, 4, size) if integers else random.normal(size=size), moves=moves)


def some_moves(shape):
    """Each player goes up one action at a time, from the top to the bottom, and down as far as it likes."""
    return [[sorted({(a + 1) % size, *range(a)}) for a in range(size)] for size in shape]


# What the definitions say, one profile at a time ---------------------------------------------------------


def everything(on):
    return itertools.product(*(range(size) for size in on.num_actions))


def deviations(on, profile, within_moves=False):
    """(player, profile after, gain) for each unilateral change."""
    for player, action in enumerate(profile):
        others = on.reachable(player, action) if within_moves else range(on.num_actions[player])
        for other in others:
            if other != action:
                after = (*profile[:player], other, *profile[player + 1 :])
                yield player, after, on.utility(player, after) - on.utility(player, profile)


def nash_by_definition(on, *, strict=False, within_moves=False):
    return [
        profile
        for profile in everything(on)
        if all(gain < 0 if strict else gain <= 0 for _, _, gain in deviations(on, profile, within_moves))
    ]


def better_replies(on, within_moves=False):
    return {p: [after for _, after, gain in deviations(on, p, within_moves) if gain > 0] for p in everything(on)}


def has_cycle(graph):
    """Take away profiles that lead nowhere until nothing changes; what is left leads round."""
    left = dict(graph)
    while True:
        ends = [p for p, nexts in left.items() if not any(q in left for q in nexts)]
        if not ends:
            return bool(left)
        for p in ends:
            del left[p]


def shortest_cycle(graph):
    """By walking all profiles breadth first from each one."""
    lengths = []
    for first in graph:
        layer, seen, steps = {first}, set(), 0
        while layer:
            steps += 1
            layer = {q for p in layer for q in graph[p]} - seen
            if first in layer:
                lengths.append(steps)
                break
            seen |= layer
    return min(lengths, default=None)


def all_paths(graph, path):
    """Every maximal path; one that comes back to itself stops there."""
    nexts = [] if path[-1] in path[:-1] else graph[path[-1]]
    return [tuple(path)] if not nexts else [one for q in nexts for one in all_paths(graph, [*path, q])]


def expected_by_definition(on, mixed, player):
    return sum(on.utility(player, p) * np.prod([x[a] for x, a in zip(mixed, p, strict=True)]) for p in everything(on))


def random_mixed(on, seed):
    random = np.random.default_rng(seed)
    return [random.dirichlet(np.ones(size)) for size in on.num_actions]


def as_tuples(array):
    return [tuple(row) for row in array.tolist()]


# Pure equilibria -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pure_equilibria_are_those_of_the_definition(shape, strict):
    counts = set()
    for seed in range(12):
        on = random_game(shape, seed)
        found = pure_nash(on, strict=strict)
        assert found.dtype == np.int64
        assert found.shape == (len(found), on.num_players)
        assert as_tuples(found) == nash_by_definition(on, strict=strict)
        counts.add(len(found))
    assert len(counts) > 1  # the seeds do not all say the same


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("shape", [(4, 3), (3, 1, 4)], ids=str)
def test_within_moves_only_reachable_deviations_count(shape, strict):
    more = 0
    for seed in range(12):
        on = random_game(shape, seed, moves=some_moves(shape))
        found = as_tuples(pure_nash(on, strict=strict, within_moves=True))
        assert found == nash_by_definition(on, strict=strict, within_moves=True)
        assert found == as_tuples(pure_nash(on, strict=strict, within_moves=True, tolerance=0))
        everywhere = as_tuples(pure_nash(on, strict=strict))
        assert everywhere == nash_by_definition(on, strict=strict)
        assert set(everywhere) <= set(found)
        more += len(found) - len(everywhere)
    assert more > 0


@pytest.mark.parametrize("name", games.ALL)
def test_every_kind_of_game(name):
    on = games.ALL[name]()
    for within_moves in (False, True):
        found = as_tuples(pure_nash(on, within_moves=within_moves, tolerance=1e-12))
        near = [p for p in everything(on) if all(gain <= 1e-11 for _, _, gain in deviations(on, p, within_moves))]
        assert found == near


def test_known_games():
    assert as_tuples(pure_nash(game("prisoners-dilemma"))) == [(1, 1)]
    assert as_tuples(pure_nash(game("stag-hunt"))) == [(0, 0), (1, 1)]
    assert pure_nash(game("matching-pennies")).shape == (0, 2)
    assert as_tuples(pure_nash(NormalForm(np.zeros((2, 2, 2))))) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert pure_nash(NormalForm(np.zeros((2, 2, 2))), strict=True).shape == (0, 2)


def test_a_game_with_a_potential_has_an_equilibrium_where_it_is_largest_and_finite_paths():
    for seed in range(10):
        on = random_potential_game([3, 2, 4], seed)
        top = max(everything(on), key=on.potential)
        assert top in as_tuples(pure_nash(on))
        result = finite_improvement(on)
        assert result
        assert result.holds
        assert result.cycle is None


def test_the_tolerance_is_relative_to_the_spread_of_the_player():
    own = np.array([[1.0, 100.0], [1.05, 0.0]])  # against action 0 the second pays 5e-4 of the spread more
    on = NormalForm([own, np.zeros((2, 2))])
    assert as_tuples(pure_nash(on, tolerance=1e-3)) == [(0, 0), (0, 1), (1, 0)]
    assert as_tuples(pure_nash(on, tolerance=1e-4)) == [(0, 1), (1, 0)]
    alone = NormalForm(own[None, :, 0])  # the same gain is all there is
    assert as_tuples(pure_nash(alone, tolerance=1e-3)) == [(1,)]
    assert as_tuples(pure_nash(alone, strict=True, tolerance=0.999)) == [(1,)]


def test_rounding_makes_no_difference_unless_asked_for():
    on = NormalForm([[0.1 + 0.2, 0.3]])
    assert as_tuples(pure_nash(on)) == [(0,), (1,)]
    assert as_tuples(pure_nash(on, tolerance=0)) == [(0,)]
    assert best_responses(on, 0, [1]) == [0, 1]
    assert best_responses(on, 0, [1], tolerance=0) == [0]


def test_payoffs_as_large_as_a_table_takes():
    own = np.array([[1.0, -1.0], [-1.0, 1.0]])
    on = NormalForm([1e300 * own] * 2)
    assert as_tuples(pure_nash(on, strict=True)) == [(0, 0), (1, 1)]
    assert finite_improvement(on)
    assert not is_nash(on, [[1.0, 0.0], [0.0, 1.0]])
    larger = NormalForm([1.7e308 * own] * 2)  # what asks for utilities only compares them, however large
    assert is_nash(larger, [0, 0])
    assert is_nash(larger, [0, 1]).gap == np.inf
    assert improvement_path(larger, [0, 1]).ends


def test_many_profiles_of_many_players():
    # matching the player to the right: all 0 or all 1
    players = 16
    grid = np.indices((2,) * players)
    on = NormalForm((grid == np.roll(grid, -1, axis=0)).astype(float))
    assert as_tuples(pure_nash(on)) == [(0,) * players, (1,) * players]


# Best responses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", games.ALL)
def test_best_responses_are_those_of_the_definition(name):
    on = games.ALL[name]()
    for profile in everything(on):
        for player in range(on.num_players):
            rest = profile[:player], profile[player + 1 :]
            values = [on.utility(player, (*rest[0], a, *rest[1])) for a in range(on.num_actions[player])]
            expected = [a for a, value in enumerate(values) if value >= max(values) - 1e-11]
            assert best_responses(on, player, profile) == expected


def test_best_responses_ignore_moves():
    on = NormalForm([[0.0, 1.0, 2.0]], moves=[path_moves(3)])
    assert best_responses(on, 0, [0]) == [2]


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


# Mixed strategies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", games.ALL)
def test_expected_utility_is_the_sum_over_profiles(name):
    on = games.ALL[name]()
    mixed = random_mixed(on, 5)
    expected = [expected_by_definition(on, mixed, player) for player in range(on.num_players)]
    np.testing.assert_allclose(expected_utility(on, mixed), expected, rtol=0, atol=1e-12)
    for player in range(on.num_players):
        value = expected_utility(on, mixed, player)
        assert isinstance(value, float)
        assert value == pytest.approx(expected[player], abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gaps_and_best_replies_are_those_of_the_definition(shape):
    on = random_game(shape, 2, integers=False)
    mixed = random_mixed(on, 3)
    check = is_nash(on, mixed)
    for player, size in enumerate(shape):
        replies = [
            expected_by_definition(on, [*mixed[:player], np.eye(size)[a], *mixed[player + 1 :]], player)
            for a in range(size)
        ]
        gap = max(replies) - expected_by_definition(on, mixed, player)
        assert check.gaps[player] == pytest.approx(gap, abs=1e-12)
        assert check.best[player] == [int(np.argmax(replies))]
    assert check.gap == check.gaps.max() == is_nash(on, mixed).gap
    assert check.gap > 1e-3
    assert not check


def test_rock_paper_scissors():
    check = is_nash(rock(), THIRDS)
    assert check
    assert check.gap < 1e-15
    assert check.best == [[0, 1, 2], [0, 1, 2]]
    off = [[0.4, 0.3, 0.3], [1 / 3] * 3]
    check = is_nash(rock(), off)
    assert not check
    assert check.gap == pytest.approx(0.1)  # paper against 0.4, 0.3, 0.3
    assert check.gaps == pytest.approx([0.0, 0.1])
    assert check.best == [[0, 1, 2], [1]]
    assert is_nash(rock(), off, tolerance=0.06)  # of a spread of 2


def test_a_constant_changes_no_verdict():
    far = NormalForm([ROCK + 1e9, 1e9 - ROCK])
    assert is_nash(far, THIRDS)
    assert is_nash(far, THIRDS).gap < 1e-12
    assert not is_nash(far, [[0.334, 0.333, 0.333], [1 / 3] * 3])


def test_a_pure_profile_is_checked_as_one():
    dilemma = game("prisoners-dilemma")
    assert is_nash(dilemma, [1, 1])
    assert is_nash(dilemma, np.array([1, 1]))
    check = is_nash(dilemma, (0, 1))
    assert not check
    assert check.gap == 1.0
    assert check.gaps.tolist() == [1.0, 0.0]
    assert check.best == [[1], [1]]
    assert is_nash(dilemma, [0, 0]).gap == 2.0
    for seed in range(10):
        on = random_game((3, 2, 2), seed)
        assert [p for p in everything(on) if is_nash(on, p)] == as_tuples(pure_nash(on))
        sure = [[np.eye(size)[a] for size, a in zip(on.num_actions, p, strict=True)] for p in everything(on)]
        assert [bool(is_nash(on, x)) for x in sure] == [bool(is_nash(on, p)) for p in everything(on)]


def test_a_profile_and_the_whole_game_are_judged_alike():
    """The spread of a small game is that of all its profiles, here due to a single one."""

    def one_prize(player, profile, data):
        return 1e3 if profile[0] == 4 and profile[1] == 8 else 1e-8 * profile[0]

    on = custom(one_prize, [10, 10], data=None)
    assert (0, 0) in as_tuples(pure_nash(on))
    assert is_nash(on, [0, 0])
    assert improvement_path(on, [0, 0]).players.size == 0
    assert not is_nash(on, [0, 0], tolerance=1e-12)


def test_slack_is_relative_and_nothing_at_zero():
    values = np.array([10.0, 14.0])
    assert slack(values, 0.25) == pytest.approx(1.0)
    assert slack(values, 0.0) == 0.0
    assert slack(np.array([1e6, 1e6]), 1e-9) == pytest.approx(8 * 2.0**-52 * 1e6)


# Bad input -----------------------------------------------------------------------------------------------

HALF = [0.5, 0.5]


@pytest.mark.parametrize(
    ("mixed", "message"),
    [
        ([HALF], "one probability vector for each of 2 players, got 1"),
        (7, "one probability vector for each of 2 players, got 7"),
        ([HALF, [1.0]], r"player 1 must be 2 probabilities, got shape \(1,\)"),
        ([[HALF, HALF], HALF], r"player 0 must be 2 probabilities, got shape \(2, 2\)"),
        ([HALF, [[1.0], 0.0]], r"player 1 must be 2 probabilities, got shape \(\) of object"),
        ([HALF, [True, False]], "player 1 must be 2 probabilities, got shape .* of bool"),
        ([HALF, ["a", "b"]], "player 1 must be 2 probabilities, got shape .* of <U1"),
        ([[np.nan, 1.0], HALF], r"player 0 must be in 0\.\.1, got nan for action 0"),
        ([HALF, [1.0, np.inf]], r"player 1 must be in 0\.\.1, got inf for action 1"),
        ([HALF, [1.5, -0.5]], r"player 1 must be in 0\.\.1, got 1.5 for action 0"),
        ([HALF, [-0.5, 0.5]], r"player 1 must be in 0\.\.1, got -0.5 for action 0"),
        ([HALF, [0.5, 0.4]], "player 1 must sum to 1, got 0.9"),
    ],
)
def test_mixed_strategies_that_are_none(mixed, message):
    for call in (expected_utility, is_nash):
        with pytest.raises(InvalidInput, match=message):
            call(game("matching-pennies"), mixed)


def test_a_sum_that_is_1_up_to_rounding_will_do():
    on = NormalForm(np.full((2, 2, 2), 1e6))
    assert expected_utility(on, [[0.5, 0.5 + 9e-10], HALF], 0) == pytest.approx(1e6, abs=1e-8)  # and is made 1
    with pytest.raises(InvalidInput, match="player 0 must sum to 1"):
        expected_utility(on, [[0.5, 0.5 + 2e-9], HALF], 0)


def cases():
    pennies = game("matching-pennies")
    for call in (
        pure_nash,
        finite_improvement,
        lambda on: expected_utility(on, []),
        lambda on: best_responses(on, 0, 0),
    ):
        yield lambda call=call: call(3), InvalidGame, "expected a game such as .* got 3"
    for call in (improvement_path, improvement_paths, is_nash):
        yield lambda call=call: call("pennies", [0, 0]), InvalidGame, "expected a game such as .* got 'pennies'"
        yield lambda call=call: call(pennies, [0, 2]), InvalidRun, r"player 1's action must be in 0\.\.1, got 2"
        yield lambda call=call: call(pennies, [0.5, 0.5]), InvalidRun, "must be 2 integers, one action per player"
    for call in (pure_nash, finite_improvement):
        yield lambda call=call: call(pennies, tolerance=-1), InvalidInput, "tolerance must be at least 0 .* got -1"
        yield lambda call=call: call(pennies, tolerance=np.nan), InvalidInput, "tolerance must be at least 0 .* nan"
    for player in (2, -1, 0.0, True):
        yield lambda p=player: best_responses(pennies, p, [0, 0]), InvalidInput, r"player must be an integer in 0\.\.1"
        yield lambda p=player: expected_utility(pennies, [HALF] * 2, p), InvalidInput, "player must be an integer in"
    yield lambda: best_responses(pennies, 0, [0]), InvalidRun, "profile must be 2 integers"
    yield lambda: improvement_path(pennies, [0, 0], seed=-1), InvalidRun, "seed must be an integer of at least 0"
    yield lambda: improvement_path(pennies, [0, 0], seed=0.5), InvalidRun, "seed must be an integer .* got 0.5"
    yield lambda: improvement_path(pennies, [0, 0], max_steps=0), InvalidRun, "max_steps must be .* at least 1, got 0"
    yield lambda: improvement_path(pennies, [0, 0], max_steps=3), InvalidRun, r"from \(0, 0\) goes on after max_steps=3"
    yield lambda: improvement_paths(pennies, [0, 0], limit=0), InvalidRun, "limit must be .* at least 1, got 0"
    cube = NormalForm(np.indices((2, 2, 2)))  # three players, each better off at 1: six orders
    yield lambda: improvement_paths(cube, [0, 0, 0], 5), InvalidRun, r"more than limit=5 .* \(0, 0, 0\): 5 were found"


@pytest.mark.parametrize(("call", "error", "message"), list(cases()))
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, PotentiaError)


def test_the_limits_are_enough_when_they_are():
    cube = NormalForm(np.indices((2, 2, 2)))
    assert len(improvement_paths(cube, [0, 0, 0], 6)) == 6
    assert len(improvement_path(cube, [0, 0, 0], max_steps=3).players) == 3
    assert improvement_path(game("matching-pennies"), [0, 0], max_steps=4).ends is False


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, r"player 0 at profile \[1, 0\] must be finite, got nan"), (None, r"profile \[1, 0\] failed: TypeError")],
)
def test_a_utility_that_fails_says_where(value, message):
    on = custom(lambda player, profile, data: data if profile[0] == 1 else 0.0, [3, 2], data=value)
    for call in (lambda: best_responses(on, 0, [0, 0]), lambda: improvement_path(on, [0, 0])):
        with pytest.raises(InvalidGame, match=message):
            call()


def test_a_utility_cannot_change_the_profile():
    def greedy(player, profile, data):
        if profile[0] == 1:
            profile[player] = 0
        return 1.0

    on = custom(greedy, [3, 2], data=None)
    with pytest.raises(InvalidGame, match="read-only"):
        improvement_path(on, [0, 1], tolerance=0)
