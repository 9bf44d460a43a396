"""All faults at all points of all scenarios: ``python -m tests.faults``. Exit code 1 where something is wrong."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults import hooks

if TYPE_CHECKING:
    from tests.faults.running import Row


def _set_up() -> None:
    """Before anything of potentia is imported."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # the same bits, and no compiling
    os.environ["MPLBACKEND"] = "agg"
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # a process with threads is not forked lightly
    hooks.install()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("scenarios", nargs="*", help="some of them; all where left out")
    parser.add_argument("--how", action="append", choices=hooks.HOWS, help="some faults; all where left out")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="so many faults of each, evenly spread")
    parser.add_argument("--unsafe", action="store_true", help="the negative controls instead, in which much is wrong")
    parser.add_argument("--json", action="store_true", help="rows as JSON, one a line")
    parser.add_argument("--examples", type=int, default=3, metavar="N", help="of what is wrong, for each row")
    given = parser.parse_args()
    _set_up()
    from tests.faults import scenarios
    from tests.faults.judging import KINDS
    from tests.faults.running import Faults, share

    known = scenarios.UNSAFE if given.unsafe else scenarios.ALL
    unknown = set(given.scenarios) - {one.name for one in known}
    if unknown:
        parser.error(f"scenarios are {', '.join(one.name for one in known)}, got {', '.join(sorted(unknown))}")
    if not given.json:
        head = [f"{'scenario':16}{'how':>12}{'points':>8}", *(f"{kind:>9}" for kind in KINDS)]
        sys.stdout.write("".join(head) + "\n")
    if not given.unsafe:
        share()
    wrong = 0
    for scenario in known:
        if given.scenarios and scenario.name not in given.scenarios:
            continue
        if scenario.parquet:
            try:
                hooks.wrap_pyarrow()
            except ImportError:
                continue
        with tempfile.TemporaryDirectory(prefix="faults-") as place:
            faults = Faults(scenario, Path(place).resolve())
            wrong += _tell(faults.undisturbed, list(KINDS), given)
            chosen = _spread(list(faults.possible(given.how or list(hooks.HOWS))), given.most, scenario.name)
            for how in given.how or hooks.HOWS:
                wrong += _tell(faults.run(how, [point for other, point in chosen if other == how]), list(KINDS), given)
    return int(wrong > 0)


def _spread(faults: list[tuple[str, int]], most: int, name: str) -> list[tuple[str, int]]:
    """So many of them, evenly spread; others for each name, and always the same."""
    if not most or len(faults) <= most:
        return faults
    first = zlib.crc32(name.encode()) % len(faults)
    return [faults[(first + number * len(faults) // most) % len(faults)] for number in range(most)]


def _tell(row: Row, kinds: list[str], given: argparse.Namespace) -> int:
    if given.json:
        told = {"scenario": row.scenario, "how": row.how, "points": row.points, "counts": row.counts}
        sys.stdout.write(json.dumps(told | {"examples": row.examples[: given.examples]}) + "\n")
    else:
        cells = [f"{row.scenario:16}{row.how:>12}{row.points:>8}", *(f"{row.counts[kind]:>9}" for kind in kinds)]
        sys.stdout.write("\n    ".join(["".join(cells), *row.examples[: given.examples]]) + "\n")
    sys.stdout.flush()
    return sum(row.counts.values())


if __name__ == "__main__":
    sys.exit(main())
