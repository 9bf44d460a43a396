"""How environments are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from potentia.envs.setting import RENDER_MODES, setting_from
from potentia.envs.vector import VectorGame
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.kernel.cache import Compiled
from potentia.kernel.checks import OneOf

if TYPE_CHECKING:
    from potentia.envs.parallel import ParallelGame

Reward = Literal["utility", "potential", "marginal"]
Observation = Literal["own", "local", "full"]
Acting = Literal["own", "moves"]
RenderMode = Literal["rgb_array", "html", "human"]


def parallel_env(
    game: Game,
    steps: int = 100,
    *,
    reward: Reward = "utility",
    observation: Observation = "own",
    actions: Acting = "own",
    strict: bool = False,
    render_mode: RenderMode | None = None,
    events: Iterable[str] | None = None,
    compiled: Compiled = "auto",
) -> ParallelGame:
    """A game as a PettingZoo environment in which everybody acts at once.

    Agents are called ``player_0``, ``player_1``, ...; in a :class:`~potentia.games.Coverage`, ``robot_0``, .... All of
    them take part until the end: episodes are truncated after so many steps, and nothing terminates. A robot that has
    failed, or not come yet, can only stay, and receives 0.

    Parameters
    ----------
    game : Game
        Any game.
    steps : int
        How long an episode is.
    reward : {"utility", "potential", "marginal"}
        "utility": what the player receives at the new profile; robots pay the energy of the move that led there.
        "potential": the potential of the new profile, the same for all. "marginal": W(α) - W(α with the player's action
        of before), where α is the new profile and W the potential, or where none is known the sum of utilities: what
        the player's move was worth to all, and 0 for one that stays.
    observation : {"own", "local", "full"}
        An observation is a dict with ``observation`` and ``action_mask``. "own": the player's action; a robot's cell
        (x, y), and whether it is there. "local": that, and the actions of those that it interacts with; in a
        :class:`~potentia.games.Congestion` the loads of the resources it could use; of a robot the square around it,
        as four layers: worth, cells it can go to, how many others are there, flags of others, all within twice its
        range, and worth only where walls do not hide it, if the game has ``sight``. "full": the actions of all, its
        own first; of a robot five layers of the whole map: worth, free cells, itself, the others, their flags. What
        a robot sees in its square does not say where on the map that is.
    actions : {"own", "moves"}
        "own": the game's actions, on a map the numbers of cells: ``Discrete`` of as many as there are, of which all but
        the few in reach are masked. "moves", only on maps: the numbers of moves, the same wherever a robot is; 0 stays,
        and ``env.moves[a]`` are the cells across and down of move a, nine of them where robots reach the cells around
        them. States are the same to the bit. A policy that does not know masks mostly stays with "own".
    strict : bool
        Whether an action that the mask forbids is an error. Otherwise the player stays and ``info["illegal"]`` is true.
    render_mode : {None, "rgb_array", "html", "human"}
        What ``render()`` gives: the picture of the moment, or a page that replays the episode so far; "human" opens
        that page in a browser.
    events : iterable of str, optional
        What happens to robots, as in :func:`potentia.begin`.
    compiled : {"auto", True, False}
        As in :func:`potentia.begin`; a game of your own functions is played in plain Python unless this is True.

    Returns
    -------
    ParallelGame
        A ``pettingzoo.ParallelEnv``. ``reset(seed=s)`` begins where ``pt.begin(game, rule, seed=s)`` begins.

    Raises
    ------
    InvalidRun
        For options that make no sense, or where PettingZoo is not installed.

    Examples
    --------
    >>> import potentia as pt
    >>> env = pt.envs.parallel_env(pt.game("ring", players=5), steps=10)
    >>> observations, infos = env.reset(seed=0)
    >>> observations["player_0"]["action_mask"].tolist()
    [1, 1]
    >>> observations, rewards, *_ = env.step({agent: 1 for agent in env.agents})
    >>> rewards["player_0"] == rewards["player_4"]
    True
    """
    setting = setting_from(game, steps, reward, observation, strict, compiled, events, actions)
    mode = None if render_mode is None else OneOf(*RENDER_MODES).of(render_mode, "render_mode", InvalidRun)
    _require_pettingzoo()
    from potentia.envs.parallel import ParallelGame

    return ParallelGame(setting, mode)


def aec_env(game: Game, steps: int = 100, **options: Any) -> Any:
    """The same environment with agents that act in turn, by PettingZoo's own conversion.

    Parameters
    ----------
    game : Game
        Any game.
    steps : int
        How long an episode is: in a step, every agent has acted once.
    **options
        As of :func:`parallel_env`.

    Returns
    -------
    pettingzoo.AECEnv
        What ``parallel_to_aec`` makes of :func:`parallel_env`.

    Raises
    ------
    InvalidRun
        As :func:`parallel_env`.

    Examples
    --------
    >>> import potentia as pt
    >>> env = pt.envs.aec_env(pt.game("stag-hunt"), steps=3)
    >>> env.reset(seed=0)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     env.step(None if truncated else 0)
    >>> env.agents
    []
    """
    env = parallel_env(game, steps, **options)
    from pettingzoo.utils.conversions import parallel_to_aec

    return parallel_to_aec(env)


def vector_env(
    game: Game,
    copies: int,
    steps: int = 100,
    *,
    reward: Reward = "utility",
    observation: Observation = "own",
    actions: Acting = "own",
    strict: bool = False,
    events: Iterable[str] | None = None,
    compiled: Compiled = "auto",
    copy: bool = True,
) -> VectorGame:
    """Many copies of :func:`parallel_env` in one compiled call: arrays in, arrays out. It needs no PettingZoo.

    Parameters
    ----------
    game : Game
        Any game.
    copies : int
        How many; copy k plays what ``parallel_env`` plays after ``reset(seed=seed + k)``, to the bit.
    steps, reward, observation, actions, strict, events, compiled : optional
        As of :func:`parallel_env`. At the end of the episodes the next ones begin by themselves.
    copy : bool
        Whether arrays that are returned are the caller's. Otherwise the next step writes into them, which is quicker
        on large maps, and masks cannot be written to.

    Returns
    -------
    VectorGame
        With ``reset(seed)``, which gives ``observations, infos``, and ``step(actions)`` with integers of shape
        (copies, players), which gives

        - ``observations``, a dict: ``action_mask``, int8, (copies, players, actions), and ``observation``: int64,
          (copies, players, width), on a map float32: (copies, players, 3) for "own", and layers of a map,
          (copies, players, 4, side, side) for "local" and (copies, players, 5, rows, columns) for "full". Where players
          have fewer actions or shorter observations than others, the rest of their rows is 0;
        - ``rewards``, float64, (copies, players);
        - ``terminated`` and ``truncated``, bool, (copies,): never, and in the last step of the episodes;
        - ``infos``, a dict: ``illegal``, bool, (copies, players), and in the last step ``final_obs``: the last
          observations, a dict like ``observations``, which are then the first ones of the next episodes.

    Raises
    ------
    InvalidRun
        For options that make no sense.

    Examples
    --------
    >>> import numpy as np, potentia as pt
    >>> env = pt.envs.vector_env(pt.game("ring", players=5), copies=3, steps=10)
    >>> observations, infos = env.reset(seed=0)
    >>> observations["action_mask"].shape
    (3, 5, 2)
    >>> observations, rewards, terminated, truncated, infos = env.step(np.ones((3, 5), int))
    >>> rewards.shape
    (3, 5)
    """
    return VectorGame(setting_from(game, steps, reward, observation, strict, compiled, events, actions), copies, copy)


def _require_pettingzoo() -> None:
    try:
        import pettingzoo  # noqa: F401
    except ImportError:
        told = "PettingZoo is not installed: pip install 'potentia[envs]'; vector_env works without"
        raise InvalidRun(told) from None
