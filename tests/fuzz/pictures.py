"""Damage to pictures and to tables of text that maps come in."""

from __future__ import annotations

import io
import struct
import zlib
from random import Random

from tests.fuzz.damage import damage

_PNG = b"\x89PNG\r\n\x1a\n"
_SIDES = (0, 1, 2, 3, 100, 5000, 9000, 12_000, 40_000, 2**31 - 1, 2**31, 2**32 - 1)


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    parts = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    ]
    return b"".join([_PNG, *parts])


def _chunks(content: bytes) -> list[tuple[bytes, bytes]]:
    found, place = [], 8
    while place + 8 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        found.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + length]))
        place += 12 + length
    return found


def damage_image(random: Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """A PNG is changed with its checksums made right again; any other picture byte by byte."""
    if content.startswith(b"GIF") and random.random() < 0.2:
        count = random.choice((2, 300))
        return frames(count), f"{count} frames"
    if not content.startswith(_PNG):
        return damage(random, content, other)
    chunks = _chunks(content)
    how = random.randrange(8)
    index = random.randrange(len(chunks))
    kind, body = chunks[index]
    if how == 0:
        width, height = random.choice(_SIDES), random.choice(_SIDES)
        head = struct.pack(">II", width, height) + chunks[0][1][8:]
        return png((b"IHDR", head), *chunks[1:]), f"{width} by {height} pixels"
    if how == 1:
        head = bytearray(chunks[0][1])
        place = random.randrange(8, 13)
        head[place] = random.choice((0, 1, 2, 3, 4, 6, 8, 16, 255))
        return png((b"IHDR", bytes(head)), *chunks[1:]), f"{head[place]} at byte {place} of IHDR"
    if how == 2:
        return png(*chunks[:index], *chunks[index + 1 :]), f"without {kind!r}"
    if how == 3:
        return png(*chunks[: index + 1], *chunks[index:]), f"{kind!r} twice"
    if how == 4:
        extra = random.choice(
            (b"zTXt", b"iTXt", b"tEXt", b"tRNS", b"PLTE", b"acTL", b"eXIf", b"iCCP", b"gAMA", b"fcTL")
        )
        stuff = random.choice(
            (b"", b"a\0\0" + zlib.compress(bytes(2**24)), b"Exif\0\0II*\0" + bytes(20), random.randbytes(40))
        )
        return png(chunks[0], (extra, stuff), *chunks[1:]), f"{extra!r} of {len(stuff)} bytes"
    if how == 5:
        side = random.choice((1000, 2500, 9000))
        rows = zlib.compress(bytes((side // 8 + 1) * side), 1)
        head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
        return png((b"IHDR", head), (b"IDAT", rows), (b"IEND", b"")), f"{side} by {side} black pixels"
    if how == 6 and kind == b"IDAT":
        pixels, told = damage(random, zlib.decompress(body), b"")
        return png(*chunks[:index], (kind, zlib.compress(pixels, 1)), *chunks[index + 1 :]), f"pixels: {told}"
    changed, told = damage(random, body or b"x", b"")
    return png(*chunks[:index], (kind, changed), *chunks[index + 1 :]), f"{kind!r}: {told}"


_FIELDS = (
    "",
    "x",
    "X",
    "#",
    "1e400",
    "-1",
    "-0",
    "nan",
    "inf",
    "1_000",
    "0x10",
    "1,5",
    '"1"',
    '"',
    "٣",
    "²",
    "\x1b[2J",
    "é",
    "1e308",
)
_FIELDS += (
    "9" * 5000,
    "1e-400",
    "1 2",
    "\u2028",
    "\x85",
    "\x0b",
    "\x1c",
    "=1+1",
    "1.",
    ".",
    "+",
    "1e",
    "TRUE",
    "\ufeff1",
    "x" * 10_000,
)
_BETWEEN = (",", ";", "\t", " ", ",,", ", ", "\r\n", "\n", "\r")


def damage_table(random: Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """A field, a line or what is between them."""
    lines = [line.split(",") for line in content.decode().splitlines()]
    how = random.randrange(7)
    y = random.randrange(len(lines))
    x = random.randrange(len(lines[y]))
    told = f"line {y + 1}, field {x + 1}"
    between, ends = ",", "\n"
    if how < 3:
        lines[y][x] = random.choice(_FIELDS)
        told += f" is {lines[y][x][:20]!a}"
    elif how == 3:
        del lines[y][x]
        told += " dropped"
    elif how == 4:
        between, ends = random.choice(_BETWEEN), random.choice(_BETWEEN)
        told = f"between fields {between!a}, lines {ends!a}"
    elif how == 5:
        times = random.choice((2, 100, 20_000))
        lines = [lines[y]] * times
        told = f"line {y + 1} {times} times"
    else:
        times = random.choice((2, 100, 20_000))
        lines[y] = lines[y][x : x + 1] * times
        told += f" {times} times"
    return ends.join(between.join(line) for line in lines).encode("utf-8", "surrogatepass"), told


def frames(count: int) -> bytes:
    """A film of many small frames."""
    from PIL import Image

    file = io.BytesIO()
    first, *rest = [Image.new("L", (2, 2), 40 * (k % 5)) for k in range(count)]
    first.save(file, "GIF", save_all=True, append_images=rest)
    return file.getvalue()
