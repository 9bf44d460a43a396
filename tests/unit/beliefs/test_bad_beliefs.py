"""Bad beliefs: each wrong parameter is named, with what was expected and what arrived; odd worlds are played."""

from __future__ import annotations

import json
import math
import re

import attrs
import numpy as np
import pytest

import potentia as pt
from potentia.beliefs import Belief, Believing, Communication, Constant, Known, Mixture, RunningMean, SplitMerge
from potentia.errors import InvalidBelief, InvalidRun, TooLarge
from potentia.games import Coverage, World, gaussian_world
from tests.belief_oracle import HILLS, split_merge
from tests.unit.bad import NAN, dilemma, refuses

RULE = pt.rule("p-sblll", tau=0.1, revision=0.4)
BIG = 10**400  # an integer that no float holds


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Nothing is compiled."""
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)


# Parameters; what they declare is checked in tests/unit/test_declarations.py ---------------------------

NUMBERS = {
    "value": ((Constant,), -1e100, 1e100),
    "share": ((Constant,), 0.0, 1e6),
    "noise": ((Constant, Mixture, SplitMerge), 0.0, 1e100),
    "V": ((Mixture, SplitMerge), 0.0, 1e100),
    "f_mode": ((Mixture, SplitMerge), 5e-324, 1e100),
    "floor": ((Mixture, SplitMerge), 5e-324, 1e100),
    "tolerance": ((Mixture, SplitMerge), 0.0, 1e100),
    "growth": ((Mixture, SplitMerge), 0.0, 1.0),
    "optimism": ((Mixture, SplitMerge), 0.0, 1e6),
    "initial": ((RunningMean,), -1e300, 1e300),
}
COUNTS = {
    "em_steps": (Mixture, SplitMerge),
    "settle_steps": (Mixture, SplitMerge),
    "components": (Mixture,),
    "aic_every": (SplitMerge,),
    "most": (SplitMerge,),
    "repeats": (SplitMerge,),
}


@pytest.mark.parametrize("kind", [Constant, Mixture, SplitMerge])
@pytest.mark.parametrize("value", [None, 3, 3.0, "all", {"range": 3}, Communication])
def test_communication_is_a_communication(kind, value):
    message = rf"^communication must be a Communication\(radius\), got {re.escape(f'{value!r:.60}')}"
    refuses(lambda: kind(communication=value), InvalidBelief, message)


SURVEYS = [
    "everything",
    "",
    "ALL",
    1,
    0.5,
    True,
    [True, False],
    [[1, 0]],
    [[0.0]],
    np.ones((2, 2)),
    np.ones((2, 2, 2), bool),
]
SURVEYS += [[[True], [True, False]], {"cells": 1}, [["yes"]], [[None]], [[]], NAN]


@pytest.mark.parametrize("value", SURVEYS, ids=lambda value: f"{value!r:.25}")
@pytest.mark.parametrize("kind", [Constant, SplitMerge])
def test_bad_survey(kind, value):
    refuses(lambda: kind(survey=value), InvalidBelief, r'^survey must be None, "all" or a mask \(rows, columns\), got ')


@pytest.mark.parametrize("name", COUNTS)
def test_counts_fit_into_a_machine_word(name):
    for kind in COUNTS[name]:
        assert getattr(kind(**{name: 2**62 - 1}), name) == 2**62 - 1
        refuses(lambda: kind(**{name: 2**62}), InvalidBelief, rf"^{name} must be below 2\^62, got about 10\^18")  # noqa: B023
        refuses(lambda: kind(**{name: BIG}), InvalidBelief, rf"^{name} must be below 2\^62, got about 10\^400")  # noqa: B023


@pytest.mark.parametrize("name", NUMBERS)
def test_bounds_themselves_are_allowed(name):
    kinds, least, most = NUMBERS[name]
    for kind in kinds:
        for value in (least, most, np.float32(0.5), 1, np.int64(1)):
            assert getattr(kind(**{name: value}), name) == float(value)
            assert type(getattr(kind(**{name: value}), name)) is float


def test_unknown_parameters_are_python_errors():
    with pytest.raises(TypeError, match="aic"):
        SplitMerge(aic=3)
    with pytest.raises(TypeError):
        Constant(0.1, 0.2, 0.3)  # what is common to beliefs goes by name


def test_beliefs_never_change_and_say_what_they_are():
    belief = SplitMerge(aic_every=np.int32(7), noise=np.float32(0.5), survey=np.eye(2, dtype=bool))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        belief.most = 3
    spec = json.loads(belief.describe())
    assert spec["belief"] == "split-merge"
    assert (spec["aic_every"], spec["noise"], spec["survey"]) == (7, 0.5, [[True, False], [False, True]])
    assert spec["communication"] == {"radius": None, "novice": 1.0, "news": 1.0}  # JSON has no infinity
    assert belief == SplitMerge(aic_every=7, noise=0.5, survey=[[True, False], [False, True]])
    assert belief.describe() != SplitMerge(aic_every=7, noise=0.5).describe()
    assert hash(belief) == hash(attrs.evolve(belief))


# Beliefs that do not fit ------------------------------------------------------------------------------


def cover(world=HILLS, robots=3, **options):
    return Coverage(world, min(robots, world.num_free), 1.5, **{"flags": False, **options})


@pytest.mark.parametrize("belief", [Constant(0.1), Mixture(), SplitMerge()], ids=lambda b: b.name)
@pytest.mark.parametrize("game", [dilemma, lambda: pt.game("ring")])
def test_a_field_belief_needs_a_field(belief, game):
    message = (
        rf"^{belief.name} is a belief about a worth field and needs a Coverage game, got .*; RunningMean\(\) serves"
    )
    refuses(lambda: pt.begin(game(), RULE, belief=belief), InvalidBelief, message)
    refuses(lambda: pt.run(game(), RULE, 5, belief=belief), InvalidBelief, message)
    refuses(lambda: pt.run_batch(game(), RULE, 5, [1], belief=belief), InvalidBelief, message)


@pytest.mark.parametrize("belief", ["split-merge", 3, {"rule": "lll"}, SplitMerge, Communication(3), True])
def test_a_belief_is_a_belief(belief):
    got = re.escape(f"{belief!r:.60}")
    message = rf"^belief must be a belief such as SplitMerge\(\) or Constant\(0\.002\), got {got}"
    refuses(lambda: pt.begin(cover(), RULE, belief=belief), InvalidBelief, message)
    refuses(lambda: pt.run_batch(cover(), RULE, 3, [0], belief=belief), InvalidBelief, message)
    refuses(lambda: Believing(cover(), belief), InvalidBelief, message)


def test_a_game_comes_first():
    refuses(lambda: pt.begin("paper", RULE, belief=SplitMerge()), InvalidRun, "game must be a potentia game")


@pytest.mark.parametrize("shape", [(8, 7), (1, 64), (9, 9), (1, 1)])
def test_a_survey_has_the_shape_of_the_worth(shape):
    message = rf"^survey must have the shape of the worth, \(8, 8\), got {re.escape(str(shape))}"
    for kind in (Constant, SplitMerge):
        refuses(lambda: pt.begin(cover(), RULE, belief=kind(survey=np.ones(shape, bool))), InvalidBelief, message)  # noqa: B023


RECORDERS = [
    (Constant(), "cells_knwon", "did you mean 'cells_known'"),
    (Constant(), "components", "cells_known"),
    (Constant(), "parameter_error", "belief_error"),
    (SplitMerge(), "right_numbers", "did you mean 'right_number'"),
    (RunningMean(), "belief_error", "record must name some of"),
    (Known(), "cells_known", "record must name some of"),
    (None, "belief_error", "record must name some of"),
]


@pytest.mark.parametrize(("belief", "name", "message"), RECORDERS)
def test_unknown_recorder(belief, name, message):
    caught = refuses(lambda: pt.begin(cover(), RULE, belief=belief, record=(name,)), InvalidRun, message)
    assert f"got {name!r}" in str(caught)


def test_what_was_not_recorded_is_said():
    trace = pt.begin(cover(), RULE, belief=SplitMerge()).trace()
    with pytest.raises(InvalidRun, match=r'components was not recorded; pass record=\("components", \.\.\.\)'):
        _ = trace.components


def test_sizes_that_cannot_be_are_refused_before_anything_is_done():
    for belief in (SplitMerge(most=10**12), Mixture(components=10**12), SplitMerge(most=2**61)):
        refuses(lambda: pt.begin(cover(), RULE, belief=belief), TooLarge, "a run of Coverage.* needs")  # noqa: B023
    crowd = pt.game("ring", players=50)
    refuses(
        lambda: pt.begin(crowd, RULE, belief=RunningMean("profile")),
        TooLarge,
        r'a running mean per profile needs about 10\^\d+ bytes.*use per="action"',
    )
    assert pt.begin(crowd, RULE, belief=RunningMean("action")).advance(3).step == 3


class Guess(Belief):
    """A belief that registers nothing."""

    name = "guess"
    summary = "nothing"

    def data(self, game):
        return (1,)

    def new_mind(self, game):
        return (np.zeros(0),)


def test_a_belief_without_an_estimate_says_so():
    run = pt.begin(dilemma(), RULE, belief=object.__new__(Guess), compiled=False)
    with pytest.raises(NotImplementedError, match="this belief has no estimate"):
        run.advance(50)


# Odd worlds and extreme parameters --------------------------------------------------------------------


def one_cell(shape=(7, 7), worth=1.0):
    field = np.zeros(shape)
    field[3, 3] = worth
    return World(field)


WORLDS = {
    "no worth": World(np.zeros((6, 6))),
    "one row": gaussian_world((9, 1), [1.0], [[3.0, 0.5]], [np.eye(2)]),
    "one column": gaussian_world((1, 9), [1.0], [[0.5, 6.0]], [np.eye(2)]),
    "one cell": World([[1.0]]),
    "one worthless cell": World([[0.0]]),
    "one cell of worth": one_cell(),
    "flat": World(np.ones((5, 6))),
    "tiny": World(HILLS.worth * 1e-300),
    "small squares": World(HILLS.worth * 1e-158),
    "huge": World(HILLS.worth * 1e299),
    "tiny and huge": World(np.where(HILLS.worth > 0.02, 1e298, 1e-300)),
    "walls": World(HILLS.worth, blocked=np.indices((8, 8)).sum(axis=0) % 4 == 1).largest_part(),
}
PLAYED = {
    "constant": Constant(0.01, share=0.5),
    "mixture": Mixture(components=2),
    "split-merge": split_merge(2),
    "apart": split_merge(2, communication=Communication(2), sense="cell"),
    "literal": split_merge(3, recall=False, calibrated=False, weighting="repeat", sample="cells"),
    "repeat": Mixture(components=3, weighting="repeat", f_mode=1e-100, V=1e100),
}


def check_sane(run):
    """No warning (they are errors here), and nothing that is not a number in what is believed."""
    for view in run.beliefs:
        assert np.isfinite(view.worth).all()
        assert np.isfinite(view.means).all()
        assert np.isfinite(view.covariances).all()
        assert view.num_components == 0 or view.weights.sum() == pytest.approx(1)
        assert (view.weights >= 0).all()
    trace = run.trace()
    assert np.isfinite(trace.belief_error).all()
    assert all(np.isfinite([row.aic_before, row.aic_after]).all() for row in trace.proposals)


def play(world, belief, steps=10, start=None, **options):
    game = cover(world, **options)
    record = ("profile", "welfare", *belief.recorders)
    return pt.begin(game, RULE, 1, belief=belief, record=record, start=start, compiled=False).advance(steps)


@pytest.mark.parametrize("which", PLAYED)
@pytest.mark.parametrize("where", WORLDS)
def test_odd_worlds_are_played(where, which):
    world = WORLDS[where]
    run = play(world, PLAYED[which])
    check_sane(run)
    if where == "no worth" and which in ("mixture", "split-merge"):
        assert run.beliefs[0].num_components == 0
        assert (run.beliefs[0].worth == 0).all()
        assert run.beliefs[0].error(world.worth) == 0


@pytest.mark.parametrize("which", ["mixture", "split-merge", "apart", "repeat"])
def test_the_smallest_worth_there_is(which):
    check_sane(play(World(np.full((4, 4), 5e-324)), PLAYED[which]))


@pytest.mark.parametrize("factor", [1e-300, 2.0**-700, 2.0**900])
def test_a_mixture_does_not_depend_on_the_unit_of_worth(factor):
    """By a power of two, nothing but the scale of predictions changes, to the bit."""
    belief = split_merge(4, survey="all")
    views = [play(World(HILLS.worth * f), belief, steps=8).beliefs[0] for f in (1.0, factor)]
    if math.frexp(factor)[0] == 0.5:
        assert views[0].means.tobytes() == views[1].means.tobytes()
        assert (views[0].worth * factor).tobytes() == views[1].worth.tobytes()
    assert views[0].means == pytest.approx(views[1].means, rel=1e-6)


@pytest.mark.parametrize("which", ["constant", "split-merge", "apart"])
def test_all_robots_on_one_cell(which):
    check_sane(play(HILLS, PLAYED[which], start=[20, 20, 20]))
    check_sane(play(HILLS, PLAYED[which], start=[20, 20, 20], flags=True, K=0.1))


EXTREMES = [
    {"floor": 1e-100},
    {"floor": 1e100},
    {"V": 1e100, "weighting": "repeat", "f_mode": 5e-324},
    {"V": 0.0, "weighting": "repeat", "f_mode": 1e100},
    {"optimism": 1e6},
    {"noise": 1e100},
    {"noise": 1e-300},
    {"noise": 5.0, "weighting": "repeat"},
    {"tolerance": 1e100},
    {"tolerance": 0.0, "settle_steps": 60},
    {"growth": 1.0},
    {"communication": Communication(1e200, 1e300, 1e300)},
    {"communication": Communication(5e-324)},
    {"most": 1},
    {"most": 40, "repeats": 40, "sample": "cells"},
]


@pytest.mark.parametrize("options", EXTREMES, ids=str)
def test_extreme_parameters_are_played(options):
    check_sane(play(HILLS, split_merge(5, **options)))


@pytest.mark.parametrize("value", [-1e100, 1e100])
def test_extreme_constants_are_played(value):
    check_sane(play(HILLS, Constant(value, share=1e6)))
    run = pt.begin(dilemma(), RULE, belief=RunningMean("profile", 3 * value), compiled=False).advance(20)
    assert np.isfinite(run.state.mind.mean).all()


def test_noise_may_make_readings_negative():
    """Cells of a negative reading count for nothing, and predictions stay at 0 or above."""
    run = play(HILLS, split_merge(4, noise=10.0, recall=False), steps=30)
    check_sane(run)
    assert run.state.mind.store.reading.min() < -1
    assert run.beliefs[0].worth.min() >= 0


# By name ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "belief",
    [
        pt.beliefs.Known(),
        pt.beliefs.RunningMean(per="profile", initial=2.0),
        Constant(0.5, share=0.1, communication=Communication(3.0, novice=2.0)),
        Mixture(2, survey=[[True, False]]),
        SplitMerge(noise=0.1),
    ],
    ids=lambda belief: belief.name,
)
def test_a_belief_comes_back_from_its_plain_data(belief):
    plain = json.loads(json.dumps(belief.spec()))
    assert pt.beliefs.belief_from(plain) == belief
    assert pt.beliefs.belief_from(belief) is belief
    name = plain.pop("belief")
    assert pt.belief(name, **plain) == belief
    assert pt.beliefs.registered()[name] is type(belief)


def test_a_belief_by_name_says_what_is_wrong():
    listed = "^belief must be one of constant, known, .*, got 'split'; did you mean 'split-merge'"
    refuses(lambda: pt.belief("split"), InvalidBelief, listed)
    refuses(lambda: pt.belief("known", noise=1), InvalidBelief, r"^known has no parameter 'noise' \(it has none\)")
    refuses(
        lambda: pt.belief("constant", valu=1), InvalidBelief, "^constant has no parameter 'valu'; did you mean 'value'"
    )


def test_runs_take_plain_data_of_a_belief():
    runs = [pt.run(cover(), RULE, 20, 1, belief=belief) for belief in (SplitMerge(), {"belief": "split-merge"})]
    assert runs[0].final.tolist() == runs[1].final.tolist()


def test_a_belief_of_ones_own_is_known_to_specifications(monkeypatch):
    monkeypatch.setattr(pt.beliefs.base._registry, "_known", pt.beliefs.registered())

    @pt.beliefs.register
    @attrs.frozen
    class Hopeful(Constant):
        name = "hopeful"
        summary = "every unseen cell is worth a lot"
        hope: float = 3.0

    assert pt.belief("hopeful", hope=2.0) == Hopeful(hope=2.0)
    from potentia.studies.building import belief_from

    assert belief_from({"name": "hopeful", "hope": 2.0, "radius": 4.0}).communication == Communication(4.0)
    with pytest.raises(InvalidBelief, match="a belief named 'hopeful' exists already"):
        pt.beliefs.register(type("Other", (Hopeful,), {}))
