"""The studio as it feels: pictures a second while it plays, and how long the first one takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import Effort, Report, Row
from benchmarks.viewer import ARGUMENTS, FRAMES, SECONDS

SPEED = 10_000  # steps a second
FIRST = 1.0  # seconds

# Pictures that were drawn while it plays for some seconds, and the steps that were played meanwhile.
_PLAYED = """async ([seconds, speed]) => {
  const { viewer, clock } = potentia;
  const stage = viewer.stages[0], draw = stage.draw.bind(stage), times = [];
  clock.setSpeed(speed);
  clock.play();
  stage.draw = () => { draw(); times.push(performance.now()); };
  const before = clock.step, began = performance.now();
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  const spent = (performance.now() - began) / 1000, steps = clock.step - before;
  clock.pause();
  stage.draw = draw;
  const gaps = times.slice(1).map((time, k) => time - times[k]);
  return { frames: times.length / spent, speed: steps / spent, longest: Math.max(...gaps) };
}"""
# Play until that many steps a second are played, which they are once the kernel is compiled.
_WARM = """async (speed) => {
  const { clock } = potentia;
  clock.setSpeed(speed);
  clock.play();
  for (let before = 0; clock.step - before < 0.9 * speed; ) {
    before = clock.step;
    await new Promise((done) => setTimeout(done, 1000));
  }
  clock.pause();
}"""
# From the page's beginning until its first picture is on the screen.
_FIRST = (
    """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
)


def compare(effort: Effort, report: Report) -> None:
    """Add lines about the studio to the report."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        report.notes.append("the studio in a browser skipped: there is no chromium")
        return
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        report.notes.append("the studio in a browser skipped: pip install playwright")
        return
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        _playing(browser, Path(directory), effort, report)
        _opening(browser, Path(directory), effort, report)
        browser.close()


class _Studio:
    """The command as people type it, until it is left."""

    def __init__(self, *arguments: str, cache: Path | None = None) -> None:
        command = [Path(sys.executable).with_name("potentia"), "studio", "--no-browser", *arguments]
        changes = {} if cache is None else {"POTENTIA_CACHE_DIR": str(cache)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | changes)

    def __enter__(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


def _page(browser: Any, link: str) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(link)
    page.locator("main[data-ready]").wait_for(timeout=120_000)
    return page


def _map(folder: Path) -> Path:
    import numpy as np

    from potentia.games import random_world

    path = folder / "map.npy"
    np.save(path, random_world(3, size=(200, 200)).worth)
    return path


def _playing(browser: Any, folder: Path, effort: Effort, report: Report) -> None:
    """500 robots on 200×200 cells, while the same two cores play them."""
    options = ("--robots", "500", "--delta", "2", "--rule", "blll", "--steps", "2000000")
    with _Studio(str(_map(folder)), *options) as link:
        page = _page(browser, link)
        page.evaluate(_WARM, SPEED)
        found = [page.evaluate(_PLAYED, [SECONDS, SPEED]) for _ in range(min(3, effort.repetitions))]
    best = max(found, key=lambda one: one["frames"])
    what = f"the studio, {SPEED:,} steps a second, 500 robots on 200×200 cells, headless"
    said = f"{best['frames']:.0f} pictures/s at {best['speed']:,.0f} steps/s, longest pause {best['longest']:.0f} ms"
    held = best["frames"] >= FRAMES and best["speed"] >= 0.95 * SPEED
    report.rows.append(Row(what, said, "–", "–", f"≥ {FRAMES}/s", held, {"found": found}))


def _opening(browser: Any, folder: Path, effort: Effort, report: Report) -> None:
    """From going to the page until its first picture, with no kernel compiled before."""
    times = []
    for turn in range(min(3, effort.repetitions)):
        with _Studio(cache=folder / f"cache{turn}") as link:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            began = time.perf_counter()
            page.goto(link)
            page.locator("main[data-ready]").wait_for(timeout=120_000)
            page.evaluate(_FIRST)
            times.append(time.perf_counter() - began)  # with what Playwright takes
            page.close()
    what = "the studio's first picture after its page is opened, no kernel compiled"
    held = min(times) < FIRST
    report.rows.append(Row(what, f"{min(times):.2f} s", "–", "–", f"< {FIRST:.0f} s", held, {"times": times}))
