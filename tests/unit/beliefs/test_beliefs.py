"""Beliefs without a mixture, against a slow reference by definitions: what is known, a constant, a running mean.

A run is predicted, not only replayed: the reference takes the documented draws, its own store of readings and its
own believed utilities, and must arrive at the same profiles. References with one thing wrong must be caught.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.beliefs import Communication, Constant, Known, RunningMean, SplitMerge
from potentia.beliefs.observations import KNOWN
from potentia.games import Coverage, World
from tests import games
from tests.belief_oracle import (
    ALIKE,
    HILLS,
    TEAM,
    WRONG,
    WRONG_MEANS,
    MeanPlayers,
    begin,
    bits,
    followed,
    mixture,
    split_merge,
    warm,
)
from tests.coverage_cases import CROWDS, PLANS, Case, as_rule, cases
from tests.coverage_oracle import Plan
from tests.drift_oracle import targets_of

few = settings(max_examples=16, deadline=None, derandomize=True)
STEPS = 30


def named(belief):
    return f"{belief.name}, noise" if getattr(belief, "noise", 0) else belief.name


# What is known changes nothing ------------------------------------------------------------------------


def played(game, rule, belief=None, seed=2, record=("profile", "welfare")):
    return pt.begin(game, rule, seed, record=record, compiled=False, belief=belief).advance(STEPS)


def same(run, other):
    """Whether two runs went the same way, to the bit, in all that both recorded."""
    first, second = run.trace(), other.trace()
    shared = set(first.scalars) & set(second.scalars)
    return first.profiles.tobytes() == second.profiles.tobytes() and all(
        first.scalars[name].tobytes() == second.scalars[name].tobytes() for name in shared
    )


@pytest.mark.parametrize("where", games.ALL)
@pytest.mark.parametrize("name", games.RULES)
def test_the_truth_as_a_belief_changes_nothing(where, name):
    game, rule = games.ALL[where](), pt.rules.rule_from(games.RULES[name])
    assert same(played(game, rule, Known()), played(game, rule))


ALL_KNOWN = {
    "known": Known(),
    "constant": Constant(99.0, survey="all"),
    "mixture": mixture(2, survey="all"),
    "split-merge": split_merge(30, survey="all", communication=Communication(2)),
}
CHARTED = {name: CROWDS[name] for name in ("no flags", "cell", "range", "marginal", "far", "free")} | {"hills": TEAM}


@functools.cache
def informed(where, name):
    case = CHARTED[where]
    record = ("profile", "welfare", *case.game.recorders)
    return played(case.game, as_rule(PLANS[name]), record=record)


@pytest.mark.parametrize("belief", ALL_KNOWN)
@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("no flags", "blll"),
        ("range", "blll"),
        ("cell", "joint"),
        ("hills", "joint"),
        ("range", "unilateral"),
        ("marginal", "guard"),
        ("far", "own, guard"),
        ("cell", "own"),
        ("hills", "own"),
        ("free", "world"),
    ],
)
def test_what_was_surveyed_is_known(where, name, belief):
    case = CHARTED[where]
    run = played(
        case.game, as_rule(PLANS[name]), ALL_KNOWN[belief], record=("profile", "welfare", *case.game.recorders)
    )
    assert same(run, informed(where, name))
    for view in run.beliefs:
        assert view.seen.all()
        assert view.worth.tobytes() == case.world.worth.tobytes()
    assert bool(run.beliefs) == (belief != "known")


@pytest.mark.parametrize("where", ["cell", "range"])
def test_one_cell_left_out_of_a_survey_is_noticed(where):
    case, rule = CHARTED[where], as_rule(PLANS["joint"])
    nearly = np.ones(case.world.worth.shape, bool)
    assert same(played(case.game, rule, Constant(99.0, sense="cell", survey=nearly)), informed(where, "joint"))
    nearly[3, 2] = False  # a wall, which nobody can visit
    assert not same(played(case.game, rule, Constant(99.0, sense="cell", survey=nearly)), informed(where, "joint"))


def test_believers_share_the_draws_of_those_who_know():
    """The key does not depend on the belief: runs with one seed differ by what players believe and by no draw."""
    case, rule = TEAM, as_rule(warm("joint"))
    keys = {begin(case, warm("joint"), belief).key for belief in (Constant(0.1), SplitMerge())}
    assert keys == {pt.begin(case.game, rule, 1, compiled=False).key}
    assert begin(case, warm("joint"), Constant(0.1)).game.fingerprint() != case.game.fingerprint()


# A constant -------------------------------------------------------------------------------------------

CONSTANTS = {
    "value": Constant(0.01),
    "cell": Constant(0.002, share=0.5, sense="cell"),
    "alone": Constant(0.02, communication=Communication(0)),
    "near": Constant(0.01, communication=Communication(3)),
    "ratios": Constant(0.01, communication=Communication(4, 1.3, 1.2), sense="cell"),
    "noise": Constant(0.02, noise=0.01),
    "noise, near": Constant(0.02, noise=0.01, communication=Communication(3)),
    "corner": Constant(share=0.7, survey=[[x + y > 9 for x in range(8)] for y in range(8)]),
}


@st.composite
def constants(draw):
    radius, novice, news = (st.sampled_from(values) for values in ([0, 1.5, 3, math.inf], [1, 1.5, 2], [1, 1.2]))
    link = Communication(draw(radius), draw(novice), draw(news))
    return Constant(
        draw(st.sampled_from([0.0, 0.3, 5.0, -1.0])),
        draw(st.sampled_from([0.0, 0.5])),
        sense=draw(st.sampled_from(["range", "cell"])),
        noise=draw(st.sampled_from([0.0, 0.0, 0.2])),
        communication=link,
        survey=draw(st.sampled_from([None, None, "all"])),
    )


@few
@given(cases(), st.sampled_from(sorted(PLANS)), st.sampled_from([0.05, 0.3, 3.0]), constants(), st.integers(0, 5))
def test_every_step_of_a_constant_belief_is_foreseen(case, name, tau, belief, seed):
    """Any map with walls, any team, any rule."""
    plan = Plan(**{**vars(PLANS[name]), "tau": tau})
    assert followed(case, plan, begin(case, plan, belief, seed).advance(STEPS), belief) == set()


@functools.cache
def constant_run(which, name, case=TEAM):
    return begin(case, warm(name), CONSTANTS[which], 3).advance(STEPS)


@pytest.mark.parametrize(
    ("which", "name"),
    [(which, "joint") for which in CONSTANTS]
    + [(which, name) for which in ("cell", "noise, near") for name in ("blll", "unilateral")],
)
def test_every_step_on_the_hills_is_foreseen(which, name):
    run = constant_run(which, name)
    assert followed(TEAM, warm(name), run, CONSTANTS[which]) == set()
    assert run.trace().moves[-1] > 0


@pytest.mark.parametrize(
    ("what", "which", "where"),
    [
        ("trial from the truth", "value", "places"),
        ("trial from the truth", "cell", "places"),
        ("current from the belief", "cell", "places"),
        ("current from the belief", "noise", "expected"),
        ("overlap forgotten", "value", "places"),
        ("overlap known", "cell", "places"),
        ("overlap known", "value", "expected"),
        ("flags ignored", "value", "expected"),
        ("moves for nothing", "value", "expected"),
        ("observes before the move", "value", "places"),
        ("observes before the move", "cell", "cells_known"),
        ("reads its range", "cell", "cells_known"),
        ("reads its cell", "value", "cells_known"),
        ("no model", "value", "places"),
        ("recalls nothing", "value", "places"),
        ("last reading", "noise", "places"),
        ("last reading", "value", "visits"),
        ("no noise", "noise", "belief_error"),
    ],
)
def test_wrong_reference_does_not_foresee_a_constant_belief(what, which, where):
    found = followed(TEAM, warm("joint"), constant_run(which, "joint"), CONSTANTS[which], WRONG[what])
    assert where in found


def test_views_show_what_was_read_and_what_is_expected():
    run = begin(ALIKE, warm("joint"), Constant(0.25, share=2.0), 3).advance(8)
    (view,) = run.beliefs
    seen = np.zeros(HILLS.worth.shape, bool)
    for profile, robot in ((p, i) for p in run.trace().profiles for i in range(3)):
        seen[tuple(ALIKE.game.covered(robot, int(profile[robot])).T[::-1])] = True
    assert 0 < seen.sum() < 64
    assert (view.seen == seen).all()
    np.testing.assert_array_equal(view.worth, np.where(seen, HILLS.worth, 0.25 + 2 * HILLS.worth[seen].max()))
    assert view.robots == (0, 1, 2)
    assert view.num_components == 0
    assert view.means.shape == (0, 2)
    assert view.covariances.shape == (0, 2, 2)
    assert view.error(HILLS.worth) == pytest.approx(run.trace().belief_error[-1], rel=1e-12)
    assert [v.worth.tobytes() for v in run.trace().beliefs] == [view.worth.tobytes()]


def test_believers_of_worthless_cells_stay_and_optimists_explore():
    timid, bold = (begin(ALIKE, warm("joint", 1e-4), Constant(value), 3).advance(200).trace() for value in (0.0, 1.0))
    assert timid.cells_known[-1] < 40
    assert bold.cells_known[-1] > 60


# Readings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("belief", [Constant(1.0), Constant(1.0, noise=0.5), split_merge(25)], ids=named)
def test_a_mind_holds_no_more_than_the_cells_there_are(belief):
    """However long: each distinct cell once."""
    small = Case(World(np.random.default_rng(1).random((3, 4))), (1.5, 1.0), (0.0, 0.0))
    run = begin(small, warm("joint", 3.0), belief).advance(500)
    store = run.state.mind.store
    assert store.tally[0, KNOWN] == 12
    assert store.cell.shape == (1, 12)
    assert store.visits.sum() > 900
    assert (run.trace().cells_known <= 12).all()
    assert sorted(store.cell[0]) == sorted(np.flatnonzero(store.slot[0] > 0))


def test_without_noise_readings_are_the_worth():
    run = begin(TEAM, warm("joint"), Constant(), 5).advance(STEPS)
    (view,) = run.beliefs
    assert view.worth[view.seen].tobytes() == HILLS.worth[view.seen].tobytes()


SIGMA = 0.3


@functools.cache
def many_readings(sense="cell"):
    """Standard errors of the stored means of many independent readings: deviations times √visits."""
    flat = Case(World(np.full((1, 2), 5.0)), (0.0, 1.0), (0.0, 0.0))
    found = []
    for seed in range(40):
        belief = Constant(0.0, noise=SIGMA, sense=sense, communication=Communication(0))
        run = begin(flat, warm("joint", 10.0), belief, seed).advance(50)
        for view in run.beliefs:
            found += [((view.worth - 5.0) * np.sqrt(view.visits))[view.seen]]
    return np.concatenate(found)


@pytest.mark.parametrize("sense", ["cell", "range"])
def test_readings_are_the_worth_and_a_normal_error(sense):
    """Mean and variance within exact bounds, at a failure rate of 1e-6; sigma off by a factor of 1.4 is caught."""
    from scipy import stats

    deviations = many_readings(sense)
    number, alpha = len(deviations), 1e-6 / 6
    assert number >= 150

    def refused(sigma, centre=0.0):
        z = (deviations - centre) / sigma
        mean = 2 * stats.norm.sf(abs(z.mean()) * math.sqrt(number)) < alpha
        square = float((z**2).sum())
        spread = 2 * min(stats.chi2.sf(square, number), stats.chi2.cdf(square, number)) < alpha
        return mean or spread or stats.kstest(z, "norm").pvalue < alpha

    assert not refused(SIGMA)
    assert refused(SIGMA * 1.4)
    assert refused(SIGMA / 1.4)
    assert refused(SIGMA, centre=SIGMA / 2)


def test_a_cell_counts_with_the_mean_of_its_readings():
    """One robot on one cell and a neighbour, by the draws."""
    from potentia.kernel.draws import NOISE, normal_nth

    strip = Case(World([[1.0, 2.0]]), (0.0,), (0.0,))
    belief = Constant(0.0, noise=SIGMA)
    run = begin(strip, warm("blll", 10.0), belief, 4).advance(30)
    readings = {0: [], 1: []}
    where = run.trace().profiles[:, 0].tolist()
    for n, cell in enumerate(where):
        if n == 0 or cell != where[n - 1]:
            readings[cell].append(1.0 + cell + SIGMA * normal_nth(run.key, 1, n - 1, 0, NOISE, 0))
    assert min(len(values) for values in readings.values()) > 3
    (view,) = run.beliefs
    assert view.visits.tolist() == [[len(readings[0]), len(readings[1])]]
    assert view.worth[0].tolist() == pytest.approx([np.mean(readings[0]), np.mean(readings[1])], rel=1e-12)
    assert len({*readings[0], *readings[1]}) == sum(map(len, readings.values()))  # no draw twice


# A field that drifts ----------------------------------------------------------------------------------

DRIFT = {"drift": [[0.3, 0.1], [-0.2, -0.25]], "drift_every": 3}


class Drifting(Case):
    """A team on hills that move."""

    @functools.cached_property
    def game(self):
        return Coverage(self.world, len(self.delta), self.delta, flags=False, **DRIFT)


@pytest.mark.parametrize(
    "belief",
    [
        Constant(0.01, half_life=None),
        Constant(0.01, communication=Communication(3), half_life=None),
        mixture(2, half_life=None),
        split_merge(6, half_life=None),
    ],
    ids=named,
)
def test_every_step_of_believers_in_a_field_that_drifts_is_foreseen(belief):
    """Those that move read the field as it is after the step; what was read stands until it is read again."""
    case = Drifting(HILLS, (1.5, 1.0, 2.0), (0.0,) * 3)

    def worth_at(time):
        return {(x, y): f for y, row in enumerate(case.game.worth_at(time).tolist()) for x, f in enumerate(row)}

    targets_at = functools.partial(targets_of, HILLS, *DRIFT.values())
    run = begin(case, warm("joint"), belief, 3).advance(STEPS)
    assert followed(case, warm("joint"), run, belief, worth_at=worth_at, targets_at=targets_at) == set()
    late = followed(
        case, warm("joint"), run, belief, worth_at=lambda time: worth_at(max(0, time - 1)), targets_at=targets_at
    )
    assert late - {"targets_found"}
    assert followed(case, warm("joint"), run, belief)


def test_readings_of_a_field_that_drifts_are_the_last_ones():
    case = Drifting(HILLS, (1.5,) * 3, (0.0,) * 3)
    run = begin(case, warm("joint"), Constant(half_life=None), 3).advance(STEPS)
    last, before = {}, None
    for n, profile in enumerate(run.trace().profiles):
        for robot, action in enumerate(profile):
            if before is None or action != before[robot]:
                for x, y in case.game.covered(robot, int(action)).tolist():
                    last[x, y] = case.game.worth_at(n)[y, x]
        before = profile
    (view,) = run.beliefs
    assert {(x, y): view.worth[y, x] for y, x in np.argwhere(view.seen)} == last
    assert view.error(case.game.worth_at(STEPS)) > 0.1  # most of what was read holds no longer


# A running mean ---------------------------------------------------------------------------------------

MEAN_RULES = ["lll", "slll", "blll", "p-sblll", "p-sblll-unilateral"]


def mean_run(where, name, belief, seed=2):
    return played(games.ALL[where](), pt.rules.rule_from(games.RULES[name]), belief, seed)


def foreseen(where, name, belief, kind=MeanPlayers, run=None):
    """Whether the reference arrives at the same profiles and the same means."""
    game = games.ALL[where]()
    run = run or mean_run(where, name, belief)
    profiles = run.trace().profiles.tolist()
    play = kind(game, profiles[0], belief)
    for n, profile in enumerate(profiles[1:]):
        play.step(run.rule, run.key, n)
        if play.profile != profile:
            return False
    mind, first = run.state.mind, 0
    shapes = [game.num_actions] * game.num_players if belief.per == "profile" else [(n,) for n in game.num_actions]
    for notes, shape in zip(play.received, shapes, strict=True):
        size = math.prod(shape)
        table = {np.unravel_index(k, shape): first + k for k in range(size)}
        wanted = {entry if isinstance(entry, tuple) else (entry,): values for entry, values in notes.items()}
        for entry, place in table.items():
            values = wanted.get(tuple(map(int, entry)), [])
            if mind.times[place] != len(values):
                return False
            if values and not math.isclose(mind.mean[place], math.fsum(values) / len(values), abs_tol=1e-12):
                return False
        first += size
    return True


@pytest.mark.parametrize("belief", [RunningMean("action", 0.7), RunningMean("profile", -0.4)], ids=named)
@pytest.mark.parametrize("name", MEAN_RULES)
@pytest.mark.parametrize("where", games.ALL)
def test_every_step_of_a_running_mean_is_foreseen(where, name, belief):
    assert foreseen(where, name, belief)


@pytest.mark.parametrize(
    ("what", "per"),
    # by the profile, what is received is always the same
    [(what, "action") for what in WRONG_MEANS]
    + [(what, "profile") for what in ("start not noted", "trial from the truth", "by the other key", "zero at first")],
)
def test_wrong_reference_does_not_foresee_a_running_mean(what, per):
    belief = RunningMean(per, 0.7)
    runs = {name: mean_run("normal_form", name, belief) for name in ("blll", "p-sblll")}
    assert all(foreseen("normal_form", name, belief, run=run) for name, run in runs.items())
    assert not all(foreseen("normal_form", name, belief, WRONG_MEANS[what], run) for name, run in runs.items())


def test_a_running_mean_counts_every_step_and_the_start():
    run = mean_run("normal_form", "blll", RunningMean())
    profiles, game = run.trace().profiles, games.normal_form()
    mind = run.state.mind
    for player, first in enumerate((0, 2, 5)):
        for action in range(game.num_actions[player]):
            got = [game.utility(player, p) for p in profiles.tolist() if p[player] == action]
            assert mind.times[first + action] == len(got)
            assert mind.mean[first + action] == pytest.approx(np.mean(got) if got else 0.0, abs=1e-12)
    assert mind.times.sum() == 3 * (STEPS + 1)
    assert run.beliefs == ()


def test_a_running_mean_serves_a_coverage_game():
    """With flags, costs and moves along the grid; the mean is of utilities received, which include no way there."""
    case, belief = CROWDS["cell"], RunningMean("action", 0.5)
    run = begin(case, PLANS["joint"], belief).advance(STEPS)
    from tests.coverage_oracle import Play

    play = Play(case.oracle(), case.places(run.start))
    received = [{} for _ in play.places]
    for profile in run.trace().profiles:
        play.stand(case.places(profile))
        for robot, action in enumerate(profile.tolist()):
            value = play.oracle.utility(robot, play.places, play.places[robot], play.laid)
            received[robot].setdefault(action, []).append(value)
    table = run.state.mind.mean.reshape(4, -1)
    for robot, notes in enumerate(received):
        for action, values in notes.items():
            assert table[robot, action] == pytest.approx(np.mean(values), abs=1e-12)
        assert run.state.mind.times.reshape(4, -1)[robot].sum() == STEPS + 1


def test_runs_with_one_seed_have_the_same_bits():
    for belief in (Constant(0.01, noise=0.02, communication=Communication(3)), split_merge(20, noise=0.001)):
        first, again, other = (begin(TEAM, warm("joint"), belief, seed).advance(STEPS).trace() for seed in (3, 3, 4))
        assert bits(first) == bits(again) != bits(other)


def test_a_world_without_a_mixture_has_no_true_parameters():
    plain = Case(World(HILLS.worth), (1.5,) * 3, (0.0,) * 3)
    hilly = begin(ALIKE, warm("joint"), split_merge(10), 3).advance(STEPS).trace()
    trace = begin(plain, warm("joint"), split_merge(10), 3).advance(STEPS).trace()
    assert np.isnan(trace.parameter_error).all()
    assert np.isnan(trace.right_number).all()
    assert not np.isnan(hilly.parameter_error).any()
    assert trace.profiles.tobytes() == hilly.profiles.tobytes()
    assert trace.components.tobytes() == hilly.components.tobytes()
