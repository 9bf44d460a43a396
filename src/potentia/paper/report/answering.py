"""What came out, in sentences: computed from the verdicts, so that other seeds may give another answer."""

from __future__ import annotations

from collections.abc import Sequence

from potentia.paper.case_claims import AS_PUBLISHED, KNOWN, LEARNT
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, UNDECIDED, Claim, listed
from potentia.paper.report.wording import texts
from potentia.paper.report.words import kind_of, not_always, sentence
from potentia.statistics.estimates import Estimate

MOST = 4  # claims in one sentence


def lead(claims: Sequence[Claim]) -> list[str]:
    """What is proposed, and what came out."""
    first = [claim for name in texts()["headlines"] for claim in claims if claim.name == name]
    came_out = "Played again: " + "; ".join(_clauses(first)) + "." if first else ""
    told = [came_out, texts()["first"]["horizon"] if "horizon" in came_out else "", _heard(claims)]
    return [texts()["lead"], *filter(None, [" ".join(filter(None, told)), _broken(claims)])]


def _heard(claims: Sequence[Claim]) -> str:
    """In which set-up P-SBLLL is faster, and what is left of it where the field is known."""
    every = [one for claim in claims if claim.name == "faster" for one in claim.measured]
    found = {one.label: one.value for one in every if isinstance(one.value, Estimate)}
    published, known = (
        [value for label, value in found.items() if label.startswith(f"P-SBLLL sooner by, {where}: ")]
        for where in (f"{LEARNT}, {AS_PUBLISHED}", KNOWN)
    )
    clear = sum(one.low > 0.0 for one in known)
    if not all(one.low > 0.0 for one in published) or not known or any(one.high < 0.0 for one in known):
        return ""
    return (
        str(texts()["first"]["heard"].format(unclear=len(known) - clear, all=len(known))) if clear < len(known) else ""
    )


def _broken(claims: Sequence[Claim]) -> str:
    """Under how many readings the general theorem breaks, and whether anything is promised to the robots."""
    named = {claim.name: claim for claim in claims}
    rows = named["general"].details.get("readings", ()) if "general" in named else ()
    kept = [row["kept"] == row["looked_at"] for row in rows if row["monotone"] != "nothing"]
    if all(kept):
        return ""
    words, robots = texts()["first"], [named.get(name) for name in ("coverage-potential", "coverage-separable")]
    more = words["robots"] if all(one is not None and one.verdict == NOT_SUPPORTED for one in robots) else ""
    return str(words["broken"].format(broken=kept.count(False), all=len(kept), more=more))


def answer(claims: Sequence[Claim]) -> list[str]:
    """One sentence with the verdicts, one with the numbers of the first claim."""
    if not claims:
        return []
    rest = len(claims) - MOST
    more = f"; {rest} other claim{'s are' if rest > 1 else ' is'} among those below" if rest > 0 else ""
    return [sentence("; ".join(_clauses(claims[:MOST]))) + more + ".", f"In numbers: {sentence(claims[0].reason)}."]


def _clauses(claims: Sequence[Claim]) -> list[str]:
    """What holds, what does not, what depends on something, what is open."""
    by_kind: dict[str, list[Claim]] = {SUPPORTED: [], NOT_SUPPORTED: [], DEPENDS: [], UNDECIDED: []}
    for claim in claims:
        by_kind[kind_of(claim.verdict)].append(claim)
    that = {kind: [f"that {_said(claim)}" for claim in those] for kind, those in by_kind.items()}
    out = [f"it holds {listed(that[SUPPORTED])}"] if that[SUPPORTED] else []
    if that[NOT_SUPPORTED]:
        out.append(f"it does not hold {' or '.join(that[NOT_SUPPORTED])}")
    always = {claim.name: not_always(claim.verdict) for claim in by_kind[DEPENDS]}
    out += [
        f"it does not always hold that {_said(one)}: {always[one.name]}" for one in by_kind[DEPENDS] if always[one.name]
    ]
    by_kind[DEPENDS] = [one for one in by_kind[DEPENDS] if not always[one.name]]
    for verdict in dict.fromkeys(claim.verdict for claim in by_kind[DEPENDS]):
        those = [f"whether {_said(claim)}" for claim in by_kind[DEPENDS] if claim.verdict == verdict]
        out.append(f"{listed(those)} {verdict if len(those) == 1 else verdict.replace('depends', 'depend', 1)}")
    if by_kind[UNDECIDED]:
        out.append(f"the runs do not tell {listed([f'whether {_said(claim)}' for claim in by_kind[UNDECIDED]])}")
    return out


def _said(claim: Claim) -> str:
    """A claim as it goes on after "that"."""
    said: str = texts()["said"].get(claim.name, claim.title)
    return f"{said} (a misprint)" if claim.misprint else said
