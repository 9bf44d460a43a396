"""How the game stage opens: a game and a rule as the state that the page keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.analysis.tables import payoff_tensor
from potentia.errors import InvalidGame, InvalidRule
from potentia.games import Game
from potentia.games import game as game_by_name
from potentia.kernel.protocol import Complete
from potentia.rules import Constant, Rule
from potentia.rules.base import Axes

LARGEST = 1e9  # of payoffs, as in the page
_ON_THE_PAGE = {
    "who": ("one", "independent", "all"),
    "considers": ("all", "trial", "joint-trial"),
    "chooses": ("logit", "best", "better", "mistakes", "metropolis"),
}


def is_free(game: Game) -> bool:
    """Whether payoffs are all there is to a game: every action can be taken at any time, for nothing."""
    return isinstance(game.moves, Complete) and game.move_prices() is None


def game_state(game: Game) -> dict[str, Any]:
    """The payoffs of a game, to be edited."""
    if not is_free(game):
        raise InvalidGame("must have complete action sets and free moves to be edited as payoffs", "game", game)
    payoffs = payoff_tensor(game)
    if np.abs(payoffs).max() > LARGEST:
        raise InvalidGame(f"must have payoffs of at most {LARGEST:g} in size", "game", game)
    return {"payoffs": payoffs.tolist()}


def rule_state(rule: Rule) -> dict[str, Any]:
    """Where on the map a rule is, and its parameters."""
    axes = rule.point()
    names = {} if axes is None else {axis: getattr(axes, axis).name for axis in Axes._fields}
    if axes is None or any(names[axis] not in known for axis, known in _ON_THE_PAGE.items()):
        said = "must be a point of who × considers × chooses that the page has"
        raise InvalidRule(f"{said}, got {rule.called}", "rule", rule)
    if axes.considers.k > 1:
        raise InvalidRule(f"must consider one trial action here, got k={axes.considers.k}", "rule", rule)
    out: dict[str, Any] = {"rule": names}
    beside = {"guard": axes.who, "include_current": axes.considers, "ties": axes.chooses, "inertia": axes.chooses}
    out["rule"] |= {name: getattr(part, name) for name, part in beside.items() if hasattr(part, name)}
    tau = getattr(axes.chooses, "tau", None)
    if tau is not None:
        if not isinstance(tau, Constant):
            raise InvalidRule(f"must be a number here, got {type(tau).__name__}", "tau", tau)
        out["tau"] = tau.tau
    if names["who"] == "independent":
        revision = axes.who.revision_on(game_by_name("stag-hunt"))
        if not isinstance(revision, float):
            raise InvalidRule(f"must be one number here, got {revision}", "revision", revision)
        out["revision"] = revision
    return out
