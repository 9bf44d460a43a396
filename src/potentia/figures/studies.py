"""A study over time: a panel for each rule, a line for each setting, with a band over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.colours import PALETTE
from potentia.figures.style import arranged, draw_mean, entitle, in_words, legend, looks, panels, scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = 6  # more are left to programs
_LINES = 8  # more get a scale of colours instead of a legend


@in_words
def study_figure(curves: Sequence[Any], measure: str, title: str = "") -> Figure:
    """One recorder of a study; ``curves`` have labels, values, times and curves (seeds, times).

    The lines of a rule's panel are shades of its colour.
    """
    grouped = _grouped(curves)
    if max(map(len, grouped.values())) > _LINES and len(curves[0].values) > 1:  # a panel for each value of one axis too
        grouped = _grouped(curves, next(iter(curves[0].values)))
    drawn = list(grouped.items())[:_PANELS]
    rows, columns = arranged(len(drawn), 3)
    size = 5.2 * columns + 0.8, 3.8 * rows + 0.5
    figure, grid = panels(size, rows, columns, used=len(drawn), sharex=True, sharey=True)
    for axes, (panel, lines) in zip(grid.flat, drawn, strict=False):
        named = {f"{one.labels.get('rule', '')}: {_name(one.values)}": one for one in lines}
        chosen = looks(named) if len(named) <= len(PALETTE) else scale(list(named))
        for label, one in named.items():
            known = np.isfinite(one.curves).any(axis=0)
            name = _name(one.values) or "mean"
            draw_mean(axes, one.times[known], one.curves[:, known], chosen[label], label=name)
        axes.set(title=panel, xlabel="step n")
        if any(one.values for one in lines):
            handles, _ = axes.get_legend_handles_labels()
            few = len(lines) <= _LINES
            legend(axes, handles if few else [handles[k] for k in (0, len(lines) // 2, -1)])
    for axes in grid[:, 0]:
        axes.set_ylabel(measure)
    seeds = max(one.curves.shape[0] for one in curves)
    more = len(grouped) - len(drawn)
    parts = [title, f"mean and middle 80 % of {seeds} seeds" if seeds > 1 else ""]
    entitle(figure, ": ".join(filter(None, parts)) + (f"; {more} more not drawn" if more else ""))
    return figure


def _grouped(curves: Sequence[Any], axis: str | None = None) -> dict[str, list[Any]]:
    """Curves by the names of their panels: by their labels, and by their value on an axis where one is given."""
    out: dict[str, list[Any]] = {}
    for one in curves:
        parts = [*one.labels.values()] if axis is None else [*one.labels.values(), f"{axis}={one.values.get(axis)}"]
        out.setdefault(", ".join(parts), []).append(one)
    return out


def _name(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in values.items()
    )
