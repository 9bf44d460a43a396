"""``run_batch`` on two workers against one, beside what two bare processes reach on this machine.

Two processors rarely double the speed: they share memory and clock, and a virtual machine may not have two
whole ones. So the same repetitions also time two processes that share nothing, each playing the C loop (a
Python loop where there is no compiler), against one of them that does the work of both. The batch is asked
for 1.7× where these reach 1.8×. Its first run is always alone, since it may compile: of 40 equal runs on
two workers no more than 1.95× can come.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import potentia
from benchmarks import reference
from benchmarks.report import Effort, Report, Row
from potentia.games import Coordination, consensus, ring_edges
from potentia.kernel.background import cores
from potentia.studies.timing import SEED, fastest, interleaved, timed

TARGET = 1.7
BARE_TARGET = 1.8
BARE_STEPS = 20_000_000  # about half a second, as long as the batch on two workers


def compare(library: Path | None, effort: Effort, report: Report) -> None:
    """Add the line of this comparison to the report."""
    if cores() < 2:
        report.notes.append("two workers skipped: this process may use one processor only")
        return
    game = consensus(ring_edges(reference.PLAYERS))
    _require_same(game)
    with _two_processes(library) as bare:
        times = interleaved(
            {
                "one worker": lambda: timed(lambda: _batch(game, effort.batch_runs, effort.batch_steps, 1)),
                "two workers": lambda: timed(lambda: _batch(game, effort.batch_runs, effort.batch_steps, 2)),
                "one process": lambda: timed(lambda: bare(2, 0)),
                "two processes": lambda: timed(lambda: bare(1, 1)),
            },
            effort.repetitions,
        )
    best = fastest(times)
    ratio = best["one worker"] / best["two workers"]
    ceiling = best["one process"] / best["two processes"]
    asked = ceiling >= BARE_TARGET
    run = best["one worker"] / effort.batch_runs
    report.rows.append(
        Row(
            f"run_batch, {effort.batch_runs} runs of {run * 1e3:.0f} ms, 2 workers",
            f"{best['two workers']:.2f} s",
            f"1 worker {best['one worker']:.2f} s; bare processes {ceiling:.2f}×",
            f"{ratio:.2f}×",
            f"≥ {TARGET}×" if asked else f"none: bare < {BARE_TARGET}×",
            ratio >= TARGET if asked else None,
            {"ratio": ratio, "bare": ceiling, "bare_work": "C" if library else "Python", "times": times},
        )
    )


def _batch(game: Coordination, runs: int, steps: int, workers: int) -> object:
    rule = potentia.rule("lll", tau=reference.TAU)
    return potentia.run_batch(game, rule, steps, range(runs), record=(), every=steps, workers=workers, compiled=True)


def _require_same(game: Coordination) -> None:
    """Compile, load what a dataset needs, and see that workers change nothing."""
    one, two = (_batch(game, 4, 10_000, workers) for workers in (1, 2))
    if not one.identical(two):  # type: ignore[attr-defined]
        raise RuntimeError("run_batch depends on the number of workers")


@contextmanager
def _two_processes(library: Path | None) -> Iterator[Callable[[int, int], None]]:
    """A function that lets two waiting processes work the given number of rounds at the same time."""
    context = multiprocessing.get_context("spawn")
    ends = [context.Pipe() for _ in range(2)]
    processes = [context.Process(target=_worker, args=(end, library), daemon=True) for _, end in ends]
    for process, (_, end) in zip(processes, ends, strict=True):
        process.start()
        end.close()  # the process has it; if it dies, waiting for its answer then fails instead of lasting

    def work(*rounds: int) -> None:
        busy = [ours for (ours, _), count in zip(ends, rounds, strict=True) if count]
        for ours, count in zip(busy, filter(None, rounds), strict=True):
            ours.send(count)
        for ours in busy:
            ours.recv()

    work(1, 1)  # both have started and loaded everything
    try:
        yield work
    finally:
        for ours, _ in ends:
            ours.send(0)
        for process in processes:
            process.join()


def _worker(connection: Connection, library: Path | None) -> None:
    work = _python_loop if library is None else _c_loop(library)
    while rounds := connection.recv():
        for _ in range(rounds):
            work()
        connection.send(None)


def _c_loop(library: Path) -> Callable[[], object]:
    run = potentia.begin(
        consensus(ring_edges(reference.PLAYERS)), potentia.rule("lll", tau=reference.TAU), SEED, record=()
    )
    loop = reference.ring(library, "lll")
    return lambda: loop(run, BARE_STEPS)


def _python_loop() -> int:
    total = 0
    for k in range(BARE_STEPS // 2):
        total ^= k
    return total
