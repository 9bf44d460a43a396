"""How long a sweep waits for chunks, and what it says meanwhile.

A pool of this machine notices a worker that dies. A cluster may have no workers yet, have lost them, or have a
scheduler that is stuck; dask waits for that in silence and for ever.
"""

from __future__ import annotations

import logging
import re
import time
from concurrent.futures import Executor

WAIT = 300.0  # seconds without a worker after which a sweep gives up
_ANSWER = 3.0  # seconds for a scheduler to count its workers
_SOON, _LATE = 5.0, 30.0  # seconds without a chunk after which one looks, and after which one says so
_LINGER = 10.0  # seconds after Ctrl-C

_log = logging.getLogger("potentia")


def threads_of(executor: Executor) -> int | None:
    """How many chunks the workers of a cluster play at a time; None where it is no cluster, or gives no answer."""
    client = getattr(executor, "_client", None)
    if client is None:
        return None
    try:
        found = client.sync(client.scheduler.ncores, callback_timeout=_ANSWER)
        return sum(found.values())
    except Exception:  # a connection can fail in many ways
        return None


class Patience:
    """Notices that nothing comes back, says once what is waited for, and knows when to give up."""

    def __init__(self, executor: Executor, wait: float) -> None:
        self._executor, self._wait = executor, wait
        client = getattr(executor, "_client", None)
        self._address = None if client is None else client.scheduler.address
        self._stopping = self._joined = False
        self.came()

    def came(self) -> None:
        """A chunk came back."""
        self._last = self._present = self._asked = self._began = time.monotonic()
        self._said = ""

    def used_up(self, stopping: bool, chunks: int) -> str | None:
        """Asked while nothing comes back: why waiting for so many chunks is of no use, or None."""
        now = time.monotonic()
        if stopping and not self._stopping:
            self._stopping, self._began, self._asked = True, now, 0.0
        if stopping and now - self._began > _LINGER:
            self._say(f"waiting for chunks under way, {chunks} at most; a second Ctrl-C drops them")
        if self._address is None or now - self._asked < min(1.0 if stopping else _SOON, self._wait / 2):
            return None
        threads = threads_of(self._executor)
        self._asked = time.monotonic()
        if threads:
            self._present, self._joined = self._asked, True
            if not stopping and now - self._last > _LATE:
                self._say(
                    f"waiting for chunks from {self._address}: it has workers, but none came back for "
                    f"{now - self._last:.0f} seconds; Ctrl-C stops"
                )
            return None
        if threads is None:
            lacking, why = "the scheduler does not answer", f"the dask scheduler at {self._address} did not answer"
        else:
            lacking = "none is left" if self._joined else "none has joined yet"
            why = f"no worker was there at {self._address}"
        gone = self._asked - self._present
        if stopping or gone >= self._wait:
            return f"{why} for {gone:.0f} seconds"
        self._say(f"waiting for workers at {self._address}: {lacking}; Ctrl-C stops")
        return None

    def _say(self, line: str) -> None:
        kind = re.sub(r"\d+", "", line)  # once, although numbers in it change
        if kind != self._said:
            self._said = kind
            _log.warning(line)
