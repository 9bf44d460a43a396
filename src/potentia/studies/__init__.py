"""Studies made of runs: specifications, sweeps, their store, and what came out of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potentia.studies.specification import Specification, read_specification, specification_from
    from potentia.studies.store import Study, open_study
    from potentia.studies.sweeping import sweep
    from potentia.studies.tables import export

_NAMES = {
    "Specification": "specification",
    "Study": "store",
    "export": "tables",
    "open_study": "store",
    "read_specification": "specification",
    "specification_from": "specification",
    "sweep": "sweeping",
}

__all__ = [
    "Specification",
    "Study",
    "export",
    "open_study",
    "read_specification",
    "specification_from",
    "sweep",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: pydantic, xarray and what else a sweep needs take their time.
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
