"""The coverage game by its definitions: the reference that the tests hold the compiled one to.

Written from the paper (section 5, Eq. 10-11, 45, 46 and 53) and from nothing else. Cells are tuples (x, y), ranges are
sets of cells, flags are a set of robots for each cell, overlaps are taken pair by pair. The only thing shared
with the library is the stream of uniform draws, so that a whole trajectory can be predicted. Slow and
obvious on purpose.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

from potentia.kernel.draws import CHOICE, PRIORITY, TRIAL, WAKE, uniform
from tests.sight_oracle import visible


def distance2(a, b):
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def within(a, b, radius):
    """Whether two centres are at most this far apart; squares of distances are whole numbers."""
    return distance2(a, b) <= radius**2 + 1e-9


def crosses(start, end, cell):
    """Whether the straight way between two centres goes through the inside of a cell, in exact fractions."""
    enter, leave = Fraction(0), Fraction(1)
    for axis in (0, 1):
        low, high = (Fraction(2 * cell[axis] + side, 2) for side in (-1, 1))
        step = end[axis] - start[axis]
        if step == 0:
            if not low < start[axis] < high:
                return False
            continue
        times = sorted(((low - start[axis]) / step, (high - start[axis]) / step))
        enter, leave = max(enter, times[0]), min(leave, times[1])
    return enter < leave


class Oracle:
    """What robots see, get and may do on one map. ``flags`` is None, "cell" or "range"; ``reach`` "adjacent" or R."""

    absent = frozenset()  # robots that have failed, or have not come yet

    def __init__(
        self, worth, blocked, delta, cost, reach="adjacent", flags=None, payoff="overlap", targets=(), sight=None
    ):
        self.worth = {(x, y): float(value) for y, row in enumerate(worth) for x, value in enumerate(row)}
        self.free = [cell for cell in self.worth if not blocked[cell[1]][cell[0]]]  # row by row: the actions
        self.blocked = set(self.worth) - set(self.free)
        self.robots = range(len(delta))
        self.delta, self.cost, self.reach = list(delta), list(cost), reach
        self.flags, self.payoff, self.targets = flags, payoff, list(targets)
        self.sees_past = sight  # None: walls hide nothing; "free": nor are they seen; "faces": some are
        self._moves, self._covers = {}, {}

    # Eq. 45 and 46 ------------------------------------------------------------------------------------

    def covers(self, robot, place):
        """N_δ: the cells whose centre is within δ."""
        if (robot, place) not in self._covers:
            self._covers[robot, place] = frozenset(cell for cell in self.worth if self.in_range(robot, place, cell))
        return self._covers[robot, place]

    def in_range(self, robot, place, cell):
        if self.sees_past == "free" and cell in self.blocked:
            return False
        near = within(cell, place, self.delta[robot])
        return near and (self.sees_past is None or visible(place, cell, self.blocked))

    def value(self, cells):
        return math.fsum(self.worth[cell] for cell in cells)

    def overlap(self, i, j, places):
        return self.value(self.covers(i, places[i]) & self.covers(j, places[j]))

    def others(self, robot):
        return [j for j in self.present if j != robot]

    @property
    def present(self):
        return [i for i in self.robots if i not in self.absent]

    def bracket(self, robot, places):
        """C^i - C_n^i, or with the wonderful-life utility what nobody else covers."""
        own = self.covers(robot, places[robot])
        if self.payoff == "marginal":
            return self.value(own.difference(*(self.covers(j, places[j]) for j in self.others(robot))))
        return self.value(own) - math.fsum(self.overlap(robot, j, places) for j in self.others(robot))

    def sight(self, robot):
        """How far a robot sees flags."""
        return 2 * self.delta[robot]

    def rho(self, robot, goal, home, laid):
        """0 where the flag of another robot lies on the goal and is seen from home, else 1."""
        foreign = laid.get(goal, set()) - {robot}
        return 0.0 if foreign and within(home, goal, self.sight(robot)) else 1.0

    def energy(self, robot, home, goal):
        return self.cost[robot] * math.dist(home, goal)

    def utility(self, robot, places, home, laid):
        """u^i where the robots are at ``places``, this one having come from ``home``."""
        goal = places[robot]
        if robot in self.absent:
            return 0.0
        return self.rho(robot, goal, home, laid) * self.bracket(robot, places) - self.energy(robot, home, goal)

    def marks(self, robot, place):
        """The cells on which a robot lays its flag."""
        return {None: set(), "cell": {place}, "range": self.covers(robot, place)}[self.flags]

    def lay(self, laid, robot, place):
        for cell in self.marks(robot, place):
            laid.setdefault(cell, set()).add(robot)

    def flags_of(self, places):
        """The flags of robots that have just arrived."""
        laid = {}
        for robot, place in enumerate(places):
            self.lay(laid, robot, place)
        return laid

    def welfare(self, places, laid):
        """Σ u^i where everybody stays: the potential that Eq. 46 claims."""
        return math.fsum(self.utility(i, places, places[i], laid) for i in self.robots)

    def worth_sum(self, places):
        return math.fsum(self.value(self.covers(i, places[i])) for i in self.present)

    def worth_union(self, places):
        return self.value(set().union(*(self.covers(i, places[i]) for i in self.present)))

    def corrected(self, places):
        if self.payoff == "marginal":
            return self.worth_union(places)
        pairs = itertools.combinations(self.present, 2)
        return self.worth_sum(places) - math.fsum(self.overlap(i, j, places) for i, j in pairs)

    # Moves --------------------------------------------------------------------------------------------

    def moves(self, place):
        """Where a robot may go from here, row by row."""
        if place not in self._moves:
            self._moves[place] = [goal for goal in self.free if goal != place and self.may_move(place, goal)]
        return self._moves[place]

    def may_move(self, place, goal):
        if self.reach == "adjacent":
            return max(abs(place[0] - goal[0]), abs(place[1] - goal[1])) == 1
        return within(place, goal, self.reach) and not any(crosses(place, goal, wall) for wall in self.blocked)

    @property
    def longest(self):
        """The longest move on a map without walls or borders."""
        if self.reach == "adjacent":
            return math.sqrt(2)
        side = range(math.ceil(self.reach) + 1)
        return max(math.hypot(x, y) for x in side for y in side if within((0, 0), (x, y), self.reach))

    def interact(self, i, at_i, j, at_j):
        return within(at_i, at_j, self.delta[i] + self.delta[j] + 2 * self.longest)

    # Eq. 53 -------------------------------------------------------------------------------------------

    def slope(self, place, axis):
        """The central difference; at a border the one-sided one, and none where there is one cell only."""
        ahead, behind = (tuple(p + side * (k == axis) for k, p in enumerate(place)) for side in (1, -1))
        ahead, behind = (cell if cell in self.worth else place for cell in (ahead, behind))
        apart = ahead[axis] - behind[axis]
        return (self.worth[ahead] - self.worth[behind]) / apart if apart else 0.0

    def gradient(self, place):
        return math.hypot(self.slope(place, 0), self.slope(place, 1))

    def revision(self, place, met, a1, a2, a3):
        """The rp(F, G) of Eq. 53, with F and G relative to the largest in the places ``met``."""
        top = max(self.worth[cell] for cell in met)
        steepest = max(self.gradient(cell) for cell in met)
        signal = self.worth[place] / top if top > 0 else 0.0
        gradient = self.gradient(place) / steepest if steepest > 0 else 0.0
        k = math.log(a1 / a3)
        c = math.log(a1) / k
        bump = math.exp(-k * (signal - c))
        return (a2 - bump) * gradient + bump


@dataclass
class Plan:
    """A rule in plain words. ``revision`` is a number, or (a1, a2, a3, "own" or "world"); None is BLLL."""

    tau: float
    revision: float | tuple | None = None
    joint: bool = True
    guard: bool = False


@dataclass
class Play:
    """One run: where the robots are, and all that their past has left behind.

    Targets that move are at ``targets_at(n)``, which the run then looks for after every step.
    """

    oracle: Oracle
    places: list
    laid: dict = field(default_factory=dict)
    seen: set = field(default_factory=set)
    moves: int = 0
    energy: float = 0.0
    distance: float = 0.0
    revisions: int = 0

    def __post_init__(self):
        self.met = [set() for _ in self.places]
        for robot, place in enumerate(self.places):
            self.arrive(robot, place)

    def arrive(self, robot, place):
        self.oracle.lay(self.laid, robot, place)
        self.seen |= self.oracle.covers(robot, place)
        self.met[robot].add(place)

    targets_at = None
    found = frozenset()

    def look(self, now):
        """Which targets that move somebody covers where they are at this time."""
        if self.targets_at is not None:
            covered = {cell for i in self.oracle.present for cell in self.oracle.covers(i, self.places[i])}
            self.found |= {number for number, cell in enumerate(self.targets_at(now)) if cell in covered}

    def stand(self, places):
        """The robots are now at ``places``: what they pay and what they leave behind."""
        before, self.places = self.places, list(places)
        for robot, place in enumerate(places):
            if place != before[robot]:
                self.moves += 1
                self.energy += self.oracle.energy(robot, before[robot], place)
                self.distance += math.dist(before[robot], place)
                self.arrive(robot, place)

    def row(self):
        """What the recorders must show now."""
        oracle = self.oracle
        return {
            "worth_sum": oracle.worth_sum(self.places),
            "worth_union": oracle.worth_union(self.places),
            "moves": self.moves,
            "energy": self.energy,
            "distance": self.distance,
            "cells_seen": len(self.seen),
            "targets_found": len(self.found) if self.targets_at else sum(cell in self.seen for cell in oracle.targets),
            "welfare": oracle.welfare(self.places, self.laid),
            "potential": oracle.corrected(self.places),
            "taken": self.moves,
            "rejected": self.revisions - self.moves,
        }

    # One step of BLLL or P-SBLLL from the documented draws ----------------------------------------------

    def wake_probability(self, robot, plan):
        if isinstance(plan.revision, float):
            return plan.revision
        *levels, against = plan.revision
        met = self.met[robot] if against == "own" else self.oracle.free
        return self.oracle.revision(self.places[robot], met, *levels)

    def awake(self, plan, draw):
        robots = self.oracle.robots
        if plan.revision is None:
            return [int(draw(0, WAKE) * len(robots))]
        awake = [i for i in robots if draw(i, WAKE) < self.wake_probability(i, plan)]
        if plan.guard:
            awake = [i for i in awake if self.wins(i, awake, draw)]
        return awake

    def wins(self, i, awake, draw):
        """Whether a robot's priority beats that of every awake robot that it interacts with."""
        return all(
            draw(i, PRIORITY) > draw(j, PRIORITY)
            for j in awake
            if j != i and self.oracle.interact(i, self.places[i], j, self.places[j])
        )

    def acceptance(self, robot, trial, tau):
        """Eq. 10-11: u^i now against u^i at the trial profile, by the binary logit."""
        home = self.places[robot]
        now, then = (self.oracle.utility(robot, p, home, self.laid) for p in (self.places, trial))
        return 1 / (1 + math.exp(min(700.0, (now - then) / tau)))

    @property
    def drawn(self):
        """How many robots draws are numbered by."""
        return len(self.places)

    def step(self, plan, key, n):
        def draw(robot, purpose):
            return uniform(key, self.drawn, n, robot, purpose)

        awake = self.awake(plan, draw)
        self.revisions += len(awake)
        trial = list(self.places)
        for i in awake:
            options = self.oracle.moves(self.places[i]) or [self.places[i]]
            trial[i] = options[int(draw(i, TRIAL) * len(options))]
        after = list(self.places)
        for i in awake:
            alone = [trial[j] if j == i else self.places[j] for j in self.oracle.robots]
            if draw(i, CHOICE) < self.acceptance(i, trial if plan.joint else alone, plan.tau):
                after[i] = trial[i]
        self.stand(after)

    # The law of a step, over all draws --------------------------------------------------------------------

    def law(self, plan):
        """The probability of each next profile."""
        robots, out = self.oracle.robots, {}
        if plan.revision is None:
            groups = [([i], 1 / len(robots)) for i in robots]
        else:
            rp = [self.wake_probability(i, plan) for i in robots]
            groups = [
                ([i for i in robots if bits[i]], math.prod(p if b else 1 - p for b, p in zip(bits, rp, strict=True)))
                for bits in itertools.product((False, True), repeat=len(robots))
            ]
        if plan.guard:  # every order of priorities is as likely as any other
            orders = list(itertools.permutations(robots))
            groups = [
                ([i for i in awake if self.wins(i, awake, lambda j, _, order=order: order[j])], p / len(orders))
                for (awake, p), order in itertools.product(groups, orders)
            ]
        for awake, p in groups:
            options = [self.oracle.moves(self.places[i]) or [self.places[i]] for i in awake]
            for goals in itertools.product(*options):
                self.add_outcomes(out, plan, dict(zip(awake, goals, strict=True)), p / math.prod(map(len, options)))
        return out

    def add_outcomes(self, out, plan, goals, p):
        """Each awake robot takes or leaves its goal."""
        trial = [goals.get(i, place) for i, place in enumerate(self.places)]
        accept = {}
        for i in goals:
            alone = [trial[j] if j == i else place for j, place in enumerate(self.places)]
            accept[i] = self.acceptance(i, trial if plan.joint else alone, plan.tau)
        for taken in itertools.product((False, True), repeat=len(goals)):
            chosen = dict(zip(goals, taken, strict=True))
            after = tuple(trial[i] if chosen.get(i) else place for i, place in enumerate(self.places))
            out[after] = out.get(after, 0.0) + p * math.prod(
                accept[i] if t else 1 - accept[i] for i, t in chosen.items()
            )


class Eventful(Play):
    """A run in which robots come and go: robot i is there from ``since[i]`` on and before ``until[i]``."""

    since, until, drawn = (), (), 0  # and how many are there without having come

    def __post_init__(self):
        self.met = [{place} for place in self.places]
        self.oracle.absent = frozenset(self.oracle.robots)
        self.call_roll(0)

    def call_roll(self, now):
        self.now, absent = now, self.oracle.absent
        here = {i for i in self.oracle.robots if self.since[i] <= now < self.until[i]}
        self.oracle.absent = frozenset(self.oracle.robots) - here
        for robot in here & absent:
            self.arrive(robot, self.places[robot])

    def awake(self, plan, draw):
        if plan.revision is None:
            robot, come = int(draw(0, WAKE) * self.drawn), [t <= self.now for t in self.since[self.drawn :]].count(True)
            place = int(draw(1, WAKE) * (self.drawn + come)) if come else 0
            awake = [self.drawn + place if place < come else robot]
            return [i for i in awake if i in self.oracle.present]
        awake = [i for i in self.oracle.present if draw(i, WAKE) < self.wake_probability(i, plan)]
        return [i for i in awake if self.wins(i, awake, draw)] if plan.guard else awake

    def step(self, plan, key, n):
        Play.step(self, plan, key, n)
        self.call_roll(n + 1)

    def stand(self, places):
        assert all(places[i] == self.places[i] for i in self.oracle.absent)
        Play.stand(self, places)


class Changing(Eventful):
    """The same on a map whose worth is ``worth_at(n)`` at time n."""

    worth_at = None

    def call_roll(self, now):
        self.oracle.worth = self.worth_at(now)
        Eventful.call_roll(self, now)
        self.look(now)


# References with one thing wrong: what a comparison must notice ---------------------------------------


def altered(base, **methods):
    return type("Wrong" + base.__name__, (base,), methods)


def _alone(self, robot, places):
    own = self.covers(robot, places[robot])
    return self.value(own.difference(*(self.covers(j, places[j]) for j in self.others(robot))))


def _kings(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


def _own_too(self, robot, goal, home, laid):
    return 0.0 if laid.get(goal) and goal != home else Oracle.rho(self, robot, goal, home, laid)


def _no_corners(self, place, goal):
    beside = {(place[0], goal[1]), (goal[0], place[1])}
    return Oracle.may_move(self, place, goal) and not beside & self.blocked


def _forward(self, place, axis):
    ahead = tuple(p + (k == axis) for k, p in enumerate(place))
    return self.worth.get(ahead, 0.0) - self.worth[place]


def _flags_first(self, robot, trial, tau):
    for i, place in enumerate(trial):
        self.oracle.lay(self.laid, i, place)
    return Play.acceptance(self, robot, trial, tau)


def _tried(self, robot, trial, tau):
    self.energy += self.oracle.energy(robot, self.places[robot], trial[robot])
    return Play.acceptance(self, robot, trial, tau)


def _blind(self):
    Play.__post_init__(self)
    self.seen = set()


def _forgetful(self, robot, plan):
    self.met[robot] = {self.places[robot]}
    return Play.wake_probability(self, robot, plan)


WRONG = {
    "overlaps once": altered(Oracle, bracket=_alone),
    "no flags": altered(Oracle, marks=lambda self, robot, place: set()),
    "last flag only": altered(
        Oracle, lay=lambda self, laid, robot, place: laid.update((cell, {robot}) for cell in self.marks(robot, place))
    ),
    "own flags too": altered(Oracle, rho=_own_too),
    "short sight": altered(Oracle, sight=lambda self, robot: self.delta[robot] / 2),
    "endless sight": altered(Oracle, sight=lambda self, robot: math.inf),
    "square range": altered(Oracle, in_range=lambda self, robot, place, cell: _kings(place, cell) <= self.delta[robot]),
    "twice the range": altered(
        Oracle, in_range=lambda self, robot, place, cell: within(place, cell, 2 * self.delta[robot])
    ),
    "claimed potential": altered(Oracle, corrected=lambda self, places: self.welfare(places, {})),
    "king's distance": altered(Oracle, energy=lambda self, robot, home, goal: self.cost[robot] * _kings(home, goal)),
    "moves for free": altered(Oracle, energy=lambda self, robot, home, goal: 0.0),
    "no corners": altered(Oracle, may_move=_no_corners),
    "ranges interact": altered(Oracle, longest=0.0),
    "forward slope": altered(Oracle, slope=_forward),
    "flags first": altered(Play, acceptance=_flags_first),
    "energy of trials": altered(Play, acceptance=_tried),
    "start not seen": altered(Play, __post_init__=_blind),
    "no memory": altered(Play, wake_probability=_forgetful),
}
