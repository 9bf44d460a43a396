"""A report as data, and the one HTML file that shows it.

The page needs nothing but itself: style, script, pictures and replays are inside, and its content security policy
forbids the browser to fetch anything. All text is escaped. A replay is in a frame that can run its own script and
reach nothing of the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from potentia.errors import InvalidInput
from potentia.paper.claims import KINDS, Claim
from potentia.paper.report import words
from potentia.paper.report.pictures import Picture

_USED = ("kind_of", "told", "measured", "headlines", "anchor", "lines", "sentence")  # of words, by the template


@frozen
class Table:
    """Rows of named cells: numbers, estimates with intervals, text or nothing."""

    caption: str
    rows: Sequence[Mapping[str, Any]]
    name: str = ""  # of its file, without an ending

    @property
    def columns(self) -> list[str]:
        """All names that have a cell in some row, in order."""
        return list(dict.fromkeys(name for row in self.rows for name, cell in row.items() if cell is not None))

    def is_number(self, column: str) -> bool:
        """Whether a column belongs flush right: all of its cells are numbers, or are written as one."""
        cells = [row[column] for row in self.rows if row.get(column) is not None]
        return all(words.NUMBER.match(words.told(cell)) for cell in cells)


@frozen
class Section:
    """A part of a report under its own heading."""

    title: str
    anchor: str
    paragraphs: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()  # told in the section too, with their counterexamples


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
    return environment.get_template("report.html").render(
        report=report,
        signs={kind: {"sign": sign, "css": css} for kind, (sign, css) in words.SIGNS.items()},
        groups=[group for group in by_kind.items() if group[1]],
        summary=words.in_one_sentence(report.claims),
        counts=[(kind, count[kind]) for kind in words.SIGNS],
    )
