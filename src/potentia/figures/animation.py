"""A run as an animated GIF: robots on the worth field with ranges and tails, and the covered worth so far."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidRun
from potentia.figures import maps
from potentia.games.drift import fields_over
from potentia.games.drift_kernel import Still
from potentia.games.roster import Roster
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer
from potentia.web.films.filming import checked_fps, film, shown_rows
from potentia.web.films.sheet import LARGEST, fitting
from potentia.web.given import recorded

if TYPE_CHECKING:
    from potentia.games import Coverage

_DPI = 80  # of a film of the usual size
_MOST_TOLD = 1000  # points of the curve


def animate(
    game: Coverage,
    profiles: Any,
    path: str | os.PathLike[str],
    *,
    worth: ArrayLike | None = None,
    label: str = "covered worth",
    every: int = 1,
    frames: int = 100,
    fps: float = 12.0,
    dpi: int = _DPI,
    title: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the run with these profiles as an animated GIF, whole or not at all.

    Parameters
    ----------
    game : Coverage
        What was played.
    profiles : Trace or array_like of int
        Where robots were at each row, (T, N). A trace knows who failed by chance; of bare profiles, robots fail and
        arrive as the game's events say.
    path : str or path
        The file, which ends in ``.gif``.
    worth : array_like, optional
        What was recorded at each row, (T,), for the curve under the map; left out, the worth covered at least once in
        each picture.
    label : str
        What the curve is called.
    every : int
        Steps between two rows.
    frames : int
        The most pictures; of a longer run, evenly spaced rows with the first and the last.
    fps : float
        Pictures a second, at most 50; the last one stays for two seconds.
    dpi : int
        80 makes a map of the usual size, 160 one of twice that.
    title : str
        Above the map.
    progress : callable, optional
        Is told pictures done and pictures in all.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> trace = pt.run(game, pt.rule("blll", tau=0.05), 20, seed=1)
    >>> pt.figures.animate(game, trace, "run.gif", frames=2, dpi=10).name
    'run.gif'
    """
    goal = Path(path)
    if goal.suffix.lower() != ".gif":
        raise InvalidRun(f"must end in .gif, got {goal.name!r}", "path", goal.name)
    rows = maps.checked_profiles(game, profiles)
    for name, value in (("frames", frames), ("every", every), ("dpi", dpi)):
        Integer(least=1).of(value, name, InvalidRun)
    checked_fps(fps)
    shown = shown_rows(len(rows), frames)
    lives = getattr(profiles, "lives", None)
    if lives is None and isinstance(game.roster, Roster):
        lives = np.stack([game.roster.since, game.roster.until])
    times, values = _curve(game, rows, shown, worth, every, lives)
    made = recorded(game, rows, every, times, values, label if worth is not None else f"{label} (union)", lives)
    scale = fitting(*game.world.size, False)[0] * dpi / _DPI if dpi != _DPI else None
    if scale is not None:
        scale = max(1, min(round(scale), LARGEST // max(game.world.size)))
    return film(made, goal, frames=frames, fps=fps, scale=scale, title=title, progress=progress)


def _curve(
    game: Coverage, rows: Ints, shown: Ints, worth: ArrayLike | None, every: int, lives: Ints | None
) -> tuple[Floats, Floats]:
    """Times and worths of the curve."""
    if worth is None:
        times = every * shown
        still = itertools.repeat(game.world.worth)
        fields = still if isinstance(game.drift, Still) else fields_over(game.drift, times.tolist())
        always = np.ones(game.num_players, np.bool_)
        there = [always if lives is None else (lives[0] <= time) & (time < lives[1]) for time in times]
        counts = map(game.cover_counts, rows[shown], there)
        union = [field[count > 0].sum() for field, count in zip(fields, counts, strict=False)]
        return times.astype(np.float64), np.array(union)
    values = np.asarray(worth, np.float64)
    if values.ndim != 1 or len(values) < len(rows):
        raise InvalidRun(
            f"must hold one number for each of {len(rows)} profiles, got shape {values.shape}", "worth", worth
        )
    told = np.union1d(np.arange(0, len(rows), max(1, len(rows) // _MOST_TOLD)), shown)  # more cannot be seen
    return every * told.astype(np.float64), values[told]
