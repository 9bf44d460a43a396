"""Rules with scores: second-order Q-learning against C, on a large grid, and Q-learning against OpenSpiel.

``reinforcement.c`` is SOQL with the paper's defaults on an open grid. As in ``reference.py`` it makes the same draws
and the same arithmetic from the same start; for several seeds cells, scores, weights and the times they are of must
equal the engine's bit for bit, or the benchmark stops.

A step touches only the actions in reach of the robots, so a hundred times as many cells must not make it much
slower. Both grids are the paper's world, repeated side by side; each run draws its own start. C on the same two
grids shows what the larger tables cost by themselves.

OpenSpiel's ``BoltzmannQLearner`` is Q-learning with Boltzmann choice. Two of them play a matrix game in the loop of
OpenSpiel's own ``independent_tabular_qlearning.py``: an episode is a step here. That both play the same game by the
same rule (Eq. 27 with a constant step and without lag) is checked before timing, by its rewards and by the choice
probabilities that its agents report. It has no second-order Q-learning; ours is set beside the same loop.
"""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import potentia
from benchmarks import coverage
from benchmarks.reference import DifferentProfile, Work, race
from benchmarks.report import Effort, Report, Row, per_second, rate
from potentia.games import Coverage, NormalForm
from potentia.games.library import stag_hunt
from potentia.studies.timing import SEED, Contender, interleaved, playing, timed

ROBOTS = 5
SIDE, LARGE_SIDE = 40, 400
SEEDS = (1, 2, 3, 4, 5)
MOST_TIMES, MOST_GROWTH, LEAST_PEER = 2.0, 1.5, 100.0
STRETCHES = (15_000, 200_000)  # the paper's length, and a long run
TAU, STEP = 0.5, 0.1  # OpenSpiel's own defaults
LEAST_LOG = -746.0  # the exponential of this or less is 0
ENTRY = np.dtype([("weight", float), ("score", float), ("since", np.int64)])


def compare(library: Path | None, effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    games = {side: Coverage(coverage.world(side), ROBOTS, K=coverage.PAPER_COST) for side in (SIDE, LARGE_SIDE)}
    coverage.world.cache_clear()
    rule = potentia.rule("soql")
    if library is not None:
        report.rows.append(_against_c(loop(library, games[SIDE], rule), games[SIDE], rule, effort))
    for steps in STRETCHES:
        report.rows.append(_growth(library, games, rule, steps, effort))
    report.rows += _against_open_spiel(effort, report)


# Against C --------------------------------------------------------------------------------------------


class InC(ctypes.Structure):
    """``Soql`` of ``reinforcement.c``."""

    _fields_ = (
        ("game", coverage.InC),
        *((name, ctypes.c_double) for name in ("mu", "vartheta", "zeta", "xi")),
        ("powers", ctypes.c_void_p),
        ("num_powers", ctypes.c_int64),
        ("entries", ctypes.c_void_p),
    )


def loop(library: Path, game: Coverage, rule: Any) -> Work:
    """The C loop for an open grid with range 1.5."""
    functions = ctypes.CDLL(str(library))
    begin, play = functions.coverage_begin, functions.soql
    begin.restype = play.restype = None
    columns, rows = game.world.size
    worth = np.pad(game.world.worth, 1)
    fading = math.log1p(-rule.vartheta)
    powers = np.array([math.exp(k * fading) for k in range(math.ceil(LEAST_LOG / fading))])  # all that are not 0

    def work(run: potentia.Run, steps: int) -> tuple[float, NDArray[Any]]:
        place = game.positions(run.start).astype(np.int32)
        counts, flags = np.zeros((2, *worth.shape), np.int32)
        entries = np.zeros(int(game.sizes.sum()), ENTRY)
        entries["weight"] = 1.0 / (columns * rows)
        on_grid = coverage.InC(
            *(columns, rows, ROBOTS, worth.ctypes.data, counts.ctypes.data, flags.ctypes.data, place.ctypes.data),
            *(float(game.movement_cost[0]), 0.0, 0.0, int(run.key)),
        )
        in_c = InC(
            *(on_grid, rule.mu, rule.vartheta, rule.zeta, rule.xi),
            *(powers.ctypes.data, powers.size, entries.ctypes.data),
        )
        begin(ctypes.byref(in_c.game))
        seconds = timed(lambda: play(ctypes.byref(in_c), ctypes.c_int64(steps)))
        profile = place[:, 1].astype(np.int64) * columns + place[:, 0]
        counted = np.array([in_c.game.revisions, in_c.game.changes])
        return seconds, _bits(profile, counted, *(entries[name] for name in ("score", "weight", "since")))

    return work


def _bits(*arrays: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.ascontiguousarray(array).view(np.int64) for array in arrays])


def reached(run: potentia.Run) -> NDArray[np.int64]:
    """The profile, the counts and all that the rule remembers of actions, as bits."""
    return _bits(run.profile, run.journal.counts, run.memory.score, run.memory.weight, run.memory.since)


def _require_same_bits(in_c: Work, game: Coverage, rule: potentia.Rule, steps: int) -> None:
    for seed in SEEDS:
        run = potentia.begin(game, rule, seed, record=(), compiled=True)
        found = in_c(run, steps)[1]
        run.advance(steps)
        differing = int((found != reached(run)).sum())
        if differing:
            raise DifferentProfile(f"{rule.name}, seed {seed}: {differing} numbers differ after {steps} steps")


def _against_c(in_c: Work, game: Coverage, rule: potentia.Rule, effort: Effort) -> Row:
    steps = effort.steps // 10
    _require_same_bits(in_c, game, rule, steps)
    times = race(game, rule, in_c, steps, 5 * effort.repetitions, reached)
    each = {who: min(seconds) / steps for who, seconds in times.items()}
    ratio = each["potentia"] / each["C"]
    return Row(
        f"SOQL, {ROBOTS} robots on {SIDE}×{SIDE}, flags, K > 0",
        f"{per_second(1 / each['potentia'])} ({each['potentia'] * 1e9:.0f} ns a step)",
        f"C {per_second(1 / each['C'])} ({each['C'] * 1e9:.0f} ns), same bits with {len(SEEDS)} seeds",
        f"{ratio:.2f}× C's time",
        f"≤ {MOST_TIMES:g}×",
        ratio <= MOST_TIMES,
        {"steps": steps, "seeds": SEEDS, "seconds_per_step": each, "ratio": ratio, "times": times},
    )


# On a large grid --------------------------------------------------------------------------------------


def _growth(library: Path | None, games: dict[int, Coverage], rule: potentia.Rule, steps: int, effort: Effort) -> Row:
    """Over several seeds, since it matters where the robots happen to begin; of each the best time counts."""
    contenders: dict[str, Contender] = {}
    for side, game in games.items():
        potentia.begin(game, rule, SEED, record=(), compiled=True).advance(1000)  # compiles
        in_c = None if library is None else loop(library, game, rule)
        for seed in SEEDS:
            contenders[f"potentia {side} {seed}"] = _played(game, rule, seed, steps)
            if in_c is not None:
                contenders[f"C {side} {seed}"] = _played(game, rule, seed, steps, in_c)
    times = interleaved(contenders, effort.repetitions * (5 if steps < 100_000 else 1))
    each: dict[str, float] = {}
    for name, seconds in times.items():
        which = name.rpartition(" ")[0]
        each[which] = each.get(which, 0.0) + min(seconds) / (steps * len(SEEDS))
    measured = ("potentia",) if library is None else ("potentia", "C")
    grown = {who: each[f"{who} {LARGE_SIDE}"] / each[f"{who} {SIDE}"] for who in measured}
    ratio = grown["potentia"]
    beside = f"; C {grown['C']:.2f}×" if "C" in grown else ""
    return Row(
        f"SOQL, {ROBOTS} robots, {steps:,} steps on {LARGE_SIDE}×{LARGE_SIDE} against {SIDE}×{SIDE}",
        f"{each[f'potentia {LARGE_SIDE}'] * 1e9:.0f} ns a step",
        f"{SIDE}×{SIDE}: {each[f'potentia {SIDE}'] * 1e9:.0f} ns{beside}",
        f"{ratio:.2f}× the time",
        f"≤ {MOST_GROWTH:g}×",
        ratio <= MOST_GROWTH,
        {"steps": steps, "seeds": SEEDS, "seconds_per_step": each, "grown": grown, "ratio": ratio, "times": times},
    )


def _played(game: Coverage, rule: potentia.Rule, seed: int, steps: int, in_c: Work | None = None) -> Contender:
    def once() -> float:
        run = potentia.begin(game, rule, seed, record=(), compiled=True)
        return timed(lambda: run.advance(steps)) if in_c is None else in_c(run, steps)[0]

    return once


# Against OpenSpiel ------------------------------------------------------------------------------------


def _against_open_spiel(effort: Effort, report: Report) -> list[Row]:
    game = stag_hunt()
    rules = {"QL": potentia.rule("ql", tau=TAU, mu=STEP, lag=False), "SOQL": potentia.rule("soql")}
    contenders = {name: playing(game, rule, effort.steps) for name, rule in rules.items()}
    episodes = effort.peer_steps // 20
    try:
        contenders["OpenSpiel"] = _open_spiel(game, episodes)
    except ImportError as error:
        report.notes.append(f"OpenSpiel skipped ({error}); install the peers with: pip install -e '.[bench]'")
    times = interleaved(contenders, effort.repetitions)
    rates = {name: rate(effort.steps if name in rules else episodes, spent) for name, spent in times.items()}
    rows = []
    for name in rules:
        what, ours = f"{name}, 2×2 (stag hunt)", per_second(rates[name])
        numbers: dict[str, Any] = {"rule": name, "peer": "OpenSpiel", "potentia": rates[name]}
        if "OpenSpiel" not in rates:
            rows.append(Row(what, ours, "OpenSpiel: not measured", numbers=numbers))
            continue
        ratio = rates[name] / rates["OpenSpiel"]
        numbers |= {"contender": rates["OpenSpiel"], "ratio": ratio, "times": times}
        rows.append(
            Row(
                what,
                ours,
                f"OpenSpiel, two BoltzmannQLearners {rates['OpenSpiel'] / 1e3:.1f} k/s",
                f"{ratio:,.0f}×",
                f"≥ {LEAST_PEER:g}×",
                ratio >= LEAST_PEER,
                numbers,
            )
        )
    return rows


def _open_spiel(game: NormalForm, episodes: int) -> Contender:
    import pyspiel
    from open_spiel.python import rl_environment, rl_tools
    from open_spiel.python.algorithms.boltzmann_tabular_qlearner import BoltzmannQLearner

    rows, columns = (np.array(payoff).tolist() for payoff in game.payoffs)
    environment = rl_environment.Environment(pyspiel.create_matrix_game(rows, columns))

    def fresh() -> list[Any]:
        return [
            BoltzmannQLearner(
                player, 2, step_size=STEP, temperature_schedule=rl_tools.ConstantSchedule(TAU), discount_factor=1.0
            )
            for player in range(environment.num_players)
        ]

    def play(agents: list[Any]) -> None:
        for _ in range(episodes):
            time_step = environment.reset()
            while not time_step.last():
                outputs = [agent.step(time_step) for agent in agents]
                time_step = environment.step([output.action for output in outputs])
            for agent in agents:
                agent.step(time_step)

    _require_q_learning(game, environment, fresh())
    return lambda: timed(lambda: play(fresh()))


def _require_q_learning(game: NormalForm, environment: Any, agents: list[Any]) -> None:
    """The agents receive the game's utilities, and choose by Eq. 27 from what they have received."""
    values = np.zeros((2, 2))
    for _ in range(200):
        time_step = environment.reset()
        outputs = [agent.step(time_step) for agent in agents]
        weights = np.exp(values / TAU)
        _require_equal("choice", weights / weights.sum(axis=1, keepdims=True), [output.probs for output in outputs])
        profile = [int(output.action) for output in outputs]
        time_step = environment.step(profile)
        for player, agent in enumerate(agents):
            agent.step(time_step)
            gain = game.utility(player, profile)
            _require_equal("reward", gain, time_step.rewards[player])
            values[player, profile[player]] += STEP * (gain - values[player, profile[player]])


def _require_equal(what: str, expected: Any, found: Any) -> None:
    if not np.allclose(expected, found, rtol=1e-9, atol=1e-12):
        raise RuntimeError(f"OpenSpiel does not play the same: {what} expected {expected}, got {found}")
