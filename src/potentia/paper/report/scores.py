"""QL and SOQL on a small game, step by step: what they score and where they settle, drawn and to be replayed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.engine import begin, watch
from potentia.games import NormalForm, game
from potentia.paper.small_games import payoffs_of
from potentia.rules import Rule, rule
from potentia.web.keyframes import Keyframes
from potentia.web.making import record
from potentia.web.pages import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS, SEED, TAU, PLAYER = 60, 0, 1.0, 0
GAME, ACTIONS = "stag-hunt", ("stag", "hare")


def _hunt() -> NormalForm:
    """The game with names for its actions."""
    return NormalForm(payoffs_of(game(GAME)), actions=ACTIONS, title=GAME)


def _rules() -> dict[str, Rule]:
    return {"QL": rule("ql", tau=TAU), "SOQL": rule("soql")}


@cache
def watched() -> dict[str, Any]:
    """Scores and strategies of both at every step."""
    return {name: watch(_hunt(), chosen, STEPS, SEED) for name, chosen in _rules().items()}


def figure(title: str) -> Figure:
    """Both side by side, of one player."""
    from potentia.figures import values_figure

    drawn = values_figure(watched(), player=PLAYER, title=title)
    for text, name in zip(drawn.legends[0].get_texts(), ACTIONS, strict=True):
        text.set_text(name)
    for axes in drawn.axes[-2:]:  # what was played
        axes.set_yticks(range(len(ACTIONS)), ACTIONS)
    return drawn


def replay(title: str) -> str:
    """The page that replays both."""
    made = {}
    for name, chosen in _rules().items():
        frames = Keyframes(begin(_hunt(), chosen, SEED, record=("profile", "welfare"), horizon=STEPS))
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
        told |= {f"{key}_last": f"the {ACTIONS[actions[-1]]}", f"{key}_when": int(changes[-1]) if changes.size else 0}
    stag, hare = game(GAME).utility(0, (0, 0)), game(GAME).utility(0, (1, 1))
    return {"steps": STEPS, "tau": TAU, "stag": stag, "hare": hare, **told}
