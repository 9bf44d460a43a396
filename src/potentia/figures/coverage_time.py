"""Covered worth over time (paper, Fig. 5): mean and band over seeds, the optimum and the published numbers.

The paper's covered worth is Σ C^i, ``worth_sum``, in which what two robots cover counts twice. The optimum is
that of the worth covered at least once, ``worth_union``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.errors import InvalidRun
from potentia.figures import style
from potentia.figures.maps import number
from potentia.games.coverage_kernel import RECORDERS, WORTH_SUM, WORTH_UNION
from potentia.games.events import Events, events_from
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import Integer, OneOf
from potentia.kernel.numbers import is_real
from potentia.statistics.estimates import moving_mean

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEASURES = {str(row): row.label for row in (RECORDERS[WORTH_UNION], RECORDERS[WORTH_SUM])}
BANDS = {"range": "least to largest of", "middle": "middle 80 % of"}
_MOST_ROWS = 5000  # a band of more corners cannot be filled, nor seen
_MOST_EVENTS = 6  # named in the legend
_MOST_MEANS = 600  # of moving averages, which change little from one row to the next


@style.in_words
def worth_figure(
    datasets: Mapping[str, xarray.Dataset],
    *,
    optimum: Any = None,
    published: Mapping[str, Mapping[str, float]] | None = None,
    measure: str = "worth_union",
    band: str = "range",
    smooth: int | None = None,
    title: str = "",
    events: Iterable[str] | None = None,
) -> Figure:
    """The covered worth of each named batch over time.

    Parameters
    ----------
    datasets : dict of xarray.Dataset
        What :func:`potentia.run_batch` returned, by name, with the measure recorded.
    optimum : Optimum, OptimumOverTime or float, optional
        The result of the optimum search (with ``value``, ``bound`` and ``proven``), or a number: a line.
    published : dict, optional
        Entries with ``mean``, ``low`` and ``high``, drawn at the right edge; one whose name a batch's name begins with
        has its colour.
    measure : str
        ``"worth_union"``, or ``"worth_sum"``, in which what two robots cover counts twice.
    band : str
        "range", least to largest over seeds, as the paper's bound; or "middle", the middle 80 %.
    smooth : int, optional
        The length in steps of a moving average, taken of each seed. Left out, nothing is smoothed: the choice where the
        optimum changes, which is that of the moment.
    title : str
        What stands above the figure.
    events : iterable of str, optional
        What happened to robots, ``game.events``: a line at each time.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> data = pt.run_batch(game, pt.rule("blll", tau=0.05), 20, range(5), record="worth_union")
    >>> figure = pt.figures.worth_figure({"BLLL": data}, optimum=6.0)
    >>> figure.axes[0].get_ylabel()
    'covered worth (union: each cell once)'
    """
    OneOf(*MEASURES).of(measure, "measure", InvalidRun)
    OneOf(*BANDS).of(band, "band", InvalidRun)
    check_batches(datasets, "datasets", [measure], 1 if smooth is None else smooth)
    figure, ((axes,),) = style.panels((9.6, 5.0))
    last = 1.0
    looks = style.looks(datasets)
    for name, data in datasets.items():
        time, values = by_seed(data, measure, smooth)
        last, seeds = max(last, float(time[-1])), len(values)
        said = f"mean of {seeds} seeds" if seeds > 1 else "1 seed"
        when = "at the end" if smooth else "at the last step"
        label = f"{name}\n{said}, {when} {number(float(values[:, -1].mean()))}"
        band_label = f"{BANDS[band]} {seeds} seeds"
        style.draw_mean(axes, time, values, looks[name], band=band, label=label, band_label=band_label)
    if optimum is not None:
        _draw_optimum(axes, optimum, measure)
    _draw_published(axes, published or {}, looks, last, measure)
    draw_events(axes, events_from(events), last)
    axes.set_ylim(bottom=0.0)
    axes.margins(y=0.08)
    axes.set(xlabel="step", ylabel=MEASURES[measure] + (f",\nmoving average over {smooth} steps" if smooth else ""))
    played = {str(data.attrs["game"]) for data in datasets.values() if "game" in data.attrs}
    on = f"\n{played.pop()}" if len(played) == 1 else ""
    style.entitle(axes, title or f"Covered worth over time{on}")
    style.legend(figure, loc="outside right upper")
    return figure


def check_batches(
    batches: Mapping[str, xarray.Dataset], parameter: str, recorders: Sequence[str], smooth: int = 1
) -> None:
    """There is a batch, each has one of the recorders, and ``smooth`` is a number of steps."""
    Integer(least=1).of(smooth, "smooth", InvalidRun)
    if not batches:
        raise InvalidRun("must name at least one batch, got none", parameter, batches)
    for name, data in batches.items():
        if not any(has(data, measure) for measure in recorders):
            those = recorders[0] if len(recorders) == 1 else f"none of {', '.join(recorders)}"
            was = "was not recorded" if len(recorders) == 1 else "was recorded"
            raise InvalidRun(f'{name}: {those} {was}; pass record=("{recorders[0]}", ...)')


def has(data: xarray.Dataset, measure: str) -> bool:
    """Whether a batch knows this recorder's value at any time."""
    return measure in data and bool(data[measure].notnull().any())


def by_seed(data: xarray.Dataset, measure: str, smooth: int | None = None) -> tuple[Floats, Floats]:
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
        values = moving_mean(values, rows_of_mean)
        # at least four rows for each window that is averaged over
        most = min(_MOST_ROWS, max(_MOST_MEANS, 4 * time.size // rows_of_mean))
    if time.size > most:
        rows = np.unique(np.linspace(0, time.size - 1, most).round().astype(int))
        time, values = time[rows], values[:, rows]
    return time, values


def draw_events(axes: Axes, events: Events, last: float) -> None:
    """A dotted line where something happened; of several each has a number above it, up to some in the legend."""
    shown = [time for time in events.times if 0 < time <= last]
    for k, time in enumerate(shown):
        texts = [text for text in events.texts if text.endswith((f"@{time}", f" {time}"))]
        mark = f"({k + 1}) " if len(shown) > 1 else ""
        label = mark + ", ".join(texts) if k < _MOST_EVENTS else None
        axes.axvline(time, color=style.INK, linestyle=":", linewidth=1.2, zorder=1.5, label=label, gid="event")
        if label and mark:
            # they stand beside each other where events are near
            close = sum(0 <= time - other < 0.03 * last for other in shown[:k])
            where: Any = {"xycoords": axes.get_xaxis_transform(), "textcoords": "offset points"}
            look: Any = {"fontsize": style.WORDS, "ha": "right", "va": "top", "bbox": style.box()}
            axes.annotate(mark.strip(), (time, 1.0), (-2, -2 - 13 * close), **where, **look)


def _draw_optimum(axes: Axes, optimum: Any, measure: str) -> None:
    """A dashed line; if it is not proven, the bound as a dotted one above it. Over time, between dots."""
    given = is_real(optimum)
    value = float(optimum if given else getattr(optimum, "value", 0.0))
    proven = True if given else bool(optimum.proven)
    of = "" if measure == "worth_union" else " of the union"
    what = "optimum" if given else "certified optimum" if proven else "best known"
    lines: list[tuple[str, float, str, Any]] = [(what, value, "optimum", style.DASHED)]
    if not proven and np.isfinite(getattr(optimum, "bound", np.inf)):
        lines.append(("upper bound", float(optimum.bound), "bound", ":"))
    if hasattr(optimum, "times"):
        _draw_optima(axes, optimum, f"{what} of the moment{of}")
        return
    for name, height, gid, dashes in lines:
        label = f"{name}{of} {number(height)}"
        axes.axhline(height, color=style.INK, linewidth=1.2, linestyle=dashes, label=label, gid=gid)


def _draw_optima(axes: Axes, optimum: Any, what: str) -> None:
    """What is best at some times; in between, the line only leads the eye."""
    lines: list[tuple[str, Any, str, Any, str]] = [(what, optimum.values, "optimum", style.DASHED, "o")]
    if not optimum.proven:
        lines.append(("upper bound of the moment", optimum.bounds, "bound", ":", "v"))
    for name, heights, gid, dashes, marker in lines:
        look: dict[str, Any] = {"color": style.INK, "linewidth": 1.2, "linestyle": dashes, "marker": marker}
        axes.plot(optimum.times, heights, markersize=4.0, label=name, gid=gid, **look)


def told(entry: Mapping[str, float], runs: bool = False) -> str:
    """A published mean and its bound in words."""
    mean, low, high = (number(float(entry[part])) for part in ("mean", "low", "high"))
    return f"{mean} ({low} to {high}" + (f", {entry['runs']} runs)" if runs and "runs" in entry else ")")


def _draw_published(
    axes: Axes, published: Mapping[str, Mapping[str, float]], looks: Mapping[str, style.Look], last: float, measure: str
) -> None:
    """Mean, least and largest of each entry as an error bar, side by side beyond the last step."""
    of = "" if measure == "worth_sum" else " (sum)"
    axes.set_xlim(0, last * (1.02 + 0.03 * len(published)) if published else last)
    for k, (key, entry) in enumerate(published.items()):
        mine = [looks[name].colour for name in sorted(looks, key=len) if name.lower().startswith(key.lower())]
        name = key.replace("_", " ") if "_" in key else key.upper()
        label, colour = f"published {name}{of}\n{told(entry, runs=True)}", mine[0] if mine else style.DARK
        style.draw_published(axes, last * (1.025 + 0.03 * k), entry, k, colour, label, f"published {key}")
    if published:
        axes.axvline(last, color=style.GREY, linewidth=0.8)
