"""A report as data, and the one HTML file that shows it.

The page needs nothing but itself: style, pictures and replays are inside. It has no script of its own; its content
security policy lets the browser fetch nothing and run nothing but the viewer of replays, in a frame that can reach
nothing of the page. All text is escaped. It follows the reader's choice of light or dark, and prints.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import field, frozen

from potentia.web.joining import asset, digest_of, joined

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG = 30  # rows; a longer table opens on demand
LARGEST_SVG = 400_000  # bytes; above, the page carries points instead of lines
_DPI = 150
_CHANGING = {"svg": "Date", "png": "Software"}  # would differ with each run
_NUMBER = re.compile(r"[-−<]? ?\d[\d.,]*(?:e[-+]?\d+)?\*?( \[.*| %)?$")


@frozen
class Facts:
    """Names and what is so."""

    kind: ClassVar[str] = "facts"
    rows: Mapping[str, str]


@frozen
class Text:
    """A paragraph; ``look`` may be "lead" or "note"."""

    kind: ClassVar[str] = "text"
    text: str
    look: str = ""


@frozen
class Listed:
    """Sentences below each other; numbered where they are steps of one thing."""

    kind: ClassVar[str] = "listed"
    lines: Sequence[str]
    title: str = ""
    numbered: bool = False


@frozen
class Code:
    """A text to copy, which opens on demand."""

    kind: ClassVar[str] = "code"
    title: str
    text: str


@frozen
class Table:
    """Cells as people read them, under a head."""

    kind: ClassVar[str] = "table"
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    @property
    def is_long(self) -> bool:
        """Whether it opens on demand."""
        return len(self.rows) > LONG

    def is_number(self, column: int) -> bool:
        """Whether a column belongs flush right: all of its cells are numbers, or there is nothing."""
        cells = [row[column] for row in self.rows if row[column] not in ("", "-")]
        return bool(cells) and all(_NUMBER.match(cell) for cell in cells)


@frozen
class Picture:
    """A figure, and what is said about it."""

    kind: ClassVar[str] = "picture"
    source: str = field(repr=False)  # a data URI
    caption: str
    alt: str  # for those who cannot see it
    width: int  # in CSS pixels, at which its letters have their size
    height: int


@frozen
class Replay:
    """A page that replays runs: inside, or where it is large a file beside."""

    kind: ClassVar[str] = "replay"
    title: str
    caption: str
    page: str = field(repr=False)
    file: str = ""  # its name beside the report; empty where it is inside


Part = Facts | Text | Listed | Code | Table | Picture | Replay


@frozen
class Section:
    """A part of a report under its own heading."""

    title: str
    anchor: str
    parts: Sequence[Part]


@frozen
class Page:
    """A whole report."""

    title: str
    about: Sequence[str]  # paragraphs
    sections: Sequence[Section]


def picture(figure: Figure, caption: str, alt: str) -> Picture:
    """A figure as lines where they are few, else as points; the same figure gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure  # whose own way of saving draws letters, as pages carry no fonts

    wide, high = (round(96 * inches) for inches in figure.get_size_inches())

    def encoded(kind: str) -> bytes:
        out = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "potentia", "svg.fonttype": "path"}):
            Figure.savefig(figure, out, format=kind, dpi=_DPI, metadata={_CHANGING[kind]: None})
        return out.getvalue()

    kind, data = "svg+xml", encoded("svg")
    if len(data) > LARGEST_SVG:
        kind, data = "png", encoded("png")
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
    return Picture(source, caption, alt, wide, high)


def render(page: Page) -> str:
    """The HTML of a report; the same report gives the same text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("potentia.reports", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = resources.files("potentia.reports").joinpath("report.css").read_text("utf-8")
    shown: dict[str, Any] = {"page": page, "style": style, "policy": _policy(style)}
    return environment.get_template("report.html").render(shown) + "\n"


def _policy(style: str) -> str:
    """What the browser may do: show what is inside, and run the viewer, whose frame inherits this policy."""
    viewer = digest_of(joined("viewer/page.js"))
    styles = f"'{digest_of(style)}' '{digest_of(asset('viewer/viewer.css'))}'"
    return (
        f"default-src 'none'; script-src '{viewer}'; style-src {styles}; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )
