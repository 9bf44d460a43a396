"""The best profile of a congestion game: only how many players take each strategy matters.

Φ and welfare are minus a cost Σ_r T_r(load_r), with T_r(l) = Σ_{k ≤ l} c_r(k) for the potential (Rosenthal 1973) and
l c_r(l) for the welfare. Players with the same strategies are alike. With n_s of them on strategy s, and z_rk ∈ [0, 1]
that says whether a k-th player is on resource r,

    min Σ_r Σ_k (T_r(k) - T_r(k - 1)) z_rk   with   Σ_k z_rk = Σ_{s ∋ r} n_s,   Σ_s n_s = the players of each menu.

Where T_r is convex (for Φ: where costs do not fall), cheap z_rk come first by themselves. Else z_rk is 0 or 1 and falls
in k. If all T_r are convex and no strategy uses two resources, this is a flow of least cost: its corners are whole
numbers, and a linear program is enough. If all players have the same strategies too, the cheapest z_rk are the answer.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from potentia.analysis.graphical import Found
from potentia.analysis.programs import Program, solve
from potentia.games import Congestion
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints

_ROUND = 1e-12


class Menu(NamedTuple):
    """Players who have the same strategies."""

    strategies: tuple[tuple[int, ...], ...]
    players: list[int]


def worth(game: Congestion, objective: str, loads: Ints) -> float:
    """The potential or the welfare where these are the loads."""
    costs = zip(game.costs, loads.tolist(), strict=True)
    if objective == "welfare":
        return 0.0 - math.fsum(load * float(cost[load - 1]) for cost, load in costs if load)
    return 0.0 - math.fsum(float(cost[:load].sum()) for cost, load in costs)  # never -0


def best_loads(game: Congestion, objective: str, time_limit: float, gap: float) -> Found:
    """The profile with the largest potential or welfare."""
    memory.require(400 * sum(map(len, game.costs)), "a program for all loads of a congestion game")
    menus = _menus(game)
    steps = [_steps(cost, objective) for cost in game.costs]
    convex = [bool((np.diff(s) >= -_ROUND * np.abs(s).max(initial=0.0)).all()) for s in steps]
    single = all(len(strategy) <= 1 for menu in menus for strategy in menu.strategies)
    if single and len(menus) == 1 and all(convex):
        profile = _cheapest(menus[0], steps)
        return Found(profile, worth(game, objective, game.loads(profile)), "flow")
    program = Program()
    users: list[list[tuple[int, float]]] = [[] for _ in steps]
    first: list[Ints] = []
    flow = single and all(convex)
    for menu in menus:
        chosen = program.add(np.zeros(len(menu.strategies)), len(menu.players), whole=not flow)
        program.row([(int(k), 1.0) for k in chosen], float(len(menu.players)))
        for k, strategy in zip(chosen.tolist(), menu.strategies, strict=True):
            for resource in strategy:
                users[resource].append((k, -1.0))
        first.append(chosen)
    for cost, risen, those in zip(steps, convex, users, strict=True):
        if not cost.size:
            continue
        filled = program.add(cost, whole=not risen)
        program.row([*((int(k), 1.0) for k in filled), *those], 0.0)
        for one, other in itertools.pairwise(filled) if not risen else ():
            program.row([(int(one), 1.0), (int(other), -1.0)], 0.0, math.inf)
    answer = solve(program, time_limit, gap)
    if answer.values is None:
        profile = _one_by_one(game, steps)
    else:
        profile = np.zeros(game.num_players, np.int64)
        for menu, chosen in zip(menus, first, strict=True):
            profile[menu.players] = _spread(answer.values[chosen], len(menu.players))
    value = worth(game, objective, game.loads(profile))
    least = math.fsum(float(np.cumsum(s).min(initial=0.0)) for s in steps)  # each resource at its best load
    bound = answer.settled(min(-answer.bound, -least), value)
    return Found(profile, bound, "flow" if flow else "milp", answer.stopped)


def _menus(game: Congestion) -> list[Menu]:
    found: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for player in range(game.num_players):
        found.setdefault(game.menu(player), []).append(player)
    return [Menu(*each) for each in found.items()]


def _steps(cost: Floats, objective: str) -> Floats:
    """What each further player on a resource adds to the total."""
    if objective == "potential":
        return cost
    return np.diff(cost * np.arange(1, cost.size + 1), prepend=0.0)


def _cheapest(menu: Menu, steps: list[Floats]) -> Ints:
    """Each player in turn takes what is cheapest then, all at once; a strategy without resources costs nothing."""
    count = len(menu.players)
    prices = [steps[s[0]][:count] if s else np.zeros(count) for s in menu.strategies]
    seen: set[int] = set()
    for k, strategy in enumerate(menu.strategies):  # a strategy that is listed twice is one
        if strategy and strategy[0] in seen:
            prices[k] = np.zeros(0)
        seen.update(strategy)
    owner = np.repeat(np.arange(len(prices)), [p.size for p in prices])
    # costs rise but for rounding; they are taken in their order
    taken = np.argsort(np.concatenate([np.maximum.accumulate(p) for p in prices]), kind="stable")[:count]
    return np.sort(owner[taken])


def _spread(shares: Floats, players: int) -> Ints:
    """So many players on strategies, as whole numbers near the shares."""
    counts = np.rint(shares).astype(np.int64)
    counts[int((counts - shares).argmax() if counts.sum() > players else (shares - counts).argmax())] += (
        players - counts.sum()
    )
    return np.repeat(np.arange(shares.size), counts)


def _one_by_one(game: Congestion, steps: list[Floats]) -> Ints:
    """Each player in turn takes the strategy that adds least then."""
    loads = np.zeros(game.num_resources, np.int64)
    profile = np.zeros(game.num_players, np.int64)
    for player in range(game.num_players):
        menu = game.menu(player)
        profile[player] = np.argmin([sum(steps[r][loads[r]] for r in strategy) for strategy in menu])
        loads[list(menu[profile[player]])] += 1
    return profile
