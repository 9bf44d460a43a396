"""Runs that are changed on their way: the log gives the same bits, however they were played, and nothing in place."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from potentia.kernel.shapes import shape_of
from potentia.web.studio import living
from potentia.web.studio.living import LiveRun
from potentia.web.studio.recorded import growth_of, recording_of

LOG = (
    (8, {"kind": "paint", "cells": [[3, 4], [3, 5]], "worth": 0.7}),
    (12, {"kind": "wall", "cells": [[6, 0], [6, 1]]}),
    (15, {"kind": "fail", "robot": 2}),
    (15, {"kind": "add", "cell": [5, 5]}),
    (20, {"kind": "move", "robot": 1, "cell": [7, 6]}),
    (24, {"kind": "add", "cell": [0, 7]}),
    (25, {"kind": "remove", "robot": 0}),
    (30, {"kind": "change", "belief": {"belief": "constant", "share": 0.5}}),
    (34, {"kind": "change", "rule": {"rule": "lll", "tau": 0.1}}),
    (38, {"kind": "erase", "cells": [[6, 0], [3, 4]]}),
)
RULES = (
    {"rule": "blll", "tau": 0.05},
    {"rule": "p-sblll", "tau": 0.05, "revision": {"signal": {}}},
    {"rule": "soql"},
    {"rule": "ql", "tau": 0.1},
)


def game_of(**options):
    worth = np.random.default_rng(5).random((8, 10)) ** 2
    world = pt.games.World(worth, blocked=np.indices((8, 10)).sum(axis=0) == 1, targets=[(8, 6), (2, 2)])
    return pt.games.Coverage(world.largest_part(), 4, **{"delta": 1.5} | options)


def played(game, rule, belief=None, log=LOG, steps=50):
    entries = [{"step": step, "did": did} for step, did in log]
    return pt.live(game, rule, 3, steps=steps, interventions=entries, belief=belief, horizon=60, compiled=False)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rule"])
@pytest.mark.parametrize("belief", [None, {"belief": "split-merge"}], ids=["known", "split-merge"])
def test_the_log_gives_the_same_bits_however_it_was_played(rule, belief):
    game = game_of()
    straight = played(game, rule, belief)
    live = LiveRun(game, rule, 3, belief=belief, horizon=60, compiled=False).advance(47)
    live = live.intervene({"kind": "fail", "robot": 1}, step=40)  # later undone by going back before it
    for step, did in LOG:
        live = live.intervene(did, step=step).advance(step + 9)
    live = live.advance(53).back_to(50)
    assert live.log == straight.log
    assert np.array_equal(live.positions, straight.positions)
    if live.run.rule.keeps_scores:
        assert [a.tobytes() for a in live.run.scores] == [a.tobytes() for a in straight.run.scores]
    for mine, theirs in zip(live.rows()[1:], straight.rows()[1:], strict=True):
        assert np.array_equal(mine, theirs)
    assert recording_of(live).to_bytes() == recording_of(straight).to_bytes()


@pytest.mark.parametrize("flags", ["cell", "range"])
def test_a_recording_knows_every_moment_of_it(flags, tmp_path):
    live = played(game_of(flags=True, flag=flags), RULES[0])
    made = pt.read_recording(recording_of(live, "edited").save(tmp_path / "edited.recording"))
    assert [row["step"] for row in made.header["interventions"]] == [step for step, _ in LOG]
    for step in range(51):
        stretch = next(s for s, end in reversed(live.spans()) if s.since <= step)
        run = stretch.at(step)
        game = run.game.game if hasattr(run.game, "belief") else run.game
        state, count = getattr(run.state, "game", run.state), run.profile.size
        assert np.array_equal(made.positions(made.profile(step))[:count], game.positions(run.profile))
        assert np.array_equal(made.worth(step), game.world.worth)
        assert np.array_equal(made.walls(step), game.world.blocked)
        frame = state.flags.reshape(-1, game.data.width)
        inside = frame[game._frame : frame.shape[0] - game._frame, game._frame : frame.shape[1] - game._frame]
        assert np.array_equal(made.flags(step), np.where(inside < 0, -1, inside)), step
        lives = game.lives(state)
        there = np.ones(count, bool) if lives is None else (lives[0] <= step) & (step < lives[1])
        assert np.array_equal(made.there(step)[:count], there)
    assert not made.lost(50)[0]  # removed, which is not lost
    assert made.lost(50)[2]


def test_growth_is_what_a_recording_says_later():
    live = LiveRun(game_of(), RULES[2], 3, belief=None, horizon=60, compiled=False).advance(10)
    before = recording_of(live, "run", 60)
    live.advance(31)
    head, arrays = growth_of(live, before.header, before.arrays["sizes"], 10)
    after = recording_of(live, "run", 60)
    steps, players, actions = (part[before.header["changes"] :] for part in after.changes)
    assert np.array_equal(arrays["steps"], steps)
    assert np.array_equal(arrays["players"], players)
    assert np.array_equal(arrays["actions"], actions)
    rows = before.arrays["times"].size
    assert np.array_equal(arrays["times"], after.arrays["times"][rows:])
    assert np.array_equal(arrays["series"], after.arrays["series"][:, rows:])
    keyframes = before.header["keyframes"]["steps"] + head["keyframes"]["steps"]
    assert keyframes == after.header["keyframes"]["steps"]
    for name in ("score", "strategy"):
        whole = np.concatenate([before.arrays[name], arrays[name]])
        assert np.array_equal(whole, after.arrays[name])


def test_curves_are_those_of_a_run():
    trace = pt.run(game_of(), RULES[0], 40, 3, record=("worth_union", "worth_sum", "distance"), compiled=False)
    names, times, values = LiveRun(game_of(), RULES[0], 3, horizon=40, compiled=False).advance(40).rows()
    assert names == ["worth_union", "worth_sum", "distance"]
    assert np.array_equal(times, np.arange(41))
    for name, row in zip(names, values, strict=True):
        np.testing.assert_allclose(row, getattr(trace, name), rtol=1e-12)


def test_of_large_states_there_are_few_copies_and_the_same_bits(monkeypatch):
    many, few = (LiveRun(game_of(), RULES[1], 3, horizon=60, compiled=False) for _ in range(2))
    for step in range(10, 60, 10):
        many.advance(step)
    monkeypatch.setattr(living, "KEPT_BYTES", 1)
    for step in range(10, 60, 10):
        few.advance(step)
    assert [len(run.stretches[0].copies) for run in (many, few)] == [6, 2]
    for step in (0, 7, 41, 50):
        assert np.array_equal(few.at_step(step).profile, many.at_step(step).profile)


def test_nothing_is_changed_in_place():
    live = LiveRun(game_of(), RULES[0], 3, horizon=60, compiled=False).advance(20)
    before, worth = live.positions.copy(), live.world.worth.copy()
    other = live.intervene({"kind": "paint", "cells": [[0, 7]], "worth": 5.0}).advance(30)
    assert live.step == 20
    assert live.log == ()
    assert np.array_equal(live.positions, before)
    assert np.array_equal(live.world.worth, worth)
    assert other.game.world.worth[7, 0] == 5.0


def test_a_robot_that_is_added_changes_no_draw_of_the_others():
    game = game_of(delta=0.0)
    plain = LiveRun(game, RULES[0], 3, horizon=60, compiled=False).advance(40)
    wider = plain.intervene({"kind": "add", "cell": [0, 7]}, step=10)
    with pytest.raises(InvalidRun, match="came at this very step"):
        wider.intervene({"kind": "fail", "robot": 4})
    alone = wider.advance(11).intervene({"kind": "fail", "robot": 4}).advance(40)
    assert np.array_equal(alone.positions[:4], plain.positions)


@pytest.mark.parametrize(
    ("did", "said"),
    [
        ({"kind": "fail", "robot": 9}, "there is no robot 9: they are 0 to 3"),
        ({"kind": "move", "robot": 0, "cell": [1, 0]}, "is a wall"),
        ({"kind": "move", "robot": 0, "cell": [40, 0]}, "must lie inside"),
        ({"kind": "paint", "cells": [[0, 0]], "worth": float("nan")}, "must be a finite number"),
        ({"kind": "paint", "cells": [[0, 0]], "worth": -1.0}, "worth must be at least 0, got -1"),
        ({"kind": "paint", "cells": []}, "cells"),
        ({"kind": "melt"}, "an intervention cannot be read"),
        ({"kind": "change"}, "nothing is changed"),
        ({"kind": "change", "revision": 0.5}, "blll has no revision"),
        ({"kind": "change", "rule": {"rule": "nobody"}}, "nobody"),
        ({"kind": "fail", "robot": 0, "more": 1}, "more is not known here"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(did, said):
    live = LiveRun(game_of(), RULES[0], 3, horizon=60, compiled=False).advance(5)
    with pytest.raises(ValueError, match=said):
        live.intervene(did)
    assert live.log == ()


def test_walls_do_not_cut_the_map_nor_wall_anybody_in():
    live = LiveRun(game_of(), RULES[0], 3, horizon=60, compiled=False).advance(5)
    with pytest.raises(ValueError, match="cut the map into parts"):
        live.intervene({"kind": "wall", "cells": [[4, y] for y in range(8) if [4, y] not in live.positions.tolist()]})
    with pytest.raises(InvalidRun, match="stands on a cell that would be a wall"):
        live.intervene({"kind": "wall", "cells": [live.positions[0].tolist()]})


def test_interventions_come_in_order():
    with pytest.raises(InvalidRun, match="must come in order"):
        played(game_of(), RULES[0], log=[LOG[2], LOG[0]])


def test_a_game_that_is_no_map_has_its_rule_changed():
    log = [{"step": 20, "did": {"kind": "change", "tau": 0.01}}]
    run = pt.live(pt.game("ring"), {"rule": "lll", "tau": 0.5}, 1, steps=50, interventions=log, compiled=False)
    plain = pt.run(pt.game("ring"), {"rule": "lll", "tau": 0.5}, 20, 1, compiled=False)
    assert np.array_equal(run.stretches[0].at(20).profile, plain.final)
    assert run.run.rule.spec()["tau"] == 0.01
    assert recording_of(run).kind == "network"
    with pytest.raises(InvalidRun, match="for robots on a map"):
        run.intervene({"kind": "fail", "robot": 0})


@pytest.mark.parametrize("chunk", [7, 50, 400])
def test_thoughts_are_asked_early_and_where_their_number_of_components_changes(chunk):
    belief = {"belief": "split-merge", "aic_every": 7}
    made = LiveRun(game_of(), RULES[1] | {"tau": 1.0, "revision": 0.3}, 3, belief=belief, horizon=20_000)
    for step in range(chunk, 401, chunk):
        made.advance(step)
    made.advance(400)
    asked = [thought.step for thought in made.stretches[0].thoughts]
    changed = {int(row.time) for row in made.run.thoughts if row.accepted and row.before != row.after}
    usual = [*range(0, 160, 10), *range(160, 401, 20)]
    assert len(changed - set(usual)) >= 2
    assert asked == sorted({*usual, *changed})


def test_machine_code_of_a_run_serves_it_when_it_was_changed_too():
    game, rule = game_of(), {"rule": "blll", "tau": 0.05}
    live = played(game, rule, log=((3, {"kind": "move", "robot": 0, "cell": [7, 6]}),), steps=5)
    assert shape_of(live.run.journal) == shape_of(pt.begin(game, pt.rule("blll", tau=0.05), 1).journal)


def test_a_robot_that_was_moved_before_the_first_step_begins_there(tmp_path):
    move = (0, {"kind": "move", "robot": 0, "cell": [7, 6]})
    live = played(game_of(), {"rule": "blll", "tau": 0.05}, log=(move,), steps=20)
    again = pt.read_recording(recording_of(live, "x").save(tmp_path / "x.recording"))
    for step in (0, 20):
        assert again.positions(again.profile(step)).tolist() == live.game.positions(live.at_step(step).profile).tolist()
