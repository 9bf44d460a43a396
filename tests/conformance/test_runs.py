"""Runs at the edges: extreme numbers, nothing to do, progress, traces and saved files."""

from __future__ import annotations

import copy
import pickle
import types

import numba
import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun, NotCompiled
from tests import games


def test_zero_steps_and_every_beyond_the_end():
    game, rule = games.normal_form(), pt.rule("lll", tau=1.0)
    nothing = pt.run(game, rule, 0, seed=3)
    np.testing.assert_array_equal(nothing.profiles, [nothing.start])
    np.testing.assert_array_equal(nothing.final, nothing.start)
    rare = pt.run(game, rule, 10, seed=3, every=100, record=("profile", "welfare"))
    assert rare.times.tolist() == [0]
    assert rare.welfare.shape == (1,)
    np.testing.assert_array_equal(rare.final, pt.run(game, rule, 10, seed=3).final)


def test_nothing_recorded_costs_no_memory():
    trace = pt.run(games.normal_form(), pt.rule("lll", tau=1.0), 1000, record=())
    assert trace.times.size == 0
    assert trace.changes > 0
    with pytest.raises(InvalidRun, match="profiles were not recorded"):
        _ = trace.profiles
    with pytest.raises(InvalidRun, match="welfare was not recorded"):
        _ = trace.welfare


def test_a_run_in_one_go_has_the_records_of_one_in_pieces():
    game, rule = pt.games.Coverage(pt.games.random_world(1), 3), pt.rule("slll", tau=0.5, revision=0.5)
    record = ("moves", "rejected", "welfare", "worth_union", "acceptance", "profile")
    whole = pt.run(game, rule, 60, seed=2, record=record, every=7)
    pieces = pt.begin(game, rule, 2, record=record, every=7).advance(20).advance(40).trace()
    assert list(whole.scalars) == list(pieces.scalars)
    assert all(whole.scalars[name].tobytes() == pieces.scalars[name].tobytes() for name in whole.scalars)
    np.testing.assert_array_equal(whole.profiles, pieces.profiles)
    np.testing.assert_array_equal(whole.times, pieces.times)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_up_to_the_total(workers):
    heard = []
    game, rule = games.normal_form(), pt.rule("lll", tau=1.0)
    pt.run_batch(
        game, rule, 5000, range(4), record=(), workers=workers, progress=lambda done, total: heard.append((done, total))
    )
    assert heard[-1] == (20_000, 20_000)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_a_trace_is_small_where_little_moves():
    """Ten million steps of a frozen ring are the few changes of its first steps."""
    trace = pt.run(pt.game("ring", players=50), pt.rule("lll", tau=0.01), 10_000_000, seed=1)
    times, _, _ = trace.events
    assert len(times) < 100_000
    assert trace.steps == 10_000_000


def test_many_players_and_few_agree_in_the_dense_view():
    """The dense view is built by player for small games and by row for large ones."""
    for players in (60, 70):
        game = pt.game("ring", players=players)
        run = pt.begin(game, pt.rule("slll", tau=1.0, revision=0.2), 2)
        seen = [run.profile]
        for _ in range(50):
            run.advance(1)
            seen.append(run.profile)
        np.testing.assert_array_equal(run.trace().profiles, seen)


def test_lonely_players_and_single_actions():
    lonely = pt.games.NormalForm([[1.0, 2.0, 3.0]])
    assert pt.run(lonely, pt.rule("lll", tau=0.01), 50).final.tolist() == [2]
    fixed = pt.games.NormalForm(np.ones((2, 1, 1)))
    isolated = pt.games.Coordination([[0, 1]], np.eye(2), num_players=3)
    for spec in games.RULES.values():
        assert pt.run(fixed, spec, 50).final.tolist() == [0, 0]
        assert pt.run(isolated, spec, 50).final.shape == (3,)


def test_a_schedule_holds_its_last_value_beyond_the_horizon():
    game = games.normal_form()
    rule = pt.rule("lll", tau=pt.rules.Geometric(5.0, 0.5))
    run = pt.begin(game, rule, 1, horizon=100).advance(100)
    longer = pt.begin(game, rule, 1, horizon=100).advance(250)
    np.testing.assert_array_equal(run.trace().profiles, longer.trace().profiles[:101])
    constant = pt.rules.Geometric(5.0, 0.5).at(10**6, horizon=100)
    assert constant == 0.5


def test_each_seed_may_have_its_own_start():
    game = games.normal_form()
    starts = np.array([[0, 0, 0], [1, 2, 1], [0, 1, 1]])
    batch = pt.run_batch(game, pt.rule("lll", tau=1.0), 20, [5, 6, 7], start=starts)
    np.testing.assert_array_equal(batch.profile.isel(time=0), starts)


def test_rules_share_the_start_of_a_seed_and_nothing_else():
    game = games.normal_form()
    first = pt.run(game, pt.rule("lll", tau=1.0), 200, seed=9)
    second = pt.run(game, pt.rule("lll", tau=1.0 + 1e-12), 200, seed=9)
    np.testing.assert_array_equal(first.start, second.start)
    assert (first.profiles != second.profiles).any(), "other parameters must draw from another key"


def test_an_uncompilable_utility_warns_once_and_says_why():
    game = games.uncompiled()
    with pytest.warns(NotCompiled, match="_uncompilable runs in Python.* data holds a dict") as caught:
        pt.run(game, pt.rule("lll", tau=1.0), 10, compiled=True)
    assert len(caught) == 1
    pt.run(game, pt.rule("blll", tau=1.0), 10)  # warnings are errors here: there is no second one


def _breaks_at_one_two(player, profile, data):
    if profile[0] == 1 and profile[1] == 2:
        return np.nan
    return data[0] * profile[player]


def _reads_beyond(player, profile, data):
    return data[8 + (profile[0] == 1 and profile[1] == 2)] * profile[player]


@pytest.mark.parametrize("compiled", [True, False, "auto"])
@pytest.mark.parametrize(
    ("utility", "complaint"),
    [
        (_breaks_at_one_two, r"at profile \[1, 2, \d\] must return a finite number, got nan"),
        (_reads_beyond, "IndexError"),
    ],
)
def test_a_utility_that_breaks_stops_the_run_where_it_was(utility, complaint, compiled):
    """Neither a NaN nor a wrong index gets through, and the run stands at its last whole chunk."""
    game = pt.games.custom(utility, [3, 4, 2], data=np.arange(9.0))
    run = pt.begin(game, pt.rule("p-sblll", tau=1.0, revision=0.5), 1, start=[0, 0, 0], compiled=compiled)
    with pytest.raises(pt.errors.InvalidGame, match=complaint):
        run.advance(5000)
    np.testing.assert_array_equal(run.profile, run.trace().profiles[-1])
    assert run.trace().times[-1] == run.step


OUTSIDE = {
    "global": "    return K * profile[player]",
    "module": "    return module.K * profile[player]",
    "inner function": "    def inner(x):\n        return K * x\n    return inner(profile[player])",
    "comprehension": "    return [K * x for x in profile][player]",
}


@pytest.mark.parametrize(
    "kind",
    ["module", "inner function", *(pytest.param(k, marks=pytest.mark.long) for k in ("global", "comprehension"))],
)
def test_a_name_from_outside_that_changed_is_seen_by_the_next_game(kind):
    """Numba freezes what a function takes from outside; a game built later must not play with the old value."""
    names = {"module": types.ModuleType("settings"), "K": 1.0}
    names["module"].K = 1.0
    exec("def utility(player, profile, data):\n" + OUTSIDE[kind], names)
    rule = pt.rule("lll", tau=0.01)
    first = pt.games.custom(names["utility"], [3, 3])
    assert pt.run(first, rule, 100, compiled=True).final.tolist() == [2, 2]
    print_before = first.fingerprint()
    names["K"] = names["module"].K = -1.0
    second = pt.games.custom(names["utility"], [3, 3])
    assert pt.run(second, rule, 100, compiled=True).final.tolist() == [0, 0]
    assert kind == "module" or second.fingerprint() != print_before


def _helper(x):
    return 2.0 * x


def _asks_for_help(player, profile, data):
    return _helper(profile[player])


def test_a_plain_helper_runs_in_python_and_the_warning_says_how_to_mend_it():
    with pytest.warns(NotCompiled, match=r"know _helper; decorate it with numba\.njit: test_runs.py:\d+ "):
        assert pt.games.custom(_asks_for_help, [2]).compiled is False


def test_games_built_on_one_function_share_its_machine_code():
    from potentia.engine.loop import play_entry

    rule = pt.rule("best-response")
    pt.run(games.custom(), rule, 1, compiled=True)
    kernels = len(play_entry.dispatcher.signatures)
    pt.run(games.custom(), rule, 1, compiled=True)
    assert len(play_entry.dispatcher.signatures) == kernels


def test_lists_as_data_run_in_python():
    game = pt.games.custom(lambda player, profile, data: data[player] * profile[player], [2, 2], data=[1.0, -1.0])
    with pytest.warns(NotCompiled, match="data holds a list"):
        assert pt.run(game, pt.rule("best-response"), 100, compiled=True).final.tolist() == [1, 0]


@pytest.mark.parametrize("actions", [17, 20, 256, 257])
def test_many_actions_play_alike_compiled_and_plain(actions):
    payoff = np.random.default_rng(2).normal(size=(actions, actions))
    game = pt.games.Coordination([[0, 1], [1, 2], [0, 2]], payoff + payoff.T)
    traces = [
        pt.begin(game, pt.rule("lll", tau=0.3), 1, record=("profile", "potential", "welfare"), compiled=compiled)
        .advance(200)
        .trace()
        for compiled in (True, False)
    ]
    np.testing.assert_array_equal(traces[0].profiles, traces[1].profiles)
    np.testing.assert_array_equal(traces[0].potential, traces[1].potential)
    for row in (0, 100, 200):
        assert traces[0].welfare[row] == pytest.approx(game.welfare(traces[0].profiles[row]))


def test_copies_of_a_game_are_frozen_too():
    game = games.coordination()
    assert copy.deepcopy(game) is game
    twin = pickle.loads(pickle.dumps(game))
    assert twin.fingerprint() == game.fingerprint()
    with pytest.raises(ValueError, match="read-only"):
        twin.payoff[0, 0, 0] = 99.0
    with pytest.raises(AttributeError, match="immutable"):
        twin.payoff = None


def test_fingerprints_tell_functions_and_data_apart():
    def plus(player, profile, data):
        return 1.0 * profile[player]

    def minus(player, profile, data):
        return -1.0 * profile[player]

    def nested(player, profile, data):
        return sum([1.0 * x for x in profile])

    def differently_nested(player, profile, data):
        return sum([2.0 * x for x in profile])

    def default(player, profile, data, k=1.0):
        return k * profile[player]

    def other_default(player, profile, data, k=5.0):
        return k * profile[player]

    made = [pt.games.custom(f, [2, 2]) for f in (plus, minus, nested, differently_nested, default, other_default)]
    made += [pt.games.custom(plus, [2, 2], data=d) for d in (((1, 2), 3), ((1, 2, 3),), (((1,),), 2), (((1,), 2),))]
    tables = [{"w": np.arange(5000.0)}, {"w": np.arange(5000.0) + (np.arange(5000) == 2500)}]
    made += [pt.games.custom(plus, [2, 2], data=table) for table in tables]
    assert len({game.fingerprint() for game in made}) == len(made)
    with pytest.raises(ValueError, match="read-only"):
        made[-1].custom_data["w"][0] = 1.0


@numba.njit
def _decorated(player, profile, data):
    return 1.0 * profile[player]


def test_a_decorated_utility_plays_and_survives_pickle():
    game = pickle.loads(pickle.dumps(pt.games.custom(_decorated, [2, 2], data=np.ones(2))))
    assert pt.run(game, pt.rule("best-response"), 50).final.tolist() == [1, 1]
    assert not game.custom_data.flags.writeable


def test_evaluating_a_broken_utility_names_player_and_profile():
    game = pt.games.custom(_breaks_at_one_two, [3, 4, 2], data=np.arange(9.0))
    assert pt.engine.evaluate(game, [1, 1, 1]) == {"welfare": 0.0}
    with pytest.raises(pt.errors.InvalidGame, match=r"player 0 at profile \[1, 2, 0\]"):
        pt.engine.evaluate(game, [1, 2, 0])


def test_a_run_cannot_grow_beyond_64_bits():
    run = pt.begin(games.normal_form(), pt.rule("lll", tau=1.0), record=())
    with pytest.raises(InvalidRun, match="below 2"):
        run.advance(2**62)
    run.step = 2**62 - 3
    assert run.advance(2).step == 2**62 - 1
    with pytest.raises(InvalidRun, match="length must be below"):
        run.advance(1)


def test_the_record_of_changes_stops_before_memory_is_full(monkeypatch):
    game = pt.game("ring", players=60)
    run = pt.begin(game, pt.rule("slll", tau=100.0, revision=1.0), 1).advance(10)
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 20_000_000)
    with pytest.raises(pt.errors.TooLarge, match=r"record of .* changes"):
        run.advance(100_000)
    assert run.step > 10
    assert len(run.trace().times) == run.step + 1


def test_a_player_that_is_back_at_the_next_row_has_not_changed():
    trace = pt.run(games.normal_form(), pt.rule("lll", tau=5.0), 600, record=("profile",), every=3)
    now, back = trace.start.copy(), trace.changes - trace.events[0].size
    for _, player, action in zip(*trace.events, strict=True):
        assert action != now[player]
        now[player] = action
    assert back > 20  # changes that no row shows
