"""What an environment is made of: the game, what players observe and receive, and where episodes begin."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.beliefs import Believing
from potentia.engine.requests import check_is_game, checked_compiled, checked_integer, eventful, first_profile, run_key
from potentia.envs.acting import Actions
from potentia.envs.moving import ACTIONS, Compass, compass_of
from potentia.envs.observing import FULL, LOCAL, Area, Loads, Patch, Place, Seats, View
from potentia.envs.stepping import MARGINAL_POTENTIAL, MARGINAL_WELFARE, POTENTIAL, UTILITY
from potentia.errors import InteractionsUnknown, InvalidRun
from potentia.games import Congestion, Coverage, Game, NormalForm
from potentia.games.events import require_within
from potentia.games.grid import SLACK, disc
from potentia.games.roster import Roster
from potentia.games.sight import Open, make_view
from potentia.kernel import memory
from potentia.kernel.arrays import Ints, frozen, starts
from potentia.kernel.cache import Compiled
from potentia.kernel.checks import Flag, OneOf
from potentia.kernel.draws import NUM_PURPOSES, START, make_key, squares_of_many
from potentia.kernel.protocol import Interactions
from potentia.kernel.texts import counted

REWARDS = ("utility", "potential", "marginal")
OBSERVATIONS = ("own", "local", "full")
RENDER_MODES = ("rgb_array", "html", "human")  # the last opens a page in a browser


@attrs.frozen
class Setting:
    """The options of an environment, checked, and what follows from them."""

    game: Game
    steps: int
    reward: str
    observation: str
    strict: bool
    compiled: Compiled
    how: int  # the reward, as kernels know it
    view: View
    shape: tuple[int, ...]  # of an observation; where players have different ones, of the widest
    widths: tuple[int, ...]  # how much of it each player has
    highest: NDArray[Any]  # (N, width) the largest that each entry can be
    draws_lives: bool  # whether what happens by itself is drawn
    compass: Compass | None  # where actions are moves

    @property
    def given(self) -> tuple[Any, ...]:
        """What :func:`setting_from` makes it of again; copies of environments travel so, for copies of arrays are not
        frozen."""
        actions = "own" if self.compass is None else "moves"
        return self.game, self.steps, self.reward, self.observation, self.strict, self.compiled, None, actions

    @property
    def choices(self) -> tuple[int, ...]:
        """How many actions each player can be told to play."""
        return tuple(self.game.num_actions) if self.compass is None else (len(self.compass.moves),) * len(self.widths)

    @property
    def moves(self) -> Ints | None:
        """Cells across and down of each action, (D, 2), where actions are moves."""
        return None if self.compass is None else self.compass.moves

    @property
    def dtype(self) -> Any:
        """Of observations: whole numbers, but on a map."""
        return np.float32 if isinstance(self.game, Coverage) else np.int64

    @property
    def width(self) -> int:
        """Numbers in the widest observation."""
        return max(self.widths)

    def names(self) -> list[str]:
        """What players are called."""
        called = "robot" if isinstance(self.game, Coverage) else "player"
        return [f"{called}_{player}" for player in range(self.game.num_players)]

    def key(self, seed: int, episode: int) -> Any:
        """What the draws of an episode go by; one for all where nothing is drawn."""
        return run_key(seed, self.game, Actions(episode)) if self.draws_lives else np.uint64(1)

    def first(self, seed: int, episode: int, start: ArrayLike | None = None) -> Ints:
        """Where an episode begins: the first one of a seed where runs of that seed begin."""
        if start is not None:
            return first_profile(self.game, start, seed)
        if episode == 0 or (self.game.start is not None and len(self.game.start) == self.game.num_players):
            return first_profile(self.game, self.game.start, seed)
        drawn = self.drawn(np.array([make_key(seed, "start")]), episode)[0]
        if self.game.start is not None:
            drawn[: len(self.game.start)] = self.game.start
        return drawn

    def drawn(self, keys: NDArray[np.uint64], episode: int) -> Ints:
        """Uniformly random profiles for an episode, one for each key, (copies, N)."""
        players = self.game.num_players
        counters = (episode * players + np.arange(players, dtype=np.uint64)) * np.uint64(NUM_PURPOSES)
        units = squares_of_many(counters + np.uint64(START), keys[:, None])
        return (units * self.game.sizes).astype(np.int64)

    def starts(self, seeds: Iterable[int], keys: NDArray[np.uint64], episode: int) -> Ints:
        """The same as :meth:`first` for many seeds, whose keys of starts are known."""
        if self.game.start is None:
            return self.drawn(keys, episode)
        return np.stack([self.first(seed, episode) for seed in seeds])


def setting_from(
    game: Game,
    steps: Any,
    reward: Any,
    observation: Any,
    strict: Any,
    compiled: Any,
    events: Iterable[str] | None,
    actions: Any = "own",
) -> Setting:
    """The setting of an environment, or an error that names the option."""
    check_is_game(game)
    if isinstance(game, Believing):
        told = "must be the game itself: what is believed of it is the learner's own affair"
        raise InvalidRun(f"{told}, got {game.describe()}", "game", game.describe())
    game = eventful(game, events)
    steps = checked_integer(steps, "steps", 1)
    require_within(game, steps)
    reward = OneOf(*REWARDS).of(reward, "reward", InvalidRun)
    observation = OneOf(*OBSERVATIONS).of(observation, "observation", InvalidRun)
    actions = OneOf(*ACTIONS).of(actions, "actions", InvalidRun)
    if reward == "potential" and not game.has_potential:
        why = "; one has it with flags=False and K=0" if isinstance(game, Coverage) else ""
        if isinstance(game, NormalForm):
            why = "; if there is one, NormalForm(payoffs, potential=pt.analysis.potential(game)) knows it"
        told = f'cannot be the potential: none is known for {game.describe()}{why}; or use "utility" or "marginal"'
        raise InvalidRun(told, "reward", reward)
    how = {"utility": UTILITY, "potential": POTENTIAL, "marginal": MARGINAL_WELFARE}[reward]
    if reward == "marginal" and game.has_potential:
        how = MARGINAL_POTENTIAL
    view, shape, widths, highest = _view(game, observation)
    memory.require(
        game.num_players * (float(np.prod(shape)) * 16 + 2 * float(game.sizes.max())),
        f"observations of {counted(game.num_players, 'player')}",
        'use observation="own"',
    )
    return Setting(
        game=game,
        steps=steps,
        reward=reward,
        observation=observation,
        strict=Flag().of(strict, "strict", InvalidRun),
        compiled=checked_compiled(compiled),
        how=how,
        view=view,
        shape=shape,
        widths=widths,
        highest=highest(),
        draws_lives=_draws(game),
        compass=compass_of(game) if actions == "moves" else None,
    )


def _draws(game: Game) -> bool:
    """Whether something is drawn beside what players do; of a game of somebody's own it is not known."""
    roster = getattr(game, "roster", None)
    if isinstance(roster, Roster):
        return roster.hazard > 0.0
    return not type(game).__module__.startswith("potentia.games.")


Look = tuple[View, tuple[int, ...], tuple[int, ...], Callable[[], NDArray[Any]]]


def _view(game: Game, observation: str) -> Look:
    """What is shown, the shape of it, how much of it each player has, and the largest values."""
    if isinstance(game, Coverage):
        return _on_map(game, observation)
    players = range(game.num_players)
    if observation == "local" and isinstance(game, Congestion):
        uses = [sorted({r for strategy in game.menu(player) for r in strategy}) for player in players]
        could = np.bincount(np.concatenate([np.array(u, np.int64) for u in uses]), minlength=game.num_resources)
        rows = [np.array([game.sizes[player] - 1, *could[uses[player]]]) for player in players]
        return *_ragged(Loads, uses, 1), lambda: _filled(rows)
    if observation == "own":
        seen = [[player] for player in players]
    elif observation == "full":
        memory.require(32.0 * game.num_players**2, f"what {game.num_players:,} players see of each other")
        seen = [[player, *(other for other in players if other != player)] for player in players]
    else:
        seen = _neighbours(game)
    return *_ragged(Seats, seen, 0), lambda: _filled([game.sizes[those] - 1 for those in seen])


def _ragged(kind: Any, lists: list[list[int]], more: int) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    ptr = starts([len(part) for part in lists])
    widths = tuple(len(part) + more for part in lists)
    flat = frozen([k for part in lists for k in part], np.int64)
    return kind(ptr, flat), (max(widths),), widths


def _filled(rows: list[Ints]) -> NDArray[Any]:
    out = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out


def _neighbours(game: Game) -> list[list[int]]:
    """Each player and those that it interacts with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InteractionsUnknown)  # then it sees everybody
        known = game.interactions
    players = range(game.num_players)
    if not isinstance(known, Interactions):
        return [[player, *(other for other in players if other != player)] for player in players]
    members: list[list[int]] = [[] for _ in range(known.num_groups)]
    groups = [known.groups[known.ptr[player] : known.ptr[player + 1]].tolist() for player in players]
    for player in players:
        for group in groups[player]:
            members[group].append(player)
    return [
        [player, *sorted({other for group in groups[player] for other in members[group]} - {player})]
        for player in players
    ]


def _on_map(game: Coverage, observation: str) -> Look:
    players, (columns, rows) = game.num_players, game.world.size
    most = np.inf if game.drifts else float(np.float32(game.world.worth.max()))
    blocked = frozen(game.world.blocked, np.uint8)
    if observation == "own":
        ends = np.array([columns - 1, rows - 1, 1], np.float32)
        return Place(), (3,), (3,) * players, lambda: np.broadcast_to(ends, (players, 3))
    view: Patch | Area
    largest: tuple[float, ...]
    if observation == "full":
        view, shape = Area(columns, rows, blocked), (FULL, rows, columns)
        largest = (most, 1, 1, players, 1)
    else:
        view = _patch(game, blocked)
        shape, largest = (LOCAL, view.side, view.side), (most, 1, players, 1)
    size = int(np.prod(shape))
    levels = np.repeat(np.array(largest, np.float32), size // len(largest))
    return view, shape, (size,) * players, lambda: np.broadcast_to(levels, (players, size))


def _patch(game: Coverage, blocked: NDArray[np.uint8]) -> Patch:
    """As far as flags are seen in Eq. 45, twice the range."""
    columns, rows = game.world.size
    twice = np.minimum(2 * game._range, math.hypot(columns, rows))
    ranges = np.unique(twice)
    kind = np.searchsorted(ranges, twice)
    discs = [disc(float(reach)) for reach in ranges]
    cells = np.concatenate(discs)
    frame = int(float(ranges[-1]) * SLACK)
    vision = make_view(game.world.blocked, ranges, game.sight, game.blocked_worth)
    return Patch(
        2 * int(np.abs(cells).max(initial=0)) + 1,
        columns,
        rows,
        blocked,
        frozen(kind, np.int64),
        starts([len(part) for part in discs]),
        frozen(cells[:, 0], np.int64),
        frozen(cells[:, 1], np.int64),
        frozen(ranges**2 * SLACK, np.float64),
        vision,
        0 if isinstance(vision, Open) else frame,
    )
