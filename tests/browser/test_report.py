"""The report in a browser: what moves, what is filtered, its room at every width, and what it is to a screen reader."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from potentia.paper.report.definitions import TAUS, shares
from tests import reproduction_fakes as fakes
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(fakes.built()[3], "utf-8")
    return path


def open_all(page):
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


_CUT = """() => [...document.querySelectorAll("body *")].filter((node) => node.offsetParent && !node.closest(".unseen"))
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1 && !node.closest(".paper"))
  .map((node) => `${node.tagName} ${node.textContent.slice(0, 40)}`)"""


@pytest.mark.parametrize(("width", "media"), [(400, "screen"), (1280, "screen"), (688, "print")])  # A4 within margins
def test_nothing_is_cut(opened, report, width, media):
    page = opened(report, viewport={"width": width, "height": 900})
    page.page.emulate_media(media=media)
    open_all(page)
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask(_CUT) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(opened, report, scheme):
    page = opened(report, color_scheme=scheme)
    page.ask("document.querySelectorAll('iframe').forEach((one) => one.remove())")  # which have tests of their own
    open_all(page)
    found = Axe().run(page.page)
    serious = [one for one in found.response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


def test_two_profiles_move_with_the_temperature(opened, report):
    """As the exact law has it, at every temperature of the table."""
    page = opened(report)
    box = page.page.locator("#two-profiles")
    assert box.is_visible()
    for tau in (TAUS[0], TAUS[1], TAUS[2]):
        page.ask(
            """(tau) => { const slider = document.getElementById("two-tau"); slider.step = "any";
              slider.value = Math.log10(tau); slider.dispatchEvent(new Event("input")); }""",
            tau,
        )
        told = [float(text.removesuffix(" %")) for text in box.locator(".bar output").all_inner_texts()]
        assert told == pytest.approx([100 * share for share in shares(tau)], abs=0.051)
        widths = page.ask("[...document.querySelectorAll('.fill')].map((one) => parseFloat(one.style.width))")
        assert widths == pytest.approx(told, abs=0.051)


def test_claims_are_filtered_by_verdict_and_a_link_shows_one_again(opened, report):
    page = opened(report)

    def rows():
        return page.page.locator(".claims .claim:visible").count()

    assert rows() == 3
    page.page.locator("#filter button", has_text="not supported").click()
    assert rows() == 1
    assert page.page.locator(".claims .group:visible").count() == 1  # no heading over nothing
    assert page.page.locator("#filtered").inner_text() == "1 of 3 claims shown"
    page.page.locator("#told-faster summary").click()
    page.page.locator("#told-faster a").click()
    page.until("!document.getElementById('claim-faster').hidden", "the claim that was linked to")
    assert rows() == 3
    evidence = page.page.locator("#told-general")
    assert evidence.get_attribute("open") is None
    page.page.locator("#claim-general").get_by_role("link").click()
    page.until("document.getElementById('told-general').open", "the evidence that was linked to")


def test_the_first_picture_moves_and_is_still_without_scripts_and_on_paper(opened, report, browser):
    page = opened(report)
    page.settled()
    frame = page.page.frame_locator("iframe").first
    frame.locator(".pv-controls").wait_for()  # its script runs under the page's policy
    assert not page.page.locator(".still").is_visible()
    page.page.locator("#theme").click()  # and its colours follow the page's
    theme = frame.locator("html")
    wait_for(lambda: theme.get_attribute("data-theme") == "dark", "the frame to be dark")
    page.page.emulate_media(media="print")
    assert page.page.locator(".still").is_visible()
    assert page.complaints == []
    assert page.requests == [f"file://{report}"]
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"file://{report}")
    assert plain.locator(".still").is_visible()
    assert not plain.locator("iframe").first.is_visible()
    assert plain.locator(".claims .claim").count() == 3
    assert plain.locator("#filter button").first.is_disabled()
    context.close()
