"""What runs of one seed tell about each other: what events cost, and one rule less another.

With one seed all rules begin in the same places, and runs with and without events are the same to the bit until the
first of these happens. So differences are taken run by run, and hold less chance than those of means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from potentia.beliefs import Belief
from potentia.engine import run_batch
from potentia.engine.requests import spec_of_the_first
from potentia.games import Coverage
from potentia.games.events import Events
from potentia.rules import Rule, rule_from
from potentia.statistics.comparison import Comparison, compare_all
from potentia.statistics.estimates import paired_difference, tail_mean
from potentia.statistics.recovering import EventCost, event_cost
from potentia.studies.coverage import possible, spacing
from potentia.studies.coverage_ends import tail_steps

if TYPE_CHECKING:
    import xarray


def cover_without_events(
    game: Coverage,
    rules: Mapping[str, Rule],
    steps: int,
    seeds: Iterable[int],
    *,
    belief: Belief | None = None,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
    compiled: Any = "auto",
) -> dict[str, xarray.Dataset]:
    """The runs of :func:`~potentia.studies.coverage.cover` if nothing happened to robots, with the worth they cover.

    Ctrl-C ends it with what was complete.
    """
    numbers, calm = list(seeds), game.with_events(())
    options: dict[str, Any] = {"every": spacing(steps), "workers": workers, "belief": belief, "compiled": compiled}
    out: dict[str, xarray.Dataset] = {}
    for name, chosen in rules.items():
        tell = None if progress is None else partial(progress, name)
        first = spec_of_the_first(chosen, game)  # nobody arrives
        alone = chosen if first == chosen.spec() else rule_from(first)
        try:
            out[name] = run_batch(calm, alone, steps, numbers, record="worth_union", progress=tell, **options)
        except KeyboardInterrupt:  # before the first step
            break
        if out[name].attrs["interrupted"]:
            break
    return out


def cost_of_events(
    data: xarray.Dataset, without: xarray.Dataset, events: Events, most: float = math.inf
) -> EventCost | None:
    """What the events of a batch cost at the end, by the same runs without them; None where no run has both.

    The level is the mean over the last steps, as far as they come after the last event. No interval of it goes beyond
    the ``most`` that can be covered.
    """
    levels = _levels({"with": data, "without": without}, max(events.times, default=0))
    if not levels["with"].size:
        return None
    found = event_cost(levels["with"], levels["without"])
    return replace(found, level=possible(found.level, most), without=possible(found.without, most))


def compared(data: Mapping[str, xarray.Dataset]) -> list[Comparison]:
    """The worth of every rule at the end less that of the first, run by run.

    Intervals are Student's, and p-values Holm's, for all of these together. None where fewer than two runs have all.
    """
    worth = _levels(data)
    first = next(iter(worth))
    if len(worth) < 2 or worth[first].size < 2:
        return []
    found = compare_all(worth, first)
    differences = [paired_difference(worth[one.first], worth[first], len(found)) for one in found]
    return [replace(one, difference=other) for one, other in zip(found, differences, strict=True)]


def _levels(data: Mapping[str, xarray.Dataset], since: int = 0) -> dict[str, Any]:
    """The worth covered at the end, and not before ``since``, by the runs that all have complete, in order of seeds."""
    steps = max(int(batch.steps_done.max()) for batch in data.values())
    whole = [batch.seed.values[batch.steps_done.values == steps].tolist() for batch in data.values()]
    seeds = sorted(set.intersection(*map(set, whole)))
    out = {}
    for name, batch in data.items():
        times = batch.time.values
        window = max(1, min(tail_steps(batch), int(times[-1]) - since + 1))
        out[name] = tail_mean(batch.worth_union.sel(seed=seeds).values, times, window)
    return out
