"""The guard: of awake players that interact, only the one of highest priority revises.

Two ways to know who interacts: groups that do not change (edges, resources), and distances between players
that move in the plane, found with buckets so that nobody looks at everybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.games.grid import SLACK
from potentia.kernel.dispatch import generic
from potentia.kernel.draws import PRIORITY, uniform
from potentia.kernel.protocol import Interactions, Proximity
from potentia.rules.base import Memory


@generic
def keep_champions(interactions: Any, memory: Memory, state: Any, awake: int, key: Any, players: int, n: int) -> int:
    """Keep the awake players who beat every awake player they interact with; return how many."""
    raise NotImplementedError("these interactions have no guard")


@keep_champions.register(Interactions)
def _by_groups(
    interactions: Interactions, memory: Memory, state: Any, awake: int, key: Any, players: int, n: int
) -> int:
    champion = memory.champion
    priority = memory.before  # not yet in use
    for k in range(awake):
        player = memory.awake[k]
        for g in range(interactions.ptr[player], interactions.ptr[player + 1]):
            champion[interactions.groups[g]] = -1
    for k in range(awake):
        player = memory.awake[k]
        priority[k] = uniform(key, players, n, player, PRIORITY)
        for g in range(interactions.ptr[player], interactions.ptr[player + 1]):
            group = interactions.groups[g]
            # champions are places in ``awake``; a tie goes to the earlier one
            if champion[group] < 0 or priority[k] > priority[champion[group]]:
                champion[group] = k
    kept = 0
    for k in range(awake):
        player = memory.awake[k]
        wins = True
        for g in range(interactions.ptr[player], interactions.ptr[player + 1]):
            wins = wins and champion[interactions.groups[g]] == k
        if wins:
            memory.awake[kept] = player
            kept += 1
    return kept


@keep_champions.register(Proximity)
def _by_distance(
    interactions: Proximity, memory: Memory, state: Any, awake: int, key: Any, players: int, n: int
) -> int:
    first, link = memory.champion, memory.link  # places in ``awake`` + 1; between steps every bucket is empty
    priority, bucket = memory.before, memory.trial  # not yet in use
    place, radius, side, columns = interactions.place, interactions.radius, interactions.side, interactions.columns
    for k in range(awake):
        player = memory.awake[k]
        priority[k] = uniform(key, players, n, player, PRIORITY)
        action = state.profile[player]
        b = (np.int64(place[action, 1]) // side + 1) * columns + np.int64(place[action, 0]) // side + 1
        bucket[k] = b
        link[k] = first[b]
        first[b] = k + 1
    for k in range(awake):
        player = memory.awake[k]
        action = state.profile[player]
        x, y = np.int64(place[action, 0]), np.int64(place[action, 1])
        wins = True
        for near in range(9):
            other = first[bucket[k] + (near // 3 - 1) * columns + near % 3 - 1]
            while wins and other > 0:
                j = other - 1
                if priority[j] > priority[k] or (priority[j] == priority[k] and j < k):
                    rival = memory.awake[j]
                    there = state.profile[rival]
                    dx, dy = np.int64(place[there, 0]) - x, np.int64(place[there, 1]) - y
                    reach = radius[player] + radius[rival]
                    wins = dx * dx + dy * dy > reach * reach * SLACK
                other = link[j]
        memory.after[k] = 1.0 if wins else 0.0  # decided later: the others still look it up
    kept = 0
    for k in range(awake):
        first[bucket[k]] = 0
        if memory.after[k] > 0.0:
            memory.awake[kept] = memory.awake[k]
            kept += 1
    return kept
