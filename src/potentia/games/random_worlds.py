"""Random worlds: mixtures like the paper's, one for each seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from potentia.errors import InvalidGame
from potentia.games.given import NATURAL
from potentia.games.world import World, checked_size, gaussian_world
from potentia.kernel.checks import Integer


def random_world(seed: int = 0, targets: int | None = None, size: Sequence[int] = (40, 40)) -> World:
    """A random mixture of 1 to 5 targets (so many, if ``targets`` is given) with widths as in the paper's world.

    Standard deviations lie between 5 % and 10 % of the shorter side along two random axes, weights within a
    factor of three of each other, means at least 10 % away from the border.

    Parameters
    ----------
    seed : int
        What the draws are made from.
    targets : int, optional
        How many; left out, the seed draws it.
    size : sequence of int
        Columns and rows.

    Returns
    -------
    World
        The world, its mixture in it.

    Examples
    --------
    >>> world = pt.games.random_world(seed=3, targets=2, size=(20, 10))
    >>> world.size, world.mixture.num_components
    ((20, 10), 2)
    """
    seed = NATURAL.of(seed, "seed", InvalidGame)
    if targets is not None:
        targets = Integer(1, 5).of(targets, "targets", InvalidGame)
    shape = np.array(checked_size(size))
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = int(random.integers(1, 6))
    count = targets or drawn
    weights = random.uniform(0.5, 1.5, count)
    means = random.uniform(0.1, 0.9, (count, 2)) * shape
    widths = random.uniform(0.05, 0.1, (count, 2)) * shape.min()
    angles = random.uniform(0.0, math.pi, count)
    turn = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    covariances = turn @ (widths[:, :, None] ** 2 * np.eye(2)) @ turn.transpose(0, 2, 1)
    return gaussian_world(shape.tolist(), weights, means, covariances, normalise=True, name=f"random {seed}")
