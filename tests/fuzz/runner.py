"""Starts the processes that read, gives them work, and ends those that hang; what went wrong is counted and kept."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
SECONDS = 10.0  # of work or of sleep that reading may take
_STARTING = 120.0  # seconds, for imports and for making valid files on a busy machine
_POLL = 0.1
_BATCH = 100


@dataclass
class Tally:
    """What became of a reader's inputs."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)


class Child:
    """A process that reads, and watches over it: ``step`` gives an answer, or None as long as there is none."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self.errors = self.folder / "errors"
        (self.folder / "progress").write_bytes(struct.pack("<qq", -1, 0))
        with (self.folder / "progress").open("r+b") as file:
            self.progress = mmap.mmap(file.fileno(), 16)
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        plain = {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1", "TMPDIR": str(self.folder), "PYTHONHASHSEED": "0"}
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.child", str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **threads, **plain},
                cwd=ROOT,
                start_new_session=True,  # Ctrl-C is for its parent
            )
        self.job: dict[str, Any] | None = None
        self._answer, self._said, self._hangs = b"", 0, False
        self._watched: tuple[int, int] = (0, 0)  # which process reads which input
        self._used = self._spent = self._looked = 0.0

    def begin(self, job: dict[str, Any]) -> None:
        self.job, self._answer, self._hangs = job, b"", False
        self._said = self.errors.stat().st_size
        self._watched, self._looked = (0, 0), time.monotonic()
        struct.pack_into("<q", self.progress, 0, -1)
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended: the next step says so
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()

    def step(self) -> dict[str, Any] | None:
        """Take what it wrote; see that it does not hang."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], _POLL)
        if not ready:
            if not self._hangs and self._is_overdue():
                self._end()
            return None
        chunk = os.read(self.process.stdout.fileno(), 2**20)
        self._answer += chunk
        if not chunk:
            raise RuntimeError(f"the process that reads ended: {self._what_it_said()}")
        if not self._answer.endswith(b"\n"):
            return None
        found = json.loads(self._answer)
        if "kind" in found:  # it did not come to an answer
            number, _ = struct.unpack_from("<qq", self.progress, 0)
            said = self._what_it_said()
            found |= {"where": _place(said), "said": said[-2000:], "number": number}
            if self._hangs:
                found |= {"kind": "hang", "said": f"longer than {self.seconds:g} s"}
            if number < 0:
                raise RuntimeError(f"{self.job}: {found['kind']}: {said}")
        return found

    def _what_it_said(self) -> str:
        return self.errors.read_bytes()[self._said :].decode(errors="replace")

    def _is_overdue(self) -> bool:
        """Whether this input has taken too long: work counts, and sleep; waiting for a busy processor does not."""
        number, pid = struct.unpack_from("<qq", self.progress, 0)
        now = time.monotonic()
        try:
            seen = psutil.Process(pid or self.process.pid)
            used, state = sum(seen.cpu_times()[:2]), seen.status()
        except psutil.Error:  # just gone
            return False
        if self._watched != (number, pid):
            self._watched, self._spent = (number, pid), 0.0
        else:
            asleep = state in (psutil.STATUS_SLEEPING, psutil.STATUS_DISK_SLEEP)
            slept = min(now - self._looked, 3 * _POLL) if asleep else 0.0  # a busy machine may look late
            self._spent += max(used - self._used, slept)
        self._used, self._looked = used, now
        return self._spent > (self.seconds if number >= 0 else _STARTING)

    def _end(self) -> None:
        """End what hangs, after it has told where it is."""
        _, pid = struct.unpack_from("<qq", self.progress, 0)
        self._hangs = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid or self.process.pid, signal.SIGUSR1)
            with contextlib.suppress(AssertionError):  # it may be unable to
                wait_for(lambda: "most recent call first" in self._what_it_said(), "where it hangs", seconds=2)
            os.kill(pid or self.process.pid, signal.SIGKILL)

    def stop(self) -> None:
        _, pid = struct.unpack_from("<qq", self.progress, 0)
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()
        self.progress.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _place(said: str) -> str:
    """The innermost line of ours in a dump of Python's stack."""
    found = re.search(r'File ".*[/\\]src[/\\]potentia[/\\](.*)", line (\d+) in (\w+)', said)
    return f"{found[1]}:{found[2]} {found[3]}" if found else ""


def jobs(readers: list[str], count: int, seed: int, out: Path) -> Iterator[dict[str, Any]]:
    """Batches, a reader after the other, so that all have had their share whenever time is up."""
    each, more = divmod(count, len(readers))
    left = {name: (0, each + (k < more)) for k, name in enumerate(readers)}
    while left:
        for name, (first, stop) in list(left.items()):
            end = min(first + _BATCH, stop)
            if first < end:
                yield {"reader": name, "seed": seed, "first": first, "stop": end, "out": str(out)}
            left[name] = (end, stop)
            if end == stop:
                del left[name]


class Runner:
    """Reads so many inputs with so many processes."""

    def __init__(self, seed: int, out: Path, processes: int = 1, seconds: float = SECONDS) -> None:
        self.seed, self.out, self.processes, self.seconds = seed, out.absolute(), processes, seconds
        self.tallies: dict[str, Tally] = {}

    def run(
        self, readers: list[str], count: int, until: float | None = None, tell: Callable[[int], None] | None = None
    ) -> dict[str, Tally]:
        """The counts of each reader; ``until`` is a time of ``time.monotonic`` at which no more is begun."""
        self.tallies = {name: Tally() for name in readers}
        work = jobs(readers, count, self.seed, self.out)
        again: list[dict[str, Any]] = []  # what is left of batches that were cut short
        children: list[Child] = []
        try:
            while True:
                late = until is not None and time.monotonic() > until
                for child in [child for child in children if child.job is None]:
                    job = None if late else self._next(again, work)
                    if job is None:
                        children.remove(child)
                        child.stop()
                    else:
                        child.begin(job)
                while len(children) < self.processes and not late and (job := self._next(again, work)) is not None:
                    children.append(Child(self.seconds))
                    children[-1].begin(job)
                if not children:
                    return self.tallies
                for child in children:
                    found = child.step()
                    if found is None:
                        continue
                    self._take(child, found, again)
                    child.job = None
                    if tell is not None:
                        tell(sum(tally.inputs for tally in self.tallies.values()))
        finally:
            for child in children:
                child.stop()

    @staticmethod
    def _next(again: list[dict[str, Any]], work: Iterator[dict[str, Any]]) -> dict[str, Any] | None:
        return again.pop() if again else next(work, None)

    def _take(self, child: Child, found: dict[str, Any], again: list[dict[str, Any]]) -> None:
        """Count an answer, and put back what is left of a batch that was cut short."""
        job = child.job
        assert job is not None
        tally = self.tallies[job["reader"]]
        if "kind" not in found:
            tally.inputs += found["inputs"]
            tally.accepted += found["accepted"]
            tally.refused += found["refused"]
            tally.failures += found["failures"]
            if job["first"] + found["inputs"] < job["stop"]:
                again.append({**job, "first": job["first"] + found["inputs"]})
            return
        number = found["number"]
        if number > job["first"]:  # the counts of those before it are lost: they are read again
            again.append({**job, "stop": number})
        if number + 1 < job["stop"]:
            again.append({**job, "first": number + 1})
        kept = _answer(child, {"reader": job["reader"], "seed": self.seed, "save": number, "out": str(self.out)})
        tally.inputs += 1
        tally.failures.append({**found, "how": kept["how"], "again": kept["again"]})

    def ask(self, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
        """The answers to some jobs."""
        child = Child(self.seconds)
        try:
            return [_answer(child, job) for job in jobs]
        finally:
            child.stop()


def _answer(child: Child, job: dict[str, Any]) -> dict[str, Any]:
    child.begin(job)
    while (found := child.step()) is None:
        pass
    return found
