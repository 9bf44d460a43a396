"""Whatever holds runs, as curves: a dataset, several by name, a study, or curves themselves."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.errors import InvalidRun, PotentiaError
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import OneOf, Real
from potentia.kernel.recorders import TABLE
from potentia.rules import rule_from
from potentia.statistics.choosing import apart_from
from potentia.statistics.curves import Curves, chosen, short, spent

if TYPE_CHECKING:
    import xarray

_SECTIONS = ("game", "belief", "rule")
_WANTED = "must be a dataset of runs with a scalar such as potential over time, several by name, or a study"


def series(
    data: Any, measure: str | None = None, *, where: Mapping[str, Any] | None = None, per: str = "steps"
) -> list[Curves]:
    """One measure of all the runs in ``data``, the first where none is named: one entry for each setting.

    ``where`` keeps the settings whose labels and values are these; ``per`` is what runs are followed along, as in
    :func:`potentia.statistics.curves.spent`.
    """
    if where is not None and not isinstance(where, Mapping):
        raise InvalidRun(f'must be a dict such as {{"tau": 0.1}}, got {where!r}', "where", where)
    found = _found(data, measure, per == "evaluations")
    if not found or any(one.times.size == 0 or one.seeds.size == 0 for one in found):
        raise InvalidRun(f"{_WANTED}, got no runs or no times", "data", data)
    if any(one.times.dtype.kind not in "iuf" for one in found):
        raise InvalidRun("must have numbers of steps as times, got others", "data", data)
    return spent(chosen(found, where or {}), per)


def measures(data: Any) -> list[str]:
    """The measures that all entries of ``data`` have, in the order of the table of recorders."""
    if isinstance(data, Mapping) and not _is_dataset(data):
        if not data:
            raise InvalidRun(f"{_WANTED}, got none", "data", data)
        each = [measures(one) for one in data.values()]
        names = [name for name in each[0] if all(name in others for others in each)]
    elif _is_dataset(data):
        names = [str(name) for name, one in data.data_vars.items() if _is_scalar(one)]
    elif _is_study(data):
        names = [name for name in data.record if name not in TABLE or TABLE[name].scalar]
        if names:
            return names  # as they were asked for
    else:
        names = []
    if not names:
        raise InvalidRun(_WANTED, "data", data)
    return sorted(names, key=lambda name: list(TABLE).index(name) if name in TABLE else len(TABLE))


def _found(data: Any, measure: str | None, evaluations: bool) -> list[Curves]:
    if isinstance(data, Sequence) and data and all(isinstance(one, Curves) for one in data):
        return list(data)
    wanted = measures(data)
    name = wanted[0] if measure is None else OneOf(*wanted).of(measure, "measure", InvalidRun)
    if _is_study(data):
        return list(data.curves(name, evaluations=evaluations))
    if _is_dataset(data):
        return list(_settings(data, name))
    out: list[Curves] = []
    for label, part in data.items():
        for one in _found(part, name, evaluations):
            labels = {"data": str(label), **one.labels} if "rule" in one.labels else {"rule": str(label), **one.labels}
            out.append(replace(one, labels=labels, number=len(out)))
    return out


def _is_study(data: Any) -> bool:
    return callable(getattr(data, "curves", None)) and hasattr(data, "record")


def _is_dataset(data: Any) -> bool:
    return hasattr(data, "data_vars") and hasattr(data, "sizes")


def _is_scalar(values: Any) -> bool:
    return "time" in values.dims and values.dtype.kind in "fiu" and not {"player", "state"} & set(values.dims)


def _settings(data: xarray.Dataset, name: str) -> Iterator[Curves]:
    """The settings of a dataset that have runs: along every dimension but seed and time."""
    if "seed" not in data.dims:  # of one run
        data = data.expand_dims("seed").assign_coords(seed=[int(data.attrs.get("seed", 0))])
    along = [str(dim) for dim in data[name].dims if dim not in ("seed", "time")]
    attributes = data[name].attrs
    for number, places in enumerate(itertools.product(*(range(data.sizes[dim]) for dim in along))):
        here = data.isel(dict(zip(along, places, strict=True)))
        begun = here.steps_done.values >= 0 if "steps_done" in here else np.ones(here.sizes["seed"], bool)
        begun = np.broadcast_to(begun, here.sizes["seed"])
        if not begun.any():
            continue
        here = here.isel(seed=np.flatnonzero(begun))
        told = {key: entry for dim in along for key, entry in _told(here, data, dim)}
        values = {key: entry for key, entry in told.items() if key not in _SECTIONS}
        rows = np.asarray(here[name].transpose("seed", "time").values, np.float64)
        yield Curves(
            {key: str(told[key]) for key in _SECTIONS if told.get(key)},
            values,
            np.asarray(here.seed.values, np.int64),
            here.time.values,
            carried(rows) if "reached" in data else rows,
            number,
            frozenset(key for key in values if data[key].attrs.get("parameter_of") == "game"),
            str(attributes.get("long_name", name)),
            str(attributes.get("units", "")),
            _revisions(here, data, rows.shape),
            float(data.attrs.get("evaluations_per_revision", np.nan)),
        )


def _told(here: Any, data: Any, dim: str) -> Iterator[tuple[str, Any]]:
    """What stands at a place of a dimension: the coordinates along it; nothing where it does not apply."""
    names = [str(name) for name, one in data.coords.items() if one.dims == (dim,)]
    for name in [key for key in names if key != dim] or names:
        entry = here[name].values.item()
        if entry != "" and not (isinstance(entry, float) and np.isnan(entry)):  # else the rule lacks the parameter
            yield name, entry


def _revisions(here: Any, data: Any, shape: tuple[int, int]) -> Floats | None:
    """How many there were by each record, where that was recorded or each step is one revision."""
    if "num_revisions" in here.coords:
        known = np.asarray(here.num_revisions.transpose(..., "time").values, np.float64)
        return carried(np.broadcast_to(known, shape))
    try:
        once = rule_from(json.loads(data.attrs["rule"])).revises_once()
    except (KeyError, TypeError, ValueError, PotentiaError):  # of several rules, or of one that is not known here
        once = False
    if once and ("revisions" not in here or np.array_equal(here.revisions.values, here.steps_done.values)):
        return np.broadcast_to(np.asarray(here.time.values, np.float64), shape)
    return None


def carried(rows: Floats) -> Floats:
    """Rows (runs, times) in which the last number of a run stands for those that it did not come to."""
    last = np.maximum.accumulate(np.where(np.isnan(rows), 0, np.arange(rows.shape[1])), axis=1)
    return np.take_along_axis(rows, last, axis=1)


# What goes where --------------------------------------------------------------------------------------


def by_game(found: Sequence[Curves]) -> dict[str, list[Curves]]:
    """Settings by game: what is compared shares a panel, and its scale."""
    out: dict[str, list[Curves]] = {}
    for one in found:
        out.setdefault(one.game, []).append(one)
    return out


def in_common(found: Sequence[Curves], leave_out: Sequence[str] = ()) -> list[str]:
    """What all settings share though the data have others: rule and values that were chosen, but for the game's."""
    out = list[str]()
    for key in dict.fromkeys(key for one in found for key in (*one.labels, *one.values)):
        have = [one for one in found if key in one.labels or key in one.values]
        told = {one.told([name for name in (*one.labels, *one.values) if name != key]) for one in have}
        if len(told) == 1 and key not in ("game", *leave_out) and not any(key in one.of_game for one in have):
            out += told
    return [text for text in out if text]


def shared_out(mine: Sequence[Curves], most: int) -> list[Curves]:
    """At most so many, as many of each rule as of any other where it has them; in their order.

    They are spread over the settings of a rule, and are the same for all rules: those that most rules have come first.
    """
    settings = [(one.who, tuple(one.told_values())) for one in mine]
    rules, shared = Counter(who for who, _ in settings), Counter(values for _, values in settings)
    each = max(n for n in range(most + 1) if sum(min(n, count) for count in rules.values()) <= most)
    kept = list[int]()
    for who in rules if each else ():
        left = each
        for common in sorted(set(shared.values()), reverse=True):
            those = [place for place, (rule, values) in enumerate(settings) if rule == who and shared[values] == common]
            kept += _spread(those, left)
            left -= min(left, len(those))
    if not each:  # more rules than places
        kept = _spread(range(len(mine)), most)
    return [mine[place] for place in sorted(kept)]


def _spread(places: Sequence[int], most: int) -> list[int]:
    """At most so many of them, evenly."""
    count = min(len(places), most)
    return [places[k] for k in np.linspace(0, len(places) - 1, count).round().astype(int)]


def by_panel(found: Sequence[Curves], axis: str) -> dict[str, list[Curves]]:
    """Settings by game and by what else varies than what stands on an axis; a rule that lacks it is in every panel."""
    apart = apart_from(found, axis)
    out: dict[str, list[Curves]] = {}
    for one in sorted(found, key=lambda one: not all(name in one.values for name in apart)):
        told = [f"{name}={short(one.values[name])}" for name in apart if name in one.values]
        game = one.game_without(axis)
        title = ", ".join(filter(None, [game, *told]))
        if len(told) == len(apart):
            out.setdefault(title, []).append(one)
            continue
        fit = [mine for mine in out.values() if mine[0].game_without(axis) == game and _agree(one, mine[0], apart)]
        for mine in fit:
            mine.append(one)
        if not fit:
            out.setdefault(title, []).append(one)
    return out


def _agree(one: Curves, other: Curves, names: Sequence[str]) -> bool:
    return all(short(one.values[name]) == short(other.values.get(name)) for name in names if name in one.values)


def of_game(levels: float | Mapping[str, float] | None, one: Curves, parameter: str) -> float | None:
    """The optimum, or the goal, of a setting's game; None where it is not asked for, or not known."""
    wanted = levels
    if isinstance(levels, Mapping):
        if one.game not in levels:
            raise InvalidRun(f"must have {one.game!r}, got {', '.join(map(repr, levels))}", parameter, levels)
        wanted = levels[one.game]
    wanted = getattr(wanted, "value", wanted)  # of potentia.analysis.optimum
    if wanted is None or (isinstance(levels, Mapping) and isinstance(wanted, float) and np.isnan(wanted)):
        return None
    return float(Real().of(wanted, parameter, InvalidRun))
