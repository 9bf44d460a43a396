"""Lines of sight: the kernel against the reference that tries lines, and what follows from them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.beliefs import Constant
from potentia.errors import InvalidGame
from potentia.games import Coverage, World
from potentia.games.sight import Open, Sight, make_view
from potentia.kernel import protocol
from potentia.studies import building
from tests.sight_oracle import visible

few = settings(max_examples=25, deadline=None, derandomize=True)

ROOMS = """
..#...#..
..#......
..###.#..
......#..
.#.#.##..
..#......
"""


def drawn(text):
    """Walls (#) from a picture, row 0 on top."""
    return np.array([[c == "#" for c in line] for line in text.split()])


def seen_from(blocked, place, delta=9.0, **options):
    """The cells that a robot covers there, as a set."""
    game = Coverage(World(np.ones(blocked.shape), blocked=blocked), 1, delta, reach=30, sight=True, **options)
    return {(int(x), int(y)) for x, y in game.covered(0, int(game.action_at[place[1], place[0]]))}


@st.composite
def maps(draw):
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    share = draw(st.sampled_from([0.1, 0.25, 0.4]))
    seed = draw(st.integers(0, 10**6))
    blocked = np.random.default_rng(seed).random((rows, columns)) < share
    blocked[draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))] = False
    return blocked


def table(blocked, delta, faces=True, **options):
    """Whether each cell is seen from each free one within δ, by pairs ((x, y), (x, y))."""
    view = make_view(blocked, [delta], True, faces, **options)
    columns, out = blocked.shape[1], {}
    for (y, x), (b, a) in itertools.product(np.argwhere(~blocked).tolist(), np.ndindex(blocked.shape)):
        if (a - x) ** 2 + (b - y) ** 2 <= delta**2:
            row = (
                -1
                if isinstance(view, Open)
                else view.row[(y + view.reach) * (columns + 2 * view.reach) + x + view.reach]
            )
            if row < 0:
                out[(x, y), (a, b)] = True
                continue
            bit = view.number[(b - y + view.reach) * (2 * view.reach + 1) + a - x + view.reach]
            out[(x, y), (a, b)] = bool(view.mask[row, bit // 8] >> (bit % 8) & 1)
    return out


@few
@given(maps(), st.sampled_from([1.0, 1.5, 2.3, 4.0, 9.0]), st.data())
def test_what_is_seen_is_what_some_line_reaches(blocked, delta, data):
    walls = {(x, y) for y, x in np.argwhere(blocked).tolist()}
    found = table(blocked, delta, compiled=False)
    start = data.draw(st.sampled_from(sorted({a for a, _ in found})))
    for (a, b), seen in found.items():
        if a == start:
            assert seen == visible(a, b, walls), (a, b)


@few
@given(maps())
def test_sight_is_symmetric(blocked):
    found = table(blocked, 9.0, compiled=False)
    assert all(found[b, a] == seen for (a, b), seen in found.items() if (b, a) in found)


def test_hidden_walls_hide_no_more_than_seen_ones():
    blocked = drawn(ROOMS)
    faces, free = table(blocked, 9.0), table(blocked, 9.0, faces=False)
    assert free == {pair: seen and not blocked[pair[1][1], pair[1][0]] for pair, seen in faces.items()}


def test_machine_code_sees_the_same():
    blocked = drawn(ROOMS)
    plain, compiled = (make_view(blocked, [2.0, 9.0], True, True, compiled=c) for c in (False, True))
    assert all(np.array_equal(a, b) for a, b in zip(plain, compiled, strict=True))


def test_a_wall_throws_a_shadow():
    picture = drawn("..... ..#.. .....")
    assert (3, 1) not in seen_from(picture, (0, 1))
    assert (4, 1) not in seen_from(picture, (0, 1))
    assert (2, 1) in seen_from(picture, (0, 1), blocked_worth=True)
    assert (2, 1) not in seen_from(picture, (0, 1))
    assert {(4, 0), (4, 2)} <= seen_from(picture, (0, 1))


def test_nothing_is_seen_between_walls_that_touch_at_a_corner():
    diagonal = drawn("...# ..#. .#.. #...")
    assert seen_from(diagonal, (1, 1)) == {(x, y) for x in range(4) for y in range(4) if x + y < 3}
    # ... but a robot may go where it sees nothing
    game = Coverage(World(np.ones((4, 4)), blocked=diagonal), 1, 2.0, sight=True)
    assert int(game.action_at[2, 2]) in game.reachable(0, int(game.action_at[1, 1]))


def test_room_for_views_grows_as_needed(monkeypatch):
    from potentia.games import sight

    blocked, new = drawn(ROOMS), sight._new_views
    expected = table(blocked, 9.0, compiled=False)
    rooms = []

    def small(room):
        rooms.append(room)
        return new(3 if len(rooms) == 1 else room)

    monkeypatch.setattr(sight, "_new_views", small)
    assert table(blocked, 9.0, compiled=False) == expected
    assert len(rooms) > 1


def test_where_nothing_is_hidden_nothing_is_kept():
    assert isinstance(make_view(np.zeros((5, 5), bool), [2.0], True, False), Open)
    corner = drawn("..........#")
    view = make_view(corner, [2.0], True, False)
    assert isinstance(view, Sight)
    assert len(view.mask) == 2  # the two cells that have the wall in range
    lone = Coverage(World(np.ones((3, 3))), 2, sight=True)
    plain = Coverage(World(np.ones((3, 3))), 2)
    assert (lone.fingerprint(), lone.identity()) == (plain.fingerprint(), plain.identity())


def test_walls_without_worth_and_without_sight():
    blocked = drawn("..#.. .....")
    game = Coverage(World(np.ones((2, 5)), blocked=blocked), 1, 9.0, blocked_worth=False)
    assert game.worth_union([0]) == 9.0
    assert Coverage(game.world, 1, 9.0).worth_union([0]) == 10.0
    assert "blocked_worth=False" in game.describe()


# Games ------------------------------------------------------------------------------------------------


def yard(payoff="overlap", **options):
    worth = np.random.default_rng(3).random((3, 4)).round(2)
    world = World(worth, blocked=drawn(".#.. ..#. ...."))
    return Coverage(world, 2, (1.5, 2.5), flags=False, payoff=payoff, sight=True, **options)


@pytest.mark.parametrize("payoff", ["overlap", "marginal"])
def test_corrected_potential_is_exact_with_sight(payoff):
    game = yard(payoff)
    found = pt.analysis.potential(game)
    own = np.array([game.corrected_potential(p) for p in np.ndindex(found.shape)]).reshape(found.shape)
    np.testing.assert_allclose(found - found.reshape(-1)[0], own - own.reshape(-1)[0], atol=1e-12)
    audited = pt.analysis.audit(game, pt.rule("blll", tau=0.1))
    assert audited.holds("potential game")
    assert "the limit law puts 100.0% there" in " ".join(audited.summary)
    blind = Coverage(game.world, 2, (1.5, 2.5), flags=False, payoff=payoff)
    assert any(game.utility(0, p) != blind.utility(0, p) for p in np.ndindex(found.shape))


@pytest.mark.parametrize("faces", [False, True])
@pytest.mark.parametrize("method", ["milp", "greedy"])
def test_optimum_is_the_best_of_all_placements(method, faces):
    game = yard(blocked_worth=faces)
    best = max(game.worth_union(p) for p in np.ndindex(*game.sizes))
    found = pt.analysis.optimum(game, method=method)
    assert found.bound >= best * (1 - 1e-9)
    assert found.value <= best * (1 + 1e-9)
    assert found.value == pytest.approx(game.worth_union(found.profile), rel=1e-12)
    if method == "milp":
        assert found.value == pytest.approx(best, rel=1e-6)


def test_worth_in_range_is_that_of_what_is_covered():
    game = yard()
    for robot, delta in enumerate((1.5, 2.5)):
        cells = [game.covered(robot, action) for action in range(game.world.num_free)]
        wanted = [game.world.worth[c[:, 1], c[:, 0]].sum() for c in cells]
        np.testing.assert_allclose(game.worth_in_range(delta), wanted, rtol=1e-12)
    for other in (2.2, 2.9, 4.0):  # of the first two the discs reach as many columns as that of 2.5
        own = Coverage(game.world, 1, other, sight=True)
        np.testing.assert_allclose(game.worth_in_range(other), own.worth_in_range(other), rtol=1e-12)
    assert game.scale == game.worth_in_range(2.5).max()


def test_robots_read_what_they_see_and_nothing_else():
    game = Coverage(World(np.ones(drawn(ROOMS).shape), blocked=drawn(ROOMS)), 1, 3.0, sight=True)
    trace = pt.run(game, pt.rule("p-sblll", tau=0.1, revision=0.5), 15, 1, belief=Constant(0.5), compiled=False)
    for robot, view in enumerate(trace.beliefs):
        known = np.zeros(view.seen.shape, bool)
        for action in np.unique(trace.profiles[:, robot]).tolist():
            x, y = game.covered(robot, action).T
            known[y, x] = True
        assert view.seen.tolist() == known.tolist()


@pytest.mark.long  # everything at once is compared in tests/unit/beliefs/test_combinations.py
def test_machine_code_plays_the_same():
    game = Coverage(World(np.arange(54.0).reshape(6, 9) % 7, blocked=drawn(ROOMS)), 3, (1.5, 3.0, 2.0), sight=True)
    rule = pt.rule("blll", tau=0.5)
    names = ("profile", *game.recorders)
    plain, fast = (pt.run(game, rule, 60, 4, record=names, compiled=c) for c in (False, True))
    assert (plain.profiles == fast.profiles).all()
    assert all((plain.scalars[name] == fast.scalars[name]).all() for name in plain.scalars)


def test_sight_is_kept_as_time_goes_by():
    from potentia.games import gaussian_world

    world = gaussian_world((6, 5), [1.0], [[3, 2]], [np.eye(2)], blocked=drawn("...... ..#... ..#... ..#... ......"))
    game = Coverage(world, 2, 2.0, sight=True, blocked_worth=True, drift=(0.1, 0.0))
    later = game.at(20)
    assert (later.sight, later.blocked_worth, later.drifts) == (True, True, False)
    assert later.covered(0, 7).tolist() == game.covered(0, 7).tolist()


@pytest.mark.parametrize("name", ["sight", "blocked_worth"])
def test_flags_are_true_or_false(name):
    with pytest.raises(InvalidGame, match="True or False, got 'yes'") as caught:
        Coverage(World(np.ones((2, 2))), 1, **{name: "yes"})
    assert caught.value.parameter == name


def test_a_recording_knows_what_was_covered():
    world = World(np.ones(drawn(ROOMS).shape), blocked=drawn(ROOMS))
    game = Coverage(world, 3, (1.5, 4.0, 20.0), sight=True, flag="range")
    trace = pt.run(game, pt.rule("blll", tau=0.5), 12, 3, compiled=False)
    made = trace.recording()
    again = type(made)(made.header, made.arrays)
    for step in (0, 12):
        profile = trace.profiles[step]
        counts = game.cover_counts(profile)
        assert again.counts(profile).tolist() == counts.tolist()
        for cell in np.ndindex(counts.shape):
            covering = again.covers(np.arange(3), profile, np.array(cell[::-1]))
            assert covering.sum() == counts[cell]
    run = pt.begin(game, pt.rule("blll", tau=0.5), 3, compiled=False)
    run.advance(12)
    frame, width = game._frame, game.data.width
    laid = run.state.flags.reshape(-1, width)[frame : frame + 6, frame : frame + 9]
    assert again.flags(12).tolist() == laid.tolist()


def test_a_specification_turns_sight_on(tmp_path):
    (tmp_path / "m.csv").write_text("1,1,x,1\n1,1,1,1\n")
    game = building.game_from({"map": "m.csv", "robots": 1, "delta": 3, "sight": True}, tmp_path)
    assert isinstance(game.vision, Sight)
    assert game.sight


def test_a_robot_does_not_count_itself_where_it_saw_nothing():
    game = yard()
    state = game.new_state(np.array([0, 0]))
    for profile in np.ndindex(*game.sizes):
        state.profile[:] = profile
        protocol.settle(game.data, state)
        for robot, action in itertools.product(range(2), range(game.world.num_free)):
            found = protocol.utility(game.data, state, robot, action)
            assert found == pytest.approx(game.move_utility(robot, profile, action), abs=1e-12)
