"""Coverage against C: ``coverage.c``, robot-updates per second, from 5 robots to 100,000.

As in ``reference.py`` C makes the same draws and the same arithmetic from the same start and must end in the same
profile. Revisions and changes are counted and compared too: robots that went different ways under the same draws
often meet again. An update is one robot's comparison of its cell with a trial: one per step of BLLL, one per
awake robot and step of P-SBLLL. The worlds are the paper's, repeated side by side, so that the worth around a
robot, and with it what the temperature does, is the same at every size. Runs are short and repeated often: on a
busy machine a quiet moment is short.

Cost per update must not grow with robots or cells. What grows is the misses of the processor's cache: 100,000
robots on 2,000×2,000 cells touch a dozen lines of memory per update that nobody touched for a while. C shows how
much that is: its instructions per update are the same at both sizes, so what slows it down are misses (and some
branches that were easier to guess with 5 robots at rest). The engine's slowdown divided by C's is what is left,
and an upper bound: the engine also looks up moves and places in tables, which C for an open grid works out, so
it has more lines to miss. (Counters of the processor would tell directly, but virtual machines seldom have
them.) Beside it, 5 robots on the same 2,000×2,000 cells: the same large tables, of which so few lines are used
that they stay in the cache.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import potentia
from benchmarks.reference import TARGET, Work, race
from benchmarks.report import Effort, Report, Row, per_second
from potentia.games import Coverage, World, paper_world
from potentia.kernel.journal import REVISIONS
from potentia.studies.timing import SEED, timed

TAU = 5e-4  # the paper's
REVISION = 0.3
PAPER_COST = 3e-5
SMALL, LARGE = (5, 40), (100_000, 2000)  # robots, cells along a side
SIZES = (SMALL, (100, 40), (1000, 200), (10_000, 600), LARGE)
FEW = (SMALL[0], LARGE[1])  # large tables that stay in the cache
MOST_GROWTH = 3.0
RULES = {"blll": "BLLL", "p-sblll": "P-SBLLL"}


@dataclass(frozen=True)
class Cost:
    """Seconds per update, the best of several."""

    potentia: float
    c: float
    share: float  # updates per robot and step
    numbers: dict[str, Any]

    @property
    def ratio(self) -> float:
        return self.potentia / self.c


class InC(ctypes.Structure):
    """``Coverage`` of ``coverage.c``."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("columns", "rows", "robots")),
        *((name, ctypes.c_void_p) for name in ("worth", "counts", "flags", "place")),
        *((name, ctypes.c_double) for name in ("cost", "tau", "revision")),
        ("key", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in ("awake", "direction", "accepted", "before")),
        *((name, ctypes.c_int64) for name in ("revisions", "changes")),
    )


@cache
def world(side: int) -> World:
    """So many cells along either side, a multiple of the paper's 40."""
    times, rest = divmod(side, paper_world().size[0])
    assert rest == 0
    return World(np.tile(paper_world().worth, (times, times)), name=f"paper {times}×{times}")


def rule_of(name: str) -> potentia.Rule:
    return potentia.rule(name, tau=TAU, **({} if name == "blll" else {"revision": REVISION}))


def loop(library: Path, game: Coverage, rule: str) -> Work:
    """The C loop for an open grid with range 1.5."""
    functions = ctypes.CDLL(str(library))
    begin, play = functions.coverage_begin, getattr(functions, f"coverage_{rule.replace('-', '')}")
    begin.restype = play.restype = None
    columns, rows = game.world.size
    worth = np.pad(game.world.worth, 1)

    def work(run: potentia.Run, steps: int) -> tuple[float, NDArray[Any]]:
        robots = game.num_players
        place = game.positions(run.start).astype(np.int32)
        counts = np.zeros(worth.shape, np.int32)
        flags = np.zeros(worth.shape if game.flags else 0, np.int32)
        # one place more: an index is written before it is known to be kept
        room = (np.empty(robots + 1, np.int32), *np.empty((2, robots), np.int8), np.empty(robots))
        in_c = InC(
            *(columns, rows, robots, worth.ctypes.data, counts.ctypes.data),
            *(flags.ctypes.data if game.flags else None, place.ctypes.data),
            *(float(game.movement_cost[0]), TAU, REVISION, int(run.key)),
            *(array.ctypes.data for array in room),
        )
        begin(ctypes.byref(in_c))
        seconds = timed(lambda: play(ctypes.byref(in_c), ctypes.c_int64(steps)))
        profile = place[:, 1].astype(np.int64) * columns + place[:, 0]
        return seconds, np.append(profile, (in_c.revisions, in_c.changes))

    return work


def cost(library: Path, game: Coverage, name: str, effort: Effort) -> Cost:
    """What an update costs the engine and C."""
    rule, robots = rule_of(name), game.num_players
    updates = effort.steps // 10
    steps = updates if name == "blll" else max(2, round(updates / (REVISION * robots)))
    repetitions = effort.repetitions * (5 if robots <= 1000 else 1)
    in_c = loop(library, game, name)
    times = race(game, rule, in_c, steps, repetitions, lambda run: np.append(run.profile, run.journal.counts))
    done = int(in_c(potentia.begin(game, rule, SEED, record=()), steps)[1][game.num_players + REVISIONS])
    best = {who: min(seconds) / done for who, seconds in times.items()}
    numbers = {
        "rule": name,
        "robots": robots,
        "cells": list(game.world.size),
        "updates": done,
        "steps": steps,
        "seconds_per_update": best,
        "times": times,
    }
    return Cost(best["potentia"], best["C"], done / (steps * robots), numbers)


def compare(library: Path, effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    for name in RULES:
        paper = Coverage(world(SMALL[1]), SMALL[0], K=PAPER_COST)
        report.rows.append(_against_c(name, SMALL, cost(library, paper, name, effort), ", flags, K > 0"))
    found: dict[tuple[str, int, int], Cost] = {}
    for size in (*SIZES, FEW):
        game = Coverage(world(size[1]), size[0], flags=False)
        for name in RULES:
            found[name, *size] = cost(library, game, name, effort)
            if size != FEW:
                report.rows.append(_against_c(name, size, found[name, *size]))
        del game
        world.cache_clear()
    for name in RULES:
        report.rows.append(_growth(name, found))


def _size(robots: int, side: int) -> str:
    return f"{robots:,} robots on {side:,}×{side:,}"


def _against_c(name: str, size: tuple[int, int], of: Cost, also: str = "") -> Row:
    asked = size == SMALL
    each = "" if name == "blll" else f", {of.potentia * of.share * 1e9:.0f} per robot and step"
    return Row(
        f"{RULES[name]}, {_size(*size)}{also}",
        f"{per_second(1 / of.potentia)} ({of.potentia * 1e9:.0f} ns{each})",
        f"C {per_second(1 / of.c)} ({of.c * 1e9:.0f} ns), same bits",
        f"{of.ratio:.2f}× C's time",
        f"≤ {TARGET}×" if asked else "–",
        of.ratio <= TARGET if asked else None,
        of.numbers | {"ratio": of.ratio, "per_robot_step": of.potentia * of.share},
    )


def _growth(name: str, found: dict[tuple[str, int, int], Cost]) -> Row:
    small, large, few = found[name, *SMALL], found[name, *LARGE], found[name, *FEW]
    raw, misses, spread = large.potentia / small.potentia, large.c / small.c, few.potentia / small.potentia
    rest = raw / misses
    return Row(
        f"{RULES[name]}, an update of {_size(*LARGE)} against one of {_size(*SMALL)}",
        f"{raw:.1f}× the time; {spread:.2f}× of {_size(*FEW)}",
        f"C {misses:.1f}× by the same misses",
        f"{rest:.1f}× apart from cache misses",
        f"≤ {MOST_GROWTH:.0f}×",
        rest <= MOST_GROWTH,
        {"rule": name, "raw": raw, "c": misses, "ratio": rest, "few_on_large": spread, "few": few.numbers},
    )
