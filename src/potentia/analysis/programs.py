"""Linear programs with whole numbers, for HiGHS (through SciPy): least cost with rows that must sum to something."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.kernel.arrays import Floats, Ints

TOLERANCE = 1e-6  # HiGHS's own, of rows, of whole numbers and of the cost
_LARGEST = 1e3  # cost that it gets: its tolerance of the cost is absolute, so that this is as much finer


class Answer(NamedTuple):
    """The best values found, if any, a bound below on all costs, and whether time was up."""

    values: Floats | None
    bound: float
    stopped: bool
    solved: bool

    def settled(self, bound: float, value: float) -> float:
        """A bound above on a value that is maximised: the value itself, where they differ by the solver's rounding."""
        return value if self.solved and bound - value <= TOLERANCE * max(abs(value), 1.0) else max(bound, value)


class Program:
    """Least ``cost`` · x with rows A x = b, or ≥ b; variables from 0 to ``most``, whole where ``whole``."""

    def __init__(self, variables: int = 0) -> None:
        self.cost: Floats = np.zeros(variables)
        self.most: Floats = np.ones(variables)
        self.whole: NDArray[np.bool_] = np.zeros(variables, bool)
        self._places: list[tuple[int, int, float]] = []
        self._low: list[float] = []
        self._high: list[float] = []

    def add(self, cost: ArrayLike, most: float = 1.0, whole: bool = False) -> Ints:
        """New variables; their numbers."""
        prices = np.asarray(cost, np.float64)
        begin = self.cost.size
        self.cost = np.concatenate([self.cost, prices])
        self.most = np.concatenate([self.most, np.full(prices.size, most)])
        self.whole = np.concatenate([self.whole, np.full(prices.size, whole)])
        return np.arange(begin, self.cost.size)

    def row(self, entries: list[tuple[int, float]], low: float, high: float | None = None) -> None:
        """Σ entries is from ``low`` to ``high``; exactly ``low`` where no other end is given."""
        at = len(self._low)
        self._places += [(at, variable, entry) for variable, entry in entries]
        self._low.append(low)
        self._high.append(low if high is None else high)

    def constraints(self) -> Any:
        """The rows as SciPy takes them."""
        from scipy import sparse
        from scipy.optimize import LinearConstraint

        rows, columns, entries = (np.array(part) for part in zip(*self._places, strict=True))
        shape = (len(self._low), self.cost.size)
        return LinearConstraint(sparse.csr_array((entries, (rows, columns)), shape=shape), self._low, self._high)


def solve(program: Program, time_limit: float, gap: float) -> Answer:
    """What HiGHS finds. It stops at a relative gap where that is above its tolerance, and else proves the optimum."""
    from scipy.optimize import Bounds, milp

    scale = float(np.abs(program.cost).max(initial=0.0)) or 1.0
    found: Any = milp(
        program.cost / scale * _LARGEST,
        integrality=program.whole.astype(np.int64),
        bounds=Bounds(0, program.most),
        constraints=program.constraints(),
        options={"time_limit": min(max(time_limit, 0.01), 1e9), "mip_rel_gap": gap if gap > TOLERANCE else 0.0},
    )
    bound = found.mip_dual_bound if program.whole.any() else found.fun  # a linear program has no other
    told = found.status in (0, 1) and bound is not None and math.isfinite(bound)
    return Answer(found.x, scale * (bound / _LARGEST) if told else -math.inf, found.status == 1, found.status == 0)
