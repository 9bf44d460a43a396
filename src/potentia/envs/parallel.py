"""A game as a PettingZoo environment: everybody acts at once (Terry et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from potentia.engine.tier import copied, rebuilt
from potentia.envs.calling import Calls
from potentia.envs.drawing import Picture
from potentia.envs.setting import RENDER_MODES, Setting, setting_from
from potentia.envs.stepping import advance_entry, observe_entry
from potentia.errors import InvalidRun
from potentia.kernel.arrays import Ints
from potentia.kernel.checks import Integer
from potentia.kernel.numbers import is_integer
from potentia.kernel.texts import counted

Seen = dict[str, NDArray[Any]]
_SHOWN = 10  # agents in a message


class ParallelGame(ParallelEnv[str, Any, Any]):  # type: ignore[misc]
    """The environment that :func:`potentia.envs.parallel_env` makes."""

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "potentia_v0",
        "is_parallelizable": True,
        "render_fps": 12,
    }

    def __init__(self, setting: Setting, render_mode: str | None) -> None:
        self.setting, self.game, self.render_mode = setting, setting.game, render_mode
        self.possible_agents = setting.names()
        self.agents: list[str] = []
        players, game = self.game.num_players, self.game
        names = self.possible_agents
        self._pick = itemgetter(*names) if players > 1 else self._alone
        self._one_each = (players,)
        self._even = len(set(setting.widths)) == len(set(game.num_actions)) == 1
        self._layers, self._fragile, self._dtype = len(setting.shape) > 1, game.runs_user_code, setting.dtype
        self._fixed = (setting.view, setting.how, setting.strict)  # what all calls of the kernel share
        self._room, self._masks = (players, setting.width), (players, int(game.sizes.max()))
        self._shape = (players, *setting.shape)
        self._spaces = {name: self._seen(player) for player, name in enumerate(names)}
        self._choices = {name: spaces.Discrete(size) for name, size in zip(names, setting.choices, strict=True)}
        self.state_space = spaces.MultiDiscrete(game.sizes)
        self._observe, self._advance = (
            Calls(entry, game, setting.compiled) for entry in (observe_entry, advance_entry)
        )
        self._before, self._rewards = np.zeros(players, np.int64), np.zeros(players)
        self._illegal = np.zeros(players, np.bool_)
        self._seed: int | None = None
        self._episode = 0
        self._time = 0
        self._state: Any = None
        self._picture = None if render_mode is None else Picture(game, render_mode)

    def _seen(self, player: int) -> spaces.Space[Any]:
        size = self.setting.choices[player]
        highest = self.setting.highest[player, : self.setting.widths[player]]
        if self.setting.dtype is np.int64:
            seen: spaces.Space[Any] = spaces.MultiDiscrete(highest + 1)
        else:
            top = highest.reshape(self.setting.shape)
            seen = spaces.Box(np.zeros_like(top), top, dtype=np.float32)
        return spaces.Dict({"observation": seen, "action_mask": spaces.Box(0, 1, (size,), np.int8)})

    # What PettingZoo asks for -------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what an agent observes: always the same object."""
        return self._spaces[self._one_of(agent)]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions: always the same object."""
        return self._choices[self._one_of(agent)]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Seen], dict[str, dict[str, Any]]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Where it begins and what happens by itself: the first episode of a seed begins where runs of that seed
            begin. Left out, the next episode of the same seed follows, or one of a seed that is drawn.
        options : dict, optional
            ``{"start": profile}`` begins there.

        Returns
        -------
        tuple of dict
            Observations and infos by agent.
        """
        if seed is not None:
            seed, episode = Integer().of(seed, "seed", InvalidRun), 0
        elif self._seed is None:
            seed, episode = int(np.random.SeedSequence().generate_state(1)[0]), 0
        else:
            seed, episode = self._seed, self._episode + 1
        first = self.setting.first(seed, episode, None if options is None else options.get("start"))
        self._seed, self._episode = seed, episode  # nothing has changed where a seed or a start is refused
        self._state = self.game.new_state(first)
        self._key = self.setting.key(self._seed, self._episode)
        self._time = 0
        self.agents = list(self.possible_agents)
        seen, masks = np.zeros(self._room, self._dtype), np.zeros(self._masks, np.int8)
        self._observe(self._state, 0, self.setting.view, seen, masks, self._key, True)
        if self._picture is not None:
            self._picture.begin(self._seed, self._episode, first)
        return self._told(seen, masks), {agent: {"illegal": False} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Seen], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Everybody acts at once.

        Parameters
        ----------
        actions : dict
            One action of each agent.

        Returns
        -------
        tuple of dict
            Observations, rewards, terminations (never), truncations (at the end) and infos by agent. ``illegal`` in an
            info tells that the agent may not play what it did, and stayed.

        Raises
        ------
        InvalidRun
            For an action that is missing, surplus or none of the agent's, or after the end; with ``strict`` for one
            that the mask forbids. Nothing is changed then.
        """
        try:
            chosen = np.array(self._pick(actions))
        except Exception:
            chosen = self._nothing
        agents, state = self.agents, self._state
        if chosen.dtype != np.int64 or chosen.shape != self._one_each or len(actions) != len(agents):
            chosen = self._checked(actions)
        seen, masks = np.zeros(self._room, self._dtype), np.zeros(self._masks, np.int8)
        rewards, illegal, compass, given = self._rewards, self._illegal, self.setting.compass, chosen
        if compass is not None:
            wrong, chosen, nowhere = compass.actions(state.profile, given, self.setting.strict)
            if wrong:
                self._refuse(wrong, given)
        rest = (chosen, self._before, rewards, illegal, seen, masks, self._key, self._time)
        if (direct := self._advance.direct) is not None and not self._fragile:
            wrong = direct(self._advance.data, state, *self._fixed, *rest)
        else:
            try:
                wrong = self._advance(state, self._time, *self._fixed, *rest)
            except BaseException:  # in the middle of a step
                self.agents, self._state = [], None
                raise
        if wrong:
            self._refuse(wrong, given)
        if compass is not None:
            illegal |= nowhere
        self._time += 1
        if self._picture is not None:
            self._picture.add(state.profile)
        over = self._time >= self.setting.steps
        told = (
            self._told(seen, masks),
            dict(zip(agents, rewards.tolist())),  # noqa: B905 - as many as there are, and quicker
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, over),
            {agent: {"illegal": was} for agent, was in zip(agents, illegal.tolist())},  # noqa: B905
        )
        if over:
            self.agents = []
        return told

    def render(self) -> Any:
        """The picture of this moment, or a page that replays the episode so far, as ``render_mode`` says."""
        if self._picture is None:
            raise InvalidRun(
                f"must be given to draw, one of {', '.join(map(repr, RENDER_MODES))}, got None", "render_mode"
            )
        if self._state is None:
            raise InvalidRun("nothing to draw yet: call reset() first")
        return self._picture.draw()

    def state(self) -> Ints:
        """The profile: the action of each player."""
        if self._state is None:
            raise InvalidRun("there is no state yet: call reset() first")
        return np.array(self._state.profile)

    def close(self) -> None:
        """Nothing is held open."""

    def __repr__(self) -> str:
        return f"<environment of {self.game.describe()}, {self.setting.steps:,} steps, {self.setting.reward}>"

    # Beyond -------------------------------------------------------------------------------------------

    @property
    def moves(self) -> Ints | None:
        """With ``actions="moves"`` the cells across and down of each action, (D, 2); otherwise None."""
        return self.setting.moves

    @property
    def np_random_seed(self) -> int | None:
        """The seed that was given last, or drawn: what Gymnasium calls it."""
        return self._seed

    # How ----------------------------------------------------------------------------------------------

    def _one_of(self, agent: Any) -> str:
        if isinstance(agent, str) and agent in self._choices:
            return agent
        first, last = self.possible_agents[0], self.possible_agents[-1]
        raise InvalidRun(f"must be one of the agents, {first} to {last}, got {agent!r:.60}", "agent", agent)

    def _alone(self, actions: Mapping[str, Any]) -> tuple[Any]:
        return (actions[self.possible_agents[0]],)

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in ("_spaces", "_choices", "_seed", "_episode", "_time", "agents")}
        played = None if self._picture is None else self._picture.played
        state = None if self._state is None else copied(self._state)
        return _remade, (self.setting.given, self.render_mode, kept, state, played)

    _nothing: ClassVar[NDArray[Any]] = np.zeros(0)

    def _told(self, seen: NDArray[Any], masks: NDArray[np.int8]) -> dict[str, Seen]:
        if self.setting.compass is not None:
            masks = self.setting.compass.masks(self._state.profile, masks)
        rows = seen.reshape(self._shape) if self._layers else seen
        if self._even:
            return {
                agent: {"observation": row, "action_mask": mask}
                for agent, row, mask in zip(self.agents, rows, masks)  # noqa: B905
            }
        widths, sizes = self.setting.widths, self.game.num_actions
        return {
            agent: {"observation": rows[k] if self._layers else rows[k, : widths[k]], "action_mask": masks[k, :size]}
            for k, (agent, size) in enumerate(zip(self.agents, sizes, strict=True))
        }

    def _checked(self, actions: Any) -> Ints:
        """The actions, in order, or an error that says what is wrong with them."""
        if self._state is None:
            raise InvalidRun("the environment has not begun: call reset() first")
        if not self.agents:
            raise InvalidRun(f"the episode has ended after {self._time:,} steps: call reset()")
        if not isinstance(actions, Mapping):
            told = f"must be a dict from agents to actions, such as {{{self.agents[0]!r}: 0}}"
            raise InvalidRun(f"{told}, got {actions!r:.60}", "actions", actions)
        missing = [agent for agent in self.agents if agent not in actions]
        surplus = [agent for agent in actions if agent not in self._choices]
        for agents, said in ((missing, "none for"), (surplus, "one for")):
            if agents:
                listed = ", ".join(map(str, agents[:_SHOWN])) + (", ..." if len(agents) > _SHOWN else "")
                wanted = f"must hold one action for each of the {counted(len(self.agents), 'agent')}"
                raise InvalidRun(f"{wanted}, got {said} {listed}", "actions", actions)
        chosen = []
        for agent in self.agents:
            action = actions[agent]
            if isinstance(action, np.ndarray) and action.shape == ():
                action = action[()]
            # Gymnasium takes Python's own truth values for integers, too
            if not (is_integer(action) or isinstance(action, bool | np.bool_)) or not -(2**63) <= action < 2**63:
                raise InvalidRun(self._outside(agent, action), "actions", actions)
            chosen.append(int(action))
        return np.array(chosen, np.int64)

    def _outside(self, agent: str, action: Any) -> str:
        return f"must hold an integer from 0 to {int(self._choices[agent].n) - 1} for {agent}, got {action!r:.60}"

    def _refuse(self, wrong: int, chosen: Ints) -> None:
        """Raise what a kernel found."""
        player = abs(wrong) - 1
        agent, action = self.agents[player], int(chosen[player])
        if wrong > 0:
            raise InvalidRun(self._outside(agent, action), "actions", action)
        current = int(self._state.profile[player])
        told = f"{agent} may not play {action} now, which its action_mask says; it is at {current}"
        raise InvalidRun(told, "actions", action)


def _remade(given: tuple[Any, ...], mode: str | None, kept: dict[str, Any], state: Any, played: Any) -> ParallelGame:
    """A copy of an environment that has come as far."""
    env = ParallelGame(setting_from(*given), mode)
    env.__dict__.update(kept)
    if state is not None:
        env._state = rebuilt(env.game.new_state(np.zeros(env.game.num_players, np.int64)), state)
        env._key = env.setting.key(env._seed or 0, env._episode)
    if env._picture is not None and played:
        env._picture.begin(env._seed or 0, env._episode, played[0])
        for profile in played[1:]:
            env._picture.add(profile)
    return env
