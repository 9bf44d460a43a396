"""What a report looks at: a study, one or more recorders of it, the optimum, and each rule at its best."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from potentia.errors import InvalidRun, PotentiaError
from potentia.games import Coverage, Game
from potentia.statistics.choosing import Best, best_of, compared_with_best, typical_seed
from potentia.statistics.comparison import Comparison
from potentia.statistics.curves import Curves
from potentia.studies.kept import plain
from potentia.studies.lines import OBJECTIVES, measure_of, optima_of
from potentia.studies.planning import Point
from potentia.studies.points import dimensions_of
from potentia.studies.results import Overview, overview
from potentia.studies.store import Study

MOST_MEASURES = 4
MOST_RULES = 4  # side by side in a replay
MOST_GAMES = 2  # of which runs are shown
MOST_LINES = 8  # of a game, over time
MOST_ROWS = 500  # of a table


@dataclass
class Looked:
    """A study as a report looks at it."""

    study: Study
    measure: str
    lowest: bool
    partial: bool
    curves: list[Curves] = field(init=False)
    _told: dict[str, Overview] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        known = "worth_union" if "worth_union" in self.study.record else None  # of robots on a map what counts
        self.measure = measure_of(self.study, self.measure or known)
        self.curves = self.of(self.measure)

    def of(self, measure: str) -> list[Curves]:
        """Every setting, by this recorder."""
        return self.curves if hasattr(self, "curves") and measure == self.measure else self._read(measure)

    def _read(self, measure: str) -> list[Curves]:
        return self.study.curves(measure, partial=self.partial)

    @property
    def measures(self) -> list[str]:
        """What was recorded over time, the one that counts first."""
        timed = [name for name in self.study.record if dimensions_of(name) == ("time",)]
        return [self.measure, *(name for name in timed if name != self.measure)]

    def optima(self, measure: str) -> tuple[dict[str, float] | None, list[str]]:
        """By game the best there is, and sentences on what is not known of it; None where nothing is."""
        if measure not in OBJECTIVES or (self.lowest and measure == self.measure):
            return None, []
        try:
            found, said = optima_of(self.study, measure, self.of(measure))
            return (None if np.isnan(list(found.values())).all() else found), said
        except InvalidRun as error:
            return None, [str(error)]
        except PotentiaError as error:
            return None, [f"no optimum: {error}"]

    @cached_property
    def events(self) -> tuple[str, ...]:
        """What happened to robots at all points alike; nothing where that differs or is not known."""
        try:
            found = {getattr(point.game, "events", ()) for point in self.points}
        except PotentiaError:  # of a game that nobody has registered
            return tuple(self.study.specification.events or ())
        return found.pop() if len(found) == 1 else ()

    @cached_property
    def optimum(self) -> tuple[dict[str, float] | None, list[str]]:
        """The same of the measure that counts."""
        return self.optima(self.measure)

    @cached_property
    def best(self) -> Best | None:
        """Each rule at its best value of the parameter that varies most; None where nothing of rules varies."""
        try:
            return best_of(self.curves, lowest=self.lowest)
        except PotentiaError:
            return None

    @property
    def at_best(self) -> list[Curves]:
        """The settings at which rules are best; none where nothing of rules varies."""
        return [one.best for one in self.best.chosen] if self.best else []

    @cached_property
    def behind(self) -> list[tuple[Curves, Comparison]]:
        """Each rule at its best, or each setting, with the best of its game: all that the page tests of that."""
        return compared_with_best(self.at_best or self.curves, self.lowest)

    @property
    def is_chosen(self) -> bool:
        """Whether some were chosen by the seeds that they are compared on."""
        return self.best is not None and any(one.tried > 1 for one in self.best.chosen)

    def leading(self, most: int) -> dict[str, list[Curves]]:
        """By game so many settings that stand for all, each rule at its best, the best first."""
        sign, out = (1 if self.lowest else -1), dict[str, list[Curves]]()
        for one in sorted(self.at_best or self.curves, key=lambda one: np.nan_to_num(sign * one.level, nan=np.inf)):
            out.setdefault(one.game, []).append(one)
        return {game: out[game][:most] for game in dict.fromkeys(one.game for one in self.curves) if game in out}

    def few(self, curves: list[Curves]) -> list[Curves]:
        """All of these settings where they are few on each game, else those that lead, by their rules alone."""
        if max(Counter(one.game for one in curves).values()) <= MOST_LINES:
            return curves
        kept = {one.number for mine in self.leading(MOST_LINES).values() for one in mine}
        lead = [one for one in curves if one.number in kept]
        return (
            [replace(one, shared=one.shared | (set(one.values) - one.of_game)) for one in lead] if self.best else lead
        )

    @property
    def shown(self) -> dict[str, list[Curves]]:
        """The leading settings whose runs are shown: a few, of the games with the most players."""
        found = self.leading(MOST_RULES)
        largest = sorted(found, key=lambda game: -int(self.study.points[found[game][0].number]["players"]))[:MOST_GAMES]
        return {game: mine for game, mine in found.items() if game in largest}

    def overview(self, measure: str) -> Overview:
        """Where each setting ends, by this recorder."""
        if measure not in self._told:
            whole = "potentia show --json"
            told = overview(self.study, measure, most=MOST_ROWS, whole=whole, curves=self.of(measure))
            self._told[measure] = told
        return self._told[measure]

    @cached_property
    def points(self) -> list[Point]:
        """All points, built: an error where that cannot be, as of games that nobody has registered.

        Maps have the names of the files that were given, without what marks the study's copies.
        """
        known: dict[int, Game] = {}
        for point in self.study.plan.points:
            game = point.game
            if isinstance(game, Coverage) and id(game) not in known and plain(game.world.name) != game.world.name:
                known[id(game)] = game.like(world=game.world.like(name=plain(game.world.name)))
        return [replace(point, game=known.get(id(point.game), point.game)) for point in self.study.plan.points]


def typical(shown: list[Curves]) -> int:
    """The seed to show settings side by side with."""
    return typical_seed([(one.seeds.tolist(), one.levels) for one in shown])
