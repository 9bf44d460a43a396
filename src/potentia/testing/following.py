"""A rule's steps, line by line in plain Python: each changes the state through the game alone, and repeats its bits.

A line is looked at after it was executed, in functions of the rule that are not the package's. What changes while one
of the game's own functions runs (``apply``, by way of ``move``) is the game's.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from potentia.engine import Run, begin
from potentia.engine.loop import guarded
from potentia.engine.tier import copied, restore
from potentia.errors import CheckFailed
from potentia.games import Game
from potentia.kernel import protocol
from potentia.kernel.arrays import Ints
from potentia.kernel.garbage import no_collection
from potentia.kernel.mistakes import at_place, is_own, place_named, place_of
from potentia.rules import Rule
from potentia.rules.base import check_remembers, step
from potentia.testing.checks import arrays_in, bytes_of

_GENERIC: Any = protocol.apply  # all generic functions have one code
_TRIES = 20  # to see two plays of a step differ once more
_WAY = "change it with move(journal, game, state, player, action, n)"
_AGAIN = "draw with uniform(key, ...), and remember in the memory record alone"


def check_steps(rule: Rule, game: Game, steps: int) -> None:
    """Play some steps several times each, line by line; the first that breaks the protocol is named with its line."""
    played = begin(game, rule, 3, record="profile", horizon=steps + 1, compiled=False)
    check_remembers(rule, played.memory)
    parts = played.state, played.memory, played.journal
    for n in range(steps):
        saved = copied(parts)
        drawn, profile = _generators(), played.state.profile.copy()
        _require_moves(played, n)
        _require_legal(played, profile)
        first, kept = bytes_of(parts), _remembered(played)
        restore(parts, saved)
        if _generators() != drawn:
            with _followed(blamed := _Changes(_generators)):
                _step(played, n)
            raise _failed(f"the rule draws with random or numpy.random; {_AGAIN}", blamed.place, played)
        for before in (n + 1, n):  # another step in between, and none
            if before != n:
                _step(played, before)
                restore(parts, saved)
            _step(played, n)
            if bytes_of(parts) != first:
                place = _first_difference(played, n, saved)
                raise _failed(f"a step played twice gives other bits; {_AGAIN}", place, played)
            restore(parts, saved)
        _require_remembered(played, n, kept)
        restore(parts, saved)
        played.advance(1)


def _step(run: Run, n: int) -> None:
    def play() -> None:
        step(run._rule_data, run.memory, run.game.plain_data, run.state, run.journal, run.key, n)

    guarded(run.game, run.state, f"after step {n}", play)


def _failed(said: str, place: str, run: Run) -> CheckFailed:
    return CheckFailed(at_place(said, place or place_of(step.table.get(type(run._rule_data), step))))


def _generators() -> Any:
    """Where the generators are that everybody shares."""
    shared: Any = np.random.get_state()  # noqa: NPY002
    return random.getstate(), shared[1].tobytes(), shared[2:]


def _require_moves(run: Run, n: int) -> None:
    """Play a step, and refuse a line of it that changes what only the game may."""
    data = run.game.plain_data
    names = {id(array): name for name, array in zip(run.state._fields, run.state, strict=True)}
    watched = [array for array in (*arrays_in(run.state), *arrays_in(data)) if array.flags.writeable]
    of_game = {id(array) for array in arrays_in(data)}
    with _followed(changes := _Changes(lambda: [array.tobytes() for array in watched])):
        _step(run, n)
    if changes.place:
        which = next(k for k, (one, other) in enumerate(zip(*changes.found, strict=True)) if one != other)
        if id(watched[which]) in of_game:
            said = "the rule changes the game's data; what varies belongs into the memory record"
        else:
            said = f"the rule writes the {names.get(id(watched[which]), 'state')} itself; {_WAY}"
        raise _failed(said, changes.place, run)


def _require_legal(run: Run, before: Ints) -> None:
    """Refuse a step after which a player plays what it could not choose."""
    for player, (was, now) in enumerate(zip(before.tolist(), run.state.profile.tolist(), strict=True)):
        if was != now and now not in run.game.reachable(player, was):
            raise _failed(f"the rule lets player {player} go from {was} to {now}, which is not reachable", "", run)


def _remembered(run: Run) -> list[bytes]:
    """What a saved run would keep, and the profile."""
    return bytes_of((run.state.profile, *(getattr(run.memory, name) for name in run.rule.remembers)))


def _require_remembered(run: Run, n: int, kept: list[bytes]) -> None:
    """Refuse a step that does otherwise with a new memory, but for the fields that it says it remembers."""
    fresh, used = run.rule.new_memory(run.game), []
    for name in set(getattr(fresh, "_fields", ())) - {*run.rule.remembers}:
        now, new = getattr(run.memory, name), getattr(fresh, name)
        if isinstance(now, np.ndarray) and not np.array_equal(now, new):
            now[...] = new
            used.append(name)
    if not used:
        return
    _step(run, n)
    if _remembered(run) != kept:
        said = f"the step reads what it left in its memory, {', '.join(sorted(used))}: name it in remembers"
        raise _failed(said, "", run)


def _first_difference(run: Run, n: int, saved: Any) -> str:
    """The line after which two plays of a step are first seen to differ; empty where they do not any more."""
    parts = run.state, run.memory, run.journal
    for _ in range(_TRIES):
        plays = []
        for before in (max(n - 1, 0), n, n + 1):
            restore(parts, saved)
            _step(run, before)
            restore(parts, saved)
            with _followed(noted := _Notes(parts)):
                _step(run, n)
            plays.append(noted.lines)
        for lines in plays[1:]:
            for (place, one), (_, other) in zip(plays[0], lines, strict=False):
                if one != other:
                    return place
    return ""


class _Changes:
    """The first line after which something else is held than before it, what the game's functions do aside."""

    def __init__(self, look: Callable[[], Any]) -> None:
        self._look, self._known = look, look()
        self.place, self.found = "", (self._known, self._known)

    def line(self, frame: FrameType, place: str) -> None:
        now = self._look()
        if now != self._known and not self.place:
            self.place, self.found = place, (self._known, now)
        self._known = now

    def game(self) -> None:
        self._known = self._look()


class _Notes:
    """All lines, with what the records and the variables hold after each."""

    def __init__(self, parts: Any) -> None:
        self._parts = parts
        self.lines: list[tuple[str, Any]] = []

    def line(self, frame: FrameType, place: str) -> None:
        held = {name: repr(value) for name, value in frame.f_locals.items() if np.isscalar(value)}
        self.lines.append((place, (frame.f_lineno, held, bytes_of(self._parts))))

    def game(self) -> None:
        pass


@contextlib.contextmanager
def _followed(watch: _Changes | _Notes) -> Iterator[None]:
    """Tell of each line of somebody's own that is executed in this block, but in functions of the game."""
    own = cache(is_own)
    at, inside = [""], [False]

    def called(frame: FrameType, event: str, arg: Any) -> Any:
        if inside[0]:
            return None
        if frame.f_code is _GENERIC.__code__ and frame.f_locals["default"].__module__ == protocol.__name__:
            watch.line(frame, at[0])
            inside[0] = True
            return games
        return lines if own(frame.f_code.co_filename) else None

    def games(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "return":
            inside[0] = False
            watch.game()
        return games

    def lines(frame: FrameType, event: str, arg: Any) -> Any:
        watch.line(frame, at[0])
        then = frame.f_back if event == "return" and frame.f_back is not None else frame
        at[0] = place_named(then.f_code.co_filename, then.f_lineno or 0)
        return lines

    before = sys.gettrace()
    with no_collection():  # what others do when garbage is collected is no part of the step
        sys.settrace(called)
        try:
            yield
        finally:
            sys.settrace(before)
