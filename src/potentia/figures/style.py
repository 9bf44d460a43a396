"""How figures look, in one place: colours, letters, panels, means with bands, titles and legends.

Colours are the Okabe-Ito palette, which colour-blind readers can tell apart; where several lines share a panel, every
line also has its own style. A rule has one colour in all figures (:mod:`potentia.colours`), what is no rule has the
colours of the palette in order (:func:`looks`).

Words in figures are words: a name with dollar signs is not a formula, and control characters are written out.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial, wraps
from inspect import signature
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from potentia.colours import PALETTE, color_of, rule_in, shade
from potentia.errors import InvalidRun
from potentia.kernel.arrays import Floats
from potentia.kernel.texts import visible
from potentia.statistics import estimates

if TYPE_CHECKING:
    import xarray
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

P = ParamSpec("P")
STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "D", "^", "v", "P")
INK, PAPER = "black", "white"
DARK, GREY, LIGHT, FAINT = "0.35", "0.6", "0.8", "0.9"  # from nearly ink to nearly paper
FIELD, UNSEEN = "viridis", "#3b528b"  # rises in one direction, which everybody can read; and a colour of it
DASHED = (0, (6, 3))  # of lines that are no data, such as a true number
OPTIMUM: dict[str, Any] = {"color": INK, "linestyle": (0, (9, 2, 1.5, 2, 1.5, 2)), "linewidth": 1.1}  # as no rule looks
HEADING, TITLE, WORDS, SMALL = 11, 10, 9, 8  # letters of figures, of panels, in legends and where it is tight
LETTERS: Any = {"pdf.fonttype": 42, "svg.fonttype": "none"}  # journals refuse the Type 3 of matplotlib
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}  # of a text that may hold a name


# Colours ----------------------------------------------------------------------------------------------


class Look(NamedTuple):
    """The colour and the line style of what a label names."""

    colour: str
    style: str


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """How each of the labels in a figure looks, so that no two are alike.

    Those that begin with a rule's name have its colour, the second of a rule a shade of it; others have what is left
    of the palette, in order. Line styles go by place.
    """
    names = list(dict.fromkeys(labels))
    known = [color_of(name) if rule_in(name) else "" for name in names]
    others = itertools.cycle([colour for colour in PALETTE if colour not in known] or PALETTE)
    colours = [colour or next(others) for colour in known]
    shades = [shade(colour, colours[:k].count(colour)) for k, colour in enumerate(colours)]
    return dict(zip(names, map(Look, shades, itertools.cycle(STYLES)), strict=False))


def scale(labels: Sequence[str]) -> dict[str, Look]:
    """Looks of lines that are too many to be told apart one by one, from dark to light."""
    import matplotlib
    from matplotlib.colors import to_hex

    colours = matplotlib.colormaps[FIELD](np.linspace(0.0, 0.9, len(labels)))
    return {label: Look(to_hex(colour), STYLES[0]) for label, colour in zip(labels, colours, strict=True)}


def ink_on(colour: str) -> str:
    """Black or white, whichever is read better on a colour."""
    from matplotlib.colors import to_rgb

    linear = np.asarray(to_rgb(colour)) ** 2.2
    return PAPER if linear @ [0.2126, 0.7152, 0.0722] < 0.22 else INK


def pale(name: str = "Greys", darkest: float = 0.65) -> Colormap:
    """The light part of a colour map, on which robots and paths stand out; half of the worth is seen, too."""
    import matplotlib
    from matplotlib.colors import LinearSegmentedColormap

    shares = darkest * np.linspace(0, 1, 256) ** (0.7 if darkest < 1 else 1.0)
    return LinearSegmentedColormap.from_list(f"pale {name}", matplotlib.colormaps[name](shares))


# Panels, titles and legends ---------------------------------------------------------------------------


def panels(
    inches: tuple[float, float],
    rows: int = 1,
    columns: int = 1,
    *,
    used: int | None = None,
    framed: bool = False,
    layout: Any = "constrained",
    **options: Any,
) -> tuple[Figure, Any]:
    """A figure and its panels, (rows, columns); those beyond ``used`` are removed, in the last row.

    ``framed`` panels have a line on all sides and no grid. ``options`` are those of matplotlib's ``subplots``.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=inches, layout=layout)
    figure.savefig = partial(_save, figure)  # type: ignore[method-assign]
    figure._repr_png_ = partial(_as_png, figure)  # type: ignore[attr-defined]  # so that a notebook shows it
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    for axes in grid.flat if not framed else ():
        despine(axes)
    for axes in grid.flat[used:] if used is not None else ():
        axes.remove()
    if used is not None and used < rows * columns:
        for axes in grid.flat[:used]:  # where panels share their steps, those that were below had the numbers
            axes.tick_params(axis="x", labelbottom=True)
    return figure, grid


def _save(figure: Figure, *args: Any, **options: Any) -> None:
    """Write it with letters that stay letters; matplotlib asks for them only now."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(LETTERS):
        Figure.savefig(figure, *args, **options)


def _as_png(figure: Figure) -> bytes:
    picture = BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def arranged(count: int, most: int) -> tuple[int, int]:
    """Rows and columns of so many panels, with at most so many columns."""
    columns = min(count, most)
    return math.ceil(count / columns), columns


def despine(axes: Axes, *hidden: str, grid: str | None = "both") -> None:
    """No line above and on the right, nor on sides that are named too; a pale grid, across one axis, or none."""
    axes.spines[["top", "right", *hidden]].set_visible(False)
    axes.grid(visible=False)
    if grid is not None:
        axes.grid(axis=grid, alpha=0.25)  # type: ignore[arg-type]


def entitle(where: Figure | Axes, title: str) -> None:
    """The title of a whole figure in as many lines as it takes; of its panel, where a legend stands beside that."""
    from matplotlib.figure import Figure

    if not title:
        return
    figure: Any = where if isinstance(where, Figure) else where.figure
    inches = figure.get_figwidth() * (1.0 if figure is where else 0.65)
    text = wrapped(title, inches - 0.1, HEADING)
    if isinstance(where, Figure):
        wide, high = where.get_size_inches()
        where.set_size_inches(wide, high + 0.17 * text.count("\n"))  # panels keep their size
        where.suptitle(text, fontsize=HEADING)
    else:
        where.set_title(text, fontsize=HEADING)


def wrapped(text: str, inches: float, size: float) -> str:
    """A text in lines that are no longer than that in letters of that size; long words are broken."""
    return "\n".join(part for line in text.split("\n") for part in _lines(line, 72 * inches, size))


def _lines(line: str, points: float, size: float) -> Iterator[str]:
    # matplotlib could wrap too, but then takes names for formulas
    for words in (line.split(" "), re.findall(r"[\w.]+\W*|\W+", line)):
        if all(_width(word, size) <= points for word in words):
            break
    else:
        words = list(line)  # one letter after the other
    glue = " " if words == line.split(" ") else ""
    so_far, length = words[0], _width(words[0], size)
    for word in words[1:]:
        more = _width(glue, size) + _width(word, size)  # within a kerning of the width of both
        if length + more > points:
            yield so_far.rstrip()
            so_far, length = word, _width(word, size)
        else:
            so_far, length = so_far + glue + word, length + more
    yield so_far


@cache
def _width(text: str, size: float) -> float:
    """In points, as matplotlib draws it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    if not text:
        return 0.0
    return float(text_to_path.get_text_width_height_descent(shown(text), FontProperties(size=size), ismath=False)[0])


def _wrap_titles(figure: Figure) -> None:
    """Titles of panels, no wider than the room that the panels have."""
    for axes in figure.axes:
        place = axes.get_subplotspec()
        if place is None:
            continue
        columns = place.get_gridspec().ncols
        room = figure.get_figwidth() * len(place.colspan) / columns * (1.0 if columns == 1 else 0.85) - 0.3
        for where in ("left", "center", "right"):
            if text := axes.get_title(where):
                size = float(axes.title.get_fontsize())
                axes.set_title(wrapped(text, room, size), loc=where, fontsize=size)


def legend(where: Figure | Axes, handles: Sequence[Artist] | None = None, **options: Any) -> None:
    """A legend without a frame."""
    given = {} if handles is None else {"handles": list(handles)}
    where.legend(**{"frameon": False, "fontsize": WORDS, **given, **options})


def legend_below(figure: Figure, handles: Sequence[Artist], columns: int | None = None) -> None:
    """A legend under all panels, in as many lines as it takes; the figure grows by them, and panels keep their size."""
    if not handles:
        return
    wide, high = figure.get_size_inches()
    if columns is None:
        longest = max(len(str(handle.get_label())) for handle in handles)
        columns = max(1, min(len(handles), int(wide / (0.5 + 0.068 * longest))))
    figure.set_size_inches(wide, high + 0.24 * (math.ceil(len(handles) / columns) - 1))
    legend(figure, handles, loc="outside lower center", ncols=columns)


def by_label(handles: Iterable[Artist | None]) -> dict[str, Artist]:
    """What a legend shows, each label once."""
    return {str(handle.get_label()): handle for handle in handles if handle is not None}


def box(edge: str = "none", pad: float = 0.12, **options: Any) -> dict[str, Any]:
    """What is behind words that stand on lines or colours: ``bbox=box()``."""
    return {"boxstyle": f"round,pad={pad}", "facecolor": PAPER, "edgecolor": edge, **options}


def log_steps(axes: Axes, early: int, last: float) -> None:
    """Steps on a logarithmic axis after the early ones, with numbers at 1 and 3 of each decade."""
    ticks = [0, *(k * 10**decade for decade in range(18) for k in (1, 3) if early <= k * 10**decade <= last)]
    axes.set_xscale("symlog", linthresh=early, linscale=0.4)
    axes.set_xticks(ticks, [f"{tick:,}" if tick < 10**6 else f"{tick:.0e}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(0, last)
    axes.set_xlabel(f"step (logarithmic above {early})")


# Lines and marks --------------------------------------------------------------------------------------


def draw_mean(
    axes: Axes,
    time: ArrayLike,
    values: Floats,
    look: Look,
    *,
    band: str = "middle",
    limits: tuple[float, float] = (-np.inf, np.inf),
    name: str = "",
    label: str = "",
    band_label: str = "",
) -> Line2D:
    """The mean over seeds, values (seeds, times), and the band of that kind around it within limits.

    The kinds are those of :func:`potentia.statistics.estimates.band`.
    """
    told: dict[str, Any] = {"gid": f"mean of {name}" if name else None, "label": in_legend(label) if label else "_"}
    mean = np.nanmean(values, axis=0)
    (line,) = axes.plot(time, mean, look.style, color=look.colour, linewidth=1.8, zorder=3, **told)
    if len(values) > 1:
        low, high = np.clip(estimates.band(values, band), *limits)
        told = {"gid": f"band of {name}" if name else None, "label": band_label or "_"}
        axes.fill_between(time, low, high, color=look.colour, alpha=0.15, linewidth=0, **told)
        for edge in (low, high) if band != "middle" else ():  # so that two bands can be told apart in grey
            axes.plot(time, edge, look.style, color=look.colour, linewidth=0.6, alpha=0.6)
    return line


def draw_published(
    axes: Axes, at: float, entry: Mapping[str, float], which: int, colour: str, label: str, gid: str
) -> Artist:
    """A published mean with its bound."""
    mean, low, high = (float(entry[part]) for part in ("mean", "low", "high"))
    marker = MARKERS[which % len(MARKERS)]
    bar: dict[str, Any] = {"capsize": 4, "ecolor": INK, "elinewidth": 1.1, "linestyle": "none"}
    mark: dict[str, Any] = {"marker": marker, "markersize": 7, "markeredgecolor": INK, "color": colour}
    ends = [[mean - low], [high - mean]]
    return axes.errorbar(at, mean, ends, zorder=5, label=label, gid=gid, **bar, **mark)  # type: ignore[return-value]


def draw_number(axes: Axes, place: tuple[float, float], text: str, colour: str, size: float) -> Text:
    """A number inside a mark of that colour and size."""
    words: dict[str, Any] = {"fontsize": 0.65 * size, "fontweight": "bold", "color": ink_on(colour)}
    return axes.text(*place, text, ha="center", va="center_baseline", zorder=5, **words)


def in_key(label: str, **look: Any) -> Line2D:
    """A line or a mark that stands in a legend for what is drawn elsewhere."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=in_legend(label), **look)


# Words ------------------------------------------------------------------------------------------------


def in_words(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A function that draws a figure, with every text in it taken as it is.

    But for numbers on axes, which matplotlib itself writes as formulas, as in 10³; where names stand there, draw them
    with ``LITERAL``. What is added to the figure afterwards is matplotlib's again. A title that is no text is refused.
    """
    called = signature(draw)

    @wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> Figure:
        title = called.bind(*args, **options).arguments.get("title", "")
        if not isinstance(title, str):
            raise InvalidRun(f"must be a text, got {title!r:.60}", "title", title)
        figure = draw(*args, **options)
        as_words(figure)
        return figure

    return drawn


def as_words(figure: Figure) -> None:
    """Take every text of a figure as it is, but for numbers on axes."""
    _wrap_titles(figure)
    for text in _texts(figure):
        text.set(text=shown(text.get_text()), **LITERAL)


def shown(text: str) -> str:
    """A text as it is drawn."""
    return visible(text, keep="\n")


def symbol(parameter: str) -> str:
    """A parameter at an axis, as papers write it."""
    return "τ" if parameter == "tau" else parameter


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


def label_of(values: xarray.DataArray) -> str:
    """What stands at an axis: the label that a variable carries, and its unit."""
    label = str(values.attrs.get("long_name", values.name))
    return f"{label} ({values.attrs['units']})" if values.attrs.get("units") else label
