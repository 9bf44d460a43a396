"""How a run that began in plain Python goes on with machine code.

Between two stretches it asks whether its kernel is there by now. Where the kernel holds somebody's own function, what
was played so far is played again with machine code and compared first: such a function can mean different things in the
two (an overflow, a division by zero, the order in which NumPy sums).
"""

from __future__ import annotations

import contextlib
import copy
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from potentia.engine.interrupt import Flag
from potentia.engine.loop import Sink, play_entry
from potentia.errors import NotCompiled, frames_to_caller
from potentia.kernel import background
from potentia.kernel.arrays import frozen
from potentia.kernel.shapes import filled
from potentia.kernel.tiers import Kernel

if TYPE_CHECKING:
    from potentia.engine.runs import Run

_TELLS = 0.03  # seconds after which the rest can be estimated: the first step takes longer
_WAY = 0.05  # seconds at most that a run gives way at a time
_HOW = "; mend the function, or pass compiled=True to play what machine code makes of it"
_SHOWN = 20  # players of a profile in a warning
_BLOCK = 1000  # steps that are compared at a time


class Tier:
    """The kernel of a run, and where it began to play without it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kernel: Kernel | None = None
        self._since = run.step
        self._origin: Any = None
        self._played, self._seconds, self._last = 0, 0.0, 0.0  # steps, what they took, and the last stretch
        self.after = 0  # steps of other runs that follow this one
        self._stays = False  # in plain Python

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kernel": None}  # a copy finds it again

    def climb(self, stop: int, flag: Flag) -> bool:
        """Whether the run can go on with machine code, towards ``stop``; a raised flag ends a search on the way."""
        if self._stays:
            return False
        kernel = self.begun()
        left = 0.0
        if self._seconds >= _TELLS and self._played:
            left = (stop - self._run.step + self.after) * self._seconds / self._played
        if not kernel.is_ready(left):
            if kernel.given_up:
                self._stay(kernel.why)
            elif kernel.gives_way(left):
                time.sleep(min(self._last, _WAY))
            return False
        if self._origin is not None and self._run.step > self._since:
            other = self._differs(flag)
            if other is not None:
                kernel.loaded, kernel.given_up, kernel.why = (
                    False,
                    True,
                    f"machine code plays something else; {other}{_HOW}",
                )
                self._stay(kernel.why)
                return False
        return True

    def _stay(self, why: str) -> None:
        """Go on in plain Python, and say why once for a game: by itself, where it cannot be compiled."""
        self._stays, game = True, self._run.game
        if game.compiled and game not in _told:
            _told.add(game)
            text = f"{game.describe()} runs in Python, much slower: {why}"
            warnings.warn(text, NotCompiled, stacklevel=frames_to_caller())

    def note(self, steps: int, seconds: float) -> None:
        """So many steps were played in plain Python."""
        self.begun().played += seconds
        self._played, self._seconds, self._last = self._played + steps, self._seconds + seconds, seconds

    def begun(self) -> Kernel:
        """The kernel of runs like this one."""
        if self._kernel is not None:
            return self._kernel
        run = self._run
        data, sink = run.game.kernel_data, _no_sink()
        args = (data, run.state, run._rule_data, run.memory, run.journal, sink, run.key, 0, 0, 1, False)
        self._kernel = play_entry.kernel(args, partial(_arguments, run.game))
        if self._kernel.own_code and self._origin is None:
            self._since, self._origin = run.step, copied(_parts(run))
        return self._kernel

    # Somebody's own function ---------------------------------------------------------------------------

    def _differs(self, flag: Flag) -> str | None:
        """What machine code does otherwise than what was played; None if nothing."""
        run = self._run
        try:
            again = self._twin(compiled=True)
            again._advance(run.step, None, Flag())
        except Exception as error:
            return f"it fails with {type(error).__name__}; {self._where(flag)}"
        return None if self._record(again) == self._record(run) else self._where(flag)

    def _twin(self, compiled: bool) -> Run:
        """The run as it was at first, to be played again."""
        run = copy.copy(self._run)
        run.state, run.memory, run.journal, run.shadow = rebuilt(_parts(run), self._origin)
        run.step, run.compiled, run._mode, run._tier = self._since, compiled, compiled, None
        run._data = run.game.data if compiled else run.game.plain_data
        run._rows, run._events, run.thoughts = {name: [] for name in run._rows}, [], []
        run._columns = run._sink = run._goal = run.reached = None
        run._num_events = run._held = run._allowed = 0
        return run

    def _record(self, run: Run, since: int | None = None) -> bytes:
        """All that a run's function decides: what the run is saved by, and its rows since a step, or all."""
        kept = [run.state.profile, *(attrgetter(name)(run.state) for name in run.game.remembers)]
        kept += [getattr(run.memory, name) for name in run.rule.remembers]
        kept.append(run.journal.counts)
        if since is None or run.step > since + 1:  # one for each profile there is: too many to look at at each step
            kept.append(run.journal.visits)
        rows = run.step // run.every - (self._since if since is None else since) // run.every
        names = set(run._rows) - {"revisions", "changes"}  # these are in the counts
        if self._run._columns is not None:
            names &= set(self._run._columns.scalars)
        for name in sorted(names) if rows else ():
            if run._columns is None:
                kept.append(np.concatenate(run._rows[name])[-rows:])
            else:
                kept.append(run._columns.scalars[name][run._columns.rows - rows : run._columns.rows])
        return b"".join(part.tobytes() for part in kept)

    def _where(self, flag: Flag) -> str:
        """Player and profile at the first step that is played differently: in a block first, then in a step of it."""
        last, one, other = self._run.step, self._twin(compiled=False), self._twin(compiled=True)
        block = _BLOCK
        while one.step < last:
            step, before = one.step, one.profile
            saved = [copied(_parts(run)) for run in (one, other)] if block > 1 else []
            try:
                for run in (one, other):
                    run._rows, run._events, run.thoughts = {name: [] for name in run._rows}, [], []
                    run._held = run._num_events = 0
                    run._advance(min(step + block, last), None, flag)
                same = self._record(one, step) == self._record(other, step)
            except Exception:
                same = False
            if flag.raised:
                return f"somewhere before step {last}: the search for the place was stopped"
            if not same and block > 1:
                block = 1
                for run, kept in zip((one, other), saved, strict=True):
                    restore(_parts(run), kept)
                    run.step, run._owed = step, False
            elif not same:
                found = one.game.disagreement(before)
                moved = np.flatnonzero(one.profile != other.profile)
                if found is None:
                    found = f"first player {moved[0]}" if moved.size else "what is recorded"
                    found += f" at profile {before[:_SHOWN].tolist()}"
                return f"{found}, after step {step}"
        return f"somewhere before step {last}"


@contextlib.contextmanager
def compile_ahead(runs: Iterable[Run]) -> Iterator[None]:
    """While the block plays, have the machine code of runs like these compiled beside, in their order."""
    jobs = [job for run in runs if run._tier is not None and (job := run._tier.begun().job()) is not None]
    with background.told(list({job[1]: job for job in jobs}.values())):
        yield


_told: WeakSet[Any] = WeakSet()  # games that stay in plain Python, and have said so


def _arguments(game: Any, shape: Any) -> tuple[Any, ...]:
    """What the compiler is given for a game with functions of somebody's own."""
    if game.uncompilable is not None:
        raise ValueError(game.uncompilable)
    return game.data, *map(filled, shape[2:])


def _parts(run: Run) -> tuple[Any, ...]:
    return run.state, run.memory, run.journal, run.shadow


@cache
def _no_sink() -> Sink:
    """Nothing is recorded in it."""
    column, counts, small = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int32)
    which = frozen([], np.int64)
    return Sink(
        np.zeros(2, np.int64), counts, counts, small, small, 0, column, column, counts, counts, which, np.zeros((0, 0))
    )


def copied(record: Any) -> Any:
    """A copy of all arrays in records."""
    if isinstance(record, np.ndarray):
        return record.copy()
    return tuple(map(copied, record)) if isinstance(record, tuple) else record


def rebuilt(record: Any, saved: Any, made: dict[int, NDArray[Any]] | None = None) -> Any:
    """Records like these of new arrays, which hold what :func:`copied` has copied; one array stays one."""
    made = {} if made is None else made
    parts = []
    for part, old in zip(record, saved, strict=True):
        if isinstance(part, np.ndarray):
            if id(part) not in made:
                made[id(part)] = np.array(old)
                made[id(part)].setflags(write=part.flags.writeable)
            parts.append(made[id(part)])
        else:
            parts.append(rebuilt(part, old, made) if isinstance(part, tuple) else part)
    return type(record)(*parts) if hasattr(record, "_fields") else tuple(parts)


def restore(record: Any, saved: Any) -> None:
    """Put back what :func:`copied` has copied."""
    for part, old in zip(record, saved, strict=True):
        if isinstance(part, np.ndarray):
            if part.flags.writeable:
                part[...] = old
        elif isinstance(part, tuple):
            restore(part, old)
