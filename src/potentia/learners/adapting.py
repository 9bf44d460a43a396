"""Learners from elsewhere among our rules: on the same game, from the same starts, beside the same draws."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from potentia.engine import Trace
from potentia.engine.batch import Batch, checked_seeds, checked_starts
from potentia.engine.requests import check_is_game, checked_integer, eventful
from potentia.envs.making import Acting, Observation, Reward
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.cache import Compiled
from potentia.learners.seats import Seat
from potentia.rules import Rule, rule_from

if TYPE_CHECKING:
    import xarray


@runtime_checkable
class Learner(Protocol):
    """What an adapted object has: ``act(observation)``, and ``learn(...)`` if it learns on its way."""

    def act(self, observation: Any) -> Any:
        """An action for an observation, a dict with ``observation`` and ``action_mask``."""


def adapter(
    learner: Learner | Callable[[int], Learner],
    *,
    player: int = 0,
    observation: Observation = "own",
    reward: Reward = "utility",
    actions: Acting = "own",
    strict: bool = False,
) -> Adapter:
    """Let any object play as one of the players, among others that play a rule of ours.

    Parameters
    ----------
    learner : object, or function or class that is given a seed
        It has ``act(observation)``, which returns an action, and, if it learns on its way,
        ``learn(observation, action, reward, next_observation)``. A function makes a new one for each run from
        the run's seed; an object plays all runs, and keeps what it has learnt.
    player : int
        Which player it is.
    observation, reward, actions, strict : str, str, str, bool
        As of :func:`potentia.envs.parallel_env`: observations are dicts with ``observation`` and ``action_mask``.

    Returns
    -------
    Adapter
        ``run`` and ``run_batch`` play as :func:`potentia.run` and :func:`potentia.run_batch` do, and give the same
        kinds of results.

    Raises
    ------
    InvalidRun
        For an object without ``act``.

    Examples
    --------
    >>> import potentia as pt
    >>> class Stubborn:
    ...     def act(self, observation):
    ...         return 1
    >>> game, rule = pt.game("ring", players=10), pt.rule("lll", tau=0.1)
    >>> trace = pt.learners.adapter(Stubborn(), player=3).run(game, rule, 500, seed=0)
    >>> int(trace.final[3]), int(trace.final.sum())
    (1, 10)
    """
    if not _is_made(learner) and not callable(learner):
        wanted = "must have act(observation), or be a function of a seed that makes such an object"
        raise InvalidRun(f"{wanted}, got {learner!r:.60}", "learner", learner)
    checked_integer(player, "player", 0)
    options = {"observation": observation, "reward": reward, "actions": actions, "strict": strict}
    return Adapter(learner, {"player": player, **options})


def _is_made(learner: Any) -> bool:
    return isinstance(learner, Learner) and not isinstance(learner, type)


class Adapter:
    """What :func:`adapter` makes."""

    def __init__(self, learner: Any, options: dict[str, Any]) -> None:
        self._learner, self._options = learner, options

    def __repr__(self) -> str:
        learner = type(self._learner) if _is_made(self._learner) else self._learner
        name = getattr(learner, "__name__", "a learner")
        return f"<adapter of {name} as player {self._options['player']}>"

    def run(
        self,
        game: Game,
        rule: Rule | dict[str, Any],
        steps: int,
        seed: int = 0,
        *,
        start: ArrayLike | None = None,
        record: str | Iterable[str] = ("profile",),
        every: int = 1,
        events: Iterable[str] | None = None,
        compiled: Compiled = "auto",
    ) -> Trace:
        """Play one run, as :func:`potentia.run` does.

        Parameters
        ----------
        game, rule, steps, seed, start, record, every, events, compiled
            As of :func:`potentia.run`; the others play the rule, from the same start and with the same draws.

        Returns
        -------
        Trace
            Of all players.

        Raises
        ------
        InvalidRun
            For an action that is none of the player's.
        """
        options: dict[str, Any] = {"start": start, "record": record, "every": every, "events": events}
        seat = Seat(game, rule, seed, steps=steps, compiled=compiled, **self._options, **options)
        learner = self._made(seed)
        self._play(seat, learner, steps)
        trace = seat.run.trace()
        return replace(trace, rule=trace.rule | self._about(learner))

    def run_batch(
        self,
        game: Game,
        rule: Rule | dict[str, Any],
        steps: int,
        seeds: Iterable[int],
        *,
        start: ArrayLike | None = None,
        record: str | Iterable[str] = ("profile",),
        every: int = 1,
        events: Iterable[str] | None = None,
        compiled: Compiled = "auto",
    ) -> xarray.Dataset:
        """Play one run per seed, as :func:`potentia.run_batch` does, one after the other.

        Parameters
        ----------
        game, rule, steps, seeds, start, record, every, events, compiled
            As of :func:`potentia.run_batch`.

        Returns
        -------
        xarray.Dataset
            The same variables and dimensions as of :func:`potentia.run_batch`, so that the two can be compared.

        Raises
        ------
        InvalidRun
            For an action that is none of the player's.
        """
        check_is_game(game)
        numbers, table, learner = checked_seeds(seeds), None, None
        starts = checked_starts(eventful(game, events), start, numbers)
        for index, seed in enumerate(numbers):
            options: dict[str, Any] = {"record": record, "every": every, "events": events, "compiled": compiled}
            options["start"] = starts[index]
            seat = Seat(game, rule, seed, steps=steps, **self._options, **options)
            if table is None:
                table = Batch(seat.run.game, rule_from(rule), seat.run.record, numbers, steps, every, 1)
            seat.run.record_into(table.columns(index))
            learner = self._made(seed)
            self._play(seat, learner, steps)
            table.finish(index, seat.run)
        assert table is not None
        found = table.dataset()
        found.attrs["rule"] = json.dumps(json.loads(found.attrs["rule"]) | self._about(learner))
        return found

    def _made(self, seed: int) -> Any:
        if _is_made(self._learner):
            return self._learner
        learner = self._learner(seed)
        if not _is_made(learner):
            raise InvalidRun(f"must make an object with act(observation), got {learner!r:.60}", "learner", learner)
        return learner

    def _play(self, seat: Seat, learner: Any, steps: int) -> None:
        learn = getattr(learner, "learn", None)
        for _ in range(steps):
            before = seat.observation
            action = learner.act(before)
            gain = seat.step(action)
            if learn is not None:
                learn(before, action, gain, seat.observation)

    def _about(self, learner: Any) -> dict[str, Any]:
        return {"learner": type(learner).__name__, "learner_is_player": self._options["player"]}
