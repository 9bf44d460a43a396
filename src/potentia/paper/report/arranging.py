"""The sections of the reproduction, as story.toml has them: what each asks, needs, shows and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from potentia.games import game
from potentia.games.world import published
from potentia.paper.claims import Claim
from potentia.paper.report import choosing, scores
from potentia.paper.report.answering import answer
from potentia.paper.report.definitions import definition
from potentia.paper.report.page import Section
from potentia.paper.report.pictures import Picture
from potentia.paper.report.tables import Table
from potentia.paper.report.wording import texts

if TYPE_CHECKING:
    from potentia.paper.case_study import CaseStudy


def parts(
    study: CaseStudy,
    claims: Sequence[Claim],
    drawn: Mapping[str, Picture],
    tables: Mapping[str, Table],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    whole: bool = True,
) -> list[Section]:
    """All sections, as story.toml has them, or those in which there is something; ``rows`` are those of the tables as
    they were made."""
    facts, shown = _facts(study, claims, rows), {**tables, **({"use": choosing.table(study)} if whole else {})}
    named = {claim.name: claim for claim in claims}
    made = [_section(name, words, facts, drawn, shown, named) for name, words in texts()["sections"].items()]
    return [one for one in made if whole or one.pictures or one.tables or one.claims]


def _section(
    name: str,
    words: Mapping[str, Any],
    facts: Mapping[str, Any],
    drawn: Mapping[str, Picture],
    tables: Mapping[str, Table],
    claims: Mapping[str, Claim],
) -> Section:
    def these(what: str, of: Mapping[str, Any]) -> list[Any]:
        return [of[one] for one in words.get(what, ()) if one in of]

    judged = these("claims", claims)
    return Section(
        words["title"],
        name,
        tuple(filter(None, (text.format(**facts) for text in words["text"]))),
        these("pictures", drawn),
        these("tables", tables),
        judged,
        words["where"],
        [definition(one, facts, game("double-step")) for one in words.get("definitions", ())],
        answer(judged),
        these("more", drawn),
    )


def _facts(
    study: CaseStudy, claims: Sequence[Claim], rows: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """What the paragraphs tell."""
    best, setup = study.optimum, published()["setup"]
    ours = {row["algorithm"]: row["worth"].mean for row in rows.get("model", ())}
    said = " and ".join(
        f"{row['algorithm']} {row['worth'].mean:.3f} instead of {ours[row['algorithm']]:.3f}"
        for row in (rows.get("literal", ()) if ours else ())
    )
    return {
        "robots": study.game.num_players,
        "best": best,
        "proven": "the largest" if best.proven else f"at most {best.bound:.4g}",
        "near": setup["R_com_blll"],
        "far": setup["R_com_psblll"],
        "promise": choosing.promise(claims),
        "ends": texts()["definitions"]["ql"]["ends"].format(**scores.facts()),
        "letter": texts()["letter"].format(said=said) if said else "",
    }
