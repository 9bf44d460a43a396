"""Games that environments are tried on: those of all tests, and maps."""

import numpy as np

import potentia as pt
from tests import games

WORTH = np.random.default_rng(0).random((6, 7))


def flagged():
    """Flags, costs, two ranges."""
    return pt.games.Coverage(pt.games.World(WORTH), 3, [1.5, 2.0, 1.5], K=0.25)


def bare():
    """No flags and no costs: an exact potential."""
    return pt.games.Coverage(pt.games.World(WORTH), 3, flags=False)


def walled():
    """Walls that hide, flags on ranges, a field that drifts."""
    blocked = np.zeros(WORTH.shape, bool)
    blocked[2, 1:5] = True
    world = pt.games.World(np.where(blocked, 0.0, WORTH), blocked=blocked)
    options = {"K": 0.1, "flag": "range", "sight": True, "reach": 2.0, "drift": (0.2, 0.1), "drift_every": 3}
    return pt.games.Coverage(world, 3, 1.5, **options)


def eventful():
    """A robot fails, one comes."""
    return flagged().like(delta=1.5, events=["fail 1@4", "arrive 6"])


MAPS = {f.__name__: f for f in (flagged, bare, walled, eventful)}
ALL = {**games.ALL, **MAPS}
