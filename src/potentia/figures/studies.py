"""A study over time: a panel for each rule, a line for each setting, with a band over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.figures.runs import COLOURS, STYLES
from potentia.figures.style import in_legend, in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = 6  # more are left to programs
_LINES = 8  # more get a scale of colours instead of a legend


@in_words
def study_figure(curves: Sequence[Any], measure: str, title: str) -> Figure:
    """One recorder of a study; ``curves`` have labels, values, times and curves (seeds, times)."""
    from matplotlib.figure import Figure

    panels: dict[str, list[Any]] = {}
    for one in curves:
        panels.setdefault(", ".join(one.labels.values()), []).append(one)
    if max(map(len, panels.values())) > _LINES and len(curves[0].values) > 1:  # a panel for each value of one axis too
        first = next(iter(curves[0].values))
        panels = {}
        for one in curves:
            panels.setdefault(", ".join([*one.labels.values(), f"{first}={one.values.get(first)}"]), []).append(one)
    shown = list(panels.items())[:_PANELS]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(5.2 * columns + 0.8, 3.8 * rows + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    for axes, (label, lines) in zip(grid.flat, shown, strict=False):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        for index, one in enumerate(lines):
            colour, style = _look(index, len(lines))
            name = ", ".join(
                f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in one.values.items()
            )
            known = np.isfinite(one.curves).any(axis=0)
            times, values = one.times[known], one.curves[:, known]
            axes.plot(
                times, np.nanmean(values, axis=0), style, color=colour, label=in_legend(name or "mean"), linewidth=1.7
            )
            if len(values) > 1:
                low, high = np.nanquantile(values, [0.1, 0.9], axis=0)
                axes.fill_between(times, low, high, color=colour, alpha=0.13, linewidth=0)
        axes.set_title(label)
        axes.set_xlabel("step n")
        if any(one.values for one in lines):
            few = len(lines) <= _LINES
            picked = list(range(len(lines))) if few else [0, len(lines) // 2, len(lines) - 1]
            handles, names = axes.get_legend_handles_labels()
            axes.legend([handles[k] for k in picked], [names[k] for k in picked], frameon=False, fontsize="small")
    for axes in grid[:, 0]:
        axes.set_ylabel(measure)
    seeds = max(one.curves.shape[0] for one in curves)
    more = len(panels) - len(shown)
    cut = f"; {more} more not drawn" if more else ""
    figure.suptitle(f"{title}: mean and middle 80 % of {seeds} seeds{cut}" if seeds > 1 else f"{title}{cut}")
    return figure


def _look(index: int, count: int) -> tuple[Any, str]:
    if count <= len(COLOURS):
        return COLOURS[index], STYLES[index % len(STYLES)]
    import matplotlib

    return matplotlib.colormaps["viridis"](0.9 * index / (count - 1)), "-"
