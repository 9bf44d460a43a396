"""Ctrl-C that waits for a clean moment: the signal sets a flag, and loops look at it between chunks.

So does SIGTERM where the command line listens to it.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from potentia.errors import RunInterrupted, frames_to_caller
from potentia.kernel import signals


class Flag:
    """Whether the user asked to stop, whether what runs now can be cut off in the middle, and who says so."""

    raised = False
    breakable = False
    told = False  # by whoever raised it


_of_thread = threading.local()


def obey(flag: Flag) -> None:
    """In a thread that hears no signals: stop as soon as this flag is raised."""
    _of_thread.flag = flag


def warn_stopped(where: str) -> None:
    """Say that what is returned was cut short, or go on with Ctrl-C to those who want all or nothing."""
    try:
        warnings.warn(f"{signals.stopped()} {where}", RunInterrupted, stacklevel=frames_to_caller())
    except RunInterrupted:
        raise KeyboardInterrupt from None


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Inside, runs that return what they had at Ctrl-C raise it instead: for those who have no use for a part."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RunInterrupted)
        yield


@contextmanager
def deferred_interrupt() -> Iterator[Flag]:
    """Hold Ctrl-C back inside the block. A second one goes through at once where the work is breakable."""
    flag = Flag()
    if threading.current_thread() is not threading.main_thread():
        yield getattr(_of_thread, "flag", flag)
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    deferred = next((handler for handler in before.values() if isinstance(handler, _Handler)), None)
    if deferred is not None:
        yield deferred.flag
        return
    held: dict[signal.Signals, Any] = {}
    if before[signal.SIGINT] not in (None, signal.SIG_IGN):  # those are not ours to change
        held[signal.SIGINT] = before[signal.SIGINT]
    if before[signal.SIGTERM] is signals.terminate:
        held[signal.SIGTERM] = signals.terminate
    try:
        for number, handler in held.items():
            signal.signal(number, _Handler(flag, handler))
        yield flag
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)


class _Handler:
    def __init__(self, flag: Flag, previous: Any) -> None:
        self.flag = flag
        self.previous = previous

    def __call__(self, number: int, frame: Any) -> None:
        signals.note(number)
        if self.flag.raised and self.flag.breakable and callable(self.previous):
            self.previous(number, frame)
        self.flag.raised = True
