"""The process that reads: jobs come as lines of JSON, answers go back so.

It loads everything once, and each job is done in a fork of it, which may hang or die. Its parent watches the fork.

It runs without compiling, so that what is out of range is an IndexError; it believes that the machine has little
memory, so that what is refused for want of it is the same everywhere; and it can get no more than some.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import mmap
import os
import resource
import signal
import struct
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn, TextIO

from tests.fuzz.inputs import Input, changed, make_input, put
from tests.fuzz.places import clear
from tests.fuzz.reader import Reader
from tests.fuzz.readers import READERS

GIGABYTE = 2**30
FREE = GIGABYTE // 4  # what memory.require is told
MOST = 2 * GIGABYTE  # of resident memory
LONGEST = 5000  # characters that anybody reads of a message


def verdict(reader: Reader, path: Path) -> tuple[str, str, str]:
    """accepted, refused or what went wrong; where; and in words."""
    from potentia.errors import PotentiaError

    try:
        reader.read(path)
        found = ("accepted", "", "")
    except (PotentiaError, OSError) as error:
        said = " ".join(str(error).splitlines())
        if not 0 < len(said) <= LONGEST:
            found = (f"a message of {len(said)} characters", _place(error), said[:300])
        else:
            found = ("refused", _place(error), said)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        found = (type(error).__name__, _place(error), f"{type(error).__name__}: {error!s:.300}")
    if _peak() > MOST:
        return "memory", found[1], f"{_peak() / GIGABYTE:.1f} GB, then: {found[0]} {found[2]}"
    return found


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _place(error: BaseException) -> str:
    """The last line of ours that it went through."""
    ours = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}potentia{os.sep}" in frame.filename
    ]
    if not ours:
        return ""
    return f"{ours[-1].filename.rpartition(f'{os.sep}potentia{os.sep}')[2]}:{ours[-1].lineno} {ours[-1].name}"


def saved(out: Path, reader: str, number: int, one: Input) -> str:
    """Keep an input; how to read it again."""
    again = f"python -m tests.fuzz --reader {reader}"
    if one.content is None:
        return f"{again} --special '{one.how}'"
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{reader}-{number}{one.suffix}"
    path.write_bytes(one.content)
    return f"{again} --file {path}"


class Worker:
    """Reads what it is told to."""

    def __init__(self, progress: Any, folder: Path) -> None:
        self.progress, self.folder = progress, folder
        self.readers: dict[str, Reader] = {}

    def reader(self, name: str) -> Reader:
        if name not in self.readers:
            place = self.folder / name
            place.mkdir()
            known = READERS
            if name not in known:
                from tests.fuzz.broken import BROKEN as known
            self.readers[name] = known[name](name, place)
            self.readers[name].seeds  # noqa: B018 - made outside of the time that an input is given
        return self.readers[name]

    def note(self, number: int) -> None:
        struct.pack_into("<q", self.progress, 0, number)

    def do(self, job: dict[str, Any]) -> dict[str, Any]:
        """Read inputs ``first`` up to ``stop``, or one file, or only keep one input."""
        reader = self.reader(job["reader"])
        if "save" in job:
            one = make_input(reader, job["seed"], job["save"])
            return {"again": saved(Path(job["out"]), reader.name, job["save"], one), "how": one.how}
        if not job.keys().isdisjoint(("file", "special", "set")):
            if "special" in job:
                one = Input(reader.seeds[0][0], None, job["special"])
            elif "set" in job:
                one = changed(reader, job["set"])
            else:
                source = Path(job["file"])
                one = Input(source.suffix, source.read_bytes(), "from a file")
            return {"verdict": self.one(reader, 0, one)}
        kept: Counter[tuple[str, str]] = Counter()
        answer: dict[str, Any] = {"inputs": 0, "accepted": 0, "refused": 0, "failures": []}
        for number in range(job["first"], job["stop"]):
            one = make_input(reader, job["seed"], number)
            kind, where, said = self.one(reader, number, one)
            answer["inputs"] += 1
            if one.how == "valid" and kind == "refused":
                kind = "a valid file refused"
            if kind in answer:
                answer[kind] += 1
                continue
            kept[kind, where] += 1
            again = saved(Path(job["out"]), reader.name, number, one) if kept[kind, where] <= 2 else ""
            failure = {"kind": kind, "where": where, "said": said, "how": one.how, "number": number, "again": again}
            answer["failures"].append(failure)
            if kind == "memory":  # the peak stays where it is
                break
        return answer

    def one(self, reader: Reader, number: int, one: Input) -> tuple[str, str, str]:
        path = put(reader, one)
        self.note(number)  # from now on the watch runs
        try:
            return verdict(reader, path)
        finally:
            self.note(-1)
            if one.content is None:
                clear(path)


def _end_with(parent: int) -> None:
    """Not stay behind, hanging, where whoever watches was killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    folder = Path(sys.argv[1])  # whoever started this removes it
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # where it hangs, before it is ended
    import numpy as np
    import xarray  # noqa: F401 - loaded now, not in the time of the first input

    import potentia.cli
    import potentia.cli.studies
    import potentia.cli.terminal
    import potentia.studies.results
    import potentia.studies.tables
    from potentia.kernel import memory

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    memory.available = lambda: FREE
    os.fsync = lambda handle: None  # no power failure here
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST + GIGABYTE,) * 2)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what commands print
    potentia.cli.terminal.spell_out()
    with (folder / "progress").open("r+b") as file:
        worker = Worker(mmap.mmap(file.fileno(), 16), folder)
    for line in sys.stdin:
        job = json.loads(line)
        worker.reader(job["reader"])  # its valid files are made once, for all
        pid = os.fork()
        if pid == 0:
            _work(worker, job, answers)
        struct.pack_into("<q", worker.progress, 8, pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        struct.pack_into("<q", worker.progress, 8, 0)
        if code:
            _say(answers, {"kind": f"ended with code {code}"})


def _work(worker: Worker, job: dict[str, Any], answers: TextIO) -> NoReturn:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    code = 1
    try:
        _say(answers, worker.do(job))
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        answers.write(json.dumps(what) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
