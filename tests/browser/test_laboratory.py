"""The 2×2 laboratory: what JavaScript solves is what the library solves; real mouse and keys; who cannot see."""

from __future__ import annotations

import html
import itertools
import json
import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import potentia as pt
from potentia.kernel import memory
from potentia.web.solving import answer, game_of, rule_of

GAMES = 200
NAMED = {
    "lll": ("one", "all", "logit"),
    "blll": ("one", "trial", "logit"),
    "slll": ("independent", "all", "logit"),
    "p-sblll joint": ("independent", "joint-trial", "logit"),
    "p-sblll unilateral": ("independent", "trial", "logit"),
    "p-sblll guard": ("independent", "joint-trial", "logit"),
    "best-response": ("one", "all", "best"),
    "better-reply": ("one", "all", "better"),
    "metropolis": ("one", "trial", "metropolis"),
    "mistakes": ("one", "all", "mistakes"),
}
ASK = "async (text) => JSON.stringify(await Promise.all(JSON.parse(text).map((message) => potentia.ask(message))))"


def axes(who, considers, chooses, **more):
    plain = {"guard": False, "include_current": False, "ties": "uniform", "inertia": 0.0}
    return {"who": who, "considers": considers, "chooses": chooses, **plain, **more}


def compositions():
    """Every point of the map that the page has, with every option."""
    for who, considers, chooses, guard in itertools.product(
        ("one", "independent", "all"),
        ("all", "trial", "joint-trial"),
        ("logit", "best", "better", "mistakes", "metropolis"),
        (False, True),
    ):
        if (who == "one" and guard) or (considers == "all" and chooses == "metropolis"):
            continue
        yield axes(who, considers, chooses, guard=guard)
        if considers != "all":
            yield axes(who, considers, chooses, guard=guard, include_current=True)
        if chooses == "best":
            yield axes(who, considers, chooses, guard=guard, ties="stay")
        if chooses == "better":
            yield axes(who, considers, chooses, guard=guard, inertia=0.3)


def random_payoffs(number, rng):
    """Of all sorts: without ties, with many, with a potential, separable, all the same."""
    kind = number % 5
    if kind == 0:
        return rng.standard_normal((2, 2, 2))
    if kind == 1:
        return rng.integers(-3, 4, (2, 2, 2)) / 10
    if kind == 2:
        return np.asarray(pt.games.random_potential_game((2, 2), number).payoffs)
    phi = rng.integers(-2, 3, (2, 2))
    if kind == 3:
        return np.stack([phi + rng.integers(-2, 3, (1, 2)), phi + rng.integers(-2, 3, (2, 1))])
    return np.stack(
        [np.broadcast_to(rng.integers(0, 3, (2, 1)), (2, 2)), np.broadcast_to(rng.integers(0, 3, 2), (2, 2))]
    )


def question(payoffs, rule, rng):
    tau, revision = float(rng.choice([0.05, 0.3, 1.0])), float(rng.choice([0.1, 0.5, 0.9]))
    return {"ask": "solve", "payoffs": payoffs.tolist(), "rule": rule, "tau": tau, "revision": revision}


@pytest.fixture(scope="module")
def page_path(tmp_path_factory):
    return pt.web.laboratory(tmp_path_factory.mktemp("lab") / "lab.html")


@pytest.fixture
def lab(opened, page_path):
    def open_lab(fragment="", **options):
        page = opened(page_path, fragment, **options)
        page.page.locator("main[data-ready]").wait_for()
        return page

    return open_lab


def asked(page, messages):
    """What the page answers; as texts, which Playwright hands on much faster than objects."""
    return json.loads(page.ask(ASK, json.dumps(messages)))


def at_rest(page):
    page.ask("potentia.stage.settled()")
    return page.ask("({ state: potentia.stage.state, answer: potentia.stage.answer, tree: potentia.stage.tree })")


# Solved as the library does ------------------------------------------------------------------------------


def agrees(message, told):
    """Whether law and stable set are the library's."""
    game, rule = game_of(message), rule_of(message)
    chain = pt.analysis.chain(game, rule)
    if [part.tolist() for part in chain.classes] != told["classes"]:
        return False
    if (told["law"] is None) != (len(chain.classes) > 1):
        return False
    if told["law"] is not None and not np.allclose(chain.stationary(), told["law"], rtol=0, atol=1e-9):
        return False
    if not hasattr(rule, "tau") or told["law"] is None:
        return told["stability"] is None
    found = pt.analysis.stability(game, rule)
    table, edges = found.resistances(), told["edges"]
    exact = dict(zip(zip(table.sources.tolist(), table.targets.tolist(), strict=True), table.exact, strict=True))
    costs = zip(zip(edges["from"], edges["to"], strict=True), edges["resistance"], strict=True)
    known = {pair: cost for pair, cost in costs if cost is not None}
    potentials = [np.inf if cost is None else cost for cost in told["stability"]["potentials"]]
    return (
        exact.keys() == known.keys()
        and all(abs(exact[pair] - known[pair]) <= 1e-9 for pair in exact)
        and np.flatnonzero(found.stable).tolist() == told["stability"]["stable"]
        and np.allclose(found.limit, told["stability"]["limit"], rtol=0, atol=1e-9)
        and np.allclose(found.stochastic_potential, potentials, rtol=0, atol=1e-9)
    )


def test_laws_resistances_and_stable_sets_of_200_games_under_every_rule(lab, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1 << 33)  # asking the system each time takes half of the test
    rng = np.random.default_rng(2024)
    games = [random_payoffs(number, rng) for number in range(GAMES)]
    rules = {name: axes(*words, guard="guard" in name) for name, words in NAMED.items()}
    messages = [question(payoffs, rule, rng) for payoffs in games for rule in rules.values()]
    answers = asked(lab(), messages)
    assert [m for m, told in zip(messages, answers, strict=True) if not agrees(m, told)] == []
    # a control: the answers about the next game are other ones
    beyond = len(rules)
    wrong = [agrees(m, told) for m, told in zip(messages[:200], answers[beyond : 200 + beyond], strict=True)]
    assert sum(wrong) < 20


def same(one, other):
    """Equal, numbers up to rounding."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= 1e-9 * max(1.0, abs(one))
    return one == other


def test_every_composition_is_answered_as_by_python(lab, monkeypatch):
    """All that is told, audit rows, findings and the counterexamples' sentences included."""
    monkeypatch.setattr(memory, "available", lambda: 1 << 33)
    rng = np.random.default_rng(7)
    rules = list(compositions())
    assert len(rules) > 130
    messages = [question(random_payoffs(number, rng), rule, rng) for number, rule in enumerate(rules)]
    double = axes("independent", "joint-trial", "logit")
    messages += [
        question(np.asarray(pt.game(name).payoffs), double, rng) for name in ("double-step", "matching-pennies")
    ]
    answers = asked(lab(), messages)
    shown = 0
    for message, told in zip(messages, answers, strict=True):
        python = json.loads(json.dumps(answer(message)))
        for part in (python, told):
            del part["trouble"], part["audit"]["summary"]  # in words of their own
        del python["rule"]["text"]
        assert same(python, told), (message, python, told)
        shown += "promise" in told["counterexamples"]
        wrong = {**python, "nash": [*python["nash"], 0]}
        assert not same(wrong, told)
    assert shown > 5


def test_trees_cost_what_they_should(lab):
    rng = np.random.default_rng(3)
    messages = []
    for number, words in enumerate(NAMED.values()):
        if words[2] not in ("best", "better"):
            one = question(random_payoffs(number, rng), axes(*words), rng)
            messages += [{**one, "ask": "tree", "root": root} for root in range(4)]
    for message, told in zip(messages, asked(lab(), messages), strict=True):
        found = answer(message)
        assert told["total"] == pytest.approx(found["total"], abs=1e-9)
        assert sum(told["resistance"]) == pytest.approx(found["total"], abs=1e-9)
        for place in range(4):
            for _ in range(4):
                place = told["parent"][place] if told["parent"][place] >= 0 else place  # noqa: PLW2901
            assert place == message["root"]


def test_score_dynamics_are_the_librarys(lab):
    rng = np.random.default_rng(11)
    messages = []
    for number in range(10):
        x, y = rng.uniform(0.05, 0.95, 2)
        flow = {
            "tau": float(rng.choice([0.3, 1.0])),
            "discount": float(rng.choice([0.0, 0.4])),
            "order": 1 + number % 2,
        }
        payoffs = random_payoffs(number % 3, rng).tolist()
        start = [[x, 1 - x], [y, 1 - y]]
        messages.append(
            {"ask": "trajectory", "payoffs": payoffs, **flow, "start": start, "horizon": 20.0, "points": 41}
        )
        messages.append({"ask": "portrait", "payoffs": payoffs, **flow, "grid": 5})
    for message, told in zip(messages, asked(lab(), messages), strict=True):
        python = answer(message)
        if message["ask"] == "trajectory":
            assert np.allclose(python["strategies"], told["strategies"], rtol=0, atol=1e-7)
            other = answer({**message, "order": 3 - message["order"]})
            assert not np.allclose(other["strategies"], told["strategies"], rtol=0, atol=1e-7)
            continue
        assert np.allclose(sorted(python["equilibria"]), sorted(told["equilibria"]))
        assert (python["field"] is None) == (told["field"] is None)
        if told["field"]:
            assert all(np.allclose(python["field"][key], told["field"][key]) for key in python["field"])


# By mouse and keyboard -----------------------------------------------------------------------------------


def bars(page):
    """Shares as shown, by profile."""
    rows = page.page.locator(".gs-bar").all()
    texts = [(row.locator(".gs-bar-name").inner_text(), row.locator(".gs-bar-share").inner_text()) for row in rows]
    return {name.split(" ★")[0]: float(re.sub(r"[^\d.]", "", share)) for name, share in texts}


def law_of(page):
    state = page.ask("potentia.stage.state")
    message = {name: state[name] for name in ("payoffs", "rule", "tau", "revision")}
    law = pt.analysis.chain(game_of(message), rule_of(message)).stationary()
    return dict(zip(("(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"), 100 * law, strict=True))


def test_everything_is_changed_by_keyboard_and_what_is_shown_is_the_librarys(lab):
    page = lab()
    web = page.page
    assert bars(page) == pytest.approx(law_of(page), abs=0.051)
    cell = web.get_by_label("payoff of player 0 at (0, 1)")
    cell.focus()
    web.keyboard.press("Control+a")
    web.keyboard.type("2.5")
    at_rest(page)
    assert page.ask("potentia.stage.state.payoffs[0][0][1]") == 2.5
    assert bars(page) == pytest.approx(law_of(page), abs=0.051)
    tau = web.get_by_label("temperature τ; the leftmost is τ → 0")
    tau.focus()
    for _ in range(12):
        web.keyboard.press("ArrowRight")
    at_rest(page)
    assert page.ask("potentia.stage.state.tau") > 0.3
    revision = web.get_by_label("revision probability", exact=True)
    revision.focus()
    web.keyboard.press("PageUp")
    at_rest(page)
    assert page.ask("potentia.stage.state.revision") > 0.3
    assert bars(page) == pytest.approx(law_of(page), abs=0.051)
    for axis, word in (("considers", "trial"), ("chooses", "mistakes"), ("who", "all")):
        web.get_by_label(axis, exact=True).select_option(word)
        at_rest(page)
        assert page.ask(f"potentia.stage.state.rule.{axis}") == word
        assert bars(page) == pytest.approx(law_of(page), abs=0.051)
    web.get_by_label("rule", exact=True).select_option("better-reply")
    at_rest(page)
    assert web.get_by_label("temperature τ; the leftmost is τ → 0").is_hidden()
    assert "no noise" in web.locator(".gs-summary").inner_text()
    assert "Without noise" in web.locator(".gs-caption").inner_text()


def test_cold_enough_it_is_the_stable_set(lab):
    page = lab()
    web = page.page
    web.get_by_label("temperature τ; the leftmost is τ → 0").focus()
    web.keyboard.press("Home")
    found = at_rest(page)
    assert found["state"]["limit"]
    assert bars(page) == {"(0, 0)": 0, "(0, 1)": 100, "(1, 0)": 0, "(1, 1)": 0}
    radii = [float(disc.get_attribute("r")) for disc in web.locator(".gs-disc").all()]
    assert np.count_nonzero(radii) == 1
    assert "The promise is broken" in web.locator(".gs-verdict").inner_text()
    web.get_by_label("guard: no two that interact at once").check()
    at_rest(page)
    assert bars(page)["(1, 0)"] == 100
    assert "The promise holds" in web.locator(".gs-verdict").inner_text()
    web.keyboard.press("0")
    assert not at_rest(page)["state"]["limit"]


def test_a_tree_of_any_root_by_mouse_and_by_keys(lab):
    page = lab()
    web = page.page
    double = pt.game("double-step")
    stable = pt.analysis.stability(double, pt.rule("p-sblll", tau=0.3, revision=0.3))
    for place, node in enumerate(web.locator(".gs-node").all()):
        node.click()
        tree = at_rest(page)["tree"]
        assert tree["root"] == place
        assert tree["total"] == pytest.approx(stable.stochastic_potential[place])
        assert web.locator(".gs-tree").count() == 3
        assert f"costs {tree['total']:g}" in web.locator(".gs-caption").inner_text()
    web.keyboard.press("Escape")
    assert at_rest(page)["tree"] is None
    web.locator(".gs-node").first.focus()
    web.keyboard.press("ArrowDown")
    web.keyboard.press("Enter")
    assert at_rest(page)["tree"]["root"] == 2
    web.keyboard.press("Enter")
    assert at_rest(page)["tree"] is None
    web.locator(".gs-bar").nth(1).click()
    assert at_rest(page)["tree"]["root"] == 1


def test_the_counterexample_is_played_in_words_and_on_the_graph(lab):
    page = lab()
    web = page.page
    web.get_by_role("button", name="Show how").click()
    at_rest(page)
    expected = answer(
        {
            "ask": "solve",
            **page.ask(
                "(({ payoffs, rule, tau, revision }) => ({ payoffs, rule, tau, revision }))(potentia.stage.state)"
            ),
        }
    )
    step = expected["counterexamples"]["promise"]["step"]
    words = web.locator(".gs-step-words li")
    for count in range(1, len(step["words"]) + 1):
        assert words.all_inner_texts() == step["words"][:count]
        if count == 2:
            assert web.locator(".gs-tried[data-edge='2-1']").count() == 1
        if count < len(step["words"]):
            web.get_by_role("button", name="Next").focus()
            web.keyboard.press("Enter")
    assert web.locator(".gs-path[data-edge='2-1']").count() == 1
    assert f"{step['probability']:.6g}" in web.locator(".gs-step").inner_text()
    web.get_by_role("button", name="Close").click()
    at_rest(page)
    assert web.locator(".gs-step").is_hidden()
    web.locator(".gs-finding .gs-show").click()
    at_rest(page)
    assert "Eq. 12 says" in web.locator(".gs-step h3").inner_text()


def costs(page, place):
    """What the tree costs that a press on a bar shows."""
    page.page.locator(".gs-bar").nth(place).click()
    return at_rest(page)["tree"]["total"]


LESSONS = {
    "1": lambda page: bars(page)["(1, 1)"] < 45,
    "2": lambda page: costs(page, 0) == 3 > costs(page, 3) == 1,
    "3": lambda page: bars(page)["(1, 0)"] == 8.5,
    "4": lambda page: bars(page)["(1, 0)"] == 75.7,
    "5": lambda page: "QL is at 0.6667, 1, SOQL at 1, 1" in page.page.locator(".gs-panel-flow").inner_text(),
}


def test_lessons_say_what_is_so(lab):
    page = lab()
    for key, holds in LESSONS.items():
        page.page.keyboard.press(key)
        at_rest(page)
        assert holds(page), key
        assert page.page.locator(".gs-lesson").is_visible()
    page.page.keyboard.press("3")
    at_rest(page)
    page.page.get_by_label("considers", exact=True).select_option("trial")
    at_rest(page)
    assert bars(page)["(1, 0)"] > 50
    page.page.get_by_role("button", name="4 What").click()
    at_rest(page)
    number = page.page.get_by_label("revision probability as a number")
    number.fill("0.5")
    number.press("Enter")
    at_rest(page)
    assert bars(page)["(1, 0)"] == 8.5


def test_the_lesson_on_scores_is_about_scores_and_true_from_everywhere(lab):
    page = lab()
    page.page.keyboard.press("5")
    at_rest(page)
    assert [page.page.locator(f".gs-panel-{name}").is_visible() for name in ("game", "flow", "graph", "law")] == [
        *(True, True, False, False)
    ]
    message = {"ask": "trajectory", "payoffs": page.ask("potentia.stage.state.payoffs"), "tau": 1.0, "discount": 0.0}
    ends = {1: [], 2: []}
    for order, share in itertools.product(ends, (0.1, 0.25, 0.75)):
        start = [[share, 1 - share], [0.5, 0.5]]
        told = answer({**message, "order": order, "start": start, "horizon": 400.0, "points": 2})
        ends[order].append(told["strategies"][0][-1][0])
    assert np.diff(ends[1]).min() > 0.1
    assert ends[2] == pytest.approx([1, 1, 1])
    page.page.keyboard.press("1")
    at_rest(page)
    assert page.page.locator(".gs-panel-graph").is_visible()


def test_in_the_limit_no_temperature_is_told(lab):
    page = lab()
    assert "At τ = 0.3 the long run" in page.page.locator(".gs-summary").inner_text()
    page.page.keyboard.press("0")
    at_rest(page)
    assert "At τ" not in page.page.locator(".gs-summary").inner_text()
    number = page.page.get_by_label("temperature τ as a number")
    assert (number.input_value(), number.get_attribute("placeholder")) == ("", "→ 0")
    number.fill("0.4")
    number.press("Enter")
    assert at_rest(page)["state"]["limit"] is False


def test_lines_start_where_one_presses(lab):
    page = lab()
    plane = page.page.locator(".gs-plane")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    page.page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.8)
    found = at_rest(page)
    (x, _), (y, _) = found["state"]["flow"]["start"]
    assert (x, y) == (pytest.approx(0.81, abs=0.02), pytest.approx(0.125, abs=0.02))
    assert page.page.locator("path.gs-flow").count() == 4  # two orders, two starts
    wanted = {"ask": "trajectory", "payoffs": found["state"]["payoffs"], "start": [[x, 1 - x], [y, 1 - y]]}
    ends = answer({**wanted, "tau": 1.0, "discount": 0.0, "order": 1, "horizon": 40.0, "points": 2})["strategies"]
    shown = page.page.locator(".gs-panel-flow").inner_text()
    assert f"QL is at {round(ends[0][-1][0], 4):g}, {round(ends[1][-1][0], 4):g}" in shown
    page.page.get_by_label("start: player 0, action 0").fill("0.2")
    page.page.keyboard.press("Enter")
    assert at_rest(page)["state"]["flow"]["start"][0] == pytest.approx([0.2, 0.8])


# Bad input, links, and who cannot see --------------------------------------------------------------------


def test_a_number_that_is_none_is_told_and_the_game_is_kept(lab):
    page = lab()
    cell = page.page.get_by_label("payoff of player 1 at (1, 1)")
    for bad in ("", "1e99"):
        cell.fill(bad)
        assert "must be a number" in page.page.locator(".gs .pv-problem").inner_text()
    cell.blur()
    assert cell.input_value() == "0"
    number = page.page.get_by_label("temperature τ as a number")
    for bad in ("-1", "0", ""):
        number.fill(bad)
        number.press("Enter")
        assert number.input_value() == "0.3"


def test_a_link_holds_the_state(lab):
    page = lab()
    page.page.keyboard.press("2")
    assert at_rest(page)["tree"] is None  # it is for people to press
    page.page.locator(".gs-bar").first.click()
    at_rest(page)
    page.until(
        "location.hash.includes('state=') && decodeURIComponent(location.hash).includes('\"root\":0')", "the link"
    )
    again = lab(page.ask("location.hash"))
    assert at_rest(again) == at_rest(page)
    assert again.page.get_by_role("button", name="2 Stoch").get_attribute("aria-pressed") == "true"
    assert "whose cheapest tree" in again.page.locator(".gs-lesson").inner_text()
    for cut in ("#state=%7B%22tau", '#state={"tau":-3}', '#state={"payoffs":[[[1]]]}', '#state={"rule":{"who":"one"}}'):
        other = lab(cut)
        assert "cannot be read" in other.page.locator("[role=alert]").first.inner_text()
        assert at_rest(other)["state"]["tau"] == 0.3


@pytest.mark.parametrize(
    ("width", "scheme", "lesson"), [(1280, "light", "3"), (1280, "dark", "2"), (400, "dark", "5"), (800, "light", "4")]
)
def test_axe_finds_nothing_serious(lab, width, scheme, lesson):
    page = lab(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.page.keyboard.press(lesson)
    at_rest(page)
    if lesson != "5":  # which is about scores only
        page.page.locator("details summary").click()
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page.page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []


def test_focus_is_seen(lab):
    page = lab()
    page.page.locator(".gs-node").first.focus()
    page.page.keyboard.press("ArrowRight")
    ring = page.page.locator(".gs-node").nth(1).locator(".gs-ring")
    assert ring.evaluate("(ring) => getComputedStyle(ring).strokeWidth") == "5px"
    page.page.keyboard.press("t")
    assert page.ask("document.documentElement.dataset.theme") == "dark"


def test_in_a_frame_without_an_address_as_in_the_report(opened, page_path, tmp_path):
    frame = html.escape(page_path.read_text("utf-8"))
    whole = tmp_path / "report.html"
    whole.write_text(f'<iframe srcdoc="{frame}" sandbox="allow-scripts" width="1200" height="800"></iframe>', "utf-8")
    page = opened(whole)
    inside = page.page.frame_locator("iframe")
    inside.locator("main[data-ready]").wait_for()
    inside.get_by_role("button", name="4 What").click()
    law = pt.analysis.chain(pt.game("double-step"), pt.rule("p-sblll", tau=0.3, revision=0.01)).stationary()
    inside.get_by_text(f"hold {100 * law[2]:.1f}").wait_for()
