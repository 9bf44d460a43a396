"""Entry points: the functions that are compiled, and a disk cache that cannot serve stale code.

Numba's own cache looks only at the file of the cached function: after an edit to a callee in another
file it runs the old machine code. Here the folder is named after a hash of all sources
(:mod:`potentia.kernel.cache_folder`). A kernel whose types come from elsewhere (a user's utility, a third
party's game) is never written to disk. One file per signature, named by its key and renamed into place, keeps
concurrent processes out of each other's way.

What is in the cache is run. So a file is unpickled only if it is what was written under that very key: one that is
truncated, damaged or misplaced is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from potentia.errors import CacheNotKept
from potentia.kernel import cache_folder
from potentia.kernel.dispatch import activate, lock
from potentia.kernel.files import whole_file
from potentia.kernel.garbage import no_collection
from potentia.kernel.locks import locked
from potentia.kernel.mistakes import compiling
from potentia.kernel.notices import notice
from potentia.kernel.private import own_bytes
from potentia.kernel.shapes import Shape, classes, shape_of, shape_of_type, words

_MAGIC = b"potentia kernel 1\n"
_CHOICES = ("BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "DISABLE_INTEL_SVML", "ENABLE_AVX", "OPT")  # of the environment
_MOST_OF_OTHERS = 64
_LITTLE = 5e5  # passes: some tenths of a second

_plain = False

Compiled = bool | Literal["auto"]  # at once in plain Python, and with machine code when it is there

entries: list[Entry] = []


def jit_disabled() -> bool:
    """Whether the environment asks for plain Python (``NUMBA_DISABLE_JIT=1``), or this process cannot compile."""
    return _plain or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def stay_plain() -> None:
    """Compile nothing in this process from now on."""
    global _plain
    _plain = True


def _seal(key: str, payload: bytes) -> bytes:
    """A kernel's file: what tells that the payload is whole and belongs to the key, and the payload."""
    return _MAGIC + hashlib.sha256(hashlib.sha256(key.encode()).digest() + payload).digest() + payload


def _unseal(key: str, content: bytes | None) -> bytes | None:
    """The payload, or None where this is not what was sealed under this key."""
    payload = (content or b"")[len(_seal(key, b"")) :]
    return payload if content == _seal(key, payload) else None


@cache
def _processor() -> str:
    """What machine code is made for."""
    from llvmlite import binding

    here = (binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    return f"{here} {[os.environ.get(f'NUMBA_{name}') for name in _CHOICES]}"


def may_keep(function: Callable[..., Any], shape: Shape) -> bool:
    """Whether a kernel of this function, for arguments of this shape, may be on disk: nothing of others' is in it."""
    made_of = (function, *classes(shape))
    return all(
        kind is not None and cache_folder.is_hashed(kind.__module__) for kind in made_of
    )  # a function has no class


def kernel_file(function: Callable[..., Any], shape: Shape) -> Path | None:
    """Where a kernel is kept; None where it may not be."""
    if not may_keep(function, shape):
        return None
    name = f"{function.__module__}.{function.__qualname__}"
    key = f"{cache_folder.source_hash()} {name} {words(shape)} {_processor()}"
    return cache_folder.cache_directory() / f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.nbc"


class Entry:
    """A kernel callable from Python: compiled on first use, or run as it is with ``compiled=False``.

    With ``compiled="auto"`` it is run as it is until machine code is there; see :mod:`potentia.kernel.tiers`. A kernel
    that tells how much ``work`` its arguments are, in passes through its innermost loop, is so by itself for little.
    """

    def __init__(self, function: Callable[..., Any], work: Callable[..., float] | None = None) -> None:
        self.function, self.work = function, work
        self._dispatcher: Any = None
        self._kernels: dict[Shape, Any] = {}
        self._of_others: list[Shape] = []
        self.ready: set[Shape] = set()  # of which this process has machine code; never of somebody's own functions
        entries.append(self)

    def __call__(self, *args: Any, compiled: Compiled | None = None) -> Any:
        if compiled is None:
            compiled = "auto" if self.work is not None and self.work(*args) <= _LITTLE else True
        if not compiled or jit_disabled():
            return self.function(*args)
        if compiled == "auto":
            return self.kernel(args).call(args)
        return self.machine_code(args)

    def machine_code(self, args: tuple[Any, ...]) -> Any:
        """The result, by machine code that is compiled first where there is none."""
        try:
            with compiling(args):
                return self.dispatcher(*args)
        finally:
            _waits.end()

    def compile(self, args: tuple[Any, ...], quiet: bool = False) -> None:
        """Have machine code for arguments like these, loaded or compiled here and now; ``quiet``: nobody waits."""
        import numba

        _waits.quiet = quiet
        try:
            with compiling(args):
                self.dispatcher.compile(tuple(numba.typeof(arg) for arg in args))
        finally:
            _waits.end()

    def direct(self, args: tuple[Any, ...]) -> Callable[..., Any] | None:
        """What calls machine code for arguments of exactly these types, and looks at no types again; None if it is not
        there yet. Numba takes microseconds to tell the types of records, many times what a small kernel takes."""
        import numba

        found = self.dispatcher.overloads.get(tuple(numba.typeof(arg) for arg in args))
        return None if found is None else found.entry_point

    def kernel(self, args: tuple[Any, ...], make: Callable[[Shape], tuple[Any, ...]] | None = None) -> Any:
        """The kernel for arguments like these.

        Where somebody's own code is in it, ``make`` makes arguments for the compiler from their shape.
        """
        shape = shape_of(args)
        found = self._kernels.get(shape)
        if found is None:
            from potentia.kernel.tiers import Kernel

            found = self._kernels.setdefault(shape, Kernel(self, shape, make))
            if found.own_code:  # it holds functions and data of somebody's, which are not to be kept for ever
                self._of_others.append(shape)
                while len(self._of_others) > _MOST_OF_OTHERS:
                    self._kernels.pop(self._of_others.pop(0), None)
        return found

    @property
    def dispatcher(self) -> Any:
        with lock:
            if self._dispatcher is None:
                import numba

                activate()
                options: Any = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
                dispatcher: Any = numba.njit(**options)(self.function)
                dispatcher._cache = _disk_cache(self.function, self.ready)
                self._dispatcher = dispatcher
        return self._dispatcher

    @property
    def cache_misses(self) -> int:
        """How many signatures this process had to compile."""
        return 0 if self._dispatcher is None else sum(self._dispatcher.stats.cache_misses.values())

    @property
    def cache_hits(self) -> int:
        """How many signatures this process found on disk."""
        return 0 if self._dispatcher is None else sum(self._dispatcher.stats.cache_hits.values())


def _disk_cache(function: Callable[..., Any], ready: set[Shape]) -> Any:
    from numba.core import config
    from numba.core.caching import CompileResultCacheImpl, NullCache

    from potentia.kernel.inner import set_environments

    class DiskCache(NullCache):
        """One file per signature under :func:`potentia.kernel.cache_folder.cache_directory`."""

        def __init__(self) -> None:
            self._impl = CompileResultCacheImpl(function)

        @property
        def cache_path(self) -> str:
            return str(cache_folder.cache_directory())

        def _place(self, sig: Any, codegen: Any) -> tuple[Shape, str, Path | None]:
            """The shape of a kernel's arguments, its key, and its file."""
            shape = ("tuple", *map(shape_of_type, sig))
            path = kernel_file(function, shape)
            options = [getattr(config, name, None) for name in ("BOUNDSCHECK", "OPT", "USING_SVML")]
            return shape, f"{path and path.name} {sig} {codegen.magic_tuple()} {options}", path

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            target_context.refresh()
            shape, key, path = self._place(sig, target_context.codegen())
            found = None if path is None else self._read(shape, key, path, target_context)
            if found is not None:
                return found
            _waits.say(function, sig)
            if path is not None:
                _waits.lock(path)
                found = self._read(shape, key, path, target_context)  # another process may have compiled it until now
            if found is None:
                _waits.compile()
            else:
                _waits.end()
            return found

        def _read(self, shape: Shape, key: str, path: Path, target_context: Any) -> Any:
            payload = _unseal(key, own_bytes(path))
            if payload is None:
                return None
            try:
                found = self._impl.rebuild(target_context, pickle.loads(payload))
            except Exception:  # compiling again is always right
                return None
            ready.add(shape)
            return found

        def save_overload(self, sig: Any, data: Any) -> None:
            set_environments(data)
            shape, key, path = self._place(sig, data.codegen)
            if path is not None:
                ready.add(shape)
            if path is not None and self._impl.check_cachable(data):
                content = _seal(key, pickle.dumps(self._impl.reduce(data)))
                try:
                    path.unlink(missing_ok=True)  # it is no good; and a link is not to be followed
                    with whole_file(path, durable=False, tidy=False) as temporary:
                        temporary.write_bytes(content)
                except OSError as error:
                    # where it is an error, the machine code that is there is worth more
                    with contextlib.suppress(CacheNotKept):
                        if path.parent != cache_folder.NOWHERE:  # said already
                            cache_folder.say_not_kept(f"{path.parent}: {error.strerror or error}")
            _waits.end()  # what is compiled now runs, and nobody has to wait for that

    return DiskCache()


class _Waits(threading.local):
    """What this thread does while it compiles: it holds a lock of the kernel, says so after a while, and collects no
    garbage. A ``quiet`` one compiles for others, who go on."""

    def __init__(self) -> None:
        self.undo = contextlib.ExitStack()
        self.quiet = False

    def lock(self, path: Path) -> None:
        self.undo.enter_context(locked(path))

    def compile(self) -> None:
        if not self.quiet:
            self.undo.enter_context(no_collection())

    def say(self, function: Callable[..., Any], sig: Any) -> None:
        if self.quiet:
            return
        kinds = [kind.instance_class.__name__ for kind in sig if hasattr(kind, "instance_class")]
        self.undo.enter_context(notice(f"compiling {function.__name__} for {', '.join(kinds) or 'numbers'}"))

    def end(self) -> None:
        self.quiet = False
        self.undo.close()


_waits = _Waits()
