"""The sections of the reproduction, as story.toml has them: what each asks, needs, shows and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from potentia.games import game
from potentia.paper.claims import Claim
from potentia.paper.report import choosing
from potentia.paper.report.answering import answer
from potentia.paper.report.definitions import definition
from potentia.paper.report.facts import all_facts
from potentia.paper.report.page import Section
from potentia.paper.report.pictures import Picture
from potentia.paper.report.sections import FIRST
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
    top = {"top": texts()["facts"]["top"] if FIRST in drawn else ""}
    told, shown = all_facts(study, claims, rows) | top, {**tables, **({"use": choosing.table(study)} if whole else {})}
    named = {claim.name: claim for claim in claims}
    made = [_section(name, words, told, drawn, shown, named) for name, words in texts()["sections"].items()]
    return [one for one in made if whole or one.pictures or one.tables or one.claims]


def _section(
    name: str,
    words: Mapping[str, Any],
    told: Mapping[str, Any],
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
        tuple(filter(None, (text.format(**told) for text in words["text"]))),
        these("pictures", drawn),
        these("tables", tables),
        judged,
        words["where"],
        [definition(one, told, game("double-step")) for one in words.get("definitions", ())],
        answer(judged),
        these("more", drawn),
    )
