"""Colours of players and rules, the same in figures, films and pages.

The palette is Okabe and Ito's, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import re
import zlib

from potentia.rules import registered

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_RULES = {
    "lll": PALETTE[4],
    "blll": PALETTE[0],
    "slll": PALETTE[5],
    "p-sblll": PALETTE[1],
    "best-response": "#332288",
    "ql": PALETTE[2],
    "soql": PALETTE[3],
    "score": "#882255",
}
WALL = "#96602f"  # of blocked cells, in pictures, films and (map_marks.js) pages: on no scale of worth, light or dark
_SHADES = ((0.0, 0.0), (0.45, 0.0), (0.75, 0.0), (0.35, 1.0), (0.55, 1.0))  # how far to 0, black, or to 1, white


def color_of(rule_name: str) -> str:
    """The colour of a rule, the same in every figure; of a name that begins with a rule's, that of the rule."""
    name = rule_in(rule_name) or rule_name
    return _RULES.get(name) or list(_RULES.values())[zlib.crc32(name.encode()) % len(_RULES)]


def rule_in(label: str) -> str | None:
    """The rule that a label begins with, as "p-sblll" of "P-SBLLL, joint"; None where it begins with none."""
    said = label.strip().lower()
    for name in sorted({*_RULES, *registered()}, key=len, reverse=True):
        if re.match(re.escape(name.lower()) + r"(?!\w)", said):
            return name
    return None


def shade(colour: str, which: int) -> str:
    """A colour itself, then darker and, of more than three, lighter."""
    share, end = _SHADES[which % len(_SHADES)]
    if not share:
        return colour
    mixed = [(1 - share) * part / 255 + share * end for part in rgb(colour)]
    return "#" + "".join(f"{round(255 * part):02x}" for part in mixed)


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb", 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def robot_colour(robot: int) -> str:
    """Six colours, then the same six darker; beyond, robots are told apart by their numbers."""
    return shade(PALETTE[robot % len(PALETTE)], robot // len(PALETTE) % 2)
