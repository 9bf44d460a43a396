"""Revision probabilities from what a player senses (Eq. 53): explore where there is nothing, rest on a summit.

With the signal F and its gradient G, each relative to the largest met, a player wakes with probability

    rp(F, G) = (a2 - e^{-k(F-c)}) G + e^{-k(F-c)},    k = ln(a1/a3),  c = ln(a1)/k,

so that rp is a1 with neither signal nor gradient (situation p1), a2 on a slope (p2) and a3 on a summit (p3).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np

from potentia.errors import InvalidRule
from potentia.kernel.arrays import Floats
from potentia.kernel.cache import Entry
from potentia.kernel.checks import OneOf, Real, number
from potentia.kernel.dispatch import portable
from potentia.kernel.mathematics import exp
from potentia.kernel.registry import Checked, plain_parameters

if TYPE_CHECKING:
    from potentia.games import Game

PROBABILITY = Real(above=0.0, most=1.0)
_BY_PYTHON = 60_000  # actions; compiling takes longer than so many


@portable
def signal_probability(signal: float, gradient: float, a1: float, a2: float, drop: float) -> float:
    """rp(F, G) of Eq. 53; e^{-k(F-c)} is a1·e^{-kF}."""
    flat = a1 * exp(-drop * signal)
    return (a2 - flat) * gradient + flat


@portable
def share(value: float, largest: float) -> float:
    """value / largest, 0/0 being 0."""
    return value / largest if largest > 0.0 else 0.0


@attrs.frozen
class SignalRevision(Checked):
    """Eq. 53: ``SignalRevision(a1=1.0, a2=0.5, a3=0.1)``, for SLLL and P-SBLLL on games with a signal.

    ``normalise="own"`` measures signal and gradient against the largest that the player itself has met so far,
    as the paper does; the probability then depends on the player's history. ``"world"`` measures against the
    largest anywhere, so that it depends on the action alone: the form the exact analysis takes.

    Parameters
    ----------
    a1 : float
        The probability where there is neither signal nor gradient.
    a2 : float
        The probability on a slope.
    a3 : float
        The probability on a summit.
    normalise : {"own", "world"}
        What the largest is taken over.

    Examples
    --------
    >>> revision = pt.rules.SignalRevision(a1=1.0, a2=0.5, a3=0.1)
    >>> [round(revision.probability(*met), 3) for met in ((0, 0), (0, 1), (1, 0))]
    [1.0, 0.5, 0.1]
    """

    invalid: ClassVar[type[InvalidRule]] = InvalidRule
    a1: float = attrs.field(default=1.0, converter=number, validator=PROBABILITY)
    a2: float = attrs.field(default=0.5, converter=number, validator=PROBABILITY)
    a3: float = attrs.field(default=0.1, converter=number, validator=PROBABILITY)
    normalise: str = attrs.field(default="own", validator=OneOf("own", "world"))

    def __attrs_post_init__(self) -> None:
        if not self.a3 < self.a2 < self.a1:
            raise InvalidRule(
                f"a signal revision needs a3 < a2 < a1, got a1 = {self.a1}, a2 = {self.a2}, a3 = {self.a3}"
            )

    @property
    def drop(self) -> float:
        """The rate k = ln(a1/a3) at which the probability falls with the signal."""
        return math.log(self.a1 / self.a3)

    def spec(self) -> dict[str, Any]:
        """Plain data that ``revision_from`` reads back."""
        return {"signal": plain_parameters(self)}

    def probability(self, signal: float, gradient: float) -> float:
        """The probability rp(F, G) to wake.

        Parameters
        ----------
        signal : float
            F, as a share of the largest.
        gradient : float
            G, as a share of the largest.

        Returns
        -------
        float
            From a3 to a1.
        """
        return signal_probability(float(signal), float(gradient), self.a1, self.a2, self.drop)

    def by_action(self, game: Game) -> Floats:
        """The probability rp at each action, against the largest signal and gradient anywhere.

        Parameters
        ----------
        game : Game
            One with a signal, such as :class:`~potentia.games.Coverage`.

        Returns
        -------
        array
            One probability per action.
        """
        signal, gradient = signal_of(game)
        out = np.empty(signal.size)
        largest = float(signal.max()), float(gradient.max())
        compiled = signal.size > _BY_PYTHON
        _tabulate_entry(signal, gradient, largest, self.a1, self.a2, self.drop, out, compiled=compiled)
        return out


def _tabulate(
    signal: Floats,
    gradient: Floats,
    largest: tuple[float, float],
    a1: float,
    a2: float,
    drop: float,
    out: Floats,
) -> None:
    for action in range(signal.shape[0]):
        f, g = share(signal[action], largest[0]), share(gradient[action], largest[1])
        out[action] = signal_probability(f, g, a1, a2, drop)


_tabulate_entry = Entry(_tabulate)


def signal_of(game: Game) -> tuple[Floats, Floats]:
    """The game's signal and gradient by action, or an error."""
    if game.signal is None:
        if getattr(game, "drifts", False):
            raise InvalidRule(
                f"a signal revision (Eq. 53) needs a fixed signal, which the drifting field of {game.describe()} "
                "does not have: use a constant revision probability, such as revision=0.5"
            )
        raise InvalidRule(
            f"a signal revision (Eq. 53) needs a game with a signal, such as Coverage; {game.describe()} has none"
        )
    return game.signal
