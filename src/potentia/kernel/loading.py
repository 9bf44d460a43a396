"""What a package shows of itself: its public names, some of them loaded on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def listing(names: Sequence[str]) -> Callable[[], list[str]]:
    """The ``__dir__`` of a package that shows these names alone: ``__dir__ = listing(__all__)``."""
    return lambda: list(names)


def lazy(package: str, modules: Mapping[str, Sequence[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose modules are loaded when one of their names is asked for.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    modules : Mapping
        The public names by the module that has them.

    Examples
    --------
    ``__getattr__, __dir__ = lazy(__name__, {"estimates": ("Estimate", "estimate")})``
    """
    places = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name in places:
            return getattr(import_module(f"{package}.{places[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, listing(sorted(places))
