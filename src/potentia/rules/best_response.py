"""Best response: one random player plays a best response to the others' actions.

The limit of LLL as tau → 0, and the unperturbed process of the paper's stability analysis.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import attrs

from potentia.games import Game
from potentia.kernel.checks import OneOf
from potentia.kernel.draws import CHOICE, uniform
from potentia.kernel.journal import REVISIONS, Journal, move
from potentia.kernel.protocol import num_drawn, plays, utility
from potentia.rules.base import Axes, Memory, Rule, pick_one, register, step, survey, surveyed
from potentia.rules.choice import best_weights, pick
from potentia.rules.chooses import Best
from potentia.rules.considers import Everything
from potentia.rules.who import One


class BestResponseData(NamedTuple):
    """What compiled code reads."""

    stay: bool


@register
@attrs.frozen(repr=False)
class BestResponse(Rule):
    """One random player plays a best response; ``ties`` are drawn uniformly, or keep the current action ("stay").

    Parameters
    ----------
    ties : {"uniform", "stay"}
        Which of several best actions is played.

    Examples
    --------
    >>> trace = pt.run(pt.game("prisoners-dilemma"), pt.rules.BestResponse(), 50, start=[0, 0])
    >>> trace.final.tolist()
    [1, 1]
    """

    name: ClassVar[str] = "best-response"
    summary: ClassVar[str] = "one random player plays a best response (lll as tau goes to 0)"
    words = ("one", "all", "best")
    ties: str = attrs.field(default="uniform", validator=OneOf("uniform", "stay"))

    def axes(self) -> Axes:
        return Axes(One(), Everything(), Best(self.ties))

    def data(self, game: Game, horizon: int | None) -> BestResponseData:
        return BestResponseData(self.ties == "stay")


@step.register(BestResponseData)
def _best_response(
    rule: BestResponseData, memory: Memory, game: Any, state: Any, journal: Journal, key: Any, n: int
) -> None:
    players = num_drawn(game)
    player = pick_one(game, state, key, n)
    if not plays(game, state, player):
        return
    count = survey(game.moves, memory, game, state, player)
    total = best_weights(memory.values, count, memory.weights)
    index = pick(memory.weights, count, total, uniform(key, players, n, player, CHOICE))
    journal.counts[REVISIONS] += 1
    if rule.stay:
        current = utility(game, state, player, state.profile[player])
        if memory.values[index] == current:
            return
    move(journal, game, state, player, surveyed(game.moves, memory, index), n)
