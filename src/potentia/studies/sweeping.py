"""Run what is missing of a study, chunk by chunk, on any executor.

Chunks are handed out a few ahead of the workers and saved in the order in which they come back; what a run gives does
not depend on that order. Ctrl-C lets the chunks under way finish, saves them and says how to go on; a second one drops
them. So does SIGTERM on the command line. Kill -9 loses the chunks under way and nothing else.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import wait as wait_for
from pathlib import Path
from typing import Any

from potentia.engine.interrupt import Flag, deferred_interrupt
from potentia.engine.requests import checked_compiled
from potentia.errors import InvalidInput, InvalidSpecification, Remedy, StudyError, SweepFailed
from potentia.kernel import memory, signals
from potentia.kernel.cache import Compiled, jit_disabled
from potentia.kernel.cache_folder import is_kept
from potentia.kernel.checks import Integer, Real
from potentia.kernel.texts import counted
from potentia.studies import chunks, executors
from potentia.studies.growing import grow, growth_of
from potentia.studies.manifest import check_size
from potentia.studies.patience import WAIT, Patience, threads_of
from potentia.studies.planning import Plan, begun, bytes_of_run, plan
from potentia.studies.points import count_points
from potentia.studies.specification import Specification, read_specification, specification_from
from potentia.studies.store import Study, create, is_study, open_study
from potentia.version import __version__

MANY = 100_000  # runs; more must be wanted
_SECONDS = 0.5  # of work in a chunk: little to lose, and little overhead
_GAIN = 100  # machine code to plain Python, at least
_PILOT = 0.05  # seconds after which a pilot has seen enough
_CHUNK_BYTES = 64_000_000
_MOST_WORKERS = 1_000

_MANY = Remedy("many", "pass many=True if you mean it")
_DIED = "a worker process died, perhaps for want of memory"

Progress = Callable[[int, int], None]  # runs done, runs in all


class Stopped(SweepFailed):
    """Ctrl-C or SIGTERM: chunks are missing."""


def sweep(
    specification: Study | Specification | Mapping[str, Any] | str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    executor: str | Executor = "threads",
    dask_tls: str | os.PathLike[str] | None = None,
    wait: float = WAIT,
    many: bool = False,
    repair: bool = False,
    compiled: Compiled = "auto",
    progress: Progress | None = None,
    kind: str | None = None,
    dask: str | None = None,
    apart: bool | None = None,
) -> Study:
    """Run a study, or what is missing of it, and return it.

    Where there is a study in the folder already, a larger specification lets it grow: what is there is kept, what is
    missing is played. ``study.computed`` says how many runs this call played.

    Parameters
    ----------
    specification
        A TOML file, plain data, or a study to go on with or its folder.
    folder
        Where it is kept; left out, ``study.study`` beside a file ``study.toml``.
    workers
        How many work at once; the result does not depend on it.
    executor
        ``"threads"``; ``"processes"``, for games that run in Python; ``"dask"`` for a cluster of processes on this
        machine; the address of a dask scheduler, ``"tcp://host:8786"``, ``"tls://host:8786"`` or
        ``"dask://host:8786"``; or anything with ``submit`` that returns ``concurrent.futures`` futures. Games are
        sent to it as bytes, unless it is a ``ThreadPoolExecutor``.
    dask_tls
        The folder of ``ca.pem``, ``cert.pem`` and ``key.pem`` for a ``tls://`` address; left out, dask's own
        configuration names them.
    wait
        Seconds after which a cluster without workers is given up.
    many
        Go ahead with more than 100,000 runs.
    repair
        Compute damaged chunks again, which otherwise are an error.
    compiled
        As in :func:`potentia.begin`.
    progress
        Called with the runs done and the runs in all.
    kind, dask, apart
        Deprecated: ``executor`` says what they said.
    """
    Integer(1, _MOST_WORKERS).of(workers, "workers", InvalidInput)
    who = executors.chosen(executors.renamed(executor, kind, dask, apart), dask_tls, apart)
    wait = Real(above=0.0, finite=False).of(wait, "wait", InvalidInput)  # infinity is for ever
    compiled = checked_compiled(compiled)
    study = specification if isinstance(specification, Study) else _study(specification, folder, many, compiled)
    with study.locked():
        if study.refresh() and study.growth is not None:
            study.growth = growth_of(study, study.growth.specification, study.growth.source)
        study.tidy()
        _mend(study, repair)
        grow(study)
        todo = study.missing()
        study.computed = 0
        if todo:
            study.plan  # noqa: B018 - built, or refused, before any worker is asked for
            with _keeping(study), who(workers) as (pool, elsewhere):
                if elsewhere and compiled:
                    is_kept()  # or it says that it is not: workers do not
                ahead = _that_fit(study, todo, _ahead(pool, workers))
                tasks = _tasks(study, todo, elsewhere, compiled, workers)
                _run(study, todo, pool, tasks, ahead, Patience(pool, wait), progress)
        study.finish()
    return study


@contextlib.contextmanager
def _keeping(study: Study) -> Iterator[None]:
    """What ends a sweep says how much is saved, and how to go on."""
    try:
        yield
    except (SweepFailed, KeyboardInterrupt) as ended:
        # a second Ctrl-C, or one while a cluster is being reached or left
        error = ended if isinstance(ended, SweepFailed) else Stopped(signals.stopped())
        total = study.num_runs
        said = f"{error.message}; {total - _runs(study.missing()):,} of {total:,} runs are saved"
        raise type(error)(said).advising(*error.remedies, *study.remedies("go on")) from None


def _study(specification: Any, folder: Any, many: bool, compiled: Compiled) -> Study:
    if isinstance(specification, str | os.PathLike) and Path(specification).is_dir():
        if folder is not None and Path(folder) != Path(specification):
            raise StudyError(f"{specification} is a study already: going on with it takes no other folder")
        return open_study(specification)
    source = Path()
    if isinstance(specification, str | os.PathLike):
        found, source = read_specification(specification)
        folder = folder_for(Path(specification)) if folder is None else folder
    else:
        found = specification_from(specification)
    if folder is None:
        raise InvalidInput("a study needs a folder to be kept in, got none")
    return prepare(found, source, Path(folder), many, compiled)


def folder_for(path: Path) -> Path:
    """Where the study of a file is kept: beside it. With a dot in its name no Python takes it for a package."""
    return path.with_suffix(".study")


def prepare(
    specification: Specification, source: Path, folder: Path, many: bool = False, compiled: Compiled = "auto"
) -> Study:
    """The study of this specification in this folder: the one that is there, about to grow perhaps, or a new one."""
    check_number(specification, many)
    if is_study(folder):
        study = open_study(folder)
        study.growth = growth_of(study, specification, source)
        if study.can_compare_code:  # also where nothing is missing: results of other code are not what is asked for
            study.plan  # noqa: B018
        return study
    built = plan(specification, source)
    built.code  # noqa: B018 - or refused, before anything is played
    size = specification.chunk or chunk_size(built, compiled)
    check_size(len(built.points), [specification.num_seeds], size)
    runs = min(size, specification.num_seeds)
    memory.require(runs * bytes_of_run(built), f"a chunk of {runs:,} runs", "use a smaller chunk")
    return create(folder, built, source, size)


def check_number(specification: Specification, many: bool) -> None:
    """Ask before a sweep that is larger than anybody means."""
    points, said = count_points(specification)
    seeds = specification.num_seeds
    runs = points * seeds
    if runs > MANY and not many:
        grid = f"{counted(points, 'point')}{f' ({said})' if said else ''} × {counted(seeds, 'seed')}"
        raise InvalidSpecification(f"this makes {runs:,} runs: {grid}").advising(_MANY)


def chunk_size(built: Plan, compiled: Compiled = "auto") -> int:
    """Seeds in a chunk: about half a second of work, by a short pilot of the first point, and not too large a file."""
    wanted, point = built.specification, built.points[0]
    begun(built, point, compiled).advance(1)  # compiles
    run = begun(built, point, compiled)
    started, steps = time.perf_counter(), min(100, wanted.steps)
    while True:
        run.advance(min(steps, wanted.steps - run.step))
        spent = time.perf_counter() - started
        if spent > _PILOT or run.step == wanted.steps:
            break
        steps *= 2
    seconds = max(spent * wanted.steps / run.step, 1e-5)
    plain = not compiled or jit_disabled()
    if not (run.compiled or plain) and seconds * wanted.num_seeds > _SECONDS and point.game.compiled:
        seconds /= _GAIN  # there will be machine code
    return max(1, int(min(_SECONDS / seconds, _CHUNK_BYTES / bytes_of_run(built), wanted.num_seeds)))


def _that_fit(study: Study, todo: list[chunks.Chunk], ahead: int) -> int:
    """How many chunks of ``ahead`` there is room for, under way or waiting, beside the file of one that is being saved.

    NumPy writes arrays of up to 16 MB through a copy.
    """
    runs = max(chunk.runs for chunk in todo)
    size = runs * bytes_of_run(study.plan, {chunk.point for chunk in todo})
    fit = max(1, min(ahead, len(todo), int(memory.available() / size - 2.5)))
    memory.require(
        (fit + 2.5) * size, f"playing and saving chunks of {runs:,} runs", "begin again with a smaller chunk"
    )
    return fit


def _mend(study: Study, repair: bool) -> None:
    damaged = study.damaged()
    if damaged and not repair:
        first = next(iter(damaged.values()))
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise StudyError(f"{study.folder}: {first}{more}").advising(*study.remedies("repair"))
    for chunk in damaged:
        study.drop(chunk)


def _ahead(executor: Executor, workers: int) -> int:
    """Chunks handed out at a time: enough to keep everybody busy, few enough to finish soon after Ctrl-C."""
    return 2 * max(workers, threads_of(executor) or 0)  # a cluster may have any number of workers


def _tasks(
    study: Study, todo: list[chunks.Chunk], apart: bool, compiled: Compiled, workers: int
) -> Iterator[chunks.Task]:
    wanted = study.specification
    rest = wanted.steps, wanted.spacing, study.record, None if wanted.start is None else tuple(wanted.start)
    kinds = [(type(point.game), point.rule.name) for point in study.plan.points]  # of one kind: one kernel, mostly
    left = Counter[Any]()
    for chunk in todo:
        left[kinds[chunk.point]] += chunk.runs
    for number, same in itertools.groupby(todo, lambda chunk: chunk.point):
        packed = chunks.pack(study.plan.points[number], apart, study.record, "code" in study.manifest)
        for chunk in same:
            left[kinds[number]] -= chunk.runs
            after = left[kinds[number]] * wanted.steps // workers
            yield chunks.Task(chunk, __version__, tuple(study.seeds_of(chunk)), *rest, *packed, compiled, after)


def _run(
    study: Study,
    todo: list[chunks.Chunk],
    executor: Executor,
    tasks: Iterator[chunks.Task],
    ahead: int,
    patience: Patience,
    progress: Progress | None,
) -> None:
    total = study.num_runs
    done = total - _runs(todo)
    waiting: list[Future[Any]] = []
    trouble: str | None = None
    tell = progress or (lambda done, total: None)
    tell(done, total)
    with deferred_interrupt() as flag:
        flag.breakable = True
        while True:
            while not trouble and not flag.raised and len(waiting) < ahead:
                try:
                    task = next(tasks, None)
                    if task is None:
                        break
                    waiting.append(executor.submit(chunks.play, task))
                except BrokenExecutor:
                    trouble = _DIED
                except SweepFailed as error:
                    trouble = str(error)
            if not waiting:
                break
            ready, given_up = _ready(waiting, patience, flag)
            if not ready:
                trouble = trouble or (None if flag.raised else given_up)
                break
            for future in ready:
                waiting.remove(future)
                chunk, found = _result(future)
                if isinstance(found, dict):
                    try:
                        study.save(chunk, found)
                        done += chunk.runs
                        study.computed += chunk.runs
                        tell(done, total)
                    except SweepFailed as error:
                        trouble = trouble or str(error)
                elif found != "interrupted":
                    where = f" ({study.plan.points[chunk.point].describe()})" if chunk is not None else ""
                    trouble = trouble or f"{found}{where}"
            del ready, future, found  # saved: room for the next
    if trouble and not (flag.raised and trouble == _DIED):  # Ctrl-C reaches workers that have only just begun, too
        raise SweepFailed(trouble)
    if done < total:
        raise Stopped(signals.stopped())


def _ready(waiting: list[Future[Any]], patience: Patience, flag: Flag) -> tuple[list[Future[Any]], str | None]:
    """Those that are done, in order, or why none will be; looks up now and then, so that Ctrl-C is heard."""
    while True:
        ready, _ = wait_for(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
        if ready:
            patience.came()
            return [future for future in waiting if future in ready], None
        given_up = patience.used_up(flag.raised, len(waiting))
        if given_up:
            return [], given_up


def _result(future: Future[Any]) -> tuple[Any, Any]:
    try:
        return future.result()
    except BrokenExecutor:
        return None, _DIED
    except CancelledError:
        return None, "a chunk was cancelled, perhaps because the scheduler went away"
    except Exception as error:  # whatever a cluster or a third party's game raises, the study is kept
        return None, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _runs(parts: list[chunks.Chunk]) -> int:
    return sum(chunk.runs for chunk in parts)
