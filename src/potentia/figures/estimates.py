"""Figures of estimates: means or shares with their 95 % intervals, by a temperature or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.colours import PALETTE, rule_in
from potentia.errors import InvalidRun
from potentia.figures import style
from potentia.figures.maps import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style.in_words
def temperature_figure(
    worth: Mapping[float, Any],
    *,
    published: Mapping[str, float] | None = None,
    beside: Mapping[str, Any] | None = None,
    ylabel: str = "covered worth ΣC",
    title: str = "",
) -> Figure:
    """Worth by temperature, logarithmic, with 95 % intervals.

    Parameters
    ----------
    worth : dict
        An estimate for each τ, with ``mean``, ``low`` and ``high``.
    published : dict, optional
        ``mean``, ``low`` and ``high`` of a band across.
    beside : dict, optional
        Estimates by name that have no temperature: lines.
    ylabel : str
        What is estimated.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> worth = {tau: pt.statistics.estimate([tau, 2 * tau, 3 * tau]) for tau in (0.1, 0.2, 0.4)}
    >>> figure = pt.figures.temperature_figure(worth, published={"mean": 0.5, "low": 0.3, "high": 0.8})
    >>> figure.axes[0].get_xlabel()
    'temperature τ of QL, logarithmic'
    """
    from matplotlib.ticker import NullLocator

    if not worth:
        raise InvalidRun("must hold at least one temperature, got none", "worth", worth)
    figure, ((axes,),) = style.panels((8.6, 4.6))
    taus = sorted(worth)
    found = [worth[tau] for tau in taus]
    looks = style.looks(["QL", *(beside or {})])
    bar: dict[str, Any] = {"fmt": "o-", "capsize": 3, "markersize": 5, "color": looks["QL"].colour, "zorder": 3}
    axes.errorbar(taus, [entry.mean for entry in found], _ends(found), label="QL, mean and interval", **bar)
    for name, entry in (beside or {}).items():
        label, colour = style.in_legend(f"{name}: {number(entry.mean)}"), looks[name].colour
        axes.axhline(entry.mean, color=colour, linestyle="--", label=label, gid=name)
        if np.isfinite(entry.low):
            axes.axhspan(entry.low, entry.high, color=colour, alpha=0.12, linewidth=0)
    if published is not None:
        mean, low, high = (float(published[part]) for part in ("mean", "low", "high"))
        label = f"published for QL: {number(mean)} ({number(low)} to {number(high)})"
        axes.axhspan(low, high, color=style.GREY, alpha=0.15, linewidth=0)
        axes.axhline(mean, color=style.DARK, linestyle=":", label=label, gid="published")
    axes.set_xscale("log")
    axes.set_xticks(taus, [f"{tau:g}" for tau in taus])
    axes.xaxis.set_minor_locator(NullLocator())
    if len(taus) > 6:
        axes.tick_params(axis="x", labelrotation=45)
    axes.set_ylim(bottom=0.0)
    axes.margins(y=0.1)
    axes.set(xlabel="temperature τ of QL, logarithmic", ylabel=ylabel)
    style.entitle(figure, title)
    style.legend_below(figure, axes.get_legend_handles_labels()[0])
    return figure


@style.in_words
def shares_figure(groups: Mapping[str, Mapping[str, Any]], *, xlabel: str = "share", title: str = "") -> Figure:
    """Shares from 0 to 1 by name, a block for each group: estimates with intervals, or bare numbers.

    Parameters
    ----------
    groups : dict of dict
        By the name of a group and that of a row: an estimate with ``mean``, ``low`` and ``high``, or a number.
    xlabel : str
        What the shares are of.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> figure = pt.figures.shares_figure({"runs that arrive": {"LLL": 0.5, "BLLL": 0.75}})
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['runs that arrive']
    """
    if not any(groups.values()):
        raise InvalidRun("must hold at least one share, got none", "groups", groups)
    named = {name: rows for name, rows in groups.items() if rows}
    looks = style.looks(label for rows in named.values() for label in rows)
    alike = not any(map(rule_in, looks))  # names that say nothing of a rule have one colour
    lines = sum(map(len, named.values()))
    heights = [len(rows) + 0.6 for rows in named.values()]
    size = 9.6, 1.3 + 0.3 * lines + 0.45 * len(named)
    figure, grid = style.panels(size, len(named), sharex=True, height_ratios=heights)
    for axes, (name, rows) in zip(grid.flat, named.items(), strict=True):
        for place, (label, entry) in enumerate(rows.items()):
            mean = float(getattr(entry, "mean", entry))
            colour = PALETTE[0] if alike else looks[label].colour
            axes.barh(place, mean, height=0.62, color=colour, alpha=0.35, gid=f"{name}: {label}")
            ends = _ends([entry]) if hasattr(entry, "low") else None
            axes.errorbar(mean, place, xerr=ends, fmt="o", color=colour, markersize=4, capsize=3, clip_on=False)
            beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": style.WORDS}
            axes.annotate(f"{mean:.3g}", (1.02, place), clip_on=False, **beside)
        axes.set_yticks(range(len(rows)), [style.shown(row) for row in rows], **style.LITERAL)
        axes.set(xlim=(0.0, 1.0), ylim=(len(rows) - 0.4, -0.6))
        axes.set_title(name, fontsize=style.TITLE, loc="left")
        axes.tick_params(axis="y", length=0)
        style.despine(axes, "left", grid="x")
    grid[-1, 0].set_xlabel(xlabel)
    style.entitle(figure, title)
    return figure


def _ends(entries: Sequence[Any]) -> Any:
    """What an error bar takes: how far below and above each mean; 0 where there is no interval."""
    low = [entry.mean - entry.low for entry in entries]
    high = [entry.high - entry.mean for entry in entries]
    return np.maximum(np.nan_to_num([low, high]), 0.0)
