"""How soon: evolution of a law, expected hitting times, spectral gap, mixing time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from potentia.analysis.arrays import probabilities
from potentia.analysis.chains import elimination
from potentia.analysis.chains.stationary import TOO_COLD, dense, gmres, one_class, require_small
from potentia.analysis.graphs import as_graph, entry_rows
from potentia.errors import InvalidInput, NotConverged, TooLarge
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, any_array
from potentia.kernel.checks import Check, Integer, Real

if TYPE_CHECKING:
    from potentia.analysis.chains.markov import Chain

DENSE_AT_MOST = 2000  # states for which full matrices are multiplied and decomposed
_ELIMINATE_AT_MOST = 1500


def reversible(chain: Chain, tolerance: float = 1e-9) -> bool:
    """Whether detailed balance π_i p_ij = π_j p_ji holds on the one closed class, relative to the larger flow.

    By Kolmogorov's criterion, which needs no stationary law: a height of each state that explains every pair.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.
    tolerance : float
        Relative.

    Returns
    -------
    bool
        Whether it does.
    """
    inside = one_class(chain.matrix, chain.name)
    logs = chain.log_matrix[inside][:, inside].tocsr()
    logs.sort_indices()
    size = inside.size
    rows = entry_rows(logs.indptr)
    there, back = rows * size + logs.indices, logs.indices.astype(np.int64) * size + rows
    place = np.minimum(np.searchsorted(there, back), there.size - 1)
    if (there[place] != back).any():
        return False  # a way without a way back
    slope = logs.data - logs.data[place]  # log p_ij - log p_ji, which is to be h_j - h_i
    pattern = sparse.csr_array((np.arange(1, slope.size + 1), logs.indices, logs.indptr), shape=logs.shape)
    order, parents = csgraph.breadth_first_order(as_graph(pattern), 0, directed=True)
    height = np.zeros(size)
    edges = np.searchsorted(there, parents[order[1:]].astype(np.int64) * size + order[1:])
    for state, edge in zip(order[1:].tolist(), edges.tolist(), strict=True):
        height[state] = height[parents[state]] + slope[edge]
    gap = np.abs(height[logs.indices] - height[rows] - slope)
    rounding = 64 * np.finfo(float).eps * max(1.0, float(np.abs(height).max()))
    return bool((-np.expm1(-gap) <= tolerance + rounding).all())


def evolve(chain: Chain, start: ArrayLike, steps: int | Sequence[int]) -> Floats:
    """The law after ``steps`` steps from a profile or a distribution: (S,), or a row for each of several.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.
    start : array_like
        A profile, or a distribution over the states.
    steps : int or sequence of int
        How many.

    Returns
    -------
    array
        (S,), or (len(steps), S).
    """
    wanted, several = one_or_more(steps, Integer(), "steps")
    law = starting_law(chain, start)
    out = np.empty((len(wanted), chain.size))
    done = 0
    for k in np.argsort(wanted, kind="stable"):
        for _ in range(wanted[k] - done):
            law = chain.matrix.T @ law
        done = wanted[k]
        out[k] = law
    return out if several else out[0]


def one_or_more(given: Any, check: Check, name: str) -> tuple[list[Any], bool]:
    """What was given, each of it checked, and whether it was several."""
    several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
    return [check.of(value, name, InvalidInput) for value in (given if several else [given])], several


def starting_law(chain: Chain, start: ArrayLike) -> Floats:
    """A distribution over states from a profile or from a distribution."""
    given = any_array(start)
    if given.dtype.kind in "iu" and given.shape == (chain.states.shape[1],):
        law = np.zeros(chain.size)
        law[chain.place(given)] = 1.0
        return law
    wanted = f"a profile of {chain.states.shape[1]} integers or {chain.size:,} probabilities"
    return probabilities(given, chain.size, "start", what=wanted)


def hitting_times(chain: Chain, targets: ArrayLike) -> Floats:
    """Expected steps from each state to the first of the targets (k, N); inf if it may be missed, or over 1e308.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.
    targets : array_like
        Profiles, (k, N), or one of them.

    Returns
    -------
    array
        (S,).
    """
    hit = target_states(chain, targets)
    certain = _certain(chain, hit)
    out = np.where(hit, 0.0, np.inf)
    rest = np.flatnonzero(certain & ~hit)
    if rest.size == 0:
        return out
    if rest.size <= _ELIMINATE_AT_MOST:
        out[rest] = _eliminated(chain, rest, hit)
    else:
        out[rest] = _solved(chain, rest)
    if np.isnan(out).any():
        raise NotConverged(TOO_COLD)
    return out


def target_states(chain: Chain, targets: ArrayLike) -> NDArray[np.bool_]:
    """Which states are targets, (S,), from profiles (k, N)."""
    wanted = np.atleast_2d(any_array(targets))
    if wanted.size == 0 or wanted.ndim != 2 or wanted.dtype.kind not in "iu":
        raise InvalidInput(f"must be at least one profile, (k, N), got {targets!r:.60}", "targets", targets)
    hit = np.zeros(chain.size, bool)
    hit[np.concatenate([chain.places(profile) for profile in wanted])] = True
    return hit


def _certain(chain: Chain, hit: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """From where the target is reached with probability 1: whence no state is reachable that cannot reach it."""
    pattern = ending_at(chain, hit)
    lost = ~grow(pattern, hit)
    return ~grow(pattern, lost) if lost.any() else np.ones(chain.size, bool)


def ending_at(chain: Chain, hit: NDArray[np.bool_]) -> sparse.csr_array:
    """Ones at the transitions that are possible, however rare, where the target is the end."""
    pattern = chain.matrix.copy()
    pattern.data = np.ones_like(chain.log_matrix.data)
    pattern.data[np.repeat(hit, np.diff(pattern.indptr))] = 0.0
    return pattern


def grow(pattern: sparse.csr_array, seed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The states from which the seed can be reached."""
    seen = seed.copy()
    front = seed.astype(np.float64)
    while front.any():
        front = np.where(seen, 0.0, (pattern @ front) > 0)
        seen |= front > 0
    return seen


def _eliminated(chain: Chain, rest: Ints, hit: NDArray[np.bool_]) -> Floats:
    exits = chain.matrix @ hit.astype(np.float64)
    inner = dense(chain.log_matrix, rest, logs=False)
    np.fill_diagonal(inner, 0.0)
    if min(chain.log_matrix.data.min(), 0.0) > -600:
        ends = np.column_stack([exits[rest], np.ones(rest.size)])
        elimination.absorb_entry(inner, ends, 1)
        times = ends[:, 1]
        if np.isfinite(times).all() and times.max() < 1e250:
            return times
    logs = dense(chain.log_matrix, rest, logs=True)
    np.fill_diagonal(logs, -np.inf)
    towards = chain.log_matrix.tocoo()
    into = hit[towards.col]
    left = np.full(chain.size, -np.inf)
    np.logaddexp.at(left, towards.row[into], towards.data[into])
    left, times = left[rest], np.empty(rest.size)
    elimination.log_hitting_entry(logs, left, times)
    with np.errstate(over="ignore"):
        return np.exp(times)


def _solved(chain: Chain, rest: Ints) -> Floats:
    inner = chain.matrix[rest][:, rest]
    leave = 1.0 - inner.diagonal()
    if (leave <= 0).any():
        raise NotConverged("a state's probability of leaving is below rounding; use a higher temperature")
    times = np.zeros(rest.size)
    off = np.inf
    for _ in range(4):
        right = 1.0 - (times - inner @ times)
        times = times + gmres(inner, leave, right, rtol=1e-8, atol=0.0, restart=40, maxiter=60)
        off = float(np.abs(1.0 - (times - inner @ times)).max())
        if off <= 1e-11:
            break
    if not off <= 1e-8 or times.min() < 0:
        raise NotConverged(f"hitting times left a residual of {off:.1e}, wanted 1e-8; use a higher temperature", off)
    return times


def absorption(chain: Chain) -> Floats:
    """The probability of ending in each closed class, from each state: (S, classes), classes as in ``classes``.

    By elimination without subtraction, or a sparse factorisation where there are many states.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.

    Returns
    -------
    array
        (S, classes).
    """
    memory.require(16 * chain.size * len(chain.classes), f"{len(chain.classes):,} classes of {chain.size:,} states")
    out = np.zeros((chain.size, len(chain.classes)))
    for k, states in enumerate(chain.classes):
        out[states, k] = 1.0
    outside = np.flatnonzero(out.sum(axis=1) == 0.0)
    if outside.size == 0:
        return out
    into = chain.matrix[outside] @ out
    if outside.size <= _ELIMINATE_AT_MOST:
        inner = dense(chain.log_matrix, outside, logs=False)
        np.fill_diagonal(inner, 0.0)
        elimination.absorb_entry(inner, into, into.shape[1])
        out[outside] = into
    else:
        from scipy.sparse.linalg import splu

        system = sparse.csc_array(sparse.eye_array(outside.size) - chain.matrix[outside][:, outside])
        try:
            out[outside] = splu(system).solve(into)
        except RuntimeError:  # singular to rounding
            out[outside] = np.nan
    off = max(float(np.abs(chain.matrix @ out - out).max()), float(np.abs(out.sum(axis=1) - 1.0).max()))
    if not off <= 1e-9 or out.min() < -1e-9:
        left = f"absorption probabilities left a residual of {off:.1e}"
        raise NotConverged(f"{left}, wanted 1e-9; use a higher temperature", off)
    return np.clip(out, 0.0, 1.0)


def _period(chain: Chain) -> int:
    """Of the one closed class: the greatest common divisor of its round trips."""
    inside = chain.classes[0]
    pattern = chain.log_matrix[inside][:, inside].tocsr()
    pattern.data = np.ones_like(pattern.data)
    order, parents = csgraph.breadth_first_order(as_graph(pattern), 0, directed=True)
    level = np.zeros(inside.size, np.int64)
    for state in order[1:].tolist():
        level[state] = level[parents[state]] + 1
    rows = entry_rows(pattern.indptr)
    return int(np.gcd.reduce(np.abs(level[rows] + 1 - level[pattern.indices])))


def spectral_gap(chain: Chain) -> float:
    """``1 - |λ|``, λ the second largest eigenvalue in modulus: how fast the start is forgotten.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.

    Returns
    -------
    float
        From 0 to 1.
    """
    if chain.size == 1:
        return 1.0
    if len(chain.classes) > 1 or _period(chain) > 1:
        return 0.0
    gap = 1.0 - _second_modulus(chain)
    least = 1e-12 if chain.size <= DENSE_AT_MOST else 1e-8
    if gap < least:
        lost = f"the gap is below {least:g}, lost in the rounding of eigenvalues"
        raise NotConverged(f"{lost}; use hitting_times(...)", gap)
    return gap


def _second_modulus(chain: Chain) -> float:
    if chain.size <= DENSE_AT_MOST:
        return float(np.sort(np.abs(np.linalg.eigvals(chain.matrix.toarray())))[-2])
    from scipy.sparse.linalg import ArpackError, eigs

    start = np.random.Generator(np.random.PCG64(0)).random(chain.size)  # the same start gives the same digits
    try:
        values, vectors = eigs(chain.matrix, k=2, which="LM", v0=start, tol=1e-10)
    except ArpackError as error:
        raise NotConverged(f"the eigenvalues of {chain.size:,} states did not converge: {error}") from None
    second = int(np.argmin(np.abs(values)))
    off = float(np.abs(chain.matrix @ vectors[:, second] - values[second] * vectors[:, second]).max())
    require_small(off, 1e-7, "the second eigenvalue")
    return float(np.abs(values[second]))


def mixing_time(chain: Chain, distance: float = 0.25) -> int:
    """The least number of steps after which, from any start, the law is within ``distance`` in total variation.

    By squaring the matrix until it is mixed, then walking back down the powers.

    Parameters
    ----------
    chain : Chain
        The chain; of the method, the chain itself.
    distance : float
        In total variation.

    Returns
    -------
    int
        The number of steps.
    """
    Real(above=0.0, below=1.0).of(distance, "distance", InvalidInput)
    if chain.size > DENSE_AT_MOST:
        raise TooLarge(
            f"the mixing time looks at every start, which fits up to {DENSE_AT_MOST:,} states; this chain has "
            f"{chain.size:,}: use spectral_gap() or evolve(start, steps)"
        )
    law = chain.stationary()

    def mixed(power: Floats) -> bool:
        return bool(0.5 * np.abs(power - law).sum(axis=1).max() <= distance)

    powers = [chain.matrix.toarray()]
    while not mixed(powers[-1]):
        if len(powers) > 62:
            raise NotConverged("the chain does not mix: it is periodic, or slower than 2^62 steps")
        square = powers[-1] @ powers[-1]
        powers.append(square / square.sum(axis=1, keepdims=True))
    steps, reached = 0, np.eye(chain.size)
    if mixed(reached):
        return 0
    for k in range(len(powers) - 1, -1, -1):
        further = reached @ powers[k]
        if not mixed(further):
            reached, steps = further, steps + 2**k
    return steps + 1
