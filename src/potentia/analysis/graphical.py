"""The best profile of a game on a graph: its objective is a sum of functions, each of a few players' actions.

Of a coordination game these are the payoffs of edges. Of a game of one's own see
:mod:`~potentia.analysis.neighbourhoods`.

First elimination, with a search where tables get too large (:mod:`~potentia.analysis.buckets`), in a few rounds with
larger and larger tables. Where actions can change names, as channels that are all alike, one player plays action 0, the
next 0 or 1, and so on: up to names nothing is lost. What is left open goes to HiGHS: x_i(a) says that player i plays a,
and y_f(b), for each entry of a function's table, is joined to x by Σ_{b: b_i = a} y_f(b) = x_i(a).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from potentia.analysis.buckets import Buckets, Full, Function, least_fill, neighbours
from potentia.analysis.programs import Program, solve
from potentia.games import Coordination
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints

# Entries of a table, and assignments held at once, round after round. Each costs some five times the one before.
ROUNDS = ((2**16, 1_000), (2**20, 10_000), (2**22, 50_000), (2**24, 300_000))
_ROOM = 2**26  # entries of all tables of a round
_ENTRIES = 200_000  # of tables that HiGHS gets


class Found(NamedTuple):
    """A profile, a bound on all of them, how they were found, and whether time was up."""

    profile: Ints
    bound: float  # of the objective; inf where unknown, and no more than the profile's value where that is the best
    method: str
    stopped: bool = False


def edge_functions(game: Coordination, objective: str) -> list[Function]:
    """What a coordination game's potential or welfare is the sum of; edges between the same players are one."""
    memory.require(400 * len(game.edges), f"the optimum of a graph with {len(game.edges):,} edges")
    tables, found = game.edge_tables(objective), dict[tuple[int, ...], Floats]()
    for edge, (i, j) in enumerate(game.edges.tolist()):
        own = tables[edge % len(tables)] * (game.weights[edge] if game.weights.size else 1.0)
        scope, own = ((i, j), own) if i < j else ((j, i), own.T)
        found[scope] = found[scope] + own if scope in found else own
    return [Function(scope, table) for scope, table in found.items()] + [
        Function((player,), row) for player, row in enumerate(game.field)
    ]


def uniform_profile(game: Coordination, objective: str) -> Ints | None:
    """Where all play the same, if that is best on every edge and for every player: then nothing is better."""
    tables = game.edge_tables(objective)
    if game.weights.size:
        signs = np.sign(game.weights)
        tables = tables * (np.unique(signs) if len(tables) == 1 else signs)[:, None, None]
    best = np.ones(int(game.sizes[0]), bool)
    if len(game.edges):
        best &= (np.diagonal(tables, axis1=1, axis2=2) >= tables.max(axis=(1, 2))[:, None]).all(axis=0)
    if game.field.size:
        best &= (game.field >= game.field.max(axis=1, keepdims=True)).all(axis=0)
    return np.full(game.num_players, int(best.argmax())) if best.any() else None


def total(functions: Sequence[Function], profile: Ints) -> float:
    """The sum of the functions."""
    return math.fsum(float(table[tuple(profile[k] for k in scope)]) for scope, table in functions)


def maximise(sizes: Sequence[int], functions: Sequence[Function], time_limit: float, gap: float) -> Found:
    """Where the sum of the functions is largest; ``bound`` is of that sum."""
    sizes, functions = _up_to_names(sizes, functions)
    order = least_fill(sizes, functions)
    best = _improved(sizes, functions, np.zeros(len(sizes), np.int64))
    value, bound = total(functions, best), math.inf
    for largest, width in ROUNDS:
        if largest == ROUNDS[-1][0] and memory.available() < 20 * _ROOM:
            break
        try:
            buckets = Buckets(sizes, functions, order, largest, _ROOM)
        except Full:
            break
        found = buckets.search(-math.inf if buckets.exact else value, 1 if buckets.exact else width)
        if found.values is not None:
            better = found.values if buckets.exact else _improved(sizes, functions, found.values)
            if buckets.exact or total(functions, better) > value:
                best, value = better, total(functions, better)
        if buckets.exact or found.bound <= value + buckets.rounding:
            return Found(best, value, "elimination" if buckets.exact else "search")
        bound = min(bound, buckets.bound, found.bound)
        if bound - value <= gap * max(abs(value), 1.0):
            return Found(best, bound, "search")
    if sum(table.size for _, table in functions) > _ENTRIES:
        return Found(best, bound, "search")
    return _by_program(sizes, functions, Found(best, bound, "milp"), value, time_limit, gap)


def _up_to_names(sizes: Sequence[int], functions: Sequence[Function]) -> tuple[Sequence[int], Sequence[Function]]:
    """The same with fewer actions for some players with many neighbours, where names of actions do not matter."""
    if len(set(sizes)) != 1 or not all(_ignores_names(table) for _, table in functions):
        return sizes, functions
    near, chosen = neighbours(len(sizes), functions), list[int]()
    while len(chosen) < min(sizes[0] - 1, len(sizes)):
        rest = [k for k in range(len(sizes)) if k not in chosen]
        chosen.append(max(rest, key=lambda k: (len(near[k].intersection(chosen)), len(near[k]), -k)))
    fewer = list(sizes)
    for count, player in enumerate(chosen, 1):
        fewer[player] = count
    return fewer, [Function(scope, table[tuple(slice(fewer[k]) for k in scope)]) for scope, table in functions]


def _ignores_names(table: Floats) -> bool:
    """Whether it only matters which of at most two actions are the same."""
    if table.ndim < 2:
        return bool((table == table.flat[0]).all())
    same = np.eye(len(table), dtype=bool)
    return table.ndim == 2 and all(np.ptp(table[part]) == 0 for part in (same, ~same) if part.any())


def _improved(sizes: Sequence[int], functions: Sequence[Function], start: Ints) -> Ints:
    """One variable after the other takes its best value, until none can gain."""
    profile = start.copy()
    holding: list[list[tuple[int, Function]]] = [[] for _ in sizes]
    for function in functions:
        for axis, one in enumerate(function.scope):
            holding[one].append((axis, function))
    waiting = list(range(len(sizes)))
    while waiting:
        moved: set[int] = set()
        for one in waiting:
            gains = np.zeros(sizes[one])
            for axis, (scope, table) in holding[one]:
                gains += table[tuple(slice(None) if k == axis else profile[other] for k, other in enumerate(scope))]
            top = int(gains.argmax())
            # more than rounding, or two values of a tie could take turns for ever
            if gains[top] > gains[profile[one]] + 1e-12 * np.abs(gains).max():
                profile[one] = top
                moved.update(other for _, (scope, _) in holding[one] for other in scope if other != one)
        waiting = sorted(moved)
    return profile


def _by_program(
    sizes: Sequence[int], functions: Sequence[Function], known: Found, value: float, time_limit: float, gap: float
) -> Found:
    """What HiGHS makes of it, or what was known before."""
    first = np.concatenate([[0], np.cumsum(sizes)])
    program = Program(int(first[-1]))
    program.whole[:] = True
    for one in range(len(sizes)):
        program.row([(int(k), 1.0) for k in range(first[one], first[one + 1])], 1.0)
    for scope, table in functions:
        if len(scope) == 1:
            program.cost[first[scope[0]] : first[scope[0] + 1]] -= table
            continue
        entries = program.add(-table.reshape(-1)).reshape(table.shape)
        for axis, one in enumerate(scope):
            for action, those in enumerate(np.moveaxis(entries, axis, 0)):
                joined = [(int(k), 1.0) for k in those.reshape(-1)]
                program.row([*joined, (int(first[one]) + action, -1.0)], 0.0)
    answer = solve(program, time_limit, gap)
    best, bound = known.profile, min(known.bound, -answer.bound)
    if answer.values is not None:
        chosen = [int(answer.values[first[k] : first[k + 1]].argmax()) for k in range(len(sizes))]
        found = _improved(sizes, functions, np.array(chosen))
        if total(functions, found) > value:
            best, value = found, total(functions, found)
    return Found(best, answer.settled(bound, value), "milp", answer.stopped)
