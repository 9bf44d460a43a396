"""A recording of a coverage run as an animated picture: GIF, PNG or WebP.

Robots on the worth field with ranges, tails and flags, what they believe of the field beside it, and what they covered
so far below. A crowd of more than 200 robots is drawn as what it covers and where it is. Drawn with NumPy and Pillow,
the same bytes for the same recording.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from potentia.errors import InvalidRun, did_you_mean
from potentia.kernel.arrays import Ints
from potentia.kernel.checks import Integer
from potentia.kernel.files import whole_file
from potentia.kernel.numbers import as_float, is_integer, is_real
from potentia.web.films.canvas import Pixels
from potentia.web.films.files import require_pillow, writer_of
from potentia.web.films.maps import MOST_NUMBERED, Moment, is_crowd
from potentia.web.films.sheet import LARGEST, Sheet, fitting
from potentia.web.recordings import Recording

_HOLD = 2000  # milliseconds of the last picture, before the film begins again
_TAIL = 6  # pictures that a tail lasts,
_LONGEST, _LONGEST_OF_MANY = 48, 12  # but no more steps than these
_AT_ONCE = 2_000_000  # actions that are decoded at once
Progress = Callable[[int, int], None]


def film(
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    frames: int = 100,
    fps: float = 12.0,
    scale: int | None = None,
    series: str | None = None,
    belief: int | str | bool | None = None,
    title: str = "",
    progress: Progress | None = None,
) -> Path:
    """Write a recording on a map as an animated picture, whole or not at all.

    Parameters
    ----------
    recording : Recording
        Of a coverage game.
    path : str or path
        Ends in ``.gif``, in ``.png`` or ``.apng`` (an animated PNG), or in ``.webp``.
    frames : int
        The most pictures: evenly spaced steps with the first and the last.
    fps : float
        Pictures a second, at most 50; the last one stays for two seconds.
    scale : int, optional
        Pixels a side of a cell; left out, what makes a picture of a good size.
    series : str, optional
        The name of the curve below the map; left out, the first one of the recording.
    belief : int, str or bool, optional
        Whose belief to draw beside the map: a robot, "all" where robots share one, False for none. Left out, the shared
        one, if there is one.
    title : str
        Above the map; left out, that of the recording.
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
    >>> pt.web.film(trace.recording(), "run.png", frames=2, scale=4).name
    'run.png'
    """
    goal = Path(path)
    write = writer_of(goal.suffix)
    if write is None:
        raise InvalidRun(f"must end in .gif, .png, .apng or .webp, got {goal.name!r}", "path", goal.name)
    require_pillow(goal.suffix)
    if recording.kind != "map":
        told = f"must be of a coverage game, which has a map, got one of {recording.header['game']['text']}"
        raise InvalidRun(told, "recording", recording.kind)
    Integer(least=1).of(frames, "frames", InvalidRun)
    checked_fps(fps)
    name, mind = _checked_series(recording, series), _checked_belief(recording, belief)
    size = _checked_scale(recording, scale, mind is not None)
    shown = shown_steps(recording, frames)
    sheet = Sheet(recording, size, shown, name, mind, title)
    pause = min(round(1000 / float(fps)), 60_000)
    pauses = [pause] * (len(shown) - 1) + [_HOLD]
    try:
        with whole_file(goal) as temporary:
            write(temporary, _pictures(sheet, recording, shown, progress), sheet.palette.colours, pauses)
    except OSError as error:
        raise InvalidRun(f"cannot write {goal}: {error.strerror or error}") from error
    return goal


def shown_rows(count: int, frames: int) -> Ints:
    """Which of so many rows are pictures: evenly spaced ones with the first and the last, or the last alone."""
    if frames == 1:
        return np.array([count - 1])
    return np.unique(np.linspace(0, count - 1, min(frames, count)).round().astype(np.int64))


def shown_steps(recording: Recording, frames: int) -> Ints:
    """The steps of so many pictures: multiples of those at which the run was recorded, and its last."""
    every = int(recording.header["every"])
    found = every * shown_rows(recording.steps // every + 1, frames)
    found[-1] = recording.steps
    return found


def _pictures(sheet: Sheet, recording: Recording, shown: Ints, progress: Progress | None) -> Iterator[Pixels]:
    for done, moment in enumerate(_moments(recording, shown), start=1):
        yield sheet.picture(moment)
        if progress is not None:
            progress(done, len(shown))


def _moments(recording: Recording, shown: Ints) -> Iterator[Moment]:
    """What the pictures show, decoded for some pictures at once."""
    players, every = int(recording.header["game"]["players"]), int(recording.header["every"])
    longest = 0 if is_crowd(recording) else _LONGEST if players <= MOST_NUMBERED else _LONGEST_OF_MANY
    spacing = int(shown[-1] - shown[0]) // max(len(shown) - 1, 1)
    back = min(max(10, _TAIL * spacing // every), longest) * every
    many = max(1, _AT_ONCE // (players * (back // every + 1)))
    for first in range(0, len(shown), many):
        block = shown[first : first + many]
        before = [np.arange(step // every * every, max(step - back, 0) - 1, -every) for step in block]
        steps = np.unique(np.concatenate([block, *before]))
        profiles = recording.profiles(steps)
        for step in block.tolist():
            low, now = np.searchsorted(steps, (max(step - back, 0), step))
            yield Moment(step, profiles[now], profiles[low : now + 1])


# What is asked for ------------------------------------------------------------------------------------


def checked_fps(fps: Any) -> None:
    """Refuse pictures that follow each other faster than a file can say, or not at all."""
    if not is_real(fps) or not 0 < as_float(fps) <= 50:
        raise InvalidRun(f"must be above 0 and at most 50, which is what a GIF can hold, got {fps!r}", "fps", fps)


def _checked_series(recording: Recording, series: Any) -> str | None:
    names = [row["name"] for row in recording.header["series"]]
    if series is None:
        return recording.objective
    if series not in names:
        near = did_you_mean(series, names) if isinstance(series, str) else ""
        raise InvalidRun(
            f"must be one of {', '.join(names) or 'no series'}, got {series!r:.60}{near}", "series", series
        )
    return str(series)


def _checked_scale(recording: Recording, scale: Any, two: bool) -> tuple[int, int]:
    """Pixels a side of a cell, and cells a side of a pixel; one of them is 1."""
    area = recording.header["map"]
    if scale is None:
        return fitting(area["columns"], area["rows"], two)
    longest = max(area["columns"], area["rows"])
    return Integer(1, max(1, LARGEST // longest)).of(scale, "scale", InvalidRun), 1


def _checked_belief(recording: Recording, belief: Any) -> int | None:
    """Which mind to draw."""
    frames = recording.header["keyframes"]
    minds = frames["belief"]["robots"] if frames and frames["belief"] and frames["steps"] else []
    if belief is None:
        return 0 if len(minds) == 1 else None
    if belief is False:
        return None
    if not minds:
        told = "is not in this recording, which holds nothing that was believed"
        raise InvalidRun(f"{told}, got {belief!r:.60}", "belief", belief)
    if (belief == "all" or belief is True) and len(minds) == 1:
        return 0
    if is_integer(belief):
        for which, robots in enumerate(minds):
            if belief in robots:
                return which
    most = int(recording.header["game"]["players"]) - 1
    together = ', "all"' if len(minds) == 1 else ""
    wanted = f"a robot from 0 to {most}{together} or False for none"
    raise InvalidRun(f"must be {wanted}, got {belief!r:.60}", "belief", belief)
