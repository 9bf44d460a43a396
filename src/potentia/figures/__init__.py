"""Dataset in, figure out; never simulates.

To add a figure, write ``name_figure(data, *, title="")`` in a module of its subject, under ``@style.in_words``, and
name it here. It takes what was played or computed, refuses what it cannot draw with an error that names the argument,
and returns matplotlib's ``Figure``. How it looks comes from :mod:`potentia.figures.style`: ``panels`` makes the figure,
``looks`` gives each label its colour and line (a rule's own, where it names one), ``draw_mean`` draws a mean with its
band, ``legend_below`` and ``entitle`` finish it. Intervals and bands come from :mod:`potentia.statistics`; maps of
worlds from ``maps``. No colour, size of letters or spine is set anywhere but in ``style``.
"""

from potentia.figures.animation import animate
from potentia.figures.beliefs import belief_figure
from potentia.figures.comparing import comparison_figure
from potentia.figures.configuration import configuration_figure
from potentia.figures.coverage import field_figure
from potentia.figures.coverage_time import worth_figure
from potentia.figures.dynamics import portrait_figure, scores_figure, simplex_figure
from potentia.figures.estimates import shares_figure, temperature_figure
from potentia.figures.learning import learning_figure, proposals_figure
from potentia.figures.levels import level_figure, reaching_figure, spread_figure
from potentia.figures.reinforcement import algorithms_figure, reinforcement_figure, values_figure
from potentia.figures.runs import scalar_figure, study_figure
from potentia.figures.signal import revision_figure
from potentia.figures.stability import stability_figure, waking_figure
from potentia.kernel.loading import listing

__all__ = [
    "algorithms_figure",
    "animate",
    "belief_figure",
    "comparison_figure",
    "configuration_figure",
    "field_figure",
    "learning_figure",
    "level_figure",
    "portrait_figure",
    "proposals_figure",
    "reaching_figure",
    "reinforcement_figure",
    "revision_figure",
    "scalar_figure",
    "scores_figure",
    "shares_figure",
    "simplex_figure",
    "spread_figure",
    "stability_figure",
    "study_figure",
    "temperature_figure",
    "values_figure",
    "waking_figure",
    "worth_figure",
]

__dir__ = listing(__all__)
