"""Worths that are shifted, carried along a flow or given as frames, against slow definitions of the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

import potentia as pt
from potentia.errors import InvalidGame
from potentia.games import Coverage, Flow, Frames, Shift, World, gaussian_world
from potentia.games.drift import fields_over
from potentia.games.drift_kernel import Still, is_due
from tests.drift_oracle import carried, shifted
from tests.unit.bad import EYE, INF, NAN, case, refuses

ROWS, COLUMNS = 5, 7
WORTH = np.random.default_rng(0).random((ROWS, COLUMNS))
WALLS = np.zeros((ROWS, COLUMNS), bool)
WALLS[2, 3:5] = True
STACK = np.random.default_rng(1).random((4, ROWS, COLUMNS))
STACK[0] = WORTH
FLOW = np.random.default_rng(2).uniform(-0.4, 0.4, (ROWS, COLUMNS, 2))
RULE = {"rule": "blll", "tau": 0.1}
RECORD = ("profile", "worth_sum", "worth_union")
KINDS = {
    "shift": Shift((0.3, -0.2)),
    "wrapped": Shift((0.3, -0.2), "wrap"),
    "flow": Flow(FLOW),
    "frames": Frames(STACK, 9),
    "periodic": Frames(STACK, 9, periodic=True),
}


def cover(drift, every=4, world=None, **options):
    world = World(WORTH, blocked=WALLS, targets=[(1, 1), (6, 4)], name="map") if world is None else world
    return Coverage(world, 2, 1.5, flags=False, drift=drift, drift_every=every, **options)


# Fields -----------------------------------------------------------------------------------------------

speeds = st.floats(-5, 5, allow_nan=False).map(lambda v: round(v, 3))


@settings(max_examples=60, deadline=None)
@given(vx=speeds, vy=speeds, time=st.integers(0, 60), edge=st.sampled_from(("wrap", "reflect", "empty")))
def test_a_shift_carries_every_heap_along(vx, vy, time, edge):
    game = cover(Shift((vx, vy), edge), every=1)
    found = game.worth_at(time)
    np.testing.assert_allclose(found, shifted(WORTH, (vx, vy), time, edge), atol=1e-9)
    if edge != "empty":
        assert found.sum() == pytest.approx(WORTH.sum(), rel=1e-9)  # nothing is lost


@pytest.mark.parametrize("edge", ["wrap", "reflect"])
def test_after_its_period_a_shift_is_where_it_began(edge):
    game = cover(Shift((0.25, -0.5), edge), every=1)
    period = {"wrap": 140, "reflect": 280}[edge]  # 7 / 0.25 = 28 and 5 / 0.5 = 10, and twice that
    assert game.worth_at(period).tobytes() == WORTH.tobytes()
    assert game.worth_at(0).tobytes() == WORTH.tobytes()
    assert np.abs(game.worth_at(period // 2 + 3) - WORTH).max() > 0.1


def test_a_shift_that_turns_back_does_so_as_means_do():
    hill = gaussian_world((40, 30), [1.0], [(12.5, 9.5)], [3 * EYE])
    means = Coverage(hill, 1, drift=(0.5, 0.25), drift_every=1)
    whole = Coverage(hill, 1, drift=Shift((0.5, 0.25)), drift_every=1)
    for time in (0, 16, 116, 160):
        np.testing.assert_allclose(whole.worth_at(time), means.worth_at(time), atol=1e-5)
    assert Coverage(World(hill.worth), 1, drift=(0.5, 0.25)).drift.edge == whole.drift.edge


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    time=st.integers(0, 40),
    every=st.integers(1, 5),
    fast=st.floats(0.01, 2),
    edge=st.sampled_from(("empty", "wrap")),
)
def test_a_flow_is_followed_back(seed, time, every, fast, edge):
    flow = np.random.default_rng(seed).uniform(-fast, fast, (ROWS, COLUMNS, 2))
    game = cover(Flow(flow, edge), every)
    parts = game.drift.parts
    assert np.abs(flow).max() * every / parts <= 0.5
    np.testing.assert_allclose(game.worth_at(time), carried(WORTH, flow, time, every, parts, edge), atol=1e-9)


def test_a_flow_that_is_the_same_everywhere_is_a_shift():
    everywhere = np.broadcast_to([0.125, -0.25], (ROWS, COLUMNS, 2))
    for edge in ("empty", "wrap"):
        flow, shift = cover(Flow(everywhere, edge)), cover(Shift((0.125, -0.25), edge))
        for time in (0, 7, 33):
            np.testing.assert_allclose(flow.worth_at(time), shift.worth_at(time), atol=1e-12)


def test_a_whirl_brings_the_field_back():
    y, x = np.mgrid[:31, :31] - 15.0
    hill = np.exp(-((x - 6) ** 2 + y**2) / 8)
    turn = 2 * math.pi / 400
    game = Coverage(World(hill), 1, drift=Flow(turn * np.stack([-y, x], axis=-1)), drift_every=10)
    fields = dict(zip((100, 200, 400), map(game.worth_at, (100, 200, 400)), strict=True))
    np.testing.assert_allclose(fields[400], hill, atol=2e-3)
    np.testing.assert_allclose(fields[200], hill[::-1, ::-1], atol=2e-3)
    assert np.unravel_index(fields[100].argmax(), hill.shape) == (21, 15)  # from (6, 0) to (0, 6)


@pytest.mark.parametrize(("steps", "every"), [(3, 3), (10, 10), (25, 10)])
def test_no_frame_is_skipped(steps, every):
    game = cover(Frames(STACK, steps), None)
    assert game.drift.every == every
    for k, frame in enumerate(STACK):
        held = k * steps // every * every
        np.testing.assert_array_equal(game.worth_at(k * steps), frame if held == k * steps else game.worth_at(held))
    assert cover(Shift((0.3, -0.2)), None).fingerprint() == cover(Shift((0.3, -0.2)), 10).fingerprint()
    assert cover(Frames(STACK, 10), None).identity() == cover(Frames(STACK, 10), 10).identity()


@settings(max_examples=60, deadline=None)
@given(time=st.integers(0, 200), steps=st.integers(1, 20), periodic=st.booleans(), every=st.integers(1, 7))
def test_frames_are_linear_in_between(time, steps, periodic, every):
    every = min(every, steps)
    game = cover(Frames(STACK, steps, periodic), every)
    now = time // every * every
    known = np.concatenate([STACK] * 80) if periodic else STACK
    wanted = ndimage.map_coordinates(
        known, [np.full(WORTH.shape, now / steps), *np.mgrid[:ROWS, :COLUMNS]], order=1, mode="nearest"
    )
    np.testing.assert_allclose(game.worth_at(time), wanted, atol=1e-12)
    if now % steps == 0:
        frame = now // steps
        exact = STACK[frame % 4] if periodic else STACK[min(frame, 3)]
        assert game.worth_at(time).tobytes() == exact.tobytes()


# Runs -------------------------------------------------------------------------------------------------


def begin(game, compiled=False):
    return pt.begin(game, RULE, 1, record=RECORD, compiled=compiled)


def same(one, two):
    assert one.trace().profiles.tobytes() == two.trace().profiles.tobytes()
    for name, values in zip(one.state._fields, one.state, strict=True):
        assert values.tobytes() == getattr(two.state, name).tobytes(), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_has_the_field_of_the_time(kind):
    game = cover(KINDS[kind])
    trace = begin(game).advance(45).trace()
    late = 0.0
    for n, profile in enumerate(trace.profiles):
        worth, counts = game.worth_at(n), game.cover_counts(profile)
        assert trace.worth_union[n] == pytest.approx(worth[counts > 0].sum(), rel=1e-12)
        assert trace.worth_sum[n] == pytest.approx((worth * counts).sum(), rel=1e-12)
        late = max(late, abs(trace.worth_sum[n] - (WORTH * counts).sum()))
    assert late > 0.1
    still = game.at(45)
    assert still.world.worth.tobytes() == game.worth_at(45).tobytes()
    assert not still.drifts
    assert still.world.blocked.tolist() == WALLS.tolist()
    assert still.world.mixture is None


@pytest.mark.parametrize("kind", KINDS)
def test_bits_depend_on_neither_chunks_nor_saving(kind, tmp_path):
    game = cover(KINDS[kind])
    whole, parts = begin(game).advance(45), begin(game)
    for steps in (1, 3, 4, 15):
        parts.advance(steps)
    half = pt.load(parts.save(tmp_path / "run.npz"), game)
    same(parts.advance(22), whole)
    same(half.advance(22), whole)


@pytest.mark.parametrize("kind", ["shift", "flow", "frames"])
def test_bits_do_not_depend_on_compiling(kind, monkeypatch):
    drift, times = cover(KINDS[kind]).drift, (0, 4, 9, 45)
    plain = [field.tobytes() for field in fields_over(drift, times)]
    monkeypatch.setattr("potentia.games.drift._BY_PYTHON", 0)
    assert [field.tobytes() for field in fields_over(drift, times)] == plain
    assert len(set(plain)) == 4


def test_fingerprints_tell_changes_apart():
    others = [None, (0.3, -0.2), Shift((0.3, -0.2), "empty"), Frames(STACK, 8), Flow(FLOW, "wrap"), FLOW]
    games = [cover(drift) for drift in (*KINDS.values(), *others)]
    assert len({game.fingerprint() for game in games}) == len(games) - 2  # (vx, vy) is a Shift, an array a Flow
    assert len({game.describe() for game in games}) == len(games) - 2
    assert "drift=3 frames" not in games[3].describe()
    assert "drift=4 frames of 9 steps, drift_every=4" in games[3].describe()
    assert "drift=(0.3, -0.2) reflect" in games[0].describe()


def test_plain_tables_say_the_same():
    tables = (
        ({"kind": "shift", "velocity": [0.3, -0.2], "edge": "wrap"}, "wrapped"),
        ({"kind": "flow", "field": FLOW.tolist()}, "flow"),
        ({"kind": "frames", "frames": STACK.tolist(), "steps": 9, "periodic": True}, "periodic"),
    )
    for table, kind in tables:
        assert cover(table).fingerprint() == cover(KINDS[kind]).fingerprint()


@pytest.mark.parametrize("drift", [Shift((0, 0)), Flow(np.zeros_like(FLOW)), (0, -0.0)])
def test_no_velocity_is_no_drift(drift):
    assert not cover(drift).drifts
    assert cover(drift).fingerprint() == cover(None).fingerprint()


def test_all_that_changes_is_due_by_one_rule():
    for drift in KINDS.values():
        assert [time for time in range(9) if is_due(cover(drift).drift, time)] == [0, 4, 8]
    assert not is_due(cover(None).drift, 0)
    assert list(is_due.table) == [Still]


def test_targets_move_with_a_shift_and_with_means():
    assert cover(Shift((0.5, 0.25), "wrap")).at(4).world.targets.tolist() == [[3, 2], [1, 0]]
    assert cover(Shift((0.5, 0.25))).at(4).world.targets.tolist() == [[3, 2], [5, 4]]
    assert cover(Shift((0.5, 0.25), "empty")).at(4).world.targets.tolist() == [[3, 2]]
    assert cover(KINDS["flow"]).at(8).world.targets.tolist() == [[1, 1], [6, 4]]
    hill = gaussian_world((9, 9), [1.0], [(2.5, 4.5)], [EYE])
    assert Coverage(hill, 1, drift=(0.5, 0)).at(8).world.targets.tolist() == [[2, 4]]  # held since time 0
    assert Coverage(hill, 1, drift=(0.5, 0)).at(14).world.targets.tolist() == [[7, 4]]
    hill = hill.like(targets=[(0, 0)])
    assert Coverage(hill, 1, drift=(1, 0)).at(10).world.targets.tolist() == [[0, 0]]  # not those of the means


# Bad input --------------------------------------------------------------------------------------------

OTHER = [np.ones((ROWS, COLUMNS)), np.ones((ROWS, COLUMNS + 1))]
HOLED = np.where(np.arange(4)[:, None, None] == 2, NAN, STACK)
NEGATIVE = np.where(np.arange(4)[:, None, None] == 2, -STACK, STACK)
BAD = [
    case("sizes", lambda: Frames(OTHER, 1), r"frames must be of one size, got \(5, 7\) and \(5, 8\)"),
    case("nan", lambda: Frames(HOLED, 1), r"frames must be finite, got nan at \(0, 0\) of frame 2"),
    case("negative", lambda: Frames(NEGATIVE, 1), r"frames must not be negative, got -.* at \(0, 0\) of frame 2"),
    case("one", lambda: Frames(STACK[:1], 1), r"frames must have .*at least two frames, got \(1, 5, 7\)"),
    case("flat", lambda: Frames(WORTH, 1), r"frames must have shape \(T, rows, columns\).*got \(5, 7\)"),
    case("text", lambda: Frames("film", 1), r"frames must be .*real numbers, got 'film'"),
    case("huge", lambda: Frames(STACK * 1e300, 1), r"frames must be small enough"),
    case("steps", lambda: Frames(STACK, 0), r"steps must be an integer of at least 1, got 0"),
    case("steps float", lambda: Frames(STACK, 1.5), r"steps must be an integer of at least 1, got 1\.5"),
    case("periodic", lambda: Frames(STACK, 1, 2), r"periodic must be"),
    case("others' frames", lambda: cover(Frames(OTHER[1][None].repeat(2, 0), 1)), r"drift must .* 7×5 .*got 8×5"),
    case("another first", lambda: cover(Frames(STACK[1:], 1)), r"drift must begin with the world's worth.*\(0, 0\)"),
    case("velocity", lambda: Shift(1.0), r"velocity must have shape \(2,\), \(vx, vy\) .*got \(\)"),
    case("infinite", lambda: Shift((0, INF)), r"velocity must be finite, got inf"),
    case("edge", lambda: Shift((0, 1), "bounce"), r"edge must be .*got 'bounce'"),
    case("flow's edge", lambda: Flow(FLOW, "reflect"), r"edge must be .*got 'reflect'"),
    case("fast", lambda: cover((0, 5.5)), r"drift .*no longer than the area of 7×5 cells, got \(0, 5\.5\)"),
    case("flow's shape", lambda: Flow(WORTH), r"field must have shape \(rows, columns, 2\).*got \(5, 7\)"),
    case("other flow", lambda: cover(FLOW[:, :4]), r"drift must have shape \(5, 7, 2\).*got \(5, 4, 2\)"),
    case("fast flow", lambda: cover(40 * FLOW), r"drift .*no longer than the area of 7×5 cells, got .* at \(0, 0\)"),
    case("flow of nan", lambda: cover(FLOW * NAN), r"drift must be finite, got nan"),
    case("skipped", lambda: cover(Frames(STACK, 3), 4), r"drift_every must be at most the 3 steps .*, got 4"),
    case("no kind", lambda: cover({"velocity": (1, 0)}), r"drift must have a kind, one of shift, flow, frames"),
    case("other kind", lambda: cover({"kind": "shft"}), r"kind of drift must be one of .*, got 'shft'"),
    case("other option", lambda: cover({"kind": "shift", "speed": 1}), r"drift has no such options .*got speed"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_changes(call, message):
    refuses(call, InvalidGame, message)
