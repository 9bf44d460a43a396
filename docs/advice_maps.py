"""Sixty maps of five kinds, for the study of which rule to take: what they are and which of them are for tuning.

Each kind has twelve. The first eight (40 in all) are for tuning; on the last four (20 in all) only the last comparison
is made, with candidates that were chosen before. Everything about a map follows from its kind and its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

import potentia as pt

KINDS = ("mixtures", "images", "corridors", "blobs", "drifting")
TUNING, HELD_OUT = range(8), range(8, 12)


@dataclass(frozen=True)
class Site:
    """One map with its robots."""

    kind: str
    number: int
    game: pt.games.Coverage

    @property
    def held_out(self) -> bool:
        return self.number in HELD_OUT

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"


def sites(numbers: range = range(12), kinds: tuple[str, ...] = KINDS, **options: object) -> Iterator[Site]:
    """All maps, or some; ``options`` are for the game."""
    for kind in kinds:
        for number in numbers:
            yield site(kind, number, **options)


def site(kind: str, number: int, **options: object) -> Site:
    random = np.random.default_rng([2026, KINDS.index(kind), number])
    size = tuple(int(n) for n in random.integers(30, 61, 2))
    robots, delta = int(random.integers(5, 13)), float(random.choice([1.5, 2.0, 3.0]))
    drift = None
    if kind in ("mixtures", "drifting"):
        world = pt.games.random_world(int(random.integers(10**6)), size=size)
        if kind == "drifting":
            angle = random.uniform(0.0, 2 * np.pi, world.mixture.num_components)
            speed = 10 ** random.uniform(-3.3, -2.3)  # 5 to 50 cells in 10,000 steps
            drift = speed * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:
        make = {"images": image, "corridors": corridors, "blobs": blobs}[kind]
        worth, blocked = make(random, (size[1], size[0]))
        world = pt.games.World(worth, blocked=blocked, name=f"{kind} {number}").largest_part()
    return Site(kind, number, pt.games.Coverage(world, robots, delta, flags=False, drift=drift, **options))


def image(random: np.random.Generator, shape: tuple[int, int]) -> tuple[NDArray[np.float64], None]:
    """Noise at two scales, of which the higher half counts, in 256 greys."""
    fine, coarse = (_smooth(random, shape, width) for width in (random.uniform(1.5, 3.0), random.uniform(5.0, 9.0)))
    mixed = coarse + random.uniform(0.2, 0.8) * fine
    grey = np.clip((mixed - np.median(mixed)) / (mixed.max() - np.median(mixed)), 0.0, 1.0)
    return np.round(255 * grey), None


def corridors(random: np.random.Generator, shape: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Rooms between walls that are one cell thick, with doors of one or two cells; some rooms are worth more."""
    rows, columns = shape
    blocked = np.zeros(shape, bool)
    room = int(random.integers(6, 11))
    down, across = range(room, rows - 3, room), range(room, columns - 3, room)
    for y in down:
        blocked[y, :] = True
    for x in across:
        blocked[:, x] = True
    for y in down:  # one door between two rooms
        for left in (0, *(x + 1 for x in across)):
            door = left + int(random.integers(0, room - 2))
            blocked[y, min(door, columns - 1) : door + int(random.integers(1, 3))] = False
    for x in across:
        for top in (0, *(y + 1 for y in down)):
            door = top + int(random.integers(0, room - 2))
            blocked[min(door, rows - 1) : door + int(random.integers(1, 3)), x] = False
    worth = np.zeros(shape)
    for top in (0, *down):
        for left in (0, *across):
            worth[top : top + room, left : left + room] = random.choice([0.0, 0.1, 0.3, 1.0], p=[0.3, 0.4, 0.2, 0.1])
    worth *= 0.5 + 0.5 * _smooth(random, shape, 2.0)
    return np.where(blocked, 0.0, worth), blocked


def blobs(random: np.random.Generator, shape: tuple[int, int]) -> tuple[NDArray[np.float64], None]:
    """Some dozens of small blobs, each about as wide as a range, on open ground that is worth nothing."""
    y, x = np.mgrid[: shape[0], : shape[1]] + 0.5
    worth = np.zeros(shape)
    for _ in range(int(random.integers(25, 61))):
        height, width = random.uniform(0.2, 1.0), random.uniform(0.6, 1.8)
        left, low = random.uniform(1, shape[1] - 1), random.uniform(1, shape[0] - 1)
        worth += height * np.exp(-((x - left) ** 2 + (y - low) ** 2) / (2 * width**2))
    worth[worth < 1e-3] = 0.0
    return worth, None


def _smooth(random: np.random.Generator, shape: tuple[int, int], width: float) -> NDArray[np.float64]:
    """Smoothed noise from 0 to 1."""
    field = ndimage.gaussian_filter(random.normal(size=shape), width, mode="reflect")
    return (field - field.min()) / (field.max() - field.min())
