"""A short tour of the log-linear family: three games, four rules, numbers for one table and two figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from potentia.engine import run, run_batch
from potentia.games import Game, game
from potentia.rules import Rule, rule

if TYPE_CHECKING:
    import xarray

SEEDS = 20


@dataclass(frozen=True)
class Stop:
    """One game of the tour: a dataset per rule, and the largest potential there is."""

    title: str
    maximum: float
    datasets: dict[str, xarray.Dataset]

    def final(self, name: str) -> float:
        """The mean potential over seeds and the last 200 steps."""
        return float(self.datasets[name].potential.isel(time=slice(-40, None)).mean())

    def acceptance(self, name: str) -> float:
        """The share of revisions in the last 200 steps that changed an action."""
        return float(self.datasets[name].acceptance.isel(time=slice(-40, None)).mean())

    def settled(self, name: str) -> int | None:
        """The first step at which the mean over seeds has come 99 % of the way to the largest potential."""
        mean = self.datasets[name].potential.mean("seed")
        there = (mean - mean[0]) >= 0.99 * (self.maximum - mean[0])
        return int(mean.time[there][0]) if bool(there.any()) else None


@dataclass(frozen=True)
class Law:
    """Time spent in each profile of a small game against the Gibbs law."""

    title: str
    labels: list[str]
    gibbs: NDArray[np.float64]
    shares: dict[str, NDArray[np.float64]]

    def distance(self, name: str) -> float:
        """Total variation distance from the Gibbs law."""
        return float(np.abs(self.shares[name] - self.gibbs).sum() / 2)


def rules(tau: float) -> dict[str, Rule]:
    """The rules of the tour at one temperature."""
    return {
        "LLL": rule("lll", tau=tau),
        "BLLL": rule("blll", tau=tau),
        "P-SBLLL (joint)": rule("p-sblll", tau=tau, revision=0.1),
        "P-SBLLL (guarded)": rule("p-sblll", tau=tau, revision=0.1, guard=True),
    }


def _stop(
    title: str, played: Game, maximum: float, tau: float, steps: int, workers: int, tell: Callable[[str], None]
) -> Stop:
    datasets = {}
    for name, chosen in rules(tau).items():
        tell(f"{title}: {name}")
        options: dict[str, Any] = {"record": ("potential", "acceptance"), "every": 5}
        datasets[name] = run_batch(played, chosen, steps, range(SEEDS), workers=workers, **options)
    return Stop(title, maximum, datasets)


def _ring(workers: int, tell: Callable[[str], None]) -> Stop:
    """The better technology wins on a ring: everybody on action 1 maximises the potential."""
    players, advantage = 100, 0.5
    played = game("innovation", players=players, advantage=advantage)
    return _stop(
        "better technology on a ring, 100 players", played, players * (1 + advantage), 0.15, 3_000, workers, tell
    )


def _congestion(workers: int, tell: Callable[[str], None]) -> Stop:
    """Parallel links: the potential is concave in the loads, so filling the cheapest link is optimal."""
    players, links = 100, 5
    played = game("congestion", players=players, links=links)
    slopes = (np.arange(links) + 1) / players
    loads = np.zeros(links)
    best = 0.0
    for _ in range(players):
        cheapest = int(np.argmin(slopes * (loads + 1)))
        loads[cheapest] += 1
        best -= float(slopes[cheapest] * loads[cheapest])
    return _stop("100 players on 5 parallel links", played, best, 0.005, 3_000, workers, tell)


def _law(tell: Callable[[str], None]) -> Law:
    played, tau = game("random-potential", players=3, actions=2, seed=3), 1.0
    profiles = np.indices(played.num_actions).reshape(played.num_players, -1).T
    potential = np.array([played.potential(p) for p in profiles])
    weights = np.exp((potential - potential.max()) / tau)
    chosen = {
        "LLL": rule("lll", tau=tau),
        "BLLL": rule("blll", tau=tau),
        "P-SBLLL (joint)": rule("p-sblll", tau=tau, revision=0.5),
        "P-SBLLL (guarded)": rule("p-sblll", tau=tau, revision=0.5, guard=True),
    }
    shares = {}
    for name, one in chosen.items():
        tell(f"random potential game: {name}")
        visits = run(played, one, 2_000_000, seed=0, record="visits").visits
        assert visits is not None
        shares[name] = visits / visits.sum()
    labels = ["".join(map(str, p)) for p in profiles]
    return Law("random potential game, 3 players with 2 actions", labels, weights / weights.sum(), shares)


def tour(workers: int = 2, tell: Callable[[str], None] = lambda text: None) -> tuple[list[Stop], Law]:
    """Play everything. ``tell`` hears what is under way."""
    return [_ring(workers, tell), _congestion(workers, tell)], _law(tell)
