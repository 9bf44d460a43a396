"""The garbage collector rests while somebody waits for a compiler: a tenth of that time would be the collector's."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator

_resting: list[bool] = []  # an entry for each thread that has stopped it


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Collect nothing in this block, in any thread; where two overlap, until the first ends."""
    working = gc.isenabled()
    try:
        if working:
            gc.disable()
            _resting.append(True)
        yield
    finally:
        if working:
            gc.enable()
            del _resting[-1:]


def _after_fork() -> None:
    """A copy of a process has one thread, and no other to end the rest."""
    if _resting:
        gc.enable()
        _resting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
