"""Where a run ends before its time: at a value of a recorder, or where a function of the profile says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from potentia.engine.columns import scalar_names
from potentia.errors import InvalidRun
from potentia.kernel.checks import Real
from potentia.kernel.precision import goal_slack
from potentia.kernel.recorders import TABLE, recorder

if TYPE_CHECKING:
    from potentia.engine.runs import Run

Stop = Mapping[str, float] | Callable[..., Any]
_ANY = object()
_WANTED = 'a recorder and its value, as in {"potential": 3.0, "tolerance": 1e-9}, or a function of (profile, data)'


@attrs.frozen
class Goal:
    """A recorder has come to a value, or above it, up to a tolerance."""

    name: str
    value: float
    tolerance: float = 0.0
    so_far: bool = False  # of the best so far

    def first(self, rows: NDArray[Any]) -> int | None:
        """The first row that has come there."""
        there = np.flatnonzero(rows >= self.value - self.tolerance)
        return int(there[0]) if there.size else None


def goal_from(stop: Stop | None, record: str | Iterable[str]) -> tuple[Goal | None, str | Iterable[str]]:
    """The goal, and what must be recorded to see it."""
    if stop is None:
        return None, record
    record = (record,) if isinstance(record, str) else tuple(record)
    if callable(stop):
        name = getattr(stop, "__name__", "")
        same = [row for row in record if getattr(row, "function", None) is stop]
        name = name if name.isidentifier() else "stop"
        while not same and name in record:
            name += "_"
        with blamed_on_stop("function"):
            row = same[0] if same else recorder(stop, name)
        return Goal(row, 1.0), record if same else (*record, row)
    if not isinstance(stop, Mapping) or len(names := [name for name in stop if name != "tolerance"]) != 1:
        raise InvalidRun(f"must be {_WANTED}, got {stop!r:.60}", "stop", stop)
    (name,) = names
    value = Real().of(stop[name], f"stop[{name!r}]", InvalidRun)
    given = stop.get("tolerance", float(goal_slack(value)))
    tolerance = Real(least=0.0).of(given, "tolerance of stop", InvalidRun)
    return Goal(name, value, tolerance), record if name in record else (*record, name)


@contextmanager
def blamed_on_stop(parameter: str, value: Any = _ANY) -> Iterator[None]:
    """What is wrong with this parameter, or with this value of it, came from ``stop``."""
    try:
        yield
    except InvalidRun as error:
        if error.parameter != parameter or (value is not _ANY and (value is None or error.value != value)):
            raise
        raise InvalidRun(error.problem, "stop", error.value) from None


def checked_goal(run: Run, goal: Goal) -> Goal:
    """The goal in terms of what the loop measures."""
    usable = [name for name in scalar_names(run.record) if name not in TABLE or not TABLE[name].needs or name == "best"]
    if goal.name not in usable:
        listed = ", ".join(usable) or "none"
        if goal.name in run.record:
            said = f"must name a recorder that has a value at each time by itself ({listed}), got {goal.name!r}"
        else:
            said = f"must name what this run records ({listed}), got {goal.name!r}; pass it in record="
        raise InvalidRun(said, "stop", goal.name)
    return attrs.evolve(goal, name=run.game.objective, so_far=True) if goal.name == "best" else goal
