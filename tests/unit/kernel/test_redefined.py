"""A cell that is edited and run again: what is played is what was written last."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import attrs
import numpy as np
import pytest

import potentia as pt
from potentia import extend
from potentia.errors import InvalidCode
from potentia.extend import move, step

GAME = pt.games.NormalForm(np.zeros((1, 5)))


def cell(goal):
    """A rule whose player goes to this action."""

    class GoData(NamedTuple):
        goal: float

    @extend.register_rule
    @attrs.frozen(repr=False)
    class Go(extend.Rule):
        name: ClassVar[str] = "go-there"

        def data(self, game, horizon):
            return GoData(0.0)

    if goal == 1:

        def _go(rule, memory, game, state, journal, key, n):
            move(journal, game, state, 0, 1, n)

    else:

        def _go(rule, memory, game, state, journal, key, n):
            move(journal, game, state, 0, 3, n)

    step.register(GoData)(_go)
    return GoData, Go


def test_machine_code_is_that_of_the_last_definition():
    finals = []
    for goal in (1, 3, 1):
        data, rule = cell(goal)
        finals.append([int(pt.run(GAME, rule(), 3, compiled=how).final[0]) for how in (True, False)])
    assert finals == [[1, 1], [3, 3], [1, 1]]
    assert "GoData" in data.__qualname__

    def _go(rule, memory, game, state, journal, key, n):
        move(journal, game, state, 0, 2, n)

    _go.__qualname__ = step.table[data].__qualname__
    with pytest.raises(InvalidCode, match=r"step for GoData.* may be compiled already; define GoData.* anew, too"):
        step.register(data)(_go)
