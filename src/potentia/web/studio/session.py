"""What a studio plays: one to four runs side by side on one seed and one clock, what was done to them, and undo.

It knows nothing of the network. Everything here is called by one thread at a time.
"""

from __future__ import annotations

import math
import secrets
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from potentia.engine import Run
from potentia.engine.interrupt import Flag
from potentia.errors import InvalidRun, PotentiaError
from potentia.games import Game
from potentia.rules import rule_from
from potentia.web.studio.interventions import (
    NO_BELIEF,
    Change,
    Erase,
    Logged,
    Occupied,
    Paint,
    Wall,
    called,
    coverage_of,
    in_words,
    joined,
    merged,
    plain,
    read_intervention,
)
from potentia.web.studio.living import LiveRun
from potentia.web.studio.starts import LONGEST, Start, game_of

MOST_CHANGES = 20_000_000  # of all runs together: what a page holds
KEPT = 40  # moments to undo to
MOST_TOLD = 4  # things that another tab did
_SLICE = 0.01  # seconds of one run before the next one's turn
_SAME = {
    "paint": "nothing was painted: these cells are worth so much already",
    "wall": "no wall was drawn: these cells are walls already",
    "erase": "nothing was erased: these cells are as in the beginning",
}


@dataclass(frozen=True)
class Moment:
    """All that undo brings back."""

    start: Start
    game: Game
    lanes: tuple[LiveRun, ...]
    log: tuple[Logged, ...]
    length: int
    ahead: tuple[Logged, ...] = ()  # of a link: done when the runs come there


def news_of(was: Moment, now: Moment) -> str:
    """What was done to the runs of a page by another one, in a sentence; empty where they are the same."""
    if was.start.with_rules(now.start.rules) != now.start:
        return "Another tab began something else; Undo brings back what was here."
    done, gone = _missing(now.log, was.log), _missing(was.log, now.log)
    said = ["other rules from the start on"] if was.start != now.start else []
    said += [f"at step {entry.step:,}: {in_words(entry.did)}" for entry in done]
    said += [f"no longer part of the run, at step {entry.step:,}: {in_words(entry.did)}" for entry in gone]
    if not said:
        return ""
    more = f"; and {len(said) - MOST_TOLD} more" if len(said) > MOST_TOLD else ""
    return f"Done in another tab, {'; '.join(said[:MOST_TOLD])}{more}. Undo takes it back."


def _missing(log: tuple[Logged, ...], other: tuple[Logged, ...]) -> list[Logged]:
    """What the one has and the other has not; of long logs nearly all is the very same."""
    known = {id(entry) for entry in other}
    return [entry for entry in log if id(entry) not in known and entry not in other]


class Session:
    """Runs side by side, and what a person does to them."""

    def __init__(
        self,
        start: Start,
        game: Game | None = None,
        log: tuple[Logged, ...] = (),
        step: int = 0,
        saved: Run | None = None,
    ) -> None:
        self.name = secrets.token_hex(8)  # tells a session that began anew from one that goes on
        self.version = 0  # grows with everything that a page must draw anew
        self._done: list[Moment] = []
        self._undone: list[Moment] = []
        made = game_of(start.game) if game is None else game
        lanes = tuple(_begun(start, made, lane) for lane in range(len(start.rules)))
        if saved is not None:
            lanes = (LiveRun.of(saved),)
        length = max(start.steps, step, *(entry.step for entry in log), 2 * saved.step if saved else 0)
        self.now = Moment(start, made, lanes, (), length, log)
        self.play(step, math.inf)

    # What there is ------------------------------------------------------------------------------------

    @property
    def start(self) -> Start:
        """What it began with."""
        return self.now.start

    @property
    def lanes(self) -> tuple[LiveRun, ...]:
        """The runs."""
        return self.now.lanes

    @property
    def log(self) -> tuple[Logged, ...]:
        """What was done, in order."""
        return self.now.log

    @property
    def edge(self) -> int:
        """How far all have been played."""
        return min(lane.step for lane in self.lanes)

    @property
    def whole(self) -> bool:
        """Whether it is known from its start on; a saved run is from where it was saved."""
        return all(lane.stretches[0].since == 0 for lane in self.lanes)

    @property
    def on_map(self) -> bool:
        """Whether robots on a map are played."""
        return coverage_of(self.now.game) is not None

    @property
    def labels(self) -> list[str]:
        """What the runs are called: by their rules, with a number where these are the same."""
        names = [lane.first.rule.name for lane in self.lanes]
        return [
            name if names.count(name) == 1 else f"{name} {names[: k + 1].count(name)}" for k, name in enumerate(names)
        ]

    @property
    def can(self) -> dict[str, bool]:
        """What can be undone, and done again."""
        return {"undo": bool(self._done), "redo": bool(self._undone)}

    # Time ---------------------------------------------------------------------------------------------

    def play(self, until: int, seconds: float = 0.04, flag: Flag | None = None) -> bool:
        """Play all runs up to a step, for so long at most; whether they came there."""
        goal, end = min(until, self.now.length), time.perf_counter() + seconds
        flag = flag or Flag()
        self._catch_up()
        while self.edge < goal and time.perf_counter() < end and not flag.raised:
            self._require_room()
            stop = min(goal, self.now.ahead[0].step) if self.now.ahead else goal
            _slice(min(self.lanes, key=lambda lane: lane.step), stop, flag)
            self._catch_up()
        return self.edge >= goal

    def _catch_up(self) -> None:
        """Do what was done at the step that all have come to; without the rest where that cannot be."""
        while self.now.ahead and self.now.ahead[0].step <= self.edge:
            entry, *later = self.now.ahead
            try:
                made = self._with(entry)
            except PotentiaError as error:
                self._shown(replace(self.now, ahead=()))
                told = f"what was done at step {entry.step:,} cannot be done: {error}"
                raise InvalidRun(f"{told}; it and what came later are left out") from None
            self._shown(replace(made, ahead=tuple(later)))

    def _require_room(self) -> None:
        held = sum(lane.num_changes for lane in self.lanes)
        if held > MOST_CHANGES:
            told = f"a page holds up to {MOST_CHANGES:,} changes, and that is where this run is"
            raise InvalidRun(f"{told}; go back and change something, or begin again with fewer robots")

    def extend(self) -> None:
        """Plan twice as many steps; temperatures fall over the length that was planned first."""
        if self.now.length >= LONGEST:
            raise InvalidRun(f"a run in the studio has up to {LONGEST:,} steps")
        self._shown(replace(self.now, length=min(LONGEST, 2 * self.now.length)))

    # What is done -------------------------------------------------------------------------------------

    def intervene(self, did: Any, step: int, lanes: list[int] | None = None) -> str:
        """Do something at a step, to all runs or to some; what was done later is no longer part of them.

        Gives a sentence about what whoever did it may not see, empty where there is nothing to say.
        """
        wanted, was, told = read_intervention(did), self.log, ""
        if not 0 <= step <= self.edge:
            raise InvalidRun(f"must be a step that was played, 0 to {self.edge:,}, got {step!r}", "step", step)
        if lanes is not None and not all(0 <= lane < len(self.lanes) for lane in lanes):
            raise InvalidRun(f"must be among the {len(self.lanes)} that there are, got {lanes}", "lanes", lanes)
        entry = Logged(step=step, did=wanted, lanes=lanes)
        if step == 0 and isinstance(wanted, Change) and self.whole:
            self._remember(self._restarted(wanted, lanes))
        elif isinstance(wanted, Change) and self._done and self._follows(self._done[-1], entry):
            last = self.log[-1].did
            assert isinstance(last, Change)
            self._undone = []
            self._shown(self._with(Logged(step=step, did=merged(last, wanted), lanes=lanes), self._done[-1]))
        else:
            try:
                made = self._with(entry)
            except Occupied:
                entry, told = self._beside_robots(entry)
                made = self._with(entry)
            if isinstance(wanted, Paint | Wall | Erase) and not _repainted(made, entry):
                raise InvalidRun(_SAME[wanted.kind])
            self._remember(made)
        gone = [old for old in _missing(was, self.log) if old.step > step]
        if gone:
            things = joined([f"the {called(old.did)} at step {old.step:,}" for old in gone])
            are, them = ("is", "it") if len(gone) == 1 else ("are", "them")
            told += f"{things[0].upper()}{things[1:]} {are} no longer part of the run; undo brings {them} back."
        return told.strip()

    def _with(self, entry: Logged, now: Moment | None = None) -> Moment:
        now, made = now or self.now, []
        for number, lane in enumerate(now.lanes):
            later = any(old.step > entry.step for old in lane.log)
            if entry.concerns(number):
                made.append(self._intervened(number, lane, entry))
            else:
                made.append(lane.back_to(entry.step) if later else lane)
        log = (*(old for old in now.log if old.step <= entry.step), entry)
        return replace(now, lanes=tuple(made), log=log, ahead=())

    def _intervened(self, number: int, lane: LiveRun, entry: Logged) -> LiveRun:
        """One of the runs after this; of several, an error says which."""
        try:
            return lane.intervene(entry.did, entry.step, entry.lanes)
        except PotentiaError as error:
            if len(self.lanes) == 1 or isinstance(error, Occupied):
                raise
            raise InvalidRun(f"in {self.labels[number]}: {error}") from None

    def _follows(self, before: Moment, entry: Logged) -> bool:
        """Whether this changes once more what was changed last, at the same step and of the same runs."""
        last = self.log[-1] if self.log else entry
        same = isinstance(last.did, Change) and (last.step, last.lanes) == (entry.step, entry.lanes)
        return same and before.start == self.start and [*before.log, last] == list(self.log)

    def _beside_robots(self, entry: Logged) -> tuple[Logged, str]:
        """The same wall without the cells on which a robot stands in any of the runs, and which these are."""
        assert isinstance(entry.did, Wall)
        who: dict[tuple[int, ...], str] = {}
        for number, lane in enumerate(self.lanes):
            if entry.concerns(number):
                run, of = lane.at_step(entry.step), f" of {self.labels[number]}" if len(self.lanes) > 1 else ""
                game = coverage_of(run.game)
                assert game is not None
                for robot, cell in enumerate(game.positions(run.profile).tolist()):
                    who.setdefault(tuple(cell), f"robot {robot}{of}")
        free = [cell for cell in entry.did.cells if tuple(cell) not in who]
        there = {who[tuple(cell)]: cell for cell in entry.did.cells if tuple(cell) in who}
        if not free:
            raise InvalidRun(f"{next(iter(there))} stands on a cell that would be a wall; move it first")
        left = joined([f"({x}, {y}), where {robot} is" for robot, (x, y) in there.items()])
        return entry.model_copy(update={"did": Wall(cells=free)}), f"The wall leaves out {left}. "

    def _restarted(self, did: Change, lanes: list[int] | None) -> Moment:
        """A change at step 0 is another start."""
        rules = list(self.start.rules)
        for lane in range(len(rules)) if lanes is None else lanes:
            rules[lane] = _changed_rule(self.lanes[lane], did)
        start = self.start.with_rules(rules)
        if did.belief is not None:
            start = start.model_copy(update={"belief": None if did.belief == {"belief": NO_BELIEF} else did.belief})
        return self._again(start, [entry for entry in self.log if entry.step == 0])

    def set_rules(self, rules: list[dict[str, Any]]) -> None:
        """Play these rules side by side, from the start on; runs that are there already stay as they are."""
        start, old = self.start.with_rules(rules), [dict(table) for table in self.start.rules]
        kept: dict[int, int] = {}
        for place, table in enumerate(start.rules):
            same = [k for k, other in enumerate(old) if other == table and k not in kept.values()]
            if same:
                kept[place] = same[0]
        log = [renumbered for entry in self.log if (renumbered := _for_lanes(entry, kept)) is not None]
        ahead = [renumbered for entry in self.now.ahead if (renumbered := _for_lanes(entry, kept)) is not None]
        fresh = self._again(start, log)
        lanes = tuple(self.lanes[kept[k]] if k in kept else lane for k, lane in enumerate(fresh.lanes))
        self._remember(replace(fresh, lanes=lanes, ahead=tuple(ahead)))

    def begin(self, start: Start, game: Game | None = None) -> None:
        """Something else, from its start; undo brings back what was there."""
        made = game_of(start.game) if game is None else game
        lanes = tuple(_begun(start, made, lane) for lane in range(len(start.rules)))
        self._remember(Moment(start, made, lanes, (), start.steps))

    def open(self, start: Start, log: list[Logged], step: int) -> None:
        """What a link says; what was done later than its start is done on the way."""
        other = Session(start, None, tuple(log), 0)
        self._remember(replace(other.now, length=max(other.now.length, min(step, LONGEST))))

    def _again(self, start: Start, log: list[Logged]) -> Moment:
        """The same game by other rules, with what was done."""
        lanes = []
        for number in range(len(start.rules)):
            lane = _begun(start, self.now.game, number)
            for entry in log:
                if entry.concerns(number):
                    lane = lane.advance(entry.step).intervene(entry.did, lanes=entry.lanes)
            lanes.append(lane)
        return Moment(start, self.now.game, tuple(lanes), tuple(log), self.now.length)

    # Undo ---------------------------------------------------------------------------------------------

    def _shown(self, moment: Moment) -> None:
        self.now = moment
        self.version += 1

    def _remember(self, moment: Moment) -> None:
        self._done = [*self._done, self.now][-KEPT:]
        self._undone = []
        self._shown(moment)

    def undo(self) -> None:
        """As it was before the last thing that was done, with what had been played then."""
        if not self._done:
            raise InvalidRun("there is nothing to undo")
        self._undone.append(self.now)
        self._shown(self._done.pop())

    def redo(self) -> None:
        """Do again what was undone."""
        if not self._undone:
            raise InvalidRun("there is nothing to do again")
        self._done.append(self.now)
        self._shown(self._undone.pop())


def _repainted(made: Moment, entry: Logged) -> bool:
    """Whether some map is another one than before."""
    for number, lane in enumerate(made.lanes):
        if entry.concerns(number):
            old, new = (game.world for stretch in lane.stretches[-2:] if (game := coverage_of(stretch.run.game)))
            if not (np.array_equal(old.worth, new.worth) and np.array_equal(old.blocked, new.blocked)):
                return True
    return False


def _slice(lane: LiveRun, goal: int, flag: Flag) -> None:
    """As many steps of a run as fit into a slice of time, by what the last one took."""
    began, before = time.perf_counter(), lane.step
    lane.advance(min(goal, before + lane.pace), flag)
    spent, done = time.perf_counter() - began, lane.step - before
    lane.pace = max(1, min(4 * lane.pace, int(done * _SLICE / max(spent, 1e-6))))


def _begun(start: Start, game: Game, lane: int) -> LiveRun:
    rule = start.made_rules()[lane]
    return LiveRun(game, rule, start.seed, belief=start.made_belief(), horizon=start.steps)


def _changed_rule(lane: LiveRun, did: Change) -> dict[str, Any]:
    spec = lane.first.rule.spec() if did.rule is None else rule_from(did.rule).spec()
    for name in ("tau", "revision"):
        value = getattr(did, name)
        if value is not None:
            if name not in spec:
                raise InvalidRun(f"{spec['rule']} has no {name}", name)
            spec[name] = value
    return spec


def _for_lanes(entry: Logged, kept: dict[int, int]) -> Logged | None:
    """The same entry where runs have other numbers; None where it was done to none that is left."""
    if entry.lanes is None:
        return entry
    lanes = [new for new, old in kept.items() if old in entry.lanes]
    return Logged.model_validate(plain(entry) | {"lanes": lanes}) if lanes else None
