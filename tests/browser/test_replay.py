"""A replay page as people use it: buttons, keys, the mouse, what is drawn, and every number against the library's."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import potentia as pt
from potentia.colours import robot_colour


def told(value):
    """A number as pages write it: four digits."""
    if float(value).is_integer() and abs(value) < 1e4:
        return f"{int(value)}" if abs(value) < 1000 else f"{int(value):,}"
    if abs(value) < 1e-4:
        digits, power = f"{value:.3e}".split("e")
        return f"{digits}e−{abs(int(power))}"
    return f"{value:#.4g}"


def percent(share):
    return f"{100 * share:.{1 if share < 0.9995 else 0}f}\u202f%"


@pytest.fixture
def page(opened, case_study):
    return opened(case_study[3]).ready()


def test_it_opens_with_what_was_played(page, case_study):
    game, traces, _, _ = case_study
    heading = page.page.get_by_role("heading", level=1).inner_text()
    assert heading == f"BLLL, P-SBLLL on {game.describe()}"
    text = page.page.locator("body").inner_text()
    assert "seed 3 · 600 steps" in text
    assert f"potentia {pt.__version__}" in text
    assert "tau 0.0005" in text
    assert [page.page.get_by_role("article", name=name, exact=True).count() for name in traces] == [1, 1]


def test_buttons_and_keys_move_the_clock(page, case_study):
    keys, (first, second) = page.page.keyboard, case_study[1].values()
    page.page.get_by_role("button", name="One step forward").click()
    assert page.step == 1
    for key, step in (("ArrowRight", 2), ("Shift+ArrowRight", 102), ("ArrowLeft", 101), ("End", 600), ("Home", 0)):
        keys.press(key)
        assert page.step == step, key
    changes = np.union1d(first.events[0], second.events[0])
    for key, step in (("]", changes[0]), ("]", changes[1]), ("[", changes[0])):
        keys.press(key)
        assert page.step == step
    page.page.locator(".pv-step-box input").fill("321")
    keys.press("Enter")
    assert page.step == 321
    page.page.get_by_role("button", name=re.compile("they part")).click()
    apart = next(k for k in range(601) if (first.profiles[k] != second.profiles[k]).any())
    assert page.step == apart
    page.page.get_by_role("button", name="To the end").click()
    assert page.step == 600


def test_it_plays_faster_and_stops_at_the_end(page):
    before = page.ask("potentia.clock.speed")
    page.page.keyboard.press("+")
    assert page.ask("potentia.clock.speed") > before
    page.page.get_by_label("speed").focus()
    page.page.keyboard.press("End")
    assert page.ask("potentia.clock.speed") == 100_000
    page.page.get_by_role("button", name="Play", exact=True).click()
    page.until("potentia.clock.step === 600 && !potentia.clock.playing", "the end")
    page.page.keyboard.press("-")
    page.page.locator("body").click(position={"x": 3, "y": 3})
    page.page.keyboard.press("Home")
    page.ask("potentia.clock.setSpeed(1)")
    page.page.keyboard.press("Space")
    page.page.get_by_role("button", name="Pause").click()
    assert not page.ask("potentia.clock.playing")


def test_the_timeline_is_dragged_and_so_are_the_curves(page):
    slider = page.page.get_by_label("Step", exact=True)
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.page.mouse.move(box["x"] + 8, middle)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] / 2, middle, steps=5)
    page.page.mouse.up()
    assert abs(page.step - 300) < 15
    curve = page.page.locator(".pv-curves canvas").first
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    page.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2, steps=5)
    page.page.mouse.up()
    assert 480 < page.step < 600


def test_every_number_is_the_librarys(page, case_study):
    game, traces, _, _ = case_study
    for step in (0, 1, 137, 600):
        page.jump(step)
        rows = page.page.locator(".pv-now tbody tr").all()
        for row, (name, trace) in zip(rows, traces.items(), strict=True):
            cells = [cell.strip() for cell in row.locator("th, td").all_inner_texts()]
            series = [getattr(trace, known)[step] for known in ("worth_union", "worth_sum", "moves", "targets_found")]
            changes = int((trace.events[0] <= step).sum())
            share = percent(trace.worth_union[step] / 0.23)
            assert cells == [name, *map(told, series), share, told(changes)]
        trace = traces["BLLL"]
        for robot, row in enumerate(page.page.locator(".pv-roster tbody tr").all()):
            x, y = game.positions(trace.profiles[step])[robot]
            seen = [game.world.worth[b, a] for a, b in game.covered(robot, trace.profiles[step, robot])]
            way = game.positions(trace.profiles[: step + 1, robot])
            jumps = np.hypot(*np.diff(way, axis=0).T)
            expected = [str(robot), f"{x}, {y}", told(math.fsum(seen)), f"{jumps.sum():.1f}", told((jumps > 0).sum())]
            found = [cell.strip() for cell in row.locator("th, td").all_inner_texts()]
            assert found[:2] + found[3:] == expected[:2] + expected[3:]
            assert found[2] == expected[2] or math.isclose(
                float(found[2].replace("−", "-")), math.fsum(seen), rel_tol=1e-3
            )


_SPOT = """(robot) => {
  const { state, layout, canvas } = potentia.viewer.stages[1];
  const [cell, box] = [state.cellOf(robot), canvas.getBoundingClientRect()];
  const place = [cell % layout.columns, Math.floor(cell / layout.columns)];
  return [box.left + layout.x(place[0] + 0.5), box.top + layout.y(place[1] + 0.5), ...place];
}"""


def test_after_a_click_space_plays(page):
    """Keys are the page's again, and not those of the button that was clicked."""
    for name in ("To the end", "One step back", "Light / dark"):
        page.jump(5)
        page.page.get_by_role("button", name=name, exact=True).click()
        page.page.keyboard.press("Space")
        assert page.ask("potentia.clock.playing"), name
        page.page.keyboard.press("Space")
        assert not page.ask("potentia.clock.playing"), name


def test_a_click_on_a_robot_shows_what_it_believes(page, case_study):
    game, traces, made, _ = case_study
    page.jump(333)
    robot = 2
    spot = page.ask(_SPOT, robot)
    assert spot[2:] == game.positions(traces["P-SBLLL"].profiles[333])[robot].tolist()
    page.page.mouse.click(*spot[:2])
    page.settled()
    believed = next(view for view in made["P-SBLLL"].belief(6) if robot in view.robots)  # as of step 300
    words = page.page.get_by_role("article", name="P-SBLLL").locator(".pv-side").inner_text()
    assert f"robot {robot} believes" in words
    assert f"As of step 300: {int(believed.seen.sum()):,} of 1,600 cells seen" in words
    assert f"error {percent(believed.error)} of all worth" in words
    page.page.keyboard.press("n")
    page.settled()
    assert "robot 3 believes" in page.page.get_by_role("article", name="P-SBLLL").locator(".pv-side").inner_text()
    page.page.mouse.move(*page.ask(_SPOT, robot)[:2])  # the maps have moved together
    page.settled()
    readout = page.page.get_by_role("article", name="P-SBLLL").locator(".pv-map-main .pv-caption").inner_text()
    x, y = spot[2:]
    assert readout.startswith(f"Cell ({x}, {y}): worth {told(game.world.worth[y, x])}, covered by robot")


_PIXEL = """([x, y, dx, dy]) => {
  const { canvas, layout } = potentia.viewer.stages[0];
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  const at = [layout.x(x + 0.5) + dx, layout.y(y + 0.5) + dy].map((side) => Math.round(side * ratio));
  return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
}"""


def test_what_is_drawn_is_there(page, case_study):
    game, traces, _, _ = case_study
    page.page.get_by_label("flags").uncheck()
    page.page.get_by_label("ways").select_option("none")
    page.jump(450)
    places = game.positions(traces["BLLL"].profiles[450])
    for robot, (x, y) in enumerate(places.tolist()):
        shown = page.ask(_PIXEL, [x, y, 0, 4])  # beside the number
        wanted = [int(robot_colour(robot)[k : k + 2], 16) for k in (1, 3, 5)]
        assert np.abs(np.subtract(shown[:3], wanted)).max() <= 3, robot
    import matplotlib

    free = game.cover_counts(traces["BLLL"].profiles[450]) == 0
    rows, columns = np.mgrid[:40, :40]
    for x, y in (*places.tolist(), *game.world.targets.tolist()):  # nothing is drawn on what is far from them
        free &= np.hypot(columns - x, rows - y) > 3
    y, x = np.unravel_index(np.argmax(np.where(free, game.world.worth, 0)), free.shape)
    colour = matplotlib.colormaps["viridis"](game.world.worth[y, x] / game.world.worth.max())[:3]
    shown = page.ask(_PIXEL, [int(x), int(y), 0, 0])
    assert np.abs(np.subtract(shown[:3], np.multiply(255, colour))).max() <= 4
    corner = page.ask(_PIXEL, [0, 39, 0, 0])
    dark = matplotlib.colormaps["viridis"](game.world.worth[39, 0] / game.world.worth.max())[:3]
    assert np.abs(np.subtract(corner[:3], np.multiply(255, dark))).max() <= 4
    before = page.ask(_PIXEL, [*places[0].tolist(), 0, 4])
    page.jump(0)
    assert tuple(places[0]) != tuple(game.positions(traces["BLLL"].start)[0])
    assert page.ask(_PIXEL, [*places[0].tolist(), 0, 4]) != before


def test_flags_lie_where_robots_were(page, case_study):
    game, traces, _, _ = case_study
    page.jump(450)
    now, ways = traces["BLLL"].profiles[450], traces["BLLL"].profiles[:451]
    marked = {int(action): robot for robot in range(5) for action in np.unique(ways[:, robot])}
    far = [
        (robot, *game.positions(action).tolist())
        for action, robot in marked.items()
        if min(np.hypot(*(game.positions(action) - place)) for place in game.positions(now)) > 4
        and sum(action in ways[:, other] for other in range(5)) == 1
    ]
    assert len(far) > 3
    page.page.get_by_label("ways").select_option("none")
    page.settled()
    for robot, x, y in far[:8]:
        with_flag = page.ask(_PIXEL, [x, y, 0, 0])[:3]
        wanted = [int(robot_colour(robot)[k : k + 2], 16) for k in (1, 3, 5)]
        page.page.get_by_label("flags").uncheck()
        page.settled()
        bare = page.ask(_PIXEL, [x, y, 0, 0])[:3]
        page.page.get_by_label("flags").check()
        page.settled()
        assert np.abs(np.subtract(with_flag, wanted)).sum() < np.abs(np.subtract(bare, wanted)).sum()


def test_what_can_be_taken_away(page, case_study):
    game, traces, _, _ = case_study
    page.jump(222)
    with page.page.expect_download() as caught:
        page.page.get_by_role("button", name="Positions now").click()
    rows = caught.value.path().read_text().splitlines()
    assert caught.value.suggested_filename == "blll-p-sblll-positions-222.csv"
    wanted = ["recording,step,robot,x,y,driven_cells"]
    for name, trace in traces.items():
        places = game.positions(trace.profiles[:223])
        ways = np.linalg.norm(np.diff(places, axis=0), axis=2).sum(axis=0)
        ends = enumerate(zip(places[222].tolist(), ways, strict=True))
        wanted += [f"{name},222,{robot},{x},{y},{way:.6g}" for robot, ((x, y), way) in ends]
    assert rows == wanted
    with page.page.expect_download() as caught:
        page.page.get_by_role("button", name="Series").click()
    rows = [row.split(",") for row in caught.value.path().read_text().splitlines()]
    assert rows[0] == ["recording", "step", "worth_union", "worth_sum", "moves", "targets_found"]
    assert float(rows[1 + 222][2]) == traces["BLLL"].worth_union[222]
    with page.page.expect_download() as caught:
        page.page.get_by_role("button", name="Picture").click()
    assert caught.value.suggested_filename == "blll-p-sblll-step-222.png"
    assert caught.value.path().read_bytes().startswith(b"\x89PNG")


def test_a_link_holds_the_step_and_the_robot(opened, case_study):
    page = opened(case_study[3], "#step=500&robot=1").ready()
    assert page.step == 500
    assert "believes" in page.page.locator(".pv-side").first.inner_text()
    page.page.keyboard.press("ArrowRight")
    page.until("location.hash === '#step=501&robot=1'", "the link follows")


def test_fields_say_where_the_page_is(page):
    field = page.page.locator(".pv-step-box input")
    for given, step in (("9999", 600), ("12.7", 12), ("", 12), ("-4", 0)):
        field.fill(given)
        page.page.keyboard.press("Enter")
        assert (page.step, field.input_value()) == (step, str(step)), given
    robot = page.page.get_by_label("robot", exact=True)
    assert robot.input_value() == "0"  # chosen at first: what it believes was recorded
    robot.fill("17")
    page.page.keyboard.press("Enter")
    assert robot.input_value() == "0"
    readout = page.page.locator(".pv-map-main .pv-caption").first
    assert readout.inner_text() == "There is no robot 17: they are 0 to 4."
    assert readout.get_attribute("aria-live") == "polite"


def test_arrow_keys_change_the_speed(page):
    page.ask("potentia.clock.setSpeed(20)")
    page.page.get_by_label("speed").focus()
    keys = (
        ("ArrowUp", 50),
        ("ArrowRight", 100),
        ("ArrowLeft", 50),
        ("ArrowDown", 20),
        ("PageUp", 200),
        ("PageDown", 20),
    )
    for key, speed in keys:
        page.page.keyboard.press(key)
        assert page.ask("potentia.clock.speed") == speed, key
    assert page.step == 0


def test_a_mark_is_clicked(page, case_study):
    events = [event for made in case_study[2].values() for event in made.header["events"]]
    page.page.locator(".pv-events button").first.click()
    assert page.step == events[0]["step"]
    page.jump(0)
    marks = page.page.locator(".pv-marks")
    box = marks.bounding_box()
    place = {"x": 8 + events[0]["step"] / 600 * (box["width"] - 16), "y": 6}
    marks.hover(position=place)
    assert events[0]["text"] in marks.get_attribute("title")
    marks.click(position=place)
    assert page.step == events[0]["step"]


@pytest.mark.parametrize("height", [900, 768])
def test_the_first_screen_holds_maps_curves_and_bar(opened, case_study, height):
    page = opened(case_study[3], viewport={"width": 1280, "height": height}).ready()
    page.settled()
    bar = page.page.locator(".pv-controls").bounding_box()
    curve = page.page.locator(".pv-curves canvas").bounding_box()
    assert bar["y"] + bar["height"] <= height + 1
    assert curve["y"] + 0.8 * curve["height"] <= bar["y"]
    before = page.ask("potentia.viewer.stages.map((stage) => stage.layout.width)")
    page.page.keyboard.press("Escape")
    page.settled()
    assert page.ask("potentia.viewer.stages.map((stage) => stage.layout.width)") == before  # nothing jumps


def test_recordings_of_other_seeds_and_lengths(opened, case_study, tmp_path):
    game, rule = case_study[0], pt.rule("blll", tau=5e-4)
    seeds = 2**60 + 2, 2**60 + 3  # the same to JavaScript's numbers
    lengths = dict(zip(seeds, (20, 40), strict=True))
    runs = {str(seed): pt.run(game, rule, steps, seed=seed, record="profile") for seed, steps in lengths.items()}
    page = opened(pt.replay(runs, tmp_path / "two.html")).ready()
    assert page.page.get_by_text(f"seeds differ: {seeds[0]}, {seeds[1]}").count() == 1
    assert page.page.get_by_role("button", name=re.compile("they part")).count() == 0
    ended = page.page.get_by_text("ended at step 20")
    page.jump(20)
    assert not ended.is_visible()
    page.jump(21)
    assert ended.is_visible()
    looks = page.ask("potentia.viewer.lookNow.map(({ colour }) => colour)")
    assert len(set(looks)) == 2
