"""Covered worth over time (paper, Fig. 5): mean and band over seeds, the optimum and the published numbers.

The paper's covered worth is Σ C^i, ``worth_sum``, in which what two robots cover counts twice. The optimum is
that of the worth covered at least once, ``worth_union``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidRun
from potentia.figures.maps import number
from potentia.figures.runs import COLOURS, STYLES
from potentia.figures.style import in_legend, in_words
from potentia.kernel.numbers import is_integer, is_real

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEASURES = {
    "worth_union": "covered worth (union: each cell once)",
    "worth_sum": "covered worth (sum: a cell counts once per robot)",
}
BANDS = {"range": "least to largest of", "middle": "middle 80 % of"}
_MOST_ROWS = 5000  # a band of more corners cannot be filled, nor seen
_MOST_MEANS = 600  # of moving averages, which change little from one row to the next
_MARKERS = ("o", "s", "D", "^", "v", "P")


@in_words
def worth_figure(
    datasets: Mapping[str, xarray.Dataset],
    *,
    optimum: Any = None,
    published: Mapping[str, Mapping[str, float]] | None = None,
    measure: str = "worth_union",
    band: str = "range",
    smooth: int | None = None,
    title: str = "",
) -> Figure:
    """The covered worth of each named batch over time.

    ``optimum``
        the result of the optimum search (with ``value``, ``bound`` and ``proven``), or a number.
    ``published``
        entries with ``mean``, ``low`` and ``high``, drawn at the right edge; one whose name a batch's name begins
        with has its colour.
    ``band``
        "range", least to largest over seeds, as the paper's bound; or "middle", the middle 80 %.
    ``smooth``
        the length in steps of a moving average, taken of each seed. Left out, nothing is smoothed.
    """
    from matplotlib.figure import Figure

    _check(datasets, measure, band, smooth)
    figure = Figure(figsize=(9.6, 5.0), layout="constrained")
    axes = figure.subplots()
    last = 1.0
    for index, (name, data) in enumerate(datasets.items()):
        time, values = by_seed(data, measure, smooth)
        last = max(last, float(time[-1]))
        _draw_batch(axes, time, values, name, index, band)
    if optimum is not None:
        _draw_optimum(axes, optimum, measure)
    if published:
        _draw_published(axes, published, list(datasets), last, measure)
    else:
        axes.set_xlim(0, last)
    axes.set_ylim(bottom=0.0)
    axes.margins(y=0.08)
    axes.set_xlabel("step")
    axes.set_ylabel(MEASURES[measure] + (f",\nmoving average over {smooth} steps" if smooth else ""))
    played = {str(data.attrs["game"]) for data in datasets.values() if "game" in data.attrs}
    on = f"\n{played.pop()}" if len(played) == 1 else ""
    axes.set_title(title or f"Covered worth over time{on}", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9.5)
    return figure


def _check(datasets: Mapping[str, xarray.Dataset], measure: str, band: str, smooth: int | None) -> None:
    if measure not in MEASURES:
        raise InvalidRun(f"must be one of {', '.join(MEASURES)}, got {measure!r}", "measure", measure)
    if band not in BANDS:
        raise InvalidRun(f"must be one of {', '.join(BANDS)}, got {band!r}", "band", band)
    if smooth is not None and (not is_integer(smooth) or smooth < 1):
        raise InvalidRun(f"must be a number of steps, at least 1, got {smooth!r}", "smooth", smooth)
    if not datasets:
        raise InvalidRun("must name at least one batch, got none", "datasets", datasets)
    for name, data in datasets.items():
        if measure not in data:
            raise InvalidRun(f'{name}: {measure} was not recorded; pass record=("{measure}", ...)')


def by_seed(
    data: xarray.Dataset, measure: str, smooth: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, and values by seed and time. Runs cut short are left out, so that the mean is always of the same seeds."""
    values = np.atleast_2d(data[measure].transpose(..., "time").values)
    time = np.asarray(data.time.values, np.float64)
    whole = ~np.isnan(values).any(axis=1)
    if whole.any():
        values = values[whole]
    else:  # none was finished: as far as all came
        reached = ~np.isnan(values).any(axis=0)
        time, values = time[reached], values[:, reached]
    if time.size == 0:
        raise InvalidRun(f"{measure} must hold at least one row, got none")
    most = _MOST_ROWS
    if smooth and time.size > 1:
        rows_of_mean = max(1, round(smooth / (time[1] - time[0])))
        values = _moving(values, rows_of_mean)
        # at least four rows for each window that is averaged over
        most = min(_MOST_ROWS, max(_MOST_MEANS, 4 * time.size // rows_of_mean))
    if time.size > most:
        rows = np.unique(np.linspace(0, time.size - 1, most).round().astype(int))
        time, values = time[rows], values[:, rows]
    return time, values


def _moving(values: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """The mean of the last ``rows`` rows, of all so far at the beginning."""
    total = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    upper = np.arange(1, values.shape[1] + 1)
    lower = np.maximum(upper - rows, 0)
    out: NDArray[np.float64] = (total[:, upper] - total[:, lower]) / (upper - lower)
    return out


def _draw_batch(
    axes: Axes, time: NDArray[np.float64], values: NDArray[np.float64], name: str, index: int, band: str
) -> None:
    colour, style = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)]
    seeds = len(values)
    mean = values.mean(axis=0)
    end = number(float(mean[-1]))
    label = f"{name}\nmean of {seeds} seeds, at the end {end}" if seeds > 1 else f"{name}\n1 seed, at the end {end}"
    axes.plot(time, mean, style, color=colour, linewidth=2.0, label=in_legend(label), zorder=3)
    if seeds > 1:
        low, high = (
            (values.min(axis=0), values.max(axis=0)) if band == "range" else np.quantile(values, [0.1, 0.9], axis=0)
        )
        look: dict[str, Any] = {"color": colour, "linewidth": 0}
        axes.fill_between(time, low, high, alpha=0.16, label=f"{BANDS[band]} {seeds} seeds", **look)
        for edge in (low, high):  # so that bands of two batches can be told apart in grey
            axes.plot(time, edge, style, color=colour, linewidth=0.6, alpha=0.6)


def _draw_optimum(axes: Axes, optimum: Any, measure: str) -> None:
    """A dashed line; if it is not proven, the bound as a dotted one above it."""
    given = is_real(optimum)
    value = float(optimum if given else optimum.value)
    proven = True if given else bool(optimum.proven)
    of = "" if measure == "worth_union" else " of the union"
    label = f"{'optimum' if given else 'certified optimum' if proven else 'best known'}{of} {number(value)}"
    axes.axhline(value, color="black", linewidth=1.3, linestyle=(0, (6, 3)), label=label, gid="optimum")
    if not proven and np.isfinite(optimum.bound):
        bound = float(optimum.bound)
        label = f"upper bound{of} {number(bound)}"
        axes.axhline(bound, color="black", linewidth=1.1, linestyle=":", label=label, gid="bound")


def _draw_published(
    axes: Axes, published: Mapping[str, Mapping[str, float]], names: list[str], last: float, measure: str
) -> None:
    """Mean, least and largest of each entry as an error bar, side by side beyond the last step."""
    of = "" if measure == "worth_sum" else " (sum)"
    for k, (key, entry) in enumerate(published.items()):
        mine = [index for index, name in enumerate(names) if name.lower().startswith(key.lower())]
        colour = COLOURS[mine[0] % len(COLOURS)] if mine else "0.35"
        mean, low, high = (float(entry[part]) for part in ("mean", "low", "high"))
        told = f"{number(mean)} ({number(low)} to {number(high)}" + (
            f", {entry['runs']} runs)" if "runs" in entry else ")"
        )
        name = key.replace("_", " ") if "_" in key else key.upper()
        axes.errorbar(
            last * (1.025 + 0.03 * k),
            mean,
            [[mean - low], [high - mean]],
            marker=_MARKERS[k % len(_MARKERS)],
            markersize=7,
            markeredgecolor="black",
            color=colour,
            capsize=4,
            linestyle="none",
            label=f"published {name}{of}\n{told}",
            gid=f"published {key}",
            zorder=4,
        )
    axes.set_xlim(0, last * (1.02 + 0.03 * len(published)))
    axes.axvline(last, color="0.6", linewidth=0.8)
