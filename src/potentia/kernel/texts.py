"""Names are text: what a name may hold must not steer a terminal, nor be computed by a spreadsheet."""

from __future__ import annotations

import math
import os
import re
import shlex
import unicodedata
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any

# Controls, what reorders or hides its neighbours, halves of a character, and what breaks a line.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # parts of words, and of emoji
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def visible(text: str, keep: str = "") -> str:
    r"""The text with control characters written out, as in ``\x1b``; those in ``keep`` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter
        if letter in keep or letter in _JOINERS or unicodedata.category(letter) not in _UNSEEN
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def inert(cell: object) -> object:
    """A cell of a CSV file; a text that a spreadsheet would take for a formula begins with an apostrophe.

    Numbers stay as they are, and so do texts that are written as one.
    """
    if not isinstance(cell, str) or not (cell[:1] in ("\t", "\r", "\n") or cell.lstrip().startswith(_FORMULA)):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def command(name: str, path: str | os.PathLike[str]) -> str:
    """What to type next, whatever the file is called."""
    text = os.fspath(path)
    return f"potentia {name} {shlex.quote(f'./{text}' if text.startswith('-') else text)}"


_SECTION = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)
_TYPE = re.compile(r"^(\S.*?) : (?:\{(.*)\}|.*)$", re.MULTILINE)


def prose(docstring: str | None) -> str:
    """A docstring up to its first section."""
    return _SECTION.split(cleandoc(docstring or ""))[0].rstrip()


def explained(docstring: str | None) -> str:
    """A docstring for those who do not write Python: its prose, and what its parameters mean, without their types."""
    head, *sections = _SECTION.split(cleandoc(docstring or ""))
    told = dict(zip(sections[::2], sections[1::2], strict=True)).get("Parameters", "")
    choices = _TYPE.sub(lambda one: one[1] + (f" ({one[2]})".replace('"', "") if one[2] else ""), told)
    return "\n\n".join(filter(None, (head.rstrip(), choices.rstrip())))


def counted(count: int, thing: str) -> str:
    """1 point, 2 points."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def value(entry: Any) -> str:
    """A number or list as people read it."""
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if isinstance(entry, float):
        if not math.isfinite(entry):
            return "-"
        return f"{entry:,.0f}" if 1e5 <= abs(entry) < 1e15 else f"{entry:.6g}"
    if isinstance(entry, int):
        return f"{entry:,}"
    if isinstance(entry, list):
        return " ".join(value(e) for e in entry)
    if isinstance(entry, Mapping):
        return ", ".join(f"{k}: {value(v)}" for k, v in entry.items())
    return str(entry)
