"""``check_rule`` names the line of a rule that breaks the protocol, before anything is compiled."""

from __future__ import annotations

import inspect
import random
import sys
from collections import namedtuple

import attrs
import numpy as np
import pytest

import potentia as pt
from potentia import extend
from potentia.errors import CheckFailed
from potentia.extend import CHOICE, WAKE, below, move, num_players, step, uniform, utility
from potentia.testing import following

GAME = pt.games.consensus([[0, 1], [1, 2]])
GENERATOR = np.random.default_rng(3)
CALLS = [0]
rules = {}


def a_rule(function):
    """A rule without parameters by this step; the function itself is returned."""
    kind = namedtuple(function.__name__, ["table"])

    @extend.register_rule
    @attrs.frozen(repr=False)
    class Own(extend.Rule):
        name = f"own-{function.__name__}"

        def data(self, game, horizon):
            return kind(np.zeros(2))

    rules[function] = Own()
    return step.register(kind)(function)


def said_of(function, game=GAME):
    """What is wrong with a step, in one line that ends with its marked line."""
    lines, first = inspect.getsourcelines(function)
    number = first + next(k for k, line in enumerate(lines) if "# here" in line)
    with pytest.raises(CheckFailed) as caught:
        following.check_steps(rules[function], game, 20)
    told = str(caught.value)
    assert told.endswith(f": test_check_rule.py:{number}"), told
    assert len(told) <= 200
    assert len(told.splitlines()) == 1
    assert sys.gettrace() is None or "check_rule" not in repr(sys.gettrace())
    return told


def _drawn(key, n, game):
    players = num_players(game)
    return below(uniform(key, players, n, 0, WAKE), players), below(uniform(key, players, n, 0, CHOICE), 2)


@a_rule
def keeps_to_it(rule, memory, game, state, journal, key, n):
    player, action = _drawn(key, n, game)
    if utility(game, state, player, action) >= utility(game, state, player, state.profile[player]):
        move(journal, game, state, player, action, n)


def test_a_rule_that_keeps_the_protocol_passes():
    following.check_steps(rules[keeps_to_it], GAME, 20)


@a_rule
def writes(rule, memory, game, state, journal, key, n):
    player, action = _drawn(key, n, game)
    state.profile[player] = action  # here
    journal.counts[0] += 1


@a_rule
def tries_and_takes_back(rule, memory, game, state, journal, key, n):
    player, action = _drawn(key, n, game)
    current = state.profile[player]
    state.profile[player] = 1 - current  # here
    gain = utility(game, state, player, action)
    state.profile[player] = current
    if gain > 0:
        move(journal, game, state, player, action, n)


def _set(profile, action):
    profile[:] = action  # here


@a_rule
def writes_through_a_view(rule, memory, game, state, journal, key, n):
    player, action = _drawn(key, n, game)
    _set(state.profile[player : player + 1], action)
    move(journal, game, state, player, action, n)


@pytest.mark.parametrize("function", [writes, tries_and_takes_back])
def test_a_rule_that_writes_the_profile_itself_is_named(function):
    assert said_of(function).startswith("the rule writes the profile itself; change it with move(")


def test_a_helper_that_writes_it_is_named():
    with pytest.raises(CheckFailed) as caught:
        following.check_steps(rules[writes_through_a_view], GAME, 20)
    assert str(caught.value).endswith(f": test_check_rule.py:{inspect.getsourcelines(_set)[1] + 1}")


@a_rule
def draws_at_random(rule, memory, game, state, journal, key, n):
    player, _ = _drawn(key, n, game)
    action = random.randrange(2)  # here
    move(journal, game, state, player, action, n)


@a_rule
def seeds_numpy(rule, memory, game, state, journal, key, n):
    """The same each time, and not of this run's key."""
    np.random.seed(n)  # noqa: NPY002  # here
    move(journal, game, state, 0, int(np.random.random() < 0.5), n)  # noqa: NPY002


@pytest.mark.parametrize("function", [draws_at_random, seeds_numpy])
def test_a_rule_that_draws_with_a_shared_generator_is_named(function):
    assert said_of(function).startswith("the rule draws with random or numpy.random; draw with uniform(key, ...)")


@a_rule
def has_a_generator(rule, memory, game, state, journal, key, n):
    player, action = _drawn(key, n, game)
    if GENERATOR.random() < 0.5:  # here
        move(journal, game, state, player, action, n)


@a_rule
def counts_its_calls(rule, memory, game, state, journal, key, n):
    CALLS[0] += 1
    turn = CALLS[0] // 2 % 2  # here
    move(journal, game, state, 0, turn, n)


@a_rule
def remembers_the_last_step(rule, memory, game, state, journal, key, n):
    """What it plays depends on which step was taken before, in whichever run."""
    action = int(CALLS[0] == n - 1)  # here
    CALLS[0] = n
    move(journal, game, state, 0, action, n)


@a_rule
def plays_each_step_once(rule, memory, game, state, journal, key, n):
    if CALLS[0] != n:  # here
        move(journal, game, state, 0, n % 2, n)
    CALLS[0] = n


@pytest.mark.parametrize("function", [has_a_generator, counts_its_calls, remembers_the_last_step, plays_each_step_once])
def test_a_rule_that_remembers_outside_its_memory_is_named(function):
    assert said_of(function).startswith("a step played twice gives other bits; draw with uniform(key, ...), and rem")


@a_rule
def changes_the_game(rule, memory, game, state, journal, key, n):
    game.tables[0] += 1.0  # here


def test_a_rule_that_changes_the_game_is_named():
    said = "ValueError: assignment destination is read-only, what varies belongs into the state or memory record"
    with pytest.raises(CheckFailed, match=said) as caught:
        pt.testing.check_rule(rules[changes_the_game], [GAME])
    assert str(caught.value).endswith(f":{inspect.getsourcelines(changes_the_game)[1] + 2}")


class _Loose(pt.games.NormalForm):
    """Its data can be written to."""

    def _build(self):
        data = super()._build()
        return data._replace(payoffs=data.payoffs.copy())


@a_rule
def changes_loose_data(rule, memory, game, state, journal, key, n):
    game.payoffs[0] += 1.0  # here


def test_a_rule_that_changes_data_that_were_not_frozen_is_named():
    game = _Loose(np.zeros((2, 2, 2)))
    assert said_of(changes_loose_data, game).startswith("the rule changes the game's data; what varies belongs into")


@a_rule
def allocates(rule, memory, game, state, journal, key, n):
    room = np.zeros(2)  # here
    move(journal, game, state, 0, int(room[0]), n)


def test_a_rule_that_allocates_is_named():
    with pytest.raises(CheckFailed, match=r"kernels must not allocate; .*: test_check_rule.py:\d+ ") as caught:
        pt.testing.check_rule(rules[allocates], [GAME], steps=20)
    assert f":{inspect.getsourcelines(allocates)[1] + 2} " in str(caught.value)
