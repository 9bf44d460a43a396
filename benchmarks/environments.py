"""Environments: a step of five agents beside one of an environment that does nothing, and of many copies at once.

The empty one hands out the dicts that PettingZoo asks for, with arrays that are there already: less cannot be done. A
step of a copy is one of all its agents. Copies go a way that was drawn before from what masks allow, and back again;
their arrays are used again (``copy=False``); beside it, handed out as new ones, which is the default.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.report import Effort, Report, Row
from potentia.studies.timing import SEED, Contender, fastest, interleaved, timed

AGENTS, MOST, LEAST = 5, 4.0, 50.0
STEPS, EPISODE, DRAWN = 300, 10**9, 20
COPIES = (256, 2_000)


def compare(effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    import potentia as pt

    games: dict[str, pt.games.Game] = {
        "a ring": pt.game("ring", players=AGENTS),
        "the paper's map": pt.games.Coverage(pt.games.paper_world(), AGENTS),
    }
    for name, game in games.items():
        _compare(name, game, effort, report)


def _compare(name: str, game: Any, effort: Effort, report: Report) -> None:
    import potentia as pt

    env = pt.envs.parallel_env(game, EPISODE, compiled=True)
    env.reset(seed=SEED)
    actions = dict(zip(env.agents, env.state().tolist(), strict=True))
    env.step(actions)  # compiles
    contenders: dict[str, Contender] = {
        "empty": lambda: timed(lambda: _steps(empty, actions)),
        "single": lambda: timed(lambda: _steps(env, actions)),
    }
    empty = _Empty(env)
    for copies in COPIES:
        contenders[f"{copies}"] = _copies(game, copies)
    contenders["new arrays"] = _copies(game, COPIES[0], copy=True)
    times = interleaved(contenders, 50 * effort.repetitions)
    best = fastest(times)
    single, nothing = best["single"] / STEPS, best["empty"] / STEPS
    report.rows.append(
        Row(
            f"a step of PettingZoo, {AGENTS} agents on {name}",
            f"{single * 1e6:.1f} µs",
            f"an empty environment {nothing * 1e6:.1f} µs",
            f"{single / nothing:.1f}× the time",
            f"≤ {MOST:g}×",
            single <= MOST * nothing,
            {"times": times},
        )
    )
    each = {f"{copies:,} copies at once, copy=False": best[f"{copies}"] / (DRAWN * copies) for copies in COPIES}
    each |= {f"{COPIES[0]:,} copies at once, new arrays": best["new arrays"] / (DRAWN * COPIES[0])}
    for what, seconds in each.items():
        asked = what == next(iter(each)) and name == "a ring"
        report.rows.append(
            Row(
                f"the same of {what}",
                f"{seconds * 1e9:.0f} ns a step of a copy",
                f"one by one {single * 1e6:.1f} µs",
                f"{single / seconds:.0f}×",
                f"≥ {LEAST:g}×" if asked else "–",
                single >= LEAST * seconds if asked else None,
                {"seconds": seconds},
            )
        )


class _Empty:
    """What every parallel environment has to do, and nothing else."""

    def __init__(self, env: Any) -> None:
        self.agents = list(env.agents)
        self.shown = {agent: env.observation_space(agent).sample() for agent in self.agents}

    def step(self, actions: dict[str, int]) -> tuple[dict[str, Any], ...]:
        agents, shown = self.agents, self.shown
        seen = {
            agent: {"observation": shown[agent]["observation"], "action_mask": shown[agent]["action_mask"]}
            for agent in agents
        }
        return (
            seen,
            dict.fromkeys(agents, 0.0),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )


def _steps(env: Any, actions: dict[str, int]) -> None:
    for _ in range(STEPS):
        env.step(actions)


def _copies(game: Any, copies: int, copy: bool = False) -> Contender:
    import potentia as pt

    env = pt.envs.vector_env(game, copies, EPISODE, compiled=True, copy=copy)
    seen, _ = env.reset(seed=SEED)
    random, way = np.random.default_rng(SEED), [env.profiles]
    for _ in range(DRAWN // 2):
        mask = seen["action_mask"]
        seen, *_ = env.step((random.random(mask.shape) * mask).argmax(axis=2))
        way.append(env.profiles)
    there_and_back = [*way[1:], *way[-2::-1]]
    for profiles in way[-2::-1]:
        env.step(profiles)
    return lambda: timed(lambda: [env.step(profiles) for profiles in there_and_back])
