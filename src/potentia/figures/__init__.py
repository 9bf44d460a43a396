"""Dataset in, figure out; never simulates."""

from potentia.figures.animation import animate
from potentia.figures.beliefs import belief_figure
from potentia.figures.configuration import configuration_figure
from potentia.figures.coverage import field_figure
from potentia.figures.coverage_time import worth_figure
from potentia.figures.dynamics import portrait_figure, scores_figure, simplex_figure
from potentia.figures.estimates import shares_figure, temperature_figure
from potentia.figures.learning import learning_figure, proposals_figure
from potentia.figures.reinforcement import algorithms_figure, reinforcement_figure, values_figure
from potentia.figures.runs import scalar_figure
from potentia.figures.signal import revision_figure
from potentia.figures.stability import stability_figure
from potentia.figures.studies import study_figure
from potentia.kernel.lazy import listing

__all__ = [
    "algorithms_figure",
    "animate",
    "belief_figure",
    "configuration_figure",
    "field_figure",
    "learning_figure",
    "portrait_figure",
    "proposals_figure",
    "reinforcement_figure",
    "revision_figure",
    "scalar_figure",
    "scores_figure",
    "shares_figure",
    "simplex_figure",
    "stability_figure",
    "study_figure",
    "temperature_figure",
    "values_figure",
    "worth_figure",
]

__dir__ = listing(__all__)
