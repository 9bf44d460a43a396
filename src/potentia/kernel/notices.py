"""One line for somebody who waits: it appears after a second, on a terminal only, and disappears."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from potentia.kernel.timers import after

_PATIENCE = 1.0  # seconds


@contextlib.contextmanager
def notice(text: str) -> Iterator[None]:
    """Say what is waited for as long as the block takes."""
    stream: Any = sys.stderr
    try:
        shown = bool(stream.isatty())
    except (AttributeError, ValueError):  # none, closed, or of somebody's own
        shown = False
    if not shown:
        yield
        return
    said = threading.Event()

    def say() -> None:
        said.set()
        _write(stream, f"\r\x1b[2K{text} ...")

    try:
        with after(_PATIENCE, say):
            yield
    finally:
        if said.is_set():
            _write(stream, "\r\x1b[2K")


def _write(stream: Any, text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
