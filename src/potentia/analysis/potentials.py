"""Is this an exact potential game? Is it separable? (paper, section 2.1 and Definition of separability)

Monderer & Shapley (1996): a finite game has an exact potential iff along every cycle of four profiles in
which two players change and change back, the deviators' utility changes sum to zero. We first integrate a
candidate Φ along one path to each profile, O(N·S), and test it; only if it fails are the cycles searched,
so that the answer comes with its certificate.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.analysis.tables import (
    Verdict,
    check_tolerance,
    largest_spread,
    payoff_tensor,
    profile_at,
    profiles,
    require_game,
    spread,
    utility_of,
    words,
)
from potentia.analysis.units import own_changes
from potentia.errors import InvalidInput, NotPotentialGame
from potentia.games import Game
from potentia.games.names import action_name, player_name, players_words
from potentia.games.normal_form import disprove
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer
from potentia.kernel.precision import rounding
from potentia.kernel.protocol import Complete

Profile = tuple[int, ...]


@dataclass(frozen=True)
class Cycle:
    """Four profiles, two players: the deviators' changes of utility sum to ``imbalance``, not to zero."""

    players: tuple[int, int]
    profiles: tuple[Profile, Profile, Profile, Profile]
    changes: tuple[float, float, float, float]  # the deviator's, step by step round the cycle
    imbalance: float
    game: Game | None = field(default=None, repr=False, compare=False)  # for names

    def __str__(self) -> str:
        steps = " → ".join(words(p, self.game) for p in (*self.profiles, self.profiles[0]))
        changes = " ".join(f"{c:+.6g}" for c in self.changes)
        who = f"{players_words(self.players, self.game)} in turn round {steps}"
        return f"{who} change their utilities by {changes}, {self.imbalance:g} in sum"


def potential(game: Game, *, tolerance: float = 1e-9) -> Floats:
    """The exact potential, of shape (A_1, ..., A_N) and 0 at the first profile, where all play action 0.

    A potential is one up to a constant. What the game knows, ``game.potential(profile)``, is that of its formula, and
    larger by the same number everywhere: by ``game.potential`` at the first profile.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    array
        (A_1, ..., A_N).

    Raises
    ------
    NotPotentialGame
        With a :class:`Cycle` as ``evidence``.

    Examples
    --------
    >>> pt.analysis.potential(pt.game("stag-hunt")).tolist()
    [[0.0, -1.0], [-1.0, 2.0]]
    """
    tolerance = check_tolerance(tolerance)
    return potential_of(payoff_tensor(game), tolerance, game)


def potential_of(payoffs: Floats, tolerance: float = 1e-9, game: Game | None = None) -> Floats:
    """The same for payoffs of shape (N, A_1, ..., A_N)."""
    phi = find_potential(payoffs, tolerance)
    if phi is None:
        cycle = worst_cycle(payoffs, game)
        raise NotPotentialGame(f"there is no exact potential: {cycle}", evidence=cycle)
    return phi


def find_potential(payoffs: Floats, tolerance: float = 1e-9) -> Floats | None:
    """The potential or None, without the search for a certificate."""
    changes = own_changes(payoffs)  # what a utility owes to the others alone has no part in the potential
    noise = 8 * max(rounding(row) for row in payoffs)
    phi = _integrate(changes)
    # Along its path each difference of Φ crosses at most N - 1 of the cycles, each off by the tolerance.
    return phi if disprove(changes, phi, payoffs.shape[0] * tolerance, noise) is None else None


def potential_and_gap(payoffs: Floats) -> tuple[Floats, float]:
    """The candidate Φ, and by how much it fails at the worst deviation."""
    changes = own_changes(payoffs)
    phi = _integrate(changes)
    return phi, max(float(np.ptp(changes[i] - phi, axis=i).max()) for i in range(payoffs.shape[0]))


def _integrate(payoffs: Floats) -> Floats:
    """Φ along the path on which players leave action 0 one after the other."""
    players = payoffs.shape[0]
    phi = np.zeros(payoffs.shape[1:])
    for player in range(players):
        later = (slice(None),) * (player + 1) + (slice(0, 1),) * (players - player - 1)
        own = payoffs[player][later]
        phi += own - np.take(own, [0], axis=player)
    return phi


def _largest(values: Floats) -> Profile:
    """Where the number that is largest in size is."""
    return tuple(int(k) for k in np.unravel_index(int(np.abs(values).argmax()), values.shape))


def worst_cycle(payoffs: Floats, game: Game | None = None) -> Cycle:
    """The four-profile cycle through a pair's actions 0 with the largest imbalance; for two players or more."""
    largest, i, j = -1.0, 0, 0
    own = own_changes(payoffs)  # large constants would cost digits
    for one, other in itertools.combinations(range(payoffs.shape[0]), 2):
        apart = own[one] - own[other]
        apart = apart - np.take(apart, [0], axis=one)
        apart = apart - np.take(apart, [0], axis=other)
        where = _largest(apart)
        if abs(float(apart[where])) > largest:
            largest, i, j, far = abs(float(apart[where])), one, other, where

    def at(a: int, b: int) -> Profile:
        return tuple(a if k == i else b if k == j else action for k, action in enumerate(far))

    corners = (at(0, 0), at(far[i], 0), far, at(0, far[j]))
    changes = tuple(
        float(payoffs[(player, *corners[(k + 1) % 4])] - payoffs[(player, *corners[k])])
        for k, player in enumerate((i, j, i, j))
    )
    return Cycle((i, j), corners, changes, sum(changes), game)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Shown(Verdict):
    """Whether something holds; if not, a player and two profiles that show it."""

    holds: bool
    player: int | None = None
    first: Profile | None = None
    second: Profile | None = None
    game: Game | None = field(default=None, repr=False, compare=False, kw_only=True)  # for names


@dataclass(frozen=True)
class Separability(Shown):
    """Whether each utility depends on its player's own action only; if not, two profiles that show it."""

    difference: float = 0.0

    def __str__(self) -> str:
        if self.first is None or self.second is None:
            return "every utility depends on the player's own action only"
        player = self.player or 0
        action = action_name(self.game, player, self.first[player])
        both = f"plays {action} in both {words(self.first, self.game)} and {words(self.second, self.game)}"
        return f"{player_name(self.game, player)} {both}, yet its utility differs by {self.difference:g}"


def separable(game: Game, *, tolerance: float = 1e-9) -> Separability:
    """Whether u^i depends on α^i alone, for every i.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    tolerance : float
        Differences up to this, relative to the spread of payoffs, count as none.

    Returns
    -------
    Separability
        Whether it does, and two profiles where it does not.

    Examples
    --------
    >>> print(pt.analysis.separable(pt.game("stag-hunt")))
    player 0 plays 0 in both (0, 0) and (0, 1), yet its utility differs by -4
    """
    tolerance = check_tolerance(tolerance)
    return separable_of(payoff_tensor(game), tolerance, game)


def separable_of(payoffs: Floats, tolerance: float = 1e-9, game: Game | None = None) -> Separability:
    """The same for payoffs of shape (N, A_1, ..., A_N)."""
    limit = tolerance * largest_spread(payoffs)
    for i, j in itertools.permutations(range(payoffs.shape[0]), 2):
        apart = payoffs[i] - np.take(payoffs[i], [0], axis=j)
        second = _largest(apart)
        if abs(float(apart[second])) > limit:
            first = tuple(0 if k == j else a for k, a in enumerate(second))
            return Separability(False, i, first, second, float(apart[second]), game=game)
    return Separability(True)


@dataclass(frozen=True)
class Claim(Shown):
    """Whether a claimed potential is exact; if not, two profiles that disprove it."""

    utility_change: float = 0.0
    claimed_change: float = 0.0
    samples: int | None = None  # deviations that were drawn; None: all were looked at

    def __str__(self) -> str:
        if self.first is None or self.second is None:
            where = (
                "every deviation" if self.samples is None else f"each of {self.samples:,} deviations that were drawn"
            )
            return f"the claimed potential changes as the deviator's utility does, at {where}"
        changes = f"{self.utility_change:.6g}, the claimed potential by {self.claimed_change:.6g}"
        way = f"from {words(self.first, self.game)} to {words(self.second, self.game)}"
        return f"{way} {player_name(self.game, self.player or 0)}'s utility changes by {changes}"


Claimed = ArrayLike | Callable[[Ints], float] | str


def check_claim(
    game: Game, claimed: Claimed, *, tolerance: float = 1e-9, samples: int | None = None, seed: int = 0
) -> Claim:
    """Test a potential that somebody believes in.

    Parameters
    ----------
    game : Game
        A game whose profiles can be listed; of any size with ``samples``.
    claimed : array_like, callable or "welfare"
        An array of shape (A_1, ..., A_N), a function of the profile such as ``game.potential``, or ``"welfare"``, the
        sum of utilities (what the paper's Eq. 46 claims for the coverage game).
    tolerance : float
        Relative to the spread of payoffs and of the claim; with ``samples``, to the numbers that are compared.
    samples : int, optional
        Look at so many deviations, drawn at random, instead of all: a claim that passes is not proven then, one that
        fails is disproved as surely. ``claimed`` is no array then.
    seed : int
        Of what is drawn.

    Returns
    -------
    Claim
        Whether it holds; if not, a player and two profiles that disprove it.

    Examples
    --------
    >>> print(pt.analysis.check_claim(pt.game("stag-hunt"), "welfare"))
    from (0, 0) to (1, 0) player 0's utility changes by -1, the claimed potential by -5
    """
    tolerance = check_tolerance(tolerance)
    if samples is not None:
        count = Integer(least=1).of(samples, "samples", InvalidInput)
        return _sampled_claim(game, claimed, tolerance, count, Integer(least=0).of(seed, "seed", InvalidInput))
    payoffs = payoff_tensor(game)
    return claim_of(game, payoffs, claimed_values(game, payoffs, claimed), tolerance)


def _sampled_claim(game: Game, claimed: Claimed, tolerance: float, samples: int, seed: int) -> Claim:
    require_game(game)
    if not callable(claimed) and not (isinstance(claimed, str) and claimed == "welfare"):
        wanted = 'must be a function of the profile or "welfare" where deviations are drawn'
        raise InvalidInput(f"{wanted}, got {claimed!r:.60}", "claimed", claimed)
    value = claimed if callable(claimed) else game.welfare
    random, free = np.random.default_rng(seed), np.flatnonzero(game.sizes > 1)
    for _ in range(samples if free.size else 0):
        first = random.integers(game.sizes)
        player = int(random.choice(free))
        second = first.copy()
        second[player] = (first[player] + random.integers(1, game.sizes[player])) % game.sizes[player]
        utilities = [utility_of(game, player, profile) for profile in (first, second)]
        claims = [float(_called(value, profile.copy())) for profile in (first, second)]
        du, dphi = utilities[1] - utilities[0], claims[1] - claims[0]
        if not abs(du - dphi) <= tolerance * max(map(abs, utilities + claims)):  # NaN is no potential
            shown = tuple(first.tolist()), tuple(second.tolist())
            return Claim(False, player, *shown, du, dphi, samples, game=game)
    return Claim(True, samples=samples)


def claim_of(game: Game, payoffs: Floats, phi: Floats, tolerance: float = 1e-9) -> Claim:
    """The same for arrays."""
    found = disprove(payoffs, phi, tolerance)
    if found is None:
        return Claim(True)
    if not isinstance(game.moves, Complete):
        found = _feasible(game, payoffs, phi, tolerance) or found
    return Claim(False, *found, game=game)


def _feasible(
    game: Game, payoffs: Floats, phi: Floats, tolerance: float
) -> tuple[int, Profile, Profile, float, float] | None:
    """A disproof by a move that a player can make in one step, the worst one of the first player that has any."""
    limit = tolerance * max(largest_spread(payoffs), spread(phi))
    for player, size in enumerate(game.num_actions):
        worst, found = limit, None
        utilities, claims = np.moveaxis(payoffs[player], player, 0), np.moveaxis(phi, player, 0)
        for start in range(size):
            for end in game.reachable(player, start):
                gap = np.abs((utilities[end] - utilities[start]) - (claims[end] - claims[start]))
                if gap.max() > worst:
                    worst = float(gap.max())
                    others = _largest(gap)
                    found = tuple((*others[:player], action, *others[player:]) for action in (start, end))
        if found is not None:
            first, second = found
            du = float(payoffs[(player, *second)] - payoffs[(player, *first)])
            return player, first, second, du, float(phi[second] - phi[first])
    return None


def _called(claimed: Callable[[Ints], Any], profile: Ints) -> Any:
    try:
        return claimed(profile)
    except Exception as error:
        where = f"at {words(profile.tolist())}"
        raise InvalidInput(f"failed {where}: {type(error).__name__}: {error}", "claimed", claimed) from error


def claimed_values(game: Game, payoffs: Floats, claimed: Claimed) -> Floats:
    """A claim as an array of shape (A_1, ..., A_N)."""
    if isinstance(claimed, str):
        if claimed != "welfare":
            wanted = 'must be an array, a function of the profile or "welfare"'
            raise InvalidInput(f"{wanted}, got {claimed!r}", "claimed", claimed)
        # a potential is one up to a constant; large ones would cost digits
        return (payoffs - payoffs.min(axis=tuple(range(1, payoffs.ndim)), keepdims=True)).sum(axis=0)
    values: Any = claimed
    if callable(claimed):
        values = [_called(claimed, profile.copy()) for profile in profiles(game)]
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"must hold one number per profile, got {values!r:.60}", "claimed", values) from None
    if array.size != game.num_profiles or array.shape not in ((game.num_profiles,), game.num_actions):
        raise InvalidInput(f"must have shape {game.num_actions}, got {array.shape}", "claimed", array.shape)
    if not np.isfinite(array).all():
        place = int(np.argmin(np.isfinite(array)))
        value = array.flat[place]
        raise InvalidInput(f"must be finite, got {value} at {words(profile_at(game, place), game)}", "claimed", value)
    return array.reshape(game.num_actions)
