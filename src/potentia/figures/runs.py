"""Figures of runs: scalars over time with a band over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from potentia.figures.style import COLOURS, STYLES, Look, draw_mean, entitle, in_words, panels

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

_NAMES = {"potential": "potential Φ", "welfare": "welfare Σu", "acceptance": "accepted share of revisions"}


@in_words
def scalar_figure(data: xarray.Dataset, title: str = "") -> Figure:
    """Every scalar of a batch over time, one panel each; time is logarithmic beyond the first rows."""
    data = data.isel(seed=np.flatnonzero(data.final.values[:, 0] >= 0))
    names = [name for name in _NAMES if name in data]
    figure, grid = panels((5.6 * len(names), 4.2), 1, len(names))
    for axes, name, colour in zip(grid.flat, names, COLOURS, strict=False):
        skip = 1 if name == "acceptance" else 0  # nothing was revised before the first step
        draw_mean(axes, data.time[skip:], data[name].values[:, skip:], Look(colour, STYLES[0]))
        if data.sizes["time"] > 20:
            first = float(data.time[1])
            axes.set_xscale("symlog", linthresh=10 * first, linscale=0.5)
            axes.set_xlim(left=0)
        axes.set(xlabel="step n", ylabel=_NAMES[name])
    seeds = data.sizes["seed"]
    entitle(figure, title + (f" (mean and middle 80 % of {seeds} seeds)" if seeds > 1 else ""))
    return figure
