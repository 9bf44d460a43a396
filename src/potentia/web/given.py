"""A recording of profiles that are given as rows, where there is no trace."""

from __future__ import annotations

import numpy as np

from potentia.games import Coverage
from potentia.kernel.arrays import Floats, Ints
from potentia.version import __version__
from potentia.web.coding import encode_changes
from potentia.web.recordings import Recording
from potentia.web.scenes import scene


def recorded(
    game: Coverage,
    profiles: Ints,
    every: int,
    times: Floats,
    values: Floats,
    label: str,
    lives: Ints | None = None,
) -> Recording:
    """The recording of robots whose profiles, (T, N), are so many steps apart, with one series.

    ``lives`` says since when and until when each robot is there, (2, N); left out, all are.
    """
    steps = every * (len(profiles) - 1)
    header, arrays = scene(game, None, steps)
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
        "steps": steps,
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
    if lives is not None:
        arrays |= dict(zip(("since", "until"), np.minimum(lives, steps + 1).astype(np.float64), strict=True))
    made = Recording(header, arrays)
    made.__dict__["changes"] = changes  # no need to decode what was just encoded
    return made
