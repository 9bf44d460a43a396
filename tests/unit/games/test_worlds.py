"""Worlds: mixtures by the density's formula, parts by flood fill, random worlds within what they promise."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potentia.games import Coverage, World, gaussian_world, paper_world, random_world

few = settings(max_examples=60, deadline=None, derandomize=True)


def density(x, y, mean, covariance):
    """The bivariate normal density, as in any textbook: with standard deviations and a correlation."""
    (a, b), (_, c) = covariance
    across, along, rho = math.sqrt(a), math.sqrt(c), b / math.sqrt(a * c)
    u, v = (x - mean[0]) / across, (y - mean[1]) / along
    exponent = -(u * u - 2 * rho * u * v + v * v) / (2 * (1 - rho * rho))
    return math.exp(exponent) / (2 * math.pi * across * along * math.sqrt(1 - rho * rho))


LONG, ROUND = [[4.0, 1.2], [1.2, 0.9]], [[1.0, 0.0], [0.0, 1.0]]


def test_worth_is_the_density_at_the_centre_of_the_cell():
    world = gaussian_world((9, 5), [0.25, 0.75], [[2.0, 3.5], [6.2, 1.0]], [LONG, ROUND])
    assert world.size == (9, 5)
    assert world.worth.shape == (5, 9)
    for x, y in itertools.product(range(9), range(5)):
        first = density(x + 0.5, y + 0.5, (2.0, 3.5), LONG)
        second = density(x + 0.5, y + 0.5, (6.2, 1.0), ROUND)
        assert world.worth[y, x] == pytest.approx(0.25 * first + 0.75 * second, rel=1e-12)
        corner = 0.25 * density(x, y, (2.0, 3.5), LONG) + 0.75 * density(x, y, (6.2, 1.0), ROUND)
        assert world.worth[y, x] != pytest.approx(corner, rel=1e-12)  # the control: not at the cell's corner
    assert world.origin == "lower"


def test_axes_are_not_confused():
    """A mixture stretched along x on a wide area, and the same turned by 90 degrees."""
    wide = gaussian_world((12, 4), [1], [[3.0, 2.0]], [[[4.0, 0.5], [0.5, 1.0]]])
    tall = gaussian_world((4, 12), [1], [[2.0, 3.0]], [[[1.0, 0.5], [0.5, 4.0]]])
    assert np.allclose(wide.worth, tall.worth.T, rtol=1e-12)
    assert wide.worth[2, 5] > wide.worth[2, 8] > 0
    assert not np.allclose(wide.worth[:, :4], wide.worth[:, :4].T)


def test_a_mixture_inside_the_area_is_worth_one():
    assert gaussian_world((40, 40), [1], [[20.0, 20.0]], [[[9.0, 0.0], [0.0, 9.0]]]).total == pytest.approx(1, abs=1e-9)
    assert gaussian_world((20, 40), [1], [[20.0, 20.0]], [[[9.0, 0.0], [0.0, 9.0]]]).total == pytest.approx(
        0.5, abs=1e-9
    )


def test_targets_are_the_cells_of_the_means_that_lie_inside():
    world = gaussian_world((4, 3), [0.25] * 4, [[0.2, 2.9], [3.999, 0.0], [4.0, 1.0], [-0.1, 1.0]], [ROUND] * 4)
    assert world.targets.tolist() == [[0, 2], [3, 0]]
    assert World(np.ones((3, 4))).targets.shape == (0, 2)
    assert World(np.ones((3, 4)), targets=[(3, 2), (3, 2)]).targets.tolist() == [[3, 2], [3, 2]]


def test_any_number_of_targets_in_one_cell():
    world = World(np.ones((1, 2)), targets=[(0, 0)] * 300)
    game = Coverage(world, 1, 0.0, start=[(0, 0)])
    assert int(game.data.target.astype(int).sum()) == 300


def test_the_papers_world():
    world = paper_world()
    assert world.size == (40, 40)
    assert not world.blocked.any()
    assert world.targets.tolist() == [[15, 30], [20, 20], [30, 20]]
    parts = zip((0.300, 0.304, 0.396), ((15.5, 30.5), (20.5, 20.5), (30.5, 20.5)), (2.57, 2.98, 3.43), strict=True)
    peak = sum(w * density(20.5, 20.5, mean, [[s * s, 0.0], [0.0, s * s]]) for w, mean, s in parts)
    assert world.worth[20, 20] == pytest.approx(peak, rel=1e-12)
    assert 0.98 < world.total <= 1.0
    summit = np.unravel_index(world.worth.argmax(), world.worth.shape)
    assert math.dist(summit, (30, 15)) < 2 or math.dist(summit, (20, 20)) < 2 or math.dist(summit, (20, 30)) < 2


@pytest.mark.parametrize("size", [(40, 40), (30, 60)])
def test_random_worlds_keep_their_promises(size):
    counts = set()
    for seed in range(60):
        world = random_world(seed, size=size)
        mixture = world.mixture
        counts.add(mixture.num_components)
        assert world.size == size
        assert len(world.targets) == mixture.num_components
        assert math.fsum(mixture.weights) == pytest.approx(1, abs=1e-12)
        assert mixture.weights.max() <= 3 * mixture.weights.min()
        share = mixture.means / size
        assert share.min() >= 0.1
        assert share.max() <= 0.9
        widths = np.sqrt([np.linalg.eigvalsh(matrix) for matrix in mixture.covariances]) / min(size)
        assert widths.min() >= 0.05 - 1e-12
        assert widths.max() <= 0.1 + 1e-12
    assert counts == {1, 2, 3, 4, 5}


def test_random_worlds_repeat_and_differ():
    assert random_world(3).worth.tobytes() == random_world(3).worth.tobytes()
    assert random_world(3).worth.tobytes() != random_world(4).worth.tobytes()
    assert [random_world(3, targets=k).mixture.num_components for k in range(1, 6)] == [1, 2, 3, 4, 5]


# Parts ------------------------------------------------------------------------------------------------


def flood(blocked, diagonal):
    """The connected parts of the free cells, as sets."""
    left = {(x, y) for y, row in enumerate(blocked) for x, wall in enumerate(row) if not wall}
    steps = [s for s in itertools.product((-1, 0, 1), repeat=2) if s != (0, 0) and (diagonal or 0 in s)]
    found = []
    while left:
        waiting = [left.pop()]
        part = set(waiting)
        while waiting:
            x, y = waiting.pop()
            near = {(x + dx, y + dy) for dx, dy in steps} & left
            left -= near
            part |= near
            waiting.extend(near)
        found.append(part)
    return found


@few
@given(st.integers(1, 7), st.integers(1, 7), st.booleans(), st.data())
def test_parts_by_flood_fill(columns, rows, diagonal, data):
    walls = data.draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns))
    walls[data.draw(st.integers(0, rows * columns - 1))] = False
    world = World(np.ones((rows, columns)), blocked=np.reshape(walls, (rows, columns)))
    expected = flood(world.blocked, diagonal)
    count, label = world.parts(diagonal)
    found = [{(int(x), int(y)) for y, x in np.argwhere(label == k)} for k in range(1, count + 1)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
    assert [len(part) for part in found] == sorted(map(len, expected), reverse=True)
    assert ((label == 0) == world.blocked).all()
    largest = world.largest_part(diagonal)
    assert {tuple(cell) for cell in largest.cells.tolist()} in expected
    assert largest.num_free == max(map(len, expected))
    assert (count == 1) == (largest.num_free == world.num_free)


# Values that do not change -------------------------------------------------------------------------------


def test_a_world_keeps_its_own_copy():
    worth, walls, targets = np.ones((2, 3)), np.zeros((2, 3), bool), np.array([[0, 0]])
    world = World(worth, blocked=walls, targets=targets)
    worth[:], walls[0, 0], targets[:] = 7.0, True, 1
    assert world.total == 6.0
    assert world.num_free == 6
    assert world.targets.tolist() == [[0, 0]]
    for array in (world.worth, world.blocked, world.targets, world.cells):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_largest_part_keeps_everything_else():
    world = World([[1, 2, 3]], blocked=[[0, 1, 0]], targets=[(2, 0)], origin="lower", name="corridor")
    part = world.largest_part()
    assert part.blocked.tolist() == [[False, True, True]]
    assert part.worth.tolist() == [[1, 2, 3]]
    assert (part.targets.tolist(), part.origin, part.name) == ([[2, 0]], "lower", "corridor")


def test_true_and_false_are_one_and_zero():
    assert World([[True, False]]).worth.tolist() == [[1.0, 0.0]]
    assert World([[1.0, 2.0]], blocked=[[0, 1]]).blocked.tolist() == [[False, True]]


def test_blocked_cells_are_covered_from_beside_them_and_never_entered():
    game = Coverage(World([[0, 5, 0], [0, 0, 0]], blocked=[[0, 1, 0], [0, 0, 0]]), 1, delta=1, reach=2)
    assert game.worth_union(game.profile([(0, 0)])) == 5.0
    assert (1, 0) not in {tuple(cell) for cell in game.world.cells.tolist()}
    across = game.profile([(2, 0)])[0]
    assert across not in game.reachable(0, int(game.profile([(0, 0)])[0]))
    assert game.positions([[0], [across]]).tolist() == [[[0, 0]], [[2, 0]]]


def test_positions_of_no_action_at_all():
    assert Coverage(World([[1, 2]]), 1).positions([]).shape == (0, 2)


def test_a_game_survives_pickling():
    game = Coverage(random_world(1, size=(9, 7)), 3, [1, 1.5, 2], K=0.1, flag="range", start=[(0, 0), (1, 1), (2, 2)])
    again = pickle.loads(pickle.dumps(game))
    assert again.fingerprint() == game.fingerprint()
    assert again.describe() == game.describe()
    assert again.start.tolist() == game.start.tolist()
    assert not again.world.worth.flags.writeable


@pytest.mark.parametrize("whole", [3.0, 8.0])
def test_a_range_or_a_move_a_rounding_error_below_a_whole_number(whole):
    """(0.1 + 0.7) * 10 is 7.999999999999999: the cells at distance 8 are meant, as those at √13 are."""
    below = np.nextafter(whole, 0)
    line = World(np.ones((1, 19)))
    exact, near = (Coverage(line, 1, r, reach=r) for r in (whole, float(below)))
    assert near.covered(0, 9).tolist() == exact.covered(0, 9).tolist()
    assert near.reachable(0, 9) == exact.reachable(0, 9)
