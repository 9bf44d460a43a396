"""Figures of runs: every scalar of a batch, and runs that came to their goal."""

import numpy as np

import potentia as pt
from potentia.figures import scalar_figure
from potentia.figures.sources import carried

RULE = pt.rule("lll", tau=0.3)


def test_every_scalar_has_a_panel_with_its_label():
    row = pt.recorder(lambda profile, data: float(profile.sum()), "ones", label="ones so far", unit="players")
    data = pt.run_batch(pt.game("ring", players=6), RULE, 40, range(3), record=("potential", "acceptance", row))
    axes = scalar_figure(data, title="ring").axes
    assert [one.get_ylabel() for one in axes] == ["potential Φ", "accepted share of revisions", "ones so far (players)"]


def test_a_run_that_came_to_its_goal_keeps_its_value():
    stop = {"potential": 12.0}
    data = pt.run_batch(pt.game("ring", players=12), RULE, 200, range(4), record="potential", stop=stop)
    line = scalar_figure(data).axes[0].lines[0].get_ydata()
    assert line[-1] == np.nanmean(carried(data.potential.values)[:, -1])
    assert carried(np.array([[1.0, 2.0, np.nan, np.nan], [5.0, np.nan, 7.0, 8.0]])).tolist() == [
        [1.0, 2.0, 2.0, 2.0],
        [5.0, 5.0, 7.0, 8.0],
    ]
