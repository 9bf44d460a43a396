"""Calling a kernel of an environment in the way that is quicker by now, with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from potentia.engine.loop import guarded
from potentia.games import Game
from potentia.kernel.cache import Compiled, Entry, jit_disabled


class Calls:
    """A kernel on a game: in plain Python at first, and by machine code when that is there.

    A game that runs functions of somebody's own stays in plain Python unless machine code is asked for.
    """

    def __init__(self, entry: Entry, game: Game, compiled: Compiled) -> None:
        self._entry, self._game = entry, game
        at_once = compiled is True and game.compiled and not jit_disabled()
        self._mode: Compiled = at_once
        if compiled == "auto" and not game.runs_user_code and not jit_disabled():
            self._mode = "auto"
        self.data = game.data if at_once else game.plain_data
        self.direct: Callable[..., Any] | None = None  # what calls machine code, for arguments of the same types

    def __call__(self, state: Any, step: int, *args: Any) -> Any:
        """The result; the first argument of the kernel is the game's data, the second its state."""
        given = (self.data, state, *args)

        def call() -> Any:
            if self.direct is not None:
                return self.direct(*given)
            if self._mode == "auto":
                kernel = self._entry.kernel(given)
                if kernel.is_ready():
                    self.direct = self._entry.direct(given)
                return kernel.call(given)
            if self._mode:
                self._entry.compile(given)
                self.direct = self._entry.direct(given)
                assert self.direct is not None
                return self.direct(*given)
            return self._entry.function(*given)

        return guarded(self._game, state, f"after step {step}", call)
