"""Some of the faults of ``python -m tests.faults``, evenly spread, and writers that must be found out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.faults import scenarios
from tests.faults.hooks import HOWS
from tests.surroundings import ROOT

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for the names of open files"),
    pytest.mark.xdist_group("faults"),
]
MOST = 2  # faults of each scenario; "make faults" takes all


def run(module, *args, **options):
    options = {"cwd": ROOT} | options
    return subprocess.run(
        [sys.executable, "-m", module, *args], capture_output=True, text=True, check=False, timeout=600, **options
    )


def rows(*args):
    done = run("tests.faults", "--json", "--examples", "20", *args)
    assert done.returncode in (0, 1), done.stderr
    found = {}
    for row in map(json.loads, done.stdout.splitlines()):
        found.setdefault(row["scenario"], []).append(row)
    return found


@pytest.fixture(scope="module")
def some():
    return rows("--most", str(MOST))


@pytest.fixture(scope="module")
def unsafe():
    return rows("--unsafe")


@pytest.mark.parametrize("scenario", scenarios.ALL, ids=lambda one: one.name)
def test_nothing_is_lost(some, scenario):
    if scenario.parquet:
        pytest.importorskip("pyarrow")
    found = some[scenario.name]
    assert [example for row in found for example in row["examples"]] == []
    assert [row["how"] for row in found] == ["none", *HOWS]
    assert scenario.may_refuse or sum(row["points"] for row in found) == 1 + MOST


@pytest.mark.parametrize(
    ("scenario", "how", "kind"),
    [
        ("in place", "kill", "half"),
        ("in place", "enospc", "half"),
        ("in place", "short", "half"),
        ("deletes hidden", "none", "foreign"),
        ("deletes hidden", "kill", "foreign"),
        ("removes first", "none", "exit"),  # it does not wait for the disk
        ("removes first", "kill-after", "lost"),
        ("removes first", "eio", "again"),
        ("half unsaid", "short", "half"),
        ("half unsaid", "kill", "stray"),
        ("wide", "kill", "half"),
        ("stays", "none", "left"),
        ("past the hooks", "none", "exit"),
        ("in C", "none", "exit"),
    ],
)
def test_an_unsafe_writer_is_found_out(unsafe, scenario, how, kind):
    (row,) = [row for row in unsafe[scenario] if row["how"] == how]
    assert row["counts"].get(kind), row


def test_a_command_with_one_fault(tmp_path):
    options = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
    killed = run("tests.faults.inject", "--fail-at", "5", "--how", "kill", "--", "new", **options)
    assert killed.returncode == -signal.SIGKILL
    assert [name.endswith(".part") for name in os.listdir(tmp_path)] == [True]
    full = run("tests.faults.inject", "--fail-at", "3", "--how", "short", "--", "new", **options)
    assert (full.returncode, full.stderr) == (2, "error: study.toml: No space left on device\n")
    assert len(os.listdir(tmp_path)) == 1
    counted = run("tests.faults.inject", "--count", "--", "new", **options)
    kinds = [line.split()[1] for line in counted.stderr.splitlines()]
    assert kinds == ["open", "open", "write", "fsync", "replace", "fsync"]
