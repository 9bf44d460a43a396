"""What came out, in sentences: computed from the verdicts, so that other seeds may give another answer."""

from __future__ import annotations

from collections.abc import Sequence

from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, UNDECIDED, Claim, listed
from potentia.paper.report.wording import texts
from potentia.paper.report.words import kind_of, sentence

MOST = 4  # claims in one sentence


def lead(claims: Sequence[Claim]) -> list[str]:
    """What is proposed, and what came out."""
    first = [claim for name in texts()["headlines"] for claim in claims if claim.name == name]
    came_out = ["Played again: " + "; ".join(_clauses(first)) + "."] if first else []
    theorem = [f"The theorem in numbers. {sentence(claim.reason)}." for claim in first if claim.kind == "theory"]
    return [texts()["lead"], *came_out, *theorem]


def answer(claims: Sequence[Claim]) -> list[str]:
    """One sentence with the verdicts, one with the numbers of the first claim."""
    if not claims:
        return []
    rest = len(claims) - MOST
    more = f"; {rest} more are below" if rest > 0 else ""
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
