"""Small games of every kind, with and without constrained moves, for tests that run over all of them."""

from __future__ import annotations

from functools import cache

import numpy as np

import potentia as pt


def _tilted(player, profile, data):
    """A utility with no special structure: a bilinear form in the actions plus a tilt."""
    total = data[player, 0] * profile[player]
    for other in range(profile.shape[0]):
        if other != player:
            total += data[player, 1] * (profile[player] - 1) * (profile[other] + data[other, 2])
    return total


def _uncompilable(player, profile, data):
    """The same kind of thing, through a dict that Numba does not take."""
    return data["own"][player] * int(profile[player]) - data["cross"] * abs(int(profile.sum()) - 3)


def normal_form():
    """Three players, no potential, unequal action sets."""
    payoffs = np.random.default_rng(3).normal(size=(3, 2, 3, 2))
    return pt.games.NormalForm(payoffs)


def constrained():
    """The same with moves along a line for the second player and a one-way street for the first's two actions."""
    payoffs = np.random.default_rng(4).normal(size=(2, 3, 4))
    moves = [[[1, 2], [0], [1]], [[1], [0, 2], [1, 3], [2]]]
    return pt.games.NormalForm(payoffs, moves=moves)


def separable():
    return pt.games.Separable([[0.0, 0.7], [0.3, -0.2, 0.9], [1.0, 0.4]])


def congestion():
    menus = [[[0], [1, 2]], [[0, 1], [2]], [[1], [2], [0, 2]]]
    return pt.games.Congestion(menus, [[0.3, 0.9, 2.0], lambda load: 0.4 * load, [0.1, 0.5, 1.1]])


def coordination():
    edges = [[0, 1], [1, 2], [0, 2]]
    payoff = np.array([[[1.0, 0.2], [-0.3, 0.8]], [[0.5, 0.0], [0.0, 0.9]], [[0.0, 1.0], [1.0, 0.2]]])
    return pt.games.Coordination(edges, payoff, weights=[1.0, 0.5, 2.0], field=[[0.1, 0.0], [0.0, 0.3], [0.0, 0.0]])


def path():
    """Three actions on a path of three players: the ends do not interact."""
    payoff = np.array([[1.0, 0.2, 0.0], [0.2, 0.6, 0.1], [0.0, 0.1, 0.9]])
    return pt.games.Coordination([[0, 1], [1, 2]], payoff, moves=pt.games.path_moves(3))


@cache
def custom():
    """Made once: a custom game that is made anew is compiled anew, for every rule."""
    data = np.array([[0.5, 0.3, 0.0], [-0.2, 0.4, 1.0], [0.1, -0.3, 0.5]])
    return pt.games.custom(_tilted, [2, 2, 3], data=data, interactions=[range(3)])


def uncompiled():
    return pt.games.custom(_uncompilable, [2, 3], data={"own": [0.5, -0.4], "cross": 0.8})


COMPILED = {f.__name__: f for f in (normal_form, constrained, separable, congestion, coordination, path, custom)}
ALL = {**COMPILED, "uncompiled": uncompiled}

# Rules that remember nothing: what comes next depends on the profile alone.
MEMORYLESS = {
    "lll": {"rule": "lll", "tau": 0.4},
    "slll": {"rule": "slll", "tau": 0.4, "revision": 0.35},
    "blll": {"rule": "blll", "tau": 0.4},
    "blll-current": {"rule": "blll", "tau": 0.4, "include_current": True},
    "p-sblll": {"rule": "p-sblll", "tau": 0.4, "revision": 0.35},
    "p-sblll-unilateral": {"rule": "p-sblll", "tau": 0.4, "revision": 0.35, "trial": "unilateral"},
    "p-sblll-guard": {"rule": "p-sblll", "tau": 0.4, "revision": 0.6, "guard": True},
    "best-response": {"rule": "best-response"},
}
# Rules with scores: everybody draws at every step, by what it remembers.
SCORING = {
    "ql": {"rule": "ql", "tau": 0.4},
    "ql-decay": {"rule": "ql", "tau": 0.4, "mu": 0.2, "unplayed": "decay"},
    "soql": {"rule": "soql", "vartheta": 0.1, "zeta": 0.6, "xi": 0.5},
    "soql-adaptive": {"rule": "soql", "mu": "adaptive", "zeta": 0.6, "xi": 0.5, "noise": 0.1},
    "score": {"rule": "score", "tau": 0.4},
    "score-burg-2": {"rule": "score", "tau": 0.4, "mu": "n^-0.6", "order": 2, "choice": "burg"},
}
RULES = {**MEMORYLESS, **SCORING}
# Other points of the map, and rules that remember something finite; all but two are played by one kernel.
ADDED = {
    "metropolis": {"rule": "metropolis", "tau": 0.4},
    "mistakes": {"rule": "mistakes", "tau": 0.7},
    "better-reply": {"rule": "better-reply", "inertia": 0.2},
    "guarded": {
        **{"who": "independent", "revision": 0.6, "guard": True},
        **{"considers": "joint-trial", "chooses": "metropolis"},
        **{"tau": {"kind": "geometric", "start": 1.0, "stop": 0.1}},
    },
    "groups": {"who": "groups", "groups": [[[0, 1], 0.5], [[0], 0.5]], "considers": "trial", "chooses": "best"},
    "payoff-based": {"rule": "payoff-based", "tau": 0.4, "m": 1.0},
    "adaptive-play": {"rule": "adaptive-play", "tau": 0.5, "memory": 4, "sample": 2},
}


def is_far_fetched(game, rule):
    """Whether a pair is left to the long tests. Each rule is with two games, each game with two rules or more.

    What a rule and a game say to each other goes through one protocol, and each pair takes seconds to compile.
    """
    kinds = list(dict.fromkeys(one["rule"] for one in RULES.values()))
    first = kinds.index(RULES[rule]["rule"])
    return game in COMPILED and list(COMPILED).index(game) not in {(first + k) % len(COMPILED) for k in (0, 3)}
