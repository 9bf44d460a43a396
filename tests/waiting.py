"""Tests wait for what happens, never for time: the only sleep is here, between two looks.

A test that has to do something while a command is at work waits until the command has said where it is: a file that it
wrote, or, with :func:`watched`, the progress that it would have shown at a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

PATIENCE = 300  # seconds; only a test that fails takes them

# For ``potentia --import``: what is told to whoever watches a terminal is also in a file, a line each time.
_WATCHED = """
from contextlib import contextmanager
from potentia.cli import coverage as cover_commands, paper as reproduce_commands, runs as run_commands

@contextmanager
def watched(*_, **__):
    with open({path!r}, "a", buffering=1) as file:
        yield lambda *told: print(*told, file=file)

cover_commands.progress = run_commands.progress = reproduce_commands.status = watched
"""


@contextmanager
def watched(path: Path, *args: Any) -> Iterator[tuple[Popen[str], Callable[[], list[list[str]]]]]:
    """A command that runs, and what it has told so far in words; it is killed if the test leaves it."""
    script = path.with_suffix(".py")
    script.write_text(_WATCHED.format(path=str(path)))
    command = [Path(sys.executable).with_name("potentia"), "--import", script, *map(str, args)]

    def told() -> list[list[str]]:
        whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
        return [line.split() for line in whole.splitlines()]

    with Popen(command, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            yield process, told
        finally:
            if process.poll() is None:
                process.kill()


def wait_for(
    condition: Callable[[], Any], what: str, process: Popen[str] | None = None, seconds: float = PATIENCE
) -> Any:
    """The first answer that is true; fails where it takes forever, or where a process ended without it."""
    end = time.monotonic() + seconds
    while True:
        ended = process is not None and process.poll() is not None
        found = condition()  # looked at after the process: it may have done it at last
        if found:
            return found
        if ended:
            raise AssertionError(f"it ended before {what}: {process.communicate()}")
        assert time.monotonic() < end, f"after {seconds:g} seconds not yet: {what}"
        time.sleep(0.005)
