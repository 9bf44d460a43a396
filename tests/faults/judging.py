"""What is in a folder, byte for byte, and what must not have become of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from potentia.kernel.files import is_temporary_name

MINE = b"mine: "  # how the content of files begins that are nobody's but the user's


@dataclass(frozen=True)
class Entry:
    """A file, link or folder."""

    kind: str  # file, link, folder or other
    content: bytes  # of a file, or where a link points
    mode: int
    inode: int = 0
    changed: int = 0  # when, in nanoseconds

    @property
    def told(self) -> Entry:
        """Without what differs between two copies of a folder."""
        return replace(self, inode=0, changed=0)

    @property
    def is_mine(self) -> bool:
        return self.kind in ("link", "folder") or self.content.startswith(MINE)


Snapshot = dict[str, Entry]


def snapshot(root: Path) -> Snapshot:
    """Everything below a folder, hidden or not; links are not followed."""
    return dict(_entries(root, ""))


def _entries(folder: Path, before: str) -> Iterator[tuple[str, Entry]]:
    for found in sorted(os.scandir(folder), key=lambda one: one.name):
        about, name = found.stat(follow_symlinks=False), before + found.name
        mode = stat.S_IMODE(about.st_mode)
        if found.is_symlink():
            yield name, Entry("link", os.fsencode(os.readlink(found.path)), mode, about.st_ino, about.st_mtime_ns)
        elif found.is_dir():
            yield name, Entry("folder", b"", mode, about.st_ino)  # its time changes with what is put into it
            yield from _entries(Path(found.path), f"{name}/")
        elif found.is_file():
            content = Path(found.path).read_bytes()
            yield name, Entry("file", content, mode, about.st_ino, about.st_mtime_ns)
        else:
            yield name, Entry("other", b"", mode, about.st_ino)


def is_ours(name: str) -> bool:
    """Whether this is a temporary file of ours."""
    return is_temporary_name(os.path.basename(name))


def state(found: Snapshot) -> frozenset[tuple[str, Entry]]:
    """What a command that is given again finds; of a temporary file only whose it is."""
    return frozenset(
        (name.rpartition("-")[0], Entry("file", b"", entry.mode)) if is_ours(name) else (name, entry.told)
        for name, entry in found.items()
    )


@dataclass(frozen=True)
class Trouble:
    """Something that must not be."""

    kind: str
    text: str


KINDS = {
    "lost": "a file that was there is not there any more",
    "foreign": "a file of somebody else's was touched",
    "half": "under a file's own name is neither what was there nor what was to be there, or it has another mode",
    "stray": "a file that nobody asked for",
    "exit": "not by the signal, and not with code 2 and one line that names the file",
    "again": "the same command without a fault fails, or gives other bytes",
    "left": "a temporary file stays",
}


def judge(before: Snapshot, now: Snapshot, whole: Snapshot, may_go: tuple[str, ...] = ()) -> list[Trouble]:
    """What became of a folder: ``whole`` is what an undisturbed command makes of it."""
    wrong = []
    for name, old in before.items():
        found, new = now.get(name), whole.get(name)
        goes = is_ours(name) or any(fnmatch(name, pattern) for pattern in may_go)
        if old.is_mine and found != old:
            wrong.append(Trouble("foreign", f"{name} {_difference(old, found)}"))
        elif found is None and not goes:
            wrong.append(Trouble("lost", name))
        elif found is not None and not old.is_mine and found.told not in (old.told, new and new.told):
            wrong.append(Trouble("half", f"{name} {_difference(old, found)}"))
    for name, found in now.items():
        if name in before:
            continue
        if is_ours(name):
            was = before.get(target_of(name))
            if was is not None and found.mode & ~was.mode:
                wrong.append(Trouble("half", f"{name} has mode {found.mode:o}, its file has {was.mode:o}"))
        elif name not in whole:
            wrong.append(Trouble("stray", name))
        elif found.told != whole[name].told:
            wrong.append(Trouble("half", f"{name} {_difference(whole[name].told, found.told)}"))
    return wrong


def target_of(name: str) -> str:
    """The file whose temporary file this is."""
    folder, _, own = name.rpartition("/")
    return f"{folder}/{own[1:].rpartition('-')[0]}".lstrip("/")


def judge_whole(before: Snapshot, now: Snapshot, whole: Snapshot) -> list[Trouble]:
    """After the command was given again: all is there, the same to the bit, and nothing of the user's touched."""
    wrong = [
        Trouble("again", f"{name} {_difference(new, now.get(name))}")
        for name, new in whole.items()
        if not new.is_mine and (name not in now or now[name].told != new.told)
    ]
    wrong += [Trouble("again", f"{name} is there") for name in now if name not in whole and not is_ours(name)]
    touched = [name for name, old in before.items() if old.is_mine and now.get(name) != old]
    return wrong + [Trouble("foreign", f"{name} {_difference(before[name], now.get(name))}") for name in touched]


def _difference(was: Entry, found: Entry | None) -> str:
    if found is None:
        return "is gone"
    if was.content != found.content:
        return f"has other content ({len(was.content)} bytes were {was.content[:20]!r}, {len(found.content)} bytes are)"
    for name in ("kind", "mode", "inode", "changed"):
        if getattr(was, name) != getattr(found, name):
            return f"has another {name}"
    return "differs"
