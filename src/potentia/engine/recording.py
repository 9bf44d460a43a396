"""What a run records, stretch by stretch, and where it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine.columns import MAX_ROWS, Columns, Events, event_room, write_scalar
from potentia.engine.loop import EVENTS, ROWS, Sink
from potentia.engine.requests import COUNTED
from potentia.kernel import memory
from potentia.kernel.arrays import frozen

_OFTEN = 2**20  # bytes of records after which memory is looked at again


class Recording:
    """Rows of each recorder and the changes of the profile: in lists, or in columns that somebody gave."""

    record: tuple[str, ...]
    every: int
    step: int
    start: NDArray[np.int64]
    shadow: NDArray[np.int64]  # the profile at the last record
    _owed: bool  # a row at this step

    def __init__(self, recorders: tuple[str, ...]) -> None:
        self._rows: dict[str, list[NDArray[Any]]] = {}
        self._events: list[Events] = []
        self._columns: Columns | None = None  # where records go, if not into lists
        self._num_events = 0
        self._held = self._allowed = 0  # bytes of records in lists, and up to which there is memory
        self._sink: Sink | None = None
        self._measured = tuple(name for name in self.record if name in recorders)
        self._which = frozen([recorders.index(name) for name in self._measured], np.int64)

    @property
    def recording(self) -> bool:
        """Whether anything is recorded row by row."""
        return bool(self._rows) or self.shadow.size > 0

    def record_into(self, columns: Columns) -> None:
        """Write what is recorded there, from the first row on, in the place of keeping it."""
        columns.begin({name: parts[0] for name, parts in self._rows.items()}, self.start)
        self._rows = {name: [] for name in self._rows}
        self._columns = columns

    def _keep(self, sink: Sink) -> None:
        """Bring what was recorded to safety."""
        rows, moved = int(sink.used[ROWS]), int(sink.used[EVENTS])
        if not rows:
            return
        raw = {}
        for name in self._rows:
            column = sink.measures[:, self._measured.index(name)] if name in self._measured else getattr(sink, name)
            raw[name] = column[:rows]
        events = (sink.event_time[:moved], sink.event_player[:moved], sink.event_action[:moved])
        if self._columns is not None:
            self._columns.add(rows, raw, events, self.every)
        else:
            for name, values in raw.items():
                self._rows[name].append(values.copy())
                self._held += values.nbytes
        if moved and (self._columns is None or self._columns.profile is None):
            self._events.append((events[0].copy(), events[1].copy(), events[2].copy()))
            self._num_events += moved
            self._held += 16 * moved
        if self._held < self._allowed:
            return
        self._allowed = self._held + _OFTEN
        what = f"the record of {self.step // self.every:,} rows with {self._num_events:,} changes"
        # a trace copies them once more
        memory.require(self._held, what, f"use a larger every{', or leave profile out of record' if moved else ''}")

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
        if not self.shadow.size:
            return None
        first = (np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
        times, players, actions = zip(first, *self._events, strict=True)
        return np.concatenate(times), np.concatenate(players), np.concatenate(actions)

    def _scalars(self) -> dict[str, NDArray[np.float64]]:
        """Rows of each recorder under its own name; those that are derived from counts come last."""
        if self._columns is not None:
            return {name: values[: self._columns.rows] for name, values in self._columns.scalars.items()}
        out = {n: np.concatenate(parts) for n, parts in self._rows.items() if n not in ("revisions", "changes")}
        counts = {n: np.concatenate(parts) for n, parts in self._rows.items() if n in ("revisions", "changes")}
        for name in COUNTED:
            if name in self.record:
                out[name] = np.empty(counts["changes"].size)
                write_scalar(name, counts, out[name])
        return out

    def columns(self) -> dict[str, Any]:
        """What :meth:`records` has rows of, and their types."""
        return {name: parts[0].dtype for name, parts in self._rows.items()}

    def restore_records(self, rows: dict[str, NDArray[Any]], events: Events | None) -> None:
        """Put back what :meth:`records` returned, checked to be of this run."""
        self._rows = {name: [values] for name, values in rows.items()}
        self._events = [] if events is None else [events]
        self._num_events = 0 if events is None else len(events[0])
        self._held = sum(values.nbytes for values in (*rows.values(), *(events or ())))
