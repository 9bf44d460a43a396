"""How much of everything the reproduction plays: all of it, or enough for a first look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Numbers of runs and games, and the first seed of each."""

    name: str
    runs: int  # of each algorithm, for the intervals
    as_printed: int  # of them, the first: as many as the paper played
    tuning: int  # runs of QL at each temperature
    games: int  # random games for each exact check
    learners: int  # random games on which SOQL is played
    long: int  # runs of each of the four algorithms together, which take the longest
    heard: int = 10  # of BLLL as long as those, where everybody hears everybody; at most ``long``
    literal: int = 10  # of BLLL and of P-SBLLL with the recipe of section 5 to the letter
    seed: int = 0  # added to every seed: of runs, and of random games

    def seeds(self, count: int, first: int = 0) -> range:
        """So many, from the first one of these."""
        return range(self.seed + first, self.seed + first + count)

    @property
    def heard_long(self) -> int:
        """Runs of BLLL for long where everybody hears everybody."""
        return min(self.heard, self.long)


QUICK = Scale("quick", runs=20, as_printed=10, tuning=10, games=50, learners=25, long=20, heard=10, literal=10)
FULL = Scale("full", runs=100, as_printed=10, tuning=20, games=1000, learners=100, long=100, heard=100, literal=20)
