"""Play at once in plain Python, and go on with machine code when it is there.

Plain Python gives the same bits, so nobody has to wait for a compiler. A :class:`Kernel` is one function for one kind
of arguments. It is run as it is as long as that is the quicker way; meanwhile its machine code is loaded, if it is on
disk, or compiled beside: by a process of its own (:mod:`potentia.kernel.compiling`), which writes it to the disk cache,
or by a thread, where it may not be on disk because it holds somebody's own function.

Renting skis: what was played so far in plain Python tells how much more there may be. Loading is worth it when more
than it takes is left, or was played.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.errors import NotCompiled, frames_to_caller
from potentia.kernel import background
from potentia.kernel.cache import is_kept, kernel_file, may_keep
from potentia.kernel.shapes import Shape, filled

if TYPE_CHECKING:
    from potentia.kernel.cache import Entry

_LOADING, _IMPORTING = 0.1, 0.5  # seconds that a kernel takes from disk, without and with Numba itself
_SOON = 0.1  # seconds of plain Python after which a compiler is asked
_SOON_ALONE = 0.5  # on one core it takes the time of the run itself
_AGAIN, _AT_MOST = 0.5, 4.0  # seconds after which it is asked again, where it was busy; each time more


class Kernel:
    """A function for arguments of one kind: how long it was played in plain Python, and its machine code."""

    def __init__(self, entry: Entry, shape: Shape, make: Callable[[], tuple[Any, ...]] | None) -> None:
        self.entry, self.shape = entry, shape
        self.own_code = not may_keep(entry.function, shape)  # somebody else's function is in it
        self.loaded = False
        self.given_up, self.why = False, ""  # whether it stays in plain Python, and why
        self.played = 0.0  # seconds
        self._make: Callable[[], tuple[Any, ...]] | None = make or partial(filled, shape)
        self._job: background.Job | None = None
        self._again, self._pause = 0.0, _AGAIN
        self._lock = threading.Lock()

    def call(self, args: tuple[Any, ...]) -> Any:
        """The result, in the way that is quicker by now."""
        if self.is_ready():
            return self.entry.machine_code(args)
        started = time.perf_counter()
        try:
            with np.errstate(all="ignore"):  # machine code says nothing of overflows either
                return self.entry.function(*args)
        finally:
            self.played += time.perf_counter() - started

    def is_ready(self, left: float = 0.0) -> bool:
        """Whether machine code can be called now, where ``left`` seconds in plain Python are expected.

        It is loaded or asked for here, where that is worth it.
        """
        if self.loaded or self.given_up:
            return self.loaded
        if max(left, self.played) < (_LOADING if "numba" in sys.modules else _IMPORTING):
            return False
        if self._lock.acquire(blocking=False):  # another thread sees to it, or did when this process was forked
            try:
                if not self.loaded and not self.given_up:
                    self._look()
            finally:
                self._lock.release()
        return self.loaded

    def _look(self) -> None:
        if self._job is not None and self._job.process != os.getpid():  # of the process that this is a fork of
            self._job = None
        path = None if self.own_code else kernel_file(self.entry.function, self.shape)
        if path is not None and os.path.exists(path):
            self._load()
        elif self._job is None:
            if self.played >= (_SOON if background.cores() > 1 else _SOON_ALONE) and time.monotonic() >= self._again:
                shape = self.shape if path is not None and is_kept() else None
                assert self._make is not None
                self._job = background.ask(self.entry, self._make, shape)
        else:
            self._hear(self._job.state())

    def _hear(self, state: str) -> None:
        if state == background.DONE:
            self._load()
        elif state == background.BUSY:
            self._job, self._again = None, time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _AT_MOST)
        elif state == background.FAILED:
            assert self._job is not None
            said, self._job = self._job.said, None
            if self.own_code:
                self.given_up, self.why, self._make = True, said, None
            else:
                warnings.warn(f"a kernel is compiled here and now: {said}", NotCompiled, stacklevel=frames_to_caller())
                self._load()

    def _load(self) -> None:
        assert self._make is not None
        self.entry.compile(self._make())
        self.loaded = True
        self._make = self._job = None  # it may hold somebody's game
