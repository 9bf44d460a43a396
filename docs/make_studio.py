"""A picture of the studio and a moving one, taken in a browser: what people will see."""

from __future__ import annotations

import io
import shutil
import threading
from typing import Any

from pages import HERE
from PIL import Image

from potentia.web.studio.answers import Studio
from potentia.web.studio.server import Server
from potentia.web.studio.session import Session
from potentia.web.studio.starts import read_start

STEPS, SHOWN = 2000, 700
MOMENTS = (
    0,
    5,
    10,
    20,
    30,
    45,
    60,
    80,
    100,
    125,
    150,
    175,
    199,
    200,
    230,
    260,
    300,
    340,
    380,
    399,
    400,
    430,
    480,
    540,
    620,
    700,
)
WIDTH, COLOURS, MILLISECONDS, PAUSE = 800, 200, 320, 2500  # of the moving picture
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
    thread = threading.Thread(target=server.serve, args=(bound, ready.set), daemon=True)
    thread.start()
    ready.wait()
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        page.goto(f"{server.link}#step={SHOWN}")
        page.locator("main[data-ready]").wait_for()
        page.screenshot(path=HERE / "studio.png")
        _film([_at(page, moment) for moment in MOMENTS])
        browser.close()
    server.close()
    thread.join()


def _at(page: Any, step: int) -> Image.Image:
    page.keyboard.press("Escape")
    field = page.locator("input.pv-step")
    field.fill(str(step))
    field.press("Enter")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    taken = Image.open(io.BytesIO(page.screenshot()))
    return taken.convert("RGB").resize((WIDTH, taken.height * WIDTH // taken.width), Image.Resampling.LANCZOS)


def _film(frames: list[Image.Image]) -> None:
    """One palette for all frames, so that what stands still does not flicker."""
    width, height = frames[0].size
    sheet = Image.new("RGB", (width, 3 * height))
    for place, frame in enumerate((frames[0], frames[len(frames) // 2], frames[-1])):
        sheet.paste(frame, (0, place * height))
    palette = sheet.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    times = [MILLISECONDS] * (len(drawn) - 1) + [PAUSE]
    drawn[0].save(HERE / "studio.gif", save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True)


if __name__ == "__main__":
    studio()
