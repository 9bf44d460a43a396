"""A recording of profiles that are given as rows, where there is no trace."""

from __future__ import annotations

import numpy as np

from potentia.games import Coverage
from potentia.kernel.arrays import Floats, Ints
from potentia.version import __version__
from potentia.web.coding import encode_changes
from potentia.web.recordings import Recording
from potentia.web.scenes import scene


def recorded(game: Coverage, profiles: Ints, every: int, times: Floats, values: Floats, label: str) -> Recording:
    """The recording of robots whose profiles, (T, N), are so many steps apart, with one series."""
    header, arrays = scene(game, None, every * (len(profiles) - 1))
    row, players = np.nonzero(profiles[1:] != profiles[:-1])
    changes = every * (row + 1), players, profiles[row + 1, players]
    escape = len(header["map"]["offsets"])
    header |= {
        "potentia": __version__,
        "title": "",
        "label": "",
        "rule": {"name": "", "text": "", "spec": {}, "colour": "#000000"},
        "belief": None,
        "seed": 0,
        "steps": every * (len(profiles) - 1),
        "every": every,
        "complete": True,
        "changes": len(row),
        "series": [{"name": "worth", "label": label, "unit": ""}],
        "optimum": None,
        "events": [],
        "keyframes": None,
    }
    arrays |= {
        "start": profiles[0].astype(np.int32),
        "changes": encode_changes(changes, np.full(len(row), escape), escape),
        "times": times,
        "series": values[None],
    }
    made = Recording(header, arrays)
    made.__dict__["changes"] = changes  # no need to decode what was just encoded
    return made
