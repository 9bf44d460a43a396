"""Figures as files: SVG, PNG and PDF with the same bytes each time, and the form in which a page carries them.

One that draws runs may come with a page that replays them, one of the theory with the laboratory.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import field, frozen

from potentia.paper.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPLAYS = "replays"  # their folder
LARGEST_SVG = 400_000  # bytes; above, the page carries the PNG
_DPI = 150
_NARROW = 700  # CSS pixels
NUMBERS = {  # the paper's figures
    **dict.fromkeys(("tree-stable", "tree-maximiser"), 1),
    **{"field": 2, "revision": 3},
    **dict.fromkeys(("model", "known", "lasting"), 5),
    "configurations-model": 6,
    **dict.fromkeys(("soql", "steps", "temperature"), 8),
    **{"configurations-learners": 9, "four": 10},
}
# Dates and the like would change with each run.
_CHANGING = {"svg": "Date", "png": "Software", "pdf": "CreationDate"}


@frozen
class Replay:
    """A page that replays runs, as potentia.web.pages makes it, or the laboratory."""

    title: str
    page: str = field(repr=False)
    kind: str = "Replay"
    asks: str = "Watch it"
    instead: bool = False  # of the figure, on screens
    about: str = ""  # what is seen
    tall: bool = False  # it has more to show than a screen holds


@frozen
class Picture:
    """A figure in its three forms, and what is said about it."""

    name: str
    caption: str  # what is seen, and what made it
    alt: str  # for those who cannot see it
    width: int  # in CSS pixels, at which its letters have their size
    height: int
    files: dict[str, bytes] = field(repr=False)  # by ending
    title: str = ""  # in a few words
    replay: Replay | None = None  # of the runs that it draws
    story: Sequence[str] = ()  # what it tells, in sentences that stand with it
    tables: Sequence[Table] = ()  # what one needs to read it, beside it

    @property
    def narrow(self) -> bool:
        """Whether words have room beside it."""
        return self.width <= _NARROW

    @property
    def file(self) -> str:
        """Of its files, without an ending: the number of the paper's figure comes first."""
        number = NUMBERS.get(self.name)
        return self.name if number is None else f"fig-{number:02d}-{self.name}"

    @property
    def watch(self) -> str:
        """Where the replay is, beside the report."""
        return f"{REPLAYS}/{self.file}.html"

    @property
    def source(self) -> str:
        """A data URI: the drawing as lines where it is small, else as points."""
        svg, png = self.files["svg"], self.files["png"]
        kind, data = ("svg+xml", svg) if len(svg) <= LARGEST_SVG else ("png", png)
        return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def picture(name: str, figure: Figure, caption: str, alt: str) -> Picture:
    """Draw a figure in all forms, its layout settled once so that they agree."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)  # with any engine, "none" too, each form would be drawn twice
    wide, high = (round(96 * inches) for inches in figure.get_size_inches())
    return Picture(name, caption, alt, wide, high, {kind: _encoded(figure, kind) for kind in _CHANGING})


def _encoded(figure: Figure, kind: str) -> bytes:
    import matplotlib as mpl
    from matplotlib.figure import Figure  # whose own way of saving draws letters, as pages carry no fonts

    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "potentia", "svg.fonttype": "path"}):
        Figure.savefig(figure, out, format=kind, dpi=_DPI, metadata={_CHANGING[kind]: None})
    return out.getvalue()
