"""Figures of runs: scalars over time with a band over seeds."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from potentia.colours import PALETTE
from potentia.errors import InvalidRun
from potentia.figures.style import STYLES, Look, draw_mean, entitle, in_words, label_of, panels
from potentia.kernel.arrays import Floats
from potentia.kernel.recorders import TABLE

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

_ACROSS = 4  # panels in a row


@in_words
def scalar_figure(data: xarray.Dataset, title: str = "") -> Figure:
    """Every scalar of a batch over time, one panel each; time is logarithmic beyond the first rows.

    A run that came to its goal keeps its last value from there on.
    """
    names = [name for name, values in getattr(data, "data_vars", {}).items() if values.dims == ("seed", "time")]
    if not names or "final" not in data:
        raise InvalidRun("must be a batch, as of run_batch, with a scalar such as potential", "data", data)
    names.sort(key=lambda name: list(TABLE).index(name) if name in TABLE else len(TABLE))
    data = data.isel(seed=np.flatnonzero(data.final.values[:, 0] >= 0))
    if "reached" in data:
        data = data.assign({name: data[name].copy(data=carried(data[name].values)) for name in names})
    across, down = min(len(names), _ACROSS), -(-len(names) // _ACROSS)
    figure, grid = panels((5.6 * across, 4.2 * down), down, across)
    for axes in grid.flat[len(names) :]:
        axes.set_axis_off()
    for axes, name, colour in zip(grid.flat, names, itertools.cycle(PALETTE), strict=False):
        skip = int(np.isnan(data[name].values[:, 0]).all())  # nothing was revised before the first step
        draw_mean(axes, data.time[skip:], data[name].values[:, skip:], Look(colour, STYLES[0]))
        if data.sizes["time"] > 20:
            first = float(data.time[1])
            axes.set_xscale("symlog", linthresh=10 * first, linscale=0.5)
            axes.set_xlim(left=0)
        axes.set(xlabel="step n", ylabel=label_of(data[name]))
    seeds = data.sizes["seed"]
    entitle(figure, title + (f" (mean and middle 80 % of {seeds} seeds)" if seeds > 1 else ""))
    return figure


def carried(rows: Floats) -> Floats:
    """Rows (runs, times) in which the last number of a run stands for those that it did not come to."""
    last = np.maximum.accumulate(np.where(np.isnan(rows), 0, np.arange(rows.shape[1])), axis=1)
    return np.take_along_axis(rows, last, axis=1)
