"""Objects in notebooks: the few blocks that their HTML is made of.

Everything is escaped, and nothing is long: names are text, a table has some thirty rows. Colours are the notebook's
own, light or dark; there are no scripts, ids or classes, and each block is well-formed XML.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any

import numpy as np

from potentia.kernel.numbers import is_real
from potentia.kernel.registry import parameters_of
from potentia.kernel.reprs import in_brief
from potentia.kernel.texts import value as said
from potentia.kernel.texts import visible

ROWS = 30  # of a table
LISTED = 8  # values in a cell
_LONGEST = 400  # characters of a text
_LINE = "1px solid rgba(128,128,128,0.3)"
_LEFT, _RIGHT = (f"text-align:{side};vertical-align:top;padding:0.15em 1em 0.15em 0" for side in ("left", "right"))
_WIDE = "max-width:75em;white-space:normal;overflow-wrap:break-word"


class Html(str):
    """A text that is HTML already: what the functions below return, and nothing else."""

    __slots__ = ()


def shown(value: Any) -> str:
    """A value as people read it; numbers as the command line prints them."""
    if isinstance(value, str):
        return value
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_) or is_real(value):
        return said(value.item() if isinstance(value, np.generic) else value)
    return in_brief(value)


def listed(values: Iterable[Any], count: int | None = None, most: int = LISTED) -> str:
    """The first of so many values in a line: 0.1, 0.2 and 7 more."""
    first = [shown(value) for value in islice(values, most)]
    more = (len(values) if isinstance(values, Sequence | np.ndarray) else len(first)) if count is None else count
    return ", ".join(first) + (f" and {more - len(first):,} more" if more > len(first) else "")


def spread(values: Any, unit: str = "") -> str:
    """One number, where all are the same, or from the least to the largest."""
    least, most = values.min().item(), values.max().item()
    return shown(least) + unit if least == most else f"{shown(least)} to {shown(most)}{unit}"


def escaped(value: Any) -> Html:
    """A value as text of a page, cut where it is very long."""
    if isinstance(value, Html):
        return value
    text = shown(value)
    return Html(escape(visible(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"), quote=True))


def table(
    rows: Sequence[Sequence[Any]],
    head: Sequence[str] | None = None,
    caption: str | None = None,
    *,
    count: int | None = None,
) -> Html:
    """A table of the first rows of so many. Columns of numbers are aligned to the right."""
    kept = [list(row) for row in rows[:ROWS]]
    width = max((len(row) for row in kept), default=len(head or ()))
    styles = [_column(kept, place) for place in range(width)]
    out = [f'<table style="border-collapse:collapse;border:none;margin:0.3em 0;{_WIDE}">']
    if caption:
        out.append(f'<caption style="caption-side:top;text-align:left;opacity:0.75">{escaped(caption)}</caption>')
    if head is not None:
        names = (
            f'<th scope="col" style="{style}">{escaped(name)}</th>' for name, style in zip(head, styles, strict=False)
        )
        out.append(f'<thead><tr style="border-bottom:{_LINE}">{"".join(names)}</tr></thead>')
    body = [
        f'<tr style="border-bottom:{_LINE}">'
        + "".join(f'<td style="{style}">{escaped(cell)}</td>' for cell, style in zip(row, styles, strict=False))
        + "</tr>"
        for row in kept
    ]
    left = (len(rows) if count is None else count) - len(kept)
    if left > 0:
        body.append(f'<tr><td colspan="{width}" style="{_LEFT};opacity:0.75">and {left:,} more</td></tr>')
    return Html("".join([*out, "<tbody>", *body, "</tbody></table>"]))


def _column(rows: list[list[Any]], place: int) -> str:
    cells = [row[place] for row in rows if place < len(row) and row[place] != ""]
    numbers = cells and all(is_real(cell) for cell in cells)
    return f"{_RIGHT};font-variant-numeric:tabular-nums" if numbers else _LEFT


def facts(told: Mapping[str, Any]) -> Html:
    """What is so, a line each; what is None is not known and left out."""
    lines = [
        f'<tr><th scope="row" style="{_LEFT};font-weight:normal;opacity:0.75">{escaped(name)}</th>'
        f'<td style="{_LEFT}">{escaped(value)}</td></tr>'
        for name, value in islice(((n, v) for n, v in told.items() if v is not None), ROWS)
    ]
    style = f"border-collapse:collapse;border:none;margin:0.3em 0;{_WIDE}"
    return Html(f'<table style="{style}"><tbody>{"".join(lines)}</tbody></table>' if lines else "")


def parameters(
    things: Sequence[Any], meanings: Mapping[str, str], simpler: Callable[[Any], Any] = lambda value: value
) -> Html:
    """The parameters of these objects: their values, and what they mean where the package has declared them."""
    rows = []
    for thing in things:
        for name in parameters_of(type(thing)):
            value = simpler(getattr(thing, name))
            told = shown(value) if value is None or isinstance(value, str | bool) else in_brief(value)
            rows.append([name, told, meanings.get(name, "") if _is_declared_here(type(thing), name) else ""])
    return table(rows, ["parameter", "value", "meaning"]) if rows else Html("")


def _is_declared_here(kind: type, name: str) -> bool:
    package = __name__.partition(".")[0]
    return any(
        name in parameters_of(base)
        for base in kind.__mro__
        if base.__module__.partition(".")[0] == package and dataclasses.is_dataclass(base)
    )


def lines(*texts: str) -> Html:
    """Sentences, each on a line of its own."""
    return Html("".join(f'<div style="{_WIDE}">{escaped(text)}</div>' for text in texts if text))


def beside(*parts: Html) -> Html:
    """Blocks next to each other, where there is room."""
    cells = "".join(f'<div style="margin-right:1.5em">{part}</div>' for part in parts if part)
    return Html(f'<div style="display:flex;flex-wrap:wrap;align-items:flex-start">{cells}</div>')


def card(title: str, about: str, *parts: Html) -> str:
    """The whole of an object: what it is called, a line about it, and blocks."""
    kind = f'<span style="font-weight:normal;opacity:0.75"> {escaped(about)}</span>' if about else ""
    return (
        f'<div style="overflow-x:auto"><div style="font-weight:bold">{escaped(title)}{kind}</div>{"".join(parts)}</div>'
    )
