"""Where runs stand in a dataset when rules do not have the same parameters: each once, at a place that is named."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from potentia.studies.sweeping import sweep

GAME = {"name": "stag-hunt"}
SMALL = {"steps": 4, "seeds": 2, "record": "potential", "game": GAME}
LLL = {"name": "lll", "tau": [0.6, 0.2]}
BEST = {"name": "best-response"}


@pytest.fixture
def played(tmp_path):
    def play(*rules, **more):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}.study"
        return sweep(SMALL | {"rule": list(rules)} | more, folder, compiled=False).dataset()

    return play


def runs(data):
    """How many runs stand at each place."""
    return (data.steps_done >= 0).sum("seed")


def test_a_rule_without_tau_stands_at_nan_and_nowhere_else(played):
    data = played(LLL, BEST, {"name": "blll", "tau": [0.6, 0.2]})
    assert data.potential.dims == ("rule", "tau", "seed", "time")
    assert data.rule.values.tolist() == ["lll", "best-response", "blll"]
    np.testing.assert_array_equal(data.tau, [0.6, 0.2, np.nan])  # as they were written, NaN last
    assert runs(data).values.tolist() == [[2, 2, 0], [0, 0, 2], [2, 2, 0]]
    empty = data.where(data.steps_done < 0)
    assert np.isnan(data.potential.where(data.steps_done < 0)).all()
    assert (empty.final.fillna(-1) == -1).all()
    same = xarray.testing.assert_identical
    same(data.potential.sel(rule="lll", tau=0.2, drop=True), played(LLL).potential.sel(tau=0.2, drop=True))
    same(data.potential.sel(rule="best-response", tau=np.nan, drop=True), played(BEST).potential)


def test_values_that_differ_between_rules_stand_in_order(played):
    data = played(LLL, {"name": "blll", "tau": [1, 0.4]}, {"name": "slll", "tau": 0.6, "revision": 0.5})
    assert data.tau.values.tolist() == [0.2, 0.4, 0.6, 1.0]
    assert runs(data).values.tolist() == [[2, 0, 2, 0], [0, 2, 0, 2], [0, 0, 2, 0]]  # one tau is a place as well
    whole = played({"name": "lll", "tau": [1, 2]}, {"name": "blll", "tau": [1.0, 2.0]})
    assert whole.tau.values.tolist() == [1.0, 2.0]  # 1 and 1.0 are one place


def test_a_parameter_of_words_that_a_rule_has_not(played):
    data = played({"name": "slll", "tau": 0.2, "revision": [0.5, "0.7"]}, LLL)
    assert data.revision.values.tolist() == ["0.5", "0.7", ""]
    assert data.tau.values.tolist() == [0.2, 0.6]
    assert runs(data).sum() == 8
    assert runs(data).sel(rule="lll", revision="").values.tolist() == [2, 2]


def test_rules_with_nothing_in_common_are_a_list_of_points(played):
    many = np.linspace(0.1, 0.9, 6).tolist()
    one = {"name": "slll", "tau": many, "revision": many}
    data = played(one, {"name": "ql", "tau": "geometric:1:0.5", "mu": many, "initial": many}, seeds=1)
    assert data.potential.dims == ("point", "seed", "time")
    assert data.sizes["point"] == 72
    assert set(data.coords) >= {"rule", "tau", "revision", "mu"}
