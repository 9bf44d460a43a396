"""The limit law from a contraction: weighted numbers of least trees, set by set."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from potentia.analysis.arborescence import Contraction, common_ancestors
from potentia.analysis.chains import elimination
from potentia.analysis.chains.stationary import by_gmres
from potentia.errors import NotConverged
from potentia.kernel.arrays import Floats, Ints

_DENSE_AT_MOST = 1000
_DENSE_IF_NEEDED = 5000


def tree_law(found: Contraction) -> Floats:
    """The share of each state of least stochastic potential as τ → 0."""
    size, root = found.size, found.root
    stable = np.flatnonzero(found.excess <= found.tie)
    law = np.zeros(size)
    if stable.size == 1:
        law[stable] = 1.0
        return law
    above = _above(found)
    inside = _smallest_set(above, root, stable)
    shares = _shares(found, above, inside)
    for state in stable:
        node, share = int(state), 1.0
        while node != inside:
            share *= shares[node]
            node = int(above[node])
        law[state] = share
    return law / law.sum()


def _above(found: Contraction) -> Ints:
    """The tree of sets without those that cost nothing to leave: their parts belong to the next set above."""
    out = found.parent.copy()
    for node in range(found.root - 1, -1, -1):
        up = int(out[node])
        if up != found.root and found.price[up] == 0.0:
            out[node] = out[up]
    return out


def _smallest_set(above: Ints, root: int, states: Ints) -> int:
    """The smallest set that holds all these states."""
    chain = [int(states[0])]
    while chain[-1] != root:
        chain.append(int(above[chain[-1]]))
    place = {node: k for k, node in enumerate(chain)}
    highest = 0
    for state in states[1:]:
        node = int(state)
        while node not in place:
            node = int(above[node])
        highest = max(highest, place[node])
    return chain[highest]


def _shares(found: Contraction, above: Ints, inside: int) -> Floats:
    """For each part of each set within ``inside``, its share of that set's weighted trees."""
    terms, root = found.terms, found.root
    rows, columns = terms.rows(), terms.columns.astype(np.int64)
    within = np.zeros(root + 1, bool)
    within[inside] = True
    for node in range(root - 1, -1, -1):
        within[node] |= within[above[node]]
    keep = np.flatnonzero((rows != columns) & within[rows] & within[columns])
    meet = common_ancestors(found.parent, rows[keep], columns[keep])
    paid = found.paid
    tight = terms.exponents[keep] - (paid[rows[keep]] - paid[meet]) <= found.tie * 4
    keep, meet = keep[tight], meet[tight]
    # a set that costs nothing to leave is no set: its edges belong to the one above
    owner = np.where((meet == root) | (found.price[meet] > 0.0), meet, above[meet])
    shares = np.ones(root + 1)
    parts: dict[int, list[int]] = {}
    for node in range(root + 1):
        if within[node] and node != inside and (node < found.size or found.price[node] > 0.0):
            parts.setdefault(int(above[node]), []).append(node)
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(root + 2))
    local = np.full(root + 1, -1)  # a node's number among the parts of its set
    weight, at = np.ones(found.size), np.arange(found.size)  # of a state inside the part that holds it
    held: dict[int, Ints] = {}  # the states of a finished set
    for node in sorted(parts):  # parts come before the sets that hold them
        members = np.array(parts[node])
        local[members] = np.arange(members.size)
        edges = keep[order[bounds[node] : bounds[node + 1]]]
        sources, targets = rows[edges], columns[edges]
        rates = sparse.coo_array(
            (terms.coefficients[edges] * weight[sources], (local[at[sources]], local[at[targets]])),
            shape=(members.size, members.size),
        ).tocsr()
        share = _stationary_of_rates(rates)
        shares[members] = share
        states = np.concatenate([held.pop(m, np.array([m])) for m in parts[node]])
        weight[states] *= share[local[at[states]]]
        at[states] = node
        held[node] = states
    return shares


def _stationary_of_rates(rates: Any) -> Floats:
    """The stationary law of a continuous-time chain: by elimination, or sparse where large."""
    size = rates.shape[0]
    leave = np.asarray(rates.sum(axis=1)).ravel()
    if size > _DENSE_AT_MOST:
        jumps = sparse.csr_array(sparse.diags_array(1.0 / leave) @ rates)
        try:
            law = by_gmres(jumps, 1e-11) / leave
            return law / law.sum()
        except NotConverged:
            if size > _DENSE_IF_NEEDED:
                raise
    law = np.empty(size)
    if not elimination.gth_entry(rates.toarray(), law) > 0.0:
        raise NotConverged("the tree weights of a class underflow")
    return law / law.sum()
