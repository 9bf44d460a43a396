"""What every rule must respect on every game: bits, inputs, masks and records."""

from __future__ import annotations

import copy
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import potentia as pt
from tests import games

RECORD = ("profile", "welfare", "acceptance", "visits")


def bits(trace):
    """Everything a trace holds, as bytes."""
    parts = [trace.final, trace.times, *trace.events, *trace.scalars.values()]
    parts += [] if trace.visits is None else [trace.visits]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def test_same_seed_same_bits_in_any_chunking(game, rule):
    whole = pt.run(game, rule, 500, seed=7, record=RECORD, every=3)
    run = pt.begin(game, rule, 7, record=RECORD, every=3, horizon=500)
    for steps in (1, 0, 2, 197, 300):
        pt.advance(run, steps)
    assert bits(run.trace()) == bits(whole)
    assert bits(pt.run(game, rule, 500, seed=8, record=RECORD, every=3)) != bits(whole)


def test_a_resumed_run_equals_the_uninterrupted_one(game, rule, tmp_path):
    whole = pt.run(game, rule, 400, seed=3, record=RECORD, every=2)
    run = pt.begin(game, rule, 3, record=RECORD, every=2, horizon=400).advance(151)
    run.save(tmp_path / "state.npz")
    resumed = pt.load(tmp_path / "state.npz", game)
    assert resumed.step == 151
    assert bits(resumed.advance(249).trace()) == bits(whole)
    assert bits(run.advance(249).trace()) == bits(whole)


def test_workers_and_order_do_not_matter(game, rule):
    one = pt.run_batch(game, rule, 60, [5, 2, 9, 4], record=RECORD)
    two = pt.run_batch(game, rule, 60, [5, 2, 9, 4], record=RECORD, workers=2)
    turned = pt.run_batch(game, rule, 60, [4, 9, 2, 5], record=RECORD, workers=2)
    assert one.identical(two)
    assert one.sortby("seed").identical(turned.sortby("seed"))
    alone = pt.run(game, rule, 60, seed=9, record=RECORD)
    np.testing.assert_array_equal(one.profile.sel(seed=9), alone.profiles)


def test_the_game_is_bit_identical_afterwards(game, rule):
    before = game.fingerprint(), copy.deepcopy([np.array(part) for part in flat(game.data)])
    pt.run(game, rule, 300, seed=1, record=RECORD)
    assert game.fingerprint() == before[0]
    for was, now in zip(before[1], flat(game.data), strict=True):
        assert was.tobytes() == now.tobytes()
        assert not now.flags.writeable


def flat(data):
    for part in data:
        if isinstance(part, np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from flat(part)


def test_two_runs_on_one_game_share_nothing(game, rule):
    alone = pt.run(game, rule, 200, seed=1)
    first, second = pt.begin(game, rule, 1), pt.begin(game, rule, 2)
    for _ in range(20):
        first.advance(10)
        second.advance(7)
    np.testing.assert_array_equal(first.trace().profiles, alone.profiles)


def test_moves_are_respected(game, rule):
    profiles = pt.run(game, rule, 3000, seed=2).profiles
    for player in range(game.num_players):
        steps = {(int(a), int(b)) for a, b in zip(profiles[:-1, player], profiles[1:, player], strict=True)}
        for before, after in steps:
            assert before == after or after in game.reachable(player, before)


def test_records_agree_with_the_reference(game, rule):
    names = [*RECORD, "potential"] if game.has_potential else list(RECORD)
    trace = pt.run(game, rule, 300, seed=4, record=names, every=5)
    dense = pt.run(game, rule, 300, seed=4)
    np.testing.assert_array_equal(trace.times, np.arange(0, 301, 5))
    np.testing.assert_array_equal(trace.profiles, dense.profiles[::5])
    np.testing.assert_array_equal(trace.final, dense.profiles[-1])
    for row, profile in enumerate(trace.profiles):
        assert trace.welfare[row] == pytest.approx(game.welfare(profile), rel=1e-12, abs=1e-12)
        if game.has_potential:
            assert trace.potential[row] == pytest.approx(game.potential(profile), rel=1e-12, abs=1e-12)
    visited = np.ravel_multi_index(tuple(dense.profiles[1:].T), game.num_actions)
    np.testing.assert_array_equal(trace.visits, np.bincount(visited, minlength=game.num_profiles))
    moved = (dense.profiles[1:] != dense.profiles[:-1]).sum()
    assert trace.changes == moved
    changed = (dense.profiles[1:] != dense.profiles[:-1]).sum(axis=1).reshape(-1, 5).sum(axis=1)
    revised = trace.acceptance[1:] > 0
    np.testing.assert_array_equal(revised, changed > 0)
    if rule.name in ("lll", "blll", "best-response"):
        assert trace.revisions == 300
        np.testing.assert_allclose(trace.acceptance[1:], changed / 5)
    if rule.name in ("ql", "soql", "score"):  # everybody draws at every step
        assert trace.revisions == 300 * game.num_players
        np.testing.assert_allclose(trace.acceptance[1:], changed / (5 * game.num_players))


SCHEDULES = {
    "geometric": {"start": 2.0, "stop": 0.05},
    "logarithmic": {"start": 2.0},
    "piecewise": {"points": [[0, 2.0], [50, 0.3], [90, 0.1]]},
}


@pytest.mark.parametrize("kind", SCHEDULES)
def test_schedules_are_the_same_bits_compiled_and_in_plain_python(kind):
    rule = pt.rule("lll", tau={"kind": kind, **SCHEDULES[kind]})
    traces = [
        pt.run(games.normal_form(), rule, 150, seed=11, record=RECORD, compiled=compiled) for compiled in (True, False)
    ]
    assert bits(traces[0]) == bits(traces[1])


def test_plain_python_by_the_environment():
    """``NUMBA_DISABLE_JIT=1`` compiles nothing, whatever is asked for, and gives the same bits."""
    code = """
import hashlib, sys
import potentia as pt
from tests import games
from tests.conformance.test_rules_on_games import RECORD, bits
trace = pt.run(games.custom(), games.RULES["p-sblll"], 150, seed=11, record=RECORD, compiled=True)
print(hashlib.sha256(bits(trace)).hexdigest(), "numba" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    trace = pt.run(games.custom(), games.RULES["p-sblll"], 150, seed=11, record=RECORD, compiled=True)
    assert done.stdout.split() == [hashlib.sha256(bits(trace)).hexdigest(), "False"]
