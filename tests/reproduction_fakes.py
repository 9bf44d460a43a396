"""A case study that nobody played: random numbers with the shapes of the real one, some short runs to show, and claims
of every kind."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

from potentia.analysis import optimum
from potentia.beliefs import Constant
from potentia.paper import playing
from potentia.paper.belief_study import pair
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.paper.reinforcement_study import learners
from potentia.paper.report import Picture, render, reproduction, sections
from potentia.paper.scale import Scale
from potentia.statistics.estimates import Estimate, estimate
from potentia.studies.coverage import paper_game

SCALE = Scale("quick", runs=6, as_printed=4, tuning=3, games=5, learners=2, long=6)
LINES = ("To 90 %: +250 [+120, +380] steps: sooner", "To 80 %: <b>more</b>")
SHOWN = 40  # steps of the runs that are shown
HOSTILE = "<script>alert('x')</script> & \"quoted\""


def batch(level, steps, seeds, seed, *, spread=0.02):
    """Worth that rises to a level, with noise."""
    random = np.random.default_rng(seed)
    time = np.arange(0, steps + 1, max(1, steps // 200))
    rise = level * (1.0 - np.exp(-6.0 * time / steps))
    worth = rise + spread * random.standard_normal((len(seeds), 1)) * rise / level
    final = random.integers(0, 1600, (len(seeds), 5)).astype(np.int16)
    return xarray.Dataset(
        {
            "worth_sum": (("seed", "time"), worth),
            "worth_union": (("seed", "time"), 0.95 * worth),
            "taken": (("seed", "time"), np.floor(worth * 1e4).clip(0)),
            "final": (("seed", "player"), final),
            "steps_done": ("seed", np.full(len(seeds), steps)),
        },
        {"seed": list(seeds), "time": time, "player": np.arange(5)},
        {"game": "coverage", "rule": '{"rule": "made up"}', "interrupted": 0},
    )


@cache
def recordings():
    """Runs that are really played, of some steps: a model, and scores at keyframes."""
    game, rules = (
        paper_game(),
        {**pair(), **{name: learners()[name] for name in ("QL, τ = 0.002", "QL, τ = 0.005", "SOQL")}},
    )
    beliefs = {"BLLL": Constant(0.002)}
    return playing.recordings(game, rules, SHOWN, 0, keyframes=10, beliefs=beliefs, best=optimum(game))


def study():
    game, seeds = paper_game(), range(SCALE.runs)
    ql = {f"QL, τ = {tau:g}": batch(level, 15_000, seeds, 7) for tau, level in ((0.002, 0.14), (0.005, 0.19))}
    both = {"BLLL": batch(0.14, 2000, seeds, 1), "P-SBLLL": batch(0.18, 2000, seeds, 2)}
    soql = batch(0.2, 15_000, seeds, 3)
    return SimpleNamespace(
        scale=SCALE,
        game=game,
        optimum=optimum(game),
        model=both,
        known=both | {"P-SBLLL, guarded": batch(0.21, 2000, seeds, 4)},
        lasting=both,
        heard=both,
        heard_long={"BLLL": batch(0.17, 15_000, seeds, 9)},
        literal={name: batch(0.05, 2000, seeds, 10) for name in ("BLLL", "P-SBLLL")},
        mixtures={"EM_N": batch(0.13, 2000, seeds, 5), "EM_SM": both["BLLL"]},
        learners={"SOQL": soql, "SOQL, step 1/n": batch(0.1, 15_000, seeds, 6), **ql},
        tuning={0.002: estimate([0.13, 0.14, 0.15]), 0.005: estimate([0.18, 0.19, 0.21])},
        four={**{name: batch(0.18, 15_000, seeds, 8) for name in ("BLLL", "P-SBLLL")}, **ql, "SOQL": soql},
        shown=0,
        finals={name: made.profiles(range(SHOWN + 1)) for name, made in recordings().items()},
        recordings=recordings(),
    )


def claims():
    sooner = Measurement("steps sooner", Estimate(250.0, 120.0, 380.0, 6), 280.0, "steps")
    return [
        Claim(
            "faster", "experiment", "P-SBLLL is faster than BLLL", "§5.1, Fig. 5", (sooner,), SUPPORTED, "it is", LINES
        ),
        Claim("higher than QL", "experiment", HOSTILE, "§5.2", (), f"{DEPENDS} the temperature of QL", HOSTILE),
        Claim(
            "general",
            "theory",
            "The stable states are the maximisers",
            "Eq. 19",
            (
                Measurement("BLLL", Estimate(1.0, 0.93, 1.0, 50)),
                Measurement("P-SBLLL", Estimate(0.2, 0.1, 0.33, 50)),
                Measurement("games", 50),
                Measurement("a gap", float("nan")),
                Measurement("method", "contraction"),
            ),
            NOT_SUPPORTED,
            "not where utilities are coupled",
            counterexample="In game 3 profile 0 1 1 is stable & not a maximiser",
            details={
                "potential": np.array([0.5, np.inf]),
                "profile": (0, 1, 1),
                "shares": [{"games": "any game", "rule": "BLLL", "count": 50, "exactly": 50}],
            },
        ),
    ]


def tables():
    worth = {"worth": estimate([0.1, 0.12, 0.14, 0.13, 0.15]), "low": 0.1, "high": 0.15}
    none = {"published_mean": None, "published_low": None, "published_high": None}
    printed = {"published_mean": 0.1378, "published_low": 0.1185, "published_high": 0.1561, "published_settles": 680}
    return {
        "model": [
            {"algorithm": "BLLL", "runs": 5, **worth, **printed},
            {"algorithm": "P-SBLLL", "runs": 5, **worth, **none, "published_settles": None},
        ],
        "learners": [{"algorithm": HOSTILE, "settles": np.float64(1234.5)}],
        "temperatures": [{"tau": 0.002, "worth": estimate([0.1, 0.2]), "best": True, "nearest": False}],
    }


def undrawn(name, figure, caption, alt):
    """A picture that takes no time: drawing is tested by itself."""
    assert isinstance(figure, Figure)
    return Picture(name, caption, alt, 100, 50, {kind: f"<{kind} {name}>".encode() for kind in ("svg", "png", "pdf")})


@cache
def built():
    """The study, its claims, their report and its page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "picture", undrawn)
        played, judged = study(), claims()
        report = reproduction.build(played, judged, tables())
    return played, judged, report, render(report)
