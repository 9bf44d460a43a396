"""A sweep of 1,000 runs of about 10 ms: two workers against one, and what the store costs over bare ``run_batch``.

All three do the same runs with the same records; a sweep also plans, cuts, hashes and writes them, and every repetition
writes a new study. Before anything is timed, that the results are the same bits is checked.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import potentia
from benchmarks.report import Effort, Report, Row
from potentia.kernel.background import cores
from potentia.studies.timing import fastest, interleaved, timed

FASTER, OVERHEAD = 1.7, 0.10
STEPS, EVERY, PLAYERS, TAU = 250_000, 2_500, 1_000, 0.3


def compare(effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    runs = 1_000 if effort.batch_runs >= 40 else 100
    game, rule = potentia.game("ring", players=PLAYERS), potentia.rule("lll", tau=TAU)

    def bare(seeds: int) -> Any:
        return potentia.run_batch(game, rule, STEPS, range(seeds), record="welfare", every=EVERY, compiled=True)

    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "study"

        def swept(seeds: int, workers: int) -> Any:
            shutil.rmtree(place, ignore_errors=True)
            wanted = {
                "steps": STEPS,
                "every": EVERY,
                "seeds": seeds,
                "record": "welfare",
                "game": {"name": "ring", "players": PLAYERS},
                "rule": {"name": "lll", "tau": TAU},
            }
            return potentia.sweep(wanted, place, workers=workers)

        for workers in (1, 2):
            if not np.array_equal(swept(8, workers).dataset().welfare.values, bare(8).welfare.values):
                raise RuntimeError("a sweep and run_batch differ")
        contenders = {
            "bare": lambda: timed(lambda: bare(runs)),
            "one": lambda: timed(lambda: swept(runs, 1)),
        }
        if cores() > 1:
            contenders["two"] = lambda: timed(lambda: swept(runs, 2))
        times = interleaved(contenders, min(effort.repetitions, 5))
    best = fastest(times)
    extra = best["one"] / best["bare"] - 1
    each = best["bare"] / runs * 1e3
    report.rows.append(
        Row(
            f"sweep and store, {runs:,} runs of {each:.0f} ms, 1 worker",
            f"{best['one']:.2f} s",
            f"bare run_batch {best['bare']:.2f} s",
            f"{extra:+.1%}",
            f"≤ {OVERHEAD:.0%}",
            extra <= OVERHEAD,
            {"overhead": extra, "times": times},
        )
    )
    if "two" not in best:
        report.notes.append("a sweep on two workers skipped: this process may use one processor only")
        return
    ratio = best["one"] / best["two"]
    report.rows.append(
        Row(
            f"sweep, {runs:,} runs of {each:.0f} ms, 2 workers",
            f"{best['two']:.2f} s",
            f"1 worker {best['one']:.2f} s",
            f"{ratio:.2f}×",
            f"≥ {FASTER}×",
            ratio >= FASTER,
            {"ratio": ratio},
        )
    )
