"""Entry points: the functions that are compiled, and a disk cache that cannot serve stale code.

Numba's own cache looks only at the file of the cached function: after an edit to a callee in another
file it runs the old machine code. Here the cache directory is named after a hash of all sources from which
kernels are made. A kernel whose types come from elsewhere (a user's utility, a third party's game) is never
written to disk. One file per signature, named by its content and renamed into place, keeps concurrent
processes out of each other's way.

``POTENTIA_CACHE_DIR`` moves the cache; an unwritable directory only means compiling again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from potentia.kernel.dispatch import activate, lock
from potentia.kernel.files import whole_file

_PACKAGE = Path(__file__).parents[1]
_COMPILED = ("kernel", "games", "rules", "beliefs", "engine", "analysis")  # where compiled functions live
_MONTH = 30 * 24 * 3600

entries: list[Entry] = []


def jit_disabled() -> bool:
    """Whether the environment asks for plain Python (``NUMBA_DISABLE_JIT=1``)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def source_hash() -> str:
    """A hash over every source file that a kernel may come from, and the versions of what compiles it."""
    import llvmlite
    import numba
    import numpy

    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {numpy.__version__}".encode())
    for path in sorted(path for room in _COMPILED for path in (_PACKAGE / room).rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


@cache
def cache_directory() -> Path:
    """Where this version of the sources keeps its machine code; directories unused for a month go."""
    root = os.environ.get("POTENTIA_CACHE_DIR")
    if root is None:
        import platformdirs

        root = platformdirs.user_cache_dir("potentia")
    base = Path(root) / "kernels"
    path = base / source_hash()
    with contextlib.suppress(OSError):
        if not path.exists():
            path.mkdir(parents=True)
            for other in base.iterdir():
                if other != path and time.time() - other.stat().st_mtime > _MONTH:
                    shutil.rmtree(other, ignore_errors=True)
        os.utime(path)
    return path


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

        def _file(self, sig: Any, codegen: Any) -> Path:
            checks = getattr(config, "BOUNDSCHECK", None)
            text = f"{function.__module__}.{function.__qualname__} {sig} {codegen.magic_tuple()} {checks}"
            return cache_directory() / f"{function.__name__}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.nbc"

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            if not _may_cache(sig):
                return None
            target_context.refresh()
            try:
                payload = pickle.loads(self._file(sig, target_context.codegen()).read_bytes())
                return self._impl.rebuild(target_context, payload)
            except Exception:  # absent, truncated or foreign: compiling again is always right
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            if not _may_cache(sig) or not self._impl.check_cachable(data):
                return
            path = self._file(sig, data.codegen)
            with contextlib.suppress(OSError), whole_file(path) as temporary:
                temporary.write_bytes(pickle.dumps(self._impl.reduce(data)))

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
