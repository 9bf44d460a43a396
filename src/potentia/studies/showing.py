"""Studies as notebooks show them: what varies, how much was played, where it is. No results are read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from potentia.errors import StudyError
from potentia.kernel.html import LISTED, beside, card, facts, lines, listed, table
from potentia.kernel.texts import counted
from potentia.studies.axes import text_of
from potentia.studies.points import axes_of

if TYPE_CHECKING:
    from potentia.studies.store import Study

_QUICK = 1000  # chunks that are looked for; to list a folder with more takes long


def study_card(study: Study) -> str:
    """A study."""
    asked = study.specification
    told = {
        "folder": str(study.folder),
        "runs": f"{study.num_runs:,}: {counted(len(study.points), 'point')} × {counted(len(study.seeds), 'seed')}",
        "steps": asked.steps,
        "recorded": listed(study.record) or "nothing",
        "recorded every": f"{study.manifest['every']:,} steps" if study.manifest["every"] > 1 else "step",
        "complete": _complete(study),
        "potentia": study.manifest["potentia"],
    }
    axes = axes_of(asked)
    told |= {name: _fixed(name, study) for name in ("game", "belief", "rule") if name not in axes}
    rows = [[key, len(values), listed(map(text_of, values[:LISTED]), len(values))] for key, values in axes.items()]
    varies = table(rows, ["what varies", "values", ""]) if rows else lines("nothing varies but the seed")
    return card("Study", asked.name, lines(asked.about), beside(facts(told), varies))


def _fixed(section: str, study: Study) -> str | None:
    """The one game, belief or rule, with the parameters that do not vary."""
    tables: list[dict[str, Any]] = getattr(study.specification, section)
    if not tables:
        return None
    plain = [f"{name}={text_of(part)}" for name, part in tables[0].items() if not isinstance(part, list | dict)]
    return listed([part.removeprefix("name=") for part in plain])


def _complete(study: Study) -> str | None:
    """By the names of the files that are there; their contents are another question."""
    if study.num_chunks > _QUICK:
        return None
    try:
        missing = len(study.missing())
    except StudyError:  # the folder is gone, or closed to us
        return None
    return "yes" if not missing else f"no: {study.num_chunks - missing:,} of {study.num_chunks:,} chunks are there"
