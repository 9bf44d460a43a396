"""Damage to bytes, of whatever kind they are."""

from __future__ import annotations

import struct
from random import Random

TOKENS = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",  # the mark that some editors begin with
    b"\xff\xfe",
    b"\xed\xa0\x80",  # half of a pair, which UTF-8 has not
    b"\x1b[31m",
    b"\xe2\x80\xae",
    b"\xe2\x80\xa8",
    b"\r",
    b"\n\n",
    b'"',
    b"'",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b";",
    b"\t",
    b":",
    b"=",
    b"#",
    b".",
    b"-",
    b"1e400",
    b"-1e400",
    b"1e-400",
    b"NaN",
    b"nan",
    b"Infinity",
    b"null",
    b"true",
    b"9" * 25,
    b"9" * 5000,
    b"0x" + b"f" * 6000,
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"x" * 200_000,
    b",1" * 100_000,
    "٣".encode(),  # a digit, but not one of ours
    "²".encode(),
)
_INTEGERS = (0, 1, -1, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1)


def flip(random: Random, data: bytearray) -> str:
    places = [random.randrange(len(data)) for _ in range(random.choice((1, 1, 2, 4, 16)))]
    for place in places:
        data[place] ^= random.choice((1, 2, 4, 8, 16, 32, 64, 128, random.randrange(1, 256)))
    return f"bytes {places} flipped"


def cut(random: Random, data: bytearray) -> str:
    place = random.randrange(len(data))
    del data[place:]
    return f"cut at {place}"


def behead(random: Random, data: bytearray) -> str:
    place = random.randrange(min(len(data), 64))
    del data[:place]
    return f"the first {place} bytes dropped"


def drop(random: Random, data: bytearray) -> str:
    place, length = random.randrange(len(data)), random.choice((1, 2, 8, 64))
    del data[place : place + length]
    return f"{length} bytes dropped at {place}"


def insert(random: Random, data: bytearray) -> str:
    place, token = random.randrange(len(data) + 1), random.choice(TOKENS)
    data[place:place] = token
    return f"{token[:20]!r} of {len(token)} bytes inserted at {place}"


def replace(random: Random, data: bytearray) -> str:
    place, token = random.randrange(len(data)), random.choice(TOKENS)
    data[place : place + random.choice((1, 1, len(token)))] = token
    return f"{token[:20]!r} of {len(token)} bytes put at {place}"


def begin_with(random: Random, data: bytearray) -> str:
    token = random.choice(TOKENS)
    data[:0] = token
    return f"{token[:20]!r} of {len(token)} bytes put before everything"


def number(random: Random, data: bytearray) -> str:
    """Overwrite a field of a binary header, perhaps."""
    value, size = random.choice(_INTEGERS), random.choice((1, 2, 4, 8))
    packed = struct.pack("<Q", value % 2**64)[:size]
    place = random.randrange(len(data)) if random.random() < 0.6 else random.randrange(min(len(data), 128))
    data[place : place + size] = packed if random.random() < 0.5 else packed[::-1]
    return f"{value} in {size} bytes put at {place}"


def repeat(random: Random, data: bytearray) -> str:
    place, length = random.randrange(len(data)), random.choice((1, 4, 40, 400))
    part = bytes(data[place : place + length])
    times = random.choice((1, 2, 100, 100_000 // len(part)))
    data[place:place] = part * times
    return f"{len(part)} bytes at {place} repeated {times} times"


def noise(random: Random, data: bytearray) -> str:
    place, length = random.randrange(len(data)), random.choice((1, 8, 64, 1024))
    data[place : place + length] = random.randbytes(length)
    return f"{length} random bytes put at {place}"


_HOW = (flip, flip, flip, cut, cut, behead, drop, insert, insert, replace, begin_with, number, number, repeat, noise)


def damage(random: Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """Damaged bytes and what was done; ``other`` is a second file of the kind, to splice with."""
    if random.random() < 0.08 and content and other:
        here, there = random.randrange(len(content)), random.randrange(len(other))
        return content[:here] + other[there:], f"cut at {here}, then another file from its byte {there}"
    data = bytearray(content)
    told = [random.choice(_HOW)(random, data) for _ in range(random.choice((1, 1, 1, 2, 3))) if data]
    return bytes(data), "; ".join(told)
