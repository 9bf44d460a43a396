"""How to play: ``run`` a game from its start, or ``begin`` and ``advance``; ``evaluate`` a profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from potentia.beliefs import Belief
from potentia.engine.columns import OBJECTS, Columns, num_rows, playing_bytes, scalar_names
from potentia.engine.goals import Stop, blamed_on_stop, goal_from
from potentia.engine.interrupt import warn_stopped
from potentia.engine.loop import guarded, prepare_entry
from potentia.engine.requests import (
    believed,
    checked_compiled,
    checked_integer,
    checked_record,
    eventful,
    first_profile,
    random_start,
    require_finite_welfare,
)
from potentia.engine.runs import HEAVY, Progress, Run
from potentia.engine.trace import Trace
from potentia.games import Game
from potentia.games.events import require_within
from potentia.kernel import memory
from potentia.kernel.cache import Compiled
from potentia.kernel.draws import make_key
from potentia.rules import Rule, rule_from


def begin(
    game: Game,
    rule: Rule | dict[str, Any],
    seed: int = 0,
    *,
    start: ArrayLike | None = None,
    record: str | Iterable[str] = ("profile",),
    every: int = 1,
    horizon: int | None = None,
    compiled: Compiled = "auto",
    belief: Belief | dict[str, Any] | None = None,
    events: Iterable[str] | None = None,
) -> Run:
    """A run at time 0, to be advanced as far as one likes.

    With a ``belief``, players do not know the game and play on what they believe of it. ``compiled="auto"`` plays at
    once in plain Python and goes on with machine code when it is there; ``True`` waits for the compiler first;
    ``False`` stays in plain Python: slow, but a debugger can step through it. All three give the same bits.

    Parameters
    ----------
    game : Game
        What is played.
    rule : Rule or dict
        How players revise; a dict has its name and parameters.
    seed : int
        What the draws are made from.
    start : array_like, optional
        The first profile; left out, the game's own or one that the seed draws.
    record : str or iterable of str
        What is recorded, as in :func:`run`.
    every : int
        Rows are taken at times 0, every, 2·every, ...
    horizon : int, optional
        The planned length, for schedules that fall over the run.
    compiled : bool or str
        Whether machine code plays: ``"auto"``, ``True`` or ``False``.
    belief : Belief or dict, optional
        What players think of actions that they have not played.
    events : iterable of str, optional
        What happens to the robots of a :class:`~potentia.games.Coverage`, as in
        ``["fail 8@2500", "arrive 4000", "hazard 1e-5"]``, in the place of the game's own.

    Returns
    -------
    Run
        The run, before its first step.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), seed=1)
    >>> run.advance(50).step
    50
    >>> run.profile.tolist() == run.trace().final.tolist()
    True
    """
    game = believed(eventful(game, events), belief)
    seed = checked_integer(seed, "seed", 0)
    every = checked_integer(every, "every", 1)
    if horizon is not None:
        horizon = checked_integer(horizon, "horizon", 0)
        require_within(game, horizon)
    compiled = checked_compiled(compiled)
    first = random_start(game, seed) if start is None else first_profile(game, start, seed)
    return Run(game, rule_from(rule), seed, first, checked_record(game, record), every, horizon, compiled)


def evaluate(game: Game, profile: ArrayLike) -> dict[str, float]:
    """Welfare of a profile, its potential where one is known and what else the game can record.

    By the kernel, so fit for a million players.

    Parameters
    ----------
    game : Game
        What is played.
    profile : array_like
        One action per player.

    Returns
    -------
    dict
        The numbers by the names of the recorders.

    Examples
    --------
    >>> pt.engine.evaluate(pt.game("stag-hunt"), [0, 0])
    {'potential': 1.0, 'welfare': 8.0}
    """
    state = game.recording_state(game.check_profile(profile, "profile"), game.recorders)
    which, out = np.arange(len(game.recorders)), np.zeros(len(game.recorders))

    def call() -> Any:
        key = make_key(0, "evaluate")
        compiled: Any = game.compiled if game.state_size > HEAVY else "auto" if not game.runs_user_code else False
        data = game.data if compiled else game.plain_data
        return prepare_entry(data, state, key, False, game.has_potential, True, which, out, compiled=compiled)

    values = guarded(game, state, "evaluating", call)
    named = dict(zip(("potential", "welfare"), map(float, values), strict=True))
    require_finite_welfare(named["welfare"])
    named |= dict(zip(game.recorders, out.tolist(), strict=True))
    return named if game.has_potential else {name: number for name, number in named.items() if name != "potential"}


def advance(run: Run, steps: int, progress: Progress | None = None) -> Run:
    """Play more steps of a run: :meth:`Run.advance`.

    Parameters
    ----------
    run : Run
        What :func:`begin` made.
    steps : int
        So many more.
    progress : callable, optional
        Is told the steps done and the steps in all.

    Returns
    -------
    Run
        The same run, later.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5))
    >>> pt.advance(run, 20) is run, run.step
    (True, 20)
    """
    return run.advance(steps, progress)


def run(
    game: Game,
    rule: Rule | dict[str, Any],
    steps: int,
    seed: int = 0,
    *,
    start: ArrayLike | None = None,
    record: str | Sequence[str] = ("profile",),
    every: int = 1,
    progress: Progress | None = None,
    belief: Belief | dict[str, Any] | None = None,
    compiled: Compiled = "auto",
    stop: Stop | None = None,
    events: Iterable[str] | None = None,
) -> Trace:
    """Play ``steps`` steps of ``rule`` on ``game`` and return what was recorded.

    The same game, rule, seed and start give the same bits.

    Parameters
    ----------
    game : Game
        What is played.
    rule : Rule or dict
        How players revise; a dict has its name and parameters.
    steps : int
        At most so many.
    seed : int
        What the draws are made from.
    start : array_like, optional
        The first profile; left out, the game's own or one that the seed draws.
    record : str or sequence of str
        Some of profile, potential, welfare, acceptance, taken and rejected (trials so far), revisions (so far: an axis
        to compare rules by), best and best_time (of the potential, or else the game's objective), visits, the game's
        own (``game.recorders``), and those of your own (:func:`potentia.recorder`). ``record=()`` is fastest: the
        final profile is always kept.
    every : int
        Rows are taken at times 0, every, 2·every, ...
    progress : callable, optional
        Is told the steps done and the steps in all.
    belief : Belief or dict, optional
        What players think of actions that they have not played; left out, they know the game.
    compiled : bool or str
        As in :func:`begin`.
    stop : dict or callable, optional
        Ends the run at the first row at which a recorder has at least a value, ``{"potential": 3.0}``, or a function of
        (profile, data) is true. A value may be missed by 1e-9 of it, or by a ``"tolerance"`` that is given beside it.
        It is recorded, too; ``trace.reached`` tells whether it was.
    events : iterable of str, optional
        What happens to robots, as in :func:`begin`; with one seed, runs with and without are the same up to the first.

    Returns
    -------
    Trace
        After Ctrl-C, what was computed so far, with a warning and ``complete`` false.

    Examples
    --------
    >>> trace = pt.run(pt.game("ring"), pt.rule("lll", tau=0.1), 10_000, record="potential", stop={"potential": 50})
    >>> trace.reached, trace.steps < 10_000
    (True, True)
    """
    steps = checked_integer(steps, "steps", 0)
    goal, wanted = goal_from(stop, record)
    options: Any = {"start": start, "every": every, "belief": belief, "compiled": compiled, "events": events}
    with blamed_on_stop("record", goal and goal.name):
        state = begin(game, rule, seed, record=wanted, horizon=steps, **options)
    names = state.in_order(scalar_names(state.record))
    rows = num_rows(state.record, steps, state.every)
    need = 8 * rows * (len(names) + 1) + playing_bytes(state.game, state.rule, state.record, rows) + OBJECTS
    memory.require(need, f"recording {max(rows - 1, 0)} rows", "use a larger every")
    state.record_into(Columns({name: np.empty(rows) for name in names}))
    try:
        state.advance(steps, progress, stop=goal)
    except KeyboardInterrupt:
        warn_stopped(f"after {state.step} of {steps} steps")
    trace = state.trace()
    require_finite_welfare(trace.scalars.get("welfare", 0.0), state.every)
    return trace
