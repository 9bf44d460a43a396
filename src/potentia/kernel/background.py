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
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from potentia.kernel.cache import Entry
    from potentia.kernel.shapes import Shape

RUNNING, DONE, BUSY, FAILED = "running", "done", "busy", "failed"
BUSY_CODE = 75  # what such a process ends with where another compiles; EX_TEMPFAIL
_SOURCES = Path(__file__).parents[2]
_PATIENCE = 30.0  # seconds that leaving waits for a thread inside LLVM


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
    if shape is not None and sys.executable:
        with contextlib.suppress(OSError):
            return _Helper(entry, shape)
    return _Thread(entry, make)


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
            env={**os.environ, "PYTHONPATH": path},
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
            self._entry.compile(self._make())
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
    for thread in _threads:
        if thread.is_alive() and thread.ident is not None:
            # LLVM must not work on while the process is taken apart: the thread ends at its next line of Python
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
            thread.join(_PATIENCE)
