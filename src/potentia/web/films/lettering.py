"""Letters for pictures: DejaVu Sans where it is, which knows Greek and accents, or what Pillow brings."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from potentia.kernel.arrays import Floats
from potentia.kernel.texts import visible


@cache
def letters(size: int, bold: bool = False) -> Letters:
    """Letters of a size in pixels."""
    return Letters(size, bold)


class Letters:
    """Letters of one size."""

    def __init__(self, size: int, bold: bool = False) -> None:
        self._font = _font(size, bold)
        self._shapes: dict[str, tuple[Floats, int]] = {}

    def shape_of(self, text: str) -> tuple[Floats, int]:
        """How much of each pixel a text covers, and how many rows of it are above the line that letters stand on."""
        if text not in self._shapes:
            if len(self._shapes) > 512:
                self._shapes.clear()
            self._shapes[text] = self._shape(visible(text).replace("\n", " "))
        return self._shapes[text]

    def width(self, text: str) -> int:
        """Of a text, in pixels."""
        return int(self.shape_of(text)[0].shape[1])

    def fitted(self, text: str, width: int) -> str:
        """As much of a text as there is room for, with an ellipsis where something is left out."""
        if self.width(text) <= width:
            return text
        few, many = 0, len(text)
        while few < many:
            middle = (few + many + 1) // 2
            few, many = (middle, many) if self.width(f"{text[:middle].rstrip()}…") <= width else (few, middle - 1)
        return f"{text[:few].rstrip()}…"

    def wrapped(self, text: str, width: int, most: int) -> list[str]:
        """A text in lines of at most this width, the last one cut where they would be more."""
        lines, words = [""], text.split()
        while words:
            longer = f"{lines[-1]} {words[0]}".strip()
            if self.width(longer) > width and lines[-1]:
                if len(lines) == most:
                    return [*lines[:-1], self.fitted(" ".join([lines[-1], *words]), width)]
                lines.append("")
                continue
            lines[-1] = self.fitted(longer, width)
            words.pop(0)
        return lines

    def _shape(self, text: str) -> tuple[Floats, int]:
        from PIL import Image, ImageDraw, ImageFont

        if not isinstance(self._font, ImageFont.FreeTypeFont):  # it knows only the first 256 letters
            text = text.encode("latin-1", "replace").decode("latin-1")
        left, _, right, _ = (round(edge) for edge in self._font.getbbox(text))
        rise, fall = _heights(self._font)
        image = Image.new("L", (max(right - min(left, 0), 1), rise + fall))
        ImageDraw.Draw(image).text((-min(left, 0), 0), text, fill=255, font=self._font)
        return np.asarray(image, np.float64) / 255, rise


def _heights(font: Any) -> tuple[int, int]:
    """Rows above and below the line that letters stand on."""
    from PIL import ImageFont

    if isinstance(font, ImageFont.FreeTypeFont):
        rise, fall = font.getmetrics()
        return rise, fall
    return 9, 3


def _font(size: int, bold: bool) -> Any:
    from PIL import ImageFont

    found = importlib.util.find_spec("matplotlib")  # which is not loaded for it
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / "mpl-data" / "fonts" / "ttf" / f"DejaVuSans{'-Bold' * bold}.ttf"
        try:
            return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)
        except (OSError, ImportError):  # not there, or Pillow without FreeType
            continue
    try:
        return ImageFont.load_default(size=size)
    except ImportError:
        return ImageFont.load_default()
