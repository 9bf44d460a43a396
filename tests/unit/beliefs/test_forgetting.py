"""Readings that grow old, against a reference that keeps the list of all of them."""

from __future__ import annotations

import functools
import math
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.beliefs import Believing, Communication, Constant, Mixture, SplitMerge
from potentia.beliefs.base import learn
from potentia.beliefs.forgetting import Ages, drift_half_life
from potentia.errors import InvalidBelief, InvalidRun
from potentia.games import Coverage, Frames, World, gaussian_world
from potentia.studies.differences import changed_point
from potentia.studies.manifest import make_manifest
from potentia.studies.planning import plan
from potentia.studies.specification import specification_from
from tests.belief_oracle import HILLS, WRONG, begin, bits, followed, mixture, split_merge, warm
from tests.coverage_cases import Case
from tests.drift_oracle import targets_of

STEPS = 24


SPEEDS, EVERY = [[0.3, 0.1], [-0.2, -0.25]], 3


class Drifting(Case):
    """A team on hills that move."""

    @functools.cached_property
    def game(self):
        return Coverage(self.world, len(self.delta), self.delta, flags=False, drift=SPEEDS, drift_every=EVERY)


MOVING = Drifting(HILLS, (1.5, 1.0, 2.0), (0.0,) * 3)
NEAR = Communication(2.5, 1.3, 1.5)
BELIEFS = {
    "constant": Constant(0.01, share=0.2, half_life=7.5),
    "constant, window": Constant(share=0.5, window=6, noise=0.002, communication=Communication(3)),
    "two": mixture(2, half_life=12.0, noise=0.003),
    "two, near": mixture(2, window=9, communication=NEAR, noise=0.002, weighting="repeat", sample="cells"),
    "model": mixture(2, half_life=20.0, recall=False),
    "five": split_merge(5, half_life=15.0, survey="all"),
    "near": split_merge(7, half_life=1.5, communication=NEAR, weighting="repeat", V=0.3, f_mode=0.004),
    "window": split_merge(4, window=20, sample="cells"),
}


def worth_at(time):
    return {(x, y): f for y, row in enumerate(MOVING.game.worth_at(time).tolist()) for x, f in enumerate(row)}


MOVED = {"worth_at": worth_at, "targets_at": functools.partial(targets_of, HILLS, SPEEDS, EVERY)}


@functools.cache
def believing(which, seed=3):
    return begin(MOVING, warm("joint"), BELIEFS[which], seed).advance(STEPS)


def parted(which, *wrong):
    kind = {"kind": WRONG[wrong[0]]} if wrong else {}
    return followed(MOVING, warm("joint"), believing(which), BELIEFS[which], **MOVED, **kind)


@pytest.mark.parametrize("which", BELIEFS)
def test_every_step_is_foreseen(which):
    assert parted(which) == set()


@pytest.mark.parametrize(
    ("what", "which", "where"),
    [
        ("never forgets", "two", "belief_error"),
        ("never forgets", "constant", "belief_error"),
        ("fits what is old", "model", "belief_error"),
        ("reads only where it arrives", "constant", "belief_error"),
    ],
)
def test_wrong_reference_does_not_foresee_them(what, which, where):
    assert {where, "places"} & parted(which, what)


@settings(max_examples=12, deadline=None)
@given(
    half_life=st.floats(0.5, 60.0),
    window=st.none() | st.integers(1, 40),
    radius=st.sampled_from([0.0, 3.0, math.inf]),
    noise=st.sampled_from([0.0, 0.004]),
    seed=st.integers(0, 99),
)
def test_any_half_life_and_window_is_foreseen(half_life, window, radius, noise, seed):
    aging = {"half_life": half_life} if window is None else {"window": window}
    belief = Constant(0.01, share=0.3, noise=noise, communication=Communication(radius), **aging)
    run = begin(MOVING, warm("joint"), belief, seed).advance(12)
    assert followed(MOVING, warm("joint"), run, belief, **MOVED) == set()


def test_a_reading_counts_half_after_a_half_life():
    """By hand: nobody moves, so that all but what is in range grows old."""
    world = gaussian_world((5, 1), [1.0], [[2.5, 0.5]], [np.eye(2)])
    game = Coverage(world, robots=1, delta=0.0, start=[[0, 0]])
    run = pt.begin(game, pt.rule("blll", tau=1e-9), 0, belief=Constant(half_life=10.0, survey="all"), compiled=False)
    ages = run.state.mind.store.ages
    for step in range(30):
        learn(run.game.belief.data(game), run.state.mind, game.data, run.state.game, np.zeros(1), run.key, step)
        assert ages.weight[0, 0] == 1.0  # it reads again where it stands
        np.testing.assert_allclose(ages.weight[0, 1:5], 0.5 ** ((step + 1) / 10), rtol=1e-12)


# When it is on ----------------------------------------------------------------------------------------


def test_nothing_is_forgotten_where_nothing_drifts():
    still = Case(HILLS, (1.5,) * 3, (0.0,) * 3)
    runs = [begin(still, warm("joint"), mixture(2, **o), 3).advance(10) for o in ({}, {"half_life": None})]
    assert bits(runs[0].trace()) == bits(runs[1].trace())
    assert not isinstance(runs[0].state.mind.store.ages, Ages)
    assert not any("ages" in name for name in runs[0].game.remembers)


def test_the_half_life_of_a_drift_is_the_time_in_which_a_quarter_of_the_field_changes():
    for speed in (0.01, 0.02, 0.04):
        game = Coverage(HILLS, 2, 1.0, drift=(speed, 0.0))
        found = drift_half_life(game)
        start = game.worth_at(0)
        changed = np.abs(game.worth_at(round(found)) - start).sum() / start.sum()
        assert changed == pytest.approx(0.25, abs=0.03)
        assert Believing(game, Constant()).belief.ages(game, 1).half_life == found
    assert drift_half_life(Coverage(HILLS, 2, 1.0)) is None
    film = Frames(np.stack([np.zeros((3, 4)), np.ones((3, 4))]), 100)
    comes = Coverage(World(film.frames[0]), 2, 1.0, drift=film)
    assert 0 < drift_half_life(comes) <= 100


def test_a_spec_tells_it_and_old_ones_stay_what_they_were():
    for belief in (Constant(half_life=50), Mixture(2, window=7), SplitMerge(half_life=None)):
        assert pt.beliefs.belief_from(belief.spec()) == belief
    assert not {"half_life", "window", "background"} & set(SplitMerge().spec())
    assert pt.beliefs.belief("constant", half_life="none").half_life is None


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"half_life": 0}, "half_life"),
        ({"half_life": -3.0}, "half_life"),
        ({"half_life": math.inf}, "half_life"),
        ({"half_life": math.nan}, "half_life"),
        ({"half_life": "soon"}, "half_life"),
        ({"window": 0}, "window"),
        ({"window": 1.5}, "window"),
        ({"window": 5, "half_life": 5.0}, "window"),
    ],
)
def test_errors_name_the_parameter(options, named):
    with pytest.raises(InvalidBelief) as caught:
        SplitMerge(**options)
    assert caught.value.parameter == named
    assert str(options[named])[:3] in str(caught.value)


# Bits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["near", "two, near", "constant, window"])
def test_chunks_and_saving_do_not_matter(tmp_path, which):
    run = begin(MOVING, warm("joint"), BELIEFS[which], 3)
    for part in (1, 4, 6):
        run.advance(part)
    run.save(tmp_path / "run.npz")
    loaded = pt.load(tmp_path / "run.npz", MOVING.game, BELIEFS[which], compiled=False)
    for part in (2, STEPS - 13):
        loaded.advance(part)
    assert bits(loaded.trace()) == bits(believing(which).trace())


def test_a_run_saved_when_readings_lasted_goes_on_with_readings_that_last(tmp_path):
    run = begin(MOVING, warm("joint"), SplitMerge(half_life=None), 3).advance(3)
    before = f"{MOVING.game.fingerprint()} {SplitMerge().describe()}"  # that there were no half-lives
    assert run.game.fingerprint() == sha256(before.encode()).hexdigest()[:32]
    assert Believing(MOVING.game, SplitMerge()).fingerprint() != run.game.fingerprint()
    saved = run.save(tmp_path / "run.npz")
    assert pt.load(saved, MOVING.game, SplitMerge(half_life=None), compiled=False).step == 3
    with pytest.raises(InvalidRun, match=r"grow old by default: pass the belief with half_life=None"):
        pt.load(saved, MOVING.game, SplitMerge())
    with pytest.raises(InvalidRun, match="another belief"):
        pt.load(saved, MOVING.game, SplitMerge(aic_every=7))
    still = Coverage(HILLS, 3, 1.0)
    assert len({Believing(still, SplitMerge(**o)).fingerprint() for o in ({}, {"half_life": None})}) == 1


def test_a_study_does_not_mix_readings_that_last_with_others():
    study = {"game": {"map": "paper", "robots": 2, "drift": [[0.1, 0.0]]}, "rule": {"name": "blll", "tau": 0.1}}
    study |= {"belief": {"name": "constant"}, "steps": 5, "seeds": 1}
    point = make_manifest(plan(specification_from(study)), 1, {})["points"][0]
    assert point["belief"]["half_life"] == "auto"
    before = point | {"belief": Constant().spec()}
    assert "whose readings now grow old" in changed_point([before], [point])


@pytest.mark.parametrize("what", ["last", "weight", "clock", "mass"])
def test_tampered_ages_are_refused(tmp_path, what):
    path = tmp_path / "run.npz"
    begin(MOVING, warm("joint"), BELIEFS["near"], 3).advance(6).save(path)
    with np.load(path) as archive:
        parts = dict(archive)
    name = f"state.mind.store.ages.{what}"
    parts[name] = parts[name] - 100
    np.savez(path, **parts)
    with pytest.raises(InvalidRun, match="damaged"):
        pt.load(path, MOVING.game, BELIEFS["near"], compiled=False)


def test_forgotten_cells_are_unknown_again():
    run = begin(MOVING, warm("joint"), Constant(window=2), 3).advance(STEPS)
    (view,) = run.beliefs
    counts = run.trace().scalars["cells_known"]
    assert view.seen.sum() == counts[-1] < counts.max()
    assert (view.visits > 0).sum() == view.seen.sum()


def test_the_half_life_that_a_drift_asks_for_is_told():
    from potentia.beliefs.words import belief_text

    world = pt.games.World(np.random.default_rng(0).random((6, 7)))
    still, moving, slow = (pt.games.Coverage(world, 2, drift=v) for v in (None, (0.01, 0.0), (1e-12, 0.0)))
    belief = pt.beliefs.SplitMerge()
    told = belief_text(belief, moving)
    assert f"readings count half after {drift_half_life(moving):,g} steps, the time in which" in told
    assert "readings last" in belief_text(belief, slow)
    assert belief_text(belief, still) == belief_text(belief)
    assert "after 500 steps, everybody" in belief_text(pt.beliefs.SplitMerge(half_life=500), moving)
