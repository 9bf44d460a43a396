"""Within how many steps: the probability of having hit a target by then, and quantiles of the time.

The chain is watched until the target is hit, or until it cannot be hit any more: two ends, beside the open
states. A power of that matrix holds, for each state, the probabilities of both ends and of being open still.
None of them is ever found by subtracting, and the rows of each power are made to sum to 1 again. So a
probability of 1e-12 to leave is not lost in the rounding of 1 - 1e-12, not even after 1e15 steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from potentia.analysis.chains.stationary import TOO_COLD
from potentia.analysis.chains.times import DENSE_AT_MOST, ending_at, grow, one_or_more, starting_law, target_states
from potentia.analysis.graphs import as_graph
from potentia.errors import NotConverged, TooLarge
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer, Real

if TYPE_CHECKING:
    from potentia.analysis.chains.markov import Chain

_TIE = 1e-13  # relative; a probability nearer than this to a quantile equals it
_MOST_PRODUCTS = 5e9  # of a transition and a number, one step after the other: half a minute
_MOST_DOUBLINGS = 900  # within 2^900 steps a transition that underflows, below 1e-308, is not seen


class _Race(NamedTuple):
    """A chain watched until the target is hit or lost."""

    hit: NDArray[np.bool_]  # (S,) the target
    open: Ints  # the states from which it can be hit
    lost: NDArray[np.bool_]  # (S,) those from which it cannot
    endless: NDArray[np.bool_]  # (n,) open states from where one may be open for any time
    matrix: sparse.csr_array  # (n + 2, n + 2): open states, hit, lost

    def ends(self) -> Floats:
        """(n + 2, 3): from each state, whether it is hit, lost or open."""
        return np.eye(3)[[2] * self.open.size + [0, 1]]

    def steps(self) -> Iterator[Floats]:
        """The probabilities of hit, lost and open after 0, 1, 2, ... steps."""
        values = self.ends()
        while True:
            yield values
            values = _summing_to_one(self.matrix @ values)

    @property
    def small(self) -> bool:
        """Whether the full matrix may be squared."""
        return self.open.size <= DENSE_AT_MOST

    def patience(self) -> int:
        """How many steps are taken one after the other: as many as cost a few squares, or all that we wait for."""
        if self.small:
            return 64 + self.open.size**3 // (30 * self.matrix.nnz)
        return int(_MOST_PRODUCTS / self.matrix.nnz)

    def refuse(self, steps: int, left: float) -> TooLarge:
        return TooLarge(
            f"after {steps:,} steps of {self.matrix.nnz:,} transitions a probability of up to {left:.2g} is still "
            f"open; any number of steps is taken with up to {DENSE_AT_MOST:,} states, here {self.open.size:,} are not "
            "in the target: use a smaller game, hitting_times(...), or sample: run_batch(..., stop=...)"
        )


def _race(chain: Chain, targets: ArrayLike) -> _Race:
    hit = target_states(chain, targets)
    pattern = ending_at(chain, hit)
    lost = ~grow(pattern, hit)
    states = np.flatnonzero(~hit & ~lost)
    rows = chain.matrix[states]
    ends = rows @ np.column_stack([hit, lost]).astype(np.float64)
    matrix = sparse.block_array([[rows[:, states], sparse.csr_array(ends)], [None, sparse.eye_array(2)]], format="csr")
    if not np.isfinite(matrix.data).all():
        raise NotConverged(TOO_COLD)
    inner = pattern[states][:, states]
    _, label = csgraph.connected_components(as_graph(inner), directed=True, connection="strong")
    cycle = (np.bincount(label, minlength=1)[label] > 1) | (inner.diagonal() > 0) if states.size else states > 0
    return _Race(hit, states, lost, grow(inner, cycle), matrix)


def _summing_to_one(values: Floats) -> Floats:
    return values / values.sum(axis=-1, keepdims=True)


def _square(power: Floats) -> Floats:
    return _summing_to_one(power @ power)


def hit_probability(
    chain: Chain, targets: ArrayLike, within: int | Sequence[int], start: ArrayLike | None = None
) -> float | Floats:
    """The probability of having been in one of the targets within so many steps.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.
    targets : array_like
        Profiles, (k, N), or one of them.
    within : int or sequence of int
        A number of steps T, or several.
    start : array_like, optional
        A profile or a distribution over the states, as for ``evolve``. From each state, if left out.

    Returns
    -------
    float or array
        With a start a number, or one for each T; without, (S,), or (len(T), S).

    Notes
    -----
    Few steps are taken one after the other. For many, the matrix is squared, up to 2,000 states outside the target;
    there T may be as large as 2^62. A larger chain raises ``TooLarge`` if too much is open after half a minute.
    """
    wanted, several = one_or_more(within, Integer(), "within")
    law = None if start is None else starting_law(chain, start)
    race = _race(chain, targets)
    out = np.zeros((len(wanted), chain.size))
    out[:, race.hit] = 1.0
    if wanted and race.open.size:
        squared = race.small and max(wanted) > race.patience()
        out[:, race.open] = _by_squares(race, wanted) if squared else _by_steps(race, wanted)
    found = out if law is None else np.minimum(out @ law, 1.0)
    if several:
        return found
    return found[0] if law is None else float(found[0])


def _by_steps(race: _Race, wanted: list[int]) -> Floats:
    out = np.empty((len(wanted), race.open.size))
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for step, values in enumerate(race.steps()):
        hit, _, left = values[: race.open.size].T
        settled = bool((left <= 1e-17 * hit).all())
        while order and (wanted[order[0]] == step or settled):
            out[order.pop(0)] = hit
        if not order:
            break
        if step == race.patience():
            raise race.refuse(step, float(left.max()))
    return out


def _by_squares(race: _Race, wanted: list[int]) -> Floats:
    size = race.open.size + 2
    memory.require(8 * size * (3 * size + 6 * len(wanted)), f"a full matrix of {size:,} states")
    values = np.repeat(race.ends()[:, None], len(wanted), axis=1)
    power = race.matrix.toarray()
    for k in range(max(wanted).bit_length()):
        power = _square(power) if k else power
        now = [place for place, steps in enumerate(wanted) if steps >> k & 1]
        further = power @ values[:, now].reshape(size, -1)
        values[:, now] = _summing_to_one(further.reshape(size, len(now), 3))
    return values[:-2, :, 0].T


def hitting_quantiles(
    chain: Chain, targets: ArrayLike, q: float | Sequence[float] = 0.5, start: ArrayLike | None = None
) -> float | NDArray[np.int64] | Floats:
    """The least number of steps within which one of the targets is hit with probability ``q``.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.
    targets : array_like
        Profiles, (k, N), or one of them.
    q : float or sequence of float
        A probability in (0, 1), or several; 0.5 asks for the median.
    start : array_like, optional
        A profile or a distribution over the states, as for ``evolve``. From each state, if left out.

    Returns
    -------
    int or array
        With a start a number, or one for each q; without, (S,), or (len(q), S). Integers, or floats if one of them is
        infinite or over 2^62: inf where the target is never hit with that probability.

    Notes
    -----
    A probability that equals q but for rounding, 1e-13 of it, counts as q. Times are right to 13 digits.
    """
    levels, several = one_or_more(q, Real(above=0.0, below=1.0), "q")
    law = None if start is None else starting_law(chain, start)
    race = _race(chain, targets)
    if law is None:
        rows = sparse.eye_array(race.open.size, race.open.size + 2, format="csr")
    else:
        rows = sparse.csr_array([[*law[race.open], law[race.hit].sum(), law[race.lost].sum()]])
    times = _quantiles(race, rows, levels)
    if law is None:
        found = np.where(race.hit, 0, np.full((len(levels), chain.size), math.inf, object))
        found[:, race.open] = times
    else:
        found = times[:, 0]
    whole = all(time < 2**62 for time in found.flat)
    out: NDArray[Any] = found.astype(np.int64 if whole else np.float64)
    if several:
        return out
    return out[0] if law is None else out[0].item()


def _quantiles(race: _Race, rows: sparse.csr_array, levels: list[float]) -> NDArray[np.object_]:
    """The times of each level, from each of some distributions over open states, hit and lost."""
    endless = rows[:, :-2] @ race.endless > 0
    times = np.full((len(levels), rows.shape[0]), -1, object)  # not yet
    for step, values in enumerate(race.steps()):
        seen = rows @ values
        judged = [_judge(seen, level, endless) for level in levels]
        for row, (reached, never, _) in zip(times, judged, strict=True):
            row[reached & (row < 0)] = step
            row[never] = math.inf
        if all(sure.all() for _, _, sure in judged):
            break
        if step == race.patience():
            if not race.small:
                raise race.refuse(step, float(seen[:, 2].max()))
            return _by_search(race, rows, levels, endless)
    return times


class _Judged(NamedTuple):
    """What can be said of a level after some steps."""

    reached: NDArray[np.bool_]  # the target was hit with that probability
    never: NDArray[np.bool_]  # nor will it ever be
    sure: NDArray[np.bool_]  # no later step changes whether it is ever reached


def _judge(seen: Floats, level: float, endless: NDArray[np.bool_]) -> _Judged:
    hit, lost, left = seen.T
    # the smaller one of q and 1 - q is compared: it has all its digits
    if level < 0.5:
        now, most = hit / level, (hit + left) / level
    else:
        with np.errstate(divide="ignore"):
            now, most = (1.0 - level) / (lost + left), (1.0 - level) / lost
    # what is approached for ever is not reached
    never = (most < 1.0 - _TIE) | ((most <= 1.0 + _TIE) & endless)
    return _Judged((now >= 1.0 - _TIE) & ~never, never, (now > 1.0 + _TIE) | never | (left == 0.0))


def _by_search(
    race: _Race, rows: sparse.csr_array, levels: list[float], endless: NDArray[np.bool_]
) -> NDArray[np.object_]:
    """Square the matrix until all is sure, then walk back down the powers, each row by itself."""
    ends, size = race.ends(), race.open.size + 2
    powers = [race.matrix.toarray()]
    while True:
        judged = [_judge(rows @ (powers[-1] @ ends), level, endless) for level in levels]
        if all(sure.all() for _, _, sure in judged):
            break
        memory.require(8 * size * (2 * size + rows.shape[0]), f"2^{len(powers)} steps of {size:,} states")
        square = _square(powers[-1])
        if len(powers) > _MOST_DOUBLINGS or np.array_equal(square, powers[-1]):
            raise NotConverged(TOO_COLD)
        powers.append(square)
    times = np.full((len(levels), rows.shape[0]), math.inf, object)
    for row, (_, never, _), level in zip(times, judged, levels, strict=True):
        row[~never] = 0
        late = np.flatnonzero(~never & ~_judge(rows @ ends, level, endless).reached)
        row[late] = _least(powers, rows[late].toarray(), ends, level)
    return times


def _least(powers: list[Floats], here: Floats, ends: Floats, level: float) -> NDArray[np.object_]:
    """The least steps to the level, known to be reached with the last power, and not at once."""
    steps = np.ones(len(here), object)
    for k in range(len(powers) - 2, -1, -1):
        further = _summing_to_one(here @ (powers[k] @ ends))
        short = np.flatnonzero(~_judge(further, level, np.zeros(len(here), bool)).reached)
        here[short] = _summing_to_one(here[short] @ powers[k])
        steps[short] += 1 << k
    return steps
