"""The stationary law of a chain, by a method that fits its size and temperature, always checked.

- *closed form*, where a theorem gives one (see :func:`closed_form`);
- *GTH*, elimination without subtraction, for small chains; *GTH in logarithms* where probabilities underflow;
- *GMRES* for large sparse chains, from two different starts. A residual alone proves little for a chain that
  hardly moves between two parts; two starts that end in the same law prove more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from potentia.analysis.chains import elimination
from potentia.analysis.graphs import as_graph, entry_rows
from potentia.errors import NotConverged, NotIrreducible
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints

GTH_AT_MOST = 1000  # states; above, a sparse solver is faster
_GTH_IF_NEEDED = 5000
_LOG_AT_MOST = 1500
_TINY_EXIT = 1e-280  # above it, nothing that underflows can be seen in the result
_TINY_LAW = 1e-250
_LOG_SMALLEST = -690.0  # below, floating-point numbers lose digits
_AGREEMENT = 1e-8
_INSTEAD = "for the limit τ → 0 use stability(game, rule), otherwise a higher temperature"
TOO_COLD = f"differences of payoffs over τ are too large for floating-point numbers; {_INSTEAD}"


@dataclass(frozen=True)
class Stationary:
    """A stationary law and how it was found."""

    law: Floats
    log_law: Floats  # natural logarithms; -inf where transient, or (GMRES) below rounding
    method: str
    residual: float  # Σ |πP - π|; for GTH in logarithms the largest relative error of πP = π

    def __repr__(self) -> str:
        return f"Stationary(states={self.law.size}, method={self.method!r}, residual={self.residual:.2g})"


def closed_classes(matrix: sparse.csr_array) -> list[Ints]:
    """The classes of states that the chain cannot leave, each sorted."""
    count, label = csgraph.connected_components(as_graph(matrix), directed=True, connection="strong")
    if count == 1:
        return [np.arange(matrix.shape[0])]
    rows = entry_rows(matrix.indptr)
    leaving = label[rows] != label[matrix.indices]
    is_closed = np.ones(count, bool)
    is_closed[label[rows[leaving]]] = False
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    found = [part for part in parts if is_closed[label[part[0]]]]
    return sorted(found, key=lambda states: int(states[0]))


def one_class(matrix: sparse.csr_array, name: Any) -> Ints:
    """The one closed class, or an error that lists them; ``name(place)`` names a state."""
    classes = closed_classes(matrix)
    if len(classes) == 1:
        return classes[0]
    shown = []
    for states in classes[:5]:
        more = f" and {states.size - 3:,} more" if states.size > 3 else ""
        shown.append("{" + ", ".join(name(s) for s in states[:3]) + more + "}")
    rest = "" if len(classes) <= 5 else f" and {len(classes) - 5:,} more"
    raise NotIrreducible(
        f"the chain has {len(classes):,} closed classes, so its long run depends on the start: "
        f"{', '.join(shown)}{rest}; chain(...).absorption() tells where it ends",
        classes,
    )


def dense(log_matrix: sparse.csr_array, states: Ints, logs: bool) -> Floats:
    """The part of a chain among ``states`` as a full matrix, of probabilities or of their logarithms."""
    size = states.size
    memory.require(8 * size**2, f"a full matrix of {size:,} states")
    inside = np.full(log_matrix.shape[0], -1)
    inside[states] = np.arange(size)
    i, j = inside[entry_rows(log_matrix.indptr)], inside[log_matrix.indices]
    keep = (i >= 0) & (j >= 0)
    out = np.full((size, size), -np.inf if logs else 0.0)
    out[i[keep], j[keep]] = log_matrix.data[keep] if logs else np.exp(log_matrix.data[keep])
    return out


def by_gth(log_matrix: sparse.csr_array, states: Ints, logs: bool) -> tuple[Floats, bool]:
    """Logarithms of the law on ``states``, and whether it can be trusted to full relative precision."""
    full = dense(log_matrix, states, logs)
    law = np.empty(states.size)
    if logs:
        elimination.log_gth_entry(full, law)
        law -= law.max()  # before the total, which would be rounded to digits of the largest
        return law - _log_total(law), bool(np.isfinite(law).all())
    representable = bool(log_matrix.data.min() > _LOG_SMALLEST)
    exits = elimination.gth_entry(full, law)
    if not (representable and exits > _TINY_EXIT and np.isfinite(law).all() and law.min() > _TINY_LAW * law.sum()):
        return law, False
    return np.log(law / law.sum()), True


def _log_total(logs: Floats) -> float:
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum()))


def log_balance(log_matrix: sparse.csr_array, log_law: Floats) -> float:
    """The largest relative error of πP = π over the states that have probability, computed in logarithms."""
    size = log_matrix.shape[0]
    flow = log_law[entry_rows(log_matrix.indptr)] + log_matrix.data
    top = np.full(size, -np.inf)
    np.maximum.at(top, log_matrix.indices, flow)
    live = np.isfinite(top[log_matrix.indices]) & np.isfinite(flow)
    total = np.zeros(size)
    np.add.at(total, log_matrix.indices[live], np.exp(flow[live] - top[log_matrix.indices[live]]))
    seen = np.isfinite(log_law)
    if (seen & ~np.isfinite(top)).any():
        return np.inf
    return float(np.abs(np.expm1(top[seen] + np.log(total[seen]) - log_law[seen])).max())


def residual(matrix: sparse.csr_array, law: Floats) -> float:
    """Σ |πP - π|."""
    return float(np.abs(matrix.T @ law - law).sum())


def require_small(off: float, wanted: float, what: str, advice: str = "") -> float:
    """The residual of a result, or an error where it is more than is wanted."""
    if not off <= wanted:
        raise NotConverged(f"{what} left a residual of {off:.1e}, wanted {wanted:.1e}{advice}", off)
    return off


def by_gmres(matrix: sparse.csr_array, tolerance: float) -> Floats:
    """The law of an irreducible sparse chain; raises NotConverged rather than return a doubtful one."""
    size = matrix.shape[0]
    leave = 1.0 - matrix.diagonal()
    if size == 1:
        return np.ones(1)
    if (leave <= 0.0).any():
        raise NotConverged("a state's probability of leaving is below rounding; the sparse solver cannot see it")
    uniform = np.full(size, 1.0 / size)
    uneven = np.random.Generator(np.random.PCG64(0)).random(size) ** 4  # shares no symmetry with the chain
    uneven /= uneven.sum()
    backward = matrix.T.tocsr()
    law = _improved(backward, leave, uniform, 0.01 * tolerance)
    require_small(residual(matrix, law), tolerance, "the sparse solver")
    other = _improved(backward, leave, uneven, 0.01 * tolerance)
    apart = float(np.abs(law - other).sum())
    if not apart <= _AGREEMENT:
        said = "the chain hardly moves between parts of its states"
        raise NotConverged(f"two starts ended {apart:.1e} apart: {said}", apart)
    return law


def gmres(matrix: sparse.csr_array, leave: Floats, right: Floats, **options: Any) -> Floats:
    """About the x with x - matrix @ x = right, scaled by the probabilities of leaving a state."""
    from scipy.sparse import linalg
    from threadpoolctl import threadpool_limits

    operator = linalg.LinearOperator(matrix.shape, matvec=lambda v: v - matrix @ v, dtype=np.float64)
    scale = linalg.LinearOperator(matrix.shape, matvec=lambda v: v / leave, dtype=np.float64)
    with threadpool_limits(limits=1, user_api="blas"):  # vectors this short wait for threads more than they gain
        return linalg.gmres(operator, right, M=scale, **options)[0]


def _improved(backward: sparse.csr_array, leave: Floats, start: Floats, goal: float) -> Floats:
    """Improve a law until its residual is at most ``goal``, or as far as it goes."""
    enough = goal / np.sqrt(start.size)  # in the Euclidean norm; below it, only rounding is left to work on
    law = start
    off = np.inf
    for _ in range(4):  # each time from the improved law, so that rounding in the long recurrence is forgotten
        step = gmres(backward, leave, backward @ law - law, rtol=1e-6, atol=enough, restart=30, maxiter=40)
        # The step is right up to a multiple of the law. What is then negative rides on rounding: the chain
        # hardly moves between parts of its states, and any mixture of them has a small residual.
        moved = law + step
        total = float(moved.sum())
        if not abs(total) > 1e-3 or float(np.minimum(moved / total, 0.0).sum()) < -1e-6:
            raise NotConverged("the sparse solver lost its way: the chain hardly moves between parts of its states")
        law = np.maximum(moved / total, 0.0)
        law /= law.sum()
        before, off = off, float(np.abs(backward @ law - law).sum())
        if off <= goal or off > 0.1 * before:
            break
    return law


def solve(matrix: sparse.csr_array, log_matrix: Any, states: Ints, method: str, tolerance: float) -> Stationary:
    """The stationary law on the one closed class ``states``. ``log_matrix()`` makes the logarithms when needed."""
    wanted = "gmres" if method == "auto" and states.size > GTH_AT_MOST else method
    failure: NotConverged | None = None
    if wanted == "gmres":
        part = matrix if states.size == matrix.shape[0] else matrix[states][:, states]
        try:
            inside = by_gmres(part, tolerance)
            with np.errstate(divide="ignore"):
                return _spread(matrix, states, np.log(inside), "GMRES", tolerance)
        except NotConverged as error:
            if method != "auto" or states.size > _GTH_IF_NEEDED:
                raise NotConverged(f"{error}; {_INSTEAD}", error.residual) from None
            failure = error
    if wanted != "log-gth":
        logs, sound = by_gth(log_matrix(), states, logs=False)
        if sound:
            return _spread(matrix, states, logs, "GTH", tolerance)
        if method == "gth":
            raise NotConverged('probabilities underflow at this temperature; use method="log-gth"')
    if states.size > _LOG_AT_MOST and method == "auto":
        raise failure or NotConverged(
            f"probabilities underflow, and logarithms of {states.size:,} states would take long; "
            'ask for method="log-gth", or use stability(game, rule) for the limit τ → 0'
        )
    logs, _ = by_gth(log_matrix(), states, logs=True)
    if np.isnan(logs).any():
        raise NotConverged(TOO_COLD)
    full = np.full(matrix.shape[0], -np.inf)
    full[states] = logs
    off = log_balance(log_matrix(), full)
    # a logarithm of size L is held to about L times the rounding unit
    enough = max(tolerance, 1e-9) + 64 * np.finfo(float).eps * float(np.abs(logs).max())
    if not off <= enough:
        raise NotConverged(f"πP differs from π by {off:.1e} relative, wanted {enough:.1e}", off)
    return Stationary(np.exp(full), full, "GTH in logarithms", off)


def _spread(matrix: sparse.csr_array, states: Ints, logs: Floats, method: str, tolerance: float) -> Stationary:
    full = np.full(matrix.shape[0], -np.inf)
    full[states] = logs
    law = np.exp(full)
    return Stationary(law, full, method, require_small(residual(matrix, law), tolerance, method))
