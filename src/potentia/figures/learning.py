"""How beliefs get better over time, and how mixtures came to their number of components."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.beliefs import Proposal
from potentia.beliefs.learning import AKAIKE_TEMPERATURE
from potentia.colours import robot_colour
from potentia.errors import InvalidRun
from potentia.figures import style
from potentia.figures.beliefs import MOST_DRAWN, checked_parts
from potentia.figures.coverage_time import by_seed, check_batches, has
from potentia.kernel.checks import Integer

if TYPE_CHECKING:
    import xarray
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEARNT = {
    "belief_error": "relative error of the believed field,\nΣ|f̂ - f| / Σf",
    "parameter_error": "error of the mixture's parameters, 0 to 1",
    "right_number": "share of robots with the\nright number of components",
    "components": "number of components,\nmean over robots",
}
_SHARES = ("parameter_error", "right_number")
FEW = 5  # seeds; an interval from fewer says little
_EARLY = 100  # steps
_LINEAR = 10.0  # up to this, AIC changes are drawn on a linear scale
_TICKS = (5, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000)
_KINDS = ((True, True), (True, False), (False, True), (False, False))  # grows, is accepted
_TRUE: dict[str, Any] = {"color": style.INK, "linewidth": 1.2, "linestyle": style.DASHED}  # the true number


# Over time --------------------------------------------------------------------------------------------


@style.in_words
def learning_figure(batches: Mapping[str, xarray.Dataset], *, number: int | None = None, title: str = "") -> Figure:
    """How beliefs get better over time: a panel for each of their recorders that a batch has.

    Lines are means over seeds, bands their 95 % intervals by Student's t, or with fewer than five seeds all of them.
    ``number`` is the true number of components,
    drawn as a line.
    """
    _check_number(number)
    check_batches(batches, "batches", list(LEARNT))
    drawn = [measure for measure in LEARNT if any(has(data, measure) for data in batches.values())]
    rows, columns = style.arranged(len(drawn), 2)
    size = 5.4 * columns + (0.4 if columns > 1 else 2.0), 3.6 * rows + 0.8
    figure, grid = style.panels(size, rows, columns, used=len(drawn))
    looks = style.looks(batches)
    legend: dict[str, Artist] = {}
    for axes, measure in zip(grid.flat, drawn, strict=False):
        for name, data in batches.items():
            if has(data, measure):
                legend.setdefault(name, _draw_mean(axes, data, measure, name, looks[name]))
        if measure == "components" and number is not None:
            legend["number"] = axes.axhline(number, label=f"true number of components, {number}", gid="number", **_TRUE)
        _frame(axes, measure, max(float(data.time[-1]) for data in batches.values()))
    style.legend_below(figure, list(legend.values()))
    seeds = max(data.sizes.get("seed", 1) for data in batches.values())
    said = "" if seeds == 1 else ": means over seeds, " + ("least to largest" if seeds < FEW else "95 % intervals")
    style.entitle(figure, title or f"What robots believe, over time{said}")
    return figure


def _check_number(number: Any) -> None:
    if number is not None:
        Integer(least=1).of(number, "number", InvalidRun)


def _draw_mean(axes: Axes, data: xarray.Dataset, measure: str, name: str, look: style.Look) -> Artist:
    time, values = by_seed(data, measure)
    seeds = len(values)
    label = f"{name} ({seeds} seed{'s' * (seeds > 1)})"
    band = "range" if seeds < FEW else "interval"  # of few, an interval says little
    limits = (0.0, 1.0 if measure in _SHARES else np.inf)
    return style.draw_mean(axes, time, values, look, band=band, limits=limits, name=name, label=label)


def _frame(axes: Axes, measure: str, last: float) -> None:
    """Axes from 0; of a long record, time is logarithmic after the first steps, as most is learnt early."""
    from matplotlib.ticker import MaxNLocator

    if last > 10 * _EARLY:
        style.log_steps(axes, _EARLY, last)
    else:
        axes.set(xlim=(0, max(last, 1.0)), xlabel="step")
    axes.set_ylabel(LEARNT[measure])
    axes.margins(y=0.08)
    if measure in _SHARES:
        axes.set_ylim(-0.02, 1.02)
    else:
        axes.set_ylim(bottom=0.0)
    if measure == "components":
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))


# The number of components -----------------------------------------------------------------------------


@style.in_words
def proposals_figure(
    proposals: Sequence[Proposal],
    *,
    steps: int | None = None,
    robots: int | None = None,
    number: int | None = None,
    title: str = "",
) -> Figure:
    """The number of components over time, what was proposed, and what each proposal would change of the AIC.

    ``proposals`` are ``trace.proposals``: marks at the number proposed, filled where it was accepted.

    ``steps``
        the length of the run.
    ``robots``
        how many robots have a mind of their own, each with a panel (of eleven at most); left out, one is shared.
    ``number``
        the true number of components, drawn as a line.
    """
    rows, minds = _checked_proposals(proposals, robots)
    _check_number(number)
    drawn = min(minds, MOST_DRAWN)
    told = [row for row in rows if row.mind < drawn]
    end = max(steps or 0, *(row.time for row in rows))
    tall = 2.4 if drawn == 1 else 1.15
    heights = [*[tall] * drawn, 2.6]
    figure, grid = style.panels((9.6, tall * drawn + 3.6), drawn + 1, sharex=True, height_ratios=heights)
    size = max(3.0, min(5.5, 600.0 / max(1, len({row.time for row in rows}))))  # of marks, in points
    most = max([1, *(max(row.before, row.after) for row in told)])
    for mind, axes in enumerate(grid[:-1, 0]):
        _draw_numbers(axes, [row for row in told if row.mind == mind], mind, end, number, size)
        top = max(most, number or 0)
        axes.set(ylim=(0.4, top + 0.6), yticks=range(1, top + 1, max(1, most // 5)))
        axes.set_ylabel("components" if robots is None else f"robot {mind}")
    _draw_changes(grid[-1, 0], told, size)
    grid[-1, 0].set(xlim=(0, 1.01 * end), xlabel="step")
    style.legend_below(figure, _proposal_legend(rows, robots, number), columns=3)
    left_out = f"; drawn: robots 0 to {MOST_DRAWN - 1} of {minds}" if minds > MOST_DRAWN else ""
    of = "" if robots is None else " of each robot"
    style.entitle(figure, (title or f"Number of components{of}, and proposals to change it") + left_out)
    return figure


def _checked_proposals(proposals: Any, robots: int | None) -> tuple[list[Proposal], int]:
    """Proposals by time, and of how many minds."""
    none = "must hold at least one proposal, got none: SplitMerge makes them every aic_every steps"
    rows = checked_parts(proposals, Proposal, "proposals", "proposals", none)
    minds = 1 if robots is None else Integer(least=1).of(robots, "robots", InvalidRun)
    most = max(row.mind for row in rows)
    if most >= minds:
        said = f"must be of minds below {minds}, got mind {most}; robots says how many there are"
        raise InvalidRun(said, "proposals", proposals)
    return rows, minds


def _draw_numbers(axes: Axes, rows: list[Proposal], mind: int, end: int, number: int | None, size: float) -> None:
    """The number as steps, from one decision to the next, and the marks of what was proposed."""
    colour = robot_colour(mind)
    if number is not None:
        axes.axhline(number, zorder=1, gid="number", **_TRUE)
    times: list[int] = []
    values: list[int] = []
    for row in rows:
        times += [row.time, row.time]
        values += [row.before, row.after if row.accepted else row.before]
    if rows:
        times.append(end)
        values.append(values[-1])
    look: dict[str, Any] = {"drawstyle": "steps-post", "linewidth": 1.5, "color": colour, "zorder": 2}
    axes.plot(times, values, gid=f"number {mind}", **look)
    _mark(axes, rows, colour, [row.after for row in rows], size)


def _mark(axes: Axes, rows: list[Proposal], colour: str, heights: Sequence[float], size: float) -> None:
    for kind in _KINDS:
        chosen = [k for k, row in enumerate(rows) if (row.after > row.before, row.accepted) == kind]
        times, shown = [rows[k].time for k in chosen], [heights[k] for k in chosen]
        axes.plot(times, shown, color=colour, zorder=3, gid=_kind(*kind), **_look(*kind, colour, size))


def _kind(growing: bool, accepted: bool) -> str:
    return f"{'split' if growing else 'merge'} {'accepted' if accepted else 'rejected'}"


def _look(growing: bool, accepted: bool, colour: str, size: float) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": "^" if growing else "v",
        "markersize": size,
        "markerfacecolor": colour if accepted else style.PAPER,
        "markeredgecolor": style.INK if accepted else colour,
        "markeredgewidth": 0.5 if accepted else 1.0,
    }


def _draw_changes(axes: Axes, rows: list[Proposal], size: float) -> None:
    """The AIC of each proposal less that of what was there, and on the right the chance that such a change has."""
    changes = [row.aic_after - row.aic_before for row in rows]
    for mind in sorted({row.mind for row in rows}):
        mine = [k for k, row in enumerate(rows) if row.mind == mind]
        _mark(axes, [rows[k] for k in mine], robot_colour(mind), [changes[k] for k in mine], size)
    axes.axhline(0.0, color=style.INK, linewidth=0.8, zorder=1)
    axes.set_yscale("symlog", linthresh=_LINEAR)
    low, high = min([*changes, -_LINEAR]), max([*changes, _LINEAR])
    axes.set_ylim(1.7 * low, 1.7 * high)
    ticks = [sign * tick for sign in (-1, 1) for tick in _TICKS if low <= sign * tick <= high]
    axes.set_yticks([0, *ticks], ["0", *(f"{tick:+,d}".replace("-", "−") for tick in ticks)])
    axes.set_yticks([], minor=True)
    axes.set_ylabel("AIC change\n(below 0: better)")
    chance = axes.twinx()
    chance.set_yscale("symlog", linthresh=_LINEAR)
    chance.set_ylim(axes.get_ylim())
    said = [tick for tick in (0, *ticks) if abs(tick) <= 10]
    chance.set_yticks(said, [f"{round(100 / (1 + math.exp(tick / AKAIKE_TEMPERATURE)), 1):g} %" for tick in said])
    chance.set_yticks([], minor=True)
    chance.set_ylabel("chance of acceptance")
    style.despine(chance, grid=None)


def _proposal_legend(rows: list[Proposal], robots: int | None, number: int | None) -> list[Artist]:
    """By columns of two."""
    kinds = [(row.after > row.before, bool(row.accepted)) for row in rows]
    out: list[Artist] = [
        style.in_key(f"{_kind(*kind)} ({kinds.count(kind)})", **_look(*kind, style.DARK, 5.5)) for kind in _KINDS
    ]
    heard = "" if robots is None else " (changed without a mark: heard from another robot)"
    out.append(style.in_key(f"number of components{heard}", color=style.DARK, linewidth=1.5))
    if number is not None:
        out.append(style.in_key(f"true number of components, {number}", **_TRUE))
    return out
