"""Many seeds at once: threads over runs, collected into one labelled dataset.

Compiled loops release the interpreter's lock, so threads run side by side and share the game's arrays.
Each run draws from its own key: the dataset does not depend on the number of workers or their order.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.beliefs import Belief
from potentia.engine.interrupt import Flag, deferred_interrupt
from potentia.engine.playing import begin
from potentia.engine.requests import believed, checked_integer, checked_record
from potentia.engine.runs import Progress
from potentia.errors import InvalidRun, RunInterrupted
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.numbers import in_words
from potentia.rules import Rule, rule_from
from potentia.version import __version__

if TYPE_CHECKING:
    import xarray


def run_batch(
    game: Game,
    rule: Rule | dict[str, Any],
    steps: int,
    seeds: Iterable[int],
    *,
    start: ArrayLike | None = None,
    record: str | Sequence[str] = ("profile",),
    every: int = 1,
    workers: int = 1,
    progress: Progress | None = None,
    belief: Belief | None = None,
) -> xarray.Dataset:
    """Play one run per seed and return an ``xarray.Dataset``.

    Its dimensions are ``seed``, ``time``, ``player`` (and ``state`` for visits, profiles in C order), with
    one variable per recorder under its own name, and per seed ``final``, ``steps_done``, ``revisions`` and
    ``changes``. ``start`` is one profile for
    all runs, or one per seed; left out, each seed draws its own. ``progress`` is told steps done and steps
    in all. Ctrl-C returns what was computed: rows that were not reached hold NaN, or -1 for profiles.
    """
    game = believed(game, belief)
    steps = checked_integer(steps, "steps", 0)
    every = checked_integer(every, "every", 1)
    workers = checked_integer(workers, "workers", 1)
    numbers = _checked_seeds(seeds)
    names = checked_record(game, record)
    rule = rule_from(rule)
    starts = _checked_starts(game, start, len(numbers))
    table = _Table(game, names, len(numbers), steps, every)
    meter = _Meter(progress, steps * len(numbers))

    def one(index: int, flag: Flag) -> None:
        if flag.raised:
            return
        run = begin(game, rule, numbers[index], start=starts[index], record=names, every=every, horizon=steps)
        run.advance(steps, meter.of_run(), flag)
        table.put(index, run)

    with deferred_interrupt() as flag:
        if numbers:
            # The first run compiles (or loads) the kernel; the others then find it ready.
            one(0, flag)
        if workers == 1:
            for index in range(1, len(numbers)):
                one(index, flag)
        else:
            with ThreadPoolExecutor(workers) as pool:
                for future in [pool.submit(one, index, flag) for index in range(1, len(numbers))]:
                    try:
                        future.result()
                    except BaseException:
                        flag.raised = True
                        raise
    if flag.raised:
        done = int((table.steps_done == steps).sum())
        warnings.warn(f"stopped by Ctrl-C with {done} of {len(numbers)} runs complete", RunInterrupted, stacklevel=2)
    return table.dataset(game, rule, numbers, flag.raised)


def _checked_seeds(seeds: Iterable[int]) -> list[int]:
    if isinstance(seeds, Sized):
        try:
            count = len(seeds)
        except OverflowError:  # a range longer than any list
            count = 2**63
        memory.require(200 * count, f"{in_words(count)} runs", "use fewer seeds")
    try:
        numbers = [checked_integer(seed, "seed", 0) for seed in seeds]
    except TypeError:
        raise InvalidRun(f"seeds must be a sequence of integers such as range(100), got {seeds!r}") from None
    if not numbers:
        raise InvalidRun("seeds must name at least one run, got none")
    if len(set(numbers)) != len(numbers):
        twice = next(seed for seed in numbers if numbers.count(seed) > 1)
        raise InvalidRun(f"seeds must differ, got {twice} twice: two runs with one seed are the same run")
    return numbers


def _checked_starts(game: Game, start: ArrayLike | None, count: int) -> list[NDArray[np.int64] | None]:
    if start is None:
        return [None] * count
    try:
        rows = np.asarray(start)
    except ValueError:
        raise InvalidRun("start must be one profile, or one per seed, got rows of different lengths") from None
    if rows.ndim == 2:
        if len(rows) != count:
            raise InvalidRun(f"start must hold one profile for each of {count} seeds, got {len(rows)}")
        return [game.check_profile(row, f"start of run {k}") for k, row in enumerate(rows)]
    return [game.check_profile(start)] * count


class _Meter:
    """Adds up what the runs report, whichever thread they report from."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0
        self.lock = threading.Lock()

    def of_run(self) -> Progress | None:
        if self.progress is None:
            return None
        seen = 0

        def report(done: int, total: int) -> None:
            nonlocal seen
            with self.lock:
                self.done += done - seen
                seen = done
                assert self.progress is not None
                self.progress(self.done, self.total)

        return report


class _Table:
    """The dataset's arrays, allocated before anything runs."""

    def __init__(self, game: Game, names: tuple[str, ...], runs: int, steps: int, every: int) -> None:
        columns = [name for name in names if name not in ("profile", "visits")]
        timed = bool(columns) or "profile" in names
        rows, players = steps // every + 1 if timed else 0, game.num_players
        # -1 marks a row that was not reached, so the type must be signed
        action: Any = next(t for t in (np.int8, np.int16, np.int32, np.int64) if game.sizes.max() <= np.iinfo(t).max)
        width = np.dtype(action).itemsize
        profiles = game.num_profiles if "visits" in names else 0
        row_bytes = 8 + 8 * len(columns)
        row_bytes += width * players if "profile" in names else 0
        memory.require(
            runs * (rows * row_bytes + 8 * profiles + width * players),
            f"a batch of {runs} runs with {rows} rows each",
            "use a larger every, fewer recorders or fewer seeds",
        )
        self.times = np.arange(rows) * every
        self.scalars = {name: np.full((runs, rows), np.nan) for name in columns}
        self.profile = np.full((runs, rows, players), -1, action) if "profile" in names else None
        self.visits = np.zeros((runs, profiles), np.int64) if "visits" in names else None
        self.final = np.full((runs, players), -1, action)
        self.steps_done, self.revisions, self.changes = np.zeros((3, runs), np.int64)

    def put(self, index: int, run: Any) -> None:
        trace = run.trace(beliefs=False)
        for name, values in self.scalars.items():
            values[index, : trace.times.size] = trace.scalars[name]
        if self.profile is not None:
            trace.fill(self.profile[index])
        if self.visits is not None:
            self.visits[index] = trace.visits
        self.final[index] = trace.final
        self.steps_done[index] = trace.steps
        self.revisions[index], self.changes[index] = trace.revisions, trace.changes

    def dataset(self, game: Game, rule: Rule, seeds: list[int], interrupted: bool) -> xarray.Dataset:
        import xarray

        variables: dict[str, Any] = {n: (("seed", "time"), v) for n, v in self.scalars.items()}
        if self.profile is not None:
            variables["profile"] = (("seed", "time", "player"), self.profile)
        if self.visits is not None:
            variables["visits"] = (("seed", "state"), self.visits)
        variables["final"] = (("seed", "player"), self.final)
        for name in ("steps_done", "revisions", "changes"):
            variables[name] = ("seed", getattr(self, name))
        return xarray.Dataset(
            variables,
            {"seed": seeds, "time": self.times, "player": np.arange(self.final.shape[1])},
            {
                "game": game.describe(),
                "rule": json.dumps(rule.spec()),
                "potentia": __version__,
                "interrupted": int(interrupted),
            },
        )
