"""A bound on the number of components is said where it binds."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import xarray

from potentia.beliefs import Mixture, SplitMerge
from potentia.cli.coverage_results import Results
from potentia.games import Coverage, World


@pytest.mark.parametrize(
    ("belief", "ends", "said"),
    [
        (SplitMerge(most=3), [3.0, 2.0, 3.0], "in 2 of 3 runs all 5 robots end with 3 components, the most"),
        (SplitMerge(most=3), [2.8, 2.0, 1.0], ""),
        (SplitMerge(most=3), [3.0], "all 5 robots end with 3 components, the most that --most allows"),
        (Mixture(3), [3.0, 3.0, 3.0], ""),
    ],
)
def test_it_is_said_in_how_many_runs(capsys, belief, ends, said):
    data = xarray.Dataset({"components": (("seed", "time"), [[1.0, end] for end in ends])})
    results = SimpleNamespace(belief=belief, data={"lll": data}, covered={"lll": SimpleNamespace(runs=len(ends))})
    results.game = Coverage(World(np.ones((3, 3))), 5, 1.0)
    results.steps, results.there = 1, partial(Results.there, results)
    results._bound_by_most = partial(Results._bound_by_most, results)
    Results._print_bound(results)
    assert capsys.readouterr().out.startswith(said)
    assert bool(said) == bool(results._bound_by_most("lll"))
