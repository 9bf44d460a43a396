"""A picture of a replay page, taken in a browser: the README shows what people will see."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pages import HERE

import potentia as pt
from potentia.studies.coverage import paper_game, paper_rules

STEPS, SHOWN = 2000, 500


def replay() -> None:
    """Two rules of the case study with beliefs, at one moment."""
    from playwright.sync_api import sync_playwright

    game = paper_game()
    options = {"seed": 0, "record": ("profile", "worth_union"), "belief": pt.belief("split-merge")}
    runs = {name.upper(): pt.run(game, rule, STEPS, **options) for name, rule in paper_rules().items()}
    path = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = pt.replay(runs, Path(folder) / "replay.html", optimum=pt.analysis.optimum(game), title="The case study")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        shown = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        shown.goto(f"file://{page}#step={SHOWN}&robot=3")
        shown.locator("#viewer[data-ready]").wait_for()
        shown.screenshot(path=HERE / "replay.png")
        browser.close()
