"""One line for somebody who waits: it appears after a second, on a terminal only, and disappears."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

_PATIENCE = 1.0  # seconds


@contextlib.contextmanager
def notice(text: str) -> Iterator[None]:
    """Say what is waited for as long as the block takes."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    said = threading.Event()

    def say() -> None:
        said.set()
        stream.write(f"\r\x1b[2K{text} ...")
        stream.flush()

    timer = threading.Timer(_PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said.is_set():
            stream.write("\r\x1b[2K")
            stream.flush()
