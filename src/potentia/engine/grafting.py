"""A run that goes on after something has been changed by hand: another map, robots moved, one more of them, a belief.

As :func:`potentia.engine.driving.branch`, it is a second run from here with the draws of the first, and the first is
left as it is. Here the numbers of actions and of players may differ, so that what is recorded begins anew at this step.
"""

from __future__ import annotations

import copy
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.beliefs import Believing
from potentia.beliefs.believing import digest
from potentia.beliefs.field import FieldBelief
from potentia.engine.recording import Recording
from potentia.engine.tier import Tier
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.arrays import Ints, frozen
from potentia.kernel.cache import jit_disabled
from potentia.kernel.journal import Journal
from potentia.rules import Rule

if TYPE_CHECKING:
    from potentia.engine.runs import Run


def graft(
    run: Run,
    game: Game | None = None,
    rule: Rule | None = None,
    profile: Ints | None = None,
    *,
    renumbered: bool = False,
) -> Run:
    """A second run from here on this game, by this rule, from this profile; what is left out stays.

    What players, the rule and beliefs remember goes along, for players of the same numbers; those that the old game had
    not begin as everybody began. Where actions are ``renumbered``, nothing goes along that is kept for each action.
    It records profiles, and nothing else, from this step on.
    """
    if run.unfinished:
        raise InvalidRun(f"this run was cut off within step {run.step} and cannot be changed; advance it first")
    other = copy.copy(run)
    other.game, other.rule = game or run.game, rule or run.rule
    other.record, other.every = ("profile",), 1
    here = other.game.check_profile(run.profile if profile is None else profile, "profile")
    other.start = here.copy()
    other.state = other.game.recording_state(here.copy(), other.record)
    _keep(*_inner(run), *_inner(other))
    if _same_minds(run.game, other.game, renumbered):
        _keep(run.state, run.game.remembers, other.state, other.game.remembers)
    other.memory = other.rule.new_memory(other.game)
    if not renumbered:
        _keep(run.memory, run.rule.remembers, other.memory, other.rule.remembers)
    tracked = other.game.num_players
    counts, dirty = run.journal.counts.copy(), np.zeros(tracked, np.uint8)
    other.journal = Journal(
        counts,
        dirty,
        np.zeros(tracked, np.int64),
        np.zeros(1, np.int64),
        np.zeros(0, np.int64),  # machine code may write here: arrays are frozen where a run's own are
        frozen([], np.int64),
        np.array([0, 1], np.int64),
    )
    other.shadow = here.copy()
    other.thoughts = list(run.thoughts)
    Recording.__init__(other)
    other._tools = other.game.new_tools(other.record)
    other._rule_data = other.rule.data(other.game, other.horizon)
    other.compiled = run._mode is True and other.game.compiled
    other._data = other.game.data if other.compiled else other.game.plain_data
    other._tier = Tier(other) if run._mode == "auto" and not jit_disabled() else None
    other.game.take_over(other.state, run.game, run.key, run.step)
    other.settle()
    if isinstance(other.game, Believing):
        _look_around(other, run.step - 1 if _same_minds(run.game, other.game, False) else -1)
    return other


def _inner(run: Run) -> tuple[Any, tuple[str, ...]]:
    """The state of the game itself, whatever players believe of it, and what it remembers."""
    if isinstance(run.game, Believing):
        return run.state.game, run.game.game.remembers
    return run.state, run.game.remembers


def _same_minds(old: Game, new: Game, renumbered: bool) -> bool:
    """Whether players go on with what they believe: not where the belief is another one, or kept by action."""
    if not isinstance(old, Believing) or not isinstance(new, Believing) or old.belief != new.belief:
        return False
    return not renumbered or isinstance(new.belief, FieldBelief)


def _keep(old: Any, before: tuple[str, ...], new: Any, after: tuple[str, ...]) -> None:
    """What one remembers and the other can; where the other has more players, of those that both have.

    Arrays hold players in their order, so that those of the old game come first in the new.
    """
    for name in set(before) & set(after):
        there, here = attrgetter(name)(old), attrgetter(name)(new)
        alike = there.dtype == here.dtype and there.ndim == here.ndim
        if alike and all(few <= many for few, many in zip(there.shape, here.shape, strict=True)):
            here[tuple(slice(few) for few in there.shape)] = there


def _look_around(run: Run, step: int) -> None:
    """Robots see where they are now, as after a move; a belief that is new begins as in the beginning, at step -1."""
    run.state.moved[:] = 1
    digest(run.game.plain_data, run.state, run.key, step)
    run._think(run.step - 1)
