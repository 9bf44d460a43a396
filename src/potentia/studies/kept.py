"""Files that a study keeps copies of: their names carry a hash of what they hold, which people need not read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

_HASHED = re.compile(r"-[0-9a-f]{12}\b")


def mark_of(content: bytes) -> str:
    """What the name of such a copy ends with."""
    return f"-{hashlib.sha256(content).hexdigest()[:12]}"


def is_kept_input(path: Path) -> bool:
    """Whether a file is such a copy: its name carries the hash of its content."""
    if path.is_symlink() or not path.is_file():
        return False
    return path.stem.endswith(mark_of(path.read_bytes()))


def plain(text: str) -> str:
    """A text that names such copies with what the files were called: leaks.png for leaks-134e13d6d288.png."""
    return _HASHED.sub("", text)


def told_apart(texts: Iterable[str]) -> list[str]:
    """Each text once and plain; as they are where two files of one name would look like one."""
    different = list(dict.fromkeys(texts))
    short = [plain(text) for text in different]
    return short if len(set(short)) == len(short) else different
