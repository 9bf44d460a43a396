"""Maps as greyscale images: see :mod:`potentia.games.formats.maps` for what a pixel means."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidGame
from potentia.games.formats.map_parts import PER_CELL, Map, first
from potentia.games.formats.paths import reading
from potentia.kernel import memory
from potentia.kernel.arrays import Floats

_FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "GIF", "PPM")  # no others: Pillow runs a program to read some
_CONVERT = 'convert it to greyscale, with Pillow by Image.open(path).convert("L").save("map.png")'
_SHADES = ("1", "L", "LA", "RGB", "RGBA")
_TIFF_BITS, _TIFF_PHOTOMETRIC = 258, 262


def read_image(path: Path, mask: bool, wall_colour: str | None = None) -> Map:
    """Brightness of each pixel, and which are transparent or of the walls' colour."""
    from PIL import Image, ImageOps

    wall = None if wall_colour is None else _colour(wall_colour)
    damaged = "not a PNG, JPEG, BMP, TIFF, GIF or PGM image, or damaged"
    with reading(damaged), path.open("rb") as raw, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow, about metadata
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(raw, formats=_FORMATS) as image:
                frames = int(getattr(image, "n_frames", 1))
                if frames > 1:
                    raise InvalidGame(f"expected one image, got {frames} frames; save the one you mean by itself")
                memory.require(PER_CELL * image.width * image.height, f"reading {path}", "scale it down")
                white, inverted = _white(image)  # before it is turned: the copy has neither format nor tags
                values, alpha = _shades(ImageOps.exif_transpose(image), white, wall)
        except (Image.DecompressionBombWarning, Image.DecompressionBombError):
            most = Image.MAX_IMAGE_PIXELS or 0
            raise InvalidGame(f"an image must have at most {most:,} pixels; scale it down") from None
    if inverted:
        values = 1.0 - values
    if alpha is None:
        return Map(values, np.zeros(values.shape, bool), _pixel_at)
    if (spot := first((alpha < 255) & (mask | (alpha > 0)))) is not None:
        expected = "a mask is black and white" if mask else "expected it opaque, or fully transparent where blocked"
        raise InvalidGame(f"{_pixel_at(*spot)} is transparent, alpha {alpha[spot[1], spot[0]]} of 255: {expected}")
    return Map(np.where(alpha == 0, 0.0, values), alpha == 0, _pixel_at)


def _pixel_at(x: int, y: int) -> str:
    return f"pixel ({x}, {y})"


def _white(image: Any) -> tuple[int, bool]:
    """The number that means white; and whether 0 does, which Pillow turns around itself up to 8 bits."""
    if image.mode in ("P", "PA", *_SHADES):
        return 1 if image.mode == "1" else 255, False
    if image.mode.startswith("I;16") and image.format == "TIFF":
        bits = int(image.tag_v2.get(_TIFF_BITS, (16,))[0])  # some cameras have 12
        return 2**bits - 1, image.tag_v2.get(_TIFF_PHOTOMETRIC) == 0
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM")):
        return 65535, False
    if image.mode in ("I", "F"):
        return 1, False
    raise InvalidGame(f"expected a greyscale image, got colours of mode {image.mode}; {_CONVERT}")


def _colour(text: str) -> tuple[int, ...]:
    """Red, green and blue of "#rrggbb"."""
    if not isinstance(text, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", text):
        raise InvalidGame(f"must be a colour #rrggbb, such as #000000 for black, got {text!r:.40}", "wall_colour", text)
    return tuple(bytes.fromhex(text[1:]))


def _shades(image: Any, white: int, wall: tuple[int, ...] | None = None) -> tuple[Floats, NDArray[np.uint8] | None]:
    """Brightness, white being 1; and, if the image says so, how opaque each pixel is, up to 255.

    Pixels of the ``wall`` colour are as good as transparent.
    """
    clear = image.info.get("transparency")  # the colour that is
    if image.mode in ("P", "PA") or (clear is not None and image.mode in _SHADES):
        image, white = image.convert("RGBA"), 255
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        alpha = None if clear is None else np.where(pixels == clear, 0, 255).astype(np.uint8)
        if wall is not None:
            grey = wall[0] / 255 if len(set(wall)) == 1 else np.nan
            alpha = _without(pixels / float(white) == grey, alpha, wall)
        return pixels / float(white), alpha
    alpha = pixels[..., -1] if image.mode in ("LA", "RGBA") else None
    if wall is not None:
        first_three = pixels[..., :3] if image.mode in ("RGB", "RGBA") else pixels[..., :1]
        alpha = _without((first_three == wall).all(axis=-1), alpha, wall)
    red, green, blue = (pixels[..., k if image.mode in ("RGB", "RGBA") else 0] for k in range(3))
    coloured = (red != green) | (red != blue)
    if (spot := first(coloured if alpha is None else coloured & (alpha > 0))) is not None:
        r, g, b = pixels[spot[1], spot[0], :3].tolist()
        raise InvalidGame(f"{_pixel_at(*spot)}: expected a shade of grey, got red {r}, green {g}, blue {b}; {_CONVERT}")
    return red / float(white), alpha


def _without(walls: NDArray[np.bool_], alpha: NDArray[np.uint8] | None, wall: tuple[int, ...]) -> NDArray[np.uint8]:
    """How opaque pixels are, those of walls not at all."""
    if not walls.any():
        told = "is the colour of no pixel; the file must hold it exactly, as PNG does and JPEG does not"
        raise InvalidGame(f"{told}, got #{bytes(wall).hex()}", "wall_colour")
    return np.where(walls, 0, 255 if alpha is None else alpha).astype(np.uint8)
