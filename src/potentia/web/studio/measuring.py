"""The curves of a live run: what the game is about, at a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.engine import Run
from potentia.engine.playing import evaluate
from potentia.games import Game
from potentia.games.grid import SLACK
from potentia.games.sight import Sight
from potentia.web.studio.interventions import coverage_of

_ON_MAP = ("worth_union", "worth_sum", "distance")


def measured_names(game: Game) -> list[str]:
    """The recorders that curves show."""
    if coverage_of(game) is not None:
        return list(_ON_MAP)
    return ["potential", "welfare"] if game.has_potential else ["welfare"]


def measured(run: Run) -> tuple[float, ...]:
    """Their values now."""
    if coverage_of(run.game) is None:
        found = evaluate(run.game, run.profile)
        return tuple(found[name] for name in measured_names(run.game))
    state = getattr(run.state, "game", run.state)
    counts, worth = state.counts, state.worth
    covered = counts > 0
    return float(worth[covered].sum()), float((worth[covered] * counts[covered]).sum()), float(state.driven.sum())


Found = dict[int, tuple[int, int]]


def targets_found(run: Run, known: Found, since: int, here: bool = False) -> Found:
    """Targets that a robot came to cover after a step, or with ``here`` covers now: the step, and the robot."""
    game = coverage_of(run.game)
    if game is None or len(known) == len(game.world.targets) or isinstance(game.vision, Sight):
        return {}  # what walls hide is not followed
    steps: Any
    robots: Any
    actions: Any
    steps, robots, actions = run.changes(since)
    if here:
        lives = run.game.lives(run.state)
        robots = np.arange(run.profile.size)
        robots = robots if lives is None else robots[(lives[0] <= since) & (since < lives[1])]
        steps, actions = np.full(robots.size, since), run.profile[robots]
    cells, found = game.world.cells[actions].astype(np.int64), {}
    for target, place in enumerate(game.world.targets):
        if target not in known:
            near = ((cells - place) ** 2).sum(axis=1) <= game.delta[robots] ** 2 * SLACK
            if near.any():
                first = int(np.argmax(near))
                found[target] = (int(steps[first]), int(robots[first]))
    return found
