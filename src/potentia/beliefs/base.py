"""What an estimator is: something that observes and predicts the utility of actions not played (the paper's û).

A belief is data, like a rule: a frozen dataclass of parameters. For a game it makes a record that compiled code
reads, and a *mind*, the run's own arrays. What compiled code asks of it is here; a new kind of belief registers
``estimate`` and ``learn`` for the type of its record.
"""

from __future__ import annotations

import dataclasses
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidBelief
from potentia.games import Game
from potentia.kernel.cache import Compiled
from potentia.kernel.dispatch import generic
from potentia.kernel.numbers import as_float, in_words, is_integer, is_real
from potentia.kernel.registry import Registry
from potentia.kernel.reprs import brief

_MOST = 2**62 - 1  # counts stay within 64 bits


class Belief(ABC):
    """What players think of actions they have not played. Subclasses are frozen dataclasses."""

    __repr__ = brief

    name: ClassVar[str]
    summary: ClassVar[str]
    remembers: ClassVar[tuple[str, ...]] = ()  # fields of the mind that a saved run must keep, dotted where nested
    recorders: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def data(self, game: Game) -> Any:
        """The NamedTuple that compiled code reads, for this game; InvalidBelief where it does not fit."""

    @abstractmethod
    def new_mind(self, game: Game) -> Any:
        """Fresh arrays for one run."""

    def mind_size(self, game: Game) -> int:
        """Bytes of :meth:`new_mind`, roughly."""
        return 0

    def check_mind(self, game: Game, mind: Any) -> None:  # noqa: B027
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
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {"belief": self.name, **{name: _plain(value) for name, value in fields.items()}}

    def describe(self) -> str:
        """One line for people; no part of a run's key, so that runs with one seed differ by no draw."""
        return json.dumps(self.spec(), sort_keys=True)


_registry: Registry[Belief] = Registry("belief", InvalidBelief)
register, registered = _registry.register, _registry.registered


def belief(name: str, **parameters: Any) -> Belief:
    """Build a belief by name: ``belief("split-merge", noise=0.1)``."""
    return _registry.make(name, parameters)


def belief_from(value: Any) -> Belief:
    """A belief from a belief, or from the plain data of one (:meth:`Belief.spec`)."""
    if isinstance(value, Belief):
        return value
    if isinstance(value, dict) and "belief" in value:
        options = dict(value)
        return belief(options.pop("belief"), **options)
    raise InvalidBelief(f"must be a belief such as SplitMerge() or Constant(0.002), got {value!r:.60}", "belief", value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: _plain(part) for key, part in dataclasses.asdict(value).items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Checks of parameters ---------------------------------------------------------------------------------


def checked_number(value: Any, name: str, least: float, most: float = math.inf, *, above: bool = False) -> float:
    """A number in [least, most] (above: not least itself), or an error that names it."""
    if not is_real(value) or not least <= as_float(value) <= most or (above and as_float(value) == least):
        bound = f"{'above' if above else 'at least'} {least:g}" + (f" and at most {most:g}" if most < math.inf else "")
        raise InvalidBelief(f"must be a number {bound}, got {value!r}", name, value)
    return as_float(value)


def checked_count(value: Any, name: str, least: int) -> int:
    """An integer of at least ``least``, or an error that names it."""
    if not is_integer(value) or value < least:
        raise InvalidBelief(f"must be an integer of at least {least}, got {value!r}", name, value)
    if value > _MOST:
        raise InvalidBelief(f"must be below 2^62, got {in_words(int(value))}", name, in_words(int(value)))
    return int(value)


def checked_flag(value: Any, name: str) -> bool:
    """True or False, or an error that names it."""
    if not isinstance(value, bool):
        raise InvalidBelief(f"must be True or False, got {value!r}", name, value)
    return value


def checked_choice(value: Any, name: str, options: tuple[str, ...]) -> str:
    """One of some words, or an error that names it."""
    if not isinstance(value, str) or value not in options:
        raise InvalidBelief(f"must be one of {', '.join(options)}, got {value!r}", name, value)
    return value


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
