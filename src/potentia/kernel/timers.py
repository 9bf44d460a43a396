"""Something that happens if a block takes too long."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def after(seconds: float, action: Callable[[], object]) -> Iterator[None]:
    """Do this, in another thread, if the block takes longer. Leaving the block waits for what has begun."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
