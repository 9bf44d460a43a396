"""Make the maps of a site: ``python docs/site/make.py`` writes leaks.png and walls.png beside this file.

120×80 cells of a metre: how likely gas leaks there (white: most likely), made up of nine spots of different sizes, and
six halls with doors of five metres between them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).parent
SEED, COLUMNS, ROWS, SPOTS, DOOR = 7, 120, 80, 9, 5


def density() -> np.ndarray:
    """Nine spots, the highest of which is 1."""
    random = np.random.Generator(np.random.PCG64(SEED))
    y, x = np.mgrid[:ROWS, :COLUMNS] + 0.5
    total = np.zeros((ROWS, COLUMNS))
    for _ in range(SPOTS):
        centre_x, centre_y = random.uniform(0.08, 0.92, 2) * (COLUMNS, ROWS)
        wide, high = random.uniform(4, 10, 2)
        spot = np.exp(-0.5 * (((x - centre_x) / wide) ** 2 + ((y - centre_y) / high) ** 2))
        total += random.uniform(0.4, 1.0) * spot
    return total / total.max()


def walls() -> np.ndarray:
    """True where there is a wall: two across and one along the site, with doors."""
    mask = np.zeros((ROWS, COLUMNS), bool)
    mask[:, [40, 80]] = True
    mask[40] = True
    for y in (18, 58):
        mask[y : y + DOOR, [40, 80]] = False
    for x in (18, 58, 98):
        mask[40, x : x + DOOR] = False
    return mask


if __name__ == "__main__":
    Image.fromarray(np.round(255 * density()).astype(np.uint8)).save(HERE / "leaks.png")
    Image.fromarray(np.where(walls(), 255, 0).astype(np.uint8)).save(HERE / "walls.png")
