"""Trees of profiles: filled by their share, edges that say who moves, nothing on top of anything else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import potentia as pt
from potentia.figures import stability_figure, waking_figure

RNG = np.random.default_rng(1)
GAMES = {
    "2x2": (pt.game("double-step"), pt.rule("p-sblll", tau=0.3, revision=0.3)),
    "2x3x2": (pt.games.NormalForm(RNG.standard_normal((3, 2, 3, 2))), pt.rule("p-sblll", tau=0.3, revision=0.3)),
    "16": (pt.games.NormalForm(RNG.integers(0, 9, (4, 2, 2, 2, 2)).astype(float)), pt.rule("blll", tau=0.8)),
    "ring": (pt.game("ring", players=4), pt.rule("blll", tau=0.4)),
}


@pytest.mark.parametrize("name", GAMES)
def test_circles_are_filled_by_share_and_edges_say_who_moves(name):
    game, rule = GAMES[name]
    found = pt.analysis.stability(game, rule)
    taus = [0.1, rule.tau.tau, 2.0]
    laws = pt.analysis.laws_over_tau(game, rule, taus)
    axes = stability_figure(found, taus=taus, laws=laws, mark=taus[1]).axes[0]
    rings = [one for one in axes.collections if one.get_gid() == "profile"]
    discs = [one for one in axes.collections if one.get_gid() == "share"]
    assert len(rings) == game.num_profiles
    sizes = sorted(one.get_sizes()[0] / rings[0].get_sizes()[0] for one in discs)
    np.testing.assert_allclose(sizes, np.sort(laws[1]), rtol=1e-12)
    assert f"at τ = {taus[1]:g}" in axes.get_title()
    tree = found.tree(found.states[int(found.limit.argmax())])
    expected = []
    for state in np.flatnonzero(tree.parent >= 0):
        who = "+".join(map(str, np.flatnonzero(found.states[state] != found.states[tree.parent[state]])))
        cost = tree.resistance[state]
        expected.append(who if cost <= found.tolerance else f"{who}: {cost:.3g}")
    names = ["".join(map(str, state)) for state in found.states]
    texts = [text.get_text() for text in axes.texts if text.get_text()]
    assert sorted(texts) == sorted([*expected, *names])


@pytest.mark.parametrize("name", GAMES)
def test_no_text_is_on_another(name):
    game, rule = GAMES[name]
    figure = stability_figure(pt.analysis.stability(game, rule))
    figure.canvas.draw()
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    for one, other in itertools.combinations(range(len(texts)), 2):
        assert not boxes[one].overlaps(boxes[other]), (texts[one].get_text(), texts[other].get_text())
    assert "as τ → 0" in figure.axes[0].get_title()


def test_the_long_run_against_the_revision_probability():
    found = pt.analysis.over_revision(pt.game("double-step"), GAMES["2x2"][1], [0.01, 0.1, 0.5])
    axes = waking_figure(found, title="T").axes[0]
    lines = {line.get_label(): line.get_ydata() for line in axes.lines if not line.get_label().startswith("_")}
    np.testing.assert_allclose(lines["(1, 0), largest potential"], found.shares)
    assert {"(0, 0)", "(0, 1)", "(1, 1)"} < set(lines)
    dotted = [line.get_ydata() for line in axes.lines if line.get_linestyle() == ":"]
    np.testing.assert_allclose(sum(dotted), 1.0)
