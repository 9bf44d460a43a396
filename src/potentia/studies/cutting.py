"""How a study is cut into chunks: which seeds of which point each has, how it is found, and what is in it.

All of it follows from the manifest; nothing here looks at the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from potentia.studies import chunks
from potentia.studies.chunks import Address, Chunk
from potentia.studies.manifest import PLACED, run_keys
from potentia.studies.planning import Plan
from potentia.studies.points import PER_RUN, dimensions_of
from potentia.studies.seeds import seeds_from
from potentia.studies.specification import Specification


class Cut:
    """A manifest, and the chunks that it comes to."""

    def __init__(self, manifest: dict[str, Any], specification: Specification) -> None:
        self.become(manifest, specification)

    def become(self, manifest: dict[str, Any], specification: Specification, built: Plan | None = None) -> None:
        """Be the study that this manifest describes, ``built`` already or not.

        Parameters
        ----------
        manifest : dict
            What manifest.json holds.
        specification : Specification
            The one that is in it.
        built : Plan, optional
            What it comes to, where that is known.
        """
        self.manifest = manifest
        self.specification = specification
        self.points: list[dict[str, Any]] = manifest["points"]
        self.record = tuple(manifest["record"])
        self.identity: str = manifest["identity"]
        self.size: int = manifest["chunk"]
        for name in ("plan", "keys", "parts", "_places"):
            self.__dict__.pop(name, None)
        if built is not None:
            self.__dict__["plan"] = built

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds, in order."""
        return self.specification.seed_numbers

    @property
    def num_runs(self) -> int:
        """Points times seeds."""
        return len(self.points) * len(self.seeds)

    @property
    def num_chunks(self) -> int:
        """Of all points."""
        return len(self.points) * sum(-(-len(part) // self.size) for part in self.parts)

    @cached_property
    def keys(self) -> list[str]:
        """What the runs of each point are found by."""
        return run_keys(self.manifest)

    @cached_property
    def parts(self) -> list[Sequence[int]]:
        """The seeds as they came: those that it was begun with, those that it grew by, each part cut by itself."""
        return [seeds_from(part) for part in self.manifest.get("parts", ())] or [self.seeds]

    def chunks(self) -> Iterator[Chunk]:
        """All chunks, in order; a chunk counts the seeds as they came.

        Yields
        ------
        Chunk
            The seeds of each, by their places.
        """
        cuts, before = [], 0
        for part in self.parts:
            stop = before + len(part)
            cuts += [(first, min(first + self.size, stop)) for first in range(before, stop, self.size)]
            before = stop
        for point in range(len(self.points)):
            for first, stop in cuts:
                yield Chunk(point, first, stop)

    def seeds_of(self, chunk: Chunk) -> Sequence[int]:
        """The seeds of a chunk.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.

        Returns
        -------
        sequence of int
            The seeds, in the order in which they are kept.
        """
        before = 0
        for part in self.parts:
            if chunk.first < before + len(part):
                return part[chunk.first - before : chunk.stop - before]
            before += len(part)
        raise IndexError(f"there is no chunk {chunk}")

    @cached_property
    def _places(self) -> dict[int, int]:
        return {seed: number for number, seed in enumerate(self.seeds)}

    def rows_of(self, chunk: Chunk) -> Any:
        """Where the seeds of a chunk stand among all, as they are written in the specification.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.

        Returns
        -------
        slice or list of int
            What picks them from an array with a row for each seed.
        """
        if "parts" not in self.manifest:
            return slice(chunk.first, chunk.stop)
        return [self._places[seed] for seed in self.seeds_of(chunk)]

    def shapes_of(self, chunk: Chunk) -> dict[str, tuple[int, ...]]:
        """The arrays of a chunk.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.

        Returns
        -------
        dict
            The shape of each, by name.
        """
        point, rows = self.points[chunk.point], self.specification.steps // self.manifest["every"] + 1
        sizes = {"time": rows, "player": point["players"], "state": point["profiles"]}
        names = (*self.record, *PER_RUN)
        shapes = {name: (chunk.runs, *(sizes[dim] for dim in dimensions_of(name))) for name in names}
        totals = dict.fromkeys(point.get("totals", ()), (chunk.runs, point["players"]))
        return shapes | totals

    def address(self, chunk: Chunk) -> Address:
        """How a chunk is found.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.

        Returns
        -------
        Address
            The name of its file, and what it must say of itself.
        """
        if self.manifest["format"] <= PLACED:
            return chunks.placed_at(self.identity, chunk)
        return chunks.found_by(self.keys[chunk.point], self.seeds_of(chunk))
