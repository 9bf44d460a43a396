"""Scores and strategies over time, of rules that keep them: what a player thinks of its actions while it learns.

Recorders are kept by compiled code row by row; a score for every action of every player would cost each run more
than the step itself. Here the run stops at every recorded time instead and its scores are copied.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.beliefs import Belief
from potentia.engine.interrupt import warn_stopped
from potentia.engine.playing import begin
from potentia.engine.requests import checked_integer
from potentia.engine.runs import Run
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints
from potentia.rules import Rule
from potentia.version import __version__

if TYPE_CHECKING:
    import xarray


def watch(
    game: Game,
    rule: Rule | dict[str, Any],
    steps: int,
    seed: int = 0,
    *,
    start: ArrayLike | None = None,
    every: int = 1,
    belief: Belief | dict[str, Any] | None = None,
) -> xarray.Dataset:
    """Play a run of ``ql``, ``soql`` or ``score`` and return its scores and strategies over time.

    The run has the same bits as :func:`run` with this seed. Ctrl-C returns what was computed so far, with a warning.

    Parameters
    ----------
    game : Game
        What is played.
    rule : Rule or dict
        A rule that keeps scores.
    steps : int
        So many.
    seed : int
        What the draws are made from.
    start : array_like, optional
        The first profile, as in :func:`run`.
    every : int
        Times are 0, every, 2·every, ...
    belief : Belief or dict, optional
        What players think of actions that they have not played.

    Returns
    -------
    xarray.Dataset
        ``score`` and ``strategy`` have dimensions time, player and action, with NaN beyond a player's actions;
        ``profile`` has time and player. The scores are those after so many steps, the strategies for the step that
        comes next (of ``soql`` X itself, neither restricted nor perturbed).

    Examples
    --------
    >>> rule = pt.rule("ql", tau=0.1, mu=0.1)
    >>> data = pt.watch(pt.game("stag-hunt"), rule, steps=20, every=10)
    >>> data.strategy.sum("action").values.round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    steps = checked_integer(steps, "steps", 0)
    every = checked_integer(every, "every", 1)
    return watch_on(begin(game, rule, seed, start=start, record=(), horizon=steps, belief=belief), steps, every=every)


def watch_on(run: Run, steps: int, *, every: int = 1) -> xarray.Dataset:
    """Scores and strategies of a run that has begun: its next ``steps`` steps, from where it is.

    Parameters
    ----------
    run : Run
        What :func:`begin` made, by a rule that keeps scores.
    steps : int
        So many more.
    every : int
        A row at the step where it is, and at every such step after it.

    Returns
    -------
    xarray.Dataset
        As :func:`watch` returns it.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("ql", tau=0.1, mu=0.1), record=()).advance(5)
    >>> pt.engine.watch_on(run, 4, every=2).time.values.tolist()
    [5, 7, 9]
    """
    if not isinstance(run, Run):
        raise InvalidRun(
            f"must be a run such as begin(game, rule), got {type(run).__name__}", "run", type(run).__name__
        )
    steps = checked_integer(steps, "steps", 0)
    every = checked_integer(every, "every", 1)
    _ = run.scores  # a rule that keeps none says so here, before anything is played
    players, widest = run.game.num_players, int(run.game.sizes.max())
    rows = steps // every + 1
    memory.require(
        8.0 * rows * players * (2 * widest + 1),
        f"watching {players:,} players with up to {widest:,} actions at {rows:,} times",
        "use a larger every",
    )
    times = run.step + every * np.arange(rows)
    score, strategy = np.full((2, rows, players, widest), np.nan)
    profile = np.full((rows, players), -1, np.int64)
    done = 0
    try:
        for row in range(rows):
            if row:
                run.advance(every)
            _copy(run.scores, score[row])
            _copy(run.strategies, strategy[row])
            profile[row] = run.profile
            done += 1
        run.advance(steps - every * (rows - 1))  # the rest, so that the run is as long as was asked
    except KeyboardInterrupt:
        warn_stopped(f"after step {run.step}")
    return _dataset(run, times[:done], score[:done], strategy[:done], profile[:done])


def _copy(parts: tuple[Floats, ...], out: Floats) -> None:
    for player, part in enumerate(parts):
        out[player, : part.size] = part


def _dataset(run: Run, times: Ints, score: Floats, strategy: Floats, profile: Ints) -> xarray.Dataset:
    import xarray

    by_action = ("time", "player", "action")
    return xarray.Dataset(
        {
            "score": (by_action, score),
            "strategy": (by_action, strategy),
            "profile": (("time", "player"), profile),
        },
        {"time": times, "player": np.arange(score.shape[1]), "action": np.arange(score.shape[2])},
        {
            "game": run.game.describe(),
            "rule": json.dumps(run.rule.spec()),
            "seed": run.seed,
            "potentia": __version__,
        },
    )
