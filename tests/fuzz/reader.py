"""What a reader is: how valid files of one kind are made, where they go and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

Seeds = list[tuple[str, bytes]]  # suffix and content


class Reader:
    """One kind of file. ``folder`` is a place of its own, empty at first."""

    special = True  # whether what is no file can be in its place
    form = "bytes"  # how it can be damaged beyond its bytes: json, toml, npz, npy, image, table, lines, words

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder

    @cached_property
    def seeds(self) -> Seeds:
        """Valid files."""
        raise NotImplementedError

    def place(self, suffix: str, content: bytes | None) -> Path:
        """Where the file goes; its content is None where it has none, as a folder."""
        return self.folder / f"input{suffix}"

    def sealed(self, tree: Any, again: bool) -> Any:
        """The tree of a JSON file with its own checksums made right; ``again`` for all of them."""
        return tree

    def read(self, path: Path) -> None:
        """Read it and do what is done with it."""
        raise NotImplementedError


def bytes_of(write: Callable[[Path], Any], folder: Path, suffix: str) -> bytes:
    path = folder / f"seed{suffix}"
    write(path)
    content = path.read_bytes()
    path.unlink()
    return content


def each(steps: Iterator[Callable[[], Any]]) -> None:
    """Do everything; what was refused first is raised in the end."""
    from typer import Exit

    from potentia.errors import PotentiaError

    refused: Exception | None = None
    for step in steps:
        try:
            step()
        except Exit:
            pass
        except (PotentiaError, OSError) as error:
            refused = refused or error
    if refused is not None:
        raise refused
