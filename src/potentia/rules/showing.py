"""Rules as notebooks show them: parameters with what they mean, and the place on the map of rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.kernel.html import Html, card, parameters, table
from potentia.kernel.registry import parameters_of
from potentia.rules.base import Axes, Rule
from potentia.rules.schedules import Constant

_MANY = 1000  # entries of a parameter
MEANINGS = {  # of the parameters of the package's own rules, by name
    "alone": "whether one player strays at a time once all have settled (Assumption 7)",
    "best_response": "among the actions in reach, or among all",
    "choice": "the penalty behind the choice map",
    "chooses": "how a player chooses among what it considers",
    "considers": "what a player that revises considers",
    "count": "whether steps diminish with steps of the run, or with visits to the action",
    "discount": "T, how fast scores forget; 0: never",
    "form": "of the scores: as in the pseudo-code, or the pair of Eq. 28",
    "groups": "groups of players with the probability that each wakes",
    "guard": "whether players that interact never revise at once",
    "include_current": "whether a trial may be the present action",
    "inertia": "probability of staying all the same",
    "initial": "scores at the start",
    "initial_strategies": "strategies at the start; uniform if none",
    "k": "how many actions a player tries",
    "lag": "whether the strategy follows the scores of the step before",
    "m": "players try another action with probability e^(-m/tau)",
    "memory": "how many of the last profiles are remembered",
    "mu": "step size of the scores",
    "noise": "standard deviation of what is added to each received utility",
    "order": "how often utilities are aggregated",
    "revision": "probability that a player wakes in a step",
    "sample": "how many of the remembered profiles a player looks at",
    "tau": "temperature: how much players err",
    "ties": "between best actions: drawn, or the present one kept",
    "trial": "whether players that wake try at once, or each by itself",
    "unplayed": "what happens to scores of actions that are not played",
    "vartheta": "how far a strategy moves to the best response",
    "who": "who revises in a step",
    "xi": "by how much a settled strategy is perturbed at most",
    "zeta": "the largest entry of a strategy that has settled",
}


def rule_card(rule: Rule) -> str:
    """A rule."""
    axes = None if _is_long(rule) else rule.point()
    places = Html("")
    if axes is not None:
        rows = [[axis, part.name, part.summary] for axis, part in zip(Axes._fields, axes, strict=True)]
        places = table(rows, ["who × considers × chooses", "", ""])
    beside_words = [part for part in axes or () if rule.called != rule.name]  # a composition has those of its axes
    return card(rule.called, rule.summary, parameters(beside_words or [rule], MEANINGS, _value), places)


def _is_long(rule: Rule) -> bool:
    """Whether it has a number for each of very many players: to place it on the map would check them all again."""
    values = (getattr(rule, name) for name in parameters_of(type(rule)))
    return any(isinstance(value, tuple | list | np.ndarray) and len(value) > _MANY for value in values)


def _value(value: Any) -> Any:
    return value.tau if isinstance(value, Constant) else value
