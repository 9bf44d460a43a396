"""Pictures of a replay page and of the laboratory, taken in a browser: the docs show what people will see."""

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
    game = paper_game()
    options = {"seed": 0, "record": ("profile", "worth_union"), "belief": pt.belief("split-merge")}
    runs = {name.upper(): pt.run(game, rule, STEPS, **options) for name, rule in paper_rules().items()}
    with tempfile.TemporaryDirectory() as folder:
        page = pt.replay(runs, Path(folder) / "replay.html", optimum=pt.analysis.optimum(game), title="The case study")
        _show(page, f"#step={SHOWN}&robot=3", "replay.png")


def laboratory() -> None:
    """The lesson about joint trials, two sentences into its step."""
    with tempfile.TemporaryDirectory() as folder:
        page = pt.web.laboratory(Path(folder) / "laboratory.html")
        _show(page, "", "laboratory.png", ("3",), ".gs-next", 1060)


def _show(
    page: Path, fragment: str, picture: str, keys: tuple[str, ...] = (), press: str = "", height: int = 900
) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        shown = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme="light")
        shown.goto(f"file://{page}{fragment}")
        shown.locator("#viewer[data-ready]").wait_for()
        for key in keys:
            shown.keyboard.press(key)
        if press:
            shown.locator(press).click()
            shown.evaluate("scrollTo(0, 0)")
        shown.screenshot(path=HERE / picture)
        browser.close()
