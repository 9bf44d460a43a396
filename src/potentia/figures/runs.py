"""Figures of runs over time: the mean over seeds with a band, several rules in one figure, the optimum as a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.colours import PALETTE
from potentia.figures.coverage_time import draw_events
from potentia.figures.sources import by_game, in_common, measures, of_game, series
from potentia.figures.style import (
    OPTIMUM,
    STYLES,
    Look,
    arranged,
    draw_mean,
    entitle,
    in_words,
    legend,
    legend_below,
    looks,
    panels,
    scale,
)
from potentia.games.events import events_from
from potentia.kernel.texts import counted
from potentia.statistics.curves import Curves, seeds_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 4  # panels in a row
_PANELS = 6  # more are left to programs
_LINES = 8  # more get a scale of colours instead of a legend


@in_words
def scalar_figure(
    data: Any,
    title: str = "",
    *,
    where: Mapping[str, Any] | None = None,
    per: str = "steps",
    optimum: float | Mapping[str, float] | None = None,
) -> Figure:
    """Every scalar of runs over time, one panel each; time is logarithmic beyond the first rows.

    A run that came to its goal keeps its last value from there on.

    Parameters
    ----------
    data : xarray.Dataset, Study, or dict of them
        A dataset of ``run_batch`` or of a study, several of them by name, or a study: a line for each setting.
    title : str
        What stands above the figure.
    where : dict, optional
        The settings to draw, as in ``{"rule": "lll", "tau": [0.1, 0.3]}``; left out, all.
    per : str
        What runs are followed along: ``"steps"``, ``"revisions"`` or ``"evaluations"``.
    optimum : float or dict of float, optional
        A line at this level in the first panel: the best there is, of the measure that stands first.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game, data = pt.game("ring", players=4), {}
    >>> for name in ("lll", "blll"):
    ...     data[name] = pt.run_batch(game, pt.rule(name, tau=0.3), 20, range(5), record="potential")
    >>> figure = pt.figures.scalar_figure(data, "A ring of four")
    >>> [axes.get_ylabel() for axes in figure.axes], figure.get_suptitle()
    (['potential Φ'], 'A ring of four (mean and middle 80 % of 5 seeds)')
    """
    names = measures(data)
    across, down = min(len(names), _ACROSS), -(-len(names) // _ACROSS)
    figure, grid = panels((5.6 * across, 4.2 * down), down, across, used=len(names))
    lines: list[Curves] = []
    for number, (axes, name) in enumerate(zip(grid.flat, names, strict=False)):
        lines = series(data, name, where=where, per=per)
        if len(lines) == 1:
            chosen = {lines[0].name: Look(PALETTE[number % len(PALETTE)], STYLES[0])}
        else:
            chosen = _looks([one.name for one in lines])
        for one in lines:
            _draw(axes, one, chosen[one.name], one.name)
        for game, mine in by_game(lines).items() if number == 0 else ():
            if (best := of_game(optimum, mine[0], "optimum")) is not None:
                label = f"optimum, {game}" if isinstance(optimum, Mapping) and game else "optimum"
                axes.axhline(best, label=label, gid=label, **OPTIMUM)
            if not isinstance(optimum, Mapping):
                break
        if lines[0].times.size > 20:
            first = float(lines[0].times[1])
            axes.set_xscale("symlog", linthresh=10 * first, linscale=0.5)
            axes.set_xlim(left=0)
        axes.set(xlabel=_along(lines[0]), ylabel=_axis_label(lines[0]))
    handles, _ = grid.flat[0].get_legend_handles_labels()
    if len(lines) > 1 or optimum is not None:
        legend_below(figure, _few(handles, len(lines)))
    told = _band_told(lines)
    entitle(figure, " ".join(filter(None, [title, f"({told})" if told else ""])))
    return figure


@in_words
def study_figure(
    data: Any,
    measure: str | None = None,
    title: str = "",
    *,
    where: Mapping[str, Any] | None = None,
    per: str = "steps",
    optimum: float | Mapping[str, float] | None = None,
    events: Iterable[str] | None = None,
) -> Figure:
    """One measure over time: mean and middle 80 % of seeds, rules of one game in one panel with one scale.

    With more than a few settings of a game a panel for each rule, whose lines are shades of its colour. Games have
    scales of their own.

    Parameters
    ----------
    data : Study, xarray.Dataset, dict of them, or list of Curves
        A study, its dataset, several by name, or curves.
    measure : str, optional
        What was recorded; left out, the first scalar. Of curves, only what they are called.
    title : str
        What stands above the figure.
    where : dict, optional
        The settings to draw, as in ``{"rule": "lll", "tau": [0.1, 0.3]}``; left out, all.
    per : str
        What runs are followed along: ``"steps"``, ``"revisions"`` or ``"evaluations"``.
    optimum : float or dict of float, optional
        A line at the best there is, or one for each game.
    events : iterable of str, optional
        What happened to robots, ``game.events``: a line at each step, of runs that are followed along steps.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game, data = pt.game("ring", players=4), {}
    >>> for name in ("lll", "blll"):
    ...     data[name] = pt.run_batch(game, pt.rule(name, tau=0.3), 20, range(5), record="potential")
    >>> figure = pt.figures.study_figure(data, "potential")
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('step n', 'potential Φ')
    """
    found = series(data, measure, where=where, per=per)
    grouped = _grouped(found)
    drawn = list(grouped.items())[:_PANELS]
    rows, columns = arranged(len(drawn), 3)
    size = 5.2 * columns + 0.8, 3.8 * rows + 0.5
    figure, grid = panels(size, rows, columns, used=len(drawn), sharex=True)
    keys: list[list[Any]] = []  # what the legend of each panel would have
    for axes, (panel, lines) in zip(grid.flat, drawn, strict=False):
        told = _short_names(lines)
        chosen = _looks([f"{one.labels.get('rule', '')}: {name}" for one, name in zip(lines, told, strict=True)])
        for one, name, look in zip(lines, told, chosen.values(), strict=True):
            _draw(axes, one, look, name or "mean")
        if (best := of_game(optimum, lines[0], "optimum")) is not None:
            axes.axhline(best, label="optimum", gid="optimum", **OPTIMUM)
        if events and per == "steps":
            draw_events(axes, events_from(events), float(max(one.times[-1] for one in lines)))
        axes.set(title=panel, xlabel=_along(lines[0]))
        if any(told) or optimum is not None or events:
            keys.append(_few(axes.get_legend_handles_labels()[0], len(lines)))
    _legends(figure, grid, keys)
    _alike([axes for axes, _ in zip(grid.flat, drawn, strict=False)], [lines[0].game for _, lines in drawn])
    for axes in grid[:, 0]:
        axes.set_ylabel(_axis_label(found[0]) or measure or "")
    more = len(grouped) - len(drawn)
    left = f"; {counted(more, 'more panel')} not drawn" if more else ""
    entitle(figure, ": ".join(filter(None, [title, ", ".join([*_fixed(found, grouped), _band_told(found)])])) + left)
    return figure


def _fixed(found: Sequence[Curves], grouped: Mapping[str, Sequence[Curves]]) -> list[str]:
    """What was chosen of more, and is told neither above a panel nor of its lines."""
    said = [[*panel.split(", "), *", ".join(_short_names(lines)).split(", ")] for panel, lines in grouped.items()]
    return [text for text in in_common(found) if not all(text in words for words in said)]


def _legends(figure: Figure, grid: Any, keys: Sequence[Sequence[Any]]) -> None:
    """Below all panels where a name looks the same in all of them, else below each: never over the lines."""
    known: dict[str, Any] = {}
    for handle in (handle for mine in keys for handle in mine):
        other = known.setdefault(handle.get_label(), handle)
        if (other.get_color(), other.get_linestyle()) != (handle.get_color(), handle.get_linestyle()):
            for axes, mine in zip(grid.flat, keys, strict=False):
                legend(axes, mine, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
            return
    legend_below(figure, list(known.values()))


def _draw(axes: Axes, one: Curves, look: Look, label: str) -> None:
    known = np.isfinite(one.curves).any(axis=0)  # nothing was revised before the first step
    draw_mean(axes, one.times[known], one.curves[:, known], look, label=label, name=label)


def _looks(names: Sequence[str]) -> dict[str, Look]:
    return looks(names) if len(set(names)) <= len(PALETTE) else scale(list(dict.fromkeys(names)))


def _few(handles: Sequence[Any], lines: int) -> list[Any]:
    """Of many lines, the first, the middle and the last, and what is no line."""
    return list(handles) if lines <= _LINES else [handles[k] for k in (0, lines // 2, lines - 1)] + [*handles[lines:]]


def _grouped(found: Sequence[Curves]) -> dict[str, list[Curves]]:
    """A panel for each game; of too many lines one for each rule on it, and then for each value of one axis."""
    panels = list(by_game(found).items())
    for split in (lambda one: one.who, lambda one: ", ".join(one.told_values()[:1])):
        if max(len(lines) for _, lines in panels) <= _LINES:
            break
        finer: dict[str, list[Curves]] = {}
        for title, lines in panels:
            for one in lines:
                finer.setdefault(", ".join(filter(None, [title, split(one)])), []).append(one)
        panels = list(finer.items())
    return dict(panels)


def _short_names(lines: Sequence[Curves]) -> list[str]:
    """What tells the lines of a panel apart: labels and values that are not the same for all of them, or all."""
    keys = dict.fromkeys(key for one in lines for key in (*one.labels, *one.values))
    same = [key for key in keys if len({one.told([k for k in keys if k != key]) for one in lines}) == 1]
    if len(same) == len(keys):
        same = [key for key in keys if key == "game" or any(key in one.of_game for one in lines)]
    return [one.told(same) for one in lines]


def _alike(panes: Sequence[Axes], games: Sequence[str]) -> None:
    """One scale for the panels of one game."""
    for game in dict.fromkeys(games):
        mine = [axes for axes, of in zip(panes, games, strict=True) if of == game]
        ends = np.array([axes.get_ylim() for axes in mine])
        for axes in mine:
            axes.set_ylim(ends[:, 0].min(), ends[:, 1].max())


def _along(one: Curves) -> str:
    return "step n" if one.per == "steps" else one.per


def _axis_label(one: Curves) -> str:
    return f"{one.label} ({one.unit})" if one.unit else one.label


def _band_told(lines: Sequence[Curves]) -> str:
    several = any(one.seeds.size > 1 for one in lines)
    return f"mean and middle 80 % of {seeds_of(lines)}" if several else ""
