"""The largest sum of functions, each of a few variables: bucket elimination, and a search where that takes too much.

*Elimination* (Bertelè & Brioschi 1972; Dechter 1999). Variables go one after the other. Each leaves behind the largest
sum, over its own values, of the functions that hold it: a function of its neighbours. In the order of least fill these
stay small where the graph of the functions is like a tree.

*Mini-buckets* (Dechter & Rish 2003). Where a table would be too large, the functions are taken in groups with a table
each. The maximum of each group is at least that of the sum, so the result is a bound. Before, what a value of the
variable gets at most is shared evenly among the groups (Ihler et al. 2012), which makes the bound lower.

*Search*. Variables get values in the reverse order, all partial assignments in one array, each with a bound on what can
still come of it. Assignments that agree on all that matters later are one; those whose bound is not above the best
assignment known are gone. If more are left than the array may hold, the best are kept, and the bound remembers the
others. Where elimination was exact, one assignment is enough.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from potentia.kernel.arrays import Floats, Ints

_DENSE = 40  # neighbours, from which on edges that are missing are not counted any more
_TRIES, _SMALL = 20, 200  # orders that are tried, for up to so many variables
_MOST_AXES = 40  # of a table; NumPy has 64
_KEY = 2**62  # codes of assignments are below
_ROUND = 1e-13  # of all numbers that are summed


class Function(NamedTuple):
    """A function of some variables, the axes of its table."""

    scope: tuple[int, ...]
    table: Floats


class Full(Exception):
    """The tables together would be too large."""


class Search(NamedTuple):
    """The best assignment above a threshold, if any was found, and a bound on all that there are."""

    values: Ints | None
    bound: float


def neighbours(num: int, functions: Sequence[Function]) -> list[set[int]]:
    """Which variables are in a function with which."""
    near: list[set[int]] = [set() for _ in range(num)]
    for scope, _ in functions:
        for one in scope:
            near[one].update(scope)
    for one in range(num):
        near[one].discard(one)
    return near


def least_fill(sizes: Sequence[int], functions: Sequence[Function]) -> list[int]:
    """An order of the variables in which each, as it goes, joins few of its neighbours that were not joined.

    Of several such orders, which differ where there are ties, the one whose largest tables are smallest.
    """
    tries = _TRIES if len(sizes) <= _SMALL else 1
    ties = [range(len(sizes)), *(np.random.default_rng(k).permutation(len(sizes)).tolist() for k in range(1, tries))]
    return min((_one_order(sizes, neighbours(len(sizes), functions), tie) for tie in ties), key=lambda pair: pair[0])[1]


def _one_order(sizes: Sequence[int], near: list[set[int]], tie: Sequence[int]) -> tuple[int, list[int]]:
    """The entries of all tables, and the order."""
    entries, order = 0, list[int]()
    cost = [_fill(near, one) for one in range(len(sizes))]
    heap = [(cost[one], tie[one], one) for one in range(len(sizes))]
    heapq.heapify(heap)
    gone = [False] * len(sizes)
    while heap:
        price, _, one = heapq.heappop(heap)
        if gone[one] or price != cost[one]:
            continue
        gone[one] = True
        order.append(one)
        beside = near[one]
        entries += sizes[one] * math.prod(sizes[other] for other in beside)
        touched = set(beside)
        for other in beside:
            near[other].discard(one)
            missing = beside - near[other]
            missing.discard(other)
            if missing:
                near[other] |= missing
                touched |= near[other]
        for other in touched:
            if not gone[other] and (price := _fill(near, other)) != cost[other]:
                cost[other] = price
                heapq.heappush(heap, (price, tie[other], other))
    return entries, order


def _fill(near: list[set[int]], one: int) -> int:
    beside = near[one]
    if len(beside) > _DENSE:
        return len(beside) ** 2  # at least as many as can be missing
    return sum(len(beside) - 1 - len(beside & near[other]) for other in beside) // 2


class Buckets:
    """Functions sorted by the variable that goes first, and the functions that are left as it goes.

    Parameters
    ----------
    sizes
        How many values each variable has.
    functions
        What is summed.
    order
        The order in which variables go, all of them.
    largest
        Entries of a table at most; tables that are given may have more.
    room
        Entries of all tables that are kept. :class:`Full` is raised beyond.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        functions: Sequence[Function],
        order: Sequence[int],
        largest: float,
        room: float = math.inf,
    ) -> None:
        self.sizes, self.order, self._room = sizes, list(order), room
        self._place = {one: k for k, one in enumerate(self.order)}
        self.held: list[list[Function]] = [[] for _ in order]  # by place
        self.left: list[list[Function]] = [[] for _ in order]
        self.bound, self.exact = 0.0, True  # of the sum; whether it is its maximum
        self.rounding = 0.0  # sums that differ by less are the same
        for function in functions:
            self.rounding += _ROUND * float(np.abs(function.table).max())
            self._put(self._sorted(function))
        for place in range(len(self.order)):
            self._eliminate(place, largest)
        self._until = [len(self.order)] * len(sizes)  # the last place, counted down, that asks for a variable
        for place in range(len(self.order) - 1, -1, -1):
            for scope, _ in self.held[place]:
                for one in scope:
                    self._until[one] = place

    def _sorted(self, function: Function) -> Function:
        axes = sorted(range(len(function.scope)), key=lambda k: self._place[function.scope[k]])
        return Function(tuple(function.scope[k] for k in axes), function.table.transpose(axes))

    def _put(self, function: Function) -> None:
        if function.scope:
            self.held[self._place[function.scope[0]]].append(function)
        else:
            self.bound += float(function.table)

    def _eliminate(self, place: int, largest: float) -> None:
        groups: list[tuple[set[int], list[Function]]] = []
        for function in sorted(self.held[place], key=lambda f: -len(f.scope)):
            for known, those in groups:
                joint = known.union(function.scope)
                if math.prod(self.sizes[one] for one in joint) <= largest and len(joint) <= _MOST_AXES:
                    known.update(joint)
                    those.append(function)
                    break
            else:
                groups.append((set(function.scope), [function]))
        joined = [self._join(known, those) for known, those in groups]
        if len(joined) > 1:
            self.exact = False
            most = [table.reshape(table.shape[0], -1).max(axis=1) for _, table in joined]
            mean = sum(most) / len(most)
            for group, own in zip(joined, most, strict=True):
                group.table.T[...] += mean - own  # along the first axis
        for scope, table in joined:
            self._room -= table.size / table.shape[0]
            if self._room < 0:
                raise Full
            self.left[place].append(Function(scope[1:], table.max(axis=0)))
            self._put(self.left[place][-1])

    def _join(self, scope: set[int], functions: list[Function]) -> Function:
        """Their sum as one table."""
        axes = sorted(scope, key=self._place.__getitem__)
        total = np.zeros([self.sizes[one] for one in axes])
        for own, table in functions:
            total += table.reshape([self.sizes[one] if one in own else 1 for one in axes])
        return Function(tuple(axes), total)

    def search(self, above: float, width: int) -> Search:
        """The best assignment whose sum is larger than ``above``, with at most so many held at once."""
        threshold = above + self.rounding
        bounds, columns = np.array([self.bound]), dict[int, Ints]()
        history: list[tuple[Ints, Ints]] = []
        dropped = -math.inf
        for place in range(len(self.order) - 1, -1, -1):
            one = self.order[place]
            size = self.sizes[one]
            for function in self.left[place]:
                bounds = bounds - self._at(function, columns)
            parents = np.repeat(np.arange(bounds.size), size)
            columns = {key: column[parents] for key, column in columns.items()}
            columns[one] = np.tile(np.arange(size), bounds.size)
            bounds = bounds[parents]
            for function in self.held[place]:
                bounds += self._at(function, columns)
            kept = np.flatnonzero(bounds > threshold)
            columns = {key: column for key, column in columns.items() if self._until[key] < place or key == one}
            actions = columns[one]
            if self._until[one] >= place:
                del columns[one]
            kept = self._distinct(kept, bounds, columns)
            if kept.size > width:
                best = np.argsort(-bounds[kept], kind="stable")
                dropped = max(dropped, float(bounds[kept[best[width]]]))
                kept = np.sort(kept[best[:width]])
            if not kept.size:
                return Search(None, max(dropped, above))
            history.append((parents[kept], actions[kept]))
            bounds = bounds[kept]
            columns = {key: column[kept] for key, column in columns.items()}
        values = np.zeros(len(self.sizes), np.int64)
        at = int(bounds.argmax())
        found = float(bounds[at])
        for one, (parents, actions) in zip(self.order, reversed(history), strict=True):
            values[one], at = actions[at], int(parents[at])
        return Search(values, max(dropped, above, found))

    @staticmethod
    def _at(function: Function, columns: dict[int, Ints]) -> Floats | float:
        if not function.scope:
            return float(function.table)
        return np.asarray(function.table[tuple(columns[one] for one in function.scope)])

    def _distinct(self, kept: Ints, bounds: Floats, columns: dict[int, Ints]) -> Ints:
        """Of those that agree on everything that matters later, the best."""
        codes, room = [np.zeros(kept.size, np.int64)], _KEY
        for one, column in columns.items():
            if room < self.sizes[one]:
                codes.append(np.zeros(kept.size, np.int64))
                room = _KEY
            room //= self.sizes[one]
            codes[-1] = codes[-1] * self.sizes[one] + column[kept]
        order = np.lexsort((-bounds[kept], *codes))
        first = np.ones(order.size, bool)
        first[1:] = np.any([code[order[1:]] != code[order[:-1]] for code in codes], axis=0)
        return np.sort(kept[order[first]])
