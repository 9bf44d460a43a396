"""potentia reproduce, killed at events of its store and given again: nothing that was kept is played again."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# The smallest scale and short runs, without beliefs. What is played and what is kept is told in a file; the process
# kills itself when the named event comes for the n-th time.
SCRIPT = """
import os, signal, sys
from pathlib import Path

log, event, left, *arguments = sys.argv[1:]
left = int(left)
from potentia.paper import played, scale
from potentia.studies import chunks, store

scale.QUICK = scale.Scale("quick", runs=2, as_printed=1, tuning=2, games=2, learners=2, long=2)
played.LEARNING = 300
file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def tell(word, rule, seeds):
    os.write(file, f"{word} {rule.spec()} {tuple(seeds)}\\n".encode())


def passing(name):
    global left
    if name == event:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def play(task, real=chunks.play):
    tell("played", task.parcel[1], task.seeds)
    return real(task)


def save(self, chunk, arrays, real=store.Study.save):
    real(self, chunk, arrays)
    tell("kept", self.plan.points[chunk.point].rule, self.seeds_of(chunk))


def begin(folder, manifest, real=store.write_manifest):
    real(folder, manifest)
    passing("a study has begun")


def write(path, content, real=Path.write_bytes):
    real(path, content)
    passing("a chunk is half written" if ".npz" in path.name else "a table is half written")


chunks.play, store.Study.save, store.write_manifest, Path.write_bytes = play, save, begin, write
from potentia.cli import main

sys.argv = ["potentia", *arguments]
main()
"""
KILLS = (
    ("a study has begun", 1),
    ("a chunk is half written", 10),
    ("a table is half written", 1),
)


def given(out, log, event="never", number=1):
    asked = ("reproduce", "--quick", "--only", "higher than QL", "--out", out, "--workers", 2)
    command = [sys.executable, "-c", SCRIPT, log, event, number, *asked]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="nothing can be killed so")
def test_killed_and_given_again(tmp_path):
    out, log = tmp_path / "out", tmp_path / "log"
    for event, number in KILLS:
        assert given(out, log, event, number).returncode == -signal.SIGKILL, event
        assert not (out / "claims.json").exists()
    done = given(out, log)
    assert done.returncode == 0, done.stderr
    kept = set()
    for line in log.read_text().splitlines():
        word, _, what = line.partition(" ")
        assert what not in kept
        if word == "kept":
            kept.add(what)
    assert len(kept) == 10 + 18  # of QL at each temperature, apart; and with the forms of SOQL
    again = given(tmp_path / "once", tmp_path / "unread")
    assert again.returncode == 0, again.stderr
    for name in ("claims.json", "report.html", "data/learners.csv", "data/learners-soql.nc"):
        assert (out / name).read_bytes() == (tmp_path / "once" / name).read_bytes(), name
    assert done.stdout == again.stdout.replace("once", "out")
