"""Beliefs inside runs by their definitions: the reference that the tests hold the compiled ones to.

Written from the paper (section 5, Eq. 45 and 47-52) and from what the beliefs document. A mind is a dictionary
from cells to readings, mixtures are fitted with NumPy and whole arrays. Shared with the library are a belief's
parameters and the stream of uniform draws, so that a whole trajectory can be predicted: who senses what, who
tells whom, what is fitted to it, and where that leads. Slow and obvious on purpose.
"""

from __future__ import annotations

import copy
import itertools
import math
from dataclasses import dataclass, field

import numpy as np

import potentia as pt
from potentia.beliefs import Constant, Mixture, SplitMerge
from potentia.games import gaussian_world
from potentia.kernel import protocol
from potentia.kernel.draws import CHOICE, DIRECTION, NOISE, NUMBER, PROPOSAL, TRIAL, WAKE, uniform, uniform_nth
from potentia.kernel.protocol import Constrained
from tests.coverage_cases import PLANS, Case, as_rule
from tests.coverage_oracle import Plan, Play, altered, within

# What is seen and told --------------------------------------------------------------------------------


@dataclass
class Mind:
    """What one robot knows, or all of them together."""

    reading: dict = field(default_factory=dict)  # in the order in which cells were first heard of
    visits: dict = field(default_factory=dict)
    peak: float = 0.0
    news: int = 0  # readings that came or changed since the last fit
    model: Gaussians | None = None
    factor: float = 0.0  # from density to worth
    error: float = 1.0  # of the parameters
    aging: Aging | None = None
    log: dict = field(default_factory=dict)  # of each cell known, the time and value of every reading
    now: int = 0
    heard: int = 0

    def note(self, cell, value, averaged):
        times = self.visits[cell] = self.visits.get(cell, 0) + 1
        before = self.reading.get(cell)
        mean = value if before is None or not averaged else before + (value - before) / times
        self.heard += 1
        self.log.setdefault(cell, []).append((self.now, value))
        if self.aging is not None and averaged:
            mean = self.aging.mean(self.log[cell])
        self.reading[cell] = mean
        self.news += mean != before
        self.peak = max(self.peak, mean)

    @property
    def experience(self):
        return len(self.reading)

    def weight(self, cell):
        """What the reading of a cell counts; 0 of a cell not known."""
        if cell not in self.reading:
            return 0.0
        return 1.0 if self.aging is None else self.aging.weight(self.now, self.log[cell][-1][0])

    def sightings(self, cell):
        """How often a cell counts as visited."""
        return self.visits[cell] if self.aging is None else self.aging.mass(self.log[cell]) * self.weight(cell)

    def grow_old(self, now):
        self.now = now
        if self.aging is not None and self.aging.due(now):
            for cell in [c for c in self.reading if now - self.log[c][-1][0] > self.aging.limit]:
                for part in (self.reading, self.visits, self.log):
                    del part[cell]
            self.peak = max([0.0, *(self.weight(cell) * f for cell, f in self.reading.items())])


@dataclass(frozen=True)
class Aging:
    """How readings grow old, from the list of all of them."""

    half_life: float  # infinite for a window
    limit: float
    every: int

    @staticmethod
    def of(belief):
        if belief.window is not None:
            return Aging(math.inf, belief.window, max(belief.window // 10, 1))
        if not isinstance(belief.half_life, float):
            return None
        return Aging(belief.half_life, math.ceil(10 * belief.half_life), max(int(belief.half_life / 10), 1))

    def due(self, now):
        return now > 0 and now % self.every == 0

    def weight(self, now, last):
        """By its age when time last passed."""
        return 0.5 ** (max(now // self.every * self.every - last, 0) / self.half_life)

    def stretch(self, log):
        """The readings of a mean: none reaches back further than the window when it is read."""
        kept = []
        for time, value in log:
            if kept and self.half_life == math.inf and time - kept[0][0] > self.limit:
                kept = []
            kept.append((time, value))
        return kept

    def shares(self, log):
        return [(0.5 ** ((log[-1][0] - time) / self.half_life), value) for time, value in self.stretch(log)]

    def mass(self, log):
        return math.fsum(share for share, _ in self.shares(log))

    def mean(self, log):
        return math.fsum(share * value for share, value in self.shares(log)) / self.mass(log)


class Team:
    """Robots that sense where they are and tell each other what they have seen."""

    def __init__(self, oracle, belief):
        self.oracle, self.belief, self.link = oracle, belief, belief.communication
        columns, rows = (1 + max(cell[axis] for cell in oracle.worth) for axis in (0, 1))
        everybody = self.link.radius >= math.hypot(columns - 1, rows - 1)
        self.one_mind = everybody and 1.0 in (self.link.novice, self.link.news)
        self.aging = Aging.of(belief)
        self.minds = [Mind(aging=self.aging) for _ in oracle.robots[: 1 if self.one_mind else None]]
        for mind, cell in itertools.product(self.minds, self.surveyed()):
            mind.note(cell, oracle.worth[cell], False)
        self.contacts, self.sent = 0, 0
        self.last = {}  # what either knew when two robots last exchanged it
        self.meetings = []  # of this step: expert, other, and what they had known

    def surveyed(self):
        if self.belief.survey is None:
            return []
        if self.belief.survey == "all":
            return list(self.oracle.worth)
        return [(x, y) for y, row in enumerate(self.belief.survey) for x, known in enumerate(row) if known]

    def of(self, robot):
        return self.minds[0 if self.one_mind else robot]

    @property
    def owned(self):
        """The minds of robots that are there, or the one of all."""
        return self.minds if self.one_mind else [self.minds[i] for i in self.oracle.present]

    drawn = 0  # how many robots draws are numbered by

    def sensed(self, robot, place):
        """The cells that a robot reads, each with its place in the list of cells in range, row by row."""
        across = math.hypot(*(1 + max(cell[axis] for cell in self.oracle.worth) for axis in (0, 1)))
        delta = min(self.oracle.delta[robot], across)  # a range ends with the area, and so does the list
        side = range(-math.floor(delta + 1), math.floor(delta + 2))
        offsets = [(x, y) for y in side for x in side if within((x, y), (0, 0), delta)]
        for k, (x, y) in enumerate(offsets):
            cell = (place[0] + x, place[1] + y)
            if cell in self.oracle.covers(robot, place) and (self.belief.sense == "range" or (x, y) == (0, 0)):
                yield k, cell

    def deviate(self, key, step, robot, k):
        """A standard normal deviate by Box and Muller."""
        first, second = (uniform_nth(key, self.drawn, step, robot, NOISE, 2 * k + j) for j in (0, 1))
        return math.sqrt(-2 * math.log(1 - first)) * math.cos(2 * math.pi * second)

    def sense(self, robot, place, key, step):
        """Read, and say how many cells were new."""
        mind, noise = self.of(robot), self.belief.noise
        before = mind.experience
        for k, cell in self.sensed(robot, place):
            error = noise * self.deviate(key, step, robot, k) if noise > 0 else 0.0
            mind.note(cell, self.oracle.worth[cell] + error, noise > 0)
        return mind.experience - before

    def look_around(self, places, moved, key, step):
        """Those that moved sense where they are; then those in touch tell each other."""
        self.meetings = []
        for mind in self.minds:
            mind.grow_old(step + 1)
        present = self.oracle.present
        for robot in present if self.due(step) else [i for i in moved if i in present]:
            new = self.sense(robot, places[robot], key, step)
            if self.one_mind and new and len(present) > 1:
                self.contacts += len(present) - 1
                self.sent += new * (len(present) - 1)
        if not self.one_mind and self.link.radius > 0:
            for i, j in itertools.combinations(present, 2):
                if within(places[i], places[j], self.link.radius) and self.willing(i, j):
                    self.exchange(i, j)

    def due(self, step):
        """Whether time passes."""
        return self.aging is not None and self.aging.due(step + 1)

    def known(self, i, j):
        """What two robots know; where readings grow old, every one of them is news."""
        if self.aging is not None:
            return [self.minds[k].heard for k in (i, j)]
        return [frozenset(self.minds[k].reading) for k in (i, j)]

    def willing(self, i, j):
        """Whether two robots that are near each other have a reason to talk."""
        known = [frozenset(self.minds[k].reading) for k in (i, j)]
        if self.last.get((i, j)) == self.known(i, j):
            return False
        less, more = sorted(known, key=len)
        return len(more) >= self.link.novice * len(less) or len(more | less) >= self.link.news * len(less)

    def exchange(self, i, j):
        first, second = self.minds[i], self.minds[j]
        expert, other = (i, j) if first.experience >= second.experience else (j, i)
        self.meetings.append((expert, other, self.minds[expert].experience, self.minds[other].experience))
        for teller, hearer in ((first, second), (second, first)):
            for cell in [cell for cell in teller.reading if self.lacks(hearer, teller, cell)]:
                hearer.note(cell, teller.reading[cell], False)
                hearer.visits[cell] = teller.visits[cell]
                hearer.log[cell] = list(teller.log[cell])
                self.sent += 1
        self.contacts += 1
        self.last[i, j] = self.known(i, j)

    def lacks(self, hearer, teller, cell):
        """Whether one does not know a cell that the other knows, or only from earlier."""
        if cell not in hearer.reading:
            return True
        return self.aging is not None and teller.log[cell][-1][0] > hearer.log[cell][-1][0]


# Mixtures (Eq. 47-52) ---------------------------------------------------------------------------------

PER_COMPONENT = 6  # cells of some worth
NEGLIGIBLE = 1e-6
SPREAD = 0.5  # of a split, in standard deviations
NEAR = 3  # columns and rows


@dataclass(frozen=True)
class Gaussians:
    """A mixture: weights (M,), means (M, 2), covariances (M, 2, 2)."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def __len__(self):
        return len(self.weights)

    def terms(self, points):
        """log ω_j g(x | μ_j, Σ_j), (n, M)."""
        apart = points[:, None] - self.means
        squares = np.einsum("nja,jab,njb->nj", apart, np.linalg.inv(self.covariances), apart)
        volumes = np.log(2 * np.pi) + 0.5 * np.linalg.slogdet(self.covariances)[1]
        return np.log(self.weights) - volumes - 0.5 * squares

    def density(self, points):
        return np.exp(self.terms(points)).sum(axis=1)

    def posteriors(self, points):
        terms = self.terms(points)
        shares = np.exp(terms - terms.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def likelihood(self, points, weights):
        terms = self.terms(points)
        top = terms.max(axis=1)
        return float(weights @ (top + np.log(np.exp(terms - top[:, None]).sum(axis=1))))

    def only(self, *which):
        which = list(which)
        return Gaussians(self.weights[which], self.means[which], self.covariances[which])

    def but(self, *which):
        return self.only(*(j for j in range(len(self)) if j not in which))

    def joined(self, other):
        parts = zip((self.weights, self.means, self.covariances), vars(other).values(), strict=True)
        return Gaussians(*(np.concatenate(both) for both in parts))


def raised(covariances, floor):
    """Eigenvalues below the floor set to it."""
    values, vectors = np.linalg.eigh(covariances)
    return (vectors * np.maximum(values, floor)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def maximised(points, shares, mass, floor):
    """Eq. 47: the components whose data are these shares (n, M) of the points; their weights sum to ``mass``."""
    total = shares.sum(axis=0)
    means = shares.T @ points / total[:, None]
    apart = points[:, None] - means
    covariances = np.einsum("nj,nja,njb->jab", shares, apart, apart) / total[:, None, None]
    return Gaussians(mass * total / total.sum(), means, raised(covariances, floor))


def em(points, weights, model, floor, steps, tolerance, held=None):
    """Steps of EM until the mean log-likelihood gains little; of part of a mixture where ``held`` is its posterior."""
    data = weights if held is None else weights * held
    data, points = data[data > 0], points[data > 0]
    mass = model.weights.sum() if held is not None else 1.0
    model = Gaussians(model.weights, model.means, raised(model.covariances, floor))
    before = model.likelihood(points, data)
    for _ in range(steps):
        model = maximised(points, data[:, None] * model.posteriors(points), mass, floor)
        after = model.likelihood(points, data)
        if after - before <= tolerance * data.sum():
            break
        before = after
    return model


def split_score(points, weights, model, k):
    """J_split: the divergence between the data of component k, as a density over cells of area 1, and its Gaussian."""
    shares = weights * model.posteriors(points)[:, k]
    shares, points = shares[shares > 0], points[shares > 0]
    shares = shares / shares.sum()
    return float((shares * (np.log(shares) - model.only(k).terms(points)[:, 0] + np.log(model.weights[k]))).sum())


def merge_score(points, weights, model, j, k):
    """J_merge: how much the posteriors of two components overlap."""
    posteriors = model.posteriors(points)
    return float((weights * posteriors[:, j] * posteriors[:, k]).sum())


def principal(covariance):
    axis = np.linalg.eigh(covariance)[1][:, -1]
    return axis if axis @ (1.0, 1.1) > 0 else -axis


def split(model, k, direction):
    """Component k as two of half its weight, at μ ± e, round and of its area."""
    variance = math.sqrt(np.linalg.det(model.covariances[k]))
    shift = SPREAD * math.sqrt(variance) * np.asarray(direction)
    means = np.array([model.means[k] + shift, model.means[k] - shift])
    return Gaussians(np.full(2, model.weights[k] / 2), means, np.array([np.eye(2) * variance] * 2))


def merged(model, j, k):
    """Two components as one, each parameter averaged by weight."""
    shares = model.weights[[j, k]] / model.weights[[j, k]].sum()
    means, covariances = model.means[[j, k]], model.covariances[[j, k]]
    return Gaussians(
        np.array([model.weights[[j, k]].sum()]),
        (shares[:, None] * means).sum(axis=0)[None],
        (shares[:, None, None] * covariances).sum(axis=0)[None],
    )


def akaike(model, points, weights):
    return 2 * (6 * len(model) - 1) - 2 * model.likelihood(points, weights)


def averaged(own, other, share):
    """Each component with the nearest of another mixture that is not yet taken."""
    free, parts = list(range(len(other))), []
    for k in range(len(own)):
        near = free.pop(int(np.argmin([math.dist(own.means[k], other.means[j]) for j in free])))
        pairs = zip(vars(own.only(k)).values(), vars(other.only(near)).values(), strict=True)
        parts.append(Gaussians(*(share * mine + (1 - share) * theirs for mine, theirs in pairs)))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.joined(part)
    return whole


def parameter_error(truth, model):
    """|λ̂ - λ|: three relative errors of each true component, the nearest pairs of means first."""
    found = 0 if model is None else len(model)
    pairs = sorted((math.dist(truth.means[j], model.means[k]), j, k) for j in range(len(truth)) for k in range(found))
    errors, used = {}, set()
    for distance, j, k in pairs:
        if j not in errors and k not in used:
            wide, own = (np.linalg.det(m.covariances[i]) ** 0.25 for m, i in ((truth, j), (model, k)))
            three = abs(model.weights[k] / truth.weights[j] - 1), distance / wide, abs(own / wide - 1)
            errors[j] = sum(min(error, 1.0) for error in three) / 3
            used.add(k)
    return sum(errors.get(j, 1.0) for j in range(len(truth))) / len(truth)


class Learner:
    """One mind that fits a mixture to what it knows."""

    def __init__(self, belief, mind):
        self.belief, self.mind = belief, mind
        self.points = np.array(list(mind.reading), float).reshape(-1, 2) + 0.5
        self.readings = np.array(list(mind.reading.values()))
        self.standing = np.array([mind.weight(cell) for cell in mind.reading])
        self.weights = self.weigh()
        self.counted = int((self.weights > NEGLIGIBLE).sum())

    def multiplicity(self, reading, visits):
        """How often an observation counts."""
        if self.belief.weighting == "worth":
            return max(reading, 0.0)
        ratio = reading / self.belief.f_mode
        return visits * (1 + self.belief.V * math.floor(ratio + 0.5) if ratio >= 1 else 1)

    def size(self, weights):
        """What AIC takes for the number of observations."""
        return weights.sum() ** 2 / (weights**2).sum() if self.belief.sample == "effective" else self.standing.sum()

    def weigh(self):
        mind = self.mind
        weights = np.array([self.multiplicity(mind.reading[cell], mind.sightings(cell)) for cell in mind.reading])
        if self.belief.weighting == "worth":
            weights = weights * self.standing
        return weights * (self.size(weights) / weights.sum()) if weights.sum() > 0 else weights

    def em(self, model, steps, held=None):
        return em(self.points, self.weights, model, self.belief.floor, steps, self.belief.tolerance, held)

    def affordable(self, number):
        return self.counted >= PER_COMPONENT * number

    def fit(self, steps):
        mind = self.mind
        mind.news = 0
        if not self.counted:
            mind.factor = 0.0
            return
        start = mind.model or Gaussians(np.ones(1), self.points[:1], np.eye(2)[None])
        mind.model = self.em(start, steps)
        while len(mind.model) < getattr(self.belief, "components", 0) and self.affordable(len(mind.model) + 1):
            mind.model = self.settled(self.grown(None))
        self.calibrate()

    def calibrate(self):
        density = self.mind.model.density(self.points)
        counting = self.standing * density
        fitted = max(float(counting @ self.readings / (counting @ density)), 0.0)
        self.mind.factor = fitted if self.belief.calibrated else 1.0

    def settled(self, candidate):
        return self.em(candidate, self.belief.settle_steps)

    def grown(self, angle):
        """The component least like its data split, and the two fitted to its data alone."""
        model = self.mind.model
        scores = [split_score(self.points, self.weights, model, k) for k in range(len(model))]
        k = int(np.argmax(scores))
        direction = principal(model.covariances[k]) if angle is None else (math.cos(angle), math.sin(angle))
        held = model.posteriors(self.points)[:, k]
        return model.but(k).joined(self.em(split(model, k, direction), self.belief.settle_steps, held))

    def shrunk(self):
        """The two components that overlap most merged, and the one fitted to their data alone."""
        model = self.mind.model
        pairs = list(itertools.combinations(range(len(model)), 2))
        j, k = max(pairs, key=lambda pair: merge_score(self.points, self.weights, model, *pair))
        held = model.posteriors(self.points)[:, [j, k]].sum(axis=1)
        return model.but(j, k).joined(self.em(merged(model, j, k), self.belief.settle_steps, held))

    temperature = 2.0

    def chance(self, before, after):
        """The binary logit on -AIC."""
        return 1 / (1 + math.exp(min(700.0, (after - before) / self.temperature)))

    def decide(self, draw):
        """Eq. 48-49: one more or one fewer, and again as long as that is accepted; rows as a run reports them."""
        self.fit(self.belief.settle_steps)
        mind, rows = self.mind, []
        growing = draw(NUMBER, 0) < 0.5
        for turn in range(self.belief.repeats if self.counted else 0):
            number = len(mind.model)
            may_grow = number < self.belief.most and self.affordable(number + 1)
            if turn == 0:
                growing = number == 1 or (growing and may_grow)
            if not (may_grow if growing else number > 1):
                break
            candidate = self.settled(self.grown(2 * math.pi * draw(DIRECTION, turn)) if growing else self.shrunk())
            aic = [akaike(model, self.points, self.weights) for model in (mind.model, candidate)]
            accepted = draw(PROPOSAL, turn) < self.chance(*aic)
            rows.append((number, len(candidate), *aic, accepted))
            if not accepted:
                break
            mind.model = candidate
            self.calibrate()
        return rows


# Runs -------------------------------------------------------------------------------------------------


class Believer(Play):
    """A run of robots that do not know the field.

    ``truth_at`` gives the world's own mixture by time, ``worth_at`` the field where it drifts, ``targets_at`` the cells
    of targets that drift with it.
    """

    learner = Learner
    team_of = Team

    def __init__(self, oracle, places, belief, key, truth_at, worth_at=None, targets_at=None):
        if targets_at is not None:
            self.targets_at = targets_at
        super().__init__(oracle, list(places))
        self.look(0)
        self.belief, self.truth_at, self.worth_at = belief, truth_at, worth_at
        self.truth = truth_at(0)
        self.team = self.team_of(oracle, belief)
        self.team.drawn = self.drawn
        self.proposals = []
        self.fields = {}
        self.learn(list(oracle.robots), key, -1)

    def step(self, plan, key, n):
        before = self.places
        super().step(plan, key, n)
        if self.worth_at is not None:
            self.oracle.worth = self.worth_at(n + 1)
        self.look(n + 1)
        self.learn([i for i in self.oracle.robots if self.places[i] != before[i]], key, n)

    # What they think

    def learn(self, moved, key, step):
        self.fields = {}
        self.truth = self.truth_at(step + 1)
        self.team.look_around(self.places, moved, key, step)
        if isinstance(self.belief, Mixture | SplitMerge):
            self.think(key, step)

    def deciding(self, step):
        every = getattr(self.belief, "aic_every", 0)
        return every > 0 and step >= 0 and (step + 1) % every == 0

    def think(self, key, step):
        minds, belief = self.team.minds, self.belief
        for expert, other, knew, other_knew in self.team.meetings:
            own, theirs = minds[expert], minds[other]
            if own.model and theirs.model and len(own.model) == len(theirs.model):
                own.model = averaged(own.model, theirs.model, self.share(knew, other_knew))
            self.learner(belief, own).fit(belief.settle_steps)
            theirs.model, theirs.factor, theirs.news = own.model, own.factor, 0
            self.judge(own, theirs)
        for which, mind in enumerate(minds):
            if self.deciding(step):

                def draw(purpose, turn, which=which):
                    return uniform_nth(key, self.drawn, step, which, purpose, turn)

                rows = self.learner(belief, mind).decide(draw)
                self.proposals += [(step + 1, which, *row) for row in rows]
                self.judge(mind)
            elif self.team.due(step) or (mind.news > 0 and mind.news >= belief.growth * mind.experience):
                self.learner(belief, mind).fit(belief.em_steps)
                self.judge(mind)

    def share(self, knew, other_knew):
        return knew / (knew + other_knew)

    def judge(self, *minds):
        for mind in minds:
            mind.error = parameter_error(self.truth, mind.model) if self.truth is not None else math.nan

    def predicted(self, mind, cells):
        """What a mind expects of cells that it has not seen."""
        if isinstance(self.belief, Constant):
            return [self.belief.value + self.belief.share * mind.peak] * len(cells)
        if mind.model is None or not cells:
            return [0.0] * len(cells)
        return (mind.factor * mind.model.density(np.array(cells) + 0.5)).tolist()

    def recalled(self, mind):
        return set(mind.reading) if getattr(self.belief, "recall", True) else set()

    def believed(self, mind):
        """f̂, by cell."""
        recalled, cells = self.recalled(mind), list(self.oracle.worth)
        out = {}
        for cell, guess in zip(cells, self.predicted(mind, cells), strict=True):
            weight = self.trust(mind, cell) if cell in recalled else 0.0
            out[cell] = weight * mind.reading[cell] + (1 - weight) * guess if weight else guess
        return out

    def trust(self, mind, cell):
        """What a reading counts against the model."""
        return mind.weight(cell)

    def bonus(self, mind, cell):
        """What draws robots to a cell that they have not seen: a share of the peak where little was seen around it."""
        near = [c for c in self.oracle.worth if max(abs(c[0] - cell[0]), abs(c[1] - cell[1])) <= NEAR]
        unseen = sum(1 - mind.weight(c) for c in near) / len(near)
        return getattr(self.belief, "optimism", 0.0) * mind.peak * unseen

    def hoped(self, mind):
        """The same with the bonus."""
        extra = {c: (1 - mind.weight(c)) * self.bonus(mind, c) for c in self.oracle.worth if mind.weight(c) < 1}
        return {cell: worth + extra.get(cell, 0.0) for cell, worth in self.believed(mind).items()}

    # What they do: the current utility is true, that of a trial believed

    def imagined(self, robot):
        """The game as a robot sees it."""
        which = 0 if self.team.one_mind else robot
        if which not in self.fields:
            self.fields[which] = copy.copy(self.oracle)
            self.fields[which].worth = self.hoped(self.team.minds[which])
        return self.fields[which]

    def current(self, robot):
        return self.oracle.utility(robot, self.places, self.places[robot], self.laid)

    def expected(self, robot, trial):
        """û^i: Eq. 45 with the believed worth."""
        known = trial[robot] == self.places[robot]
        return (self.oracle if known else self.imagined(robot)).utility(robot, trial, self.places[robot], self.laid)

    def acceptance(self, robot, trial, tau):
        return 1 / (1 + math.exp(min(700.0, (self.current(robot) - self.expected(robot, trial)) / tau)))

    def row(self):
        """What the recorders must show now."""
        team, truth = self.team, self.oracle.worth
        total = math.fsum(truth.values())

        def mean(values):
            return math.fsum(values) / max(len(team.owned), 1)

        number = [0 if mind.model is None else len(mind.model) for mind in team.owned]
        errors = [math.fsum(abs(f - truth[c]) for c, f in self.believed(mind).items()) for mind in team.owned]
        return super().row() | {
            "belief_error": mean(errors) / total if total > 0 else 0.0,
            "cells_known": mean(mind.experience for mind in team.owned),
            "contacts": team.contacts,
            "data_sent": team.sent,
            "components": mean(number),
            "right_number": math.nan if self.truth is None else mean(n == len(self.truth) for n in number),
            "parameter_error": math.nan if self.truth is None else mean(mind.error for mind in team.owned),
        }


def views_differ(play, views):
    """Where what a run reports of its minds is not what the reference has: names of the parts."""
    found = set()
    robots = [tuple(play.oracle.robots)] if play.team.one_mind else [(i,) for i in play.oracle.robots]
    if [view.robots for view in views] != robots:
        return {"robots"}
    for view, mind in zip(views, play.team.minds, strict=True):
        for (x, y), worth in play.believed(mind).items():
            if not math.isclose(view.worth[y, x], worth, rel_tol=1e-6, abs_tol=1e-12):
                found.add("worth")
            if view.seen[y, x] != ((x, y) in mind.reading):
                found.add("seen")
            if view.visits[y, x] != mind.visits.get((x, y), 0):
                found.add("visits")
        if view.num_components != (0 if mind.model is None else len(mind.model)):
            found.add("number")
        elif mind.model is not None:
            for name, values in vars(mind.model).items():
                if not np.allclose(getattr(view, name), values, rtol=1e-6, atol=1e-9):
                    found.add(name)
    return found


def proposals_differ(play, proposals):
    ours, theirs = (np.array(rows, float).reshape(-1, 7) for rows in (play.proposals, proposals))
    return ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def reference(case, run, belief, kind=Believer, worth_at=None, targets_at=None):
    """The reference at the start of a run."""

    def truth_at(time):
        mixture = case.game.at(time).world.mixture
        return None if mixture is None else Gaussians(mixture.weights, mixture.means, mixture.covariances)

    return kind(case.oracle(), case.places(run.start), belief, run.key, truth_at, worth_at, targets_at)


def followed(case, plan, run, belief, kind=Believer, worth_at=None, targets_at=None):
    """Where a run and the reference part: names of recorders and parts of views, or "places" not foreseen."""
    play, trace = reference(case, run, belief, kind, worth_at, targets_at), run.trace()
    found = set()
    for n, profile in enumerate(trace.profiles):
        if n:
            play.step(plan, run.key, n - 1)
        if play.places != case.places(profile):
            return found | {"places"}
        row = play.row()
        for name, values in trace.scalars.items():
            same = math.isclose(values[n], row[name], rel_tol=1e-7, abs_tol=case.tolerance)
            if not same and not (math.isnan(values[n]) and math.isnan(row[name])):
                found.add(name)
    if proposals_differ(play, trace.proposals):
        found.add("proposals")
    return found | views_differ(play, trace.beliefs) | expected_differ(case, play, run)


def expected_differ(case, play, run):
    """Whether the utilities that robots expect of other actions, the kernel's, are not the reference's."""
    for robot, place in enumerate(play.places):
        for action, goal in enumerate(play.oracle.free):
            trial = [goal if i == robot else p for i, p in enumerate(play.places)]
            value = protocol.utility(run.game.plain_data, run.state, robot, action)
            wanted = play.current(robot) if goal == place else play.expected(robot, trial)
            if not math.isclose(value, wanted, rel_tol=1e-7, abs_tol=case.tolerance):
                return {"expected"}
    return set()


# Where they are played --------------------------------------------------------------------------------

HILLS = gaussian_world((8, 8), [0.4, 0.6], [[2, 2], [6, 5.5]], [[[1.2, 0.5], [0.5, 1.0]], [[1.5, -0.2], [-0.2, 0.8]]])
TEAM = Case(HILLS, (1.5, 1.0, 2.0), (0.0, 0.01, 0.02), flags="cell")  # unequal ranges and costs
ALIKE = Case(HILLS, (1.5,) * 3, (0.0,) * 3)


# what is fitted does not hang on the defaults
STEADY = {"growth": 0.1, "em_steps": 2, "settle_steps": 10, "tolerance": 1e-3, "floor": 0.25, "optimism": 0.7}


def mixture(components, **options):
    return Mixture(components=components, **{**STEADY, **options})


def split_merge(every, **options):
    return SplitMerge(aic_every=every, **{**STEADY, "repeats": 3, "most": 8, **options})


def warm(name, tau=0.02):
    """One of the rules, at a temperature for the hills."""
    return Plan(**{**vars(PLANS[name]), "tau": tau})


def begin(case, plan, belief, seed=1, **options):
    record = ("profile", "welfare", "taken", "rejected", *case.game.recorders, *belief.recorders)
    return pt.begin(
        case.game, as_rule(plan), seed, **{"record": record, "compiled": False, "belief": belief, **options}
    )


def bits(trace):
    """Everything a trace holds, as bytes; of mixtures what they are, in views and proposals."""
    parts = [trace.final, trace.times, *trace.events, *trace.scalars.values(), np.array(trace.proposals, float)]
    parts += [np.asarray(part) for view in trace.beliefs for part in vars(view).values()]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


# A running mean on any game ---------------------------------------------------------------------------


class MeanPlayers:
    """Players who expect the mean of what they received, by their own action or by the profile."""

    def __init__(self, game, profile, belief):
        self.game, self.profile, self.belief = game, list(profile), belief
        self.received = [{} for _ in profile]
        self.note()

    def entry(self, player, profile):
        return profile[player] if self.belief.per == "action" else tuple(profile)

    def note(self):
        """Everybody notes the utility that it receives."""
        for player, notes in enumerate(self.received):
            entry = self.entry(player, self.profile)
            notes.setdefault(entry, []).append(self.game.utility(player, self.profile))

    def mean(self, player, profile):
        notes = self.received[player].get(self.entry(player, profile))
        return math.fsum(notes) / len(notes) if notes else self.belief.initial

    def value(self, player, profile):
        """True where the player stays, believed where it moves."""
        known = profile[player] == self.profile[player]
        return self.game.utility(player, profile) if known else self.mean(player, profile)

    def changed(self, changes):
        return [changes.get(i, action) for i, action in enumerate(self.profile)]

    def step(self, rule, key, n):
        """One step of lll, slll, blll or p-sblll, without a guard."""
        players, options = range(len(self.profile)), rule.spec()

        def draw(player, purpose):
            return uniform(key, len(players), n, player, purpose)

        awake = [i for i in players if draw(i, WAKE) < options["revision"]] if "revision" in options else None
        if awake is None:
            awake = [int(draw(0, WAKE) * len(players))]
        if rule.name in ("lll", "slll"):
            after = {i: self.redrawn(i, options["tau"], draw(i, CHOICE)) for i in awake}
        else:
            after = self.compared(awake, options, draw)
        self.profile = self.changed(after)
        self.note()

    def redrawn(self, player, tau, unit):
        """The logit map over all actions within reach."""
        own, reach = self.profile[player], self.game.reachable(player, self.profile[player])
        actions = [own, *reach] if isinstance(self.game.moves, Constrained) else sorted([own, *reach])
        values = [self.value(player, self.changed({player: action})) for action in actions]
        weights = [math.exp((value - max(values)) / tau) for value in values]
        reached = np.cumsum(weights)
        return actions[min(int((reached <= unit * reached[-1]).sum()), len(actions) - 1)]

    def compared(self, awake, options, draw):
        trial = {}
        for i in awake:
            reach = self.game.reachable(i, self.profile[i]) or [self.profile[i]]
            trial[i] = reach[int(draw(i, TRIAL) * len(reach))]
        after = {}
        for i in awake:
            goal = self.changed(trial if options.get("trial") == "joint" else {i: trial[i]})
            gain = self.value(i, goal) - self.value(i, self.profile)
            if draw(i, CHOICE) < 1 / (1 + math.exp(-gain / options["tau"])):
                after[i] = trial[i]
        return after


# References with one thing wrong: what a comparison must notice ---------------------------------------


def _before_moving(self, moved, key, step):
    """Robots look around, then move: what they see is where they were."""
    here, self.places = self.places, getattr(self, "were", self.places)
    Believer.learn(self, moved, key, step)
    self.places = self.were = here


def _own_cover(self, robot, trial):
    game = self.imagined(robot)
    return game.value(game.covers(robot, trial[robot])) - game.energy(robot, self.places[robot], trial[robot])


def _true_overlap(self, robot, trial):
    """The others' overlap by the true worth."""
    own, game = self.imagined(robot), self.oracle
    gain = own.value(own.covers(robot, trial[robot])) - game.value(game.covers(robot, trial[robot]))
    return game.utility(robot, trial, self.places[robot], self.laid) + gain


class _NeverMeets(Team):
    def willing(self, i, j):
        return False


class _AlwaysMeets(Team):
    def willing(self, i, j):
        return self.last.get((i, j)) != [frozenset(self.minds[k].reading) for k in (i, j)]


class _MeetsAgain(Team):
    def willing(self, i, j):
        self.last.clear()
        return super().willing(i, j)


class _LastReading(Team):
    def sense(self, robot, place, key, step):
        mind = self.of(robot)
        for _, cell in self.sensed(robot, place):
            mind.visits.pop(cell, None)
        return super().sense(robot, place, key, step)


def _as_if_new(learner):
    learner.standing = np.ones_like(learner.standing)
    return Learner.weigh(learner)


class _TheBetter(Learner):
    def chance(self, before, after):
        return 1.0 if after <= before else 0.0


WRONG = {
    "trial from the truth": altered(
        Believer, expected=lambda self, i, trial: self.oracle.utility(i, trial, self.places[i], self.laid)
    ),
    "current from the belief": altered(
        Believer, current=lambda self, i: self.imagined(i).utility(i, self.places, self.places[i], self.laid)
    ),
    "overlap forgotten": altered(Believer, expected=_own_cover),
    "overlap known": altered(Believer, expected=_true_overlap),
    "flags ignored": altered(
        Believer, expected=lambda self, i, trial: self.imagined(i).utility(i, trial, self.places[i], {})
    ),
    "observes before the move": altered(Believer, learn=_before_moving),
    "moves for nothing": altered(
        Believer,
        expected=lambda self, i, trial: (
            Believer.expected(self, i, trial) + self.oracle.energy(i, self.places[i], trial[i])
        ),
    ),
    "reads its range": altered(
        Believer, team_of=altered(Team, sensed=lambda self, i, p: enumerate(sorted(self.oracle.covers(i, p))))
    ),
    "reads its cell": altered(Believer, team_of=altered(Team, sensed=lambda self, i, p: [(0, p)])),
    "no bonus": altered(Believer, bonus=lambda self, mind, cell: 0.0),
    "bonus anywhere": altered(
        Believer, bonus=lambda self, mind, cell: getattr(self.belief, "optimism", 0.0) * mind.peak
    ),
    "no model": altered(Believer, predicted=lambda self, mind, cells: [0.0] * len(cells)),
    "recalls": altered(Believer, recalled=lambda self, mind: set(mind.reading)),
    "recalls nothing": altered(Believer, recalled=lambda self, mind: set()),
    "equal shares": altered(Believer, share=lambda self, knew, other_knew: 0.5),
    "own model only": altered(Believer, share=lambda self, knew, other_knew: 1.0),
    "never meets": altered(Believer, team_of=_NeverMeets),
    "always meets": altered(Believer, team_of=_AlwaysMeets),
    "meets again": altered(Believer, team_of=_MeetsAgain),
    "last reading": altered(Believer, team_of=_LastReading),
    "no noise": altered(Believer, team_of=altered(Team, deviate=lambda self, *place: 0.0)),
    "as many as cells": altered(Believer, learner=altered(Learner, size=lambda self, weights: len(weights))),
    "one each": altered(Believer, learner=altered(Learner, multiplicity=lambda self, reading, visits: 1.0)),
    "once each": altered(
        Believer, learner=altered(Learner, multiplicity=lambda self, f, visits: Learner.multiplicity(self, f, 1))
    ),
    "not calibrated": altered(
        Believer, learner=altered(Learner, calibrate=lambda self: setattr(self.mind, "factor", 1.0))
    ),
    "the better model": altered(Believer, learner=_TheBetter),
    "temperature one": altered(Believer, learner=altered(Learner, temperature=1.0)),
    "never forgets": altered(Believer, trust=lambda self, mind, cell: 1.0),
    "fits what is old": altered(
        Believer,
        learner=altered(Learner, weigh=_as_if_new),
    ),
    "reads only where it arrives": altered(Believer, team_of=altered(Team, due=lambda self, step: False)),
    "decides late": altered(Believer, deciding=lambda self, step: Believer.deciding(self, step - 1)),
}


def _forgetting(self, *given):
    MeanPlayers.__init__(self, *given)
    self.received = [{} for _ in self.profile]


WRONG_MEANS = {
    "start not noted": altered(
        MeanPlayers,
        __init__=_forgetting,
    ),
    "trial from the truth": altered(
        MeanPlayers, value=lambda self, player, profile: self.game.utility(player, profile)
    ),
    "current from the belief": altered(MeanPlayers, value=MeanPlayers.mean),
    "last received": altered(
        MeanPlayers,
        mean=lambda self, player, profile: self.received[player].get(
            self.entry(player, profile), [self.belief.initial]
        )[-1],
    ),
    "by the other key": altered(
        MeanPlayers,
        entry=lambda self, player, profile: profile[player] if self.belief.per == "profile" else tuple(profile),
    ),
    "zero at first": altered(
        MeanPlayers,
        mean=lambda self, player, profile: (
            MeanPlayers.mean(self, player, profile) if self.entry(player, profile) in self.received[player] else 0.0
        ),
    ),
}
