"""Figures of where runs end: level against a parameter, the spread over seeds, and how soon a goal is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.errors import InvalidRun
from potentia.figures import style
from potentia.figures.sources import by_game, by_panel, in_common, of_game, series, shared_out
from potentia.kernel.numbers import is_real
from potentia.kernel.texts import counted
from potentia.statistics.choosing import axis_of, best_place, equals
from potentia.statistics.curves import Curves, seeds_of, short, until
from potentia.statistics.estimates import FEW, Estimate, bootstrap_mean
from potentia.statistics.reaching import reaching_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_PANELS = 6  # more are left to programs
_NESTED = 6  # sizes of marks: those that are drawn later are smaller, so that none hides another
_ROWS = 40  # settings of a panel, one below the other
_DOTS = 200  # seeds; of more, only the boxes
_TOLD = 12  # lines of a panel; of more, the soonest
_FEW = 4  # settings of one rule; more have a scale of colours
_LABELS = ("belief", "rule", "data")  # that lines are named by
_BANDS = 3  # lines of a panel that have one; more would hide each other
_WIDE = 20.0  # a largest value so many times the least: the axis is logarithmic


@style.in_words
def level_figure(
    data: Any,
    against: str | None = None,
    measure: str | None = None,
    *,
    where: Mapping[str, Any] | None = None,
    per: str = "steps",
    optimum: float | Mapping[str, float] | None = None,
    lowest: bool = False,
    title: str = "",
) -> Figure:
    """The level at which runs end against a parameter, a line for each rule with 95 % intervals; the best has a ring.

    A level is the mean over the last tenth of a run. Rules that do not have the parameter are horizontal lines. Games,
    and what else varies, have panels of their own, each with its own scale.

    Parameters
    ----------
    data : Study, xarray.Dataset, or dict of them
        A study, its dataset, or several by name.
    against : str, optional
        The parameter, as ``"tau"``; left out, the one with the most values.
    measure : str, optional
        What was recorded; left out, the first scalar.
    where : dict, optional
        The settings to draw, as in ``{"rule": "lll", "tau": [0.1, 0.3]}``; left out, all.
    per : str
        What runs are followed along: ``"steps"``, ``"revisions"`` or ``"evaluations"``.
    optimum : float or dict of float, optional
        A line at the best there is, or one for each game.
    lowest : bool
        Whether the best is the lowest.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> plain = {"game": {"name": "stag-hunt"}, "rule": {"name": "lll", "tau": [0.1, 0.3]}}
    >>> plain |= {"steps": 20, "seeds": 5, "record": ["potential"]}
    >>> study = pt.sweep(plain, "hunt.study")
    >>> figure = pt.figures.level_figure(study, against="tau")
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('τ', 'potential Φ, at the end')
    """
    found = series(data, measure, where=where, per=per)
    axis = axis_of(found, against)
    grouped = by_panel(found, axis)
    drawn = list(grouped.items())[:_PANELS]
    rows, columns = style.arranged(len(drawn), 3)
    figure, grid = style.panels((4.6 * columns + 1.2, 3.8 * rows + 0.8), rows, columns, used=len(drawn))
    looks = style.looks([one.who for one in found])
    of_one_game = not any(axis in one.of_game for one in found)  # else what is best tells of the games, not of rules
    handles: dict[str, Any] = {}
    for axes, (panel, mine) in zip(grid.flat, drawn, strict=False):
        ticks = _ticks(axes, [one.values[axis] for one in found if axis in one.values])
        for place, (who, look) in enumerate(looks.items()):
            if lines := [one for one in mine if one.who == who]:
                ring, size = lowest if of_one_game else None, 4 + min(len(looks) - 1 - place, _NESTED)
                handles.setdefault(who, _draw_level(axes, axis, lines, look, ticks, size, ring))
        if (line := _draw_optimum(axes, axis, mine, optimum, ticks)) is not None:
            handles.setdefault("optimum", line)
        axes.set(title=panel, xlabel=style.symbol(axis))
    for axes in grid[:, 0]:
        axes.set_ylabel(f"{found[0].measured}, {_end(found)}")
    what = "mean and 95 % interval" if any(one.seeds.size >= FEW for one in found) else "mean"
    mark = {"marker": "o", "markersize": 11, "mfc": "none", "color": style.DARK, "linestyle": "none"}
    rings = [style.in_key("best of a line", **mark)] if of_one_game else []
    style.legend_below(figure, [*handles.values(), *rings])
    style.entitle(figure, _titled(title, found, what, len(grouped) - len(drawn), leave_out=(axis, *_LABELS)))
    return figure


def _ticks(axes: Axes, values: Sequence[Any]) -> dict[str, float]:
    """Where each value stands on the axis: at itself, or one after the other where they are no numbers."""
    from matplotlib.ticker import NullLocator

    different = list(dict.fromkeys(map(short, values)))
    if not all(is_real(value) for value in values):
        axes.set_xticks(range(len(different)), [style.shown(text) for text in different], **style.LITERAL)
        axes.tick_params(axis="x", labelrotation=30 if len(different) > 3 else 0)
        return {text: float(place) for place, text in enumerate(different)}
    places = {short(value): float(value) for value in sorted(values)}
    if min(places.values()) > 0 and max(places.values()) >= _WIDE * min(places.values()):
        axes.set_xscale("log")
    if len(places) <= 8:
        axes.set_xticks(list(places.values()), list(places))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.tick_params(axis="x", labelrotation=45 if len(places) > 4 else 0)
    return places


def _draw_level(
    axes: Axes,
    axis: str,
    lines: Sequence[Curves],
    look: style.Look,
    ticks: Mapping[str, float],
    size: int,
    lowest: bool | None,
) -> Any:
    """A rule's line, with marks of that size and a ring at its best, or its one level right across."""
    label = style.in_legend(lines[0].who)
    varied = sorted((one for one in lines if axis in one.values), key=lambda one: ticks[short(one.values[axis])])
    handle: Any = None
    for one in lines:
        if axis not in one.values:
            level = bootstrap_mean(one.levels)
            handle = axes.axhline(level.mean, color=look.colour, linestyle=":", linewidth=1.6, label=label, gid=one.who)
            if level.enough:
                axes.axhspan(level.low, level.high, color=look.colour, alpha=0.12, linewidth=0)
    if varied:
        levels = [bootstrap_mean(one.levels) for one in varied]
        places, means = [ticks[short(one.values[axis])] for one in varied], np.array([level.mean for level in levels])
        bar: dict[str, Any] = {"fmt": f"o{look.style}", "capsize": size / 2, "markersize": size, "color": look.colour}
        ends = _ends(levels) if any(level.enough for level in levels) else None
        handle = axes.errorbar(places, means, ends, label=label, gid=lines[0].who, **bar)
        best = None if lowest is None else best_place(means, lowest)
        if best is not None:
            ring: dict[str, Any] = {"markersize": size + 6, "mfc": "none", "mew": 1.4, "color": look.colour}
            same = equals(varied, best)
            axes.plot([places[k] for k in same], means[same], "o", gid=f"best of {lines[0].who}", zorder=5, **ring)
    return handle


def _draw_optimum(
    axes: Axes, axis: str, mine: Sequence[Curves], optimum: Any, ticks: Mapping[str, float]
) -> Line2D | None:
    """One level right across, or one for each game where games stand side by side."""
    best = {ticks.get(short(one.values.get(axis)), 0.0): of_game(optimum, one, "optimum") for one in mine}
    known = {place: level for place, level in sorted(best.items()) if level is not None}
    if not known:
        return None
    if len(set(known.values())) == 1:
        return axes.axhline(next(iter(known.values())), label="optimum", gid="optimum", **style.OPTIMUM)
    return axes.plot(list(known), list(known.values()), label="optimum", gid="optimum", **style.OPTIMUM)[0]


def _end(found: Sequence[Curves]) -> str:
    """When a level is taken."""
    return "at the end" if found[0].per == "steps" else f"after {until(found)}"


def _ends(levels: Sequence[Estimate]) -> Any:
    low = [level.mean - level.low if level.enough else 0.0 for level in levels]
    high = [level.high - level.mean if level.enough else 0.0 for level in levels]
    return np.maximum([low, high], 0.0)


@style.in_words
def spread_figure(
    data: Any,
    measure: str | None = None,
    *,
    where: Mapping[str, Any] | None = None,
    per: str = "steps",
    optimum: float | Mapping[str, float] | None = None,
    title: str = "",
) -> Figure:
    """The levels of all seeds, a dot each, with a box from the lower to the upper quartile and a line at the median.

    A row for each setting, a panel for each game; of more than 40 as many of each rule, at the same values where
    rules have them.

    Parameters
    ----------
    data : Study, xarray.Dataset, or dict of them
        A study, its dataset, or several by name.
    measure : str, optional
        What was recorded; left out, the first scalar.
    where : dict, optional
        The settings to draw, as in ``{"rule": "lll", "tau": [0.1, 0.3]}``; left out, all.
    per : str
        What runs are followed along: ``"steps"``, ``"revisions"`` or ``"evaluations"``.
    optimum : float or dict of float, optional
        A line at the best there is, or one for each game.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game, data = pt.game("ring", players=4), {}
    >>> for name in ("lll", "blll"):
    ...     data[name] = pt.run_batch(game, pt.rule(name, tau=0.3), 20, range(5), record="potential")
    >>> figure = pt.figures.spread_figure(data, optimum=0.0)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['lll', 'blll']
    """
    found = series(data, measure, where=where, per=per)
    drawn, more = spread_rows(found)
    heights = [len(mine) + 1.2 for _, mine in drawn]
    size = 9.0, 0.9 + 0.62 * len(drawn) + 0.27 * sum(heights)
    figure, grid = style.panels(size, len(drawn), height_ratios=heights)
    looks = style.looks([one.who for one in found])
    for axes, (panel, shown) in zip(grid.flat, drawn, strict=True):
        for place, one in enumerate(shown):
            levels = one.levels[np.isfinite(one.levels)]
            colour = looks[one.who].colour
            if levels.size > 1:
                low, middle, high = np.quantile(levels, [0.25, 0.5, 0.75])
                axes.barh(place, high - low, left=low, height=0.56, color=colour, alpha=0.25, linewidth=0)
                axes.plot([middle, middle], [place - 0.28, place + 0.28], color=colour, linewidth=2.0)
            if levels.size <= _DOTS:
                around = 0.16 * np.sin(2.4 * np.arange(levels.size))  # apart, and the same every time
                axes.plot(levels, place + around, "o", color=colour, markersize=3, alpha=0.7, gid=one.name)
        if (best := of_game(optimum, shown[0], "optimum")) is not None:
            axes.axvline(best, gid="optimum", **style.OPTIMUM)
        told = [one.setting for one in shown]
        axes.set_yticks(range(len(shown)), [style.shown(text) for text in told], **style.LITERAL)
        axes.set(ylim=(len(shown) - 0.4, -0.6))
        axes.set_title(panel, loc="left", fontsize=style.TITLE)
        style.despine(axes, "left", grid="x")
    line = "; dashes and dots: the optimum" if optimum is not None else ""
    grid[-1, 0].set_xlabel(f"{found[0].measured}, {_end(found)}{line}")
    style.entitle(figure, _titled(title, found, "one dot a seed, quartiles and median", more, "setting"))
    return figure


def spread_rows(found: Sequence[Curves]) -> tuple[list[tuple[str, list[Curves]]], int]:
    """The settings that :func:`spread_figure` has rows for, by panel, and of how many it has none."""
    drawn = [(panel, shared_out(mine, _ROWS)) for panel, mine in list(by_game(found).items())[:_PANELS]]
    return drawn, len(found) - sum(len(mine) for _, mine in drawn)


@style.in_words
def reaching_figure(
    data: Any,
    goal: float | Mapping[str, float],
    measure: str | None = None,
    *,
    where: Mapping[str, Any] | None = None,
    per: str = "steps",
    title: str = "",
) -> Figure:
    """The share of runs that have reached a goal by a time, a line for each setting; runs that never do stay below.

    Up to three lines of a panel have bands: 95 % intervals of the share, by Wilson's score. Of more than twelve
    settings of a game only the soonest are drawn: one of each rule, or the first twelve of one.

    Parameters
    ----------
    data : Study, xarray.Dataset, or dict of them
        A study, its dataset, or several by name.
    goal : float or dict of float
        A number, or one for each game; a relative 1e-9 below it counts.
    measure : str, optional
        What was recorded; left out, the first scalar.
    where : dict, optional
        The settings to draw, as in ``{"rule": "lll", "tau": [0.1, 0.3]}``; left out, all.
    per : str
        What runs are followed along: ``"steps"``, ``"revisions"`` or ``"evaluations"``.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game, data = pt.game("ring", players=4), {}
    >>> for name in ("lll", "blll"):
    ...     data[name] = pt.run_batch(game, pt.rule(name, tau=0.3), 20, range(5), record="potential")
    >>> figure = pt.figures.reaching_figure(data, goal=1.0)
    >>> figure.axes[0].get_title(), figure.axes[0].get_ylabel()
    ('goal 1', 'share of runs that are there')
    """
    found = series(data, measure, where=where, per=per)
    drawn, more = reaching_lines(found, goal)
    rows, columns = style.arranged(len(drawn), 3)
    figure, grid = style.panels((4.8 * columns + 1.0, 3.6 * rows + 0.8), rows, columns, used=len(drawn), sharey=True)
    rules = {one.who for one in found}
    told = {one.name: one.who if more and len(rules) > 1 else one.setting for _, mine in drawn for one in mine}
    different = list(dict.fromkeys(told.values()))
    looks = style.looks(different) if len(different) <= _FEW or len(rules) > 1 else style.scale(different)
    labels = _labels([one for _, mine in drawn for one in mine], told)
    handles: dict[str, Any] = {}
    banded = max(len(mine) for _, mine in drawn) <= _BANDS
    for axes, (panel, mine) in zip(grid.flat, drawn, strict=False):
        wanted = _goal_of(goal, mine[0])
        for one in mine:
            name = told[one.name]
            at, share, low, high = _reached(one, wanted)
            (line,) = axes.step(at, share, looks[name].style, where="post", color=looks[name].colour, gid=one.name)
            line.set_label(style.in_legend(labels[name]))
            if banded:
                axes.fill_between(at, low, high, step="post", color=looks[name].colour, alpha=0.12, linewidth=0)
            handles.setdefault(name, line)
        axes.set(title=", ".join(filter(None, [panel, f"goal {wanted:.6g}"])), ylim=(-0.02, 1.02))
        axes.set_xlabel("step n" if mine[0].per == "steps" else mine[0].per)
    for axes in grid[:, 0]:
        axes.set_ylabel("share of runs that are there")
    style.legend_below(figure, list(handles.values()))
    what = f"time until {found[0].measured} is at the goal" + (", with 95 % intervals" if banded else "")
    if more:
        panels = ", from panel to panel" if any(" | " in label for label in labels.values()) else ""
        what += f"; the soonest of each rule{panels}" if len(rules) > 1 else "; the soonest"
    style.entitle(figure, _titled(title, found, what, more, "setting"))
    return figure


def reaching_lines(
    found: Sequence[Curves], goal: float | Mapping[str, float]
) -> tuple[list[tuple[str, list[Curves]]], int]:
    """The settings that :func:`reaching_figure` has lines for, by panel, and of how many it has none.

    Of more than twelve on a game those that are soonest on the average: one of each rule, or the first twelve of one.
    """
    drawn = []
    for panel, mine in list(by_game(found).items())[:_PANELS]:
        kept, rules = list(range(len(mine))), list(dict.fromkeys(one.who for one in mine))
        if len(mine) > _TOLD:
            goal_here = _goal_of(goal, mine[0])
            times = [reaching_of(one, goal_here, 2).restricted.mean for one in mine]
            order = sorted(kept, key=times.__getitem__)
            best = order if len(rules) == 1 else [next(k for k in order if mine[k].who == who) for who in rules]
            kept = sorted(best[:_TOLD])
        drawn.append((panel, [mine[k] for k in kept]))
    return drawn, len(found) - sum(len(mine) for _, mine in drawn)


def _labels(mine: Sequence[Curves], told: Mapping[str, str]) -> dict[str, str]:
    """What the legend says: of a rule that stands for its soonest setting, which that is, by game."""
    out = {}
    for name in dict.fromkeys(told.values()):
        values = [", ".join(one.told_values()) for one in mine if told[one.name] == name != one.setting]
        out[name] = ", ".join(filter(None, [name, " | ".join(values if len(set(values)) > 1 else values[:1])]))
    return out


def _goal_of(goal: Any, one: Curves) -> float:
    wanted = of_game(goal, one, "goal")
    if wanted is None:
        which = f" for {one.game!r}" if isinstance(goal, Mapping) and one.game else ""
        got = goal[one.game] if isinstance(goal, Mapping) else goal
        raise InvalidRun(f"must be a number, or one for each game, got {got!r}{which}", "goal", goal)
    return wanted


def _reached(one: Curves, goal: float) -> tuple[Any, Any, Any, Any]:
    from scipy.stats import norm

    times = reaching_of(one, goal)
    known = ~np.isnan(times.times)
    when = np.sort(times.times[known & ~times.censored])
    n = max(1, int(known.sum()))
    at = np.concatenate([[one.times[0]], when, [one.times[-1]]])
    there = np.concatenate([[0], np.arange(1, when.size + 1), [when.size]])
    z = float(norm.ppf(0.975))
    share = there / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return at, share, np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


def _titled(
    title: str,
    found: Sequence[Curves],
    what: str,
    more: int,
    thing: str = "panel",
    leave_out: Sequence[str] | None = None,
) -> str:
    """The title, what was chosen and is told nowhere else, what is drawn, and how much is not."""
    chosen = [] if leave_out is None else in_common(found, leave_out)
    told = ", ".join([*chosen, f"{what}; {seeds_of(found)}"])
    return ": ".join(filter(None, [title, told])) + (f"; {counted(more, f'more {thing}')} not drawn" if more else "")
