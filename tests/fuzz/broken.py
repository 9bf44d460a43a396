"""Readers that are broken on purpose: whoever runs the others must notice each of these."""

from __future__ import annotations

import os
import time
from functools import cached_property
from pathlib import Path

from tests.fuzz.reader import Reader, Seeds


class _Broken(Reader):
    special = False

    @cached_property
    def seeds(self) -> Seeds:
        return [(".txt", b"some text")]

    def read(self, path: Path) -> None:
        if path.read_bytes() != self.seeds[0][1]:
            self.go_wrong()

    def go_wrong(self) -> None:
        raise NotImplementedError


class Raises(_Broken):
    def go_wrong(self) -> None:
        raise IndexError


class Sleeps(_Broken):
    def go_wrong(self) -> None:
        time.sleep(1000)


class Spins(_Broken):
    def go_wrong(self) -> None:
        while True:
            pass


class Eats(_Broken):
    def go_wrong(self) -> None:
        eaten = [b"x" * 2**28 for _ in range(9)]
        assert eaten


class Dies(_Broken):
    def go_wrong(self) -> None:
        os.abort()


class Refuses(_Broken):
    """Not even a valid file is taken."""

    def read(self, path: Path) -> None:
        raise OSError("no")


BROKEN: dict[str, type[Reader]] = {
    "raises": Raises,
    "sleeps": Sleeps,
    "spins": Spins,
    "eats": Eats,
    "dies": Dies,
    "refuses": Refuses,
}
