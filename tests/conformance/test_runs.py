"""Runs at the edges: extreme numbers, nothing to do, progress, traces and saved files."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun, NotCompiled
from tests import games


@pytest.mark.parametrize("spec", [s for s in games.RULES.values() if "tau" in s], ids=lambda s: s["rule"])
@pytest.mark.parametrize("tau", [1e-300, 1e300])
def test_extreme_payoffs_and_temperatures_play_on(spec, tau):
    payoffs = np.random.default_rng(1).choice([-1e300, 0.0, 1e300], size=(3, 2, 3, 2))
    game = pt.games.NormalForm(payoffs)
    for compiled in (True, False):
        run = pt.begin(game, dict(spec, tau=tau), 1, record="welfare", compiled=compiled).advance(300)
        assert np.isfinite(run.trace().welfare).all()
    if tau < 1:  # next to no noise: nobody accepts a loss alone, so LLL and BLLL end where nobody gains alone
        final = run.profile
        if spec["rule"] in ("lll", "blll") and not spec.get("include_current"):
            trace = pt.run(game, dict(spec, tau=tau), 300, seed=1)
            for before, after in zip(trace.profiles[:-1], trace.profiles[1:], strict=True):
                for player in np.flatnonzero(before != after):
                    assert game.utility(player, after) >= game.utility(player, before)
        assert game.check_profile(final) is not None


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
        pt.run(game, pt.rule("lll", tau=1.0), 10)
    assert len(caught) == 1
    pt.run(game, pt.rule("blll", tau=1.0), 10)  # warnings are errors here: there is no second one


@pytest.mark.filterwarnings("ignore::potentia.errors.NotCompiled")
@pytest.mark.parametrize("make", [games.custom, games.uncompiled], ids=lambda f: f.__name__)
def test_a_utility_that_turns_to_nan_stops_the_run(make):
    def utility(player, profile, data):
        return data[0] / (profile[0] - 1.0) if profile[0] != 1 else np.nan

    data = np.ones(1) if make is games.custom else [1.0]
    game = pt.games.custom(utility, [2, 2], data=data)
    with pytest.raises(pt.errors.InvalidGame, match="finite numbers, got NaN or infinity"):
        pt.run(game, pt.rule("lll", tau=1.0), 100)


def test_saved_files_are_checked(tmp_path):
    game, rule = games.normal_form(), pt.rule("lll", tau=1.0)
    path = pt.begin(game, rule, 1, record=("profile", "welfare")).advance(50).save(tmp_path / "run.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"], "nothing half written is left behind"
    with pytest.raises(InvalidRun, match="another game"):
        pt.load(path, games.separable())
    with pytest.raises(InvalidRun, match="cannot read"):
        pt.load(tmp_path / "none.npz", game)
    whole = path.read_bytes()
    for cut in (10, len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:cut])
        with pytest.raises(InvalidRun, match="damaged"):
            pt.load(path, game)
    with pytest.raises(InvalidRun, match="cannot write"):
        pt.begin(game, rule, 1).save(tmp_path / "no" / "folder.npz")
