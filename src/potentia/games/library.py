"""Ready-made games by name, for the command line, examples and tests: ``game("ring", players=100)``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from potentia.errors import InvalidGame, did_you_mean, look_up
from potentia.games.base import Game
from potentia.games.congestion import Congestion
from potentia.games.coordination import Coordination, consensus, ising, ring_edges, torus_edges
from potentia.games.coverage import Coverage
from potentia.games.given import NATURAL
from potentia.games.moves import path_moves
from potentia.games.normal_form import MOST_AXES, NormalForm, random_potential_game
from potentia.games.separable import Separable
from potentia.games.world import World
from potentia.kernel import memory
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import MOST, Check, Integer, Real
from potentia.kernel.numbers import in_words

Builder = Callable[..., Game]
_registry: dict[str, Builder] = {}
_checks: dict[str, dict[str, Check]] = {}  # what the parameters of each must be

_COUNT = Integer(least=1)
_ANY_INTEGER = Integer(least=-MOST)
_ANY_INTEGER.wanted = "an integer"


def register_game(name: str, **checks: Check) -> Callable[[Builder], Builder]:
    """Decorator: make a function that builds a game known under a name. Its defaults are the game's.

    ``checks`` say what its parameters must be: ``players=Integer(least=3)``. Without one, a parameter whose default is
    an integer must be an integer, and any other a finite number.

    The same function defined again, as when a cell of a notebook is run twice, takes the place of the old one.

    Parameters
    ----------
    name : str
        What it is called.
    **checks : Check
        By the names of parameters.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> from potentia.extend import Integer, register_game
    >>> @register_game("pairs", pairs=Integer(least=1))
    ... def pairs(pairs=2):
    ...     return pt.games.consensus([(2 * k, 2 * k + 1) for k in range(pairs)])
    >>> pt.game("pairs", pairs=3).num_players
    6
    """

    def add(builder: Builder) -> Builder:
        old = _registry.get(name, builder)
        if (old.__module__, old.__qualname__) != (builder.__module__, builder.__qualname__):
            raise InvalidGame(f"a game named {name!r} exists already")
        known: dict[str, Check] = {}
        for parameter in inspect.signature(builder).parameters.values():
            if parameter.default is inspect.Parameter.empty:
                raise InvalidGame(f"game {name}: every parameter needs a default, {parameter.name} has none")
            usual = _ANY_INTEGER if isinstance(parameter.default, int) else Real()
            known[parameter.name] = checks.get(parameter.name, usual)
        _registry[name], _checks[name] = builder, known
        return builder

    return add


def registered_games() -> dict[str, Builder]:
    """All named games.

    Returns
    -------
    dict
        The functions that build them.

    Examples
    --------
    >>> "stag-hunt" in pt.games.registered_games()
    True
    """
    return dict(_registry)


def game_parameters(name: str) -> dict[str, Any]:
    """The parameters of a named game and their defaults.

    Parameters
    ----------
    name : str
        One of :func:`registered_games`.

    Returns
    -------
    dict
        By name.

    Examples
    --------
    >>> pt.games.game_parameters("ring")
    {'players': 100, 'actions': 2}
    """
    return {p.name: p.default for p in inspect.signature(builder(name)).parameters.values()}


def builder(name: str) -> Builder:
    """The function behind a name, or an error that suggests the nearest one."""
    return look_up(_registry, name, "game", InvalidGame)


def game(name: str, **parameters: Any) -> Game:
    """Build a game by name.

    Parameters
    ----------
    name : str
        One of :func:`registered_games`.
    **parameters : Any
        Its parameters; :func:`game_parameters` tells them.

    Returns
    -------
    Game
        The game.

    Examples
    --------
    >>> pt.game("ring", players=6).num_players
    6
    """
    build = builder(name)
    known = _checks[name]
    for given, value in parameters.items():
        if given not in known:
            hint = did_you_mean(given, known)
            raise InvalidGame(f"has no parameter {given!r}{hint} (it has {', '.join(known) or 'none'})", name)
        parameters[given] = known[given].of(value, given, InvalidGame)
    try:
        return _remembering(build(**parameters), called(name, parameters))
    except (InvalidGame, MemoryError):
        raise
    except Exception as error:  # a builder of the user's
        raise InvalidGame(f"building the game {name} failed: {type(error).__name__}: {error}") from error


def called(name: str, parameters: Mapping[str, Any]) -> str:
    """A named game with all its parameters: "ring(players=100, actions=2)"."""
    told = ", ".join(f"{k}={v}" for k, v in {**game_parameters(name), **parameters}.items())
    return f"{name}({told})" if told else name


def _remembering(made: Game, text: str) -> Game:
    """The same game, for people under the name that it was asked for; nothing that is computed goes by it."""
    if isinstance(made, Game) and not made.known_as:
        object.__setattr__(made, "known_as", text)
    return made


@register_game("ring", players=Integer(least=3), actions=_COUNT)
def ring(players: int = 100, actions: int = 2) -> Coordination:
    """Consensus on a ring: each neighbour with the same action is worth 1."""
    return consensus(ring_edges(players), actions)


@register_game("torus", rows=Integer(least=3), columns=Integer(least=3), actions=_COUNT)
def torus(rows: int = 20, columns: int = 20, actions: int = 2) -> Coordination:
    """Consensus on a grid whose opposite sides touch, four neighbours each."""
    return consensus(torus_edges(rows, columns), actions)


@register_game("ising", rows=Integer(least=3), columns=Integer(least=3))
def ising_torus(rows: int = 20, columns: int = 20, coupling: float = 1.0, field: float = 0.0) -> Coordination:
    """The Ising model on a torus: spins -1 and +1, coupling and field."""
    return ising(torus_edges(rows, columns), coupling=coupling, field=field)


@register_game("innovation", players=Integer(least=3))
def innovation(players: int = 100, advantage: float = 0.5) -> Coordination:
    """Spread of a better technology on a ring: matching on 0 is worth 1, on 1 it is worth 1 + advantage."""
    return Coordination(ring_edges(players), np.diag([1.0, 1.0 + advantage]))


@register_game("congestion", players=_COUNT, links=_COUNT)
def parallel_links(players: int = 100, links: int = 5) -> Congestion:
    """Parallel links: link k costs (k + 1) times the share of players on it."""
    memory.require(50 * players * links, f"{links} links with loads up to {players}")
    costs = [(k + 1) * np.arange(1, players + 1) / players for k in range(links)]
    return Congestion([[k] for k in range(links)], costs, num_players=players)


@register_game("braess", players=_COUNT)
def braess(players: int = 100) -> Congestion:
    """Braess's network: two routes with a shortcut that makes everybody slower."""
    memory.require(300 * players, f"a network for {players} players")
    rising = np.arange(1, players + 1) / players
    # resources: s-a, a-t, s-b, b-t, shortcut a-b
    costs = [rising, np.ones(players), np.ones(players), rising, np.zeros(players)]
    return Congestion([[0, 1], [2, 3], [0, 4, 3]], costs, num_players=players)


@register_game("random-potential", players=_COUNT, actions=_COUNT, seed=NATURAL)
def random_potential(players: int = 3, actions: int = 3, seed: int = 0) -> NormalForm:
    """A random exact potential game in normal form, payoffs standard normal."""
    return random_potential_game([actions] * players, seed)


@register_game("separable", players=_COUNT, actions=_COUNT, seed=NATURAL)
def random_separable(players: int = 5, actions: int = 4, seed: int = 0) -> Separable:
    """Each player's utility depends on its own action only; values standard normal."""
    memory.require(32 * players * actions, f"values of {players} players and {actions} actions")
    return Separable(np.random.Generator(np.random.PCG64(seed)).standard_normal((players, actions)))


@register_game("overlap", robots=Integer(1, MOST_AXES), cells=_COUNT, reach=NATURAL, seed=NATURAL)
def overlap(robots: int = 2, cells: int = 4, reach: int = 1, seed: int = 0) -> NormalForm:
    """Robots on a line of cells: the worth a robot covers, less what it shares with each other robot."""
    reach = min(reach, cells)
    profiles = cells**robots
    memory.require(
        24 * robots * profiles + 80 * cells**2, f"a table of {in_words(profiles)} profiles", "use fewer robots or cells"
    )
    # in tenths, whole numbers, so that only the division at the end rounds
    tenths = np.maximum(np.ceil(10 * np.random.Generator(np.random.PCG64(seed)).random(cells)), 1.0)
    worth_before = np.concatenate([[0.0], np.cumsum(tenths)])
    place = np.arange(cells)
    # two robots share the cells from the right one's first to the left one's last
    first = np.maximum(np.maximum(place[:, None], place[None, :]) - reach, 0)
    beyond = np.minimum(np.minimum(place[:, None], place[None, :]) + reach + 1, cells)
    shared = np.where(first < beyond, worth_before[beyond] - worth_before[first], 0.0)
    payoffs = np.zeros((robots, *[cells] * robots))
    for i in range(robots):
        payoffs[i] += _along(np.diagonal(shared), robots, i)  # a robot shares all it covers with itself
        for j in range(i):
            both = _along(shared, robots, j, i)
            payoffs[i] -= both
            payoffs[j] -= both
    payoffs /= 10
    return NormalForm(payoffs, moves=path_moves(cells))


@register_game("coverage", columns=_COUNT, rows=_COUNT, seed=NATURAL)
def small_coverage(
    columns: int = 3, rows: int = 2, robots: int = 2, delta: float = 1.0, cost: float = 0.0, seed: int = 0
) -> Coverage:
    """Robots on a small grid of random worths, without flags: Eq. 45 for the exact analysis; cost is K."""
    memory.require(200 * rows * columns, f"a grid of {columns}×{rows} cells")
    tenths = np.random.Generator(np.random.PCG64(seed)).integers(0, 10, (rows, columns))
    world = World(tenths / 10, name=f"random tenths {seed}")
    return Coverage(world, robots, delta, K=cost, flags=False)


def _along(values: Floats, num_axes: int, *axes: int) -> Floats:
    """The array laid along these axes of a table, in rising order."""
    shape = [1] * num_axes
    for axis, size in zip(axes, values.shape, strict=True):
        shape[axis] = size
    return values.reshape(shape)


@register_game("stag-hunt")
def stag_hunt(stag: float = 4.0, hare: float = 3.0) -> NormalForm:
    """Two hunters: the stag needs both (action 0), a hare is safe (action 1)."""
    own = np.array([[stag, 0.0], [hare, hare]])
    potential = np.array([[stag - hare, 0.0], [0.0, hare]])
    return NormalForm([own, own.T], potential=potential)


@register_game("prisoners-dilemma")
def prisoners_dilemma(temptation: float = 5.0, reward: float = 3.0, punishment: float = 1.0) -> NormalForm:
    """Cooperate (0) or defect (1); the sucker gets 0."""
    own = np.array([[reward, 0.0], [temptation, punishment]])
    potential = np.array([[reward - temptation, 0.0], [0.0, punishment]])
    return NormalForm([own, own.T], potential=potential)


@register_game("matching-pennies")
def matching_pennies() -> NormalForm:
    """Zero-sum and without a potential: what one gains the other loses."""
    own = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return NormalForm([own, -own])


@register_game("double-step")
def double_step() -> NormalForm:
    """The potential is largest at (1, 0), but both players prefer (0, 1), one joint step away."""
    return NormalForm([[[0, 3], [2, 2]], [[2, 3], [2, 0]]], potential=[[0, 1], [2, 0]])
