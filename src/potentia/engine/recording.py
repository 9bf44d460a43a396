"""What a run records, stretch by stretch, and where it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine.columns import (
    MAX_ROWS,
    Columns,
    Events,
    event_room,
    fill_rows,
    follows_profile,
    own_recorders,
    raw_names,
    scalar_names,
    scalar_rows,
)
from potentia.engine.goals import Goal
from potentia.engine.loop import EVENTS, ROWS, Sink
from potentia.engine.measuring import Measured
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.cache import Compiled
from potentia.kernel.recorders import COUNTS, OBJECTIVE

_LOOPED = ("potential", "welfare", *COUNTS)  # what the loop writes into columns of their names
_OFTEN = 2**20  # bytes of records after which memory is looked at again
_AT_ONCE = 256  # profiles that are laid out for functions of them


class Recording:
    """Rows of each recorder and the changes of the profile: in lists, or in columns that somebody gave."""

    game: Game
    record: tuple[str, ...]
    every: int
    step: int
    start: Ints
    shadow: Ints  # the profile at the last record
    _owed: bool  # a row at this step
    _goal: Goal | None
    _mode: Compiled

    def __init__(self) -> None:
        self._rows: dict[str, list[NDArray[Any]]] = {}
        self._events: list[Events] = []
        self._columns: Columns | None = None  # where records go, if not into lists
        self._num_events = 0
        self._held = self._allowed = 0  # bytes of records in lists, and up to which there is memory
        self._sink: Sink | None = None
        own, recorders = own_recorders(self.record), self.game.recorders
        self._sources = [self.game.objective if name == OBJECTIVE else name for name in raw_names(self.record)]
        self._measured = tuple(name for name in dict.fromkeys(self._sources) if name in recorders and name not in own)
        self._which = frozen([recorders.index(name) for name in self._measured], np.int64)
        self._own = [Measured(row, self.game, self._mode) for row in own]

    def _first_rows(self, potential: float, welfare: float, measured: Floats) -> None:
        """The rows of the start."""
        told = {"potential": potential, "welfare": welfare} | dict(zip(self._measured, measured, strict=True))
        told |= {one.name: one.at(self.start) for one in self._own}
        for name in self._sources:
            self._rows[name] = [np.zeros(1, np.int64) if name in COUNTS else np.array([told[name]], np.float64)]

    @property
    def recording(self) -> bool:
        """Whether anything is recorded row by row."""
        return bool(self._rows) or follows_profile(self.record)

    def record_into(self, columns: Columns) -> None:
        """Write what is recorded there, from the first row on, in the place of keeping it.

        Parameters
        ----------
        columns : Columns
            The arrays of a trace, or of one seed of a batch.
        """
        columns.begin(self._raw({name: parts[0] for name, parts in self._rows.items()}), self.start)
        self._rows = {name: [] for name in self._rows}
        self._columns = columns

    def _raw(self, rows: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The same, with what stands for the game's objective."""
        return rows | ({OBJECTIVE: rows[self.game.objective]} if self.game.objective in rows else {})

    def _keep(self, sink: Sink, own: dict[str, Floats]) -> None:
        """Bring what was recorded to safety; ``own`` are the rows of functions of the profile."""
        rows, moved = int(sink.used[ROWS]), int(sink.used[EVENTS])
        if not rows:
            return
        raw = {name: values[:rows] for name, values in own.items()}
        events = (sink.event_time[:moved], sink.event_player[:moved], sink.event_action[:moved])
        for name in self._rows:
            if name in self._measured:
                raw[name] = sink.measures[:rows, self._measured.index(name)]
            elif name in _LOOPED:
                raw[name] = getattr(sink, name)[:rows]
        if self._columns is not None:
            self._columns.add(rows, self._raw(raw), events, self.every)
        else:
            for name, values in raw.items():
                self._rows[name].append(values.copy())
                self._held += values.nbytes
        if moved and "profile" in self.record and (self._columns is None or self._columns.profile is None):
            self._events.append((events[0].copy(), events[1].copy(), events[2].copy()))
            self._num_events += moved
            self._held += 16 * moved
        if self._held < self._allowed:
            return
        self._allowed = self._held + _OFTEN
        what = f"the record of {self.step // self.every:,} rows with {self._num_events:,} changes"
        # a trace copies them once more
        memory.require(self._held, what, f"use a larger every{', or leave profile out of record' if moved else ''}")

    def _is_there(self) -> bool:
        """Whether the last row has come to the goal."""
        assert self._goal is not None
        name = self._goal.name
        if self._columns is not None:
            kept = self._columns.scalars["best" if self._goal.so_far else name]
            row = kept[self._columns.rows - 1 : self._columns.rows]
        else:
            row = np.concatenate(self._rows[name]) if self._goal.so_far else self._rows[name][-1][-1:]
        return self._goal.first(row) is not None

    def _met(self, goal: Goal, sink: Sink, own: dict[str, Floats]) -> int | None:
        """The time of the first row of a stretch that has come to the goal."""
        rows = int(sink.used[ROWS])
        if goal.name in own:
            values = own[goal.name]
        elif goal.name in self._measured:
            values = sink.measures[:rows, self._measured.index(goal.name)]
        else:
            values = getattr(sink, goal.name)[:rows]
        found = goal.first(values)
        return None if found is None else self._next_row() + found * self.every

    def _next_row(self) -> int:
        """The time of the next row."""
        return self.step if self._owed else (self.step // self.every + 1) * self.every

    def _of_profiles(self, sink: Sink, before: Ints) -> dict[str, Floats]:
        """Functions of the profile at the rows of a stretch, some profiles at a time; ``before`` is the one before."""
        rows, moved = int(sink.used[ROWS]), int(sink.used[EVENTS])
        events = (sink.event_time[:moved], sink.event_player[:moved], sink.event_action[:moved])
        out: dict[str, Floats] = {one.name: np.empty(rows) for one in self._own}
        times = self._next_row() + np.arange(rows) * self.every
        dense = np.empty((min(rows, _AT_ONCE), before.size), np.int64)
        for first in range(0, rows, _AT_ONCE):
            part = dense[: min(_AT_ONCE, rows - first)]
            within = times[first : first + len(part)]
            low, high = np.searchsorted(events[0], (within[0], within[-1] + 1))
            fill_rows(part, before, within, (events[0][low:high], events[1][low:high], events[2][low:high]))
            for one in self._own:
                one.fill(part, out[one.name][first : first + len(part)])
            before = part[-1].copy()
        return out

    def _emptied_sink(self, stop: int) -> Sink:
        rows = min(MAX_ROWS, stop // self.every - self.step // self.every + self._owed) if self.recording else 0
        sink = self._sink
        if sink is None or sink.num_rows < rows:
            self._sink = sink = None  # the smaller one makes room first
            room = event_room(self.shadow.size, rows)

            def column(name: str, dtype: Any) -> NDArray[Any]:
                return np.empty(rows if name in self._rows else 0, dtype)

            sink = Sink(
                np.zeros(2, np.int64),
                self.shadow,
                np.empty(room, np.int64),
                np.empty(room, np.int32),
                np.empty(room, np.int32),
                rows,
                column("potential", np.float64),
                column("welfare", np.float64),
                column("revisions", np.int64),
                column("changes", np.int64),
                self._which,
                np.empty((rows, self._which.size)),
            )
            self._sink = sink
        sink.used[:] = 0
        return sink

    def records(self) -> tuple[dict[str, NDArray[Any]], Events | None]:
        """Rows of each recorder, and the changes of the profile if it is recorded."""
        return {name: np.concatenate(parts) for name, parts in self._rows.items()}, self._changes()

    def _changes(self) -> Events | None:
        if "profile" not in self.record:
            return None
        first = (np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
        times, players, actions = zip(first, *self._events, strict=True)
        return np.concatenate(times), np.concatenate(players), np.concatenate(actions)

    def _scalars(self) -> dict[str, Floats]:
        """Rows of each recorder under its own name."""
        if self._columns is not None:
            return {str(name): values[: self._columns.rows] for name, values in self._columns.scalars.items()}
        raw = self._raw({name: np.concatenate(parts) for name, parts in self._rows.items()})
        times = np.arange(len(next(iter(raw.values()), ()))) * self.every
        found = {name: scalar_rows(name, raw, times, {}) for name in self.in_order(scalar_names(self.record))}
        return {str(name): values.astype(np.float64) for name, values in found.items()}

    def in_order(self, names: list[str]) -> list[str]:
        """Recorders in the order of a trace, whichever way it came about: the last are worked out from others.

        Parameters
        ----------
        names : list of str
            The recorders.

        Returns
        -------
        list of str
            The same, sorted.
        """
        order = {name: k for k, name in enumerate(("potential", "welfare", *self._measured))}
        late = {name: k for k, name in enumerate(("acceptance", "taken", "rejected"), len(names) + len(order))}
        return sorted(names, key=lambda name: (order | late).get(name, len(order)))

    def columns(self) -> dict[str, Any]:
        """What :meth:`records` has rows of, and their types."""
        return {str(name): parts[0].dtype for name, parts in self._rows.items()}

    def restore_records(self, rows: dict[str, NDArray[Any]], events: Events | None) -> None:
        """Put back what :meth:`records` returned, checked to be of this run.

        Parameters
        ----------
        rows : dict
            The values of each recorder.
        events : tuple of arrays, optional
            Time, player and action of each change of the profile.
        """
        self._rows = {name: [values] for name, values in rows.items()}
        self._events = [] if events is None else [events]
        self._num_events = 0 if events is None else len(events[0])
        self._held = sum(values.nbytes for values in (*rows.values(), *(events or ())))
