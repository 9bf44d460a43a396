"""Figures of runs: scalars over time with a band over seeds.

Colours are the Okabe-Ito palette, which colour-blind readers can tell apart; where several lines share a panel,
every line also has its own style.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.figures.style import in_words

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":")


def _new(columns: int, width: float, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.25)
    return figure, list(axes)


def _band(axes: Axes, time: Any, values: NDArray[np.float64], colour: str) -> None:
    """The mean over seeds, and the middle 80 % of them."""
    axes.plot(time, np.nanmean(values, axis=0), color=colour, linewidth=1.8)
    if len(values) > 1:
        low, high = np.nanquantile(values, [0.1, 0.9], axis=0)
        axes.fill_between(time, low, high, color=colour, alpha=0.15, linewidth=0)


@in_words
def scalar_figure(data: xarray.Dataset, title: str) -> Figure:
    """Every scalar of a batch over time, one panel each; time is logarithmic beyond the first rows."""
    data = data.isel(seed=np.flatnonzero(data.final.values[:, 0] >= 0))
    names = [name for name in ("potential", "welfare", "acceptance") if name in data]
    labels = {"potential": "potential Φ", "welfare": "welfare Σu", "acceptance": "accepted share of revisions"}
    figure, axes = _new(len(names), width=5.6)
    for index, (one, name) in enumerate(zip(axes, names, strict=True)):
        skip = 1 if name == "acceptance" else 0  # nothing was revised before the first step
        _band(one, data.time[skip:], data[name].values[:, skip:], COLOURS[index])
        if data.sizes["time"] > 20:
            first = float(data.time[1])
            one.set_xscale("symlog", linthresh=10 * first, linscale=0.5)
            one.set_xlim(left=0)
        one.set_xlabel("step n")
        one.set_ylabel(labels[name])
    seeds = data.sizes["seed"]
    figure.suptitle(title + (f" (mean and middle 80 % of {seeds} seeds)" if seeds > 1 else ""))
    return figure
