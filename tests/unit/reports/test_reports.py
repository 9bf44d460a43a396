"""The report of a study: what it says of any study, and what it says where something cannot be told."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from unittest.mock import patch

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidInput, PotentiaError, StudyError
from potentia.games import library
from potentia.reports import runs, sections, theory, write_report
from potentia.reports.looking import Looked, typical
from potentia.reports.pages import Page, Section, Table, Text, render
from potentia.reports.toml import as_toml
from potentia.studies import Specification, specification_from

RULES = [{"name": "p-sblll", "tau": [0.1, 0.3], "revision": 0.3}, {"name": "best-response"}]
GAMES = [{"name": "double-step"}, {"name": "stag-hunt"}]


def played(folder, **changes):
    base = {"steps": 60, "seeds": 6, "game": {"name": "double-step"}, "rule": RULES}
    return pt.sweep(base | changes, folder / "my.study")


def words(path):
    """All text of a page but that of its replays."""
    text = re.sub(r'srcdoc="[^"]*"', "", path.read_text("utf-8"))
    text = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    about = "Which temperature?\n\nOn two games."
    return played(tmp_path_factory.mktemp("reports"), game=GAMES, name="two <b>games</b>", about=about)


@pytest.fixture(scope="module")
def page(study):
    return study.report()


def test_it_stands_beside_the_study_and_says_what_was_played(study, page):
    assert page == study.folder.with_suffix(".html")
    text = words(page)
    assert "two <b>games</b>" in text  # as text, not as markup
    assert "Which temperature?" in text
    assert "36 of 36: 6 settings × 6 seeds" in text
    assert "tau: 0.1; 0.3" in text
    assert "players that wake compare their action with one trial action each" in text
    spec = re.search(r"<pre[^>]*>(.*?)</pre>", page.read_text("utf-8"), re.S)
    assert specification_from(tomllib.loads(unescape(spec[1]))) == study.specification


def test_its_numbers_are_those_of_the_statistics(study, page):
    text = words(page)
    for one in study.curves():
        level = str(pt.statistics.bootstrap_mean(one.levels))
        assert f"{one.name} 6 {one.curves[:, 0].mean():.5g} {level}" in text
    best = Looked(study, "", lowest=False, partial=False).best
    for chosen in best.chosen:
        assert f"{chosen.game} {chosen.who}" in text
    for one in best.comparisons:
        assert f"{one.first} − {one.second} {one.pairs} {one.difference}" in text


@pytest.mark.parametrize(("games", "said"), [(2, "Not told apart"), (1, "Behind it, seed by seed, with p < 0.05")])
def test_who_is_behind_is_so_by_the_table_below(study, games, said):
    """One correction: six seeds give p = 0.031, which two comparisons double. What was chosen makes nothing sure."""
    found = [one for one in study.curves() if games == 2 or one.game == study.points[0]["labels"]["game"]]
    for one in found:
        one.curves[:] = 1.0 if "p-sblll" in one.setting else np.linspace(0, 0.1, 6)[:, None]
    with patch.object(type(study), "curves", lambda self, measure=None, **options: found):
        seen = Looked(study, "", lowest=False, partial=False)
        short = " ".join(part.text for part in sections.in_short(seen).parts)
        table = sections.comparisons(seen).parts[0]
    assert [row[-1] for row in table.rows] == [f"{games * 0.03125:.3f}"] * games
    assert f"corrected for the {games} listed; p-values are too small where tau was chosen" in table.note
    assert short.count(said) == games
    assert f"for {games} comparison" in short or games == 2
    assert "P-values are too small where tau was chosen on the same seeds" in short
    assert "urely" not in short


def test_the_run_that_is_shown_is_typical_and_the_same(study, page):
    seen = Looked(study, "", lowest=False, partial=False)
    data = study.dataset()
    text = words(page)
    for game, shown in seen.shown.items():
        seed = typical(shown)
        assert f"Seed {seed}: of all seeds the one" in text
        one = shown[0]
        trace = runs.again(seen, one, seed)
        place = {"game": game, "rule": one.labels["rule"], "seed": seed, "tau": one.values.get("tau", np.nan)}
        np.testing.assert_array_equal(trace.final, data.final.sel(place))
    assert page.read_text("utf-8").count("<iframe") == 2


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Three sizes and twelve settings of each: more than a figure has lines for."""
    game, taus = {"name": "ring", "players": [4, 14, 6]}, [0.1, 0.2, 0.3, 0.5, 1.0, 2.0]
    rules = [{"name": name, "tau": taus} for name in ("lll", "blll")]
    folder = tmp_path_factory.mktemp("large")
    return played(folder, game=game, rule=rules, seeds=3, record="potential")


def test_a_large_study_is_shown_by_the_best_of_each_rule(large):
    seen = Looked(large, "", lowest=False, partial=False)
    lines = seen.few(seen.curves)
    assert {one.number for one in lines} == {one.number for one in seen.at_best}
    assert {one.name for one in lines} == {f"{rule}, players={n}" for n in (4, 6, 14) for rule in ("lll", "blll")}
    figure, table = sections.levels(seen).parts[:2]
    assert figure.caption.startswith(
        "Potential Φ over time, each rule at its best tau (see below), out of 36 settings."
    )
    assert [row[0] for row in table.rows] == [one.name for one in seen.curves]
    assert "more point" not in table.note
    assert table.is_long
    page = Page("x", [], [Section("x", "x", [table])])
    assert "<summary>potential Φ, end: mean of the last 6 steps: 36 rows</summary>" in render(page)


def test_runs_that_are_shown_are_of_the_largest_games_the_best_first(large):
    seen = Looked(large, "", lowest=False, partial=False)
    assert list(seen.shown) == ["players=14", "players=6"]
    for game, shown in seen.shown.items():
        levels = [one.level for one in seen.at_best if one.game == game]
        assert [one.level for one in shown] == sorted(levels, reverse=True)
    lowest = Looked(large, "", lowest=True, partial=False).shown["players=6"]
    assert lowest[0].level == min(one.level for one in lowest)


def test_what_is_not_solved_is_told_of_every_game(large):
    """And nothing is advised that refuses a game of that size."""
    seen = Looked(large, "", lowest=False, partial=False)
    (told,) = [part.text for part in theory.solved(seen).parts[1:] if isinstance(part, Text)]
    assert "its 14 players have 16,384 profiles" in told
    assert told.endswith("potentia audit and potentia stability take larger ones, as far as the memory goes.")
    with patch.object(theory, "_MOST_LISTED", 10_000):
        (told,) = [part.text for part in theory.solved(seen).parts[1:] if isinstance(part, Text)]
    assert "potentia audit" not in told
    assert "potentia.analysis.check_claim tries" in told
    with patch.object(theory, "LARGEST", 1):
        told = [part.text for part in theory.solved(seen).parts[1:]]
    assert [re.search(r"its (\d+) players", text)[1] for text in told] == ["4", "14", "6"]


def test_a_caption_promises_no_interval_that_is_not_drawn(large, study):
    few, enough = (sections.parameters(Looked(one, "", lowest=False, partial=False)) for one in (large, study))
    assert few.parts[0].caption.startswith("Where runs end against tau, without intervals, which take 5 seeds;")
    assert enough.parts[0].caption == "Where runs end against tau, with 95 % intervals; a ring is the best of a line."


def test_a_run_that_ends_elsewhere_is_not_shown(study):
    seen = Looked(study, "", lowest=False, partial=False)
    read = study.read

    def other(chunk):
        return {name: 1 - part if name == "final" else part for name, part in read(chunk).items()}

    with patch.object(study, "read", other), pytest.raises(PotentiaError, match="ends elsewhere here"):
        runs.again(seen, seen.curves[0], 0)


def test_small_games_are_audited_with_who_woke_and_stayed(page):
    text = words(page)
    assert "resistance lemma (Eq. 12): BROKEN" in text
    assert "From the maximiser to a stable profile: (1, 0) → (0, 1)" in text
    assert "Player 1 compares 2 with 3 and stays." in text
    assert "At τ = 0.3 the long run puts 12.0% there." in text


def test_it_asks_nobody_for_anything_and_is_the_same_again(study, page, tmp_path):
    text = unescape(page.read_text("utf-8"))
    assert "default-src 'none'" in text
    assert "unsafe" not in re.search(r'Security-Policy" content="([^"]*)"', text)[1]
    bare = re.sub(r'srcdoc="[^"]*"', "", page.read_text("utf-8"))
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', bare)
    again, *beside = write_report(study, tmp_path / "again.html")
    assert beside == []
    assert again.read_bytes() == page.read_bytes()


def test_a_large_replay_is_a_file_beside(study, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "_INSIDE", 1000)
    page, *beside = write_report(study, tmp_path / "my page.html")
    assert [path.name for path in beside] == ["my page-replay-1.html", "my page-replay-2.html"]
    assert 'href="my%20page-replay-1.html"' in page.read_text("utf-8")  # a name may have a # or a % too
    assert "<iframe" not in page.read_text("utf-8")
    assert "application/x-potentia-recording" in beside[0].read_text("utf-8")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rule": {"name": "lll", "tau": 0.1}, "seeds": 1}, "Potential Φ ends at"),
        ({"rule": [{"name": "lll", "tau": 0.1}, {"name": "best-response"}]}, "has the highest potential Φ at the end"),
        ({"game": {"name": "congestion"}}, "Congestion(players=100)"),
        ({"game": {"name": "ring", "players": 12}}, "its 12 players have 4,096 profiles"),
        (
            {
                "game": {"name": "ring", "players": 12},
                "rule": {"name": "ql", "tau": 0.1},
                "record": "welfare",
                "seeds": 2,
            },
            "Welfare Σu ends at",
        ),
    ],
    ids=["one run", "nothing varies", "congestion", "graph", "scores"],
)
def test_any_study_has_a_report(tmp_path, changes, said):
    text = words(played(tmp_path, **changes).report())
    assert said in text
    assert not re.search(r"\bnan\b", text)


def test_levels_that_are_not_known_are_told_so(tmp_path):
    """A share of revisions that is NaN throughout."""
    study = played(tmp_path, record=["welfare"], rule={"name": "lll", "tau": [0.1, 0.3]})
    unknown = study.curves()
    for one in unknown:
        one.curves[:] = np.nan
    with patch.object(type(study), "curves", lambda self, measure=None, **options: unknown):
        assert "No level of welfare Σu is known at the end of any run." in words(study.report())


def test_robots_on_a_map_have_its_figures(tmp_path):
    game = {"map": "random:1", "robots": 3, "delta": 1.5, "flags": False}
    study = played(tmp_path, game=game, steps=40, seeds=2, rule={"name": "blll", "tau": [0.001, 0.01]})
    text = study.report().read_text("utf-8")
    assert "Final places of the robots" in text
    assert "The worth of the cells of" in text
    assert "covered worth (union: each cell once) at the end" in text  # which counts where nothing was asked for
    assert "no profile has more than" in text


def test_a_site_is_told_in_plain_words(tmp_path):
    """Its map by the file's name, why there is no share, the failure on the curve, what the best takes to drive."""
    np.savetxt(tmp_path / "site.csv", np.arange(20.0).reshape(4, 5), delimiter=",")
    game = {"map": str(tmp_path / "site.csv"), "robots": 10, "delta": 0.5, "flags": False, "drift": [[0.01, 0.0]]}
    rule = {"name": "slll", "tau": 0.1, "revision": [0.2, 0.9]}
    changes = {"game": game, "rule": rule, "steps": 20, "seeds": 5, "events": ["fail 1@10"]}
    study = played(tmp_path, **changes, record=["worth_union", "distance"])
    events = []
    with patch("potentia.figures.runs.draw_events", lambda axes, happened, last: events.append((happened.texts, last))):
        text = words(study.report())
    assert set(events) == {(("fail 1@10",), 20.0)}
    assert not re.search(r"site-[0-9a-f]{12}(?!\.csv\")", text)  # but where it is to be played again
    assert "Not solved, Coverage(site, 5×4, robots=10" in text
    assert "10 players have some 10^13 profiles" in text
    assert "No one optimum of the game: the map changes and robots come or go" in text
    assert "got revision" not in text
    far = {one.values["revision"]: one.curves[:, -1].mean() for one in study.curves("distance")}
    best = max(study.curves("worth_union"), key=lambda one: one.level).values["revision"]
    least = far[{0.2: 0.9, 0.9: 0.2}[best]]
    assert f"For that its robots drive {far[best]:,.4g} cells; in the other setting {least:,.4g}." in text
    assert "5 seeds cannot tell two settings apart: however clear a difference is, its p is at least 0.0625." in text


def test_a_game_that_nobody_has_registered_leaves_the_rest(tmp_path):
    with patch.dict(library._registry):

        @pt.games.register_game("for-a-report")
        def make(players: int = 2):
            return pt.games.custom(lambda player, profile, data: 1.0 * profile[player], num_actions=[2] * players)

        study = played(tmp_path, game={"name": "for-a-report"}, record="welfare")
    text = words(pt.open_study(study.folder).report())
    assert "have the same, highest welfare Σu at the end" in text
    for part in ("No replay", "Not solved", "No optimum"):
        assert re.search(f"{part}: [^.]*my.study [^.]*: game.name must be one of", text), part
    assert "a game of your own must be registered first" in text


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"path": "page.txt"}, InvalidInput, r"path must end in .html, got 'page.txt'"),
        ({"measure": "worth"}, InvalidInput, 'measure must be "potential" or "welfare"'),
        ({"path": "/nowhere/page.html"}, InvalidInput, "cannot write /nowhere/page.html"),
    ],
)
def test_mistakes_are_named(study, options, error, said):
    with pytest.raises(error, match=said):
        study.report(**options)


def test_an_incomplete_study_must_be_asked_for(tmp_path):
    study = played(tmp_path, chunk=3)
    path = next(iter(study.files().values()))[0]
    path.unlink()
    with pytest.raises(StudyError, match="incomplete"):
        study.report()
    told = words(study.report(partial=True, lowest=True, measure="welfare"))
    assert "15 of 18: 3 settings × 6 seeds" in told
    assert "In short The study is incomplete: 15 of 18 runs." in told
    assert "potentia report my.study --measure welfare --lowest --partial" in told


def test_a_specification_is_the_same_as_a_file():
    spec = {
        "name": 'quotes " and \\ and \x7f and ünïcode 🎲',
        "about": "several\nlines\twith tabs",
        "steps": 10**9,
        "seeds": {"first": 3, "count": 4},
        "zip": [["rule.tau", "game.weight"]],
        "game": [{"name": "x", "weight": [1e-300, 0.1, 1e22], "empty key ü": {"deep": [True, [1, 2]]}}],
        "rule": [{"name": "lll", "tau": {"from": 0.1, "to": 1, "count": 2}}],
    }
    assert tomllib.loads(as_toml(spec)) == spec
    made = Specification(game=GAMES, rule=RULES, steps=5)
    assert specification_from(tomllib.loads(as_toml(made.spec()))) == made


def test_numbers_stand_flush_right():
    table = Table(
        "", ["a", "b", "c", "d"], [["x", "1,000", "< 0.001", "0.3 (at the edge)"], ["y", "-", "0.5 [0, 1]", "-"]]
    )
    assert [table.is_number(k) for k in range(4)] == [False, True, True, False]
