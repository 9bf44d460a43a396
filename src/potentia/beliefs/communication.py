"""Robots that meet tell each other what they have seen.

Two robots within R_com of each other are in contact after a step. Let e be the number of distinct cells that a
robot knows, its experience, and j the one with less. They exchange what the other lacks if there is anything new
since they last did, and

    e_i ≥ K′ · e_j  (an expert meets a novice),  or  |O^i ∪ O^j| ≥ K″ · e_j  (both have much to tell).

The more experienced one then fits the pooled observations for both, starting from both models, weighted by
experience where they have equally many components and from its own where not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.forgetting import hand_on, is_due, is_newer, num_heard, told_before
from potentia.beliefs.observations import KNOWN, Store, note_reading, pass_time, sense
from potentia.errors import InvalidBelief
from potentia.games import Coverage
from potentia.games.coverage_kernel import CoverageData, CoverageState, squared_distance
from potentia.games.grid import SLACK
from potentia.kernel.checks import Real, number
from potentia.kernel.dispatch import portable, separate
from potentia.kernel.protocol import plays
from potentia.kernel.registry import Checked, plain_parameters
from potentia.kernel.reprs import brief

CONTACTS, SENT = range(2)


@attrs.frozen(repr=False)
class Communication(Checked):
    """Who hears whom: within ``radius`` (R_com) cells, under the experience ratios ``novice`` (K′) and ``news`` (K″).

    ``Communication()``: everybody hears everybody at once. ``Communication(0)``: nobody hears anybody.

    Parameters
    ----------
    radius : float
        R_com, in cells.
    novice : float
        K′: how much more the other must have seen, at least 1.
    news : float
        K″: how much more the other must have seen since they met, at least 1.

    Examples
    --------
    >>> talk = pt.beliefs.Communication(radius=5.0)
    >>> pt.belief("constant", communication=talk).communication.radius
    5.0
    """

    __repr__ = brief

    invalid: ClassVar[type[InvalidBelief]] = InvalidBelief
    radius: float = attrs.field(default=math.inf, converter=number, validator=Real(least=0.0, finite=False))
    novice: float = attrs.field(default=1.0, converter=number, validator=Real(least=1.0, finite=False))
    news: float = attrs.field(default=1.0, converter=number, validator=Real(least=1.0, finite=False))

    def spec(self) -> dict[str, float | None]:
        """Plain data that :func:`communication_from` reads back; None is without bound."""
        return {key: part if math.isfinite(part) else None for key, part in plain_parameters(self).items()}

    def shared(self, game: Coverage) -> bool:
        """Whether everybody always knows the same, so that one mind serves all.

        Parameters
        ----------
        game : Coverage
            What is played.

        Returns
        -------
        bool
            Whether they do.
        """
        farthest = math.hypot(*(side - 1 for side in game.world.size))
        return self.radius >= farthest and min(self.novice, self.news) == 1.0


def communication_from(value: Communication | Mapping[str, float | None]) -> Communication:
    """A communication from one, or from the plain data of one, where None is without bound."""
    if isinstance(value, Communication):
        return value
    if isinstance(value, Mapping) and set(value) <= {"radius", "novice", "news"}:
        return Communication(**{key: math.inf if part is None else part for key, part in value.items()})
    raise InvalidBelief(f"must be a Communication(radius), got {value!r:.60}", "communication", value)


class Link(NamedTuple):
    """What compiled code reads."""

    radius2: float
    novice: float
    news: float


class Contacts(NamedTuple):
    """What has been exchanged."""

    # (m, m) how many cells of the first the second has been told of, or had; readings, where they are forgotten
    known: NDArray[np.int64]
    tally: NDArray[np.int64]  # (2,) contacts with an exchange, and cells sent
    agenda: NDArray[np.int64]  # how many meetings await a common fit; of each: expert, other, what either had known


def link_data(communication: Communication) -> Link:
    """For compiled code."""
    return Link(communication.radius * communication.radius * SLACK, communication.novice, communication.news)


def new_contacts(minds: int) -> Contacts:
    """Nobody has met."""
    return Contacts(
        np.zeros((minds, minds), np.int64), np.zeros(2, np.int64), np.zeros(1 + 2 * minds * (minds - 1), np.int64)
    )


@portable
def broadcast(contacts: Contacts, players: int, cells: int) -> None:
    """Everybody hears of so many new cells: what it costs, where one mind serves all."""
    if cells and players > 1:
        contacts.tally[CONTACTS] += players - 1
        contacts.tally[SENT] += cells * (players - 1)


@portable
def in_touch(
    link: Link, contacts: Contacts, store: Store, game: CoverageData, state: CoverageState, i: int, j: int
) -> bool:
    """Whether robots i and j, each with its own mind, now exchange what they know."""
    if contacts.known[i, j] == _learnt(store, i) and contacts.known[j, i] == _learnt(store, j):
        return False
    if squared_distance(game, state.home[i], state.home[j]) > link.radius2:
        return False
    more, less = (i, j) if store.tally[i, KNOWN] >= store.tally[j, KNOWN] else (j, i)
    novice = store.tally[less, KNOWN]
    if store.tally[more, KNOWN] >= link.novice * novice:
        return True
    return novice + _news(contacts, store, more, less) >= link.news * novice


@portable
def _learnt(store: Store, mind: int) -> int:
    return num_heard(store.ages, store.tally[mind, KNOWN], mind)


@portable
def _news(contacts: Contacts, store: Store, i: int, j: int) -> int:
    """How many cells i could tell j of."""
    count = 0
    for place in range(told_before(store.ages, contacts.known[i, j]), store.tally[i, KNOWN]):
        count += store.slot[j, store.cell[i, place]] == 0
    return count


@separate
def tell(contacts: Contacts, store: Store, i: int, j: int) -> None:
    """Mind j learns what mind i knows and it does not, or has from earlier."""
    for place in range(told_before(store.ages, contacts.known[i, j]), store.tally[i, KNOWN]):
        cell = store.cell[i, place]
        slot = np.int64(store.slot[j, cell])
        if slot == 0 or is_newer(store.ages, i, place, j, slot - 1):
            note_reading(store, j, cell, store.reading[i, place], False)
            other = np.int64(store.slot[j, cell]) - 1
            store.visits[j, other] = store.visits[i, place]
            hand_on(store.ages, i, place, j, other)
            contacts.tally[SENT] += 1


@portable
def meet(contacts: Contacts, store: Store, i: int, j: int) -> None:
    """Both know what either knew; the one who knew more will fit it."""
    expert = i if store.tally[i, KNOWN] >= store.tally[j, KNOWN] else j
    other, place = i + j - expert, 1 + 4 * contacts.agenda[0]
    contacts.agenda[0] += 1
    contacts.agenda[place], contacts.agenda[place + 1] = expert, other
    contacts.agenda[place + 2], contacts.agenda[place + 3] = store.tally[expert, KNOWN], store.tally[other, KNOWN]
    tell(contacts, store, i, j)
    tell(contacts, store, j, i)
    contacts.known[i, j] = _learnt(store, i)
    contacts.known[j, i] = _learnt(store, j)
    contacts.tally[CONTACTS] += 1


@portable
def _num_listening(game: CoverageData, state: CoverageState) -> int:
    count = 0
    for player in range(game.sizes.shape[0]):
        count += int(plays(game, state, player))
    return count


@separate
def look_around(
    belief: Any, mind: Any, game: CoverageData, state: CoverageState, moved: NDArray[np.uint8], key: Any, step: int
) -> None:
    """Those that moved sense where they are, everybody when time passes; those in touch tell each other."""
    link, store, contacts = belief.link, mind.store, mind.contacts
    players, minds = game.sizes.shape[0], store.peak.shape[0]
    contacts.agenda[0] = 0
    pass_time(store.ages, store, step)
    for player in range(players):
        if (moved[player] or is_due(store.ages)) and plays(game, state, player):
            new = sense(belief.sensing, store, game, state, player, key, step)
            if minds == 1:
                broadcast(contacts, _num_listening(game, state), new)
    if minds > 1 and link.radius2 > 0.0:
        for i in range(minds):
            for j in range(i + 1, minds):
                both = plays(game, state, i) and plays(game, state, j)
                if both and in_touch(link, contacts, store, game, state, i, j):
                    meet(contacts, store, i, j)
