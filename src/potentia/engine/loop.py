"""The compiled loop: steps of a rule on a game, with records every so often.

One function serves every rule and game; Numba specialises it on the types of their records. It stops
early when the buffers of the sink are full, and the caller empties them and calls again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidCode, InvalidGame, PotentiaError
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable
from potentia.kernel.journal import CHANGES, REVISIONS, Journal, stand
from potentia.kernel.mistakes import failed, line_of
from potentia.kernel.protocol import measure, open_run, potential, settle, tick, waiting, welfare
from potentia.rules.base import step

EVENTS = 0
ROWS = 1
NEVER = 2**62


class Sink(NamedTuple):
    """Buffers for one stretch of a run; what is not recorded is empty."""

    used: Ints  # (2,) events and rows written
    shadow: Ints  # (N,) the profile at the last record
    event_time: Ints
    event_player: NDArray[np.int32]
    event_action: NDArray[np.int32]
    num_rows: int
    potential: Floats
    welfare: Floats
    revisions: Ints
    changes: Ints
    which: Ints  # (M,) the game's own recorders, by number
    measures: Floats  # (rows, M)


@portable
def _has_room(sink: Sink) -> bool:
    if sink.used[ROWS] >= sink.num_rows:
        return False
    return sink.shadow.shape[0] == 0 or sink.event_time.shape[0] - sink.used[EVENTS] >= sink.shadow.shape[0]


@portable
def _record(sink: Sink, journal: Journal, game: Any, state: Any, time: int) -> None:
    row = sink.used[ROWS]
    sink.used[ROWS] = row + 1
    if sink.potential.shape[0]:
        sink.potential[row] = potential(game, state)
    if sink.welfare.shape[0]:
        sink.welfare[row] = welfare(game, state)
    if sink.revisions.shape[0]:
        sink.revisions[row] = journal.counts[REVISIONS]
        sink.changes[row] = journal.counts[CHANGES]
    for k in range(sink.which.shape[0]):
        sink.measures[row, k] = measure(game, state, sink.which[k])
    if sink.shadow.shape[0]:
        event = sink.used[EVENTS]
        for k in range(journal.pending[0]):
            player = journal.changed[k]
            journal.dirty[player] = 0
            # a player that changed and changed back since the last record leaves no event
            if state.profile[player] != sink.shadow[player]:
                sink.shadow[player] = state.profile[player]
                sink.event_time[event] = time
                sink.event_player[event] = player
                sink.event_action[event] = state.profile[player]
                event += 1
        sink.used[EVENTS] = event
        journal.pending[0] = 0


def play(
    game: Any,
    state: Any,
    rule: Any,
    memory: Any,
    journal: Journal,
    sink: Sink,
    key: Any,
    n: int,
    stop: int,
    every: int,
    owed: bool,
) -> int:
    """Advance from time n towards ``stop``, recording at multiples of ``every``; return the time reached.

    Where the game waits, it stops before the record of that time, which the next call then owes.
    """
    due = n if owed else (n // every + 1) * every
    while n < stop or owed:
        if due <= stop and not _has_room(sink):
            break
        target = min(due, stop)
        while n < target:
            step(rule, memory, game, state, journal, key, n)
            tick(game, state, key, n)
            n += 1
            if waiting(game, state):
                break
        if waiting(game, state):
            break
        if n == due:
            _record(sink, journal, game, state, n)
            due += every
            owed = False
    if journal.visits.shape[0]:
        stand(journal, n + 1)
    return n


def prepare(
    game: Any,
    state: Any,
    key: Any,
    opening: bool,
    want_potential: bool,
    want_welfare: bool,
    which: Ints,
    out: Floats,
) -> tuple[float, float]:
    """Settle a state, and open a new run there; its potential and welfare, with the game's own measures in ``out``."""
    settle(game, state)
    if opening:
        open_run(game, state, key)
    for k in range(which.shape[0]):
        out[k] = measure(game, state, which[k])
    return potential(game, state) if want_potential else np.nan, welfare(game, state) if want_welfare else np.nan


play_entry = Entry(play)
prepare_entry = Entry(prepare)


def guarded(game: Game, state: Any, when: str, call: Callable[[], Any]) -> Any:
    """Turn what a user's function raises into an error that names the player, the profile and the reason."""
    try:
        # machine code says nothing of overflows, so our own functions do not either; what a user's say is his
        with np.errstate(all=None if game.runs_user_code else "ignore"):
            return call()
    except PotentiaError:
        raise
    except Exception as error:
        if game.runs_user_code:
            raise InvalidGame(f"{when}: {game.diagnose(np.array(state.profile)) or failed(error)}") from error
        if not line_of(error):  # none of a rule's, a game's or a belief's that is not the package's
            raise
        raise InvalidCode(failed(error)) from error
