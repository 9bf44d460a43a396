"""What rules with scores share: one score for each action of each player, and how play goes.

At every step all players draw an action at once, from the ones they can now reach and their own; then each
receives the utility of the joint profile. Where moving has a cost, it is part of what they receive. The scores
of all players lie in one array, those of player i from ``first[i]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Real
from potentia.kernel.numbers import as_float, is_real
from potentia.kernel.protocol import Constrained
from potentia.rules.base import Rule, most_options

MOST = 1e300  # no score goes beyond: sums and differences of scores stay finite


class ScoreMemory(NamedTuple):
    """What players remember, and room to work in. Arrays that a rule does not need are empty."""

    first: Ints  # (N + 1,)
    score: Floats  # (S,) Q, or the last stage of aggregation
    stage: Floats  # (S, K) the stages before the last
    older: Floats  # scores before the last update: of each player's last action, or of all
    weight: Floats  # (S,) SOQL's strategy, as it was at time ``since``
    since: Ints  # (S,) when an entry was last brought up to date
    visits: Ints  # (S,) how often an action was played; where SOQL's scores decay, when it was last
    fade: Floats  # (S,) log of the decay until the last update
    clock: Floats  # (2,) log of the decay until now, and until the step before
    values: Floats  # room for one player's options
    weights: Floats
    room: Floats  # room for all players' options, those of player i from ``room_at[i]``
    room_at: Ints  # (N,)
    largest: Floats  # (N,) entry of a strategy
    favourite: Ints  # (N,) and the option that has it
    before: Ints  # (N,) actions before this step
    drawn: Ints  # (N,) actions of this step
    rate: Floats  # (N,) step sizes of this step
    received: Floats  # (N,) utilities of this step


def new_score_memory(
    game: Game,
    initial: PerAction,
    *,
    stages: int = 0,
    older: int = 0,
    strategies: Floats | None = None,
    since: bool = False,
    visits: bool = False,
    fading: bool = False,
) -> ScoreMemory:
    """Fresh arrays of the sizes a rule needs; every stage starts at the ``initial`` scores."""
    players, widest = game.num_players, most_options(game)
    scores = laid_out(initial, game, "initial")
    total = scores.shape[0]
    free = not isinstance(game.moves, Constrained)
    together = strategies is not None  # all players' options are weighed before anyone draws
    first = np.concatenate([[0], np.cumsum(game.sizes)]).astype(np.int64)
    return ScoreMemory(
        first=first,
        score=scores.copy(),
        stage=np.repeat(scores[:, None], stages, axis=1) if stages else np.zeros((0, 0)),
        older=np.resize(scores, older) if older == total else np.zeros(older),
        weight=np.zeros(0) if strategies is None else strategies.copy(),
        since=np.zeros(total if since or together else 0, np.int64),
        visits=np.zeros(total if visits else 0, np.int64),
        fade=np.zeros(total if fading else 0),
        clock=np.zeros(2),
        values=np.zeros(widest),
        weights=np.zeros(widest),
        room=np.zeros(0 if not together else total if free else players * widest),
        room_at=first[:-1].copy() if free else np.arange(players, dtype=np.int64) * widest,
        largest=np.zeros(players if together else 0),
        favourite=np.zeros(players if together else 0, np.int64),
        before=np.zeros(players, np.int64),
        drawn=np.zeros(players, np.int64),
        rate=np.zeros(players),
        received=np.zeros(players),
    )


class Scoring(Rule):
    """A rule that goes by scores."""

    remembers: ClassVar[tuple[str, ...]] = ("score", "stage", "older", "weight", "since", "visits", "fade", "clock")
    keeps_scores: ClassVar[bool] = True

    @property
    def num_arrays(self) -> int:
        """Arrays of the memory with an entry per action."""
        return 3

    def memory_size(self, game: Game) -> int:
        return 8 * (self.num_arrays * int(game.sizes.sum()) + 8 * game.num_players + 2 * most_options(game))

    def check_memory(self, memory: ScoreMemory, step: int) -> None:
        check_scores(memory, step)

    def scores(self, game: Game, memory: ScoreMemory, step: int) -> tuple[Floats, ...]:
        return split(memory.score, game)


def check_scores(memory: ScoreMemory, step: int) -> None:
    """Raise ValueError for a memory, read from a file, that no run can have had at this step."""
    for name in ("score", "stage", "older"):
        if not (np.abs(getattr(memory, name)) <= MOST).all():
            raise ValueError(f"{name} is not finite, or larger than a score can be")
    for name in ("since", "visits"):
        times = getattr(memory, name)
        if ((times < 0) | (times > step)).any():
            raise ValueError(f"{name} is not a time of the run, or a number of its steps")
    if not ((memory.weight >= 0.0) & (memory.weight <= 1.0 + 1e-9)).all():
        raise ValueError("weights are no probabilities")
    now, before = memory.clock
    if not -math.inf < now <= before <= 0.0 or not ((memory.fade >= now) & (memory.fade <= 0.0)).all():
        raise ValueError("scores fade from the future, or grow by themselves")


# Initial values ---------------------------------------------------------------------------------------

PerAction = float | tuple[Any, ...]
PerActionLike = float | Sequence[float] | Sequence[Sequence[float]]
NOISE = Real(least=0.0, most=MOST)


def initial_from(value: PerActionLike) -> PerAction:
    """Initial scores: a number, or a number per player or per player and action."""
    return per_action_from(value, "initial")


def per_action_from(value: Any, name: str) -> PerAction:
    """A number, or a number per player or per player and action, as nested tuples."""
    if is_real(value):
        number = as_float(value)
        if not math.isfinite(number):
            raise InvalidRule(f"must be finite, got {number}", name, number)
        if abs(number) > MOST:
            raise InvalidRule(f"must be at most {MOST:g} in size, got {number:g}", name, number)
        return number
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple) and value:
        return tuple(per_action_from(part, f"{name}[{k}]") for k, part in enumerate(value))
    raise InvalidRule(f"must be a number, or lists of one number per player or per action, got {value!r}", name, value)


def laid_out(value: PerAction, game: Game, name: str, per_player: bool = True) -> Floats:
    """One number for each action of each player, in one array; one for all or per player is enough if so allowed."""
    if isinstance(value, float) and per_player:
        return np.full(int(game.sizes.sum()), value)
    if isinstance(value, float):
        raise InvalidRule(f"must have a list of numbers, one per action, for each player, got {value}", name, value)
    if len(value) != game.num_players:
        raise InvalidRule(
            f"must have one entry for each of {game.num_players} players, got {len(value)}", name, len(value)
        )
    parts: list[Floats] = []
    for player, (part, count) in enumerate(zip(value, game.sizes.tolist(), strict=True)):
        if isinstance(part, float):
            if not per_player:
                raise InvalidRule(f"of player {player} must be {count} numbers, one per action, got {part}", name, part)
            parts.append(np.full(count, part))
            continue
        if len(part) != count or not all(isinstance(number, float) for number in part):
            raise InvalidRule(
                f"of player {player} must be a number or {count} numbers, one per action, got {len(part)} entries",
                name,
                len(part),
            )
        parts.append(np.array(part, np.float64))
    return np.concatenate(parts)


def split(flat: NDArray[Any], game: Game) -> tuple[NDArray[Any], ...]:
    """The same, an array for each player."""
    return tuple(part.copy() for part in np.split(flat, np.cumsum(game.sizes)[:-1]))
