"""A million players: cost per step, time to build and memory.

A coordination game on a random graph (1,000,000 players, 4,000,000 edges) beside one on a ring of 1,000
players. A revision looks at the player's neighbours only, eight on average against two, so what grows is
the neighbours and the misses of the processor's cache; nothing may grow with the number of players.

Each measurement is a fresh process that does nothing else: this module, run as a program. The first ones
find an empty kernel cache, so that the peak includes compiling. The peak is that of the program itself:
``ru_maxrss`` would also count what its parent held when it was started. The long run is timed in stretches, of
each the best of all processes counts, and their sum is the time: one quiet moment is seldom long enough.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import potentia
from benchmarks.report import Effort, Report, Row
from potentia.games import consensus, ring_edges
from potentia.studies.timing import SEED, timed

TAU = 0.5
RING = 1000
PLAYERS = 1_000_000
EDGES = 4_000_000
MOST_BYTES = 1e9
MOST_TIMES = 10.0
STRETCHES = 10


def random_edges(players: int, edges: int) -> NDArray[np.int64]:
    """Edges between two different players each, all pairs equally likely."""
    random = np.random.default_rng(SEED)
    one = random.integers(players, size=edges)
    return np.stack([one, (one + random.integers(1, players, size=edges)) % players], axis=1)


def peak_bytes() -> int:
    """The most memory this program has held."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def measure(kind: str, steps: int) -> dict[str, Any]:
    """Build one game and play it."""
    rule = potentia.rule("lll", tau=TAU)
    potentia.begin(consensus(ring_edges(100_000)), rule, SEED, record=(), compiled=True).advance(1000)  # compiles
    edges = ring_edges(RING) if kind == "ring" else random_edges(PLAYERS, EDGES)
    made: list[potentia.Run] = []
    building = timed(lambda: made.append(potentia.begin(consensus(edges), rule, SEED, record=(), compiled=True)))
    stretches = [timed(lambda: made[0].advance(steps // STRETCHES)) for _ in range(STRETCHES)]
    return {"build": building, "stretches": stretches, "peak": peak_bytes()}


def compare(effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    found: dict[str, list[dict[str, Any]]] = {"ring": [], "random": []}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(effort.children):
            for kind, results in found.items():
                results.append(_in_a_fresh_process(kind, effort.large_steps, cache))
    step = {kind: _seconds(results) / effort.large_steps for kind, results in found.items()}
    build = min(result["build"] for result in found["random"])
    peak = max(result["peak"] for result in found["random"])
    ratio = step["random"] / step["ring"]
    numbers: dict[str, Any] = {"steps": effort.large_steps, "edges": EDGES, "children": found}
    what = f"{PLAYERS // 10**6} M players, {EDGES // 10**6} M edges"
    report.rows += [
        Row(
            f"LLL, {what}",
            f"{step['random'] * 1e9:.0f} ns a step",
            f"ring of {RING:,}: {step['ring'] * 1e9:.0f} ns",
            f"{ratio:.1f}× the time",
            f"< {MOST_TIMES:.0f}×",
            ratio < MOST_TIMES,
            numbers | {"seconds_per_step": step, "ratio": ratio},
        ),
        Row(f"build, {what}", f"{build:.2f} s", "–", numbers={"seconds": build}),
        Row(
            f"peak memory, {what}", f"{peak / 1e9:.2f} GB", "–", "–", "< 1 GB", peak < MOST_BYTES, {"bytes": int(peak)}
        ),
    ]


def _seconds(results: list[dict[str, Any]]) -> float:
    return sum(map(min, zip(*(result["stretches"] for result in results), strict=True)))


def _in_a_fresh_process(kind: str, steps: int, cache: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scaling", kind, str(steps)],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"POTENTIA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=measure.__doc__)
    parser.add_argument("kind", choices=("ring", "random"))
    parser.add_argument("steps", type=int)
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.kind, arguments.steps)))
