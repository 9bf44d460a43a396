"""The overlap game: its utilities, and which of two claimed potentials is one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from potentia.errors import InvalidGame, NotPotentialGame, TooLarge
from potentia.games import NormalForm, game, registered_games
from tests.unit.bad import refuses

SIZES = [(1, 1, 0), (1, 5, 1), (2, 4, 1), (2, 6, 0), (2, 5, 2), (3, 4, 1), (4, 3, 9)]


def worths(cells, seed):
    """What each cell is worth: what one robot that sees its own cell only gets there."""
    return game("overlap", robots=1, cells=cells, reach=0, seed=seed).payoffs[0].tolist()


def covered(cell, cells, reach):
    return {other for other in range(cells) if abs(other - cell) <= reach}


def pieces(profile, worth, reach):
    """C^i of each robot, and the worth that each pair shares."""
    cover = [covered(cell, len(worth), reach) for cell in profile]
    own = [sum(worth[cell] for cell in seen) for seen in cover]
    pairs = itertools.combinations(range(len(profile)), 2)
    return own, {(i, j): sum(worth[cell] for cell in cover[i] & cover[j]) for i, j in pairs}


@pytest.mark.parametrize(("robots", "cells", "reach"), SIZES)
@pytest.mark.parametrize("seed", [0, 3])
def test_utility_is_what_is_covered_less_what_is_shared(robots, cells, reach, seed):
    made = game("overlap", robots=robots, cells=cells, reach=reach, seed=seed)
    worth = worths(cells, seed)
    assert made.num_actions == (cells,) * robots
    for profile in itertools.product(range(cells), repeat=robots):
        own, shared = pieces(profile, worth, reach)
        for robot in range(robots):
            expected = own[robot] - sum(value for pair, value in shared.items() if robot in pair)
            assert made.utility(robot, profile) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("robots", "cells", "reach"), [size for size in SIZES if size[0] > 1])
def test_the_sum_of_utilities_is_no_potential_but_each_overlap_once_is(robots, cells, reach):
    made = game("overlap", robots=robots, cells=cells, reach=reach)
    assert not made.has_potential
    worth = worths(cells, 0)
    once = np.zeros(made.num_actions)
    for profile in np.ndindex(*made.num_actions):
        own, shared = pieces(profile, worth, reach)
        once[profile] = sum(own) - sum(shared.values())
    assert NormalForm(made.payoffs, potential=once).has_potential
    if reach >= cells:  # all is covered from anywhere: nothing changes, and anything constant is a potential
        assert np.ptp(made.payoffs[0]) == 0
        return
    error = refuses(lambda: NormalForm(made.payoffs, potential=made.payoffs.sum(axis=0)), NotPotentialGame, "not exact")
    assert error.evidence[3] != error.evidence[4]


def test_worths_are_tenths_and_follow_the_seed():
    drawn = np.array([worths(50, seed) for seed in range(20)])
    assert (drawn == np.round(drawn, 1)).all()
    assert drawn.min() == 0.1
    assert drawn.max() == 1.0
    assert worths(50, 4) == worths(50, 4) != worths(50, 5)
    uniform = np.random.Generator(np.random.PCG64(7)).random(50)
    assert np.allclose(worths(50, 7), np.ceil(10 * uniform) / 10)


def test_payoffs_are_the_nearest_floats_to_tenths():
    payoffs = game("overlap", robots=3, cells=6, reach=2, seed=1).payoffs
    assert (payoffs == np.rint(10 * payoffs) / 10).all()


def test_robots_move_to_adjacent_cells():
    made = game("overlap")
    assert [[made.reachable(robot, cell) for cell in range(4)] for robot in range(2)] == [
        [[1], [0, 2], [1, 3], [2]]
    ] * 2


def test_it_is_listed():
    assert "line of cells" in registered_games()["overlap"].__doc__


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"robots": 0}, InvalidGame, r"robots must be an integer from 1 to 63, got 0"),
        ({"cells": 0}, InvalidGame, r"cells must be an integer of at least 1, got 0"),
        ({"reach": -1}, InvalidGame, r"reach must be an integer of at least 0, got -1"),
        ({"seed": -1}, InvalidGame, r"seed must be an integer of at least 0, got -1"),
        ({"reach": 0.5}, InvalidGame, r"reach must be an integer of at least 0, got 0\.5"),
        ({"robots": 64, "cells": 1}, InvalidGame, r"robots must be an integer from 1 to 63, got 64"),
        ({"robots": 10**12}, InvalidGame, r"robots must be an integer from 1 to 63, got 1000000000000"),
        ({"robots": 40}, TooLarge, r"a table of about 10\^24 profiles needs .*use fewer robots or cells"),
        ({"robots": 1, "cells": 10**12}, TooLarge, r"a table of about 10\^12 profiles needs"),
    ],
)
def test_bad_parameters(parameters, error, message):
    refuses(lambda: game("overlap", **parameters), error, message)


@pytest.mark.parametrize("parameters", [{"robots": 63, "cells": 1}, {"reach": 10**30}])
def test_the_largest_parameters(parameters):
    assert game("overlap", **parameters).num_profiles >= 1
