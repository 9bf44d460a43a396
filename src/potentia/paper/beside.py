"""Beside which runs published numbers belong: those of the paper's own setting.

The worths of the thesis are for its game (:func:`~potentia.studies.coverage.paper_game`), BLLL and P-SBLLL over 2,000
steps, QL and SOQL over 15,000, with the printed parameters. QL's temperature is not printed, so any will do. Robots of
the paper learn the map; runs that know it count as its setting, too, since that is how ``potentia cover --paper`` plays
it, and so do runs with the published belief. All else is another experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potentia.beliefs import Belief
from potentia.games import Coverage
from potentia.games.world import published
from potentia.paper.belief_study import published_beliefs
from potentia.paper.case_study import LEARNING, SHORT
from potentia.paper.reinforcement_study import published_soql
from potentia.rules import Rule, rule
from potentia.studies.coverage import paper_game, paper_rules

_LEARNERS = ("ql", "soql")


def published_beside(
    game: Coverage, rules: Mapping[str, Rule], steps: int, belief: Belief | None = None
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """What was published of these rules, and of the others why it does not belong beside them, in words.

    Returns
    -------
    tuple
        Entries with ``mean``, ``low`` and ``high`` by the name of the rule as registered; and by the name given here
        what differs from the paper's setting, of rules of which something was published.
    """
    entries: dict[str, Any] = {}
    others: dict[str, list[str]] = {}
    for name, chosen in rules.items():
        if chosen.name not in published()["worth"]:
            continue
        others[name] = _unlike(chosen, game, steps, belief)
        if not others[name]:
            entries[chosen.name] = published()["worth"][chosen.name]
    return entries, {name: why for name, why in others.items() if why}


def _unlike(chosen: Rule, game: Coverage, steps: int, belief: Belief | None) -> list[str]:
    """What differs from the setting in which the rule's worth was published."""
    known = {**paper_rules(), "soql": published_soql(), "ql": rule("ql", tau=getattr(chosen, "tau", 1.0))}
    minds = {name.lower(): mind.spec() for name, mind in published_beliefs().items()}
    length = LEARNING if chosen.name in _LEARNERS else SHORT
    differs = {
        "the game": game.fingerprint() != paper_game().fingerprint() or game.start is not None,
        "the rule": chosen.spec() != known[chosen.name].spec(),
        f"{steps:,} steps, not {length:,}": steps != length,
        "the belief": belief is not None and belief.spec() != minds.get(chosen.name),
    }
    return [what for what, so in differs.items() if so]
