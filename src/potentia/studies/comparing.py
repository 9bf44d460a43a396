"""Which rule and which schedule on this map: candidates played within a budget, and compared on runs of their own.

Two rounds. *Looking*: every candidate plays a few seeds; the one with the most worth is the nominee, the next three are
its rivals. *Judging*: nominee and rivals play fresh seeds, the same for all, and the nominee's differences to its
rivals are taken seed by seed. The nominee was not chosen by these runs, so the choice does not bias the differences.
Their intervals hold for all rivals together, and where one holds 0 that is a tie. Driving settles ties: of those that
nobody judged is surely better than, and that nobody beats in the means of both worth and way, the one that drives least
is taken.

What moving may cost is looked at beside it: the one that is taken plays a few of the seeds that judged it once more, at
other costs, and the differences are taken seed by seed.

All candidates start from the same places. Steps are counted in all runs together, so the result depends on the budget
and on nothing that the machine does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs import Belief
from potentia.engine import run_batch
from potentia.engine.interrupt import all_or_nothing
from potentia.engine.requests import checked_integer
from potentia.errors import InvalidRun
from potentia.games import Coverage
from potentia.kernel.checks import Real
from potentia.rules import Rule, rule
from potentia.statistics.estimates import Estimate, estimate, paired_difference
from potentia.studies.coverage import spacing
from potentia.studies.coverage_ends import final_worth
from potentia.studies.coverage_measures import moving_cost
from potentia.studies.texts import read_parameter

if TYPE_CHECKING:
    import xarray

RIVALS = 3
LEAST, MOST = (2, 10), (10, 100)  # runs of a candidate in the two rounds
_PROBE = 500  # steps, to see how fast this machine is
_COSTS = (0.0, 1.0, 10.0)  # in units of the K that trades 1 % of worth, for the picture


_COLDER, _QUICKER, _LEVEL = "relative:geometric:0.3:0.003", "relative:geometric:0.1:0.003", "relative:0.03"
_VARIANTS: dict[str, dict[str, Any]] = {
    "p-sblll:guarded": {"guard": True},
    "p-sblll:unilateral": {"trial": "unilateral"},
}


def typed(revision: float = 0.9) -> dict[str, dict[str, str]]:
    """The candidates as ``potentia cover`` takes them: rule, tau and revision, by name; empty where there is none."""
    often = f"{revision:g}"
    table = {
        "p-sblll:guarded": ("p-sblll:guarded", "auto", often),
        "p-sblll:unilateral": ("p-sblll:unilateral", "auto", often),
        "p-sblll": ("p-sblll", "auto", often),
        "p-sblll (revision 0.3)": ("p-sblll", "auto", "0.3"),
        "blll": ("blll", "auto", ""),
        "lll": ("lll", "auto", ""),
        "slll": ("slll", "auto", "0.6"),
        "p-sblll:unilateral (tau 0.3 to 0.003)": ("p-sblll:unilateral", _COLDER, often),
        "p-sblll:unilateral (tau 0.1 to 0.003)": ("p-sblll:unilateral", _QUICKER, often),
        "p-sblll:unilateral (tau 0.03)": ("p-sblll:unilateral", _LEVEL, often),
        "p-sblll:guarded (tau 0.3 to 0.003)": ("p-sblll:guarded", _COLDER, often),
        "slll (tau 0.3 to 0.003)": ("slll", _COLDER, "0.6"),
    }
    return {name: dict(zip(("rule", "tau", "revision"), words, strict=True)) for name, words in table.items()}


def candidates(revision: float = 0.9) -> dict[str, Rule]:
    """The rules and schedules that are worth a try on any map; the first is the default of ``potentia cover``."""
    found = {}
    for name, words in typed(revision).items():
        given = {key: read_parameter(key, word) for key, word in words.items() if word and key != "rule"}
        found[name] = rule(words["rule"].partition(":")[0], **given, **_VARIANTS.get(words["rule"], {}))
    return found


@dataclass(frozen=True)
class Played:
    """What a candidate did in one round, run by run, in the order of the round's seeds."""

    worth: NDArray[np.float64]  # covered union at the end
    distance: NDArray[np.float64]  # driven by all robots, in the world's unit

    def to_dict(self) -> dict[str, Any]:
        return {"worth": self.worth.tolist(), "distance": self.distance.tolist()}


@dataclass(frozen=True)
class Rival:
    """One's worth less another's, on the fresh seeds."""

    name: str
    difference: Estimate  # by Student's t; the intervals of all rivals hold together

    @property
    def tie(self) -> bool:
        return not (self.difference.low > 0 or self.difference.high < 0)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "difference": self.difference.to_list(), "tie": self.tie}


@dataclass(frozen=True)
class Advice:
    """What :func:`compare` found."""

    taken: str
    nominee: str
    rivals: tuple[Rival, ...]
    looked: dict[str, Played]
    judged: dict[str, Played]
    costs: dict[float, Played]  # by K, of the one that is taken, on the first of the seeds that judge
    rules: dict[str, Rule]
    looking_seeds: range
    judging_seeds: range
    steps: int
    unit: str

    @cached_property
    def margins(self) -> dict[str, Rival]:
        """The others that were judged, by name, against the one that is taken."""
        found = self.rivals if self.taken == self.nominee else _rivals(self.judged, self.taken)
        return {rival.name: rival for rival in found}

    @cached_property
    def as_asked(self) -> Played:
        """The one that is taken, as it was judged, on the seeds that other costs were played on."""
        runs = next((played.worth.size for played in self.costs.values()), 0)
        found = self.judged[self.taken]
        return Played(found.worth[:runs], found.distance[:runs])

    @cached_property
    def cost_margins(self) -> dict[float, Estimate]:
        """By K what the one that is taken covers more at that cost, seed by seed; the intervals hold together."""
        own, count = self.as_asked.worth, len(self.costs)
        return {K: paired_difference(played.worth, own, count) for K, played in self.costs.items()}

    @property
    def ties(self) -> tuple[str, ...]:
        """Those that do as well as the one that is taken, as far as these runs tell."""
        return tuple(name for name, rival in self.margins.items() if rival.tie)

    def __str__(self) -> str:
        text = f"take {self.taken}: worth {estimate(self.judged[self.taken].worth)}"
        for name, rival in self.margins.items():
            if not rival.tie:
                text += f", {rival.difference} more than {self._named(name)}"
        if self.ties:
            told = ", ".join(f"{self._named(name)} ({self.margins[name].difference})" for name in self.ties)
            way = {name: float(self.judged[name].distance.mean()) for name in (self.taken, *self.ties)}
            which = "these" if way[self.taken] <= min(way.values()) else "those of them that no other one beats"
            text += f"; a tie, less than these runs can tell, with {told}; of {which} {self.taken} drives least"
        return text

    def _named(self, name: str) -> str:
        return f"{name}, which looked best at first" if name == self.nominee else name

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "taken": self.taken,
            "nominee": self.nominee,
            "ties": list(self.ties),
            "recommendation": str(self),
            "rivals": [rival.to_dict() for rival in self.rivals],
            "margins": [rival.to_dict() for rival in self.margins.values()],
            "rules": {name: chosen.spec() for name, chosen in self.rules.items()},
            "looked": {name: played.to_dict() for name, played in self.looked.items()},
            "judged": {name: played.to_dict() for name, played in self.judged.items()},
            "costs": [
                {"K": K} | played.to_dict() | {"difference": self.cost_margins[K].to_list()}
                for K, played in self.costs.items()
            ],
            "cost_seeds": list(self.judging_seeds[: self.as_asked.worth.size]),
            "looking_seeds": list(self.looking_seeds),
            "judging_seeds": list(self.judging_seeds),
            "steps": self.steps,
            "unit": self.unit,
        }


@all_or_nothing()
def compare(
    game: Coverage,
    rules: Mapping[str, Rule] | None = None,
    *,
    steps: int = 20_000,
    budget: int | None = None,
    seed: int = 0,
    belief: Belief | None = None,
    workers: int = 1,
    costs: bool = True,
    compiled: Any = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> Advice:
    """Play candidates on the game, within a budget, and say which one to take.

    Parameters
    ----------
    game
        Robots on a map.
    rules
        The candidates by name, two at least; left out, :func:`candidates`.
    steps
        Of each run.
    budget
        Steps of all runs together, those at other costs included; left out, as many as make 10 runs of each candidate
        and 100 of each finalist. Up to a third of it goes into looking.
    seed
        The first; the others follow.
    belief, workers, compiled, progress
        As in :func:`~potentia.run_batch`.
    costs
        Whether the one that is taken is also played at other costs K of moving, on some of the seeds that judge.

    Returns
    -------
    Advice
    """
    chosen = candidates() if rules is None else dict(rules)
    first, second = num_runs(game, chosen, steps, budget, costs=costs)
    steps = int(steps)
    others = _other_costs(game) if costs else []
    looking, judging = range(seed, seed + first), range(seed + first, seed + first + second)
    finalists = min(RIVALS + 1, len(chosen))
    total = steps * (first * len(chosen) + second * finalists + first * len(others))
    done = 0

    def play(which: Rule, seeds: range, on: Coverage = game) -> Played:
        nonlocal done
        before = done
        tell = None if progress is None else lambda now, _: progress(before + now, total)
        options: dict[str, Any] = {"record": ("worth_union", "distance"), "every": spacing(steps), "workers": workers}
        data = run_batch(on, which, steps, seeds, belief=belief, progress=tell, compiled=compiled, **options)
        done += steps * len(seeds)
        return _measured(data, game.world.length[0])

    looked = {name: play(which, looking) for name, which in chosen.items()}
    order = sorted(chosen, key=lambda name: -float(looked[name].worth.mean()))  # the first of those that are equal
    judged = {name: play(chosen[name], judging) for name in order[:finalists]}
    nominee = order[0]
    rivals = _rivals(judged, nominee)
    taken = _taken(judged)
    played = {K: play(chosen[taken], judging[:first], game.costing(K)) for K in others}
    return Advice(taken, nominee, rivals, looked, judged, played, chosen, looking, judging, steps, game.world.length[1])


def num_runs(
    game: Coverage, rules: Mapping[str, Rule], steps: int, budget: int | None, *, costs: bool = True
) -> tuple[int, int]:
    """How often :func:`compare` plays each candidate, and then each finalist; an error where it would not begin."""
    if not isinstance(game, Coverage):
        raise InvalidRun(f"must be a Coverage game, got {type(game).__name__}", "game", type(game).__name__)
    if len(rules) < 2:
        raise InvalidRun(f"must name two candidates at least, got {len(rules)}", "rules", list(rules))
    steps = checked_integer(steps, "steps", 1)
    return _runs(len(rules), len(_other_costs(game)) if costs else 0, steps, budget)


@all_or_nothing()
def within(
    seconds: float,
    game: Coverage,
    rules: Mapping[str, Rule],
    steps: int,
    *,
    belief: Belief | None = None,
    workers: int = 1,
    costs: bool = True,
) -> tuple[dict[str, Rule], int]:
    """The candidates that this machine has time for in so many seconds, the first ones, and the steps it plays then.

    A short run of each tells how fast it is. That takes a third of the time at most: who is not looked at by then is
    left out, and so is who could not be played often enough. Two are the fewest that can be compared.
    """
    seconds = Real(above=0.0).of(seconds, "budget", InvalidRun)
    tried = max(_PROBE, len(game.happenings.times) + 1)
    hurried, begun = _hurried(game, tried), time.perf_counter()
    others = len(_other_costs(game)) if costs else 0
    speed: dict[str, float] = {}  # seconds for a step of a run
    for name, which in rules.items():
        if len(speed) >= 2 and time.perf_counter() - begun > seconds / 3:
            break
        for _ in range(2):  # the first time it may compile
            started = time.perf_counter()
            run_batch(hurried, which, tried, range(workers), record=(), workers=workers, belief=belief, compiled=True)
        speed[name] = (time.perf_counter() - started) / (tried * workers)
        if len(speed) <= 2 and _least(2, others, steps) * sum(speed.values()) / 2 > seconds:
            break  # the rest would only add to it
    left = dict(rules)
    for count in range(len(speed), 1, -1):
        left = {name: rules[name] for name in list(speed)[:count]}
        most = int(seconds * count / sum(speed[name] for name in left))
        if most >= _least(count, others, steps):
            return left, most
    enough = math.ceil(_least(2, others, steps) * np.mean(list(speed.values())[:2]))
    told = f"must be about {enough} s at least for two candidates of {steps:,} steps on this machine, got {seconds:g} s"
    raise InvalidRun(f"{told}; give it more, or runs fewer steps", "budget", seconds)


def enough(game: Coverage, rules: Mapping[str, Rule], steps: int, *, costs: bool = True) -> int:
    """The fewest steps, in all runs together, in which these can be compared."""
    return _least(len(rules), len(_other_costs(game)) if costs else 0, steps)


def _least(count: int, others: int, steps: int) -> int:
    """The fewest steps in which so many candidates can be compared."""
    return steps * (LEAST[0] * (count + others) + MOST[0] * min(RIVALS + 1, count))


def _other_costs(game: Coverage) -> list[float]:
    """The costs of moving at which the one that is taken is played, too."""
    found = [k * moving_cost(game).one_percent for k in _COSTS]
    return [K for K in found if math.isfinite(K) and not (game.movement_cost == K).all()]


def _hurried(game: Coverage, steps: int) -> Coverage:
    """The same with all that happens to robots within so many steps, in the same order."""
    events = game.happenings
    if not events.times or events.times[-1] <= steps:
        return game
    soon = {time: (k + 1) * steps // (len(events.times) + 1) for k, time in enumerate(events.times)}
    failures = tuple((soon[time], robot) for time, robot in events.failures)
    arrivals = tuple(soon[time] for time in events.arrivals)
    return game.with_events(events._replace(failures=failures, arrivals=arrivals).texts)


def _runs(count: int, others: int, steps: int, budget: int | None) -> tuple[int, int]:
    """Runs of a candidate in the two rounds; at each of ``others`` costs there are as many as in the first."""
    finalists = min(RIVALS + 1, count)
    if budget is None:
        return LEAST[1], MOST[1]
    budget = checked_integer(budget, "budget", 1)
    looked, judged = steps * (count + others), steps * finalists  # steps of one run of each
    needed = _least(count, others, steps)
    if budget < needed:
        also = f" and {others} other costs of moving" if others else ""
        told = f"must be at least {needed:,} steps for {count} candidates{also} of {steps:,} steps"
        raise InvalidRun(f"{told}, got {budget:,}; give it more, or runs fewer steps", "budget", budget)
    first = max(LEAST[0], min(budget // (3 * looked), (budget - MOST[0] * judged) // looked, LEAST[1]))
    return first, min((budget - first * looked) // judged, MOST[1])


def _measured(data: xarray.Dataset, side: float) -> Played:
    return Played(final_worth(data), data.distance.values[:, -1] * side)


def _rivals(judged: Mapping[str, Played], one: str) -> tuple[Rival, ...]:
    worth = {name: played.worth for name, played in judged.items()}
    others = [name for name in worth if name != one]
    return tuple(Rival(name, paired_difference(worth[one], worth[name], len(others))) for name in others)


def _taken(judged: Mapping[str, Played]) -> str:
    """Who drives least of those whom nobody beats, neither surely in worth nor in the means of both worth and way."""
    means = {name: (float(played.worth.mean()), -float(played.distance.mean())) for name, played in judged.items()}

    def beaten(name: str) -> bool:
        worth, way = means[name]
        in_both = any(more >= worth and less >= way for more, less in means.values() if (more, less) != (worth, way))
        return in_both or any(rival.difference.high < 0 for rival in _rivals(judged, name))

    return max((name for name in judged if not beaten(name)), key=lambda name: means[name][::-1])
