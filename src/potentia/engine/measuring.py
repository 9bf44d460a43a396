"""Recorders of one's own: functions of the profile, in Python and, where it is the same, in machine code."""

from __future__ import annotations

import time
import warnings
from collections import deque
from typing import Any

import numpy as np

from potentia.beliefs import Believing
from potentia.errors import InvalidRun, NotCompiled, frames_to_caller
from potentia.games import Game
from potentia.games.functions import machine_code, reason_of
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Compiled, jit_disabled
from potentia.kernel.mistakes import at_place, failed, place_of
from potentia.kernel.recorders import Recorder

_LONG = 0.5  # seconds in Python after which machine code is worth its compilation
_SHOWN = 8  # players in a message
_COMPARED = 16  # profiles at which the two must agree to the bit

_told: deque[Any] = deque(maxlen=64)  # functions that are recorded in Python, of which it was said


class Measured:
    """A recorder of one's own on a game: its values at profiles.

    Machine code is used where it gives the same bits at some profiles: with ``compiled=True`` at once, with ``"auto"``
    after some time in Python.
    """

    def __init__(self, row: Recorder, game: Game, mode: Compiled) -> None:
        inner = game.game if isinstance(game, Believing) else game
        self.name = row
        self._python: Any = row.function
        self._data = getattr(inner, "custom_data", inner.plain_data)
        self._code: Any = None
        self._spent = 0.0
        self._may_compile = mode is not False and not jit_disabled()
        if mode is True:
            self._compile(np.stack([0 * game.sizes, game.sizes - 1]))

    def at(self, profile: Ints) -> float:
        """The value at one profile."""
        given = profile.copy()
        try:
            value = (self._code or self._python)(given, self._data)
        except Exception as error:
            raise InvalidRun(f"failed {_shown(profile)}: {failed(error)}", str(self.name)) from error
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            got = " ".join(f"{value!r}".split())
            said = f"must return a number, got {got:.60} {_shown(profile)}"
            raise InvalidRun(at_place(said, place_of(self._python)), str(self.name)) from None
        if not np.array_equal(given, profile):
            raise InvalidRun("must not change the profile that it is given", str(self.name))
        return number

    def fill(self, profiles: Ints, out: Floats) -> None:
        """The values at these."""
        started = time.perf_counter()
        for k, profile in enumerate(profiles):
            out[k] = self.at(profile)
        self._spent += time.perf_counter() - started
        if self._may_compile and self._code is None and self._spent > _LONG:
            self._compile(profiles[-_COMPARED:])

    def _compile(self, profiles: Ints) -> None:
        self._may_compile = False
        given = (np.zeros(profiles.shape[1], np.int64), self._data)
        try:
            code = machine_code(self._python, given)
        except Exception as error:  # Numba has more kinds than it documents
            if self._python not in _told:
                _told.append(self._python)
                text = f"{self.name} is recorded in Python, slower: {reason_of(error, self._python, given)}"
                warnings.warn(text, NotCompiled, stacklevel=frames_to_caller())
            return
        try:
            same = all(repr(float(code(p.copy(), self._data))) == repr(self.at(p)) for p in profiles)
        except Exception:
            return
        self._code = code if same else None


def _shown(profile: Ints) -> str:
    return f"at profile {profile[:_SHOWN].tolist()}{' ...' if profile.size > _SHOWN else ''}"
