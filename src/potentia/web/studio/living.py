"""A run that a person changes on its way: stretches of runs, each from where something was done to the one before.

Nothing is changed in place. Going back to a step plays from the last copy before it; draws are pure, so that it is the
same run. What was done at which step is its log, and the log alone gives the same bits again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from potentia.beliefs import Belief, Believing
from potentia.engine import Run, begin
from potentia.engine.columns import state_bytes
from potentia.engine.grafting import graft
from potentia.engine.interrupt import Flag
from potentia.errors import InvalidRun
from potentia.games import Coverage, Game, World
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer
from potentia.rules import Rule
from potentia.web.studio.interventions import Logged, coverage_of, intervened, read_intervention
from potentia.web.studio.measuring import measured, measured_names, targets_found
from potentia.web.studio.thinking import Thought, ask, changed_number, next_ask, spacing

COPIES = 24  # of one stretch, to go back from
KEPT_BYTES = 100_000_000  # that these take, but for two of them: of large maps there are few
ROWS = 1000  # of a curve over the planned length
_NO_LENGTH = 20_000  # steps, where none was planned
_MOST_ASKED = 200  # thoughts of one stretch, beyond which they are asked at equal distances only


@dataclass
class Stretch:
    """A run from a step on, until something is done to it."""

    since: int
    run: Run
    copies: list[Run] = field(default_factory=list)  # of the run as it was, by step
    times: list[int] = field(default_factory=list)  # of the rows of its curves
    rows: list[tuple[float, ...]] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    found: dict[int, tuple[int, int]] = field(default_factory=dict)  # target: the step and the robot that came

    def at(self, step: int) -> Run:
        """A run of its own that is at this step."""
        if step == self.run.step:
            return self.run.branch()
        nearest = max((copy for copy in self.copies if copy.step <= step), key=lambda copy: copy.step)
        again = nearest.branch()
        return again.advance(step - again.step, flag=Flag())

    def note(self) -> None:
        """One more row of the curves."""
        self.times.append(self.run.step)
        self.rows.append(measured(self.run))

    def keep(self) -> None:
        """A copy to go back to; when there are many, every second one is given up."""
        self.copies.append(self.run.branch())
        run = self.run
        many = KEPT_BYTES // max(1, state_bytes(run.game, run.rule, run.record, fragile=False))
        if len(self.copies) > max(2, min(COPIES, many)):
            self.copies = [self.copies[0], *self.copies[2::2]]


class LiveRun:
    """A run and what was done to it. Make it with :func:`live`; every method that changes it gives another one."""

    pace = 1  # steps that fit into a moment, for whoever plays some at a time

    def __init__(
        self,
        game: Game,
        rule: Rule | dict[str, Any],
        seed: int = 0,
        *,
        belief: Belief | dict[str, Any] | None = None,
        horizon: int | None = None,
        start: Any = None,
        compiled: Any = "auto",
    ) -> None:
        run = begin(game, rule, seed, start=start, belief=belief, horizon=horizon, compiled=compiled)
        self.horizon = horizon
        self.every = max(1, (horizon or _NO_LENGTH) // ROWS)
        self.log: tuple[Logged, ...] = ()
        self.stretches = [Stretch(0, run)]
        self._open()

    @classmethod
    def of(cls, run: Run) -> LiveRun:
        """The same of a run that has been played before: it goes on from where it is."""
        other = object.__new__(cls)
        other.horizon, other.log = run.horizon, ()
        other.every = max(1, (run.horizon or _NO_LENGTH) // ROWS)
        other.stretches = [Stretch(run.step, graft(run))]
        other._open()
        return other

    def _open(self) -> None:
        last = self.stretches[-1]
        last.keep()
        last.note()
        self.asked = spacing(last.run, self.horizon or _NO_LENGTH)  # steps between two thoughts
        if self.asked:
            last.thoughts.append(ask(last.run))
        known = {target: row for stretch in self.stretches[:-1] for target, row in stretch.found.items()}
        before = {target: row for target, row in known.items() if row[0] <= last.since}
        last.found = before | targets_found(last.run, before, last.since, True)

    # Now ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        done = f", {len(self.log)} interventions" if self.log else ""
        return f"<LiveRun of {self.run.rule.name} on {self.first.game.describe()} at step {self.step}{done}>"

    @property
    def first(self) -> Run:
        """The run of the beginning."""
        return self.stretches[0].run

    @property
    def run(self) -> Run:
        """The run that goes on."""
        return self.stretches[-1].run

    @property
    def step(self) -> int:
        """How far it has been played."""
        return self.run.step

    @property
    def num_changes(self) -> int:
        """How many changes its stretches hold."""
        return sum(stretch.run._num_events for stretch in self.stretches)

    @property
    def profile(self) -> Ints:
        """What everybody plays now."""
        return self.run.profile

    @property
    def game(self) -> Game:
        """What is played now, without what robots believe of it."""
        return self.run.game.game if isinstance(self.run.game, Believing) else self.run.game

    @property
    def positions(self) -> Ints:
        """The cells (x, y) of the robots now."""
        return self._coverage.positions(self.profile)

    @property
    def there(self) -> Any:
        """Which robots are there now."""
        lives = self.run.game.lives(self.run.state)
        if lives is None:
            return np.ones(self.run.game.num_players, bool)
        return (lives[0] <= self.step) & (self.step < lives[1])

    @property
    def _coverage(self) -> Coverage:
        found = coverage_of(self.run.game)
        if found is None:
            raise InvalidRun(f"only robots on a map have positions, and this is {self.run.game.describe()}")
        return found

    @cached_property
    def world(self) -> World | None:
        """The map of the beginning."""
        game = coverage_of(self.first.game)
        return None if game is None else game.world

    @property
    def _decided(self) -> int:
        """Steps between two times at which the number of components may change; 0 where none does."""
        belief = self.run.game.belief if isinstance(self.run.game, Believing) else None
        return getattr(belief, "aic_every", 0) if self.asked else 0

    # Time ---------------------------------------------------------------------------------------------

    def advance(self, step: int, flag: Flag | None = None) -> LiveRun:
        """Play up to this step, or until the flag is raised; the same run, further on."""
        goal, flag = Integer(0).of(step, "step", InvalidRun), flag or Flag()
        last = self.stretches[-1]
        while last.run.step < goal and not flag.raised:
            before = last.run.step
            stops = [(before // every + 1) * every for every in (self.every, self._decided) if every]
            due = next_ask(before, self.asked, self.horizon or _NO_LENGTH) if self.asked else goal
            proposed = len(last.run.thoughts)
            last.run.advance(min(goal, due, *stops) - before, flag=flag)
            now = last.run.step
            if now % self.every == 0 and last.times[-1] < now:
                last.note()
            other = self._decided and len(last.thoughts) < _MOST_ASKED and changed_number(last.run, proposed)
            if self.asked and (now == due or other) and last.thoughts[-1].step < now:
                last.thoughts.append(ask(last.run))
            last.found |= targets_found(last.run, last.found, before)
        if last.run.step - last.copies[-1].step >= 10 * self.every:
            last.keep()
        return self

    def at_step(self, step: int) -> Run:
        """A run of its own that is where this one was at a step."""
        goal = Integer(self.stretches[0].since, self.step).of(step, "step", InvalidRun)
        return next(stretch for stretch in reversed(self.stretches) if stretch.since <= goal).at(goal)

    def back_to(self, step: int) -> LiveRun:
        """Another run that has been played up to this step and no further, with what was done before it."""
        goal = Integer(self.stretches[0].since, self.step).of(step, "step", InvalidRun)
        other = self._cut(goal)
        last = other.stretches[-1]
        if last.run.step > goal:
            other.stretches[-1] = Stretch(last.since, last.at(goal), *_before(last, goal + 1))
        other.asked = spacing(other.run, self.horizon or _NO_LENGTH)
        return other

    def _cut(self, step: int) -> LiveRun:
        """The same without what was done after a step; what was done at that very step stays."""
        other = object.__new__(LiveRun)
        other.horizon, other.every = self.horizon, self.every
        other.log = tuple(entry for entry in self.log if entry.step <= step)
        other.stretches = self.stretches[: len(other.log) + 1]
        other.asked = self.asked
        return other

    # What is done -------------------------------------------------------------------------------------

    def intervene(self, did: Any, step: int | None = None, lanes: list[int] | None = None) -> LiveRun:
        """Another run, in which something is done at a step; left out, now. What was done later is not part of it.

        ``did`` is plain data, such as ``{"kind": "fail", "robot": 2}``.
        """
        wanted = read_intervention(did)
        least = self.stretches[0].since
        now = self.step if step is None else Integer(least, self.step).of(step, "step", InvalidRun)
        other = self._cut(now)
        last = other.stretches[-1]
        changed = intervened(last.at(now), wanted, self.world)
        other.stretches = [*other.stretches, Stretch(now, changed)]
        other.log = (*other.log, Logged(step=now, did=wanted, lanes=lanes))
        other._open()
        return other

    def rows(self) -> tuple[list[str], Ints, Floats]:
        """The curves: their names, times and values (series, times)."""
        names, times, rows = measured_names(self.first.game), [], []
        for stretch, end in self.spans():
            kept = [k for k, time in enumerate(stretch.times) if time < end]
            times += [stretch.times[k] for k in kept]
            rows += [stretch.rows[k] for k in kept]
        return names, np.array(times, np.int64), np.array(rows, np.float64).reshape(len(rows), len(names)).T

    def spans(self) -> list[tuple[Stretch, float]]:
        """The stretches, and where each ends: before that step the next one begins."""
        ends = [*(stretch.since for stretch in self.stretches[1:]), np.inf]
        return list(zip(self.stretches, ends, strict=True))


def _before(stretch: Stretch, end: int) -> tuple[Any, ...]:
    """What a stretch knew before a step."""
    copies = [copy for copy in stretch.copies if copy.step < end]
    count = sum(time < end for time in stretch.times)
    thoughts = [thought for thought in stretch.thoughts if thought.step < end]
    found = {target: row for target, row in stretch.found.items() if row[0] < end}
    return copies, stretch.times[:count], stretch.rows[:count], thoughts, found


def live(
    game: Game,
    rule: Rule | dict[str, Any],
    seed: int = 0,
    *,
    steps: int = 0,
    interventions: Iterable[Any] = (),
    belief: Belief | dict[str, Any] | None = None,
    horizon: int | None = None,
    start: Any = None,
    compiled: Any = "auto",
) -> LiveRun:
    """Play a run to which something is done on its way, as in the studio.

    Parameters
    ----------
    game : Game
        What is played.
    rule : Rule or dict
        How players revise; a dict has its name and parameters.
    seed : int
        What the draws are made from.
    steps : int
        How far to play.
    interventions : iterable of dict
        What is done when, in order: ``[{"step": 200, "did": {"kind": "fail", "robot": 2}}, ...]``.
    belief : Belief or dict, optional
        What players think of actions that they have not played; left out, they know the game.
    horizon : int, optional
        The planned length, for temperatures that fall over the run.
    start : array_like, optional
        The first profile; left out, the game's own or one that the seed draws.
    compiled : bool or str
        Whether machine code plays, as in :func:`potentia.begin`.

    Returns
    -------
    LiveRun
        At step ``steps``; the same arguments give the same bits.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.paper_world(), robots=5)
    >>> lost = [{"step": 10, "did": {"kind": "fail", "robot": 2}}]
    >>> run = pt.live(game, pt.rule("blll", tau=5e-4), steps=20, interventions=lost)
    >>> run.step, run.there.tolist()
    (20, [True, True, False, True, True])
    """
    made = LiveRun(game, rule, seed, belief=belief, horizon=horizon, start=start, compiled=compiled)
    wanted, at = Integer(0).of(steps, "steps", InvalidRun), 0
    for given in interventions:
        entry = given if isinstance(given, Logged) else read_entry(given)
        if not at <= entry.step <= wanted:
            told = f"must come in order, at steps up to {wanted:,}, got one at {entry.step:,} after one at {at:,}"
            raise InvalidRun(told, "interventions", entry.step)
        at = entry.step
        made = made.advance(at).intervene(entry.did, lanes=entry.lanes)
    return made.advance(wanted)


def read_entry(given: Any) -> Logged:
    """What was done at a step, from plain data."""
    from pydantic import ValidationError

    from potentia.web.studio.interventions import sentence

    try:
        return Logged.model_validate(given)
    except ValidationError as error:
        raise InvalidRun(sentence(error, "an intervention")) from None
