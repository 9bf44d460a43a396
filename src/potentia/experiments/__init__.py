"""Studies made of runs: specifications, sweeps, their store and their statistics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potentia.experiments.comparison import Comparison, compare, compare_all, holm
    from potentia.experiments.reaching import Reaching, compare_reaching, reaching_time
    from potentia.experiments.specification import Specification, read_specification, specification_from
    from potentia.experiments.statistics import (
        Estimate,
        area_under_curve,
        bootstrap_mean,
        estimate,
        paired_difference,
        settling_time,
        share_of,
        steady_state,
        tail_mean,
        time_to_share,
    )
    from potentia.experiments.store import Study, open_study
    from potentia.experiments.sweeping import sweep
    from potentia.experiments.tables import export

_NAMES = {
    "Comparison": "comparison",
    "Estimate": "statistics",
    "Reaching": "reaching",
    "Specification": "specification",
    "Study": "store",
    "area_under_curve": "statistics",
    "bootstrap_mean": "statistics",
    "compare": "comparison",
    "compare_all": "comparison",
    "compare_reaching": "reaching",
    "estimate": "statistics",
    "export": "tables",
    "holm": "comparison",
    "open_study": "store",
    "paired_difference": "statistics",
    "read_specification": "specification",
    "reaching_time": "reaching",
    "settling_time": "statistics",
    "share_of": "statistics",
    "specification_from": "specification",
    "steady_state": "statistics",
    "sweep": "sweeping",
    "tail_mean": "statistics",
    "time_to_share": "statistics",
}

__all__ = [
    "Comparison",
    "Estimate",
    "Reaching",
    "Specification",
    "Study",
    "area_under_curve",
    "bootstrap_mean",
    "compare",
    "compare_all",
    "compare_reaching",
    "estimate",
    "export",
    "holm",
    "open_study",
    "paired_difference",
    "reaching_time",
    "read_specification",
    "settling_time",
    "share_of",
    "specification_from",
    "steady_state",
    "sweep",
    "tail_mean",
    "time_to_share",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: pydantic, xarray and what else a sweep needs take their time.
    if name in _NAMES:
        return getattr(import_module(f"potentia.experiments.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'potentia.experiments' has no attribute {name!r}")
