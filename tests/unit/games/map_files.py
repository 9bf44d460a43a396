"""Shared by the tests of maps in files: small maps and pictures, and what files of them hold."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

MAPS = Path(__file__).parents[3] / "docs" / "maps"
RAMP = np.arange(6.0).reshape(2, 3)
WALL = np.array([[0, 1, 0], [0, 0, 0]], bool)
GREY = np.array([[0, 51, 255], [102, 153, 204]], np.uint8)
SHADES = GREY / 255.0


def put(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


def same(a, b, name=True):
    """Whether two worlds agree in everything, to the bit."""
    arrays = [(w.worth.tobytes(), w.blocked.tobytes(), w.targets.tobytes(), w.size, w.origin) for w in (a, b)]
    mixtures = [
        None if w.mixture is None else [getattr(w.mixture, k).tobytes() for k in ("weights", "means", "covariances")]
        for w in (a, b)
    ]
    return arrays[0] == arrays[1] and mixtures[0] == mixtures[1] and (not name or a.name == b.name)


def image_bytes(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def grey(array=GREY):
    return Image.fromarray(array)


def archive(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def one_array(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class Trap:
    """Unpickling this fails the test."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


RGB = np.stack([GREY] * 3, axis=-1)
DEEP = GREY.astype(np.uint16) * np.uint16(257)


def palette(colours=None, **options):
    image = Image.new("P", (3, 2))
    image.putpalette(colours or [v for v in GREY.reshape(-1).tolist() for _ in range(3)])
    image.putdata(range(6))
    return image_bytes(image, **options)


def tiff16(bits=16, photometric=1):
    """A little TIFF by hand: Pillow writes neither 12 bits nor white as 0."""
    values = (DEEP >> (16 - bits)).reshape(-1).tolist()
    if bits == 16:
        strip = np.array(values, "<u2").tobytes()
    else:  # two numbers in three bytes, a row of three in five
        packed = b""
        for a, b, c in (values[:3], values[3:]):
            packed += bytes([a >> 4, (a & 15) << 4 | b >> 8, b & 255, c >> 4, (c & 15) << 4])
        strip = packed
    tags = [(256, 3), (257, 2), (258, bits), (259, 1), (262, photometric), (273, 8), (277, 1), (278, 2)]
    tags.append((279, len(strip)))
    start = 8 + len(strip) + len(strip) % 2
    entries = b"".join(np.array([t, 3], "<u2").tobytes() + np.array([1, v], "<u4").tobytes() for t, v in tags)
    head = b"II*\0" + np.array([start], "<u4").tobytes() + strip + b"\0" * (len(strip) % 2)
    return head + np.array([len(tags)], "<u2").tobytes() + entries + b"\0" * 4
