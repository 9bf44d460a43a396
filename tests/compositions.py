"""Who × considers × chooses by plain enumeration, and the compositions that tests run over.

Written from the definitions and nothing else: it knows a game through ``game.utility`` and ``game.reachable`` only.
The temperature enters as ε = e^{-1/τ} alone, so that the same enumeration gives probabilities (ε a float) and leading
terms (ε a Decimal so small that each probability shows its order).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from decimal import Decimal, localcontext
from functools import cache

import numpy as np

import potentia as pt
from tests import oracle

TINY = Decimal("1e-40")


@cache
def utility(game, player, profile):
    """Asked for by hundreds of rules."""
    return game.utility(player, profile)


def decided(values, current, how, eps, ties="uniform", inertia=0.0):
    """The law over the options in ``values``, a utility for each."""
    top = max(values.values())
    one = eps / eps
    best = [a for a in values if values[a] == top]
    if how == "logit":
        weights = {a: eps ** (top - values[a]) for a in values}
        return {a: w / sum(weights.values()) for a, w in weights.items()}
    if how == "best":
        if ties == "stay" and current in best:
            return {current: one}
        return {a: one / len(best) for a in best}
    if how == "better":
        better = [a for a in values if values[a] > values[current]]
        if not better:
            return {current: one}
        law = {a: one * (1 - type(one)(str(inertia))) / len(better) for a in better}
        return {**law, current: one * type(one)(str(inertia))}
    if how == "mistakes":
        return {a: eps / len(values) + ((1 - eps) / len(best) if a in best else 0) for a in values}
    (trial,) = [a for a in values if a != current] or [current]
    loss = values[current] - values[trial]
    accepted = one if loss <= 0 else eps**loss
    return {current: one} if trial == current else {trial: accepted, current: one - accepted}


def waking(game, rule, profile, eps):
    """Sets of players that wake, with their probabilities."""
    players, one = range(game.num_players), eps / eps
    if rule["who"] == "one":
        return [((i,), one / game.num_players) for i in players]
    if rule["who"] == "groups":
        return [(members, type(one)(str(p))) for members, p in rule["groups"]]
    if rule["who"] == "all":
        return [(tuple(players), one)]
    revision = rule["revision"]
    if isinstance(revision, dict):
        rp = [eps ** type(one)(str(revision["vanishing"]))] * game.num_players
    elif isinstance(revision, float):
        rp = [type(one)(str(revision))] * game.num_players
    else:
        rp = [type(one)(str(revision[i][profile[i]])) for i in players]
    sets = []
    for awake in itertools.product((False, True), repeat=game.num_players):
        p = math.prod(rp[i] if awake[i] else 1 - rp[i] for i in players)
        sets.append((tuple(i for i in players if awake[i]), p))
    return sets


def step(game, rule, profile, eps, neighbours):
    """The law of the next profile."""
    out, one = defaultdict(type(eps)), eps / eps
    how = {name: rule[name] for name in ("ties", "inertia") if name in rule}
    for woken, p in waking(game, rule, profile, eps):
        kept = oracle.guarded_sets(woken, neighbours) if rule.get("guard") else [(woken, 1.0)]
        lefts = defaultdict(int)
        for left, _ in kept:
            lefts[left] += 1
        for awake, times in lefts.items():
            q = p * times / sum(lefts.values())
            if rule["considers"] == "joint-trial":
                _joint(game, rule, profile, eps, awake, q, how, out)
                continue
            laws = {}
            for i in awake:
                menus = _menus(game, rule, profile, i)
                law = defaultdict(type(eps))
                for menu in menus:
                    values = {a: _exact(utility(game, i, oracle.with_action(profile, i, a)), eps) for a in menu}
                    for a, r in decided(values, profile[i], rule["chooses"], eps, **how).items():
                        law[a] += r / len(menus)
                laws[i] = law
            for state, r in oracle.product_law(profile, laws, one).items():
                out[state] += q * r
    return out


def _exact(value, eps):
    return Decimal(value) if isinstance(eps, Decimal) else value


def _menus(game, rule, profile, player):
    """Every set of actions that may be considered, each equally likely."""
    own = profile[player]
    reach = game.reachable(player, own)
    if rule["considers"] == "all":
        return [{own, *reach}]
    pool = [*reach, own] if rule.get("include_current") else reach
    return [{own, *drawn} for drawn in itertools.combinations(pool, min(rule.get("k", 1), len(pool)))]


def _joint(game, rule, profile, eps, awake, p, how, out):
    menus = [oracle.trials(game, profile, i, rule.get("include_current", False)) for i in awake]
    for acts in itertools.product(*menus):
        joint = profile
        for i, a in zip(awake, acts, strict=True):
            joint = oracle.with_action(joint, i, a)
        laws = {}
        for i, a in zip(awake, acts, strict=True):
            values = {profile[i]: _exact(utility(game, i, profile), eps)}
            if a != profile[i]:
                values[a] = _exact(utility(game, i, joint), eps)
            laws[i] = decided(values, profile[i], rule["chooses"], eps, **how)
        for state, r in oracle.product_law(profile, laws, eps / eps).items():
            out[state] += p * r / math.prod(len(m) for m in menus)


def rows(game, rule, eps, neighbours):
    """The matrix over all profiles, as a list of dicts."""
    return [step(game, rule, profile, eps, neighbours) for profile in oracle.profiles(game)]


def matrix(game, rule, tau, neighbours):
    """The transition matrix at this temperature."""
    place = {s: k for k, s in enumerate(oracle.profiles(game))}
    out = np.zeros((len(place), len(place)))
    for k, row in enumerate(rows(game, rule, math.exp(-1.0 / tau), neighbours)):
        for state, p in row.items():
            out[k, place[state]] += p
    return out


def leading(game, rule, neighbours):
    """Coefficients and resistances as τ → 0; a resistance is inf where there is no way."""
    place = {s: k for k, s in enumerate(oracle.profiles(game))}
    c, r = np.zeros((len(place),) * 2), np.full((len(place),) * 2, np.inf)
    with localcontext() as context:
        context.prec = 120  # three orders of what is tiny
        for k, row in enumerate(rows(game, rule, TINY, neighbours)):
            for state, p in row.items():
                if p > 0:
                    order = round(float(p.ln() / TINY.ln()))
                    r[k, place[state]], c[k, place[state]] = order, float(p / TINY**order)
    return c, r


# What is composed -------------------------------------------------------------------------------------------


def _who(players):
    groups = [((0, 1), 0.5), ((players - 1,), 0.3), (tuple(range(players)), 0.2)]
    return {
        "one": {"who": "one"},
        "independent": {"who": "independent", "revision": 0.3},
        "guarded": {"who": "independent", "revision": 0.6, "guard": True},
        "groups": {"who": "groups", "groups": groups},
        "guarded groups": {"who": "groups", "groups": groups, "guard": True},
        "everybody": {"who": "all"},
        "everybody guarded": {"who": "all", "guard": True},
        "vanishing": {"who": "independent", "revision": {"vanishing": 2.0}},
    }


CONSIDERS = {
    "all": {"considers": "all"},
    "trial": {"considers": "trial"},
    "trial or own": {"considers": "trial", "include_current": True},
    "two trials": {"considers": "trial", "k": 2},
    "two of all": {"considers": "trial", "k": 2, "include_current": True},
    "joint": {"considers": "joint-trial"},
    "joint or own": {"considers": "joint-trial", "include_current": True},
}
CHOOSES = {
    "logit": {"chooses": "logit", "tau": 0.7},
    "best": {"chooses": "best"},
    "best or stay": {"chooses": "best", "ties": "stay"},
    "better": {"chooses": "better"},
    "inert": {"chooses": "better", "inertia": 0.25},
    "mistakes": {"chooses": "mistakes", "tau": 0.7},
    "metropolis": {"chooses": "metropolis", "tau": 0.7},
}


def compositions(players=3):
    """All that mean something, by name."""
    out = {}
    for (a, who), (b, considers), (c, chooses) in itertools.product(
        _who(players).items(), CONSIDERS.items(), CHOOSES.items()
    ):
        if c == "metropolis" and (b == "all" or considers.get("k")):
            continue
        if a == "vanishing" and "tau" not in chooses:
            continue
        out[f"{a} × {b} × {c}"] = {**who, **considers, **chooses}
    return out


def integer_games():
    """Five small games with whole payoffs, ties among them, and two actions to try everywhere."""
    random = np.random.default_rng(8)
    line = pt.games.path_moves(3)
    agree = np.array([[2, 0, 1], [0, 1, 0], [1, 0, 3]])
    return {
        "two players": pt.games.NormalForm(random.integers(0, 4, size=(2, 3, 3))),
        "three players": pt.games.NormalForm(random.integers(0, 3, size=(3, 3, 2, 3))),
        "on a line": pt.games.NormalForm(random.integers(0, 4, size=(2, 3, 4)), moves=[line, pt.games.path_moves(4)]),
        "path": pt.games.Coordination([[0, 1], [1, 2]], agree),
        "congestion": pt.games.Congestion([[0], [1], [0, 1]], [[1, 2, 4], [1, 3, 3]], num_players=2),
    }
