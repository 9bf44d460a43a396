"""The faults, as data; where they are planted, and which lines must be reached for them to matter."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

SOURCES = Path("src/potentia")
_DECLARED = Path(__file__).with_name("faults.toml")


class NotPlanted(Exception):
    """The text of a fault is not in these sources, or there more than once."""


@dataclass(frozen=True)
class Place:
    """A file under ``src/potentia``, a text that occurs there once, and what it becomes."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Fault:
    """One slip. Of several places the first that fits is taken: sources are rewritten, and files move."""

    id: str
    what: str  # is wrong, in a sentence
    places: tuple[Place, ...]
    tests: tuple[str, ...] = ()  # that reach it in child processes, to run after the others
    control: bool = False  # changes nothing, so no test may fail

    @property
    def room(self) -> str:
        """The part of the library that it is in, as its name begins."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Planted:
    """A fault in these sources."""

    file: str
    before: str
    after: str


def declared() -> list[Fault]:
    """All faults of ``faults.toml``."""
    out = []
    for table in tomllib.loads(_DECLARED.read_text(encoding="utf-8"))["fault"]:
        given = [table, *table.get("otherwise", [])]
        places = tuple(Place(one.get("file", table["file"]), one["old"], one["new"]) for one in given)
        tests, control = tuple(table.get("tests", ())), table.get("control", False)
        out.append(Fault(table["id"], table["what"], places, tests, control))
    return out


def plant(fault: Fault, sources: Path) -> Planted:
    """Where the fault goes: the file that is named or, where it moved, the only one that holds its text."""
    counts = []
    for place in fault.places:
        named = sources / place.file
        texts = {named: named.read_text(encoding="utf-8")} if named.is_file() else {}
        if not any(place.old in text for text in texts.values()):
            texts = {path: path.read_text(encoding="utf-8") for path in sorted(sources.rglob("*.py"))}
        found = [(path, text) for path, text in texts.items() if place.old in text]
        counts.append(sum(text.count(place.old) for _, text in found))
        if counts[-1] == 1:
            path, text = found[0]
            return Planted(path.relative_to(sources).as_posix(), text, text.replace(place.old, place.new))
    raise NotPlanted(f"its text must occur once in {sources}, got {' and '.join(map(str, counts))} times")


def lines_of(planted: Planted) -> set[int]:
    """The lines of the sources that the fault changes, with the statements that they are part of."""
    before, after = planted.before.splitlines(), planted.after.splitlines()
    first = _same(before, after)
    last = len(before) - _same(before[first:][::-1], after[first:][::-1])
    changed = set(range(first + 1, max(last, first + 1) + 1))
    out = set(changed)
    for own in _statements(planted.before):
        if not changed.isdisjoint(own):
            out.update(own)
    return out


def _same(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(one, other, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@lru_cache
def _statements(text: str) -> list[range]:
    """The lines of each statement."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    return [range(node.lineno, _last_own_line(node) + 1) for node in nodes]


def _last_own_line(node: ast.stmt) -> int:
    """Where the statement ends, or its head if it has a body."""
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if body else node.end_lineno or 0
