"""What an estimator is: something that observes and predicts the utility of actions not played (the paper's û).

A belief is data, like a rule: a frozen class of parameters. For a game it makes a record that compiled code
reads, and a *mind*, the run's own arrays. What compiled code asks of it is here; a new kind of belief registers
``estimate`` and ``learn`` for the type of its record.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidBelief
from potentia.games import Game
from potentia.kernel.cache import Compiled
from potentia.kernel.code import fingerprint, own_parts
from potentia.kernel.dispatch import generic
from potentia.kernel.registry import Checked, Registry, plain_parameters
from potentia.kernel.reprs import brief


class Belief(Checked, ABC):
    """What players think of actions they have not played. Subclasses are frozen classes of attrs."""

    __repr__ = brief

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    invalid: ClassVar[type[InvalidBelief]] = InvalidBelief  # what its checks raise
    remembers: ClassVar[tuple[str, ...]] = ()  # fields of the mind that a saved run must keep, dotted where nested
    recorders: ClassVar[tuple[str, ...]] = ()

    def _repr_html_(self) -> str:
        from potentia.beliefs.showing import belief_card

        return belief_card(self)

    @abstractmethod
    def data(self, game: Game) -> Any:
        """The NamedTuple that compiled code reads, for this game; InvalidBelief where it does not fit."""

    @abstractmethod
    def new_mind(self, game: Game) -> Any:
        """Fresh arrays for one run."""

    def mind_size(self, game: Game) -> int:
        """Bytes of :meth:`new_mind`, roughly."""
        return 0

    def remembered(self, game: Game) -> tuple[str, ...]:
        """:attr:`remembers`, in this game."""
        return self.remembers

    def check_mind(self, game: Game, mind: Any) -> None:
        """Raise ValueError for a mind, read from a file, that no run can have had and that would mislead kernels."""

    def new_tools(self, game: Game, record: tuple[str, ...]) -> Any:
        """What :meth:`think` works with, in a run that records these; it keeps nothing there."""
        return None

    def think(
        self, game: Game, mind: Any, tools: Any, key: Any, step: int, compiled: Compiled
    ) -> Sequence[tuple[float, ...]] | None:
        """What takes too long inside a step, where :func:`pending` says so; rows for people to read."""
        return None

    def views(self, game: Game, mind: Any, compiled: Compiled) -> tuple[Any, ...]:
        """What players believe now, as arrays for people, where this belief can say it."""
        return ()

    def spec(self) -> dict[str, Any]:
        """The belief as plain data."""
        return {"belief": self.name, **plain_parameters(self)}

    def spec_on(self, game: Game) -> dict[str, Any]:
        """The belief as plain data, with all that decides the bits of its runs on this game."""
        return self.spec()

    @staticmethod
    def from_spec(spec: dict[str, Any]) -> Belief:
        """The belief that :meth:`spec` described."""
        return belief_from(spec)

    def describe(self) -> str:
        """One line for people; no part of a run's key, so that runs with one seed differ by no draw."""
        return json.dumps(self.spec(), sort_keys=True)

    def code_fingerprint(self) -> str | None:
        """A hash of the code that somebody wrote for it: its class and kernels; None for a belief of the package."""
        return fingerprint(own_parts(self))


_registry: Registry[Belief] = Registry("belief", InvalidBelief)
register, registered = _registry.register, _registry.registered


@_registry.makes
def belief(name: str, **parameters: Any) -> Belief:
    """Build a belief by name: ``belief("split-merge", noise=0.1)``."""
    return _registry.make(name, parameters)


def belief_from(value: Any) -> Belief:
    """A belief from a belief, or from the plain data of one (:meth:`Belief.spec`)."""
    if isinstance(found := _registry.read(value), Belief):
        return found
    raise InvalidBelief(f"must be a belief such as SplitMerge() or Constant(0.002), got {value!r:.60}", "belief", value)


# What compiled code asks ------------------------------------------------------------------------------


@generic
def estimate(belief: Any, mind: Any, game: Any, state: Any, player: int, action: int) -> float:
    """û^i(action, α^{-i}): what the player expects if it alone switched to ``action``."""
    raise NotImplementedError("this belief has no estimate")


@generic
def learn(belief: Any, mind: Any, game: Any, state: Any, moved: NDArray[np.uint8], key: Any, step: int) -> None:
    """A step is over; ``moved`` says who changed its action in it. At step -1 a run begins, and everybody did."""


@generic
def judge(belief: Any, mind: Any, game: Any, state: Any, which: int) -> float:
    """The value of the belief's own recorder with this number."""
    return np.nan


@generic
def pending(belief: Any, mind: Any) -> bool:
    """Whether :meth:`Belief.think` has something to do."""
    return False
