"""How long a reading should count where the field drifts: ``python docs/make_forgetting.py``.

Two worlds at three speeds each, from the same starts and with the same draws: robots that never forget, half-lives
from half to eight times the default H, the time in which a quarter of the field has changed (Σ|f(H) - f(0)| = Σf / 4),
and windows.
Of the mean error over seeds, *first* is at step 0, *least* the lowest mean over 200 steps, *end* that of
the last 200.
Writes ``forgetting.png``, and the table to ``forgetting.table.txt``; takes a few minutes on one core.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from pages import HERE, markdown

import potentia as pt
from potentia.beliefs.forgetting import drift_half_life
from potentia.figures import style
from potentia.statistics.estimates import Estimate, estimate

STEPS, EVERY, SEEDS = 4000, 20, range(24)
OVER = 200 // EVERY  # rows that are averaged
SHARES = {"H/2": 0.5, "H": 1.0, "2 H": 2.0, "4 H": 4.0, "8 H": 8.0}
WINDOWS = {"window 2 H": 2, "window 4 H": 4, "window 8 H": 8}
SPEEDS = {"paper's world": (0.001, 0.002, 0.004), "image": (0.001, 0.002, 0.004)}  # cells per step
HEADING = np.array([0.8, 0.6])
DRAWN = ("never", "H/2", "H", "4 H", "window 4 H")


def image_world() -> pt.games.World:
    """Many small blobs, as in a photograph; any world that drifts will do here."""
    random = np.random.default_rng(7)
    means = random.uniform(4.0, 28.0, (12, 2))
    return pt.games.gaussian_world((40, 40), np.full(12, 1 / 12), means, np.array([np.eye(2) * 4.0] * 12))


def drifting(world: str, speed: float) -> pt.games.Coverage:
    """The paper's team on its world, and twelve robots with a longer range on the image."""
    options: dict[str, Any] = {"drift": (speed * HEADING).tolist(), "drift_every": 10, "K": 3e-5}
    if world == "image":
        return pt.games.Coverage(image_world(), 12, 2.5, **options)
    return pt.games.Coverage(pt.games.paper_world(), 5, 1.5, **options)


def beliefs(default: float) -> dict[str, pt.beliefs.Belief]:
    """What is compared where a quarter of the field changes in so many steps."""
    out: dict[str, pt.beliefs.Belief] = {"never": pt.beliefs.SplitMerge(most=16, half_life=None)}
    out |= {name: pt.beliefs.SplitMerge(most=16, half_life=share * default) for name, share in SHARES.items()}
    return out | {
        name: pt.beliefs.SplitMerge(most=16, window=round(share * default)) for name, share in WINDOWS.items()
    }


@dataclass(frozen=True)
class Found:
    """One belief in one world at one speed."""

    errors: Any  # (time,) in the mean over seeds
    late: Any  # (seed,) in the mean over the last quarter of the run
    worth: Any  # (seed,) the covered worth then

    @property
    def smooth(self) -> Any:
        return np.convolve(self.errors, np.ones(OVER) / OVER, "valid")

    @property
    def row(self) -> list[str]:
        first, least, end = self.errors[0], self.smooth.min(), self.smooth[-1]
        told = "yes" if least < 0.5 * first and end < 1.3 * least else "no"
        return [f"{first:.2f}", f"{least:.2f}", f"{end:.2f}", f"{least / first:.2f}", f"{end / least:.2f}", told]


def played(world: str, speed: float, seeds: range) -> tuple[float, dict[str, Found]]:
    """H, and what came of each belief."""
    game = drifting(world, speed)
    default = drift_half_life(game)
    assert default is not None
    rule, out = pt.rule("p-sblll", tau=5e-4, revision=0.3), {}
    for name, belief in beliefs(default).items():
        data = pt.run_batch(
            game, rule, STEPS, seeds, record=("belief_error", "worth_union"), every=EVERY, workers=1, belief=belief
        )
        late = data.isel(time=slice(-(data.sizes["time"] // 4), None)).mean("time")
        error = data.belief_error.mean("seed").values
        out[name] = Found(error, late.belief_error.values, late.worth_union.values)
    return default, out


def told(difference: Estimate) -> str:
    return f"{difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


def main(seeds: range) -> None:
    from matplotlib import pyplot

    rows: list[list[str]] = []
    figure, grid = pyplot.subplots(2, 3, figsize=(11, 6.4), sharex=True, sharey="row", layout="constrained")
    for line, (world, speeds) in zip(grid, SPEEDS.items(), strict=True):
        for axes, speed in zip(line, speeds, strict=True):
            default, found = played(world, speed, seeds)
            never = found["never"]
            for name, one in found.items():
                less = "–" if name == "never" else told(estimate(one.late - never.late))
                worth = "–" if name == "never" else told(estimate(one.worth - never.worth))
                rows.append([world, f"{speed:g}", f"{default:,.0f}", name, *one.row, less, worth])
            times = np.arange(never.errors.size) * EVERY
            for name in DRAWN:
                look = {"color": style.DARK, "linewidth": 1.8} if name == "never" else {"linewidth": 1.2}
                axes.plot(times, found[name].errors, label=name, **look)
            axes.set_title(f"{world}, {speed:g} cells per step, H = {default:,.0f}", fontsize=style.TITLE)
        line[0].set_ylabel("Σ|f̂ - f| / Σf")
    for axes in grid[-1]:
        axes.set_xlabel("step")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(DRAWN), frameon=False)
    figure.suptitle(f"Error of what is believed of a field that drifts, by half-life; mean over {len(seeds)} seeds")
    figure.savefig(HERE / "forgetting.png", dpi=110)
    header = ["world", "speed", "H", "half-life", "first", "least", "end", "least/first", "end/least", "keeps up"]
    columns = [*header, "late error less never's, paired, 95 %", "covered worth less never's"]
    (HERE / "forgetting.table.txt").write_text(markdown(columns, rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(range(int(sys.argv[1])) if len(sys.argv) > 1 else SEEDS)
