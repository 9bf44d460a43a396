"""Equilibria, best responses and expected utilities, against definitions written out profile by profile."""

from __future__ import annotations

import numpy as np
import pytest

from potentia.analysis.equilibria import best_responses, expected_utility, is_nash, pure_nash, slack
from potentia.analysis.improvement import finite_improvement, improvement_path, improvement_paths
from potentia.errors import InvalidGame, InvalidInput, InvalidRun, PotentiaError
from potentia.games import NormalForm, custom, game, own, path_moves, random_potential_game
from tests import games
from tests.unit.analysis.by_definition import (
    ROCK,
    SHAPES,
    THIRDS,
    as_tuples,
    deviations,
    everything,
    expected_by_definition,
    nash_by_definition,
    random_game,
    random_mixed,
    rock,
    some_moves,
)


@pytest.fixture(autouse=True)
def _plain_python(monkeypatch):
    """Small games need no compiled code."""
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    monkeypatch.setattr(own, "jit_disabled", lambda: True)


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
        ([[np.nan, 1.0], HALF], r"player 0 must be finite, got \[nan, 1.0\]"),
        ([HALF, [1.0, np.inf]], r"player 1 must be finite, got \[1.0, inf\]"),
        ([HALF, [1.5, -0.5]], r"player 1 must not be negative, got \[1.5, -0.5\]"),
        ([HALF, [-0.5, 0.5]], r"player 1 must not be negative, got \[-0.5, 0.5\]"),
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
        yield lambda call=call: call(pennies, [0, 2]), InvalidRun, r"player 1's action in 0\.\.1, got 2"
        yield lambda call=call: call(pennies, [0.5, 0.5]), InvalidRun, "must be 2 integers, one action per player"
    for call in (pure_nash, finite_improvement):
        yield (
            lambda call=call: call(pennies, tolerance=-1),
            InvalidInput,
            r"tolerance must be a number in \[0, 1\), got -1",
        )
        yield (
            lambda call=call: call(pennies, tolerance=np.nan),
            InvalidInput,
            r"tolerance must be a number in \[0, 1\), got nan",
        )
    for player in (2, -1, 0.0, True):
        yield lambda p=player: best_responses(pennies, p, [0, 0]), InvalidInput, "player must be an integer from 0 to 1"
        yield lambda p=player: expected_utility(pennies, [HALF] * 2, p), InvalidInput, "player must be an integer from"
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
