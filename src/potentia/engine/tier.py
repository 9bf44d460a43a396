"""How a run that began in plain Python goes on with machine code.

Between two stretches it asks whether its kernel is there by now. Where the kernel holds somebody's own function, what
was played so far is played again with machine code and compared first: such a function can mean different things in the
two (an overflow, a division by zero, the order in which NumPy sums).
"""

from __future__ import annotations

import warnings
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine.loop import NEVER, Sink, play_entry
from potentia.errors import NotCompiled
from potentia.games.custom import frames_to_caller
from potentia.kernel.arrays import frozen
from potentia.kernel.shapes import filled, shape_of
from potentia.kernel.tiers import Kernel

if TYPE_CHECKING:
    from potentia.engine.runs import Run

_SHOWN = 20  # players of a profile in a warning


class Tier:
    """The kernel of a run, and where it began to play without it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kernel: Kernel | None = None
        self._since = run.step
        self._origin: Any = None
        self._rate = 0.0  # steps a second
        self._told = False

    def climb(self, stop: int) -> bool:
        """Whether the run can go on with machine code, towards ``stop``."""
        run = self._run
        if self._kernel is None:
            self._begin()
        assert self._kernel is not None
        left = (stop - run.step) / self._rate if self._rate else 0.0
        if not self._kernel.is_ready(left):
            if self._kernel.given_up and not self._told:
                self._give_up(self._kernel.why)
            return False
        if self._origin is not None and not self._same_steps():
            return False
        self._origin = None
        return True

    def _give_up(self, why: str) -> None:
        """Stay in plain Python, and say why once: the game does, where it cannot be compiled."""
        assert self._kernel is not None
        first = not self._kernel.told
        self._told = self._kernel.told = self._kernel.given_up = True
        self._kernel.loaded = False
        if self._run.game.compiled and first:
            text = f"{self._run.game.describe()} runs in Python, hundreds of times slower: {why}"
            warnings.warn(text, NotCompiled, stacklevel=frames_to_caller())

    def note(self, steps: int, seconds: float) -> None:
        """So many steps were played in plain Python."""
        assert self._kernel is not None
        self._kernel.played += seconds
        self._rate = steps / max(seconds, 1e-7)

    def _begin(self) -> None:
        run = self._run
        rest = (run.state, run._rule_data, run.memory, run.journal, _no_sink(), run.key, 0, 0, 1, False)
        kinds, game = shape_of(rest), run.game

        def make() -> tuple[Any, ...]:
            if game.uncompilable is not None:
                raise ValueError(game.uncompilable)
            return game.data, *filled(kinds)

        self._kernel = play_entry.kernel((run._data, *rest), make)
        self._since = run.step
        if self._kernel.own_code:
            self._origin = copied(self._parts)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self._run.state, self._run.memory, self._run.journal

    def _same_steps(self) -> bool:
        """Whether machine code plays what was played."""
        run = self._run
        again = _Again(run, self._origin, self._since, compiled=True)
        again.advance(run.step)
        if again.result == _result(run, *self._parts):
            return True
        self._give_up(f"machine code plays something else; {self._where()}")
        return False

    def _where(self) -> str:
        """Player and profile at the first step that is played differently."""
        run = self._run
        one, other = (_Again(run, self._origin, self._since, compiled) for compiled in (False, True))
        for step in range(self._since, run.step):
            before = one.profile.copy()
            one.advance(step + 1)
            other.advance(step + 1)
            if one.result != other.result:
                found = run.game.disagreement(before)
                if found is not None:
                    return f"{found}, after step {step}"
                player = int(np.argmax(one.profile != other.profile))
                return f"first player {player} at profile {before[:_SHOWN].tolist()} after step {step}"
        return f"after step {run.step}"


class _Again:
    """The steps of a run played again, with nothing recorded."""

    def __init__(self, run: Run, origin: Any, since: int, compiled: bool) -> None:
        self.run, self.step, self.compiled = run, since, compiled
        self.state, self.memory, self.journal = rebuilt((run.state, run.memory, run.journal), origin)
        self.data = run.game.data if compiled else run.game.plain_data
        self.sink = _no_sink()

    @property
    def profile(self) -> NDArray[np.int64]:
        return self.state.profile

    @property
    def result(self) -> bytes:
        return _result(self.run, self.state, self.memory, self.journal)

    def advance(self, stop: int) -> None:
        run = self.run
        while self.step < stop:
            parts = (self.data, self.state, run._rule_data, self.memory, self.journal, self.sink, run.key)
            self.step = play_entry(*parts, self.step, stop, NEVER, False, compiled=self.compiled)
            run.game.think(self.state, run._tools, run.key, self.step - 1, False)


def _no_sink() -> Sink:
    """Nothing is recorded in it."""
    column, counts, small = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int32)
    which = frozen([], np.int64)
    return Sink(
        np.zeros(2, np.int64), counts, counts, small, small, 0, column, column, counts, counts, which, np.zeros((0, 0))
    )


def _result(run: Run, state: Any, memory: Any, journal: Any) -> bytes:
    """What a run is saved by: the rest is derived, or room to work in."""
    kept = [state.profile, *(attrgetter(name)(state) for name in run.game.remembers)]
    kept += [getattr(memory, name) for name in run.rule.remembers]
    return b"".join(part.tobytes() for part in (*kept, journal.counts, journal.visits))


def copied(record: Any) -> Any:
    """A copy of all arrays in records."""
    return tuple(part.copy() if isinstance(part, np.ndarray) else copied(part) for part in record)


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
            parts.append(rebuilt(part, old, made))
    return type(record)(*parts) if hasattr(record, "_fields") else tuple(parts)


def restore(record: Any, saved: Any) -> None:
    """Put back what :func:`copied` has copied."""
    for part, old in zip(record, saved, strict=True):
        if isinstance(part, np.ndarray):
            if part.flags.writeable:
                part[...] = old
        else:
            restore(part, old)
