"""The 2×2 laboratory: one HTML file in which a game and a rule are changed, solved and audited, without a server."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from potentia.analysis.tables import payoff_tensor
from potentia.errors import InvalidGame, InvalidRule
from potentia.games import Game
from potentia.games import game as game_by_name
from potentia.kernel.protocol import Complete
from potentia.rules import Constant, Rule, rule_from
from potentia.rules.base import Axes
from potentia.web.joining import assemble, write_page

LARGEST = 1e9  # of payoffs, as in the page
_ON_THE_PAGE = {
    "who": ("one", "independent", "all"),
    "considers": ("all", "trial", "joint-trial"),
    "chooses": ("logit", "best", "better", "mistakes", "metropolis"),
}
_TITLE = "The 2×2 laboratory"


def laboratory(
    path: str | os.PathLike[str],
    game: Game | str | None = None,
    rule: Rule | dict[str, Any] | str | None = None,
    *,
    title: str = "",
) -> Path:
    """Write a page that solves 2×2 games: law, stable set, trees and audit, by hand and without a server.

    Parameters
    ----------
    path
        The page to write, one file that opens offline.
    game
        The game that it opens with, two players with two actions each: a game, or a name such as "stag-hunt".
    rule
        The rule that it opens with, a point of who × considers × chooses: ``pt.rule("lll", tau=0.3)``.
    title
        What stands above.

    Returns
    -------
    Path
        Where it was written, whole or not at all.

    Examples
    --------
    >>> import tempfile, potentia as pt
    >>> pt.web.laboratory(tempfile.mkdtemp() + "/lab.html", "stag-hunt", pt.rule("lll", tau=0.5)).name
    'lab.html'
    """
    state = json.dumps(_game_state(game) | _rule_state(rule)).replace("<", "\\u003c")
    block = f'<script type="application/json" id="state">{state}</script>'
    return write_page(
        path, lambda: assemble("game/page.js", ("viewer/viewer.css", "game/game.css"), title or _TITLE, block)
    )


def _game_state(game: Game | str | None) -> dict[str, Any]:
    if game is None:
        return {}
    made = game_by_name(game) if isinstance(game, str) else game
    if not isinstance(made, Game) or made.num_actions != (2, 2):
        got = " × ".join(map(str, made.num_actions)) if isinstance(made, Game) else repr(made)[:60]
        raise InvalidGame(f"must be of two players with two actions each, got {got}", "game", game)
    if not isinstance(made.moves, Complete) or made.move_prices() is not None:
        raise InvalidGame("must have complete action sets and free moves for the laboratory", "game", game)
    payoffs = payoff_tensor(made)
    if np.abs(payoffs).max() > LARGEST:
        raise InvalidGame(f"must have payoffs of at most {LARGEST:g} in size for the laboratory", "game", game)
    return {"payoffs": payoffs.tolist()}


def _rule_state(rule: Rule | dict[str, Any] | str | None) -> dict[str, Any]:
    if rule is None:
        return {}
    chosen = rule_from(rule)
    axes = chosen.point()
    names = {} if axes is None else {axis: getattr(axes, axis).name for axis in Axes._fields}
    if axes is None or any(names[axis] not in known for axis, known in _ON_THE_PAGE.items()):
        said = "must be a point of who × considers × chooses that the laboratory has"
        raise InvalidRule(f"{said}, got {chosen.called}", "rule", rule)
    if axes.considers.k > 1:
        raise InvalidRule("must consider one trial action on a 2×2 game", "rule", rule)
    out: dict[str, Any] = {"rule": names}
    beside = {"guard": axes.who, "include_current": axes.considers, "ties": axes.chooses, "inertia": axes.chooses}
    out["rule"] |= {name: getattr(part, name) for name, part in beside.items() if hasattr(part, name)}
    tau = getattr(axes.chooses, "tau", None)
    if tau is not None:
        if not isinstance(tau, Constant):
            raise InvalidRule("must have one temperature for the laboratory, a number", "tau", tau)
        out["tau"] = tau.tau
    if names["who"] == "independent":
        revision = axes.who.revision_on(game_by_name("stag-hunt"))
        if not isinstance(revision, float):
            raise InvalidRule(f"must be one number for the laboratory, got {revision}", "revision", revision)
        out["revision"] = revision
    return out
