"""A picture of the studio, taken in a browser: what people will see."""

from __future__ import annotations

import shutil
import threading

from pages import HERE

from potentia.web.studio.answers import Studio
from potentia.web.studio.server import Server
from potentia.web.studio.session import Session
from potentia.web.studio.starts import read_start

STEPS, SHOWN = 2000, 700
START = {
    "game": {"map": "paper", "robots": 5, "delta": 2.0, "flags": False},
    "rules": [{"rule": "blll", "tau": 5e-4}, {"rule": "p-sblll", "tau": 5e-4, "revision": 0.3}],
    "steps": STEPS,
}


def studio() -> None:
    """Two rules side by side, a wall and a robot that fails."""
    from playwright.sync_api import sync_playwright

    session = Session(read_start(START))
    session.play(SHOWN, 600)
    session.intervene({"kind": "wall", "cells": [[25, y] for y in range(14, 27)]}, 200)
    session.play(SHOWN, 600)
    session.intervene({"kind": "fail", "robot": 2}, 400)
    session.play(SHOWN, 600)
    server = Server(Studio(session))
    server.studio.with_optimum(server.studio.find_optimum())
    bound, ready = server.bind(), threading.Event()
    thread = threading.Thread(target=server.serve, args=(bound, ready.set))
    thread.start()
    ready.wait()
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        page.goto(f"{server.link}#step={SHOWN}")
        page.locator("main[data-ready]").wait_for()
        page.screenshot(path=HERE / "studio.png")
        browser.close()
    server.close()
    thread.join()


if __name__ == "__main__":
    studio()
