"""The report of the reproduction: every claim of the paper with its verdict, and every figure played again."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from potentia.paper.case_tables import PUBLISHED
from potentia.paper.case_words import LEARNS_NOTHING
from potentia.paper.claims import Claim
from potentia.paper.report import sections
from potentia.paper.report.answering import lead
from potentia.paper.report.arranging import parts
from potentia.paper.report.page import Report
from potentia.paper.report.tables import Table
from potentia.paper.report.wording import texts
from potentia.paper.report.words import in_one_sentence, told
from potentia.paper.scale import FULL
from potentia.studies.coverage_ends import learnt
from potentia.version import __version__

if TYPE_CHECKING:
    import xarray

    from potentia.paper.case_study import CaseStudy
    from potentia.paper.choosing import Choice

MOST_ROWS = 500  # of a record, beside its first
BATCHES = tuple(PUBLISHED)  # of the case study, as they are called in file names


def build(
    study: CaseStudy,
    claims: Iterable[Claim],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    choice: Choice | None = None,
) -> Report:
    """The report. ``claims`` are all of them, ``tables`` those of the case study, by part; or those of a choice."""
    every, words = list(claims), texts()
    chosen = None if choice is None or choice.asked is None else choice
    drawn = sections.drawn(study, every, None if chosen is None else chosen.sections)
    shown = {
        name: _once(Table(words["captions"][name], _readable(rows, getattr(study, name, {})), name))
        for name, rows in tables.items()
        if rows
    }
    told_in = parts(study, every, drawn, shown, tables, whole=chosen is None)
    first = [*lead(every), in_one_sentence(every)] if chosen is None else [in_one_sentence(every)]
    alone = [] if chosen is None else [words["alone"].format(asked=chosen.asked)]
    about = [*alone, *words["about"]]
    return Report(words["title"], about, made(study, choice), every, told_in, first, drawn.get(sections.FIRST))


def _once(table: Table) -> Table:
    """The table without the columns that say how much was played, where that is the same in all rows."""
    said = []
    for name in ("runs", "steps"):
        cells = {told(row.get(name)) for row in table.rows if name in row}
        if len(cells) == 1:
            said.append(f"{cells.pop()} {name}")
    same = {text.split(" ")[1] for text in said}
    rows = [{name: cell for name, cell in row.items() if name not in same} for row in table.rows]
    return Table(", ".join([table.caption, *said]), rows, table.name)


def _readable(rows: Sequence[Mapping[str, Any]], batches: Mapping[str, xarray.Dataset]) -> list[dict[str, Any]]:
    """The columns that people compare, under names that they read; files have all of them."""
    out = []
    for row in rows:
        whole = dict(row)
        data = batches.get(row["algorithm"]) if "settles" in row else None
        if data is not None and not learnt(data):
            whole["settles"] = LEARNS_NOTHING
        if "best" in row:
            whole["note"] = ", ".join(said for name, said in texts()["notes"].items() if row[name])
        if "low" in row:
            whole["least"] = f"{told(row['low'])} to {told(row['high'])}"
        if row.get("published_mean") is not None:
            ends = f" ({told(row['published_low'])} to {told(row['published_high'])})"
            whole["printed"] = told(row["published_mean"]) + ends
        elif "published_mean" in row:
            whole["printed"] = None
        cells: dict[str, Any] = {}
        for name, title in texts()["columns"].items():
            if name in whole:  # two columns may say "published": of worth, and of steps
                cells[title if title not in cells else f"{title} step"] = whole[name]
        out.append(cells or whole)
    return out


def made(study: CaseStudy, choice: Choice | None = None) -> dict[str, str]:
    """How the report was made, without the time: the same seeds give the same page."""
    scale, asked = study.scale, None if choice is None else choice.asked
    command = "potentia reproduce" + ("" if scale.name == FULL.name else f" --{scale.name}")
    command += f" --seed {scale.seed}" if scale.seed else ""
    return {
        "Command": command + ("" if asked is None else f" --only {shlex.quote(asked)}"),
        "Version": f"potentia {__version__}; " + ", ".join(f"{name} {at}" for name, at in versions().items()),
        "Scale": texts()["scale"].format(s=scale, heard=min(scale.heard, scale.long)),
        "Seeds": _spans(seeds(study)),
    }


def versions() -> dict[str, str]:
    """Of what the numbers depend on."""
    import numba
    import numpy

    return {"Python": platform.python_version(), "Numba": numba.__version__, "NumPy": numpy.__version__}


def batches(study: CaseStudy) -> dict[str, Mapping[str, xarray.Dataset]]:
    """Every batch that was played, by group and name; a study need not have all groups."""
    return {name: vars(study)[name] for name in BATCHES if name in vars(study)}


def records(study: CaseStudy) -> dict[str, xarray.Dataset]:
    """What is kept of the runs, by file name; a batch that two parts show is kept once, with the first.

    At most every so many steps, evenly, and always the last: a full study would take hundreds of megabytes.
    """
    from potentia.paper.report.writing import profiles_dataset

    out: dict[str, xarray.Dataset] = {}
    for group, named in batches(study).items():
        for name, data in named.items():
            again = group == "four" and name in vars(study).get("learners", ())  # some of the same runs
            if not again and not any(data is kept for kept in out.values()):
                out[f"{group}-{name}"] = data
    kept = {name: _thinned(data) for name, data in out.items()}
    shown = vars(study).get("finals")
    return kept if shown is None else kept | {"configurations": profiles_dataset(shown)}


def _thinned(data: xarray.Dataset) -> xarray.Dataset:
    last = data.sizes["time"] - 1
    rows = list(range(0, last + 1, max(1, -(-last // MOST_ROWS))))
    return data.isel(time=rows if rows[-1] == last else [*rows, last])


def seeds(study: CaseStudy) -> dict[str, list[int]]:
    """The seeds of each group of batches, and those on which temperatures were chosen."""
    from potentia.paper.case_study import TUNING

    found = {
        group: sorted({int(seed) for data in named.values() for seed in data.seed.values})
        for group, named in batches(study).items()
    }
    tuned = {"tuning": list(study.scale.seeds(study.scale.tuning, TUNING))} if "tuning" in vars(study) else {}
    return found | tuned


def _spans(named: Mapping[str, Sequence[int]]) -> str:
    """Names by their seeds, as in "0 to 19 (model, known); 0 to 9 (four)"."""
    out: dict[str, list[str]] = {}
    for name, numbers in named.items():
        low, high = numbers[0], numbers[-1]
        span = f"{low} to {high}" if list(numbers) == list(range(low, high + 1)) else ", ".join(map(str, numbers))
        out.setdefault(span, []).append(name)
    return "; ".join(f"{span} ({', '.join(names)})" for span, names in out.items())


def facts(study: CaseStudy, claims: Iterable[Claim], choice: Choice | None = None) -> dict[str, Any]:
    """What claims.json holds, as plain data; nothing in it changes from one run to the next."""
    return {
        **({} if choice is None or choice.asked is None else {"only": choice.asked}),
        "format": 1,
        "potentia": __version__,
        "versions": versions(),
        "scale": asdict(study.scale),
        "seeds": seeds(study),
        "claims": [claim.to_dict() for claim in claims],
    }
