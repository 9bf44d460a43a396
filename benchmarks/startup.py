"""First touch: from the start of a process to its result, with an empty kernel cache and with one that was used.

Beside it stands an interpreter that does nothing.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

from benchmarks.report import Effort, Report, Row
from potentia.studies.timing import Contender, fastest, interleaved, timed

MOST_SECONDS = 0.3
_GAME = "import numpy as np; game = pt.games.NormalForm(np.random.default_rng(0).random((3, 2, 2, 2)))"
_ROBOTS = "game = pt.games.Coverage(world=pt.games.paper_world(), robots=5, delta=1.5)"
_OWN = """
import os
def utility(player, profile, data):
    return float((profile == profile[player]).sum())
game = pt.games.custom(utility, [3] * 6)
run = pt.begin(game, pt.rule("blll", tau=0.3))
run.advance(STEPS)
"""
_SCRIPTS = {  # what, the script, and the most seconds that it may take cold and warm
    "1,000 steps of LLL, 3 players": (f"{_GAME}; pt.run(game, pt.rule('lll', tau=0.5), 1000)", 1.5, 0.9),
    "500 steps of P-SBLLL, the paper's map": (
        f"{_ROBOTS}; pt.run(game, pt.rule('p-sblll', tau=5e-4, revision=0.3), 500)",
        2.5,
        None,
    ),
    "5,000 of 10,000 steps, a game of one's own": (_OWN.replace("STEPS", "5_000"), 2.0, None),
}
_COMMAND = ("run", "stag-hunt", "--rule", "blll", "--steps", "1000")
_DEMO, _DEMO_SECONDS = ("reproduce", "--quick", "--out", "demo"), 100.0  # what "make demo" runs
_RING = "game = pt.games.ising(pt.games.ring_edges(20))"
_COMPILING = {  # what, and the script; its own seconds of processor time are printed
    "LLL on a ring": f"{_RING}; rule = pt.rule('lll', tau=0.5)",
    "P-SBLLL on the paper's map": f"{_ROBOTS}; rule = pt.rule('p-sblll', tau=5e-4, revision=0.3)",
}
_COMPILED = (
    "import time; t = time.process_time(); pt.run(game, rule, 10, compiled=True); print(time.process_time() - t)"
)


def compare(effort: Effort, report: Report) -> None:
    """Add the line of this comparison to the report."""
    # The console script lies next to the interpreter of the environment it was installed into.
    script = Path(sys.executable).with_name("potentia")
    if not script.exists():
        report.notes.append("start-up skipped: the script potentia is not installed; use: pip install -e .")
        return
    commands = {"potentia": [str(script), "--help"], "python": [sys.executable, "-c", "pass"]}
    tried = subprocess.run(commands["potentia"], capture_output=True, text=True, check=False)
    if tried.returncode:
        why = (tried.stderr.strip().splitlines() or ["no message"])[-1]
        report.notes.append(f"start-up skipped: potentia --help failed: {why}")
        return
    times = interleaved({name: _starting(command) for name, command in commands.items()}, max(effort.repetitions, 5))
    best = fastest(times)
    report.rows.append(
        Row(
            "potentia --help",
            f"{best['potentia']:.3f} s",
            f"python -c pass {best['python']:.3f} s",
            f"{best['potentia'] / best['python']:.1f}× the time",
            f"< {MOST_SECONDS} s",
            best["potentia"] < MOST_SECONDS,
            {"times": times},
        )
    )


def first_touch(effort: Effort, report: Report) -> None:
    """Add a line for each first result."""
    commands: dict[str, tuple[list[str], float, float | None]] = {
        what: ([sys.executable, "-c", f"import potentia as pt\n{script}"], cold, warm)
        for what, (script, cold, warm) in _SCRIPTS.items()
    }
    script = str(Path(sys.executable).with_name("potentia"))
    commands[f"potentia {' '.join(_COMMAND)}"] = ([script, *_COMMAND], 2.0, 0.9)
    for what, (command, cold, warm) in commands.items():
        for kept, most in (("empty", cold), ("used", warm)):
            times = [_touching(command, kept == "used") for _ in range(max(3, effort.children))]
            target = "–" if most is None else f"< {most} s"
            met = None if most is None else min(times) < most
            name = f"{what}, {kept} cache"
            report.rows.append(Row(name, f"{min(times):.2f} s", "–", "–", target, met, {"times": times}))
    seconds = _touching([script, *_DEMO], again=False)
    name, target = "the demo, empty cache, once", f"< {_DEMO_SECONDS:g} s"
    report.rows.append(Row(name, f"{seconds:.0f} s", "–", "–", target, seconds < _DEMO_SECONDS, {"times": [seconds]}))


def compiling(effort: Effort, report: Report) -> None:
    """Add a line for what each of some kernels costs a process that has none: processor time, importing Numba, too."""
    for what, script in _COMPILING.items():
        command = [sys.executable, "-c", f"import potentia as pt\n{script}; {_COMPILED}"]
        times = []
        for _ in range(max(3, effort.children)):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "POTENTIA_CACHE_DIR": folder}
                times.append(float(subprocess.run(command, capture_output=True, check=True, env=environment).stdout))
        report.rows.append(Row(f"compiling {what}", f"{min(times):.1f} s of CPU", "–", numbers={"times": times}))


def _touching(command: list[str], again: bool) -> float:
    """Seconds of a process with a kernel cache of its own: the first, or one after the kernel was compiled."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "POTENTIA_CACHE_DIR": folder}

        def start() -> float:
            return timed(lambda: subprocess.run(command, capture_output=True, check=True, env=environment, cwd=folder))

        seconds = start()
        if again:
            seconds = start()
        _wait_for_compilers(folder)
        return seconds


def _wait_for_compilers(folder: str) -> None:
    """Those that a process has left behind, so that they disturb no other measurement, and end before their folder."""
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            compiling = "potentia.kernel.compiling" in (process.info["cmdline"] or ())
            if compiling and process.environ().get("POTENTIA_CACHE_DIR") == folder:
                process.wait(timeout=120)


def _starting(command: list[str]) -> Contender:
    return lambda: timed(lambda: subprocess.run(command, capture_output=True, check=True))
