"""Which files of a folder are of the last potentia cover: what an earlier one wrote and this one did not, goes.

The folder holds a list of what was written, each with a hash of its content. A file that somebody has changed since
then, a link, or one that is not on the list is nobody's to remove.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LIST = ".potentia-cover.json"


def settle(folder: Path, written: Iterable[Path]) -> list[str]:
    """Remove what is left of the run before, remember what this one wrote, and name what was removed."""
    mine = _marks(folder, written)
    removed = []
    for name, mark in _before(folder / LIST).items():
        path = folder / name
        if name not in mine and Path(name).name == name and mark is not None and _mark(path) == mark:
            with contextlib.suppress(OSError):  # it stays, as if it were not on the list
                path.unlink()
                removed.append(name)
    _write(folder, mine)
    return removed


def add(folder: Path, written: Iterable[Path]) -> None:
    """Remember these, too, for the next run to remove; what is left of the one before stays until then."""
    _write(folder, _before(folder / LIST) | _marks(folder, written))


def _write(folder: Path, marks: dict[str, Any]) -> None:
    from potentia.kernel.files import whole_file

    with whole_file(folder / LIST) as temporary:
        temporary.write_text(json.dumps(marks, indent=1), encoding="utf-8")


def _marks(folder: Path, written: Iterable[Path]) -> dict[str, Any]:
    return {path.name: _mark(path) for path in written if path.parent == folder}


def _before(path: Path) -> dict[str, Any]:
    """The list of the run before; empty where there is none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _mark(path: Path) -> str | None:
    """By what a file is known again; None of what is no plain file."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
