"""Statistics over seeds: intervals, comparisons, times. Arrays in, numbers out."""

from potentia.kernel.loading import listing
from potentia.statistics.comparison import Comparison, compare, compare_all, holm
from potentia.statistics.estimates import (
    Estimate,
    area_under_curve,
    bootstrap_mean,
    estimate,
    paired_difference,
    relative_difference,
    settling_time,
    share_of,
    steady_state,
    tail_mean,
    time_to_share,
)
from potentia.statistics.reaching import Reaching, compare_reaching, reaching_time
from potentia.statistics.recovering import EventCost, Recovery, event_cost, recovery

__all__ = [
    "Comparison",
    "Estimate",
    "EventCost",
    "Reaching",
    "Recovery",
    "area_under_curve",
    "bootstrap_mean",
    "compare",
    "compare_all",
    "compare_reaching",
    "estimate",
    "event_cost",
    "holm",
    "paired_difference",
    "reaching_time",
    "recovery",
    "relative_difference",
    "settling_time",
    "share_of",
    "steady_state",
    "tail_mean",
    "time_to_share",
]

__dir__ = listing(__all__)
