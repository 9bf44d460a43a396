"""What those need who write a game, a rule or a belief of their own, in one place.

Kernels are plain functions over NamedTuples. They run as they are and inside Numba, and allocate nothing.

To write a game:
    :class:`Game`, :func:`frozen` for its arrays, and what a kind of game registers for the type of its data:
    :func:`utility`, :func:`utilities`, :func:`compare`, :func:`payoff`, :func:`apply`, :func:`commit`, :func:`settle`,
    :func:`open_run`, :func:`tick`, :func:`potential`, :func:`welfare`, :func:`measure`; :func:`register_game` for a
    name.
To write a rule:
    :class:`Rule`, :func:`register_rule`, :func:`step`, :func:`new_memory` with :class:`Memory`, :func:`wake_one`,
    :func:`survey` and :func:`surveyed` for what a player may choose, :func:`num_players`, :func:`num_actions`,
    :func:`num_reachable`, :func:`reachable`; :func:`move`, which keeps the :class:`Journal`, and ``REVISIONS``. Where
    robots fail and arrive, :func:`plays` says who takes part, :func:`pick_one` is :func:`wake_one` with those that came
    later, and a rule that gives :func:`uniform` :func:`num_drawn` has the same draws with and without them.
To draw so that its exact law can be found (potentia.analysis), each with a draw of :func:`uniform` last:
    :func:`chance`, :func:`choose`, :func:`logit`, :func:`best`, :func:`accept`, :func:`mistake`, :func:`rarely`.
To give a rule a temperature:
    :func:`schedule_from` as the converter of its field, ``tau.data(horizon)`` in its data, :func:`temperature` in its
    step.
To add to who × considers × chooses:
    :class:`Who`, :class:`Considers` and :class:`Chooses` with :func:`register_who`, :func:`register_considers` and
    :func:`register_chooses`; :func:`option_terms` for how is chosen.
To declare its parameters, as fields of attrs:
    :class:`Real`, :class:`Integer`, :class:`Flag` and :class:`OneOf` as validators, :func:`number` and :func:`whole` as
    converters.
To write a belief:
    :class:`Belief`, :func:`register_belief`, :func:`estimate`, :func:`learn`.
To record what nobody recorded before:
    :func:`register_recorder` for a function of (profile, data); a game, or a belief, names its own in ``recorders``,
    each a :class:`Recorder` with its label and unit, and registers :func:`measure` (:func:`judge`).
To draw:
    :func:`uniform` with a purpose, ``WAKE``, ``TRIAL``, ``CHOICE``, ``PRIORITY`` or one of ``FREE_PURPOSES``, which
    nothing of this package draws with; :func:`below` makes an integer of it.
To let kernels call a helper:
    :func:`portable`; :func:`generic` for one that depends on the type of its first argument.

``potentia.testing`` has the checks: ``check_game`` and ``check_rule``.
"""

from potentia.beliefs.base import Belief, estimate, judge, learn
from potentia.beliefs.base import register as register_belief
from potentia.games import Game, register_game
from potentia.kernel.arrays import frozen
from potentia.kernel.checks import Flag, Integer, OneOf, Real, number, whole
from potentia.kernel.dispatch import generic, portable
from potentia.kernel.draws import CHOICE, FREE_PURPOSES, PRIORITY, TRIAL, WAKE, below, uniform
from potentia.kernel.journal import REVISIONS, Journal, move
from potentia.kernel.loading import listing
from potentia.kernel.protocol import (
    apply,
    commit,
    compare,
    measure,
    num_actions,
    num_drawn,
    num_players,
    num_reachable,
    open_run,
    payoff,
    plays,
    potential,
    reachable,
    settle,
    tick,
    utilities,
    utility,
    welfare,
)
from potentia.kernel.recorders import Recorder, register_recorder
from potentia.rules.base import Memory, Rule, new_memory, pick_one, step, survey, surveyed, wake_one
from potentia.rules.base import register as register_rule
from potentia.rules.chooses import Chooses, option_terms
from potentia.rules.chooses import register as register_chooses
from potentia.rules.considers import Considers
from potentia.rules.considers import register as register_considers
from potentia.rules.drawing import accept, best, chance, choose, logit, mistake, rarely
from potentia.rules.schedules import Schedule, schedule_from, temperature
from potentia.rules.who import Who
from potentia.rules.who import register as register_who

__all__ = [
    "CHOICE",
    "FREE_PURPOSES",
    "PRIORITY",
    "REVISIONS",
    "TRIAL",
    "WAKE",
    "Belief",
    "Chooses",
    "Considers",
    "Flag",
    "Game",
    "Integer",
    "Journal",
    "Memory",
    "OneOf",
    "Real",
    "Recorder",
    "Rule",
    "Schedule",
    "Who",
    "accept",
    "apply",
    "below",
    "best",
    "chance",
    "choose",
    "commit",
    "compare",
    "estimate",
    "frozen",
    "generic",
    "judge",
    "learn",
    "logit",
    "measure",
    "mistake",
    "move",
    "new_memory",
    "num_actions",
    "num_drawn",
    "num_players",
    "num_reachable",
    "number",
    "open_run",
    "option_terms",
    "payoff",
    "pick_one",
    "plays",
    "portable",
    "potential",
    "rarely",
    "reachable",
    "register_belief",
    "register_chooses",
    "register_considers",
    "register_game",
    "register_recorder",
    "register_rule",
    "register_who",
    "schedule_from",
    "settle",
    "step",
    "survey",
    "surveyed",
    "temperature",
    "tick",
    "uniform",
    "utilities",
    "utility",
    "wake_one",
    "welfare",
    "whole",
]

__dir__ = listing(__all__)
