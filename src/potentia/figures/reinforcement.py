"""Figures of learning from received utilities: worth over time (paper, Fig. 8 and 10), scores and strategies.

Worth is Σ C^i, as in the paper. A published number stands at the step at which its curve was read to settle.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidRun
from potentia.figures.coverage_time import by_seed
from potentia.figures.maps import number
from potentia.figures.runs import COLOURS, STYLES
from potentia.figures.style import in_legend, in_words
from potentia.kernel.numbers import is_integer

if TYPE_CHECKING:
    import xarray
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORTH = "covered worth ΣC"
MOST_PLAYERS = 6
MOST_ACTIONS = 6  # as many colours as can be told apart
_MARKERS = ("o", "s", "D", "^", "v", "P")


# Worth over time --------------------------------------------------------------------------------------


@in_words
def reinforcement_figure(
    datasets: Mapping[str, xarray.Dataset],
    *,
    first: str = "SOQL",
    published: Mapping[str, Mapping[str, float]] | None = None,
    smooth: int = 200,
    title: str = "",
) -> Figure:
    """The batch named ``first`` against each of the others, a panel for each: mean and bound over seeds (Fig. 8).

    The band is from the least to the largest over seeds, of means over ``smooth`` steps. ``published`` has entries
    with ``mean``, ``low``, ``high`` and ``settles``; each is drawn in the colour of the batch it begins the name of.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    _check(datasets, smooth)
    if first not in datasets:
        raise InvalidRun(f"must name one of {', '.join(datasets)}, got {first!r}", "first", first)
    others = [name for name in datasets if name != first]
    if not others:
        raise InvalidRun(f"must name a batch to compare {first!r} with, got none", "datasets", datasets)
    columns = min(len(others), 3)
    rows = math.ceil(len(others) / columns)
    figure = Figure(figsize=(3.7 * columns + 0.9, 3.3 * rows + 1.3), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).reshape(-1).tolist()
    marks: dict[str, Artist] = {}
    for axes, other in zip(grid, others, strict=False):
        for index, name in enumerate((first, other)):
            _draw(axes, datasets[name], name, index, smooth, "range")
            for key, entry in (published or {}).items():
                if name.lower().startswith(key.lower()):
                    marks[key] = _mark(axes, key, entry, COLOURS[index], index)
        _frame(axes)
        axes.set_xlim(0, max(float(data.time.values[-1]) for data in datasets.values()))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_title(f"{first} against {other}", fontsize=10)
    for axes in grid[len(others) :]:
        axes.remove()
    for axes in grid[: len(others) : columns]:
        axes.set_ylabel(f"{WORTH},\nmean over {smooth} steps")
    seeds = datasets[first].sizes.get("seed", 1)
    named = {first: COLOURS[0], "the other rule of a panel": COLOURS[1]}
    figure.legend(
        handles=[*_key(named, f"mean and bound of {seeds} seeds" if seeds > 1 else "1 seed"), *marks.values()],
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


@in_words
def algorithms_figure(
    datasets: Mapping[str, xarray.Dataset],
    *,
    published: Mapping[str, Mapping[str, float]] | None = None,
    smooth: int = 100,
    early: int = 100,
    title: str = "",
) -> Figure:
    """All batches together (Fig. 10): means over seeds and the middle 80 %; steps are logarithmic above ``early``."""
    from matplotlib.figure import Figure

    _check(datasets, smooth)
    if not is_integer(early) or early < 1:
        raise InvalidRun(f"must be a number of steps, at least 1, got {early!r}", "early", early)
    figure = Figure(figsize=(9.6, 6.2), layout="constrained")
    axes = figure.subplots()
    lines: list[Artist] = []
    marks: dict[str, Artist] = {}
    last = 1.0
    for index, (name, data) in enumerate(datasets.items()):
        last = max(last, float(data.time.values[-1]))
        line = _draw(axes, data, name, index, smooth, "middle")
        line.set_label(in_legend(f"{name}, at the end {number(float(np.asarray(line.get_ydata())[-1]))}"))
        lines.append(line)
        for key, entry in (published or {}).items():
            if key not in marks and name.lower().startswith(key.lower()):
                marks[key] = _mark(axes, key, entry, COLOURS[index % len(COLOURS)], index)
    _frame(axes)
    axes.set_xscale("symlog", linthresh=early, linscale=0.4)
    ticks = [0, *(k * 10**d for d in range(18) for k in (1, 3) if early <= k * 10**d <= last)]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(0, last)
    axes.set_xlabel(f"step (logarithmic above {early})")
    axes.set_ylabel(f"{WORTH}, mean over {smooth} steps")
    counts = sorted({data.sizes.get("seed", 1) for data in datasets.values()})
    said = " or ".join(map(str, counts))
    axes.set_title(title or f"Mean and middle 80 % of {said} seeds", fontsize=11)
    figure.legend(handles=[*lines, *marks.values()], loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def _check(datasets: Mapping[str, xarray.Dataset], smooth: Any) -> None:
    if not datasets:
        raise InvalidRun("must name at least one batch, got none", "datasets", datasets)
    if not is_integer(smooth) or smooth < 1:
        raise InvalidRun(f"must be a number of steps, at least 1, got {smooth!r}", "smooth", smooth)
    for name, data in datasets.items():
        if "worth_sum" not in data:
            raise InvalidRun(f'{name}: worth_sum was not recorded; pass record=("worth_sum", ...)')


def _draw(axes: Axes, data: xarray.Dataset, name: str, index: int, smooth: int, band: str) -> Any:
    time, values = by_seed(data, "worth_sum", smooth)
    colour, style = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)]
    (line,) = axes.plot(time, values.mean(axis=0), style, color=colour, linewidth=1.9, gid=f"mean of {name}", zorder=3)
    if len(values) > 1:
        ends = [0.0, 1.0] if band == "range" else [0.1, 0.9]
        low, high = np.quantile(values, ends, axis=0)
        axes.fill_between(time, low, high, color=colour, alpha=0.13, linewidth=0, gid=f"band of {name}")
        if band == "range":
            for edge in (low, high):  # so that two bands can be told apart in grey
                axes.plot(time, edge, style, color=colour, linewidth=0.6, alpha=0.6)
    return line


def _mark(axes: Axes, key: str, entry: Mapping[str, float], colour: str, index: int) -> Artist:
    """A published mean with its bound, at the step at which it settles."""
    mean, low, high, step = (float(entry[part]) for part in ("mean", "low", "high", "settles"))
    told = f"{number(mean)} ({number(low)} to {number(high)}), from step {step:,.0f}"
    return axes.errorbar(
        step,
        mean,
        [[mean - low], [high - mean]],
        marker=_MARKERS[index % len(_MARKERS)],
        markersize=7,
        markeredgecolor="black",
        color=colour,
        ecolor="black",
        elinewidth=1.1,
        capsize=4,
        linestyle="none",
        label=f"published {key.upper()}: {told}",
        gid=f"published {key}",
        zorder=5,
    )  # type: ignore[return-value]


def _key(named: Mapping[str, str], what: str) -> list[Artist]:
    from matplotlib.lines import Line2D

    looks: list[dict[str, Any]] = [
        {"linestyle": STYLES[k], "color": colour, "label": in_legend(f"{name}: {what}")}
        for k, (name, colour) in enumerate(named.items())
    ]
    return [Line2D([], [], linewidth=1.9, **look) for look in looks]


def _frame(axes: Axes) -> None:
    axes.set_ylim(bottom=0.0)
    axes.set_xlim(left=0.0)
    axes.margins(x=0.0)
    axes.set_xlabel("step")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


# Scores and strategies --------------------------------------------------------------------------------


@in_words
def values_figure(data: xarray.Dataset, *, title: str = "") -> Figure:
    """Scores, strategies and actions played over time, of what :func:`potentia.watch` returned.

    A column for each player, of six at most; of a player with more than six actions those are drawn that were
    most likely in the mean over time.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    for name in ("score", "strategy", "profile"):
        if name not in data or "time" not in data.dims:
            raise InvalidRun(
                f"must be what watch returned, with score, strategy and profile; {name} is missing", "data", data
            )
    players, drawn = data.sizes["player"], min(data.sizes["player"], MOST_PLAYERS)
    figure = Figure(figsize=(max(6.4, 3.5 * drawn + 0.8), 6.0), layout="constrained")
    grid = figure.subplots(3, drawn, squeeze=False, sharex=True, height_ratios=[1.0, 1.0, 0.35])
    shown: set[int] = set()
    for player in range(drawn):
        shown |= _draw_player(grid[:, player], data.isel(player=player), player)
    for axes, name in zip(grid[:, 0], ("score of each action", "strategy (of the next step)", "played"), strict=True):
        axes.set_ylabel(name)
    same = all(_actions(data.isel(player=player)).size == _count(data.isel(player=player)) for player in range(drawn))
    if same:  # a colour is an action; otherwise each panel names its own
        looks: list[dict[str, Any]] = [
            {"color": COLOURS[k], "linestyle": STYLES[k % len(STYLES)], "label": f"action {k}"} for k in sorted(shown)
        ]
        handles = [Line2D([], [], linewidth=1.8, **look) for look in looks]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9.5)
    else:
        for player in range(drawn):
            grid[1, player].legend(frameon=False, fontsize=8)
    left_out = f"; drawn: players 0 to {drawn - 1} of {players}" if players > drawn else ""
    rule = json.loads(data.attrs["rule"])["rule"] if "rule" in data.attrs else "a rule"
    figure.suptitle((title or f"Scores and strategies of {rule} on {data.attrs.get('game', 'a game')}") + left_out,
                    fontsize=11)  # fmt: skip
    return figure


def _count(data: xarray.Dataset) -> int:
    """How many actions the player has."""
    return int((~np.isnan(data.score.values[0])).sum())


def _actions(data: xarray.Dataset) -> NDArray[np.int64]:
    """Which actions are drawn, in order."""
    likely = data.strategy.values.mean(axis=0)[: _count(data)]
    return np.sort(np.argsort(-likely, kind="stable")[:MOST_ACTIONS])


def _draw_player(column: Any, data: xarray.Dataset, player: int) -> set[int]:
    from matplotlib.ticker import MaxNLocator

    time, actions = data.time.values, _actions(data)
    played = data.profile.values
    for k, action in enumerate(actions.tolist()):
        look: dict[str, Any] = {"color": COLOURS[k], "linewidth": 1.5, "label": f"action {action}"}
        for axes, name in zip(column, ("score", "strategy"), strict=False):
            axes.plot(time, data[name].values[:, action], STYLES[k % len(STYLES)], gid=f"{name} {action}", **look)
        at = time[played == action]
        column[2].plot(at, np.full(at.shape, action), "|", color=COLOURS[k], markersize=5, rasterized=True)
    others = ~np.isin(played, actions)
    column[2].plot(time[others], played[others], "|", color="0.6", markersize=5, rasterized=True)
    column[0].set_title(f"player {player}", fontsize=10)
    column[1].set_ylim(-0.03, 1.03)
    column[2].set_xlabel("step")
    column[2].margins(y=0.25)
    column[2].yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    if _count(data) == actions.size:
        column[2].set_ylim(-0.6, actions.size - 0.4)
        column[2].set_yticks(range(actions.size))
    for axes in column:
        axes.margins(x=0.0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    return set(range(actions.size))
