"""Who revises at a step: the first axis of the map of rules.

One random player, whoever wakes independently, a random group, or everybody; of those, with ``guard``, only players
that do not interact with each other. A kind of one's own is a :class:`Who` with a ``name`` whose ``revision_on`` says
who wakes in a game: a revision probability in any of its forms (:mod:`potentia.rules.revision`), or ``Groups``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import attrs

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.checks import Flag
from potentia.kernel.registry import Checked, Registry
from potentia.rules.base import Axes
from potentia.rules.revision import Groups, Revision, Vanishing, groups_from, revision_from

_registry: Registry[Who] = Registry("who", InvalidRule)
register = _registry.register


class Who(Checked, ABC):
    """Who revises. Subclasses are frozen classes of attrs, one field per parameter.

    Examples
    --------
    >>> pt.rule("slll", tau=0.1, revision=0.3).axes().who
    Independent(revision=0.3, guard=False)
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    invalid: ClassVar[type[InvalidRule]] = InvalidRule
    revises_once: ClassVar[bool] = False  # whether it is one player in every step
    guard: bool = False

    @abstractmethod
    def revision_on(self, game: Game) -> Revision | None:
        """Who wakes in this game; None for one player, uniformly random.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        float, tuple, Groups, Vanishing, SignalRevision or None
            A revision probability in any of its forms.
        """


@register
@attrs.frozen
class One(Who):
    """One player, uniformly random.

    Examples
    --------
    >>> pt.rule(who=pt.rules.One(), considers="all", chooses="logit", tau=0.1).revises_once()
    True
    """

    name: ClassVar[str] = "one"
    summary: ClassVar[str] = "one random player"
    revises_once: ClassVar[bool] = True

    def revision_on(self, game: Game) -> None:
        return None


@register
@attrs.frozen
class Independent(Who):
    """Each player wakes on its own with its revision probability.

    Parameters
    ----------
    revision : float, sequence, Vanishing, SignalRevision or dict
        The probability to wake: one number, one per player, or one per player and action.
    guard : bool
        Whether only players that do not interact with each other revise at once.

    Examples
    --------
    >>> rule = pt.rule(who=pt.rules.Independent([0.1, 0.9]), considers="all", chooses="best")
    >>> pt.run(pt.game("stag-hunt"), rule, 100).revisions
    98
    """

    name: ClassVar[str] = "independent"
    summary: ClassVar[str] = "each player that wakes, with probability revision"
    revision: Revision = attrs.field(converter=revision_from)
    guard: bool = attrs.field(default=False, validator=Flag())

    def revision_on(self, game: Game) -> Revision:
        return self.revision


@register
@attrs.frozen
class InGroups(Who):
    """A random group: ``InGroups([((0, 1), 0.5), ((2,), 0.5)])``.

    Parameters
    ----------
    groups : Groups or sequence of pairs
        Players that wake together, and the probability of it.
    guard : bool
        Whether only players that do not interact with each other revise at once.

    Examples
    --------
    >>> who = pt.rules.InGroups([((0, 1), 0.5), ((1,), 0.5)])
    >>> pt.run(pt.game("stag-hunt"), pt.rule(who=who, considers="all", chooses="best"), 100).revisions
    150
    """

    name: ClassVar[str] = "groups"
    summary: ClassVar[str] = "a random group; groups as in 0+1=0.5;2=0.5"
    groups: Groups = attrs.field(converter=groups_from)
    guard: bool = attrs.field(default=False, validator=Flag())

    @property
    def revision(self) -> Groups:
        """The same, as ``slll`` takes it."""
        return self.groups

    def revision_on(self, game: Game) -> Groups:
        return self.groups


@register
@attrs.frozen
class Everybody(Who):
    """All players at once.

    Parameters
    ----------
    guard : bool
        Whether only players that do not interact with each other revise at once.

    Examples
    --------
    >>> rule = pt.rule(who=pt.rules.Everybody(), considers="all", chooses="best")
    >>> pt.run(pt.game("stag-hunt"), rule, 4, start=[0, 1]).profiles.tolist()  # they miss each other for ever
    [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]
    """

    name: ClassVar[str] = "all"
    summary: ClassVar[str] = "everybody at once"
    revision: ClassVar[float] = 1.0
    guard: bool = attrs.field(default=False, validator=Flag())

    def revision_on(self, game: Game) -> float:
        return 1.0


def who_by(revision: Revision, guard: bool = False) -> Who:
    """Who revises where a rule has a revision probability, or groups."""
    if isinstance(revision, Groups):
        return InGroups(revision, guard)
    return Everybody(guard) if revision == 1.0 else Independent(revision, guard)


def waking(axes: Axes, game: Game) -> Revision | None:
    """Who wakes in this game, checked; None for one player, uniformly random."""
    found = axes.who.revision_on(game)
    if found is None:
        return None
    revision = revision_from(found, allow_groups=True)
    check_vanishing(revision, axes.chooses)
    return revision


def check_vanishing(revision: Any, chooses: Any) -> None:
    """Refuse a revision probability that vanishes with a temperature where there is none."""
    if isinstance(revision, Vanishing) and not hasattr(chooses, "tau"):
        raise InvalidRule(f"cannot vanish with the temperature: {chooses.name} has none", "revision", revision)


def settled(who: Any) -> Any:
    """The same in its plainest form: everybody, where all wake for certain."""
    return who_by(who.revision, who.guard) if type(who) is Independent else who
