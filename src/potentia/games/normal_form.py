"""Finite games in normal form: any number of players and actions, payoffs as one array.

``payoffs[i, a_1, ..., a_N]`` is u^i(a_1, ..., a_N). The run keeps the flat index of its profile, so a
revision costs as many look-ups as the player has actions, whatever N.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from potentia.errors import InvalidGame, NotPotentialGame, Remedy
from potentia.games.base import Game, interactions_from_groups
from potentia.games.exact import as_floats, checked_unit
from potentia.games.given import NATURAL, action_counts, finite_array, of_kind
from potentia.games.names import checked_actions, checked_players, player_name
from potentia.kernel import memory, protocol
from potentia.kernel.arrays import Floats, Ints, frozen, strides
from potentia.kernel.checks import Real
from potentia.kernel.dispatch import at
from potentia.kernel.numbers import in_words
from potentia.kernel.precision import rounding
from potentia.kernel.protocol import Interactions, Moves

# Relative to the spread of payoffs: rounding in a potential built by sums, not a difference anyone means.
_TOLERANCE = 1e-9
_FEW = 8  # players that are named in a line
MOST_AXES = 63  # NumPy arrays have 64 axes, one of them for the player


class NormalFormData(NamedTuple):
    """What compiled code reads; profiles in C order."""

    sizes: Ints
    strides: Ints
    payoffs: Floats  # (N, profiles)
    phi: Floats  # (profiles,), or empty where no potential is known
    moves: Moves


class NormalFormState(NamedTuple):
    """The profile and its flat index."""

    profile: Ints
    place: Ints  # (1,) the profile's place in C order


class NormalForm(Game):
    """A game given by its payoffs.

    Parameters
    ----------
    payoffs : array_like
        Of shape ``(N, A_1, ..., A_N)``, the player first: ``payoffs[i, a_1, ..., a_N]`` is what player i gets.
        Fractions are kept exactly, see ``unit``. An array with the players last, such as QuantEcon's
        ``payoff_profile_array``, is for ``pt.games.convert(array, players="last")``; one of shape (2, 2, 2)
        could be either, and is read as here.
    potential : array_like, optional
        Of shape ``(A_1, ..., A_N)``; checked against the payoffs.
    moves : Any
        Who can move where; see :mod:`potentia.games.moves`.
    players : sequence of str, optional
        A name for each player. Names are for people: tables, figures, pages and files show them, nothing that is
        computed goes by them.
    actions : sequence of str or sequence, optional
        Names of each player's actions, or one list of names for all players.
    title : str
        What the game is called.
    unit : Fraction or str, optional
        A fraction of which every payoff is a whole multiple, such as ``"1/3"``; ``stability`` then decides ties
        exactly. It is found where payoffs are fractions, and kept in ``payoff_unit``.

    Raises
    ------
    InvalidGame
        For payoffs of another shape, names that are too many or too few, a unit that is none.
    NotPotentialGame
        For a potential that is none, with the two profiles that disprove it.

    Examples
    --------
    >>> import potentia as pt
    >>> game = pt.games.NormalForm([[[4, 0], [3, 3]], [[4, 3], [0, 3]]], actions=["stag", "hare"], title="Stag hunt")
    >>> pt.analysis.stability(game, pt.rule("lll", tau=0.1))
    Stability(lll, stable: (hare, hare) 1; by closed form: Gibbs law exp(Φ/τ))
    """

    def __init__(
        self,
        payoffs: ArrayLike,
        *,
        potential: ArrayLike | None = None,
        moves: Any = None,
        players: Sequence[str] | None = None,
        actions: Sequence[str] | Sequence[Sequence[str]] | None = None,
        title: str = "",
        unit: Fraction | str | None = None,
    ) -> None:
        floats, found = as_floats(payoffs)
        array = finite_array(floats, "payoffs")
        _require_players_first(array, payoffs)
        super().__init__(action_counts(array.shape[1:]), moves)
        self.payoffs = array
        self.player_names = checked_players(players, self.num_players)
        self.action_names = checked_actions(actions, self.sizes)
        self.payoff_unit = found if unit is None else checked_unit(unit, array)
        self.known_as = of_kind(title, str, "text", "title")
        self._phi = frozen(np.zeros(0)) if potential is None else _checked_potential(array, potential)
        self._seal()

    @property
    def title(self) -> str:
        """What the game is called."""
        return self.known_as

    @property
    def has_potential(self) -> bool:
        return self._phi.size > 0

    def utility(self, player: int, profile: Sequence[int] | Ints) -> float:
        return float(self.payoffs[(player, *profile)])

    def potential(self, profile: Sequence[int] | Ints) -> float:
        if not self.has_potential:
            return super().potential(profile)
        return float(self._phi[np.ravel_multi_index(tuple(profile), self.num_actions)])

    @cached_property
    def interactions(self) -> Interactions:
        """Players i and j interact iff one's payoff depends on the other's action."""
        pairs = [
            (i, j)
            for i in range(self.num_players)
            for j in range(i + 1, self.num_players)
            if _depends(self.payoffs[i], j) or _depends(self.payoffs[j], i)
        ]
        return interactions_from_groups(self.num_players, pairs)

    def _build(self) -> NormalFormData:
        return NormalFormData(
            self.sizes, strides(self.sizes), self.payoffs.reshape(self.num_players, -1), self._phi, self.moves
        )

    def new_state(self, profile: Ints) -> NormalFormState:
        return NormalFormState(profile, np.zeros(1, np.int64))

    def to_normal_form(self) -> NormalForm:
        return self

    def _facts(self) -> dict[str, Any]:
        if self.player_names is None or self.num_players > _FEW:
            return {}
        return {"players": f"{self.num_players} ({', '.join(player_name(self, i) for i in range(self.num_players))})"}


def _require_players_first(array: Floats, payoffs: ArrayLike) -> None:
    axes, told = array.ndim - 1, "must have shape (N, A_1, ..., A_N)"
    if axes < 1:
        raise InvalidGame(f"{told}, got {array.shape}", "payoffs", payoffs)
    if array.shape[0] != axes:
        told = f"{told}: {axes} action axes need as many players"
        error = InvalidGame(f"{told}, got shape {array.shape}", "payoffs", payoffs)
        if array.shape[-1] == axes:
            words = 'with the players last, use pt.games.convert(payoffs, players="last")'
            raise error.advising(Remedy("players", words))
        raise error


def _depends(payoff: Floats, axis: int) -> bool:
    return bool((payoff != np.take(payoff, [0], axis=axis)).any())


def _checked_potential(payoffs: Floats, potential: ArrayLike) -> Floats:
    phi = finite_array(potential, "potential", payoffs.shape[1:])
    found = disprove(payoffs, phi)
    if found is not None:
        player, first, second, du, dphi = found
        raise NotPotentialGame(
            f"potential is not exact: from {first} to {second} player {player}'s utility changes by {du:g}, "
            f"the potential by {dphi:g}",
            evidence=found,
        )
    return phi.reshape(-1)


Disproof = tuple[int, tuple[int, ...], tuple[int, ...], float, float]


def disprove(payoffs: Floats, phi: Floats, tolerance: float = _TOLERANCE, noise: float = 0.0) -> Disproof | None:
    """Where Φ fails to be an exact potential: (player, first profile, second, Δu, ΔΦ), or None if it is one.

    ``tolerance`` is relative to the spread of both, ``noise`` absolute.
    """
    # An eighth of everything, so that no difference below overflows.
    small, claim = payoffs / 8, phi / 8
    spread = max(float(np.ptp(claim)), *(float(np.ptp(row)) for row in small))
    off = max(rounding(claim), *(rounding(row) for row in small))
    for player in range(payoffs.shape[0]):
        # Differences first: a large constant would cost their digits.
        gap = _changes(small[player], player) - _changes(claim, player)
        if np.abs(gap).max() > tolerance * spread + off + noise / 8:
            second = tuple(int(k) for k in np.unravel_index(int(np.abs(gap).argmax()), gap.shape))
            first = tuple(0 if axis == player else k for axis, k in enumerate(second))
            du = 8 * float(small[(player, *second)] - small[(player, *first)])
            dphi = 8 * float(claim[second] - claim[first])
            return player, first, second, du, dphi
    return None


def _changes(values: Floats, axis: int) -> Floats:
    """What a player's action changes, from its first one."""
    return values - np.take(values, [0], axis=axis)


def random_potential_game(num_actions: Sequence[int], seed: int = 0, scale: float = 1.0) -> NormalForm:
    """A random exact potential game: u^i = Φ + a term of the others' actions, all standard normal.

    Every finite exact potential game has this form (Monderer & Shapley 1996).

    Parameters
    ----------
    num_actions : sequence of int
        Actions of each player.
    seed : int
        What payoffs are drawn from.
    scale : float
        Their standard deviation is that of two terms of this one.

    Returns
    -------
    NormalForm
        The game, with its potential.

    Examples
    --------
    >>> pt.games.random_potential_game((2, 3), seed=1).payoffs.shape
    (2, 2, 3)
    """
    shape = tuple(int(a) for a in action_counts(num_actions))
    size = math.prod(shape)
    memory.require(16 * size * (len(shape) + 1), f"a normal form with {in_words(size)} profiles", "use fewer players")
    if len(shape) > MOST_AXES:
        told = f"must name at most {MOST_AXES} players for a normal form, got {len(shape)}; use another kind of game"
        raise InvalidGame(told, "num_actions", num_actions)
    random = np.random.Generator(np.random.PCG64(NATURAL.of(seed, "seed", InvalidGame)))
    scale = Real().of(scale, "scale", InvalidGame)
    phi = scale * random.standard_normal(shape)
    payoffs = np.empty((len(shape), *shape))
    for player in range(len(shape)):
        others = tuple(1 if axis == player else a for axis, a in enumerate(shape))
        payoffs[player] = phi + scale * random.standard_normal(others)
    return NormalForm(payoffs, potential=phi)


@protocol.utility.register(NormalFormData)
def _utility(game: NormalFormData, state: NormalFormState, player: int, action: int) -> float:
    place = state.place[0] + (action - state.profile[at(player)]) * game.strides[at(player)]
    return game.payoffs[at(player), at(place)]


@protocol.utilities.register(NormalFormData)
def _utilities(game: NormalFormData, state: NormalFormState, player: int, out: Floats) -> None:
    stride = game.strides[at(player)]
    place = state.place[0] - state.profile[at(player)] * stride
    for action in range(game.sizes[at(player)]):
        out[action] = game.payoffs[at(player), at(place)]
        place += stride


@protocol.apply.register(NormalFormData)
def _apply(game: NormalFormData, state: NormalFormState, player: int, action: int) -> None:
    state.place[0] += (action - state.profile[at(player)]) * game.strides[at(player)]
    state.profile[at(player)] = action


@protocol.settle.register(NormalFormData)
def _settle(game: NormalFormData, state: NormalFormState) -> None:
    place = 0
    for player in range(game.sizes.shape[0]):
        place += state.profile[player] * game.strides[player]
    state.place[0] = place


@protocol.potential.register(NormalFormData)
def _potential(game: NormalFormData, state: NormalFormState) -> float:
    return game.phi[state.place[0]] if game.phi.shape[0] else np.nan
