"""Against C: ``reference.c``, written for two fixed games and compiled on the spot.

The C program makes the same draws (the run's key, the same counters) and the same arithmetic in the same
order from the same start, so after any number of steps its profile must equal the engine's bit for bit;
anything else stops the benchmark. ``-ffp-contract=off`` keeps the compiler from fusing a multiplication and
an addition into one rounding. The C loops know their game; the engine serves every game and rule.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import potentia
from benchmarks.report import Effort, Report, Row, per_second, rate
from potentia.games import Congestion, consensus, ring_edges
from potentia.studies.timing import SEED, interleaved, timed

PLAYERS = 1000
TAU = 0.5
TARGET = 1.5
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")

# All players of the congestion game share ten strategies of three out of twenty resources; costs are linear.
STRATEGIES = [[2 * k, 2 * k + 1, (2 * k + 7) % 20] for k in range(10)]
COSTS = np.array([np.arange(1, PLAYERS + 1) * (1 + 0.1 * r) / PLAYERS for r in range(20)])

Work = Callable[[potentia.Run, int], tuple[float, NDArray[Any]]]  # seconds, and the profile reached


class DifferentProfile(RuntimeError):
    """The engine and C disagree: one of them is wrong."""


def compiler() -> str | None:
    """The C compiler: ``$CC``, else the first that is found."""
    candidates = [os.environ.get("CC", ""), "gcc", "cc", "clang"]
    return next((found for name in candidates if name and (found := shutil.which(name))), None)


def compiler_version() -> str | None:
    """What the compiler calls itself."""
    program = compiler()
    if program is None:
        return None
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return answer.splitlines()[0] if answer else None


def build(directory: Path, report: Report, name: str = "reference") -> Path | None:
    """Compile ``reference.c``, or another file beside it, into a shared library, or remark why not."""
    program = compiler()
    if program is None:
        report.notes.append("C skipped: no compiler found; install gcc or clang, or set CC")
        return None
    library = directory / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    done = subprocess.run(
        [program, *FLAGS, "-o", str(library), str(source), "-lm"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        report.notes.append(f"C skipped: the compiler failed: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return library


def _pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def _number(value: int) -> ctypes.c_int64:
    return ctypes.c_int64(value)


def ring(library: Path, rule: str) -> Work:
    """The C loop for consensus on a ring."""
    function = getattr(ctypes.CDLL(str(library)), f"ring_{rule}")
    function.restype = None
    payoff = np.eye(2)

    def work(run: potentia.Run, steps: int) -> tuple[float, NDArray[Any]]:
        profile = run.start.astype(np.uint8)
        arguments = (_number(profile.size), _pointer(payoff), ctypes.c_double(TAU), ctypes.c_uint64(int(run.key)))
        return timed(lambda: function(*arguments, _number(steps), _pointer(profile))), profile

    return work


def congestion(library: Path, rule: str) -> Work:
    """The C loop for the congestion game."""
    function = getattr(ctypes.CDLL(str(library)), f"congestion_{rule}")
    function.restype = None
    strategies = np.array(STRATEGIES, np.int64)
    costs = np.concatenate([np.zeros((len(COSTS), 1)), COSTS], axis=1)  # from load 0 on

    def work(run: potentia.Run, steps: int) -> tuple[float, NDArray[Any]]:
        profile = run.start.copy()
        loads = np.bincount(strategies[profile].ravel(), minlength=len(costs))
        game = (*map(_number, (PLAYERS, *strategies.shape)), _pointer(strategies), _pointer(costs))
        draws = (ctypes.c_double(TAU), ctypes.c_uint64(int(run.key)), _number(steps))
        return timed(lambda: function(*game, *draws, _pointer(profile), _pointer(loads))), profile

    return work


def compare(library: Path, effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    games: dict[str, tuple[Any, Callable[[Path, str], Work]]] = {
        "ring": (consensus(ring_edges(PLAYERS)), ring),
        "congestion": (Congestion(STRATEGIES, COSTS, num_players=PLAYERS), congestion),
    }
    for name, (game, in_c) in games.items():
        for rule in ("lll", "blll"):
            chosen = potentia.rule(rule, tau=TAU)
            times = race(game, chosen, in_c(library, rule), effort.steps, effort.repetitions)
            ours, theirs = (rate(effort.steps, times[who]) for who in ("potentia", "C"))
            slower = theirs / ours
            numbers = {"game": name, "rule": rule, "potentia": ours, "contender": theirs, "ratio": slower}
            report.rows.append(
                Row(
                    f"{rule.upper()}, {name}, {PLAYERS:,} players",
                    per_second(ours),
                    f"C {per_second(theirs)}, same bits",
                    f"{slower:.2f}× C's time",
                    f"≤ {TARGET}×",
                    slower <= TARGET,
                    numbers | {"times": times},
                )
            )


def race(
    game: Any,
    rule: potentia.Rule,
    in_c: Work,
    steps: int,
    repetitions: int,
    reached: Callable[[potentia.Run], NDArray[Any]] = lambda run: run.profile,
) -> dict[str, list[float]]:
    """Times of the engine and of C; every repetition of either must end in the same profile.

    Or in whatever else ``reached`` says of the engine and ``in_c`` returns.
    """
    fresh = potentia.begin(game, rule, SEED, record=())  # C uses its key and its start
    expected = in_c(fresh, steps)[1]

    def checked(seconds: float, found: NDArray[Any]) -> float:
        differing = int((found != expected).sum())
        if differing:
            raise DifferentProfile(f"{rule.name}, {game.describe()}: {differing} numbers differ after {steps} steps")
        return seconds

    def ours() -> float:
        run = potentia.begin(game, rule, SEED, record=(), compiled=True)
        seconds = timed(lambda: run.advance(steps))
        return checked(seconds, reached(run))

    potentia.begin(game, rule, SEED, record=(), compiled=True).advance(min(steps, 1000))  # compiles
    return interleaved({"potentia": ours, "C": lambda: checked(*in_c(fresh, steps))}, repetitions)
