"""What people see move: pages in a headless browser, their sizes, and films."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import potentia
from benchmarks.report import Effort, Report, Row
from potentia.games import Coverage, World, random_world
from potentia.studies.coverage import paper_game, paper_rules
from potentia.studies.timing import timed

FRAMES, SCRUB, PAGE, FILM = 30, 0.05, 1_000_000, 30.0  # a second, seconds, bytes, seconds
SECONDS = 4
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")

# Pictures that were drawn while it plays for some seconds, and how long the longest pause between two was.
_PLAYED = """async ([seconds, speed]) => {
  const { viewer, clock } = potentia;
  const stage = viewer.stages[0], draw = stage.draw.bind(stage), times = [];
  stage.draw = () => { draw(); times.push(performance.now()); };
  clock.setSpeed(speed);
  clock.toggle();
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  clock.toggle();
  stage.draw = draw;
  const gaps = times.slice(1).map((time, k) => time - times[k]);
  return { frames: times.length / seconds, longest: Math.max(...gaps), step: clock.step };
}"""
# From asking for a step until it is drawn, without the wait for the screen.
_SCRUBBED = """(steps) => steps.map((step) => {
  const began = performance.now();
  potentia.viewer.jump(step);
  potentia.viewer.stages[0].draw();
  return performance.now() - began;
})"""


def compare(effort: Effort, report: Report) -> None:
    """Add lines about pages and films to the report."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        _size(folder, report)
        _film(folder, effort, report)
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        if path is None:
            report.notes.append("pages in a browser skipped: there is no chromium")
            return
        try:
            from playwright.sync_api import sync_playwright
        except ImportError:
            report.notes.append("pages in a browser skipped: pip install playwright")
            return
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
            _playing(folder, browser, effort, report)
            _scrubbing(folder, browser, effort, report)
            browser.close()


def _size(folder: Path, report: Report) -> None:
    """The paper's experiment with robots that learn the map, both rules, with all that they believe."""
    options: dict[str, Any] = {
        "belief": potentia.belief("split-merge"),
        "record": ("profile", "worth_union", "worth_sum"),
    }
    traces = {name: potentia.run(paper_game(), rule, 2000, **options) for name, rule in paper_rules().items()}
    size = potentia.replay(traces, folder / "paper.html").stat().st_size
    row = Row(
        "a page that replays the paper's run, two rules with beliefs",
        f"{size / 1e6:.2f} MB",
        "–",
        "–",
        f"< {PAGE / 1e6:.0f} MB",
        size < PAGE,
        {"bytes": size},
    )
    report.rows.append(row)


def _film(folder: Path, effort: Effort, report: Report) -> None:
    game = Coverage(random_world(3, size=(200, 200)), 5000, 1.5, flags=False)
    rule = potentia.rule("p-sblll", tau="auto", revision=0.3, guard=True)
    made = potentia.run(game, rule, 1000, record=("profile", "worth_union")).recording()
    times = [timed(lambda: made.film(folder / "film.gif", frames=200)) for _ in range(min(3, effort.repetitions))]
    what = "a film of 5,000 robots on 200×200 cells, 200 pictures"
    told = {"times": times, "bytes": (folder / "film.gif").stat().st_size}
    report.rows.append(Row(what, f"{min(times):.1f} s", "–", "–", f"< {FILM:.0f} s", min(times) < FILM, told))


def _page(browser: Any, path: Path) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"file://{path}")
    page.locator("#viewer[data-ready]").wait_for(timeout=120_000)
    return page


def _playing(folder: Path, browser: Any, effort: Effort, report: Report) -> None:
    """All 500 robots move about all the time."""
    game = Coverage(random_world(3, size=(200, 200)), 500, 2.0, flags=False)
    rule = potentia.rule("p-sblll", tau="auto", revision=0.9, guard=True)
    made = potentia.run(game, rule, 20_000, record=("profile", "worth_union")).recording()
    page = _page(browser, made.replay(folder / "robots.html"))
    found = []
    for _ in range(min(3, effort.repetitions)):
        page.evaluate("potentia.viewer.jump(0)")
        found.append(page.evaluate(_PLAYED, [SECONDS, 1000]))
    best = max(found, key=lambda one: one["frames"])
    what = "playing 1,000 steps a second, 500 robots on 200×200 cells, headless"
    said = f"{best['frames']:.0f} pictures/s, longest pause {best['longest']:.0f} ms"
    report.rows.append(Row(what, said, "–", "–", f"≥ {FRAMES}/s", best["frames"] >= FRAMES, {"found": found}))
    page.close()


def _scrubbing(folder: Path, browser: Any, effort: Effort, report: Report) -> None:
    """More than a million changes, of 2,000 robots and of 100,000, to random steps."""
    for robots, side, steps, revision in ((2_000, 200, 2_500, 0.9), (100_000, 1_000, 400, 0.1)):
        game = Coverage(World(np.random.default_rng(0).random((side, side))), robots, 1.5, flags=False)
        trace = potentia.run(game, potentia.rule("p-sblll", tau=1.0, revision=revision), steps)
        path = trace.replay(folder / f"{robots}.html")
        page = _page(browser, path)
        wanted = np.random.default_rng(1).integers(0, steps + 1, 30).tolist()
        page.evaluate(_SCRUBBED, wanted[:5])
        times = sorted(time / 1e3 for time in page.evaluate(_SCRUBBED, wanted))
        middle, worst = statistics.median(times), times[-1]
        what = f"to a random step of {trace.changes / 1e6:.1f} M changes, {robots:,} robots"
        said = f"{1e3 * middle:.0f} ms, at worst {1e3 * worst:.0f} ms"
        report.rows.append(
            Row(
                what,
                said,
                "–",
                "–",
                f"< {1e3 * SCRUB:.0f} ms",
                worst < SCRUB,
                {"times": times, "bytes": path.stat().st_size},
            )
        )
        page.close()
