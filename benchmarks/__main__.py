"""The program: measure, print one table, write the numbers.

The exit code is 0 even where a target is missed: this is a report. It is not 0 where the engine's bits
differ from C's, since then no number means anything.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import (
    beliefs,
    coverage,
    environments,
    exact,
    mixture,
    optima,
    peers,
    reference,
    reinforcement,
    scaling,
    startup,
    studio,
    sweeps,
    viewer,
    workers,
)
from benchmarks.report import QUICK, Effort, Report
from potentia.kernel.background import cores
from potentia.studies.timing import NOISY, Bystanders, timed

PACKAGES = (
    "potentia",
    "numba",
    "numpy",
    "scipy",
    "xarray",
    "networkx",
    "quantecon",
    "open_spiel",
    "scikit-learn",
    "pettingzoo",
)
PARTS = (
    "peers",
    "reference",
    "coverage",
    "reinforcement",
    "beliefs",
    "mixtures",
    "scaling",
    "workers",
    "sweeps",
    "exact",
    "optima",
    "viewer",
    "studio",
    "environments",
    "startup",
)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed, side by side.")
    parser.add_argument("--out", type=Path, help="write all numbers to this JSON file")
    parser.add_argument("--quick", action="store_true", help="shorter and fewer repetitions, to try it out")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="measure some parts only")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()
    console = Console()
    report, bystanders = Report(), Bystanders()
    seconds = timed(lambda: _measure(report, effort, console, options.only))
    others = bystanders.cores()
    if others > NOISY:
        report.notes.append(
            f"other programs kept {others:.1f} processors busy; expect noise, most of all with two workers"
        )
    _show(report, console, seconds)
    if options.out:
        _write(options.out, report, effort, {"seconds": seconds, "processors_busy_elsewhere": others})
        console.print(f"Numbers: {options.out}")


def _measure(report: Report, effort: Effort, console: Console, parts: Sequence[str]) -> None:
    def asked(part: str, what: str) -> bool:
        if part in parts:
            console.print(f"measuring {what} ...", style="dim")
        return part in parts

    with tempfile.TemporaryDirectory() as directory:
        if asked("peers", "peers"):
            peers.compare(effort, report)
        needs_library = {"reference", "workers"} & set(parts)
        library = reference.build(Path(directory), report) if needs_library else None
        if library is not None and asked("reference", "C"):
            reference.compare(library, effort, report)
        if "coverage" in parts:
            robots = reference.build(Path(directory), report, "coverage")
            if robots is not None and asked("coverage", "coverage"):
                coverage.compare(robots, effort, report)
        if asked("reinforcement", "rules with scores"):
            reinforcement.compare(reference.build(Path(directory), report, "reinforcement"), effort, report)
        if asked("beliefs", "beliefs"):
            beliefs.compare(effort, report)
        if asked("mixtures", "mixtures"):
            mixture.compare(effort, report)
        if asked("scaling", "a million players"):
            scaling.compare(effort, report)
        if asked("workers", "two workers"):
            workers.compare(library, effort, report)
        if asked("sweeps", "sweeps"):
            sweeps.compare(effort, report)
        if asked("exact", "exact analysis"):
            exact.compare(effort, report)
        if asked("optima", "optima"):
            optima.compare(effort, report)
        if asked("viewer", "pages and films"):
            viewer.compare(effort, report)
        if asked("studio", "the studio"):
            studio.compare(effort, report)
        if asked("environments", "environments"):
            environments.compare(effort, report)
        if asked("startup", "start-up"):
            startup.compare(effort, report)
            startup.first_touch(effort, report)
            startup.compiling(effort, report)


def _show(report: Report, console: Console, seconds: float) -> None:
    table = Table(title=f"{platform.python_implementation()} {platform.python_version()}, {seconds:.0f} s")
    for column in ("what", "potentia", "contender", "ratio", "target", "met"):
        table.add_column(column, overflow="fold")
    for row in report.rows:
        met = {True: "[green]yes[/]", False: "[bold red]MISSED[/]", None: "–"}[row.met]
        table.add_row(row.what, row.potentia, row.contender, row.ratio, row.target, met)
    # Into a file, the table keeps the width it needs.
    wide = console if console.is_terminal else Console(width=max(console.width, 150))
    wide.print(table)
    for note in report.notes:
        wide.print(f"Note: {note}", markup=False, highlight=False)
    missed = [row.what for row in report.rows if row.met is False]
    asked = sum(row.met is not None for row in report.rows)
    wide.print(f"{asked - len(missed)} of {asked} targets met" + (f"; missed: {'; '.join(missed)}" if missed else ""))


def _write(path: Path, report: Report, effort: Effort, conditions: dict[str, float]) -> None:
    numbers = {
        "versions": _versions(),
        "processors": cores(),
        "machine": f"{platform.system()} {platform.machine()}",
        "effort": asdict(effort),
        **conditions,
        "rows": [asdict(row) for row in report.rows],
        "notes": report.notes,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _versions() -> dict[str, Any]:
    found: dict[str, Any] = {"python": platform.python_version(), "compiler": reference.compiler_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


if __name__ == "__main__":
    main()
