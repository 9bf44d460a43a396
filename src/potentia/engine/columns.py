"""Records that are written where they stay, and how much room that takes.

A run that is played for its result, alone or in a batch, writes each stretch of its records into the arrays of that
result. Nothing is collected and copied together at the end, so that the most that is held at a time is hardly more
than the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.recorders import COUNTS, OBJECTIVE, TABLE, Recorder
from potentia.rules import Rule

MAX_ROWS = 65_536  # in one stretch
MAX_EVENTS = 65_536
_PER_RUN = 80  # bytes: its seed in several forms, and its start
OBJECTS = 400_000  # bytes: what Python holds and keeps for later
_FEW = 64  # players; for so many a column at a time is quick

Events = tuple[Ints, NDArray[np.int32], NDArray[np.int32]]  # times, players, actions
Counts = tuple[int, int]  # revisions and changes


Raw = Mapping[str, NDArray[Any]]  # what the loop counted and measured, a column each


class Columns:
    """One array per scalar recorder, and one for profiles where they are wanted row by row."""

    def __init__(self, scalars: Mapping[str, Floats], profile: NDArray[Any] | None = None) -> None:
        self.scalars, self.profile = scalars, profile
        self.rows = 0
        self._carried: dict[str, Any] = {}

    def begin(self, raw: Raw, start: Ints) -> None:
        """The first row."""
        if self.profile is not None:
            self.profile[0] = start
        self._write(1, raw, 1)

    def add(self, rows: int, raw: Raw, events: Events, every: int) -> None:
        """More rows, ``every`` steps apart."""
        if self.profile is not None:
            times = np.arange(self.rows, self.rows + rows) * every
            fill_rows(self.profile[self.rows : self.rows + rows], self.profile[self.rows - 1], times, events)
        self._write(rows, raw, every)

    def _write(self, rows: int, raw: Raw, every: int) -> None:
        times = np.arange(self.rows, self.rows + rows) * every
        for name, out in self.scalars.items():
            out[self.rows : self.rows + rows] = scalar_rows(name, raw, times, self._carried)
        self.rows += rows


def scalar_rows(name: str, raw: Raw, times: Ints, carried: dict[str, Any]) -> NDArray[Any]:
    """A recorder's rows from what the loop counts and measures; ``carried`` is kept from one stretch to the next."""
    if name not in _DERIVED:
        return raw[name]
    values, carried[name] = _DERIVED[name](raw, times, carried.get(name))
    return values


def _acceptance(raw: Raw, times: Ints, before: Counts | None) -> tuple[NDArray[Any], Any]:
    first = (raw["revisions"][0], raw["changes"][0]) if before is None else before
    revised, changed = (np.diff(raw[n], prepend=f) for n, f in zip(COUNTS, first, strict=True))
    share = np.divide(changed, revised, out=np.full(changed.size, np.nan), where=revised > 0)
    return share, (int(raw["revisions"][-1]), int(raw["changes"][-1]))


def _best(raw: Raw, times: Ints, before: float | None) -> tuple[NDArray[Any], Any]:
    best = np.maximum.accumulate(np.append(-np.inf if before is None else before, raw[OBJECTIVE]))
    return best[1:], best[-1]


def _best_time(raw: Raw, times: Ints, before: Any) -> tuple[NDArray[Any], Any]:
    best, when = (-np.inf, 0) if before is None else before
    so_far = np.maximum.accumulate(np.append(best, raw[OBJECTIVE]))
    risen = np.where(np.diff(so_far) > 0, times, -1)
    risen[0] = max(risen[0], when)
    found = np.maximum.accumulate(risen)
    return found, (so_far[-1], found[-1])


_DERIVED: dict[str, Callable[..., tuple[NDArray[Any], Any]]] = {
    "acceptance": _acceptance,
    "taken": lambda raw, times, before: (raw["changes"], None),
    "rejected": lambda raw, times, before: (raw["revisions"] - raw["changes"], None),
    "num_revisions": lambda raw, times, before: (raw["revisions"], None),
    "best": _best,
    "best_time": _best_time,
}


def fill_rows(dense: NDArray[Any], before: NDArray[Any], times: Ints, events: Events) -> None:
    """The profile at each of these times: the one before them, and the changes since."""
    when, players, actions = events
    if not when.size:
        dense[:] = before
        return
    if before.size <= _FEW:
        for player in range(before.size):
            mine = players == player
            place = np.searchsorted(when[mine], times, "right")
            dense[:, player] = np.concatenate([before[player : player + 1], actions[mine]])[place]
        return
    profile = before.astype(np.int64)
    begin = 0
    for row, end in enumerate(np.searchsorted(when, times, "right")):
        profile[players[begin:end]] = actions[begin:end]
        dense[row] = profile
        begin = end


# Room -------------------------------------------------------------------------------------------------


def action_type(game: Game) -> Any:
    """The narrowest type that holds actions, and the -1 of a row that was not reached."""
    return next(t for t in (np.int8, np.int16, np.int32, np.int64) if game.sizes.max() <= np.iinfo(t).max)


def scalar_names(names: tuple[str, ...]) -> list[str]:
    """The recorders with one number a row."""
    return [name for name in dict.fromkeys(names) if name not in TABLE or TABLE[name].scalar]


def raw_names(names: tuple[str, ...]) -> list[str]:
    """What the loop must count and measure, a column each, for these recorders."""
    return list(dict.fromkeys(raw for name in scalar_names(names) for raw in needs_of(name)))


def needs_of(name: str) -> tuple[str, ...]:
    """The columns that a recorder is worked out from."""
    return (TABLE[name].needs if name in TABLE else ()) or (name,)


def own_recorders(names: tuple[str, ...]) -> list[Recorder]:
    """Those that are functions of the profile."""
    return [name for name in names if isinstance(name, Recorder) and name.function is not None]


def follows_profile(names: tuple[str, ...]) -> bool:
    """Whether the profile is followed from row to row."""
    return "profile" in names or bool(own_recorders(names))


def num_rows(names: tuple[str, ...], steps: int, every: int) -> int:
    """Times at which anything is recorded."""
    return steps // every + 1 if scalar_names(names) or "profile" in names else 0


def result_bytes(game: Game, names: tuple[str, ...], rows: int) -> int:
    """What is kept of one run of a batch."""
    width, players = np.dtype(action_type(game)).itemsize, game.num_players
    row = 8 * len(scalar_names(names)) + (width * players if "profile" in names else 0)
    visits = 8 * game.num_profiles if "visits" in names else 0
    return rows * row + visits + (width + 8 * len(game.totals)) * players + 24


def state_bytes(game: Game, rule: Rule, names: tuple[str, ...], fragile: bool) -> int:
    """What a run's state takes; where a step may fail in the middle, there is a copy of it."""
    tracked = game.num_players if follows_profile(names) else 0
    profiles = game.num_profiles if "visits" in names else 0
    return (game.state_size + rule.memory_size(game) + 8 * profiles + 17 * tracked) * (2 if fragile else 1)


def playing_bytes(game: Game, rule: Rule, names: tuple[str, ...], rows: int) -> int:
    """What a run holds beside its result while it is played: its state, and a stretch of records on their way."""
    stretch = min(MAX_ROWS, max(0, rows - 1))
    players = game.num_players
    row = 8 * len(raw_names(names)) + (24 if any(name in _DERIVED for name in names) else 0)
    row += 8 * players if own_recorders(names) else 0
    size = state_bytes(game, rule, names, game.runs_user_code or not game.compiled) + stretch * row
    if follows_profile(names):
        size += 16 * event_room(players, stretch) + 24 * stretch
    return size


def batch_bytes(game: Game, rule: Rule, names: tuple[str, ...], runs: int, rows: int, workers: int) -> int:
    """The most that a batch holds at a time: its result, and the runs that are being played."""
    playing = min(workers, runs) * playing_bytes(game, rule, names, rows)
    labels = 16 * (rows + game.num_players)  # times and players, of which the dataset keeps two copies
    return runs * (result_bytes(game, names, rows) + _PER_RUN) + labels + playing + OBJECTS


def event_room(players: int, rows: int) -> int:
    """Changes that a stretch of so many rows has room for."""
    return players + min(MAX_EVENTS + 3 * players, rows * players)
