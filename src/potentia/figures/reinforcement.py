"""Figures of learning from received utilities: worth over time (paper, Fig. 8 and 10), scores and strategies.

Worth is Σ C^i, as in the paper. A published number stands at the step at which its curve was read to settle.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.colours import PALETTE, rule_in
from potentia.errors import InvalidRun
from potentia.figures import style
from potentia.figures.coverage_time import by_seed, check_batches, told
from potentia.figures.maps import number
from potentia.kernel.arrays import Ints
from potentia.kernel.checks import Integer

if TYPE_CHECKING:
    import xarray
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

WORTH = "covered worth ΣC"
MOST_PLAYERS = 6
MOST_ACTIONS = 6  # as many colours as can be told apart


# Worth over time --------------------------------------------------------------------------------------


@style.in_words
def reinforcement_figure(
    datasets: Mapping[str, xarray.Dataset],
    *,
    first: str = "SOQL",
    published: Mapping[str, Mapping[str, float]] | None = None,
    smooth: int = 200,
    title: str = "",
) -> Figure:
    """One batch against each of the others, a panel for each: mean and bound over seeds (paper, Fig. 8).

    The band is from the least to the largest over seeds, of means over some steps.

    Parameters
    ----------
    datasets : dict of xarray.Dataset
        What :func:`potentia.run_batch` returned, by name, with "worth_sum" recorded.
    first : str
        The name of the one that the others are compared with.
    published : dict, optional
        Entries with ``mean``, ``low``, ``high`` and ``settles``, the step at which each stands; one whose name a
        batch's name begins with has its colour.
    smooth : int
        So many steps are averaged over.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> rules = {"SOQL": pt.rule("soql", mu=0.7), "QL": pt.rule("ql", tau=0.3)}
    >>> data = {name: pt.run_batch(game, one, 20, range(5), record="worth_sum") for name, one in rules.items()}
    >>> figure = pt.figures.reinforcement_figure(data, smooth=5)
    >>> [axes.get_title() for axes in figure.axes]
    ['SOQL against QL']
    """
    from matplotlib.ticker import MaxNLocator

    check_batches(datasets, "datasets", ["worth_sum"], smooth)
    if first not in datasets:
        raise InvalidRun(f"must name one of {', '.join(datasets)}, got {first!r}", "first", first)
    others = [name for name in datasets if name != first]
    if not others:
        raise InvalidRun(f"must name a batch to compare {first!r} with, got none", "datasets", datasets)
    rows, columns = style.arranged(len(others), 3)
    size = 3.7 * columns + 0.9, 3.3 * rows + 1.3
    figure, grid = style.panels(size, rows, columns, used=len(others), sharex=True, sharey=True)
    lines: dict[str, Artist] = {}
    marks: dict[str, Artist] = {}
    seeds = datasets[first].sizes.get("seed", 1)
    said = f"mean and bound of {seeds} seeds" if seeds > 1 else "1 seed"
    for axes, other in zip(grid.flat, others, strict=False):
        for name, look in style.looks([first, other]).items():
            rule = rule_in(name)
            other_one = f"the {rule.upper() if rule else 'rule'} in the title"
            who = name if name == first or len(others) == 1 else other_one
            lines[who] = _draw(axes, datasets[name], name, look, smooth, "range")
            lines[who].set_label(style.in_legend(f"{who}: {said}"))
            _mark(axes, name, published, look.colour, marks)
        _frame(axes)
        axes.set_xlim(0, max(float(data.time.values[-1]) for data in datasets.values()))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(f"{first} against {other}", fontsize=style.TITLE)
    for axes in grid[:, 0]:
        axes.set_ylabel(f"{WORTH},\nmean over {smooth} steps")
    style.legend_below(figure, [*lines.values(), *marks.values()])
    style.entitle(figure, title)
    return figure


@style.in_words
def algorithms_figure(
    datasets: Mapping[str, xarray.Dataset],
    *,
    published: Mapping[str, Mapping[str, float]] | None = None,
    smooth: int = 100,
    early: int = 100,
    title: str = "",
) -> Figure:
    """All batches together (paper, Fig. 10): means over seeds and the middle 80 %.

    Parameters
    ----------
    datasets : dict of xarray.Dataset
        What :func:`potentia.run_batch` returned, by name, with "worth_sum" recorded.
    published : dict, optional
        Entries with ``mean``, ``low``, ``high`` and ``settles``, the step at which each stands; one whose name a
        batch's name begins with has its colour.
    smooth : int
        So many steps are averaged over.
    early : int
        Steps are logarithmic above it.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> rules = {"BLLL": pt.rule("blll", tau=0.05), "LLL": pt.rule("lll", tau=0.05)}
    >>> data = {name: pt.run_batch(game, one, 20, range(5), record="worth_sum") for name, one in rules.items()}
    >>> figure = pt.figures.algorithms_figure(data, smooth=5)
    >>> figure.get_suptitle()
    'Mean and middle 80 % of 5 seeds'
    """
    check_batches(datasets, "datasets", ["worth_sum"], smooth)
    Integer(least=1).of(early, "early", InvalidRun)
    figure, ((axes,),) = style.panels((9.6, 6.2))
    lines: list[Artist] = []
    marks: dict[str, Artist] = {}
    for name, look in style.looks(datasets).items():
        line = _draw(axes, datasets[name], name, look, smooth, "middle")
        line.set_label(style.in_legend(f"{name}, at the end {number(float(np.asarray(line.get_ydata())[-1]))}"))
        lines.append(line)
        _mark(axes, name, published, look.colour, marks)
    _frame(axes)
    style.log_steps(axes, early, max(float(data.time.values[-1]) for data in datasets.values()) or 1.0)
    axes.set_ylabel(f"{WORTH}, mean over {smooth} steps")
    counts = sorted({data.sizes.get("seed", 1) for data in datasets.values()})
    style.entitle(figure, title or f"Mean and middle 80 % of {' or '.join(map(str, counts))} seeds")
    style.legend_below(figure, [*lines, *marks.values()])
    return figure


def _draw(axes: Axes, data: xarray.Dataset, name: str, look: style.Look, smooth: int, band: str) -> Line2D:
    return style.draw_mean(axes, *by_seed(data, "worth_sum", smooth), look, band=band, name=name)


def _mark(
    axes: Axes, name: str, published: Mapping[str, Mapping[str, float]] | None, colour: str, marks: dict[str, Artist]
) -> None:
    """What was published of this batch, at the step at which it settles, once in a panel; adds to ``marks``."""
    for k, (key, entry) in enumerate((published or {}).items()):
        gid = f"published {key}"
        if name.lower().startswith(key.lower()) and not any(line.get_gid() == gid for line in axes.lines):
            step = float(entry["settles"])
            label = f"published {key.upper()}: {told(entry)}, from step {step:,.0f}"
            marks[key] = style.draw_published(axes, step, entry, k, colour, label, gid)


def _frame(axes: Axes) -> None:
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    axes.set_xlabel("step")


# Scores and strategies --------------------------------------------------------------------------------


@style.in_words
def values_figure(data: xarray.Dataset | Mapping[str, xarray.Dataset], *, player: int = 0, title: str = "") -> Figure:
    """Scores, strategies and actions played over time, of what :func:`potentia.watch` returned.

    A column for each player, of six at most; of several runs by name a column for each of them, of one player. Of a
    player with more than six actions those are drawn that were most likely in the mean over time.

    Parameters
    ----------
    data : xarray.Dataset or dict of xarray.Dataset
        What :func:`potentia.watch` returned, or several by name.
    player : int
        Of which player, where there are several.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> data = pt.watch(pt.game("stag-hunt"), pt.rule("ql", tau=0.5, mu=0.1), 20)
    >>> figure = pt.figures.values_figure(data)
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['player 0', 'player 1']
    """
    import xarray

    runs = {"": data} if isinstance(data, xarray.Dataset) else data
    for one in runs.values():
        _check_watched(one)
    if isinstance(data, xarray.Dataset):
        return _values(data, {f"player {k}": data.isel(player=k) for k in range(data.sizes["player"])}, title)
    if not 1 <= len(data) <= MOST_PLAYERS:
        raise InvalidRun(f"must be one to {MOST_PLAYERS} runs, got {len(data)}", "data", list(data))
    Integer(0, min(run.sizes["player"] for run in data.values()) - 1).of(player, "player", InvalidRun)
    columns = {f"{name}, player {player}": run.isel(player=player) for name, run in data.items()}
    return _values(next(iter(data.values())), columns, title or "Scores and strategies")


def _check_watched(data: Any) -> None:
    for name in ("score", "strategy", "profile"):
        if name not in data or "time" not in data.dims:
            said = f"must be what watch returned, with score, strategy and profile; {name} is missing"
            raise InvalidRun(said, "data", data)


def _values(data: xarray.Dataset, columns: Mapping[str, xarray.Dataset], title: str) -> Figure:
    players, drawn = len(columns), min(len(columns), MOST_PLAYERS)
    shown = dict(list(columns.items())[:drawn])
    size = max(6.4, 3.5 * drawn + 0.8), 6.0
    figure, grid = style.panels(size, 3, drawn, sharex=True, height_ratios=[1.0, 1.0, 0.35])
    for column, (name, one) in zip(grid.T, shown.items(), strict=True):
        _draw_player(column, one, name)
    for axes, name in zip(grid[:, 0], ("score of each action", "strategy (of the next step)", "played"), strict=True):
        axes.set_ylabel(name)
    if max(map(_count, shown.values())) <= MOST_ACTIONS:  # a colour is an action
        handles = {str(line.get_label()): line for axes in grid[0] for line in axes.lines}
        style.legend_below(figure, [handles[label] for label in sorted(handles)])
    else:  # each panel names its own
        for axes in grid[1]:
            style.legend(axes, fontsize=style.SMALL)
    left_out = f"; drawn: players 0 to {drawn - 1} of {players}" if players > drawn else ""
    rule = json.loads(data.attrs["rule"])["rule"] if "rule" in data.attrs else "a rule"
    said = f"Scores and strategies of {rule} on {data.attrs.get('game', 'a game')}"
    style.entitle(figure, (title or said) + left_out)
    return figure


def _count(data: xarray.Dataset) -> int:
    """How many actions the player has."""
    return int((~np.isnan(data.score.values[0])).sum())


def _actions(data: xarray.Dataset) -> Ints:
    """Which actions are drawn, in order."""
    likely = data.strategy.values.mean(axis=0)[: _count(data)]
    return np.sort(np.argsort(-likely, kind="stable")[:MOST_ACTIONS])


def _draw_player(column: Any, data: xarray.Dataset, name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    time, actions = data.time.values, _actions(data)
    played = data.profile.values
    mark: dict[str, Any] = {"marker": "|", "linestyle": "none", "markersize": 5, "rasterized": True}
    for action, colour, dashes in zip(actions.tolist(), PALETTE, itertools.cycle(style.STYLES), strict=False):
        look: dict[str, Any] = {"color": colour, "linewidth": 1.5, "label": f"action {action}"}
        for axes, what in zip(column, ("score", "strategy"), strict=False):
            axes.plot(time, data[what].values[:, action], dashes, gid=f"{what} {action}", **look)
        at = time[played == action]
        column[2].plot(at, np.full(at.shape, action), color=colour, **mark)
    others = ~np.isin(played, actions)
    column[2].plot(time[others], played[others], color=style.GREY, **mark)
    column[0].set_title(name, fontsize=style.TITLE)
    column[1].set_ylim(-0.03, 1.03)
    column[2].set_xlabel("step")
    column[2].margins(y=0.25)
    column[2].yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    if _count(data) == actions.size:
        column[2].set(ylim=(-0.6, actions.size - 0.4), yticks=range(actions.size))
    for axes in column:
        axes.margins(x=0.0)
