"""The browser rebuilds every moment of a recording as a second run has it."""

from __future__ import annotations

import base64

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import OptimumOverTime
from potentia.games import Coverage, Separable, Shift, gaussian_world
from tests.recordings import Case, case, everything
from tests.unit.bad import EYE
from tests.unit.games.test_changing_worlds import KINDS, cover
from tests.unit.web.test_recordings import state_of

_REBUILD = """async ([content, steps, frames]) => {
  const { timeline, mapState } = await potentia.open(content);
  const at = (step) => {
    timeline.seek(step);
    const moment = { profile: [...timeline.profile] };
    if (mapState) {
      moment.worth = [...mapState.worthAt()];
      moment.flags = mapState.header.map.flags ? [...mapState.flagsAt()] : null;
      moment.counts = [...mapState.coverCounts()];
    }
    return moment;
  };
  const belief = (keyframe) => {
    const minds = mapState ? (mapState.header.keyframes?.belief?.robots ?? []) : [];
    return minds.map((_, mind) => {
      const { field, seen, components, error } = mapState.beliefAt(keyframe, mind);
      const parts = components.map(({ weight, x, y, xx, xy, yy }) => [weight, x, y, xx, xy, yy]);
      return { field: [...field], seen: [...seen], components: parts, error };
    });
  };
  const thoughts = (keyframe) => {
    if (!mapState?.header.keyframes?.scores) return [];
    const robots = Array.from({ length: mapState.robots }, (_, robot) => robot);
    return ["score", "strategy"].map((name) => robots.map((robot) => [...mapState.valuesAt(name, keyframe, robot)]));
  };
  const { kind } = timeline.recording.header.game;
  return { moments: steps.map(at), beliefs: frames.map(belief), thoughts: frames.map(thoughts), kind };
}"""


_CHANGING = """async ([content, steps]) => {
  const { timeline, mapState } = await potentia.open(content);
  return steps.map((step) => {
    timeline.seek(step);
    return { worth: [...mapState.worthAt()], targets: mapState.targets };
  });
}"""
BEST = pt.analysis.optimum(pt.games.Coverage(pt.games.World(np.eye(3)), 1, flags=False))


@pytest.fixture(scope="module")
def any_page(browser, case_study):
    page = browser.new_page()
    page.goto(f"file://{case_study[3]}")
    page.locator(".pv-controls").wait_for()
    yield page
    page.close()


def test_fifty_runs_at_fifty_steps(any_page):
    kinds, flagged, believed, scored = set(), set(), 0, 0
    many = Case(Separable(np.random.default_rng(0).random((40, 3)).tolist()), {"rule": "lll", "tau": 0.5}, None, 3, 90)
    for number, played in enumerate([*map(case, range(50)), *map(everything, ("flow", "frames")), many]):
        made = played.trace().recording(beliefs_every=10)
        random = np.random.default_rng(number)
        steps = random.integers(0, played.steps + 1, 50)  # in any order: forward and back
        frames = random.permutation(made.keyframes.size)[:5]
        asked = [base64.b64encode(made.to_bytes()).decode(), steps.tolist(), frames.tolist()]
        told = any_page.evaluate(_REBUILD, asked)
        kinds.add(told["kind"])
        found = {int(step): moment for step, moment in zip(steps, told["moments"], strict=True)}
        thought = {int(made.keyframes[k]): views for k, views in zip(frames, told["beliefs"], strict=True)}
        values = {int(made.keyframes[k]): both for k, both in zip(frames, told["thoughts"], strict=True)}
        run = played.begin()
        for step in sorted({*found, *thought, *values}):
            run.advance(step - run.step)
            if step in found:
                assert found[step]["profile"] == run.profile.tolist()
            if step in found and made.kind == "map":
                worth, flags, counts = state_of(run)
                np.testing.assert_allclose(found[step]["worth"], worth.reshape(-1), rtol=1e-12)
                laid = made.header["map"]["flags"]
                assert found[step]["flags"] == (flags.reshape(-1).tolist() if laid else None)
                assert found[step]["counts"] == counts.reshape(-1).tolist()
                flagged.add(laid)
            for mine, theirs in zip(thought.get(step, ()), run.beliefs, strict=step in thought):
                believed += 1
                assert np.array_equal(np.array(mine["field"], np.float32), theirs.worth.reshape(-1).astype(np.float32))
                assert mine["seen"] == theirs.seen.reshape(-1).astype(int).tolist()
                assert [part[0] for part in mine["components"]] == theirs.weights.tolist()
                assert [part[1:3] for part in mine["components"]] == theirs.means.reshape(-1, 2).tolist()
                assert mine["error"] == theirs.error(getattr(run.game, "game", run.game).worth_at(step))
            if values.get(step):
                scored += 1
                own = [[part.astype(np.float32).tolist() for part in both] for both in (run.scores, run.strategies)]
                assert values[step] == own
    assert kinds == {"map", "network", "loads", "table", "players"}
    assert flagged == {None, "cell", "range"}
    assert (believed > 40, scored > 20) == (True, True)


def test_worlds_that_change(any_page):
    """Shifts at every kind of border, a flow, frames and means: the field and the targets, forward and back."""
    hill = gaussian_world((9, 7), [0.5, 0.5], [(2.0, 3.0), (7.5, 5.25)], [EYE, EYE])
    games = [cover(drift) for drift in (*KINDS.values(), Shift((-0.7, 0.45), "empty"), Shift((0.7, 3.0), "wrap"))]
    for game in (*games, Coverage(hill, 2, drift=(0.25, -0.375), drift_every=3)):
        made = pt.begin(game, {"rule": "blll", "tau": 0.1}, 3, record="profile", compiled=False).advance(60).trace()
        made = made.recording(optimum=OptimumOverTime(np.array([0, 60]), (BEST, BEST)))
        steps = [0, 60, 8, 33, 14, 4, 59]
        told = any_page.evaluate(_CHANGING, [base64.b64encode(made.to_bytes()).decode(), steps])
        for step, moment in zip(steps, told, strict=True):
            np.testing.assert_allclose(moment["worth"], game.worth_at(step).reshape(-1), rtol=1e-12, atol=1e-15)
            assert moment["targets"] == game.at(step).world.targets.tolist()


def test_a_wrong_step_would_be_noticed(any_page):
    """The control: a moment beside the right one differs somewhere."""
    played = case(10)
    made = played.trace().recording()
    step = int(made.changes[0][0])
    content = base64.b64encode(made.to_bytes()).decode()
    before, after = any_page.evaluate(_REBUILD, [content, [step - 1, step], []])["moments"]
    assert before["profile"] != after["profile"]
    assert before["counts"] != after["counts"]
