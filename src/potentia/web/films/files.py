"""Films as files, written picture by picture: GIF, PNG and WebP.

A picture is an array of palette numbers. Of all but the first only the rectangle that changed is written, and what did
not change within it as :data:`~potentia.web.films.canvas.SAME`, which every viewer leaves as it was.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from potentia.errors import InvalidRun
from potentia.web.films.canvas import SAME, Pixels

PixelsOf = Iterator[Pixels]


class Change(NamedTuple):
    """What a picture changes, and where: numbers, left, top."""

    pixels: Pixels
    left: int
    top: int


ENDINGS = (".gif", ".png", ".apng", ".webp")


def writer_of(suffix: str) -> Callable[[Path, PixelsOf, Pixels, list[int]], None] | None:
    """What writes files with this ending: path, pictures, palette (256, 3) and milliseconds of each picture."""
    writers = (_write_gif, _write_png, _write_png, _write_webp)
    return dict(zip(ENDINGS, writers, strict=True)).get(suffix.lower())


def require_pillow(suffix: str) -> None:
    """Refuse where Pillow, which letters are drawn with, cannot be loaded or cannot write this kind of file."""
    try:
        from PIL import Image, features
    except ImportError as error:
        raise InvalidRun(f"a film needs Pillow, which cannot be loaded: {error}; pip install pillow") from error
    Image.init()
    kind = suffix.lower().strip(".").upper()
    if (kind == "GIF" and "GIF" not in Image.SAVE) or (kind == "WEBP" and not features.check("webp")):
        raise InvalidRun(f"this Pillow cannot write {kind} files; pip install --force-reinstall pillow")


def _changes(pictures: PixelsOf) -> Iterator[Change]:
    """What each picture changes; a single pixel where nothing does."""
    before = None
    for picture in pictures:
        if before is None:
            yield Change(picture, 0, 0)
        else:
            other = picture != before
            rows, columns = np.flatnonzero(other.any(axis=1)), np.flatnonzero(other.any(axis=0))
            top, bottom = (rows[0], rows[-1] + 1) if len(rows) else (0, 1)
            left, right = (columns[0], columns[-1] + 1) if len(columns) else (0, 1)
            part = np.where(other, picture, np.uint8(SAME))[top:bottom, left:right]
            yield Change(part, int(left), int(top))
        before = picture


# GIF --------------------------------------------------------------------------------------------------


def _write_gif(path: Path, pictures: PixelsOf, colours: Pixels, milliseconds: list[int]) -> None:
    """With one palette for all pictures. Pillow would write one for each and keep all pictures until the end."""
    from PIL import Image

    with path.open("wb") as file:
        for (pixels, left, top), pause in zip(_changes(pictures), milliseconds, strict=True):
            height, width = pixels.shape
            if not file.tell():
                file.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0) + colours.tobytes())
                file.write(b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<HB", 0, 0))  # again and again
            told = 0x05  # the picture stays, and one number is transparent
            file.write(b"!\xf9\x04" + struct.pack("<BHBB", told, round(pause / 10), SAME, 0))
            file.write(b"," + struct.pack("<HHHHB", left, top, width, height, 0))
            buffer = io.BytesIO()
            Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "GIF", optimize=False, interlace=0)
            file.write(_packed(buffer.getbuffer()))
        file.write(b";")


def _packed(gif: memoryview) -> memoryview:
    """The packed numbers of the only picture of a GIF."""
    at = 13 + (3 << (gif[10] & 7) + 1 if gif[10] & 0x80 else 0)
    while gif[at] == 0x21:  # an extension, in blocks that begin with their length
        at += 2
        while gif[at]:
            at += gif[at] + 1
        at += 1
    table = gif[at + 9]
    return gif[at + 10 + (3 << (table & 7) + 1 if table & 0x80 else 0) : -1]


# PNG --------------------------------------------------------------------------------------------------


def _write_png(path: Path, pictures: PixelsOf, colours: Pixels, milliseconds: list[int]) -> None:
    """An animated PNG; a viewer that knows none shows the first picture."""
    number = 0
    with path.open("wb") as file:
        for (pixels, left, top), pause in zip(_changes(pictures), milliseconds, strict=True):
            height, width = pixels.shape
            first = not file.tell()
            if first:
                file.write(b"\x89PNG\r\n\x1a\n")
                _chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
                _chunk(file, b"PLTE", colours.tobytes())
                _chunk(file, b"tRNS", b"\xff" * SAME + b"\x00")
                _chunk(file, b"acTL", struct.pack(">II", len(milliseconds), 0))
            where = struct.pack(">IIIII", number, width, height, left, top)
            _chunk(file, b"fcTL", where + struct.pack(">HHBB", pause, 1000, 0, 1))  # over what was there
            rows = np.zeros((height, width + 1), np.uint8)  # each begins with 0: numbers as they are
            rows[:, 1:] = pixels
            data = zlib.compress(rows.tobytes(), 6)
            _chunk(file, *((b"IDAT", data) if first else (b"fdAT", struct.pack(">I", number + 1) + data)))
            number += 1 if first else 2
        _chunk(file, b"IEND", b"")


def _chunk(file: BinaryIO, kind: bytes, data: bytes) -> None:
    file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


# WebP -------------------------------------------------------------------------------------------------


def _write_webp(path: Path, pictures: PixelsOf, colours: Pixels, milliseconds: list[int]) -> None:
    """Without loss; Pillow finds by itself what changed."""
    from PIL import Image

    def image(picture: Pixels) -> Image.Image:
        found = Image.fromarray(picture).convert("P")
        found.putpalette(colours.tobytes())
        return found

    images = [image(picture) for picture in pictures]
    options = {"duration": milliseconds, "loop": 0, "lossless": True, "method": 1, "quality": 50}
    images[0].save(path, format="WEBP", save_all=True, append_images=images[1:], **options)
