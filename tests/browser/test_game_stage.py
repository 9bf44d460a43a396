"""The game stage as the studio shows it: any small game, solved by Python at the other end of a line."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import potentia as pt
from potentia.web.solving import answer
from tests.browser.test_laboratory import at_rest
from tests.waiting import PATIENCE

HOST = "http://stage.test"  # nobody: every request is answered here
PAGE = """<!doctype html><html lang="en"><head><title>game stage</title><meta charset="utf-8">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/viewer/viewer.css">
<link rel="stylesheet" href="/game/game.css"></head>
<body><main class="pv"><h1>A game</h1><div id="host"></div></main>
<script type="module" src="/start.js"></script></body></html>"""
START = """import { createStudioGame } from "/game/in_studio.js";
const scene = %s;
const studio = {
  scene, asked: 0, lost: false,
  async solve(question) {
    studio.asked += 1;
    const { answer, problem } = studio.lost
      ? { problem: "the studio does not answer" }
      : JSON.parse(await askPython(JSON.stringify(question)));
    if (problem) throw new Error(problem);
    return answer;
  },
};
const shown = createStudioGame(document.getElementById("host"), studio);
await shown?.ready;
window.potentia = { studio, shown, stage: shown?.stage };
document.body.dataset.ready = "true";
"""


def python_says(text):
    try:
        return json.dumps({"answer": answer(json.loads(text))}, allow_nan=False)
    except pt.errors.PotentiaError as error:
        return json.dumps({"problem": str(error)})


class Page:
    """What the helpers of the laboratory's tests ask for."""

    def __init__(self, page):
        self.page = page

    def ask(self, expression, argument=None):
        return self.page.evaluate(expression, argument)


@pytest.fixture
def stage(browser):
    """The stage on a scene of the studio; nothing may be complained about."""
    pages, complaints = [], []

    def answer_request(route):
        path = route.request.url.removeprefix(HOST).strip("/")
        if not path:
            return route.fulfill(body=PAGE, content_type="text/html")
        if path == "start.js":
            return route.fulfill(body=START % json.dumps(scenes[-1]), content_type="text/javascript")
        file = resources.files("potentia.web").joinpath(*path.split("/"))
        return route.fulfill(
            body=file.read_bytes(), content_type="text/css" if path.endswith("css") else "text/javascript"
        )

    scenes = []

    def open_stage(game, rule, **options):
        scenes.append({"map": False, "game": game, "rules": [rule]})
        page = browser.new_page(viewport={"width": 1280, "height": 900}, **options)
        pages.append(page)
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.expose_function("askPython", python_says)
        page.route("**/*", answer_request)
        page.goto(HOST + "/")
        page.locator("body[data-ready]").wait_for()
        return Page(page)

    yield open_stage
    for page in pages:
        page.close()
    assert complaints == []


def shares(page):
    return [
        float(bar.get_attribute("aria-label").split(": ")[1].split("\u202f")[0])
        for bar in page.page.locator(".gs-bar").all()
    ]


def test_three_players_on_a_circle(stage):
    spec = {"name": "random-potential", "players": 3, "actions": 2, "seed": 4}
    page = stage(spec, {"rule": "p-sblll", "tau": 0.5, "revision": 0.3})
    game, rule = (
        pt.game(**{"name": "random-potential", "players": 3, "actions": 2, "seed": 4}),
        pt.rule("p-sblll", tau=0.5, revision=0.3),
    )
    assert shares(page) == pytest.approx((100 * pt.analysis.chain(game, rule).stationary()).tolist(), abs=0.051)
    assert page.page.locator(".gs-node").count() == 8
    found = pt.analysis.stability(game, rule)
    page.page.locator(".gs-node").nth(5).focus()
    page.page.keyboard.press("Enter")
    tree = at_rest(page)["tree"]
    assert tree["total"] == pytest.approx(found.stochastic_potential[5])
    assert page.page.locator(".gs-tree").count() == 7
    page.page.get_by_label("rule", exact=True).select_option("lll")
    at_rest(page)
    lll = pt.rule("lll", tau=0.5)
    assert shares(page) == pytest.approx((100 * pt.analysis.chain(game, lll).stationary()).tolist(), abs=0.051)
    assert page.page.locator(".gs-list tbody tr").count() == 8
    assert page.page.locator(".gs-plane").count() == 0
    serious = [one for one in Axe().run(page.page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


def test_three_actions_are_edited_and_followed_in_a_triangle(stage):
    own = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    page = stage({"payoffs": [own.tolist(), own.T.tolist()]}, {"rule": "blll", "tau": 0.5}, color_scheme="dark")
    assert page.page.locator(".gs-plane .gs-who").all_text_contents() == ["player 0", "player 1"]
    assert (
        page.ask("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.gs-wide'))")
        == 0
    )
    plane = page.page.locator(".gs-plane").first
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    page.page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.75)
    start = at_rest(page)["state"]["flow"]["start"]
    assert sum(start[0]) == pytest.approx(1)
    assert start[0][0] == pytest.approx(start[0][1], abs=0.01)
    assert start[1] == pytest.approx([1 / 2, 1 / 3, 1 / 6])
    cell = page.page.get_by_label("payoff of player 0 at (2, 1)")
    cell.fill("3")
    at_rest(page)
    own = own.astype(float)
    changed = own.copy()
    changed[2, 1] = 3
    law = pt.analysis.chain(pt.games.NormalForm([changed, own.T]), pt.rule("blll", tau=0.5)).stationary()
    assert shares(page) == pytest.approx((100 * law).tolist(), abs=0.051)
    page.page.locator("[data-shows=cycle]").evaluate("(button) => { button.closest('details').open = true; }")
    page.page.locator("[data-shows=cycle]").click()
    at_rest(page)
    assert page.page.locator(".gs-path").count() == 4


def test_moves_that_are_constrained_stay_so(stage):
    page = stage({"name": "overlap"}, {"rule": "p-sblll", "tau": 0.2, "revision": 0.3})
    law = pt.analysis.chain(pt.game("overlap"), pt.rule("p-sblll", tau=0.2, revision=0.3)).stationary()
    assert shares(page) == pytest.approx((100 * law).tolist(), abs=0.051)
    assert page.page.locator(".gs-payoffs").count() == 0


def test_what_cannot_be_solved_is_a_sentence_and_a_lost_line_is_told(stage):
    page = stage({"name": "ring"}, {"rule": "lll", "tau": 0.2})
    assert "up to 8 players and 256 profiles" in page.page.locator("#host").inner_text()
    assert "100 players and more than 256 profiles" in page.page.locator("#host").inner_text()
    page = stage({"name": "stag-hunt"}, {"rule": "soql"})
    assert "must be a point of who × considers × chooses" in page.page.locator("#host").inner_text()
    page = stage({"name": "stag-hunt"}, {"rule": "lll", "tau": 0.2})
    page.ask("Object.assign(potentia.studio, { lost: true })")
    page.ask("potentia.stage.change({ tau: 0.4 })")
    assert "does not answer" in page.page.locator(".gs .pv-problem").inner_text()
    page.ask("Object.assign(potentia.studio, { lost: false })")
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("3")
    at_rest(page)
    page.page.locator(".gs-bar").first.click()
    assert at_rest(page)["tree"]["root"] == 0
    page.page.keyboard.press("Escape")
    assert at_rest(page)["tree"] is None
    assert page.page.locator(".gs .pv-problem").is_hidden()
    assert shares(page)[2] == pytest.approx(8.5, abs=0.1)


def test_what_has_no_long_run_and_what_no_tree_leads_to_are_drawn(stage):
    many = np.eye(5).tolist()
    page = stage({"payoffs": [many, many]}, {"rule": "best-response"})
    assert page.page.locator(".gs .pv-problem").is_hidden()
    assert page.page.locator(".gs-bar").count() == 24
    assert "the first 24 of 25 profiles" in page.page.locator(".gs-panel-law").inner_text()
    rule = {"who": "all", "considers": "trial", "chooses": "metropolis"}
    payoffs = [[[2, -2], [-2, 2]], [[0, -2], [-1, 0]]]
    page.ask("(more) => { potentia.stage.change(more); }", {"payoffs": payoffs, "rule": rule, "limit": True})
    answer_now = at_rest(page)["answer"]
    assert None in answer_now["edges"]["resistance"]  # from a transient profile
    shown = page.page.locator(".gs-edges text").all_text_contents()
    assert sorted(shown) == sorted(f"{cost:g}" for cost in answer_now["edges"]["resistance"] if cost is not None)


def test_questions_are_many_only_where_something_changed(stage):
    page = stage({"name": "stag-hunt"}, {"rule": "lll", "tau": 0.2})
    before = page.ask("potentia.studio.asked")
    for key in range(10):
        page.ask("(k) => { potentia.stage.change({ tau: 0.2 + k / 100 }); }", key)
    at_rest(page)
    assert page.ask("potentia.studio.asked") - before <= 11
    assert page.ask("potentia.stage.state.tau") == pytest.approx(0.29)


def _cells(page):
    return page.page.locator(".gs-pair input")


def test_quick_typing_loses_no_cell_whatever_answers_come_meanwhile(stage):
    nothing = np.zeros((2, 3, 3)).tolist()
    page = stage({"payoffs": nothing}, {"rule": "lll", "tau": 0.5})
    page.ask(
        """() => {
          const { studio } = potentia;
          const solve = studio.solve.bind(studio);
          const gate = new Promise((open) => { studio.open = open; });
          studio.solve = (question) => gate.then(() => solve(question));
        }"""
    )
    cells = _cells(page)
    for number in range(18):
        cells.nth(number).fill(f"{number},5" if number % 2 else str(number))
    last = cells.nth(17)
    last.fill("-")  # and not yet a number, while answers come
    page.ask("potentia.studio.open()")
    at_rest(page)
    assert last.input_value() == "-"
    last.fill("17.5")
    assert page.page.locator(".gs-plane .gs-nash").count() == 2 * len(at_rest(page)["answer"]["nash"]) > 0
    typed = [number + 0.5 * (number % 2) for number in range(18)]  # both players of a cell, one after the other
    wanted = [[[typed[6 * a + 2 * b + player] for b in range(3)] for a in range(3)] for player in range(2)]
    assert at_rest(page)["state"]["payoffs"] == wanted
    cells.first.click()
    page.page.keyboard.press("Control+A")
    page.page.keyboard.type("1e308")
    page.page.keyboard.press("Tab")
    assert at_rest(page)["state"]["payoffs"] == wanted
    assert cells.first.input_value() == "0"
    told = page.page.locator(".gs .pv-problem").inner_text()
    page.page.get_by_label("Number of actions of player 0").select_option("2")
    page.page.get_by_label("Number of actions of player 1").select_option("4")
    assert at_rest(page)["state"]["payoffs"] == [[[*row, 0] for row in table[:2]] for table in wanted]
    assert "must be a number from −1e+9 to 1e+9, got 1e308; it is 0 as before." in told


def test_what_is_edited_stays_where_something_else_is_played(stage):
    page = stage({"name": "stag-hunt"}, {"rule": "p-sblll", "tau": 0.2, "revision": 0.3})
    _cells(page).first.fill("7")
    follow = """async (rule) => {
      const { scene } = potentia.studio;
      potentia.shown.follow({ ...scene, rules: [rule] });
      await potentia.shown.ready;
    }"""
    page.ask(follow, {"rule": "p-sblll", "tau": 0.4, "revision": 0.3})
    state = at_rest(page)["state"]
    assert (state["payoffs"][0][0][0], state["tau"]) == (7, 0.4)
    page.ask("potentia.stage.lessons.open(3)")
    page.ask(follow, {"rule": "p-sblll", "tau": 0.4, "revision": 0.9})
    state = at_rest(page)["state"]
    assert (state["lesson"], state["revision"]) == (3, 0.01)
    page.ask("potentia.shown.forget()")
    page.ask(follow, {"rule": "lll", "tau": 0.1})
    state = at_rest(page)["state"]
    assert (state["lesson"], state["payoffs"][0], state["tau"]) == (None, [[4, 0], [3, 3]], 0.1)
