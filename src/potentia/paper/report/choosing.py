"""What to use, by what was played: for each situation the rule that covers most, and those as good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from potentia.paper.case_study import covered
from potentia.paper.claims import Claim, listed
from potentia.paper.report.tables import Table
from potentia.paper.report.wording import texts
from potentia.statistics.estimates import estimate, paired_difference

if TYPE_CHECKING:
    import xarray

    from potentia.paper.case_study import CaseStudy

_PARTS = ("known", "lasting", "model", "four", "learners")


def table(study: CaseStudy) -> Table:
    """A row for each situation."""
    words = texts()["use"]
    rows = [_row(words["situations"][part], getattr(study, part)) for part in _PARTS]
    return Table(words["caption"], rows, "use")


def _row(situation: str, batches: Mapping[str, xarray.Dataset]) -> dict[str, Any]:
    worth = {name: covered(data) for name, data in batches.items()}
    best = max(worth, key=lambda name: float(worth[name].mean()))
    alike = [name for name in worth if name != best and _as_good(worth[best], worth[name])]
    words = texts()["use"]
    return {
        words["situation"]: situation,
        "steps": int(next(iter(batches.values())).time.values[-1]),
        words["best"]: best,
        "covered worth ΣC": estimate(worth[best]),
        words["alike"]: "; ".join(alike) or "none",
    }


def _as_good(best: Any, other: Any) -> bool:
    count = min(best.size, other.size)  # the same seeds
    return bool(paired_difference(best[:count], other[:count]).low <= 0.0)


def promise(claims: Sequence[Claim]) -> str:
    """Which rules kept exactly the maximisers in all random potential games, and which did not."""
    rows = [row for row in _shares(claims) if row["games"] == "any potential game"]
    kept = [row["rule"] for row in rows if row["exactly"] == row["count"]]
    lost = [f"{row['rule']} (in {row['exactly']})" for row in rows if row["exactly"] < row["count"]]
    if not kept or not lost:
        return ""
    said: str = texts()["sections"]["use"]["promise"]
    return said.format(kept=listed(kept), lost=listed(lost), games=rows[0]["count"])


def _shares(claims: Sequence[Claim]) -> Iterator[Mapping[str, Any]]:
    for claim in claims:
        yield from claim.details.get("shares", ()) if claim.name == "general" else ()
