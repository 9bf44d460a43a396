"""The base of every game: immutable data, a plain reference utility and what the engine needs.

A game G(I, A, u) has players 0..N-1, player i's actions 0..A_i-1 and utilities u^i: A → R (paper,
section 2). It may restrict moves to constrained action sets A_c^i (Assumptions 1 and 2).
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidGame, InvalidRun
from potentia.games.elsewhere import Elsewhere
from potentia.games.moves import make_moves, reachable_actions
from potentia.kernel.arrays import Fixed, Floats, Ints, any_array, frozen, starts
from potentia.kernel.cache import Compiled
from potentia.kernel.code import fingerprint, own_parts
from potentia.kernel.hashing import feed
from potentia.kernel.protocol import Constrained, Interactions, Moves, Proximity

_SHOWN = 20  # players of a profile in an error


class Game(Elsewhere, Fixed, ABC):
    """What is played. Subclasses set everything in ``__init__`` and then never change.

    Attributes
    ----------
    sizes : array
        The number of actions of each player.
    moves : Moves
        Which actions are reachable from which.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> game.num_players, game.num_actions, game.num_profiles
    (2, (2, 2), 4)
    >>> game.utility(0, [0, 1]), game.welfare([0, 0]), game.potential([0, 0])
    (0.0, 8.0, 1.0)
    """

    remembers: tuple[str, ...] = ()  # fields of the state, beside the profile, that settle cannot derive
    recorders: tuple[str, ...] = ()  # what this kind of game can record beside potential and welfare; see Recorder
    newer: tuple[str, ...] = ()  # those that runs saved by an earlier version lack: NaN, for not known
    totals: tuple[str, ...] = ()  # fields of the state, a number per player, that are told at the end of a run
    worth_most: str = "welfare"  # the recorder that is the objective where no potential is known
    start: Sequence[int] | Ints | None = None  # where runs begin; None: each seed draws its own
    scale: float | None = None  # the unit of relative temperatures, where the game has one
    signal: tuple[Floats, Floats] | None = None  # what is sensed at each action, and its
    # gradient: for revision probabilities by Eq. 53
    known_as: str = ""  # what people call it, where it was asked for by a name; nothing that is computed goes by it
    player_names: tuple[str, ...] | None = None  # for people, as
    action_names: tuple[tuple[str, ...], ...] | None = None  # of each player
    payoff_unit: Fraction | None = None  # where it is known of which fraction all payoffs are whole multiples, exactly

    def __init__(self, sizes: Ints, moves: Any) -> None:
        self.sizes = sizes
        self.moves: Moves = moves if isinstance(moves, Constrained) else make_moves(moves, sizes)

    @classmethod
    def _called(cls) -> str:
        return "a game"

    # What a game is -----------------------------------------------------------------------------------

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return int(self.sizes.shape[0])

    @property
    def num_actions(self) -> tuple[int, ...]:
        """The number of actions of each player."""
        return tuple(self.sizes.tolist())

    @property
    def num_profiles(self) -> int:
        """How many profiles there are; exact, however large."""
        product = 1
        for count, players in zip(*np.unique(self.sizes, return_counts=True), strict=True):
            product *= int(count) ** int(players)
        return product

    def reachable(self, player: int, action: int) -> list[int]:
        """The actions this player may move to from ``action``, the current one excluded.

        Parameters
        ----------
        player : int
            Its number.
        action : int
            What it plays now.

        Returns
        -------
        list of int
            In order.
        """
        return reachable_actions(self.moves, int(self.sizes[player]), player, action)

    @abstractmethod
    def utility(self, player: int, profile: Sequence[int] | Ints) -> float:
        """The player's utility u^i(profile), written the obvious way; the compiled kernel is checked against it.

        Parameters
        ----------
        player : int
            Its number.
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            Its utility.
        """

    def move_utility(self, player: int, profile: Sequence[int] | Ints, action: int) -> float:
        """What the player would get by moving from ``profile`` to ``action``; differs where moving has a cost.

        Parameters
        ----------
        player : int
            Its number.
        profile : sequence of int
            One action per player.
        action : int
            What it plays then.

        Returns
        -------
        float
            Its utility then.
        """
        after = np.array(profile)
        after[player] = action
        return self.utility(player, after)

    def move_prices(self) -> Floats | None:
        """The cost of moving, (N, A, A) from action to action, where utilities depend on the previous action so."""
        return None

    def welfare(self, profile: Sequence[int] | Ints) -> float:
        """The sum of utilities.

        Parameters
        ----------
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            The sum.
        """
        total = sum(float(self.utility(player, profile)) for player in range(self.num_players))
        if not math.isfinite(total):
            shown = np.asarray(profile)[:_SHOWN].tolist()
            raise InvalidGame(f"welfare at profile {shown} must be finite, got {total}; scale the payoffs down")
        return total

    @property
    def has_potential(self) -> bool:
        """Whether an exact potential is known in closed form."""
        return False

    @property
    def objective(self) -> str:
        """The recorder whose best value so far is recorded as ``best``."""
        return "potential" if self.has_potential else self.worth_most

    def potential(self, profile: Sequence[int] | Ints) -> float:
        """The potential Φ(profile), where :attr:`has_potential`, as its formula gives it.

        ``analysis.potential`` begins with 0.

        Parameters
        ----------
        profile : sequence of int
            One action per player.

        Returns
        -------
        float
            The potential.
        """
        raise InvalidGame(f"no potential is known for this {type(self).__name__}; pass potential= if you have one")

    # What the engine needs ----------------------------------------------------------------------------

    @abstractmethod
    def _build(self) -> Any:
        """Make :attr:`data`."""

    @cached_property
    def data(self) -> Any:
        """The NamedTuple of frozen arrays that compiled code reads."""
        return self._build()

    @property
    def plain_data(self) -> Any:
        """The same for a run in plain Python."""
        return self.data

    @property
    def kernel_data(self) -> Any:
        """The same to tell kernels apart by: games that can share machine code have the same functions in it."""
        return self.plain_data

    @abstractmethod
    def new_state(self, profile: Ints) -> Any:
        """Fresh arrays for one run; the engine settles what the profile implies.

        Parameters
        ----------
        profile : array
            The first profile.

        Returns
        -------
        NamedTuple
            Of arrays, with ``profile`` among them.
        """

    def recording_state(self, profile: Ints, record: tuple[str, ...]) -> Any:
        """The same for a run that records these; a game whose recorders need room makes it here.

        Parameters
        ----------
        profile : array
            The first profile.
        record : tuple of str
            What is recorded.

        Returns
        -------
        NamedTuple
            As of :meth:`new_state`.
        """
        return self.new_state(profile)

    def total(self, state: Any, name: str) -> Floats:
        """One of :attr:`totals`, by player; a copy.

        Parameters
        ----------
        state : NamedTuple
            What a run keeps, as :meth:`new_state` made it.
        name : str
            Which.

        Returns
        -------
        array
            A number per player.
        """
        return np.array(getattr(state, name), np.float64)

    def check_state(self, state: Any) -> None:
        """Raise ValueError for a state, read from a file, that no run can have had and that would mislead kernels.

        Parameters
        ----------
        state : NamedTuple
            What a run keeps, as :meth:`new_state` made it.
        """

    def lives(self, state: Any) -> Ints | None:
        """Since when and until when the players of a run take part, (2, N), where some come or go; else None.

        Parameters
        ----------
        state : NamedTuple
            What a run keeps, as :meth:`new_state` made it.

        Returns
        -------
        array or None
            Two times per player.
        """
        return None

    def take_over(self, state: Any, before: Game, key: Any, step: int) -> None:
        """A run goes on from here that was played on another game until now; what it remembered is in the state.

        Parameters
        ----------
        state : NamedTuple
            What a run keeps, as :meth:`new_state` made it.
        before : Game
            What was played until now.
        key : Any
            What draws are made from.
        step : int
            The steps that were played.
        """

    def new_tools(self, record: tuple[str, ...]) -> Any:
        """What :meth:`think` works with, in a run that records these; it keeps nothing there.

        Parameters
        ----------
        record : tuple of str
            What is recorded.

        Returns
        -------
        Any
            Whatever :meth:`think` takes.
        """
        return None

    def think(
        self, state: Any, tools: Any, key: Any, step: int, compiled: Compiled
    ) -> Sequence[tuple[float, ...]] | None:
        """What must be done after ``step`` outside the loop, where the game can wait; rows for people to read.

        None: this game never waits.

        Parameters
        ----------
        state : NamedTuple
            What a run keeps, as :meth:`new_state` made it.
        tools : Any
            What :meth:`new_tools` made.
        key : Any
            What draws are made from.
        step : int
            The step that was played.
        compiled : bool or str
            Whether machine code may be used.

        Returns
        -------
        sequence of tuples or None
            The rows.
        """
        return None

    def beliefs(self, state: Any, compiled: Compiled) -> tuple[Any, ...]:
        """What players believe of this game, where they do not know it.

        Parameters
        ----------
        state : NamedTuple
            What a run keeps, as :meth:`new_state` made it.
        compiled : bool or str
            Whether machine code may be used.

        Returns
        -------
        tuple
            A view per player.
        """
        return ()

    @property
    def memoryless(self) -> bool:
        """Whether what happens next depends on the profile alone, as the exact analysis needs."""
        return not self.remembers

    @property
    def runs_user_code(self) -> bool:
        """Whether playing calls functions that may raise."""
        return False

    @property
    def compiled(self) -> bool:
        """Whether compiled code can play this game."""
        return True

    @property
    def uncompilable(self) -> str | None:
        """Why machine code cannot play this game; None where it can. Unlike :attr:`compiled` it does not warn."""
        return None

    @cached_property
    def interactions(self) -> Interactions | Proximity:
        """Who interacts with whom, for ``guard``."""
        return everyone_interacts(self.num_players)

    def interacting(self, player: int, other: int) -> bool | NDArray[np.bool_]:
        """Whether two players interact; an array (A_i, A_j) where that depends on their actions.

        Parameters
        ----------
        player : int
            Its number.
        other : int
            Another's number.

        Returns
        -------
        bool or array
            Whether they do.
        """
        known = self.interactions
        assert isinstance(known, Interactions)
        mine, theirs = (known.groups[known.ptr[i] : known.ptr[i + 1]] for i in (player, other))
        return bool(np.isin(mine, theirs).any())

    @cached_property
    def no_interactions(self) -> Interactions:
        """The same record for a rule without a guard: empty."""
        return Interactions(frozen([0], np.int64), frozen([], np.int64), 0)

    @property
    def state_size(self) -> int:
        """Bytes a run's state takes, roughly, to refuse what cannot fit."""
        return 16 * self.num_players

    def diagnose(self, profile: Ints) -> str | None:
        """After a failed run: what is wrong with the game at this profile, where that can be said.

        Parameters
        ----------
        profile : array
            Where it failed.

        Returns
        -------
        str or None
            A sentence.
        """
        return None

    @property
    def compiled_otherwise(self) -> str | None:
        """Where a user's function gives another number compiled than in Python, at a few profiles; None if nowhere."""
        return None

    def disagreement(self, profile: Ints) -> str | None:
        """What plain Python and machine code disagree about near a profile, where functions of others' are called.

        Parameters
        ----------
        profile : array
            Where to look.

        Returns
        -------
        str or None
            A sentence.
        """
        return None

    def __repr__(self) -> str:
        least, most = int(self.sizes.min()), int(self.sizes.max())
        facts = {
            "players": self.num_players,
            **self._facts(),
            "actions": least if least == most else f"{least} to {most}",
        }
        told = [f"{name}={value}" for name, value in facts.items()]
        return f"{type(self).__name__}({', '.join(told + ['constrained moves'] * isinstance(self.moves, Constrained))})"

    def _repr_html_(self) -> str:
        from potentia.games.showing import game_card

        return game_card(self)

    def _facts(self) -> dict[str, Any]:
        """More that tells a game of this kind from others, for people."""
        return {}

    def describe(self) -> str:
        """One line for people."""
        return f"{type(self).__name__}(players={self.num_players})"

    @property
    def called(self) -> str:
        """What people call it, or else how it is described."""
        return self.known_as or self.describe()

    def identity(self) -> str:
        """What a run's key is made from, beside the seed and the rule: no names that people may change."""
        return self.describe()

    def fingerprint(self) -> str:
        """A hash of the game's data, so that a saved run is resumed on the game it was played on."""
        return self._fingerprint

    def code_fingerprint(self) -> str | None:
        """A hash of the code that somebody wrote for it: class, functions, kernels; None for a game of the package."""
        return fingerprint(own_parts(self, self.plain_data))

    @cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256(type(self).__name__.encode())
        feed(digest, self.plain_data)
        return digest.hexdigest()[:32]

    def check_profile(self, profile: ArrayLike, name: str = "start") -> Ints:
        """A fresh int64 copy of a legal profile, or an error that names the entry.

        Parameters
        ----------
        profile : array_like
            One action per player.
        name : str
            What it is called in an error.

        Returns
        -------
        array
            The copy.
        """
        array = any_array(profile)
        if array.shape != (self.num_players,) or array.dtype.kind not in "iu":
            raise InvalidRun(
                f"must be {self.num_players} integers, one action per player, got shape {array.shape} of {array.dtype}",
                name,
            )
        bad = (array < 0) | (array >= self.sizes)
        if bad.any():
            player = int(np.argmax(bad))
            last = int(self.sizes[player]) - 1
            raise InvalidRun(f"must have player {player}'s action in 0..{last}, got {array[player]}", name, profile)
        return array.astype(np.int64)


def everyone_interacts(num_players: int) -> Interactions:
    """One group that holds every player."""
    return Interactions(frozen(np.arange(num_players + 1)), frozen(np.zeros(num_players, np.int64)), 1)


def interactions_from_groups(num_players: int, members: Sequence[ArrayLike]) -> Interactions:
    """Interactions from a list of groups of players."""
    players = np.concatenate([[], *members], dtype=np.int64, casting="unsafe")
    groups = np.repeat(np.arange(len(members)), [np.size(group) for group in members])
    return interactions_from_pairs(num_players, players, groups, len(members))


def interactions_from_pairs(num_players: int, players: Ints, groups: Ints, num_groups: int) -> Interactions:
    """Interactions from (player, group) memberships."""
    order = np.argsort(players, kind="stable")
    ptr = starts(np.bincount(players, minlength=num_players))
    return Interactions(ptr, frozen(groups[order], np.int64), int(num_groups))
