"""Figures of runs: scalars over time with a band over seeds, and time spent against an exact law.

Colours are the Okabe-Ito palette, which colour-blind readers can tell apart; every line also has its
own style.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":")


def _new(columns: int, width: float = 6.4, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.25)
    return figure, list(axes)


def _band(axes: Axes, time: Any, values: NDArray[np.float64], label: str, index: int) -> None:
    """The mean over seeds, and the middle 80 % of them."""
    colour, style = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)] if label else "-"
    axes.plot(time, np.nanmean(values, axis=0), style, color=colour, label=label, linewidth=1.8)
    if len(values) > 1:
        low, high = np.nanquantile(values, [0.1, 0.9], axis=0)
        axes.fill_between(time, low, high, color=colour, alpha=0.15, linewidth=0)


def potential_figure(panels: Sequence[tuple[str, float, Mapping[str, xarray.Dataset]]]) -> Figure:
    """Potential over time, one panel per (title, largest potential, dataset per rule)."""
    figure, axes = _new(len(panels))
    for one, (title, maximum, datasets) in zip(axes, panels, strict=True):
        for index, (name, data) in enumerate(datasets.items()):
            _band(one, data.time, data.potential.values, name, index)
        one.axhline(maximum, color="black", linewidth=0.9)
        one.annotate("largest potential", (0.02, maximum), xycoords=("axes fraction", "data"), va="bottom")
        one.set_title(title)
        one.set_xscale("symlog", linthresh=10)
        one.set_xlim(left=0)
        one.set_xlabel("step n (logarithmic above 10)")
        one.set_ylabel("potential Φ (mean and middle 80 % of seeds)")
        one.margins(y=0.08)
        one.legend(loc="lower right", frameon=False)
    return figure


def law_figure(title: str, labels: Sequence[str], law: NDArray[np.float64], shares: Mapping[str, Any]) -> Figure:
    """Time spent in each profile, a group of bars per profile, beside the Gibbs law."""
    figure, (axes,) = _new(1, width=9.6)
    place = np.arange(len(law))
    width = 0.8 / (len(shares) + 1)
    axes.bar(place - 0.4 + width / 2, law, width, color="#333333", label="Gibbs law exp(Φ/τ)")
    for index, (name, share) in enumerate(shares.items(), start=1):
        distance = float(np.abs(share - law).sum() / 2)
        label = f"{name} (distance {distance:.3f})"
        axes.bar(place - 0.4 + (index + 0.5) * width, share, width, color=COLOURS[index - 1], label=label)
    axes.set_xticks(place, labels)
    axes.set_title(title)
    axes.set_xlabel("profile (one action per player)")
    axes.set_ylabel("share of time")
    axes.grid(axis="x", visible=False)
    axes.legend(frameon=False, title="total variation distance from the Gibbs law in brackets")
    return figure


def scalar_figure(data: xarray.Dataset, title: str) -> Figure:
    """Every scalar of a batch over time, one panel each; time is logarithmic beyond the first rows."""
    data = data.isel(seed=np.flatnonzero(data.final.values[:, 0] >= 0))
    names = [name for name in ("potential", "welfare", "acceptance") if name in data]
    labels = {"potential": "potential Φ", "welfare": "welfare Σu", "acceptance": "accepted share of revisions"}
    figure, axes = _new(len(names), width=5.6)
    for index, (one, name) in enumerate(zip(axes, names, strict=True)):
        skip = 1 if name == "acceptance" else 0  # nothing was revised before the first step
        _band(one, data.time[skip:], data[name].values[:, skip:], "", index)
        if data.sizes["time"] > 20:
            first = float(data.time[1])
            one.set_xscale("symlog", linthresh=10 * first, linscale=0.5)
            one.set_xlim(left=0)
        one.set_xlabel("step n")
        one.set_ylabel(labels[name])
    seeds = data.sizes["seed"]
    figure.suptitle(title + (f" (mean and middle 80 % of {seeds} seeds)" if seeds > 1 else ""))
    return figure
