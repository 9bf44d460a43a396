"""A run as a state machine that advances in chunks.

The bits of a run depend on the game, the rule, the seed and the start, and on nothing else: not on
chunks, workers or interruptions.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from potentia.engine import driving
from potentia.engine.columns import Events, follows_profile, own_recorders, state_bytes
from potentia.engine.goals import Goal, Stop, checked_goal, goal_from
from potentia.engine.interrupt import Flag, deferred_interrupt
from potentia.engine.labels import about_game
from potentia.engine.loop import NEVER, Sink, guarded, play_entry, prepare_entry
from potentia.engine.recording import Recording
from potentia.engine.requests import checked_integer, run_key
from potentia.engine.tier import Tier, copied, restore
from potentia.engine.trace import Played, Trace
from potentia.errors import CompiledOtherwise, InvalidGame, InvalidRun, frames_to_caller
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.arrays import strides as profile_strides
from potentia.kernel.cache import Compiled, jit_disabled
from potentia.kernel.journal import CHANGES, REVISIONS, Journal
from potentia.kernel.numbers import in_words
from potentia.kernel.recorders import known_recorders
from potentia.rules import Rule
from potentia.version import __version__

_CHUNK_SECONDS = 0.03
HEAVY = 2**20  # bytes of state: some ten thousands of players

Progress = Callable[[int, int], None]


class Run(Recording):
    """One run in progress. Make it with :func:`potentia.begin`.

    Attributes
    ----------
    game : Game
        What is played.
    rule : Rule
        How players revise.
    seed : int
        What the draws are made from.
    start : array
        The first profile.
    record : tuple of str
        What is recorded.
    every : int
        Steps between two rows.
    horizon : int or None
        The planned length.
    compiled : bool
        Whether machine code plays now.
    step : int
        The steps that were played.
    reached : bool or None
        Whether the last advance came to the goal that it was given.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), seed=1, record="potential")
    >>> run.advance(20).advance(10).step
    30
    >>> run.trace().potential.shape
    (31,)
    """

    def __init__(
        self,
        game: Game,
        rule: Rule,
        seed: int,
        start: Ints,
        record: tuple[str, ...],
        every: int,
        horizon: int | None,
        compiled: Compiled,
    ) -> None:
        self.game, self.rule, self.seed = game, rule, seed
        self.record, self.every, self.horizon = record, every, horizon
        if compiled == "auto" and _is_heavy(game, rule, record):
            compiled = True
        self._mode: Compiled = compiled  # as it was asked for
        self.compiled = compiled is True and game.compiled  # as it is played now
        self.step = 0
        self.version = __version__  # that played it so far
        self.start = start
        self.key = run_key(seed, game, rule)
        tracked = game.num_players if follows_profile(record) else 0
        profiles = game.num_profiles if "visits" in record else 0
        memory.require(
            state_bytes(game, rule, record, self._fragile),
            f"a run of {game.describe()}" + (f" with visits of {in_words(profiles)} profiles" if profiles else ""),
            'leave "visits" out of record' if profiles else "",
        )
        self._data = game.data if self.compiled else game.plain_data
        if self.compiled and game.runs_user_code and game.compiled_otherwise is not None:
            warnings.warn(
                f"{game.describe()}: {game.compiled_otherwise}; machine code is played",
                CompiledOtherwise,
                frames_to_caller(),
            )
        self._rule_data = rule.data(game, horizon)
        self.state = game.recording_state(start.copy(), record)
        self.memory = rule.new_memory(game)
        strides = profile_strides(game.sizes) if profiles else frozen([], np.int64)
        self.journal = Journal(
            np.zeros(2, np.int64),
            np.zeros(tracked, np.uint8),
            np.zeros(tracked, np.int64),
            np.zeros(1, np.int64),
            np.zeros(profiles, np.int64),
            strides,
            np.array([int((strides * start).sum()) if profiles else 0, 1], np.int64),
        )
        self.shadow = start.copy() if tracked else np.zeros(0, np.int64)
        super().__init__()
        self._tools = game.new_tools(record)
        self._tier = Tier(self) if compiled == "auto" and not jit_disabled() else None
        self._broken = False
        self._goal: Goal | None = None
        self.reached: bool | None = None  # the goal of the last advance, if it had one
        self._owed = False  # a row at this step, after the game has thought
        self.thoughts: list[tuple[float, ...]] = []
        first = np.zeros(len(self._measured))
        wanted = "potential" in self._sources, "welfare" in self._sources, self._which, first
        values = self._prepare(True, *wanted)
        if self._think(-1):
            values = self._prepare(False, *wanted)
        self._first_rows(*values, first)

    def _call(self, entry: Any, *args: Any) -> Any:
        return guarded(self.game, self.state, f"after step {self.step}", lambda: entry(*args, compiled=self.compiled))

    def _prepare(self, opening: bool, potential: bool, welfare: bool, which: Any, out: Any) -> tuple[float, float]:
        # a small game is settled before a kernel that does it could be compiled
        compiled = self.compiled and (self.game.runs_user_code or _is_heavy(self.game, self.rule, self.record))
        tiered = self.compiled or (self._mode == "auto" and not self.game.runs_user_code)
        args = (self._data, self.state, self.key, opening, potential, welfare, which, out)
        call = partial(prepare_entry, *args, compiled=compiled or ("auto" if tiered else False))
        return guarded(self.game, self.state, f"after step {self.step}", call)

    def __repr__(self) -> str:
        return f"<Run of {self.rule.name} on {self.game.describe()} at step {self.step}, seed {self.seed}>"

    @property
    def profile(self) -> Ints:
        """The current profile; a copy."""
        return np.array(self.state.profile)

    @property
    def beliefs(self) -> tuple[Any, ...]:
        """What players believe now, where they do not know the game."""
        return self.game.beliefs(self.state, self._mode)

    @property
    def scores(self) -> tuple[Floats, ...]:
        """The score of each action now, an array per player, for rules that keep scores."""
        return self.rule.scores(self.game, self.memory, self.step)

    @property
    def strategies(self) -> tuple[Floats, ...]:
        """The strategy over each player's actions now, for rules that keep scores; see :meth:`Rule.strategies`."""
        return self.rule.strategies(self.game, self.memory, self.profile, self.step, self.horizon)

    @property
    def unfinished(self) -> bool:
        """Whether the last step was cut off before it was recorded."""
        return self._broken or self._owed

    @property
    def _fragile(self) -> bool:
        """A user's utility may fail, and plain Python may be interrupted, in the middle of a step."""
        return self.game.runs_user_code or not self.compiled

    # Advancing ----------------------------------------------------------------------------------------

    def advance(
        self,
        steps: int,
        progress: Progress | None = None,
        flag: Flag | None = None,
        *,
        stop: Stop | Goal | None = None,
    ) -> Run:
        """Play ``steps`` more steps, or until a recorder has come to a value.

        Parameters
        ----------
        steps : int
            At most so many.
        progress : callable, optional
            Is told the steps done and the steps in all.
        flag : Flag, optional
            Ends the run when it is raised, in the place of Ctrl-C.
        stop : dict or callable, optional
            The run ends at the first row at which a recorder has at least this value, up to a tolerance:
            ``{"potential": 3.0, "tolerance": 1e-6}``. Left out, the tolerance is 1e-9 of the value. It must be among
            what the run records; a function of (profile, data) is, too, as ``record=pt.recorder(function)``.
            ``reached`` then tells whether the run came there.

        Returns
        -------
        Run
            The same run, later.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, once the state is consistent.
        """
        last = checked_integer(self.step + checked_integer(steps, "steps", 0), "the run's length", 0)
        self._require_sound()
        goal = stop if isinstance(stop, Goal) else goal_from(stop, self.record)[0]
        self._goal = None if goal is None else checked_goal(self, goal)
        self.reached = None if goal is None else self._is_there()
        try:
            return self._advance_to(last, progress, flag)
        finally:
            self._goal = None

    def _advance_to(self, stop: int, progress: Progress | None, flag: Flag | None) -> Run:
        if flag is not None:
            self._advance(stop, progress, flag)
            return self
        with deferred_interrupt() as own:
            self._advance(stop, progress, own)
        if own.raised:
            raise KeyboardInterrupt
        return self

    def _require_sound(self) -> None:
        if self._broken:
            raise InvalidRun(
                f"this run failed after step {self.step} and cannot go on; begin again, or load a saved one"
            )
        if self.version != __version__:
            raise InvalidRun(
                f"this run was saved by potentia {self.version}, this is {__version__}: go on with that version, or "
                "begin again, because bits may differ"
            )

    def _advance(self, stop: int, progress: Progress | None, flag: Flag) -> None:
        begin, bad = self.step, stop + 1  # a step that is known to fail comes before the second
        self._climb(stop, flag)
        # In plain Python a single step may take long, and Ctrl-C waits for the chunk.
        chunk = max(1, min(1000, 200_000 // self.game.num_players)) if self.compiled else 1
        while (self.step < stop or self._owed) and (self._owed or not flag.raised) and not self.reached:
            before = self.step
            target = min(stop, self.step + chunk)
            try:
                spent, played = self._stretch(target, flag, self._fragile or bool(self._own) or self._goal is not None)
            except InvalidGame:  # a user's function failed: go on to the step at which it did
                if target <= before + 1:
                    raise
                bad, chunk = target, (target - before) // 2
                continue
            # a chunk is long enough that the copy made before it does not count
            rate = (self.step - before) / max(played, 1e-7)
            chunk = int(max(1, min(rate * max(_CHUNK_SECONDS, 4 * spent), 100 * chunk)))
            if bad <= stop:
                chunk = max(1, (bad - self.step) // 2)
            if progress is not None:
                progress(self.step - begin, stop - begin)
            if self._tier is not None:
                self._tier.note(self.step - before, played)
                self._climb(stop, flag)

    def expect(self, steps: int) -> None:
        """So many steps of runs like this one are played after it: machine code is worth more.

        Parameters
        ----------
        steps : int
            How many.
        """
        if self._tier is not None:
            self._tier.after = steps

    def _climb(self, stop: int, flag: Flag) -> None:
        """Go on with machine code as soon as it is there; never while a row is owed."""
        if self._tier is not None and not self._owed and self._tier.climb(stop, flag):
            self.compiled, self._data, self._tier = True, self.game.data, None

    def _stretch(self, stop: int, flag: Flag, fragile: bool) -> tuple[float, float]:
        """One call of the compiled loop, and its records brought to safety; the seconds for copying and playing.

        One that is ``fragile`` may fail, or be cut off, in the middle of a step: then it has not happened.
        """
        started = time.perf_counter()
        sink = self._emptied_sink(stop)
        every = self.every if sink.num_rows else NEVER
        before = copied((self.state, self.memory, self.journal, self.shadow)) if fragile else None
        at_last_row = self.shadow.copy() if self._own else None
        ready = time.perf_counter()
        try:
            flag.breakable = fragile
            reached = self._play(sink, stop, every)
            own = {} if at_last_row is None else self._of_profiles(sink, at_last_row)
            met = None if self._goal is None else self._met(self._goal, sink, own)
            if met is not None:
                if met < reached:  # back, and up to there: the draws are the same
                    restore((self.state, self.memory, self.journal, self.shadow), before)
                    sink = self._emptied_sink(met)
                    reached = self._play(sink, met, every)
                self.reached = True
            self._owed = self._think(reached - 1) and reached % every == 0
            flag.breakable = False
        except BaseException:
            flag.breakable = False
            if before is not None:
                restore((self.state, self.memory, self.journal, self.shadow), before)
            else:  # the loop is ahead of the step that is known
                self._broken = True
            raise
        self.step = reached
        played = time.perf_counter()
        self._keep(sink, own)
        return ready - started, played - ready

    def _play(self, sink: Sink, stop: int, every: int) -> int:
        return self._call(
            play_entry,
            self._data,
            self.state,
            self._rule_data,
            self.memory,
            self.journal,
            sink,
            self.key,
            self.step,
            stop,
            every,
            self._owed,
        )

    def _think(self, step: int) -> bool:
        """What the game wants done outside the loop, if anything; whether there was any."""
        rows = self.game.think(self.state, self._tools, self.key, step, self._mode)
        if rows is None:
            return False
        self.thoughts += rows
        return True

    # Driven from outside ------------------------------------------------------------------------------

    def legal(self, player: int) -> Ints:
        """The actions that a player may play now: the current one and those reachable from it, in order.

        Parameters
        ----------
        player : int
            Its number.

        Returns
        -------
        array
            The actions.
        """
        return driving.legal(self, player)

    def apply(self, actions: Mapping[int, int]) -> Run:
        """Let these players play these actions, all at once, in the place of a step of the rule.

        It is a step: time goes on, the game ticks, and what is recorded is recorded. What a rule remembers stays as it
        is. An action that its player may not play now is an error, and nothing is changed.

        Parameters
        ----------
        actions : mapping of int to int
            The action of each player that revises; the others stay.

        Returns
        -------
        Run
            The same run, a step later.
        """
        told = driving.orders(self, actions)
        self._require_sound()
        before = self.compiled, self._data, self._rule_data
        with deferred_interrupt() as flag:
            try:
                self.compiled, self._data, self._rule_data = False, self.game.plain_data, told
                stop = self.step + 1
                while self.step < stop or self._owed:
                    self._stretch(stop, flag, self.game.runs_user_code or bool(self._own))
            finally:
                self.compiled, self._data, self._rule_data = before
        if flag.raised:
            raise KeyboardInterrupt
        return self

    def changes(self, since: int = 0) -> Events:
        """The changes of the profile after a time: arrays of time, player and action. It takes what is new.

        Parameters
        ----------
        since : int
            Changes at this time and before are left out.

        Returns
        -------
        tuple of arrays
            Time, player and action of each change.
        """
        if "profile" not in self.record:
            raise InvalidRun('changes were not recorded; pass record=("profile", ...)')
        return driving.changes(self._events, checked_integer(since, "since", 0))

    def branch(self, game: Game | None = None, rule: Rule | dict[str, Any] | None = None) -> Run:
        """A second run that goes on from here, perhaps on another game of the same size or by another rule.

        It draws what this one draws: a changed temperature changes no draw.

        Parameters
        ----------
        game : Game, optional
            What is played from now on.
        rule : Rule or dict, optional
            How players revise from now on.

        Returns
        -------
        Run
            The other run, at the same step.
        """
        return driving.branch(self, game, rule)

    # What was recorded --------------------------------------------------------------------------------

    def settle(self) -> None:
        """Derive the rest of the state from its profile, after that was set from outside."""
        self._prepare(False, False, False, frozen([], np.int64), np.zeros(0))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the state to a file that :func:`load` reads.

        Parameters
        ----------
        path : str or path
            The file, an ``.npz``.

        Returns
        -------
        Path
            The file that was written.
        """
        from potentia.engine.saved import save

        return save(self, path)

    def trace(self, beliefs: bool = True) -> Trace:
        """What was recorded so far, and unless told otherwise what players believe now.

        Parameters
        ----------
        beliefs : bool
            Whether the beliefs are in it.

        Returns
        -------
        Trace
            The record; the run may go on.
        """
        rows = known_recorders((*self.game.recorders, *self.game.totals, *own_recorders(self.record))).values()
        return Trace(
            game=self.game.describe(),
            rule=self.rule.spec(),
            seed=self.seed,
            steps=self.step,
            every=self.every,
            complete=self.horizon is None or self.step >= self.horizon or bool(self.reached),
            reached=self.reached,
            start=self.start.copy(),
            final=self.profile,
            times=np.arange(0, (self.step // self.every + 1 - self._owed) * self.every * self.recording, self.every),
            revisions=int(self.journal.counts[REVISIONS]),
            changes=int(self.journal.counts[CHANGES]),
            scalars=self._scalars(),
            visits=self.journal.visits.copy() if "visits" in self.record else None,
            beliefs=self.beliefs if beliefs else (),
            proposals=tuple(self.thoughts),
            events=self._changes(),
            lives=self.game.lives(self.state),
            totals={str(name): self.game.total(self.state, name) for name in self.game.totals},
            recordable=tuple(row.without_function() for row in rows),
            about=about_game(self.game),
            played=Played(self.game, self.rule, self.horizon),
        )


def _is_heavy(game: Game, rule: Rule, record: tuple[str, ...]) -> bool:
    """Whether even the first step is too long for plain Python."""
    return state_bytes(game, rule, record, fragile=False) > HEAVY
