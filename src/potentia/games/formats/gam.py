"""GameTracer's files, ``.gam``, as GAMUT and QuantEcon write them.

The number of players, how many actions each has, then the payoffs: all of the first player's, then all of the second's;
the first player's action varies fastest. A line that begins with ``#`` is a comment. There are no names.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from potentia.games.formats.nfg import Words, numbers, product, refuse
from potentia.games.normal_form import MOST_AXES
from potentia.kernel.numbers import in_words

_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_MOST_ACTIONS = 2**31 - 1


def parse_gam(text: str) -> dict[str, Any]:
    """The arguments of a NormalForm, from what is in a file."""
    plain = _COMMENT.sub(lambda match: " " * len(match[0]), text)  # places stay
    found = Words(plain, 0, len(plain))
    players = _count(found, 0, "the number of players", MOST_AXES)
    sizes = [
        _count(found, 1 + k, f"how many actions player {k + 1} of {players} has", _MOST_ACTIONS) for k in range(players)
    ]
    profiles, first = product(sizes), 1 + players
    wanted, got = players * profiles, len(found.all) - first
    if got != wanted:
        place = found.place(first + wanted) if got > wanted else len(plain.rstrip())
        told = f"expected {in_words(wanted)} payoffs, {players} for each of {in_words(profiles)} profiles"
        refuse(text, place, f"{told}, got {got:,}")
    values, unit = numbers(text, found.all[first:], lambda k: found.place(first + k))
    payoffs = np.stack([row.reshape(sizes, order="F") for row in values.reshape(players, -1)])
    return {"payoffs": payoffs, "unit": unit}


def _count(found: Words, number: int, what: str, most: int) -> int:
    if number >= len(found.all):
        refuse(found.text, len(found.text.rstrip()), f"expected {what}, got the end of the file")
    word = found.all[number]
    if not (word.isascii() and word.isdigit() and len(word) < 20 and 1 <= int(word) <= most):
        refuse(found.text, found.place(number), f"expected {what}, an integer from 1 to {most:,}, got {word!r:.60}")
    return int(word)
