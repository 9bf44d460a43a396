"""What is exact is the same bits in plain Python and compiled: which of them computes it is a matter of time."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

import potentia as pt
from potentia.errors import PotentiaError
from potentia.kernel import cache
from tests import games


def duplicate(value):
    if isinstance(value, np.ndarray):
        copy = value.copy(order="K")
        copy.setflags(write=value.flags.writeable)
        return copy
    if isinstance(value, tuple):
        parts = [duplicate(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def as_bytes(value):
    if isinstance(value, tuple):
        return b"".join(map(as_bytes, value))
    return np.asarray(0 if value is None else value, float if isinstance(value, float) else None).tobytes()


@pytest.fixture
def seen(monkeypatch):
    """Every kernel of the analysis is called in both ways; the names of those that were, and of those that differ."""
    called, differ = set(), set()
    original = cache.Entry.__call__

    def both(entry, *args, compiled=None):
        if entry.work is None:
            return original(entry, *args, compiled=compiled)
        ways = []
        for way in (True, False):
            copies = duplicate(args)
            ways.append(as_bytes((original(entry, *copies, compiled=way), *copies)))
        called.add(entry.function.__name__)
        if ways[0] != ways[1]:
            differ.add(entry.function.__name__)
        return original(entry, *args, compiled=True)

    monkeypatch.setattr(cache.Entry, "__call__", both)
    return called, differ


def analyses(game, rule):
    """What is asked of a rule on a game; where a chain is reducible, or there is none, some have no answer."""
    chain = pt.analysis.chain(game, rule)
    yield lambda: chain.stationary("gth")
    yield lambda: chain.stationary("log-gth")
    yield lambda: pt.analysis.stability(game, rule, method="elimination").limit
    yield lambda: pt.analysis.stability(game, rule, method="contraction").stochastic_potential
    yield lambda: pt.analysis.audit(game, rule)
    yield lambda: chain.hitting_times(chain.states[:1])
    yield chain.absorption


def test_all_kernels_of_the_analysis(seen):
    called, differ = seen
    rng = np.random.default_rng(3)
    tables = [rng.normal(size=(3, 3, 2, 3)), rng.integers(0, 3, size=(4, 2, 2, 2, 2)).astype(float)]
    for game in (games.constrained(), games.path(), *map(pt.games.NormalForm, tables)):
        for rule in games.MEMORYLESS.values():
            for ask in analyses(game, rule):
                with warnings.catch_warnings(), contextlib.suppress(PotentiaError):
                    warnings.simplefilter("ignore")
                    ask()
    assert not differ
    known = {entry.function.__name__ for entry in cache.entries if entry.work is not None}
    assert known - called <= {"log_hitting", "fill_sets"}
