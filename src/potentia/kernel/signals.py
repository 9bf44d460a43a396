"""Which signal asked this process to stop; cheap to import, since the command line listens before it loads anything.

Ctrl-C is Python's own business. SIGTERM, with which a machine that shuts down, a batch system or ``timeout`` ends a
process, kills Python where it stands; inside :func:`listening` it is an exception as Ctrl-C is, so that everything that
tidies up after Ctrl-C does so after it, too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_heard: int = signal.SIGINT
_asked = False


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it is listened to."""


@contextmanager
def listening() -> Iterator[None]:
    """Raise :class:`Terminated` for SIGTERM, unless it is ignored or somebody else's already."""
    global _heard, _asked
    _heard, _asked = signal.SIGINT, False
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def terminate(number: int, frame: Any) -> None:
    """What :func:`listening` does with the signal."""
    note(number)
    raise Terminated


def note(number: int) -> None:
    """This signal asked to stop."""
    global _heard, _asked
    _heard, _asked = number, True


def asked() -> bool:
    """Whether one has asked since the command began."""
    return _asked


def stopped() -> str:
    """How a line about it begins."""
    return "stopped by Ctrl-C" if _heard == signal.SIGINT else f"stopped by {signal.Signals(_heard).name}"


def exit_code() -> int:
    """128 and the number of the signal, as shells have it."""
    return 128 + _heard
