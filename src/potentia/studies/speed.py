"""How fast a few kernels are on this machine, in steps per second.

Each is warmed up, which compiles it or loads it, and then plays the same steps from the same start several times.
The best time counts: other programs and a falling clock only ever add to it. Nothing is recorded, and the beginning
of a run is not timed. A step of LLL and BLLL revises one player; in a step of P-SBLLL and SOQL each player may act.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from potentia.engine import run_batch
from potentia.engine.interrupt import all_or_nothing
from potentia.games import Game, game
from potentia.kernel.background import cores
from potentia.rules import Rule, rule
from potentia.studies.coverage import paper_game, paper_rules
from potentia.studies.timing import WARM, advanced, fastest, interleaved, steps_in, timed
from potentia.version import __version__

REPEATS = 5
_RUNS = 16  # of a batch: its first run is alone, so two workers reach at most 32/17 of the speed of one
_TURNS = 3
_SHARE = 0.02  # of the seconds for one run of the batch; much shorter ones would time how a batch begins
_TAU = 0.3


def _named(name: str, learnt: str, **parameters: Any) -> Callable[[], tuple[Game, Rule]]:
    return lambda: (game(name, **parameters), rule(learnt, tau=_TAU))


KERNELS: dict[str, Callable[[], tuple[Game, Rule]]] = {
    "LLL, 2×2 (stag hunt)": _named("stag-hunt", "lll"),
    "BLLL, 2×2 (stag hunt)": _named("stag-hunt", "blll"),
    "LLL, ring of 1,000 players": _named("ring", "lll", players=1_000),
    "BLLL, ring of 1,000 players": _named("ring", "blll", players=1_000),
    "LLL, 1,000 players on 5 links": _named("congestion", "lll", players=1_000),
    "P-SBLLL with Eq. 53, 5 robots in the paper's world": lambda: (paper_game(), paper_rules()["p-sblll"]),
    "SOQL, 5 robots in the paper's world": lambda: (paper_game(), rule("soql")),
}


@dataclass(frozen=True)
class Speed:
    """The speed of a kernel: its best of ``repeats`` times over ``steps`` steps."""

    what: str
    steps: int
    seconds: float
    repeats: int = REPEATS

    @property
    def steps_per_second(self) -> float:
        """Steps per second."""
        return self.steps / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"steps_per_second": self.steps_per_second}


@dataclass(frozen=True)
class Workers:
    """Seconds that a batch took with one worker and with two, the best of a few turns each."""

    runs: int
    steps: int
    one: float
    two: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"ratio": self.one / self.two}


def measured(what: str, seconds: float = 1.0) -> Speed:
    """The speed of one of :data:`KERNELS`, measured for about so many seconds."""
    played, chosen = KERNELS[what]()
    steps = steps_in(lambda count: advanced(played, chosen, count), seconds / REPEATS)
    return Speed(what, steps, min(advanced(played, chosen, steps) for _ in range(REPEATS)))


@all_or_nothing()
def two_workers(seconds: float = 1.0) -> Workers | None:
    """A batch with one worker and with two, taking turns; None where there is one core only."""
    if cores() < 2:
        return None
    played, chosen = KERNELS["LLL, ring of 1,000 players"]()

    def batch(steps: int, workers: int) -> object:
        return run_batch(played, chosen, steps, range(_RUNS), record=(), every=steps, workers=workers, compiled=True)

    batch(WARM, 2)
    steps = steps_in(lambda count: advanced(played, chosen, count), _SHARE * seconds)
    turns = {"one": lambda: timed(lambda: batch(steps, 1)), "two": lambda: timed(lambda: batch(steps, 2))}
    return Workers(_RUNS, steps, **fastest(interleaved(turns, _TURNS)))


def machine() -> dict[str, Any]:
    """What was measured on: cores that this process may use, system and versions."""
    versions = {"potentia": __version__, "python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in ("numba", "numpy")}
    return {"cores": cores(), "system": f"{platform.system()} {platform.machine()}", "versions": versions}
