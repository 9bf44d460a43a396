"""The commands about studies: new, sweep and export; what came out of one is shown by another file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import Folder, Json, Partial, check_folder, told
from potentia.cli.terminal import print_json, print_table, progress, say, say_how_to_stop, status
from potentia.errors import InvalidInput
from potentia.kernel.texts import command, value


def new(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to write it.")] = Path("study.toml"),
    kind: Annotated[
        str,
        typer.Option("--for", help="ring (a built-in game), coverage (robots on a map) or payoffs (your own table)."),
    ] = "ring",
    json: Json = False,
) -> None:
    """Write a commented specification of a study, to begin with.

    Edit it, and run it with "potentia sweep".

    Examples:

    \b
        potentia new                          # study.toml: two rules on a ring, three temperatures
        potentia new robots.toml --for coverage
        potentia new mine.toml --for payoffs  # a game of your own, from a payoff file
    """
    from potentia.studies.templates import write_template

    check_folder(file, "FILE")
    written = write_template(file, kind)
    if json:
        return print_json({"file": str(written)})
    say(f"wrote {written}; edit it, then: {command('sweep', written)}")
    return None


def sweep(
    study: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY",
            help="A specification (.toml; see: potentia new), or the folder of a study to go on with.",
            show_default=False,
        ),
    ],
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the specification, as in rule.tau=1e-3 or seeds=5."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the study.", show_default="FILE.study beside FILE.toml")
    ] = None,
    workers: Annotated[int, typer.Option(help="How many work at once; the result does not depend on it.")] = 2,
    processes: Annotated[
        bool, typer.Option("--processes", help="Processes instead of threads: for games that run in Python.")
    ] = False,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A dask scheduler, as in tcp://host:8786, or local for one here."),
    ] = None,
    dask_tls: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Certificates for a tls:// scheduler: ca.pem, cert.pem and key.pem.",
            show_default="dask's own configuration",
        ),
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", help="Give up when a cluster has no workers for so long; inf: never.")
    ] = 300.0,
    repair: Annotated[bool, typer.Option("--repair", help="Compute damaged chunks again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Go ahead with more than 100,000 runs.")] = False,
    dry: Annotated[bool, typer.Option("--dry-run", help="Check everything, say what would be run, and stop.")] = False,
    json: Json = False,
) -> None:
    """Run a study, or what is still missing of it.

    Every game, belief and rule of a specification, for every combination of what varies, with every seed. Stop it at
    any moment, with Ctrl-C, SIGTERM or by force, and give the same command again: it goes on where it was, and the
    result is the same to the bit. So it is on one worker, on several processes or on a cluster.

    A specification that asks for more than the study in its folder has (seeds, values, rules, games) lets it grow: only
    what is missing is played.

    Examples:

    \b
        potentia new study.toml                    # a specification to begin with
        potentia sweep study.toml                  # runs it into study.study
        potentia sweep study.toml --set seeds=5 --set rule.tau=[0.1,0.3] --out trial
        potentia sweep study.study                 # goes on with it
        potentia sweep study.toml --set seeds=200  # lets it grow
        potentia sweep study.toml --dask tcp://cluster:8786
        potentia show study.study                  # what came out
    """
    from potentia.studies import executors, sweeping
    from potentia.studies.specification import read_specification
    from potentia.studies.store import open_study

    if study.is_dir():
        if change or (out is not None and out != study):
            refused = f"{study} is a study already: --set and --out are for specifications; to let it grow"
            call = f"potentia sweep SPECIFICATION.toml --set seeds=N --out {study}"
            raise InvalidInput(f"{refused}, such as by more seeds: {call}")
        found = open_study(study)
    else:
        specification, source = read_specification(study, change or [])
        folder = sweeping.folder_for(study) if out is None else out
        if dry:
            return _say_plan(specification, source, folder, json)
        with status("checking", quiet=json):
            found = sweeping.prepare(specification, source, folder, yes)
    if dry:
        missing = len(found.missing())
        if json:
            return print_json({"study": str(found.folder), "chunks": found.num_chunks, "missing": missing})
        say(f"{found.folder}: {missing:,} of {found.num_chunks:,} chunks are missing")
        return None
    growth = found.growth
    if growth is not None and not json:
        say(f"{found.folder} grows from {found.num_runs:,} to {growth.built.num_runs:,} runs")
    say_how_to_stop()
    try:
        finishing = "finishing what is under way; Ctrl-C again drops it"
        name = (found.specification if growth is None else growth.specification).name
        with progress(name, quiet=json, unit="runs", stopping=finishing) as tell:
            done = sweeping.sweep(
                found,
                workers=workers,
                executor=executors.at(dask) if dask is not None else "processes" if processes else "threads",
                dask_tls=dask_tls,
                wait=wait,
                repair=repair,
                progress=tell,
            )
    except sweeping.Stopped as stopped:
        say(told(stopped), err=True)
        raise typer.Exit(130) from None
    runs, computed = done.num_runs, done.computed
    if json:
        return print_json({"study": str(done.folder), "runs": runs, "chunks": done.num_chunks, "computed": computed})
    how = "nothing was missing" if not computed else f"{computed:,} of them played now"
    say(f"{done.folder}: {runs:,} runs, complete ({how})")
    say(f"see them with: {command('show', done.folder)}")
    return None


def _say_plan(specification: Any, source: Path, folder: Path, json: bool) -> None:
    from potentia.studies.growing import growth_of
    from potentia.studies.planning import plan
    from potentia.studies.store import is_study, open_study
    from potentia.studies.sweeping import check_number

    check_number(specification, many=True)
    built, there = plan(specification, source), 0
    if is_study(folder):
        study = open_study(folder)
        growth_of(study, specification, source)
        there = study.num_runs - sum(chunk.runs for chunk in study.missing())
    about: dict[str, Any] = {
        "study": str(folder),
        "points": len(built.points),
        "seeds": len(specification.seed_numbers),
        "runs": built.num_runs,
        "there": there,
        "steps": specification.steps,
        "record": list(built.record),
        "every": specification.spacing,
        "grid": [point.describe() for point in built.points[:20]],
    }
    if json:
        return print_json(about)
    shown = {**about, "record": ", ".join(built.record)}
    points = shown.pop("grid")
    print_table(None, [[name, value(entry)] for name, entry in shown.items()])
    for text in points:
        say(f"  {text}")
    if len(built.points) > len(points):
        say(f"  and {len(built.points) - len(points):,} more")
    return None


def export(
    study: Folder,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="data.nc, data.csv or data.parquet.", show_default=False)
    ],
    table: Annotated[
        str, typer.Option(help="csv and parquet: records (a row for each record of each run) or runs (a row for each).")
    ] = "records",
    partial: Partial = False,
    json: Json = False,
) -> None:
    """Write the results of a study to one file.

    Examples:

    \b
        potentia export study.study data.nc             # xarray and others
        potentia export study.study data.parquet        # pandas, polars, R, DuckDB
        potentia export study.study runs.csv --table runs
    """
    from potentia.studies.store import open_study
    from potentia.studies.tables import export as write

    found = open_study(study)
    check_folder(file, "FILE")
    with status("writing", quiet=json):
        written = write(found, file, table, partial)
    if json:
        return print_json({"file": str(written), "bytes": written.stat().st_size})
    say(f"wrote {written} ({written.stat().st_size:,} bytes)")
    return None
