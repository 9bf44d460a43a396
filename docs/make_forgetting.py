"""How long a reading should count where the field drifts: ``python docs/make_forgetting.py``, for ``beliefs.md``.

Two worlds at three speeds each, from the same starts and with the same draws: robots that never forget, half-lives
from half to four times the default H, the time in which a quarter of the field has changed (Σ|f(H) - f(0)| = Σf / 4),
and windows.
Of the mean error over seeds, *first* is at step 0, *least* the lowest mean over 200 steps, *end* that of the last 200.
A belief *keeps up* if its least is below half of its first and its end below 1.3 times its least.

Then what it takes to keep up: faster fields, more robots, longer ranges, robots that move more often; and beside it
how much of the worth was read within the last H steps.

Writes ``forgetting.png``, two tables of the page and, with all half-lives, ``forgetting.table.txt``; takes some three
minutes on one core. A number of seeds may follow.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pages import HERE, markdown, write

import potentia as pt
from potentia.beliefs.forgetting import drift_half_life
from potentia.colours import PALETTE
from potentia.figures import style
from potentia.statistics.estimates import Estimate, estimate, paired_difference

STEPS, EVERY, SEEDS = 4000, 20, range(16)
OVER = 200 // EVERY  # rows that are averaged
SHARES = {"H/2": 0.5, "H": 1.0, "2 H": 2.0, "4 H": 4.0}
WINDOWS = {"window 2 H": 2, "window 4 H": 4}
SPEEDS = (0.001, 0.002, 0.004)  # cells per step
PAPER, IMAGE = "paper's world", "image"
HEADING = np.array([0.8, 0.6])
PLAIN = "H, no background"
DRAWN = {
    "never": ("never forgets", {"color": style.DARK, "linewidth": 2.0}),
    "H": ("half-life H, the default", {"color": PALETTE[0], "linewidth": 2.0}),
    "H/2": ("half-life H/2", {"color": PALETTE[2], "linewidth": 1.0, "linestyle": "--"}),
    "4 H": ("half-life 4 H", {"color": PALETTE[4], "linewidth": 1.2}),
    "window 2 H": ("window of 2 H", {"color": PALETTE[3], "linewidth": 1.2, "linestyle": "-."}),
}


# What is played ---------------------------------------------------------------------------------------


def image(side: int = 40, spots: int = 6, seed: int = 7) -> np.ndarray:
    """Clouds and hot spots in 256 greys, without a seam where they wrap."""
    random = np.random.default_rng(seed)
    waves = np.fft.fftfreq(side)
    blur = np.exp(-2.0 * np.pi**2 * 2.5**2 * (waves[:, None] ** 2 + waves**2))
    clouds = np.fft.ifft2(np.fft.fft2(random.standard_normal((side, side))) * blur).real
    field = 0.5 * ((clouds - clouds.min()) / np.ptp(clouds)) ** 2
    for centre in random.uniform(0.0, side, (spots, 2)):
        away = np.abs(np.mgrid[:side, :side][::-1] - centre[:, None, None])
        away = np.minimum(away, side - away)
        field += random.uniform(0.4, 1.0) * np.exp(-(away**2).sum(axis=0) / 8.0)
    return np.round(255.0 * field / field.max())


@dataclass(frozen=True)
class Team:
    """The paper's team on its world, or twelve robots with a longer range on the image; and how it may differ."""

    world: str
    speed: float
    robots: int
    delta: float
    revision: float = 0.3

    @property
    def game(self) -> pt.games.Coverage:
        velocity = (self.speed * HEADING).tolist()
        if self.world == PAPER:
            where, options = pt.games.paper_world(), {"drift": velocity, "K": 3e-5}
        else:
            where, options = pt.games.World(image()), {"drift": pt.games.Shift(velocity, "wrap")}
        return pt.games.Coverage(where, self.robots, self.delta, drift_every=10, **options)

    @property
    def rule(self) -> pt.rules.Rule:
        tau = 5e-4 if self.world == PAPER else pt.rules.Relative(0.03)
        return pt.rule("p-sblll", tau=tau, revision=self.revision)

    @property
    def half_life(self) -> float:
        found = drift_half_life(self.game)
        assert found is not None
        return found

    def belief(self, **options: Any) -> pt.beliefs.Belief:
        """An image has some grey everywhere: a background."""
        return pt.beliefs.SplitMerge(**{"most": 16, "background": self.world == IMAGE} | options)

    def beliefs(self) -> dict[str, pt.beliefs.Belief]:
        """What is compared."""
        H, out = self.half_life, {"never": self.belief(half_life=None)}
        out |= {name: self.belief(half_life=share * H) for name, share in SHARES.items()}
        out |= {name: self.belief(window=round(share * H)) for name, share in WINDOWS.items()}
        return out | ({PLAIN: self.belief(half_life=H, background=False)} if self.world == IMAGE else {})


def team(world: str, speed: float, **changes: Any) -> Team:
    usual = {"robots": 5, "delta": 1.5} if world == PAPER else {"robots": 12, "delta": 2.5}
    return Team(world, speed, **usual | changes)


def others() -> Iterator[tuple[str, Team]]:
    """What it takes to keep up."""
    for speed in (0.004, 0.008, 0.016):
        yield "as above", team(PAPER, speed)
    yield "revision 0.9", team(PAPER, 0.004, revision=0.9)
    yield "10 robots", team(PAPER, 0.004, robots=10)
    yield "range 2.5", team(PAPER, 0.004, delta=2.5)
    for speed in (0.004, 0.008, 0.016):
        yield "as above", team(IMAGE, speed)
    yield "24 robots", team(IMAGE, 0.008, robots=24)
    yield "24 robots, revision 0.9", team(IMAGE, 0.008, robots=24, revision=0.9)


@dataclass(frozen=True)
class Found:
    """One belief of one team."""

    errors: Any  # (seed, time)
    worth: Any  # (seed,) that is covered in the last quarter of the run, in the mean

    @property
    def mean(self) -> Any:
        return self.errors.mean(axis=0)

    @property
    def late(self) -> Any:
        """(seed,) in the mean over the last quarter of the run."""
        return self.errors[:, -(self.errors.shape[1] // 4) :].mean(axis=1)

    @property
    def band(self) -> Any:
        """The 95 % interval of the mean, (2, time)."""
        found = [estimate(column) for column in self.errors.T]
        return np.array([(one.low, one.high) for one in found]).T

    @property
    def row(self) -> list[str]:
        smooth = np.convolve(self.mean, np.ones(OVER) / OVER, "valid")
        first, least, end = self.mean[0], smooth.min(), smooth[-1]
        kept = "yes" if least < 0.5 * first and end < 1.3 * least else "no"
        return [f"{first:.2f}", f"{least:.2f}", f"{end:.2f}", f"{least / first:.2f}", f"{end / least:.2f}", kept]


ROW = ["first", "least", "end", "least/first", "end/least", "keeps up"]


def play(who: Team, belief: pt.beliefs.Belief, seeds: range) -> Found:
    options: dict[str, Any] = {"record": ("belief_error", "worth_union"), "every": EVERY, "workers": 1}
    data = pt.run_batch(who.game, who.rule, STEPS, seeds, belief=belief, **options)
    late = data.isel(time=slice(-(data.sizes["time"] // 4), None)).mean("time")
    return Found(data.belief_error.values, late.worth_union.values)


def read_lately(who: Team, seeds: range, every: int = 5) -> tuple[float, float]:
    """The share of the worth whose cells were read within H steps, late in runs; and that of the error elsewhere."""
    game, H = who.game, who.half_life
    times, shares, errors = range(0, STEPS + 1, every), [], []
    asked = {time: game.worth_at(time) for time in times if time >= STEPS * 3 // 4 and time % 100 == 0}
    for seed in seeds:
        trace = pt.run(game, who.rule, STEPS, seed, belief=who.belief(), record="profile", every=every)
        last, near = np.full(game.world.worth.shape, -np.inf), {}
        for time, profile in zip(times, trace.profiles.tolist(), strict=True):
            for action in profile:
                if action not in near:
                    near[action] = tuple(game.covered(0, action).T[::-1])
                last[near[action]] = time
            if time in asked:
                worth, lately = asked[time], time - last <= H
                shares.append(worth[lately].sum() / worth.sum())
        error = np.abs(trace.beliefs[0].worth - worth)
        errors.append(error[~lately].sum() / error.sum())
    return float(np.mean(shares)), float(np.mean(errors))


# Tables and figure ------------------------------------------------------------------------------------


def told(difference: Estimate) -> str:
    return f"{difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


Played = dict[Team, dict[str, Found]]


def table(played: Played) -> str:
    """Robots that never forget, and the default."""
    rows = []
    for who, found in played.items():
        never, default = found["never"], found["H"]
        less = told(paired_difference(default.late, never.late))
        where = [who.world, f"{who.speed:g}", f"{who.half_life:,.0f}"]
        rows.append([*where, never.row[1], never.row[2], never.row[4], *default.row, less])
    header = ["world", "cells per step", "H", "never forgets: least", "end", "end/least"]
    return markdown([*header, "default: first", *ROW[1:], "late error less never's, paired, 95 %"], rows)


def full_table(played: Played) -> str:
    """All that was compared."""
    rows = []
    for who, found in played.items():
        never = found["never"]
        for name, one in found.items():
            error, usual = paired_difference(one.late, never.late), never.worth.mean()
            worth = paired_difference(one.worth / usual, never.worth / usual)
            less = ["–", "–"] if name == "never" else [told(error), told(worth)]
            rows.append([who.world, f"{who.speed:g}", f"{who.half_life:,.0f}", name, *one.row, *less])
    columns = ["world", "cells per step", "H", "half-life", *ROW]
    return markdown([*columns, "late error less never's, paired, 95 %", "covered worth less never's, of it"], rows)


def table_of_others(seeds: range) -> str:
    """What it takes to keep up."""
    rows = []
    for name, who in others():
        read, elsewhere = (f"{share:.0%}" for share in read_lately(who, seeds[:8]))
        where = [who.world, f"{who.speed:g}", f"{who.half_life:,.0f}", name, read, elsewhere]
        rows.append([*where, *play(who, who.belief(), seeds).row])
    header = ["world", "cells per step", "H", "team", "worth read within H", "error elsewhere, of all"]
    return markdown([*header, *ROW], rows)


def draw(played: Played, seeds: range) -> None:
    from matplotlib.figure import Figure

    figure = Figure((11, 6.6), layout="constrained")
    grid = figure.subplots(2, 3, sharex=True, sharey="row")
    for axes, (who, found) in zip(grid.flat, played.items(), strict=True):
        times = np.arange(found["never"].mean.size) * EVERY
        for name, (label, look) in DRAWN.items():
            axes.plot(times, found[name].mean, label=label, zorder=3 if look["linewidth"] == 2 else 2, **look)
            if look["linewidth"] == 2:
                axes.fill_between(times, *found[name].band, color=look["color"], alpha=0.15, linewidth=0, zorder=1)
        half = found["H"].mean[0] / 2
        axes.axhline(half, color="0.5", linestyle=":", linewidth=1.0, label="half of the first error")
        axes.set_title(f"{who.world}, {who.speed:g} cells per step, H = {who.half_life:,.0f}", fontsize=style.TITLE)
        axes.spines[["top", "right"]].set_visible(False)
    for line in grid:
        line[0].set_ylim(bottom=0.0)  # once all is drawn, since it ends the search for the top
        line[0].set_ylabel("relative error Σ|f̂ - f| / Σf")
    for axes in grid[-1]:
        axes.set_xlabel("step")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(
        f"What is believed of a field that drifts: mean over {len(seeds)} seeds with its 95 % interval\n"
        "H: the steps in which a quarter of the field changes",
        fontsize=style.TITLE + 1,
    )
    figure.savefig(HERE / "forgetting.png", dpi=110)


def forget(seeds: range = SEEDS) -> None:
    """The part on drifting fields of the page on beliefs."""
    teams = [team(world, speed) for world in (PAPER, IMAGE) for speed in SPEEDS]
    played = {who: {name: play(who, belief, seeds) for name, belief in who.beliefs().items()} for who in teams}
    (HERE / "forgetting.table.txt").write_text(full_table(played) + "\n", encoding="utf-8")
    draw(played, seeds)
    write("beliefs.md", "forgetting", table(played))
    write("beliefs.md", "looking", table_of_others(seeds))


if __name__ == "__main__":
    forget(range(int(sys.argv[1])) if len(sys.argv) > 1 else SEEDS)
