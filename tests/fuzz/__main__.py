"""The command: ``python -m tests.fuzz --count 100000 --seed 0``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.readers import READERS
from tests.fuzz.runner import SECONDS, Runner, Tally


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 1 where anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="inputs of all readers together")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same inputs")
    parser.add_argument("--reader", action="append", metavar="NAME", help=f"only this one, of {', '.join(READERS)}")
    parser.add_argument("--minutes", type=float, help="begin nothing more after so many")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="where inputs that failed are kept")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that reading one input may take")
    parser.add_argument("--file", type=Path, help="read this one file, with the one --reader")
    parser.add_argument("--special", help="read this, with the one --reader: fifo, folder, huge file, ...")
    given = parser.parse_args(arguments)
    readers = given.reader or list(READERS)
    for name in readers:
        if name not in READERS:
            parser.error(f"there is no reader {name} (there is {', '.join(READERS)})")
    runner = Runner(given.seed, given.out, given.processes, given.seconds)
    if given.file is not None or given.special is not None:
        if len(readers) != 1:
            parser.error("--file and --special need one --reader")
        what = {"special": given.special} if given.file is None else {"file": str(given.file.absolute())}
        return _one(runner, readers[0], what)
    until = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    began = time.monotonic()

    def tell(done: int) -> None:
        sys.stderr.write(f"\r{done:,} of {given.count:,} inputs, {done / (time.monotonic() - began):,.0f} a second ")

    tallies = runner.run(readers, given.count, until, tell if sys.stderr.isatty() else None)
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    return report(tallies)


def _one(runner: Runner, reader: str, what: dict[str, str]) -> int:
    (found,) = runner.ask({"reader": reader, **what})
    kind, where, said = found.get("verdict") or (found["kind"], found["where"], found["said"])
    sys.stdout.write(f"{kind}{f' at {where}' if where else ''}: {said}\n")
    return 0 if kind in ("accepted", "refused") else 1


def report(tallies: dict[str, Tally]) -> int:
    """Print the counts and what went wrong, once for each place."""
    lines = [("reader", "inputs", "accepted", "refused", "failures")]
    lines += [
        (n, f"{t.inputs:,}", f"{t.accepted:,}", f"{t.refused:,}", f"{len(t.failures):,}") for n, t in tallies.items()
    ]
    wide = max(len(line[0]) for line in lines)
    for name, *counts in lines:
        sys.stdout.write(f"{name:<{wide}}" + "".join(f"{count:>10}" for count in counts) + "\n")
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for name, tally in tallies.items():
        for failure in tally.failures:
            groups.setdefault((name, failure["kind"], failure["where"]), []).append(failure)
    for (name, kind, where), found in sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1]))):
        first = min(found, key=lambda one: (not one["again"], len(one["how"])))
        said = " ".join(first["said"].split())[-200:]
        sys.stdout.write(f"\n{name}: {len(found):,} times {kind} at {where or 'no line of ours'}\n    {said}\n")
        sys.stdout.write(f"    {first['how'][:300]}\n    {first['again']}\n")
    inputs = sum(tally.inputs for tally in tallies.values())
    sys.stdout.write(f"\n{inputs:,} inputs, {sum(len(t.failures) for t in tallies.values()):,} failures\n")
    return 1 if groups else 0


if __name__ == "__main__":
    sys.exit(main())
