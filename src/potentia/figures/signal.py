"""Figure of Eq. 53 (paper, Fig. 3): when a robot wakes, by the signal it senses and the signal's gradient.

The hill on the left is F(s) = (1 + cos πs)/2 for |s| ≤ 1 and 0 beyond, whose gradient relative to its steepest
is G(s) = |sin πs|. So F = G = 0 on the flat (situation p1), G = 1 half-way up (p2), and F = 1, G = 0 on the
summit (p3): exactly the places where Eq. 53 is a1, a2 and a3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.colours import PALETTE
from potentia.figures import style
from potentia.kernel.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from potentia.rules import SignalRevision

_SITUATIONS = (
    # position on the hill, name, what the robot meets there, constant, where the words stand
    (-1.35, "p1", "nothing here,\nexplore", "a1", -1.3),
    (-0.5, "p2", "on a slope,\nclimb", "a2", -0.5),
    (0.0, "p3", "on a summit,\nrest", "a3", 0.3),
)


_SPOT: dict[str, Any] = {"marker": "o", "markersize": 8, "color": PALETTE[1], "markeredgecolor": style.INK}
_SPOT |= {"linestyle": "none", "clip_on": False, "zorder": 4}
_BELOW: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.13)}


def hill(position: Floats) -> tuple[Floats, Floats]:
    """F and G at positions along the hill."""
    inside = np.abs(position) <= 1
    signal = np.where(inside, 0.5 * (1 + np.cos(np.pi * position)), 0.0)
    gradient = np.where(inside, np.abs(np.sin(np.pi * position)), 0.0)
    return signal, gradient


@style.in_words
def revision_figure(revision: SignalRevision, *, title: str = "") -> Figure:
    """Where on a hill a robot wakes how often, and the whole surface rp(F, G).

    Parameters
    ----------
    revision : SignalRevision
        The constants of Eq. 53.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> figure = pt.figures.revision_figure(pt.rules.SignalRevision())
    >>> figure.axes[1].get_title()
    'rp(F, G): alert where nothing is sensed, calm on a summit'
    """
    figure, ((left, right),) = style.panels((12.4, 5.2), 1, 2, framed=True, width_ratios=[1.15, 1])
    _draw_hill(left, revision)
    _draw_surface(figure, right, revision)
    constants = f"a1 = {revision.a1:g}, a2 = {revision.a2:g}, a3 = {revision.a3:g}"
    style.entitle(figure, title or f"Revision probability by what a robot senses (Eq. 53): {constants}")
    return figure


def _along(revision: SignalRevision, signal: Any, gradient: Any) -> Floats:
    return np.vectorize(revision.probability, otypes=[np.float64])(signal, gradient)


def _draw_hill(axes: Axes, revision: SignalRevision) -> None:
    place = np.linspace(-1.7, 1.7, 681)
    signal, gradient = hill(place)
    axes.fill_between(place, signal, color=style.FAINT, linewidth=0)
    axes.plot(place, signal, color=style.DARK, linewidth=1.6, label="signal F, relative to the largest met")
    axes.plot(place, gradient, ":", color=PALETTE[0], linewidth=1.6, label="gradient G, relative to the steepest met")
    chance = _along(revision, signal, gradient)
    axes.plot(place, chance, "--", color=PALETTE[1], linewidth=2.4, label="revision probability rp(F, G)")
    for where, name, words, constant, beside in _SITUATIONS:
        value = float(_along(revision, *hill(np.array(where))))
        axes.plot(where, value, gid=name, **_SPOT)
        text = f"{name}: {words}\nrp = {constant} = {value:g}"
        pointer = {"arrowstyle": "-", "color": style.DARK, "linewidth": 0.9, "shrinkB": 4}
        look: dict[str, Any] = {"fontsize": style.WORDS, "bbox": style.box(style.GREY, 0.25), "arrowprops": pointer}
        axes.annotate(text, (where, value), (beside, 1.13), ha="center", va="bottom", **look)
    axes.set(xlim=(-1.7, 1.7), ylim=(-0.04, 1.48), yticks=np.linspace(0, 1, 6))
    axes.set_xlabel("position along the hill (1 = from summit to foot)")
    axes.set_ylabel("share of the largest met (F, G), probability (rp)")
    axes.set_title("A hill of signal and three situations on it", fontsize=style.TITLE)
    style.despine(axes)
    style.legend(axes, **_BELOW)


def _draw_surface(figure: Figure, axes: Axes, revision: SignalRevision) -> None:
    from matplotlib.ticker import MaxNLocator

    grid = np.linspace(0, 1, 201)
    chance = _along(revision, *np.meshgrid(grid, grid))
    low, high = revision.a3, revision.a1
    painted: dict[str, Any] = {"cmap": style.FIELD, "vmin": low, "vmax": high, "interpolation": "bilinear"}
    image = axes.imshow(chance, origin="lower", extent=(0, 1, 0, 1), **painted)
    levels = np.array(MaxNLocator(9, steps=[1, 2, 5, 10]).tick_values(low, high))
    levels = levels[(levels > low * 1.001) & (levels < high * 0.999)]
    lines = axes.contour(grid, grid, chance, levels=levels, colors=style.PAPER, linewidths=0.9)
    axes.clabel(lines, fmt="%g", fontsize=style.WORDS, manual=_label_places(revision, levels))
    way = hill(np.linspace(-1, 0, 200))
    axes.plot(*way, color=style.INK, linewidth=1.3, linestyle="-.", label="up the hill on the left")
    for (where, name, _, constant, _), (dx, dy, ha) in zip(
        _SITUATIONS, ((8, 8, "left"), (0, -14, "center"), (-8, 8, "right")), strict=True
    ):
        signal, gradient = hill(np.array(where))
        at = (float(signal), float(gradient))
        axes.plot(*at, gid=name, **_SPOT)
        text = f"{name}: {constant} = {getattr(revision, constant):g}"
        look: dict[str, Any] = {"textcoords": "offset points", "ha": ha, "va": "bottom" if dy > 0 else "top"}
        axes.annotate(text, at, (dx, dy), fontsize=style.WORDS, bbox=style.box(alpha=0.9), zorder=5, **look)
    axes.set(xlabel="signal F, relative to the largest met", ylabel="gradient G, relative to the steepest met")
    axes.set_title("rp(F, G): alert where nothing is sensed, calm on a summit", fontsize=style.TITLE, pad=10)
    style.legend(axes, **_BELOW)
    figure.colorbar(image, ax=axes, label="revision probability rp per step", shrink=0.9)


def _label_places(revision: SignalRevision, levels: Floats) -> list[tuple[float, float]]:
    """A point of each contour, clear of the names in the corners: rp = level solved for F at a given G."""
    places = []
    for level in levels.tolist():
        for gradient in (0.45, 0.3, 0.6, 0.2):
            flat = (level - revision.a2 * gradient) / (1 - gradient)
            signal = np.log(revision.a1 / flat) / revision.drop if flat > 0 else np.inf
            if 0.03 < signal < 0.97:
                places.append((float(signal), gradient))
                break
    return places
