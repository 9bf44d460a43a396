"""What a robot believes, as arrays for people: the field, what was seen of it, and the mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs.field import believed_field
from potentia.beliefs.learning import COVARIANCE, LEVEL, MEAN, NUMBER_OF, SCALE, WEIGHT, WHITEN
from potentia.beliefs.mixture import MixtureMind
from potentia.beliefs.observations import KNOWN
from potentia.games import Coverage
from potentia.kernel.cache import Compiled, Entry


@dataclass(frozen=True)
class View:
    """What one robot, or all of them, believe at a moment.

    A bonus for what was not seen is no part of the belief.

    Attributes
    ----------
    robots : tuple of int
        Who believes it.
    worth : array
        (rows, columns), the believed field: readings where the robot has seen, predictions elsewhere.
    seen : array
        (rows, columns), where it has.
    visits : array
        (rows, columns), how often.
    weights : array
        (M,), of a mixture; empty of another belief, as are the next two.
    means : array
        (M, 2), (x, y) where cell (x, y) has its centre at (x + 0.5, y + 0.5).
    covariances : array
        (M, 2, 2).
    origin : str
        Where row 0 is drawn.
    background : float
        The worth that a mixture with a background expects everywhere.

    Examples
    --------
    >>> world = pt.games.World([[0, 1, 0], [2, 0, 3]])
    >>> game = pt.games.Coverage(world, robots=1, delta=1.0)
    >>> view = pt.run(game, pt.rule("blll", tau=0.05), 20, belief=pt.belief("constant")).beliefs[0]
    >>> view.robots, view.seen.sum().item(), view.error(world.worth)
    ((0,), 6, 0.0)
    """

    robots: tuple[int, ...]
    worth: NDArray[np.float64]
    seen: NDArray[np.bool_]
    visits: NDArray[np.int64]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]
    origin: str = "upper"  # of the world: which row is drawn on top
    background: float = 0.0

    def __repr__(self) -> str:
        who = f"robot {self.robots[0]}" if len(self.robots) == 1 else f"{len(self.robots)} robots"
        seen = f"{int(self.seen.sum()):,} of {self.seen.size:,} cells seen"
        return f"<View of {who}: {seen}, {self.num_components} components>"

    def _repr_html_(self) -> str:
        from potentia.beliefs.showing import view_card

        return view_card(self)

    @property
    def num_components(self) -> int:
        """How many components the mixture has; 0 of another belief."""
        return int(self.weights.size)

    def error(self, worth: NDArray[np.float64]) -> float:
        """The error ``Σ |f̂ - f| / Σ f``; 0 where nothing has worth.

        Parameters
        ----------
        worth : array
            (rows, columns), the true field f.

        Returns
        -------
        float
            The error.
        """
        total = float(worth.sum())
        return float(np.abs(self.worth - worth).sum()) / total if total > 0.0 else 0.0


_field_entry = Entry(believed_field)


def views(game: Coverage, belief: Any, mind: Any, compiled: Compiled) -> tuple[View, ...]:
    """One view per mind; where all robots share one, one for all."""
    data, (rows, columns) = game.data, game.world.worth.shape
    frame, minds = data.base // data.width, mind.store.peak.size
    out = []
    for which in range(minds):
        flat = np.zeros(data.worth.size)
        _field_entry(belief, mind, data, which, flat, compiled=compiled)
        inside = np.s_[frame : frame + rows, frame : frame + columns]
        visits = np.zeros(data.worth.size, np.int64)
        number = mind.store.tally[which, KNOWN]
        visits[mind.store.cell[which, :number]] = mind.store.visits[which, :number]
        visits = visits.reshape(-1, data.width)[inside]
        packed, background = np.zeros((0, WHITEN)), 0.0
        if isinstance(mind, MixtureMind):
            packed = mind.model.component[which, : mind.model.mark[which, NUMBER_OF]]
            background = float(mind.model.value[which, SCALE] * mind.model.flat[which, LEVEL])
        out.append(
            View(
                tuple(range(game.num_players)) if minds == 1 else (which,),
                flat.reshape(-1, data.width)[inside].copy(),
                visits > 0,
                visits,
                packed[:, WEIGHT].copy(),
                packed[:, MEAN:COVARIANCE].copy(),
                packed[:, COVARIANCE:WHITEN].reshape(-1, 2, 2).copy(),
                game.world.origin,
                background,
            )
        )
    return tuple(out)
