"""A study as one labelled dataset.

Its dimensions are those of the grid (``rule``, ``tau``, ...; see :mod:`potentia.studies.arranging`), then ``seed``,
``time`` and ``player``. Runs that are missing, and places of the grid where none is asked for, hold NaN, or -1 for
actions and counts: ``steps_done >= 0`` says where runs are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.engine.labels import label_all
from potentia.errors import Remedy, StudyError
from potentia.games import Coverage
from potentia.kernel import memory
from potentia.kernel.recorders import COUNTS, TABLE
from potentia.studies.arranging import layout
from potentia.studies.chunks import Arrays, Chunk
from potentia.studies.points import LIVES, catalogue, dimensions_of

if TYPE_CHECKING:
    import xarray

    from potentia.studies.store import Files, Study


def dataset(study: Study, partial: bool = False) -> xarray.Dataset:
    """All results; ``partial`` allows for some that are missing."""
    import xarray

    files = present(study, partial)
    placed = layout(study)
    arrays = _room(study, files, math.prod(placed.shape))
    for chunk, found in played(study, files):
        for name, values in found.items():
            corner: Any = tuple(slice(0, size) for size in values.shape[1:])
            arrays[name][placed.places[chunk.point]][(study.rows_of(chunk), *corner)] = values
        del found, values  # before the next is read
    coordinates, totals = placed.coordinates, totals_of(study)
    coordinates["seed"] = ("seed", np.asarray(study.seeds, np.int64))
    dims = {name: ("player",) if name in totals else dimensions_of(name) for name in arrays}
    variables: dict[str, Any] = {
        name: ((*placed.dims, "seed", *dims[name]), values.reshape((*placed.shape, *values.shape[1:])))
        for name, values in arrays.items()
        if name not in coordinates  # a parameter may be called as something that a game tells
    }
    if "final" in arrays:
        coordinates["player"] = ("player", np.arange(arrays["final"].shape[-1]))
    rows = next((values.shape[2] for name, values in arrays.items() if "time" in dims[name]), 0)
    coordinates["time"] = ("time", np.arange(rows) * study.manifest["every"])
    data = xarray.Dataset(variables, coordinates, _attributes(study, len(files)))
    if "since" in totals and "since" in variables:
        data["since"] = data["since"].max("seed")  # the same for all
    return label_all(data, (*catalogue(), *Coverage.totals))


def totals_of(study: Study) -> set[str]:
    """What games tell of each player at the end."""
    return {name for point in study.points for name in point.get("totals", ())}


def present(study: Study, partial: bool) -> Files:
    """The files of the chunks that are there; an error where some are missing and all are wanted."""
    files = study.files()
    missing = study.num_chunks - len(files)
    if missing and (not partial or not files):
        said = f"{study.folder} is incomplete: {missing:,} of {study.num_chunks:,} chunks are missing"
        some = [Remedy("partial", "partial=True takes what is there")] if files else []
        raise StudyError(said).advising(*some, *study.remedies("missing"))
    return files


def played(study: Study, files: Files) -> Iterator[tuple[Chunk, Arrays]]:
    """Chunks that are there and their results, one at a time."""
    for chunk, paths in files.items():
        yield chunk, study.read_from(chunk, paths)


def _room(study: Study, files: Files, places: int) -> Arrays:
    """Arrays for all runs, from the first chunk of every point: games may differ in players and actions."""
    shapes: dict[str, tuple[int, ...]] = {}
    kinds: dict[str, np.dtype[Any]] = {}
    largest = 0  # chunk, as it is read: the file's bytes and the arrays
    firsts = {chunk.point: chunk for chunk in reversed(files)}
    for _, found in played(study, {chunk: files[chunk] for chunk in reversed(firsts.values())}):
        largest = max(largest, sum(values.nbytes for values in found.values()))
        for name, values in found.items():
            old = shapes.get(name, (0,) * (values.ndim - 1))
            shapes[name] = tuple(max(a, b) for a, b in zip(old, values.shape[1:], strict=True))
            kinds[name] = np.result_type(kinds.get(name, values.dtype), values.dtype)
    for name in sorted(totals_of(study)):  # which a first chunk may lack that was played before they were kept
        shapes[name] = shapes["final"]
        kinds[name] = np.dtype(np.int64 if name in LIVES else np.float64)
    first = (places, len(study.seeds))
    total = sum(int(np.prod((*first, *shapes[name]))) * kinds[name].itemsize for name in shapes)
    advice = "export it to .csv or .parquet, which are written a chunk at a time"
    memory.require(total + 2 * largest, f"a dataset of {study.num_runs:,} runs", advice)
    return {
        name: np.full((*first, *shapes[name]), np.nan if kinds[name].kind == "f" else -1, kinds[name])
        for name in shapes
    }


def _attributes(study: Study, there: int) -> dict[str, Any]:
    games = list(dict.fromkeys(point["game"] for point in study.points))
    return {
        "study": study.specification.name,
        "about": study.specification.about,
        "specification": json.dumps(study.manifest["specification"], sort_keys=True),
        "identity": study.identity,
        "potentia": study.manifest["potentia"],
        "games": "; ".join(games[:20]),
        "steps": study.specification.steps,
        "complete": int(there == study.num_chunks),
        "counted": ", ".join(name for name in study.record if name in TABLE and TABLE[name].needs == COUNTS),
    }
