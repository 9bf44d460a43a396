"""Saved runs, read and gone on with."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from tests.fuzz.reader import Reader, Seeds, bytes_of


class _SavedRuns(Reader):
    form = "npz"

    def begun(self) -> list[Any]:
        """Some runs of one game."""
        raise NotImplementedError

    @cached_property
    def started(self) -> list[Any]:
        return self.begun()

    belief: Any = None

    @cached_property
    def seeds(self) -> Seeds:
        return [(".npz", bytes_of(run.advance(12).save, self.folder, ".npz")) for run in self.started]

    def read(self, path: Path) -> None:
        import potentia as pt

        run = pt.load(path, self.started[0].game, self.belief)
        run.advance(10)
        run.records()


class RingRuns(_SavedRuns):
    def begun(self) -> list[Any]:
        import potentia as pt

        game = pt.game("ring", players=4)
        everything = ("potential", "welfare", "profile", "visits")
        return [
            pt.begin(game, pt.rule("lll", tau=0.3), 1, record=everything, every=2),
            pt.begin(game, pt.rule("soql", zeta=0.6, xi=0.5), 2, record=("acceptance",), horizon=100),
            pt.begin(game, pt.rule("p-sblll", tau=0.2, revision=0.5), 3),
            pt.begin(game, pt.rule("score", tau=0.3), 4, record="welfare"),
        ]


class CoverageRuns(_SavedRuns):
    def begun(self) -> list[Any]:
        import potentia as pt
        from potentia.games import Coverage, random_world

        game = Coverage(random_world(1, 2, (5, 4)), 2, 1.5)
        return [
            pt.begin(game, pt.rule("p-sblll", tau=1e-3, revision=0.5), 1, record=("profile", "worth_union")),
            pt.begin(game, pt.rule("blll", tau=1e-3), 2, record=("welfare", "rejected"), every=3),
        ]


class BeliefRuns(_SavedRuns):
    @cached_property
    def belief(self) -> Any:
        from potentia.beliefs import SplitMerge

        return SplitMerge(aic_every=2)

    def begun(self) -> list[Any]:
        import potentia as pt
        from potentia.games import Coverage, random_world

        game = Coverage(random_world(1, 2, (5, 4)), 2, 1.5)
        rule = pt.rule("p-sblll", tau=1e-3, revision=0.5)
        return [pt.begin(game, rule, seed, record=("profile", "belief_error"), belief=self.belief) for seed in (1, 2)]

    def read(self, path: Path) -> None:
        import potentia as pt
        from potentia.games import Coverage, random_world

        pt.load(path, Coverage(random_world(1, 2, (5, 4)), 2, 1.5), self.belief).advance(10)
