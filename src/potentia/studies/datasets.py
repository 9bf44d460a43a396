"""A study as one labelled dataset.

Where every rule has the same axes the dataset's dimensions are those of the grid (``rule``, ``tau``, ...), then
``seed``, ``time`` and ``player``; axes side by side share one dimension. Otherwise there is one dimension ``point``,
with what varies as coordinates along it. Runs that are missing hold NaN, or -1 for actions and counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine.labels import label_all
from potentia.errors import StudyError
from potentia.kernel import memory
from potentia.kernel.numbers import is_real
from potentia.kernel.recorders import COUNTS, TABLE
from potentia.studies.axes import text_of
from potentia.studies.chunks import Arrays, Chunk
from potentia.studies.points import catalogue, dimensions_of
from potentia.studies.specification import SECTIONS

if TYPE_CHECKING:
    import xarray

    from potentia.studies.store import Files, Study


def dataset(study: Study, partial: bool = False) -> xarray.Dataset:
    """All results; ``partial`` allows for some that are missing."""
    import xarray

    files = present(study, partial)
    arrays = _room(study, files)
    for chunk, found in played(study, files):
        for name, values in found.items():
            corner: Any = tuple(slice(0, size) for size in values.shape[1:])
            arrays[name][chunk.point, chunk.first : chunk.stop][(slice(None), *corner)] = values
        del found, values  # before the next is read
    shape, dims, coordinates = _grid(study)
    variables: dict[str, Any] = {
        name: ((*dims, "seed", *dimensions_of(name)), values.reshape((*shape, *values.shape[1:])))
        for name, values in arrays.items()
    }
    coordinates["seed"] = ("seed", np.asarray(study.seeds, np.int64))
    if "final" in arrays:
        coordinates["player"] = ("player", np.arange(arrays["final"].shape[-1]))
    rows = next((values.shape[2] for name, values in arrays.items() if "time" in dimensions_of(name)), 0)
    coordinates["time"] = ("time", np.arange(rows) * study.manifest["every"])
    return label_all(xarray.Dataset(variables, coordinates, _attributes(study, len(files))), catalogue())


def present(study: Study, partial: bool) -> Files:
    """The files of the chunks that are there; an error where some are missing and all are wanted."""
    files = study.files()
    missing = study.num_chunks - len(files)
    if missing and (not partial or not files):
        said = f"{study.folder} is incomplete: {missing:,} of {study.num_chunks:,} chunks are missing"
        raise StudyError(said).advising(study.remedy("missing"))
    return files


def played(study: Study, files: Files) -> Iterator[tuple[Chunk, Arrays]]:
    """Chunks that are there and their results, one at a time."""
    for chunk, paths in files.items():
        yield chunk, study.read_from(chunk, paths)


def _room(study: Study, files: Files) -> Arrays:
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
    first = (len(study.points), len(study.seeds))
    total = sum(int(np.prod((*first, *shapes[name]))) * kinds[name].itemsize for name in shapes)
    advice = "export it to .csv or .parquet, which are written a chunk at a time"
    memory.require(total + 2 * largest, f"a dataset of {first[0] * first[1]:,} runs", advice)
    return {
        name: np.full((*first, *shapes[name]), np.nan if kinds[name].kind == "f" else -1, kinds[name])
        for name in shapes
    }


def _grid(study: Study) -> tuple[tuple[int, ...], tuple[str, ...], dict[str, Any]]:
    """Shape, names and coordinates of what varies."""
    groups, points = study.manifest["dimensions"], study.points
    names: dict[str, str] = {section: section for section in SECTIONS} | study.manifest["names"]

    def at(point: dict[str, Any], key: str) -> Any:
        return point["labels"].get(key, "") if key in SECTIONS else point["values"].get(key)

    if groups is None:
        varied = [key for key in names if key not in SECTIONS or any(key in point["labels"] for point in points)]
        columns = {names[key]: ("point", column([at(point, key) for point in points])) for key in varied}
        return (len(points),), ("point",), {"point": ("point", np.arange(len(points)))} | columns
    shape: dict[str, int] = {}
    coordinates: dict[str, Any] = {}
    for keys in groups:
        listed = ([at(point, key) for key in keys] for point in points)
        rows = {json.dumps(row): row for row in listed}
        dim = "_".join(names[key] for key in keys)
        shape[dim] = len(rows)
        for k, key in enumerate(keys):
            coordinates[names[key]] = (dim, column([row[k] for row in rows.values()]))
        coordinates.setdefault(dim, (dim, np.arange(len(rows))))
    return tuple(shape.values()), tuple(shape), coordinates


def column(values: list[Any]) -> NDArray[Any]:
    """Numbers where all are numbers, texts otherwise; what does not apply is NaN or empty."""
    if all(value is None or is_real(value) for value in values):
        if all(isinstance(value, int) and abs(value) < 2**63 for value in values):
            return np.array(values, np.int64)
        return np.array([np.nan if value is None else float(value) for value in values])
    return np.array(["" if value is None else text_of(value) for value in values])


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
