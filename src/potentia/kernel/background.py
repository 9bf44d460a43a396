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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from potentia.errors import InvalidCode, NotCompiled
from potentia.kernel import cache, locks
from potentia.kernel.cache_folder import cache_directory

if TYPE_CHECKING:
    from potentia.kernel.cache import Entry
    from potentia.kernel.shapes import Shape

RUNNING, DONE, BUSY, FAILED = "running", "done", "busy", "failed"
LATER = "later"  # the process that compiles for this one has something else to do first
BUSY_CODE = 75  # what such a process ends with where another compiles, or nothing came to compile; EX_TEMPFAIL
_SOURCES = Path(__file__).parents[2]
_PATIENCE, _POLL = 30.0, 0.1  # seconds that leaving waits for a thread inside LLVM
_WAITING = 1.0  # seconds for which somebody who was refused is thought to ask again
_SWITCH = 2e-4  # seconds for which one thread has the interpreter while another compiles
_MARK = "POTENTIA_COMPILING"  # in the environment of a process that compiles


class Job(Protocol):
    """Something that is being compiled."""

    process: int  # that asked for it
    said: str  # what went wrong

    def state(self) -> str: ...


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ask(entry: Entry, make: Callable[[], tuple[Any, ...]], path: Path | None, shape: Shape) -> Job:
    """Have a kernel compiled: into its file by another process, or into this process where none can be told what."""
    if path is not None and _has_interpreter():
        with contextlib.suppress(OSError), _guard:
            _reap()
            job = _helper_for(entry, path, shape)
            if job.state() == LATER:
                _refused[0] = time.monotonic()
            return job
    return Thread(entry, make)


def feed() -> None:
    """Where nobody waits for a compiler, have compiled what will be needed next, by one process."""
    with _guard:
        _reap()
        while ahead and ahead[0][1].exists():
            ahead.pop(0)
        if ahead and _has_interpreter() and time.monotonic() > _refused[0] + _WAITING:
            try:
                if _helper_for(*ahead[0], most=1).state() == RUNNING:
                    ahead.pop(0)
            except OSError:  # none can be started
                ahead.clear()


@contextlib.contextmanager
def told(jobs: list[tuple[Entry, Path, Shape]]) -> Iterator[None]:
    """While the block plays, these may be compiled, in this order, after what was told before."""
    with _guard:
        ahead.extend(jobs)
    try:
        yield
    finally:
        with _guard:
            ahead[:] = [job for job in ahead if not any(job is one for one in jobs)]


def _reap() -> None:
    for helper in [helper for helper in _helpers if not helper.is_alive()]:
        _helpers.remove(helper)
        helper.forget()
        if helper.popen.returncode not in (0, BUSY_CODE):  # a full disk: the next would not get further
            ahead.clear()


def _helper_for(entry: Entry, path: Path, shape: Shape, most: int | None = None) -> Job:
    """A process that compiles this now, if one may; one that is there already has compiled parts of it."""
    for helper in _helpers:
        if helper.path == path and not helper.is_idle():
            return _Asked(helper.popen, path)
    for helper in _helpers:
        if helper.is_idle():
            return helper.begin(entry, path, shape)
    if len(_helpers) >= (most or slots()) or not locks.slot_is_free(path.parent, slots()):
        return _Refused(LATER if _helpers else BUSY)
    _helpers.append(_Helper())
    return _helpers[-1].begin(entry, path, shape)


def slots() -> int:
    """How many processes may compile at a time."""
    return max(1, cores() - 1)


def _has_interpreter() -> bool:
    """Whether this is Python, and not a program that holds it, which would start itself again; nor such a process."""
    if getattr(sys, "frozen", False) or not sys.executable or _MARK in os.environ:
        return False
    return Path(sys.executable).stem.lower().startswith(("python", "pypy"))


class _Refused:
    """Nobody has time for it."""

    said = ""

    def __init__(self, state: str) -> None:
        self.process, self._state = os.getpid(), state

    def state(self) -> str:
        return self._state


class _Helper:
    """A process of its own. It has no stream of ours, so that nobody who reads those waits for it.

    It writes one kernel's file after the other, and ends where it cannot, where nothing comes, or with this process.
    """

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, [str(_SOURCES), os.environ.get("PYTHONPATH", "")]))
        apart: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000008}
        self.popen = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", "potentia.kernel.compiling"],
            bufsize=0,  # a buffer has a lock, which a fork of this process would wait for
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "POTENTIA_CACHE_DIR": str(cache_directory().parents[1]), _MARK: "1"},
            **apart,
        )
        self.path: Path | None = None

    def is_alive(self) -> bool:
        return self.popen.poll() is None

    def is_idle(self) -> bool:
        return self.path is None or self.path.exists()

    def forget(self) -> None:
        """It ends by itself, and is not to be warned of."""
        if self.popen.returncode is None:
            self.popen.returncode = 0
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):
            self.popen.stdin.close()

    def begin(self, entry: Entry, path: Path, shape: Shape) -> _Asked:
        self.path = path
        job = pickle.dumps((entry.function.__module__, entry.function.__qualname__, shape, str(path)))
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended: its state says so
            self.popen.stdin.write(pickle.dumps(job))  # twice: all has come before anything is imported for it
        return _Asked(self.popen, path)


class _Asked:
    """What another process compiles."""

    said = "the process that compiled it was killed, or could not write its file"

    def __init__(self, popen: subprocess.Popen[bytes], path: Path) -> None:
        self.process, self._popen, self._path = os.getpid(), popen, path

    def state(self) -> str:
        code = self._popen.poll()  # before the file is looked for, which may come until then
        if self._path.exists():
            return DONE
        if code is None:
            return RUNNING
        return BUSY if code == BUSY_CODE else FAILED


class Thread:
    """A thread: for kernels that no other process can make, or find."""

    def __init__(self, entry: Entry, make: Callable[[], tuple[Any, ...]]) -> None:
        self.process, self.said = os.getpid(), ""
        self._state = RUNNING
        self._entry, self._make = entry, make
        self.thread = threading.Thread(target=self._work, name="potentia-compiling", daemon=True)
        _threads.append(self.thread)
        self.thread.start()

    def _work(self) -> None:
        try:
            from potentia.kernel.inner import warnings_of_others

            with _quick_turns(), warnings_of_others():
                self._entry.compile(self._make(), quiet=True)
            self._state = DONE
        except Exception as error:
            # what is wrong with somebody's own code is told in one line, and in full where that is asked for
            said = str(error) if isinstance(error, InvalidCode) else " ".join(str(error).split())[:300]
            self.said = said or type(error).__name__
            self._state = FAILED
        except SystemExit:  # this process ends
            pass

    def state(self) -> str:
        return self._state


@contextlib.contextmanager
def _quick_turns() -> Iterator[None]:
    """LLVM is called ten thousand times, and after each the interpreter is waited for while another thread has it."""
    with _guard:
        _turns.append(_turns[0] if _turns else sys.getswitchinterval())
        sys.setswitchinterval(min(_SWITCH, _turns[0]))
    try:
        yield
    finally:
        with _guard:
            usual = _turns.pop()
            if not _turns:
                sys.setswitchinterval(usual)


_turns: list[float] = []  # what is usual, for each thread that compiles
ahead: list[tuple[Entry, Path, Shape]] = []  # what will be needed
_refused = [-_WAITING]  # when somebody last wanted something else
_helpers: list[_Helper] = []
_guard = threading.Lock()
_threads: list[threading.Thread] = []


@atexit.register
def _leave() -> None:
    """Nobody waits for what is not needed any more."""
    _forget_helpers()
    # LLVM must not work on while the process is taken apart: each thread ends at its next line of Python. Where that is
    # a function that LLVM calls, the exception is lost, and comes again.
    hook, until = sys.unraisablehook, time.monotonic() + _PATIENCE
    sys.unraisablehook = lambda lost: None if lost.exc_type is SystemExit else hook(lost)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a file that it imports from
        while (alive := [thread for thread in _threads if thread.is_alive()]) and time.monotonic() < until:
            for thread in alive:
                if thread.ident is not None:
                    end = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(*end)
            alive[0].join(_POLL)


def _forget_helpers() -> None:
    for helper in _helpers:
        helper.forget()
    _helpers.clear()


def _after_fork() -> None:
    """A copy of a process that compiles has its locks and not its thread: whoever compiles there waits for ever."""
    global _guard
    _guard = threading.Lock()
    if _turns:
        sys.setswitchinterval(_turns[0])
        _turns.clear()
    ahead.clear()
    _forget_helpers()
    if _left_behind:
        cache.stay_plain()
        text = "this process was forked while a kernel was compiled, so it compiles nothing and runs in plain Python"
        warnings.warn(text, NotCompiled, stacklevel=2)


def _before_fork() -> None:
    _left_behind[:] = [thread.ident for thread in _threads if thread.is_alive()]


_left_behind: list[int | None] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
