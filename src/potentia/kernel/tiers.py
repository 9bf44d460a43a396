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
from potentia.kernel.cache import kernel_file, may_keep
from potentia.kernel.cache_folder import is_kept
from potentia.kernel.shapes import Shape, filled

if TYPE_CHECKING:
    from pathlib import Path

    from potentia.kernel.cache import Entry

_LOADING, _IMPORTING = 0.1, 0.5  # seconds that a kernel takes from disk, without and with Numba itself
_WORTH = 1.0  # seconds of plain Python, played and to come, for which a compiler is asked
_WORTH_HERE = 3.0  # the same where a thread compiles: it takes so long, and the interpreter from those who play
_ALONE = 0.5  # seconds that are played first on one core, where a compiler takes the time of the run itself
_LONG = 10.0  # seconds to come for which the compiler is not waited for where it is busy: they are more than it takes
_AGAIN = 0.5  # seconds after which it is asked again


class Kernel:
    """A function for arguments of one kind: how long it was played in plain Python, and its machine code."""

    def __init__(self, entry: Entry, shape: Shape, make: Callable[[Shape], tuple[Any, ...]] | None) -> None:
        self.entry, self.shape = entry, shape
        self.own_code = not may_keep(entry.function, shape)  # somebody else's function is in it
        self.loaded = False
        self.given_up, self.why = False, ""  # whether it stays in plain Python, and why
        self.played = 0.0  # seconds
        self._make: Callable[[], tuple[Any, ...]] | None = partial(make if make and self.own_code else filled, shape)
        self._job: background.Job | None = None
        self._path: Path | None = None
        self._again = 0.0
        self._loading = 0  # the process in which a thread does
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
        ready = self._is_ready(left)
        if background.ahead:
            background.feed()
        return ready

    def _is_ready(self, left: float) -> bool:
        if self.loaded or self.given_up:
            return self.loaded
        if self.shape in self.entry.ready:  # somebody else has waited for it
            self.loaded = True
            return True
        if max(left, self.played) < (_LOADING if "numba" in sys.modules else _IMPORTING):
            return False
        # another thread sees to it, or did when this process was forked; where it is nearly there, that is waited for
        if self._lock.acquire(blocking=self._loading == os.getpid()):
            try:
                if not self.loaded and not self.given_up:
                    self._look(left)
            finally:
                self._lock.release()
        return self.loaded

    @property
    def path(self) -> Path | None:
        """Where its machine code is kept; None where it may not be."""
        if self._path is None and not self.own_code:  # without a lock, which a fork would wait for
            self._path = kernel_file(self.entry.function, self.shape)
        return self._path

    def job(self) -> tuple[Entry, Path, Shape] | None:
        """What :data:`background.ahead` holds of it; None where nothing is to be compiled into a file."""
        path = None if self.loaded else self.path
        return None if path is None or path.exists() or not is_kept() else (self.entry, path, self.shape)

    def _look(self, left: float) -> None:
        if self._job is not None and self._job.process != os.getpid():  # of the process that this is a fork of
            self._job = None
        if self.path is not None and self.path.exists():
            self._load()
            return
        if self._job is None and self._is_worth_it(left) and time.monotonic() >= self._again:
            assert self._make is not None
            self._job = background.ask(self.entry, self._make, self.path if self._is_kept() else None, self.shape)
        if self._job is not None:
            self._hear(self._job.state(), left)

    def _is_kept(self) -> bool:
        """Whether its machine code, once there, is found by others."""
        return self.path is not None and is_kept()

    def _is_worth_it(self, left: float) -> bool:
        worth = _WORTH if self._is_kept() else _WORTH_HERE
        return self.played + left >= worth and (background.cores() > 1 or self.played >= _ALONE)

    def gives_way(self, left: float) -> bool:
        """Whether a thread compiles for more play than it takes: the more it has of the interpreter, the better."""
        return isinstance(self._job, background.Thread) and left >= _WORTH_HERE

    def _hear(self, state: str, left: float) -> None:
        if state == background.DONE:
            self._load()
        elif state == background.BUSY and left >= _LONG:
            assert self._make is not None
            self._job = background.Thread(self.entry, self._make)
        elif state == background.LATER:
            self._job = None
        elif state == background.BUSY:
            self._job, self._again = None, time.monotonic() + _AGAIN
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
        self._loading = os.getpid()
        try:
            self.entry.compile(self._make())
            self.loaded = True
        finally:
            self._loading = 0
        self._make = self._job = None  # it may hold somebody's game
