"""Studies made of runs: specifications, sweeps, their store, and what came out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from potentia.kernel.loading import lazy

if TYPE_CHECKING:
    from potentia.studies.specification import Specification, read_specification, specification_from
    from potentia.studies.store import Study, open_study
    from potentia.studies.sweeping import sweep
    from potentia.studies.tables import export

__all__ = [
    "Specification",
    "Study",
    "export",
    "open_study",
    "read_specification",
    "specification_from",
    "sweep",
]

# Loaded on first use: pydantic, xarray and what else a sweep needs take their time.
__getattr__, __dir__ = lazy(
    __name__,
    {
        "specification": ("Specification", "read_specification", "specification_from"),
        "store": ("Study", "open_study"),
        "sweeping": ("sweep",),
        "tables": ("export",),
    },
)
