"""The user's own game: a utility written as a Python function of (player, profile, data).

If Numba can compile the function, it runs inside the compiled engine. If not, the same engine runs in
Python, with one warning that says why. Machine code that contains a user's function is never written
to disk, so an edited function takes effect on the very next run.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InteractionsUnknown, InvalidGame, NotCompiled, frames_to_caller
from potentia.games.base import Game, everyone_interacts, interactions_from_groups
from potentia.games.functions import first_like, machine_code, name_of, reason_of
from potentia.games.given import action_counts
from potentia.games.neighbours import groups_given
from potentia.games.separable import ProfileState
from potentia.kernel import protocol
from potentia.kernel.arrays import Ints, frozen, frozen_deep
from potentia.kernel.cache import jit_disabled
from potentia.kernel.mistakes import at_place, failed, place_of
from potentia.kernel.numbers import as_float, is_real
from potentia.kernel.protocol import Interactions, Moves

_SHOWN = 20
_FEW = 4  # profiles, and players, at which machine code is compared before it plays
_ROUNDING = 1e-9  # relative differences below are those of sums in another order


class CustomData(NamedTuple):
    """What the kernel reads; compiled functions, or plain ones where Numba gave up."""

    sizes: Ints
    function: Callable[..., float]
    phi: Callable[..., float]
    data: Any
    moves: Moves


class Custom(Game):
    """A game whose utility is a function ``utility(player, profile, data) -> float``.

    Parameters
    ----------
    utility : callable
        A function ``utility(player, profile, data) -> float``.
    num_actions : sequence of int
        The number of actions of each player.
    data : Any
        Whatever the functions need.
    potential : callable, optional
        A function ``potential(profile, data) -> float``.
    moves : array_like, optional
        Which actions are reachable from which: a boolean matrix for all players, or one per player; left out, all are.
    interactions : Any
        Who affects whom; see :func:`custom`, which says more of all of them.

    Examples
    --------
    >>> game = pt.games.Custom(lambda player, profile, data: float(profile[player] == profile[1 - player]), [2, 2])
    >>> game.utility(0, [1, 1])
    1.0
    """

    def __init__(
        self,
        utility: Callable[[int, Ints, Any], float],
        num_actions: Sequence[int],
        *,
        data: Any = None,
        potential: Callable[[Ints, Any], float] | None = None,
        moves: Any = None,
        interactions: Any = None,
    ) -> None:
        _check_function(utility, "utility", "player", "profile", "data")
        if potential is not None:
            _check_function(potential, "potential", "profile", "data")
        super().__init__(action_counts(num_actions), moves)
        self._given = (utility, potential)
        self.custom_data = frozen_deep(data)
        self._pairs = None if interactions is None else groups_given(interactions, self.num_players)
        self._probe()
        self._seal()

    @property
    def _utility(self) -> Callable[..., float]:
        """The plain function; what was given may be compiled already."""
        return _plain(self._given[0])

    @property
    def _potential(self) -> Callable[..., float] | None:
        return _plain(self._given[1])

    def __setstate__(self, state: dict[str, Any]) -> None:
        functions = state.pop("_given")  # not to be copied
        super().__setstate__({"_given": None, **state})
        self.__dict__["_given"] = functions

    def _probe(self) -> None:
        """Call the functions a few times, on profiles they cannot write to."""
        for profile in (frozen(np.zeros(self.num_players, np.int64)), frozen(self.sizes - 1)):
            for player in (0, self.num_players - 1):
                self._probe_one("utility", self._utility, (player, profile, self.custom_data))
            if self._potential is not None:
                self._probe_one("potential", self._potential, (profile, self.custom_data))

    def _probe_one(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        where = f"of player {arguments[0]} at profile" if name == "utility" else "at profile"
        shown = str(arguments[-2][:_SHOWN].tolist()).replace("]", ", ...]" if self.num_players > _SHOWN else "]")
        try:
            value = function(*arguments)
        except Exception as error:
            raise InvalidGame(f"{name} {where} {shown} failed: {failed(error)}") from error
        if not is_real(value) or not math.isfinite(as_float(value)):
            got = " ".join(f"{value!r}".split())
            said = f"{name} {where} {shown} must return a finite number, got {got:.60}"
            raise InvalidGame(at_place(said, place_of(function)))

    def diagnose(self, profile: Ints) -> str | None:
        """After a failure: evaluate every action at this profile in Python, and name the first that fails.

        Parameters
        ----------
        profile : array
            Where it failed.

        Returns
        -------
        str or None
            A sentence.
        """
        try:
            for player, trial in self._deviations(profile, range(self.num_players)):
                self._probe_one("utility", self._utility, (player, trial, self.custom_data))
            if self._potential is not None:
                self._probe_one("potential", self._potential, (profile, self.custom_data))
        except InvalidGame as error:
            return str(error)
        return None

    def _deviations(self, profile: Ints, players: Iterable[int]) -> Iterator[tuple[int, Ints]]:
        """Every profile in which one of these players takes another action, or the same; and who does."""
        for player in players:
            for action in range(int(self.sizes[player])):
                trial = profile.copy()
                trial[player] = action
                yield player, trial

    def utility(self, player: int, profile: Sequence[int] | Ints) -> float:
        return float(self._utility(player, np.asarray(profile, np.int64), self.custom_data))

    @property
    def has_potential(self) -> bool:
        return self._potential is not None

    def potential(self, profile: Sequence[int] | Ints) -> float:
        if self._potential is None:
            return super().potential(profile)
        return float(self._potential(np.asarray(profile, np.int64), self.custom_data))

    @property
    def groups(self) -> list[Ints] | None:
        """Who interacts, as it was given; None where nothing was."""
        return self._pairs

    @cached_property
    def interactions(self) -> Interactions:
        if self._pairs is not None:
            return interactions_from_groups(self.num_players, self._pairs)
        if self.num_players > 2:  # fewer never revise at once where they interact
            told = (
                f"{name_of(self._utility)} was given without interactions, so that all {self.num_players} players count"
            )
            slow = "as interacting and a guard lets one of them revise at a time: at most 1.0 revisions a step"
            give = f"give interactions=, who affects whom, or interactions=[range({self.num_players})] if all do"
            warnings.warn(f"{told} {slow}; {give}", InteractionsUnknown, stacklevel=frames_to_caller())
        return everyone_interacts(self.num_players)

    def interacting(self, player: int, other: int) -> bool | NDArray[np.bool_]:
        return self._pairs is None or super().interacting(player, other)

    @cached_property
    def _attempt(self) -> tuple[tuple[Any, Any] | None, str | None]:
        """The functions as Numba dispatchers, or None and why one does not compile."""
        if jit_disabled():
            return None, None
        profile, result = np.zeros(self.num_players, np.int64), []
        for function, first in ((self._utility, (0,)), (self._potential or _unknown, ())):
            given = (*first, profile, self.custom_data)
            try:
                result.append(machine_code(first_like(function), given))
            except Exception as error:  # Numba has more kinds than it documents
                return None, f"{name_of(function)} runs in Python, much slower: {reason_of(error, function, given)}"
        return (result[0], result[1]), None

    @property
    def runs_user_code(self) -> bool:
        return True

    @cached_property
    def compiled(self) -> bool:
        """Whether machine code can play this game; if not, one warning says why."""
        functions, why = self._attempt
        if why is not None:
            warnings.warn(why, NotCompiled, stacklevel=frames_to_caller())
        return functions is not None

    @property
    def uncompilable(self) -> str | None:
        return self._attempt[1]

    def _build(self) -> CustomData:
        functions, _ = self._attempt
        if functions is None:
            return self.plain_data
        return self.plain_data._replace(function=functions[0], phi=functions[1])

    def disagreement(self, profile: Ints) -> str | None:
        found = self._largest_difference(profile, range(self.num_players))
        if found is None:
            return None
        apart, text = found
        return f"{text}: the last digits, as where sums are added in another order" if apart < _ROUNDING else text

    def _largest_difference(self, profile: Ints, players: Iterable[int]) -> tuple[float, str] | None:
        """By how much machine code is apart from Python at worst, where one player changes its action; and where."""
        found: tuple[float, str] | None = None
        for player, trial in self._deviations(profile, players):
            one, other = (_tried(f, player, trial, self.custom_data) for f in (self._utility, self.data.function))
            if repr(one) != repr(other) and (found is None or _apart(one, other) > found[0]):
                where = f"utility of player {player} at profile {trial[:_SHOWN].tolist()}"
                found = _apart(one, other), f"{where} is {one!r} in Python and {other!r} compiled"
        return found

    @cached_property
    def compiled_otherwise(self) -> str | None:
        """Where machine code gives another number than Python at one of a few profiles; not in its last digits."""
        random, players = np.random.default_rng(0), range(0, self.num_players, max(1, self.num_players // _FEW))
        for profile in (self.sizes * 0, self.sizes - 1, *(random.integers(self.sizes) for _ in range(_FEW))):
            found = self._largest_difference(profile, players)
            if found is not None and found[0] >= _ROUNDING:
                return found[1]
        return None

    @property
    def plain_data(self) -> CustomData:
        return CustomData(self.sizes, self._utility, self._potential or _unknown, self.custom_data, self.moves)

    @cached_property
    def kernel_data(self) -> CustomData:
        return self.plain_data._replace(function=first_like(self._utility), phi=first_like(self._potential or _unknown))

    def new_state(self, profile: Ints) -> ProfileState:
        return ProfileState(profile)

    def _facts(self) -> dict[str, Any]:
        return {"utility": name_of(self._utility)}

    def describe(self) -> str:
        return f"Custom({name_of(self._utility)}, players={self.num_players})"


class _Failure(str):
    """What a function raised, in a word."""

    __repr__ = str.__str__


def _tried(function: Any, *args: Any) -> float | _Failure:
    try:
        return float(function(*args))
    except Exception as error:
        return _Failure(f"an {type(error).__name__}")


def _apart(one: float | _Failure, other: float | _Failure) -> float:
    """The difference of two results, relative to the larger one."""
    if isinstance(one, _Failure) or isinstance(other, _Failure) or not math.isfinite(one - other):
        return math.inf
    return abs(one - other) / max(abs(one), abs(other), 1e-300)


def _unknown(profile: Ints, data: Any) -> float:
    return np.nan


def custom(
    utility: Callable[[int, Ints, Any], float],
    num_actions: Sequence[int],
    *,
    data: Any = None,
    potential: Callable[[Ints, Any], float] | None = None,
    moves: Any = None,
    interactions: Any = None,
) -> Custom:
    """Build a game from a utility of your own.

    Parameters
    ----------
    utility : callable
        A function ``utility(player, profile, data) -> float``. It must not change ``profile`` or ``data``, must not
        keep state of its own and must return a finite number. Numba compiles it, if it can.
    num_actions : sequence of int
        The number of actions of each player.
    data : Any
        Whatever the functions need; arrays are copied and frozen. For compiled speed use numbers, arrays and (named)
        tuples of them.
    potential : callable, optional
        A function ``potential(profile, data) -> float``, if the game has one that you know.
    moves : array_like, optional
        Which actions are reachable from which: a boolean matrix for all players, or one entry per player (None: free).
    interactions : Any
        Who affects whom, for ``guard`` and ``optimum``; everybody, where left out. Either groups of players, most often
        pairs, ``[(0, 1), (1, 2)]``; or a networkx graph, whose nodes are the players; or a dict from players to their
        neighbours, ``{0: [1], 1: [0, 2]}``. A list of lists always holds groups, never neighbours. Interaction is
        mutual: to be named by one of two is enough. ``check_game`` looks for players who interact and were not named.

    Returns
    -------
    Custom
        The game, which does not change any more.

    Examples
    --------
    >>> def agree(player, profile, data):
    ...     return data[player] * float(profile[player] == profile[1 - player])
    >>> game = pt.games.custom(agree, [2, 2], data=np.array([1.0, 2.0]))
    >>> game.utility(1, [0, 0]), pt.run(game, pt.rule("best-response"), 20, start=[0, 1], compiled=False).changes
    (2.0, 1)
    """
    return Custom(utility, num_actions, data=data, potential=potential, moves=moves, interactions=interactions)


def _plain(function: Any) -> Any:
    """What Numba compiled, or the function itself."""
    return getattr(function, "py_func", function)


def _check_function(function: Any, name: str, *arguments: str) -> None:
    wanted = f"({', '.join(arguments)})"
    if not callable(function):
        raise InvalidGame(f"must be a function of {wanted}, got {function!r}", name, function)
    try:
        signature = inspect.signature(_plain(function))
    except ValueError:  # a built-in that does not tell
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        said = at_place(f"must take {wanted}, got {signature}", place_of(_plain(function)))
        raise InvalidGame(said, name, function) from None


@protocol.utility.register(CustomData)
def _utility(game: CustomData, state: ProfileState, player: int, action: int) -> float:
    current = state.profile[player]
    state.profile[player] = action
    value = float(game.function(player, state.profile, game.data))
    state.profile[player] = current
    if not math.isfinite(value):
        raise ValueError("utility must return finite numbers, got NaN or infinity")
    return value


@protocol.potential.register(CustomData)
def _potential(game: CustomData, state: ProfileState) -> float:
    value = float(game.phi(state.profile, game.data))
    if not math.isfinite(value):
        raise ValueError("potential must return finite numbers, got NaN or infinity")
    return value
