"""Tables of potentia cover: one number says the same everywhere, and of whom and when it is."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import optimum, optimum_over_time
from potentia.cli.comparing import _print, _print_costs
from potentia.cli.coverage_checks import certified, require_worth, warn_of
from potentia.cli.coverage_results import Results, _count
from potentia.cli.coverage_tables import length, titled
from potentia.errors import InvalidInput
from potentia.games.world import listed_cells
from potentia.statistics.estimates import estimate, paired_difference
from potentia.studies.comparing import Advice, Played, Rival
from potentia.studies.coverage import cover
from potentia.studies.coverage_pairs import cover_without_events

WORLD = pt.games.World(np.random.default_rng(2).random((5, 6)) ** 3)
RULES = {"blll": pt.rule("blll", tau=0.01)}


@pytest.fixture
def played(monkeypatch):
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)

    def results(*events, steps=60, runs=5):
        game = pt.games.Coverage(WORLD, 2, 1.0, flags=False, events=events)
        seeds = range(runs)
        best = optimum_over_time(game, [0, steps]) if game.happenings.times else optimum(game.at(steps))
        data, without = (play(game, RULES, steps, seeds) for play in (cover, cover_without_events))
        return Results(game, RULES, data, best, steps, runs, without=without)

    return results


def test_robots_that_fail_by_chance_count_in_the_optimum_and_it_says_so(played, capsys):
    played("hazard 0.02").print()
    assert "share of the optimum, as if none failed by chance" in capsys.readouterr().out
    played("fail 0@30").print()
    assert "by chance" not in capsys.readouterr().out


def test_one_mean_has_one_interval(played):
    found = played("hazard 0.02", steps=30)
    most = found.best.bound
    found = Results(**vars(found) | {"best": optimum(pt.games.Coverage(WORLD, 1, 1.0, flags=False))})
    assert found.best.bound < most  # so that some interval goes beyond it
    for estimated in (found.costs["blll"].level, found.covered["blll"].worth_union):
        assert estimated.high == max(found.best.bound, estimated.mean)
    assert found.costs["blll"].level == found.covered["blll"].worth_union


def test_an_event_in_the_last_steps_is_told(played, capsys):
    words = "before the last event"
    played("fail 0@60").print()
    told = " ".join(capsys.readouterr().out.split())
    assert words in told
    played("fail 0@10", steps=230).print()
    assert words not in " ".join(capsys.readouterr().out.split())


def test_a_comparison_says_of_how_many_runs_a_mean_is(capsys):
    def of(runs, worth):
        return Played(worth + np.linspace(-0.1, 0.1, runs), np.full(runs, 60_630.0))

    judged = {"a": of(20, 2.0), "b": of(20, 1.9)}
    rival = Rival("b", paired_difference(judged["a"].worth, judged["b"].worth))
    looked = {name: of(3, 1.0) for name in "abc"}
    rules = dict.fromkeys("abc", RULES["blll"])
    _print(Advice("a", "a", (rival,), looked, judged, {}, rules, range(3), range(3, 23), 40, "m"), None)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows if row[:1] in (["a"], ["b"], ["c"])] == [["a", "20"], ["b", "20"], ["c", "3,"]]
    text = " ".join(part for row in rows for part in row)
    assert text.count("60,630 [60,630, 60,630]") == 2  # and of who is looked at no interval
    assert text.count("60,630") == 7
    assert str(estimate(judged["a"].worth)) in text
    assert f"{rival.difference}" in text
    assert ", a tie" not in text


def test_the_way_has_an_interval_and_who_failed_is_told_in_that_word(played, capsys):
    found = played("fail 0@30")
    far = estimate(found.data["blll"].distance.values[:, -1])
    assert far.low < far.high
    assert found.to_dict()["rules"]["blll"]["distance"] == far.to_list()
    found.print()
    text = " ".join(capsys.readouterr().out.split())
    assert f"distance driven, cells, all robots {far}" in text
    assert text.index("how long: steps until 80 % of the optimum") < text.index("first at 90 % of what it ends with")
    assert ") failed, (" in text


@pytest.mark.parametrize("runs", [3, 6])
def test_costs_of_moving_stand_beside_the_same_seeds_without(runs, capsys):
    drawn = np.random.default_rng(5).normal(size=20)
    judged = {"a": Played(200 + drawn, 90 + drawn), "b": Played(100 + drawn, np.ones(20))}
    cheap = Played(judged["a"].worth[:runs] + 0.25 + np.arange(runs) / 99, judged["a"].distance[:runs] - 40)
    rules = dict.fromkeys("ab", RULES["blll"])
    found = Advice("a", "a", (), judged, judged, {0.018: cheap}, rules, range(3), range(3, 23), 40, "m")
    own = judged["a"].worth[:runs]
    assert found.cost_margins == {0.018: paired_difference(cheap.worth, own)}
    assert found.to_dict()["cost_seeds"] == list(range(3, 3 + runs))
    _print_costs(found, np.zeros(2))
    text = " ".join(capsys.readouterr().out.split())
    assert f"0, as asked {estimate(own)}" in text
    assert f"0.018 {estimate(cheap.worth)}" in text
    assert str(found.cost_margins[0.018]) in text
    assert f"a on {runs} seeds, 3 to {2 + runs}, the same in all rows" in text
    assert ("so few seeds do not tell" in text) == (runs < 5)


def test_who_was_left_out_is_told_beside_the_answer(monkeypatch, tmp_path, capsys):
    from potentia.cli import comparing

    rules = {name: pt.rule("blll", tau=0.01) for name in "abcd"}
    monkeypatch.setattr("potentia.studies.comparing.within", lambda *a, **o: ({k: rules[k] for k in "ab"}, 28 * 20))
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    monkeypatch.setattr("potentia.figures.comparison_figure", lambda *a, **o: None)
    monkeypatch.setattr(comparing, "save_picture", lambda *a: None)
    monkeypatch.setattr(comparing, "add", lambda *a: None)
    monkeypatch.setattr("sys.argv", ["potentia", "cover", "x.csv", "--compare"])
    contest = comparing.Contest.within(60.0, None, pt.games.Coverage(WORLD, 2, 1.0), rules, None, 20, 1, False)
    contest.play(None, 0, tmp_path)
    last = capsys.readouterr().out.partition("take ")[2]
    assert "only 2 of 4 candidates were played, for want of time: --budget 3m may be enough for all" in last


def test_robots_that_have_failed_end_with_nothing(played, capsys):
    found = played("fail 0@30", "arrive 30", "arrive 40")
    for batch in found.data.values():
        batch["components"] = batch.worth_union * 0 + 2
    believing = pt.beliefs.SplitMerge(most=2)
    Results(**vars(found) | {"belief": believing})._print_bound()
    assert "all 3 robots that are there end with 2 components" in capsys.readouterr().out


def test_as_many_optima_are_announced_as_are_listed(capsys):
    game = pt.games.Coverage(WORLD, 2, 1.0, flags=False, events=("fail 0@20", "arrive 40"))
    best = certified(game, 60, quiet=False)
    assert len(best.times) > 3
    first, second, places = capsys.readouterr().out.splitlines()
    assert places == f"  at step 60 its robots are at {listed_cells(best.optima[-1].positions)}"
    assert first.startswith("computing the optimum at 3 steps: ")
    assert second.count("at step") == 3


@pytest.mark.parametrize(("mean", "told"), [(0.4, "0.4"), (3.0, "3"), (9.94, "9.9"), (9.96, "10"), (1234.5, "1,234")])
def test_few_are_not_rounded_to_whole_ones(mean, told):
    assert _count(mean) == told


@pytest.mark.parametrize(("way", "told"), [(60_632.4, "60,632"), (999.4, "999.4"), (12.3456, "12.35"), (0.0, "0")])
def test_lengths_have_no_powers_of_ten(way, told):
    assert length(way) == told


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (("hazard 0.9",), "warning: --hazard: 0.9 in each of 60 steps leaves in the mean 2e-60 of 2 robots"),
        (("fail 0@60",), "warning: fail 0@60 comes after the last of 60 steps, where nothing is played any more"),
        (("fail 0@59", "hazard 0.001"), ""),
    ],
)
def test_events_that_leave_nothing_to_see(events, told, capsys):
    warn_of(pt.games.Coverage(WORLD, 2, 1.0, events=events), 60)
    assert capsys.readouterr().err.strip() == told


def test_titles_of_pictures_are_for_people():
    game = pt.games.Coverage(WORLD.like(name="yard", cell_size=2.0), 3, 1.5, events=["arrive 5", "fail 0@9"])
    assert titled(game) == "yard, 6×5 cells, 3 robots and 1 that arrives, range 3 m"
    mixed = pt.games.Coverage(WORLD.like(name="yard"), 2, [1.0, 2.5])
    assert titled(mixed) == "yard, 6×5 cells, 2 robots, range 1 to 2.5 cells"


@pytest.mark.parametrize(("sight", "blocked_worth"), [(False, None), (True, True), (True, None), (False, False)])
def test_a_lake_is_worth_something_to_those_who_cover_it(sight, blocked_worth):
    lake = np.zeros((5, 5))
    lake[1:4, 1:4] = 1
    world = pt.games.World(lake, blocked=lake > 0)
    game = pt.games.Coverage(world, 1, 1.0, sight=sight, blocked_worth=blocked_worth)
    if game.blocked_worth:
        require_worth(game, "lake.npy", RULES)
    else:
        with pytest.raises(InvalidInput, match=r"lake\.npy: this map has no worth: all cells that robots can cover"):
            require_worth(game, "lake.npy", RULES)


def test_a_world_that_begins_with_nothing_freezes_nobody(capsys):
    frames = pt.games.Frames(np.stack([0 * WORLD.worth, WORLD.worth]), 30)
    game = pt.games.Coverage(pt.games.World(frames.frames[0]), 2, 1.0, flags=False, drift=frames, events=["fail 1@0"])
    warn_of(game.costing(0.001), 60)
    assert capsys.readouterr().err == ""
    warn_of(game.costing(99.0), 60)
    assert "warning: --cost: K = 99 freezes the robots" in capsys.readouterr().err


def test_no_interval_of_a_worth_goes_below_nothing(played):
    results = played("fail 0@10", "hazard 0.05")
    covered, (recovered,) = results.covered["blll"], results.recoveries("blll")
    found = (covered.worth_union, covered.worth_sum, covered.share_end, covered.share_over_run)
    found += (recovered.before, recovered.dip, recovered.after, results.costs["blll"].level)
    assert all(0 <= one.low <= one.mean <= one.high for one in found)
    raw = estimate(results.data["blll"].worth_union.values[:, 10:].mean(axis=1))
    assert raw.low < 0 < raw.mean  # or this tests nothing
