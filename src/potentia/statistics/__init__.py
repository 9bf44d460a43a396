"""Statistics over seeds: intervals, comparisons, times. Arrays in, numbers out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potentia.statistics.comparison import Comparison, compare, compare_all, holm
    from potentia.statistics.estimates import (
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
    from potentia.statistics.reaching import Reaching, compare_reaching, reaching_time

_NAMES = {
    "Comparison": "comparison",
    "Estimate": "estimates",
    "Reaching": "reaching",
    "area_under_curve": "estimates",
    "bootstrap_mean": "estimates",
    "compare": "comparison",
    "compare_all": "comparison",
    "compare_reaching": "reaching",
    "estimate": "estimates",
    "holm": "comparison",
    "paired_difference": "estimates",
    "reaching_time": "reaching",
    "settling_time": "estimates",
    "share_of": "estimates",
    "steady_state": "estimates",
    "tail_mean": "estimates",
    "time_to_share": "estimates",
}

__all__ = [
    "Comparison",
    "Estimate",
    "Reaching",
    "area_under_curve",
    "bootstrap_mean",
    "compare",
    "compare_all",
    "compare_reaching",
    "estimate",
    "holm",
    "paired_difference",
    "reaching_time",
    "settling_time",
    "share_of",
    "steady_state",
    "tail_mean",
    "time_to_share",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: SciPy takes its time.
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
