"""The folder of a report: the page, the claims as JSON, figures, replays, records and tables. Each file whole or not at
all."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.engine.interrupt import deferred_interrupt
from potentia.errors import InvalidInput
from potentia.kernel.files import whole_file
from potentia.kernel.texts import inert
from potentia.paper.report.page import Report, render
from potentia.statistics.estimates import Estimate
from potentia.studies.summary import write_netcdf

if TYPE_CHECKING:
    import xarray

PAGE, CLAIMS = "report.html", "claims.json"
FOLDERS = ("figures", "data")
_GREEK = {"τ": "tau", "μ": "mu", "δ": "delta", "ϑ": "theta", "ζ": "zeta", "ξ": "xi"}


def strict_json(value: Any) -> str:
    """JSON that any reader takes: what is not a finite number becomes null."""
    return json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {"mean": _plain(value.mean), "low": _plain(value.low), "high": _plain(value.high), "count": value.count}
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # NumPy's
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def slug(name: str) -> str:
    """A name as part of a file name."""
    spelt = "".join(_GREEK.get(letter, letter) for letter in name.lower())
    plain = unicodedata.normalize("NFKD", spelt).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table as CSV; an estimate takes three columns, its mean and the ends of its interval. No text is a formula."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    wide = {name for name in columns if any(isinstance(row.get(name), Estimate) for row in rows)}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = [[name, f"{name} low", f"{name} high"] if name in wide else [name] for name in columns]
    writer.writerow(inert(name) for names in head for name in names)
    for row in rows:
        cells: list[Any] = []
        for name in columns:
            entry = _plain(row.get(name))
            if name not in wide:
                cells.append(entry)
            elif isinstance(entry, dict):
                cells += [entry["mean"], entry["low"], entry["high"]]
            else:
                cells += [entry, None, None]
        writer.writerow(["" if cell is None else inert(cell) for cell in cells])
    return out.getvalue()


def profiles_dataset(runs: Mapping[str, Any]) -> xarray.Dataset:
    """Profiles over time of several runs, (T, N) each, in one dataset."""
    import xarray

    variables = {slug(name): ((f"time_{slug(name)}", "player"), np.asarray(run)) for name, run in runs.items()}
    return xarray.Dataset(variables)


def _narrow(data: xarray.Dataset) -> xarray.Dataset:
    """The same numbers in less room: counts that were recorded as doubles become integers."""
    counts = {}
    for name, variable in data.data_vars.items():
        values = variable.values
        if values.dtype == np.float64 and values.size and np.isfinite(values).all() and np.abs(values).max() < 2**31:
            whole = values.astype(np.int32)
            if (whole == values).all():
                counts[name] = (variable.dims, whole)
    return data.assign(counts)


def write(
    out: Path,
    report: Report | None,
    facts: Mapping[str, Any],
    data: Mapping[str, xarray.Dataset],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Path:
    """Write everything and return the page's path; with no report, which could not be drawn, data and claims.

    The page and the claims come last, so that a folder that has them has the rest. Ctrl-C does
    nothing while files are written, which takes a second or two.
    """
    page, claims = None if report is None else render(report), strict_json(facts)
    small: dict[Path, bytes] = {}
    for drawn in () if report is None else report.pictures:
        for kind in ("png", "pdf"):
            _add(small, out / "figures" / f"{drawn.file}.{kind}", drawn.files[kind])
        if drawn.replay is not None:
            _add(small, out / drawn.watch, drawn.replay.page.encode("utf-8"))
    for name, rows in tables.items():
        _add(small, out / "data" / f"{slug(name)}.csv", csv_text(rows).encode("utf-8"))
    records: dict[Path, xarray.Dataset] = {}
    for name, dataset in data.items():
        _add(records, out / "data" / f"{slug(name)}.nc", dataset)
    with deferred_interrupt():
        for folder in dict.fromkeys([*(out / name for name in FOLDERS), *(path.parent for path in small)]):
            folder.mkdir(parents=True, exist_ok=True)
        for path, dataset in records.items():
            write_netcdf(_narrow(dataset), path)
        small[out / CLAIMS] = claims.encode("utf-8")
        if page is not None:
            small[out / PAGE] = page.encode("utf-8")
        for path, content in small.items():
            with whole_file(path) as temporary:
                temporary.write_bytes(content)
    return out / PAGE


def _add(files: dict[Path, Any], path: Path, content: Any) -> None:
    if path in files:
        raise InvalidInput(f"must differ as file names, got {path.name} twice", "names", path.name)
    files[path] = content
