"""Subtraction-free elimination of states: exact laws of chains, however small the probabilities.

Grassmann, Taksar & Heyman (1985): eliminate the states one after the other; the chain watched only
outside the eliminated ones moves i → j directly or through the last eliminated state k,
p_ij + p_ik p_kj / Σ_{l≠k} p_kl. Nothing is ever subtracted, so each probability comes out with a small
*relative* error, provided that nothing underflows. In logarithms nothing does. On leading terms c·ε^r the
same elimination gives the leading term of the law as ε → 0: sums keep the least exponent, and nothing can
cancel.
"""

from __future__ import annotations

import math
from typing import Any

from potentia.kernel.arrays import Floats
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable


def gth(matrix: Floats, law: Floats) -> float:
    """Overwrite ``law`` with the unnormalised stationary law; return the least sum of exits met.

    ``matrix`` is overwritten too. A result of 0 means that the chain is reducible or that exits underflowed.
    """
    size = matrix.shape[0]
    least = math.inf
    for k in range(size - 1, 0, -1):
        exits = 0.0
        for j in range(k):
            exits += matrix[k, j]
        least = min(least, exits)
        if exits == 0.0:
            return 0.0
        for i in range(k):
            share = matrix[i, k] / exits
            matrix[i, k] = share
            if share != 0.0:
                for j in range(k):
                    matrix[i, j] += share * matrix[k, j]
    law[0] = 1.0
    for k in range(1, size):
        total = 0.0
        for i in range(k):
            total += law[i] * matrix[i, k]
        law[k] = total
    return least


@portable
def log_sum(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    if a == -math.inf:
        return b
    if b == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a)) if a >= b else b + math.log1p(math.exp(a - b))


def log_gth(matrix: Floats, law: Floats) -> None:
    """The same on logarithms: -inf is an impossible transition."""
    size = matrix.shape[0]
    for k in range(size - 1, 0, -1):
        exits = -math.inf
        for j in range(k):
            exits = log_sum(exits, matrix[k, j])
        for i in range(k):
            if matrix[i, k] == -math.inf:
                continue
            share = matrix[i, k] - exits
            matrix[i, k] = share
            for j in range(k):
                if matrix[k, j] > -math.inf:
                    matrix[i, j] = log_sum(matrix[i, j], share + matrix[k, j])
    law[0] = 0.0
    for k in range(1, size):
        total = -math.inf
        for i in range(k):
            total = log_sum(total, law[i] + matrix[i, k])
        law[k] = total


@portable
def _plus(c: float, r: float, d: float, s: float, tie: float) -> tuple[float, float]:
    """The leading term of c·ε^r + d·ε^s."""
    if c == 0.0 or s < r - tie:
        return d, s
    return (c + d, r) if s <= r + tie else (c, r)


def leading_gth(a: Floats, x: Floats, law: Floats, exponents: Floats, tie: float) -> float:
    """The same on leading terms a·ε^x (a = 0: impossible). Returns the resistance of the least tree to state 0.

    By the Markov chain tree theorem the product of all exits is the sum over trees rooted at the state that
    is left, so their exponents add up to its stochastic potential.
    """
    size = a.shape[0]
    tree = 0.0
    for k in range(size - 1, 0, -1):
        c, r = 0.0, 0.0
        for j in range(k):
            if a[k, j] > 0.0:
                c, r = _plus(c, r, a[k, j], x[k, j], tie)
        tree += r
        for i in range(k):
            if a[i, k] == 0.0:
                continue
            a[i, k] /= c
            x[i, k] -= r
            for j in range(k):
                through = a[i, k] * a[k, j]
                if through != 0.0:
                    a[i, j], x[i, j] = _plus(a[i, j], x[i, j], through, x[i, k] + x[k, j], tie)
    law[0], exponents[0] = 1.0, 0.0
    for k in range(1, size):
        c, r = 0.0, 0.0
        for i in range(k):
            if a[i, k] > 0.0:
                c, r = _plus(c, r, law[i] * a[i, k], exponents[i] + x[i, k], tie)
        law[k], exponents[k] = c, r
    return tree


def log_hitting(matrix: Floats, exits: Floats, times: Floats) -> None:
    """Expected times until the exit, from logarithms of transitions among the states and into it; logarithms too.

    A state's holding is never used: what leaves it is summed instead, so nothing is subtracted.
    """
    size = matrix.shape[0]
    for k in range(size):
        times[k] = 0.0
    for k in range(size - 1, -1, -1):
        leave = exits[k]
        for j in range(k):
            leave = log_sum(leave, matrix[k, j])
        times[k] -= leave
        exits[k] -= leave
        for j in range(k):
            matrix[k, j] -= leave
        for i in range(k):
            share = matrix[i, k]
            if share > -math.inf:
                times[i] = log_sum(times[i], share + times[k])
                exits[i] = log_sum(exits[i], share + exits[k])
                for j in range(k):
                    matrix[i, j] = log_sum(matrix[i, j], share + matrix[k, j])
    for k in range(size):
        for j in range(k):
            times[k] = log_sum(times[k], matrix[k, j] + times[j])


def absorb(matrix: Floats, exits: Floats, classes: int) -> None:
    """Overwrite ``exits`` (S, k), the probabilities of leaving into each of the classes, by those of ending there.

    Further columns, what each visit of a state counts, are overwritten by the sums expected: of ones, the steps.
    A state's holding is never used: what leaves it is summed instead, so nothing is subtracted.
    """
    size, columns = exits.shape
    for k in range(size - 1, -1, -1):
        leave = 0.0
        for c in range(classes):
            leave += exits[k, c]
        for j in range(k):
            leave += matrix[k, j]
        for c in range(columns):
            exits[k, c] /= leave
        for j in range(k):
            matrix[k, j] /= leave
        for i in range(k):
            share = matrix[i, k]
            if share != 0.0:
                for c in range(columns):
                    exits[i, c] += share * exits[k, c]
                for j in range(k):
                    matrix[i, j] += share * matrix[k, j]
    for k in range(size):
        for j in range(k):
            for c in range(columns):
                exits[k, c] += matrix[k, j] * exits[j, c]


def _work(matrix: Floats, *rest: Any) -> float:
    return 2.0 * matrix.shape[0] ** 3


absorb_entry = Entry(absorb, _work)
gth_entry = Entry(gth, _work)
log_gth_entry = Entry(log_gth, _work)
leading_entry = Entry(leading_gth, _work)
log_hitting_entry = Entry(log_hitting, _work)
