"""Values, lists and ranges, crossed and side by side."""

from __future__ import annotations

import numpy as np
import pytest

from potentia.errors import InvalidSpecification
from potentia.studies.axes import MOST_VALUES, Axis, as_plain, axis_from, expand


def values(entry):
    return axis_from("rule.tau", entry).values


@pytest.mark.parametrize("entry", [0.1, 3, "signal", True, None, {"kind": "geometric", "start": 1, "stop": 0.1}])
def test_one_value_is_no_axis(entry):
    assert axis_from("rule.tau", entry) is None


def test_lists():
    assert values([0.1, 0.2]) == (0.1, 0.2)
    assert values([[0.1, 0.2]]) == ([0.1, 0.2],)  # a value that is a list
    assert values(["signal", 0.3, {"vanishing": 2}]) == ("signal", 0.3, {"vanishing": 2})


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ({"from": 0.1, "to": 0.5, "step": 0.1}, (0.1, 0.2, 0.3, 0.4, 0.5)),
        ({"from": 0.5, "to": 0.1, "step": -0.2}, (0.5, 0.3, 0.1)),
        ({"from": 0, "to": 1, "step": 0.4}, (0.0, 0.4, 0.8)),
        ({"from": 0, "to": 1, "count": 5}, (0.0, 0.25, 0.5, 0.75, 1.0)),
        ({"from": 2, "to": 8, "step": 3}, (2, 5, 8)),
        ({"from": 10, "to": 50, "count": 5}, (10, 20, 30, 40, 50)),
        ({"from": 50, "to": 10, "count": 3}, (50, 30, 10)),
        ({"from": 2**60 + 1, "to": 2**60 + 5, "count": 3}, (2**60 + 1, 2**60 + 3, 2**60 + 5)),
        ({"from": 1e-4, "to": 1e-2, "count": 3, "log": True}, (1e-4, 1e-3, 1e-2)),
        ({"from": 7, "to": 7, "count": 1}, (7,)),
    ],
)
def test_ranges_include_their_ends(entry, wanted):
    found = values(entry)
    assert found == wanted
    assert [type(one) for one in found] == [type(one) for one in wanted]  # players = 5, not 5.0


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ([], "at least one value, got an empty list"),
        ([0.1, 0.2, 0.1], "different values, got 0.1 twice"),
        ([1, 1.0], "different values, got 1.0 twice"),
        ([0.0, -0.0], "different values, got -0.0 twice"),
        (list(range(MOST_VALUES + 1)), "at most 100,000 values, got 100,001"),
        ({"from": 0, "to": 1}, "needs step or count"),
        ({"from": 0, "to": 1, "step": 0.1, "count": 3}, "needs step or count"),
        ({"from": 0, "count": 3}, "needs to"),
        ({"to": 0, "count": 3}, "needs from"),
        ({"from": 0, "to": 1, "cuont": 3}, "'cuont'; did you mean 'count'"),
        ({"from": 0, "to": 1, "step": 0}, "step must be a finite number other than 0"),
        ({"from": 0, "to": 1, "step": -0.1}, "from 0 to 1 by -0.1 is empty"),
        ({"from": 1, "to": 0, "step": 0.1}, "from 1 to 0 by 0.1 is empty"),
        ({"from": 0, "to": 1, "count": 0}, "count must be an integer from 1"),
        ({"from": 0, "to": 1, "count": 2.5}, "count must be an integer from 1"),
        ({"from": 0, "to": 1, "count": 1}, "cannot have 1 different values"),
        ({"from": 1, "to": 1, "count": 2}, "cannot have 2 different values"),
        ({"from": 0, "to": 1, "count": 3, "log": True}, "ends above 0"),
        ({"from": 1, "to": 2, "step": 0.5, "log": True}, "takes count, not step"),
        ({"from": 1, "to": 2, "count": 2, "log": "yes"}, "log must be true or false"),
        ({"from": "a", "to": 1, "count": 3}, "from must be a finite number, got 'a'"),
        ({"from": True, "to": 2, "count": 2}, "from must be a finite number, got True"),
        ({"from": 0, "to": 1e300, "step": 1e-10}, "at most 100,000 values, got more"),
        ({"from": 0, "to": 10**9, "step": 1}, "at most 100,000 values, got about 10"),
        ({"from": -1.7e308, "to": 1.7e308, "count": 5}, "too wide"),
        ({"from": 1.0, "to": 1.0 + 1e-15, "count": 5}, "different values"),
    ],
)
def test_ranges_that_make_no_sense(entry, message):
    with pytest.raises(InvalidSpecification, match=message) as caught:
        values(entry)
    assert str(caught.value).startswith("rule.tau")


A, B, C = Axis("rule.tau", (1, 2)), Axis("rule.revision", (3, 4)), Axis("game.players", (5, 6, 7))


def test_crossed_the_last_varies_fastest():
    groups, points = expand([A, C], [])
    assert groups == [("rule.tau",), ("game.players",)]
    assert [(p["rule.tau"], p["game.players"]) for p in points] == [(1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 7)]


def test_side_by_side():
    groups, points = expand([A, B, C], [("rule.tau", "rule.revision")])
    assert groups == [("rule.tau", "rule.revision"), ("game.players",)]
    assert [(p["rule.tau"], p["rule.revision"]) for p in points[::3]] == [(1, 3), (2, 4)]
    assert len(points) == 6


def test_what_is_zipped_may_be_absent_here():
    """Another rule of the study may have both."""
    groups, points = expand([A], [("rule.tau", "rule.revision")])
    assert groups == [("rule.tau",)]
    assert points == [{"rule.tau": 1}, {"rule.tau": 2}]


def test_plain_data_from_numpy():
    found = as_plain(
        {"a": np.int64(3), "b": np.array([0.5, 1.5]), "c": (np.float32(0.5), np.bool_(True)), "d": range(2)}
    )
    assert found == {"a": 3, "b": [0.5, 1.5], "c": [0.5, True], "d": [0, 1]}
    assert type(found["a"]) is int
    assert found["c"][1] is True
