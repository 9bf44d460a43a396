"""A game written out: every profile in C order, and every utility.

Large games go through the compiled kernels, small ones through the plain reference ``game.utility``, which costs no
compilation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.errors import InvalidGame, TooLarge
from potentia.games.base import Game
from potentia.games.coverage import Coverage
from potentia.games.drift import require_still
from potentia.games.normal_form import NormalForm
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, strides
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable
from potentia.kernel.numbers import in_words
from potentia.kernel.protocol import apply, commit, num_actions, num_players, settle, utility

_LARGEST = 1e300
_LARGE = (  # what works at any size
    "sample with run_batch(...) or potentia run; check_claim(game, claimed, samples=1000) and "
    "potentia.testing.check_game try a potential where deviations are drawn, and optimum(game) finds the best profile "
    "of large separable, coordination and congestion games"
)
_MOST_PLAYERS = 32  # NumPy's arrays have few axes; with two actions each, more would not fit anyway
_BY_PYTHON = 60_000  # utilities; compiling takes longer than this many calls


def require_game(game: Any) -> None:
    """Refuse what is no game, and games whose state is more than a profile."""
    if not isinstance(game, Game):
        raise InvalidGame(f"expected a game such as NormalForm(payoffs), got {game!r:.60}")
    require_still(game, "the exact analysis")
    if not game.memoryless:
        if getattr(game, "events", ()):
            raise InvalidGame(
                f"robots of {game.describe()} come and go, and the exact analysis takes those that stay: "
                "use game.at(time), the game as it is at one time"
            )
        kept = "flags" if isinstance(game, Coverage) else ", ".join(game.remembers)
        raise InvalidGame(
            f"{game.describe()} keeps {kept} beside the profile; the exact analysis takes games without memory"
            + (" (flags=False)" if isinstance(game, Coverage) else "")
        )


def require_fit(game: Game, bytes_per_profile: float, what: str) -> None:
    """Refuse a game whose profiles do not fit, saying how many there are and how many would."""
    require_game(game)
    count = game.num_profiles
    fit = int(memory.available() / bytes_per_profile)
    if count > fit:
        raise TooLarge(
            f"{what} of this game needs all of its {in_words(count)} profiles, and about {fit:,} fit into the memory "
            f"of this machine; use fewer players or actions, or {_LARGE}"
        )
    if game.num_players > _MOST_PLAYERS:
        raise TooLarge(
            f"the exact analysis takes games of up to {_MOST_PLAYERS} players, got {game.num_players}; leave out "
            f"players with a single action, or {_LARGE}"
        )


def profiles(game: Game) -> Ints:
    """All profiles in C order, (S, N)."""
    require_fit(game, 8.0 * game.num_players, "the list of profiles")
    grid = np.empty((game.num_profiles, game.num_players), np.int64)
    place = np.arange(game.num_profiles)
    for player in range(game.num_players - 1, -1, -1):
        place, grid[:, player] = np.divmod(place, game.sizes[player])
    return grid


def profile_at(game: Game, place: Any) -> tuple[int, ...]:
    """The profile with this number in C order."""
    return tuple(at_places(game, np.array([place]))[0].tolist())


def at_places(game: Game, places: Ints) -> Ints:
    """The profiles with these numbers in C order, (k, N)."""
    return places[:, None] // strides(game.sizes) % game.sizes


def place_of(game: Game, profile: Any, name: str = "profile") -> int:
    """The number of a profile in C order."""
    return int((game.check_profile(profile, name) * strides(game.sizes)).sum())


@portable
def odometer(game: Any, state: Any, those: Ints) -> None:
    """To the next profile of those players in C order, and from the last to the first; a step applies few changes."""
    for back in range(those.size):
        player = those[those.size - 1 - back]
        if state.profile[player] + 1 < num_actions(game, player):
            apply(game, state, player, state.profile[player] + 1)
            commit(game, state, player)
            break
        apply(game, state, player, 0)
        commit(game, state, player)


def _tabulate(game: Any, state: Any, those: Ints, out: Floats) -> None:
    """u^i of every profile."""
    settle(game, state)
    for place in range(out.shape[1]):
        for player in range(num_players(game)):
            out[player, place] = utility(game, state, player, state.profile[player])
        odometer(game, state, those)


_tabulate_entry = Entry(_tabulate)


def at_first_profile(entry: Entry, game: Game, compiled: bool, *args: Any) -> None:
    """Call a kernel that begins where all play their first action; where it fails the error says what the game did."""
    state = game.new_state(np.zeros(game.num_players, np.int64))
    try:
        entry(game.data if compiled else game.plain_data, state, *args, compiled=compiled)
    except Exception as error:
        said = game.diagnose(state.profile) or f"utility failed: {type(error).__name__}: {error}"
        raise InvalidGame(said) from error


def payoff_table(game: Game) -> Floats:
    """Every utility: (N, S), profiles in C order. Read-only."""
    require_game(game)
    require_fit(game, 8.0 * game.num_players, "the payoff table")
    if isinstance(game, NormalForm):
        return _checked(game, game.payoffs.reshape(game.num_players, -1))
    out = np.empty((game.num_players, game.num_profiles))
    if out.size <= _BY_PYTHON:
        everything = profiles(game)
        everything.setflags(write=False)
        for place, profile in enumerate(everything):
            for player in range(game.num_players):
                out[player, place] = utility_of(game, player, profile)
    else:
        at_first_profile(_tabulate_entry, game, game.compiled, np.arange(game.num_players), out)
    out.setflags(write=False)
    return _checked(game, out)


def _checked(game: Game, table: Floats) -> Floats:
    bad = ~(np.abs(table) <= _LARGEST)
    if bad.any():
        player, place = (int(k) for k in np.argwhere(bad)[0])
        value, where = table[player, place], f"player {player} at profile {list(profile_at(game, place))}"
        wanted = f"must be finite and at most {_LARGEST:g} in size, so that sums over profiles do not overflow"
        raise InvalidGame(f"of {where} {wanted}, got {value}", "utility", value)
    return table


def utility_of(game: Game, player: int, profile: Ints) -> float:
    """A utility, or an error that says where there is none."""
    try:
        return float(game.utility(player, profile))
    except Exception as error:
        raise InvalidGame(
            f"of player {player} at profile {profile.tolist()} failed: {type(error).__name__}: {error}", "utility"
        ) from error
