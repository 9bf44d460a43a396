"""``check_game`` names the line of a kernel, or of a record, that is wrong, before anything is compiled."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import numpy as np
import pytest

from potentia import extend
from potentia.errors import CheckFailed
from potentia.testing import check_game


class SumState(NamedTuple):
    profile: np.ndarray
    total: np.ndarray


class SumGame(extend.Game):
    """Everybody gets the sum of all actions; its data are of a kind of their own each time."""

    kind: type

    def __init__(self):
        super().__init__(extend.frozen(np.full(3, 3), np.int64), None)
        self._seal()

    def utility(self, player, profile):
        return float(np.sum(profile))

    def _build(self):
        return self.kind(self.sizes, self.moves)

    def new_state(self, profile):
        return SumState(profile, np.zeros(1, np.int64))


def right_utility(game, state, player, action):
    return float(state.total[0] - state.profile[player] + action)


def right_apply(game, state, player, action):
    state.total[0] += action - state.profile[player]
    state.profile[player] = action


def right_settle(game, state):
    state.total[0] = state.profile.sum()


def said_of(base=SumGame, utility=right_utility, apply=right_apply):
    """What is wrong with a game of these, in one line."""

    class Data(NamedTuple):
        sizes: np.ndarray
        moves: tuple

    for generic, body in ((extend.utility, utility), (extend.apply, apply), (extend.settle, right_settle)):
        generic.register(Data)(body)
    with pytest.raises(CheckFailed) as caught:
        check_game(type("Own", (base,), {"kind": Data})())
    told = str(caught.value)
    assert len(told.splitlines()) == 1
    return told, Data


def ends_at(told, thing):
    return told.endswith(f": test_check_game.py:{inspect.getsourcelines(thing)[1]}")


def forgets_who_asks(game, state, player, action):
    return float(state.total[0] + action)


def keeps_no_sum(game, state, player, action):
    state.profile[player] = action


def test_a_kernel_that_says_something_else_is_named():
    told, _ = said_of(utility=forgets_who_asks)
    assert "game.utility says" in told
    assert ends_at(told, forgets_who_asks)
    told, _ = said_of(apply=keeps_no_sum)
    assert "the state's total differs from what settle derives from the profile: check apply" in told
    assert ends_at(told, keeps_no_sum)


class Potential(SumGame):
    has_potential = True

    def potential(self, profile):
        return 2.0 * float(np.sum(profile))


class Alone(SumGame):
    @property
    def interactions(self):
        return self.no_interactions._replace(ptr=extend.frozen(np.zeros(4), np.int64))


def test_a_method_that_says_something_else_is_named():
    told, _ = said_of(Potential)
    assert told.startswith("the potential is not exact")
    assert ends_at(told, Potential.potential)
    told, _ = said_of(Alone)
    assert "interactions do not say so" in told
    assert ends_at(told, Alone.interactions.fget)


class Listed(SumGame):
    def _build(self):
        return self.kind(self.sizes.tolist(), self.moves)


def test_a_list_in_the_data_is_named_with_its_field():
    told, data = said_of(Listed)
    assert ".sizes is a list; use numbers, arrays and NamedTuples of them: " in told
    assert ends_at(told, data)
