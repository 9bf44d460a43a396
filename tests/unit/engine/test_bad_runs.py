"""Bad runs, files and sizes, and the tree of exceptions."""

from __future__ import annotations

import gc
import inspect

import numpy as np
import pytest

import potentia as pt
from potentia import errors
from potentia.engine.trace import Trace
from potentia.errors import InvalidGame, InvalidRule, InvalidRun, PotentiaError, TooLarge
from potentia.games import NormalForm, Separable, consensus, game, ring_edges
from potentia.rules import rule
from tests.unit.bad import (
    DILEMMA,
    batch,
    case,
    dilemma,
    nothing_plays,  # noqa: F401
    pennies,
    play,
    refuses,
)

# Runs -------------------------------------------------------------------------------------------------

RUNS = [
    case("start too large", lambda: play(start=[0, 2]), r"start must have player 1's action in 0\.\.1, got 2"),
    case("start negative", lambda: play(start=[-1, 0]), r"start must have player 0's action in 0\.\.1, got -1"),
    case("start short", lambda: play(start=[0]), r"start must be 2 integers, .*got shape \(1,\)"),
    case("start long", lambda: play(start=[0, 0, 0]), r"start must be 2 integers, .*got shape \(3,\)"),
    case("start floats", lambda: play(start=[0.0, 1.0]), r"start must be 2 integers, .*of float64"),
    case("start bools", lambda: play(start=[True, False]), r"start must be 2 integers, .*of bool"),
    case("start text", lambda: play(start="01"), r"start must be 2 integers, .*got shape \(\)"),
    case("start ragged", lambda: play(start=[[0], [0, 1]]), r"start must be 2 integers"),
    case("start of a batch", lambda: batch(start=[[0, 0], [0, 2]]), r"start of run 1 must have player 1's .*got 2"),
    case("starts of a batch", lambda: batch(start=[[0, 0]]), r"start .*each of 2 seeds, got 1"),
    case("starts ragged", lambda: batch(start=[[0, 0], [0]]), r"start"),
    case("seed negative", lambda: play(seed=-1), r"seed must be an integer of at least 0, got -1"),
    case("seed float", lambda: play(seed=1.0), r"seed must be an integer of at least 0, got 1\.0"),
    case("seed bool", lambda: play(seed=True), r"seed must be an integer .*got True"),
    case("seed text", lambda: play(seed="1"), r"seed must be an integer .*got '1'"),
    case("seed none", lambda: play(seed=None), r"seed must be an integer .*got None"),
    case("seeds number", lambda: batch(seeds=5), r"seeds must be a sequence .*got 5"),
    case("seeds none", lambda: batch(seeds=[]), r"seeds must name at least one run, got none"),
    case("seeds repeated", lambda: batch(seeds=[1, 2, 1]), r"seeds must differ"),
    case("seeds negative", lambda: batch(seeds=[0, -3]), r"seed must be an integer of at least 0, got -3"),
    case("seeds float", lambda: batch(seeds=[0.5]), r"seed must be an integer .*got 0\.5"),
    case("steps negative", lambda: play(steps=-1), r"steps must be an integer of at least 0, got -1"),
    case("steps float", lambda: play(steps=1e3), r"steps must be an integer of at least 0, got 1000\.0"),
    case("steps bool", lambda: batch(steps=True), r"steps must be an integer .*got True"),
    case("steps to advance", lambda: pt.begin(dilemma(), rule("best-response")).advance(-1), r"steps .*got -1"),
    case("horizon", lambda: pt.begin(dilemma(), rule("best-response"), horizon=-1), r"horizon .*got -1"),
    case("every zero", lambda: play(every=0), r"every must be an integer of at least 1, got 0"),
    case("every negative", lambda: batch(every=-2), r"every must be an integer of at least 1, got -2"),
    case("every float", lambda: play(every=2.0), r"every must be an integer of at least 1, got 2\.0"),
    case("workers", lambda: batch(workers=0), r"workers must be an integer of at least 1, got 0"),
    case("recorder", lambda: play(record="potentail"), r"record must name some of .*potential.*got 'potentail'"),
    case("recorders", lambda: batch(record=("profile", "worth")), r"record must name some of .*got 'worth'"),
    case("recorder number", lambda: play(record=5), r"record .*got 5"),
    case("recorder none", lambda: play(record=None), r"record .*got None"),
    case(
        "no potential",
        lambda: play(pennies, record="potential"),
        r"no potential is known for this NormalForm; record welfare",
    ),
    case(
        "no potential, batch",
        lambda: batch(pennies, record=["potential"]),
        r"no potential is known for this NormalForm",
    ),
    case("not a game", lambda: pt.run("ring", rule("lll", tau=1), 10), r"game must be a potentia game.*got str"),
    case("not a game, batch", lambda: pt.run_batch("ring", rule("lll", tau=1), 10, [0]), r"game must be .*got str"),
]


@pytest.mark.parametrize(("call", "message"), RUNS)
def test_bad_run(call, message):
    refuses(call, InvalidRun, message)


def test_what_was_not_recorded_says_how_to_record_it():
    trace = pt.begin(dilemma(), rule("lll", tau=1), record=()).trace()
    refuses(lambda: trace.welfare, InvalidRun, r'welfare was not recorded; pass record=\("welfare"')
    assert getattr(trace, "welfare", None) is None
    refuses(lambda: trace.profiles, InvalidRun, r'profiles were not recorded; pass record=\("profile"')


@pytest.mark.parametrize(
    "content", [None, b"", b"no run at all", b"PK\x03\x04 cut short"], ids=["missing", "empty", "text", "damaged"]
)
def test_bad_file_is_named(tmp_path, content):
    path = tmp_path / "saved.npz"
    if content is not None:
        path.write_bytes(content)
    refuses(lambda: pt.load(path, dilemma()), InvalidRun, r"saved\.npz")
    gc.collect()  # a file left open warns here, not in some later test


def test_array_is_not_a_saved_run(tmp_path):
    np.save(tmp_path / "array.npy", np.zeros(3))
    refuses(lambda: pt.load(tmp_path / "array.npy", dilemma()), InvalidRun, r"array\.npy is not a saved run")


def test_saved_run_of_another_game(tmp_path):
    path = pt.begin(dilemma(), rule("lll", tau=1)).save(tmp_path / "saved.npz")
    refuses(lambda: pt.load(path, NormalForm(2 * DILEMMA)), InvalidRun, r"saved\.npz was saved from another game")


def test_unwritable_file_is_named(tmp_path):
    run = pt.begin(dilemma(), rule("lll", tau=1))
    refuses(lambda: run.save(tmp_path / "nowhere" / "run.npz"), InvalidRun, r"cannot write .*run\.npz")


# Memory -----------------------------------------------------------------------------------------------

TOO_LARGE = [
    case("profiles", lambda: game("random-potential", players=60), r"about 10\^28 profiles .*use fewer players"),
    case("uncountable profiles", lambda: game("random-potential", players=2000), r"profiles .*use fewer players"),
    case("players", lambda: game("ring", players=10**15), r"1000000000000000 players needs about 10\^17 bytes"),
    case("cells", lambda: game("torus", rows=10**7, columns=10**7), r"rows|columns|cells|players"),
    case(
        "visits",
        lambda: pt.begin(game("ring"), rule("lll", tau=1), record="visits"),
        r"players=100\) with visits of about 10\^30 profiles",
    ),
    case(
        "uncountable visits",
        lambda: pt.begin(game("ring", players=2000), rule("lll", tau=1), record="visits"),
        r"visits",
    ),
    case(
        "uncountable visits of a batch",
        lambda: pt.run_batch(game("ring", players=2000), rule("lll", tau=1), 10, [0], record="visits"),
        r"visits|batch",
    ),
    case("rows", lambda: play(steps=10**15, record="welfare"), r"recording 1000000000000000 rows .*larger every"),
    case("rows of a batch", lambda: batch(steps=10**15, record="welfare"), r"batch of 2 runs .*larger every"),
]


@pytest.mark.parametrize(("call", "message"), TOO_LARGE)
def test_too_large_for_any_machine(call, message):
    refuses(call, TooLarge, message)


@pytest.fixture
def small_machine(monkeypatch):
    """20 MB free."""
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 20_000_000)


SLIGHTLY_TOO_LARGE = [
    case("profiles", lambda: game("random-potential", players=6, actions=9), r"normal form .*has 20\.0 MB free"),
    case("players", lambda: game("ring", players=10**6), r"1000000 players needs 100\.0 MB.*has 20\.0 MB"),
    case("edges", lambda: consensus(np.zeros((10**6, 2), int)), r"1000000 edges needs 40\.0 MB"),
    case("cells", lambda: game("torus", rows=700, columns=700), r"edges|cells|players|rows"),
    case("actions", lambda: game("ring", players=3, actions=2000), r"actions"),
    case("actions of consensus", lambda: consensus(ring_edges(3), 2000), r"actions"),
    case("costs", lambda: game("congestion", players=1000, links=3000), r"links|costs|players"),
    case("values", lambda: game("separable", players=1500, actions=2000), r"actions|players"),
    case(
        "visits",
        lambda: pt.begin(game("ring", players=22), rule("lll", tau=1), record="visits"),
        r'players=22\) with visits of 4,194,304 profiles needs 33\.6 MB.*leave "visits" out',
    ),
    case("rows", lambda: play(steps=10**6, record=["welfare", "acceptance"]), r"1000000 rows needs 2\d\.\d MB"),
    case(
        "rows of a batch", lambda: batch(steps=10**6, record=["welfare", "acceptance"]), r"batch of 2 runs .*51\.5 MB"
    ),
]


@pytest.mark.parametrize(("call", "message"), SLIGHTLY_TOO_LARGE)
@pytest.mark.usefixtures("small_machine")
def test_too_large_for_this_machine(call, message):
    refuses(call, TooLarge, message)


@pytest.mark.usefixtures("small_machine")
def test_too_many_players_for_this_machine():
    big = Separable(np.zeros((1, 10**6)))
    refuses(lambda: pt.begin(big, rule("lll", tau=1)), TooLarge, r"a run of Separable\(players=1\) needs 24\.0 MB")


@pytest.mark.usefixtures("small_machine")
def test_dense_view_too_large_for_this_machine():
    none = np.zeros(0, np.int64)
    trace = Trace(
        game="", rule={}, seed=0, steps=10**6, every=1, complete=True, start=np.zeros(3, np.int64),
        final=np.zeros(3, np.int64), times=np.arange(10**6 + 1), revisions=0, changes=0, scalars={}, visits=None,
        events=(none, none, none),
    )  # fmt: skip
    refuses(lambda: trace.profiles, TooLarge, r"dense view of 1000001 profiles of 3 players needs 24\.0 MB")


@pytest.mark.usefixtures("small_machine")
def test_what_fits_is_not_refused():
    assert game("ring", players=10**5).num_players == 10**5


# The tree ---------------------------------------------------------------------------------------------


def test_every_exception_is_in_one_tree():
    members = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]
    classes = [c for c in members if c is not errors.Remedy]
    assert len(classes) == 26
    for cls in classes:
        assert issubclass(cls, Warning) != issubclass(cls, PotentiaError), cls


def test_exceptions_are_the_built_in_ones_too():
    assert issubclass(InvalidGame, ValueError)
    assert issubclass(InvalidRule, ValueError)
    assert issubclass(InvalidRun, ValueError)
    assert issubclass(TooLarge, MemoryError)
