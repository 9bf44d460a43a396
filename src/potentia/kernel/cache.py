"""Entry points: the functions that are compiled, and a disk cache that cannot serve stale code.

Numba's own cache looks only at the file of the cached function: after an edit to a callee in another
file it runs the old machine code. Here the cache directory is named after a hash of all sources from which
kernels are made, and of the Python that runs them. A kernel whose types come from elsewhere (a user's utility, a third
party's game) is never written to disk. One file per signature, named by its key and renamed into place, keeps
concurrent processes out of each other's way.

What is in the cache is run. So it is kept where nobody else can write (:mod:`potentia.kernel.private`), and a file is
unpickled only if it is what was written under that very key: one that is truncated, damaged or misplaced is compiled
again.

``POTENTIA_CACHE_DIR`` moves the cache; an unwritable directory only means compiling again.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib
import importlib.machinery
import importlib.metadata
import os
import pickle
import re
import shutil
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from potentia.errors import CacheNotKept, CacheNotTrusted, frames_to_caller
from potentia.kernel.dispatch import activate, lock
from potentia.kernel.files import leftovers, whole_file
from potentia.kernel.garbage import no_collection
from potentia.kernel.locks import NAME as LOCKS
from potentia.kernel.locks import locked
from potentia.kernel.notices import notice
from potentia.kernel.private import exposed, is_own, make_folders, own_bytes, private_folder
from potentia.kernel.shapes import Shape, classes, shape_of, shape_of_type, words

_PACKAGE = Path(__file__).parents[1]
_COMPILED = ("kernel", "games", "rules", "beliefs", "engine", "analysis")  # where compiled functions live
_MONTH = 30 * 24 * 3600
_MAGIC = b"potentia kernel 1\n"
_FOLDER = re.compile(r"[0-9a-f]{20}(-[0-9a-f]{8})?")  # with a tail where it was put aside
_FILE = re.compile(r"\w+-[0-9a-f]{32}\.nbc")
_TAG = "CACHEDIR.TAG"  # what backups leave out, see https://bford.info/cachedir/
_TAG_TEXT = b"""Signature: 8a477f597d28d172789f06886806bc55
# Machine code that potentia compiled. It may be deleted at any time.
"""
_CHOICES = ("BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "DISABLE_INTEL_SVML", "ENABLE_AVX", "OPT")  # of the environment
_MOST_OF_OTHERS = 64
_LITTLE = 5e5  # passes: some tenths of a second
_MEND = "mend that, or set POTENTIA_CACHE_DIR to a folder that only you can write to"
_NOWHERE = Path(os.devnull) / "kernels"  # nothing can be read or written there

_plain = False
_said: set[str] = set()  # why kernels are not kept
_temporary: list[Path] = []  # where a cache goes that cannot be trusted

Compiled = bool | Literal["auto"]  # at once in plain Python, and with machine code when it is there

entries: list[Entry] = []


def jit_disabled() -> bool:
    """Whether the environment asks for plain Python (``NUMBA_DISABLE_JIT=1``), or this process cannot compile."""
    return _plain or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def stay_plain() -> None:
    """Compile nothing in this process from now on."""
    global _plain
    _plain = True


@cache
def source_hash() -> str:
    """A hash over every source file that a kernel may come from, and the versions of what compiles and runs it."""
    python = (sys.implementation.name, sys.implementation.cache_tag, *sys.version_info, getattr(sys, "abiflags", ""))
    binary = (importlib.machinery.EXTENSION_SUFFIXES, sys.maxsize, sys.byteorder)
    versions = [_version(name) for name in ("numba", "llvmlite", "numpy")]
    digest = hashlib.sha256(f"{python} {binary} {versions}".encode())
    for path in sorted(path for room in _COMPILED for path in (_PACKAGE / room).rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _version(package: str) -> str:
    """Without loading it, if it can be had so."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(importlib.import_module(package).__version__)


@cache
def cache_directory() -> Path:
    """Where this version of the sources keeps its machine code; directories of ours unused for a month go.

    A place that others can write to is not used, but a temporary one, with a warning.
    """
    told = os.environ.get("POTENTIA_CACHE_DIR")
    if not told:
        import platformdirs

        told = platformdirs.user_cache_dir("potentia")
    known = os.path.expanduser(told)
    if known.startswith("~"):  # or a folder of that name would be made here
        return _temporary_directory(f"there is no home folder for {told}")
    root = Path(os.path.realpath(known))
    base = root / "kernels"
    path = base / source_hash()
    try:
        make_folders(root)
        why = exposed(root) or (exposed(base) if _is_shared(base) else private_folder(base)) or private_folder(path)
    except OSError as error:  # a read-only disk, a file in the way
        _say_not_kept(f"{path}: {error.strerror or error}")
        return _NOWHERE
    if why is not None:
        return _temporary_directory(why)
    with contextlib.suppress(OSError):
        if not os.path.lexists(path / _TAG):  # a new one
            _clean(base, path)
            with whole_file(path / _TAG, durable=False, tidy=False) as temporary:
                temporary.write_bytes(_TAG_TEXT)
        os.utime(path)
    return path


def _is_shared(base: Path) -> bool:
    """Whether a folder that is called like ours holds other things too; then it is not ours to close or to move."""
    held = os.listdir(base) if base.is_dir() and not base.is_symlink() else ()
    return not all(_FOLDER.fullmatch(name) for name in held)


def _temporary_directory(why: str) -> Path:
    import tempfile

    try:
        path = Path(tempfile.mkdtemp(prefix="potentia-"))
    except OSError:
        path = _NOWHERE
    else:
        _temporary.append(path)
        atexit.register(_remove_temporary, path, os.getpid())
    warnings.warn(f"compiled kernels are not kept: {why}; {_MEND}", CacheNotTrusted, stacklevel=3)
    return path


def _remove_temporary(path: Path, process: int) -> None:
    if os.getpid() == process:  # not a fork of it
        shutil.rmtree(path, ignore_errors=True)


def _clean(base: Path, kept: Path) -> None:
    """Remove what was made here and not used for a month, and nothing else."""
    for folder in base.iterdir():
        if folder != kept and _FOLDER.fullmatch(folder.name):
            with contextlib.suppress(OSError):
                _remove_if_unused(folder)


def _remove_if_unused(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or not is_own(found) or time.time() - found.st_mtime < _MONTH:
        return
    tag = folder / _TAG
    if own_bytes(tag) != _TAG_TEXT:
        return
    for path in [*(path for path in folder.iterdir() if _is_kernel(path)), *leftovers(folder)]:
        path.unlink()
    ours = [path for path in (tag, folder / LOCKS) if os.path.lexists(path)]
    if set(folder.iterdir()) == set(ours):  # or somebody keeps something there
        for path in ours:
            path.unlink()
        folder.rmdir()


def _is_kernel(path: Path) -> bool:
    found = path.lstat()
    return _FILE.fullmatch(path.name) is not None and stat.S_ISREG(found.st_mode) and is_own(found)


def _seal(key: str, payload: bytes) -> bytes:
    """A kernel's file: what tells that the payload is whole and belongs to the key, and the payload."""
    return _MAGIC + _digest(key, payload) + payload


def _unseal(key: str, content: bytes | None) -> bytes | None:
    """The payload, or None where this is not what was sealed under this key."""
    start = len(_MAGIC) + hashlib.sha256().digest_size
    if content is None or not content.startswith(_MAGIC):
        return None
    payload = content[start:]
    return payload if content[len(_MAGIC) : start] == _digest(key, payload) else None


def _digest(key: str, payload: bytes) -> bytes:
    digest = hashlib.sha256(hashlib.sha256(key.encode()).digest())
    digest.update(payload)
    return digest.digest()


@cache
def _processor() -> str:
    """What machine code is made for."""
    from llvmlite import binding

    here = (binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    return f"{here} {[os.environ.get(f'NUMBA_{name}') for name in _CHOICES]}"


def may_keep(function: Callable[..., Any], shape: Shape) -> bool:
    """Whether a kernel of this function, for arguments of this shape, may be on disk: nothing of others' is in it."""
    return _is_hashed(function.__module__) and all(_is_ours(kind) for kind in classes(shape))


def kernel_file(function: Callable[..., Any], shape: Shape) -> Path | None:
    """Where a kernel is kept; None where it may not be."""
    if not may_keep(function, shape):
        return None
    name = f"{function.__module__}.{function.__qualname__}"
    key = f"{source_hash()} {name} {words(shape)} {_processor()}"
    return cache_directory() / f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.nbc"


def is_kept() -> bool:
    """Whether what is written to the cache will be found by another process."""
    folder = cache_directory()
    if folder in (_NOWHERE, *_temporary):
        return False
    if not os.access(folder, os.W_OK):
        _say_not_kept(f"{folder} cannot be written to")
        return False
    return True


def _say_not_kept(why: str) -> None:
    """Once for a reason, also where warnings are errors."""
    if why not in _said:
        _said.add(why)
        text = f"compiled kernels are not kept, so that each program compiles again: {why}; {_MEND}"
        warnings.warn(text, CacheNotKept, stacklevel=frames_to_caller())


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
            return self.dispatcher(*args)
        finally:
            _waits.end()

    def compile(self, args: tuple[Any, ...], quiet: bool = False) -> None:
        """Have machine code for arguments like these, loaded or compiled here and now; ``quiet``: nobody waits."""
        import numba

        _waits.quiet = quiet
        try:
            self.dispatcher.compile(tuple(numba.typeof(arg) for arg in args))
        finally:
            _waits.end()

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
        """One file per signature under :func:`cache_directory`."""

        def __init__(self) -> None:
            self._impl = CompileResultCacheImpl(function)

        @property
        def cache_path(self) -> str:
            return str(cache_directory())

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
                        if path.parent != _NOWHERE:  # said already
                            _say_not_kept(f"{path.parent}: {error.strerror or error}")
            _waits.end()  # what is compiled now runs, and nobody has to wait for that

    return DiskCache()


def _is_hashed(module: str) -> bool:
    """Whether an edit to this module names another cache directory."""
    return module.split(".")[:1] == ["potentia"] and module.split(".")[1:2] in ([room] for room in _COMPILED)


def _is_ours(kind: Any) -> bool:
    """Whether a class of records is this package's; there is none for a function."""
    return kind is not None and _is_hashed(kind.__module__)


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
