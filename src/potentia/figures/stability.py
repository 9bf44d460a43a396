"""Figures of the exact analysis: least-resistance trees (paper, Fig. 1) and laws against the temperature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.figures.runs import COLOURS, STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from potentia.analysis import Stability
    from potentia.analysis.stability import Tree

_MOST_LABELLED = 40
_MOST_DRAWN = 300


def stability_figure(
    result: Stability, root: Sequence[int] | None, taus: Sequence[float], laws: NDArray[np.float64], title: str
) -> Figure:
    """A least-resistance tree beside the stationary law at each temperature, its limit at the left edge."""
    from matplotlib.figure import Figure

    count = result.limit.size
    chosen = np.asarray(result.states[int(result.limit.argmax())] if root is None else root)
    wide = max(4.0, 0.5 * min(count, _MOST_LABELLED))
    panels = 2 if len(taus) else 1
    figure = Figure(figsize=(wide + 6.4 * (panels - 1), 6.0), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False, width_ratios=[wide, 6.4][:panels])[0]
    figure.suptitle(title)
    if count <= _MOST_DRAWN:
        tree_axes(axes[0], result, result.tree(chosen))
    else:
        _sorted_axes(axes[0], result)
    if len(taus):
        law_axes(axes[1], result, taus, laws)
    return figure


def _name(result: Stability, state: int) -> str:
    profile = result.states[state]
    return ("" if profile.max() < 10 else " ").join(str(a) for a in profile)


def tree_axes(axes: Axes, result: Stability, tree: Tree) -> None:
    """The tree with its root on top; edges carry their resistance, stable states are filled."""
    children: dict[int, list[int]] = {}
    for child in np.flatnonzero(tree.parent >= 0).tolist():
        children.setdefault(int(tree.parent[child]), []).append(child)
    place: dict[int, tuple[float, float]] = {}
    _lay_out(tree.root, children, place)
    labelled = len(place) <= _MOST_LABELLED
    for state, (x, y) in place.items():
        if state != tree.root:
            to = place[int(tree.parent[state])]
            free = tree.resistance[state] < 1e-9
            axes.plot([x, to[0]], [y, to[1]], color="0.6" if free else COLOURS[1], linewidth=1.0, zorder=1)
            if labelled and not free:
                axes.annotate(
                    f"{tree.resistance[state]:.3g}",
                    ((x + to[0]) / 2, (y + to[1]) / 2),
                    fontsize=8,
                    color=COLOURS[1],
                    ha="center",
                    va="center",
                    bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
                )
    for state, (x, y) in place.items():
        stable = bool(result.stable[state])
        if labelled:
            box = {"boxstyle": "round,pad=0.3", "facecolor": COLOURS[0] if stable else "white", "edgecolor": "0.3"}
            axes.annotate(
                _name(result, state), (x, y), ha="center", va="center", fontsize=9, bbox=box,
                color="white" if stable else "black", zorder=3,
            )  # fmt: skip
        else:
            axes.plot(x, y, "o", color=COLOURS[0] if stable else "0.7", markersize=5 if stable else 3, zorder=3)
    depth = -min(y for _, y in place.values())
    axes.set_xlim(-0.8, max(x for x, _ in place.values()) + 0.8)
    axes.set_ylim(-depth - 0.6, 0.6)
    axes.axis("off")
    axes.set_title(
        f"Least-resistance tree to {_name(result, tree.root)}: total {tree.total:.4g}\n"
        "stable profiles filled; grey edges cost nothing",
        fontsize=10,
    )


def _lay_out(root: int, children: dict[int, list[int]], place: dict[int, tuple[float, float]]) -> None:
    """Leaves side by side, a parent above the middle of its children."""
    order: list[tuple[int, int]] = []
    waiting = [(root, 0)]
    while waiting:
        state, depth = waiting.pop()
        order.append((state, depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(state, []))]
    column = 0
    for state, depth in reversed(order):  # leaves right to left, parents after their children
        below = [place[child][0] for child in children.get(state, [])]
        if below:
            place[state] = (sum(below) / len(below), -float(depth))
        else:
            place[state] = (float(column), -float(depth))
            column += 1


def _sorted_axes(axes: Axes, result: Stability) -> None:
    """Too many states for a tree: what each costs."""
    finite = np.sort(result.stochastic_potential[np.isfinite(result.stochastic_potential)])
    axes.step(np.arange(1, finite.size + 1), finite - finite[0], where="mid", color=COLOURS[0])
    axes.set_xscale("log")
    axes.set_xlabel(f"profiles, the cheapest first ({finite.size:,} are too many for a tree)")
    axes.set_ylabel("stochastic potential above the least")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def law_axes(axes: Axes, result: Stability, taus: Sequence[float], laws: NDArray[np.float64]) -> None:
    """Share of the long run of the most visited profiles against τ; dots at the left are the limits."""
    weight = np.maximum(laws.max(axis=0), result.limit)
    shown: Any = np.argsort(-weight, kind="stable")[: len(COLOURS)]
    edge = min(taus) / 1.6
    for k, state in enumerate(shown):
        colour = COLOURS[k]
        axes.plot(taus, laws[:, state], STYLES[k % len(STYLES)], color=colour, label=_name(result, int(state)))
        axes.plot(edge, result.limit[state], "o", color=colour, clip_on=False)
    if len(shown) < result.limit.size:
        rest = 1.0 - laws[:, shown].sum(axis=1)
        axes.plot(taus, rest, color="0.7", label="all others")
        axes.plot(edge, 1.0 - result.limit[shown].sum(), "o", color="0.7", clip_on=False)
    axes.set_xscale("log")
    axes.set_xlabel("temperature τ (dots: the limit τ → 0)")
    axes.set_ylabel("share of the long run")
    axes.set_ylim(-0.02, 1.02)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=9, title="profile")
