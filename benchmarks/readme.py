"""The README's table of speeds: the rows of a report, between two marks, so that no number is typed by hand."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import Report

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def write(path: Path, report: Report, machine: str) -> None:
    """Replace what stands between the marks."""
    head, rest = path.read_text(encoding="utf-8").split(BEGIN)
    _, tail = rest.split(END)
    lines = ["| what | potentia | contender | ratio | target |", "|---|---|---|---|---|"]
    lines += [f"| {r.what} | {r.potentia} | {r.contender} | {r.ratio} | {r.target} |" for r in report.rows]
    missed = [row.what for row in report.rows if row.met is False]
    lines += ["", f"`make bench` prints this table; here on {machine}, contenders interleaved, best of several."]
    if missed:
        lines += ["", f"Targets missed in this run: {'; '.join(missed)}."]
    path.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail, encoding="utf-8")
