"""The studio as people use it: real mouse and keys, and every run against the library's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import potentia as pt
from potentia.web.studio.measuring import measured
from potentia.web.studio.recorded import recording_of
from potentia.web.studio.starts import game_of
from tests.browser.test_replay import told
from tests.studios import GAME, RULES, Page, served, session_of
from tests.waiting import wait_for


@pytest.fixture
def studio(browser):
    """Open pages of a studio; at the end nothing was complained about, and nobody else was asked for anything."""
    opened, servers = [], []

    def open_studio(session, fragment="", excused=False, **options):
        manager = served(session)
        servers.append(manager)
        opened.append((Page(browser, manager.__enter__(), fragment, **options), excused))
        return opened[-1][0]

    def also(page, fragment="", excused=False, **options):
        opened.append((Page(browser, page.server, fragment, **options), excused))
        return opened[-1][0]

    open_studio.also = also
    yield open_studio
    try:
        for page, excused in opened:
            assert excused or not page.complaints, page.complaints
            foreign = [
                url
                for url in page.requests
                if not url.startswith((f"http://127.0.0.1:{page.server.port}/", "data:", "blob:"))
            ]
            assert not foreign
    finally:
        for page, _ in opened:
            page.close()
        for manager in servers:
            manager.__exit__(None, None, None)


def trace_of(rule, steps, seed=3, horizon=2000, **options):
    run = pt.begin(game_of(GAME), rule, seed, horizon=horizon, **options)
    return run.advance(steps).trace()


def cells(game, profile):
    return [list(map(int, cell)) for cell in game.positions(profile)]


def test_two_rules_side_by_side_are_two_runs(studio):
    page = studio(session_of(*RULES))
    page.play_to(400)
    game = game_of(GAME)
    traces = [trace_of(rule, 400) for rule in RULES]
    for k, trace in enumerate(traces):
        assert page.positions(k) == cells(game, trace.final)
    for step in (1, 57, 230, 399):
        page.play_to(step)
        for k, trace in enumerate(traces):
            assert page.positions(k) == cells(game, trace.profiles[step])
    apart = next(k for k in range(401) if (traces[0].profiles[k] != traces[1].profiles[k]).any())
    page.page.get_by_role("button", name=re.compile("they part")).click()
    assert page.ask("potentia.clock.step") == apart
    shown = page.ask("potentia.timelines.map((timeline) => timeline.valueAt('worth_union', 400))")
    for value, trace in zip(shown, traces, strict=True):
        assert value == pytest.approx(pt.engine.evaluate(game, trace.final)["worth_union"])


def test_it_plays_by_itself_pauses_and_goes_back(studio):
    page = studio(session_of())
    page.page.keyboard.press("+")
    page.page.keyboard.press("Space")
    page.until("potentia.clock.step > 30 && potentia.clock.playing", "that it plays")
    page.page.get_by_role("button", name="Pause").click()
    step = page.ask("potentia.clock.step")
    assert page.positions() == cells(game_of(GAME), trace_of(RULES[0], step).final)
    page.page.keyboard.press("Home")
    assert page.positions() == cells(game_of(GAME), trace_of(RULES[0], 0).start)
    page.page.keyboard.press("End")
    assert page.ask("potentia.clock.step") == page.ask("potentia.clock.limit") >= step


def test_every_tool_by_mouse_is_what_the_log_says(studio, tmp_path):
    page = studio(session_of(*RULES, steps=400))
    page.play_to(40)
    page.tool("Paint worth")
    page.doing(lambda: page.drag((3, 3), (6, 3)))
    page.tool("Draw walls")
    page.doing(lambda: page.drag((0, 36), (3, 36)))
    page.tool("Drag a robot")
    page.doing(lambda: page.drag(page.robot(1), (20, 5)))
    page.play_to(60)
    page.tool("Add a robot")
    page.doing(lambda: page.page.mouse.click(*page.cell(8, 8)))
    page.tool("Let a robot fail")
    page.doing(lambda: page.page.mouse.click(*page.cell(*page.robot(2))))
    page.play_to(80)
    page.tool("Remove a robot")
    page.doing(lambda: page.page.mouse.click(*page.cell(*page.robot(0))))
    page.tool("Erase: as in the beginning")
    page.doing(lambda: page.drag((3, 3), (4, 3)))
    field = page.page.get_by_label("τ", exact=True)
    field.fill("0.02")
    page.doing(lambda: page.page.keyboard.press("Enter"))
    page.doing(lambda: page.page.get_by_label("Rule of run 1, from this step on").select_option("lll"))
    page.play_to(100)
    page.doing(lambda: page.page.get_by_label("belief", exact=True).select_option("constant"))
    page.play_to(130)
    log = page.session.log
    assert [entry.did.kind for entry in log] == [
        *("paint", "wall", "move", "add", "fail", "remove", "erase", "change", "change", "change")
    ]
    assert log[0].did.cells == [[3, 3], [4, 3], [5, 3], [6, 3]]
    assert log[2].did.robot == 1
    assert log[2].did.cell == [20, 5]
    assert log[4].did.robot == 2
    assert [row["step"] for row in page.ask("potentia.studio.scene.log")] == [entry.step for entry in log]
    assert page.page.locator(".ps-log li").count() == 10
    assert _played_elsewhere(page, tmp_path) == {
        name: [130, page.positions(k)] for k, name in enumerate(page.session.labels)
    }
    walls = page.ask("[...potentia.mapStates[0].wallsNow()]")
    assert [cell for cell, wall in enumerate(walls) if wall] == [36 * 40 + x for x in range(4)]


def _played_elsewhere(page, tmp_path):
    """What the program prints that "copy as Python" gives."""
    page.page.get_by_role("button", name="Copy as Python").click()
    text = page.page.get_by_label("What was taken")
    text.wait_for()
    path = tmp_path / "taken.py"
    path.write_text(text.input_value())
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    rows = [line.split(" ", 2) for line in done.stdout.splitlines()]
    return {name: [int(step), json.loads(places)] for name, step, places in rows}


def test_what_is_drawn_stays_and_its_time_ends_a_little_beyond_what_was_played(studio):
    page = studio(session_of(*RULES, steps=20_000))
    page.play_to(60)
    place = """[...document.querySelectorAll('.pv-map canvas')].map((map) => {
      const { left, top, width, height } = map.getBoundingClientRect();
      return [left, top + scrollY, width, height];
    })"""
    before = page.ask(place)
    page.doing(lambda: page.ask("potentia.studio.do({ kind: 'fail', robot: 1 })"))
    page.doing(lambda: page.ask("potentia.studio.do({ kind: 'wall', cells: [[0, 36]] })"))
    page.play_to(70)
    page.settled()
    assert page.ask(place) == before
    ends = "[potentia.viewer.curves.steps, Number(document.querySelector('.pv-scrubber').max)]"
    assert page.ask(ends) == [100, 100]
    page.play_to(600)
    page.settled()
    assert page.ask(ends) == [760, 760]
    x, y, wide, high = (
        page.page.locator(".pv-curves canvas").bounding_box()[name] for name in ("x", "y", "width", "height")
    )
    page.page.mouse.click(x + 62 + 0.5 * (wide - 76), y + high / 2)
    assert page.ask("potentia.clock.step") == 380


def test_undo_brings_back_what_was_played(studio):
    page = studio(session_of())
    page.play_to(50)
    before = page.positions()
    page.tool("Let a robot fail")
    page.doing(lambda: page.page.mouse.click(*page.cell(*page.robot(1))))
    assert not page.ask("potentia.mapStates[0].isThere(1)")
    page.doing(lambda: page.page.get_by_role("button", name="Undo").click())
    assert page.ask("potentia.mapStates[0].isThere(1)")
    assert page.positions() == before
    page.doing(lambda: page.page.keyboard.press("Control+Shift+Z"))
    assert not page.ask("potentia.mapStates[0].isThere(1)")
    page.doing(lambda: page.page.keyboard.press("Control+Z"))
    assert page.session.log == ()


def test_everything_by_keyboard(studio):
    page = studio(session_of())
    page.play_to(10)
    keys = page.page.keyboard
    page.page.locator(".pv-canvas").focus()
    keys.press("3")
    assert page.page.get_by_role("button", name="Draw walls").get_attribute("aria-pressed") == "true"
    keys.press("ArrowLeft")
    x, y = page.ask("[potentia.viewer.stages[0].cursor % 40, Math.floor(potentia.viewer.stages[0].cursor / 40)]")
    page.doing(lambda: keys.press("Enter"))
    assert page.session.log[-1].did.cells == [[x, y]]
    assert page.ask("document.activeElement.classList.contains('pv-canvas')")
    keys.press("5")
    rx, ry = page.robot(0)
    page.ask("([x, y]) => potentia.viewer.stages[0].point(y * 40 + x)", [rx, ry])
    keys.press("Enter")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    page.doing(lambda: keys.press("Enter"))
    assert page.session.log[-1].did.kind == "move"
    assert page.robot(0) == page.session.log[-1].did.cell
    keys.press("Tab")
    assert page.ask("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_rules_are_added_and_removed(studio):
    page = studio(session_of())
    page.play_to(180)
    page.page.get_by_label("A rule to add").select_option("lll")
    page.ask("potentia.studio.ask = () => {}")  # the new run has not come up yet
    page.doing(lambda: page.page.get_by_role("button", name="Add beside").click())
    page.settled()
    beyond = """(() => {
      const { layer, width, height } = potentia.viewer.curves;
      return layer.getContext("2d").getImageData(width - 8, 0, 8, height - 40).data.some(Boolean);
    })()"""
    assert not page.ask(beyond)
    page.ask("delete potentia.studio.ask, potentia.studio.ask()")
    page.until("potentia.clock.limit >= 180", "that the new run has come up")
    assert page.positions(0) == cells(game_of(GAME), trace_of(RULES[0], 180).final)
    added = page.session.start.rules[1]
    assert page.positions(1) == cells(game_of(GAME), trace_of(added, 180).final)
    page.doing(lambda: page.page.get_by_role("button", name="Remove run blll").click())
    assert page.page.get_by_role("article").count() == 1
    assert page.positions(0) == cells(game_of(GAME), trace_of(added, 180).final)


def test_a_link_opens_elsewhere_with_the_same_state(studio):
    page = studio(session_of(*RULES))
    page.play_to(70)
    page.tool("Draw walls")
    page.doing(lambda: page.drag((0, 30), (2, 30)))
    page.play_to(90)
    page.page.get_by_role("button", name="Copy link").click()
    text = page.page.get_by_label("What was taken")
    text.wait_for()
    fragment = "#" + text.input_value().partition("#")[2]
    assert fragment.startswith("#s1.")
    other = studio(session_of(seed=9), fragment)
    other.until("potentia.clock.step === 90", "the step of the link")
    assert [other.positions(k) for k in (0, 1)] == [page.positions(k) for k in (0, 1)]
    assert other.ask("potentia.studio.scene.log") == page.ask("potentia.studio.scene.log")
    cut = studio(session_of(seed=9), fragment[:-20])
    assert "cut or changed" in cut.page.get_by_role("alert").inner_text()
    assert cut.positions() == cells(game_of(GAME), trace_of(RULES[0], 0, seed=9).start)


def test_what_is_wrong_is_a_sentence_and_the_run_stays(studio):
    page = studio(session_of())
    page.play_to(30)
    before = page.positions()
    field = page.page.get_by_label("τ", exact=True)
    field.fill("-1")
    page.page.keyboard.press("Enter")
    alert = page.page.get_by_role("alert")
    assert "tau must be a finite number above 0" in alert.inner_text().replace("Tau", "tau")
    page.page.get_by_role("button", name="Close").click()
    page.tool("Draw walls")
    page.drag(page.robot(0), page.robot(0))
    alert.wait_for()
    assert "stands on a cell that would be a wall" in alert.inner_text()
    assert page.positions() == before
    page.page.get_by_label("map", exact=True).fill("other.csv")
    page.page.get_by_role("button", name="Begin again").click()
    page.until(
        "document.querySelector('.ps-bar').textContent.includes('opened by: potentia studio FILE')", "the refusal"
    )
    page.page.get_by_label("map", exact=True).fill("paper")
    page.page.get_by_label("seed", exact=True).fill("-1")
    page.page.get_by_role("button", name="Begin again").click()
    page.until("document.querySelector('.ps-bar').textContent.startsWith('Seed must be at least 0')", "the refusal")
    page.ask("potentia.studio.wire.socket.send('x'.repeat(5_000_000))")
    page.until("!document.querySelector('.ps-bar').hidden && potentia.studio.wire.open", "that it is there again")
    assert page.positions() == before
    page.play_to(60)
    assert page.positions() == cells(game_of(GAME), trace_of(RULES[0], 60).final)


def test_hands_are_told_what_was_not_done(studio):
    page = studio(session_of(*RULES))
    page.play_to(30)
    page.ask("potentia.viewer.select(null)")
    alert, drawn = page.page.get_by_role("alert"), "potentia.viewer.stages[0].canvas.toDataURL()"
    page.page.mouse.move(5, 5)
    page.settled()
    before = page.ask(drawn)
    page.tool("Draw walls")
    page.drag(page.robot(0, 1), page.robot(0, 1))  # on the first map, where the second run has its robot
    alert.wait_for()
    assert "Robot 0 of p-sblll stands on a cell that would be a wall" in alert.inner_text()
    page.page.mouse.move(5, 5)
    page.settled()
    assert page.ask(drawn) == before
    page.tool("Let a robot fail")
    empty = next([x, 2] for x in range(40) if all([x, 2] not in page.positions(k) for k in (0, 1)))
    page.page.mouse.click(*page.cell(*empty))
    page.page.get_by_text("There is no robot here").first.wait_for()
    page.page.get_by_label("Which run these change").select_option("1")
    field = page.page.get_by_label("τ", exact=True)
    field.fill("0,5")
    page.doing(lambda: page.page.keyboard.press("Enter"))
    page.page.get_by_label("Which run these change").select_option("all")
    assert (field.input_value(), field.get_attribute("placeholder")) == ("", "they differ")
    page.page.get_by_role("button", name="Keys").click()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Space")
    page.until("potentia.clock.playing", "that it plays")
    step = page.page.locator(".pv-step-box input")
    step.click()
    page.page.keyboard.press("Control+A")
    page.page.keyboard.type("7")
    now = page.ask("potentia.clock.step")
    page.until("(step) => potentia.clock.step > step + 20", "that time goes on", now)
    page.page.keyboard.type("5")
    assert step.input_value() == "75"
    page.page.get_by_role("button", name="Pause").click()
    step.fill("1e9")
    page.page.keyboard.press("Enter")
    assert "planned up to step 2,000" in alert.inner_text()


def test_a_reload_and_another_tab_come_to_the_same_run(studio):
    page = studio(session_of())
    page.play_to(45)
    page.until("location.hash === '#step=45'", "the address")
    page.page.reload()
    page.page.locator("main[data-ready]").wait_for()
    page.until("window.potentia?.clock.step === 45", "the step")
    other = studio.also(page)
    other.play_to(45)
    other.tool("Let a robot fail")
    other.doing(lambda: other.page.mouse.click(*other.cell(*other.robot(3))))
    page.until("!potentia.mapStates[0].isThere(3)", "that the first tab sees it")


def test_what_one_tab_does_is_told_in_the_other(studio):
    page = studio(session_of())
    page.play_to(400)
    page.doing(lambda: page.page.get_by_label("Rule of run 1, from this step on").select_option("lll"))
    other = studio.also(page)
    other.play_to(300)
    other.doing(lambda: other.page.get_by_label("Rule of run 1, from this step on").select_option("soql"))
    page.until("!document.querySelector('.ps-bar').hidden", "the news")
    told = page.page.get_by_role("alert").inner_text()
    assert "Done in another tab, at step 300: soql" in told
    assert "no longer part of the run, at step 400: lll" in told


def test_nothing_is_done_at_a_step_that_nobody_chose(studio):
    page = studio(session_of())
    page.play_to(20)
    page.ask("potentia.studio.wire.send = () => true")  # on the way, and not there yet
    page.ask("potentia.studio.goTo(1500)")
    field = page.page.get_by_label("τ", exact=True)
    before = field.input_value()
    field.fill("0.5")
    page.page.keyboard.press("Enter")
    assert "on its way to step 1,500" in page.page.get_by_role("alert").inner_text()
    field.blur()
    assert field.input_value() == before
    page.ask("delete potentia.studio.wire.send")
    page.ask("potentia.studio.send({ type: 'hello' })")  # a new picture on the way there
    page.until("potentia.clock.step === 1500", "the step")
    assert page.session.log == ()


def test_it_comes_back_after_the_line_was_cut(studio):
    page = studio(session_of())
    page.play_to(20)
    page.ask("potentia.studio.wire.socket.close()")
    page.page.locator(".pv-step-box input").fill("40")  # typed while there is no line
    page.until("potentia.studio.wire.open && !potentia.studio.resumed", "the line")
    page.page.keyboard.press("Enter")
    page.until("potentia.clock.step === 40", "step 40")
    assert page.positions() == cells(game_of(GAME), trace_of(RULES[0], 40).final)


def test_what_was_played_twice_is_taken_once(studio):
    page = studio(session_of())
    page.play_to(20)
    twice = "potentia.studio.send({ type: 'more', version: potentia.studio.scene.version, known: [0], until: 30 })"
    page.ask(twice)  # asked of an older picture
    page.play_to(60)
    run = trace_of(RULES[0], 60)
    assert page.positions() == cells(game_of(GAME), run.final)
    assert page.ask("potentia.timelines[0].changeSteps.length") == run.changes


def test_begin_again_with_another_seed_and_more_robots(studio):
    page = studio(session_of())
    page.play_to(25)
    page.page.get_by_label("seed", exact=True).fill("8")
    page.page.get_by_label("robots", exact=True).fill("6")
    page.doing(lambda: page.page.get_by_role("button", name="Begin again").click())
    assert page.ask("potentia.clock.step") == 0
    game = game_of({**GAME, "robots": 6})
    run = pt.begin(game, RULES[0], 8, horizon=2000)
    assert page.positions() == cells(game, run.profile)


def _wide(browser, drawing):
    """Texts of a drawing that reach beyond it."""
    context = browser.new_context()
    shown = context.new_page()
    shown.set_content(drawing)
    found = shown.evaluate(
        """() => [...document.querySelectorAll("text")].filter((text) => {
          const [own, all] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
          return own.left < all.left || own.right > all.right;
        }).map((text) => text.textContent)"""
    )
    context.close()
    return found


def test_sliders_by_mouse_and_by_keyboard(studio):
    page = studio(session_of(*RULES, steps=400))
    page.play_to(30)
    keys, label = page.page.keyboard, page.page.get_by_label
    page.page.get_by_role("slider", name=re.compile("^worth")).focus()
    keys.press("Home")
    keys.press("PageUp")
    page.page.get_by_role("slider", name=re.compile("^brush")).focus()
    keys.press("ArrowRight")
    page.tool("Paint worth")
    page.doing(lambda: page.page.mouse.click(*page.cell(10, 10)))
    did = page.session.log[-1].did
    assert sorted(did.cells) == [[x, y] for x in (9, 10, 11) for y in (9, 10, 11)]
    assert did.worth == pytest.approx(0.1 * game_of(GAME).world.worth.max())
    slider = label("tau, slider").bounding_box()
    middle = slider["x"] + slider["width"] / 2, slider["y"] + slider["height"] / 2
    page.doing(lambda: page.page.mouse.click(*middle))
    change = page.session.log[-1]
    assert change.did.tau == pytest.approx(0.1 * game_of(GAME).scale, rel=0.1)  # the middle of 0.001 to 10 of it
    assert change.lanes is None
    assert float(label("τ", exact=True).input_value()) == pytest.approx(change.did.tau, rel=5.1e-4)
    label("revision, slider").focus()
    page.doing(lambda: keys.press("ArrowRight"))
    change = page.session.log[-1]
    assert (change.did.revision, change.lanes) == (pytest.approx(0.305), [1])


def test_the_optimum_a_link_that_is_pasted_and_a_way_that_is_stopped(studio):
    page = studio(session_of(steps=10_000_000))
    button = page.page.get_by_role
    page.doing(lambda: button("button", name="Compute the optimum").click())
    best = pt.analysis.optimum(game_of(GAME))
    assert page.ask("potentia.viewer.recordings[0].header.optimum.value") == pytest.approx(best.value)
    assert button("button", name="Compute the optimum").is_hidden()
    page.play_to(20)
    button("button", name="Copy link").click()
    taken = page.page.get_by_label("What was taken")
    taken.wait_for()
    link, before = taken.input_value(), page.positions()
    button("button", name="Copy as command").click()
    page.until("document.querySelector('.ps-take textarea').value.startsWith('potentia studio ')", "the command")
    page.doing(lambda: page.ask("potentia.studio.do({ kind: 'move', robot: 0, cell: [1, 1] })"))
    page.page.get_by_label("A link to open").fill(link)
    page.page.keyboard.press("Enter")
    page.until("!potentia.studio.scene.log.length && potentia.clock.step === 20", "what the link holds")
    assert page.positions() == before
    page.page.locator(".pv-step-box input").fill("10000000")
    page.page.keyboard.press("Enter")
    button("button", name="Stop").click()
    assert page.ask("potentia.studio.waiting") is None
    assert button("button", name="Stop").is_hidden()
    assert page.session.edge < 10_000_000


def test_files_to_take_away(studio, browser):
    belief = {"belief": "constant", "share": 0.5}
    page = studio(session_of(*RULES, steps=200, belief=belief), viewport={"width": 760, "height": 900})
    page.play_to(30)
    for button, name in (
        ("PNG", "step-30.png"),
        ("SVG", "step-30.svg"),
        ("CSV", "positions-30.csv"),
        ("GIF", "blll.gif"),
        ("Recording", "blll.recording"),
        ("Replay page", "replay.html"),
        ("Save as specification", "studio.json"),
    ):
        last = f"p-s{name}" if name.startswith("blll") else name  # of the second run
        all_there = page.page.expect_download(lambda made, last=last: made.suggested_filename == last)
        with all_there, page.page.expect_download() as waiting:
            page.page.get_by_role("button", name=button, exact=True).click()
        assert waiting.value.suggested_filename == name
        page.page.get_by_role("status").filter(has_text=f" saved as {name}").wait_for()
        content = waiting.value.path().read_bytes()
        assert len(content) > 100
        if name == "step-30.svg":
            assert " …" not in content.decode()
            assert _wide(browser, content.decode()) == []
        if name == "blll.recording":
            made = pt.read_recording(waiting.value.path())
            assert np.array_equal(made.profile(30), trace_of(RULES[0], 30, belief=belief).final)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out(studio, scheme):
    page = studio(session_of(*RULES), color_scheme=scheme)
    page.play_to(10)
    found = Axe().run(page.page)
    serious = [one for one in found.response["violations"] if one["impact"] in ("serious", "critical")]
    assert not serious, [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious]


@pytest.mark.parametrize("width", [1024, 400])
def test_nothing_is_cut_off(studio, width):
    page = studio(session_of(*RULES), viewport={"width": width, "height": 800})
    page.play_to(10)
    assert page.ask("document.documentElement.scrollWidth") <= width
    if width == 400:
        page.page.keyboard.press("3")
        page.doing(lambda: page.ask("potentia.studio.do({ kind: 'wall', cells: [[0, 36]] })"))
        under = page.page.locator(".pv-played").bounding_box()
        tools = page.page.get_by_role("toolbar", name="Tools").bounding_box()
        assert 0 < tools["y"] - under["y"] - under["height"] < 100  # directly under the maps
        assert page.page.locator(".pv-controls").bounding_box()["height"] < 100
        page.doing(lambda: page.page.get_by_role("button", name="Undo").click())


def test_a_large_game_has_room_on_a_narrow_page(studio):
    game = {"name": "congestion", "players": 100}
    page = studio(session_of({"rule": "lll", "tau": 0.5}, game=game), viewport={"width": 400, "height": 800})
    page.page.get_by_text("The exact analysis is not shown").wait_for()
    assert page.ask("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("rule", [{"rule": "soql"}, {"rule": "p-sblll", "tau": 5e-4, "revision": 0.3}])
def test_what_grows_is_what_a_recording_has(studio, rule):
    belief = None if rule["rule"] == "soql" else {"belief": "constant", "share": 0.5}
    game = {**GAME, "flags": True, "flag": "range"}
    page = studio(session_of(rule, game=game, steps=300, **({"belief": belief} if belief else {})))
    page.ask("potentia.mapStates[0].flagHistory()")  # made early, and then extended
    page.ask("potentia.mapStates[0].travelled(1)")
    for step in (40, 41, 150):
        page.play_to(step)
    lane = page.session.lanes[0]
    made = recording_of(lane)
    for step in (150, 97, 12):
        page.play_to(step)
        assert page.ask("[...potentia.mapStates[0].flagsAt()]") == made.flags(step).reshape(-1).tolist()
        assert page.ask("potentia.mapStates[0].worthUnion()") == pytest.approx(made.value("worth_union", step))
        keyframe = made.keyframe(step)
        assert page.ask("potentia.timelines[0].keyframeAt()") == keyframe
        if belief:
            shown = page.ask("(k) => [...potentia.mapStates[0].beliefAt(k, 0).field]", keyframe)
            np.testing.assert_array_equal(np.float32(shown), made.belief(keyframe)[0].worth.reshape(-1))
        else:
            shown = page.ask("(k) => [...potentia.mapStates[0].valuesAt('strategy', k, 2)]", keyframe)
            np.testing.assert_array_equal(np.float32(shown), made.thoughts(keyframe)[1][2])
    page.page.keyboard.press("Escape")
    assert page.ask("potentia.viewer.chosen") == 0  # whose thoughts are shown
    page.play_to(150)
    for robot in range(4):
        way = page.ask("(robot) => potentia.mapStates[0].travelled(robot)", robot)
        state = getattr(lane.at_step(150).state, "game", lane.at_step(150).state)
        assert way == pytest.approx(state.driven[robot])


def test_a_studio_that_ends_leaves_the_page_and_what_was_played(studio):
    page = studio(session_of(), excused=True)
    page.play_to(50)
    page.server.close()
    page.until("!document.querySelector('.ps-bar').hidden", "the sentence")
    assert "does not answer" in page.page.get_by_role("alert").inner_text()
    page.page.get_by_role("button", name="To the start").click()
    assert page.positions() == cells(game_of(GAME), trace_of(RULES[0], 0).start)
    page.page.get_by_role("button", name="To the end").click()
    assert page.positions() == cells(game_of(GAME), trace_of(RULES[0], 50).final)


def test_a_studio_that_ends_leaves_a_link_to_all_that_was_done(studio):
    page = studio(session_of(), excused=True)
    page.play_to(30)
    page.tool("Let a robot fail")
    page.doing(lambda: page.page.mouse.click(*page.cell(*page.robot(1))))
    page.play_to(50)
    page.server.close()
    page.until("location.hash.startsWith('#s1.')", "the address with all that was done")
    assert "Copy link takes it along" in page.page.get_by_role("alert").inner_text()
    page.page.get_by_role("button", name="Copy link").click()
    text = page.page.get_by_label("What was taken")
    text.wait_for()
    fragment = "#" + text.input_value().partition("#")[2]
    assert fragment == page.ask("location.hash")
    other = studio(session_of(seed=9), fragment)
    other.until("potentia.clock.step === 50", "the step that was seen")
    assert other.positions() == page.positions()
    assert other.ask("potentia.studio.scene.log") == page.ask("potentia.studio.scene.log")


def test_a_game_without_a_map_is_played_and_asked_about(studio):
    page = studio(session_of({"rule": "lll", "tau": 0.5}, game={"name": "stag-hunt"}))
    page.play_to(60)
    final = pt.run(pt.game("stag-hunt"), {"rule": "lll", "tau": 0.5}, 60, 3).final
    assert page.ask("[...potentia.timelines[0].profile]") == final.tolist()
    assert not page.page.get_by_role("button", name="Draw walls").is_visible()
    law = page.ask("potentia.studio.solve({ what: 'law' })")["law"]
    assert law == pt.analysis.chain(pt.game("stag-hunt"), pt.rule("lll", tau=0.5)).stationary().tolist()


def _now(page):
    """Cells of the table "Now"."""
    page.settled()
    rows = page.page.locator(".pv-now tbody tr").all()
    return [[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in rows]


@pytest.mark.parametrize("drift", [False, True])
def test_numbers_are_of_the_step_that_is_seen(studio, drift):
    game = {**GAME, "drift": {"kind": "shift", "velocity": [0.01, 0.0]}} if drift else GAME
    page = studio(session_of(*RULES, game=game, steps=20_000))
    page.play_to(71)
    page.doing(lambda: page.ask("potentia.studio.do({ kind: 'fail', robot: 2 })"))
    page.play_to(93)
    page.doing(lambda: page.ask("potentia.studio.do({ kind: 'move', robot: 1, cell: [20, 5] })"))
    page.play_to(130)
    for step in (1, 70, 71, 92, 93, 109):
        page.play_to(step)
        lanes = page.session.lanes
        for lane, cells in zip(lanes, _now(page), strict=True):
            assert cells[:3] == [told(value) for value in measured(lane.at_step(step))]
        legend = page.page.locator(".pv-legend .pv-number").all_inner_texts()
        assert legend == [told(measured(lane.at_step(step))[0]) for lane in lanes]
    assert page.page.locator(".pv-as-of").all_inner_texts() == ["", ""]
    for robot in range(4):
        way = page.ask("(robot) => potentia.mapStates[1].travelled(robot)", robot)
        assert way == pytest.approx(page.session.lanes[1].at_step(109).state.driven[robot])


def test_the_stage_of_a_small_game_goes_on_with_its_run(studio):
    rules = {"rule": "p-sblll", "tau": 0.3, "revision": 0.5}, {"rule": "soql"}
    page = studio(session_of(*rules, game={"name": "double-step"}))
    for step in (100, 900, 333):
        page.play_to(step)
        made = [recording_of(lane) for lane in page.session.lanes]
        for k, one in enumerate(made):
            stage = f"potentia.viewer.stages[{k}]"
            profile = one.profile(step).tolist()
            assert _now(page)[k][:2] == [told(value) for value in measured(page.session.lanes[k].at_step(step))]
            number = page.ask(
                f"Number(document.querySelectorAll('.pv-host .stage-chain')[{k}]"
                ".querySelector('[aria-current]').dataset.profile)"
            )
            assert number == 2 * profile[0] + profile[1]
            words = page.ask(f"{stage}.describe()")
            assert f"the profile is ({profile[0]}, {profile[1]})" in words
            spent = np.mean([(one.profile(at) == one.profile(step)).all() for at in range(step + 1)])
            assert abs(float(re.search(r"([\d.]+)\u202f% of the time so far", words)[1]) / 100 - spent) <= 0.00051
        heights = page.ask(
            """() => [...document.querySelectorAll(".pv-bars [data-player]")].map((group) =>
              [...group.querySelectorAll("rect[data-field=strategy]")].map((bar) => bar.height.baseVal.value))"""
        )
        low = page.ask(
            "[...document.querySelectorAll('.pv-bars svg')].map((bars) => bars.getBoundingClientRect().bottom)"
        )
        assert max(low) <= page.page.locator(".pv-controls").bounding_box()["y"]  # the bar covers none of them
        strategies = made[1].thoughts(made[1].keyframe(step))[1]
        assert np.allclose(np.array(heights) / np.sum(heights, axis=1, keepdims=True), strategies, atol=0.001)


def test_names_and_the_law_are_those_of_the_rule_that_is_played(studio):
    rule = {"rule": "p-sblll", "tau": 0.3, "revision": 0.5}
    page = studio(session_of(rule, game={"name": "double-step"}))
    page.play_to(70)
    stage = page.page.locator(".pv-host")
    assert "87.4" in stage.inner_text()
    choice = page.page.get_by_label("Rule of run 1, from this step on")
    page.doing(lambda: choice.select_option("lll"))
    page.play_to(90)
    assert page.session.log[-1].did.rule == {"rule": "lll", "tau": 0.3}
    assert _called(page) == {"p-sblll → lll"}
    assert "since step 70: lll, tau 0.3" in page.page.locator(".pv-rule").inner_text()
    assert page.page.locator("h1").inner_text() == "p-sblll → lll on double-step"
    assert "not known since step 70" in stage.inner_text()
    assert "87.4" not in stage.inner_text()
    field = page.page.get_by_label("τ", exact=True)
    field.fill("0.02")
    page.doing(lambda: page.page.keyboard.press("Enter"))
    assert "since step 90: tau 0.02" in page.page.locator(".pv-rule").inner_text()
    page.play_to(69)
    assert _called(page) == {"p-sblll"}
    assert "87.4" in stage.inner_text()
    assert choice.evaluate("(choice) => choice.selectedOptions[0].textContent") == "p-sblll"
    assert field.input_value() == "0.3"
    page.play_to(80)
    assert [choice.input_value(), field.input_value()] == ["lll", "0.3"]


def _called(page):
    """Names of the run above its stage, beside its curve and in the table."""
    page.settled()
    return set(page.page.locator(".pv-card h2, .pv-legend .pv-label, .pv-now .pv-label").all_inner_texts())


def test_the_temperature_is_that_of_the_step_that_is_seen(studio):
    points = [[0, 0.3], [40, 0.2], [90, 0.01]]
    schedules = (
        {"kind": "geometric", "start": 0.3, "stop": 0.01},
        {"kind": "logarithmic", "start": 0.3, "rate": 2.0},
        {"kind": "piecewise", "points": points},
        "auto",
    )
    page = studio(session_of(*({"rule": "blll", "tau": tau} for tau in schedules)))
    page.play_to(100)
    for step in (0, 17, 63, 95):
        page.play_to(step)
        for lane, run in enumerate(page.session.lanes):
            page.page.get_by_label("Which run these change").select_option(str(lane))
            shown = page.page.get_by_label("τ", exact=True).input_value()
            tau = run.run.rule.tau.on(run.run.game).at(step, run.horizon)
            assert float(shown) == pytest.approx(tau, rel=5.1e-4)


def test_loads_go_on_with_their_run(studio):
    page = studio(session_of({"rule": "lll", "tau": 0.5}, game={"name": "congestion", "players": 12}))
    page.play_to(207)
    made = recording_of(page.session.lanes[0])
    assert _now(page)[0][0] == told(made.value("potential", 207)).replace("-", "−")
    assert "as of step 206" in page.page.locator(".pv-curves .pv-as-of").inner_text()
    game = pt.game("congestion", players=12)
    peaks = np.max([game.loads(made.profile(step)) for step in range(208)], axis=0)
    assert (peaks > game.loads(made.profile(0))).any()
    for resource, peak in enumerate(peaks.tolist()):
        page.page.locator(".pv-host input").fill(str(resource))
        assert f"at most {peak} in this recording" in page.page.locator(".pv-host .stage-readout").inner_text()
    assert f"up to {peaks.max()}." in page.page.locator(".stage-note").inner_text()


def test_a_game_that_was_edited_is_played(studio):
    page = studio(session_of({"rule": "lll", "tau": 0.5}, game={"name": "stag-hunt"}))
    stage = page.page.get_by_role("region", name="Rule", exact=True)
    page.page.get_by_role("combobox", name="Example").select_option("double-step")
    stage.get_by_role("combobox", name="rule", exact=True).select_option("p-sblll, guard")
    slider = stage.get_by_role("slider", name="temperature τ")
    slider.focus()
    before = int(slider.input_value())
    page.page.keyboard.press("ArrowLeft")  # is the slider's, not the timeline's
    assert int(slider.input_value()) == before - 1
    field = page.page.get_by_label("τ", exact=True)
    field.fill("0,25")
    page.doing(lambda: page.page.keyboard.press("Enter"))
    assert page.ask("potentia.studio.scene.rules[0].tau") == 0.25
    page.page.reload()
    example = page.page.get_by_role("combobox", name="Example")
    wait_for(lambda: example.count() and example.input_value() == "double-step", "the stage as it was edited")
    assert int(slider.input_value()) == before - 1
    stage.get_by_role("button", name="Play this game and rule above").click()
    page.until("() => potentia.studio.scene.rules[0].rule === 'p-sblll'", "the rule of the stage")
    page.play_to(60)
    rule = page.ask("potentia.studio.scene.rules[0]")
    assert rule["guard"] is True
    final = pt.run(pt.game("double-step"), rule, 60, 3).final
    assert page.ask("[...potentia.timelines[0].profile]") == final.tolist()
    assert page.ask("potentia.studio.scene.game") == {"payoffs": [[[0, 3], [2, 2]], [[2, 3], [2, 0]]]}


def test_a_recording_is_watched_and_not_changed(browser, tmp_path):
    made = pt.run(game_of(GAME), RULES[0], 40, 3).recording()
    with served(session_of(), shown=[made]) as server:
        page = Page(browser, server)
        page.play_to(40)
        assert page.positions() == cells(game_of(GAME), made.profile(40))
        assert not page.page.get_by_role("button", name="Draw walls").is_visible()
        assert not page.complaints
        page.close()
