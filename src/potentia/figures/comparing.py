"""Figure of a comparison of rules on one map: what they cover against how far they drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.errors import InvalidRun
from potentia.figures import style
from potentia.figures.maps import number
from potentia.statistics.estimates import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = "os^DvP*X"
_CROSSES = "+x12|"  # as asked, and at other costs


@style.in_words
def comparison_figure(advice: Any, *, optimum: float | None = None, title: str = "") -> Figure:
    """Covered worth against distance driven: every candidate, and the one that is taken at other costs of moving.

    Filled marks are of the runs that judge, with 95 % intervals; hollow ones of the runs that only look, which are few.
    Crosses on one line are of the one that is taken on the same few seeds, as asked and at other costs of moving.

    Parameters
    ----------
    advice : Advice
        What ``pt.studies.comparing.compare`` returns.
    optimum : float, optional
        A line at this worth: the best there is.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> from potentia.studies.comparing import compare
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> rules = {name: pt.rule(name, tau=0.05) for name in ("blll", "lll")}
    >>> advice = compare(game, rules, steps=10, budget=240, costs=False)
    >>> figure = pt.figures.comparison_figure(advice, optimum=6.0)
    >>> figure.axes[0].get_ylabel()
    'covered worth at the end (union)'
    """
    if not advice.looked:
        raise InvalidRun("must hold at least one candidate, got none", "advice", advice)
    figure, ((axes,),) = style.panels((9.0, 5.6))
    looks = style.scale(list(advice.looked))
    for k, (name, played) in enumerate(advice.looked.items()):
        shown = advice.judged.get(name, played)
        worth, far = estimate(shown.worth), float(shown.distance.mean())
        judged = name in advice.judged
        ends = [[worth.mean - worth.low], [worth.high - worth.mean]] if judged and np.isfinite(worth.low) else None
        colour = looks[name].colour
        mark: dict[str, Any] = {"fmt": _MARKS[k % len(_MARKS)], "color": colour, "capsize": 3, "markersize": 7}
        label = style.in_legend(_label(name, shown) + (" (taken)" if name == advice.taken else ""))
        axes.errorbar(far, worth.mean, ends, mfc=colour if judged else "none", label=label, gid=name, **mark)
    if advice.costs:
        _draw_costs(axes, advice)
    if optimum is not None:
        axes.axhline(optimum, color=style.GREY, linestyle="--", label="bound on the optimum")
    axes.set(xlabel=f"distance driven by all robots, {advice.unit}", ylabel="covered worth at the end (union)")
    style.despine(axes)
    style.legend_below(figure, axes.get_legend_handles_labels()[0], 2)
    style.entitle(figure, title or "Worth against distance driven")
    return figure


def _draw_costs(axes: Axes, advice: Any) -> None:
    """Crosses on a line: the same seeds at other costs of moving, which compare with each other and with no mark."""
    told = {"as asked": (advice.as_asked, number(float(advice.as_asked.worth.mean())))}
    for K, played in advice.costs.items():
        told[f"at K = {number(K)}"] = (played, f"{advice.cost_margins[K]} more")
    places = [(float(played.distance.mean()), float(played.worth.mean())) for played, _ in told.values()]
    axes.plot(*zip(*sorted(places), strict=True), color=style.GREY, linewidth=0.8, linestyle=":", gid="same seeds")
    for k, (place, (name, (played, words))) in enumerate(zip(places, told.items(), strict=True)):
        label = style.in_legend(f"taken, {name}: {words}, {'same ' * (k > 0)}{played.worth.size} runs")
        cross: dict[str, Any] = {"fmt": _CROSSES[k % len(_CROSSES)], "color": style.DARK, "markersize": 9}
        axes.errorbar(*place, label=label, gid=name, **cross)


def _label(name: str, played: Any) -> str:
    return f"{name}: {number(float(played.worth.mean()))}, {played.worth.size} runs"
