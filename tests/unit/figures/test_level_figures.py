"""Figures of any game: what is drawn is what statistics say, whatever holds the runs, and nothing odd breaks them."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia import figures
from potentia.errors import InvalidInput, PotentiaError
from potentia.figures.levels import spread_rows
from potentia.figures.sources import measures, series
from potentia.statistics.curves import Curves
from potentia.studies.sweeping import sweep

STUDY = {
    "steps": 60,
    "every": 10,
    "seeds": 6,
    "record": ["potential", "welfare", "num_revisions"],
    "game": {"name": "ring", "players": [4, 6]},
    "rule": [
        {"name": "lll", "tau": [0.1, 0.4]},
        {"name": "slll", "tau": [0.1, 0.4], "revision": 0.5},
        {"name": "best-response"},
    ],
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return sweep(STUDY, tmp_path_factory.mktemp("figures") / "s", compiled=False)


def batch(rule="lll", seeds=4, **options):
    game = pt.game("ring", players=6)
    record = ("potential", "num_revisions")
    made = pt.rule(rule, **{"tau": 0.2} | options)
    return pt.run_batch(game, made, 50, range(seeds), record=record, every=10, compiled=False)


def drawn(figure):
    """As it is written to a file: what matplotlib cannot lay out fails here."""
    figure.draw_without_rendering()
    return figure


# What holds runs ----------------------------------------------------------------------------------------


def test_a_study_and_its_dataset_hold_the_same_runs(study):
    mine, theirs = study.curves("potential"), series(study.dataset(), "potential")
    assert len(mine) == len(theirs) == 10
    by_name = {frozenset([*one.labels.items(), *one.values.items()]): one for one in theirs}
    for one in mine:
        other = by_name[frozenset([*one.labels.items(), *one.values.items()])]
        assert np.array_equal(one.curves, other.curves)
        assert np.array_equal(one.seeds, other.seeds)
        assert np.array_equal(one.revisions, other.revisions)
        assert one.label == other.label == "potential Φ"
        assert one.game == other.game == f"players={one.values['players']}"


def test_datasets_by_name_and_single_runs_are_series():
    found = series({"mine": batch(), "other": batch("blll")})
    assert [(one.labels, one.seeds.size, one.label) for one in found] == [
        ({"rule": "mine"}, 4, "potential Φ"),
        ({"rule": "other"}, 4, "potential Φ"),
    ]
    trace = pt.run(pt.game("ring", players=6), pt.rule("lll", tau=0.2), 50, seed=3, record="potential", every=10)
    (one,) = series(trace.dataset())
    assert one.curves.tolist() == [trace.potential.tolist()]
    assert measures({"a": batch(), "b": trace.dataset()}) == ["potential"]


def test_evaluations_of_a_batch_are_those_of_its_rule():
    dear, cheap = series({"lll": batch(), "blll": batch("blll")}, per="evaluations")
    assert dear.times[-1] == cheap.times[-1] == 100  # two actions each: 50 revisions of 2
    three = pt.run_batch(pt.game("separable", players=3, actions=5), pt.rule("lll", tau=1), 9, [0], record="potential")
    assert three.attrs["evaluations_per_revision"] == 5.0
    some = pt.run_batch(pt.game("ring"), pt.rule("ql", tau=1), 9, [0], record="potential", compiled=False)
    assert some.attrs["evaluations_per_revision"] == 1.0


@pytest.mark.parametrize("data", [3, {}, {"a": 3}, None, [], [1], "text", np.ones(3)], ids=repr)
@pytest.mark.parametrize(
    "draw",
    [figures.scalar_figure, figures.study_figure, figures.level_figure, figures.spread_figure,
     lambda data: figures.reaching_figure(data, 1.0)],
    ids=["scalar", "study", "level", "spread", "reaching"],
)  # fmt: skip
def test_what_holds_no_runs_is_refused(draw, data):
    with pytest.raises(PotentiaError, match="data must be a dataset of runs"):
        draw(data)


# What is drawn ------------------------------------------------------------------------------------------


def test_levels_against_a_parameter_are_those_of_the_runs(study):
    optimum = {"players=4": 4.0, "players=6": 6.0}
    figure = drawn(figures.level_figure(study, "tau", optimum=optimum, title="ring"))
    assert [axes.get_title() for axes in figure.axes] == ["players=4", "players=6"]
    for axes, best in zip(figure.axes, (4.0, 6.0), strict=True):
        mine = {one.name: one.levels.mean() for one in study.curves("potential") if one.game == axes.get_title()}
        line = next(container for container in axes.containers if container.get_label() == "lll").lines[0]
        assert line.get_xdata().tolist() == [0.1, 0.4]
        expected = [mine[f"lll, {axes.get_title()}, tau={tau}"] for tau in (0.1, 0.4)]
        assert line.get_ydata().tolist() == pytest.approx(expected)
        ring = next(line for line in axes.lines if line.get_gid() == "best of lll")
        assert ring.get_ydata()[0] == max(expected)
        across = next(line for line in axes.lines if line.get_gid() == "best-response")
        assert across.get_ydata()[0] == pytest.approx(mine[f"best-response, {axes.get_title()}"])
        top = next(line for line in axes.lines if line.get_gid() == "optimum")
        assert set(top.get_ydata()) == {best}
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == ["lll", "slll", "best-response", "optimum", "best of a line"]
    lowest = figures.level_figure(study, "tau", lowest=True)
    rings = [next(line for line in axes.lines if line.get_gid() == "best of lll") for axes in lowest.axes]
    assert all(ring.get_ydata()[0] == min(c.lines[0].get_ydata()) for ring, axes in zip(rings, lowest.axes, strict=True)
               for c in axes.containers if c.get_label() == "lll")  # fmt: skip


def test_sizes_that_differ_have_scales_of_their_own_and_rules_of_one_share_theirs(study):
    figure = drawn(figures.study_figure(study, "potential", where={"tau": 0.1}))
    first, second = figure.axes
    assert first.get_ylim() != second.get_ylim()
    assert [line.get_gid() for line in first.lines] == ["mean of lll", "mean of slll"]
    many = {**STUDY, "rule": [{"name": name, "tau": [0.1, 0.2, 0.3, 0.4, 0.5]} for name in ("lll", "blll")]}
    found = [Curves({"rule": rule["name"]}, {"tau": tau}, np.arange(2), np.arange(3), np.full((2, 3), float(k)))
             for k, (rule, tau) in enumerate((r, t) for r in many["rule"] for t in r["tau"])]  # fmt: skip
    apart = drawn(figures.study_figure(found, "welfare")).axes
    assert [axes.get_title() for axes in apart] == ["lll", "blll"]
    assert apart[0].get_ylim() == apart[1].get_ylim()


def test_reached_shares_end_where_runs_do(study):
    figure = drawn(figures.reaching_figure(study, {"players=4": 4.0, "players=6": 6.0}, where={"rule": "lll"}))
    for axes in figure.axes:
        goal = float(axes.get_title().split("goal ")[1])
        for one in study.curves("potential", where={"rule": "lll"}):
            if one.game in axes.get_title():
                line = next(line for line in axes.lines if line.get_gid() == one.name)
                assert line.get_ydata()[-1] == np.mean((one.curves >= goal - 1e-9).any(axis=1))
    with pytest.raises(PotentiaError, match="goal must have 'players=6'"):
        figures.reaching_figure(study, {"players=4": 4.0})
    for wrong in (None, "95%", [1.0], True, np.nan):
        with pytest.raises(PotentiaError, match="goal must be"):
            figures.reaching_figure(study, wrong)


def test_the_spread_has_a_dot_for_every_seed(study):
    figure = drawn(figures.spread_figure(study, where={"players": 4}, optimum=4.0))
    (axes,) = figure.axes
    dots = [line for line in axes.lines if line.get_gid() not in (None, "optimum")]
    assert [len(line.get_xdata()) for line in dots] == [6] * 5
    assert axes.get_yticklabels()[0].get_text() == "lll, tau=0.1"


def many(rules, taus):
    """Settings of which the first are slow: run k of a rule with the j-th tau is there by time taus - j."""
    return [
        Curves({"rule": rule}, {"tau": 0.1 * (j + 1)}, np.arange(3), np.arange(99),
               np.tile(1.0 * (np.arange(99) >= taus - j), (3, 1)), label="x")
        for rule in rules for j in range(taus)
    ]  # fmt: skip


def test_of_many_settings_every_rule_has_some_rows():
    (axes,) = drawn(figures.spread_figure(many(["lll", "blll", "metropolis"], 30))).axes
    names = [text.get_text().split(",")[0] for text in axes.get_yticklabels()]
    assert [names.count(rule) for rule in ("lll", "blll", "metropolis")] == [13, 13, 13]
    uneven = many(["lll"], 60) + many(["blll"], 2)
    rows, left = spread_rows(uneven)
    assert ([one.who for one in rows[0][1]].count("blll"), len(rows[0][1]), left) == (2, 40, 22)


def test_of_many_settings_all_rules_have_rows_at_the_same_values():
    rows, left = spread_rows(many(["a", "b", "c", "d", "e", "f"], 7) + many(["g"], 1))
    shown = {rule: {one.values["tau"] for one in rows[0][1] if one.who == rule} for rule in "abcdefg"}
    assert all(shown[rule] == shown["a"] for rule in "abcdef")
    assert (len(shown["a"]), left) == (6, 6)
    assert shown["g"] <= shown["a"]
    longer, _ = spread_rows(many(["a"], 60) + many(["b"], 25))  # the first has what the second has
    assert all(any(one.values == other.values for other in longer[0][1][:20]) for one in longer[0][1][20:])
    assert sum(len(mine) for _, mine in spread_rows(many([f"rule {k}" for k in range(50)], 1))[0]) == 40


def test_of_many_settings_the_soonest_of_each_rule_is_drawn():
    figure = drawn(figures.reaching_figure(many(["lll", "blll"], 9), 1.0))
    assert "the soonest of each rule" in figure.get_suptitle()
    assert "16 more settings not drawn" in figure.get_suptitle()
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == ["lll, tau=0.9", "blll, tau=0.9"]
    assert len({line.get_color() for line in figure.axes[0].lines}) == 2
    (axes,) = drawn(figures.reaching_figure(many(["lll"], 20), 1.0)).axes
    assert axes.lines[0].get_gid() == "lll, tau=0.9"
    assert len(axes.lines) == 12


def test_lines_go_through_their_places_and_equal_ones_hide_no_other(study):
    figure = drawn(figures.level_figure(many(["lll", "blll"], 3), "tau", optimum=7.0))
    (axes,) = figure.axes
    marks = [container.lines[0] for container in axes.containers]
    (ring, *_) = [line for line in axes.lines if str(line.get_gid()).startswith("best of")]
    assert all(artist.get_transform() == axes.transData for artist in (*marks, ring))
    assert marks[0].get_xdata().tolist() == marks[1].get_xdata().tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert marks[0].get_markersize() > marks[1].get_markersize()
    assert axes.get_xlabel() == "τ"
    looks = {str(line.get_linestyle()) + str(line._unscaled_dash_pattern) for line in marks}
    (top,) = [line for line in axes.lines if line.get_gid() == "optimum"]
    assert str(top.get_linestyle()) + str(top._unscaled_dash_pattern) not in looks


def test_no_ring_where_games_stand_side_by_side(study):
    along = drawn(figures.level_figure(study, "players", where={"tau": 0.1}))
    told = [text.get_text() for text in along.legends[0].get_texts()]
    assert told == ["lll", "slll"]
    assert not [line for line in along.axes[0].lines if str(line.get_gid()).startswith("best of")]


@pytest.mark.parametrize(
    ("draw", "where", "said"),
    [
        (figures.study_figure, {"players": 6, "tau": 0.1}, "tau=0.1, mean and"),
        (figures.study_figure, {"players": 6, "rule": "lll"}, "lll, mean and"),
        (figures.level_figure, {"tau": 0.1}, "tau=0.1, mean and"),
    ],
)
def test_what_was_chosen_is_said(study, draw, where, said):
    options = {"against": "players"} if draw is figures.level_figure else {}
    assert drawn(draw(study, where=where, title="ring", **options)).get_suptitle().startswith(f"ring: {said}")
    assert "tau" not in drawn(figures.study_figure(study, where={"rule": "lll"})).get_suptitle()


@pytest.mark.parametrize("per", ["steps", "revisions"])
def test_several_rules_share_the_panels_of_scalars(per):
    data = {"LLL": batch(), "BLLL": batch("blll"), "SLLL": batch("slll", revision=0.5)}
    figure = drawn(figures.scalar_figure(data, "ring", per=per, optimum=6.0))
    (axes,) = figure.axes
    assert axes.get_xlabel() == ("step n" if per == "steps" else "revisions")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["LLL", "BLLL", "SLLL", "optimum"]


def test_a_study_is_followed_along_evaluations_in_python_too(study):
    figure = drawn(figures.study_figure(study, per="evaluations", where={"players": 4, "rule": ["lll", "slll"]}))
    assert figure.axes[0].get_xlabel() == "evaluations"
    with pytest.raises(InvalidInput, match="nor does the dataset of a study: give the study itself"):
        figures.study_figure(study.dataset(), per="evaluations")
    assert "evaluations" in figures.level_figure(study, "tau", per="evaluations").axes[0].get_ylabel()


def test_runs_that_stop_at_their_goal_are_followed_along_revisions():
    game, rule = pt.game("ring", players=6), pt.rule("slll", tau=0.2, revision=0.5)
    record = ("potential", "num_revisions")
    data = pt.run_batch(game, rule, 60, range(4), record=record, stop={"potential": 6.0}, compiled=False)
    (one,) = series(data, per="revisions")
    assert np.isfinite(one.times).all()
    assert np.isfinite(one.levels).all()


def test_dimensions_may_stand_in_any_order():
    data = batch("slll", revision=0.5)
    one, other = (series(each, per="revisions")[0] for each in (data, data.transpose("player", "time", "seed")))
    assert np.array_equal(one.curves, other.curves)
    assert np.array_equal(one.times, other.times)
    with pytest.raises(PotentiaError, match="data must have numbers of steps as times"):
        series(data.assign_coords(time=list(map(str, data.time.values))))


def test_a_chance_of_one_revision_a_step_is_no_rule_of_it():
    """By chance as many revisions as steps: what was spent by then is not known."""
    game, rule = pt.game("ring", players=6), pt.rule("slll", tau=0.5, revision=1 / 6)
    data = pt.run_batch(game, rule, 12, range(60), record="potential", compiled=False)
    same = data.isel(seed=np.flatnonzero(data.revisions.values == data.steps_done.values))
    assert same.sizes["seed"]
    with pytest.raises(InvalidInput, match="must have been recorded"):
        series(same, per="revisions")


def test_games_that_share_a_number_of_players_do_not_share_a_panel():
    found = [
        Curves({"rule": "lll", "game": game}, {"players": n, "tau": t}, np.arange(2), np.arange(3),
               np.full((2, 3), float(k)), of_game=frozenset({"players"}))
        for k, game in enumerate(("ring", "innovation")) for n in (4, 6) for t in (1, 2)
    ]  # fmt: skip
    optimum = {f"{game}, players={n}": float(n) for game in ("ring", "innovation") for n in (4, 6)}
    figure = drawn(figures.level_figure(found, "tau", optimum=optimum))
    assert [axes.get_title() for axes in figure.axes] == list(optimum)
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["lll", "optimum"]
    along = drawn(figures.level_figure(found, "players", where={"tau": 1}, optimum=optimum))
    assert [axes.get_title() for axes in along.axes] == ["ring", "innovation"]
    line = next(line for line in along.axes[0].lines if line.get_gid() == "optimum")
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([4.0, 6.0], [4.0, 6.0])


def test_a_rule_without_a_parameter_stands_beside_those_that_have_it():
    found = [odd([k, j], 2, tau=k, revision=j) for k in (1, 2) for j in (0.1, 0.2)]
    other = Curves({"rule": "blll"}, {"tau": 1}, np.arange(2), np.arange(4), np.ones((2, 4)))
    figure = drawn(figures.level_figure([*found, other], "tau"))
    assert [axes.get_title() for axes in figure.axes] == ["revision=0.1", "revision=0.2"]
    assert all([c.get_label() for c in axes.containers] == ["lll", "blll"] for axes in figure.axes)


def odd(levels, seeds, **values):
    rows = np.repeat(np.asarray(levels, float)[:, None], 4, 1)[:seeds]
    return Curves({"rule": "lll"}, values, np.arange(len(rows)), np.arange(4), rows, label="x")


@pytest.mark.parametrize(
    "found",
    {
        "one seed, one rule": [odd([-3.0], 1, tau=0.1)],
        "negative": [odd([-3.0, -1e9, -5], 3, tau=tau) for tau in (-1, 0, 7)],
        "all the same": [odd([2.0, 2.0], 2, tau=tau) for tau in (1, 2)],
        "words": [odd([2.0, 3.0], 2, tau=tau) for tau in ("a", "b", "$x$", "_y")],
        "many": [odd([k, k + 1.0], 2, tau=k) for k in range(60)],
        "two axes": [odd([k, j], 2, tau=k, K=j) for k in range(3) for j in range(8)],
        "thousands of seeds": [odd(np.random.default_rng(0).normal(size=3000), 3000, tau=1)],
        "a run without numbers": [odd([np.nan, 1.0], 2, tau=1), odd([1.0, 2.0], 2, tau=2)],
        "a setting without numbers": [odd([np.nan] * 6, 6, tau=1)],
    }.values(),
    ids=lambda found: f"{len(found)} of {found[0].seeds.size}",
)
def test_odd_settings_are_drawn(found):
    drawn(figures.level_figure(found, "tau"))
    drawn(figures.spread_figure(found))
    drawn(figures.study_figure(found))
    drawn(figures.reaching_figure(found, 1.0))


def test_settings_are_chosen_by_arrays_too(study):
    for wish in (np.array([0.1, 0.4]), [0.1, 0.4], study.dataset().tau[:2], (np.float64(0.1), 0.4)):
        assert {one.values["tau"] for one in study.curves("potential", where={"tau": wish})} == {0.1, 0.4}
    assert {one.values["players"] for one in study.curves(where={"players": range(4, 6, 2)})} == {4}
    with pytest.raises(InvalidInput, match="players must be one of 4, 6, got 7"):
        study.curves(where={"players": np.array([4, 7])})


def test_wrong_names_get_our_errors(study):
    for draw in (figures.level_figure, figures.spread_figure):
        with pytest.raises(PotentiaError, match="measure must be one of"):
            draw(study, measure="worth")
    with pytest.raises(InvalidInput, match='against must be "players" or "tau"'):
        figures.level_figure(study, "temperature")
    for wrong in ({"rule": "nobody"}, "tau=0.1", 3):
        with pytest.raises(PotentiaError, match="where"):
            figures.scalar_figure(study, where=wrong)
    for draw in (figures.level_figure, figures.spread_figure, figures.study_figure, figures.scalar_figure):
        with pytest.raises(PotentiaError, match="title must be a text, got 3"):
            draw(study, title=3)
    for wrong in ("x", [1.0], np.inf, np.nan):
        with pytest.raises(PotentiaError, match="optimum must be"):
            figures.level_figure(study, "tau", optimum=wrong)
    with pytest.raises(PotentiaError, match="got no runs or no times"):
        figures.spread_figure(batch().isel(time=slice(0, 0)))
    with pytest.raises(InvalidInput, match="per must be one of"):
        figures.study_figure(study, per="days")
