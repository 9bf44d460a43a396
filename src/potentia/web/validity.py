"""What the header and the arrays of a recording must be before anything is drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.games.sight import mask_bytes
from potentia.kernel.arrays import Ints
from potentia.web.changing import require_drift
from potentia.web.editing import require_edits
from potentia.web.measures import require_measures

KINDS = ("map", "network", "loads", "table", "players")
MOST_CELLS = 4_000_000  # of a map that a page can show
_MOST = 2**53  # a number that JavaScript counts with

# The types of fields that every header has, and those of a map's.
_TEXT, _COUNT = (str,), (int,)
_HEADER: dict[str, tuple[Any, ...]] = {
    "potentia": _TEXT,
    "title": _TEXT,
    "label": _TEXT,
    "rule": (dict,),
    "belief": (dict, type(None)),
    "seed": _COUNT,
    "steps": _COUNT,
    "every": _COUNT,
    "complete": (bool,),
    "game": (dict,),
    "changes": _COUNT,
    "series": (list,),
    "optimum": (dict, type(None)),
    "events": (list,),
    "keyframes": (dict, type(None)),
}
_PARTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "rule": {"name": _TEXT, "text": _TEXT, "spec": (dict,), "colour": _TEXT},
    "belief": {"name": _TEXT, "text": _TEXT},
    "game": {"kind": _TEXT, "text": _TEXT, "players": _COUNT, "player": _TEXT, "actions": (list, type(None))},
    "keyframes": {"steps": (list,), "belief": (dict, type(None)), "scores": (bool,)},
    "map": {
        "columns": _COUNT,
        "rows": _COUNT,
        "origin": _TEXT,
        "unit": _TEXT,
        "name": _TEXT,
        "offsets": (list,),
        "flags": (str, type(None)),
        "targets": (list,),
        "drift": (dict, type(None)),
    },
    "table": {"law": (bool,)},
}


def require_valid(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """ValueError for a header and arrays that no run can have written."""
    _fields(header, _HEADER, "header")
    for name in ("rule", "belief", "game", "keyframes"):
        if header[name] is not None:
            _fields(header[name], _PARTS[name], name)
    _require(isinstance(header["game"].get("name", ""), str), "the name of its game")
    _require(_whole(header.get("events_left_out", 0)), "how many events were left out")
    names = header["game"].get("names", [])
    _require(isinstance(names, list) and all(isinstance(name, str) for name in names), "the names of its players")
    kind, players = header["game"]["kind"], header["game"]["players"]
    _require(kind in KINDS, f"its kind is {kind!r:.40}")
    for name, least in (("steps", 0), ("every", 1), ("changes", 0)):
        _require(least <= header[name] <= _MOST, f"its {name} of {header[name]!r:.30}")
    _require(1 <= players <= _MOST, "its number of players")
    _shape(arrays, "start", (players,), "i")
    _shape(arrays, "sizes", (None,), "i")
    _require(arrays["sizes"].size in (1, players) and players >= 1, "its sizes are of other players")
    _within(arrays["start"], arrays["sizes"], "its start")
    _shape(arrays, "changes", (None,), "u")
    rows = arrays["times"].size if "times" in arrays else 0
    _shape(arrays, "times", (None,), "f")
    _shape(arrays, "series", (len(header["series"]), rows), "f")
    times = arrays["times"]
    _require(bool(np.isfinite(times).all() and (np.diff(times) > 0).all()), "the times of its series")
    _optimum(header["optimum"])
    for row in header["series"]:
        _fields(row, {"name": _TEXT, "label": _TEXT, "unit": _TEXT}, "series")
    for row in header.get("interventions", []):
        _fields(row, {"step": _COUNT, "text": _TEXT, "did": (dict,)}, "an intervention")
    for event in header["events"]:
        _fields(event, {"step": _COUNT, "kind": _TEXT, "player": (int, type(None)), "text": _TEXT}, "an event")
        _require(0 <= event["step"] <= header["steps"], "the step of an event")
    if kind in ("map", "table"):
        _require(isinstance(header.get(kind), dict), f"it has no {kind}")
        _fields(header[kind], _PARTS[kind], kind)
    if kind == "map":
        _map(header["map"], arrays, players)
    if kind in _OTHERS:
        _OTHERS[kind](header, arrays, players)
    if header["keyframes"] is not None:
        _keyframes(header, arrays, kind)


def require_changes(changes: tuple[Ints, Ints, Ints], arrays: dict[str, NDArray[Any]], steps: int) -> None:
    """ValueError for changes of players or to actions that there are not, or out of order."""
    when, players, actions = changes
    sizes = np.broadcast_to(arrays["sizes"], arrays["start"].shape)
    _require(bool((players < sizes.size).all()), "a player that changes")
    _within(actions, sizes[players], "its changes")
    later = (np.diff(when) > 0) | (np.diff(players) >= 0)  # one that was moved by hand may have moved before
    _require(bool(later.all()) and (not when.size or 1 <= when[0] <= when[-1] <= steps), "the order of its changes")


def _map(area: dict[str, Any], arrays: dict[str, NDArray[Any]], players: int) -> None:
    shape = (area["rows"], area["columns"])
    _require(1 <= shape[0] * shape[1] <= MOST_CELLS, f"its map has {shape[0]}×{shape[1]} cells")
    _require(area["flags"] in (None, "cell", "range"), "its flags")
    for name, least, most in (("offsets", (-shape[1], -shape[0]), shape[::-1]), ("targets", (0, 0), shape[::-1])):
        for pair in area[name]:
            fits = isinstance(pair, list) and len(pair) == 2 and all(map(_whole, pair))
            _require(fits and all(low <= part < high for part, low, high in zip(pair, least, most, strict=True)), name)
    if area["drift"] is not None:
        require_drift(area, arrays)
    require_measures(area)
    _shape(arrays, "worth", shape, "f")
    _shape(arrays, "blocked", shape, "u")
    _shape(arrays, "delta", (None,), "f")
    _require(arrays["delta"].size in (1, players), "its ranges are of other robots")
    _require(bool(np.isfinite(arrays["worth"]).all()), "it has worths that are none")
    _require(bool(((arrays["delta"] >= 0) & (arrays["delta"] < _MOST)).all()), "its ranges")
    if "since" in arrays or "until" in arrays:
        for name in ("since", "until"):
            _shape(arrays, name, (players,), "f")
            _require(bool(((arrays[name] >= 0) & (arrays[name] < _MOST)).all()), "when its robots come and go")
    free = np.array([arrays["blocked"].size if "edits" in area else (arrays["blocked"] == 0).sum()])
    _within(arrays["start"], free, "its start")
    require_edits(area, arrays, players)
    if "sight_row" in arrays:
        _sight(arrays, shape)


def _keyframes(header: dict[str, Any], arrays: dict[str, NDArray[Any]], kind: str) -> None:
    steps, belief = header["keyframes"]["steps"], header["keyframes"]["belief"]
    fits = all(_whole(step) and 0 <= step <= header["steps"] for step in steps)
    _require(fits and steps == sorted(set(steps)), "the steps of its keyframes")
    count = len(steps)
    if belief is not None:
        _require(kind == "map" and isinstance(belief.get("robots"), list), "its beliefs")
        players = header["game"]["players"]
        for robots in belief["robots"]:
            fits = isinstance(robots, list) and all(_whole(robot) and 0 <= robot < players for robot in robots)
            _require(bool(fits and robots), "its beliefs")
        minds, shape = len(belief["robots"]), (header["map"]["rows"], header["map"]["columns"])
        _shape(arrays, "belief_worth", (count, minds, *shape), "u")
        _shape(arrays, "belief_seen", (count, minds, -(-shape[0] * shape[1] // 8)), "u")
        _shape(arrays, "belief_ptr", (count * minds + 1,), "i")
        _shape(arrays, "belief_components", (None, 6), "f")
        _shape(arrays, "belief_error", (count, minds), "f")
        if "belief_background" in arrays:
            _shape(arrays, "belief_background", (count, minds), "f")
        ptr = arrays["belief_ptr"]
        _require(
            bool((np.diff(ptr) >= 0).all()) and 0 <= ptr[0] <= ptr[-1] <= len(arrays["belief_components"]), "its ptr"
        )
    if header["keyframes"]["scores"]:
        total = int(np.broadcast_to(arrays["sizes"], arrays["start"].shape).sum(dtype=np.int64))
        for name in ("score", "strategy"):
            _shape(arrays, name, (count, total), "u")


def _optimum(found: dict[str, Any] | None) -> None:
    if found is not None:
        number = (int, float, type(None))
        _fields(found, {"series": _TEXT, "value": number, "bound": number}, "optimum")
        numbers = [found[name] for name in ("value", "bound") if found[name] is not None]
        _require(all(abs(number) < 1e300 for number in numbers), "its optimum")
        if "times" in found:
            lists = [np.array(found.get(name), np.float64) for name in ("times", "values", "bounds")]
            one = all(part.shape == lists[0].shape and part.ndim == 1 and part.size for part in lists)
            _require(bool(one and all(np.isfinite(part).all() for part in lists)), "its optimum over time")
            _require(bool((np.diff(lists[0]) > 0).all()), "the times of its optimum")


def _sight(arrays: dict[str, NDArray[Any]], shape: tuple[int, int]) -> None:
    delta = min(float(arrays["delta"].max(initial=0.0)), float(np.hypot(*shape)))
    _shape(arrays, "sight_row", shape, "i")
    _shape(arrays, "sight_mask", (None, mask_bytes(delta)), "u")
    rows = arrays["sight_row"]
    _require(bool(((rows >= -1) & (rows < len(arrays["sight_mask"]))).all()), "its lines of sight")


def _network(header: dict[str, Any], arrays: dict[str, NDArray[Any]], players: int) -> None:
    _shape(arrays, "edges", (None, 2), "i")
    _shape(arrays, "layout", (players, 2), "f")
    _within(arrays["edges"], np.array([players]), "a player of its edges")
    _require(bool(np.isfinite(arrays["layout"]).all()), "its layout")


def _loads(header: dict[str, Any], arrays: dict[str, NDArray[Any]], players: int) -> None:
    _shape(arrays, "row", (players,), "i")
    for name in ("strategy_ptr", "resources", "cost_ptr"):
        _shape(arrays, name, (None,), "i")
    _shape(arrays, "cost", (None,), "f")
    ptr, resources = arrays["strategy_ptr"], arrays["resources"]
    _require(ptr.size >= 2 and ptr[0] == 0 and ptr[-1] == resources.size and bool((np.diff(ptr) >= 0).all()), "its ptr")
    last = arrays["row"].astype(np.int64) + np.broadcast_to(arrays["sizes"], arrays["start"].shape)
    _require(bool((arrays["row"] >= 0).all() and (last < ptr.size).all()), "its strategies")
    _within(resources, np.array([arrays["cost_ptr"].size]), "a resource of its strategies")
    _within(arrays["cost_ptr"], np.array([arrays["cost"].size + 1]), "its costs")


def _table(header: dict[str, Any], arrays: dict[str, NDArray[Any]], players: int) -> None:
    sizes = np.broadcast_to(arrays["sizes"], arrays["start"].shape).tolist()
    _require(players <= 20, "its number of players")
    _shape(arrays, "payoffs", (players, *sizes), "f")
    profiles = arrays["payoffs"].size // players
    if "potential" in arrays:
        _shape(arrays, "potential", (profiles,), "f")
    if header["table"]["law"]:
        _shape(arrays, "stationary", (profiles,), "f")
        _shape(arrays, "chain_from", (None,), "i")
        moves = arrays["chain_from"].size
        _shape(arrays, "chain_to", (moves,), "i")
        _shape(arrays, "chain_probability", (moves,), "f")
        for name in ("chain_from", "chain_to"):
            _within(arrays[name], np.array([profiles]), "a profile of its chain")


_OTHERS = {"network": _network, "loads": _loads, "table": _table}


def _whole(value: Any) -> bool:
    return type(value) is int


def _require(holds: bool, told: str) -> None:
    if not holds:
        raise ValueError(f"{told} cannot be")


def _fields(table: Any, wanted: dict[str, tuple[Any, ...]], where: str) -> None:
    if not isinstance(table, dict):
        raise ValueError(f"{where} is {type(table).__name__}")
    for name, kinds in wanted.items():
        if name not in table:
            raise ValueError(f"{where} has no {name}")
        if type(table[name]) not in kinds:
            raise ValueError(f"{name} of {where} is {table[name]!r:.40}")


def _shape(arrays: dict[str, NDArray[Any]], name: str, shape: tuple[int | None, ...], kind: str) -> None:
    if name not in arrays:
        raise ValueError(f"it has no {name}")
    found = arrays[name]
    fits = found.ndim == len(shape) and all(n == m for n, m in zip(found.shape, shape, strict=True) if m is not None)
    if not fits or found.dtype.kind != kind:
        raise ValueError(f"{name} has shape {found.shape} of {found.dtype}")


def _within(values: NDArray[Any], sizes: NDArray[Any], told: str) -> None:
    if ((values < 0) | (values >= sizes)).any():
        raise ValueError(f"{told} has an action that no player has")
