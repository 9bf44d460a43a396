"""``python -m benchmarks.mutants``."""

from __future__ import annotations

import argparse
import json
import queue
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import benchmarks.mutants
from benchmarks.mutants.copies import Copy
from benchmarks.mutants.faults import SOURCES, Fault, NotPlanted, declared, lines_of, plant
from benchmarks.mutants.reaching import Reach, digest, learn

ROOT = Path(__file__).parents[2]
ENOUGH = 0.9
STAGES = (12, 60, 600)  # tests at a time: most faults are caught by the first few
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """What became of a fault."""

    id: str
    file: str
    result: str  # caught, survived, unreached, timed out or not planted
    by: str  # the test that caught it, or how many did not
    seconds: float
    control: bool


def try_out(fault: Fault, reach: Reach, copy: Copy, seconds: float) -> Row:
    """Plant the fault and run the tests that reach it until one fails."""
    began, ran, result, by = time.perf_counter(), 0, "survived", ""
    file = fault.places[0].file
    try:
        planted = plant(fault, copy.root / SOURCES)
    except NotPlanted as error:
        return Row(fault.id, file, "not planted", str(error), 0.0, fault.control)
    file = planted.file
    tests = [*reach.tests(file, lines_of(planted)), *(test for test in fault.tests if (copy.root / test).exists())]
    if not tests:
        return Row(fault.id, file, "unreached", "no test reaches it", 0.0, fault.control)
    with copy.planted(planted):
        for size in STAGES:
            left = seconds - (time.perf_counter() - began)
            if not tests or left < 3:
                break
            code, printed = copy.pytest(["-x", *tests[:size]], left)
            if code is None:
                result, by = "timed out", f"after {ran} tests"
                break
            if code == 4 and "not found:" in printed:
                raise RuntimeError(f"tests have changed under the map:\n{printed}")
            if code:
                failed = _FAILED.search(printed)
                result, by = "caught", failed[1] if failed else printed.strip().splitlines()[-1]
                break
            ran, tests = ran + len(tests[:size]), tests[size:]
    if result == "survived":
        by = f"{ran} tests" + (f", {len(tests)} not run in time" if tests else "")
    return Row(fault.id, file, result, by, round(time.perf_counter() - began, 1), fault.control)


def try_all(faults: list[Fault], reach: Reach, copies: list[Copy], seconds: float) -> list[Row]:
    """Every fault, so many at a time as there are copies; prints a row when it is known."""
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def one(fault: Fault) -> Row:
        copy = free.get()
        try:
            return try_out(fault, reach, copy, seconds)
        finally:
            free.put(copy)

    rows: list[Row] = []
    with ThreadPoolExecutor(len(copies)) as pool:
        for future in as_completed([pool.submit(one, fault) for fault in faults]):
            rows.append(row := future.result())
            print(f"{row.id:28}{row.file:32}{row.result:12}{row.seconds:6.1f} s  {row.by}", flush=True)
            _progress(f"{len(rows)} of {len(faults)} faults")
    _progress("")
    place = {fault.id: number for number, fault in enumerate(faults)}
    return sorted(rows, key=lambda row: place[row.id])


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def _arguments() -> argparse.Namespace:
    about = benchmarks.mutants.__doc__
    parser = argparse.ArgumentParser("mutants", None, about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="ID", help="this fault; may be given several times")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout whose sources and tests are taken")
    parser.add_argument("--map-only", action="store_true", help="only learn which tests reach which line")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="faults at a time (default 2)")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="for each fault (default 60)")
    parser.add_argument("--out", type=Path, default=ROOT / "out", help="folder of mutants.json and of what is kept")
    given = parser.parse_args()
    if given.processes < 1:
        parser.error(f"--processes must be at least 1, got {given.processes}")
    unknown = set(given.only or ()) - {fault.id for fault in declared()}
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}; faults.toml has them")
    return given


def main() -> int:
    given = _arguments()
    began, tree = time.perf_counter(), given.tree.resolve()
    faults = [fault for fault in declared() if not given.only or fault.id in given.only]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(tree, Path(folder) / str(number)) for number in range(given.processes)]
        _progress("which tests reach which line: the whole suite in plain Python")
        reach = learn(tree, given.out / "mutants", copies[0], given.processes)
        print(f"{len(reach.seconds)} tests, {len(reach.left_out)} left out: {reach.folder}", flush=True)
        if given.map_only:
            return 0
        rows = try_all(faults, reach, copies, given.seconds)
        caught = [row for row in rows if row.result == "caught"]
        # a test that fails without any fault, on a busy machine perhaps, has caught nothing
        _, printed = copies[0].pytest(sorted({row.by for row in caught if "::" in row.by}) or ["--version"])
        doubtful = set(_FAILED.findall(printed))
    seconds = time.perf_counter() - began
    planted = [row for row in rows if not row.control and row.result != "not planted"]
    sound = [row for row in planted if row.result == "caught" and row.by not in doubtful]
    controls = [row for row in rows if row.control and row.result == "caught"]
    share = len(sound) / max(1, len(planted))
    told = {"tree": str(tree), "digest": digest(tree), "share": share, "seconds": round(seconds)}
    told |= {"rows": [asdict(row) for row in rows], "doubtful": sorted(doubtful), "left_out": reach.left_out}
    (given.out / "mutants.json").write_text(json.dumps(told, indent=1) + "\n")
    for test in sorted(doubtful):
        print(f"fails without any fault: {test}")
    for row in controls:
        print(f"a control was caught: {row.id} by {row.by}")
    print(f"{len(sound)} of {len(planted)} faults caught, {share:.0%}, in {seconds / 60:.0f} minutes")
    return int(share < ENOUGH or bool(controls))


if __name__ == "__main__":
    sys.exit(main())
