"""Payoff-based log-linear learning and adaptive play by plain enumeration over histories.

Written from the papers (Marden & Shamma 2012; Young 1993) and from nothing else. Like ``tests/compositions.py`` the
temperature enters as ε alone, a float for probabilities and a tiny Decimal for leading terms.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from decimal import Decimal, localcontext

import numpy as np

from tests import oracle
from tests.compositions import TINY, decided


def payoff_based(game, eps, m):
    """The law of the next (profile before, profile, who tried) as a function of the present one."""
    one = eps / eps

    def step(state):
        before, now, tried = state
        laws = []
        for i in range(game.num_players):
            if tried[i]:
                values = {now[i]: game.utility(i, now), before[i]: game.utility(i, before)}
                law = decided({a: type(one)(v) for a, v in values.items()}, now[i], "logit", eps)
                laws.append([((a, False), p) for a, p in law.items()])
            else:
                others = game.reachable(i, now[i])
                rare = eps**m if others else 0 * eps
                laws.append([((now[i], False), 1 - rare)] + [((a, True), rare / len(others)) for a in others])
        out = defaultdict(type(eps))
        for picks in itertools.product(*laws):
            then = tuple(a for (a, _), _ in picks)
            out[now, then, tuple(t for (_, t), _ in picks)] += math.prod(p for _, p in picks)
        return out

    return step, [(s, s, (False,) * game.num_players) for s in oracle.profiles(game)], lambda state: state[1]


def adaptive_play(game, eps, memory, sample):
    """The law of the next history, the latest profile last."""

    def step(history):
        now = history[-1]
        laws = []
        for i in range(game.num_players):
            acts = oracle.options(game, now, i)
            law = dict.fromkeys(acts, eps / len(acts))
            draws = list(itertools.combinations(history, sample))
            for drawn in draws:
                values = {a: sum(game.utility(i, oracle.with_action(past, i, a)) for past in drawn) for a in acts}
                best = [a for a in acts if values[a] == max(values.values())]
                for a in best:
                    law[a] += (1 - eps) / len(draws) / len(best)
            laws.append(list(law.items()))
        out = defaultdict(type(eps))
        for picks in itertools.product(*laws):
            out[(*history[1:], tuple(a for a, _ in picks))] += math.prod(p for _, p in picks)
        return out

    return step, [(s,) * memory for s in oracle.profiles(game)], lambda history: history[-1]


def everything(step, starts):
    """All states that are met, and the rows between them."""
    place, rows, waiting = {}, [], list(starts)
    for s in waiting:
        place.setdefault(s, len(place))
    order = list(place)
    k = 0
    while k < len(order):
        row = {t: p for t, p in step(order[k]).items() if p > 0}
        for t in row:
            if t not in place:
                place[t] = len(order)
                order.append(t)
        rows.append(row)
        k += 1
    return order, place, rows


def profile_law(game, made):
    """The stationary law over profiles, ε being a float."""
    step, starts, profile_of = made
    order, place, rows = everything(step, starts)
    matrix = np.zeros((len(order), len(order)))
    for k, row in enumerate(rows):
        for t, p in row.items():
            matrix[k, place[t]] += p
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-12)
    law = oracle.stationary(matrix)
    out = np.zeros(game.num_actions)
    for s, p in zip(order, law, strict=True):
        out[profile_of(s)] += p
    return out.reshape(-1)


def stable_profiles(game, make):
    """The profiles that keep a share as ε → 0: by elimination of states in Decimals, without subtraction."""
    with localcontext() as context:
        context.prec = 60
        step, starts, profile_of = make(TINY)
        order, place, rows = everything(step, starts)
        size = len(order)
        p = [[Decimal(0)] * size for _ in range(size)]
        for k, row in enumerate(rows):
            for t, q in row.items():
                p[k][place[t]] += q
        leave = [Decimal(0)] * size
        for k in range(size - 1, 0, -1):  # Grassmann, Taksar & Heyman
            leave[k] = sum(p[k][:k])
            for i in range(k):
                if p[i][k]:
                    for j in range(k):
                        if p[k][j]:
                            p[i][j] += p[i][k] * p[k][j] / leave[k]
        law = [Decimal(1)] + [Decimal(0)] * (size - 1)
        for k in range(1, size):
            law[k] = sum(law[i] * p[i][k] for i in range(k)) / leave[k]
        total = sum(law)
        return {profile_of(s) for s, q in zip(order, law, strict=True) if q / total > Decimal("1e-15")}
