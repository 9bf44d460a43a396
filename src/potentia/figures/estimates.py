"""Figures of estimates: means or shares with their 95 % intervals, by a temperature or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.errors import InvalidRun
from potentia.figures.maps import number
from potentia.figures.runs import COLOURS
from potentia.figures.style import LITERAL, in_legend, in_words, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@in_words
def temperature_figure(
    worth: Mapping[float, Any],
    *,
    published: Mapping[str, float] | None = None,
    beside: Mapping[str, Any] | None = None,
    ylabel: str = "covered worth ΣC",
    title: str = "",
) -> Figure:
    """Worth by temperature, logarithmic: ``worth`` maps τ to an estimate with ``mean``, ``low`` and ``high``.

    ``published`` (``mean``, ``low``, ``high``) is a band across; ``beside`` names estimates that have no
    temperature, drawn as lines.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    if not worth:
        raise InvalidRun("must hold at least one temperature, got none", "worth", worth)
    figure = Figure(figsize=(8.6, 4.6), layout="constrained")
    axes = figure.subplots()
    taus = sorted(worth)
    means = np.array([worth[tau].mean for tau in taus])
    ends = _ends([worth[tau] for tau in taus])
    axes.errorbar(
        taus, means, ends, fmt="o-", color=COLOURS[1], capsize=3, markersize=5, label="QL, mean and interval", zorder=3
    )
    for index, (name, entry) in enumerate((beside or {}).items()):
        colour = COLOURS[(0, 2, 3)[index % 3]]
        axes.axhline(
            entry.mean, color=colour, linestyle="--", label=in_legend(f"{name}: {number(entry.mean)}"), gid=name
        )
        if np.isfinite(entry.low):
            axes.axhspan(entry.low, entry.high, color=colour, alpha=0.12, linewidth=0)
    if published is not None:
        mean, low, high = (float(published[part]) for part in ("mean", "low", "high"))
        label = f"published for QL: {number(mean)} ({number(low)} to {number(high)})"
        axes.axhspan(low, high, color="0.5", alpha=0.15, linewidth=0)
        axes.axhline(mean, color="0.35", linestyle=":", label=label, gid="published")
    axes.set_xscale("log")
    axes.set_xticks(taus, [f"{tau:g}" for tau in taus])
    axes.xaxis.set_minor_locator(NullLocator())
    if len(taus) > 6:
        axes.tick_params(axis="x", labelrotation=45)
    axes.set_ylim(bottom=0.0)
    axes.margins(y=0.1)
    axes.set_xlabel("temperature τ of QL, logarithmic")
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


@in_words
def shares_figure(groups: Mapping[str, Mapping[str, Any]], *, xlabel: str = "share", title: str = "") -> Figure:
    """Shares from 0 to 1 by name, a block for each group: estimates with intervals, or bare numbers."""
    from matplotlib.figure import Figure

    if not any(groups.values()):
        raise InvalidRun("must hold at least one share, got none", "groups", groups)
    named: Sequence[tuple[str, Mapping[str, Any]]] = [(name, rows) for name, rows in groups.items() if rows]
    lines = sum(len(rows) for _, rows in named)
    figure = Figure(figsize=(9.6, 1.3 + 0.3 * lines + 0.45 * len(named)), layout="constrained")
    heights = [len(rows) + 0.6 for _, rows in named]
    grid = figure.subplots(len(named), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, (name, rows) in zip(grid, named, strict=True):
        for place, (label, entry) in enumerate(rows.items()):
            mean = float(getattr(entry, "mean", entry))
            axes.barh(place, mean, height=0.62, color=COLOURS[0], alpha=0.35, gid=f"{name}: {label}")
            ends = _ends([entry]) if hasattr(entry, "low") else None
            axes.errorbar(mean, place, xerr=ends, fmt="o", color=COLOURS[0], markersize=4, capsize=3, clip_on=False)
            axes.annotate(
                f"{mean:.3g}", (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9, clip_on=False
            )
        axes.set_yticks(range(len(rows)), [shown(row) for row in rows], **LITERAL)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0.0, 1.0)
        axes.set_title(name, fontsize=10, loc="left")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", alpha=0.25)
    grid[-1].set_xlabel(xlabel)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _ends(entries: Sequence[Any]) -> Any:
    """What an error bar takes: how far below and above each mean; 0 where there is no interval."""
    low = [entry.mean - entry.low for entry in entries]
    high = [entry.high - entry.mean for entry in entries]
    return np.maximum(np.nan_to_num([low, high]), 0.0)
