"""The README's table of speeds, from the numbers that ``make bench`` wrote: none is typed by hand.

``python -m benchmarks.readme`` puts it between the two marks in README.md.
"""

from __future__ import annotations

import json
from pathlib import Path

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def main(numbers: Path = Path("out/bench.json"), readme: Path = Path("README.md")) -> None:
    found = json.loads(numbers.read_text(encoding="utf-8"))
    head, rest = readme.read_text(encoding="utf-8").split(BEGIN)
    _, tail = rest.split(END)
    lines = ["| what | potentia | contender | ratio | target |", "|---|---|---|---|---|"]
    lines += [
        f"| {r['what']} | {r['potentia']} | {r['contender']} | {r['ratio']} | {r['target']} |" for r in found["rows"]
    ]
    versions = ", ".join(f"{name} {found['versions'][name]}" for name in ("python", "numba", "quantecon", "open_spiel"))
    lines += [
        "",
        f"Printed by `make bench` on {found['processors']} cores ({versions}; C by {found['versions']['compiler']}), "
        "contenders interleaved in one run, best of several, nothing recorded.",
    ]
    missed = [row["what"] for row in found["rows"] if row["met"] is False]
    if missed:
        lines += ["", f"Targets missed in this run: {'; '.join(missed)}."]
    readme.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
