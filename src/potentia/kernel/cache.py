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
import importlib.machinery
import os
import pickle
import re
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from potentia.errors import CacheNotTrusted
from potentia.kernel.dispatch import activate, lock
from potentia.kernel.files import leftovers, whole_file
from potentia.kernel.private import exposed, is_own, make_folders, own_bytes, private_folder

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
_NOWHERE = Path(os.devnull) / "kernels"  # nothing can be read or written there

entries: list[Entry] = []


def jit_disabled() -> bool:
    """Whether the environment asks for plain Python (``NUMBA_DISABLE_JIT=1``)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def source_hash() -> str:
    """A hash over every source file that a kernel may come from, and the versions of what compiles and runs it."""
    import llvmlite
    import numba
    import numpy

    python = (sys.implementation.name, sys.implementation.cache_tag, *sys.version_info, getattr(sys, "abiflags", ""))
    binary = (importlib.machinery.EXTENSION_SUFFIXES, sys.maxsize, sys.byteorder)
    versions = (numba.__version__, llvmlite.__version__, numpy.__version__)
    digest = hashlib.sha256(f"{python} {binary} {versions}".encode())
    for path in sorted(path for room in _COMPILED for path in (_PACKAGE / room).rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


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
    except OSError:  # a read-only disk, a file in the way
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
        atexit.register(_remove_temporary, path, os.getpid())
    mend = "mend that, or set POTENTIA_CACHE_DIR to a folder that only you can write to"
    warnings.warn(f"compiled kernels are not kept: {why}; {mend}", CacheNotTrusted, stacklevel=3)
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
    if list(folder.iterdir()) == [tag]:  # or somebody keeps something there
        tag.unlink()
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


class Entry:
    """A kernel callable from Python: compiled on first use, or run as it is with ``compiled=False``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._dispatcher: Any = None
        entries.append(self)

    def __call__(self, *args: Any, compiled: bool = True) -> Any:
        if not compiled or jit_disabled():
            return self.function(*args)
        return self.dispatcher(*args)

    @property
    def dispatcher(self) -> Any:
        with lock:
            if self._dispatcher is None:
                import numba

                activate()
                options: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
                dispatcher: Any = numba.njit(**options)(self.function)
                dispatcher._cache = _disk_cache(self.function)
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


def _disk_cache(function: Callable[..., Any]) -> Any:
    from numba.core import config, types
    from numba.core.caching import CompileResultCacheImpl, NullCache

    def _may_cache(sig: Any) -> bool:
        return _is_hashed(function.__module__) and all(_is_ours(arg, types) for arg in sig)

    class DiskCache(NullCache):
        """One file per signature under :func:`cache_directory`."""

        def __init__(self) -> None:
            self._impl = CompileResultCacheImpl(function)

        @property
        def cache_path(self) -> str:
            return str(cache_directory())

        def _place(self, sig: Any, codegen: Any) -> tuple[str, Path]:
            """The key of a kernel, and its file."""
            options = [getattr(config, name, None) for name in ("BOUNDSCHECK", "OPT", "USING_SVML")]
            name = f"{function.__module__}.{function.__qualname__}"
            key = f"{source_hash()} {name} {sig} {codegen.magic_tuple()} {options}"
            file = f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.nbc"
            return key, cache_directory() / file

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            if not _may_cache(sig):
                return None
            target_context.refresh()
            key, path = self._place(sig, target_context.codegen())
            payload = _unseal(key, own_bytes(path))
            if payload is None:
                return None
            try:
                return self._impl.rebuild(target_context, pickle.loads(payload))
            except Exception:  # compiling again is always right
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            if not _may_cache(sig) or not self._impl.check_cachable(data):
                return
            key, path = self._place(sig, data.codegen)
            content = _seal(key, pickle.dumps(self._impl.reduce(data)))
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)  # it is no good; and a link is not to be followed
                with whole_file(path, durable=False, tidy=False) as temporary:
                    temporary.write_bytes(content)

    return DiskCache()


def _is_hashed(module: str) -> bool:
    """Whether an edit to this module names another cache directory."""
    return module.split(".")[:1] == ["potentia"] and module.split(".")[1:2] in ([room] for room in _COMPILED)


def _is_ours(kind: Any, types: Any) -> bool:
    """Whether a Numba type stands for built-ins and this package's records only."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        module = kind.instance_class.__module__
        return _is_hashed(module) and all(_is_ours(t, types) for t in kind.types)
    if isinstance(kind, types.BaseTuple):
        return all(_is_ours(t, types) for t in kind)
    return isinstance(kind, types.Number | types.Boolean | types.Array | types.NoneType)
