"""The other stages: networks, loads, chains, players, bars, crowds; who cannot see or has little room; bad input."""

from __future__ import annotations

import base64
import html
import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import potentia as pt
from potentia.colours import PALETTE
from potentia.games import Coverage, World
from potentia.games.coordinates import Coordinates
from potentia.web.pages import in_frame
from potentia.web.pages import page as page_of
from tests.browser.test_replay import percent, told
from tests.recordings import everything


def played(name):
    """A run of each kind of stage."""
    rule = pt.rule("lll", tau=0.5)
    if name == "network":
        return pt.run(pt.game("ring", players=9), rule, 60, seed=1)
    if name == "loads":
        return pt.run(pt.game("congestion", players=12), rule, 60)
    if name == "table":
        return pt.run(pt.game("stag-hunt"), pt.rule("blll", tau=0.8), 60, seed=2)
    if name == "bars":
        return pt.run(pt.game("stag-hunt"), pt.rule("soql"), 60)
    if name == "players":
        return pt.run(pt.games.Separable(np.random.default_rng(0).random((40, 3)).tolist()), rule, 60)
    world = World(np.random.default_rng(1).random((30, 40)), name="crowd")
    return pt.run(Coverage(world, 201, 1.0, flags=False), pt.rule("p-sblll", tau=1.0, revision=0.3), 40, compiled=False)


KINDS = ("network", "loads", "table", "bars", "players", "crowd")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stages")
    traces = {name: played(name) for name in KINDS}
    return {name: (trace, trace.replay(folder / f"{name}.html")) for name, trace in traces.items()}


def test_a_network_has_the_colours_of_its_actions(opened, runs):
    trace, path = runs["network"]
    page = opened(path).ready()
    for step in (0, 33, 60):
        page.jump(step)
        for player, action in enumerate(trace.profiles[step].tolist()):
            shown = page.ask(
                """(player) => {
                  const stage = potentia.viewer.stages[0], canvas = document.querySelector(".pv-host canvas");
                  const ratio = canvas.width / canvas.getBoundingClientRect().width;
                  const place = stage.placeOf(player);
                  const [x, y] = [place.x, place.y].map((side) => Math.round(side * ratio));
                  const data = canvas.getContext("2d").getImageData(x - 9, y - 9, 18, 18).data, seen = {};
                  for (let k = 0; k < data.length; k += 4) {
                    const colour = [...data.slice(k, k + 3)].join();
                    seen[colour] = (seen[colour] ?? 0) + 1;
                  }
                  return Object.entries(seen).sort((a, b) => b[1] - a[1])[0][0];
                }""",
                player,
            )
            colour = PALETTE[action]
            assert shown == ",".join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5))


_COLOURED = """([red, green, blue]) => {
  const canvas = document.querySelector(".pv-host canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let k = 0; k < data.length; k += 4) found += data[k] === red && data[k + 1] === green && data[k + 2] === blue;
  return found;
}"""


def test_loads_and_costs_are_the_games(opened, runs, tmp_path):
    trace, _ = runs["loads"]
    game = pt.game("congestion", players=12)
    page = opened(pt.replay({"one": trace, "two": trace}, tmp_path / "two.html"), color_scheme="light").ready()
    for step in (0, 17, 60):
        page.jump(step)
        told_loads = page.ask("potentia.viewer.stages[0].describe()")
        for resource, load in enumerate(game.loads(trace.profiles[step]).tolist()):
            assert f"{load} on resource {resource}" in told_loads
            page.page.locator(".pv-host input").first.fill(str(resource))
            page.page.keyboard.press("Enter")
            page.settled()
            cost = f"cost {told(game.costs[resource][load - 1])}" if load else "unused"
            for words in page.page.locator(".pv-host .stage-readout").all_inner_texts():  # in both runs
                assert words.startswith(f"resource {resource}: {load} player{'s' * (load != 1)}, {cost}; at most ")
        blue, orange = (page.ask(_COLOURED, [int(one[k : k + 2], 16) for k in (1, 3, 5)]) for one in PALETTE[:2])
        moved = step > 0 and (trace.profiles[step] != trace.profiles[step - 1]).any()
        assert blue > 1000
        assert (100 < orange < 1000) if moved else orange == 0, (step, orange)  # an outline, not whole bars


def test_a_small_game_is_its_chain(opened, runs):
    trace, path = runs["table"]
    game, rule = pt.game("stag-hunt"), pt.rule("blll", tau=0.8)
    law = pt.analysis.chain(game, rule).stationary()
    page = opened(path).ready()
    for step in (0, 29, 60):
        page.jump(step)
        profile = trace.profiles[step]
        number = int(profile[0] * 2 + profile[1])
        words = page.ask("potentia.viewer.stages[0].describe()")
        assert f"potential {told(game.potential(profile))}" in words
        assert f"{percent(law[number])} of the time in the long run" in words
        spent = np.mean([(row == profile).all() for row in trace.profiles[: step + 1]])
        gets = ", ".join(told(game.utility(player, profile)) for player in range(2))
        assert f"payoffs {gets}" in words
        found = float(re.search(r"([\d.]+)\u202f% of the time so far", words)[1]) / 100
        assert abs(found - spent) <= 0.00051  # as many digits as are shown
    assert page.page.locator("[data-profile]").count() == 4


def test_bars_are_strategies_and_scores(opened, runs, tmp_path):
    made = runs["bars"][0].recording()
    page = opened(pt.replay({"one": made, "two": made}, tmp_path / "two.html")).ready()
    curve, bar = (page.page.locator(place).bounding_box() for place in (".pv-curves canvas", ".pv-controls"))
    assert curve["y"] + curve["height"] <= bar["y"]
    for step in (0, 31, 60):
        page.jump(step)
        keyframe = made.keyframe(step)
        _, strategies = made.thoughts(keyframe)
        bars = page.ask(
            """() => [...document.querySelectorAll("[data-player]")].slice(0, 2).map((group) =>
              [...group.querySelectorAll("rect[data-field=strategy]")].map((bar) => bar.height.baseVal.value))"""
        )
        for drawn, strategy in zip(bars, strategies, strict=True):
            assert np.allclose(np.divide(drawn, sum(drawn)), strategy / strategy.sum(), atol=0.02)
        assert f"step {made.keyframes[keyframe]}" in page.page.locator(".pv-bars").first.inner_text()
    assert "players remember scores" in page.page.locator(".stage-note").first.inner_text()


def test_a_picture_holds_what_is_seen(opened, runs):
    from PIL import Image

    for name, colour in (("table", PALETTE[1]), ("bars", PALETTE[1]), ("network", PALETTE[0])):
        trace, path = runs[name]
        page = opened(path, color_scheme="light").ready()
        page.jump(60)
        with page.page.expect_download() as caught:
            page.page.get_by_role("button", name="Picture").click()
        with Image.open(caught.value.path()) as picture:
            seen = np.asarray(picture.convert("RGB")).reshape(-1, 3)
        wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
        assert (np.abs(seen.astype(int) - wanted).max(axis=1) <= 3).sum() > 100, name
        with page.page.expect_download() as caught:
            page.page.get_by_role("button", name="Actions now").click()
        assert caught.value.suggested_filename == f"{trace.rule['rule']}-actions-60.csv"


def test_players_are_counted(opened, runs):
    trace, path = runs["players"]
    page = opened(path).ready()
    page.jump(60)
    counts = np.bincount(trace.final, minlength=3)
    words = page.page.locator(".pv-host").inner_text().split("\n")
    assert all(str(count) in words for count in counts)


def test_a_crowd_is_a_map_of_what_is_covered(opened, runs):
    trace, path = runs["crowd"]
    page = opened(path).ready()
    page.jump(40)
    counts = trace.recording().counts(trace.final)
    assert page.ask("[...potentia.mapStates[0].coverCounts()]") == counts.reshape(-1).tolist()
    assert page.ask("potentia.mapStates[0].covered") == (trace.recording().counts(trace.final) > 0).sum()
    assert "201 robots" in page.page.locator(".pv-side").inner_text()
    page.ask("potentia.viewer.select(17)")
    page.settled()
    y, x = divmod(int(trace.final[17]), 40)
    moves = int((np.diff(trace.profiles[:, 17]) != 0).sum())
    words = page.page.locator(".pv-map-main .pv-caption").inner_text()
    assert words.startswith(f"Robot 17 at ({x}, {y}): covers worth ")
    assert f"in {moves} move" in words


# Everybody --------------------------------------------------------------------------------------------


def serious(page):
    found = Axe().run(page.page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]


_TOO_WIDE = """() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const out = [...document.querySelectorAll("#viewer *")].filter((one) => one.getBoundingClientRect().right > wide + 1);
  return out.slice(0, 5).map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`);
}"""


def test_nothing_keeps_people_out(opened, runs, case_study):
    """axe-core, in all stages, light and dark; at both widths nothing is wider than the screen."""
    paths = {"map": case_study[3]} | {name: path for name, (_, path) in runs.items()}
    for name, path in paths.items():
        page = opened(path, color_scheme="light").ready()
        page.jump(30)
        page.page.keyboard.press("n")
        page.settled()
        assert page.ask(_TOO_WIDE) == [], name
        assert serious(page) == [], name
        if name in ("map", "table", "bars"):  # the others have no words of their own on the page
            page.page.emulate_media(color_scheme="dark")
            page.settled()
            assert serious(page) == [], name
        page.page.set_viewport_size({"width": 400, "height": 900})
        page.settled()
        assert page.ask(_TOO_WIDE) == [], name
    assert serious(page) == []


def test_keys_are_explained_and_the_theme_is_chosen(opened, runs):
    page = opened(runs["network"][1], color_scheme="light").ready()
    page.page.keyboard.press("?")
    dialog = page.page.get_by_role("dialog")
    assert all(told in dialog.inner_text().lower() for told in ("space", "10 cells at once", "esc leaves the map"))
    assert serious(page) == []
    page.page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    light = page.ask("getComputedStyle(document.body).backgroundColor")
    page.page.get_by_role("button", name="Light / dark").click()
    assert page.ask("getComputedStyle(document.body).backgroundColor") != light


def test_it_works_in_the_frame_of_a_notebook(opened, tmp_path):
    trace = pt.run(Coverage(World(np.eye(20)), 2, 1.0, flags=False), pt.rule("blll", tau=1.0), 60, compiled=False)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><title>cell</title>{in_frame(trace)}", "utf-8")
    page = opened(path, viewport={"width": 1000, "height": 900})
    frame = page.page.frame_locator("iframe")
    frame.locator(".pv-controls").wait_for()
    curve, bar = (frame.locator(place).bounding_box() for place in (".pv-curves canvas", ".pv-controls"))
    assert curve["y"] + curve["height"] <= bar["y"]  # above the bar, for a map leaves it the height
    frame.get_by_role("button", name="To the end").click()
    assert frame.locator(".pv-step-box input").input_value() == "60"
    page.requests = page.requests[:1]  # the frame's own text is none that leaves


# Bad input --------------------------------------------------------------------------------------------

NASTY = "<img src=x onerror=alert(1)>\"'&</script><b>"


def test_a_name_full_of_html_is_text(opened, tmp_path):
    world = World(np.ones((5, 6)), name=NASTY)
    trace = pt.run(Coverage(world, 2, 1.0, flags=False), pt.rule("blll", tau=1.0), 20, compiled=False)
    path = pt.replay({NASTY: trace, " =1+1": trace}, tmp_path / "nasty.html", title=NASTY)
    page = opened(path).ready()
    assert page.page.get_by_role("heading", level=1).inner_text() == NASTY
    assert NASTY in page.page.locator(".pv-now").inner_text()
    assert page.page.locator("img, b").count() == 0
    assert page.page.title() == NASTY
    with page.page.expect_download() as caught:
        page.page.get_by_role("button", name="Positions now").click()
    assert "' =1+1" in caught.value.path().read_text()


_MIDDLE = """(robot) => {  // of a robot's cell in the panel of beliefs
  const { side, state, layout } = potentia.viewer.stages[0];
  const cell = state.cellOf(robot);
  const ratio = side.canvas.width / side.canvas.getBoundingClientRect().width;
  const at = [layout.x((cell % state.columns) + 0.5), layout.y(Math.floor(cell / state.columns) + 0.5)];
  return [...side.canvas.getContext("2d").getImageData(...at.map((way) => Math.floor(way * ratio)), 1, 1).data];
}"""


def test_a_site_is_told_in_metres_and_who_is_not_there_as_lost(opened, tmp_path):
    """Robot 1 has failed at step 8, robot 3 arrives at 12; every number is the library's."""
    outside = Coordinates([0.5, 0, 412_000, 0, -0.5, 5_712_000.25], "EPSG:25832", "m")
    played = everything("frames", cell_size=0.5, coordinates=outside)
    run = pt.begin(*played[:2], played.seed, belief=played.belief, record=("profile", "distance"), compiled=False)
    ways, cells = 0.5 * run.advance(10).trace().driven, played.game.positions(run.profile).tolist()
    places = outside.at(np.add(cells, 0.5)).tolist()
    page = opened(run.advance(played.steps - 10).trace().replay(tmp_path / "run.html")).ready()
    page.jump(10)
    with page.page.expect_download() as caught:
        page.page.get_by_role("button", name="Positions now").click()
    rows = [row.split(",") for row in caught.value.path().read_text().splitlines()]
    assert rows[0][1:] == ["step", "robot", "x", "y", "easting", "northing", "driven_m", "there"]
    there = [1, 0, 1, 0]
    wanted = [[*map(str, cells[k]), *(f"{part:.12g}" for part in places[k]), f"{ways[k]:.6g}"] for k in range(4)]
    assert [row[3:] for row in rows[1:]] == [[*row, str(is_there)] for row, is_there in zip(wanted, there, strict=True)]
    assert page.page.locator(".pv-now td").first.inner_text() == told(ways.sum())
    assert "distance driven by all robots (m)" in page.page.locator(".pv-now thead").inner_text()
    robots = [row.locator("td").all_inner_texts() for row in page.page.locator(".pv-roster tbody tr").all()]
    assert [row[0] for row in robots] == ["", "failed at step 8", "", "arrives at step 12"]
    for k in (0, 1, 2):
        assert [*robots[k][1:3], robots[k][4]] == [", ".join(wanted[k][:2]), ", ".join(wanted[k][2:4]), told(ways[k])]
    assert robots[3][1:] == ["–"] * 5
    world = played.game.world
    for axis, name in enumerate(world.axes_names(more=True)):
        assert page.ask("(axis) => potentia.mapStates[0].lengths.label(axis)", axis) == name
        marks = page.ask("(one) => potentia.mapStates[0].lengths.ticks(...one, 4)", [axis, world.size[axis]])
        values = [float(mark["text"].replace(",", "")) for mark in marks]
        spots = outside.back(np.transpose([values, values]))[:, axis]
        np.testing.assert_allclose([mark["value"] for mark in marks], spots, atol=1e-6)
        assert len(marks) > 1
        assert ((spots > -1e-6) & (spots < world.size[axis] + 1e-6)).all()
    for robot, words in ((3, "Robot 3 arrives at step 12."), (1, "Robot 1 failed at step 8.")):
        page.ask("(robot) => potentia.viewer.select(robot)", robot)
        page.settled()
        assert words in page.page.locator(".pv-side").inner_text()
    assert "What robot 1 believed" in page.page.locator(".pv-side").inner_text()
    assert page.ask(_MIDDLE, 1)[:3] == [0, 0, 0]  # a cross, black where it is chosen
    x, y = cells[0]
    page.ask("(cell) => potentia.viewer.stages[0].point(cell)", y * world.size[0] + x)
    page.settled()
    readout = page.page.locator(".pv-map-main .pv-caption").inner_text()
    assert readout.startswith(f"Cell ({x}, {y}), easting {wanted[0][2]} m, northing {wanted[0][3]} m: worth ")


def damaged(text, change):
    """The page with another recording inside."""
    content = bytearray(base64.b64decode(re.search(r'recording" data-label="[^"]*">([^<]*)<', text)[1]))
    content = change(content)
    return re.sub(
        r'(recording" data-label="[^"]*">)[^<]*', lambda found: found[1] + base64.b64encode(content).decode(), text
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content[: len(content) // 2], "cut short|damaged|truncated"),
        (lambda content: content[:40] + bytes([content[40] ^ 255]) + content[41:], "damaged"),
        (lambda content: bytearray(b"not a recording"), "not a recording"),
    ],
)
def test_a_damaged_recording_is_a_sentence(opened, runs, tmp_path, change, sentence):
    path = tmp_path / "damaged.html"
    path.write_text(damaged(runs["network"][1].read_text("utf-8"), change), "utf-8")
    page = opened(path)
    alert = page.page.get_by_role("alert")
    alert.wait_for()
    assert re.search(sentence, alert.inner_text())
    assert "\n" not in alert.inner_text()


@pytest.mark.parametrize(
    "change", [lambda text: text[: len(text) // 2], lambda text: text[::-1].replace(";", "", 1)[::-1]]
)
def test_a_page_whose_script_does_not_run_says_so(opened, runs, tmp_path, change):
    path = tmp_path / "cut.html"
    path.write_text(change(runs["network"][1].read_text("utf-8")), "utf-8")
    page = opened(path, quiet=False)  # the browser tells that it refuses the script
    sentence = page.page.locator("#not-started")
    sentence.wait_for(state="visible")
    assert "its file is cut short or was changed" in sentence.inner_text()


def test_a_newer_recording_and_an_older_browser_are_sentences(opened, runs, tmp_path):
    import struct
    import zlib

    def newer(content):
        raw = bytearray(zlib.decompress(bytes(content), 31))
        raw[8:12] = struct.pack("<I", 4)
        squeeze = zlib.compressobj(wbits=31)
        return squeeze.compress(bytes(raw)) + squeeze.flush()

    path = tmp_path / "newer.html"
    path.write_text(damaged(runs["network"][1].read_text("utf-8"), newer), "utf-8")
    page = opened(path)
    page.page.get_by_role("alert").wait_for()
    assert "version 4" in page.page.get_by_role("alert").inner_text()
    for missing in ("window.DecompressionStream", "CanvasRenderingContext2D.prototype.roundRect"):
        page = opened(runs["network"][1], script=f"delete {missing}")
        page.page.get_by_role("alert").wait_for()
        assert "this browser is too old to show a recording: use " in page.page.get_by_role("alert").inner_text()


def test_a_page_says_what_may_run(runs):
    text = runs["network"][1].read_text("utf-8")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert page_of({"x": runs["network"][0].recording()}, "") == page_of({"x": runs["network"][0].recording()}, "")
