"""Names are text: no formula in a figure or a spreadsheet, no command to a terminal."""

from __future__ import annotations

import io
import sys
import warnings

import numpy as np
import pytest
import xarray
from matplotlib.text import Text

import potentia as pt
from potentia import figures
from potentia.analysis import dynamics, stability
from potentia.cli.terminal import print_table, progress, say, status
from potentia.figures.style import in_words
from potentia.games import Coverage, World
from potentia.kernel.texts import command, inert, visible
from potentia.statistics.curves import Curves
from potentia.statistics.estimates import Estimate

HOSTILE = "a$^$_{x}%\x1b[31m"
SHOWN = r"a$^$_{x}%\x1b[31m"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain, Übung τ → 0 ✓ f̂ 中 👩\u200d🚀", None),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\x00b\x07c\x7fd\x9be\x85", r"a\x00b\x07c\x7fd\x9be\x85"),
        ("one\ntwo\rthree\tfour", r"one\ntwo\rthree\tfour"),
        ("\u202etxt.exe\u2066\u200f", r"\u202etxt.exe\u2066\u200f"),
        ("\u2028\u2029\ufeff\u200b", r"\u2028\u2029\ufeff\u200b"),
        ("\udcff.json", r"\udcff.json"),  # a file name that is no UTF-8
        ("C:\\x1b", None),
    ],
)
def test_control_characters_are_written_out(text, seen):
    assert visible(text) == (text if seen is None else seen)


def test_lines_that_are_meant_stay():
    assert visible("a\nb\tc\x1b", keep="\n\t") == "a\nb\tc\\x1b"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+x", "'+x"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\rx", "'\rx"),
        (" =1", "' =1"),
        ("＝1", "'＝1"),
        ("-1.5", "-1.5"),
        ("+3e-2", "+3e-2"),
        ("a=b", "a=b"),
        ("", ""),
        (-1.5, -1.5),
        (None, None),
    ],
)
def test_no_cell_is_a_formula(cell, written):
    assert inert(cell) == written


# Figures ------------------------------------------------------------------------------------------------


def batch():
    values = np.linspace(0.0, 1.0, 60).reshape(2, 30)
    return xarray.Dataset(
        {
            "welfare": (("seed", "time"), values),
            "worth_union": (("seed", "time"), values),
            "belief_error": (("seed", "time"), values),
            "final": (("seed", "player"), np.zeros((2, 2), int)),
            "steps_done": ("seed", [290, 290]),
        },
        {"seed": [0, 1], "time": 10 * np.arange(30), "player": [0, 1]},
        {"game": HOSTILE, "rule": "{}", "interrupted": 0},
    )


def curve(**values):
    return Curves({"rule": HOSTILE}, values, np.arange(2), np.arange(5.0), np.ones((2, 5)), label=HOSTILE)


def world():
    return World(np.arange(12.0).reshape(3, 4), name=HOSTILE)


DRAWN = {
    "scalar": lambda: figures.scalar_figure(batch(), HOSTILE),
    "study": lambda: figures.study_figure([curve(**{HOSTILE: HOSTILE}), curve(x=2.0)], title=HOSTILE),
    "level": lambda: figures.level_figure([curve(x=HOSTILE), curve(x="b")], title=HOSTILE),
    "spread": lambda: figures.spread_figure([curve(x=HOSTILE), curve(x="b")], title=HOSTILE),
    "reaching": lambda: figures.reaching_figure([curve(x=HOSTILE), curve(x="b")], 1.0, title=HOSTILE),
    "stability": lambda: figures.stability_figure(stability(pt.game("stag-hunt"), pt.rule("lll", tau=0.1)),
                                                  title=HOSTILE),
    "scores": lambda: figures.scores_figure(dynamics(pt.game("stag-hunt"), horizon=1.0), HOSTILE, [HOSTILE, "b"]),
    "field": lambda: figures.field_figure(world()),
    "worth": lambda: figures.worth_figure({HOSTILE: batch()}, title=HOSTILE),
    "learning": lambda: figures.learning_figure({HOSTILE: batch()}, title=HOSTILE),
    "configuration": lambda: figures.configuration_figure(Coverage(world(), 1), {HOSTILE: np.array([[3], [4]])}),
    "shares": lambda: figures.shares_figure({HOSTILE: {HOSTILE: Estimate(0.5, 0.4, 0.6, 9)}}, title=HOSTILE),
    "temperature": lambda: figures.temperature_figure(
        {0.1: Estimate(0.5, 0.4, 0.6, 9)}, beside={HOSTILE: Estimate(0.5, 0.4, 0.6, 9)}, title=HOSTILE
    ),
}  # fmt: skip


def named(figure):
    """The texts in which the name is, as they were drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as for letters that a font lacks
        figure.draw_without_rendering()
    return [text for text in figure.findobj(Text) if "a$" in text.get_text()]


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_name_in_a_figure_is_not_a_formula(draw):
    found = named(draw())
    assert found
    for text in found:
        assert SHOWN in text.get_text()
        assert text._preprocess_math(text.get_text()) == (text.get_text(), False)


def test_nor_in_a_film(tmp_path):
    game = Coverage(world(), 1)
    films = [
        figures.animate(game, [[3], [4]], tmp_path / f"{len(name)}.gif", worth=[1.0, 1.0], label=name, title=name)
        for name in (HOSTILE, SHOWN)
    ]
    assert films[0] != films[1]
    assert films[0].read_bytes() == films[1].read_bytes()


def test_numbers_on_axes_are_still_powers_of_ten():
    figure = figures.scalar_figure(batch(), "title")
    figure.draw_without_rendering()
    ticks = [text for text in figure.axes[0].get_xticklabels() if "10^" in text.get_text()]
    assert ticks
    assert all(text.get_parse_math() for text in ticks)


def test_what_is_added_afterwards_may_be_a_formula():
    figure = figures.scalar_figure(batch(), "title")
    added = figure.text(0.5, 0.5, "$x^2$")
    assert added.get_parse_math()


def test_a_name_with_an_underscore_is_in_the_legend():
    figure = figures.worth_figure({"_mine": batch(), "lll": batch()})
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum("_mine" in text for text in told) == 1
    mine = [Curves({"rule": "_a"}, {"_x": x}, np.arange(2), np.arange(5), np.ones((2, 5))) for x in (1.0, 2.0)]
    figure = figures.study_figure(mine)
    told = [text.get_text().strip() for text in figure.legends[0].get_texts()]
    assert told == ["_x=1", "_x=2"]


def test_every_figure_takes_names_as_they_are():
    wrapped = in_words(lambda: None).__code__
    for name in figures.__all__:
        assert name == "animate" or getattr(figures, name).__code__ is wrapped, name


# The terminal -------------------------------------------------------------------------------------------

MARKUP = "[red]x[/red] :smile: \x1b[2J\n\\"
MEANT = r"[red]x[/red] :smile: \x1b[2J\n" + "\\"


def test_a_table_takes_its_texts_as_they_are(capsys):
    print_table([MARKUP, "b"], [[MARKUP, "long " * 20]], caption=MARKUP, title=MARKUP)
    out = capsys.readouterr().out
    assert out.count(MEANT) == 4
    assert "\x1b" not in out


def test_a_line_is_one_line(capsys):
    say(MARKUP)
    say("one\ntwo\x1b", lines=True, err=True)
    assert capsys.readouterr() == (MEANT + "\n", "one\ntwo\\x1b\n")


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("show", [progress, status])
def test_what_is_under_way_is_told_as_it_is(show, monkeypatch):
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    for name, value in (("TERM", "xterm"), ("COLUMNS", "150")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    with show(MARKUP) as tell:
        tell(1, 2) if show is progress else tell(MARKUP)
    assert MEANT in screen.getvalue()
    assert "\x1b[2J" not in screen.getvalue()


def test_commands_to_type_can_be_typed():
    assert command("show", "study.study") == "potentia show study.study"
    assert command("show", "my study; rm x") == "potentia show 'my study; rm x'"
    assert command("sweep", "-s.toml") == "potentia sweep ./-s.toml"
