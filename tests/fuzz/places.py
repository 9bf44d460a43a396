"""What may be where a file should be: a pipe that nobody writes to, a device without end, a file of many gigabytes."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

_HUGE = 30 * 2**30  # more than anybody's memory; takes no room on the disk


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may not be long
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, _HUGE)


SPECIAL = {
    "fifo": os.mkfifo,
    "folder": Path.mkdir,
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "empty device": lambda path: path.symlink_to("/dev/null"),
    "socket": _socket,
    "huge file": _huge,
    "nothing": lambda path: None,
}


def clear(path: Path) -> None:
    """Nothing is there any more."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
