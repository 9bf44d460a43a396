"""What an engineer asks of a coverage study: how long until so much is covered, how far, and what moving may cost.

*Until so much is covered* is measured against the bound on the optimum, not against what a run itself ends with: a bad
run is soon at 90 % of its own end. Runs that never get there are counted, and behind all others in the medians.

*What moving may cost.* Three scales of K, the cost of a cell, follow from the map alone. ``steepest`` is the most that
one step of a robot that is by itself can gain, per cell: with a larger K robots move by chance or to get out of each
other's range. ``most`` is what no step gains, whatever the others do: each of the N - 1 others may cover what a robot
does, and takes its worth once more (Eq. 45), so a utility is between -(N - 2) and 1 times the most that a robot can
cover. With a larger K they move by chance alone. ``one_percent`` is the K at which a drive across the area, of the root
mean square distance between two free cells, costs 1 % of the most that a robot can cover.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.games import Coverage
from potentia.games.grid import step_offsets
from potentia.kernel.texts import value
from potentia.statistics.estimates import FEW
from potentia.statistics.reaching import reaching_time

if TYPE_CHECKING:
    import xarray

GOALS = (0.8, 0.9, 0.95)  # of the bound on the optimum


@dataclass(frozen=True)
class Arrival:
    """When runs first cover a share of the bound: medians over all runs; NaN where fewer than half do."""

    share: float
    reached: int
    runs: int
    steps: float
    steps_low: float
    steps_high: float
    distance: float  # that all robots had driven by then

    @property
    def never(self) -> int:
        """Runs that did not get there."""
        return self.runs - self.reached

    def __str__(self) -> str:
        if not self.reached:
            return f"never, in {self.runs}"
        when = "later than any" if math.isnan(self.steps) else f"{self.steps:,.0f}"
        return when + (f"; {self.never} of {self.runs} never" if self.never else "")


def arrival(worth: ArrayLike, distance: ArrayLike, times: ArrayLike, bound: ArrayLike, share: float) -> Arrival:
    """When runs, worth and distance (runs, T) at these times, first cover a share of the bound, one or one per time."""
    least = share * np.asarray(bound)
    above, scale = np.asarray(worth) - least, np.abs(least).max(initial=0.0, where=np.isfinite(least))
    found = reaching_time(above, times, 0.0, scale=scale, resamples=2)  # no interval of its mean is told
    far, known = np.asarray(distance), ~np.isnan(found.times)
    row = np.searchsorted(np.asarray(times), found.times[known])
    # who never arrives is, however short its way, behind all who do: as in the median of the steps
    driven = np.sort(np.where(found.censored[known], np.inf, far[known, row]))
    middle = float(driven[(driven.size - 1) // 2]) if driven.size else math.nan
    middle = middle if math.isfinite(middle) else math.nan
    return Arrival(share, found.reached, found.runs, found.median, found.median_low, found.median_high, middle)


def arrivals(data: xarray.Dataset, bound: ArrayLike, side: float = 1.0) -> tuple[Arrival, ...]:
    """The same for each of :data:`GOALS`, of a batch; ``side`` is a cell's."""
    worth, far = data.worth_union.values, data.distance.values * side
    return tuple(arrival(worth, far, data.time.values, bound, share) for share in GOALS)


# What moving may cost ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class MovingCost:
    """The scales of K on a map, and whether a game's K is so large that no step pays."""

    least: float  # the smallest K of the game
    steepest: float
    one_percent: float
    most: float

    @property
    def freezes(self) -> bool:
        """Whether no step gains what it costs, wherever the others are."""
        return self.least > self.most

    @property
    def hinders(self) -> bool:
        """Whether no step of a robot that is by itself does."""
        return self.least > self.steepest

    def __str__(self) -> str:
        scale = f"K = {value(self.one_percent)} makes a drive across the area cost 1 % of what a robot covers"
        if not self.hinders:
            return f"a step gains up to {value(self.steepest)} per cell; {scale}"
        alone = f"a step of a robot by itself gains up to {value(self.steepest)} per cell"
        if self.freezes:
            moves = f"no step gains more than {value(self.most)}, so they move by chance alone, ever less as tau falls"
            return f"K = {value(self.least)} freezes the robots: {moves}; {alone}; {scale}"
        return f"K = {value(self.least)} hinders the robots: {alone}, so they move by chance or to part; {scale}"


def coverable(game: Coverage) -> float:
    """The worth of all cells that some robot can cover: of blocked ones those in range of a free one, if they count.

    Examples
    --------
    >>> import potentia as pt
    >>> from potentia.studies.coverage_measures import coverable
    >>> lake = pt.games.World([[1, 1, 2, 4, 8]], blocked=[[0, 0, 1, 1, 1]])
    >>> [coverable(pt.games.Coverage(lake, 1, 1.0, sight=sight)) for sight in (False, True)]
    [4.0, 2.0]
    """
    from scipy import ndimage

    open_ = ~game.world.blocked
    if game.blocked_worth and not open_.all():
        open_ = ndimage.distance_transform_edt(game.world.blocked) <= game.delta.max() * (1 + 1e-9)
    return math.fsum(game.world.worth[open_])


def moving_cost(game: Coverage) -> MovingCost:
    """The scales of K on the game's map as it is at time 0.

    Examples
    --------
    >>> import potentia as pt
    >>> from potentia.studies.coverage_measures import moving_cost
    >>> found = moving_cost(pt.games.Coverage(pt.games.paper_world(), 5, K=0.1))
    >>> found.hinders, found.freezes
    (True, False)
    """
    cells = game.world.cells.astype(np.float64)
    across = math.sqrt(2 * float(cells.var(axis=0).sum()))
    one = 0.01 * game.scale / across if across > 0 else math.inf
    most = game.scale * (max(1, game.num_players - 1) if game.payoff == "overlap" else 1)
    return MovingCost(float(game.movement_cost.min()), max(_steepest(game, float(d)) for d in game.ranges), one, most)


def _steepest(game: Coverage, delta: float) -> float:
    """The largest change of C per cell over one step; walls between two cells are not looked at."""
    field = np.full(game.world.worth.shape, np.nan)
    field[~game.world.blocked] = game.worth_in_range(delta)
    columns, rows = game.world.size
    most = 0.0
    for offset in step_offsets(game.radius):
        dx, dy = int(offset[0]), int(offset[1])
        if (dy, dx) <= (0, 0) or dy >= rows or abs(dx) >= columns:
            continue  # the way back gains the same, the other way round
        first = field[: rows - dy, max(0, -dx) : columns - max(0, dx)]
        second = field[dy:, max(0, dx) : columns + min(0, dx)]
        change = np.abs(second - first) / math.hypot(dx, dy)
        if not np.isnan(change).all():
            most = max(most, float(np.nanmax(change)))
    return most


def plain(entry: Any) -> Any:
    """An arrival as plain data, for JSON; of few runs without an interval."""
    ends = {} if entry.runs >= FEW else {"steps_low": math.nan, "steps_high": math.nan}
    return vars(entry) | ends | {"never": entry.never}
