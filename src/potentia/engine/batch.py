"""Many seeds at once: threads over runs, collected into one labelled dataset.

Compiled loops release the interpreter's lock, so threads run side by side and share the game's arrays.
Each run draws from its own key: the dataset does not depend on the number of workers or their order.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.beliefs import Belief
from potentia.engine.columns import Columns, action_type, batch_bytes, num_rows, own_recorders, scalar_names
from potentia.engine.goals import Stop, blamed_on_stop, goal_from
from potentia.engine.interrupt import Flag, deferred_interrupt, warn_stopped
from potentia.engine.labels import about_game, label_all
from potentia.engine.playing import begin
from potentia.engine.requests import (
    believed,
    checked_compiled,
    checked_integer,
    checked_record,
    eventful,
    first_profile,
)
from potentia.engine.runs import Progress, Run
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.games.events import require_within
from potentia.kernel import memory
from potentia.kernel.arrays import Ints
from potentia.kernel.cache import Compiled
from potentia.kernel.journal import CHANGES, REVISIONS
from potentia.kernel.numbers import in_words
from potentia.rules import Rule, rule_from
from potentia.version import __version__

if TYPE_CHECKING:
    import xarray

_LOOK = 0.2  # seconds after which Ctrl-C is heard that did not wake the main thread


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
    belief: Belief | dict[str, Any] | None = None,
    compiled: Compiled = "auto",
    stop: Stop | None = None,
    events: Iterable[str] | None = None,
) -> xarray.Dataset:
    """Play one run per seed.

    Parameters
    ----------
    game : Game
        What is played.
    rule : Rule or dict
        How players revise.
    steps : int
        At most so many in each run.
    seeds : iterable of int
        One run for each.
    start : array_like, optional
        One profile for all runs, or one per seed; left out, each seed draws its own.
    record : str or sequence of str
        As in :func:`run`.
    every : int
        Rows are taken at times 0, every, 2·every, ...
    workers : int
        Threads.
    progress : callable, optional
        Is told the steps done and the steps in all, of all runs.
    belief : Belief or dict, optional
        What players think of actions that they have not played.
    compiled : bool or str
        As in :func:`begin`.
    stop : dict or callable, optional
        Where each run ends, as in :func:`run`.
    events : iterable of str, optional
        What happens to robots, as in :func:`begin`.

    Returns
    -------
    xarray.Dataset
        With dimensions ``seed``, ``time``, ``player`` (and ``state`` for visits, profiles in C order), one variable per
        recorder under its own name, and per seed ``final``, ``steps_done``, ``revisions``, ``changes`` and, with a
        goal, ``reached``, and what the game tells of each player (``driven`` of robots). Rows that a run did not come
        to, at a goal or after Ctrl-C, hold NaN, or -1 for profiles.

    Examples
    --------
    >>> game, rule = pt.game("stag-hunt"), pt.rule("lll", tau=0.1)
    >>> data = pt.run_batch(game, rule, steps=40, seeds=range(3), record="potential", every=10)
    >>> dict(data.potential.sizes)
    {'seed': 3, 'time': 5}
    """
    options: Any = {"start": start, "record": record, "every": every, "workers": workers, "progress": progress}
    options["events"] = events
    return play_batch(game, rule, steps, seeds, **options, belief=belief, compiled=compiled, stop=stop).dataset()


def play_batch(
    game: Game,
    rule: Rule | dict[str, Any],
    steps: int,
    seeds: Iterable[int],
    *,
    record: str | Sequence[str] = ("profile",),
    every: int = 1,
    start: ArrayLike | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    belief: Belief | dict[str, Any] | None = None,
    compiled: Compiled = "auto",
    stop: Stop | None = None,
    after: int = 0,
    events: Iterable[str] | None = None,
) -> Batch:
    """What :func:`run_batch` returns, as plain arrays: xarray, with pandas, takes half a second to load.

    So many steps of runs like these are played ``after`` them, by whoever plays this: machine code is worth more.
    """
    game = believed(eventful(game, events), belief)
    steps = checked_integer(steps, "steps", 0)
    require_within(game, steps)
    every = checked_integer(every, "every", 1)
    workers = checked_integer(workers, "workers", 1)
    compiled = checked_compiled(compiled)
    numbers = checked_seeds(seeds)
    goal, wanted = goal_from(stop, record)
    with blamed_on_stop("record", goal and goal.name):
        names = checked_record(game, wanted)
    rule = rule_from(rule)
    starts = checked_starts(game, start, numbers)
    table = Batch(game, rule, names, numbers, steps, every, workers)
    table.reached = None if goal is None else np.zeros(len(numbers), np.int8)
    meter = _Meter(progress, steps * len(numbers))

    def one(index: int, flag: Flag) -> None:
        if flag.raised:
            return
        options: Any = {"record": names, "every": every, "horizon": steps, "compiled": compiled}
        run = begin(game, rule, numbers[index], start=starts[index], **options)
        run.record_into(table.columns(index))
        run.expect(steps * (len(numbers) - index - 1) + after)
        run.advance(steps, meter.of_run(), flag, stop=goal)
        table.finish(index, run)

    with deferred_interrupt() as flag:
        first = 0
        if compiled is True:  # the first run compiles (or loads) the kernel; the others then find it ready
            one(0, flag)
            first = 1
        if workers == 1:
            for index in range(first, len(numbers)):
                one(index, flag)
        else:
            others = _Shared(range(first, len(numbers)), lambda index: one(index, flag))
            with ThreadPoolExecutor(workers) as pool:
                try:
                    playing = [pool.submit(others.work, flag) for _ in range(min(workers, len(numbers) - first))]
                    # a signal that comes to another thread, or just before this one sleeps, does not end its sleep
                    while wait(playing, _LOOK).not_done:
                        pass
                    for future in playing:
                        future.result()
                except BaseException:
                    flag.raised = True
                    raise
    if flag.raised and not flag.told:
        done = int((table.steps_done == steps).sum())
        warn_stopped(f"with {done} of {len(numbers)} runs complete")
    table.interrupted = flag.raised
    return table


def checked_seeds(seeds: Iterable[int]) -> list[int]:
    """Different integers, as a list, or an error that says what is wrong with them."""
    if isinstance(seeds, Sized):
        try:
            count = len(seeds)
        except OverflowError:  # a range longer than any list
            count = 2**63
        memory.require(200 * count, f"{in_words(count)} runs", "use fewer seeds")
    try:
        numbers = [checked_integer(seed, "seed", 0) for seed in seeds]
    except TypeError:
        raise InvalidRun(f"must be a sequence of integers such as range(100), got {seeds!r}", "seeds", seeds) from None
    if not numbers:
        raise InvalidRun("must name at least one run, got none", "seeds", seeds)
    if len(set(numbers)) != len(numbers):
        twice = next(seed for seed in numbers if numbers.count(seed) > 1)
        raise InvalidRun(f"must differ, got {twice} twice: two runs with one seed are the same run", "seeds", twice)
    return numbers


def checked_starts(game: Game, start: ArrayLike | None, seeds: list[int]) -> list[Ints | None]:
    """The first profile of each run, where any is given: one for all, or one per seed."""
    count = len(seeds)
    if start is None:
        return [None] * count
    try:
        rows = np.asarray(start)
    except ValueError:
        raise InvalidRun(
            "must be one profile, or one per seed, got rows of different lengths", "start", start
        ) from None
    if rows.ndim == 2:
        if len(rows) != count:
            raise InvalidRun(f"must hold one profile for each of {count} seeds, got {len(rows)}", "start", len(rows))
        each = zip(rows, seeds, strict=True)
        return [first_profile(game, row, seed, f"start of run {k}") for k, (row, seed) in enumerate(each)]
    return [first_profile(game, rows, seed) for seed in seeds]


class _Shared:
    """Runs that threads share: each takes the next one when it is done with the last."""

    def __init__(self, numbers: range, play: Callable[[int], None]) -> None:
        self.numbers, self.play = iter(numbers), play
        self.lock = threading.Lock()

    def work(self, flag: Flag) -> None:
        while not flag.raised:
            with self.lock:
                index = next(self.numbers, None)
            if index is None:
                return
            try:
                self.play(index)
            except BaseException:
                flag.raised = True  # the others need not go on
                raise


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


class Batch:
    """A batch's arrays, allocated before anything runs; every run writes into its own row of them."""

    def __init__(
        self, game: Game, rule: Rule, names: tuple[str, ...], seeds: list[int], steps: int, every: int, workers: int
    ) -> None:
        self.game, self.rule, self.seeds, self.interrupted = game, rule, seeds, False
        self.names = names
        self.reached: NDArray[np.int8] | None = None
        runs = len(seeds)
        rows, players, action = num_rows(names, steps, every), game.num_players, action_type(game)
        profiles = game.num_profiles if "visits" in names else 0
        memory.require(
            batch_bytes(game, rule, names, runs, rows, workers),
            f"a batch of {runs} runs with {rows} rows each",
            "use a larger every, fewer recorders or fewer seeds",
        )
        self.times = np.arange(0, rows * every, every)
        self.scalars = {name: np.full((runs, rows), np.nan) for name in scalar_names(names)}
        self.profile = np.full((runs, rows, players), -1, action) if "profile" in names else None
        self.visits = np.zeros((runs, profiles), np.int64) if "visits" in names else None
        self.final = np.full((runs, players), -1, action)
        self.totals = {str(name): np.full((runs, players), np.nan) for name in game.totals}
        lives = game.lives(game.new_state(np.zeros(players, np.int64)))
        self.since = None if lives is None else lives[0]  # when robots arrive, and when those of each run fail
        self.until = None if lives is None else np.repeat(lives[1:], runs, axis=0)
        self.steps_done, self.revisions, self.changes = np.zeros((3, runs), np.int64)

    def columns(self, index: int) -> Columns:
        """Where a run's records go."""
        profile = None if self.profile is None else self.profile[index]
        return Columns({name: values[index] for name, values in self.scalars.items()}, profile)

    def finish(self, index: int, run: Run) -> None:
        """What is known at the end of a run."""
        if self.visits is not None:
            self.visits[index] = run.journal.visits
        self.final[index] = run.profile
        for name, values in self.totals.items():
            values[index] = self.game.total(run.state, name)
        lives = run.game.lives(run.state)
        if lives is not None and self.until is not None:
            self.until[index] = lives[1]
        self.steps_done[index] = run.step
        if self.reached is not None:
            self.reached[index] = bool(run.reached)
        self.revisions[index], self.changes[index] = run.journal.counts[REVISIONS], run.journal.counts[CHANGES]

    def variables(self) -> dict[str, tuple[Any, NDArray[Any]]]:
        """The dimensions and the values of each variable."""
        variables: dict[str, Any] = {str(n): (("seed", "time"), v) for n, v in self.scalars.items()}
        if self.profile is not None:
            variables["profile"] = (("seed", "time", "player"), self.profile)
        if self.visits is not None:
            variables["visits"] = (("seed", "state"), self.visits)
        variables["final"] = (("seed", "player"), self.final)
        for name in ("steps_done", "revisions", "changes"):
            variables[name] = (("seed",), getattr(self, name))
        if self.reached is not None:
            variables["reached"] = (("seed",), self.reached)
        variables |= {name: (("seed", "player"), values) for name, values in self.totals.items()}
        if self.until is not None and self.since is not None:
            variables |= {"since": (("player",), self.since), "until": (("seed", "player"), self.until)}
        return variables

    def dataset(self) -> xarray.Dataset:
        """The same, labelled."""
        import xarray

        told: dict[str, Any] = {
            "rule": json.dumps(self.rule.spec()),
            "potentia": __version__,
            "interrupted": int(self.interrupted),
        }
        told["evaluations_per_revision"] = self.rule.evaluations(self.game)
        coordinates = {"seed": self.seeds, "time": self.times, "player": np.arange(self.final.shape[1])}
        data = xarray.Dataset(self.variables(), coordinates, about_game(self.game) | told)
        return label_all(data, (*self.game.recorders, *self.game.totals, *own_recorders(self.names)))
