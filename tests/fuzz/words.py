"""Damage to text made of words, braces and quotes: pieces dropped, doubled, moved or put in the place of others."""

from __future__ import annotations

import re
from random import Random

_PIECE = re.compile(rb'"(?:[^"\\]|\\.)*"|[{},]|[^\s{},"]+|\s+|"', re.DOTALL)
_ODD = (
    *(b"{", b"}", b'"', b'""', b",", b'"a', b'\\"', b'"a\\', b"{ }", b"{ { } }", b"#", b"# 1\n", b"//"),
    *(b"0", b"1", b"-1", b"+2", b"2.5", b".5", b"5.", b".", b"-", b"1/3", b"1/0", b"0/0", b"/", b"1/-2", b"1/2/3"),
    *(b"1e3", b"1e400", b"1e-400", b"1e999999999", b"0e999999999", b"e5", b"1e", b"nan", b"inf", b"0x10", b"1_000"),
    *(b"31623", b"1000000000", b"4294967296", b"99999999999999999999", b"9" * 5000, b"0." + b"3" * 2000),
    *("٣".encode(), "²".encode(), "ü".encode(), "ü".encode("latin-1"), b"\xef\xbb\xbf", b"\0", b"\r\n", b"\r"),
    *(b"R", b"D", b"NFG", b"EFG 2 R", b'"x" ' * 100, b"1 " * 500, b"{ " * 500),
)


def damage_words(random: Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """The text with one to three pieces changed, and what was done."""
    pieces = _PIECE.findall(content)
    told = []
    for _ in range(random.choice((1, 1, 2, 3))):
        place = random.randrange(len(pieces)) if pieces else 0
        how = random.randrange(5)
        if how == 0:
            told.append(f"piece {place} dropped")
            del pieces[place : place + random.choice((1, 2, 8))]
        elif how == 1:
            told.append(f"piece {place} twice")
            pieces[place:place] = pieces[place : place + random.choice((1, 2, 8))]
        elif how == 2:
            target = random.randrange(len(pieces) + 1)
            told.append(f"piece {place} moved to {target}")
            pieces.insert(target, pieces.pop(place) if pieces else b"")
        elif how == 3:
            odd = random.choice(_ODD)
            told.append(f"{odd[:20]!r} for piece {place}")
            pieces[place : place + 1] = [odd]
        else:
            odd = random.choice(_ODD)
            told.append(f"{odd[:20]!r} before piece {place}")
            pieces[place:place] = [b" ", odd, b" "]
    if random.random() < 0.1:
        told.append("the rest of another")
        pieces[len(pieces) // 2 :] = _PIECE.findall(other)[len(pieces) // 2 :]
    return b"".join(pieces), "; ".join(told)
