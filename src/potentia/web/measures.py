"""Lengths and places of a map in a recording: what is written, read back and checked (docs/recordings.md, "Kinds").

A map tells lengths in its unit where its cells have a size, and in cells where they have none. Older recordings say
nothing of either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potentia.errors import InvalidGame
from potentia.games import World
from potentia.games.coordinates import Coordinates

_MOST = 2**53
_PLACES = {"transform": list, "names": list, "unit": str, "system": str}


def measures_of(world: World) -> dict[str, Any]:
    """What a header says of a world."""
    told: dict[str, Any] = {"unit": world.length[1]}
    if world.cell_size is not None:
        told["cell_size"] = world.cell_size
    if (outside := world.outside) is not None:
        names = outside.names if world.coordinates is not None else ("x", "y")
        told["places"] = {"transform": list(outside.transform), "names": list(names)}
        told["places"] |= {"unit": outside.unit, "system": outside.system}
    return told


def length_in(area: Mapping[str, Any]) -> tuple[float, str]:
    """A cell's side, and the unit that lengths are told in."""
    return (float(area["cell_size"]), str(area["unit"])) if area.get("cell_size") else (1.0, "cells")


def places_in(area: Mapping[str, Any]) -> Coordinates | None:
    """The coordinates of cells; None where a map has none."""
    told = area.get("places")
    return Coordinates(told["transform"], told["system"], told["unit"]) if told else None


def axes_in(area: Mapping[str, Any]) -> list[str]:
    """What stands at the axes; nothing where they count cells."""
    told = area.get("places")
    if not told:
        return []
    unit = ", ".join(filter(None, (told["unit"], told["system"])))
    return [f"{name} ({unit})" if unit else name for name in told["names"]]


def cell_words(area: Mapping[str, Any], x: int, y: int) -> str:
    """A cell, and where its centre lies: "(3, 4), x 3.5 m, y 4.5 m"."""
    told, places = [f"({x}, {y})"], places_in(area)
    if places is not None:
        unit = "°" if places.degrees else places.unit and f" {places.unit}"
        ends = zip(area["places"]["names"], places.at((x + 0.5, y + 0.5)).tolist(), strict=True)
        told += [f"{name} {place:.12g}{unit}" for name, place in ends]
    return ", ".join(told)


def require_measures(area: Mapping[str, Any]) -> None:
    """ValueError for lengths and places that no map can have."""
    side, places = area.get("cell_size"), area.get("places")
    _require(side is None or (type(side) in (int, float) and 0 < side < _MOST), "the size of its cells")
    if places is None:
        return
    _require(isinstance(places, dict), "its places")
    for name, kind in _PLACES.items():
        _require(type(places.get(name)) is kind, f"{name} of its places")
    _require(len(places["names"]) == 2 and all(type(name) is str for name in places["names"]), "names of its places")
    try:
        Coordinates(places["transform"])
    except InvalidGame:
        raise ValueError("transform of its places cannot be") from None


def _require(holds: bool, told: str) -> None:
    if not holds:
        raise ValueError(f"{told} cannot be")
