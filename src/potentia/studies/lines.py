"""One recorder of a study at every point, over time or over what runs have spent; and the optimum of its games."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidInput, InvalidRun, PotentiaError, TooLarge
from potentia.games import Coverage
from potentia.kernel.checks import OneOf
from potentia.kernel.recorders import Recorder, known_recorders
from potentia.rules import rule_from
from potentia.statistics.curves import Curves, chosen, spent
from potentia.studies.datasets import played, present
from potentia.studies.points import catalogue, dimensions_of
from potentia.studies.store import Study

_LARGEST = 1e300  # sums of larger numbers would overflow
_DISTANCE = "distance"  # recorded in cells, told in the unit of the map
_REVISIONS = "num_revisions"
OBJECTIVES = ("potential", "welfare", "worth_union")  # what an optimum is of
_NAMED = 6  # of the settings without a run
_EFFORT = 20.0  # about seconds on a map, counted without a clock


def measure_of(study: Study, measure: str | None = None) -> str:
    """The recorder that is meant, or the first one."""
    timed = [name for name in study.record if dimensions_of(name) == ("time",)]
    if not timed:
        raise InvalidInput(f"{study.folder} records nothing over time but {', '.join(study.record) or 'nothing'}")
    return timed[0] if measure is None else OneOf(*timed).of(measure, "measure", InvalidInput)


def curves_of(
    study: Study,
    measure: str | None = None,
    partial: bool = False,
    *,
    where: Mapping[str, Any] | None = None,
    per: str = "steps",
    evaluations: bool = False,
) -> list[Curves]:
    """One recorder at every point that has runs, or at those where labels and values are these.

    ``per`` is what the runs are followed along: ``"steps"``, ``"revisions"``, or ``"evaluations"`` of utilities. Along
    these two, those of one game are cut to what the shortest of them has spent. ``evaluations`` asks for how many
    there are in a revision, which needs the games: those of one's own must be registered.
    """
    wanted = measure_of(study, measure)
    settings, row = _settings(study), known_recorders(catalogue()).get(wanted, Recorder(wanted))
    parts: dict[int, list[tuple[Sequence[int], NDArray[np.float64], NDArray[np.float64] | None]]] = {}
    for chunk, arrays in played(study, present(study, partial)):
        mine = parts.setdefault(chunk.point, [])
        mine.append((study.seeds_of(chunk), arrays[wanted], _revisions(study, chunk.point, arrays, wanted)))
    places = {seed: number for number, seed in enumerate(study.seeds)}
    out = []
    for number, found in sorted(parts.items()):
        seeds = [seed for part, _, _ in found for seed in part]
        order = np.argsort([places[seed] for seed in seeds])
        values = np.concatenate([rows for _, rows, _ in found])[order]
        known = [rows for _, _, rows in found if rows is not None]
        one = replace(
            settings[number],
            seeds=np.asarray(seeds, np.int64)[order],
            times=np.arange(values.shape[1]) * study.manifest["every"],
            curves=values,
            label=row.label,
            unit=row.unit,
            revisions=np.concatenate(known)[order] if len(known) == len(found) else None,
        )
        if (np.abs(values) > _LARGEST).any():
            raise InvalidInput(f"{wanted} of {one.name} must be at most {_LARGEST:g} to be averaged, got more")
        out.append(one)
    out = chosen(out, where or {})
    if wanted == _DISTANCE:
        out = _in_unit(study, out)
    if evaluations or per == "evaluations":
        points = study.plan_for("a count of evaluations").points
        out = [replace(one, evaluations=points[one.number].rule.evaluations(points[one.number].game)) for one in out]
    return spent(out, per)


def incomplete(study: Study, found: Sequence[Curves], where: Mapping[str, Any] | None = None) -> str:
    """How much is there of all that was asked for at these settings, and which have no run; empty where all is."""
    asked, there = chosen(_settings(study), where or {}), {one.number for one in found}
    runs, wanted = sum(one.seeds.size for one in found), len(asked) * len(study.seeds)
    if runs >= wanted:
        return ""
    without = [one.name for one in asked if one.number not in there]
    more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
    none = f"; without a run: {'; '.join(without[:_NAMED])}{more}" if without else ""
    return f"incomplete: {runs:,} of {wanted:,} runs{none}"


def _settings(study: Study) -> list[Curves]:
    """Every point, still without runs."""
    names, shared = study.manifest["names"], frozenset(study.manifest["names"][key] for key in _shared(study))
    return [
        Curves(
            point["labels"],
            {names[key]: entry for key, entry in point["values"].items()},
            np.zeros(0, np.int64),
            np.zeros(0),
            np.zeros((0, 0)),
            number,
            frozenset(names[key] for key in point["values"] if key.startswith("game.")),
            shared=shared,
        )
        for number, point in enumerate(study.points)
    ]


def _in_unit(study: Study, found: list[Curves]) -> list[Curves]:
    """Distances in the unit of the maps' cells, where that is one for all."""
    lengths = [point.get("length") or {"side": 1.0, "unit": "cells"} for point in study.points]
    if len({length["unit"] for length in lengths}) > 1:
        return found
    return [
        replace(one, curves=lengths[one.number]["side"] * one.curves, unit=lengths[one.number]["unit"]) for one in found
    ]


def _revisions(
    study: Study, point: int, arrays: Mapping[str, NDArray[Any]], measure: str
) -> NDArray[np.float64] | None:
    """How many there were by each record: as recorded, or one in each step; None where nobody wrote it down."""
    if _REVISIONS in arrays:
        return np.asarray(arrays[_REVISIONS], np.float64)
    try:
        once = rule_from(study.points[point]["rule"]).revises_once()
    except PotentiaError:  # of somebody's own, and not known here
        once = False
    if not once or not np.array_equal(arrays["revisions"], arrays["steps_done"]):
        return None
    every = np.arange(arrays[measure].shape[1], dtype=np.float64) * study.manifest["every"]
    return np.repeat(every[None], arrays["revisions"].size, axis=0)


def _shared(study: Study) -> set[str]:
    """Axes with one value at all points, such as a list that had to stand in a list: they tell no two apart."""
    found: dict[str, set[str]] = {}
    for point in study.points:
        for key in study.manifest["names"]:
            found.setdefault(key, set()).add(json.dumps(point["values"].get(key)))
    return {key for key, entries in found.items() if len(entries) == 1}


def optima_of(study: Study, measure: str, found: Sequence[Curves]) -> tuple[dict[str, float], list[str]]:
    """By game the best there is, or where it is not proven a bound, and sentences on what is only that or not known.

    A game whose optimum is too large a question has NaN.
    """
    from potentia.analysis import optimum

    OneOf(*OBJECTIVES).of(measure, "measure", InvalidInput)
    points, best, said = study.plan_for("an optimum").points, dict[str, float](), list[str]()
    for one in found:
        if one.game in best:
            continue
        game, effort = points[one.number].game, _EFFORT if measure == "worth_union" else math.inf
        which = one.game or "the game"
        if isinstance(game, Coverage) and (game.drifts or game.events):
            why = " and ".join(filter(None, ["the map changes" * game.drifts, "robots come or go" * bool(game.events)]))
            told = f"{why}, so the most that can be covered changes from step to step, and there is no one share of it"
            also = "potentia cover tells shares of that of the moment, potentia.analysis.optimum_over_time finds it"
            raise InvalidRun(f"no one optimum of {which}: {told}; {also}")
        try:
            result = optimum(game, objective=measure, effort=effort)
        except TooLarge as error:
            best[one.game] = math.nan
            said.append(f"no optimum of {which}: {error.message}")
            continue
        best[one.game] = float(result.value if result.proven else result.bound)
        if not result.proven:
            said.append(f"the optimum of {which} is a bound: the best that is known has {result.value:.6g}")
    return best, said
