"""A field of numbers as a small picture inside HTML, in viridis. Drawn without matplotlib, whose import takes long."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray

from potentia.kernel.arrays import Floats
from potentia.kernel.html import Html, escaped

SIDE = 200  # pixels, at most
_GREY = (150, 150, 150)
_WALL = 255  # its place in the palette; the others are viridis
_VIRIDIS = (  # matplotlib's, every sixteenth colour
    "44015448186a472d7b4240863b528b33638d2c728e26828e21918c1fa08828ae803fbc735ec96284d44baddc30d8e219fde725"
)


def palette() -> NDArray[np.uint8]:
    """Viridis in 255 colours, and the grey of walls; (256, 3)."""
    known = np.frombuffer(bytes.fromhex(_VIRIDIS), np.uint8).reshape(-1, 3)
    at = np.linspace(0, len(known) - 1, _WALL)
    colours = np.stack([np.interp(at, np.arange(len(known)), known[:, k]) for k in range(3)], axis=1)
    return np.concatenate([colours.round(), [_GREY]]).astype(np.uint8)


def picture(field: Floats, alt: str, *, walls: NDArray[np.bool_] | None = None, upwards: bool = False) -> Html:
    """A field (rows, columns), its first row on top or ``upwards``; of one with very many cells, some of them."""
    from PIL import Image

    every = -(-max(field.shape) // SIDE)
    some = field[::every, ::every]
    least, most = float(some.min()), float(some.max())
    place = (some - least) / (most - least) * (_WALL - 1) if most > least else np.zeros(some.shape)
    pixels = place.round().astype(np.uint8)
    if walls is not None:
        pixels[walls[::every, ::every]] = _WALL
    times = max(SIDE // max(pixels.shape), 1)
    pixels = pixels[::-1] if upwards else pixels
    image = Image.fromarray(np.ascontiguousarray(pixels.repeat(times, axis=0).repeat(times, axis=1)))
    image.putpalette(palette().tobytes())
    file = io.BytesIO()
    image.save(file, "png")
    source = base64.b64encode(file.getvalue()).decode("ascii")
    size = f'width="{image.width}" height="{image.height}"'
    return Html(f'<img alt="{escaped(alt)}" {size} src="data:image/png;base64,{source}" />')
