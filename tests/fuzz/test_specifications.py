"""Specifications with something wrong at a random place: a plan comes out, or one line; never a traceback."""

from __future__ import annotations

import copy
import datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from potentia.errors import PotentiaError
from potentia.games import own
from potentia.studies.planning import Plan, plan
from potentia.studies.specification import specification_from, with_change
from potentia.studies.sweeping import check_number
from tests.fuzz.specifications import VALID

pytestmark = pytest.mark.filterwarnings("ignore::potentia.errors.AssumptionBroken")
FUZZ = settings(
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

# Sizes between ten thousand and what fits in no memory are left out: such games are built, which takes its time.
numbers = st.one_of(
    st.integers(-3, 40),
    st.sampled_from([2**31, 10**15, 2**62 - 1, 2**62, 2**63, 2**64, 10**30, 10**308, 10**400]),
    st.sampled_from([-(2**63), -(10**400)]),
    st.floats(-2, 30),
    st.sampled_from([0.0, -0.0, 1e-320, 1e-300, 1e15, 1e300, 1.7e308, float("nan"), float("inf"), -float("inf")]),
)
texts = st.one_of(
    st.text(st.characters(), max_size=6),  # surrogates, control characters and all
    st.sampled_from(["", "ring", "lll", "auto", "signal", "signal:world", "relative:0.1", "relative:" * 300, "paper"]),
    st.sampled_from(["random:x", "random:1:2:3", "random:" + "9" * 30, "map.csv", "../x.json", "a\nb.csv", "none"]),
    st.sampled_from(["piecewise:0=1,x", "geometric:1", "vanishing:2", "tsallis:nan", "1e999", "0.1,0.2", "x" * 1500]),
    st.sampled_from(["rule.tau", "game.players", "\u2028", "\x00", "\ud800"]),
)
odd = st.sampled_from(
    [
        datetime.date(2024, 1, 1),
        datetime.datetime(2024, 1, 1, 12),
        datetime.time(12),
        b"bytes",
        1j,
        {1, 2},
        (0.1, 0.2),
        range(3),
        range(10**12),
        np.float32(0.1),
        np.int64(3),
        np.bool_(True),
        np.array([0.1, 0.2]),
        np.array(["a"]),
        np.arange(4).reshape(2, 2),
        object(),
        len,
    ]
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts, odd)
ranges = st.fixed_dictionaries(
    {},
    optional={"from": numbers, "to": numbers, "step": numbers, "count": numbers, "log": st.booleans(), "lg": numbers},
)
keys = st.one_of(
    texts, st.sampled_from(["name", "kind", "from", "to", "label", "file", "map", "tau"]), st.integers(0, 3)
)
junk = st.recursive(
    st.one_of(scalars, ranges),
    lambda part: st.one_of(st.lists(part, max_size=4), st.dictionaries(keys, part, max_size=3)),
    max_leaves=8,
)


def nested(depth):
    out = 0.1
    for _ in range(depth):
        out = [out]
    return out


@pytest.fixture(autouse=True, scope="module")
def nothing_plays():
    """No case may compile anything or reach the loop."""

    def play(*args, **options):
        pytest.fail("the loop was reached")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
        patch.setattr(own, "jit_disabled", lambda: True)
        patch.setattr("potentia.engine.runs.play_entry", play)
        yield


def places(plain, above=()):
    """Where something can be changed."""
    if len(above) > 10:
        return
    entries = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for name, part in entries:
        yield (*above, name)
        yield from places(part, (*above, name))


def mutate(data, plain):
    place = data.draw(st.sampled_from(list(places(plain))))
    *above, last = place
    inside = plain
    for name in above:
        inside = inside[name]
    how = data.draw(st.sampled_from(["junk", "junk", "junk", "drop", "rename", "add", "wrap", "twice", "deep"]))
    old = inside[last]
    if how == "junk":
        inside[last] = data.draw(junk)
    elif how == "drop":
        del inside[last]
    elif how == "rename" and isinstance(inside, dict):
        name = str(last)
        cut = data.draw(st.integers(0, len(name)))
        inside[name[:cut] + data.draw(texts) + name[cut + 1 :]] = inside.pop(last)
    elif how == "add" and isinstance(inside, dict):
        inside[data.draw(keys)] = data.draw(junk)
    elif how == "wrap":
        inside[last] = data.draw(st.sampled_from([[old], [[old]], {"x": old}, {"from": old, "to": old, "count": 1}]))
    elif how == "twice":
        inside[last] = [old, old]
    elif how == "deep":
        inside[last] = nested(data.draw(st.sampled_from([3, 9, 30])))


def comes_to(call):
    """A plan, or an error of ours in one line that is not too long to read."""
    try:
        specification = call()
        check_number(specification, many=True)
        built = plan(specification)
    except PotentiaError as error:
        lines = str(error).splitlines()
        assert len(lines) == 1, lines
        assert 0 < len(lines[0]) < 5000
        lines[0].encode("utf-8")  # a terminal can print it
        return None
    assert isinstance(built, Plan)
    assert built.points
    return built


def test_what_is_mutated_is_valid():
    """Otherwise every mutation would fail for the same reason."""
    assert [len(comes_to(lambda: specification_from(copy.deepcopy(one))).points) for one in VALID] == [12, 16, 3]  # noqa: B023


@settings(FUZZ, max_examples=1000)
@given(st.data())
def test_a_specification_with_something_wrong(data):
    plain = copy.deepcopy(data.draw(st.sampled_from(VALID)))
    for _ in range(data.draw(st.integers(1, 3))):
        if list(places(plain)):
            mutate(data, plain)
    comes_to(lambda: specification_from(plain))


@settings(FUZZ, max_examples=300)
@given(st.data())
def test_changes_from_the_command_line(data):
    key = data.draw(
        st.one_of(
            st.sampled_from(["steps", "seeds", "seeds.count", "rule.tau", "rule.P.tau", "rule.0.tau", "rule.².tau"]),
            st.sampled_from(["game.players", "game.name", "belief.name", "rule", "zip", "rule.99999999999999.tau"]),
            st.lists(texts, min_size=1, max_size=3).map(".".join),
        )
    )
    value = data.draw(st.one_of(texts, numbers.map(str), junk.map(str)))
    plain = copy.deepcopy(data.draw(st.sampled_from(VALID)))
    comes_to(lambda: specification_from(with_change(plain, f"{key}={value}")))


@pytest.mark.parametrize(
    "entry", [10**5000, -(10**5000), nested(50_000)], ids=["more digits than Python prints", "minus", "too deep"]
)
def test_what_python_itself_cannot_print(entry):
    for one in VALID:
        for place in places(one):
            plain = copy.deepcopy(one)
            inside = plain
            for name in place[:-1]:
                inside = inside[name]
            inside[place[-1]] = entry
            assert comes_to(lambda: specification_from(plain)) is None  # noqa: B023


@pytest.mark.parametrize("plain", [None, 3, "text", [], [{}], {1: 2}, {"steps": 5}, {}], ids=repr)
def test_no_specification_at_all(plain):
    assert comes_to(lambda: specification_from(plain)) is None
