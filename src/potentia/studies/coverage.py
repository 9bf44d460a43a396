"""A coverage study: rules on one game over many seeds, and what they covered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.analysis import OptimumOverTime
from potentia.beliefs import Belief
from potentia.beliefs.mixture import RECORDERS as LEARNT
from potentia.engine import run_batch
from potentia.errors import InvalidRun
from potentia.games import Coverage
from potentia.games.events import Events
from potentia.games.world import published
from potentia.rules import Rule, SignalRevision, rule
from potentia.statistics.estimates import Estimate, estimate, steady_state, time_to_share
from potentia.statistics.recovering import Recovery, recovery
from potentia.studies.coverage_ends import complete, final_worth, settled, stretch_steps, tail_steps
from potentia.studies.coverage_measures import Arrival, arrivals, plain

if TYPE_CHECKING:
    import xarray

RECORD = ("worth_sum", "worth_union", "moves", "energy", "taken", "rejected", "cells_seen", "targets_found")
_ROWS = 2000
MOST_EVENTS = 12  # of which recoveries are told


def paper_game(**changes: Any) -> Coverage:
    """The paper's case study: its world, five robots, δ = 1.5, K = 3e-5, flags on the cells occupied."""
    from potentia.games import paper_world

    setup = published()["setup"]
    options: dict[str, Any] = {"robots": setup["robots"], "delta": setup["delta"], "K": setup["K"], "flags": True}
    return Coverage(paper_world(), **options | changes)


def paper_rules() -> dict[str, Rule]:
    """BLLL and P-SBLLL with Eq. 53, at the published temperature."""
    setup = published()["setup"]
    revision = SignalRevision(setup["a1"], setup["a2"], setup["a3"])
    return {"blll": rule("blll", tau=setup["tau"]), "p-sblll": rule("p-sblll", tau=setup["tau"], revision=revision)}


def spacing(steps: int) -> int:
    """Steps between records, so that a study has some thousands of them at most."""
    return max(1, steps // _ROWS)


def cover(
    game: Coverage,
    rules: Mapping[str, Rule],
    steps: int,
    seeds: Iterable[int],
    *,
    belief: Belief | None = None,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
    events: Iterable[str] | None = None,
) -> dict[str, xarray.Dataset]:
    """One batch per rule, from the same starts, with everything a summary needs; of the ``belief`` too, with one."""
    if not isinstance(game, Coverage):
        raise InvalidRun(f"a coverage study needs a Coverage game, got {type(game).__name__}")
    numbers = list(seeds)
    record = (*RECORD, "distance", *(() if belief is None else belief.recorders))
    options: dict[str, Any] = {"record": record, "every": spacing(steps), "workers": workers, "belief": belief}
    options["events"] = None if events is None else list(events)
    out = {}
    for name, chosen in rules.items():
        tell = None if progress is None else partial(progress, name)
        out[name] = run_batch(game, chosen, steps, numbers, progress=tell, **options)
        if belief is not None:
            out[name].attrs["belief"] = belief.describe()
        if out[name].attrs["interrupted"]:
            break
    return out


@dataclass(frozen=True)
class Covered:
    """What one rule covered: means over seeds with intervals, at the end of the runs."""

    worth_sum: Estimate
    worth_union: Estimate
    share: Estimate | None  # of the optimum; in the mean over the run where the world changes, else at the end
    steps_to_90: Estimate  # of the run's own final worth
    settled: Estimate  # from when on the mean over as many steps stays above 90 % of that
    steady: Estimate  # when the paper's robots would stop
    moves: Estimate
    energy: Estimate
    rejected: float  # share of trials
    cells_seen: Estimate
    targets_found: Estimate
    runs: int
    tail: int
    distance: Estimate | None = None  # driven by all robots, in ``unit``
    driven: tuple[float, ...] = ()  # by each robot, in the mean over runs
    driven_least: float = float("nan")  # by one robot in any run, of those there from the first step to the last
    driven_most: float = float("nan")
    unit: str = "cells"
    arrivals: tuple[Arrival, ...] = ()  # until shares of the optimum, or of the bound on it
    share_end: Estimate | None = None  # of the optimum, over the last steps
    share_over_run: Estimate | None = None  # in the mean over the run, where the world changes or robots come and go
    # of a belief, where the runs had one that records it
    belief_error: Estimate | None = None  # Σ|f̂ - f| / Σf, in the mean over robots as the next four
    parameter_error: Estimate | None = None
    right_number: Estimate | None = None  # share of robots whose mixture has as many components as the world's
    components: Estimate | None = None
    cells_known: Estimate | None = None
    contacts: Estimate | None = None  # exchanges between robots so far
    data_sent: Estimate | None = None  # cells told in them

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; without what a belief would have recorded, where there was none."""
        out: dict[str, Any] = {}
        for name, entry in vars(self).items():
            if entry is not None or name not in LEARNT:
                out[name] = entry.to_list() if isinstance(entry, Estimate) else entry
        return out | {"driven": list(self.driven), "arrivals": [plain(entry) for entry in self.arrivals]}


def steps_to_share(data: xarray.Dataset, share: float = 0.9, measure: str = "worth_sum") -> NDArray[np.float64]:
    """The first step at which each run covers this share of its own final worth."""
    return time_to_share(data[measure].values, data.time.values, share * final_worth(data, measure))


def summarise(
    data: xarray.Dataset,
    optimum: float | OptimumOverTime | None = None,
    length: tuple[float, str] = (1.0, "cells"),
) -> Covered:
    """What a batch of :func:`cover` came to; ``optimum`` is the largest union there is, or a bound on it.

    Where the world changes or robots come and go, what is covered at a time is measured by the optimum of that time and
    of those that are there, at the end and in the mean over all steps but the first; between the times at which it is
    known it is interpolated, never across an event. ``share`` is the latter where the world changes, else the former.
    ``length`` is a cell's side and its unit, in which distances are told: ``world.length``.
    """
    data = complete(data)
    times, last = data.time.values, data.isel(time=-1)
    union = possible(estimate(final_worth(data, "worth_union")))
    share = end = over_run = None
    if isinstance(optimum, OptimumOverTime):
        covered = data.worth_union.transpose("seed", "time").values
        tail, later = times > times[-1] - tail_steps(data), times > 0
        end = _share(optimum.mean_share(times[tail], covered[:, tail]))
        over_run = _share(optimum.mean_share(times[later], covered[:, later]))
        share = end if optimum.every is None else over_run
    elif optimum:
        union = possible(union, optimum)
        share = end = union.scaled(1 / optimum)
    side, unit = length
    ways = data.driven.transpose("seed", "player") * side if "driven" in data else None
    stays = (data.since == 0) & (data.until > times[-1]) if "until" in data else True
    whole = [] if ways is None else ways.where(stays).values.ravel()
    whole = [way for way in whole if not np.isnan(way)]
    trials = float(last.taken.sum() + last.rejected.sum())
    return Covered(
        possible(estimate(final_worth(data, "worth_sum"))),
        union,
        share,
        estimate(steps_to_share(data)),
        estimate(settled(data)),
        estimate(steady_state(data.worth_sum.values, times, tail_steps(data))),
        estimate(last.moves),
        possible(estimate(last.energy)),
        float(last.rejected.sum()) / trials if trials else float("nan"),
        estimate(last.cells_seen),
        estimate(last.targets_found),
        data.sizes["seed"],
        tail_steps(data),
        possible(estimate(last.distance * side)) if "distance" in data else None,
        () if ways is None else tuple(ways.mean("seed").values.tolist()),
        float(min(whole, default=np.nan)),
        float(max(whole, default=np.nan)),
        unit,
        arrivals(data, _bounds(optimum, times), side) if optimum and "distance" in data else (),
        end,
        over_run,
        **{name: _bounded(name, last[name]) for name in LEARNT if name in data and last[name].notnull().any()},
    )


def _bounds(optimum: float | OptimumOverTime, times: NDArray[np.int64]) -> float | NDArray[np.float64]:
    """The bound at these times; none where there is nothing to cover, or nobody to do so: nobody arrives then."""
    if not isinstance(optimum, OptimumOverTime):
        return optimum
    bounds = optimum.at(times)
    return np.where(bounds > 0, bounds, np.inf)


def _share(shares: ArrayLike) -> Estimate:
    """The mean share, with an interval that does not go beyond all there is."""
    return possible(estimate(shares), 1.0)


def possible(found: Estimate, most: float = np.inf) -> Estimate:
    """A mean of what is at least 0, with an interval that does not go beyond what can be."""
    if found.count < 2:
        return found
    return replace(found, low=max(found.low, min(0.0, found.mean)), high=min(found.high, max(most, found.mean)))


def _bounded(name: str, values: ArrayLike) -> Estimate:
    """Of a belief: shares are at most 1."""
    return possible(estimate(values), 1.0 if name in ("parameter_error", "right_number") else np.inf)


def recoveries(data: xarray.Dataset, events: Events, measure: str = "worth_union") -> list[Recovery]:
    """What each event did, but for those at the ends of the runs; of many events only the first."""
    data = complete(data)
    times, last = data.time.values, int(data.time.values[-1])
    shown = [time for time in events.times if 0 < time <= last]
    found = []
    for time, later in zip(shown, [*shown[1:], None], strict=False):
        told = ", ".join(text for text in events.texts if text.endswith((f"@{time}", f"arrive {time}")))
        if ((times >= time) & (times < (last + 1 if later is None else later))).any():
            row = times[times < time][-1]  # the last one before it, of the stretch that ends with it
            span: dict[str, Any] = {"since": max([0, *(other for other in shown if other <= row)]), "until": later}
            one = recovery(data[measure].values, times, time, window=stretch_steps(data), text=told, **span)
            found.append(replace(one, before=possible(one.before), dip=possible(one.dip), after=possible(one.after)))
    return found[:MOST_EVENTS]
