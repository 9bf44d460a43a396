"""The command that writes the report of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from potentia.cli.options.common import Folder, Json, Partial
from potentia.cli.options.replays import check_page
from potentia.cli.terminal import print_json, say, status


def report(
    study: Folder,
    out: Annotated[Path | None, typer.Option(help="The page to write.", show_default="my.html beside my.study")] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="The recorder that counts.", show_default="the covered worth, else the first recorded"),
    ] = None,
    lowest: Annotated[bool, typer.Option("--lowest", help="The lowest level is the best one, as of an error.")] = False,
    partial: Partial = False,
    json: Json = False,
) -> None:
    """Make a page of a study, to keep or to send.

    One HTML file, which works offline: what was played, in words and as a specification; levels over time, with the
    optimum where it is known; the best value of what varies; rules compared on the same seeds; replays of typical runs,
    played again from their seeds; on maps, where robots end; and for games that are small enough the audit: does the
    theorem about the rule apply, and how does it fail? What cannot be told is a sentence that says why.

    A typical run is that of the seed whose level is nearest to the median. Games of your own are needed to play it
    again: potentia --import FILE.py report ...

    Examples:

    \b
        potentia new study.toml && potentia sweep study.toml
        potentia report study.study                     # writes study.html
        potentia report study.study --out page.html --measure welfare
        potentia report study.study --partial           # of a sweep that is still under way
    """
    from potentia.reports import write_report
    from potentia.studies.store import open_study

    found = open_study(study)
    if out is not None:
        check_page(out, "--out")
    with status("reading, drawing, playing typical runs again", quiet=json):
        page, *beside = write_report(found, out, measure=measure, lowest=lowest, partial=partial)
    if json:
        return print_json({"page": str(page), "beside": [str(path) for path in beside]})
    say(f"page: {page}")
    for path in beside:
        say(f"replay beside it: {path}")
    return None
