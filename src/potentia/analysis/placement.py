"""The best that robots can cover: maximum coverage, with a certificate.

The placement that covers the most worth, each cell counted once, solves

    max Σ_l f(l) y_l   with   y_l ≤ Σ x_p over the positions p that cover l,   Σ_{p of range k} x_p ≤ n_k,

x binary and 0 ≤ y ≤ 1; n_k robots have range k. Three steps, each of which may be the last:

*Greedy*. Robot after robot goes where it adds most, long ranges first: a longer range covers all that a shorter
one does, so this is the greedy order. The covered worth is monotone and submodular, so greedy reaches at least
1 - (1 - 1/N)^N > 1 - 1/e of the optimum if all ranges are equal (Nemhauser, Wolsey & Fisher 1978), and 1/2 if
not (a partition matroid; Fisher, Nemhauser & Wolsey 1978). Then robots move one at a time while that gains.

*Bound*. For any prices 0 ≤ u ≤ f no placement covers more than

    L(u) = Σ_l (f(l) - u(l)) + Σ_k (the n_k largest sums of u in range k),

as a placement gets at most f - u from each cell, once, and u from each range. With u = 0 this is all the worth,
with u = f the N largest C, with u = f outside what the first robots of greedy cover and 0 inside, the bound by
their marginal gains. Subgradient steps on u lead to the optimum of the linear relaxation.

*MILP*. A placement with a robot of range k at p is worth at most L(u) + C_u(p) - (the n_k-th largest C_u), C_u the
sum of u in range. Positions where this is less than the best placement found can go, often most of them. HiGHS
(through SciPy) solves what is left.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis.ranges import Area, Gains, Grid
from potentia.errors import InvalidGame, InvalidInput
from potentia.games import Coverage
from potentia.games.drift import require_still
from potentia.games.world import listed_cells
from potentia.kernel import memory
from potentia.kernel.arrays import Ints, frozen
from potentia.kernel.checks import OneOf, Real
from potentia.kernel.reprs import brief

METHODS = ("auto", "milp", "greedy")
BY_CLOCK = "stopped by the clock: another run may find a little more or less"
_ENTRIES = 100_000  # positions times cells in range: beyond it, HiGHS finds nothing in a minute
_STEPS = 400  # of the subgradient method
_PATIENCE = 10  # steps without progress before they get shorter
_SHORTEST = 1e-3  # of Polyak's length: no progress any more
_KEPT = 0.7  # of the direction before
_ROUND = 1e-12  # sums of numbers that are not negative, in any order, differ by less
_SOLVER = 1e-7  # HiGHS's tolerance of a reduced cost; a variable in 0..1 makes the bound wrong by as much
_FINEST = 1e-9  # gaps that the solver's tolerances can resolve
_ROOT, _NODES = 2_000, 10_000  # entries of a MILP, and those times nodes of its tree, that are one unit of effort
_NODE_LIMIT = "Solution limit reached"  # what SciPy, which has no status for it, says of a limit of nodes


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The result of :func:`optimum` for coverage.

    Robots that add nothing may share a cell.

    Attributes
    ----------
    value : float
        Worth of the best placement found.
    bound : float
        No placement is worth more.
    gap : float
        (bound - value) / value, 0 if both are equal.
    positions : array
        (N, 2) cells (x, y).
    profile : array
        (N,) the same as actions.
    method : str
        "milp" if HiGHS took part, else "greedy".
    proven : bool
        Whether the gap is at most the one that was asked for.
    greedy : float
        Worth of the greedy placement.
    guarantee : float
        The share of the optimum that greedy never misses.
    seconds : float
        How long it took.
    by_clock : bool
        Whether the clock stopped it, and another run may find another.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=1, delta=1.0)
    >>> best = pt.analysis.optimum(game)
    >>> best.value, best.positions.tolist(), best.proven
    (6.0, [[1, 1]], True)
    """

    __repr__ = brief

    value: float  # worth of the best placement found
    bound: float  # no placement is worth more
    gap: float
    positions: Ints  # (N, 2) cells (x, y)
    profile: Ints  # (N,) the same as actions
    method: str
    proven: bool
    greedy: float  # worth of the greedy placement
    guarantee: float  # the share of the optimum that greedy never misses
    seconds: float
    by_clock: bool = False  # whether the clock stopped it, and another run may find another

    def _repr_html_(self) -> str:
        from potentia.analysis.showing import optimum_card

        return optimum_card(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    def __str__(self) -> str:
        how = "HiGHS" if self.method == "milp" else "search and a bound"
        number = "optimum" if self.proven else "best placement known"
        proof = f"proven, gap {self.gap:.1g}" if self.proven else f"no placement covers more than {self.bound:.6g}"
        share = f", {self.greedy / self.value:.2%} of it" if self.value > 0 else ""
        sure = "" if self.proven else f"; greedy never misses more than {1 - self.guarantee:.0%} of the optimum"
        clock = f"\n  {BY_CLOCK}" if self.by_clock else ""
        return (
            f"{number}: covered worth {self.value:.6g} ({proof}; by {how} in {self.seconds:.2g} s)\n"
            f"  its robots are at {listed_cells(self.positions)}\n"
            f"  greedy alone, robot after robot: {self.greedy:.6g}{share}{sure}{clock}"
        )


def optimum(
    game: Coverage,
    *,
    method: str = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-6,
    effort: float = math.inf,
) -> Optimum:
    """The placement of the robots that covers the most worth (``worth_union``), and how good it surely is.

    ``method``
        "greedy": greedy, moves of single robots, and the bound L(u); "milp": HiGHS as well; "auto": HiGHS unless
        solved already, or more than 100,000 positions times cells in range are left after pruning.
    ``time_limit``
        seconds. Greedy always finishes, and a large MILP may overrun: HiGHS looks at the clock now and then.
    ``gap``
        the relative gap at which to stop, from 1e-9 to 1.
    ``effort``
        how much to do at most, in units that take about a second. Work is counted and not timed, so what is found is
        the same on every machine and every time, unless the clock strikes first, which the result says.
    """
    if not isinstance(game, Coverage):
        raise InvalidGame(f"optimum takes a Coverage game, got {game!r:.60}")
    require_still(game, "optimum")
    if game.events:
        raise InvalidGame(
            f"robots of {game.describe()} come and go, and optimum places those that are there: use game.at(time)"
        )
    OneOf(*METHODS).of(method, "method", InvalidInput)
    time_limit = Real(least=0.0, finite=False).of(time_limit, "time_limit", InvalidInput)
    gap = Real(least=_FINEST, most=1.0).of(gap, "gap", InvalidInput)
    effort = Real(least=0.0, finite=False).of(effort, "effort", InvalidInput)
    begun = time.perf_counter()
    search = _Search(game, begun + time_limit, gap, effort)
    solved = method != "greedy" and search.milp(force=method == "milp")
    where = (frozen(game.positions(search.profile), np.int64), frozen(search.profile, np.int64))
    how = ("milp" if solved else "greedy", search.done)
    guarantee = 1 - (1 - 1 / game.robots) ** game.robots if len(game.ranges) == 1 else 0.5
    taken = time.perf_counter() - begun
    clock = search.by_clock and not search.done
    return Optimum(search.value, search.bound, search.gap, *where, *how, search.greedy, guarantee, taken, clock)


class _Search:
    """The best placement and the least bound so far."""

    def __init__(self, game: Coverage, deadline: float, gap: float, effort: float = math.inf) -> None:
        memory.require(150.0 * game.data.worth.size, f"the optimum for {game.describe()}")
        begun, area = time.perf_counter(), Area(game)
        self.game, self.area, self.deadline, self.tolerance = game, area, deadline, gap
        self.effort, self.by_clock = effort, False
        self._nobody = np.full(game.robots, -1)
        self.action_at = game.action_at.astype(np.int64)
        self.bound = float(area.worth.sum()) * (1 + _ROUND)
        self.profile, left = self._greedy(area.worth, self._nobody)
        self.greedy = self.value = game.worth_union(self.profile)
        self._offer(self._moved(self.profile))
        self._pace = time.perf_counter() - begun, area.work  # of one placement
        self.prices = self._price(left)

    @property
    def gap(self) -> float:
        if self.bound <= self.value:
            return 0.0
        return (self.bound - self.value) / self.value if self.value > 0 else math.inf

    @property
    def done(self) -> bool:
        return self.gap <= self.tolerance

    @property
    def remaining(self) -> float:
        return self.deadline - time.perf_counter()

    @property
    def left(self) -> float:
        """How much work there may still be."""
        return self.effort - self.area.work

    def _over(self, deadline: float, most: float) -> bool:
        """Whether so much work is done, or it is so late, which is kept in mind."""
        if self.area.work >= most:
            return True
        late = time.perf_counter() >= deadline
        self.by_clock |= late
        return late

    def _offer(self, profile: Ints) -> None:
        value = self.game.worth_union(profile)
        if value > self.value:
            self.value, self.profile = value, profile
        self.bound = max(self.bound, self.value)  # only rounding could put it below

    # Placements -----------------------------------------------------------------------------------------

    def _greedy(self, field: Grid, profile: Ints) -> tuple[Ints, Grid]:
        """Robots without a place (-1) go where they add most of a field; and what of it nobody covers then."""
        area, profile, left = self.area, profile.copy(), field.copy()
        for kind, robots in enumerate(area.robots):
            for robot in robots[profile[robots] >= 0]:
                left.reshape(-1)[area.cells(kind, profile[robot])] = 0.0
        for kind in reversed(range(len(area.robots))):
            gains = None
            for robot in area.robots[kind][profile[area.robots[kind]] < 0]:
                gains = gains or Gains(area, kind, left)
                where, _ = gains.top()
                profile[robot] = self.action_at[where]
                left.reshape(-1)[area.cells(kind, profile[robot])] = 0.0
                gains.update(profile[robot])
        return profile, left

    def _moved(self, profile: Ints) -> Ints:
        """Move one robot at a time to where it adds most, until none can gain or a fifth of what is left is used."""
        area, profile = self.area, profile.copy()
        until, most = time.perf_counter() + self.remaining / 5, area.work + self.left / 5
        counts = np.zeros(area.worth.size, np.int32)
        for kind, robots in enumerate(area.robots):
            for robot in robots:
                counts[area.cells(kind, profile[robot])] += 1
        left = np.where(counts.reshape(area.worth.shape) > 0, 0.0, area.worth)
        flat, worth = left.reshape(-1), area.worth.reshape(-1)
        still = 0  # robots in a row that would not move
        while True:
            for kind, robots in enumerate(area.robots):
                gains = None
                for robot in robots:
                    if still >= profile.size or self._over(until, most):
                        return profile
                    gains = gains or Gains(area, kind, left)
                    cells = area.cells(kind, profile[robot])
                    counts[cells] -= 1
                    flat[cells] = np.where(counts[cells] == 0, worth[cells], 0.0)
                    gains.update(profile[robot])
                    where, best = gains.top()
                    if best > flat[cells].sum() * (1 + _ROUND):
                        profile[robot], still = self.action_at[where], 0
                        cells = area.cells(kind, profile[robot])
                    else:
                        still += 1
                    counts[cells] += 1
                    flat[cells] = 0.0
                    gains.update(profile[robot])

    # Bounds ---------------------------------------------------------------------------------------------

    def _relaxed(self, prices: Grid) -> tuple[float, list[Grid], list[Ints]]:
        """L(u); by range, the sums of u at each position, and the n_k positions where they are largest."""
        total, sums, tops = float((self.area.worth - prices).sum()), [], []
        for kind, robots in enumerate(self.area.robots):
            values = self.area.sums(prices, kind).reshape(-1)
            top = np.argpartition(values, values.size - robots.size)[values.size - robots.size :]
            total += float(values[top].sum())  # at least as many positions are free, so none of these is blocked
            sums.append(values)
            tops.append(top)
        return total * (1 + _ROUND), sums, tops

    def _price(self, left: Grid) -> Grid:
        """Prices with a low L(u): subgradient steps of Polyak's length, deflected by those before.

        Tried first: f; what greedy leaves over; and min(f, c), from where the steps start. L(min(f, c)) is at most
        the worth of the best cells, as many as all ranges hold together, if c is the worth of the last of them.
        Low prices show how robots share the worth: greedy on them is often a better start than greedy on f.
        """
        area, worth = self.area, self.area.worth
        most = int(np.diff(area.data.ptr) @ np.bincount(area.data.kind))
        level = float(np.partition(worth.reshape(-1), -most)[-most]) if most < worth.size else 0.0
        prices = np.minimum(worth, level)
        least, best = min(((self._relaxed(u)[0], u) for u in (worth, left)), key=lambda pair: pair[0])
        direction, length, waited = np.zeros(worth.shape), 1.0, 0
        for step in range(_STEPS):
            found, _, tops = self._relaxed(prices)
            waited = 0 if found < least - 1e-4 * (least - self.value) else waited + 1
            if found < least:
                least, best = found, prices
            self.bound = max(min(self.bound, least), self.value)
            if waited >= _PATIENCE:
                length, waited = length / 2, 0
                self._guided(prices)
            if self.done or length < _SHORTEST or self._over(self.deadline, self.effort):
                break
            slope = np.full(worth.size, -1.0)  # how often the relaxation pays for a cell, less once
            for kind, top in enumerate(tops):
                for action in self.action_at.reshape(-1)[top]:
                    slope[area.cells(kind, action)] += 1.0
            direction *= _KEPT
            direction += (1 - _KEPT if step else 1.0) * slope.reshape(worth.shape)
            stuck = ((prices <= 0) & (direction > 0)) | ((prices >= worth) & (direction < 0))
            allowed = np.where(stuck, 0.0, direction)
            square = float((allowed**2).sum())
            if square == 0:
                break
            prices = np.clip(prices - (length * (found - self.value) / square) * allowed, 0.0, worth)
        self._guided(best)
        return best

    def _guided(self, prices: Grid) -> None:
        """Offer what greedy on the prices leads to, unless that takes long."""
        seconds, work = self._pace
        if self.done or 20 * work >= self.left:
            return
        if not self._over(self.deadline - 20 * seconds, self.effort):
            self._offer(self._moved(self._greedy(prices, self._nobody)[0]))

    # What HiGHS does ------------------------------------------------------------------------------------

    def milp(self, force: bool) -> bool:
        """Improve value and bound by integer programming; whether that was tried."""
        if self.value == 0 or (self.done and not force) or self._over(self.deadline, self.effort):
            return False
        bound, sums, tops = self._relaxed(self.prices)
        keep = [
            np.flatnonzero((values >= 0) & (bound + values - values[top].min() >= self.value * (1 - _ROUND)))
            for values, top in zip(sums, tops, strict=True)
        ]
        entries = sum(k.size * cells.size for k, cells in zip(keep, self.area.offsets, strict=True))
        if entries > min(_ENTRIES, _ROOT * self.left) and not force:
            return False
        memory.require(400.0 * entries, f"a MILP of {entries:,} entries", 'use method="greedy"')
        # what is left out is worth less than the value, so the bound holds for all
        bound, profile = self._solved([self.action_at.reshape(-1)[k] for k in keep])
        if profile is not None:
            self._offer(self._moved(self._greedy(self.area.worth, profile)[0]))
        self.bound = max(min(self.bound, bound), self.value)
        return True

    def _solved(self, actions: list[Ints]) -> tuple[float, Ints | None]:
        """An upper bound on placements among these actions of each range, and the best found (-1: anywhere)."""
        from scipy import sparse
        from scipy.optimize import Bounds, LinearConstraint, milp

        covers, worth, dropped = self._incidence(actions)
        kinds = np.repeat(np.arange(len(actions)), [a.size for a in actions])
        cells, places = covers.shape
        variables = cells + places
        # large enough for the solver's absolute tolerances to be small against the gap
        scale = min(max(10 * _SOLVER * variables / self.tolerance, 1e3), 1e6)
        cost = np.concatenate([np.zeros(places), worth / self.value * -scale])
        covered = sparse.hstack([covers, -sparse.eye_array(cells)], format="csr")
        fleet = sparse.csr_array((np.ones(places), (kinds, np.arange(places))), shape=(len(actions), variables))
        sizes = [robots.size for robots in self.area.robots]
        options = {"time_limit": min(max(self.remaining, 0.01), 1e9), "mip_rel_gap": self.tolerance / 4}
        if math.isfinite(self.effort):
            options["node_limit"] = 1 + int(_NODES * self.left / covers.nnz)
        found: Any = milp(
            cost,
            integrality=np.concatenate([np.ones(places), np.zeros(cells)]),
            bounds=Bounds(0, 1),
            constraints=[LinearConstraint(covered, 0, np.inf), LinearConstraint(fleet, -np.inf, sizes)],
            options=options,
        )
        self.by_clock |= found.status == 1
        told = found.status in (0, 1) or _NODE_LIMIT in found.message
        told = told and found.mip_dual_bound is not None and math.isfinite(found.mip_dual_bound)
        dual = found.mip_dual_bound if told else -math.inf  # solved, or as far as allowed; else it failed
        bound = (_SOLVER * (variables + 10) - dual) / scale * self.value + dropped
        if found.x is None:
            return bound, None
        profile = self._nobody.copy()
        chosen = np.flatnonzero(found.x[:places] > 0.5)
        for kind, robots in enumerate(self.area.robots):
            those = np.concatenate(actions)[chosen[kinds[chosen] == kind]][: robots.size]
            profile[robots[: those.size]] = those
        return bound, profile

    def _incidence(self, actions: list[Ints]) -> tuple[Any, Grid, float]:
        """Which positions (columns) cover which cells (rows), their worth, and that of cells not worth a row."""
        from scipy import sparse

        cells = [self.area.cells(kind, action) for kind, those in enumerate(actions) for action in those]
        named, row = np.unique(np.concatenate(cells), return_inverse=True)
        column = np.repeat(np.arange(len(cells)), [c.size for c in cells])
        covers = sparse.csr_array((np.ones(row.size), (row, column)), shape=(named.size, len(cells)))
        worth = self.area.worth.reshape(-1)[named]
        order = np.argsort(worth)
        kept = np.cumsum(worth[order]) > 0.1 * self.tolerance * self.value  # the others together hardly matter
        dropped = float(worth[order[~kept]].sum())
        return covers[np.sort(order[kept])], worth[np.sort(order[kept])], dropped
