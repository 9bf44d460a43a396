"""Studies made of runs."""

from potentia.experiments.statistics import (
    Estimate,
    estimate,
    paired_difference,
    settling_time,
    steady_state,
    time_to_share,
)

__all__ = ["Estimate", "estimate", "paired_difference", "settling_time", "steady_state", "time_to_share"]
