"""Many copies of an environment in one compiled call: arrays in, arrays out, for whoever trains."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.engine.tier import copied, rebuilt
from potentia.envs.calling import Calls
from potentia.envs.setting import Setting, setting_from
from potentia.envs.stacking import renew, stacked
from potentia.envs.stepping import advance_all_entry, observe_all_entry
from potentia.errors import InvalidRun
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints, any_array
from potentia.kernel.checks import Flag, Integer
from potentia.kernel.draws import make_key

Seen = dict[str, NDArray[Any]]


class VectorGame:
    """The environment that :func:`potentia.envs.vector_env` makes."""

    metadata: ClassVar[dict[str, Any]] = {"name": "potentia_v0", "autoreset_mode": "SameStep"}

    def __init__(self, setting: Setting, copies: Any, copy: Any) -> None:
        self.setting, self.game = setting, setting.game
        self.copies = Integer(least=1).of(copies, "copies", InvalidRun)
        self._copy = Flag().of(copy, "copy", InvalidRun)
        self.agents = self.possible_agents = setting.names()
        players, most = self.game.num_players, int(self.game.sizes.max())
        rows = self.copies * players
        memory.require(
            self.copies * float(self.game.state_size) + rows * (8.0 * setting.width + most + 24),
            f"{self.copies:,} copies of {self.game.describe()}",
            "use fewer copies",
        )
        self._seen, self._masks = np.zeros((rows, setting.width), setting.dtype), np.zeros((rows, most), np.int8)
        self._rewards, self._illegal = np.zeros(rows), np.zeros(rows, np.bool_)
        self._before = np.zeros(players, np.int64)
        self._observe, self._advance = (
            Calls(entry, self.game, setting.compiled) for entry in (observe_all_entry, advance_all_entry)
        )
        self._fixed = (setting.view, setting.how, setting.strict)
        self._states: Any = None
        self._seed: int | None = None
        self._episode = 0
        self._keys_of_starts = np.zeros(0, np.uint64)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode of every copy.

        Parameters
        ----------
        seed : int, optional
            Copy k plays what :func:`potentia.envs.parallel_env` plays after ``reset(seed=seed + k)``. Left out, the
            next episodes follow, or those of a seed that is drawn.
        options : dict, optional
            ``{"start": profile}`` begins there, with one profile for all or one for each copy.

        Returns
        -------
        tuple of dict
            ``observation``, (copies, players, ...), and ``action_mask``, (copies, players, actions); and infos.
        """
        if seed is not None:
            seed, episode = Integer().of(seed, "seed", InvalidRun), 0
        elif self._seed is None:
            seed, episode = int(np.random.SeedSequence().generate_state(1)[0]), 0
        else:
            seed, episode = self._seed, self._episode + 1
        keys = self._keys_of_starts
        if episode == 0:
            keys = np.array([make_key(one, "start") for one in range(seed, seed + self.copies)])
        first = self._first(seed, episode, keys, None if options is None else options.get("start"))
        self._seed, self._keys_of_starts = seed, keys  # nothing has changed where a seed or a start is refused
        self._begin(episode, first)
        return self._told(), {}

    def _first(self, seed: int, episode: int, keys: NDArray[np.uint64], start: ArrayLike | None = None) -> Ints:
        """Where an episode begins: a profile for each copy, or one for all."""
        setting, seeds = self.setting, range(seed, seed + self.copies)
        if start is None:
            return setting.starts(seeds, keys, episode)
        if np.ndim(start) != 2:
            return setting.first(seed, 0, start)
        if len(given := any_array(start)) != self.copies:
            told = f"must hold one profile for each of {self.copies} copies, got {len(given)}"
            raise InvalidRun(told, "start", len(given))
        return np.stack([setting.first(one, 0, row) for one, row in zip(seeds, given, strict=True)])

    def _begin(self, episode: int, first: Ints) -> None:
        """An episode of every copy."""
        setting, fresh = self.setting, self.game.new_state(np.zeros(self.game.num_players, np.int64))
        if self._states is None:
            self._states = stacked([fresh] * self.copies)
        else:
            renew(self._states, fresh)
        self._states.profile[:] = first
        if setting.draws_lives or episode == 0:
            assert self._seed is not None
            seeds = range(self._seed, self._seed + self.copies)
            self._keys = np.array([setting.key(one, episode) for one in seeds], np.uint64)
        self._episode, self._time = episode, 0
        self._seen[:] = 0
        self._observe(self._states, 0, setting.view, self._seen, self._masks, self._keys, True)

    def step(self, actions: ArrayLike) -> tuple[Seen, Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Everybody acts, in every copy.

        Parameters
        ----------
        actions : array_like
            Integers of shape (copies, players).

        Returns
        -------
        tuple
            Observations as of :meth:`reset`, rewards (copies, players), terminations and truncations (copies,), and
            infos: ``illegal``, (copies, players). At the end of the episodes the next ones begin at once: observations
            are the first ones of those, and ``final_obs`` of the infos has the last ones.

        Raises
        ------
        InvalidRun
            For actions of another shape or type, for one that is none of a player's, and with ``strict`` for one that
            its mask forbids. Nothing is changed then.
        """
        given = chosen = self._checked(actions)
        if (compass := self.setting.compass) is not None:
            wrong, chosen, nowhere = compass.actions(self._states.profile.reshape(-1), given, self.setting.strict)
            if wrong:
                self._refuse(wrong, given)
        rest = (chosen, self._before, self._rewards, self._illegal, self._seen, self._masks, self._keys, self._time)
        if (direct := self._advance.direct) is not None and not self.game.runs_user_code:
            wrong = direct(self._advance.data, self._states, *self._fixed, *rest)
        else:
            try:
                wrong = self._advance(self._states, self._time, *self._fixed, *rest)
            except BaseException:  # in the middle of a step
                self._states = None
                raise
        if wrong:
            self._refuse(wrong, given)
        if compass is not None:
            self._illegal |= nowhere
        self._time += 1
        over = self._time >= self.setting.steps
        infos: dict[str, Any] = {"illegal": self._rows(self._illegal)}
        if over:
            infos["final_obs"] = {name: np.array(part) for name, part in self._told().items()}
            assert self._seed is not None
            following = self._episode + 1
            self._begin(following, self._first(self._seed, following, self._keys_of_starts))
        terminated = np.zeros(self.copies, np.bool_)
        return self._told(), self._rows(self._rewards), terminated, np.full(self.copies, over), infos

    def __reduce__(self) -> tuple[Any, ...]:
        names = ["_seed", "_seen", "_masks"]
        names += [] if self._states is None else ["_episode", "_keys_of_starts", "_keys", "_time"]
        state = None if self._states is None else copied(self._states)
        kept = {name: np.array(part) if isinstance(part := getattr(self, name), np.ndarray) else part for name in names}
        return _remade, (self.setting.given, self.copies, self._copy, kept, state)

    def close(self) -> None:
        """Nothing is held open."""

    def __repr__(self) -> str:
        return f"<{self.copies:,} environments of {self.game.describe()}, {self.setting.steps:,} steps>"

    @property
    def profiles(self) -> Ints:
        """The profile of each copy, (copies, players); a copy."""
        if self._states is None:
            raise InvalidRun("there are no states yet: call reset() first")
        return np.array(self._states.profile)

    @property
    def moves(self) -> Ints | None:
        """With ``actions="moves"`` the cells across and down of each action, (D, 2); otherwise None."""
        return self.setting.moves

    def _rows(self, flat: NDArray[Any]) -> NDArray[Any]:
        out = flat.reshape(self.copies, self.game.num_players, *flat.shape[1:])
        return out.copy() if self._copy else out

    def _told(self) -> Seen:
        seen = self._rows(self._seen)
        if len(self.setting.shape) > 1:
            seen = seen.reshape(*seen.shape[:2], *self.setting.shape)
        compass, masks = self.setting.compass, self._masks
        if compass is not None:
            masks = compass.masks(self._states.profile.reshape(-1), masks)
        masks = self._rows(masks)
        masks.flags.writeable = self._copy  # the next step goes by them
        return {"observation": seen, "action_mask": masks}

    def _checked(self, actions: Any) -> Ints:
        if self._states is None:
            raise InvalidRun("the environments have not begun: call reset() first")
        given, wanted = any_array(actions), (self.copies, self.game.num_players)
        if given.shape != wanted or given.dtype.kind not in "iu":
            told = f"must be integers of shape {wanted}, one action for each player of each copy"
            raise InvalidRun(f"{told}, got shape {given.shape} of {given.dtype}", "actions", actions)
        return np.ascontiguousarray(given, np.int64).reshape(-1)

    def _refuse(self, wrong: int, chosen: Ints) -> None:
        """Raise what a kernel found."""
        copy, player = divmod(abs(wrong) - 1, self.game.num_players)
        agent, action = self.agents[player], int(chosen[abs(wrong) - 1])
        if wrong > 0:
            last = self.setting.choices[player] - 1
            told = f"must be from 0 to {last} for {agent}, got {action} in copy {copy}"
            raise InvalidRun(told, "actions", action)
        raise InvalidRun(
            f"{agent} of copy {copy} may not play {action} now, as its action_mask says", "actions", action
        )


def _remade(given: tuple[Any, ...], copies: int, copy: bool, kept: dict[str, Any], state: Any) -> VectorGame:
    """A copy of environments that have come as far."""
    env = VectorGame(setting_from(*given), copies, copy)
    env.__dict__.update(kept)
    if state is not None:
        fresh = env.game.new_state(np.zeros(env.game.num_players, np.int64))
        env._states = rebuilt(stacked([fresh] * copies), state)
    return env
