"""What the states of a chain are: the profiles of a game, or profiles with what a rule remembers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.analysis.tables import place_of, profile_at, profiles, words
from potentia.errors import InvalidInput
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, any_array, strides


class Profiles:
    """All profiles of a game in C order; nothing is laid out until it is asked for."""

    memories: Sequence[dict[str, Any]] | None = None

    def __init__(self, game: Game) -> None:
        self.game: Game | None = game
        self._of = game

    @property
    def size(self) -> int:
        return self._of.num_profiles

    @cached_property
    def states(self) -> Ints:
        return profiles(self._of)

    def place(self, profile: ArrayLike, name: str = "profile") -> int:
        """The number of a state: that in which a run begins at this profile."""
        return place_of(self._of, profile, name)

    def places(self, profile: ArrayLike, name: str = "profile") -> Ints:
        """The numbers of all states with this profile."""
        return np.array([self.place(profile, name)])

    def name(self, place: int) -> str:
        """A state as people read it."""
        return words(profile_at(self._of, place), self._of)

    def over_profiles(self, law: Floats) -> Floats:
        """A law over states as one over profiles, (..., profiles)."""
        return law


class Listed:
    """States that were found one by one: a profile each, and what is remembered, if anything."""

    def __init__(
        self, states: Ints, game: Game | None = None, memories: Sequence[dict[str, Any]] | None = None
    ) -> None:
        self.states, self.game, self.memories = states, game, memories

    @property
    def size(self) -> int:
        return len(self.states)

    def place(self, profile: ArrayLike, name: str = "profile") -> int:
        """The number of the first state with this profile: with a memory, that in which a run begins there."""
        return int(self.places(profile, name)[0])

    def places(self, profile: ArrayLike, name: str = "profile") -> Ints:
        """The numbers of all states with this profile."""
        wanted = any_array(profile)
        if wanted.shape == self.states.shape[1:]:
            found = np.flatnonzero((self.states == wanted).all(axis=1))
            if found.size:
                return found
        raise InvalidInput(f"{wanted.tolist()} is not a state of this chain", value=profile)

    def name(self, place: int) -> str:
        """A state as people read it: its profile and memory."""
        told = words(self.states[place], self.game)
        if self.memories is None:
            return told
        inside = ", ".join(f"{name} {_short(value)}" for name, value in self.memories[place].items())
        return f"{told} with {inside}" if inside else told

    @cached_property
    def numbers(self) -> Ints:
        """The number of each state's profile, in C order."""
        if self.game is None:
            _, numbers = np.unique(self.states, axis=0, return_inverse=True)
            return np.asarray(numbers).reshape(-1)
        return (self.states * strides(self.game.sizes)).sum(axis=1)

    def over_profiles(self, law: Floats) -> Floats:
        """A law over states as one over profiles, (..., profiles), in C order."""
        count = int(self.numbers.max()) + 1 if self.game is None else self.game.num_profiles
        out = np.zeros((count, *law.shape[:-1]))
        np.add.at(out, self.numbers, np.moveaxis(law, -1, 0))
        return np.moveaxis(out, 0, -1)


Space = Profiles | Listed


def _short(value: Any) -> str:
    return str(np.asarray(value).tolist()).replace(" ", "")
