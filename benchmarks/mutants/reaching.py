"""Which tests reach which line, from one run of them all in plain Python; kept until sources or tests change."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from coverage.numbits import numbits_to_nums

from benchmarks.mutants.copies import Copy
from benchmarks.mutants.faults import SOURCES

LIMIT = 5  # seconds of work that a test may take; of a slower one little would run within a minute
CASES = 40  # of a test; hundreds, as of every rule on every game, would take long and reach little more
# They start processes, in which nothing is seen, or play long.
APART = ("tests/end_to_end/", "tests/statistical/", "tests/faults/", "tests/fuzz/")
_PER_LINE = 1 / 2000  # seconds that a test ranks lower for each line it reaches: specific ones come first
_AGAIN = 0.25  # and for each other case of the same test before it


@dataclass
class Reach:
    """The tests of a tree: their seconds, how much they reach, and what reaches a line."""

    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)  # and why
    breadth: Counter[str] = field(default_factory=Counter)  # lines reached
    _users: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # tests by context

    def __post_init__(self) -> None:
        for notes in self.folder.glob("*.jsonl"):
            for line in notes.read_text().splitlines():
                self._add(json.loads(line))
        for _, context, lines in self._rows():
            for test in self._users.get(context, ()):
                self.breadth[test] += int.from_bytes(lines, "little").bit_count()

    def _add(self, told: dict) -> None:
        test = told["test"].rpartition("@")[0] if "@" in told["test"].rpartition("]")[2] else told["test"]
        if told["left_out"]:
            self.left_out[test] = told["left_out"]
            return
        self.seconds[test] = told["seconds"]
        for context in (told["test"], *told["fixtures"]):
            self._users[context].append(test)

    def _rows(self, file: str | None = None) -> Iterable[tuple[str, str, bytes]]:
        wanted = "%" if file is None else f"%/{SOURCES.as_posix()}/{file}"
        for database in self.folder.glob("*.sqlite"):
            connection = sqlite3.connect(database)
            yield from connection.execute(
                "select file.path, context.context, numbits from line_bits "
                "join file on file.id = file_id join context on context.id = context_id where file.path like ?",
                (wanted,),
            )
            connection.close()

    def tests(self, file: str, lines: set[int]) -> list[str]:
        """The tests that reach these lines, in the order in which to try them.

        What runs on import is reached by none of them: then those that reach anything of the file.
        """
        reaching, around = set(), set()
        for _, context, found in self._rows(file):
            users = self._users.get(context, ())
            around.update(users)
            if lines.intersection(numbits_to_nums(found)):
                reaching.update(users)
        return self._ordered(reaching or around)

    def _ordered(self, tests: Iterable[str]) -> list[str]:
        def score(test: str) -> float:
            return self.seconds[test] + self.breadth[test] * _PER_LINE

        seen: Counter[str] = Counter()
        ranked = []
        for test in sorted(tests, key=lambda one: (score(one), one)):
            name = test.partition("[")[0]
            ranked.append((score(test) + _AGAIN * seen[name], test))
            seen[name] += 1
        return [test for _, test in sorted(ranked)]


def digest(tree: Path) -> str:
    """Of the sources, and of what tests share."""
    shared = [path for path in (tree / "tests").rglob("*.py") if not path.name.startswith("test_")]
    hashed = hashlib.sha256()
    for path in sorted([*(tree / "src").rglob("*.py"), *shared]):
        hashed.update(f"{path.relative_to(tree).as_posix()}\0".encode() + path.read_bytes())
    return hashed.hexdigest()[:16]


def learn(tree: Path, place: Path, copy: Copy, processes: int) -> Reach:
    """The map of this tree. What is kept is used again; files of tests that have changed since run anew."""
    folder = place / digest(tree)
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted((tree / "tests").rglob("test_*.py"))
    now = {path.relative_to(tree).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    now = {file: known for file, known in now.items() if not file.startswith(APART)}
    done = folder / "files.json"
    before = json.loads(done.read_text()) if done.is_file() else {}
    changed = [file for file in now if before.get(file) != now[file]]
    if changed or set(before) - set(now):
        for notes in folder.glob("*.jsonl"):
            lines = notes.read_text().splitlines(keepends=True)
            kept = (line for line in lines if now.get(file := _file_of(line)) == before.get(file, ""))
            notes.write_text("".join(kept))
    if changed:
        copy.pytest(
            ["-p", "mutants_reach", "-n", str(processes), "--dist", "loadgroup", *changed],
            print_to=folder / "log.txt",
            COVERAGE_CORE="ctrace",  # the newer one has no contexts
            MUTANTS_SOURCES=str(copy.root / SOURCES),
            MUTANTS_NOTES=str(folder),
            MUTANTS_LIMIT=str(LIMIT),
            MUTANTS_CASES=str(CASES),
        )
    found = Reach(folder)
    if not found.seconds:
        raise SystemExit(f"no test passed in plain Python: see {folder / 'log.txt'}")
    done.write_text(json.dumps(now, indent=1))
    return found


def _file_of(line: str) -> str:
    return json.loads(line)["test"].partition("::")[0]
