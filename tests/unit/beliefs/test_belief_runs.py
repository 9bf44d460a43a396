"""Mixtures as beliefs inside runs: what is predicted, fitted and decided; compiled, saved and in batches.

Whole runs are predicted by a reference that fits with NumPy, proposals included. References with one thing wrong
must be caught.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import threading

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import potentia as pt
from potentia.beliefs import Communication, Constant, Proposal, RunningMean, SplitMerge
from potentia.errors import InvalidRun
from potentia.games import World, gaussian_world
from potentia.kernel.draws import PROPOSAL, uniform_nth
from tests import games
from tests.belief_oracle import (
    ALIKE,
    HILLS,
    TEAM,
    WRONG,
    Gaussians,
    Learner,
    Mind,
    akaike,
    begin,
    bits,
    em,
    followed,
    mixture,
    reference,
    split_merge,
    warm,
)
from tests.coverage_cases import Case, as_rule

STEPS = 30


@pytest.fixture
def plain(monkeypatch):
    """Everything in plain Python, also where there is no way to ask for it."""
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)


# Every step is foreseen -------------------------------------------------------------------------------

NEAR = Communication(2.5, 1.3, 1.5)
BELIEFS = {
    "two": mixture(2),
    "three": mixture(3, growth=0.0, em_steps=1),
    "two, near": mixture(2, noise=0.003, communication=Communication(3)),
    "three, near": mixture(3, communication=Communication(2, 2, 1.5), growth=0.0),
    "often": split_merge(1, growth=0.0, repeats=1),
    "five": split_merge(5),
    "near": split_merge(7, communication=NEAR),
    "alone": split_merge(9, communication=Communication(0), sense="cell"),
    "repeat": split_merge(5, sample="cells", weighting="repeat", V=0.3, f_mode=0.004),
    "literal": split_merge(4, recall=False, calibrated=False, optimism=0.0, noise=0.002),
    "model": split_merge(4, recall=False, sense="cell", optimism=0.3, most=2),
    "narrow": split_merge(6, floor=0.05, sense="cell"),
}


@functools.cache
def believing(which, name="joint", case=TEAM):
    return begin(case, warm(name), BELIEFS[which], 3).advance(STEPS)


@pytest.mark.parametrize(
    ("which", "name"),
    [(which, "joint") for which in BELIEFS] + [("five", "blll"), ("near", "unilateral"), ("three", "own, guard")],
)
def test_every_step_of_a_mixture_belief_is_foreseen(which, name):
    run = believing(which, name)
    assert followed(TEAM, warm(name), run, BELIEFS[which]) == set()


@pytest.mark.parametrize(
    ("what", "which", "where"),
    [
        ("trial from the truth", "five", "places"),
        ("current from the belief", "model", "places"),
        ("overlap forgotten", "five", "places"),
        ("flags ignored", "five", "places"),
        ("observes before the move", "five", "cells_known"),
        ("reads its cell", "five", "cells_known"),
        ("reads its range", "alone", "cells_known"),
        ("no bonus", "five", "places"),
        ("no bonus", "two", "places"),
        ("bonus anywhere", "five", "expected"),
        ("no model", "five", "belief_error"),
        ("recalls", "literal", "places"),
        ("recalls nothing", "five", "places"),
        ("not calibrated", "five", "worth"),
        ("as many as cells", "five", "proposals"),
        ("one each", "two", "places"),
        ("one each", "five", "proposals"),
        ("once each", "repeat", "proposals"),
        ("last reading", "two, near", "places"),
        ("no noise", "two, near", "belief_error"),
        ("decides late", "five", "proposals"),
        ("equal shares", "three, near", "means"),
        ("own model only", "three, near", "means"),
        ("never meets", "near", "contacts"),
        ("always meets", "near", "contacts"),
        ("meets again", "two, near", "means"),
    ],
)
def test_wrong_reference_does_not_foresee_a_mixture(what, which, where):
    assert where in followed(TEAM, warm("joint"), believing(which), BELIEFS[which], WRONG[what])


# What is predicted ------------------------------------------------------------------------------------


def centres(world):
    rows, columns = world.worth.shape
    return np.stack(np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5), axis=-1)


def density(view, world=HILLS):
    """Of the mixture that a view reports, by SciPy."""
    parts = zip(view.weights, view.means, view.covariances, strict=True)
    return sum(weight * multivariate_normal(mean, cov).pdf(centres(world)) for weight, mean, cov in parts)


LITERAL = {"calibrated": False, "recall": False}


@pytest.mark.parametrize("options", [{}, {"recall": False}, {"calibrated": False}, LITERAL], ids=str)
@pytest.mark.parametrize("which", ["mixture", "split-merge", "narrow"])
def test_predictions_are_the_density_times_the_least_squares_factor(which, options):
    """A fit after every move that brought news, so that the factor is that of the readings reported."""
    kind = {"mixture": mixture(3, growth=0.0, **options)}
    kind["split-merge"] = split_merge(4, growth=0.0, **options)
    kind["narrow"] = split_merge(4, growth=0.0, floor=1e-3, sense="cell", **options)
    run = begin(ALIKE, warm("joint"), kind[which], 3)
    compared = 0
    for _ in range(12):
        (view,) = run.advance(2).beliefs
        guess, worth = density(view), HILLS.worth
        seen = view.seen
        factor = (guess[seen] @ worth[seen]) / (guess[seen] @ guess[seen]) if options.get("calibrated", True) else 1.0
        if options.get("recall", True):
            assert view.worth[seen].tobytes() == worth[seen].tobytes()
            guess[seen] = worth[seen] / factor
        np.testing.assert_allclose(view.worth, factor * guess, rtol=1e-9, atol=1e-15)
        compared += int((~seen).sum())
    assert compared > 20


@pytest.mark.parametrize("optimism", [0.0, 0.7, 30.0])
def test_the_bonus_is_a_share_of_the_peak_where_little_was_seen(optimism):
    """By hand, from what a view shows: û of each action against the sum over cells in range."""
    from potentia.kernel import protocol

    lone = Case(HILLS, (1.5,), (0.0,))
    run = begin(lone, warm("blll"), split_merge(10, optimism=optimism), 5).advance(15)
    (view,) = run.beliefs
    hoped = view.worth.copy()
    for y, x in np.argwhere(~view.seen):
        around = view.seen[max(y - 3, 0) : y + 4, max(x - 3, 0) : x + 4]
        hoped[y, x] += optimism * HILLS.worth[view.seen].max() * (~around).sum() / around.size
    assert (~view.seen).sum() > 10
    assert (hoped > view.worth).any() == (optimism > 0)
    for action in range(64):
        cells = lone.game.covered(0, action)
        value = protocol.utility(run.game.plain_data, run.state, 0, action)
        wanted = HILLS.worth if action == run.profile[0] else hoped
        assert value == pytest.approx(wanted[cells[:, 1], cells[:, 0]].sum(), rel=1e-12)


def test_the_bonus_is_not_in_the_field_that_is_reported():
    fields = [begin(ALIKE, warm("joint"), mixture(1, optimism=o)).beliefs[0].worth for o in (0.0, 5.0)]
    assert fields[0].tobytes() == fields[1].tobytes()


# What is fitted ---------------------------------------------------------------------------------------


def weights_by_hand(view, belief):
    """Of the cells seen, from what a view shows: by worth, or m-fold with V and f_mode; scaled to the sample."""
    readings, visits = view.worth[view.seen], view.visits[view.seen]
    if belief.weighting == "worth":
        weights = np.maximum(readings, 0)
    else:
        m = np.where(readings >= belief.f_mode, 1 + belief.V * np.floor(readings / belief.f_mode + 0.5), 1)
        weights = m * visits
    size = weights.sum() ** 2 / (weights**2).sum() if belief.sample == "effective" else weights.size
    return weights / weights.sum() * size


def model_of(view):
    return Gaussians(view.weights, view.means, view.covariances)


@pytest.mark.parametrize("em_steps", [1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighting": "repeat", "V": 0.5, "f_mode": 0.003},
        {"weighting": "repeat", "V": 0.0, "sample": "cells"},
        {"sample": "cells", "floor": 1.5},
        {"noise": 0.004, "sense": "cell"},
    ],
    ids=str,
)
def test_a_fit_is_so_many_steps_of_em_from_the_last_one(options, em_steps):
    """From what views show before and after a step, with nothing of the run's own state."""
    belief = mixture(2, growth=0.0, em_steps=em_steps, tolerance=0.0, **options)
    run = begin(ALIKE, warm("joint", 0.1), belief, 2)
    (before,), fitted = run.beliefs, 0
    for _ in range(40):
        (after,) = run.advance(1).beliefs
        changed = (after.worth != before.worth) & after.seen | (after.seen != before.seen)
        if before.num_components == 2:
            points, weights = centres(HILLS)[after.seen], weights_by_hand(after, belief)
            steps = em_steps if changed.any() else 0
            model = em(points, weights, model_of(before), belief.floor, steps, 0.0) if steps else model_of(before)
            for name, values in vars(model).items():
                np.testing.assert_allclose(getattr(after, name), values, rtol=1e-9, atol=1e-12)
            fitted += steps > 0
        before = after
    assert fitted >= 5


def test_a_fit_waits_for_news():
    """growth: the share of the cells seen that must be new."""
    for growth, most in ((0.0, 60), (0.5, 6)):
        run = begin(ALIKE, warm("joint", 0.1), mixture(1, growth=growth), 2)
        fits, new, before = [], 0, run.beliefs[0]
        for _ in range(STEPS):
            (after,) = run.advance(1).beliefs
            new += int(after.seen.sum() - before.seen.sum())
            due = new > 0 and new >= growth * after.seen.sum()
            assert (after.means.tobytes() != before.means.tobytes()) == due
            fits += [new] if due else []
            new = 0 if due else new
            before = after
        assert 0 < len(fits) < most


def test_weights_of_observations_in_the_paper():
    """m = 1 + V·round(f / f_mode) from f_mode on, else 1."""
    belief = SplitMerge(weighting="repeat", V=0.1, f_mode=1e-5)
    learner = Learner(belief, Mind({(0, 0): 1.0}, {(0, 0): 1}))
    found = [learner.multiplicity(f, 1) for f in (0.0, 9.9e-6, 1e-5, 2.4e-5, 2.6e-5, 1e-3)]
    assert found == pytest.approx([1, 1, 1.1, 1.2, 1.3, 11])


# What is decided --------------------------------------------------------------------------------------

RIDGE = gaussian_world((12, 8), [0.3, 0.4, 0.3], [[2, 2], [6, 6], [10, 2]], [np.eye(2) * 0.9] * 3, name="three hills")
THREE = Case(RIDGE, (1.5,) * 3, (0.0,) * 3)


@functools.cache
def decided(every=5, most=8, repeats=3, seed=0):
    """On a field that is known, so that the number is soon found."""
    belief = split_merge(every, most=most, repeats=repeats, survey="all")
    return begin(THREE, warm("joint"), belief, seed).advance(STEPS)


SCHEDULES = [(1, 8, 3), (5, 8, 3), (7, 2, 3), (5, 8, 1), (9, 3, 10), (30, 8, 3), (31, 8, 3), (4, 1, 3)]


@pytest.mark.parametrize(("every", "most", "repeats"), SCHEDULES)
def test_proposals_change_the_number_by_one_when_it_is_time(every, most, repeats):
    run = decided(every, most, repeats)
    number = 1
    assert len(run.thoughts) >= (STEPS // every if most > 1 else 0)
    assert bool(run.thoughts) == (most > 1 and every <= STEPS)
    for time, turns in itertools.groupby(run.thoughts, key=lambda p: p.time):
        rows = list(turns)
        assert time % every == 0
        assert 0 < time <= run.step
        assert len(rows) <= repeats
        assert len({row.after - row.before for row in rows}) == 1  # on in the same direction
        assert all(row.accepted for row in rows[:-1])  # as long as it is accepted
        for row in rows:
            assert isinstance(row, Proposal)
            assert row.mind == 0
            assert row.before == number
            assert abs(row.after - row.before) == 1
            assert 1 <= row.after <= most
            number = row.after if row.accepted else row.before
    assert run.beliefs[0].num_components == number
    assert run.trace().proposals == tuple(run.thoughts)


# two hills so near each other that one component describes them as well as two
TWINS = Case(gaussian_world((8, 8), [0.5, 0.5], [[2, 3], [6, 5]], [np.eye(2) * 0.8] * 2), (1.5,) * 3, (0.0,) * 3)
UNDECIDED = split_merge(1, survey="all")


@functools.cache
def undecided():
    return begin(TWINS, warm("joint"), UNDECIDED, 0).advance(60)


def test_a_decision_goes_on_in_the_same_direction_and_a_merge_may_follow_a_split():
    found = [row for seed in range(3) for row in decided(seed=seed).thoughts]
    together = [list(rows) for _, rows in itertools.groupby(found, key=lambda p: p.time)]
    assert max(sum(row.accepted for row in rows) for rows in together) >= 2
    numbers = undecided().trace().components
    assert {1.0, 2.0} <= set(numbers)
    assert {-1.0, 1.0} <= set(np.diff(numbers))


@pytest.mark.parametrize("what", ["the better model", "temperature one", "decides late"])
def test_wrong_reference_does_not_foresee_decisions(what):
    assert followed(TWINS, warm("joint"), undecided(), UNDECIDED) == set()
    assert "proposals" in followed(TWINS, warm("joint"), undecided(), UNDECIDED, WRONG[what])


@pytest.mark.parametrize("which", ["undecided", "near", "repeat"])
def test_acceptance_is_the_binary_logit_on_akaike_weights(which):
    """At temperature 2, by the documented draws; neither the better model nor another temperature would do."""
    run, rows = undecided() if which == "undecided" else believing(which), []
    for (time, mind), turns in itertools.groupby(run.thoughts, key=lambda p: (p.time, p.mind)):
        for turn, row in enumerate(turns):
            unit = uniform_nth(run.key, 3, time - 1, mind, PROPOSAL, turn)
            rows.append((unit, row.aic_after - row.aic_before, row.accepted))
    units, worse, accepted = np.array(rows).T

    def foretold(temperature):
        chance = 1 / (1 + np.exp(np.minimum(worse / temperature, 700)))
        return ((units < chance) == accepted.astype(bool)).all()

    assert len(rows) >= 6
    assert foretold(2.0)
    if which == "undecided":
        assert not foretold(1e-9)
        assert not foretold(1.0)
        assert not foretold(4.0)


def test_reported_aic_is_that_of_the_mixture_reported():
    """2k - 2 ln L by SciPy, where the last proposal was accepted; of the one before, where it was not."""
    belief = split_merge(4, growth=1.0, repeats=1)
    compared = {True: 0, False: 0}
    for seed in range(3):
        run = begin(THREE, warm("joint"), belief, seed)
        for _ in range(10):
            known = len(run.thoughts)
            (view,) = run.advance(4).beliefs
            new = run.thoughts[known:]
            if new:
                weights, guess = weights_by_hand(view, belief), density(view, RIDGE)[view.seen]
                aic = 2 * (6 * view.num_components - 1) - 2 * float(weights @ np.log(guess))
                last = new[-1]
                assert aic == pytest.approx(last.aic_after if last.accepted else last.aic_before, rel=1e-9)
                assert aic == pytest.approx(akaike(model_of(view), centres(RIDGE)[view.seen], weights), rel=1e-9)
                compared[last.accepted] += 1
    assert min(compared.values()) >= 3


def test_each_mind_decides_for_itself():
    run = believing("near")
    assert {row.mind for row in run.thoughts} == {0, 1, 2}
    assert len(run.beliefs) == 3
    for view in run.beliefs:
        mine = [row for row in run.thoughts if (row.mind,) == view.robots]
        assert mine == sorted(mine, key=lambda row: row.time)


@pytest.mark.parametrize("components", [1, 2, 3, 5])
def test_a_known_number_is_reached_and_never_questioned(components):
    run = begin(ALIKE, warm("joint"), mixture(components), 3).advance(60)
    trace = run.trace()
    assert trace.proposals == ()
    assert trace.components[-1] == components == run.beliefs[0].num_components
    assert (trace.components <= components).all()
    assert trace.right_number[-1] == (components == 2)


def test_no_component_without_six_cells_of_some_worth():
    spot = np.zeros((8, 8))
    spot[2:5, 2:5] = 1.0  # nine cells
    case = Case(World(spot), (1.5,) * 3, (0.0,) * 3)
    for belief in (mixture(4, survey="all"), split_merge(1, survey="all")):
        run = begin(case, warm("joint"), belief).advance(10)
        assert run.beliefs[0].num_components == 1
    spot[2:5, 5] = 1.0  # twelve
    case = Case(World(spot), (1.5,) * 3, (0.0,) * 3)
    run = begin(case, warm("joint"), mixture(4, survey="all"))
    assert run.beliefs[0].num_components == 2


def test_the_number_of_targets_is_found():
    numbers = [decided(seed=seed).trace().right_number[-20:] for seed in range(3)]
    assert np.mean(numbers) > 0.7


def test_views_between_steps_change_nothing():
    looked = begin(TEAM, warm("joint"), BELIEFS["five"], 3)
    for _ in range(STEPS):
        looked.advance(1).trace()
    assert bits(looked.trace()) == bits(believing("five").trace())


# Bits -------------------------------------------------------------------------------------------------

NOISY = split_merge(20, noise=0.002, communication=Communication(3, 1.2, 1.2))


def parts_of(record, prefix=""):
    """Arrays of a state by name."""
    for name, part in zip(record._fields, record, strict=True):
        if isinstance(part, np.ndarray):
            yield prefix + name, part
        elif hasattr(part, "_fields"):
            yield from parts_of(part, f"{prefix}{name}.")


def kept(run):
    """The state's bytes by name: of a mixture the components that it has, of who is to fit for whom nothing."""
    parts = {name: part for name, part in parts_of(run.state) if name != "mind.contacts.agenda"}
    if "mind.model.component" in parts:
        numbers = run.state.mind.model.mark[:, 0].tolist()
        rows = [parts["mind.model.component"][mind, :number] for mind, number in enumerate(numbers)]
        parts["mind.model.component"] = np.concatenate(rows)
    return {name: part.tobytes() for name, part in parts.items()}


def differing(run, other):
    """Parts of two runs' states that are not the same bits."""
    first, second = kept(run), kept(other)
    assert set(first) == set(second)
    return {name for name in first if first[name] != second[name]}


@functools.cache
def played_in_plain_python():
    return begin(TEAM, warm("joint"), NOISY, 3).advance(300)


def check_compiled(run):
    slow = played_in_plain_python()
    assert bits(run.trace()) == bits(slow.trace())
    assert differing(run, slow) == set()


def test_compiled_and_plain_python_agree_to_the_bit(tmp_path):
    """All recorders, noise on, robots that meet, splits and merges; also after a break."""
    fast = begin(TEAM, warm("joint"), NOISY, 3, compiled=True).advance(131)
    resumed = pt.load(fast.save(tmp_path / "run.npz"), TEAM.game, NOISY, compiled=True)
    for run in (fast, resumed):
        assert run.compiled
        check_compiled(run.advance(169))
    trace = fast.trace()
    assert trace.contacts[-1] > max(3, trace.contacts[0])
    assert any(row.accepted for row in trace.proposals)


def test_a_running_mean_compiles_to_the_same_bits():
    game, rule, belief = games.normal_form(), pt.rule("blll", tau=0.3), RunningMean("profile", 0.5)
    record = ("profile", "welfare", "acceptance", "taken", "visits")
    fast, slow = (pt.begin(game, rule, 3, record=record, compiled=c, belief=belief).advance(400) for c in (True, False))
    assert fast.compiled
    for name, values in fast.trace().scalars.items():
        assert values.tobytes() == slow.trace().scalars[name].tobytes(), name
    assert fast.trace().profiles.tobytes() == slow.trace().profiles.tobytes()
    assert fast.trace().visits.tobytes() == slow.trace().visits.tobytes()
    assert differing(fast, slow) == set()


# Interrupted and in pieces ----------------------------------------------------------------------------

KEPT = {**{name: BELIEFS[name] for name in ("three, near", "five", "literal")}, "noisy": NOISY}
KEPT |= {"constant": Constant(0.01, noise=0.01, communication=Communication(3)), "mean": RunningMean("action", 0.1)}


@functools.cache
def whole(which):
    return begin(TEAM, warm("own, guard"), KEPT[which], 3).advance(STEPS)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("which", "when"), [("five", 0), ("five", 20), ("noisy", 20), *((which, 23) for which in KEPT if which != "five")]
)
def test_saved_and_resumed_is_uninterrupted(tmp_path, which, when):
    """At the start, at a decision and between two."""
    half = begin(TEAM, warm("own, guard"), KEPT[which], 3).advance(when)
    resumed = pt.load(half.save(tmp_path / "run.npz"), TEAM.game, KEPT[which])
    assert resumed.step == when
    assert resumed.thoughts == half.thoughts
    assert bits(resumed.trace()) == bits(half.trace())
    resumed.advance(STEPS - when)
    assert bits(resumed.trace()) == bits(whole(which).trace())
    assert differing(resumed, whole(which)) == set()


@pytest.mark.parametrize("which", ["five", "noisy", "constant"])
def test_chunks_do_not_matter(which):
    run = begin(TEAM, warm("own, guard"), KEPT[which], 3)
    for steps in (0, 1, 4, 0, 15, 10):
        run.advance(steps)
    assert bits(run.trace()) == bits(whole(which).trace())
    assert differing(run, whole(which)) == set()


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_a_fit_that_is_cut_off_leaves_the_run_where_it_was(monkeypatch, failure):
    """The step is played again, with the same result."""
    run = begin(TEAM, warm("own, guard"), BELIEFS["five"], 3).advance(7)

    def think(self, game, mind, *rest):
        mind.store.reading[:] = 0.0
        mind.model.component[:] = 0.0
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(SplitMerge, "think", think)
        with pytest.raises(failure):
            run.advance(10)
    assert run.step == 7
    assert bits(run.advance(STEPS - 7).trace()) == bits(whole("five").trace())
    assert differing(run, whole("five")) == set()


@pytest.mark.parametrize("every", [2, 5, 100])
def test_rows_are_those_of_a_run_that_records_everything(every):
    """Also at times at which robots think."""
    full, rare = whole("five").trace(), begin(TEAM, warm("own, guard"), BELIEFS["five"], 3, every=every)
    trace = rare.advance(17).advance(STEPS - 17).trace()
    assert trace.times.tolist() == list(range(0, STEPS + 1, every))
    for name, values in trace.scalars.items():
        assert values.tobytes() == full.scalars[name][::every].tobytes(), name
    assert trace.profiles.tobytes() == full.profiles[::every].tobytes()
    assert trace.proposals == full.proposals


def test_nothing_recorded_is_the_same_run():
    run = begin(TEAM, warm("own, guard"), BELIEFS["five"], 3, record=()).advance(STEPS)
    assert run.profile.tobytes() == whole("five").profile.tobytes()
    assert tuple(run.thoughts) == whole("five").trace().proposals
    assert run.beliefs[0].worth.tobytes() == whole("five").beliefs[0].worth.tobytes()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("which", ["five", "mean"])
def test_workers_do_not_matter(which):
    belief, rule = KEPT[which], as_rule(warm("joint"))
    record = ("profile", "worth_union", *belief.recorders)
    one, turned = (
        pt.run_batch(TEAM.game, rule, 12, seeds, record=record, workers=workers, belief=belief)
        for seeds, workers in (([5, 2, 9], 1), ([9, 5, 2], 3))
    )
    assert one.sortby("seed").identical(turned.sortby("seed"))
    alone = pt.run(TEAM.game, rule, 12, 9, record=record, belief=belief)
    np.testing.assert_array_equal(one.profile.sel(seed=9), alone.profiles)
    for name in belief.recorders:
        np.testing.assert_array_equal(one[name].sel(seed=9), alone.scalars[name])


def test_two_runs_at_once_share_nothing():
    runs = [begin(TEAM, warm("own, guard"), BELIEFS["five"], 3) for _ in range(2)]
    threads = [threading.Thread(target=run.advance, args=(STEPS,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [bits(run.trace()) for run in runs] == [bits(whole("five").trace())] * 2


# Files that no run has written ------------------------------------------------------------------------


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


FRAME = 0  # the first framed cell, outside the area
TAMPERED = {
    "cell beyond the area": ("state.mind.store.cell", (0, 0), 10**6),
    "negative cell": ("state.mind.store.cell", (0, 0), -5),
    "another cell": ("state.mind.store.cell", (0, 0), 0),
    "wrong slot": ("state.mind.store.slot", (0, slice(None)), 3),
    "slot of nothing": ("state.mind.store.slot", (0, slice(None)), -7),
    "forgotten slots": ("state.mind.store.slot", (0, slice(None)), 0),
    "a frame to be seen": ("state.mind.store.slot", (0, FRAME), 0),
    "more cells than there are": ("state.mind.store.tally", (0, 0), 65),
    "fewer cells than listed": ("state.mind.store.tally", (0, 0), 2),
    "a negative number of cells": ("state.mind.store.tally", (0, 0), -1),
    "never visited": ("state.mind.store.visits", (0, 0), 0),
    "no reading": ("state.mind.store.reading", (0, 0), math.nan),
    "an endless reading": ("state.mind.store.reading", (0, 0), math.inf),
    "no peak": ("state.mind.store.peak", (0,), math.nan),
    "more told than known": ("state.mind.contacts.known", (0, 1), 65),
    "told less than nothing": ("state.mind.contacts.known", (0, 1), -1),
    "too many components": ("state.mind.model.mark", (0, 0), 9),
    "fewer than none": ("state.mind.model.mark", (0, 0), -1),
    "thinking": ("state.mind.model.mark", (0, 1), 1),
    "a component nowhere": ("state.mind.model.component", (0, 0, 1), math.nan),
}
RESHAPED = {
    "cells of floats": ("state.mind.store.cell", lambda a: a.astype(float)),
    "one mind fewer": ("state.mind.store.slot", lambda a: a[:-1]),
    "room for one component": ("state.mind.model.component", lambda a: a[:, :1]),
    "no predictions": ("state.mind.model.estimate", lambda a: a[:, :0]),
    "proposals too narrow": ("thoughts", lambda a: a[:, :6]),
    "proposals of nothing": ("thoughts", lambda a: a * math.nan),
}


def rewritten(path, name, change, told=None):
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    if name is not None:
        arrays[name] = change(arrays[name])
    if told:
        arrays["about"] = np.array(json.dumps({**json.loads(str(arrays["about"])), **told}))
    with open(path, "wb") as file:
        np.savez(file, **arrays)
    return path


@functools.cache
def saved_bytes():
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        return begin(TEAM, warm("joint"), BELIEFS["near"], 3).advance(STEPS).save(path).read_bytes()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "run.npz").write_bytes(saved_bytes())
    return tmp_path / "run.npz"


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("what", TAMPERED)
def test_tampered_minds_are_refused(path, what):
    name, place, value = TAMPERED[what]
    rewritten(path, name, lambda array: changed(array, place, value))
    with pytest.raises(InvalidRun, match=r"run\.npz is damaged"):
        pt.load(path, TEAM.game, BELIEFS["near"])


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("what", RESHAPED)
def test_minds_of_another_shape_are_refused(path, what):
    rewritten(path, *RESHAPED[what])
    with pytest.raises(InvalidRun, match=r"run\.npz is damaged"):
        pt.load(path, TEAM.game, BELIEFS["near"])


@pytest.mark.usefixtures("plain")
def test_missing_parts_of_a_mind_are_refused(path):
    with np.load(path) as file:
        names = [name for name in file.files if ".mind." in name]
    assert len(names) == 12
    for missing in names:
        path.write_bytes(saved_bytes())
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != missing}
        with open(path, "wb") as file:
            np.savez(file, **arrays)
        with pytest.raises(InvalidRun, match="damaged"):
            pt.load(path, TEAM.game, BELIEFS["near"])


@pytest.mark.usefixtures("plain")
def test_tampered_means_are_refused(tmp_path):
    belief = RunningMean()
    for name, value in (("mean", math.inf), ("times", -1)):
        run = begin(TEAM, warm("joint"), belief).advance(5)
        rewritten(run.save(tmp_path / "run.npz"), f"state.mind.{name}", lambda a, v=value: changed(a, 0, v))
        with pytest.raises(InvalidRun, match=r"run\.npz is damaged"):
            pt.load(tmp_path / "run.npz", TEAM.game, belief)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    "belief",
    [
        None,
        Constant(0.01),
        RunningMean(),
        mixture(8, communication=NEAR),
        split_merge(8, communication=NEAR),
        split_merge(7, communication=Communication(2.5, 1.3, 1.4)),
        split_merge(7),
        split_merge(7, communication=NEAR, most=9),
        split_merge(7, communication=NEAR, noise=1e-9),
        split_merge(7, communication=NEAR, survey=HILLS.worth > 1),
    ],
    ids=str,
)
def test_a_run_is_not_resumed_with_another_belief(path, belief):
    with pytest.raises(InvalidRun, match="was saved from another"):
        pt.load(path, TEAM.game, belief)
    same = split_merge(np.int64(7), communication=Communication(np.float32(2.5), 1.3, 1.5), most=np.int8(8))
    assert pt.load(path, TEAM.game, same).step == STEPS


@pytest.mark.usefixtures("plain")
def test_files_with_a_few_wrong_numbers_are_refused_or_played(path):
    """Whatever an integer of a mind is changed to, nothing is read or written out of place."""
    random = np.random.default_rng(5)
    names = ["store.slot", "store.cell", "store.visits", "store.tally", "contacts.known", "model.mark"]
    outcomes = set()
    for k in range(30):
        path.write_bytes(saved_bytes())

        def change(array):
            flat = array.reshape(-1).copy()
            flat[random.integers(flat.size, size=3)] = random.integers(-3, 70, 3)
            return flat.reshape(array.shape)

        rewritten(path, f"state.mind.{names[k % len(names)]}", change)
        try:
            run = pt.load(path, TEAM.game, BELIEFS["near"])
        except InvalidRun:
            outcomes.add("refused")
            continue
        run.advance(2)
        assert (run.state.mind.store.tally[:, 0] <= 64).all()
        outcomes.add("played")
    assert outcomes == {"refused", "played"}


def test_the_reference_takes_up_where_a_run_begins():
    run = begin(TEAM, warm("joint"), BELIEFS["five"], 3)
    play = reference(TEAM, run, BELIEFS["five"])
    assert play.places == TEAM.places(run.profile)
    assert play.team.minds[0].experience == run.beliefs[0].seen.sum()
