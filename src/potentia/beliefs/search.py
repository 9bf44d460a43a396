"""The search for a mixture: from one component on, what to split, what to merge, and when to stop.

It proposes to split one, to merge two, or both at once, by J_split and J_merge (Eq. 48-49; Ueda, Nakano, Ghahramani &
Hinton, "SMEM algorithm for mixture models", Neural Computation 12, 2000), and takes the best proposal that lowers the
criterion. Where none does, it looks a few splits ahead.

The more thorough a search, the more often AIC finds a component too many: it splits clusters that are Gaussian for a
gain of a few units, well within chance. ``caution`` asks a split for more: a gain of so many standard errors, by the
spread of the points' log-likelihood ratios (Vuong, "Likelihood ratio tests for model selection and non-nested
hypotheses", Econometrica 57, 1989). BIC's penalty needs no such help.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.em import Components, Work, drop_dead, new_components, new_work
from potentia.beliefs.fitted import Fitted, Move, log_sums, log_terms
from potentia.beliefs.proposal import (
    CHANGE,
    EXCHANGE,
    KINDS,
    MERGE,
    SPLIT,
    STAY,
    Effort,
    Plan,
    propose_entry,
    scores_entry,
)
from potentia.beliefs.scattering import Scatter
from potentia.beliefs.structure import num_parameters
from potentia.errors import NotConverged
from potentia.kernel.arrays import frozen

Floats = NDArray[np.float64]

_SPREAD = 0.9  # standard deviations from a mean to the two it is split into; those of two clusters are 1 apart
_DIRECTIONS = 2  # in which a component is split: its principal axis, and others by chance
_SPLITS, _MERGES, _EXCHANGES = 8, 3, 3  # candidates, the best by J_split and J_merge
_FINISHED = 3  # candidates that get a full EM, the best after the partial one
_AHEAD = 3  # splits in a row that must improve together
_PARTIAL_STEPS, _PARTIAL_TOLERANCE = 30, 1e-4
_TRIAL_STEPS, _TRIAL_TOLERANCE = 500, 1e-4
_CURRENT_TOLERANCE = 1e-6
_PATIENCE = 30
_SAME = 1e-5  # of the mean log-likelihood: two partial EM came to the same
_ROUNDING = 1e-9  # of the mean log-likelihood; less is no improvement
_FEWEST = 2  # points to each dimension and one more, in every component
_GUARD = 1e-4
_STAY = Plan(STAY, 0, 0, 0, np.zeros(1))
_AT_ONCE = 20_000_000  # points times components times steps between two chances to stop with Ctrl-C


class _State(NamedTuple):
    """A mixture that the search stands at or tries."""

    mixture: Components
    number: int
    work: Work  # with its posteriors
    trace: Floats  # mean log-likelihood before and after each step of its EM

    @property
    def likelihood(self) -> float:
        return float(self.trace[-1])

    def log_terms(self, places: Floats) -> Floats:
        return log_terms(places, *(part[: self.number] for part in self.mixture))


class _Trial(NamedTuple):
    """A state that a move led to, and what to say about it in the history."""

    state: _State
    which: tuple[int, ...]


class Search:
    """From one mixture to the next. Likelihoods and criteria are per unit of weight, in the points' frame."""

    def __init__(
        self,
        data: Scatter,
        criterion: str,
        caution: float,
        floor: float,
        random: np.random.Generator,
        progress: Callable[[Move], None] | None,
    ) -> None:
        self.data, self.criterion, self.caution, self.floor = data, criterion, caution, floor
        self.random, self.progress = random, progress
        self.points = data.points
        self.dimensions = data.points.at.shape[1]
        self.history: list[Move] = []

    def run(self, most: int) -> list[_State]:
        """The states that the search went through; the last is the best."""
        path = [self.first()]
        while (better := self.improved(path[-1], most)) is not None:
            path.append(better)
        return path

    def grow(self, components: int) -> list[_State]:
        """The same for a number that is given: split, whatever the criterion says, then exchange."""
        path = [self.first()]
        while path[-1].number < components:
            trial, others = self.attempt(path[-1], SPLIT, math.inf)
            if trial is None or trial.state.number <= path[-1].number:
                raise NotConverged(
                    f"no split of {path[-1].number} components keeps both halves alive; fit fewer than {components}"
                )
            self.record(path[-1], SPLIT, trial, others, True)
            path.append(trial.state)
        while (better := self.moved(path[-1], EXCHANGE, components)) is not None:
            path.append(better)
        return path

    def improved(self, state: _State, most: int) -> _State | None:
        """The state after the first kind of move that lowers the criterion."""
        for kind in (SPLIT, MERGE, EXCHANGE) if state.number < most else (MERGE, EXCHANGE):
            if (better := self.moved(state, kind)) is not None:
                return better
        return self.looked_ahead(state, most)

    def moved(self, state: _State, kind: int, fewest: int = 1) -> _State | None:
        """The state after the best move of a kind, if that lowers the criterion."""
        trial, others = self.attempt(state, kind, self.cost(state))
        if trial is None:
            return None
        accepted = trial.state.number >= fewest and self.improves(state, trial.state)
        self.record(state, kind, trial, others, accepted)
        return trial.state if accepted else None

    def looked_ahead(self, state: _State, most: int) -> _State | None:
        """The state after several splits that lower the criterion only together."""
        trial = _Trial(state, ())
        for ahead in range(min(_AHEAD, most - state.number)):
            further, _ = self.attempt(trial.state, SPLIT, math.inf)
            if further is None or further.state.number <= trial.state.number:
                return None
            trial = _Trial(further.state, trial.which + further.which)
            if ahead > 0:
                accepted = self.improves(state, trial.state)
                self.record(state, SPLIT, trial, [], accepted)
                if accepted:
                    return trial.state
        return None

    # What a mixture is worth

    def penalty(self, criterion: str, number: int) -> float:
        each = 2.0 if criterion == "aic" else max(math.log(self.data.total), 1.0)
        return each * num_parameters(number, self.dimensions) / self.data.total

    def cost(self, state: _State) -> float:
        return self.penalty(self.criterion, state.number) - 2.0 * state.likelihood

    def improves(self, state: _State, trial: _State) -> bool:
        gain = self.cost(state) - self.cost(trial)
        if gain <= _ROUNDING:
            return False
        if trial.number >= state.number and (bad := self.collapsed(trial)).any():
            gain = self.gain_of_others(state, trial, bad)
            if gain <= _ROUNDING:
                return False
        if trial.number <= state.number or self.caution == 0.0:
            return True
        ratios = self.log_densities(trial) - self.log_densities(state)
        mean = self.points.weight @ ratios
        variance = self.points.weight @ (ratios - mean) ** 2
        return gain > self.caution * 2.0 * math.sqrt(variance / self.data.total)

    def collapsed(self, state: _State) -> NDArray[np.bool_]:
        """Which components hold too few points for a covariance, or fell onto the floor (one above 1e-4 is meant)."""
        weights, _, covariances = (part[: state.number] for part in state.mixture)
        thin: NDArray[np.bool_] = weights * self.data.total < _FEWEST * (self.dimensions + 1)
        if self.floor <= _GUARD:
            thin |= np.linalg.eigvalsh(covariances).min(axis=1) < 2.0 * self.floor
        return thin

    def gain_of_others(self, state: _State, trial: _State, bad: NDArray[np.bool_]) -> float:
        """What the criterion gains without the points of collapsed components: such a density pays for nothing."""
        terms = trial.log_terms(self.points.at)
        density = log_sums(terms)
        good = np.exp(terms[:, ~bad] - density[:, np.newaxis]).sum(axis=1)
        gained = self.points.weight @ (good * (density - self.log_densities(state)))
        paid = self.penalty(self.criterion, trial.number) - self.penalty(self.criterion, state.number)
        return float(2.0 * gained - paid)

    def log_densities(self, state: _State) -> Floats:
        return log_sums(state.log_terms(self.points.at))

    # EM

    def first(self) -> _State:
        mixture = new_components(2, self.dimensions)
        mixture.weight[0] = 1.0
        mixture.covariance[0] = np.eye(self.dimensions)
        state = _State(mixture, 1, new_work(self.points.number, 2, self.dimensions), np.empty(0))
        return self.climb(state, self.effort(10, _CURRENT_TOLERANCE))

    def effort(self, steps: int, tolerance: float, goal: float = -math.inf) -> Effort:
        return Effort(self.floor, _PARTIAL_STEPS, _PARTIAL_TOLERANCE, steps, tolerance, goal, _PATIENCE)

    def climb(self, state: _State, effort: Effort) -> _State:
        """More EM, in pieces between which Python looks for Ctrl-C; then without components that died."""
        mixture, number, work, trace = state
        left, through = effort.steps, False
        while left > 0 and not through:
            now = min(left, max(1, _AT_ONCE // (self.points.number * number)), _TRIAL_STEPS)
            piece, through = self.propose(state, _STAY, effort._replace(steps=now), mixture, work)
            trace = np.concatenate([trace[:-1], piece])
            left -= piece.size - 1
        kept = drop_dead(mixture, number)
        if kept < number:
            self.propose(_State(mixture, kept, work, trace), _STAY, self.effort(0, 0.0), mixture, work)
        return _State(mixture, kept, work, trace)

    def propose(self, state: _State, plan: Plan, effort: Effort, out: Components, trial: Work) -> tuple[Floats, bool]:
        trace = np.empty(effort.steps + 1)
        spare = new_components(state.number, self.dimensions)
        taken, through = propose_entry(
            self.points, state.mixture, state.number, plan, effort, trace, spare, out, state.work, trial
        )
        return trace[: taken + 1], through

    # Moves

    def plans(self, state: _State, kind: int) -> Iterator[Plan]:
        """Candidates, the most promising first."""
        number = state.number
        splits, merges = np.zeros(number), np.full((number, number), -math.inf)
        scores_entry(self.points, state.mixture, number, splits, merges, state.work)
        ranked = np.argsort(-splits, kind="stable").tolist()
        pairs = [divmod(int(p), number) for p in np.argsort(-merges, axis=None, kind="stable")]
        pairs = pairs[: number * (number - 1) // 2]
        none = np.zeros(self.dimensions)
        if kind == SPLIT:
            for k in ranked[:_SPLITS]:
                for shift in self.shifts(state, k, _DIRECTIONS):
                    yield Plan(SPLIT, 0, 0, k, shift)
        elif kind == MERGE:
            for i, j in pairs[:_MERGES]:
                yield Plan(MERGE, i, j, 0, none)
        else:
            for i, j in pairs[:_EXCHANGES]:
                for k in [k for k in ranked if k not in {i, j}][:_EXCHANGES]:
                    for shift in self.shifts(state, k, 1):
                        yield Plan(EXCHANGE, i, j, k, shift)

    def shifts(self, state: _State, k: int, count: int) -> Iterator[Floats]:
        """Along the principal axis, and in directions by chance, as far as the component is wide."""
        variances, axes = np.linalg.eigh(state.mixture.covariance[k])
        widths = np.sqrt(np.maximum(variances, self.floor))
        yield _SPREAD * widths[-1] * axes[:, -1]
        for _ in range(count - 1 if self.dimensions > 1 else 0):
            direction = self.random.standard_normal(self.dimensions)
            yield _SPREAD * (axes * widths) @ (direction / np.linalg.norm(direction))

    def attempt(self, state: _State, kind: int, least: float) -> tuple[_Trial | None, list[_Trial]]:
        """The best that moves of one kind lead to, and the others; EM gives up far from ``least``."""
        after = state.number + CHANGE[kind]
        goal = 0.5 * (self.penalty(self.criterion, after) - least)
        rough = new_work(self.points.number, after, self.dimensions)._replace(held=state.work.held)
        trials = [self.sketched(state, plan, after, rough) for plan in self.plans(state, kind)]
        trials.sort(key=lambda trial: self.cost(trial.state))
        ranks = self.finalists(trials)
        if not ranks:
            return None, []
        for rank in ranks:
            work = new_work(self.points.number, after + 1, self.dimensions)
            start = trials[rank].state._replace(work=work, trace=np.empty(0))
            done = self.climb(start, self.effort(_TRIAL_STEPS, _TRIAL_TOLERANCE, goal))
            trials[rank] = _Trial(done, trials[rank].which)
        trial = trials.pop(min(ranks, key=lambda rank: self.cost(trials[rank].state)))
        if self.cost(trial.state) < least:
            trial = trial._replace(state=self.climb(trial.state, self.effort(_TRIAL_STEPS, _CURRENT_TOLERANCE)))
        return trial, trials

    def finalists(self, trials: list[_Trial]) -> list[int]:
        """The first few, without those that came to the same as the one before."""
        kept: list[int] = []
        for rank, trial in enumerate(trials):
            before = trials[kept[-1]] if kept else trial
            same = before.which == trial.which and abs(before.state.likelihood - trial.state.likelihood) < _SAME
            if not kept or not same:
                kept.append(rank)
            if len(kept) == _FINISHED:
                break
        return kept

    def sketched(self, state: _State, plan: Plan, after: int, work: Work) -> _Trial:
        """A move after its partial EM; the room to work in is for all of them."""
        out = new_components(after + 1, self.dimensions)
        trace, _ = self.propose(state, plan, self.effort(0, 0.0), out, work)
        which = {SPLIT: (plan.k,), MERGE: (plan.i, plan.j), EXCHANGE: (plan.i, plan.j, plan.k)}[plan.kind]
        return _Trial(_State(out, after, work, trace), which)

    # What is told

    def record(self, state: _State, kind: int, trial: _Trial, others: list[_Trial], accepted: bool) -> None:
        for one in (*others, trial):
            move = Move(
                KINDS[kind],
                one.which,
                state.number,
                one.state.number,
                self.told_criterion(self.cost(state)),
                self.told_criterion(self.cost(one.state)),
                accepted and one is trial,
                frozen(self.told_likelihood(one.state.trace)),
            )
            self.history.append(move)
            if self.progress is not None:
                self.progress(move)

    def told_likelihood(self, mean: Any) -> Any:
        """In the points' own units, for all of them."""
        return (mean - self.data.frame.log_volume) * self.data.total

    def told_criterion(self, cost: float) -> float:
        return (cost + 2.0 * self.data.frame.log_volume) * self.data.total

    def result(self, path: list[_State], steps: int, tolerance: float) -> Fitted:
        """The last state after its last EM."""
        last = self.climb(path[-1], self.effort(steps, tolerance))
        order = np.argsort(-last.mixture.weight[: last.number], kind="stable")
        weights, means, covariances = (part[order] for part in last.mixture)
        shift, scale = self.data.frame
        aic, bic = (self.penalty(name, last.number) - 2.0 * last.likelihood for name in ("aic", "bic"))
        return Fitted(
            weights=frozen(weights / weights.sum()),
            means=frozen(shift + scale * means),
            covariances=frozen(scale * scale[:, np.newaxis] * covariances),
            log_likelihood=float(self.told_likelihood(last.likelihood)),
            aic=self.told_criterion(aic),
            bic=self.told_criterion(bic),
            criterion=self.criterion,
            history=tuple(self.history),
            likelihoods=tuple(frozen(self.told_likelihood(state.trace)) for state in (*path[:-1], last)),
            frame=self.data.frame,
        )
