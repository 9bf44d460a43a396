"""``check_game``: does a game keep the protocol? And what checks have in common.

They raise :class:`~potentia.errors.CheckFailed` with what was expected and what happened, and return
nothing when all is well. Random profiles come from a fixed seed, so a failure repeats.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine import Trace, begin
from potentia.errors import CheckFailed, InvalidCode
from potentia.games import Game
from potentia.kernel import protocol
from potentia.kernel.mistakes import at_place, failed, is_own, line_of, odd_record, place_of
from potentia.rules import PSBLLL, schedule_from

_TOLERANCE = 1e-9

_MOST_ACTIONS = 40  # of a player, tried at a profile
_MOST_PAIRS = 400  # all of 20 players; of each, one deviates and the other is asked
_MOST_DEVIATIONS = 600  # over all pairs, but at least two for each
_MOST_UTILITIES = 3000  # up to which every player is asked at every profile instead


def require(holds: bool, message: str) -> None:
    """Or the check has failed."""
    if not holds:
        raise CheckFailed(message)


@contextlib.contextmanager
def own_code(*records: Any) -> Iterator[None]:
    """What is played in this block is somebody's: where it does not compile, or fails, the check has failed.

    Where it fails in code that is not, a record may hold what it must not.
    """
    try:
        yield
    except InvalidCode as error:
        raise CheckFailed(str(error)) from error.__cause__
    except (LookupError, AttributeError, NameError, TypeError, ArithmeticError, NotImplementedError) as error:
        odd = None if line_of(error) else next(filter(None, map(odd_record, records)), None)
        raise CheckFailed(odd or failed(error)) from error


def _place(game: Game, kernel: Any) -> str:
    """Where somebody's own kernel of a game is, or its utility that stands in for it; empty for the package's."""
    function = kernel.table.get(type(game.data)) or protocol.utility.table.get(type(game.data))
    return place_of(function) if function is not None and is_own(function.__code__.co_filename) else ""


def _method(game: Game, name: str) -> str:
    """Where somebody's own method of a game is; empty for the package's."""
    method = getattr(type(game), name)
    code = getattr(getattr(method, "fget", method), "__code__", None)
    return place_of(getattr(method, "fget", method)) if code is not None and is_own(code.co_filename) else ""


def _close(a: float, b: float, scale: float) -> bool:
    return abs(a - b) <= _TOLERANCE * max(scale, 1.0)


def arrays_in(record: Any) -> list[NDArray[Any]]:
    """All arrays of a record."""
    found: list[NDArray[Any]] = []
    for part in record:
        if isinstance(part, np.ndarray):
            found.append(part)
        elif isinstance(part, tuple):
            found.extend(arrays_in(part))
    return found


def bytes_of(record: Any) -> list[bytes]:
    """What they hold."""
    return [array.tobytes() for array in arrays_in(record)]


def trace_bytes(trace: Trace) -> list[bytes]:
    """What a run came to."""
    return bytes_of((trace.final, *(trace.events or ()), *trace.scalars.values()))


def check_game(game: Game, *, num_profiles: int = 30, seed: int = 0) -> None:
    """Check that a game keeps its promises: kernel, reference, potential, interactions and immutability.

    Parameters
    ----------
    game : Game
        What is checked.
    num_profiles : int
        How many profiles are drawn.
    seed : int
        What they are drawn from.

    Raises
    ------
    CheckFailed
        With what was expected and what happened.

    Examples
    --------
    >>> pt.testing.check_game(pt.games.random_potential_game([2, 3]), num_profiles=5)  # nothing to say
    """
    require(isinstance(game, Game), f"expected a potentia Game, got {type(game).__name__}")
    for array in arrays_in(game.data):
        require(not array.flags.writeable, "an array in game.data is writable: freeze what compiled code reads")
    random = np.random.default_rng(seed)
    before = bytes_of(game.data)
    with own_code(game.data):
        for _ in range(num_profiles):
            profile = (random.random(game.num_players) * game.sizes).astype(np.int64)
            _check_utilities(game, profile, random)
            _check_deviation(game, profile, random)
        _check_interactions(game, random)
        _check_apply(game, random)
        _check_compiled(game)
    require(bytes_of(game.data) == before, "playing changed game.data; what varies belongs into the run's state")


def _settled(game: Game, profile: NDArray[np.int64]) -> Any:
    state = game.new_state(profile.copy())
    protocol.settle(game.data, state)
    return state


def _some_players(game: Game, random: np.random.Generator) -> list[int]:
    return [int(i) for i in random.permutation(game.num_players)[:5]]


def _check_utilities(game: Game, profile: NDArray[np.int64], random: np.random.Generator) -> None:
    data, state = game.data, _settled(game, profile)
    values = np.empty(int(game.sizes.max()))
    for player in _some_players(game, random):
        protocol.utilities(data, state, player, values)
        for action in random.permutation(int(game.sizes[player]))[:_MOST_ACTIONS].tolist():
            expected = game.move_utility(player, profile, action)
            require(
                bool(np.isfinite(expected)),
                f"utility of player {player} at {profile.tolist()}, action {action}, is {expected}",
            )
            now, then = protocol.compare(data, state, player, action)
            single = protocol.utility(data, state, player, action)
            for name, kernel, value, goal in (
                ("utility", protocol.utility, single, expected),
                ("utilities", protocol.utilities, values[action], expected),
                ("compare (trial)", protocol.compare, then, expected),
                ("compare (current)", protocol.compare, now, game.utility(player, profile)),
            ):
                said = f"the kernel's {name} of player {player}, action {action}, at {profile.tolist()} is {value}, "
                said += f"game.utility says {goal}"
                require(_close(value, goal, abs(goal)), at_place(said, _place(game, kernel)))
            for target in game.reachable(player, action):
                require(
                    0 <= target < game.sizes[player] and target != action,
                    f"player {player} reaches {target} from {action}: not another of its actions",
                )
    require((state.profile == profile).all(), "asking for utilities changed the profile")


def _check_deviation(game: Game, profile: NDArray[np.int64], random: np.random.Generator) -> None:
    """One player deviates: the potential moves with its utility."""
    player = int(random.integers(game.num_players))
    after = profile.copy()
    reachable = [profile[player], *game.reachable(player, int(profile[player]))]
    after[player] = reachable[random.integers(len(reachable))]
    if game.has_potential:
        du = game.utility(player, after) - game.utility(player, profile)
        dphi = game.potential(after) - game.potential(profile)
        said = f"the potential is not exact: player {player} from {profile.tolist()} to {after.tolist()} gains {du}, "
        said += f"the potential {dphi}"
        require(_close(du, dphi, abs(game.potential(profile))), at_place(said, _method(game, "potential")))
        kernel = protocol.potential(game.data, _settled(game, profile))
        said = f"the kernel's potential at {profile.tolist()} is {kernel}, game.potential says "
        said += str(game.potential(profile))
        require(_close(kernel, game.potential(profile), abs(kernel)), at_place(said, _place(game, protocol.potential)))
    elif type(game).has_potential is Game.has_potential:
        kernel = protocol.potential(game.plain_data, _settled(game, profile))
        require(bool(np.isnan(kernel)), "a potential is registered; override has_potential and potential(profile), too")


def _check_interactions(game: Game, random: np.random.Generator) -> None:
    """Of two players who are said not to interact, the one's action is nothing to the other."""
    players = game.num_players
    ordered = players * (players - 1)
    some = min(ordered, _MOST_PAIRS)
    few = players * game.num_profiles <= _MOST_UTILITIES
    often = None if few else max(2, _MOST_DEVIATIONS // max(1, some))

    @functools.lru_cache(_MOST_UTILITIES if few else 0)
    def utility(player: int, profile: bytes) -> float:
        return game.utility(player, np.frombuffer(profile, np.int64))

    for pair in random.choice(ordered, some, replace=False).tolist() if ordered else []:
        player, other = divmod(pair, players - 1)
        other += other >= player
        near = game.interacting(player, other)
        if near is True:
            continue
        for profile, after in _deviations(game, player, often, random):
            if not isinstance(near, bool) and near[profile[player], profile[other]]:
                continue
            here, there = (utility(other, place.tobytes()) for place in (profile, after))
            said = (
                f"player {other}'s utility depends on player {player}'s action, but interactions do not say so: it is "
                f"{here} at {profile.tolist()} and {there} where player {player} takes action {after[player]}"
            )
            require(_close(here, there, abs(here)), at_place(said, _method(game, "interactions")))


def _deviations(
    game: Game, player: int, often: int | None, random: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Profiles and what the player makes of them: one random change at so many of them, or each at all."""
    given = np.ndindex(*game.sizes) if often is None else random.integers(game.sizes, size=(often, game.num_players))
    for profile in (np.array(actions, np.int64) for actions in given):
        away = game.reachable(player, int(profile[player]))
        if often is not None and away:
            away = [away[random.integers(len(away))]]
        for action in away:
            after = profile.copy()
            after[player] = action
            yield profile, after


def _check_apply(game: Game, random: np.random.Generator) -> None:
    """After any sequence of changes the state is what settling the final profile gives."""
    state = _settled(game, np.zeros(game.num_players, np.int64))
    for _ in range(50):
        player = int(random.integers(game.num_players))
        protocol.apply(game.data, state, player, int(random.integers(game.sizes[player])))
        protocol.commit(game.data, state, player)
    fresh = _settled(game, np.array(state.profile))
    for name in set(state._fields) - set(game.remembers):
        said = f"after 50 changes the state's {name} differs from what settle derives from the profile: check apply"
        same = bool(np.array_equal(getattr(state, name), getattr(fresh, name)))
        require(same, at_place(said, _place(game, protocol.apply)))


def _check_compiled(game: Game) -> None:
    rule = PSBLLL(tau=schedule_from(1.0), revision=0.5)
    record = ("profile", "welfare", "potential") if game.has_potential else ("profile", "welfare")
    fast = begin(game, rule, 1, record=record, compiled=True).advance(40).trace()
    slow = begin(game, rule, 1, record=record, compiled=False).advance(40).trace()
    require(trace_bytes(fast) == trace_bytes(slow), "compiled code and plain Python play different runs")
