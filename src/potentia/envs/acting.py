"""The rule of a run that only does what it is told: what an environment is, as runs know it."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from potentia.engine.driving import Orders
from potentia.games import Game
from potentia.kernel.checks import Integer
from potentia.rules import Rule


@attrs.frozen
class Actions(Rule):
    """What players did in an episode: nothing happens but what is applied."""

    name: ClassVar[str] = "environment"
    episode: int = attrs.field(default=0, validator=Integer())

    def data(self, game: Game, horizon: int | None) -> Orders:
        return Orders(np.zeros(0, np.int64), np.zeros(0, np.int64))
