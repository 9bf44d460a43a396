"""Every fault of a scenario, each in a forked process: imports are paid for once.

After each the folder is judged, then the command is given again: at once, and once more when what was left is an hour
old. What it then does depends on nothing but what it finds, so it is tried once for each state that faults leave.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import json
import os
import re
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import hooks
from tests.faults.judging import Snapshot, Trouble, is_ours, judge, judge_whole, snapshot, state, target_of
from tests.faults.scenarios import Scenario

_TEMPORARY = re.compile(r"-[0-9a-f]{16}\.part|faults-\w+")
_SECONDS = 120  # no command here takes more than one or two


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it said."""

    code: int  # minus the signal
    said: str
    complained: str


@dataclass
class Row:
    """What became of a scenario, with faults of one kind."""

    scenario: str
    how: str
    points: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)

    def add(self, where: str, troubles: list[Trouble]) -> None:
        self.points += 1
        self.counts.update({trouble.kind for trouble in troubles})  # points, not files
        for trouble in troubles:
            alike = trouble.kind, _TEMPORARY.sub("", trouble.text)
            if alike not in self.seen:  # one of each
                self.seen.add(alike)
                self.examples.append(f"{where}: {trouble.kind}: {trouble.text}")


class Faults:
    """A scenario with a place to try it in."""

    def __init__(self, scenario: Scenario, place: Path) -> None:
        self.scenario = scenario
        self.template, self.root, self.heard = place / "template", place / "root", place / "heard"
        for folder in (self.template, self.heard):
            folder.mkdir()
        ended = self._forked(lambda: scenario.prepare(self.template), self.template)
        if ended.code:
            raise RuntimeError(f"{scenario.name} cannot be prepared: {ended.complained}")
        self.undisturbed = Row(scenario.name, "none")
        self._tried: dict[frozenset, list[Trouble]] = {}
        self._count()

    def _count(self) -> None:
        """Undisturbed: what the command makes, and its events."""
        self._fresh()
        before = snapshot(self.root)
        ended = self._play(0, "kill", told=True)
        now = snapshot(self.root)
        self.whole: Snapshot = {name: entry for name, entry in now.items() if not is_ours(name)}
        told = json.loads((self.heard / "told").read_text())
        self.events = [tuple(event) for event in told["events"]]
        wrong = judge(before, now, now, self.scenario.may_go)
        wrong += [Trouble("exit", f"not seen by any hook: {one}") for one in told["unseen"]]
        wrong += [Trouble("exit", f"{name} is renamed before it is on disk") for name in self._unsynced()]
        wrong += [Trouble("exit", f"bytes of {name} were written past the hooks") for name in self._unheard()]
        self.refused = ended.code == 2 and self.scenario.may_refuse  # then it must touch nothing
        if ended.code != 2 * self.refused or ended.complained.count("\n") != self.refused:
            wrong.append(Trouble("exit", _how(ended)))
        if self.refused and now != before:
            wrong.append(Trouble("stray", "it refuses, and yet something has changed"))
        wrong += self._left(now)
        self.undisturbed.add("undisturbed", wrong)
        for name in told["modules"]:  # what is loaded here need not be loaded in each
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        gc.collect()
        gc.freeze()  # a child looks through nothing but what is its own

    def _unsynced(self) -> Iterator[str]:
        """Files that were renamed with bytes that had not been forced to disk."""
        dirty: set[str] = set()
        for kind, path, _ in self.events:
            if kind in ("write", "arrow write", "ftruncate"):
                dirty.add(path)
            elif kind == "fsync":
                dirty.discard(path)
            elif kind in ("replace", "rename") and path in dirty:
                yield path

    def _unheard(self) -> Iterator[str]:
        """Files that hold more than what was seen to be written."""
        seen: Counter[str] = Counter()
        for kind, path, size in self.events:
            seen[path] += 2**40 if kind == "arrow write" else size
            target = self.whole.get(target_of(path)) if kind == "replace" else None
            if target is not None and len(target.content) > seen[path]:
                yield target_of(path)

    def possible(self, hows: list[str]) -> Iterator[tuple[str, int]]:
        """All faults of these kinds: how, and at which event, from 1."""
        for how in hows:
            yield from ((how, n) for n, (kind, *_) in enumerate(self.events, 1) if hooks.fits(how, kind))

    def run(self, how: str, points: list[int]) -> Row:
        """The same fault at each of these points."""
        row = Row(self.scenario.name, how)
        for point in points:
            kind, path, _ = self.events[point - 1]
            row.add(f"{self.scenario.name}, {how} at {point} ({kind} {path})", self.fault(how, point))
        return row

    def fault(self, how: str, point: int) -> list[Trouble]:
        """One fault: what is wrong after it."""
        self._fresh()
        before = snapshot(self.root)
        ended = self._play(point, how)
        now = snapshot(self.root)
        wrong = judge(before, now, self.whole, self.scenario.may_go)
        if "kill" in how:
            if ended.code != -signal.SIGKILL:
                wrong.append(Trouble("exit", _how(ended)))
        else:
            wrong += self._told(ended, now)
            if not any(is_ours(name) for name in before):
                wrong += [Trouble("left", name) for name in now if is_ours(name)]  # it was there to clear up
        known = state(now)
        if known not in self._tried:
            self._tried[known] = self._again(before)
        return wrong + self._tried[known]

    def _told(self, ended: Ended, now: Snapshot) -> list[Trouble]:
        """An error is told in one line; what makes no difference need not be."""
        if self.scenario.unsafe:
            return []
        if ended.code == 0 and not ended.complained:
            return judge_whole({}, now, self.whole)
        lines = ended.complained.splitlines()
        fine = ended.code == 2 and len(lines) == 1 and lines[0].startswith("error: ") and ".part" not in lines[0]
        return [] if fine and lines[0].count(": ") > 1 else [Trouble("exit", _how(ended))]

    def _again(self, before: Snapshot) -> list[Trouble]:
        """The same command without a fault, at once and later."""
        wrong = []
        for aged in (False, True):
            if aged and not self._age():
                break  # as before
            self.scenario.again(self.root)
            ended = self._play(0, "kill")
            now = snapshot(self.root)
            if ended.code != (2 if self.refused else 0):
                wrong.append(Trouble("again", _how(ended)))
            wrong += judge_whole(before, now, self.whole)
            wrong += self._left(now, aged)
        return wrong

    def _left(self, now: Snapshot, aged: bool = True) -> list[Trouble]:
        """Temporary files that stay: none may in a study, elsewhere those that are young."""
        study, within = self.scenario.study, ()
        if study is not None:  # its folder of chunks may be a link
            within = study, os.path.relpath(os.path.realpath(self.root / study / "chunks"), self.root)
        old = [name for name in now if is_ours(name) and (aged or name.startswith(within))]
        return [] if self.refused else [Trouble("left", name) for name in old]

    def _age(self) -> bool:
        """Make what is left of ours old, and say whether there was any."""
        left = [Path(folder, name) for folder, _, names in os.walk(self.root) for name in filter(is_ours, names)]
        for path in left:
            os.utime(path, ns=(10**18, 10**18))
        return bool(left)

    # Processes --------------------------------------------------------------------------------------------

    def _fresh(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.template, self.root, symlinks=True)

    def _play(self, point: int, how: str, told: bool = False) -> Ended:
        def play() -> None:
            watch = hooks.start(self.root, point, how)
            try:
                self.scenario.play()
            finally:
                if told:
                    about = {"events": watch.events, "unseen": watch.unseen, "modules": sorted(sys.modules)}
                    (self.heard / "told").write_text(json.dumps(about))

        return self._forked(play, self.root)

    def _forked(self, work: Callable[[], None], where: Path) -> Ended:
        names = [self.heard / "out", self.heard / "err"]
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _be_alone(names, where, work)
        _, status = os.waitpid(child, 0)
        said, complained = (name.read_text("utf-8", "replace") for name in names)
        return Ended(os.waitstatus_to_exitcode(status), said, complained)


def share() -> None:
    """What all children would do for themselves, done once."""
    import typer.main

    from potentia.cli.commands import app

    for name in ("matplotlib.backends.backend_agg", "scipy.io", "xarray"):
        importlib.import_module(name)

    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(app)


def _be_alone(names: list[Path], where: Path, work: Callable[[], None]) -> None:
    """The child: does its work as a process of its own would, and ends."""
    code = 1
    try:
        for number, name in enumerate(names, 1):
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
            os.close(handle)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(n, "w", closefd=False), "utf-8") for n in (1, 2))
        os.umask(0o022)
        os.chdir(where)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_SECONDS)
        try:
            work()
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(left.code is not None)
        gc.collect()  # what is dropped on the way out may complain
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _how(ended: Ended) -> str:
    lines = ended.complained.strip().splitlines()
    return f"code {ended.code}, {len(lines)} lines: {' ... '.join(dict.fromkeys([*lines[:1], *lines[-1:]]))}"
