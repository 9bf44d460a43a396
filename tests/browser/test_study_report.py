"""The report of a study in a real browser: the replay plays, nothing is asked for, everybody can read it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

import potentia as pt
from tests.browser.conftest import Opened


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rules = [{"name": "p-sblll", "tau": [0.1, 0.3], "revision": 0.3}, {"name": "blll", "tau": [0.1, 0.3]}]
    spec = {"steps": 50, "seeds": 6, "game": [{"name": "double-step"}, {"name": "stag-hunt"}], "rule": rules}
    return pt.sweep(spec, tmp_path_factory.mktemp("report") / "two.study").report()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_it_fits_and_is_read_by_everybody(browser, page, width, scheme):
    opened = Opened(browser, page, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert Axe().run(opened.page).response["violations"] == []
    assert opened.ask("document.documentElement.scrollWidth") == width
    assert opened.requests == [f"file://{page}"]
    assert opened.complaints == []
    ground = opened.ask("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(253, 252, 250)", "dark": "rgb(22, 23, 26)"}[scheme]
    opened.page.close()


def test_the_replay_plays_within_the_policy_of_the_page(browser, page):
    opened = Opened(browser, page)
    frame = opened.page.frame_locator("iframe").first
    opened.page.locator("iframe").first.scroll_into_view_if_needed()
    frame.get_by_role("button", name="One step forward").click()
    assert frame.locator(".pv-step-box input").input_value() == "1"
    assert opened.complaints == []
    opened.page.close()
