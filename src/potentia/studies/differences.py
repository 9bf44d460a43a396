"""In what two specifications, or what they come to, differ: in words."""

from __future__ import annotations

import json
from typing import Any


def changed_point(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> str | None:
    """What of the points of a study is not what it was; of what was not written down then, nothing."""
    for number, (was, now) in enumerate(zip(old, new, strict=True)):
        for name in was:
            if was[name] != now.get(name):
                what = f"the {'game' if name == 'fingerprint' else name} of point {number} ({was['game']})"
                ages = name == "belief" and was[name] == {k: v for k, v in now[name].items() if k != "half_life"}
                return f"{what}, whose readings now grow old because the worth drifts," if ages else what
    return None


def first_difference(old: dict[str, Any], new: dict[str, Any], place: str = "") -> str | None:
    """The first key in which two specifications differ, and both entries."""
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if isinstance(was, dict) and isinstance(now, dict):
            return first_difference(was, now, f"{place}{name}.")
        if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
            for one, other in zip(was, now, strict=True):
                if one != other and isinstance(one, dict) and isinstance(other, dict):
                    return first_difference(one, other, f"{place}{name}.")
        return f"{place}{name} is {shortened(was)} there and {shortened(now)} here"
    return None


def shortened(value: Any) -> str:
    """An entry of a specification, for a message."""
    text = "left out" if value is None else json.dumps(value)
    return text if len(text) < 60 else f"{text[:57]}..."
