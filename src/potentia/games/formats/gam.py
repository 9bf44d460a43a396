"""GameTracer's files, ``.gam``, as GAMUT and QuantEcon write them.

The number of players, how many actions each has, then the payoffs: all of the first player's, then all of the second's;
the first player's action varies fastest. A line that begins with ``#`` is a comment. There are no names.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from potentia.games.formats.nfg import Token, numbers, product, refuse
from potentia.games.normal_form import MOST_AXES
from potentia.kernel.numbers import in_words

_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_WORD = re.compile(r"\S+")
_MOST_ACTIONS = 2**31 - 1


def parse_gam(text: str) -> dict[str, Any]:
    """The arguments of a NormalForm, from what is in a file."""
    plain = _COMMENT.sub(lambda match: " " * len(match[0]), text)  # places stay
    found = [Token(3, match[0], match.start()) for match in _WORD.finditer(plain)]
    players = _count(text, found, 0, "the number of players", MOST_AXES)
    sizes = [
        _count(text, found, 1 + k, f"how many actions player {k + 1} of {players} has", _MOST_ACTIONS)
        for k in range(players)
    ]
    profiles, rest = product(sizes), found[1 + players :]
    if len(rest) != players * profiles:
        place = rest[players * profiles].place if len(rest) > players * profiles else len(plain.rstrip())
        told = f"expected {in_words(players * profiles)} payoffs, {players} for each of {in_words(profiles)} profiles"
        refuse(text, place, f"{told}, got {len(rest):,}")
    values, unit = numbers(text, rest)
    payoffs = np.stack([row.reshape(sizes, order="F") for row in values.reshape(players, -1)])
    return {"payoffs": payoffs, "unit": unit}


def _count(text: str, found: list[Token], place: int, what: str, most: int) -> int:
    if place >= len(found):
        refuse(text, len(text.rstrip()), f"expected {what}, got the end of the file")
    word = found[place].text
    if not (word.isascii() and word.isdigit() and len(word) < 20 and 1 <= int(word) <= most):
        refuse(text, found[place].place, f"expected {what}, an integer from 1 to {most:,}, got {word!r:.60}")
    return int(word)
