"""Ctrl-C that waits for a clean moment: the signal sets a flag, and loops look at it between chunks."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Flag:
    """Whether the user asked to stop, and whether what runs now can be cut off in the middle."""

    raised = False
    breakable = False


@contextmanager
def deferred_interrupt() -> Iterator[Flag]:
    """Hold Ctrl-C back inside the block. A second one goes through at once where the work is breakable."""
    flag = Flag()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    previous = signal.getsignal(signal.SIGINT)
    if previous is None or isinstance(previous, _Handler):  # not Python's to change, or already deferred
        yield previous.flag if isinstance(previous, _Handler) else flag
        return
    signal.signal(signal.SIGINT, _Handler(flag, previous))
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)


class _Handler:
    def __init__(self, flag: Flag, previous: Any) -> None:
        self.flag = flag
        self.previous = previous

    def __call__(self, number: int, frame: Any) -> None:
        if self.flag.raised and self.flag.breakable and callable(self.previous):
            self.previous(number, frame)
        self.flag.raised = True
