"""What the definitions of equilibria and improvement say, one profile at a time; the oracle of their tests."""

from __future__ import annotations

import itertools

import numpy as np

from potentia.games import NormalForm

ROCK = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
THIRDS = [[1 / 3] * 3] * 2
SHAPES = [(2, 2), (3, 2), (2, 3, 2), (4, 1, 3), (2, 2, 2, 2), (5,)]


def rock():
    return NormalForm([ROCK, -ROCK])


def random_game(shape, seed, *, integers=True, moves=None):
    """Small integers: many ties, and every comparison is exact."""
    random = np.random.default_rng(seed)
    size = (len(shape), *shape)
    return NormalForm(random.integers(0, 4, size) if integers else random.normal(size=size), moves=moves)


def some_moves(shape):
    """Each player goes up one action at a time, from the top to the bottom, and down as far as it likes."""
    return [[sorted({(a + 1) % size, *range(a)}) for a in range(size)] for size in shape]


# What the definitions say, one profile at a time ---------------------------------------------------------


def everything(on):
    return itertools.product(*(range(size) for size in on.num_actions))


def deviations(on, profile, within_moves=False):
    """(player, profile after, gain) for each unilateral change."""
    for player, action in enumerate(profile):
        others = on.reachable(player, action) if within_moves else range(on.num_actions[player])
        for other in others:
            if other != action:
                after = (*profile[:player], other, *profile[player + 1 :])
                yield player, after, on.utility(player, after) - on.utility(player, profile)


def nash_by_definition(on, *, strict=False, within_moves=False):
    return [
        profile
        for profile in everything(on)
        if all(gain < 0 if strict else gain <= 0 for _, _, gain in deviations(on, profile, within_moves))
    ]


def better_replies(on, within_moves=False):
    return {p: [after for _, after, gain in deviations(on, p, within_moves) if gain > 0] for p in everything(on)}


def has_cycle(graph):
    """Take away profiles that lead nowhere until nothing changes; what is left leads round."""
    left = dict(graph)
    while True:
        ends = [p for p, nexts in left.items() if not any(q in left for q in nexts)]
        if not ends:
            return bool(left)
        for p in ends:
            del left[p]


def shortest_cycle(graph):
    """By walking all profiles breadth first from each one."""
    lengths = []
    for first in graph:
        layer, seen, steps = {first}, set(), 0
        while layer:
            steps += 1
            layer = {q for p in layer for q in graph[p]} - seen
            if first in layer:
                lengths.append(steps)
                break
            seen |= layer
    return min(lengths, default=None)


def all_paths(graph, path):
    """Every maximal path; one that comes back to itself stops there."""
    nexts = [] if path[-1] in path[:-1] else graph[path[-1]]
    return [tuple(path)] if not nexts else [one for q in nexts for one in all_paths(graph, [*path, q])]


def expected_by_definition(on, mixed, player):
    return sum(on.utility(player, p) * np.prod([x[a] for x, a in zip(mixed, p, strict=True)]) for p in everything(on))


def random_mixed(on, seed):
    random = np.random.default_rng(seed)
    return [random.dirichlet(np.ones(size)) for size in on.num_actions]


def as_tuples(array):
    return [tuple(row) for row in array.tolist()]
