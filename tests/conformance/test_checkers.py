"""The public checkers pass what is right and name what is wrong."""

from __future__ import annotations

import itertools
import json
import re
from typing import NamedTuple

import numpy as np
import pytest

import potentia as pt
from potentia.errors import CheckFailed
from potentia.kernel import protocol
from potentia.kernel.arrays import frozen
from potentia.testing import check_game, check_rule
from tests import games


@pytest.mark.parametrize("name", games.COMPILED)
def test_every_game_passes(name, monkeypatch):
    if games.is_far_fetched(name, "p-sblll"):  # compiled with another rule, in other tests
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    check_game(games.COMPILED[name]())


@pytest.mark.parametrize("name", games.RULES)
def test_every_rule_passes(name):
    near = next(game for game in games.COMPILED if not games.is_far_fetched(game, name))
    check_rule(pt.rules.rule_from(games.RULES[name]), [games.COMPILED[near]()])


def test_a_rule_is_checked_on_games_of_several_kinds():
    check_rule(pt.rule("p-sblll", tau=0.4, revision=0.35))


@pytest.mark.parametrize("name", ["groups", "payoff-based", "adaptive-play"])
def test_compositions_and_rules_that_remember_keep_the_protocol(name):
    """The one kernel of compositions, and what a saved run must keep of those that remember."""
    game = pt.games.NormalForm([[[4, 0], [3, 3]], [[4, 3], [0, 3]]])
    check_rule(pt.rules.rule_from(games.ADDED[name]), [game])


class SumData(NamedTuple):
    sizes: np.ndarray
    moves: protocol.Complete


class SumState(NamedTuple):
    profile: np.ndarray
    total: np.ndarray


class SumGame(pt.games.Game):
    """A third party's game: each player gets the square of everybody's sum; the run keeps the sum."""

    def __init__(self, num_players=3):
        super().__init__(frozen(np.full(num_players, 3), np.int64), None)
        self._seal()

    def utility(self, player, profile):
        return float(np.sum(profile)) ** 2

    @property
    def has_potential(self):
        return True

    def potential(self, profile):
        return self.utility(0, profile)

    def _build(self):
        return SumData(self.sizes, self.moves)

    def new_state(self, profile):
        return SumState(profile, np.zeros(1, np.int64))


@protocol.utility.register(SumData)
def _utility(game, state, player, action):
    return float(state.total[0] - state.profile[player] + action) ** 2


@protocol.apply.register(SumData)
def _apply(game, state, player, action):
    state.total[0] += action - state.profile[player]
    state.profile[player] = action


@protocol.settle.register(SumData)
def _settle(game, state):
    state.total[0] = state.profile.sum()


@protocol.potential.register(SumData)
def _potential(game, state):
    return float(state.total[0]) ** 2


def test_a_third_partys_game_passes_and_plays():
    check_game(SumGame())
    trace = pt.run(SumGame(), pt.rule("lll", tau=0.1), 200, record=("potential",))
    assert trace.potential[-1] == 36


class ForgetfulData(SumData):
    pass


class Forgetful(SumGame):
    """Forgets to keep the sum up to date."""

    def _build(self):
        return ForgetfulData(self.sizes, self.moves)


for _generic, _body in ((protocol.utility, _utility), (protocol.settle, _settle), (protocol.potential, _potential)):
    _generic.register(ForgetfulData)(_body)


class WrongPotential(SumGame):
    def potential(self, profile):
        return 2 * self.utility(0, profile)


class WrongInteractions(SumGame):
    @property
    def interactions(self):
        return self.no_interactions._replace(ptr=frozen(np.zeros(self.num_players + 1), np.int64))


class WrongReference(SumGame):
    def utility(self, player, profile):
        return super().utility(player, profile) + 0.001

    def potential(self, profile):
        return super().utility(0, profile)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (Forgetful, "check apply"),
        (WrongPotential, "not exact"),
        (WrongInteractions, "interactions do not say so"),
        (WrongReference, "game.utility says"),
    ],
)
def test_broken_games_are_named(make, complaint):
    with pytest.raises(CheckFailed, match=complaint):
        check_game(make())


def sees_the_first(player, profile, data):
    """Each counts for itself; the last one sees the first too, where all between them play ``data``, or always."""
    seen = player == len(profile) - 1 and (data < 0 or all(profile[1:-1] == data))
    return float(profile[player] + (0.25 * profile[0] if seen else 0.0))


@pytest.mark.parametrize(("players", "where"), [(5, 2), (12, -1)])
def test_a_forgotten_interaction_is_found(players, where, monkeypatch):
    """In one of 27 profiles, all of which are tried; or for one of 132 pairs, at a few random profiles each."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    last, sizes = players - 1, [3] * players
    all_but_one = [pair for pair in itertools.combinations(range(players), 2) if pair != (0, last)]
    game = pt.games.custom(sees_the_first, sizes, data=where, interactions=all_but_one)
    told = rf"player {last}'s utility depends on player 0's action, .*: it is (.*) at (\[.*\]) and (.*) where player 0"
    for seed in range(3):
        with pytest.raises(CheckFailed, match=told) as failed:
            check_game(game, seed=seed)
        here, profile, there, action = re.search(told + r" takes action (\d)", str(failed.value)).groups()
        before = np.array(json.loads(profile))
        after = np.array([int(action), *before[1:]])
        assert [game.utility(last, before), game.utility(last, after)] == [float(here), float(there)]
    check_game(pt.games.custom(sees_the_first, sizes, data=where, interactions=[*all_but_one, (last, 0)]))


def test_what_is_no_game_or_rule_is_refused():
    with pytest.raises(CheckFailed, match="expected a potentia Game"):
        check_game("ring")
    with pytest.raises(CheckFailed, match="expected a potentia Rule"):
        check_rule("lll")
