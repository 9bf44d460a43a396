"""A run is the same bits however it is played: compiled, in plain Python, or begun in one and ended in the other."""

from __future__ import annotations

import copy
import pickle
import re
import types

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.engine.columns import Columns
from potentia.engine.interrupt import Flag
from potentia.engine.tier import Tier
from potentia.errors import CompiledOtherwise, InvalidGame, InvalidRun, NotCompiled
from potentia.kernel.tiers import Kernel
from tests import games
from tests.conformance.test_rules_on_games import RECORD, bits

STEPS = 60


class Switch:
    """Says when machine code is there, in the place of a compiler."""

    def __init__(self, monkeypatch):
        self.on = False
        monkeypatch.setattr(Kernel, "is_ready", lambda kernel, left=0.0: self.on and not kernel.given_up)


@pytest.fixture
def switch(monkeypatch):
    return Switch(monkeypatch)


def recorded(game, rule, **options):
    record = (*RECORD, *(["potential"] if game.has_potential else []))
    return pt.begin(game, rule, 11, record=record, every=3, horizon=STEPS, **options)


@pytest.mark.parametrize("name", games.RULES)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, STEPS), more=st.integers(0, STEPS))
def test_the_switch_may_come_at_any_step(game, name, switch, at, more):
    """Also between two rows of the record, and with another stop before it."""
    rule = pt.rules.rule_from(games.RULES[name])
    whole = recorded(game, rule, compiled=False).advance(STEPS).trace()
    switch.on = False
    run = recorded(game, rule)
    first = min(at, more)
    run.advance(first).advance(at - first)
    assert not run.compiled
    switch.on = True
    run.advance(STEPS - at)
    assert run.compiled
    assert bits(run.trace()) == bits(whole)


def test_a_mind_and_its_game_switch_together(switch):
    world = pt.games.paper_world()
    game = pt.games.Coverage(world=world, robots=3, delta=1.5)
    rule = pt.rule("p-sblll", tau="auto", revision=0.3, guard=True)  # the kernel of "potentia cover", too
    belief = pt.beliefs.SplitMerge()

    def trace(compiled, at):
        switch.on = False
        run = pt.begin(game, rule, 4, record=("profile", "worth_sum"), compiled=compiled, belief=belief, horizon=90)
        run.advance(at)
        switch.on = True
        return run.advance(90 - at).trace()

    whole = trace(True, 0)
    for at in (0, 37, 90):
        assert bits(trace("auto", at)) == bits(whole)


@pytest.mark.parametrize("compiled", ["yes", None, 1])
def test_what_compiled_may_be(compiled):
    with pytest.raises(InvalidRun, match='compiled must be "auto", True or False, got'):
        pt.run(games.normal_form(), pt.rule("lll", tau=1.0), 1, compiled=compiled)


def _wraps(player, profile, data):
    """Beyond 64 bits Python counts on, and machine code begins again."""
    return float(int(data[0]) * int(profile[player]) * 3) / 2.0**62


def test_a_function_that_means_something_else_compiled_stays_in_python(switch):
    game = pt.games.custom(_wraps, [2, 2, 2], data=np.array([2**62]))
    rule = pt.rule("blll", tau=0.1)
    plain = pt.begin(game, rule, 1, compiled=False).advance(200)
    run = pt.begin(game, rule, 1).advance(100)
    switch.on = True
    told = r"plays something else; utility of player \d at profile \[.*\] is 3.0 in Python and -1.0 compiled"
    with pytest.warns(NotCompiled, match=told) as caught:
        run.advance(50)
    run.advance(50)  # warnings are errors here: it is said once
    assert len(caught) == 1
    assert not run.compiled
    np.testing.assert_array_equal(run.profile, plain.profile)
    again = pt.begin(game, rule, 1).advance(200)  # a kernel that was found out is not tried again
    np.testing.assert_array_equal(again.profile, plain.profile)


def _one(player, profile, data):
    return float(profile[player])


def _sums(profile, data):
    """NumPy adds in pairs, machine code one after the other: the last bits differ."""
    return np.sum(data) + np.sum(profile)


@pytest.mark.parametrize("into", ["lists", "columns"])
def test_rows_that_differ_in_their_last_bits_are_noticed(switch, into):
    """Though no decision depends on them: a record is of one kind from its first row to its last."""
    # by its default a function, and so a kernel, of its own
    sums = types.FunctionType(_sums.__code__, _sums.__globals__, argdefs=(into,))
    game = pt.games.custom(_one, [2, 2], data=np.random.default_rng(0).normal(size=1000), potential=sums)
    run = pt.begin(game, pt.rule("blll", tau=0.1), 1, record="potential")
    if into == "columns":
        run.record_into(Columns({"potential": np.empty(301)}))
    run.advance(100)
    switch.on = True
    with pytest.warns(NotCompiled, match=r"something else; what is recorded at profile \[\d, \d\], after step 0"):
        run.advance(200)
    assert not run.compiled


def _wraps_late(player, profile, data):
    """As the other, where all ten meet, which is rare."""
    return float(int(data[0]) * 3) / 2.0**62 if profile.sum() == profile.size else 0.0


def test_the_first_difference_in_a_long_run_is_found_by_blocks(switch, monkeypatch):
    game = pt.games.custom(_wraps_late, [2] * 10, data=np.array([2**62]))
    run = pt.begin(game, pt.rule("blll", tau=2.0), 0, record=("welfare", "visits")).advance(5000)
    met = np.flatnonzero(run.trace().welfare)[0]
    compared, record = [], Tier._record
    monkeypatch.setattr(Tier, "_record", lambda tier, *args: compared.append(record(tier, *args)) or compared[-1])
    switch.on = True
    with pytest.warns(NotCompiled, match=r"is 3.0 in Python and -1.0 compiled, after step \d+") as caught:
        run.advance(1)
    found = int(re.search(r"after step (\d+)", str(caught[0].message))[1])
    assert 1000 < found < met, "later than in the first block"
    assert len(compared) == 2 + 2 * (found // 1000 + 1) + 2 * (found % 1000 + 1)
    assert max(map(len, compared[2 + 2 * (found // 1000 + 1) :])) < 200, "steps are not joined to all before"
    flag = Flag()
    flag.raised = True
    assert run._tier._where(flag) == "somewhere before step 5001: the search for the place was stopped"


def test_who_asks_for_machine_code_is_told_where_it_means_something_else():
    game = pt.games.custom(_wraps, [2, 2, 2], data=np.array([2**62]))
    told = r"utility of player 0 at profile \[1, 0, 0\] is 3.0 in Python and -1.0 compiled; machine code is played"
    with pytest.warns(CompiledOtherwise, match=told):
        pt.begin(game, pt.rule("blll", tau=0.1), compiled=True)
    pt.begin(games.custom(), pt.rule("blll", tau=0.1), compiled=True)  # warnings are errors here
    summed = pt.games.custom(_one, [2, 2], data=np.zeros(3), potential=_sums)
    pt.begin(summed, pt.rule("blll", tau=0.1), compiled=True)


def _adds(player, profile, data):
    return np.sum(data) * (1.0 + profile[player])


def test_last_digits_are_told_as_such(switch):
    game = pt.games.custom(_adds, [2, 2], data=np.random.default_rng(0).normal(size=1000))
    run = pt.begin(game, pt.rule("blll", tau=0.1), 1, record="welfare").advance(9)
    switch.on = True
    told = "compiled: the last digits, as where sums are added in another order, .* or pass compiled=True to play"
    with pytest.warns(NotCompiled, match=told):
        run.advance(1)


def _rarely(player, profile, data):
    if profile.sum() == profile.size and profile[0] < profile.size:
        raise ValueError("all of them")
    return 0.1 * float(profile[player])


@pytest.mark.parametrize("compiled", [True, False, "auto"])
def test_a_function_that_fails_is_told_with_its_step(compiled):
    """However the run was cut: the step, the state that is left, and the rows before."""
    game, rule = pt.games.custom(_rarely, [2] * 10 + [3], data=1.0), pt.rule("blll", tau=2.0)
    exact = pt.begin(game, rule, 1, record="welfare", start=[0] * 11, compiled=False)

    def by_steps():
        while exact.step < 100_000:
            exact.advance(1)

    with pytest.raises(InvalidGame) as failed:
        by_steps()
    run = pt.begin(game, rule, 1, record="welfare", start=[0] * 11, compiled=compiled)
    with pytest.raises(InvalidGame, match=f"^after step {exact.step}: .*all of them") as caught:
        run.advance(100_000)
    assert exact.step > 100, "or it fails at once"
    assert str(caught.value) == str(failed.value)
    assert run.step == exact.step
    np.testing.assert_array_equal(run.profile, exact.profile)
    np.testing.assert_array_equal(run.trace().welfare, exact.trace().welfare)


def test_a_function_that_fails_compiled_stays_in_python(switch):
    game = pt.games.custom(_raises_compiled, [2, 2], data=np.array([2**62, 1]))
    run = pt.begin(game, pt.rule("blll", tau=0.1), 1).advance(50)
    switch.on = True
    with pytest.warns(NotCompiled, match="it fails with .* is 1.0 in Python and an .*Error compiled"):
        run.advance(50)
    assert not run.compiled


def _raises_compiled(player, profile, data):
    if float(int(data[0]) * int(profile[player]) * 3) / 2.0**62 == -1.0:
        raise ValueError
    return 1.0


def test_runs_that_wait_for_machine_code_are_copied_and_pickled(switch):
    for game in (games.normal_form(), games.custom()):
        run = pt.begin(game, pt.rule("blll", tau=0.1), 1).advance(20)
        copies = [copy.deepcopy(run), pickle.loads(pickle.dumps(run))]
        switch.on = True
        ends = [one.advance(30) for one in (run, *copies)]
        switch.on = False
        assert all(one.compiled for one in ends)
        assert all(np.array_equal(one.profile, run.profile) for one in ends)


def test_a_game_that_does_not_compile_says_so_once_it_matters(switch):
    run = pt.begin(games.uncompiled(), pt.rule("lll", tau=1.0)).advance(10)
    run._tier._kernel.given_up = True  # as its compiler told
    with pytest.warns(NotCompiled, match="_uncompilable runs in Python.* data holds a dict") as caught:
        run.advance(10)
    run.advance(10)
    assert len(caught) == 1


@pytest.mark.parametrize("into", ["lists", "columns"])
def test_what_was_played_is_played_again_and_agrees(switch, into):
    game = games.custom()
    rule = pt.rule("blll", tau=0.1)
    run = pt.begin(game, rule, 1, record=("profile", "welfare", "acceptance", "taken", "visits"), every=3)
    if into == "columns":
        run.record_into(Columns({name: np.empty(51) for name in ("welfare", "acceptance", "taken")}))
    run.advance(100)
    switch.on = True
    run.advance(50)  # warnings are errors here
    assert run.compiled
    np.testing.assert_array_equal(run.profile, pt.begin(game, rule, 1, compiled=True).advance(150).profile)
