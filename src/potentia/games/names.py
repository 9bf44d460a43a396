"""What players and actions are called. Nothing that is computed goes by a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from potentia.errors import InvalidGame
from potentia.games.given import shortened
from potentia.kernel.arrays import Ints
from potentia.kernel.texts import visible

PlayerNames = tuple[str, ...] | None
ActionNames = tuple[tuple[str, ...], ...] | None

_LONGEST = 24  # characters of a name where it is one of several


def checked_players(given: Any, count: int) -> PlayerNames:
    """A name for each player, or None."""
    if given is None:
        return None
    return _texts(given, "players", "players", count)


def checked_actions(given: Any, sizes: Ints) -> ActionNames:
    """A name for each action of each player, or None; one list of names serves all players with so many actions."""
    if given is None:
        return None
    lists = _listed(given, "actions", "one list of names per player")
    counts = sizes.tolist()
    if lists and all(isinstance(name, str) for name in lists):
        if set(counts) != {len(lists)}:
            told = "as one list must name all players' actions, which must be equally many"
            raise InvalidGame(f"{told}, got {len(lists)} names for {_counts(counts)}", "actions", given)
        lists = [lists] * len(counts)
    if len(lists) != len(counts):
        raise InvalidGame(f"must be one list of names per player, {len(counts)}, got {len(lists)}", "actions", given)
    return tuple(
        _texts(names, "actions", f"actions of player {player}", size)
        for player, (names, size) in enumerate(zip(lists, counts, strict=True))
    )


def _counts(counts: list[int]) -> str:
    return f"players with {', '.join(map(str, counts[:8]))}{' ...' if len(counts) > 8 else ''} actions"


def _listed(given: Any, name: str, wanted: str) -> list[Any]:
    if isinstance(given, str | bytes | dict) or not isinstance(given, Iterable):
        raise InvalidGame(f"must be {wanted}, got {shortened(repr(given))}", name, given)
    return list(given)


def _texts(given: Any, parameter: str, what: str, count: int) -> tuple[str, ...]:
    names = _listed(given, parameter, "names")
    for name in names:
        if not isinstance(name, str):
            raise InvalidGame(f"must be texts, got {shortened(repr(name))} for {what}", parameter, given)
    if len(names) != count:
        raise InvalidGame(f"must be a name for each of {count} {what}, got {len(names)}", parameter, given)
    if "" in names:
        raise InvalidGame(f"must not be empty, got one for {what}", parameter, given)
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise InvalidGame(f"must tell {what} apart, got {shortened(repr(twice))} twice", parameter, given)
    return tuple(map(str, names))


def short(name: str) -> str:
    """A name as one of several in a line."""
    text = visible(" ".join(name.split()))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def player_name(game: Any, player: int, noun: str = "player ") -> str:
    """A player as people read it: its name, or player 0."""
    names = None if game is None else game.player_names
    return (short(names[player]) if names else "") or f"{noun}{player}"


def players_words(players: Sequence[int], game: Any = None) -> str:
    """Some players as people read them: player 0; players 0, 1 and 2; Ann and Bob."""
    named = game is not None and game.player_names is not None
    told = [player_name(game, player, "" if len(players) > 1 and not named else "player ") for player in players]
    listed = " and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))
    return listed if named or len(told) == 1 else f"players {listed}"


def capital(text: str, game: Any = None) -> str:
    """A sentence that begins with players; a name stays as it is."""
    return text if game is not None and game.player_names is not None else text[:1].upper() + text[1:]


def action_name(game: Any, player: int, action: int, noun: str = "") -> str:
    """An action as people read it: its name, or its number."""
    names = None if game is None else game.action_names
    return (short(names[player][action]) if names else "") or f"{noun}{action}"


def profile_words(profile: Sequence[int], game: Any = None) -> str:
    """A profile as people read it: (Stag, Hare), without names (0, 1, 2), or 0120212011 where that is long."""
    named = game is not None and game.action_names is not None
    if not named and len(profile) > 8 and max(profile) < 10:
        return "".join(str(int(a)) for a in profile)
    told = [action_name(game, player, int(a)) for player, a in enumerate(profile)]
    return "(" + ", ".join(told) + ("," if len(told) == 1 else "") + ")"
