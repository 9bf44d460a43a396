"""The garbage collector rests while something is compiled: a tenth of that time would be its own, for nothing."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_resting: list[bool] = []  # for each thread that compiles: whether it is to work again when the last has ended


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Collect nothing in this block, in any thread."""
    with _lock:
        _resting.append(_resting[0] if _resting else gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            if _resting and _resting.pop() and not _resting:
                gc.enable()


def _after_fork() -> None:
    """A copy of a process has one thread, and whatever another compiled has no end there."""
    global _lock
    _lock = threading.Lock()
    if _resting and _resting[0]:
        gc.enable()
    _resting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
