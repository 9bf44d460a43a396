"""The unit of a sweep: some seeds of one point, played together and kept in one file.

A chunk's file is a plain ``.npz`` without pickles, and its name carries the hash of its bytes: what was renamed into
place is whole, and what was changed afterwards is noticed.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import pickle
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine.code import changed_code, own_code
from potentia.errors import CacheNotKept, InteractionsUnknown, NotCompiled, PotentiaError, StudyError, SweepFailed
from potentia.kernel.archive import Archive
from potentia.kernel.cache import Compiled
from potentia.kernel.files import read_plain
from potentia.kernel.recorders import TABLE, row_of
from potentia.studies.planning import Plan, Point
from potentia.studies.points import LIVES, PER_RUN, catalogue
from potentia.studies.refusals import refused
from potentia.version import __version__

Arrays = dict[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]
_DIGEST = 32  # hex digits of SHA-256
_KINDS = "fiu"  # of NumPy's types
_BLOCK = 1 << 20  # bytes
_KEPT = 8  # games that a worker process keeps


@dataclass(frozen=True, order=True)
class Chunk:
    """Seeds number ``first`` up to ``stop`` of a point."""

    point: int
    first: int
    stop: int

    @property
    def runs(self) -> int:
        return self.stop - self.first

    def __str__(self) -> str:
        return f"{self.point}:{self.first}-{self.stop - 1}"


# Playing ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A chunk as it travels to whoever plays it: the game packed once, the rest plain."""

    chunk: Chunk
    version: str
    seeds: tuple[int, ...]
    steps: int
    every: int
    record: tuple[str, ...]
    start: tuple[int, ...] | None
    key: str  # names the parcel
    parcel: Any  # (game, rule, belief), or those bytes where another process plays
    compiled: Compiled = "auto"
    after: int = 0  # steps of such runs that a worker plays after these, if each takes its share


def pack(point: Point, apart: bool, record: Sequence[str] = (), told: bool = False) -> tuple[str, Any]:
    """What is played at a point, and recorders of the user's own, as they are or as bytes for another process.

    With its code ``told``, a process that has loaded another version of it does not play.
    """
    rows = (row_of(name, (*catalogue(), *point.game.recorders)) for name in record)
    own = [row for row in rows if row.function is not None]
    things = (point.game, point.rule, point.belief, own)
    if not apart:
        return str(point.number), things
    import cloudpickle  # so that a utility defined in a script travels too

    code = own_code([things[:3]], own) if told else None
    try:
        blob = cloudpickle.dumps((things, code))
    except Exception as error:  # a game of the user's may hold anything
        raise SweepFailed(f"{point.describe()} cannot be sent to another process: {error}") from None
    return hashlib.sha256(blob).hexdigest(), blob


_unpacked: OrderedDict[str, Any] = OrderedDict()


def _unpack(task: Task) -> Any:
    if not isinstance(task.parcel, bytes):
        return task.parcel
    for said in (NotCompiled, CacheNotKept, InteractionsUnknown):  # already, by the process that sweeps
        warnings.simplefilter("ignore", said)
    if task.key not in _unpacked:  # kept, so that a user's utility is compiled once
        things, code = pickle.loads(task.parcel)  # from the process that sweeps, never from a file
        which = None if code is None else changed_code(code, own_code([things[:3]], things[3]))
        if which is not None:
            raise SweepFailed(f"a worker does not have the code of the process that sweeps: {which}")
        _unpacked[task.key] = things
        while len(_unpacked) > _KEPT:
            _unpacked.popitem(last=False)
    return _unpacked[task.key]


def play(task: Task) -> tuple[Chunk, Arrays | str]:
    """The chunk's results, or one line about why there are none."""
    from potentia.engine.batch import play_batch

    if task.version != __version__:
        return task.chunk, f"a worker has potentia {__version__}, this study needs {task.version}"
    try:
        game, rule, belief, own = _unpack(task)
        same: dict[str, Any] = {name: getattr(task, name) for name in ("start", "record", "every", "compiled", "after")}
        same["record"] = [next((row for row in own if row == name), name) for name in task.record]
        data = play_batch(game, rule, task.steps, task.seeds, belief=belief, **same)
    except (PotentiaError, MemoryError, ArithmeticError, ValueError, TypeError, LookupError) as error:
        return task.chunk, f"{type(error).__name__}: {error}"
    if data.interrupted:
        return task.chunk, "interrupted"
    found = {name: values for name, (_, values) in data.variables().items()}
    if "since" in found:  # one for all runs: a chunk has a row for each
        found["since"] = np.repeat(found["since"][None], len(task.seeds), axis=0)
    return task.chunk, found


def check_finite(plan: Plan, chunk: Chunk, seeds: Sequence[int], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse a result that is not a number, with the seed and step where it is."""
    point = plan.points[chunk.point]
    rows = [row_of(name, (*catalogue(), *point.game.recorders)) for name in plan.record]
    for name in (str(row) for row in rows if row.scalar and not row.nan):
        bad = np.argwhere(~np.isfinite(arrays[name]))
        if bad.size:
            run, row = bad[0].tolist()
            raise SweepFailed(
                f"{name} is {arrays[name][run, row]} at step {row * plan.specification.spacing} of seed {seeds[run]} "
                f"({point.describe()}): such results are not kept"
            )


# Files ------------------------------------------------------------------------------------------------

WHOLE = (*(name for name, row in TABLE.items() if row.whole), *PER_RUN, *LIVES)  # what holds integers


@dataclass(frozen=True)
class Address:
    """How a chunk is found: what its file's name begins with, and what it says of itself inside."""

    name: str
    about: dict[str, Any]


def placed_at(study: str, chunk: Chunk) -> Address:
    """By its place in the grid of one study, as it was up to format 2."""
    return Address(f"{chunk.point:06d}-{chunk.first:09d}", {"study": study, **asdict(chunk)})


def found_by(key: str, seeds: Sequence[int]) -> Address:
    """By what is played, and the first of its seeds: in whatever study that is."""
    return Address(f"{key}-{seeds[0]:019d}", {"runs": key})


def to_bytes(address: Address, seeds: Sequence[int], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The chunk's file: its arrays, and which chunk it is."""
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(address.about, sort_keys=True).encode(), np.uint8)
    assert all(values.dtype.kind in _KINDS for values in arrays.values())  # numbers: nothing is ever pickled
    content: dict[str, Any] = {"about": text, "seeds": np.asarray(seeds, np.int64), **arrays}
    np.savez(buffer, **content)
    return buffer.getvalue()


def reads_back(path: Path, content: bytes) -> bool:
    """Whether a file holds these bytes; looks at some of them at a time."""
    with path.open("rb") as file:
        return all(file.read(_BLOCK) == content[k : k + _BLOCK] for k in range(0, len(content) + 1, _BLOCK))


def file_name(address: Address, content: bytes) -> str:
    """The name under which these bytes are kept."""
    return f"{address.name}-{hashlib.sha256(content).hexdigest()[:_DIGEST]}.npz"


def verified(path: Path, most: int) -> bytes:
    """A chunk's bytes, if they are those that were saved, and at most so many."""
    with refused(StudyError, f"read {path}"):
        content = read_plain(path, most)
    if hashlib.sha256(content).hexdigest()[:_DIGEST] != path.stem.rpartition("-")[2]:
        raise StudyError(f"{path.name} is damaged: its bytes are not those that were saved")
    return content


def is_kept(path: Path) -> bool:
    """Whether a file is a chunk that was saved: its name carries the hash of its content."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    return found[:_DIGEST] == path.stem.rpartition("-")[2]


def most_bytes(shapes: Shapes) -> int:
    """What a chunk's file takes at most: its arrays, a seed for each run, and a kilobyte of headers for each."""
    runs = shapes["steps_done"][0]
    return 8 * (sum(math.prod(shape) for shape in shapes.values()) + runs) + 1024 * (len(shapes) + 4)


def read_chunk(path: Path, address: Address, seeds: Sequence[int], shapes: Shapes, later: Sequence[str]) -> Arrays:
    """The arrays of a chunk, checked to be whole, to belong here and to have these shapes.

    Those that came ``later`` may be missing, all of them: it was played when nobody kept them.
    """
    content = verified(path, most_bytes(shapes))
    try:
        with Archive(io.BytesIO(content), len(content)) as archive:
            if archive.names == {"about", "seeds", *shapes} - set(later):
                shapes = {name: shape for name, shape in shapes.items() if name not in later}
            if archive.names != {"about", "seeds", *shapes} or len(content) < 8 * len(seeds):
                raise StudyError(f"{path.name} is damaged: it holds other arrays than this study's")
            about = json.loads(archive.read("about", (None,), "u", len(content)).tobytes())
            played = archive.read("seeds", (len(seeds),), np.dtype(np.int64))
            if about != address.about or not np.array_equal(played, np.asarray(seeds, np.int64)):
                raise StudyError(f"{path.name} is damaged: it is a chunk of another study or other seeds")
            types: dict[bool, Any] = {True: "i", False: np.dtype(np.float64)}  # integers as narrow as they may be
            return {name: archive.read(name, shape, types[name in WHOLE]) for name, shape in shapes.items()}
    except StudyError:
        raise
    except Exception:  # whatever a broken file makes NumPy and zipfile raise
        raise StudyError(f"{path.name} is damaged: it cannot be read") from None
