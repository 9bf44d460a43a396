"""Make the sample map of a harbour: ``python docs/maps/make.py`` writes harbour.csv beside this file.

60×40 cells with four hot spots over a low background, two breakwaters with gaps and a lake. Hot spots are where
ships meet, so worth is what a patrol would see there; the numbers are made up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SEED, COLUMNS, ROWS = 7, 60, 40
SPOTS = (  # centre x, y; widths along and across; angle; height
    (13.0, 9.0, 5.0, 3.0, 0.4, 1.0),
    (47.0, 8.0, 4.0, 4.0, 0.0, 0.8),
    (41.0, 31.0, 6.0, 3.0, -0.6, 0.9),
    (11.0, 32.0, 3.5, 2.5, 0.9, 0.6),
)


def worth(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Hot spots, and a background of slow random waves, at most 0.07."""
    random = np.random.Generator(np.random.PCG64(SEED))
    total = np.full(x.shape, 0.04)
    for a, b, phase in random.uniform((-0.25, -0.25, 0.0), (0.25, 0.25, 6.28), (6, 3)):
        total += 0.005 * np.cos(a * x + b * y + phase)
    for centre_x, centre_y, along, across, angle, height in SPOTS:
        dx, dy = x - centre_x, y - centre_y
        u, v = dx * np.cos(angle) + dy * np.sin(angle), dy * np.cos(angle) - dx * np.sin(angle)
        total += height * np.exp(-0.5 * ((u / along) ** 2 + (v / across) ** 2))
    return total


def blocked(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Two breakwaters, one across and one down, and a lake between the spots."""
    across = (abs(y - 20.5) < 1) & (x < 28) & ~((x > 17) & (x < 20))
    down = (abs(x - 33.5) < 1) & (y < 24) & ~((y > 11) & (y < 14))
    lake = ((x - 25) / 6.3) ** 2 + ((y - 30.5) / 4.3) ** 2 < 1
    return across | down | lake


def main() -> None:
    x, y = np.meshgrid(np.arange(COLUMNS) + 0.5, np.arange(ROWS) + 0.5)
    rows = zip(worth(x, y).tolist(), blocked(x, y).tolist(), strict=True)
    lines = [",".join("x" if wall else f"{v:.3f}" for v, wall in zip(*row, strict=True)) for row in rows]
    (HERE / "harbour.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
