"""Words in figures are words: a name with dollar signs is not a formula, and control characters are written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from potentia.kernel.texts import visible

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.text import Text

P = ParamSpec("P")
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}  # of a text that may hold a name


def in_words(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A function that draws a figure, with every text in it taken as it is.

    But for numbers on axes, which matplotlib itself writes as formulas, as in 10³; where names stand there, draw them
    with ``LITERAL``. What is added to the figure afterwards is matplotlib's again.
    """

    @wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> Figure:
        figure = draw(*args, **options)
        as_words(figure)
        return figure

    return drawn


def as_words(figure: Figure) -> None:
    """Take every text of a figure as it is, but for numbers on axes."""
    for text in _texts(figure):
        text.set(text=shown(text.get_text()), **LITERAL)


def shown(text: str) -> str:
    """A text as it is drawn."""
    return visible(text, keep="\n")


def in_legend(label: str) -> str:
    """A label that stands in the legend: matplotlib leaves out those that begin with an underscore."""
    return f" {label}" if label.startswith("_") else label


def _texts(artist: Artist) -> Iterator[Text]:
    from matplotlib.axis import Axis
    from matplotlib.text import Text

    if isinstance(artist, Axis):
        yield artist.label
        return
    if isinstance(artist, Text):
        yield artist
    for child in artist.get_children():
        yield from _texts(child)
