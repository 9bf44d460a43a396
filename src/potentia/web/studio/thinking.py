"""What players of a live run think, asked now and then: fields that they believe, scores and strategies.

All are on one grid, whatever walls and robots there were at the time: what was not there is unseen, or 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.engine import Run
from potentia.kernel.arrays import Floats, Ints
from potentia.web.coding import chained
from potentia.web.keyframes import Keyframes, components
from potentia.web.studio.interventions import coverage_of

Arrays = dict[str, NDArray[Any]]
_FEW, _MANY = 24, 50


class Thought(NamedTuple):
    """What was thought at a step."""

    step: int
    views: tuple[Any, ...]  # of beliefs, one per mind
    errors: tuple[float, ...]
    scores: tuple[Floats, ...]  # per player
    strategies: tuple[Floats, ...]
    places: Ints | None  # the cell of each action on a map

    @property
    def minds(self) -> list[list[int]]:
        """Whose minds they are."""
        return [list(view.robots) for view in self.views]


def spacing(run: Run, steps: int) -> int:
    """Steps between two; 0 where there is nothing to ask."""
    return Keyframes(run).spacing(steps)


def next_ask(before: int, spaced: int, length: int) -> int:
    """The step at which to ask after this one: often in the beginning, then at equal distances."""
    many = spaced * _FEW <= length  # where fields are so large that few are kept, they are at equal distances
    least = max(1, spaced // _MANY) if many else spaced
    gap = max(least, min(spaced, _round_down(before // 8)))
    return (before // gap + 1) * gap


def _round_down(number: int) -> int:
    """The last of 1, 2, 5, 10, 20, 50, ... that is no more; 0 where none is."""
    return max((k * 10**power for power in range(17) for k in (1, 2, 5) if k * 10**power <= number), default=0)


def changed_number(run: Run, known: int) -> bool:
    """Whether some mind took another number of components since so many proposals."""
    rows: list[Any] = run.thoughts[known:]
    return any(row.accepted and row.before != row.after for row in rows)


def ask(run: Run) -> Thought:
    """What is thought now."""
    game = coverage_of(run.game)
    views = run.beliefs if game is not None else ()
    errors = tuple(view.error(game.worth_at(run.step)) for view in views) if game is not None and views else ()
    scored, places = run.rule.keeps_scores, None
    if game is not None:
        x, y = game.world.cells.T.astype(np.int64)
        places = y * game.world.size[0] + x
    return Thought(run.step, views, errors, run.scores if scored else (), run.strategies if scored else (), places)


def told(thoughts: list[Thought], last: Thought, players: int, sizes: Ints, numbered: bool) -> tuple[Any, Arrays]:
    """Keyframes for a header, and their arrays; minds are those of the ``last``, actions cells where ``numbered``."""
    thoughts = [one for one in thoughts if one.views or one.scores]
    if not thoughts:
        return None, {}
    arrays: Arrays = {}
    minds, scored = last.minds, any(one.scores for one in thoughts)
    if minds:
        shape = last.views[0].worth.shape
        fields = np.zeros((len(thoughts), len(minds), *shape), np.float32)
        seen = np.zeros((len(thoughts), len(minds), shape[0] * shape[1]), bool)
        errors = np.full((len(thoughts), len(minds)), np.nan)
        levels, parts = np.zeros((len(thoughts), len(minds))), []
        for k, one in enumerate(thoughts):
            for mind, robots in enumerate(minds):
                whose = next((j for j, view in enumerate(one.views) if robots[0] in view.robots), None)
                if whose is None:
                    parts.append(np.zeros((0, 6)))
                    continue
                view = one.views[whose]
                fields[k, mind], seen[k, mind] = view.worth, view.seen.reshape(-1)
                errors[k, mind], levels[k, mind] = one.errors[whose], view.background
                parts.append(components(view))
        arrays |= {"belief_worth": chained(fields), "belief_seen": np.packbits(seen, axis=2, bitorder="little")}
        arrays |= {"belief_ptr": np.cumsum([0, *map(len, parts)]).astype(np.int32), "belief_error": errors}
        arrays |= {"belief_components": np.concatenate(parts)}
        arrays |= {"belief_background": levels} if levels.any() else {}
    if scored:
        for name in ("score", "strategy"):
            rows = np.zeros((len(thoughts), players, int(sizes.max())), np.float32)
            for k, one in enumerate(thoughts):
                for player, values in enumerate(one.scores if name == "score" else one.strategies):
                    rows[k, player][one.places if numbered else slice(len(values))] = values
            flat = [np.concatenate([row[p, : sizes[p]] for p in range(players)]) for row in rows]
            arrays[name] = chained(flat)
    belief = {"robots": minds} if minds else None
    return {"steps": [one.step for one in thoughts], "belief": belief, "scores": scored}, arrays
