"""Candidates on one map: the same starts, fresh seeds to judge by, a tie where there is nothing to tell."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidInput, InvalidRun
from potentia.statistics.estimates import estimate, paired_difference
from potentia.studies.comparing import candidates, compare, typed

GAME = pt.games.Coverage(pt.games.random_world(1, size=(8, 7)), 2, flags=False)
GOOD = pt.rule("p-sblll", tau="auto", revision=0.9, trial="unilateral")
HOT = pt.rule("p-sblll", tau=100.0, revision=0.9, trial="unilateral")  # wanders about
OPTIONS = {"steps": 40, "budget": 40 * 2 * (2 + 10), "costs": False, "compiled": False}


@pytest.fixture(scope="module")
def clear():
    return compare(GAME, {"hot": HOT, "good": GOOD}, **OPTIONS)


def test_the_right_one_wins(clear):
    assert clear.taken == clear.nominee == "good"
    (rival,) = clear.rivals
    assert rival.name == "hot"
    assert not rival.tie
    assert rival.difference.low > 0
    assert clear.ties == ()
    assert str(clear).startswith("take good: worth")
    assert "more than hot" in str(clear)


def test_a_rule_ties_with_itself():
    found = compare(GAME, {"one": GOOD, "same": GOOD}, **OPTIONS)
    assert found.taken == "one"  # the first of equals
    assert found.ties == ("same",)
    assert found.rivals[0].difference.mean == 0
    assert "a tie" in str(found)


def test_seeds_that_judge_are_fresh_and_the_same_for_all(clear):
    assert not set(clear.looking_seeds) & set(clear.judging_seeds)
    assert len(clear.judging_seeds) >= 10
    again = pt.run_batch(GAME, GOOD, 40, clear.judging_seeds, record=("profile", "worth_union", "distance"))
    np.testing.assert_array_equal(clear.judged["good"].distance, again.distance.values[:, -1])
    np.testing.assert_allclose(clear.judged["good"].worth, again.worth_union.values.mean(axis=1))
    hot = pt.run_batch(GAME, HOT, 40, clear.judging_seeds)
    np.testing.assert_array_equal(hot.profile.values[:, 0], again.profile.values[:, 0])


def test_the_same_again(clear):
    assert compare(GAME, {"hot": HOT, "good": GOOD}, **OPTIONS).to_dict() == clear.to_dict()


def test_a_rival_that_is_surely_better_takes_its_place(monkeypatch):
    from potentia.studies import comparing

    def swapped(data, side):
        """Looking, the bad one seems the better one."""
        found = measured(data, side)
        looking = data.seed.values[0] == 0
        return comparing.Played(-found.worth if looking else found.worth, found.distance)

    measured = comparing._measured
    monkeypatch.setattr(comparing, "_measured", swapped)
    found = compare(GAME, {"hot": HOT, "good": GOOD}, **OPTIONS)
    assert (found.nominee, found.taken) == ("hot", "good")
    assert "more than hot, which looked best at first" in str(found)


def test_ties_are_those_of_the_one_that_is_taken():
    from potentia.studies.comparing import Advice, Played, _rivals

    noise = np.random.default_rng(1).normal(size=20)
    worths = {"nominee": noise, "best": 5 + noise, "as good": 5 + noise[::-1], "as bad": noise[::-1]}
    judged = {name: Played(worth, np.ones(20)) for name, worth in worths.items()}
    rivals = _rivals(judged, "nominee")
    assert [rival.name for rival in rivals if rival.tie] == ["as bad"]
    found = Advice("best", "nominee", rivals, judged, judged, {}, {}, range(1), range(20), 1, "cells")
    assert found.ties == ("as good",)
    assert found.to_dict()["ties"] == ["as good"]
    assert "more than nominee, which looked best at first" in str(found)
    assert "more than as bad" in str(found)
    assert "can tell, with as good (" in str(found)


def test_in_a_tie_who_drives_least_is_taken():
    """And nobody judged covers more than the one taken and drives less."""
    from potentia.studies.comparing import Advice, Played, _rivals, _taken

    noise = np.random.default_rng(1).normal(size=20)
    judged = {
        "nominee": Played(noise, np.full(20, 90.0)),
        "better": Played(noise[::-1] + 0.01, np.full(20, 45.0)),
        "as well": Played(np.roll(noise, 3) + 0.005, np.full(20, 44.0)),
        "lazy": Played(np.roll(noise, 7) - 0.01, np.full(20, 10.0)),
    }
    assert _taken(judged) == "lazy"
    rivals = _rivals(judged, "nominee")
    found = Advice("lazy", "nominee", rivals, judged, judged, {}, {}, range(1), range(20), 1, "cells")
    assert set(found.ties) == {"nominee", "better", "as well"}
    assert "which looked best at first" in str(found)
    assert str(found).endswith("of these lazy drives least")
    surely = {"lazy": Played(noise[::-1] - 9, np.full(20, 10.0))}
    assert _taken(judged | surely) == "as well"
    assert _taken({name: judged[name] for name in ("nominee", "better")} | surely) == "better"


def test_in_a_tie_nobody_is_taken_whom_another_one_beats():
    from potentia.studies.comparing import Advice, Played, _rivals, _taken

    steady, wild = np.linspace(-0.01, 0.01, 20), np.linspace(-90, 90, 20)
    judged = {
        "best": Played(10 + steady, np.full(20, 9.0)),
        "beaten": Played(8 - steady, np.full(20, 1.0)),  # surely less than the best
        "beaten in both": Played(7 + wild, np.full(20, 2.0)),  # as far as runs tell as good as any
    }
    assert _taken(judged) == "best"
    judged["even"] = Played(9.999 - steady, np.full(20, 8.0))
    assert _taken(judged) == "even"
    rivals = _rivals(judged, "best")
    found = Advice("even", "best", rivals, judged, judged, {}, {}, range(1), range(20), 1, "cells")
    assert found.ties == ("best", "beaten in both")
    assert str(found).endswith("of those of them that no other one beats even drives least")


def test_a_tie_is_what_the_interval_beside_it_says():
    """The intervals are of all rivals together: clear of 0 is no tie, and who is no tie is not among those that are."""
    from potentia.studies.comparing import Advice, Played, _rivals

    spread = np.linspace(-1, 1, 10)
    behind = {name: Played(-mean + spread, np.full(10, way)) for name, mean, way in (("a", 0.5, 5.0), ("b", 0.5, 1.0))}
    judged = {"best": Played(np.zeros(10), np.full(10, 0.5))} | behind
    assert estimate(-behind["b"].worth).low > 0  # alone it would be none
    for rival in _rivals(judged, "best"):
        assert rival.difference == paired_difference(judged["best"].worth, judged[rival.name].worth, 2)
        assert rival.tie == (rival.difference.low <= 0)
    clear = judged | {"b": Played(-2 + spread, np.full(10, 1.0))}
    found = Advice("best", "best", _rivals(clear, "best"), clear, clear, {}, {}, range(1), range(10), 1, "cells")
    assert found.ties == ("a",)
    assert str(found).endswith("of these best drives least")


def test_costs_are_for_the_picture():
    options = OPTIONS | {"costs": True, "steps": 20, "budget": 20 * (2 * (2 + 2) + 10 * 2)}
    found = compare(GAME, {"good": GOOD, "hot": HOT}, **options)
    assert len(found.costs) == 2  # K = 0 is the game's own
    assert all(played.worth.size == len(found.looking_seeds) for played in found.costs.values())
    K, played = next(iter(found.costs.items()))
    seeds = found.judging_seeds[: len(found.looking_seeds)]  # not those that the choice was made by
    again = pt.run_batch(GAME.costing(K), found.rules[found.taken], 20, seeds, record=("worth_union", "distance"))
    np.testing.assert_array_equal(played.distance, again.distance.values[:, -1])
    np.testing.assert_array_equal(found.as_asked.distance, found.judged[found.taken].distance[: len(seeds)])
    figure = pt.figures.comparison_figure(found, optimum=0.5)
    assert "cells" in figure.axes[0].get_xlabel()
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    costly = [text for text in told if text.startswith("taken, at K = ")]
    assert len(costly) == 2
    assert all(text.endswith(" more, same 2 runs") for text in costly)
    assert len([text for text in told if text.startswith("taken, as asked: ")]) == 1
    assert not figure.axes[0].texts  # words beside marks lay on each other


@pytest.mark.parametrize("extra", [0, 79, 80, 200, 1000, 5000, 50_000])
@pytest.mark.parametrize(("count", "others"), [(2, 0), (2, 2), (4, 0), (5, 3), (12, 3)])
def test_no_more_is_played_than_the_budget(count, others, extra):
    from potentia.studies.comparing import _runs

    finalists = min(4, count)
    least = 40 * (2 * (count + others) + 10 * finalists)
    first, second = _runs(count, others, 40, least + extra)
    assert 2 <= first <= 10 <= second <= 100
    assert 40 * (first * (count + others) + second * finalists) <= least + extra
    with pytest.raises(InvalidRun, match="budget must be at least"):
        _runs(count, others, 40, least - 1)


def test_another_cost_is_another_game():
    other = GAME.costing(0.5)
    built = pt.games.Coverage(GAME.world, 2, flags=False, K=0.5)
    assert other.fingerprint() == built.fingerprint() != GAME.fingerprint()
    assert other.describe() == built.describe()
    assert GAME.movement_cost.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": {"one": GOOD}}, "rules must name two candidates at least, got 1"),
        ({"budget": 100}, "budget must be at least 960 steps for 2 candidates of 40 steps, got 100"),
        ({"game": pt.game("ring")}, "game must be a Coverage game, got"),
        ({"steps": 0}, "steps"),
    ],
)
def test_bad_input(change, words):
    given = {"game": GAME, "rules": {"good": GOOD, "hot": HOT}, **OPTIONS} | change
    with pytest.raises((InvalidRun, InvalidInput), match=words):
        compare(given.pop("game"), **given)


def test_events_that_come_late_are_timed_too(monkeypatch):
    from potentia.studies import comparing

    played = []

    def played_slowly(game, *given, **options):
        played.append(game)
        return pt.run_batch(game, *given, **options | {"compiled": False})

    monkeypatch.setattr(comparing, "run_batch", played_slowly)
    monkeypatch.setattr(comparing, "_PROBE", 4)
    events = ["fail 2@900", "arrive 700", "fail 0@800"]
    game = pt.games.Coverage(GAME.world, 2, [1.5, 2.0, 2.5], flags=False, events=events)
    comparing.within(1e6, game, {"good": GOOD, "hot": HOT}, 10)
    assert {one.events for one in played} == {("arrive 1", "fail 0@2", "fail 2@3")}
    assert played[0].delta.tolist() == [1.5, 2.0, 2.5]
    played.clear()
    soon = game.with_events(["arrive 2", "fail 2@3"])
    comparing.within(1e6, soon, {"good": GOOD, "hot": HOT}, 10)
    assert played == [soon] * 4


@pytest.fixture
def machine(monkeypatch):
    """One that compiles in 10 seconds and plays 1,000 steps a second, by its own clock."""
    from types import SimpleNamespace

    from potentia.studies import comparing

    seen, now = [], [0.0]

    def plays(game, which, steps, seeds, **options):
        now[0] += steps * len(seeds) / 1000 + (0.0 if which in seen else 10.0)
        seen.append(which)

    monkeypatch.setattr(comparing, "run_batch", plays)
    monkeypatch.setattr(comparing, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return SimpleNamespace(within=comparing.within, seen=seen)


def test_a_time_is_as_many_candidates_as_there_is_time_for(machine):
    four = {name: pt.rule("blll", tau=tau) for name, tau in {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}.items()}
    assert machine.within(1000.0, GAME, four, 1000, costs=False) == (four, 1_000_000)
    machine.seen.clear()
    kept, steps = machine.within(60.0, GAME, four, 1000, costs=False)  # two are looked at in a third of the time
    assert (list(kept), steps) == (["a", "b"], 60_000)
    assert len(machine.seen) == 4
    machine.seen.clear()
    told = r"budget must be about 24 s at least for two candidates of 1,000 steps on this machine, got 20 s"
    with pytest.raises(InvalidRun, match=told):
        machine.within(20.0, GAME, four, 1000, costs=False)
    assert len(machine.seen) == 4  # it does not go on looking
    machine.seen.clear()
    with pytest.raises(InvalidRun, match="about 24 s at least"):
        machine.within(10.0, GAME, four, 1000, costs=False)  # less than one of the two takes
    assert len(machine.seen) == 2


def test_candidates_are_what_cover_plays_when_they_are_typed():
    from potentia.cli.options.rules import variant_from_options as variant

    words = {name: (one["rule"], one["tau"], one["revision"] or None) for name, one in typed().items()}
    assert {name: variant(*one, ("auto", "0.9")) for name, one in words.items()} == candidates()
    assert variant("p-sblll:guarded", None, None, ("auto", "0.9")) == next(iter(candidates().values()))


def test_the_answer_can_be_typed(monkeypatch):
    from potentia.cli.comparing import command_for

    asked = [
        "cover",
        "my map.png",
        "--tau",
        "0.1",
        "--rule=blll",
        "--compare",
        "--budget",
        "5m",
        "--json",
        "--robots",
        "3",
    ]
    monkeypatch.setattr("sys.argv", ["anything", *asked])
    own = command_for({"rule": "slll"})
    assert own == "potentia cover 'my map.png' --tau 0.1 --robots 3 --rule slll"
    fresh = command_for({"rule": "slll", "seed": "73"})
    assert fresh == "potentia cover 'my map.png' --tau 0.1 --robots 3 --rule slll --seed 73"
    ours = command_for({"rule": "blll", "tau": "auto", "revision": ""})
    assert ours == "potentia cover 'my map.png' --robots 3 --rule blll --tau auto"


@pytest.mark.parametrize(
    ("text", "found"), [("60s", (60.0, None)), ("1.5m", (90.0, None)), ("2h", (7200.0, None)), ("1e6", (None, 10**6))]
)
def test_budgets(text, found):
    from potentia.cli.comparing import budget_from

    assert budget_from(text) == found


@pytest.mark.parametrize("text", ["", "soon", "-5s", "0", "5 days", "nan"])
def test_bad_budgets(text):
    from potentia.cli.comparing import budget_from

    with pytest.raises(InvalidInput, match="budget must be a time such as 60s"):
        budget_from(text)
