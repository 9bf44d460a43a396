"""A studio in a thread of the test, and a page of it that listens for complaints."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from potentia.web.studio.answers import Studio
from potentia.web.studio.server import Server
from potentia.web.studio.session import Session
from potentia.web.studio.starts import read_start
from tests.waiting import PATIENCE, wait_for

GAME = {"map": "paper", "robots": 4, "delta": 1.5, "flags": False}
RULES = ({"rule": "blll", "tau": 5e-4}, {"rule": "p-sblll", "tau": 5e-4, "revision": 0.3})


def start_of(*rules, **changes):
    return read_start({"game": GAME, "rules": list(rules or RULES[:1]), "seed": 3, "steps": 2000} | changes)


@contextmanager
def served(session, **options):
    """A server that answers; it is closed at the end."""
    server = Server(Studio(session, **options))
    bound, ready = server.bind(), threading.Event()
    thread = threading.Thread(target=server.serve, args=(bound, ready.set))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield server
    finally:
        server.close()
        thread.join(PATIENCE)


class Page:
    """A page of a studio, and what it complained about or asked for."""

    def __init__(self, browser, server, fragment="", **options):
        self.server = server
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(server.link + fragment)
        self.page.locator("main[data-ready]").wait_for()

    @property
    def session(self):
        return self.server.studio.session

    def ask(self, expression, argument=None):
        return self.page.evaluate(expression, argument)

    def until(self, expression, what, argument=None):
        return wait_for(lambda: self.ask(expression, argument), what)

    def version(self, number):
        """Wait until the page shows the session after so many changes."""
        self.until("(number) => potentia.studio.scene.version >= number", f"version {number}", number)

    def doing(self, action):
        """Do something, and wait until the page shows what came of it."""
        before = self.ask("potentia.studio.scene.version")
        action()
        self.version(before + 1)

    def play_to(self, step):
        """Type a step that lies ahead: it is played, and shown."""
        self.page.locator(".pv-step-box input").fill(str(step))
        self.page.keyboard.press("Enter")
        self.until("(step) => potentia.clock.step === step", f"step {step}", step)

    def settled(self):
        """Wait until everything is drawn that was asked for."""
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def cell(self, x, y, stage=0):
        """Where a cell's middle is on the screen."""
        return self.ask(
            """([x, y, k]) => {
              const { canvas, layout } = potentia.viewer.stages[k];
              const box = canvas.getBoundingClientRect();
              return [box.left + layout.x(x + 0.5), box.top + layout.y(y + 0.5)];
            }""",
            [x, y, stage],
        )

    def robot(self, robot, stage=0):
        """The cell that a robot is drawn on."""
        return self.ask(
            """([robot, k]) => {
              const state = potentia.mapStates[k];
              const cell = state.cellOf(robot);
              return [cell % state.columns, Math.floor(cell / state.columns)];
            }""",
            [robot, stage],
        )

    def positions(self, stage=0):
        count = self.ask("(k) => potentia.mapStates[k].robots", stage)
        return [self.robot(robot, stage) for robot in range(count)]

    def drag(self, *cells):
        """Press on the first cell, go over the others, let go."""
        mouse = self.page.mouse
        mouse.move(*self.cell(*cells[0]))
        mouse.down()
        for cell in cells[1:]:
            mouse.move(*self.cell(*cell), steps=4)
        mouse.up()

    def tool(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def close(self):
        self.context.close()


def session_of(*rules, **changes):
    return Session(start_of(*rules, **changes))
