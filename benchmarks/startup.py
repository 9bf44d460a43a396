"""Start-up: the wall time of ``potentia --help``, beside that of an interpreter that does nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Contender, Effort, Report, Row, interleaved, timed

MOST_SECONDS = 0.3


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
    best = {name: min(seconds) for name, seconds in times.items()}
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


def _starting(command: list[str]) -> Contender:
    return lambda: timed(lambda: subprocess.run(command, capture_output=True, check=True))
