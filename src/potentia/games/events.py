"""What happens to robots, in words: "fail 8@2500", "arrive 4000", "hazard 1e-5".

Robots count from 0. "fail 8@2500": after 2,500 steps robot 8 no longer covers. "arrive 4000": one more robot, dormant
until then; those that arrive have the next numbers, in the order of time. "hazard 1e-5": in each step, each robot fails
with this probability.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from potentia.errors import InvalidGame, InvalidRun
from potentia.games.roster import NEVER, Everybody, Roster
from potentia.kernel.arrays import frozen
from potentia.kernel.checks import Real

MOST_ARRIVALS = 2**20  # each has draws of its own
_FORMS = '"fail ROBOT@STEP", "arrive STEP" or "hazard RATE", as in "fail 8@2500", "arrive 4000" and "hazard 1e-5"'
_WHOLE = r"(\d+(?:_\d+)*)"
_FAIL = re.compile(rf"fail\s+{_WHOLE}\s*@\s*{_WHOLE}")
_ARRIVE = re.compile(rf"arrive\s+{_WHOLE}")
_HAZARD = re.compile(r"hazard\s+(\S+)")


class Events(NamedTuple):
    """Events, read and checked one by one."""

    failures: tuple[tuple[int, int], ...] = ()  # (time, robot), in order
    arrivals: tuple[int, ...] = ()  # times, in order
    hazard: float = 0.0

    @property
    def texts(self) -> tuple[str, ...]:
        """The words that :func:`events_from` reads back."""
        arrive = [(time, 0, f"arrive {time}") for time in self.arrivals]
        fail = [(time, robot + 1, f"fail {robot}@{time}") for time, robot in self.failures]
        texts = [text for _, _, text in sorted(arrive + fail)]
        return (*texts, *([f"hazard {self.hazard!r}"] if self.hazard else []))

    @property
    def times(self) -> tuple[int, ...]:
        """When something is known to happen, in order, each time once."""
        return tuple(sorted({*self.arrivals, *(time for time, _ in self.failures)}))


def events_from(given: Any) -> Events:
    """Events from texts, or an error that names the right form."""
    if isinstance(given, Events):
        return given
    if given is None:
        return Events()
    texts = [given] if isinstance(given, str) else given
    texts = list(texts) if isinstance(texts, Iterable) else [texts]
    if not all(isinstance(text, str) for text in texts):
        raise InvalidGame(f"must be a list of {_FORMS}, got {given!r:.80}", "events", given)
    failures: dict[int, int] = {}
    arrivals: list[int] = []
    hazards: list[float] = []
    for text in texts:
        said = text.strip()
        if found := _FAIL.fullmatch(said):
            robot, time = _whole(found[1]), _time(found[2], text)
            if robot in failures:
                told = f"must let a robot fail once, and robot {robot} fails at {failures[robot]} already"
                raise InvalidGame(f"{told}, got {text!r}", "events", text)
            failures[robot] = time
        elif found := _ARRIVE.fullmatch(said):
            arrivals.append(_time(found[1], text))
        elif found := _HAZARD.fullmatch(said):
            hazards.append(_rate(found[1], text))
        else:
            raise InvalidGame(f"must be {_FORMS}, got {text!r:.80}", "events", text)
    if len(hazards) > 1:
        raise InvalidGame(f"must have one hazard at most, got {len(hazards)}", "events", list(texts))
    if len(arrivals) > MOST_ARRIVALS:
        raise InvalidGame(f"must have at most {MOST_ARRIVALS:,} arrivals, got {len(arrivals):,}", "events")
    ordered = sorted((time, robot) for robot, time in failures.items())
    return Events(tuple(ordered), tuple(sorted(arrivals)), hazards[0] if hazards else 0.0)


def _whole(digits: str) -> int:
    return int(digits) if len(digits) < 100 else NEVER  # Python reads no number of thousands of digits


def _time(digits: str, text: str) -> int:
    time = _whole(digits)
    if time >= NEVER:
        raise InvalidGame(f"must have steps below 2^62, got {text!r:.80}", "events", text)
    return time


def _rate(digits: str, text: str) -> float:
    try:
        rate = float(digits)
    except ValueError:
        raise InvalidGame(f"must be {_FORMS}, got {text!r:.80}", "events", text) from None
    wanted = "must have a hazard, the probability to fail in a step, of at least 0 and below 1"
    if not 0.0 <= rate < 1.0:
        raise InvalidGame(f"{wanted}, got {text!r:.80}", "events", text)
    return Real(least=0.0, below=1.0).of(rate, "hazard", InvalidGame)


def roster_from(events: Events, robots: int) -> Everybody | Roster:
    """When each robot is there, if all that is said can happen to so many robots."""
    if events == Events():
        return Everybody()
    everybody = robots + len(events.arrivals)
    since = np.concatenate([np.zeros(robots, np.int64), np.array(events.arrivals, np.int64)])
    until = np.full(everybody, NEVER, np.int64)
    for time, robot in events.failures:
        text = f"fail {robot}@{time}"
        if robot >= everybody:
            those = f"robots 0 to {everybody - 1}" + (", those that arrive included" if events.arrivals else "")
            raise InvalidGame(f"must name one of the {those}, got {text!r}", "events", text)
        if robot >= robots and time <= since[robot]:
            told = f"must let robot {robot} fail after it has arrived at {since[robot]}"
            raise InvalidGame(f"{told}, got {text!r}", "events", text)
        until[robot] = time
    if (until < NEVER).all():
        told = "must leave at least one robot, and all have failed in the end"
        raise InvalidGame(f"{told}, got {', '.join(events.texts)}", "events", events.texts)
    return Roster(frozen(since), frozen(until), events.hazard, robots)


def require_within(game: Any, steps: int | None) -> None:
    """Refuse events that a run of so many steps does not come to."""
    events = getattr(getattr(game, "game", game), "happenings", Events())  # of a game with a belief, too
    if steps is None or not events.times or events.times[-1] <= steps:
        return
    last = events.times[-1]
    late = next(text for text in events.texts if text.endswith((f"@{last}", f" {last}")))
    told = f"must happen within the {steps:,} steps of the run, got {late!r}"
    raise InvalidRun(f"{told}; play more steps, or let it happen earlier", "events", late)
