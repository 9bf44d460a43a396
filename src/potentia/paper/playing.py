"""How single runs are played that are shown and replayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potentia.beliefs import Belief
from potentia.engine import begin
from potentia.games import Coverage
from potentia.rules import Rule
from potentia.web.keyframes import Keyframes
from potentia.web.making import record as recording
from potentia.web.recordings import Recording

Rules = Mapping[str, Rule]
Beliefs = Mapping[str, Belief | None]
_WATCHED = ("profile", "worth_union", "worth_sum")


def recordings(
    game: Coverage,
    rules: Rules,
    steps: int,
    seed: int,
    *,
    keyframes: int,
    beliefs: Beliefs | None = None,
    best: Any = None,
) -> dict[str, Recording]:
    """One run of each rule from the same start, step by step, with what robots think every ``keyframes`` steps."""
    out = {}
    for name, chosen in rules.items():
        belief = (beliefs or {}).get(name)
        frames = Keyframes(begin(game, chosen, seed, record=_WATCHED, horizon=steps, belief=belief))
        trace = frames.play(steps, keyframes).trace()
        out[name] = recording(trace, optimum=best, label=name, keyframes=frames)
    return out
