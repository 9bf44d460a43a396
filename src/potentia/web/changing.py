"""A field of worths that changes, in a recording: what is written, read back and checked (docs/recordings.md, "Kinds").

Means, shifts and frames are written as they are. A flow is written as the fields that it leads to, at some times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidRun
from potentia.games import Coverage
from potentia.games.drift import fields_over
from potentia.games.drift_kernel import EDGES, Carried, Drift, Framed, Moving, Shifted, Still
from potentia.games.moving_targets import components_of
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import MOST

_MIXTURE = ("weights", "means", "velocity", "covariances")
_MOST_WORTHS = 16_000_000  # in all frames: 64 MB before compression
_EXACT = 2_000_000  # worths that are written with eight bytes each
_SAMPLES = 200  # times at which the field of a flow is written

Told = tuple[dict[str, Any] | None, dict[str, NDArray[Any]]]  # for the header, and arrays


def told_of(game: Coverage, steps: int) -> Told:
    """What a recording of so many steps tells of a game's drift."""
    drift = game.drift
    if isinstance(drift, Still):
        return None, {}
    if isinstance(drift, Drift):
        parts = {name: getattr(drift, name).tolist() for name in _MIXTURE}
        return {"kind": "mixture", **parts, "every": drift.every, "components": components_of(game.world)}, {}
    if isinstance(drift, Shifted):
        told = {"kind": "shift", "velocity": drift.velocity.tolist(), "edge": EDGES[drift.edge], "every": drift.every}
        return told, {}
    if isinstance(drift, Framed):
        reached = len(drift.frames) if drift.periodic else min(len(drift.frames), steps // drift.steps + 2)
        told = {"kind": "frames", "steps": drift.steps, "periodic": drift.periodic, "sampled": False}
        return told | {"every": drift.every}, {"frames": _written(drift.frames[:reached])}
    return _sampled(drift, steps)


def _sampled(drift: Carried, steps: int) -> Told:
    """A flow as frames: as many as there is room for, at times at which its field is computed."""
    turns = -(-steps // drift.every)
    most = max(1, min(_SAMPLES, _MOST_WORTHS // drift.field.size - 2))
    apart = drift.every * max(1, -(-turns // most))
    times = range(0, max(steps, 1) + apart, apart)
    told = {"kind": "frames", "steps": apart, "periodic": False, "sampled": True, "every": drift.every}
    return told, {"frames": _written(np.array(list(fields_over(drift, times))))}


def _written(frames: Floats) -> NDArray[Any]:
    if frames.size > _MOST_WORTHS:
        raise InvalidRun(
            f"a recording holds up to {_MOST_WORTHS:,} worths of frames, and there are {frames.size:,}; use fewer of "
            "them, or coarser ones"
        )
    return frames.astype(np.float64 if frames.size <= _EXACT else np.float32)


def drift_of(area: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Moving | Still:
    """What a recording tells, as games compute it; one without a kind is of a mixture."""
    told, size = area["drift"], (area["columns"], area["rows"])
    if told is None:
        return Still()
    kind, every = told.get("kind", "mixture"), told["every"]
    if kind == "mixture":
        weights, means, velocity, covariances = (np.asarray(told[name], np.float64) for name in _MIXTURE)
        return Drift(weights, means, velocity, covariances, *size, every)
    if kind == "shift":
        field = arrays["worth"].astype(np.float64)
        return Shifted(field, np.asarray(told["velocity"], np.float64), EDGES.index(told["edge"]), *size, every)
    return Framed(arrays["frames"].astype(np.float64), told["steps"], told["periodic"], *size, every)


def require_drift(area: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """ValueError for a drift that no run can have had."""
    told, shape = area["drift"], (area["rows"], area["columns"])
    kind = told.get("kind", "mixture")
    _require(kind in ("mixture", "shift", "frames"), "its kind")
    wanted: dict[str, dict[str, type]] = {
        "mixture": dict.fromkeys(_MIXTURE, list),
        "shift": {"velocity": list, "edge": str},
        "frames": {"steps": int, "periodic": bool},
    }
    for name, of in (wanted[kind] | {"every": int}).items():
        if name not in told:
            raise ValueError(f"drift has no {name}")
        _require(type(told[name]) is of, name)
        _require(of is not int or 1 <= told[name] <= MOST, name)
    if kind == "mixture":
        _require_mixture(told, len(area["targets"]))
    elif kind == "shift":
        _require(_numbers(told["velocity"]).shape == (2,) and told["edge"] in EDGES, "velocity")
    else:
        frames = arrays.get("frames")
        fits = frames is not None and frames.ndim == 3 and frames.shape[1:] == shape and frames.dtype.kind == "f"
        _require(frames is not None and fits and len(frames) > 0 and bool(np.isfinite(frames).all()), "frames")


def _require_mixture(told: Mapping[str, Any], targets: int) -> None:
    parts = {name: _numbers(told[name]) for name in _MIXTURE}
    count = parts["weights"].size
    shapes = {"weights": (count,), "means": (count, 2), "velocity": (count, 2), "covariances": (count, 2, 2)}
    for name, shape in shapes.items():
        _require(parts[name].shape == shape, name)
    _require(bool((np.linalg.det(parts["covariances"]) > 0).all()), "covariances")
    which = told.get("components")
    if which is not None:
        fits = isinstance(which, list) and all(type(j) is int and 0 <= j < count for j in which)
        _require(fits and len(which) == targets, "components")


def _numbers(given: list[Any]) -> Floats:
    found = np.array(given, np.float64)
    _require(bool(np.isfinite(found).all()), "numbers")
    return found


def _require(holds: bool, told: str) -> None:
    if not holds:
        raise ValueError(f"{told} of its drift cannot be")
