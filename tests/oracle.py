"""Exact one-step laws of every rule by plain enumeration: the oracle of the statistical tests.

Written from the paper and from nothing else. It knows a game only through ``game.utility`` and
``game.reachable`` and shares no code with the engine or the rules. Slow and obvious on purpose.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np


def profiles(game):
    """All profiles, in C order."""
    return list(itertools.product(*(range(a) for a in game.num_actions)))


def with_action(profile, player, action):
    return (*profile[:player], action, *profile[player + 1 :])


def softmax(values, tau):
    top = max(values)
    weights = [math.exp((v - top) / tau) for v in values]
    return [w / math.fsum(weights) for w in weights]


def options(game, profile, player):
    """Every action the player may choose: all, or its own and the reachable ones."""
    own = profile[player]
    return sorted({own, *game.reachable(player, own)})


def logit(game, profile, player, tau):
    acts = options(game, profile, player)
    return dict(
        zip(acts, softmax([game.utility(player, with_action(profile, player, a)) for a in acts], tau), strict=True)
    )


def best(game, profile, player, ties="uniform"):
    acts = options(game, profile, player)
    values = {a: game.utility(player, with_action(profile, player, a)) for a in acts}
    top = [a for a in acts if values[a] == max(values.values())]
    if ties == "stay" and profile[player] in top:
        return {profile[player]: 1.0}
    return dict.fromkeys(top, 1 / len(top))


def trials(game, profile, player, include_current):
    own = profile[player]
    acts = game.reachable(player, own) + ([own] if include_current else [])
    return acts or [own]


def accept(now, then, tau):
    return softmax([now, then], tau)[1]


def one_player(game, law):
    """One uniformly random player redraws from ``law(profile, player)``."""

    def step(profile):
        out = defaultdict(float)
        for player in range(game.num_players):
            for action, p in law(profile, player).items():
                out[with_action(profile, player, action)] += p / game.num_players
        return out

    return step


def lll(game, tau):
    return one_player(game, lambda profile, player: logit(game, profile, player, tau))


def best_response(game, ties="uniform"):
    return one_player(game, lambda profile, player: best(game, profile, player, ties))


def blll(game, tau, include_current=False):
    def law(profile, player):
        out = defaultdict(float)
        acts = trials(game, profile, player, include_current)
        now = game.utility(player, profile)
        for trial in acts:
            p = accept(now, game.utility(player, with_action(profile, player, trial)), tau)
            out[trial] += p / len(acts)
            out[profile[player]] += (1 - p) / len(acts)
        return out

    return one_player(game, law)


def wake_sets(game, wake, profile):
    """Every set of awake players with its probability; ``wake(player, action)`` is the revision probability."""
    players = range(game.num_players)
    for size in range(game.num_players + 1):
        for awake in itertools.combinations(players, size):
            p = math.prod(wake(i, profile[i]) if i in awake else 1 - wake(i, profile[i]) for i in players)
            if p > 0:
                yield awake, p


def product_law(profile, laws, one=1.0):
    """The joint law when the players of ``laws`` redraw independently and the others stay."""
    out = {profile: one}
    for player, law in laws.items():
        grown = defaultdict(type(one))
        for state, p in out.items():
            for action, q in law.items():
                grown[with_action(state, player, action)] += p * q
        out = grown
    return out


def slll(game, tau, wake=None, groups=None):
    def step(profile):
        out = defaultdict(float)
        sets = groups if groups is not None else wake_sets(game, wake, profile)
        for awake, p in sets:
            laws = {i: logit(game, profile, i, tau) for i in awake}
            for state, q in product_law(profile, laws).items():
                out[state] += p * q
        return out

    return step


def guarded_sets(awake, neighbours):
    """Who is left of ``awake`` under each order of priorities, each equally likely."""
    count = math.factorial(len(awake))
    for order in itertools.permutations(awake):
        rank = {player: place for place, player in enumerate(order)}
        yield tuple(i for i in awake if all(rank[i] < rank[j] for j in awake if j in neighbours[i])), 1 / count


def p_sblll(game, tau, wake, trial="joint", guard=False, include_current=False, neighbours=None):
    """Eq. 10-11, summed over all wake sets, priorities, trials and decisions."""

    def step(profile):
        out = defaultdict(float)
        for woken, p in wake_sets(game, wake, profile):
            for awake, q in guarded_sets(woken, neighbours) if guard else [(woken, 1.0)]:
                menus = [trials(game, profile, i, include_current) for i in awake]
                for acts in itertools.product(*menus):
                    r = p * q / math.prod(len(m) for m in menus)
                    joint = profile
                    for i, a in zip(awake, acts, strict=True):
                        joint = with_action(joint, i, a)
                    laws = {}
                    for i, a in zip(awake, acts, strict=True):
                        target = joint if trial == "joint" else with_action(profile, i, a)
                        yes = accept(game.utility(i, profile), game.utility(i, target), tau)
                        law = defaultdict(float)
                        law[a] += yes
                        law[profile[i]] += 1 - yes
                        laws[i] = law
                    for state, s in product_law(profile, laws).items():
                        out[state] += r * s
        return out

    return step


def matrix(game, step):
    """The transition matrix over :func:`profiles`."""
    states = profiles(game)
    place = {s: k for k, s in enumerate(states)}
    out = np.zeros((len(states), len(states)))
    for s in states:
        for t, p in step(s).items():
            out[place[s], place[t]] += p
    np.testing.assert_allclose(out.sum(axis=1), 1.0, atol=1e-12)
    return out


def stationary(transition):
    """The stationary law, by solving the balance equations."""
    size = len(transition)
    system = np.vstack([transition.T - np.eye(size), np.ones(size)])
    return np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)[0]
