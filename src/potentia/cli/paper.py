"""The command that plays the paper again: reproduce."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import Json, Workers, check_folder, drawing
from potentia.cli.terminal import console, say, say_how_to_stop, status
from potentia.errors import InvalidRun, PotentiaError
from potentia.kernel import signals

KEPT = "studies"  # the folder of what was played, beside the report
_MOST_SEED = 10**15
_COLOURS = {"yes": "green", "no": "red", "depends": "yellow", "undecided": "blue"}


def reproduce(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and games: a first look.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the report, its figures and its data.")] = Path("out/reproduce"),
    only: Annotated[
        str | None,
        typer.Option(help='A figure ("Fig. 8"), a section of the report or a claim, and no other.'),
    ] = None,
    seed: Annotated[int, typer.Option(help="Added to every seed: other runs, other random games.")] = 0,
    workers: Workers = 2,
    json: Json = False,
) -> None:
    """Play the paper again, with a verdict on every claim.

    Plays its experiments, checks its theorems on small games, and writes report.html, one page that opens without a
    network, claims.json, and figures and data beside them. What was played is kept in the folder studies there: given
    again, whatever ended it, the command goes on from where it was.

    Examples:

    \b
        potentia reproduce --quick
        potentia reproduce --quick --only "Fig. 8"
        potentia reproduce --quick --seed 5000 --out out/others
        potentia reproduce --out out/paper --workers 4
        potentia reproduce --quick --json > claims.json
    """
    from potentia.kernel.checks import Integer

    Integer(1).of(workers, "workers", InvalidRun)
    Integer(0, _MOST_SEED).of(seed, "seed", InvalidRun)
    from potentia.paper import case_claims, case_study, choosing, theory
    from potentia.paper.kept import Kept
    from potentia.paper.report import reproduction, writing
    from potentia.paper.scale import FULL, QUICK

    choice = choosing.choose(only)
    made = not out.exists()
    _check_places(out)
    scale = replace(QUICK if quick else FULL, seed=seed)
    say_how_to_stop()
    with (
        _stopping(out, made),
        status(f"reproducing ({scale.name})", quiet=json) as tell,
        _aside(theory.check, Kept(out / KEPT, scale), choice.theorems, workers) as checked,
    ):
        study = case_study.play(Kept(out / KEPT, scale, workers, tell), choice.parts)
        found = case_claims.claims(study, choice.experiments)
        tell("exact checks on small games")
        claims = [*found, *checked()]
        tell("drawing and writing the report")
        tables = case_claims.tables(study)
        report, failure = _drawn(reproduction.build, study, claims, tables, choice, out)
        facts = reproduction.facts(study, claims, choice)
        page = writing.write(out, report, facts, reproduction.records(study), tables)
    if json:
        typer.echo(writing.strict_json(facts), nl=False)
    else:
        _print_claims(claims)
    if failure is not None:
        raise failure
    if not json:
        say(str(page))


def _drawn(
    build: Callable[..., Any], study: Any, claims: Any, tables: Any, choice: Any, out: Path
) -> tuple[Any, Exception | None]:
    """The report, or what went wrong with it: the verdicts and the records are written and told all the same."""
    try:
        with drawing(out / "report.html"):
            return build(study, claims, tables, choice), None
    except (PotentiaError, OSError, MemoryError) as error:
        return None, error


def _check_places(out: Path) -> None:
    """Fail before the work: the folder and those in it can be written to."""
    for name in ("report.html", "claims.json"):
        check_folder(out / name, "--out", create=True)
    for folder in ("figures", "data", "replays", KEPT):
        if (out / folder).exists():
            check_folder(out / folder / "x", "--out")


@contextmanager
def _aside(
    check: Callable[[Any, Any], list[Any]], kept: Any, names: Collection[str], workers: int
) -> Iterator[Callable[[], list[Any]]]:
    """Do this in a process of its own meanwhile, where there may be two: it is of one core, and so is compiling."""
    if workers == 1 or not names:
        yield lambda: check(kept, names)
        return
    from potentia.studies.executors import local

    with local("processes", 1) as (pool, _):
        yield pool.submit(check, kept, names).result


@contextmanager
def _stopping(out: Path, made: bool) -> Iterator[None]:
    """Ctrl-C ends the command, which says what is kept: what there is so far is not enough for a verdict."""
    from potentia.studies.sweeping import Stopped

    try:
        yield
    except (Stopped, KeyboardInterrupt):
        if made:  # to see whether it can be; with something in it, it stays
            with suppress(OSError):
                out.rmdir()
        kept = f"what was played is kept in {out / KEPT}, and the same command goes on from there"
        say(f"{signals.stopped()}: {kept if (out / KEPT).exists() else 'nothing was written'}", err=True)
        raise typer.Exit(130) from None


def _print_claims(claims: list[Any]) -> None:
    if not claims:  # none was asked for
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from potentia.paper.report.words import SIGNS, in_one_sentence, kind_of, sentence, shown

    screen = console()
    screen.width = min(screen.width, 160)  # longer lines are hard to follow
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for name, ratio in (("verdict", 3), ("claim", 5), ("why", 7)):
        table.add_column(name, ratio=ratio, overflow="fold")
    for claim in claims:
        sign, css = SIGNS[kind_of(claim.verdict)]
        verdict = Text(f"{sign} {shown(claim.verdict)}", style=_COLOURS[css])
        table.add_row(verdict, Text(claim.title), Text(sentence(claim.reason)))
    screen.print(table)
    screen.print(Text(in_one_sentence(claims)))
