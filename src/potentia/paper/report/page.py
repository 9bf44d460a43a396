"""A report as data, and the one HTML file that shows it.

It is told from the front: one picture and what came out, then part after part with its question, what is needed to
understand it, a figure or a replay, the answer, and the evidence for those who ask; all claims in one table after that,
and last how it was made.

The page needs nothing but itself: style, script, pictures and replays are inside, and its content security policy
lets run nothing but these scripts and forbids the browser to fetch anything. All text is escaped. A replay is in a
frame that can run its own script and reach nothing of the page.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from attrs import field, frozen

from potentia.errors import InvalidInput
from potentia.paper.claims import KINDS, Claim
from potentia.paper.report import words
from potentia.paper.report.pictures import Picture
from potentia.paper.report.tables import Table

__all__ = ["Definition", "Report", "Section", "Table", "render"]
_USED = (
    "kind_of",
    "shown",
    "told",
    "measured",
    "headlines",
    "anchor",
    "lines",
    "sentence",
)  # of words, by the template
_DIRECTIVE = re.compile(r"(script|style)-src ('[^;\"]+)")


@frozen
class Definition:
    """A word that the reader needs from here on."""

    term: str
    paragraphs: Sequence[str]
    tables: Sequence[Table] = ()
    live: str = ""  # what moves beside it where there is a script: "two-profiles"
    bars: Mapping[str, float] = {}  # of two profiles: their potentials by name


@frozen
class Section:
    """A part of a report under its own heading."""

    title: str
    anchor: str
    paragraphs: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()  # with their evidence
    where: str = ""  # in what is reported on, as in "Section 5.2, Fig. 5"
    definitions: Sequence[Definition] = ()
    answer: Sequence[str] = ()  # sentences
    more: Sequence[Picture] = ()  # shown to those who ask


def _differ(what: str, name_of: Callable[[Any], str]) -> Callable[[Any, Any, Sequence[Any]], None]:
    """No two of a field may have one name."""

    def check(_: Any, __: Any, given: Sequence[Any]) -> None:
        for name, count in Counter(map(name_of, given)).items():
            if count > 1:
                raise InvalidInput(f"of {what} must differ, got {name!r} {count} times", "names", name)

    return check


@frozen
class Report:
    """A whole report."""

    title: str
    about: Sequence[str]  # paragraphs
    made: Mapping[str, str]  # how: command, version, seeds, ...
    claims: Sequence[Claim] = field(default=(), validator=_differ("claims", lambda claim: words.anchor(claim.name)))
    sections: Sequence[Section] = field(default=(), validator=_differ("anchors", lambda section: section.anchor))
    lead: Sequence[str] = ()  # the sentences that one reads if one reads nothing else
    first: Picture | None = None  # the picture beside them

    @property
    def pictures(self) -> Iterator[Picture]:
        """All of them, in order."""
        yield from () if self.first is None else (self.first,)
        for section in self.sections:
            yield from (*section.pictures, *section.more)


def render(report: Report) -> str:
    """The HTML page of a report; the same report gives the same text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("potentia.paper", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update({name: getattr(words, name) for name in _USED})
    by_kind = {title: [claim for claim in report.claims if claim.kind == kind] for kind, title in KINDS.items()}
    count = Counter(words.kind_of(claim.verdict) for claim in report.claims)
    style, early, late = (_asset(f"report.{name}") for name in ("css", "early.js", "js"))
    frames = [drawn.replay.page for drawn in report.pictures if drawn.replay is not None]
    return environment.get_template("report.html").render(
        report=report,
        signs={kind: {"sign": sign, "css": css} for kind, (sign, css) in words.SIGNS.items()},
        groups=[group for group in by_kind.items() if group[1]],
        summary=words.in_one_sentence(report.claims),
        counts=[(kind, count[kind]) for kind in words.SIGNS],
        told_in={claim.name: section for section in report.sections for claim in section.claims},
        style=style,
        early=early,
        late=late,
        policy=_policy([early, late], [style], frames),
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _policy(scripts: Iterable[str], styles: Iterable[str], frames: Sequence[str]) -> str:
    """What the browser may do: run and apply what has these hashes, those of frames too, as they are held to it."""
    allowed = {"script": dict.fromkeys(map(_hash, scripts)), "style": dict.fromkeys(map(_hash, styles))}
    for page in frames:
        for kind, sources in _DIRECTIVE.findall(page[: page.find("<body")]):
            allowed[kind] |= dict.fromkeys(sources.split())
    said = {f"{kind}-src": " ".join(sources) for kind, sources in allowed.items()}
    said = {"default-src": "'none'"} | said | {"img-src": "blob: data:", "base-uri": "'none'", "form-action": "'none'"}
    return "; ".join(f"{name} {value}" for name, value in said.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
