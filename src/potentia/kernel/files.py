"""Files that are written whole or not at all.

The content goes to a temporary file beside its place, is forced to disk and renamed. What was there before is there
until then, with its mode; behind a link it is the link's target that is replaced. A process that is killed leaves its
temporary file; the next one that writes to the same place removes it.

A temporary file is called ``.worth.png-<16 hex digits>.part``. The last eight digits are a hash of the rest, so no file
of somebody else's carries such a name by chance, and its writer holds a lock on it while it lives.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not on Windows; leftovers stay there
    fcntl = None  # type: ignore[assignment]

_MINUTE = 60
_LONGEST = 150  # bytes of the name that are told in the temporary file's
_TEMPORARY = re.compile(r"(\..*-[0-9a-f]{8})([0-9a-f]{8})\.part", re.DOTALL)


@contextmanager
def whole_file(path: Path, durable: bool = True, tidy: bool = True) -> Iterator[Path]:
    """A temporary file beside ``path`` that takes its place when the block ends well, and goes when it does not.

    ``durable`` waits for the disk; without it a power failure may leave an empty file. ``tidy`` removes what a killed
    process left of the same file; those who tidy a whole folder themselves need not look through it for every file.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    mode = require_replaceable(target)
    if tidy:
        for leftover in leftovers(target.parent, target.name, _MINUTE):
            with contextlib.suppress(OSError):  # a later one may succeed
                leftover.unlink()
    temporary = target.parent / _temporary_name(target.name)
    try:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    except OSError as error:
        error.filename = str(path)  # the name that the user knows
        raise
    try:
        _hold(handle)
        if fcntl is None:  # Windows renames no file that is open
            os.close(handle)
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        if durable:
            _to_disk(temporary)
        temporary.replace(target)
        if durable:
            with contextlib.suppress(OSError):  # some file systems cannot
                _to_disk(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):  # what went wrong first is told
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and _is_about(error, temporary):
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        if fcntl is not None:
            os.close(handle)


def _is_about(error: OSError, temporary: Path) -> bool:
    """Whether a call on the temporary file failed: by its name, or on the open file, which has none."""
    return error.filename is None or error.filename in (temporary, str(temporary))


def leftovers(folder: Path, name: str | None = None, seconds: float = 0) -> list[Path]:
    """Temporary files in a folder, or of one file there, whose writer is gone; never a link or another's file.

    Where nothing else keeps writers out, ask for those that are some ``seconds`` old: a writer takes its lock a moment
    after it has made its file.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    began = "" if name is None else _began(name)
    wanted = (found for found in sorted(names) if found.startswith(began) and is_temporary_name(found))
    return [folder / found for found in wanted if _is_abandoned(folder / found, seconds)]


def is_temporary_name(name: str) -> bool:
    """Whether :func:`whole_file` gave this name."""
    match = _TEMPORARY.fullmatch(name)
    return match is not None and match[2] == _check(match[1])


def _began(name: str) -> str:
    """How the name of a file's temporary file begins."""
    return f".{os.fsencode(name)[:_LONGEST].decode('utf-8', 'ignore')}-"


def _temporary_name(name: str) -> str:
    told = f"{_began(name)}{secrets.token_hex(4)}"
    return f"{told}{_check(told)}.part"


def _check(told: str) -> str:
    return hashlib.sha256(b"potentia " + os.fsencode(told)).hexdigest()[:8]


def require_replaceable(path: Path) -> int | None:
    """The mode of the file that would be replaced, None where there is none; an ``OSError`` where it must not be."""
    target = Path(os.path.realpath(path))
    try:
        found = target.lstat()
    except FileNotFoundError:
        return None
    _require_plain(found.st_mode, target)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return stat.S_IMODE(found.st_mode) & 0o777


def _hold(handle: int) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks: then nobody can take it for abandoned
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_abandoned(path: Path, seconds: float) -> bool:
    """Whether this is a plain file of this user that nobody is writing, and so old."""
    if fcntl is None:
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
            return False
        if time.time() - found.st_mtime < seconds:
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if fcntl is None and path.is_file() else os.O_RDONLY)  # Windows wants to write
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_plain(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read; a pipe or a device, which might never answer, is an ``OSError``."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _require_plain(os.fstat(handle).st_mode, path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_plain(path: Path, most: int) -> bytes:
    """The content of a regular file of at most so many bytes."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"has {size:,} bytes, expected at most {most:,} bytes", str(path))
        return file.read(size + 1)


def _require_plain(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
