"""QL and SOQL on a small game, step by step: what they score and where they settle, drawn and to be replayed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.engine import begin, watch
from potentia.games import game
from potentia.rules import Rule, rule
from potentia.web.keyframes import Keyframes
from potentia.web.making import record
from potentia.web.pages import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS, SEED, TAU, PLAYER = 60, 0, 1.0, 0
GAME, ACTIONS = "stag-hunt", ("the stag", "the hare")


def _rules() -> dict[str, Rule]:
    return {"QL": rule("ql", tau=TAU), "SOQL": rule("soql")}


@cache
def watched() -> dict[str, Any]:
    """Scores and strategies of both at every step."""
    return {name: watch(game(GAME), chosen, STEPS, SEED) for name, chosen in _rules().items()}


def figure(title: str) -> Figure:
    """Both side by side, of one player."""
    from potentia.figures import values_figure

    return values_figure(watched(), player=PLAYER, title=title)


def replay(title: str) -> str:
    """The page that replays both."""
    made = {}
    for name, chosen in _rules().items():
        frames = Keyframes(begin(game(GAME), chosen, SEED, record=("profile", "welfare"), horizon=STEPS))
        made[name] = record(frames.play(STEPS, 1).trace(), label=name, keyframes=frames)
    return page(made, title)


def facts() -> dict[str, Any]:
    """What the words about it tell."""
    strategies = {name: run.strategy.values[:, PLAYER] for name, run in watched().items()}
    best = {name: np.nanargmax(values, axis=1) for name, values in strategies.items()}
    told: dict[str, Any] = {"player": f"player {PLAYER}", "seed": SEED}
    for name, actions in best.items():
        changes, key = np.flatnonzero(np.diff(actions)) + 1, name.lower()
        told |= {key: f"{np.nanmax(strategies[name][-1]):.3f}", f"{key}_changes": changes.size}
        told |= {f"{key}_last": ACTIONS[actions[-1]], f"{key}_when": int(changes[-1]) if changes.size else 0}
    stag, hare = game(GAME).utility(0, (0, 0)), game(GAME).utility(0, (1, 1))
    return {"steps": STEPS, "tau": TAU, "stag": stag, "hare": hare, **told}
