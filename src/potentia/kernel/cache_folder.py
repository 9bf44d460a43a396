"""Where kernels are kept: in a folder named after their sources, which nobody else can write to.

The folder's name is a hash of all sources from which kernels are made, and of the Python that runs them, so that an
edit names another one. What is in it is run: it is used only where nobody else can write
(:mod:`potentia.kernel.private`); else a temporary folder is, with a warning.

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
import re
import shutil
import stat
import sys
import time
import warnings
from functools import cache
from pathlib import Path

from potentia.errors import CacheNotKept, CacheNotTrusted, frames_to_caller
from potentia.kernel.files import leftovers, whole_file
from potentia.kernel.locks import NAME as LOCKS
from potentia.kernel.private import exposed, is_own, make_folders, own_bytes, private_folder

_PACKAGE = Path(__file__).parents[1]
_COMPILED = ("kernel", "games", "rules", "beliefs", "engine", "analysis", "envs", "learners")  # of compiled functions
_MONTH = 30 * 24 * 3600
_FOLDER = re.compile(r"[0-9a-f]{20}(-[0-9a-f]{8})?")  # with a tail where it was put aside
_FILE = re.compile(r"\w+-[0-9a-f]{32}\.nbc")
_TAG = "CACHEDIR.TAG"  # what backups leave out, see https://bford.info/cachedir/
_TAG_TEXT = b"""Signature: 8a477f597d28d172789f06886806bc55
# Machine code that potentia compiled. It may be deleted at any time.
"""
_MEND = "mend that, or set POTENTIA_CACHE_DIR to a folder that only you can write to"
NOWHERE = Path(os.devnull) / "kernels"  # nothing can be read or written there

_said: set[str] = set()  # why kernels are not kept
_temporary: list[Path] = []  # where a cache goes that cannot be trusted


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


def is_hashed(module: str) -> bool:
    """Whether an edit to this module names another cache directory."""
    return module.split(".")[:2] in [["potentia", room] for room in _COMPILED]


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
        say_not_kept(f"{path}: {error.strerror or error}")
        return NOWHERE
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
        path = NOWHERE
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


def is_kept() -> bool:
    """Whether what is written to the cache will be found by another process."""
    folder = cache_directory()
    if folder in (NOWHERE, *_temporary):
        return False
    if not os.access(folder, os.W_OK):
        say_not_kept(f"{folder} cannot be written to")
        return False
    return True


def say_not_kept(why: str) -> None:
    """Once for a reason, also where warnings are errors."""
    if why not in _said:
        _said.add(why)
        text = f"compiled kernels are not kept, so that each program compiles again: {why}; {_MEND}"
        warnings.warn(text, CacheNotKept, stacklevel=frames_to_caller())
