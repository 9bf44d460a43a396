"""Folders that nobody else can write to, for files that are run as they are found.

The rules are those of ssh for its keys: every folder on the way belongs to this user or to root, and nobody else may
write to it. A folder like ``/tmp`` is fine too: where the sticky bit is set, others cannot replace what is not theirs.
A group that is only this user's, as many systems give one to everybody, is nobody else.

Windows tells none of this by owner and mode, and what is in a user's profile is private there: nothing is checked.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shlex
import stat
import warnings
from pathlib import Path

from potentia.errors import CacheNotTrusted
from potentia.kernel.files import open_plain

POSIX = os.name == "posix"


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing, for this user alone."""
    if not path.is_dir():
        make_folders(path.parent)
        with contextlib.suppress(FileExistsError):
            path.mkdir(0o700)


def exposed(path: Path) -> str | None:
    """Why somebody else could replace what is in a folder, given without links; None where nobody can."""
    for folder in (path, *path.parents) if POSIX else ():
        found = folder.lstat()
        if found.st_uid not in (0, os.geteuid()):
            return f"{folder} belongs to {_owner(found)}"
        if _others_write(found) and not found.st_mode & stat.S_ISVTX:
            return f"others can write to {folder} (chmod go-w {shlex.quote(str(folder))})"
    return None


def private_folder(path: Path) -> str | None:
    """Make a folder for this user alone, or say why the one that is there cannot be trusted.

    One that others can read is closed to them. One that others can write to is put aside: what is in it may be theirs.
    """
    if not os.path.lexists(path):
        with contextlib.suppress(FileExistsError):  # another process was as quick
            path.mkdir(0o700)
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return f"{path} is a link"
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if not is_own(found):
        return f"{path} belongs to {_owner(found)}"
    if POSIX and _others_write(found) and os.listdir(path):
        aside = path.with_name(f"{path.name}-{secrets.token_hex(4)}")
        path.rename(aside)
        with contextlib.suppress(FileExistsError):
            path.mkdir(0o700)
        said = f"others could write to the kernel cache {path}: it is not used and is now {aside}, which you may delete"
        warnings.warn(said, CacheNotTrusted, stacklevel=2)
    elif POSIX and found.st_mode & 0o077:
        with contextlib.suppress(OSError):  # on a read-only disk others still only read
            path.chmod(0o700)
    return None


def is_own(found: os.stat_result) -> bool:
    """Whether this user owns a file."""
    return not POSIX or found.st_uid == os.geteuid()


def own_bytes(path: Path) -> bytes | None:
    """What is in a plain file of this user; None where there is none, or it is a link or another's."""
    try:
        if path.is_symlink():
            return None
        with open_plain(path) as file:
            return file.read() if is_own(os.fstat(file.fileno())) else None
    except OSError:
        return None


def _others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_alone_in(found.st_gid)


def _is_alone_in(gid: int) -> bool:
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _owner(found: os.stat_result) -> str:
    import pwd

    try:
        return pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        return f"user {found.st_uid}"
