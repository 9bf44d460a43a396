"""Random games and every rule with every option, for the tests of stability."""

from __future__ import annotations

import itertools
import math

import numpy as np

import potentia as pt
from potentia.analysis import chain
from potentia.games import path_moves
from potentia.rules import Groups, Vanishing
from tests.exact.test_stationary import symmetric_moves

GAMES = 240
LARGEST = 36  # profiles
COLD = 0.03  # e^{-1/τ} = 3e-15: what a resistance of 1 more leaves

OPTIONS = [
    {"trial": trial, "guard": guard, "include_current": current}
    for trial, guard, current in itertools.product(("joint", "unilateral"), (False, True), (False, True))
]


def per_action(sizes):
    return tuple(tuple(0.2 + 0.2 * ((i + a) % 4) for a in range(n)) for i, n in enumerate(sizes))


def groups(sizes):
    """Pairs of neighbours and everybody alone."""
    players = range(len(sizes))
    sets = [(i, i + 1) for i in players[:-1]] + [(i,) for i in players]
    return Groups([(members, 1 / len(sets)) for members in sets])


REVISIONS = {
    "same": lambda sizes: 0.3,
    "per action": per_action,
    "vanishing": lambda sizes: Vanishing(1.0),
    "vanishing slower": lambda sizes: Vanishing(2.5),
}
# name, options, revision: every rule with every option
RULES = [
    ("lll", {}, None),
    ("blll", {}, None),
    ("blll", {"include_current": True}, None),
    ("slll", {}, groups),
    *(("slll", {}, revision) for revision in REVISIONS.values()),
    *(("p-sblll", options, revision) for options in OPTIONS for revision in REVISIONS.values()),
]


def make_rule(place, sizes, tau=1.0):
    name, options, revision = RULES[place]
    wake = {} if revision is None else {"revision": revision(sizes)}
    return pt.rule(name, tau=tau, **options, **wake)


def random_sizes(random, largest=LARGEST):
    while True:
        sizes = tuple(int(n) for n in random.integers(2, 5, size=random.integers(2, 5)))
        if math.prod(sizes) <= largest:
            return sizes


def integer_payoffs(random, sizes, has_potential):
    """Integers from 0 to 4; with a potential, half of each payoff is a term of the others' actions only."""
    if not has_potential:
        return random.integers(0, 5, size=(len(sizes), *sizes)).astype(float)
    phi = random.integers(0, 3, size=sizes)
    others = [tuple(1 if k == i else n for k, n in enumerate(sizes)) for i in range(len(sizes))]
    return np.array([phi + random.integers(0, 3, size=shape) for shape in others]).astype(float)


def random_moves(random, sizes):
    """For each player a path, a one-way circle or a random connected graph."""
    kinds = (
        path_moves,
        lambda n: np.roll(np.eye(n, dtype=bool), 1, axis=1),
        lambda n: symmetric_moves(random, n),
    )
    return [kinds[random.integers(3)](n) for n in sizes]


def integer_games():
    """(place of the rule, payoffs, moves): every rule plays games with and without potential, complete and not."""
    random = np.random.default_rng(30)
    for k in range(GAMES):
        sizes = random_sizes(random)
        payoffs = integer_payoffs(random, sizes, has_potential=k % 2 == 0)
        moves = random_moves(random, sizes) if k // (2 * len(RULES)) % 3 == 2 else None
        yield k // 2 % len(RULES), payoffs, moves


def assert_agree(one, other, within=1e-10):
    np.testing.assert_array_equal(one.stable, other.stable)
    np.testing.assert_allclose(one.limit, other.limit, rtol=0, atol=within)
    np.testing.assert_allclose(one.stochastic_potential, other.stochastic_potential, rtol=1e-12, atol=1e-9)


def cold_law(game, place):
    return chain(game, make_rule(place, game.num_actions, COLD)).solve("log-gth").law
