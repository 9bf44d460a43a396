"""Write the report of a study: the page, and beside it replays that are too large for it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from potentia.errors import InvalidInput
from potentia.kernel.files import whole_file
from potentia.kernel.texts import command
from potentia.reports import sections
from potentia.reports.looking import Looked
from potentia.reports.pages import Page, Replay, render
from potentia.reports.runs import typical_runs
from potentia.reports.theory import solved
from potentia.studies.refusals import refused
from potentia.studies.store import Study


def write_report(
    study: Study,
    path: str | os.PathLike[str] | None = None,
    *,
    measure: str | None = None,
    lowest: bool = False,
    partial: bool = False,
) -> list[Path]:
    """Write the report of a study and return what was written, the page first.

    Parameters
    ----------
    study : Study
        What was played.
    path : str or path, optional
        The page, one file that opens offline; left out, ``my.html`` beside a study in ``my.study``.
    measure : str, optional
        The recorder that counts; left out, the covered worth where it was recorded, else the first one.
    lowest : bool
        Whether its lowest level is the best one.
    partial : bool
        Take what is there of an incomplete study.

    Returns
    -------
    list of Path
        The page, and replays that are too large to stand in it.

    Examples
    --------
    >>> from potentia.reports import write_report
    >>> specification = {"game": {"name": "stag-hunt"}, "rule": {"name": "lll", "tau": 0.5}, "steps": 20, "seeds": 2}
    >>> study = pt.sweep({**specification, "record": ["potential"]}, "hunt.study")
    >>> [path.name for path in write_report(study)]
    ['hunt.html']
    """
    out = study.folder.with_suffix(".html") if path is None else Path(path)
    if out.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"must end in .html, got {out.name!r}", "path", out.name)
    seen = Looked(study, measure or "", lowest, partial)
    told = [
        sections.in_short(seen),
        sections.played(seen),
        sections.levels(seen),
        sections.parameters(seen),
        sections.comparisons(seen),
        typical_runs(seen, out.stem),
        solved(seen),
        sections.made(seen, _command(study, measure, lowest, partial)),
    ]
    about = [line.strip() for line in study.specification.about.split("\n\n") if line.strip()]
    name = study.specification.name
    page = Page(
        study.folder.stem if name == "study" else name, about, [section for section in told if section is not None]
    )
    files = {out: render(page)}
    for part in (part for section in page.sections for part in section.parts):
        if isinstance(part, Replay) and part.file:
            files[out.with_name(part.file)] = part.page
    for place, text in files.items():
        with refused(InvalidInput, f"write {place}"), whole_file(place) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return list(files)


def _command(study: Study, measure: str | None, lowest: bool, partial: bool) -> str:
    """What makes the same page."""
    asked = f" --measure {shlex.quote(measure)}" if measure else ""
    asked += " --lowest" * lowest + " --partial" * partial
    return command("report", study.folder.name) + asked
