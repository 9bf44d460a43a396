"""A study as a table, for those who work with data frames or spreadsheets, and the files it is exported to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import StudyError
from potentia.games.roster import NEVER
from potentia.kernel.files import whole_file
from potentia.kernel.texts import inert
from potentia.studies.arranging import column
from potentia.studies.datasets import dataset, played, present, totals_of
from potentia.studies.points import LIVES, dimensions_of
from potentia.studies.refusals import refused

if TYPE_CHECKING:
    import pandas
    import xarray

    from potentia.studies.store import Study

TABLES = ("records", "runs")
_WIDEST = 100  # players with a column each


def frames(study: Study, table: str = "records", partial: bool = False) -> Iterator[pandas.DataFrame]:
    """The study as a table, a chunk at a time: a row for each record of each run, or for each run."""
    import pandas

    names, totals = study.manifest["names"], sorted(totals_of(study))
    every, players = study.manifest["every"], max(point["players"] for point in study.points)
    # a column holds texts where any of its values is one
    columns = {key: column([point["values"].get(key) for point in study.points]) for key in names}
    for chunk, found in played(study, present(study, partial)):
        point, seeds = study.points[chunk.point], np.asarray(study.seeds_of(chunk), np.int64)
        out: dict[str, Any] = dict(point["labels"])
        out |= {names[key]: columns[key][chunk.point] for key in names}
        timed = {n: values for n, values in found.items() if n not in totals and "time" in dimensions_of(n)}
        scalars = {name: values for name, values in timed.items() if values.ndim == 2}
        if table == "runs":
            out["seed"] = seeds
            out |= {name: found[name] for name in ("steps_done", "revisions", "changes")}
            out |= {f"{name}_end": values[:, -1] for name, values in scalars.items()}
            out |= _wide("final", found["final"], players)
            for name in totals:
                out |= _told(name, found.get(name), players, seeds.size)
        else:
            rows = max((values.shape[1] for values in timed.values()), default=0)
            out["seed"] = np.repeat(seeds, rows)
            out["time"] = np.tile(np.arange(rows) * every, seeds.size)
            out |= {name: values.reshape(-1) for name, values in scalars.items()}
            if "profile" in found:
                out |= _wide("profile", found["profile"].reshape(seeds.size * rows, -1), players)
        yield pandas.DataFrame(out)


def _wide(name: str, values: NDArray[Any], players: int) -> dict[str, NDArray[Any]]:
    """A column for each player of the largest game, where there are not too many; -1 for players that are not there."""
    if players > _WIDEST:
        return {}
    padded = np.pad(values, ((0, 0), (0, players - values.shape[1])), constant_values=-1)
    return {f"{name}_{k}": padded[:, k].astype(np.int64) for k in range(players)}


def _told(name: str, values: NDArray[Any] | None, players: int, runs: int) -> dict[str, Any]:
    """The same of what a game tells of players at the end: empty where nobody is, or kept it, or it never happens."""
    import pandas

    if players > _WIDEST:
        return {}
    kind, nothing = (np.int64, NEVER) if name in LIVES else (np.float64, np.nan)
    padded = np.full((runs, players), nothing, kind)
    if values is not None:
        padded[:, : values.shape[1]] = values
    columns: Any = padded.T.copy()
    if name in LIVES:
        columns = [pandas.arrays.IntegerArray(times, times == NEVER) for times in columns]
    return {f"{name}_{k}": column for k, column in enumerate(columns)}


def export(study: Study, path: Path, table: str = "records", partial: bool = False) -> Path:
    """Write a study to ``.nc`` (the dataset), ``.csv`` or ``.parquet`` (a table), whole or not at all.

    Spreadsheets compute texts that begin with ``=``, ``+``, ``-`` or ``@``: in ``.csv`` such a label begins with an
    apostrophe. The other two keep labels as they are.

    Parameters
    ----------
    study : Study
        What was played.
    path : Path
        The file; its ending says of which kind.
    table : str
        ``"records"``, with a row for each record of each run, or ``"runs"``, with a row for each run.
    partial : bool
        Take what is there of an incomplete study.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> from pathlib import Path
    >>> plain = {"game": {"name": "stag-hunt"}, "rule": {"name": "lll", "tau": [0.1, 0.3]}}
    >>> plain |= {"steps": 20, "seeds": 3, "record": ["potential"]}
    >>> path = pt.studies.export(pt.sweep(plain, "hunt.study"), Path("hunt.csv"))
    >>> print(path.read_text("utf-8").splitlines()[0])
    tau,seed,time,potential
    """
    kind = path.suffix.lower()
    if kind not in (".nc", ".csv", ".parquet"):
        raise StudyError(f"a study is exported to .nc, .csv or .parquet, got {path.name!r}")
    if table not in TABLES:
        raise StudyError(f"table must be one of {', '.join(TABLES)}, got {table!r}")
    parts = frames(study, table, partial)
    with refused(StudyError, f"write {path}"):
        if kind == ".nc":
            _write_netcdf(dataset(study, partial), path)
            return path
        with whole_file(path) as temporary:
            if kind == ".csv":
                with temporary.open("w", encoding="utf-8", newline="") as file:
                    for number, part in enumerate(parts):
                        _inert(part).to_csv(file, index=False, header=number == 0, lineterminator="\n")
            else:
                _write_parquet(parts, temporary, study)
    return path


def _inert(part: pandas.DataFrame) -> pandas.DataFrame:
    """The same with no text that a spreadsheet would compute."""
    texts = {name: part[name].map(inert) for name in part if part[name].dtype.kind not in "biuf"}
    return part.assign(**texts).rename(columns=inert)


def _write_netcdf(data: xarray.Dataset, path: Path) -> None:
    """Refuse rather than round: integers are kept as doubles, whole numbers of attributes have 32 bits."""
    from potentia.studies.summary import write_netcdf

    for name, variable in data.variables.items():
        values = variable.values[variable.values != NEVER] if variable.dtype == np.int64 else np.empty(0)
        if values.size and max(int(values.max()), -int(values.min())) > 2**53:  # NEVER is a double, too
            raise StudyError(f"netCDF holds whole numbers up to 2^53, {name} has larger ones: use .csv or .parquet")
    data.attrs = {n: float(v) if isinstance(v, int) and v >= 2**31 else v for n, v in data.attrs.items()}
    write_netcdf(data, path)


def _write_parquet(parts: Iterator[pandas.DataFrame], path: Path, study: Study) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise StudyError("Parquet needs pyarrow: pip install 'potentia[parquet]', or export to .csv or .nc") from None
    writer = None
    try:
        for part in parts:
            arrow = pyarrow.Table.from_pandas(part, preserve_index=False)
            if writer is None:
                about = {b"potentia": json.dumps(study.manifest["specification"]).encode()}
                schema = arrow.schema.with_metadata({**(arrow.schema.metadata or {}), **about})
                writer = parquet.ParquetWriter(path, schema)
            writer.write_table(arrow.cast(writer.schema))
    finally:
        if writer is not None:
            writer.close()
