"""What a reader does with a page: long names, little room, dark paper, the keyboard, and reading any cell."""

from __future__ import annotations

import re

import numpy as np
import pytest

import potentia as pt
from potentia.games import Coverage, World
from tests.browser.test_replay import percent, told

LONG = "p-sblll:trial=unilateral,guard=true,include_current=true"
LONGER = "x" * 300


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Two short runs with long names; robot 1 fails at step 10."""
    world = World(np.random.default_rng(3).random((12, 16)), targets=[(3, 3), (12, 9)], name="plot")
    game = Coverage(world, 3, 1.5, flags=False, start=[(4, 4), (10, 2), (12, 8)], events=["fail 1@10"])
    rule, record = pt.rule("blll", tau=0.5), ("profile", "worth_union", "worth_sum", "moves", "distance")
    traces = [pt.run(game, rule, 40, seed=seed, record=record, compiled=False) for seed in (1, 2)]
    title = f"{LONG}, {LONGER}, seed 1, on {game.describe()}"
    path = tmp_path_factory.mktemp("named") / "named.html"
    return game, traces, pt.replay({LONG: traces[0], LONGER: traces[1]}, path, title=title)


_CUT = """(selector) => [...document.querySelectorAll(selector)].filter((node) => node.offsetParent)
  .map((node) => [node.scrollWidth - node.clientWidth, node.scrollHeight - node.clientHeight])"""


@pytest.mark.parametrize("width", [400, 1280])
def test_long_names_wrap(opened, named, width):
    page = opened(named[2], viewport={"width": width, "height": 900}).ready()
    assert page.ask("document.documentElement.scrollWidth") <= width
    for heading in ("Now", "Robots"):
        box = page.page.get_by_role("heading", name=heading, exact=True).bounding_box()
        assert box["height"] < 40, heading  # one line, not a column of letters
    first = page.page.locator(".pv-who-cell .pv-label").first
    assert first.inner_text() == LONG
    for across, down in page.ask(_CUT, ".pv-events .pv-link > span") + page.ask(_CUT, ".pv-who-cell .pv-label")[:1]:
        assert (across, down) == (0, 0)
    assert page.ask(_CUT, "h1")[0][0] == 0
    assert page.page.locator(".pv-what").inner_text() == named[0].describe()  # where the title is cut


def test_what_is_wider_than_its_room_has_a_shadow(opened, named):
    """The column of pixels at the right edge: shaded while there is more, plain at the end."""
    page = opened(named[2], viewport={"width": 400, "height": 900}).ready()
    box = page.page.locator(".pv-now .pv-scroll")
    assert box.evaluate("(node) => node.scrollWidth - node.clientWidth") > 10

    def darkest():
        box.scroll_into_view_if_needed()
        picture = box.screenshot()
        return page.ask(
            """async (data) => {
              const image = await createImageBitmap(new Blob([Uint8Array.from(data)], { type: "image/png" }));
              const canvas = new OffscreenCanvas(image.width, image.height);
              const brush = canvas.getContext("2d");
              brush.drawImage(image, 0, 0);
              return Math.min(...brush.getImageData(image.width - 2, image.height - 4, 1, 1).data.slice(0, 3));
            }""",
            list(picture),
        )

    shaded = darkest()
    box.evaluate("(node) => (node.scrollLeft = node.scrollWidth)")
    page.settled()
    assert shaded < 215
    assert darkest() > 235


def test_a_seed_is_told_once(opened, named, case_study):
    page = opened(named[2]).ready()
    assert "seed" not in page.page.locator(".pv-meta").inner_text()
    page = opened(case_study[3]).ready()
    assert page.page.locator(".pv-meta").inner_text().startswith("seed 3 · 600 steps")


@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_after_a_number_is_typed_keys_are_the_pages(opened, case_study, key):
    page = opened(case_study[3]).ready()
    for field in (page.page.locator(".pv-step-box input"), page.page.get_by_label("robot", exact=True)):
        field.fill("3")
        page.page.keyboard.press(key)
        before, chosen = page.step, page.ask("potentia.viewer.chosen")
        page.page.keyboard.press("ArrowRight")
        assert page.step == before + 1
        page.page.keyboard.press("n")
        assert page.ask("potentia.viewer.chosen") == (0 if chosen is None else (chosen + 1) % 5)
    assert (page.step > 3) == (key == "Enter")  # Escape leaves the step as it was


_TO_COME = """() => {
  const { curves, colours } = potentia.viewer;
  const { width, height } = curves.canvas;
  const { data } = curves.canvas.getContext("2d").getImageData(width / 2, 0, width / 2, 0.8 * height);
  const blue = [];
  for (let k = 0; k < data.length; k += 4) {
    if (data[k + 3] > 250 && data[k + 2] > data[k] + 40) blue.push([...data.slice(k, k + 3)]);
  }
  return { blue: blue.slice(0, 2000), paper: colours.paper, look: potentia.viewer.lookNow[0].colour };
}"""


def luminance(colour):
    parts = np.asarray(colour, float)[..., :3] / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722] + 0.05


def test_curves_are_seen_on_dark_paper(opened, tmp_path):
    """WCAG asks 3 to 1 of graphics: of the line, and of the part that is yet to come."""
    trace = pt.run(pt.game("ring", players=12), pt.rule("blll", tau=0.3), 200)
    page = opened(trace.replay(tmp_path / "run.html"), color_scheme="dark").ready()
    page.jump(20)
    seen = page.ask(_TO_COME)
    paper, line = (luminance([int(seen[name][k : k + 2], 16) for k in (1, 3, 5)]) for name in ("paper", "look"))
    assert line / paper > 4.5
    assert len(seen["blue"]) > 100
    assert np.max(luminance(seen["blue"])) / paper > 3


def test_the_map_of_a_belief_is_read_cell_by_cell(opened, case_study):
    game, _, made, path = case_study
    page = opened(path).ready()
    page.jump(333)
    card = page.page.get_by_role("article", name="P-SBLLL")
    frame, words = card.locator(".pv-side .pv-canvas"), card.locator(".pv-side .pv-caption")
    believed = next(view for view in made["P-SBLLL"].belief(6) if 0 in view.robots)
    card.locator(".pv-map-main .pv-canvas").focus()
    for _ in range(3):  # over what may be chosen there
        page.page.keyboard.press("Tab")
        if frame.evaluate("(node) => node === document.activeElement"):
            break
    assert frame.evaluate("(node) => node === document.activeElement")
    read = set()
    for key in ("ArrowUp", "ArrowLeft", *["Shift+ArrowUp", "Shift+ArrowRight"] * 2):
        page.page.keyboard.press(key)
        page.settled()
        text = words.inner_text()
        x, y = map(int, re.match(r"Cell \((\d+), (\d+)\)", text).groups())
        seen = believed.seen[y, x]
        told_of = f"believed {told(float(believed.worth[y, x]))} as of step 300, truly {told(game.world.worth[y, x])}"
        assert text == f"Cell ({x}, {y}): {told_of}, {'seen' if seen else 'not seen'}."
        read.add(bool(seen))
    assert words.get_attribute("aria-live") == "polite"
    ring = frame.evaluate("(node) => parseFloat(getComputedStyle(node).outlineOffset)")
    assert ring <= -2  # as thick as it is: it lies within the frame, not on the words under it
    page.page.keyboard.press("Escape")
    page.settled()
    assert words.inner_text().startswith("As of step 300")
    spot = frame.locator("canvas").bounding_box()
    page.page.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 3)
    page.settled()
    assert words.inner_text().startswith("Cell (")


_CROSS = """(robot) => {
  const { canvas, layout, state } = potentia.viewer.stages[0];
  const [cell, box] = [state.cellOf(robot), canvas.getBoundingClientRect()];
  const [x, y] = [layout.x((cell % state.columns) + 0.5), layout.y(Math.floor(cell / state.columns) + 0.5)];
  const brush = canvas.getContext("2d");
  const ratio = canvas.width / box.width;
  const beside = brush.getImageData((x + 8) * ratio, (y - 6) * ratio, 12 * ratio, 12 * ratio).data;
  return { at: [box.left + x, box.top + y], beside: [...beside] };
}"""


def test_a_robot_that_failed_says_which_and_when(opened, named):
    page = opened(named[2]).ready()
    page.jump(9)
    before = page.ask(_CROSS, 1)["beside"]
    page.jump(30)
    cross = page.ask(_CROSS, 1)
    assert [60, 60, 60] in np.reshape(cross["beside"], (-1, 4))[:, :3].tolist()  # the ink of its number
    assert [60, 60, 60] not in np.reshape(before, (-1, 4))[:, :3].tolist()
    page.page.mouse.move(*cross["at"])
    page.settled()
    assert "robot 1, failed at step 10" in page.page.locator(".pv-map-main .pv-caption").first.inner_text()


def test_a_belief_that_is_not_shown_says_why(opened, tmp_path):
    trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), 20, belief=pt.belief("running-mean"))
    page = opened(trace.replay(tmp_path / "run.html")).ready()
    assert page.page.locator("h1").inner_text() == "lll on stag-hunt(stag=4.0, hare=3.0)"
    said = page.page.locator(".pv-what", has_text="Belief").inner_text()
    assert "running-mean" in said
    assert said.endswith("Recordings hold beliefs about maps only: what players expect of their actions is not shown.")


def test_maps_of_scores_open_no_second_row(opened, tmp_path):
    """Three rules without scores beside one that keeps them: five maps of one size. Three that keep them: six."""
    game = Coverage(World(np.random.default_rng(3).random((9, 9)), name="plot"), 2, 1.5, flags=False)
    rules = {name: pt.rule(name, tau=0.5) for name in ("lll", "blll", "metropolis")} | {"soql": pt.rule("soql")}
    runs = {name: pt.run(game, rule, 20, compiled=False) for name, rule in rules.items()}
    page = opened(pt.replay(runs, tmp_path / "four.html")).ready()
    boxes = [one.bounding_box() for one in page.page.locator(".pv-canvas canvas").all()]
    assert len(boxes) == 5
    assert np.ptp([box["y"] for box in boxes]) < 1
    assert np.ptp([box["width"] for box in boxes]) < 4
    head = page.page.locator(".pv-side-head").last.bounding_box()
    assert page.page.locator(".pv-side-title").bounding_box()["height"] <= head["height"]  # touches nothing
    page.page.set_viewport_size({"width": 700, "height": 900})
    page.until("potentia.viewer.context.shared === false", "the maps to stand under each other")
    three = opened(pt.replay(dict.fromkeys("abc", runs["soql"]), tmp_path / "three.html")).ready()
    curve, bar = (three.page.locator(place).bounding_box() for place in (".pv-curves canvas", ".pv-controls"))
    assert curve["y"] + curve["height"] <= bar["y"]  # each has two maps, and the curves are in sight all the same
    titles = three.page.locator(".pv-side-title").all()
    assert [title.bounding_box()["height"] <= head["height"] for title in titles] == [True] * 3


def test_names_of_profiles_stand_clear_of_arrow_heads(opened, tmp_path):
    trace = pt.run(pt.game("stag-hunt"), pt.rule("blll", tau=0.5), 20, compiled=False)
    page = opened(trace.replay(tmp_path / "run.html")).ready()
    boxes = page.ask(
        """() => {
          const svg = document.querySelector(".stage-chain svg");
          const kinds = ["[data-profile] text", "path[stroke=none]", "[data-profile] title + circle"];
          return kinds.map((kind) =>
            [...svg.querySelectorAll(kind)].map((node) => {
              const { left, top, right, bottom } = node.getBoundingClientRect();
              return [left, top, right, bottom];
            }),
          );
        }"""
    )
    names, heads = np.array(boxes[0]) + np.array([-4, 0, 4, 0]), np.array(boxes[1])  # with some room between
    assert (len(names), len(heads)) == (4, 8)
    near = (names[:, None, :2] < heads[None, :, 2:]).all(axis=2) & (heads[None, :, :2] < names[:, None, 2:]).all(axis=2)
    assert not near.any()
    discs = np.array(boxes[2])  # where no arrow comes
    inside = np.array(boxes[0]) * [-1, -1, 1, 1] <= discs * [-1, -1, 1, 1]
    assert inside.all()


def test_shares_of_one_profile_have_one_format(opened, tmp_path):
    game, rule = pt.game("stag-hunt"), pt.rule("blll", tau=0.37)
    trace = pt.run(game, rule, 60, seed=2)
    page = opened(trace.replay(tmp_path / "run.html")).ready()
    page.jump(60)
    facts = dict(
        zip(*(page.page.locator(f".stage-facts {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True)
    )
    law = pt.analysis.chain(game, rule).stationary()
    assert facts["Long-run share"] == percent(law[int(trace.final @ [2, 1])])
    assert facts["This profile so far"] == f"{percent((trace.profiles == trace.final).all(axis=1).mean())} of the time"
    few = page.page.locator(f"[data-profile='{np.argmin(law)}'] title")
    assert f"{told(100 * law.min())}\u202f%" in few.text_content()  # a small share is told, too


def test_a_legend_shows_its_ring(opened, tmp_path):
    page = opened(pt.run(pt.game("ring", players=9), pt.rule("lll", tau=0.5), 9).replay(tmp_path / "run.html")).ready()
    last = page.page.locator(".stage-legend li").last
    assert last.inner_text() == "changed in this step"
    assert last.locator("span").first.bounding_box()["width"] > 8


def test_the_map_of_a_belief_follows_a_world_that_drifts(opened, tmp_path):
    """Robots that never wake: nothing but the field and its targets changes between two keyframes."""
    eye = np.eye(2).tolist()
    hill = pt.games.gaussian_world((9, 7), [0.5, 0.5], [(2.0, 3.0), (7.5, 5.25)], [eye, eye])
    game = Coverage(hill, 2, drift=(0.25, -0.375), drift_every=3, flags=False)
    rule, belief = pt.rule("p-sblll", tau=0.1, revision=1e-12), pt.belief("constant", share=0.5)
    trace = pt.run(game, rule, 40, belief=belief, compiled=False)
    page = opened(trace.replay(tmp_path / "drift.html", beliefs_every=40)).ready()
    page.ask("potentia.viewer.stages[0].side.point(30)")
    for step in (1, 12, 33):
        page.jump(step)
        words = page.page.locator(".pv-side .pv-caption").inner_text()
        assert f"truly {told(game.worth_at(step)[3, 3])}," in words


_OUTSIDE = """() => {
  const room = document.querySelector(".stage-chain svg").getBoundingClientRect();
  const out = ({ left, top, right, bottom }) =>
    left < room.left - 1 || top < room.top - 1 || right > room.right + 1 || bottom > room.bottom + 1;
  return [...document.querySelectorAll(".stage-chain text")].filter((one) => out(one.getBoundingClientRect())).length;
}"""


_UNREACHED = """() => [...document.querySelectorAll(".stage-scroll")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1 && !box.hasAttribute("tabindex")).length"""


def test_long_names_of_actions_and_of_profiles_keep_within_their_room(opened, tmp_path):
    random, often = np.random.default_rng(0), ["cooperate with everybody", "defect", "wait and see how it goes"]
    two = pt.games.NormalForm(random.random((2, 3, 3)), actions=often, players=["the first of them", "the second"])
    five = pt.games.NormalForm(random.random((5, 2, 2, 2, 2, 2)))
    for game in (two, five):
        trace = pt.run(game, pt.rule("blll", tau=0.8), 30, compiled=False)
        page = opened(trace.replay(tmp_path / "run.html"), viewport={"width": 400, "height": 900}).ready()
        page.jump(30)
        assert page.ask("document.documentElement.scrollWidth") <= 400
        for step in range(10):  # what scrolls is reached by keyboard, whatever the names are that are played
            page.jump(step)
            assert page.ask(_UNREACHED) == 0
        for width in (400, 1280):
            page.page.set_viewport_size({"width": width, "height": 900})
            page.settled()
            assert page.ask(_OUTSIDE) == 0


def test_runs_of_one_rule_have_shades_that_differ(opened, tmp_path):
    """On dark paper too, where a dark colour is lightened."""
    runs = [pt.run(pt.game("stag-hunt"), pt.rule("best-response"), 9, seed=seed) for seed in range(4)]
    for scheme in ("light", "dark"):
        page = opened(pt.replay(runs, tmp_path / "four.html"), color_scheme=scheme).ready()
        colours = page.ask("potentia.viewer.lookNow.map(({ colour }) => colour)")
        parts = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours])
        apart = np.abs(parts[:, None] - parts[None]).max(axis=2) + 99 * np.eye(4)
        assert apart.min() > 15, (scheme, colours)


def test_truth_and_belief_stand_side_by_side_on_a_small_screen(opened, case_study):
    """Two rules at 1024 pixels: four maps in one row, and nothing jumps as words under them change."""
    page = opened(case_study[3], viewport={"width": 1024, "height": 768}).ready()
    page.settled()
    boxes = [one.bounding_box() for one in page.page.locator(".pv-canvas canvas").all()]
    assert len(boxes) == 4
    assert np.ptp([box["y"] for box in boxes]) < 1
    curves = page.page.locator(".pv-curves")
    place = curves.bounding_box()["y"]
    assert place < 650
    for step in (200, 600):
        page.jump(step)
        assert curves.bounding_box()["y"] == place
