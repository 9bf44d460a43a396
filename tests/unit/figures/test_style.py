"""One style for all figures: a rule keeps its colour, panels have numbers, titles fit, nothing is styled apart."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from potentia import colours, figures
from potentia.colours import PALETTE, color_of, rule_in
from potentia.figures import style
from potentia.rules import registered
from potentia.statistics.curves import Curves
from potentia.statistics.estimates import Estimate
from tests.unit.figures.test_coverage_figures import batch, marked

RULES = ("lll", "blll", "slll", "p-sblll", "best-response", "ql", "soql", "score")


def colours_of(figure, name):
    return {to_hex(line.get_color()) for axes in figure.axes for line in axes.lines if line.get_gid() == name}


def test_every_rule_has_a_colour_of_its_own_and_other_names_a_stable_one():
    assert len({color_of(name) for name in RULES}) == len(RULES)
    assert set(RULES) <= set(registered())
    assert color_of("fictitious-play") == color_of("fictitious-play") != ""
    assert len({color_of(f"rule {k}") for k in range(50)}) > 4


@pytest.mark.parametrize(
    ("label", "rule"),
    [
        ("P-SBLLL", "p-sblll"),
        ("p-sblll joint", "p-sblll"),
        ("P-SBLLL, Eq. 53", "p-sblll"),
        ("soql:mu=0.9", "soql"),
        ("QL, τ = 0.002", "ql"),
        ("LLL", "lll"),
        ("best-response", "best-response"),
        ("scores", None),
        ("qlearning", None),
        ("EM_N", None),
        ("", None),
    ],
)
def test_a_label_names_the_rule_it_begins_with(label, rule):
    assert rule_in(label) == rule
    if rule:
        assert color_of(label) == color_of(rule)


def test_a_rule_of_somebody_else_is_known_by_its_name(monkeypatch):
    monkeypatch.setattr(colours, "registered", lambda: {"mine": None})
    assert rule_in("mine, slow") == "mine"
    assert style.looks(["mine, slow"])["mine, slow"].colour == color_of("mine")


def test_two_of_a_rule_are_shades_of_its_colour():
    names = [f"soql:mu={k / 10}" for k in range(5)]
    looks = style.looks(["blll", *names])
    assert looks["blll"].colour == color_of("blll")
    assert looks[names[0]].colour == color_of("soql")
    assert len({look.colour for look in looks.values()}) == 6
    base = np.array(to_rgb(color_of("soql")))
    for name in names:
        colour = np.array(to_rgb(looks[name].colour))
        assert (colour <= base + 0.01).all() or (colour >= base - 0.01).all()  # towards black or white
    assert len(set(style.looks([f"ql {k}" for k in range(20)]).values())) == 20  # by shade and line


def test_what_is_no_rule_has_the_palette_in_order_and_not_a_rules_colour():
    assert [look.colour for look in style.looks("abcdef").values()] == list(PALETTE)
    assert len(set(style.looks("abcdefghijkl").values())) == 12
    mixed = style.looks(["a", "blll", "b"])
    assert len({look.colour for look in mixed.values()}) == 3
    assert mixed["blll"].colour == color_of("blll")


def test_soql_has_one_colour_in_all_figures():
    soql, ql = color_of("soql").lower(), color_of("ql").lower()
    data = {"BLLL": batch(), "QL, τ = 0.1": batch(), "SOQL": batch()}
    assert colours_of(figures.algorithms_figure(data, smooth=1), "mean of SOQL") == {soql}
    figure = figures.reinforcement_figure(data, smooth=1)
    assert colours_of(figure, "mean of SOQL") == {soql}
    assert colours_of(figure, "mean of QL, τ = 0.1") == {ql}
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == [
        f"{who}: mean and bound of 4 seeds" for who in ("SOQL", "the BLLL in the title", "the QL in the title")
    ]
    (axes,) = figures.worth_figure(data).axes
    assert {to_hex(line.get_color()) for line in axes.lines if str(line.get_label()).startswith("SOQL")} == {soql}
    estimate = Estimate(0.5, 0.4, 0.6, 9)
    axes = figures.temperature_figure({0.1: estimate}, beside={"SOQL": estimate}).axes[0]
    assert to_hex(marked(axes, "SOQL").get_color()) == soql
    assert to_hex(axes.lines[0].get_color()) == ql
    bars = figures.shares_figure({"all": {"SOQL": estimate, "QL": 0.5}}).axes[0].patches
    assert [to_hex(bar.get_facecolor()) for bar in bars] == [soql, ql]
    curves = [
        Curves({"rule": name}, {"tau": tau}, np.arange(2), np.arange(3.0), np.ones((2, 3)))
        for name in ("ql", "soql")
        for tau in (0.1, 0.2, 0.3, 0.4, 0.5)
    ]
    panels = figures.study_figure(curves).axes  # too many for one panel
    assert [to_hex(panel.lines[0].get_color()) for panel in panels] == [ql, soql]
    assert all(len({line.get_color() for line in panel.lines}) == 5 for panel in panels)


@pytest.mark.parametrize("others", [2, 3, 4, 5])
def test_panels_above_a_gap_have_the_numbers_of_their_steps(others):
    data = {"SOQL": batch(), **{f"SOQL, variant {k}": batch() for k in range(others)}}
    figure = figures.reinforcement_figure(data, smooth=1)
    figure.draw_without_rendering()
    assert len(figure.axes) == others
    lowest = figure.axes[-min(others, 3) :]
    assert all(label.get_visible() and label.get_text() for axes in lowest for label in axes.get_xticklabels())


def test_a_long_title_is_wrapped_and_a_short_one_is_as_it_is():
    words = "what robots that learn the field cover over time " * 6
    figure, _ = style.panels((6.0, 3.0))
    style.entitle(figure, f"{words}\nsecond")
    figure.draw_without_rendering()
    box = figure._suptitle.get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1
    assert figure.get_suptitle().replace("\n", " ").split() == [*words.split(), "second"]
    style.entitle(figure, "short\ntwo lines")
    assert figure.get_suptitle() == "short\ntwo lines"


def test_a_legend_below_fits_and_the_figure_grows_by_it():
    figure, _ = style.panels((5.0, 3.0))
    style.legend_below(figure, [style.in_key(f"a label that takes its room, number {k}") for k in range(6)])
    assert figure.get_figheight() > 3.0
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_a_title_is_a_keyword_that_may_be_left_out_of_every_figure():
    for name in figures.__all__:
        title = inspect.signature(getattr(figures, name)).parameters["title"]
        assert title.default == "", name
        assert title.kind in (title.KEYWORD_ONLY, title.POSITIONAL_OR_KEYWORD)


def test_only_the_style_knows_colours_letters_and_spines():
    own = re.compile(
        r'spines|fontsize=\d|"(black|white|viridis|Greys|0\.\d+)"|#[0-9A-Fa-f]{6}|matplotlib.figure import Fig'
    )
    for file in sorted(Path(inspect.getfile(figures)).parent.glob("*.py")):
        lines = file.read_text().splitlines()
        found = [line for line in lines if own.search(line) and line != "    from matplotlib.figure import Figure"]
        assert not found or file.name == "style.py", (file.name, found)


def test_letters_in_files_are_letters(tmp_path):
    figure, _ = style.panels((2, 2))
    figure.suptitle("one word")
    for kind in ("svg", "pdf"):
        figure.savefig(tmp_path / f"figure.{kind}")
    assert ">one word</text>" in (tmp_path / "figure.svg").read_text()
    written = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in written
    assert b"/CIDFontType2" in written
