"""How everything here is played: batches of rules from the same starts, and single runs to show and to replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from potentia.beliefs import Belief
from potentia.engine import begin, run, run_batch
from potentia.games import Coverage
from potentia.kernel.arrays import Ints
from potentia.rules import Rule
from potentia.studies.coverage import RECORD, spacing
from potentia.web.keyframes import Keyframes
from potentia.web.making import record as recording
from potentia.web.recordings import Recording

if TYPE_CHECKING:
    import xarray

Rules = Mapping[str, Rule]
Beliefs = Mapping[str, Belief | None]
_WATCHED = ("profile", "worth_union", "worth_sum")


def play(
    game: Coverage,
    rules: Rules,
    steps: int,
    seeds: Sequence[int],
    *,
    beliefs: Beliefs | None = None,
    record: str | Sequence[str] = RECORD,
    every: int | None = None,
    workers: int = 2,
) -> dict[str, xarray.Dataset]:
    """A batch of each rule, from the same starts; with a belief where one is named.

    Ctrl-C raises: half a study has no verdicts.
    """
    out, thin = {}, spacing(steps) if every is None else every
    for name, chosen in rules.items():
        belief = (beliefs or {}).get(name)
        out[name] = run_batch(game, chosen, steps, seeds, record=record, every=thin, workers=workers, belief=belief)
        if out[name].attrs["interrupted"]:
            raise KeyboardInterrupt
    return out


def profiles(
    game: Coverage, rules: Rules, steps: int, seed: int, *, beliefs: Beliefs | None = None, every: int = 1
) -> dict[str, Ints]:
    """Profiles over time of one run of each rule, from the same start."""
    known = beliefs or {}
    return {
        name: run(game, chosen, steps, seed, belief=known.get(name), every=every).profiles
        for name, chosen in rules.items()
    }


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
