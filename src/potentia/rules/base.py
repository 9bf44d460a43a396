"""The base of every rule: parameters as immutable data, registered under a name."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from potentia.errors import InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.code import fingerprint, own_parts
from potentia.kernel.dispatch import generic, portable
from potentia.kernel.draws import WAKE, below, uniform
from potentia.kernel.journal import Journal
from potentia.kernel.protocol import (
    Constrained,
    Moves,
    num_actions,
    num_arrived,
    num_drawn,
    num_reachable,
    reachable,
    utilities,
    utility,
)
from potentia.kernel.registry import Checked, Registry, parameters_of, plain
from potentia.kernel.reprs import brief
from potentia.rules.schedules import Constant


class Axes(NamedTuple):
    """Where a rule is on the map: who revises × what they consider × how they choose (potentia.rules.composed)."""

    who: Any
    considers: Any
    chooses: Any


class Rule(Checked, ABC):
    """How players revise. Subclasses are frozen classes of attrs, one field per parameter.

    Examples
    --------
    A rule is plain data, which builds it again:

    >>> rule = pt.rule("slll", tau=0.1, revision=0.3)
    >>> rule.spec()
    {'rule': 'slll', 'tau': 0.1, 'revision': 0.3}
    >>> pt.rules.rule_from(rule.spec()) == rule
    True
    """

    __repr__ = brief

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    invalid: ClassVar[type[InvalidRule]] = InvalidRule  # what its checks raise
    remembers: ClassVar[tuple[str, ...]] = ()  # fields of the memory that a saved run must keep
    words: ClassVar[tuple[str, str, str] | None] = None  # who, considers, chooses, of a rule that is on the map
    keeps_scores: ClassVar[bool] = False  # whether it has ``scores`` and ``strategies``, and no chain of profiles
    asks_for: ClassVar[float] = math.nan  # utilities in a revision, of a rule that is not on the map, if one number

    def _repr_html_(self) -> str:
        from potentia.rules.showing import rule_card

        return rule_card(self)

    @property
    def called(self) -> str:
        """What people call it: its name, or the words of a composition."""
        return self.name

    def axes(self) -> Axes | None:
        """Where it is on the map, from which its exact law follows; None for one that is not."""
        return None

    def point(self) -> Axes | None:
        """The same; None for one of a class that has other ``data``, and so another step, than the class with axes."""
        for cls in type(self).__mro__:
            if "axes" in vars(cls):
                return self.axes()
            if "data" in vars(cls):
                return None
        return None

    def evaluations(self, game: Game) -> float:
        """How many utilities one revision asks for on a game; NaN where that is not one number, or not known.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        float
            For one revision.
        """
        place = self.point()
        return self.asks_for if place is None else place.considers.evaluations(game)

    def revises_once(self) -> bool:
        """Whether every step is one revision."""
        place = self.point()
        return place is not None and place.who.revises_once

    @abstractmethod
    def data(self, game: Game, horizon: int | None) -> Any:
        """The NamedTuple that compiled code reads, for this game and a run of planned length ``horizon``.

        Parameters
        ----------
        game : Game
            What is played.
        horizon : int or None
            The planned length of the run.

        Returns
        -------
        NamedTuple
            Of a type for which :func:`potentia.extend.step` is registered.
        """

    def new_memory(self, game: Game) -> Any:
        """Fresh arrays for one run: what the rule remembers, and by default room for a player's options.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        NamedTuple
            Of arrays.
        """
        return new_memory(game)

    def check_memory(self, memory: Any, step: int) -> None:
        """Raise ValueError for a memory, read from a file, that no run can have had and that would mislead kernels.

        Parameters
        ----------
        memory : NamedTuple
            What :meth:`new_memory` made.
        step : int
            The steps that were played.
        """

    def scores(self, game: Game, memory: Any, step: int) -> tuple[Floats, ...]:
        """The score of each action, an array per player, for rules that keep scores.

        Parameters
        ----------
        game : Game
            What is played.
        memory : NamedTuple
            What :meth:`new_memory` made.
        step : int
            The steps that were played.

        Returns
        -------
        tuple of arrays
            The scores of each player.
        """
        raise InvalidRule(f"{self.name} keeps no scores; {_with_scores()} do")

    def strategies(self, game: Game, memory: Any, profile: Ints, step: int, horizon: int | None) -> tuple[Floats, ...]:
        """The strategy X over each player's actions, an array per player, for rules that keep scores.

        Of ``ql`` and ``score`` it is the probability of each action at the next step. Of ``soql`` it is X itself,
        before it is restricted to the actions in reach and perturbed.

        Parameters
        ----------
        game : Game
            What is played.
        memory : NamedTuple
            What :meth:`new_memory` made.
        profile : array
            The present profile.
        step : int
            The steps that were played.
        horizon : int or None
            The planned length of the run.

        Returns
        -------
        tuple of arrays
            The strategy of each player.
        """
        raise InvalidRule(f"{self.name} keeps no strategies; {_with_scores()} do")

    def memory_size(self, game: Game) -> int:
        """Bytes of :meth:`new_memory`, roughly.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        int
            For one run.
        """
        return 8 * 3 * most_options(game)

    def spec(self) -> dict[str, Any]:
        """The rule as plain data; :func:`rule_from` reads it back."""
        return {"rule": self.name, **{name: in_rule(getattr(self, name)) for name in parameters_of(type(self))}}

    @staticmethod
    def from_spec(spec: dict[str, Any]) -> Rule:
        """The rule that :meth:`spec` described.

        Parameters
        ----------
        spec : dict
            Its name and parameters.

        Returns
        -------
        Rule
            The rule.
        """
        return rule_from(spec)

    def describe(self) -> str:
        """One line for people, and part of what a run's key is made from."""
        return json.dumps(self.spec(), sort_keys=True)

    def code_fingerprint(self) -> str | None:
        """A hash of the code that somebody wrote for it: its class and kernels; None for a rule of the package."""
        return fingerprint(own_parts(self))


def in_rule(value: Any) -> Any:
    """A parameter as plain data; a constant temperature as its number."""
    return value.tau if isinstance(value, Constant) else plain(value)


_IN_FULL = {
    "log-linear-learning": "lll",
    "synchronous-log-linear-learning": "slll",
    "binary-log-linear-learning": "blll",
    "partially-synchronous-binary-log-linear-learning": "p-sblll",
    "q-learning": "ql",
    "second-order-q-learning": "soql",
    "smoothed-best-response": "score",
}
_registry: Registry[Rule] = Registry("rule", InvalidRule, _IN_FULL)
register, registered, rule_class = _registry.register, _registry.registered, _registry.kind


def _with_scores() -> str:
    return " and ".join(sorted(name for name, cls in registered().items() if cls.keeps_scores))


@_registry.makes
def rule(name: str | None = None, **parameters: Any) -> Rule:
    """Build a rule by name, or from who revises, what they consider and how they choose.

    ``rule("mistakes", who="all", tau=0.1)`` takes a named one elsewhere on an axis.

    Parameters
    ----------
    name : str, optional
        One of those above; left out, ``who``, ``considers`` and ``chooses`` say which.
    **parameters : Any
        Its parameters.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> pt.rule("lll", tau=0.1)
    LLL(tau=Constant(tau=0.1))
    >>> pt.rule(who="independent", considers="trial", chooses="mistakes", tau=0.1, revision=0.3).called
    'independent × trial × mistakes'
    """
    if not any(axis in parameters for axis in Axes._fields):
        if name is None:
            raise InvalidRule("expected the name of a rule, or who=, considers= and chooses=")
        return _registry.make(name, parameters)
    if name not in (None, "composed"):
        words = rule_class(name).words
        if words is None:
            axis, value = _first_axis(parameters)
            raise InvalidRule(f"cannot be given beside {name}, which is no point of the map of rules", axis, value)
        parameters = {**dict(zip(Axes._fields, words, strict=True)), **parameters}
    return _registry.make("composed", parameters)


def _first_axis(parameters: dict[str, Any]) -> tuple[str, Any]:
    return next((axis, parameters[axis]) for axis in Axes._fields if axis in parameters)


def rule_from(value: Any) -> Rule:
    """A rule from a rule, or from the plain data of one.

    Parameters
    ----------
    value : Rule or dict
        One of them.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> pt.rules.rule_from({"rule": "lll", "tau": 0.1})
    LLL(tau=Constant(tau=0.1))
    """
    if isinstance(value, dict) and isinstance(value.get("rule", "composed"), str):
        options = dict(value)
        if (name := options.pop("rule", None)) is not None or any(axis in options for axis in Axes._fields):
            return rule(name, **options)
    if isinstance(found := _registry.read(value), Rule):
        return found
    name = value if isinstance(value, str) and value in registered() else "lll"
    tau = ", tau=0.1" if "tau" in parameters_of(rule_class(name)) else ""
    raise InvalidRule(f'expected a rule such as rule("{name}"{tau}), got {value!r}')


# What rules share in compiled code --------------------------------------------------------------------


class Memory(NamedTuple):
    """Room to work in. Arrays that a rule does not need are empty.

    Attributes
    ----------
    values : array
        Utilities of the actions that a player weighs.
    weights : array
        Room for as many numbers.
    options : array
        Which actions those are, with constrained sets.
    awake : array
        The players that revise.
    trial : array
        What each of them tries.
    before : array
        What each of them has.
    after : array
        What each of them would have.
    champion : array
        Per group, the place in ``awake`` of the highest priority; per bucket, a first player.
    link : array
        (N,) the next player in the bucket.
    highest : array
        (N, 2) the largest signal and gradient that a player has met.

    Examples
    --------
    >>> memory = pt.extend.new_memory(pt.game("stag-hunt"), synchronous=True)
    >>> memory.values.shape, memory.awake.shape
    ((2,), (2,))
    """

    values: Floats  # utilities of the actions a player weighs
    weights: Floats
    options: Ints  # which actions those are, with constrained sets
    awake: Ints
    trial: Ints
    before: Floats
    after: Floats
    champion: Ints  # per group, the place in ``awake`` of the highest priority; per bucket, a first player
    link: Ints  # (N,) the next player in the bucket
    highest: Floats  # (N, 2) the largest signal and gradient that a player has met


def most_options(game: Game, moves: Moves | None = None) -> int:
    """The most actions any player ever has to choose from, by the game's moves or by others."""
    chosen = game.moves if moves is None else moves
    if isinstance(chosen, Constrained):
        return int(np.diff(chosen.ptr).max(initial=0)) + 1
    return int(game.sizes.max())


def new_memory(
    game: Game,
    synchronous: bool = False,
    groups: int = 0,
    linked: bool = False,
    signal: bool = False,
    moves: Moves | None = None,
) -> Memory:
    """Fresh arrays of the sizes a rule needs.

    Parameters
    ----------
    game : Game
        What is played.
    synchronous : bool
        Whether several players revise at once.
    groups : int
        How many groups a guard tells apart.
    linked : bool
        Whether it finds neighbours by buckets.
    signal : bool
        Whether players remember the largest signal they have met.
    moves : Moves, optional
        What comes into question, where that is not the game's.

    Returns
    -------
    Memory
        The arrays.

    Examples
    --------
    >>> pt.extend.new_memory(pt.game("ring", players=6, actions=3)).values.shape
    (3,)
    """
    widest = most_options(game, moves)
    players = game.num_players if synchronous else 0
    return Memory(
        np.zeros(widest),
        np.zeros(widest),
        np.zeros(widest, np.int64),
        np.zeros(players, np.int64),
        np.zeros(players, np.int64),
        np.zeros(players),
        np.zeros(players),
        np.zeros(groups, np.int64),
        np.zeros(players if linked else 0, np.int64),
        np.zeros((players if signal else 0, 2)),
    )


def check_remembers(rule: Rule, memory: Any) -> None:
    """Refuse names of what a rule remembers that its memory has not."""
    for name in rule.remembers:
        if not hasattr(memory, name):
            known = ", ".join(getattr(memory, "_fields", ()))
            raise InvalidRule(f"must name fields of its memory ({known}), got {name!r}", "remembers", rule.remembers)


@generic
def step(rule: Any, memory: Any, game: Any, state: Any, journal: Journal, key: Any, n: int) -> None:
    """One step of the rule: from time n to n + 1.

    A rule of one's own registers its function for the type of its ``data``.

    Parameters
    ----------
    rule : NamedTuple
        What :meth:`Rule.data` gives.
    memory : NamedTuple
        What :meth:`Rule.new_memory` made.
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    journal : Journal
        What :func:`move` notes.
    key : Any
        What the draws of the run are made from.
    n : int
        The steps that were played.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import move, num_actions, step
    >>> class CycleData(NamedTuple):
    ...     player: int
    >>> @step.register(CycleData)
    ... def _(rule, memory, game, state, journal, key, n):
    ...     action = (state.profile[rule.player] + 1) % num_actions(game, rule.player)
    ...     move(journal, game, state, rule.player, action, n)
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), start=[0, 0])
    >>> step(CycleData(1), None, run.game.data, run.state, run.journal, run.key, 0)
    >>> run.profile.tolist()
    [0, 1]
    """
    raise NotImplementedError("this rule has no step")


@portable
def wake_one(key: Any, players: int, n: int) -> int:
    """The one player, uniformly random, that revises at this step.

    Parameters
    ----------
    key : Any
        What the draws of the run are made from.
    players : int
        :func:`num_drawn` of the game.
    n : int
        The steps that were played.

    Returns
    -------
    int
        Its number.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), seed=1)
    >>> sorted({pt.extend.wake_one(run.key, 2, n) for n in range(20)})
    [0, 1]
    """
    return below(uniform(key, players, n, 0, WAKE), players)


@portable
def pick_one(game: Any, state: Any, key: Any, n: int) -> int:
    """The one player that revises, also of those that came later: :func:`wake_one`, each as likely as any other.

    Where somebody has come, a second draw says whether it is one of them. Who is picked may have failed since.

    Parameters
    ----------
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    key : Any
        What the draws of the run are made from.
    n : int
        The steps that were played.

    Returns
    -------
    int
        Its number.

    Examples
    --------
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), seed=1)
    >>> pt.extend.pick_one(run.game.data, run.state, run.key, 3) == pt.extend.wake_one(run.key, 2, 3)
    True
    """
    first = num_drawn(game)
    player = wake_one(key, first, n)
    later = num_arrived(game, state)
    if later > 0:
        # with one player revising, nobody else's draw to wake is in use
        place = below(uniform(key, first, n, 1, WAKE), first + later)
        if place < later:
            return first + place
    return player


@generic
def survey(moves: Any, memory: Memory, game: Any, state: Any, player: int) -> int:
    """Write the utility of each action the player may now choose into ``values``; return how many.

    With a complete action set these are all its actions; with a constrained one, the current action and
    the reachable ones.

    Parameters
    ----------
    moves : Moves
        The game's, or a rule's own.
    memory : Memory
        Is written to.
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.

    Returns
    -------
    int
        How many.

    Examples
    --------
    >>> from potentia.extend import new_memory, survey, surveyed
    >>> game = pt.games.Separable([[0.0, 1.0, 2.0]], moves=pt.games.path_moves(3))
    >>> memory, state = new_memory(game), game.new_state(np.array([0]))
    >>> count = survey(game.moves, memory, game.data, state, 0)
    >>> [(int(surveyed(game.moves, memory, k)), memory.values[k].item()) for k in range(count)]
    [(0, 0.0), (1, 1.0)]
    """
    utilities(game, state, player, memory.values)
    return num_actions(game, player)


@survey.register(Constrained)
def _survey(moves: Constrained, memory: Memory, game: Any, state: Any, player: int) -> int:
    current = state.profile[player]
    memory.options[0] = current
    memory.values[0] = utility(game, state, player, current)
    count = num_reachable(moves, player, current, num_actions(game, player))
    for k in range(count):
        action = reachable(moves, player, current, k)
        memory.options[k + 1] = action
        memory.values[k + 1] = utility(game, state, player, action)
    return count + 1


@generic
def surveyed(moves: Any, memory: Memory, index: int) -> int:
    """The action behind an index of :func:`survey`.

    Parameters
    ----------
    moves : Moves
        What :func:`survey` was told.
    memory : Memory
        What it wrote to.
    index : int
        Which, from 0.

    Returns
    -------
    int
        The action.

    Examples
    --------
    With every action in reach it is the index itself; see :func:`survey` for another case.

    >>> game = pt.game("stag-hunt")
    >>> pt.extend.surveyed(game.moves, pt.extend.new_memory(game), 1)
    1
    """
    return index


@surveyed.register(Constrained)
def _surveyed(moves: Constrained, memory: Memory, index: int) -> int:
    return memory.options[index]
