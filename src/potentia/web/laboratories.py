"""The 2×2 laboratory: one HTML file in which a game and a rule are changed, solved and audited, without a server."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from potentia.errors import InvalidGame
from potentia.games import Game
from potentia.games import game as game_by_name
from potentia.rules import Rule, rule_from
from potentia.web.joining import assemble, write_page
from potentia.web.starting import game_state, rule_state

TITLE = "The 2×2 laboratory"


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
    path : str or path
        The page to write, one file that opens offline.
    game : Game or str, optional
        The game that it opens with, two players with two actions each: a game, or a name such as "stag-hunt".
    rule : Rule, dict or str, optional
        The rule that it opens with, a point of who × considers × chooses: ``pt.rule("lll", tau=0.3)``.
    title : str
        What stands above.

    Returns
    -------
    Path
        Where it was written, whole or not at all.

    Examples
    --------
    >>> pt.web.laboratory("lab.html", "stag-hunt", pt.rule("lll", tau=0.5)).name
    'lab.html'
    """
    return write_page(path, lambda: page(game, rule, title))


def page(game: Game | str | None = None, rule: Rule | dict[str, Any] | str | None = None, title: str = "") -> str:
    """The whole page."""
    first = ({} if game is None else game_state(_small(game))) | ({} if rule is None else rule_state(rule_from(rule)))
    state = json.dumps(first).replace("<", "\\u003c")
    block = f'<script type="application/json" id="state">{state}</script>'
    return assemble("game/page.js", ("viewer/viewer.css", "game/game.css"), title or TITLE, block)


def _small(game: Game | str) -> Game:
    made = game_by_name(game) if isinstance(game, str) else game
    if not isinstance(made, Game) or made.num_actions != (2, 2):
        got = " × ".join(map(str, made.num_actions)) if isinstance(made, Game) else repr(made)[:60]
        raise InvalidGame(f"must be of two players with two actions each, got {got}", "game", game)
    return made
