"""What players thought at some steps of a run: beliefs on a map, scores and strategies of rules that keep them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from potentia.engine import Run, Trace, begin
from potentia.engine.runs import Progress
from potentia.errors import InvalidRun
from potentia.games import Coverage
from potentia.kernel import memory
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import Integer
from potentia.web.coding import chained
from potentia.web.recordings import Recording

_ROOM = 6e6  # bytes of keyframes before compression, unless more are asked for
_MOST = 60
_SMALL = 800_000  # bytes of scores that may be told oftener, so that what happens in one step is seen
_MOST_SMALL = 2_000


class Keyframes:
    """Keyframes of a run: :meth:`play` advances it, and stops now and then to ask what players think."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.steps: list[int] = []
        self._views: list[Any] = []
        self._errors: list[list[float]] = []
        self._scores: list[Floats] = []
        self._strategies: list[Floats] = []

    def play(self, steps: int, every: int | None = None, progress: Progress | None = None) -> Run:
        """Play so many steps with a keyframe every so many; left out as many as have room, and 0 for none."""
        begun, every = self.run.step, self._usual(steps) if every is None else every
        stops = range(begun, begun + steps + 1, every) if every else ()
        for stop in (*stops, begun + steps):
            done = self.run.step - begun
            tell = None if progress is None else partial(_further, progress, done, steps)
            self.run.advance(stop - self.run.step, tell)
            if every and (stop - begun) % every == 0 and self.steps[-1:] != [stop]:
                self._add(len(stops))
        return self.run

    def spacing(self, steps: int) -> int:
        """Between some dozens of keyframes that take no more than a few megabytes; 0 where there is nothing to ask."""
        size = self._size()
        most = min(_MOST, int(_ROOM // size)) if size else 0
        return 0 if most < 2 else _round_up(steps / most)

    def _usual(self, steps: int) -> int:
        """The same, but scores that are few numbers at every step, or at up to two thousand."""
        size = self._size()
        most = min(_MOST_SMALL, _SMALL // size) if size and not self.run.beliefs else 0
        return _round_up(steps / most) if most > _MOST else self.spacing(steps)

    def _size(self) -> int:
        """Bytes of one in a recording."""
        size = 4 * sum(view.worth.size for view in self.run.beliefs)
        return size + 8 * int(self.run.game.sizes.sum()) * self.run.rule.keeps_scores

    def _add(self, count: int) -> None:
        """One more of so many, now."""
        run, game = self.run, getattr(self.run.game, "game", self.run.game)
        if not self.steps:  # views are kept as they are, and then put together
            memory.require(7 * count * self._size(), f"{count:,} keyframes", "use a larger beliefs_every")
        self.steps.append(run.step)
        views = run.beliefs
        if views and isinstance(game, Coverage):
            truth = game.worth_at(run.step)
            self._views.append(views)
            self._errors.append([view.error(truth) for view in views])
        if run.rule.keeps_scores:
            self._scores.append(np.concatenate(run.scores))
            self._strategies.append(np.concatenate(run.strategies))

    def into(self, made: Recording) -> None:
        """Put them into a recording."""
        belief = None
        if self._views:
            belief = {"robots": [list(view.robots) for view in self._views[0]]}
            parts = [components(view) for views in self._views for view in views]
            seen = np.array([[view.seen.reshape(-1) for view in views] for views in self._views])
            made.arrays |= {
                "belief_worth": chained([[view.worth for view in views] for views in self._views]),
                "belief_seen": np.packbits(seen, axis=2, bitorder="little"),
                "belief_ptr": np.cumsum([0, *map(len, parts)]).astype(np.int32),
                "belief_components": np.concatenate(parts),
                "belief_error": np.array(self._errors),
            }
            levels = np.array([[view.background for view in views] for views in self._views])
            made.arrays |= {"belief_background": levels} if levels.any() else {}
        if self._scores:
            made.arrays |= {"score": chained(self._scores), "strategy": chained(self._strategies)}
        if self._views or self._scores:
            made.header["keyframes"] = {"steps": self.steps, "belief": belief, "scores": bool(self._scores)}


def played_again(trace: Trace, every: int | None) -> Keyframes | None:
    """Keyframes of a run that is over, by playing it again: draws are pure, so it is the same run."""
    if every is not None:
        every = Integer().of(every, "beliefs_every", InvalidRun)
    played = trace.played
    if played is None and every:
        told = "must be left out: this trace has been pickled, and cannot be played again"
        raise InvalidRun(told, "beliefs_every", every)
    if every == 0 or played is None or not (trace.beliefs or played.rule.keeps_scores):
        return None
    options: dict[str, Any] = {"start": trace.start, "horizon": played.horizon, "every": trace.every}
    frames = Keyframes(begin(played.game, played.rule, trace.seed, **options))
    again = frames.play(trace.steps, every).trace(beliefs=False)
    pairs: list[tuple[Any, Any]] = [(again.final, trace.final)]
    pairs += zip(again.events or (), trace.events or (), strict=True)
    if all(np.array_equal(mine, theirs) for mine, theirs in pairs):
        return frames
    if every is None:
        return None
    told = "must be left out: this run was driven or branched, and cannot be played again"
    raise InvalidRun(told, "beliefs_every", every)


def _further(progress: Progress, before: int, steps: int, done: int, _: int) -> None:
    progress(before + done, steps)


def _round_up(number: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50, ..."""
    return next(k * 10**power for power in range(18) for k in (1, 2, 5) if k * 10**power >= number)


def components(view: Any) -> Floats:
    """Weight, mean and the three variances of each component."""
    covariances = view.covariances.reshape(-1, 4)[:, [0, 1, 3]]
    return np.concatenate([view.weights[:, None], view.means.reshape(-1, 2), covariances], axis=1)
