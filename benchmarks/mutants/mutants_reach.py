"""A pytest plugin that notes which lines of the sources each test reaches: ``-p mutants_reach``.

Lines are kept by ``coverage``, with the test as context. A fixture that several tests share is run by the first of them
and has a context of its own, which counts for all. What runs in other processes is not seen.

``MUTANTS_SOURCES`` is the folder of the sources, ``MUTANTS_NOTES`` the folder for the notes, two files for each worker,
``MUTANTS_LIMIT`` the seconds of work that a test may take, and ``MUTANTS_CASES`` how many cases of a test are run.
"""

from __future__ import annotations

import json
import os
import signal
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest

import coverage

_LIMIT = float(os.environ["MUTANTS_LIMIT"])
_CASES = int(os.environ["MUTANTS_CASES"])
_KEEPER = str(Path(coverage.__file__).parent)
_NOTES = Path(os.environ["MUTANTS_NOTES"]) / f"{os.getpid()}.jsonl"

_coverage = coverage.Coverage(
    data_file=str(_NOTES.with_suffix(".sqlite")), config_file=False, source=[os.environ["MUTANTS_SOURCES"]]
)
_fixtures: dict[object, tuple[str, float]] = {}  # the context of those that are shared, and their seconds
_running: list[str] = []  # contexts, the innermost last
_failed: dict[str, str] = {}


class TooLong(BaseException):
    """The test has had its time."""


def _stop(number, frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith(_KEEPER):  # it may hold a lock: a moment later, then
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            return
        frame = frame.f_back
    raise TooLong(f"more than {_LIMIT:g} s")


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # who hands the tests out runs none
        _coverage.start()


def pytest_unconfigure(config):
    if hasattr(config, "workerinput"):
        _coverage.stop()
        _coverage.save()


def pytest_collection_modifyitems(config, items):
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    for several in cases.values():
        most = min(_CASES, len(several))
        kept.update(several[k * len(several) // most] for k in range(most))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    if fixturedef.scope == "function":
        return (yield)
    context, began = f"fixture {os.getpid()} {len(_fixtures)}", _work()
    _running.append(context)
    _coverage.switch_context(context)
    try:
        return (yield)
    finally:
        _fixtures[fixturedef] = context, _work() - began
        _running.pop()
        _coverage.switch_context(_running[-1])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    _running[:] = [item.nodeid]
    known = set(_fixtures)
    _coverage.switch_context(item.nodeid)
    began = _work()
    try:
        return (yield)
    finally:
        _note(item, _work() - began, known)
        _coverage.switch_context("")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup():
    with _limited():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call():
    with _limited():
        return (yield)


@contextmanager
def _limited():
    before = [signal.signal(number, _stop) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, _LIMIT)
    signal.setitimer(signal.ITIMER_REAL, 20 * _LIMIT)  # one that only waits
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(number, handler)


def _work():
    """Seconds of work, its children's too: others may keep the machine busy."""
    return sum(os.times()[:4])


def _note(item, seconds, known):
    """The test, what it took with all its fixtures, and their contexts."""
    used = [one for several in item._fixtureinfo.name2fixturedefs.values() for one in several if one in _fixtures]
    seconds += sum(_fixtures[one][1] for one in used if one in known)
    told = {"test": item.nodeid, "seconds": round(seconds, 3), "left_out": _failed.pop(item.nodeid, "")}
    with _NOTES.open("a") as notes:
        notes.write(json.dumps(told | {"fixtures": [_fixtures[one][0] for one in used]}) + "\n")


def pytest_runtest_logreport(report):
    if report.outcome != "passed" and report.nodeid not in _failed:
        last = str(report.longrepr).strip().splitlines()[-1:] if report.longrepr else []
        _failed[report.nodeid] = " ".join([report.outcome, *last])[:200]
