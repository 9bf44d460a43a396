"""How a mind fits its mixture to what it has seen: after each step that brought enough news, and every T_AIC steps.

These functions run between two stretches of the compiled loop, and call compiled code for all that takes time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.em import FLAT_WEIGHT, Components, Points, Work, drop_dead, new_components, new_work, run_em
from potentia.beliefs.forgetting import sightings, standing
from potentia.beliefs.observations import FRESH, KNOWN, Store
from potentia.beliefs.structure import akaike, change_best
from potentia.games.coverage_kernel import CoverageData
from potentia.games.world import Mixture
from potentia.kernel.cache import Compiled, Entry
from potentia.kernel.dispatch import at, portable
from potentia.kernel.draws import DIRECTION, NUMBER, PROPOSAL, uniform_nth
from potentia.kernel.mathematics import exp

AKAIKE_TEMPERATURE = 2.0
PER_COMPONENT = 6  # parameters of a component in the plane: no component without as many cells of some worth
_SPREAD = 0.5
_NEGLIGIBLE = 1e-6  # of a cell's mean weight
_MOST = 1e100  # repetitions
_HIGHEST = 300.0  # log-density; the squares of what is higher would overflow


class Proposal(NamedTuple):
    """One proposal to change the number of components.

    Attributes
    ----------
    time : int
        Steps since the start.
    mind : int
        Whose mixture: 0, or the robot's number.
    before : int
        How many there were.
    after : int
        How many there would be.
    aic_before : float
        Akaike's criterion before it.
    aic_after : float
        Akaike's criterion after it.
    accepted : bool
        Whether it was.

    Examples
    --------
    >>> str(pt.beliefs.Proposal(100, 0, 2, 3, 81.0, 79.5, True))
    'time 100, mind 0: split, 2 → 3 components, AIC 81.00 → 79.50, accepted'
    """

    time: int
    mind: int
    before: int
    after: int
    aic_before: float
    aic_after: float
    accepted: bool

    def __str__(self) -> str:
        kind, word = "split" if self.after > self.before else "merge", "accepted" if self.accepted else "rejected"
        return (
            f"time {self.time}, mind {self.mind}: {kind}, {self.before} → {self.after} components, "
            f"AIC {self.aic_before:.2f} → {self.aic_after:.2f}, {word}"
        )


WEIGHT, MEAN, COVARIANCE, WHITEN, OFFSET = 0, 1, 3, 7, 11  # where a component's numbers begin
WIDTH = 12
SCALE, ERROR = range(2)
NUMBER_OF, PENDING = range(2)
LEVEL = 1  # after FLAT_WEIGHT


class Model(NamedTuple):
    """The mixture of each mind (m), with room for K components, as compiled code needs it."""

    component: NDArray[np.float64]  # (m, K, WIDTH)
    value: NDArray[np.float64]  # (m, 2) the factor from density to worth; the parameters' error, where it is recorded
    mark: NDArray[np.int64]  # (m, 2) components, 0 before anything of worth was seen; whether to think about it
    estimate: NDArray[np.float64]  # (m, framed cells) predictions of the last fit; NaN: not made yet
    flat: NDArray[np.float64]  # (m, 2) the background's weight and its density, 0 without one


def new_model(minds: int, room: int, framed: int) -> Model:
    """Minds that have fitted nothing."""
    return Model(
        np.zeros((minds, room, WIDTH)),
        np.ones((minds, 2)),
        np.zeros((minds, 2), np.int64),
        np.full((minds, framed), np.nan),
        np.zeros((minds, 2)),
    )


@portable
def predicted(model: Model, game: CoverageData, mind: int, cell: int) -> float:
    """The mixture's worth of a framed cell; evaluated once per fit."""
    value = model.estimate[mind, at(cell)]
    if math.isnan(value):
        x = cell % game.width - game.base % game.width + 0.5
        y = cell // game.width - game.base // game.width + 0.5
        value = model.flat[mind, LEVEL]
        for j in range(model.mark[mind, NUMBER_OF]):
            dx, dy = x - model.component[mind, j, MEAN], y - model.component[mind, j, MEAN + 1]
            first = model.component[mind, j, WHITEN] * dx
            second = model.component[mind, j, WHITEN + 2] * dx + model.component[mind, j, WHITEN + 3] * dy
            value += exp(min(model.component[mind, j, OFFSET] - 0.5 * (first * first + second * second), _HIGHEST))
        value *= model.value[mind, SCALE]
        model.estimate[mind, at(cell)] = value
    return value


# Compiled ---------------------------------------------------------------------------------------------


def _gather(
    store: Store,
    mind: int,
    width: int,
    base: int,
    by_worth: bool,
    V: float,
    f_mode: float,
    effective: bool,
    points: Points,
) -> int:
    """Where the cells are, and their weights, scaled to sum to the size of the sample; how many of them count.

    The size is the number of cells, those seen long ago in part, or the effective one, (Σw)² / Σw². None counts where
    nothing has worth.
    """
    cell, reading, visits, ages = store.cell[mind], store.reading[mind], store.visits[mind], store.ages
    centre, out, number = points.at, points.weight, points.number
    top, standings = 0.0, 0.0
    for t in range(number):
        centre[t, 0] = cell[t] % width - base % width + 0.5
        centre[t, 1] = cell[t] // width - base // width + 0.5
        weight = max(reading[t], 0.0)
        if not by_worth:
            times = weight / f_mode if weight < _MOST * f_mode else _MOST
            weight = (1.0 + V * np.floor(times + 0.5) if times >= 1.0 else 1.0) * sightings(ages, mind, t, visits[t])
        else:
            weight *= standing(ages, mind, t)
        standings += standing(ages, mind, t)
        out[t] = weight
        top = max(top, weight)
    if not top > 0.0:
        return 0
    total, square = 0.0, 0.0
    _, exponent = math.frexp(top)
    for t in range(number):
        out[t] = math.ldexp(out[t], -exponent)  # no digit changes, and the squares stay in range
        total += out[t]
        square += out[t] * out[t]
    scale, counted = total / square if effective else standings / total, 0
    for t in range(number):
        out[t] *= scale
        counted += out[t] > _NEGLIGIBLE
    return counted


def _factor(store: Store, mind: int, density: NDArray[np.float64], number: int) -> float:
    """The least-squares factor from density to worth, at least 0."""
    reading, ages = store.reading[mind], store.ages
    both, square = 0.0, 0.0
    for t in range(number):
        guess = exp(min(density[t], _HIGHEST))
        weight = standing(ages, mind, t)
        both += weight * guess * reading[t]
        square += weight * guess * guess
    return max(both / square, 0.0) if square > 0.0 else 0.0


_gather_entry, _factor_entry = Entry(_gather), Entry(_factor)
_em_entry, _change_entry = Entry(run_em), Entry(change_best)


# Thinking ---------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """Room to work in, one for all minds."""

    at: NDArray[np.float64]  # (cells, 2)
    weight: NDArray[np.float64]  # (cells,)
    volume: NDArray[np.float64]  # (cells,) all 1: a cell's area
    mixture: Components
    work: Work
    candidate: Components
    trial: Work  # shares the posteriors with ``work``
    judging: bool  # whether the parameters' error is recorded


def new_room(cells: int, components: int, judging: bool) -> Room:
    """Fresh room."""
    work = new_work(cells, components, 2)
    own = new_work(0, components, 2)
    return Room(
        np.zeros((cells, 2)),
        np.zeros(cells),
        np.ones(cells),
        new_components(components, 2),
        work,
        new_components(components, 2),
        work._replace(whiten=own.whiten, offset=own.offset, flat=own.flat),
        judging,
    )


class Learner:
    """Fits the mixture of one mind: takes it up, changes it and puts it back."""

    def __init__(
        self, options: Any, game: CoverageData, store: Store, model: Model, room: Room, mind: int, compiled: Compiled
    ) -> None:
        self.options, self.store, self.model, self.room = options, store, model, room
        self.mind, self.compiled = mind, compiled
        self.number = int(model.mark[mind, NUMBER_OF])
        self._unpack(mind)
        self.points = Points(room.at, room.weight, room.volume, int(store.tally[mind, KNOWN]))
        how = options.weighting == "worth", options.V, options.f_mode, options.sample == "effective"
        self.counted = _gather_entry(store, mind, game.width, game.base, *how, self.points, compiled=compiled)

    def _unpack(self, mind: int) -> None:
        packed, mixture = self.model.component[mind], self.room.mixture
        self.room.work.flat[FLAT_WEIGHT] = self.model.flat[mind, FLAT_WEIGHT]
        mixture.weight[:] = packed[:, WEIGHT]
        mixture.mean[:] = packed[:, MEAN:COVARIANCE]
        mixture.covariance.reshape(-1, 4)[:] = packed[:, COVARIANCE:WHITEN]

    def put_back(self, mind: int) -> None:
        """The mind has the mixture that was fitted; its predictions are to be made anew."""
        room, number = self.room, self.number
        packed = self.model.component[mind]
        packed[:, WEIGHT] = room.mixture.weight
        packed[:, MEAN:COVARIANCE] = room.mixture.mean
        packed[:, COVARIANCE:WHITEN] = room.mixture.covariance.reshape(-1, 4)
        packed[:, WHITEN:OFFSET] = room.work.whiten.reshape(-1, 4)
        packed[:, OFFSET] = room.work.offset
        weight = room.work.flat[FLAT_WEIGHT]
        self.model.flat[mind] = weight, weight / max(self.points.number, 1)
        self.model.mark[mind, NUMBER_OF] = number
        self.model.value[mind, SCALE] = self.scale
        self.model.estimate[mind] = np.nan
        self.store.tally[mind, FRESH] = 0

    def _em(self, mixture: Components, number: int, steps: int, work: Work) -> float:
        floor, tolerance = self.options.floor, self.options.tolerance
        return float(_em_entry(self.points, mixture, number, floor, steps, tolerance, work, compiled=self.compiled)[0])

    def fit(self, steps: int) -> float:
        """Go on fitting from the last fit; the log-likelihood, or NaN where there is nothing to fit."""
        mixture, work = self.room.mixture, self.room.work
        self.scale = 0.0
        if not self.counted:
            return math.nan
        if not self.number:  # one component takes everything, wherever it begins
            self.number, work.flat[FLAT_WEIGHT] = 1, 0.0
            mixture.weight[0], mixture.mean[0], mixture.covariance[0] = 1.0, self.points.at[0], np.eye(2)
            if self.options.background:  # which then gives half of it to the background
                self._em(mixture, 1, 1, work)
                mixture.weight[0] = work.flat[FLAT_WEIGHT] = 0.5
        likelihood = self._em(mixture, self.number, steps, work)
        while self.number < self.options.numbers.fixed and self._affordable(self.number + 1):
            self._adopt(self._change(True, math.nan))
            likelihood = self._em(mixture, self.number, self.options.settle_steps, work)
        likelihood = self._alive(likelihood)
        self._calibrate()
        return likelihood

    def _alive(self, likelihood: float) -> float:
        """Drop components that died; the likelihood, the same but for rounding."""
        mixture = self.room.mixture
        if mixture.weight[: self.number].all():
            return likelihood
        self.number = drop_dead(mixture, self.number)
        return self._em(mixture, self.number, 0, self.room.work)

    def _affordable(self, number: int) -> bool:
        """Whether enough cells of some worth were seen for so many components."""
        return self.counted >= PER_COMPONENT * number

    def _calibrate(self) -> None:
        """After a fit, by its densities at the cells seen."""
        self.scale = 1.0
        if self.options.calibrated:
            store, density = self.store, self.room.work.density
            self.scale = float(_factor_entry(store, self.mind, density, self.points.number, compiled=self.compiled))

    # The number of components

    def _change(self, growing: bool, angle: float) -> int:
        """As the candidate the mixture with one component more or fewer; their number.

        The one least like its data is split in two, at this angle, or the two that overlap most are merged.
        """
        options, room = self.options, self.room
        how = growing, angle, _SPREAD, options.floor, options.settle_steps, options.tolerance
        into = room.candidate, room.work, room.trial
        room.trial.flat[:] = room.work.flat  # neither split nor merged
        return int(_change_entry(self.points, room.mixture, self.number, *how, *into, compiled=self.compiled))

    def _adopt(self, number: int) -> None:
        """The candidate becomes the mixture."""
        self.number = number
        self.room.work.flat[:] = self.room.trial.flat
        for own, other in zip(self.room.mixture, self.room.candidate, strict=True):
            own[:] = other

    def decide(self, players: int, key: Any, step: int) -> list[Proposal]:
        """Eq. 48-49: one component more or fewer, and again in the same direction as long as that is accepted."""
        options, room, mind = self.options, self.room, self.mind
        likelihood = self.fit(options.settle_steps)
        out: list[Proposal] = []
        growing = uniform_nth(key, players, step, mind, NUMBER, 0) < 0.5
        flat = 2.0 * options.background  # of AIC: one parameter
        for turn in range(options.repeats if self.counted and self.number else 0):
            may_grow = self.number < options.most and self._affordable(self.number + 1)
            if turn == 0:
                growing = self.number == 1 or (growing and may_grow)
            if not (may_grow if growing else self.number > 1):
                break
            proposed = self._change(growing, 2 * math.pi * uniform_nth(key, players, step, mind, DIRECTION, turn))
            gained = self._em(room.candidate, proposed, options.settle_steps, room.trial)
            before, after = flat + akaike(likelihood, self.number, 2), flat + akaike(gained, proposed, 2)
            accepted = uniform_nth(key, players, step, mind, PROPOSAL, turn) < _chance(after - before)
            out.append(Proposal(step + 1, mind, self.number, proposed, before, after, accepted))
            if not accepted:
                break
            self._adopt(proposed)
            likelihood = self._alive(self._em(room.mixture, proposed, 0, room.work))
            self._calibrate()
        return out

    # Two minds

    def average_with(self, other: int, share: float) -> None:
        """Average each component, with this share, with the nearest of another mind's not yet taken."""
        if not self.number or self.number != self.model.mark[other, NUMBER_OF]:
            return
        mixture, theirs = self.room.mixture, self.model.component[other]
        flat = self.room.work.flat
        flat[FLAT_WEIGHT] += (1 - share) * (self.model.flat[other, FLAT_WEIGHT] - flat[FLAT_WEIGHT])
        free = list(range(self.number))
        for k in range(self.number):
            dx, dy = (mixture.mean[k] - theirs[free, MEAN:COVARIANCE]).T
            near = theirs[free.pop(int(np.argmin(dx * dx + dy * dy)))]
            mixture.weight[k] += (1 - share) * (near[WEIGHT] - mixture.weight[k])
            mixture.mean[k] += (1 - share) * (near[MEAN:COVARIANCE] - mixture.mean[k])
            mixture.covariance[k] += (1 - share) * (near[COVARIANCE:WHITEN].reshape(2, 2) - mixture.covariance[k])


def _chance(worse: float) -> float:
    """The binary logit between two models, by how much worse the second one's AIC is."""
    odds = worse / AKAIKE_TEMPERATURE
    return 1.0 / (1.0 + math.exp(odds)) if odds <= 0.0 else math.exp(-odds) / (1.0 + math.exp(-odds))


def parameter_error(truth: Mixture, mixture: Components, number: int) -> float:
    """|λ̂ - λ|, between 0 and 1: the mean over true components of three relative errors, each at most 1.

    A true component is compared with the nearest estimated one that no other has taken, the nearest pairs first:
    the error of the weight relative to it, the distance of the means in true standard deviations, and the error
    of the standard deviation (of the circle as large as the ellipse) relative to it. One without a partner has
    error 1.
    """
    true = truth.weights.size
    distance = np.linalg.norm(truth.means[:, None] - mixture.mean[None, :number], axis=-1)
    wide = [np.linalg.det(c) ** 0.25 for c in (truth.covariances, mixture.covariance[:number])]
    total = float(max(true - number, 0))
    for _ in range(min(true, number)):
        j, k = np.unravel_index(np.argmin(distance), distance.shape)
        errors = (
            abs(mixture.weight[k] - truth.weights[j]) / truth.weights[j],
            distance[j, k] / wide[0][j],
            abs(wide[1][k] - wide[0][j]) / wide[0][j],
        )
        total += sum(min(float(error), 1.0) for error in errors) / 3
        distance[j, :] = distance[:, k] = np.inf
    return total / true
