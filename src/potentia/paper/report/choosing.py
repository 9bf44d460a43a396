"""What to use, by what was played: for each situation the rule that covers most, and those as good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from potentia.paper.case_study import SHORT, covered
from potentia.paper.claims import Claim, listed
from potentia.paper.report.tables import Table
from potentia.paper.report.wording import texts
from potentia.statistics.estimates import Estimate, estimate, paired_difference

if TYPE_CHECKING:
    import xarray

    from potentia.paper.case_study import CaseStudy

OURS = ("P-SBLLL, unilateral", "P-SBLLL, guarded")
_PARTS = ("known", "lasting", "model", "four", "learners")


def table(study: CaseStudy) -> Table:
    """A row for each situation."""
    words = texts()["use"]
    return Table(words["caption"], [_row(words["situations"][part], getattr(study, part)) for part in _PARTS], "use")


def _row(situation: str, batches: Mapping[str, xarray.Dataset]) -> dict[str, Any]:
    words, (best, *alike) = texts()["use"], _best(batches)
    return {
        words["situation"]: situation,
        "steps": _steps(batches),
        words["best"]: _named(best),
        "covered worth ΣC": estimate(covered(batches[best])),
        words["alike"]: "; ".join(map(_named, alike)) or words["nobody"],
    }


def _steps(batches: Mapping[str, xarray.Dataset]) -> int:
    return int(next(iter(batches.values())).time.values[-1])


def _named(name: str) -> str:
    """A rule's name, and whether it is the paper's."""
    words = texts()["use"]
    plain = words["names"].get(name, name)
    return words["ours"].format(name=plain) if name in OURS else str(plain)


def _best(batches: Mapping[str, xarray.Dataset]) -> list[str]:
    """The rule that covers most, then those that cannot be told from it."""
    worth = {name: covered(data) for name, data in batches.items()}
    best = max(worth, key=lambda name: float(worth[name].mean()))
    return [best, *(name for name in worth if name != best and _as_good(worth[best], worth[name]))]


def _as_good(best: Any, other: Any) -> bool:
    count = min(best.size, other.size)  # the same seeds
    return bool(paired_difference(best[:count], other[:count]).low <= 0.0)


def advice(study: CaseStudy, claims: Sequence[Claim]) -> dict[str, str]:
    """What to use in a sentence for each situation, and what is promised; nothing of what was not played."""
    words, played = texts()["use"], vars(study)
    best = {part: _best(played[part]) for part in _PARTS if part in played}
    out = dict.fromkeys(("advice", "field", "receive"), "")
    if {"model", "four"} <= set(best):
        told = {part: listed(list(map(_named, best[part]))) for part in ("model", "four")}
        if len(best["four"]) > 1:
            told["four"] = words["equal"].format(names=told["four"])
        steps = {"short": _steps(study.model), "long": _steps(study.four)}
        said = words["advice"].format(**told, **steps)
        out["advice"] = " ".join(filter(None, (said, _missed(claims))))
    if {"known", "lasting"} <= set(best):
        always = [name for name in best["known"] if name in best["lasting"]] or best["lasting"]
        out["field"] = words["field"].format(known=" or ".join(map(_named, always)))
    if "learners" in best:
        first, *alike = best["learners"]
        otherwise = words["otherwise"] if "SOQL" in alike else ""
        out["receive"] = words["receive"].format(best=first, else_=otherwise) if first.startswith("QL") else ""
    return out | {"none": _none(claims), "promise": promise(claims)}


def _missed(claims: Sequence[Claim]) -> str:
    """In how many runs P-SBLLL does not cover all targets."""
    found = {one.label: one.value for claim in claims if claim.name == "all targets" for one in claim.measured}
    often = found.get(f"P-SBLLL, {SHORT:,} steps: all covered at the end")
    if not isinstance(often, Estimate) or often.mean == 1.0:
        return ""
    missed = often.count - round(often.mean * often.count)
    return str(texts()["use"]["miss"].format(missed=missed, runs=often.count))


def _none(claims: Sequence[Claim]) -> str:
    """That nothing is promised, where fixed flags leave no potential."""
    flagged = [claim.details.get("flagged") or {} for claim in claims if claim.name == "coverage-potential"]
    return str(texts()["use"]["none"]) if any(one.get("cycle", 0.0) > 0.0 for one in flagged) else ""


def promise(claims: Sequence[Claim]) -> str:
    """Which rules kept exactly the maximisers in all random potential games, and which did not."""
    rows = [row for row in _shares(claims) if row["games"] == "any potential game"]
    kept = [_named(row["rule"]) for row in rows if row["exactly"] == row["count"]]
    lost = [f"{_named(row['rule'])} (in {row['exactly']})" for row in rows if row["exactly"] < row["count"]]
    if not kept or not lost:
        return ""
    said: str = texts()["use"]["promise"]
    return said.format(kept=listed(kept), lost=listed(lost), games=rows[0]["count"])


def _shares(claims: Sequence[Claim]) -> Iterator[Mapping[str, Any]]:
    for claim in claims:
        yield from claim.details.get("shares", ()) if claim.name == "general" else ()
