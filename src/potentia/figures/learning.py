"""How beliefs get better over time, and how mixtures came to their number of components."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.beliefs import Proposal
from potentia.beliefs.learning import AKAIKE_TEMPERATURE
from potentia.errors import InvalidRun
from potentia.figures import maps
from potentia.figures.beliefs import MOST_DRAWN
from potentia.figures.coverage_time import by_seed
from potentia.figures.runs import COLOURS, STYLES
from potentia.figures.style import in_legend, in_words
from potentia.kernel.numbers import is_integer

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
_TRUE: dict[str, Any] = {"color": "black", "linewidth": 1.2, "linestyle": (0, (6, 3))}  # the true number


# Over time --------------------------------------------------------------------------------------------


@in_words
def learning_figure(batches: Mapping[str, xarray.Dataset], *, number: int | None = None, title: str = "") -> Figure:
    """How beliefs get better over time: a panel for each of their recorders that a batch has.

    Lines are means over seeds, bands their 95 % intervals by Student's t, or with fewer than five seeds all of them.
    ``number`` is the true number of components,
    drawn as a line.
    """
    from matplotlib.figure import Figure

    shown = _checked_batches(batches, number)
    columns = min(len(shown), 2)
    rows = math.ceil(len(shown) / columns)
    figure = Figure(figsize=(5.4 * columns + (0.4 if columns > 1 else 2.0), 3.6 * rows + 0.8), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).reshape(-1).tolist()
    legend: dict[str, Artist] = {}
    for axes, measure in zip(grid, shown, strict=False):
        for index, (name, data) in enumerate(batches.items()):
            if _has(data, measure):
                legend.setdefault(name, _draw_mean(axes, data, measure, name, index))
        if measure == "components" and number is not None:
            legend["number"] = axes.axhline(number, label=f"true number of components, {number}", gid="number", **_TRUE)
        _frame(axes, measure, max(float(data.time[-1]) for data in batches.values()))
    for axes in grid[len(shown) :]:
        axes.remove()
    figure.legend(
        handles=list(legend.values()),
        loc="outside lower center",
        ncols=min(3, len(legend)),
        frameon=False,
        fontsize=9.5,
    )
    seeds = max(data.sizes.get("seed", 1) for data in batches.values())
    said = "" if seeds == 1 else ": means over seeds, " + ("least to largest" if seeds < FEW else "95 % intervals")
    figure.suptitle(title or f"What robots believe, over time{said}", fontsize=11)
    return figure


def _has(data: xarray.Dataset, measure: str) -> bool:
    return measure in data and bool(data[measure].notnull().any())


def _check_number(number: Any) -> None:
    if number is not None and (not is_integer(number) or number < 1):
        raise InvalidRun(f"must be the true number of components, at least 1, got {number!r}", "number", number)


def _checked_batches(batches: Mapping[str, xarray.Dataset], number: Any) -> list[str]:
    """Which recorders there are to draw."""
    _check_number(number)
    if not batches:
        raise InvalidRun("must name at least one batch, got none", "batches", batches)
    for name, data in batches.items():
        if not any(_has(data, measure) for measure in LEARNT):
            raise InvalidRun(f'{name}: none of {", ".join(LEARNT)} was recorded; pass record=("belief_error", ...)')
    return [measure for measure in LEARNT if any(_has(data, measure) for data in batches.values())]


def _draw_mean(axes: Axes, data: xarray.Dataset, measure: str, name: str, index: int) -> Artist:
    from scipy import stats

    time, values = by_seed(data, measure)
    colour, style, seeds = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)], len(values)
    mean = values.mean(axis=0)
    label = in_legend(f"{name} ({seeds} seed{'s' * (seeds > 1)})")
    (line,) = axes.plot(time, mean, style, color=colour, linewidth=1.8, label=label, gid=f"mean of {name}", zorder=3)
    if 1 < seeds < FEW:  # too few for an interval: from the least to the largest
        low, high = values.min(axis=0), values.max(axis=0)
    elif seeds > 1:
        half = stats.t.ppf(0.975, seeds - 1) * values.std(axis=0, ddof=1) / math.sqrt(seeds)
        low, high = np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0 if measure in _SHARES else np.inf)
    if seeds > 1:
        look: dict[str, Any] = {"color": colour, "linewidth": 0, "gid": f"band of {name}"}
        axes.fill_between(time, low, high, alpha=0.16, **look)
        for edge in (low, high):  # so that bands of two batches can be told apart in grey
            axes.plot(time, edge, style, color=colour, linewidth=0.6, alpha=0.6)
    return line


def _frame(axes: Axes, measure: str, last: float) -> None:
    """Axes from 0; of a long record, time is logarithmic after the first steps, as most is learnt early."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("step")
    if last > 10 * _EARLY:
        ticks = [0, *(k * 10**decade for decade in range(2, 19) for k in (1, 3) if k * 10**decade <= last)]
        axes.set_xscale("symlog", linthresh=_EARLY, linscale=0.4)
        axes.set_xticks(ticks, [f"{tick:,}" if tick < 10**6 else f"{tick:.0e}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel(f"step (logarithmic above {_EARLY})")
    axes.set_xlim(0, max(last, 1.0))
    axes.set_ylabel(LEARNT[measure])
    axes.margins(y=0.08)
    if measure in _SHARES:
        axes.set_ylim(-0.02, 1.02)
    else:
        axes.set_ylim(bottom=0.0)
    if measure == "components":
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


# The number of components -----------------------------------------------------------------------------


@in_words
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
    from matplotlib.figure import Figure

    rows, minds = _checked_proposals(proposals, robots)
    _check_number(number)
    drawn = min(minds, MOST_DRAWN)
    told = [row for row in rows if row.mind < drawn]
    last = max(row.time for row in rows)
    end = last if steps is None else max(steps, last)
    tall = 2.4 if drawn == 1 else 1.15
    figure = Figure(figsize=(9.6, tall * drawn + 3.8), layout="constrained")
    axes = figure.subplots(drawn + 1, 1, sharex=True, height_ratios=[*[tall] * drawn, 2.6]).tolist()
    size = max(3.0, min(5.5, 600.0 / max(1, len({row.time for row in rows}))))  # of marks, in points
    most = max(max(row.before, row.after) for row in told) if told else 1
    for mind in range(drawn):
        _draw_numbers(axes[mind], [row for row in told if row.mind == mind], mind, end, number, size)
        axes[mind].set_ylabel("components" if robots is None else f"robot {mind}")
        axes[mind].set_ylim(0.4, max(most, number or 0) + 0.6)
        axes[mind].set_yticks(range(1, max(most, number or 0) + 1, max(1, most // 5)))
    _draw_changes(axes[-1], told, size)
    axes[-1].set_xlim(0, 1.01 * end)
    axes[-1].set_xlabel("step")
    figure.legend(
        handles=_proposal_legend(rows, robots, number), loc="outside lower center", ncols=3, frameon=False, fontsize=9
    )
    left_out = f"; drawn: robots 0 to {MOST_DRAWN - 1} of {minds}" if minds > MOST_DRAWN else ""
    of = "" if robots is None else " of each robot"
    figure.suptitle((title or f"Number of components{of}, and proposals to change it") + left_out, fontsize=11)
    return figure


def _checked_proposals(proposals: Any, robots: int | None) -> tuple[list[Proposal], int]:
    """Proposals by time, and of how many minds."""
    rows = list(proposals)
    if not rows:
        raise InvalidRun(
            "must hold at least one proposal, got none: SplitMerge makes them every aic_every steps",
            "proposals",
            proposals,
        )
    for k, row in enumerate(rows):
        if not isinstance(row, Proposal):
            raise InvalidRun(
                f"must be those of a trace, trace.proposals, got {row!r:.60} as number {k}", "proposals", row
            )
    if robots is not None and (not is_integer(robots) or robots < 1):
        raise InvalidRun(f"must be an integer of at least 1, got {robots!r}", "robots", robots)
    minds, most = 1 if robots is None else int(robots), max(row.mind for row in rows)
    if most >= minds:
        raise InvalidRun(
            f"must be of minds below {minds}, got mind {most}; robots says how many there are", "proposals", proposals
        )
    return rows, minds


def _draw_numbers(axes: Axes, rows: list[Proposal], mind: int, end: int, number: int | None, size: float) -> None:
    """The number as steps, from one decision to the next, and the marks of what was proposed."""
    colour = maps.robot_colour(mind)
    if number is not None:
        axes.axhline(number, zorder=1, gid="number", **_TRUE)
    times: list[int] = []
    values: list[int] = []
    for row in rows:
        times += [row.time, row.time]
        values += [row.before, row.after if row.accepted else row.before]
    axes.plot(
        [*times, end] if times else [],
        [*values, values[-1]] if times else [],
        drawstyle="steps-post",
        color=colour,
        linewidth=1.5,
        zorder=2,
        gid=f"number {mind}",
    )
    _mark(axes, rows, colour, [row.after for row in rows], size)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def _mark(axes: Axes, rows: list[Proposal], colour: str, heights: Sequence[float], size: float) -> None:
    for growing in (True, False):
        for accepted in (True, False):
            chosen = [k for k, row in enumerate(rows) if (row.after > row.before, row.accepted) == (growing, accepted)]
            axes.plot(
                [rows[k].time for k in chosen],
                [heights[k] for k in chosen],
                color=colour,
                zorder=3,
                gid=_kind(growing, accepted),
                **_look(growing, accepted, colour, size),
            )


def _kind(growing: bool, accepted: bool) -> str:
    return f"{'split' if growing else 'merge'} {'accepted' if accepted else 'rejected'}"


def _look(growing: bool, accepted: bool, colour: str, size: float) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": "^" if growing else "v",
        "markersize": size,
        "markerfacecolor": colour if accepted else "white",
        "markeredgecolor": "black" if accepted else colour,
        "markeredgewidth": 0.5 if accepted else 1.0,
    }


def _draw_changes(axes: Axes, rows: list[Proposal], size: float) -> None:
    """The AIC of each proposal less that of what was there, and on the right the chance that such a change has."""
    changes = [row.aic_after - row.aic_before for row in rows]
    for mind in sorted({row.mind for row in rows}):
        mine = [k for k, row in enumerate(rows) if row.mind == mind]
        _mark(axes, [rows[k] for k in mine], maps.robot_colour(mind), [changes[k] for k in mine], size)
    axes.axhline(0.0, color="black", linewidth=0.8, zorder=1)
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
    for one in (axes, chance):
        one.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def _proposal_legend(rows: list[Proposal], robots: int | None, number: int | None) -> list[Artist]:
    """By columns of two."""
    from matplotlib.lines import Line2D

    kinds = [(row.after > row.before, bool(row.accepted)) for row in rows]
    out: list[Artist] = [
        Line2D([], [], label=f"{_kind(*kind)} ({kinds.count(kind)})", **_look(*kind, "0.4", 5.5))
        for kind in ((True, True), (True, False), (False, True), (False, False))
    ]
    heard = "" if robots is None else " (changed without a mark: heard from another robot)"
    out.append(Line2D([], [], color="0.4", linewidth=1.5, label=f"number of components{heard}"))
    if number is not None:
        out.append(Line2D([], [], label=f"true number of components, {number}", **_TRUE))
    return out
