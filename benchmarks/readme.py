"""The tables of speeds, from the numbers that ``make bench`` wrote: none is typed by hand.

``python -m benchmarks.readme`` puts all of them between the two marks in docs/speed.md, and those of ``SHOWN`` into
README.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
# What the README shows: what is measured, and how its contender begins.
SHOWN = (
    ("LLL, 10 players", "QuantEcon"),
    ("LLL, ring, 1,000 players", "C "),
    ("BLLL, 5 robots on 40×40, flags, K > 0", "C "),
    ("QL, 2×2 (stag hunt)", "OpenSpiel"),
    ("stability, BLLL, 4,096 states", "QuantEcon"),
)


def main(numbers: Path = Path("out/bench.json")) -> None:
    found = json.loads(numbers.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {found['versions'][name]}" for name in ("python", "numba", "quantecon", "open_spiel"))
    how = (
        f"Printed by `make bench` on {found['processors']} cores ({versions}; C by {found['versions']['compiler']}), "
        "contenders interleaved in one run, best of several, nothing recorded."
    )
    missed = [row["what"] for row in found["rows"] if row["met"] is False]
    if missed:
        how += f"\n\nTargets missed in this run: {'; '.join(missed)}."
    rows = found["rows"]
    _put(Path("docs/speed.md"), _table(rows), how)
    _put(Path("README.md"), _table(shown(rows), "target"), how.partition("\n")[0])


def shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the README, in its order."""
    return [
        next(row for row in rows if row["what"] == what and row["contender"].startswith(contender))
        for what, contender in SHOWN
    ]


def _table(rows: list[dict[str, Any]], without: str = "") -> str:
    columns = [name for name in ("what", "potentia", "contender", "ratio", "target") if name != without]
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(row[name] for name in columns)} |" for row in rows]
    return "\n".join(lines)


def _put(page: Path, table: str, how: str) -> None:
    head, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, tail = rest.split(END)
    page.write_text(f"{head}{BEGIN}\n{table}\n\n{how}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
