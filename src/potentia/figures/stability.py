"""Figures of the exact analysis: least-resistance trees (paper, Fig. 1) and laws against the temperature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.colours import PALETTE
from potentia.figures import style
from potentia.games.names import action_name, player_name, profile_words, short
from potentia.kernel.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from potentia.analysis import OverRevision, Stability
    from potentia.analysis.stochastic_stability import Tree

MOST_DRAWN = 300
_MOST_LABELLED = 40
_WIDEST, _HIGHEST = 13.0, 11.0  # inches
_ALONG = 0.36  # of an edge from its lower end, where its label stands: nearer to the parent they meet
_CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}


@style.in_words
def stability_figure(
    result: Stability,
    *,
    root: Sequence[int] | None = None,
    taus: Sequence[float] = (),
    laws: Floats | None = None,
    title: str = "",
    mark: float | None = None,
) -> Figure:
    """A least-resistance tree and, beside it, the stationary law at some temperatures.

    Profiles are circles, filled by their share of the long run, and edges say who moves.

    Parameters
    ----------
    result : Stability
        What ``analysis.stability`` returns.
    root : sequence of int, optional
        The profile whose tree is drawn; left out, the most visited one.
    taus : sequence of float
        Temperatures.
    laws : array of float, optional
        The law at each of them, (T, S), from ``analysis.laws_over_tau``.
    title : str
        What stands above the figure.
    mark : float, optional
        A temperature to point out, whose shares are then shown.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game, rule = pt.game("stag-hunt"), pt.rule("lll", tau=0.5)
    >>> taus = [0.1, 0.3, 1.0]
    >>> laws = pt.analysis.laws_over_tau(game, rule, taus)
    >>> figure = pt.figures.stability_figure(pt.analysis.stability(game, rule), taus=taus, laws=laws)
    >>> len(figure.axes)
    2
    """
    chosen = np.asarray(result.states[int(result.limit.argmax())] if root is None else root)
    drawn = result.limit.size <= MOST_DRAWN
    tree = result.tree(chosen) if drawn else None
    wide, high = (5.0, 5.0) if tree is None else _inches(result, tree)
    with_laws = laws is not None and len(taus) > 0
    if not with_laws:
        figure, grid = style.panels((max(wide, 6.0), high))
    elif wide <= 6.5:  # side by side
        figure, grid = style.panels((wide + 6.4, max(high, 5.4)), 1, 2, width_ratios=[wide, 6.4])
    else:
        figure, grid = style.panels((max(wide, 8.0), high + 4.6), 2, height_ratios=[high, 4.6])
    style.entitle(figure, title)
    if tree is None:
        _sorted_axes(grid.flat[0], result)
    else:
        shares, when = result.limit, "as τ → 0"
        if with_laws and laws is not None and mark is not None and laws.shape[1] == shares.size:
            at = int(np.abs(np.log(np.asarray(taus) / mark)).argmin())
            shares, when = laws[at], f"at τ = {taus[at]:.3g}"
        tree_axes(grid.flat[0], result, tree, shares, when)
    if with_laws and laws is not None:
        law_axes(grid.flat[1], result, taus, laws, mark)
    return figure


def _name(result: Stability, state: int) -> str:
    told = _actions(result.game, result.states[state])
    if result.memories is None:
        return told
    kept = [np.ravel(result.memories[state][name]) for name in _whole_fields(result)]
    return "\n".join([told, " ".join("".join(str(int(x)) for x in part) for part in kept)])


def _actions(game: Any, profile: Any) -> str:
    """A profile by its actions, in as little room as it takes: 012, or a name under the other."""
    if game is None or game.action_names is None:
        return ("" if max(profile) < 10 else " ").join(str(a) for a in profile)
    return "\n".join(action_name(game, player, int(a)) for player, a in enumerate(profile))


def _whole_fields(result: Stability) -> list[str]:
    """What is remembered in whole numbers; others say no more, as what was received does beside the action before."""
    return [name for name, part in result.memories[0].items() if np.asarray(part).dtype.kind in "iub"]


def _profile_name(result: Stability, place: int) -> str:
    game = result.game
    assert game is not None
    return _actions(game, [int(a) for a in np.unravel_index(place, game.num_actions)])


def _num_leaves(tree: Tree) -> int:
    return tree.parent.size - np.unique(tree.parent).size + 1


def _radius(result: Stability) -> float:
    """Of a circle around the longest name, in points."""
    own = None if result.game is None else result.game.action_names
    names = _name(result, 0).split("\n") if own is None else [short(name) for names in own for name in names]
    return max(12.0, 3.4 * max(map(len, names)) + 3.0, 0.0 if own is None else 7.0 * len(own))


def _moved(result: Stability, tree: Tree, state: int) -> str:
    """Who plays another action after this edge of the tree, and what the edge costs: 0+1: 2."""
    movers = np.flatnonzero(result.states[state] != result.states[int(tree.parent[state])])
    cost = f"{tree.resistance[state]:.3g}" if tree.resistance[state] > result.tolerance else ""
    named = result.game is not None and result.game.player_names is not None
    told = [player_name(result.game, player) if named else str(player) for player in movers.tolist()]
    return ": ".join(filter(None, ["+".join(told), cost]))


def _inches(result: Stability, tree: Tree) -> tuple[float, float]:
    """What a tree needs for its names and edges to be legible, up to the widest and highest that fit a page."""
    depths = {tree.root: 0}
    for state in range(tree.parent.size):
        way = [state]
        while way[-1] not in depths:
            way.append(int(tree.parent[way[-1]]))
        depths |= {passed: step for step, passed in enumerate(reversed(way[:-1]), depths[way[-1]] + 1)}
    depth = max(depths.values())
    if tree.parent.size > _MOST_LABELLED:
        return min(_WIDEST, max(5.0, 0.2 * _num_leaves(tree))), 5.0
    longest = max((len(_moved(result, tree, k)) for k in depths if k != tree.root), default=0)
    room = max(2 * _radius(result) + 14, (4.6 * longest + 10) / (1 - _ALONG)) / 72
    high = (2 * _radius(result) + 34) / 72 * (depth + 1) + 1.0
    return min(_WIDEST, max(5.0, room * (_num_leaves(tree) + 0.6))), min(_HIGHEST, max(4.6, high))


def tree_axes(axes: Axes, result: Stability, tree: Tree, shares: Floats, when: str) -> None:
    """The tree with its root on top; edges say who moves and what that costs, circles are filled by share."""
    children: dict[int, list[int]] = {}
    for child in np.flatnonzero(tree.parent >= 0).tolist():
        children.setdefault(int(tree.parent[child]), []).append(child)
    place: dict[int, tuple[float, float]] = {}
    _lay_out(tree.root, children, place)
    labelled = len(place) <= _MOST_LABELLED
    radius = _radius(result) if labelled else 3.0
    for state, (x, y) in place.items():
        if state == tree.root:
            continue
        to = place[int(tree.parent[state])]
        colour = style.GREY if tree.resistance[state] <= result.tolerance else PALETTE[1]
        look: dict[str, Any] = {"arrowstyle": "-|>" if labelled else "-", "color": colour}
        axes.annotate("", to, (x, y), arrowprops={**look, "shrinkA": radius, "shrinkB": radius})
        if labelled:
            middle = (x + _ALONG * (to[0] - x), y + _ALONG * (to[1] - y))
            ink = style.DARK if colour == style.GREY else colour
            text = _moved(result, tree, state)
            axes.annotate(text, middle, fontsize=style.SMALL, color=ink, bbox=style.box(), **_CENTRED)
    told = {tree.root, *result.by_share[:6].tolist()}
    for state, (x, y) in place.items():
        stable, share = bool(result.stable[state]), float(shares[state])
        ring: dict[str, Any] = {"facecolor": style.PAPER, "edgecolor": style.DARK if stable else style.GREY}
        axes.scatter(x, y, (2 * radius) ** 2, **ring, linewidth=2.4 if stable else 0.9, zorder=3, gid="profile")
        if share > 0.0:
            disc = (2 * radius) ** 2 * share
            axes.scatter(x, y, disc, color=PALETTE[0], alpha=0.45, linewidth=0, zorder=3.5, gid="share")
        if labelled or state in told:
            box = None if labelled else style.box(style.GREY, 0.2)
            above = (0, 0) if labelled else (0, 13 if state == tree.root else -13)
            words: dict[str, Any] = {"textcoords": "offset points", "bbox": box, "zorder": 4, **_CENTRED}
            axes.annotate(_name(result, state), (x, y), above, fontsize=style.WORDS, **words)
    depth = -min(y for _, y in place.values())
    axes.set(xlim=(-0.8, max(x for x, _ in place.values()) + 0.8), ylim=(-depth - 0.5, 0.5))
    axes.axis("off")
    below = f"blue: share of the long run {when}; thick rings are stable"
    if labelled:
        below += "\non edges: who moves, and what it costs; grey ones cost nothing"
    if result.memories is not None:
        below += f"\nunder each profile: {', '.join(_whole_fields(result))}"
    root = _name(result, tree.root).replace("\n", " ")
    axes.set_title(f"Least-resistance tree to {root}: total {tree.total:.4g}\n{below}", fontsize=style.TITLE)


def _lay_out(root: int, children: dict[int, list[int]], place: dict[int, tuple[float, float]]) -> None:
    """Leaves side by side, a parent above the middle of its children."""
    order: list[tuple[int, int]] = []
    waiting = [(root, 0)]
    while waiting:
        state, depth = waiting.pop()
        order.append((state, depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(state, []))]
    column = 0
    for state, depth in reversed(order):  # leaves first, parents after their children
        below = [place[child][0] for child in children.get(state, [])]
        if below:
            place[state] = (sum(below) / len(below), -float(depth))
        else:
            place[state] = (float(column), -float(depth))
            column += 1


def _sorted_axes(axes: Axes, result: Stability) -> None:
    """Too many states for a tree: what each costs."""
    finite = np.sort(result.stochastic_potential[np.isfinite(result.stochastic_potential)])
    axes.step(np.arange(1, finite.size + 1), finite - finite[0], where="post", color=PALETTE[0])
    axes.set_xscale("log")
    axes.set_ylim(bottom=0.0, top=None if finite[-1] > finite[0] else 1.0)
    axes.set(xlabel="number of profiles", ylabel="stochastic potential above the least")
    axes.set_title(f"{finite.size:,} profiles, too many for a tree: what they cost", fontsize=style.TITLE)


def _alike(limit: Floats, laws: Floats) -> list[list[int]]:
    """The most visited states, those with the same curve and limit together."""
    weight = np.maximum(laws.max(axis=0), limit)
    groups: list[list[int]] = []
    for state in np.argsort(-weight, kind="stable")[:200].tolist():
        for group in groups:
            same = np.allclose(laws[:, state], laws[:, group[0]], rtol=1e-6, atol=1e-9)
            if same and abs(limit[state] - limit[group[0]]) < 1e-9:
                group.append(state)
                break
        else:
            if len(groups) == len(PALETTE):
                break
            groups.append([state])
    return groups


def law_axes(axes: Axes, result: Stability, taus: Sequence[float], laws: Floats, mark: float | None = None) -> None:
    """Share of the long run of the most visited profiles against τ; dots at the left are the limits."""
    edge = min(taus) / 1.6
    shown: list[int] = []
    over = laws.shape[1] != result.limit.size  # over profiles, whatever is remembered beside them
    limit = result.by_profile.limit if over else result.limit
    groups = _alike(limit, laws)
    for k, (group, look) in enumerate(zip(groups, style.looks(map(str, range(len(groups)))).values(), strict=True)):
        state = group[0]
        name = _profile_name if over else _name
        names = ", ".join(name(result, s).replace("\n", " ") for s in group[:3]) + (
            f", … ({len(group)})" if len(group) > 3 else ""
        )
        label = names if len(group) == 1 else f"{names}: each"
        axes.plot(taus, laws[:, state], look.style, color=look.colour, label=label)
        axes.plot(edge, limit[state], "o", color=look.colour, clip_on=False, markersize=9 - k)
        shown += group
    if len(shown) < limit.size:
        axes.plot(taus, 1.0 - laws[:, shown].sum(axis=1), color=style.GREY, label="all others")
        axes.plot(edge, 1.0 - limit[shown].sum(), "o", color=style.GREY, clip_on=False, markersize=3)
    if mark is not None and min(taus) <= mark <= max(taus):
        axes.axvline(mark, color=style.INK, linewidth=0.8, linestyle=":")
        place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom"}
        axes.annotate(f"τ = {mark:g}", (mark, 1.0), fontsize=style.SMALL, **place)
    axes.set_xscale("log")
    _with_zero(axes, edge, taus)
    axes.set(xlabel="temperature τ, logarithmic; dots: the limit τ → 0", ylabel="share of the long run")
    axes.set_ylim(-0.02, 1.02)
    style.legend(axes, title="profile")


def _with_zero(axes: Axes, edge: float, taus: Sequence[float]) -> None:
    """Call the left edge of a logarithmic axis "→ 0"."""
    from matplotlib.ticker import NullLocator

    decades: Any = 10.0 ** np.arange(np.ceil(np.log10(min(taus))), np.floor(np.log10(max(taus))) + 1)
    axes.set_xlim(edge / 1.15, max(taus) * 1.05)
    axes.set_xticks([edge, *decades], ["→ 0", *(f"{tick:g}" for tick in decades)])
    axes.xaxis.set_minor_locator(NullLocator())


@style.in_words
def waking_figure(found: OverRevision, *, title: str = "") -> Figure:
    """Shares of the long run against the revision probability: lines at the rule's temperature, dotted as τ → 0.

    The profiles that maximise the potential are one line.

    Parameters
    ----------
    found : OverRevision
        What ``analysis.over_revision`` returns.
    title : str
        What stands above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, to be saved or shown.

    Examples
    --------
    >>> game, rule = pt.game("stag-hunt"), pt.rule("p-sblll", tau=0.3, revision=0.5)
    >>> figure = pt.figures.waking_figure(pt.analysis.over_revision(game, rule, [0.1, 0.5]))
    >>> figure.axes[0].get_xlabel(), figure.get_suptitle()
    ('revision probability', '(lines: τ = 0.3)')
    """
    figure, grid = style.panels((7.4, 5.0))
    axes = grid.flat[0]
    best = np.zeros(0, np.int64) if found.maximisers is None else found.maximisers
    others = np.setdiff1d(np.argsort(-np.maximum(found.laws, found.limits).max(axis=0), kind="stable")[:5], best)
    lines = [(best, _listed(found, best) + ", largest potential")] if best.size else []
    lines += [(np.array([place]), _listed(found, [place])) for place in others.tolist()]
    for (places, label), look in zip(lines, style.looks(str(k) for k in range(len(lines))).values(), strict=True):
        width = 2.4 if places is best else 1.4
        axes.plot(
            found.revisions,
            found.laws[:, places].sum(axis=1),
            "o-",
            color=look.colour,
            markersize=4,
            lw=width,
            label=label,
        )
        axes.plot(found.revisions, found.limits[:, places].sum(axis=1), ":", color=look.colour, lw=width)
    axes.set_xscale("log")
    ticks = found.revisions.tolist()
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], rotation=45 if len(ticks) > 6 else 0)
    axes.minorticks_off()
    axes.set(xlabel="revision probability", ylabel="share of the long run", ylim=(-0.02, 1.02))
    handles, _ = axes.get_legend_handles_labels()
    dotted = style.in_key("dotted: as τ → 0", color=style.DARK, linestyle=":")
    style.legend_below(figure, [*handles, dotted])
    style.entitle(figure, " ".join(filter(None, [title, f"(lines: τ = {found.tau:g})"])))
    return figure


def _listed(found: OverRevision, places: Any) -> str:
    """A few profiles by their actions."""
    sizes = found.game.num_actions
    names = [profile_words([int(a) for a in np.unravel_index(int(k), sizes)], found.game) for k in places[:3]]
    return ", ".join(names) + (f", … ({len(places)})" if len(places) > 3 else "")
