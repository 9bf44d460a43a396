"""Who compiles while a run goes on: a process that ends by itself, or a thread that ends with this process."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from potentia.errors import NotCompiled
from potentia.kernel import cache, locks
from potentia.kernel.cache import cache_directory

if TYPE_CHECKING:
    from potentia.kernel.cache import Entry
    from potentia.kernel.shapes import Shape

RUNNING, DONE, BUSY, FAILED = "running", "done", "busy", "failed"
BUSY_CODE = 75  # what such a process ends with where another compiles; EX_TEMPFAIL
_SOURCES = Path(__file__).parents[2]
_PATIENCE, _POLL = 30.0, 0.1  # seconds that leaving waits for a thread inside LLVM
_MARK = "POTENTIA_COMPILING"  # in the environment of a process that compiles


class Job(Protocol):
    """Something that is being compiled."""

    process: int  # that asked for it
    said: str  # what went wrong

    def state(self) -> str: ...


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ask(entry: Entry, make: Callable[[], tuple[Any, ...]], shape: Shape | None) -> Job:
    """Have a kernel compiled: into its file by another process, or into this process where none can be told what."""
    if shape is not None and _has_interpreter():
        if not locks.slot_is_free(cache_directory(), slots()):
            return _Busy()
        with contextlib.suppress(OSError):
            return _Helper(entry, shape)
    return _Thread(entry, make)


def slots() -> int:
    """How many processes may compile at a time."""
    return max(1, cores() - 1)


def _has_interpreter() -> bool:
    """Whether this is Python, and not a program that holds it, which would start itself again; nor such a process."""
    if getattr(sys, "frozen", False) or not sys.executable or _MARK in os.environ:
        return False
    return Path(sys.executable).stem.lower().startswith(("python", "pypy"))


class _Busy:
    """Nobody has time for it."""

    said = ""

    def __init__(self) -> None:
        self.process = os.getpid()

    def state(self) -> str:
        return BUSY


class _Helper:
    """A process of its own. It has no stream of ours, so that nobody who reads those waits for it."""

    said = "the process that compiled it was killed, or could not write its file"

    def __init__(self, entry: Entry, shape: Shape) -> None:
        self.process = os.getpid()
        job = pickle.dumps((entry.function.__module__, entry.function.__qualname__, shape))
        path = os.pathsep.join(filter(None, [str(_SOURCES), os.environ.get("PYTHONPATH", "")]))
        apart: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000008}
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", "potentia.kernel.compiling"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "POTENTIA_CACHE_DIR": str(cache_directory().parents[1]), _MARK: "1"},
            **apart,
        )
        _helpers[:] = [popen for popen in _helpers if popen.poll() is None]
        _helpers.append(self._popen)
        assert self._popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended: its state says so
            self._popen.stdin.write(job)
            self._popen.stdin.close()

    def state(self) -> str:
        code = self._popen.poll()
        if code is None:
            return RUNNING
        return {0: DONE, BUSY_CODE: BUSY}.get(code, FAILED)


class _Thread:
    """A thread: for kernels that no other process can make, or find."""

    def __init__(self, entry: Entry, make: Callable[[], tuple[Any, ...]]) -> None:
        self.process, self.said = os.getpid(), ""
        self._state = RUNNING
        self._entry, self._make = entry, make
        thread = threading.Thread(target=self._work, name="potentia-compiling", daemon=True)
        _threads.append(thread)
        thread.start()

    def _work(self) -> None:
        try:
            self._entry.compile(self._make(), quiet=True)
            self._state = DONE
        except Exception as error:
            self.said = " ".join(str(error).split())[:300] or type(error).__name__
            self._state = FAILED
        except SystemExit:  # this process ends
            pass

    def state(self) -> str:
        return self._state


_helpers: list[subprocess.Popen[bytes]] = []
_threads: list[threading.Thread] = []


@atexit.register
def _leave() -> None:
    """Nobody waits for what is not needed any more."""
    for popen in _helpers:
        popen.returncode = 0  # it ends by itself, and is not to be warned of
    # LLVM must not work on while the process is taken apart: each thread ends at its next line of Python. Where that is
    # a function that LLVM calls, the exception is lost, and comes again.
    hook, until = sys.unraisablehook, time.monotonic() + _PATIENCE
    sys.unraisablehook = lambda lost: None if lost.exc_type is SystemExit else hook(lost)
    while (alive := [thread for thread in _threads if thread.is_alive()]) and time.monotonic() < until:
        for thread in alive:
            if thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
        alive[0].join(_POLL)


def _after_fork() -> None:
    """A copy of a process that compiles has its locks and not its thread: whoever compiles there waits for ever."""
    if _left_behind:
        cache.stay_plain()
        text = "this process was forked while a kernel was compiled, so it compiles nothing and runs in plain Python"
        warnings.warn(text, NotCompiled, stacklevel=2)


def _before_fork() -> None:
    _left_behind[:] = [thread.ident for thread in _threads if thread.is_alive()]


_left_behind: list[int | None] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
