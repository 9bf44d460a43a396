"""A real browser: Debian's chromium, driven by Playwright. `.ci/run` installs it where it is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import potentia as pt
from potentia.studies.coverage import paper_game, paper_rules
from tests.waiting import PATIENCE, wait_for

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One worker, so that one browser is started."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no chromium; apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS), timeout=1000 * PATIENCE)
        yield started
        started.close()


class Opened:
    """A page in the browser, and what it complained about or asked for."""

    def __init__(self, browser, path, fragment="", script=None, **options):
        self.page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}} | options)
        self.page.set_default_timeout(1000 * PATIENCE)
        self.complaints, self.requests = [], []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        if script:
            self.page.add_init_script(script)
        self.page.goto(f"file://{path}{fragment}")

    def _hear(self, message):
        if "willReadFrequently" not in message.text:  # about the tests, which look at pixels
            self.complaints.append(message.text)

    def ready(self):
        self.page.locator(".pv-controls").wait_for()
        return self

    def ask(self, expression, argument=None):
        """What JavaScript says."""
        return self.page.evaluate(expression, argument)

    def until(self, expression, what):
        """Wait until JavaScript says so; the page's policy forbids Playwright's own way."""
        return wait_for(lambda: self.ask(expression), what)

    def settled(self):
        """Wait until everything is drawn that was asked for."""
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def jump(self, step):
        self.ask("(step) => potentia.viewer.jump(step)", step)
        self.settled()

    @property
    def step(self):
        return self.ask("potentia.clock.step")


@pytest.fixture
def opened(browser):
    """Open pages; at the end nothing was complained about, nothing but the page itself was asked for."""
    pages, excused = [], []

    def open_page(path, fragment="", quiet=True, **options):
        pages.append(Opened(browser, path, fragment, **options))
        excused.append(not quiet)
        return pages[-1]

    yield open_page
    for one, excuse in zip(pages, excused, strict=True):
        complaints, requests = list(one.complaints), [url for url in one.requests if not url.startswith("blob:")]
        one.page.close()
        assert excuse or not complaints, complaints
        assert len(requests) == 1, requests
        assert requests[0].startswith("file://")


RECORD = ("profile", "worth_union", "worth_sum", "moves", "targets_found")


@pytest.fixture(scope="session")
def case_study(tmp_path_factory):
    """Two rules of the paper with a belief, from one seed: traces, recordings and their page."""
    game = paper_game()
    belief = pt.belief("constant", share=0.5, communication={"radius": 6.0})
    options = {"seed": 3, "record": RECORD, "belief": belief}
    traces = {name.upper(): pt.run(game, rule, 600, **options) for name, rule in paper_rules().items()}
    made = {name: trace.recording(beliefs_every=50, optimum=0.23, label=name) for name, trace in traces.items()}
    path = pt.replay(made, tmp_path_factory.mktemp("replay") / "case.html")
    return game, traces, made, path
