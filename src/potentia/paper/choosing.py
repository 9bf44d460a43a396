"""Part of the reproduction alone: a figure of the paper, a section of the report, or a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from potentia.errors import InvalidInput, did_you_mean
from potentia.paper import case_claims, theory
from potentia.paper.case_study import PARTS
from potentia.paper.claims import Declared, declared_in, listed

THEORY = "theory"
# The sections of the report: which figures of the paper they are about, and what of the case study they show.
SECTIONS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "field": ((2,), ()),
    "revision": ((3,), ()),
    "model": ((5,), ("model", "heard", "heard_long", "known", "lasting", "literal")),
    "mixtures": ((), ("mixtures",)),
    "learners": ((8,), ("learners", "tuning")),
    "four": ((10,), ("four",)),
    "configurations": ((6, 9), ("recordings",)),
    THEORY: ((1,), ()),
}
_ELSEWHERE = {  # claims that name no figure
    "fewer explorations": "model",
    "unknown number": "mixtures",
    "constant step": "learners",
}


@frozen
class Choice:
    """What is played, judged and drawn."""

    asked: str | None  # None: all
    sections: tuple[str, ...]
    experiments: tuple[str, ...]  # names of claims about the case study
    theorems: tuple[str, ...]  # names of claims of the theory
    parts: tuple[str, ...]  # of the case study, to be played first; what a claim needs beside is played with it


def choose(only: str | None = None) -> Choice:
    """All, or what ``only`` names: "Fig. 8", a section, or a claim."""
    if only is None:
        return _choice(None, tuple(SECTIONS), [one.name for one in _claims()], (*PARTS, "recordings"))
    asked = " ".join(only.lower().split())
    for claim in _claims():
        if claim.name.lower() == asked:
            return _choice(only, (), [claim.name], ())
    figure = re.fullmatch(r"(?:fig\.?|figure)? ?(\d+)", asked)
    for section, (figures, parts) in SECTIONS.items():
        if asked == section or (figure and int(figure[1]) in figures):
            return _choice(only, (section,), [one.name for one in _claims() if section_of(one) == section], parts)
    known = [*_figures(), *SECTIONS, *(one.name for one in _claims())]
    told = f"must be a figure ({listed(_figures())}), a section ({', '.join(SECTIONS)}) or a claim"
    names = ", ".join(repr(one.name) for one in _claims())
    raise InvalidInput(f"{told} ({names}), got {only!r}{did_you_mean(only, known)}", "only", only)


def section_of(claim: Declared[object]) -> str:
    """Where in the report the claim belongs."""
    if claim.kind == THEORY:
        return THEORY
    if claim.name in _ELSEWHERE:
        return _ELSEWHERE[claim.name]
    found = re.search(r"Fig\. (\d+)", claim.where)
    assert found is not None, claim
    return next(section for section, (figures, _) in SECTIONS.items() if int(found[1]) in figures)


def _claims() -> Iterator[Declared[object]]:
    yield from declared_in(*case_claims.MODULES, *theory.MODULES)


def _figures() -> list[str]:
    return [f"Fig. {number}" for number in sorted(number for figures, _ in SECTIONS.values() for number in figures)]


def _choice(asked: str | None, sections: tuple[str, ...], names: list[str], parts: tuple[str, ...]) -> Choice:
    theorems = {one.name for one in _claims() if one.kind == THEORY}
    experiments = tuple(name for name in names if name not in theorems)
    return Choice(asked, sections, experiments, tuple(name for name in names if name in theorems), parts)
