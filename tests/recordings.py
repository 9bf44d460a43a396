"""Random runs of every kind, for tests that record them and rebuild them: on maps with walls, drift, flags,
events and beliefs, and on all other games."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import potentia as pt
from potentia.games import Coverage, World, gaussian_world
from tests import games
from tests.coverage_cases import crowded

RULES_ON_MAPS = (
    {"rule": "blll", "tau": 0.1},
    {"rule": "p-sblll", "tau": 0.1, "revision": 0.6},
    {"rule": "soql"},
    {"rule": "p-sblll", "tau": 0.1, "revision": 0.8, "guard": True},
    {"rule": "ql", "tau": 0.1},
    {"rule": "slll", "tau": 0.2, "revision": 0.5},
)
EVENTFUL = (3, 6, 8, 11, 14, 15, 18, 20, 21)  # of the maps
BELIEFS = (None, {"belief": "constant", "value": 0.5}, None, {"belief": "mixture", "components": 2}, None)


class Case(NamedTuple):
    """What is played, and for how long."""

    game: Any
    rule: Any
    belief: Any
    seed: int
    steps: int

    def begin(self):
        return pt.begin(self.game, self.rule, self.seed, horizon=self.steps, belief=self.belief, compiled=False)

    def trace(self, **options):
        """The run, with every step recorded."""
        run = self.begin()
        return run.advance(self.steps).trace()


def case(number: int) -> Case:
    """Every second one on a map."""
    random = np.random.default_rng(number)
    if number % 2 == 0:
        return _on_map(number // 2, random)
    names = list(games.ALL)
    game = games.ALL[names[number // 2 % len(names)]]()
    rules = list(games.RULES.values())
    rule = rules[number // 2 % len(rules)]
    return Case(game, rule, None, number, int(random.integers(20, 150)))


def _on_map(number: int, random: np.random.Generator) -> Case:
    columns, rows, robots = (int(random.integers(*span)) for span in ((5, 12), (4, 9), (1, 5)))
    belief, drift = BELIEFS[number % len(BELIEFS)], None
    if number % 3 == 0 or (belief and belief["belief"] == "mixture"):
        means = random.uniform(0.2, 0.8, (2, 2)) * (columns, rows)
        world = gaussian_world((columns, rows), [0.6, 0.4], means, [np.eye(2), 2 * np.eye(2)])
        drift = random.uniform(-0.2, 0.2, 2) if belief is None else None
    else:
        worth = random.random((rows, columns)) ** 2
        cells = random.integers(0, (columns, rows), (2, 2))
        world = World(worth, blocked=random.random((rows, columns)) < 0.15, targets=cells).largest_part()
    delta = [1.5, random.choice([0.0, 1.0, 2.0, 2.5], robots)][number % 2]
    flags = (None, "cell", "range")[number % 3 - 1]
    options = {"flags": flags is not None, "flag": flags or "cell", "K": 0.01 * (number % 2)}
    options |= {"reach": ("adjacent", 2.0)[number % 4 == 3], "drift": drift, "drift_every": 7}
    options |= {"sight": number % 4 in (1, 2), "blocked_worth": (None, True)[number % 4 == 2]}
    robots, come = min(robots, world.num_free), 0
    if number in EVENTFUL:
        options["events"] = ["arrive 7", "fail 0@15", "arrive 12", f"fail {robots}@18"]
        come = 2
    game = Coverage(world, robots, np.resize(delta, robots + come), **options)
    rule = RULES_ON_MAPS[number % len(RULES_ON_MAPS)]
    return Case(game, rule, belief, number, int(random.integers(20, 60)) if belief else int(random.integers(20, 200)))


def everything(kind: str, **changes: Any) -> Case:
    """Sight, events, a hazard, flags, costs, a world that changes in this way, and a belief that forgets.

    ``changes`` are of the world.
    """
    belief = {"belief": "mixture", "components": 2, "half_life": 8.0, "noise": 0.02, "communication": {"radius": 3.0}}
    crowd = crowded(kind, "hazard 0.005")
    game = replace(crowd, world=crowd.world.like(**changes)).game if changes else crowd.game
    return Case(game, RULES_ON_MAPS[3], belief, 7, 26)
