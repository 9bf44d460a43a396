"""The best value of a parameter for each rule: by hand, by leaving seeds out, and where there is nothing to choose."""

import numpy as np
import pytest

from potentia.errors import InvalidInput
from potentia.statistics.choosing import axis_of, best_of
from potentia.statistics.curves import Curves, chosen, spent


def setting(rule, level, *, game="", seeds=6, noise=None, **values):
    """Runs that stand at their level from the beginning."""
    levels = np.full(seeds, float(level)) + (0.0 if noise is None else noise)
    labels = {"rule": rule} | ({"game": game} if game else {})
    return Curves(labels, values, np.arange(seeds), np.arange(0, 101, 10), np.repeat(levels[:, None], 11, 1), game=game)


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
    assert [(one.game, one.who, one.value) for one in best.chosen][:2] == [("a", "lll", 2), ("b", "lll", 2)]
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
    with pytest.raises(InvalidInput, match="against must be something that varies"):
        axis_of([setting("lll", 0)])
    with pytest.raises(InvalidInput, match='against must be "tau"'):
        best_of([setting("lll", 0, tau=1), setting("lll", 0, tau=2)], "t")


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


@pytest.mark.parametrize(
    ("one", "per", "said"),
    [
        (setting("lll", 0), "revisions", "revisions of lll must have been recorded"),
        (counted([[0, 1]], [[0, 1]]), "evaluations", "evaluations in a revision of a must be one number"),
        (counted([[0, 0]], [[0, 1]]), "revisions", "revisions must be more than none"),
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
    with pytest.raises(InvalidInput, match=r"where tau must be one of 0\.1, 0\.3, got 0\.2"):
        chosen(found, {"tau": 0.2})
    with pytest.raises(InvalidInput, match="where must be one of rule, tau, nodes, got 'node'; did you mean 'nodes'"):
        chosen(found, {"node": 20})
    with pytest.raises(InvalidInput, match="which no point has together"):
        chosen([setting("a", 0, tau=1), setting("b", 0, tau=2)], {"rule": "a", "tau": 2})
