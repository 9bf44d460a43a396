"""Runs that are driven from outside: what may be played, playing it, what changed, and branches."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from tests import games

RECORD = ("profile", "welfare", "acceptance", "visits")
LLL = pt.rule("lll", tau=0.4)


def robots(**options):
    world = pt.games.World(np.arange(20.0).reshape(4, 5))
    return pt.games.Coverage(world=world, robots=2, delta=1.0, **options)


def test_what_is_legal_is_what_can_be_reached_and_staying():
    run = pt.begin(games.constrained(), LLL, start=[1, 1])
    assert run.legal(0).tolist() == [0, 1]
    assert run.legal(1).tolist() == [0, 1, 2]
    free = pt.begin(games.normal_form(), LLL)
    assert [free.legal(player).tolist() for player in range(3)] == [[0, 1], [0, 1, 2], [0, 1]]


def test_what_is_applied_is_a_step_with_all_that_belongs_to_one():
    game = games.normal_form()
    run = pt.begin(game, LLL, start=[0, 0, 0], record=RECORD, every=2)
    run.apply({0: 1, 1: 2}).apply({}).apply({1: 0})
    assert run.step == 3
    assert run.profile.tolist() == [1, 0, 0]
    trace = run.trace()
    assert (trace.revisions, trace.changes) == (3, 3)
    assert trace.times.tolist() == [0, 2]
    assert trace.welfare[1] == sum(game.utility(player, (1, 2, 0)) for player in range(3))
    visits = np.zeros((2, 3, 2), int)
    visits[1, 2, 0], visits[1, 0, 0] = 2, 1
    assert trace.visits.reshape(2, 3, 2).tolist() == visits.tolist()
    assert [part.tolist() for part in run.changes()] == [[2, 2], [0, 1], [1, 2]]


def test_players_that_move_at_once_see_the_same_game():
    """In whichever order they are told: flags, costs and what else a move leaves behind is of the joint move."""
    ends = []
    for order in ([(0, 6), (1, 12)], [(1, 12), (0, 6)]):
        run = pt.begin(robots(K=0.1), LLL, start=[0, 18], record=("profile", "worth_sum", "energy"))
        run.apply({0: 1, 1: 13}).apply(dict(order))
        ends.append((run.profile.tolist(), run.trace().worth_sum.tolist(), run.trace().energy.tolist()))
    assert ends[0] == ends[1]
    assert ends[0][0] == [6, 12]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({0: 1, 1: 3}, r"player 1 may now play 0, 1, 2, got 3"),
        ({0: 1, 7: 0}, r"player must be an integer from 0 to 1, got 7"),
        ({0: 1.0}, r"player 0 may now play 0, 1, got 1.0"),
        ([1, 2], r"actions must be a mapping such as \{0: 1\}, .* got \[1, 2\]"),
    ],
)
def test_what_is_not_legal_changes_nothing(actions, message):
    run = pt.begin(games.constrained(), LLL, start=[1, 1], record=RECORD)
    with pytest.raises(InvalidRun, match=message):
        run.apply(actions)
    assert (run.step, run.profile.tolist(), run.trace().revisions) == (0, [1, 1], 0)


def _sometimes(player, profile, data):
    if profile[0] == 1 and profile[1] == 1 and profile[2] == 0:
        raise ValueError("never both")
    return float(profile[player])


def test_a_utility_that_fails_leaves_the_run_as_it_was():
    run = pt.begin(pt.games.custom(_sometimes, [2, 2, 2]), LLL, start=[0, 0, 0], record=("profile", "welfare"))
    run.apply({0: 1})
    with pytest.raises(pt.errors.InvalidGame, match="never both"):
        run.apply({1: 1})
    assert (run.step, run.profile.tolist()) == (1, [1, 0, 0])
    run.apply({2: 1})
    assert run.trace().welfare.tolist() == [0.0, 1.0, 2.0]


def test_a_driven_run_goes_on_by_its_rule_with_the_draws_of_that_time(game):
    """A profile set by hand is as one that was played: what follows is drawn by time, not by history."""
    free = pt.begin(game, LLL, 3, record=RECORD).advance(30)
    led = pt.begin(game, LLL, 3, record=RECORD)
    for time in range(1, 21):
        told = {player: action for when, player, action in zip(*free.changes(), strict=True) if when == time}
        led.apply({int(player): int(action) for player, action in told.items()})
    led.advance(10)
    np.testing.assert_array_equal(led.trace().profiles, free.trace().profiles)


def test_changes_since():
    run = pt.begin(games.normal_form(), LLL, 1).advance(50).advance(50)
    time, player, action = run.changes()
    assert time.size > 10
    for since in (0, 17, 50, 99, 100, 1000):
        later = time > since
        for part, whole in zip(run.changes(since), (time, player, action), strict=True):
            assert part.dtype == whole.dtype
            np.testing.assert_array_equal(part, whole[later])
    with pytest.raises(InvalidRun, match="changes were not recorded"):
        pt.begin(games.normal_form(), LLL, record="welfare").changes()


def test_a_branch_goes_on_like_its_parent_and_apart_from_it(game, rule):
    run = pt.begin(game, rule, 5, record=RECORD).advance(20)
    other = run.branch()
    run.advance(20)
    assert other.step == 20
    other.advance(20)
    np.testing.assert_array_equal(other.trace().profiles, run.trace().profiles)
    np.testing.assert_array_equal(other.trace().visits, run.trace().visits)
    np.testing.assert_array_equal(other.trace().welfare, run.trace().welfare)


def test_a_changed_temperature_changes_no_draw():
    """At a temperature next to the parent's the branch is the parent; a run of its own is another."""
    game, rule = games.normal_form(), pt.rule("blll", tau=0.5)
    run = pt.begin(game, rule, 5).advance(10)
    near = pt.rule("blll", tau=0.5 * (1 + 1e-12))
    other, alone = run.branch(rule=near), pt.begin(game, near, 5).advance(10)
    assert other.key == run.key != alone.key
    np.testing.assert_array_equal(other.advance(90).profile, run.advance(90).profile)
    np.testing.assert_array_equal(other.trace().profiles, run.trace().profiles)
    assert not np.array_equal(alone.advance(90).trace().profiles, run.trace().profiles)
    cold = run.branch(rule=pt.rule("best-response"))
    assert cold.rule.name == "best-response"
    cold.advance(10)


def test_a_branch_on_another_game_keeps_what_was_seen_and_learnt(tmp_path):
    game, rule = robots(), pt.rule("p-sblll", tau=0.1, revision=0.5)
    walls = pt.games.World(np.arange(20.0).reshape(4, 5)[::-1].copy())
    other_game = pt.games.Coverage(world=walls, robots=2, delta=1.0)
    run = pt.begin(game, rule, 1, belief=pt.beliefs.SplitMerge(), record=("profile", "worth_sum")).advance(30)
    other = run.branch(game=other_game)
    np.testing.assert_array_equal(other.state.game.seen, run.state.game.seen)
    before = other.trace().worth_sum
    other.advance(10)
    np.testing.assert_array_equal(other.trace().worth_sum[: before.size], before)
    with pytest.raises(InvalidRun, match=r"game must have the players, actions and recorders of Coverage.* got Norm"):
        pt.begin(game, rule).branch(game=games.normal_form())


def test_a_branch_is_saved_with_its_draws(tmp_path):
    game = games.normal_form()
    branch = pt.begin(game, LLL, 5).advance(10).branch(rule=pt.rule("lll", tau=0.1))
    again = pt.load(branch.save(tmp_path / "branch.npz"), game)
    assert again.key == branch.key
    np.testing.assert_array_equal(again.advance(50).trace().profiles, branch.advance(50).trace().profiles)


def test_records_that_go_elsewhere_cannot_be_branched():
    from potentia.engine.columns import Columns

    run = pt.begin(games.normal_form(), LLL, record="welfare")
    run.record_into(Columns({"welfare": np.empty(10)}))
    with pytest.raises(InvalidRun, match="cannot be branched"):
        run.branch()
