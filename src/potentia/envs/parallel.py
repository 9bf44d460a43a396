"""A game as a PettingZoo environment: everybody acts at once (Terry et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from potentia.envs.calling import Calls
from potentia.envs.drawing import MODES, Picture
from potentia.envs.setting import Setting
from potentia.envs.stepping import advance_entry, observe_entry
from potentia.errors import InvalidRun
from potentia.kernel.arrays import Ints
from potentia.kernel.checks import Integer
from potentia.kernel.draws import make_key
from potentia.kernel.numbers import is_integer

Seen = dict[str, NDArray[Any]]
_SHOWN = 10  # agents in a message


class ParallelGame(ParallelEnv[str, Any, Any]):
    """The environment that :func:`potentia.envs.parallel_env` makes."""

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": [mode for mode in MODES if mode != "human"],
        "name": "potentia_v0",
        "is_parallelizable": True,
        "render_fps": 12,
    }

    def __init__(self, setting: Setting, render_mode: str | None) -> None:
        self.setting, self.game, self.render_mode = setting, setting.game, render_mode
        self.possible_agents = setting.names()
        self.agents: list[str] = []
        players, game = self.game.num_players, self.game
        self._players = range(players)
        self._even = len(set(setting.widths)) == 1
        self._actions_even = len(set(game.num_actions)) == 1
        self._room, self._masks = (players, setting.width), (players, int(game.sizes.max()))
        self._shape = (players, *setting.shape)
        self._spaces = {name: self._seen(player) for player, name in enumerate(self.possible_agents)}
        self._choices = {
            name: spaces.Discrete(size) for name, size in zip(self.possible_agents, game.num_actions, strict=True)
        }
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
        self._picture = None if render_mode is None else Picture(setting, render_mode)

    def _seen(self, player: int) -> spaces.Space[Any]:
        size, game = int(self.game.sizes[player]), self.game
        highest = self.setting.highest[player, : self.setting.widths[player]]
        if self.setting.dtype is np.int64:
            seen: spaces.Space[Any] = spaces.MultiDiscrete(highest + 1)
        else:
            top = highest.reshape(self.setting.shape)
            seen = spaces.Box(np.zeros_like(top), top, dtype=np.float32)
        assert game is self.game
        return spaces.Dict({"observation": seen, "action_mask": spaces.Box(0, 1, (size,), np.int8)})

    # What PettingZoo asks for -------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what an agent observes: always the same object."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions: always the same object."""
        return self._choices[agent]

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
            self._seed, self._episode = Integer().of(seed, "seed", InvalidRun), 0
        elif self._seed is None:
            self._seed, self._episode = int(np.random.SeedSequence().generate_state(1)[0]), 0
        else:
            self._episode += 1
        assert self._seed is not None
        start = None if options is None else options.get("start")
        first = self.setting.first(self._seed, self._episode, start)
        self._state = self.game.new_state(first)
        self._key = self.setting.key(self._seed, self._episode)
        self._time = 0
        self.agents = list(self.possible_agents)
        seen, masks = np.zeros(self._room, self.setting.dtype), np.zeros(self._masks, np.int8)
        self._observe(self._state, 0, self.setting.view, seen, masks, self._key, True)
        if self._picture is not None:
            self._picture.begin(self._seed, first)
        return self._told(seen, masks), {agent: {"illegal": False} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Seen], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
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
        agents = self.agents
        try:
            chosen = np.array([actions[agent] for agent in agents])
        except Exception:
            chosen = self._nothing
        if chosen.dtype != np.int64 or len(actions) != len(agents) or not agents:
            chosen = self._checked(actions)
        seen, masks = np.zeros(self._room, self.setting.dtype), np.zeros(self._masks, np.int8)
        rest = (
            self.setting.view,
            self.setting.how,
            self.setting.strict,
            chosen,
            self._before,
            self._rewards,
            self._illegal,
            seen,
            masks,
            self._key,
            self._time,
        )
        call = self._advance
        if call.direct is not None and not self.game.runs_user_code:
            wrong = call.direct(call.data, self._state, *rest)
        else:
            wrong = call(self._state, self._time, *rest)
        if wrong:
            self._refuse(wrong, chosen)
        self._time += 1
        if self._picture is not None:
            self._picture.add(self._state.profile)
        over = self._time >= self.setting.steps
        told = (
            self._told(seen, masks),
            dict(zip(agents, self._rewards.tolist(), strict=True)),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, over),
            {agent: {"illegal": illegal} for agent, illegal in zip(agents, self._illegal.tolist(), strict=True)},
        )
        if over:
            self.agents = []
        return told

    def render(self) -> Any:
        """The picture of this moment, or a page that replays the episode so far, as ``render_mode`` says."""
        if self._picture is None:
            raise InvalidRun(f'must be given to draw, one of {", ".join(map(repr, MODES))}, got None', "render_mode")
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
    def seed(self) -> int | None:
        """The seed of this episode, also where it was drawn."""
        return self._seed

    # How ----------------------------------------------------------------------------------------------

    _nothing: ClassVar[NDArray[Any]] = np.zeros(0)

    def _told(self, seen: NDArray[Any], masks: NDArray[np.int8]) -> dict[str, Seen]:
        rows = seen.reshape(self._shape) if len(self._shape) > 2 else seen
        if self._even and self._actions_even:
            return {
                agent: {"observation": row, "action_mask": mask}
                for agent, row, mask in zip(self.agents, rows, masks, strict=True)
            }
        widths, sizes = self.setting.widths, self.game.num_actions
        return {
            agent: {
                "observation": rows[k] if self._even else rows[k, : widths[k]],
                "action_mask": masks[k, : sizes[k]],
            }
            for k, agent in enumerate(self.agents)
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
                wanted = f"must hold one action for each of the {len(self.agents)} agents"
                raise InvalidRun(f"{wanted}, got {said} {listed}", "actions", actions)
        chosen = []
        for agent in self.agents:
            action = actions[agent]
            if isinstance(action, np.ndarray) and action.shape == ():
                action = action[()]
            if not is_integer(action) or not -(2**63) <= action < 2**63:
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
