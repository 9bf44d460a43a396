"""Locks between processes that share a kernel cache: one for each kernel, one for each process that compiles.

They are ranges of one file, which holds nothing. A lock ends with its process, however that ends. Where there is no
such lock (Windows, a disk that has none), or no file can be made, everybody has it: then a kernel is compiled twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NAME = "locks"
_SLOTS = 1024  # places at the beginning; kernels come after them
_PATIENCE, _POLL = 60.0, 0.02  # seconds
_files: dict[tuple[int, Path], int] = {}  # by process: a fork has locks of its own
_threads: dict[str, threading.RLock] = {}
_guard = threading.Lock()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a kernel's file. Whoever has it for longer than a minute hangs, and is not waited for."""
    with _guard:
        mine = _threads.setdefault(path.name, threading.RLock())
    with mine:
        place, until = _place(path), time.monotonic() + _PATIENCE
        while not (taken := _take(path.parent, place)) and time.monotonic() < until:
            time.sleep(_POLL)
        try:
            yield
        finally:
            if taken:
                _release(path.parent, place)


def slot_is_free(folder: Path, slots: int) -> bool:
    """Whether one of so many places is free."""
    for slot in range(slots):
        if _take(folder, slot):
            _release(folder, slot)
            return True
    return False


def try_slot(folder: Path, slots: int) -> bool:
    """Take one of so many places until this process ends, if one is free."""
    return any(_take(folder, slot) for slot in range(slots))


def _place(path: Path) -> int:
    return _SLOTS + int(hashlib.sha256(path.name.encode()).hexdigest()[:7], 16)


def _take(folder: Path, place: int) -> bool:
    if fcntl is None:
        return True
    try:
        file = _file(folder)
    except OSError:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):  # either may say that it is taken
        return False
    except OSError:  # the disk knows no locks
        return True
    return True


def _release(folder: Path, place: int) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.lockf(_file(folder), fcntl.LOCK_UN, 1, place)


def _file(folder: Path) -> int:
    """Opened once and never closed: closing it would end all locks of this process."""
    with _guard:
        key = os.getpid(), folder
        if key not in _files:
            _files[key] = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        return _files[key]
