"""Questions about a game and a rule that are answered exactly, for stages that ask them: a table of functions.

A question is plain data with the name of its answer, ``{"what": "law", "lane": 0}``. Answers are plain data, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from potentia.analysis import chain
from potentia.errors import InvalidRun, look_up
from potentia.games import Game
from potentia.rules import Rule, rule_from
from potentia.web.solving import answer
from potentia.web.studio.session import Moment

MOST_STATES = 4_096  # of a law that a page shows

Solver = Callable[[Game, Rule, dict[str, Any]], dict[str, Any]]


def law(game: Game, rule: Rule, question: dict[str, Any]) -> dict[str, Any]:
    """Where the rule is in the long run: the stationary law over profiles."""
    if game.num_profiles > MOST_STATES:
        raise InvalidRun(f"a law is shown of up to {MOST_STATES:,} profiles, and there are {game.num_profiles:,}")
    found = chain(game, rule)
    return {"states": found.states.tolist(), "law": found.over_profiles(found.stationary()).tolist()}


SOLVERS: dict[str, Solver] = {"law": law}


def solved(now: Moment, question: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question about one of the runs, or about a rule that the question gives."""
    if "ask" in question:  # of the game stage
        return answer(question)
    asked = dict(question)
    what, lane, given = asked.pop("what", None), asked.pop("lane", 0), asked.pop("rule", None)
    solve = look_up(SOLVERS, what if isinstance(what, str) else "", "what", InvalidRun)
    if type(lane) is not int or not 0 <= lane < len(now.lanes):
        raise InvalidRun(f"must be one of the {len(now.lanes)} runs, got {lane!r:.40}", "lane", lane)
    rule = now.lanes[lane].run.rule if given is None else rule_from(given)
    return solve(now.lanes[lane].game, rule, asked)
