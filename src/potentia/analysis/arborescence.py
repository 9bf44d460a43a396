"""Least-resistance trees to every root at once, and how many there are.

A tree to root x gives every other state one edge so that all lead to x; its resistance is the sum over its
edges, and the least one is the stochastic potential of x. One contraction serves all roots (Edmonds 1967;
Tarjan 1977): follow each node's cheapest exit; when the path closes a cycle, merge the cycle into one node,
lower the exits of each part by the price m of its cheapest, and go on until one node is left. The prices are
an optimal solution of the dual linear program for *every* root, so

    stochastic potential of x = Σ m_U over all nodes and merged nodes U that do not contain x.

Complementary slackness says which trees are least: those that use edges of reduced cost 0 and leave every U
with m_U > 0 (and x outside) exactly once. Inside such a U they are trees to the state they leave from, so
the weighted number of least trees factorises over the nested sets, and inside one set it is, by the Markov
chain tree theorem, a stationary law. That gives the limit of the stationary law as τ → 0, ties included.

Near-linear in the number of transitions, where elimination is cubic in the number of states.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from potentia.analysis.chains.transitions import Terms
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable
from potentia.kernel.reprs import brief


class Heap(NamedTuple):
    """Skew heaps of edges with a pending change for everything below a node."""

    key: Floats
    left: Ints
    right: Ints
    pending: Floats


@portable
def _push(heap: Heap, node: int) -> None:
    change = heap.pending[node]
    if change != 0.0:
        for child in (heap.left[node], heap.right[node]):
            if child >= 0:
                heap.key[child] += change
                heap.pending[child] += change
        heap.pending[node] = 0.0


@portable
def _merge(heap: Heap, a: int, b: int) -> int:
    if a < 0:
        return b
    if b < 0:
        return a
    if heap.key[b] < heap.key[a]:
        a, b = b, a
    root = a
    while True:
        _push(heap, a)
        right = heap.right[a]
        heap.right[a] = heap.left[a]
        if right < 0:
            heap.left[a] = b
            return root
        if heap.key[b] < heap.key[right]:
            right, b = b, right
        heap.left[a] = right
        a = right


@portable
def _find(parent: Ints, node: int) -> int:
    root = node
    while parent[root] >= 0:
        root = parent[root]
    while parent[node] >= 0:
        parent[node], node = root, parent[node]
    return root


def contract(
    rows: Ints, columns: Ints, heap: Heap, top: Ints, union: Ints, parent: Ints, price: Floats, edge: Ints, path: Ints
) -> int:
    """Contract to one node; return its number. Nodes from the number of states on are merged ones.

    ``parent`` is the tree of merged nodes, ``price`` and ``edge`` each node's cheapest exit when it was left.
    -1 means that the chain is not irreducible.
    """
    size = top.shape[0] // 2
    for e in range(rows.shape[0]):
        if rows[e] != columns[e]:
            top[rows[e]] = _merge(heap, top[rows[e]], e)
    place = path[size:]  # where on the path a node is, -1 if it is not; the path itself comes first
    for k in range(2 * size):
        place[k] = -1
    fresh = size
    node = 0
    length = 1
    path[0] = 0
    place[0] = 0
    alive = size
    while alive > 1:
        e = top[node]
        while e >= 0 and _find(union, columns[e]) == node:
            _push(heap, e)
            top[node] = _merge(heap, heap.left[e], heap.right[e])
            e = top[node]
        if e < 0:
            return -1
        price[node] = max(0.0, heap.key[e])
        edge[node] = e
        change = -heap.key[e]
        heap.key[e] += change
        heap.pending[e] += change
        target = _find(union, columns[e])
        if place[target] < 0:
            path[length] = target
            place[target] = length
            length += 1
            node = target
            continue
        merged = fresh
        fresh += 1
        first = place[target]
        for k in range(first, length):
            part = path[k]
            parent[part] = merged
            union[part] = merged
            top[merged] = _merge(heap, top[merged], top[part])
        alive -= length - first - 1
        length = first + 1
        path[first] = merged
        place[merged] = first
        node = merged
    return node


contract_entry = Entry(contract, lambda rows, *rest: 30.0 * rows.size)


def climb(parent: Ints, edge_source: Ints, edge_target: Ints, jump: Ints, depth: Ints, out: Ints) -> None:
    """The least common ancestor of each pair, by jumps of powers of two."""
    levels = jump.shape[0]
    for e in range(edge_source.shape[0]):
        a, b = edge_source[e], edge_target[e]
        if depth[a] < depth[b]:
            a, b = b, a
        gap = depth[a] - depth[b]
        for level in range(levels):
            if gap >> level & 1:
                a = jump[level, a]
        if a != b:
            for back in range(levels):
                level = levels - 1 - back
                if jump[level, a] != jump[level, b]:
                    a, b = jump[level, a], jump[level, b]
            a = parent[a]
        out[e] = a


climb_entry = Entry(climb, lambda parent, sources, targets, jump, *rest: 10.0 * sources.size * jump.shape[0])


@dataclass(frozen=True, repr=False)
class Contraction:
    """All least-resistance trees of an irreducible chain, folded into one nested family of sets."""

    __repr__ = brief

    terms: Terms
    tie: float
    parent: Ints  # (nodes,) -1 at the root
    price: Floats
    edge: Ints
    root: int

    @property
    def size(self) -> int:
        return self.terms.size

    @cached_property
    def excess(self) -> Floats:
        """How far each state's stochastic potential is above the least."""
        paid = self.paid[: self.size]
        return paid.max() - paid

    @cached_property
    def least(self) -> float:
        """The least stochastic potential."""
        return float(self.price[: self.root].sum()) - float(self.paid[: self.size].max())

    @cached_property
    def paid(self) -> Floats:
        """Σ m_U over the sets U that contain a node, itself included."""
        out = np.zeros(self.root + 1)
        for node in range(self.root - 1, -1, -1):  # a parent's number is larger
            out[node] = self.price[node] + out[self.parent[node]]
        return out

    def tree(self, root: int) -> Ints:
        """The entry of the transition that each state takes on a least tree to ``root``; -1 at the root."""
        children: list[list[int]] = [[] for _ in range(self.root + 1)]
        for node in range(self.root):
            children[self.parent[node]].append(node)
        rows = self.terms.rows()
        out = np.full(self.size, -1, np.int64)
        waiting = [(self.root, root)]  # a set, and the state in it that is not to be given an exit
        while waiting:
            node, state = waiting.pop()
            below = state
            while below != node:
                above = int(self.parent[below])
                for child in children[above]:
                    if child != below:
                        e = int(self.edge[child])
                        out[rows[e]] = e
                        waiting.append((child, int(rows[e])))
                below = above
        return out


def contraction(terms: Terms, tie: float) -> Contraction | None:
    """Contract a chain of leading terms; None if it is not irreducible."""
    size, edges = terms.size, terms.coefficients.size
    rows = terms.rows()
    nodes = 2 * size
    heap = Heap(terms.exponents.copy(), np.full(edges, -1), np.full(edges, -1), np.zeros(edges))
    top, union, parent, edge = np.full((4, nodes), -1)
    price, path = np.zeros(nodes), np.zeros(3 * size, np.int64)
    root = contract_entry(rows, terms.columns.astype(np.int64), heap, top, union, parent, price, edge, path)
    if root < 0:
        return None
    price[price <= tie] = 0.0
    return Contraction(terms, tie, parent[: root + 1], price[: root + 1], edge[: root + 1], int(root))


def common_ancestors(parent: Ints, sources: Ints, targets: Ints) -> Ints:
    """For each pair of nodes, the smallest set that contains both."""
    count = parent.size
    depth = np.zeros(count, np.int64)
    for node in range(count - 2, -1, -1):
        depth[node] = depth[parent[node]] + 1
    levels = max(1, int(depth.max()).bit_length())
    jump = np.empty((levels, count), np.int64)
    jump[0] = np.where(parent < 0, count - 1, parent)
    for level in range(1, levels):
        jump[level] = jump[level - 1][jump[level - 1]]
    out = np.empty(sources.size, np.int64)
    climb_entry(jump[0], sources, targets, jump, depth, out)
    return out
