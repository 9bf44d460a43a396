"""How a promise fails, step by step: from a maximiser to a stable profile, a resistance that Eq. 12 misses, a cycle.

The same words on the command line, in notebooks and in reports; the studio's stage and the laboratory play the step.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from potentia.analysis.chains.ways import Way, cheapest_way
from potentia.analysis.potentials import worst_cycle
from potentia.analysis.stochastic_stability import Resistances, Stability
from potentia.analysis.tables import at_places, payoff_tensor, place_of, profile_at, words
from potentia.games import Game
from potentia.kernel.arrays import Ints
from potentia.rules import Constant

if TYPE_CHECKING:
    from potentia.analysis.auditing import Audit

MOST_PROFILES = 256
MOST_PLAYERS = 8


class Promise(NamedTuple):
    """Whether exactly the potential maximisers are stable: the stable profiles more, and the maximisers missed."""

    more: list[int]
    missed: list[int]

    @property
    def kept(self) -> bool:
        return not self.more and not self.missed


class Counterexample(NamedTuple):
    """What goes wrong, and how."""

    kind: str  # "promise", "lemma" or "cycle"
    title: str
    path: list[int]  # of profiles, by their numbers
    way: Way | None  # the step that matters
    sentences: list[str]  # who woke, tried, took it and stayed, and what follows
    said: float | None = None  # what Eq. 12 says

    def lines(self) -> list[str]:
        """As people read it."""
        return [self.title, *(f"  {sentence}" for sentence in self.sentences)]

    def to_dict(self, game: Game) -> dict[str, Any]:
        """Plain data, for JSON."""
        path = at_places(game, np.array(self.path)).tolist()
        return {"kind": self.kind, "title": self.title, "path": path, "sentences": self.sentences}


def promise_of(found: Stability | None, best: Ints | None) -> Promise | None:
    """Whether exactly the maximisers are stable, whatever a theorem says about it; None where that is no question."""
    if found is None or best is None:
        return None
    stable = np.flatnonzero(found.by_profile.stable)
    return Promise(np.setdiff1d(stable, best).tolist(), np.setdiff1d(best, stable).tolist())


def explained(audit: Audit) -> list[Counterexample]:
    """What an audit found against the promise, against the resistance lemma and against a potential, explained.

    None of games with more than 256 profiles or eight players, whose ways are too many to look at, and of rules that
    remember, whose steps are not between profiles, only the cycle.
    """
    game, rule, found = audit.game, audit.rule, audit.stability
    if game.num_profiles > MOST_PROFILES or game.num_players > MOST_PLAYERS:
        return []
    out: list[Counterexample] = []
    if found is not None and rule.point() is not None:
        tau = getattr(rule, "tau", None)
        warm = tau.tau if isinstance(tau, Constant) else 0.0
        table, best = found.resistances(), audit.maximisers
        promise = promise_of(found, best)
        if promise is not None and best is not None and not promise.kept:
            out += _of_promise(audit, found, table, promise, best, warm)
        out += _of_lemma(audit, table, warm)
    if audit.potential is None:
        corners = [place_of(game, profile) for profile in worst_cycle(payoff_tensor(game)).profiles]
        path = [*corners, corners[0]]
        said = [f"{row.evidence[:1].upper()}{row.evidence[1:]}." for row in audit.rows[:1]]
        out.append(Counterexample("cycle", f"Round {_names(audit, path)} the changes do not cancel", path, None, said))
    return out


def _names(audit: Audit, path: list[int]) -> str:
    return " → ".join(words(profile_at(audit.game, place), audit.game) for place in path)


def _of_promise(
    audit: Audit, found: Stability, table: Resistances, promise: Promise, best: Ints, tau: float
) -> list[Counterexample]:
    """From a maximiser that is left, or the first, to the stable profile with the largest share."""
    game, count = audit.game, audit.game.num_profiles
    start = (promise.missed or best.tolist())[0]
    goals = promise.more or np.flatnonzero(found.stable).tolist()
    goal = goals[0]
    for other in goals:
        goal = other if found.limit[other] > found.limit[goal] + 1e-9 else goal
    path = _cheapest_path(table, count, start, goal, found.tolerance)
    ways = [cheapest_way(game, audit.rule, a, b, tau) for a, b in itertools.pairwise(path)]
    if not ways:
        return []
    together = [way for way in ways if len(way.awake) > 1]
    shown = (together or ways)[0]
    sentences = shown.sentences(game)
    there = sum(way.resistance for way in ways)
    if len(ways) > 1:
        sentences.append(f"This is one of {len(ways)} steps; all of them have resistance {there:.6g}.")
    back = _cheapest_path(table, count, goal, start, found.tolerance)
    if back:
        cost = sum(cheapest_way(game, audit.rule, a, b, tau).resistance for a, b in itertools.pairwise(back))
        sentences.append(f"The cheapest way back has resistance {cost:.6g}.")
    else:
        sentences.append("There is no way back.")
    title = f"From the maximiser to a stable profile: {_names(audit, path)}"
    return [Counterexample("promise", title, path, shown, sentences)]


def _of_lemma(audit: Audit, table: Resistances, tau: float) -> list[Counterexample]:
    """The transition of which Eq. 12 says most too much."""
    if table.lemma is None or table.differs is None or not table.differs.any():
        return []
    off = np.flatnonzero(table.differs)
    worst = off[int(np.argmax(table.lemma[off] - table.exact[off]))]
    source, target, said = int(table.sources[worst]), int(table.targets[worst]), float(table.lemma[worst])
    way = cheapest_way(audit.game, audit.rule, source, target, tau)
    title = f"{_names(audit, [source, target])}: Eq. 12 says {said:.6g}"
    return [Counterexample("lemma", title, [source, target], way, way.sentences(audit.game), said)]


def _cheapest_path(table: Resistances, size: int, start: int, goal: int, tie: float) -> list[int]:
    """The path of least resistance; of several the shortest, then the first. None leads out of a transient profile."""
    paths: list[tuple[float, list[int]] | None] = [None] * size
    paths[start] = (0.0, [start])
    edges = list(zip(table.sources.tolist(), table.targets.tolist(), table.exact.tolist(), strict=True))
    changed = True
    while changed:
        changed = False
        for source, target, cost in edges:
            known, have = paths[source], paths[target]
            if known is None or target in known[1]:
                continue
            new = known[0] + cost, [*known[1], target]
            if (
                have is None
                or new[0] < have[0] - tie
                or (new[0] <= have[0] + tie and (len(new[1]), new[1]) < (len(have[1]), have[1]))
            ):
                paths[target], changed = new, True
    found = paths[goal]
    return [] if found is None else found[1]
