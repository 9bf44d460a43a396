"""The public checkers pass what is right and name what is wrong."""

from __future__ import annotations

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


def test_what_is_no_game_or_rule_is_refused():
    with pytest.raises(CheckFailed, match="expected a potentia Game"):
        check_game("ring")
    with pytest.raises(CheckFailed, match="expected a potentia Rule"):
        check_rule("lll")
