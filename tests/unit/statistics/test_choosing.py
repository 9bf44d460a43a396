"""The best value of a parameter for each rule: by hand, by leaving seeds out, and where there is nothing to choose."""

from dataclasses import replace

import numpy as np
import pytest

from potentia.errors import InvalidInput
from potentia.statistics.choosing import apart_from, axis_of, best_of
from potentia.statistics.curves import Curves, chosen, spent
from potentia.studies.results import compared_rows
from potentia.studies.views import against, best_view


def setting(rule, level, *, game="", seeds=6, noise=None, **values):
    """Runs that stand at their level from the beginning."""
    levels = np.full(seeds, float(level)) + (0.0 if noise is None else noise)
    labels = {"rule": rule} | ({"game": game} if game else {})
    rows = np.repeat(levels[:, None], 11, 1)
    return Curves(labels, values, np.arange(seeds), np.arange(0, 101, 10), rows, of_game=frozenset({"nodes"}))


def test_the_best_of_each_rule_is_found_and_compared_with_the_best_rule():
    found = [setting("lll", -3, tau=0.1), setting("lll", -1, tau=0.2), setting("lll", -2, tau=0.3)]
    found += [setting("blll", -5, tau=0.1), setting("blll", -4, tau=0.3), setting("best-response", -2.5)]
    best = best_of(found)
    assert best.axis == "tau"
    assert [(one.who, one.value, one.level.mean, one.tried, one.edge) for one in best.chosen] == [
        ("lll", 0.2, -1.0, 3, False),
        ("blll", 0.3, -4.0, 2, True),
        ("best-response", None, -2.5, 1, False),
    ]
    assert [(c.first, c.second, c.difference.mean) for c in best.comparisons] == [
        ("best-response", "lll, tau=0.2", -1.5),
        ("blll, tau=0.3", "lll, tau=0.2", -3.0),
    ]
    assert [one.value for one in best_of(found, lowest=True).chosen] == [0.1, 0.1, None]


def test_games_are_apart():
    found = [setting("lll", level, game=game, tau=tau) for game in "ab" for tau, level in ((1, 1.0), (2, 2.0))]
    found += [setting("blll", 3, game="a", tau=1), setting("blll", 0, game="b", tau=1)]
    best = best_of(found)
    told = [(one.game, one.who, one.value) for one in best.chosen]
    assert told == [("a", "lll", 2), ("a", "blll", 1), ("b", "lll", 2), ("b", "blll", 1)]  # game by game
    assert [(c.first.split(",")[0], c.difference.mean) for c in best.comparisons] == [("lll", -1.0), ("blll", -2.0)]


def test_p_values_are_corrected_for_the_comparisons_that_are_told():
    rng = np.random.default_rng(0)
    found = [setting(name, k, tau=1, seeds=12, noise=rng.normal(size=12)) for k, name in enumerate("abcd")]
    best = best_of(found)
    p = sorted(c.p_value for c in best.comparisons)
    assert min(c.adjusted for c in best.comparisons) == pytest.approx(min(1.0, 3 * p[0]))


def test_choosing_among_equals_flatters_and_choosing_among_unequals_does_not():
    """Of 30 values that are all the same but for noise, the best mean owes all of its lead to the choice."""
    rng = np.random.default_rng(1)
    equal = [setting("lll", 0, tau=k, seeds=8, noise=rng.normal(size=8)) for k in range(30)]
    (one,) = best_of(equal).chosen
    assert one.flattery == pytest.approx(one.level.mean, rel=0.6)
    assert one.flattery > 0.3
    apart = [setting("lll", 10 * k, tau=k, seeds=8, noise=rng.normal(size=8)) for k in range(30)]
    assert best_of(apart).chosen[0].flattery == 0.0


def test_nothing_to_choose_is_told():
    with pytest.raises(InvalidInput, match="no parameter of rules or beliefs varies in these settings"):
        axis_of([setting("lll", 0, nodes=3)])
    with pytest.raises(InvalidInput, match=r"against must be a parameter of rules or beliefs \(tau\), got 'nodes'"):
        best_of([setting("lll", 0, nodes=3, tau=1)], "nodes")
    with pytest.raises(InvalidInput, match='against must be "tau"'):
        best_of([setting("lll", 0, tau=1), setting("lll", 0, tau=2)], "t")


def test_the_axis_is_of_the_rules_however_many_games_there_are():
    found = [setting("lll", tau, nodes=nodes, tau=tau) for nodes in range(9) for tau in (1, 2)]
    assert axis_of(found) == "tau"
    assert [one.value for one in best_of(found).chosen] == [2] * 9


def test_what_is_not_known_is_not_best():
    found = [setting("lll", np.nan, tau=1), setting("lll", -3, tau=2), setting("blll", np.nan, tau=1)]
    (one,) = best_of(found).chosen
    assert (one.value, one.level.mean) == (2, -3.0)


def test_values_of_any_kind_can_be_chosen_among():
    schedule = {"kind": "geometric", "start": 1.0, "stop": 0.1}
    found = [setting("lll", k, tau=tau) for k, tau in enumerate([0.1, schedule, [1, 2], True, None, "auto"])]
    (one,) = best_of(found).chosen
    assert (one.value, one.edge) == ("auto", False)


def test_equals_owe_nothing_to_the_choice_however_they_are_listed():
    level = np.array([6.0, 6, 6, 6, 6]), np.array([6.0, 6, 6, 6, 2])
    best, worse = (setting("lll", 0, seeds=5, noise=noise, tau=k) for k, noise in enumerate(level))
    assert best_of([best, worse]).chosen[0].flattery == best_of([worse, best]).chosen[0].flattery == 0.0
    few = setting("lll", -11, seeds=5, noise=np.array([0, 0, np.nan, np.nan, np.nan]), tau=2)
    assert best_of([setting("lll", -10, seeds=5, tau=1), few]).chosen[0].flattery == 0.0


def test_equals_are_told_together():
    levels = {0.01: -7, 0.02: -7 + 1e-15, 0.05: -7, 0.1: -8, 0.2: -7.5}
    found = [setting("lll", level, tau=tau) for tau, level in levels.items()]
    apart = [setting("blll", level, tau=tau) for tau, level in {0.01: 2, 0.02: 1, 0.05: 2}.items()]
    best = best_of([*found, *apart, setting("best-response", 2)])
    told = [(one.told, one.equal, one.edge) for one in best.chosen]
    assert told == [("0.01 to 0.05 (equal)", [0.01, 0.02, 0.05], False), ("0.01, 0.05 (equal)", [0.01, 0.05], False),
                    ("-", [], False)]  # fmt: skip
    view = best_view(best)
    assert [row[1] for row in view.rows] == ["0.01 to 0.05 (equal)", "0.01, 0.05 (equal)", "-"]
    assert "equal: mean levels are the same" in view.note
    assert [cell.endswith("*") for cell in against(found, "tau").rows[0][1:]] == [True, True, True, False, False]


def test_rules_without_a_parameter_can_be_put_beside_others():
    found = [setting("lll", 0, tau=tau) for tau in (0.1, 0.2)] + [setting("best-response", 1)]
    for none in ("none", "nan", None, np.nan):
        assert [one.who for one in chosen(found, {"tau": [0.2, none]})] == ["lll", "best-response"]
    with pytest.raises(InvalidInput, match=r"tau must be one of 0\.1, 0\.2, none, got 0\.3"):
        chosen(found, {"tau": "0.3"})
    with pytest.raises(InvalidInput, match=r"tau must be one of 0\.1, 0\.2, got none"):
        chosen(found[:2], {"tau": "none"})


def test_one_seed_has_no_effect_and_owes_what_nobody_knows():
    rules = [setting(rule, k, seeds=1, tau=tau) for k, rule in enumerate(("lll", "blll")) for tau in (1, 2)]
    best = best_of(rules)
    (row,) = compared_rows(best.comparisons)
    assert (row[3], row[4]) == ("-", "1.000")
    view = best_view(best)
    assert [row[-1] for row in view.rows] == ["-", "-"]
    assert "; - where that is not known: it takes 3 seeds, the same for all" in view.note


def test_what_goes_along_with_an_axis_is_not_apart_from_it():
    zipped = [setting("slll", 0, tau=tau, revision=tau / 10) for tau in (1, 2)]
    assert apart_from(zipped, "tau") == []
    crossed = [setting("slll", 0, tau=tau, revision=p) for tau in (1, 2) for p in (0.1, 0.2)]
    assert apart_from(crossed, "tau") == ["revision"]


# Along what was spent -----------------------------------------------------------------------------------


def counted(counts, values, **more):
    times = np.arange(len(counts[0]))
    rows, spent_by = np.asarray(values, float), np.asarray(counts, float)
    return Curves({"rule": "a"}, {}, np.arange(len(counts)), times, rows, revisions=spent_by, **more)


def test_runs_are_cut_to_what_the_shortest_has_spent():
    slow = counted([[0, 1, 2, 3, 4]], [[0, 10, 20, 30, 40]])
    quick = counted([[0, 2, 4, 6, 8]], [[0, 1, 2, 3, 4]])
    first, second = spent([slow, quick], "revisions")
    assert first.times.tolist() == second.times.tolist() == [0, 1, 2, 3, 4]
    assert first.curves.tolist() == [[0, 10, 20, 30, 40]]
    assert second.curves.tolist() == [[0, 0, 1, 1, 2]]  # at each count the last record that had spent no more
    assert (first.per, spent([slow], "steps")[0].per) == ("revisions", "steps")
    dear = counted([[0, 1, 2, 3, 4]], [[0, 10, 20, 30, 40]], evaluations=4.0)
    cheap = counted([[0, 1, 2, 3, 4]], [[0, 1, 2, 3, 4]], evaluations=2.0)
    assert spent([dear, cheap], "evaluations")[0].times.tolist() == [0, 2, 4, 6, 8]
    again = spent(spent([slow, quick], "revisions"), "revisions")
    assert again[1].curves.tolist() == second.curves.tolist()  # cut once
    with pytest.raises(InvalidInput, match="per must be that of the curves, revisions, got evaluations"):
        spent(again, "evaluations")


def test_games_are_cut_apart():
    short_game = counted([[0, 1, 2]], [[0, 1, 2]])
    long_game = replace(counted([[0, 5, 10]], [[0, 1, 2]]), labels={"game": "b", "rule": "a"})
    assert [one.times[-1] for one in spent([short_game, long_game], "revisions")] == [2, 10]


@pytest.mark.parametrize(
    ("one", "per", "said"),
    [
        (setting("lll", 0), "revisions", "revisions of lll must have been recorded"),
        (counted([[0, 1]], [[0, 1]]), "evaluations", "evaluations in a revision of a must be one number"),
        (
            counted([[0, 0]], [[0, 1]]),
            "revisions",
            "must be more than none in every run, got none in a run of a",
        ),
        (setting("lll", 0), "days", "per must be one of steps, revisions, evaluations, got 'days'"),
    ],
)
def test_what_nobody_counted_is_refused(one, per, said):
    with pytest.raises(InvalidInput, match=said):
        spent([one], per)


def test_settings_are_chosen_by_labels_and_values():
    found = [setting(rule, 0, tau=tau, nodes=nodes) for rule in ("a", "b") for tau in (0.1, 0.3) for nodes in (1, 20)]
    assert len(chosen(found, {})) == 8
    assert [one.name for one in chosen(found, {"rule": "a", "tau": "0.10", "nodes": 20})] == ["a, tau=0.1, nodes=20"]
    assert len(chosen(found, {"tau": [0.1, 0.3], "nodes": "1"})) == 4
    odd = [setting("a", 0, tau=0.046415888336127774, guard=True), setting("a", 0, tau=1.0, guard=False)]
    for wish in (0.046415888336127774, "0.0464159", 0.0464159):
        assert chosen(odd, {"tau": wish}) == odd[:1]
    for wish in (True, "true", "True"):
        assert chosen(odd, {"guard": wish}) == odd[:1]
    with pytest.raises(InvalidInput, match=r"where tau must be one of 0\.1, 0\.3, got 0\.2"):
        chosen(found, {"tau": 0.2})
    with pytest.raises(InvalidInput, match="where must be one of rule, tau, nodes, got 'node'; did you mean 'nodes'"):
        chosen(found, {"node": 20})
    with pytest.raises(InvalidInput, match="which no point has together"):
        chosen([setting("a", 0, tau=1), setting("b", 0, tau=2)], {"rule": "a", "tau": 2})
